/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/path.h"
#include "base/str.h"
#include "warden/container-compare.h"

static bool has_word(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = list; *at;) {
		size_t len = strcspn(at, ",");

		if (len == n && memcmp(at, word, n) == 0)
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

static bool is_read_only(const struct container_mount *m)
{
	return has_word(m->flags, "ro") || has_word(m->super, "ro");
}

static const struct container_mount *find_mount(const struct container_facts *x, uint64_t id)
{
	for (size_t i = 0; i < x->n_mounts; i++)
		if (x->mounts[i].id == id)
			return &x->mounts[i];
	return NULL;
}

static bool is_kernel_interface(const struct container_mount *m)
{
	return str_eq(m->type, "proc") || str_eq(m->type, "sysfs");
}

static bool are_readable(const struct container_facts *x, char *why)
{
	if (x->mounts_err)
		return container_unread(why, "mountinfo", x->mounts_err);
	if (x->root_err)
		return container_unread(why, "root", x->root_err);
	return true;
}

bool container_compare_mounts(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const struct container_facts *x = c->facts;

	if (x->mounts_err || x->n_mounts == 0)
		return container_unread(why, "mountinfo", x->mounts_err);
	for (size_t i = 0; i < x->n_mounts; i++)
		if (str_starts(x->mounts[i].tags, "shared:"))
			return container_wrong(why, "%s is shared with other mounts (%s)", x->mounts[i].point,
					       x->mounts[i].tags);
	return true;
}

/* Below the places that the runtime fills itself; what may be there is the matter of other layers. */
static bool is_of_runtime(const char *point)
{
	return path_is_below(point, "/proc") || path_is_below(point, "/sys") || path_is_below(point, "/dev");
}

static bool is_place(const struct container_place *places, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (!places[i].err && places[i].mount == id)
			return true;
	return false;
}

/* Was it, or a mount at the same point or above it, asked?  A recursive bind brings the mounts below it. */
static bool is_asked(const struct container_compare *c, const struct container_mount *m)
{
	const struct container_facts *x = c->facts;

	for (size_t i = 0; i < container_list_len(c->asked->mounts); i++) {
		const struct container_mount *t =
			x->targets[i].err ? NULL : find_mount(x, x->targets[i].mount);

		if (t && !str_eq(t->point, "/") && path_is_below(m->point, t->point))
			return true;
	}
	return is_place(x->masked, container_list_len(c->asked->masked), m->id) ||
	       is_place(x->read_only, container_list_len(c->asked->read_only), m->id);
}

/* /proc of the container is a proc file system, /sys, if it is a mount, sysfs or empty and read-only. */
static bool check_kind(const struct container_mount *m, char *why)
{
	if (str_eq(m->point, "/proc") && !str_eq(m->type, "proc"))
		return container_wrong(why, "/proc is of type %s", m->type);
	if (str_eq(m->point, "/sys") && !str_eq(m->type, "sysfs") && !is_read_only(m))
		return container_wrong(why, "/sys is of type %s and writable", m->type);
	return true;
}

static bool is_cgroup(const struct container_mount *m)
{
	return str_eq(m->type, "cgroup") || str_eq(m->type, "cgroup2");
}

/*
 * Mount I, M, asked to be read-only: the one that is not.  For version 1 of cgroups the runtime mounts a tmpfs with a directory of each
 * hierarchy: only the hierarchies are the host's.
 */
static const struct container_mount *find_writable(const struct container_compare *c, size_t i,
						   const struct container_mount *m)
{
	const struct container_facts *x = c->facts;
	const char *type = jdoc_get_string(c->asked->mounts->items[i], "type");

	if (!type || !str_eq(type, "cgroup") || !str_eq(m->type, "tmpfs"))
		return is_read_only(m) ? NULL : m;
	for (size_t k = 0; k < x->n_mounts; k++)
		if (is_cgroup(&x->mounts[k]) && path_is_below(x->mounts[k].point, m->point) &&
		    !is_read_only(&x->mounts[k]))
			return &x->mounts[k];
	return NULL;
}

static bool check_targets(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;

	for (size_t i = 0; i < container_list_len(c->asked->mounts); i++) {
		const char *target = container_asked_target(c->asked, i);
		const struct container_mount *m;

		if (!target || x->targets[i].err)
			return container_wrong(why, "the mount at %s cannot be found: %s",
					       target ? target : "?", strerror(x->targets[i].err));
		m = find_mount(x, x->targets[i].mount);
		if (!m || (str_eq(m->point, "/") && !str_eq(target, "/")))
			return container_wrong(why, "nothing is mounted at %s", target);
		m = container_asked_target_read_only(c->asked, i) ? find_writable(c, i, m) : NULL;
		if (m)
			return container_wrong(why, "%s is writable, asked was read-only", m->point);
	}
	return true;
}

bool container_compare_root(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const struct container_facts *x = c->facts;
	const struct container_mount *root;

	if (!are_readable(x, why))
		return false;
	root = find_mount(x, x->root.mount);
	if (!root || !str_eq(root->point, "/"))
		return container_wrong(why, "the root directory is not a mount of the container");
	if (x->root.dev == c->outside->root_dev && x->root.ino == c->outside->root_ino)
		return container_wrong(why, "the root directory is that of the host");
	if (c->asked->root_read_only && !is_read_only(root))
		return container_wrong(why, "/ is writable, asked was read-only");
	if (!check_targets(c, why))
		return false;
	for (size_t i = 0; i < x->n_mounts; i++) {
		const struct container_mount *m = &x->mounts[i];

		if (!check_kind(m, why))
			return false;
		if (!str_eq(m->point, "/") && !is_of_runtime(m->point) && !is_asked(c, m))
			return container_wrong(why, "%s is mounted, and the configuration has no such mount",
					       m->point);
	}
	return true;
}

static const char *name_of(const struct jdoc *list, size_t i)
{
	return list->items[i]->type == JDOC_STRING ? list->items[i]->string : "?";
}

/* A path that this kernel or this image does not have needs no mask. */
static bool is_absent(const struct container_place *p)
{
	return p->err == ENOENT || p->err == ENOTDIR;
}

static bool check_masked(const struct container_compare *c, size_t i, char *why)
{
	const struct container_place *p = &c->facts->masked[i];
	const struct container_mount *m = p->err ? NULL : find_mount(c->facts, p->mount);
	const char *path = name_of(c->asked->masked, i);

	if (is_absent(p))
		return true;
	if (p->err)
		return container_wrong(why, "%s cannot be looked at: %s", path, strerror(p->err));
	if (!m || is_kernel_interface(m))
		return container_wrong(why, "%s is not masked", path);
	if (!p->null_device && !(p->directory && p->empty && is_read_only(m)))
		return container_wrong(
			why, "%s is masked by something that is neither empty nor the null device", path);
	return true;
}

static bool check_read_only(const struct container_compare *c, size_t i, char *why)
{
	const struct container_place *p = &c->facts->read_only[i];
	const struct container_mount *m = p->err ? NULL : find_mount(c->facts, p->mount);
	const char *path = name_of(c->asked->read_only, i);

	if (is_absent(p))
		return true;
	if (p->err)
		return container_wrong(why, "%s cannot be looked at: %s", path, strerror(p->err));
	return (m && is_read_only(m)) || container_wrong(why, "%s is writable, asked was read-only", path);
}

bool container_compare_masks(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const size_t masked = container_list_len(c->asked->masked),
		     fixed = container_list_len(c->asked->read_only);

	if (!are_readable(c->facts, why))
		return false;
	if (masked == 0 || fixed == 0)
		return container_wrong(why, "the configuration has no %s",
				       masked ? "readonlyPaths" : "maskedPaths");
	for (size_t i = 0; i < masked; i++)
		if (!check_masked(c, i, why))
			return false;
	for (size_t i = 0; i < fixed; i++)
		if (!check_read_only(c, i, why))
			return false;
	return true;
}

/* null, zero, full, random, urandom; tty, ptmx; pseudo terminals. */
static bool is_harmless(const struct container_device *d)
{
	const unsigned int m = major(d->number), n = minor(d->number);

	return d->type == S_IFCHR && ((m == 1 && (n == 3 || n == 5 || n == 7 || n == 8 || n == 9)) ||
				      (m == 5 && (n == 0 || n == 2)) || (m >= 136 && m <= 143));
}

static bool is_asked_device(const struct container_asked *a, const struct container_device *d)
{
	for (size_t i = 0; i < container_list_len(a->devices); i++) {
		const struct jdoc *item = a->devices->items[i], *m = jdoc_get(item, "major"),
				  *n = jdoc_get(item, "minor");
		const char *type = jdoc_get_string(item, "type");

		if (type && m && n && m->type == JDOC_INT && n->type == JDOC_INT &&
		    m->integer == (int64_t)major(d->number) && n->integer == (int64_t)minor(d->number) &&
		    (d->type == S_IFBLK) == str_eq(type, "b"))
			return true;
	}
	return false;
}

bool container_compare_devices(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const struct container_facts *x = c->facts;
	const struct container_mount *dev = NULL;

	if (!are_readable(x, why))
		return false;
	if (x->devices_err)
		return container_wrong(why, "/dev cannot be read: %s", strerror(x->devices_err));
	for (size_t i = 0; i < x->n_mounts; i++)
		if (str_eq(x->mounts[i].point, "/dev"))
			dev = &x->mounts[i];
	if (!dev || !str_eq(dev->type, "tmpfs"))
		return container_wrong(why, "/dev is %s%s, not a tmpfs of its own",
				       dev ? "of type " : "no mount", dev ? dev->type : "");
	for (size_t i = 0; i < x->n_devices; i++)
		if (!is_harmless(&x->devices[i]) && !is_asked_device(c->asked, &x->devices[i]))
			return container_wrong(why,
					       "/dev/%s exists, and the configuration has no such device",
					       x->devices[i].name);
	return true;
}

/* CVE-2024-21626: a directory of the host that the runtime left open. */
static bool check_inside(const struct container_facts *x, const struct container_place *p, const char *name,
			 char *why)
{
	const struct container_mount *m = p->err ? NULL : find_mount(x, p->mount);

	if (p->err)
		return container_wrong(why, "the %s cannot be looked at: %s", name, strerror(p->err));
	if (!m)
		return container_wrong(why, "the %s is on no mount of the container", name);
	if (is_kernel_interface(m))
		return container_wrong(why, "the %s is below %s, of type %s", name, m->point, m->type);
	return true;
}

bool container_compare_cwd(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const struct container_facts *x = c->facts;

	if (!are_readable(x, why) || !check_inside(x, &x->cwd, "working directory", why))
		return false;
	if (!x->cwd_below)
		return container_wrong(why, "the working directory is not below the root");
	if (x->asked_cwd.err || x->asked_cwd.dev != x->cwd.dev || x->asked_cwd.ino != x->cwd.ino)
		return container_wrong(why, "the working directory is not %s", c->asked->cwd);
	return true;
}

bool container_compare_worktree(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const struct container_facts *x = c->facts;

	if (!are_readable(x, why) || !check_inside(x, &x->worktree, "worktree", why))
		return false;
	return x->worktree.directory || container_wrong(why, "the worktree is not a directory");
}
