/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/str.h"
#include "subject/subject-build.h"
#include "subject/subject-fields.h"

#define LINKS_MAX 4096
#define ID_MAX (UINT32_MAX - 1)

static const char *const kinds[] = { "bind", "tmpfs", "overlay", NULL };
/* Those of enum profile_workspace, and one that profile_worktree_word() derives from two keys. */
static const char *const modes[] = { "overlay", "ro", "rw", "tmpfs", "overlay-fuse", NULL };
#define MODE_FUSE (PROFILE_WORKSPACE_TMPFS + 1)

/* clang-format off */
static const struct {
	unsigned int type;
	const char *name;
} types[] = {
	{ S_IFDIR,  "directory" },
	{ S_IFREG,  "file"      },
	{ S_IFSOCK, "socket"    },
	{ S_IFIFO,  "fifo"      },
	{ S_IFCHR,  "character" },
	{ S_IFBLK,  "block"     },
};
/* clang-format on */
#define N_TYPES ARRAY_SIZE(types)

static void map_type(struct jmap *m, unsigned int *type)
{
	_cleanup_free_ char *text = NULL;
	char *p = NULL;

	for (size_t i = 0; !m->reading && i < N_TYPES; i++)
		if (types[i].type == *type)
			p = (char *)types[i].name;
	jmap_string(m, "type", m->reading ? &text : &p);
	for (size_t i = 0; m->r == 0 && m->reading && i < N_TYPES; i++)
		if (strcmp(types[i].name, text) == 0) {
			*type = types[i].type;
			return;
		}
	if (m->reading)
		(void)jmap_fail(m, EINVAL, "'type' is unknown");
}

/* As text: inodes of stacked file systems use all 64 bits, JSON's integers here have 63. */
static void map_file(struct jmap *m, struct subject_file *file)
{
	_cleanup_free_ char *device = NULL, *inode = NULL;
	char device_text[32], inode_text[32], *d = device_text, *i = inode_text;
	unsigned int major_id, minor_id;
	char rest;

	(void)snprintf(device_text, sizeof(device_text), "%u:%u", major(file->device), minor(file->device));
	(void)snprintf(inode_text, sizeof(inode_text), "%" PRIu64, file->inode);
	jmap_string(m, "device", m->reading ? &device : &d);
	jmap_string(m, "inode", m->reading ? &inode : &i);
	map_type(m, &file->type);
	if (m->r < 0 || !m->reading)
		return;
	if (sscanf(device, "%9u:%9u%c", &major_id, &minor_id, &rest) != 2 ||
	    str_to_u64(inode, &file->inode) < 0)
		(void)jmap_fail(m, EINVAL, "'device' or 'inode' is not a number");
	else
		file->device = makedev(major_id, minor_id);
}

static void map_owner(struct jmap *m, uid_t *uid, gid_t *gid)
{
	jmap_uint(m, "uid", uid, ID_MAX);
	jmap_uint(m, "gid", gid, ID_MAX);
}

/* Only where it holds, so that other subjects keep their digests. */
static void map_disposable(struct jmap *m, bool *disposable)
{
	if (m->reading ? jdoc_get(m->d, "disposable") != NULL : *disposable)
		jmap_bool(m, "disposable", disposable);
}

static void map_bind(struct jmap *m, struct subject_mount *mount)
{
	jmap_path(m, "source", &mount->source);
	jmap_bool(m, "rw", &mount->rw);
	jmap_bool(m, "dir", &mount->is_dir);
	jmap_bool(m, "idmap", &mount->idmap);
	map_owner(m, &mount->owner_uid, &mount->owner_gid);
	/* Read-only sources are data, like the host's programs: their path was approved. */
	if (mount->rw)
		map_file(m, &mount->file);
	map_disposable(m, &mount->disposable);
}

static void map_tmpfs(struct jmap *m, struct subject_mount *mount)
{
	jmap_u64(m, "size", &mount->size);
	jmap_uint(m, "mode", &mount->mode, 07777);
	if (m->r == 0 && m->reading)
		mount->rw = mount->is_dir = true;
	else if (!mount->rw || !mount->is_dir || mount->idmap || mount->source)
		(void)jmap_fail(m, EINVAL, "a tmpfs must be a plain writable directory");
}

