/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-plan.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/fd.h"

#define MOUNTS_MAX 512

/* A missing member is false or 0; one of another type or out of range is refused. */
static int get_bool(const struct jdoc *d, const char *key, bool *ret, struct fault *f)
{
	const struct jdoc *v = jdoc_get(d, key);

	if (v && v->type != JDOC_BOOL)
		return fault_set(f, EINVAL, "plan: '%s' is not true or false", key);
	*ret = v && v->boolean;
	return 0;
}

static int get_number(const struct jdoc *d, const char *key, uint64_t max, uint64_t *ret, struct fault *f)
{
	const struct jdoc *v = jdoc_get(d, key);

	if (v && (v->type != JDOC_INT || v->integer < 0 || (uint64_t)v->integer > max))
		return fault_set(f, ERANGE, "plan: '%s' is not a number up to %llu", key,
				 (unsigned long long)max);
	*ret = v ? (uint64_t)v->integer : 0;
	return 0;
}

static int get_id(const struct jdoc *d, const char *key, unsigned int *ret, struct fault *f)
{
	uint64_t id = 0;
	int r = get_number(d, key, UINT32_MAX - 1, &id, f);

	*ret = (unsigned int)id;
	return r;
}

static int read_numbers(const struct jdoc *d, struct hook_plan_mount *m, struct fault *f)
{
	uint64_t mode = 0;
	int r;

	r = get_bool(d, "rw", &m->rw, f);
	if (r >= 0)
		r = get_bool(d, "dir", &m->is_dir, f);
	if (r >= 0)
		r = get_bool(d, "idmap", &m->idmap, f);
	if (r >= 0)
		r = get_bool(d, "sealed", &m->sealed, f);
	if (r >= 0)
		r = get_id(d, "uid", &m->uid, f);
	if (r >= 0)
		r = get_id(d, "gid", &m->gid, f);
	if (r >= 0)
		r = get_number(d, "size", INT64_MAX, &m->size, f);
	if (r >= 0)
		r = get_number(d, "mode", 07777, &mode, f);
	m->mode = (mode_t)mode;
	return r;
}

static int read_mount(const struct jdoc *d, struct hook_plan_mount *m, struct fault *f)
{
	static const char *const kinds[] = { "overlay", "bind", "sealed", "tree", "tmpfs", "hide" };
	const size_t n_kinds = ARRAY_SIZE(kinds), n_sourced = 4;
	size_t kind = 0;
	int r;

	m->kind = jdoc_get_string(d, "kind");
	m->source = jdoc_get_string(d, "source");
	m->target = jdoc_get_string(d, "target");
	m->file = jdoc_get_string(d, "file");
	if (!m->kind || !m->target || m->target[0] != '/')
		return fault_set(f, EINVAL, "plan: mount without kind or target");
	while (kind < n_kinds && strcmp(m->kind, kinds[kind]) != 0)
		kind++;
	if (kind == n_kinds)
		return fault_set(f, EINVAL, "plan: mount of unknown kind '%s'", m->kind);
	if ((kind < n_sourced) != (m->source && m->source[0] == '/'))
		return fault_set(f, EINVAL, "plan: '%s' has a missing or unexpected source", m->target);
	r = read_numbers(d, m, f);
	if (r < 0)
		return r;
	if (m->sealed && kind != 0)
		return fault_set(f, EINVAL, "plan: '%s' is sealed but not an overlay", m->target);
	m->sealed |= kind == 2;
	return 0;
}

static int read_plan(struct hook_plan *p, struct fault *f)
{
	const struct jdoc *mounts = jdoc_get(p->doc, "mounts");
	uint64_t version = 0;
	int r;

	r = get_number(p->doc, "version", UINT32_MAX, &version, f);
	if (r < 0)
		return r;
	if (version != 1 || !mounts || mounts->type != JDOC_ARRAY || mounts->n_items > MOUNTS_MAX)
		return fault_set(
			f, EINVAL,
			"unsupported version of the plan: write the bundle again with 'custody bundle'");
	r = get_bool(p->doc, "rootless", &p->rootless, f);
	if (r >= 0)
		r = get_bool(p->doc, "userns", &p->userns, f);
	if (r >= 0)
		r = get_bool(p->doc, "gate", &p->gate, f);
	if (r >= 0)
		r = get_id(p->doc, "uid_base", &p->uid_base, f);
	if (r >= 0)
		r = get_id(p->doc, "gid_base", &p->gid_base, f);
	if (r >= 0)
		r = get_id(p->doc, "uid", &p->uid, f);
	if (r >= 0)
		r = get_id(p->doc, "gid", &p->gid, f);
	if (r < 0)
		return r;
	p->run = jdoc_get_string(p->doc, "run");
	p->work = jdoc_get_string(p->doc, "work");
	if (!p->run != !p->work || (p->run && (p->run[0] != '/' || p->work[0] != '/')))
		return fault_set(f, EINVAL,
				 "plan: 'run' and 'work' must both be absolute paths, or both be missing");
	/* Without a base id container root would be the host's root. */
	if (p->userns && (p->uid_base == 0 || p->gid_base == 0))
		return fault_set(f, EINVAL, "plan: user namespace without ids");
	p->mounts = calloc(mounts->n_items ? mounts->n_items : 1, sizeof(*p->mounts));
	if (!p->mounts)
		return fault_errno(f, ENOMEM, "plan");
	for (size_t i = 0; r >= 0 && i < mounts->n_items; i++) {
		p->mounts[p->n_mounts++] = (struct hook_plan_mount){ .tree = -EBADF, .layer = -EBADF };
		r = read_mount(mounts->items[i], &p->mounts[i], f);
	}
	return r;
}

int hook_plan_parse(const char *text, struct hook_plan *ret, struct fault *f)
{
	_cleanup_hook_plan_ struct hook_plan p = { 0 };
	int r;

	r = jdoc_parse(text, strlen(text), "plan", NULL, &p.doc, f);
	if (r >= 0)
		r = read_plan(&p, f);
	if (r < 0)
		return r;
	*ret = p;
	p = (struct hook_plan){ 0 };
	return 0;
}

void hook_plan_done(struct hook_plan *p)
{
	for (size_t i = 0; i < p->n_mounts; i++) {
		fd_close(p->mounts[i].tree);
		fd_close(p->mounts[i].layer);
	}
	free(p->mounts);
	jdoc_free(p->doc);
	*p = (struct hook_plan){ 0 };
}
