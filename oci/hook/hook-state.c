/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "oci/bundle/bundle.h"
#include "oci/hook/hook.h"

#define STATE_MAX ((size_t)4 * 1024 * 1024)

static int read_members(const struct jdoc *d, struct hook_state *s, struct fault *f)
{
	const char *id = jdoc_get_string(d, "id"), *bundle = jdoc_get_string(d, "bundle");
	const char *stderr_file = jdoc_get_string(jdoc_get(d, "annotations"), HOOK_STDERR);
	const struct jdoc *pid = jdoc_get(d, "pid");

	if (!id || !id[0])
		return fault_set(f, EINVAL, "the container's state has no id");
	if (!bundle || bundle[0] != '/')
		return fault_set(f, EINVAL, "the container's state has no absolute bundle path");
	if (pid && (pid->type != JDOC_INT || pid->integer < 0 || pid->integer > INT_MAX))
		return fault_set(f, EINVAL, "the container's state has no usable pid");
	s->pid = pid ? (pid_t)pid->integer : 0;
	s->id = strdup(id);
	s->bundle = strdup(bundle);
	if (stderr_file)
		s->stderr_file = strdup(stderr_file);
	return s->id && s->bundle ? 0 : fault_errno(f, ENOMEM, "the container's state");
}

int hook_state_read(int fd, struct hook_state *ret, struct fault *f)
{
	_cleanup_hook_state_ struct hook_state s = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = fd_read_all(fd, STATE_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "read the container's state from stdin");
	r = jdoc_parse(text, len, "container state", NULL, &d, f);
	if (r < 0)
		return r;
	r = read_members(d, &s, f);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct hook_state){ 0 };
	return 0;
}

void hook_state_done(struct hook_state *s)
{
	free(s->id);
	free(s->bundle);
	free(s->stderr_file);
	*s = (struct hook_state){ 0 };
}