/* Only of a continued run: the digest of every other one stays as it was. */
static void map_base(struct jmap *m, bool *continued, struct digest *base)
{
	if (m->reading)
		*continued = jdoc_get(m->d, "base") != NULL;
	if (*continued)
		subject_map_digest(m, "base", base);
}

static void map_overlay(struct jmap *m, struct subject_mount *mount)
{
	jmap_path(m, "source", &mount->source);
	map_owner(m, &mount->owner_uid, &mount->owner_gid);
	map_base(m, &mount->continued, &mount->base);
	if (m->r == 0 && m->reading)
		mount->rw = mount->is_dir = mount->exact = true;
}

static void map_mount(struct jmap *m, struct subject_mount *mount)
{
	unsigned int kind = mount->kind;

	jmap_word(m, "kind", kinds, &kind);
	if (m->r == 0 && m->reading)
		mount->kind = (enum subject_mount_kind)kind;
	jmap_path(m, "target", &mount->target);
	if (mount->kind == SUBJECT_MOUNT_BIND)
		map_bind(m, mount);
	else if (mount->kind == SUBJECT_MOUNT_OVERLAY)
		map_overlay(m, mount);
	else
		map_tmpfs(m, mount);
}

static void map_list(struct jmap *m, struct subject *s)
{
	struct jdoc *a = jmap_value(m, "mounts", JDOC_ARRAY);

	if (m->reading)
		s->mounts = subject_map_room(m, "mounts", a, SUBJECT_MOUNTS_MAX, sizeof(*s->mounts),
					     &s->n_mounts);
	for (size_t i = 0; m->r == 0 && i < s->n_mounts; i++) {
		struct jmap item;

		jmap_enter_item(m, "mounts", a, i, &item);
		map_mount(&item, &s->mounts[i]);
		jmap_leave(m, &item);
	}
}

static void map_links(struct jmap *m, struct subject *s)
{
	struct jdoc *a = jmap_value(m, "links", JDOC_ARRAY);

	if (m->reading)
		s->links = subject_map_room(m, "links", a, LINKS_MAX, sizeof(*s->links), &s->n_links);
	for (size_t i = 0; m->r == 0 && i < s->n_links; i++) {
		struct jmap item;

		jmap_enter_item(m, "links", a, i, &item);
		jmap_path(&item, "target", &s->links[i].target);
		jmap_string(&item, "text", &s->links[i].text);
		jmap_leave(m, &item);
	}
}

static void map_worktree(struct jmap *parent, struct subject *s, struct profile *p)
{
	unsigned int mode = profile_is_fuse(p) ? MODE_FUSE : p->workspace;
	uint64_t at = s->worktree_at;
	struct jmap m;

	jmap_enter(parent, "worktree", &m);
	jmap_word(&m, "mode", modes, &mode);
	jmap_path(&m, "target", &s->target);
	jmap_u64(&m, "before", &at);
	if (m.r == 0 && mode != PROFILE_WORKSPACE_TMPFS) {
		jmap_path(&m, "source", &s->worktree);
		map_owner(&m, &s->owner_uid, &s->owner_gid);
		jmap_bool(&m, "home", &s->holds_home);
		if (mode == PROFILE_WORKSPACE_RW)
			map_file(&m, &s->worktree_file);
		map_disposable(&m, &s->disposable);
		map_base(&m, &s->continued, &s->base);
	}
	if (m.r == 0 && at > s->n_mounts)
		(void)jmap_fail(&m, ERANGE, "'before' exceeds the number of mounts");
	jmap_leave(parent, &m);
	if (m.r == 0 && m.reading) {
		p->workspace = mode == MODE_FUSE ? PROFILE_WORKSPACE_OVERLAY : (enum profile_workspace)mode;
		p->workspace_overlay = mode == MODE_FUSE ? PROFILE_OVERLAY_FUSE : PROFILE_OVERLAY_KERNEL;
		s->worktree_at = at;
	}
}

void subject_map_mounts(struct jmap *m, struct subject *s, struct profile *p)
{
	map_list(m, s);
	map_worktree(m, s, p);
	map_links(m, s);
	jmap_strv(m, "copies", &s->copies);
}
