/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "egress/egress.h"

/* {"profile":"agent","rules":["api.github.com:443 tls"]} in a file without a name. */
#define CONFIG_MAX ((size_t)256 * 1024)

int egress_config_write(const struct egress_job *job, int *ret_fd, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct jdoc *list = jdoc_set_array(d, "rules");
	_cleanup_close_ int fd = -EBADF;
	int r;

	jdoc_set_string(d, "profile", job->profile);
	for (size_t i = 0; i < job->n_rules; i++) {
		_cleanup_free_ char *rule = host_rule_text(&job->rules[i]);

		jdoc_append_string(list, rule);
	}
	r = jdoc_write(d, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	fd = memfd_create("custody-egress", MFD_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "rules of custody-egress");
	r = fd_write_all(fd, text.text, text.len, f);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = fault_errno(f, errno, "rules of custody-egress");
	if (r == 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

int egress_config_read(int fd, struct egress_config *ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL;
	const struct jdoc *list;
	size_t len;
	int r = fd_read_all(fd, CONFIG_MAX, &text, &len, f);

	if (r == 0)
		r = jdoc_parse(text, len, "rules", NULL, &d, f);
	if (r < 0)
		return r;
	list = jdoc_get(d, "rules");
	if (!list || list->type != JDOC_ARRAY || !jdoc_get_string(d, "profile"))
		return fault_set(f, EINVAL, "the rules are incomplete");
	ret->profile = strdup(jdoc_get_string(d, "profile"));
	ret->rules = calloc(list->n_items + 1, sizeof(*ret->rules));
	if (!ret->profile || !ret->rules)
		return fault_errno(f, ENOMEM, "rules");
	for (; r == 0 && ret->n_rules < list->n_items; ret->n_rules += r == 0)
		r = list->items[ret->n_rules]->type == JDOC_STRING
			    ? host_rule_parse(list->items[ret->n_rules]->string, &ret->rules[ret->n_rules], f)
			    : fault_set(f, EINVAL, "a rule is no text");
	return r;
}

void egress_config_done(struct egress_config *c)
{
	free(c->profile);
	host_rules_free(c->rules, c->n_rules);
	*c = (struct egress_config){ 0 };
}
