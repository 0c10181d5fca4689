/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-document.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/str.h"
#include "oci/engine/engine-annotation.h"
#include "oci/engine/engine-image.h"
#include "oci/engine/engine-mount.h"
#include "oci/engine/engine-namespace.h"
#include "oci/engine/engine-noise.h"
#include "oci/engine/engine-sign.h"
#include "oci/engine/engine-slurm.h"

/* --- parts of `config` that are written in another form -------------------------------------------------------- */

/* Hundreds of names: their digest is enough to tell two filters apart. */
static int write_seccomp(struct engine_work *w, struct jdoc *part)
{
	const struct jdoc *seccomp = jdoc_get(part, "seccomp");
	_cleanup_strbuf_ struct strbuf t = { 0 };
	char hex[DIGEST_HEX_SIZE];
	struct jdoc *out;
	struct digest d;
	int r;

	if (!seccomp)
		return 0;
	r = jdoc_write(seccomp, JDOC_CANONICAL, &t, w->f);
	if (r == 0 && t.broken)
		r = fault_errno(w->f, ENOMEM, "seccomp");
	if (r < 0)
		return r;
	digest_bytes(t.text, t.len, &d);
	digest_to_hex(&d, hex);
	out = jdoc_new_object();
	jdoc_set_string(out, "sha256", hex);
	if (engine_text(seccomp, "defaultAction"))
		jdoc_set_string(out, "defaultAction", engine_text(seccomp, "defaultAction"));
	jdoc_set(part, "seccomp", out);
	return 0;
}

static int write_annotations(struct engine_work *w, struct jdoc *config)
{
	const struct jdoc *all = jdoc_get(w->config, "annotations");
	struct jdoc *out = jdoc_new_object();
	int r = 0;

	for (size_t i = 0; engine_is(all, JDOC_OBJECT) && r == 0 && i < all->n_members; i++) {
		const struct jdoc_member *m = all->members + i;

		if (engine_annotation_find(m->key)->rule == ENGINE_SUBJECT && m->value->type == JDOC_STRING)
			r = engine_sign_text(w, m->value->string, out, m->key);
	}
	jdoc_set(config, "annotations", out);
	return r;
}

static int write_hook(struct engine_work *w, struct jdoc *hook)
{
	struct jdoc *env = jdoc_get(hook, "env"), *names;
	int r;

	r = engine_noise_hook(w, hook);
	if (r < 0 || !engine_is(env, JDOC_ARRAY))
		return r;
	names = jdoc_new_object();
	r = engine_sign_env(w, env, false, names);
	jdoc_set(hook, "env", names);
	return r;
}

static int write_hooks(struct engine_work *w, struct jdoc *config)
{
	struct jdoc *hooks = jdoc_get(config, "hooks");
	int r = 0;

	for (size_t i = 0; engine_is(hooks, JDOC_OBJECT) && i < hooks->n_members; i++) {
		struct jdoc *list = hooks->members[i].value;

		for (size_t k = 0; engine_is(list, JDOC_ARRAY) && r == 0 && k < list->n_items; k++)
			if (list->items[k]->type == JDOC_OBJECT)
				r = write_hook(w, list->items[k]);
	}
	return r;
}

static void write_namespaces(struct engine_work *w, struct jdoc *config)
{
	struct jdoc *out = jdoc_new_object();

	for (int n = 0; n < _ENGINE_NS_MAX; n++)
		jdoc_set_string(out, engine_namespace_name((enum engine_namespace)n),
				engine_namespace_state_name(
					engine_namespace_state(w->config, (enum engine_namespace)n)));
	jdoc_set(engine_make(config, "linux", JDOC_OBJECT), "namespaces", out);
}

void engine_document_process(struct jdoc *process)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	struct jdoc *caps = jdoc_get(process, "capabilities");

	/* In the document itself, or noise. */
	(void)jdoc_remove(process, "args");
	(void)jdoc_remove(process, "env");
	(void)jdoc_remove(process, "terminal");
	(void)jdoc_remove(process, "consoleSize");
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		engine_list_sort(jdoc_get(caps, sets[i]));
	engine_noise_sort_by(jdoc_get(process, "rlimits"), "type");
	engine_noise_label(process, "selinuxLabel");
}

/* The image identifies its content.  Else the path, in which vfs has an id of the container. */
static int write_root(struct engine_work *w, struct jdoc *root)
{
	_cleanup_free_ char *path = w->c->image ? NULL : engine_noise_rootfs(w->in);

	(void)jdoc_remove(root, "path");
	if (w->c->image)
		return 0;
	if (!path)
		return fault_errno(w->f, ENOMEM, "subject");
	jdoc_set_string(root, "path", path);
	return 0;
}

