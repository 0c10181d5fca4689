/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-annotation.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"

/* clang-format off */
static const struct engine_annotation table[] = {
	/* libcrun obeys these: another program as handler, another filter, descriptors and files of the host. */
	{ "run.oci.mount_context_type", ENGINE_SUBJECT, "which kind of SELinux label a mount gets" },
	{ "run.oci.seccomp_fail_unknown_syscall", ENGINE_SUBJECT, "only refuses more" },
	{ "run.oci.*", ENGINE_REFUSE, "libcrun would replace the filter or the program, keep groups, or write a file of the host" },
	{ "module.*", ENGINE_REFUSE, "libcrun would run another program instead" },
	{ "krun.*", ENGINE_REFUSE, "libcrun would run another program instead" },
	{ "org.criu.*", ENGINE_REFUSE, "checkpoints write files of the host" },
	/* Properties of the systemd scope that holds the cgroup. */
	{ "org.systemd.property.TimeoutStopUSec", ENGINE_SUBJECT, "how long systemd waits" },
	{ "org.systemd.property.KillSignal", ENGINE_SUBJECT, "with what systemd stops it" },
	{ "org.systemd.property.CollectMode", ENGINE_SUBJECT, "when systemd forgets it" },
	{ "org.systemd.property.*", ENGINE_REFUSE, "limits and devices of the cgroup would not be those of the configuration" },
	/* Ours. */
	{ "custody.profile", ENGINE_NOISE, "the profile's digest is in the subject" },
	{ "custody.grant", ENGINE_NOISE, "a grant names the digest" },
	{ "custody.wait", ENGINE_NOISE, "how long to wait for a grant" },
	{ "custody.worktree", ENGINE_SUBJECT, "directory inside of which evidence is kept" },
	{ "custody.exec.allow", ENGINE_SUBJECT, "commands that exec runs without a question" },
	{ "custody.*", ENGINE_REFUSE, NULL },
	/* Different at each call. */
	{ "io.kubernetes.cri.sandbox-id", ENGINE_NOISE, "id" },
	{ "io.kubernetes.cri.sandbox-uid", ENGINE_NOISE, "id" },
	{ "io.kubernetes.cri.sandbox-name", ENGINE_NOISE, "has random letters in a Deployment" },
	{ "io.kubernetes.cri.sandbox-log-directory", ENGINE_NOISE, "has the pod's id" },
	{ "io.podman.annotations.autoremove", ENGINE_NOISE, "--rm" },
	{ "io.kubernetes.cri-o.TTY", ENGINE_NOISE, "terminal or pipes" },
	{ "io.kubernetes.cri-o.Created", ENGINE_NOISE, "time" },
	{ "io.kubernetes.cri-o.SandboxID", ENGINE_NOISE, "id" },
	{ "io.kubernetes.cri-o.SandboxName", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.ContainerID", ENGINE_NOISE, "id" },
	{ "io.kubernetes.cri-o.Name", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.Metadata", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.MountPoint", ENGINE_NOISE, "has the container's id" },
	{ "io.kubernetes.cri-o.LogPath", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.HostName", ENGINE_NOISE, "has random letters in a Deployment" },
	{ "io.kubernetes.cri-o.HostnamePath", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.ResolvPath", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.ShmPath", ENGINE_NOISE, "has the pod's id" },
	{ "io.kubernetes.cri-o.KubeName", ENGINE_NOISE, "has random letters in a Deployment" },
	{ "io.kubernetes.cri-o.IP.*", ENGINE_NOISE, "address" },
	{ "io.kubernetes.pod.name", ENGINE_NOISE, "has random letters in a Deployment" },
	{ "io.kubernetes.pod.uid", ENGINE_NOISE, "id" },
	{ "io.kubernetes.container.restartCount", ENGINE_NOISE, "counts" },
	{ "kubernetes.io/config.seen", ENGINE_NOISE, "time" },
	{ "*", ENGINE_SUBJECT, "secrets as HMAC" },
};
/* clang-format on */

static const char *const ours[] = { "custody.profile",	  "custody.worktree", "custody.grant",
				    "custody.exec.allow", "custody.wait",     NULL };

const struct engine_annotation *engine_annotation_at(size_t i)
{
	return i < ARRAY_SIZE(table) ? &table[i] : NULL;
}

const struct engine_annotation *engine_annotation_find(const char *name)
{
	for (size_t i = 0; i + 1 < ARRAY_SIZE(table); i++) {
		size_t len = strlen(table[i].name);

		if (table[i].name[len - 1] == '*' ? strncmp(name, table[i].name, len - 1) == 0
						  : strcmp(name, table[i].name) == 0)
			return &table[i];
	}
	return &table[ARRAY_SIZE(table) - 1];
}

static int refuse(struct engine_work *w, const char *name, const struct engine_annotation *row)
{
	int nearest;

	if (row->what)
		return fault_set(w->f, EPERM, "config.json: annotation '%.100s' is refused: %s", name,
				 row->what);
	nearest = str_nearest(name, ours);
	if (nearest >= 0)
		return fault_set(w->f, EPERM, "config.json: unknown annotation '%.100s': did you mean '%s'?",
				 name, ours[nearest]);
	return fault_set(w->f, EPERM,
			 "config.json: unknown annotation '%.100s': custody has custody.profile, "
			 "custody.worktree, custody.grant, "
			 "custody.exec.allow and custody.wait",
			 name);
}

static int require_all(struct engine_work *w, const struct jdoc *annotations)
{
	for (size_t i = 0; i < annotations->n_members; i++) {
		const struct jdoc_member *m = annotations->members + i;
		const struct engine_annotation *row = engine_annotation_find(m->key);

		if (row->rule == ENGINE_REFUSE)
			return refuse(w, m->key, row);
		if (m->value->type != JDOC_STRING)
			return fault_set(w->f, EPERM, "config.json: annotation '%.100s' must be a string",
					 m->key);
	}
	return 0;
}

static int read_worktree(struct engine_work *w, const char *text)
{
	const char *key = text ? "annotation 'custody.worktree'" : "'process.cwd'";
	int r;

	if (!text)
		text = engine_text(w->config, "process.cwd");
	r = path_normalize(text && *text ? text : "/", &w->c->worktree, w->f);
	if (r == -EINVAL)
		return fault_wrap(w->f, r,
				  "config.json: %s must be a plain absolute path inside the container", key);
	return r;
}

static bool is_command(const struct jdoc *argv)
{
	if (argv->type != JDOC_ARRAY || argv->n_items == 0)
		return false;
	for (size_t i = 0; i < argv->n_items; i++)
		if (argv->items[i]->type != JDOC_STRING)
			return false;
	return *argv->items[0]->string;
}

#define PROBES_MAX 64

static int read_probes(struct engine_work *w, const char *text)
{
	struct jdoc *list = NULL;
	int r;

	if (!text)
		return 0;
	r = jdoc_parse(text, strlen(text), "annotation 'custody.exec.allow'", NULL, &list, w->f);
	if (r < 0)
		return r;
	w->c->probes = list;
	if (list->type == JDOC_ARRAY && list->n_items <= PROBES_MAX) {
		for (size_t i = 0; i < list->n_items; i++)
			if (!is_command(list->items[i]))
				return fault_set(w->f, EINVAL,
						 "config.json: annotation 'custody.exec.allow': item %zu is "
						 "not a command: a list of "
						 "strings such as [\"cat\", \"/tmp/ready\"]",
						 i);
		return 0;
	}
	return fault_set(w->f, EINVAL,
			 "config.json: annotation 'custody.exec.allow' must be a list of at most %d "
			 "commands, each a list of strings",
			 PROBES_MAX);
}

static int read_wait(struct engine_work *w, const char *text)
{
	if (!text || (str_to_seconds(text, &w->c->wait_s) == 0 && w->c->wait_s > 0 &&
		      w->c->wait_s <= ENGINE_WAIT_MAX_S))
		return 0;
	return fault_set(w->f, EINVAL,
			 "config.json: annotation 'custody.wait' '%.32s' is not a time from \"1s\" to "
			 "\"1h\", such as \"30s\" or \"5m\"",
			 text);
}

static int read_grant(struct engine_work *w, const char *text)
{
	if (!text)
		return 0;
	w->c->grant = strdup(text);
	return w->c->grant ? 0 : fault_errno(w->f, ENOMEM, "config.json");
}

int engine_annotations_read(struct engine_work *w)
{
	const struct jdoc *a = jdoc_get(w->config, "annotations");
	int r = 0;

	if (engine_is(a, JDOC_OBJECT))
		r = require_all(w, a);
	else
		a = NULL;
	if (r == 0)
		r = read_worktree(w, jdoc_get_string(a, "custody.worktree"));
	if (r == 0)
		r = read_probes(w, jdoc_get_string(a, "custody.exec.allow"));
	if (r == 0)
		r = read_wait(w, jdoc_get_string(a, "custody.wait"));
	return r < 0 ? r : read_grant(w, jdoc_get_string(a, "custody.grant"));
}
