/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"
#include "cli/cmd-profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"
#include "ledger/ledger-record.h"

int profile_place_init(struct profile_place *p, struct fault *f)
{
	size_t n = 0;
	int r;

	*p = (struct profile_place){ 0 };
	r = dirs_load(&p->dirs, f);
	if (r < 0)
		return r;
	p->cwd = getcwd(NULL, 0);
	if (!p->cwd)
		return fault_errno(
			f, errno,
			"the current directory, which is the worktree, was removed: cd to another one");
	p->trust = path_join(p->dirs.config, "trust.json");
	if (!p->trust)
		return fault_errno(f, ENOMEM, "profile");
	p->labels[n] = "admin";
	p->search[n++] = p->dirs.profiles_admin;
	if (p->dirs.profiles_user) {
		p->labels[n] = "user";
		p->search[n++] = p->dirs.profiles_user;
	}
	p->labels[n] = "shipped";
	p->search[n] = p->dirs.profiles_shipped;
	r = project_find_any(p->dirs.home, &p->project, f);
	if (r < 0)
		return r;
	p->src = (struct profile_sources){ .dirs = p->search,
					   .worktree = p->project.top,
					   .trust_file = p->trust };
	p->vars = (struct profile_vars){
		.cwd = p->cwd, .home = p->dirs.home, .user = p->dirs.user, .uid = geteuid()
	};
	return 0;
}

void profile_place_done(struct profile_place *p)
{
	dirs_done(&p->dirs);
	project_done(&p->project);
	free(p->cwd);
	free(p->trust);
}

char *profile_as_path(const char *name)
{
	return strchr(name, '/') ? strdup(name) : path_join(".", name);
}

int profile_flush(struct fault *f)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return fault_errno(f, errno ? errno : EIO, "write to stdout");
	return 0;
}

int profile_print(const struct jdoc *doc, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	r = jdoc_write(doc, JDOC_PRETTY, &b, f);
	if (r == 0)
		r = output_put_json(&b, f);
	return r < 0 ? r : profile_flush(f);
}

void profile_set_digest(struct jdoc *object, const char *key, const struct digest *d)
{
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";

	digest_to_hex(d, text + strlen(text));
	jdoc_set_string(object, key, text);
}

/* On a terminal in ASCII, as output_put_json does. */
char *profile_value_text(const struct jdoc *v)
{
	_cleanup_strbuf_ struct strbuf b = { 0 }, ascii = { 0 };

	if (jdoc_write(v, JDOC_CANONICAL, &b, NULL) < 0)
		return NULL;
	if (!isatty(STDOUT_FILENO))
		return strbuf_take(&b);
	record_put_ascii(&ascii, b.text, b.len);
	return strbuf_take(&ascii);
}

void profile_report(const char *where, const char *text)
{
	_cleanup_free_ char *shown = str_escape(text);

	fprintf(stderr, "custody profile %s: %s\n", where, shown ? shown : "out of memory");
}