static int write_config(struct engine_work *w, struct jdoc *config)
{
	struct jdoc *part = engine_make(config, "linux", JDOC_OBJECT), *root = jdoc_get(config, "root");
	int r;

	(void)jdoc_remove(config, "ociVersion");
	if (w->names.hostname_is_noise)
		(void)jdoc_remove(config, "hostname");
	r = write_root(w, root);
	if (r < 0)
		return r;
	engine_document_process(jdoc_get(config, "process"));
	(void)jdoc_remove(part, "cgroupsPath");
	engine_noise_label(part, "mountLabel");
	engine_list_sort(jdoc_get(part, "maskedPaths"));
	engine_list_sort(jdoc_get(part, "readonlyPaths"));
	write_namespaces(w, config);
	r = write_seccomp(w, part);
	if (r == 0)
		r = write_annotations(w, config);
	if (r == 0)
		r = write_hooks(w, config);
	return r < 0 ? r : engine_noise_mounts(w, jdoc_get(config, "mounts"));
}

/* --- the document ------------------------------------------------------------------------------------------------ */

/* As subject/subject.h has it for custody's own runs: another file under the same name is another subject. */
static int write_source(struct engine_work *w, const struct jdoc *mount, struct jdoc *sources)
{
	const char *source = engine_text(mount, "source"), *target = engine_text(mount, "destination");
	struct jdoc *item = jdoc_append_object(sources);
	struct stat st;

	if (!source || !target)
		return fault_set(w->f, EINVAL, "config.json: a bind mount without source or destination");
	jdoc_set_string(item, "source", source);
	jdoc_set_string(item, "target", target);
	if (stat(source, &st) < 0)
		return 0;
	jdoc_set_int(item, "device", (int64_t)st.st_dev);
	jdoc_set_int(item, "inode", (int64_t)st.st_ino);
	jdoc_set_int(item, "type", (int64_t)(st.st_mode & S_IFMT));
	return 0;
}

static int write_sources(struct engine_work *w, struct jdoc *document)
{
	struct jdoc *sources = jdoc_set_array(document, "sources");
	int r = 0;

	for (size_t i = 0; r == 0 && i < engine_count(w->config, "mounts"); i++) {
		const struct jdoc *mount = engine_item(w->config, "mounts", i);

		if (engine_mount_is_writable_bind(mount, &w->names))
			r = write_source(w, mount, sources);
	}
	engine_noise_sort_by(sources, "target");
	return r;
}

static int write_profile(struct engine_work *w, struct jdoc *document)
{
	struct jdoc *profile = jdoc_set_object(document, "profile");
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(&w->in->profile->digest, hex);
	jdoc_set_string(profile, "name", w->in->profile->name);
	jdoc_set_string(profile, "digest", hex);
	return 0;
}

static int write_env(struct engine_work *w, struct jdoc *document)
{
	const struct jdoc *env = engine_at(w->config, "process.env");
	_cleanup_jdoc_ struct jdoc *own = env ? jdoc_copy(env) : NULL;

	if (env && !own)
		return fault_errno(w->f, ENOMEM, "subject");
	engine_slurm_strip(w, own);
	return engine_sign_env(w, own, w->names.hostname_is_noise, jdoc_set_object(document, "env"));
}

/* Members that most containers do not have. */
static void write_optional(const struct engine_work *w, struct jdoc *document)
{
	if (w->in->preserved > 0)
		jdoc_set_int(document, "descriptors", w->in->preserved);
	if (w->in->no_cgroup)
		jdoc_set_bool(document, "cgroup", false);
	if (w->c->changed)
		jdoc_set_bool(document, "changed", true);
	if (w->c->healthcheck)
		jdoc_set(document, "healthcheck", jdoc_copy(w->c->healthcheck));
	if (w->c->broker.open)
		jdoc_set(document, "broker", jdoc_copy(w->in->broker));
}

int engine_document_write(struct engine_work *w)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *config = jdoc_copy(w->config), *program = NULL;
	int r;

	jdoc_set(d, "config", config);
	if (!d || !config || d->broken)
		return fault_errno(w->f, ENOMEM, "subject");
	jdoc_set_string(d, "schema", ENGINE_DOCUMENT_SCHEMA);
	jdoc_set_string(d, "lane", lane_name(w->in->lane));
	jdoc_set_bool(d, "isolate", w->in->isolate);
	write_optional(w, d);
	jdoc_set(d, "image", w->c->image ? jdoc_new_string(w->c->image) : jdoc_new_null());
	jdoc_set_string(d, "worktree", w->c->worktree);
	r = write_profile(w, d);
	if (r == 0)
		r = engine_sign_argv(w, d);
	if (r == 0)
		r = write_env(w, d);
	if (r == 0)
		r = engine_program_read(w, &program);
	if (r < 0)
		return r;
	jdoc_set(d, "program", program);
	r = write_sources(w, d);
	if (r == 0)
		r = write_config(w, config);
	if (r == 0 && d->broken)
		r = fault_errno(w->f, ENOMEM, "subject");
	if (r == 0)
		w->c->document = TAKE_PTR(d);
	return r;
}
