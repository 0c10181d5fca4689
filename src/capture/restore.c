/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/restore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "capture/capture-copy.h"
#include "capture/manifest-file.h"
#include "capture/restore-cursor.h"
#include "capture/restore-metadata.h"

struct restore {
	const struct restore_options *o;
	int evidence;
	struct restore_cursor here, linked;
	struct manifest_file *manifest;
	struct restore_stats *stats;
	uint64_t *dirs; /* offsets of the lines of directories */
	size_t n_dirs, dirs_room;
	uint64_t *ids; /* offset + 1 of the line with this id */
	size_t ids_room;
	bool has_hard_links;
	void *buffer;
	struct pack *pack; /* opened for the first file that is in the archive */
};

void restore_stats_done(struct restore_stats *s)
{
	free(s->first);
	*s = (struct restore_stats){ 0 };
}

static void restore_done(struct restore *rs)
{
	restore_cursor_done(&rs->here);
	restore_cursor_done(&rs->linked);
	manifest_close(rs->manifest);
	free(rs->dirs);
	free(rs->ids);
	free(rs->buffer);
	pack_free(rs->pack);
}
#define _cleanup_restore_ _cleanup_(restore_done)

static int set_first(struct restore *rs, const char *path, const char *why, struct fault *f)
{
	if (rs->stats->first)
		return 0;
	if (asprintf(&rs->stats->first, "%s: %s", path, why) < 0) {
		rs->stats->first = NULL;
		return fault_errno(f, ENOMEM, "restore");
	}
	return 0;
}

static int skip_entry(struct restore *rs, const struct manifest_entry *e, const char *why, struct fault *f)
{
	rs->stats->left_out++;
	return set_first(rs, e->path, why, f);
}

/* --- entries --------------------------------------------------------------------------------------------------------- */

static int open_stored(const struct restore *rs, const struct manifest_entry *e, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	fd = path_open_beneath(rs->evidence, e->at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, f);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fault_set(f, EBADMSG, "'%s' is not a regular file", e->at);
	return TAKE_FD(fd);
}

static int discard_file(struct restore *rs, const char *name, const struct manifest_entry *e, const char *why,
			struct fault *f)
{
	(void)unlinkat(rs->here.fd, name, 0);
	rs->stats->damaged++;
	return set_first(rs, e->path, why, f);
}

/* 1; 0: missing in the archive, or of another length.  Manifest and archive have the same order. */
static int find_packed(struct restore *rs, const struct manifest_entry *e, struct capture_copy *c,
		       struct fault *f)
{
	uint64_t size;
	int r = rs->pack ? 0 : pack_open(rs->evidence, &rs->pack, f);

	if (r == 0)
		r = pack_find(rs->pack, e->at + sizeof(PACK_AT) - 1, &size, f);
	if (r <= 0)
		return r;
	c->from_pack = rs->pack;
	if (!c->sparse && size <= e->size)
		c->size = size;
	return size == capture_copy_wanted(c) ? 1 : 0;
}

/* 1: C can be read; negative: WHY holds the reason. */
static int find_stored(struct restore *rs, const struct manifest_entry *e, struct capture_copy *c,
		       struct fault *why)
{
	int r;

	if (str_starts(e->at, PACK_AT)) {
		r = find_packed(rs, e, c, why);
		return r == 0 ? fault_set(why, ENOENT,
					  "is missing in the archive, or not in the order of the manifest")
			      : r;
	}
	c->in = open_stored(rs, e, why);
	return c->in < 0 ? c->in : 1;
}

static int create_file(struct restore *rs, const char *name, const struct manifest_entry *e, struct fault *f)
{
	struct capture_copy c = { .in = -EBADF,
				  .out = -EBADF,
				  .size = e->size,
				  .extents = e->extents,
				  .n_extents = e->n_extents,
				  .sparse = e->sparse,
				  .unpack = true,
				  .clone = true,
				  .buffer = rs->buffer };
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	_cleanup_fault_ struct fault why = { 0 };
	int r;

	if (!e->at)
		return skip_entry(rs, e, e->why ? e->why : "was not captured", f);
	r = find_stored(rs, e, &c, &why);
	in = c.in;
	if (r < 0) {
		rs->stats->damaged++;
		return set_first(rs, e->path, fault_text(&why), f);
	}
	out = openat(rs->here.fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return fault_errno(f, errno, "create '%s'", e->path);
	c.out = out;
	r = capture_copy(&c, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", e->path);
	if (!e->has_digest || !digest_equal(&c.digest, &e->digest))
		return discard_file(rs, name, e, "its contents do not match the digest in the manifest", f);
	if (e->why)
		r = skip_entry(rs, e, e->why, f); /* incomplete: the stored part is restored */
	return r < 0 ? r : restore_metadata_set(rs->o->exact, out, e, f);
}

static int create_dir(struct restore *rs, const char *name, const struct manifest_entry *e, uint64_t offset,
		      struct fault *f)
{
	if (*e->path && mkdirat(rs->here.fd, name, 0700) < 0)
		return fault_errno(f, errno, "create '%s'", e->path);
	if (rs->n_dirs == rs->dirs_room) {
		size_t room = rs->dirs_room ? rs->dirs_room * 2 : 64;
		uint64_t *grown = reallocarray(rs->dirs, room, sizeof(*grown));

		if (!grown)
			return fault_errno(f, ENOMEM, "restore");
		rs->dirs = grown;
		rs->dirs_room = room;
	}
	rs->dirs[rs->n_dirs++] = offset;
	return 0;
}

static int create_node(struct restore *rs, const char *name, const struct manifest_entry *e, struct fault *f)
{
	static const mode_t types[_MANIFEST_TYPE_MAX] = { [MANIFEST_FIFO] = S_IFIFO,
							  [MANIFEST_SOCKET] = S_IFSOCK,
							  [MANIFEST_CHAR] = S_IFCHR,
							  [MANIFEST_BLOCK] = S_IFBLK };

	if (!rs->o->exact)
		return skip_entry(rs, e, "a device, pipe or socket: restored with --exact only", f);
	if (mknodat(rs->here.fd, name, types[e->type] | 0600, makedev(e->rdev_major, e->rdev_minor)) < 0)
		return fault_errno(f, errno, "create '%s'", e->path);
	return restore_metadata_set_at(rs->o->exact, rs->here.fd, name, e, f);
}

static int create_symlink(struct restore *rs, const char *name, const struct manifest_entry *e,
			  struct fault *f)
{
	if (!*e->link)
		return skip_entry(rs, e, "its target was not read", f);
	if (symlinkat(e->link, rs->here.fd, name) < 0)
		return fault_errno(f, errno, "create '%s'", e->path);
	return restore_metadata_set_at(rs->o->exact, rs->here.fd, name, e, f);
}

static int remember_id(struct restore *rs, uint64_t id, uint64_t offset, struct fault *f)
{
	if (id >= rs->ids_room) {
		size_t room = rs->ids_room ? rs->ids_room : 64;
		uint64_t *grown;

		while (room <= id && room < (SIZE_MAX >> 5))
			room *= 2;
		grown = id < ((uint64_t)1 << 24) ? reallocarray(rs->ids, room, sizeof(*grown)) : NULL;
		if (!grown)
			return fault_set(f, EBADMSG, "id %llu in the manifest is too large",
					 (unsigned long long)id);
		memset(grown + rs->ids_room, 0, (room - rs->ids_room) * sizeof(*grown));
		rs->ids = grown;
		rs->ids_room = room;
	}
	rs->ids[id] = offset + 1;
	return 0;
}

static int create_entry(struct restore *rs, const struct manifest_entry *e, uint64_t offset, struct fault *f)
{
	const char *name;
	int r;

	rs->stats->entries++;
	r = restore_cursor_move(&rs->here, e->path, &name, f);
	if (r < 0)
		return fault_wrap(f, r, "parent directory of '%s'", e->path);
	if (e->id)
		r = remember_id(rs, e->id, offset, f);
	if (r < 0)
		return r;
	if (!*e->path && e->type != MANIFEST_DIR)
		return fault_set(f, EBADMSG, "the root of the tree is not a directory");
	switch (e->type) {
	case MANIFEST_DIR:
		if (e->why)
			rs->stats->left_out++;
		return create_dir(rs, name, e, offset, f);
	case MANIFEST_FILE:
		rs->has_hard_links |= e->same != 0;
		return e->same ? 0 : create_file(rs, name, e, f);
	case MANIFEST_LINK:
		return create_symlink(rs, name, e, f);
	case MANIFEST_FIFO:
	case MANIFEST_SOCKET:
	case MANIFEST_CHAR:
	case MANIFEST_BLOCK:
		return create_node(rs, name, e, f);
	case MANIFEST_GONE:
		return 0; /* nothing to restore */
	case MANIFEST_UNKNOWN:
	case MANIFEST_NONE:
	case _MANIFEST_TYPE_MAX:
		break;
	}
	return skip_entry(rs, e, e->why ? e->why : "was removed before it could be read", f);
}

/* --- second pass: hard links, then directories bottom-up -------------------------------------------------- */

static int read_at(struct restore *rs, uint64_t offset, struct manifest_entry *ret, struct fault *f)
{
	int r;

	manifest_seek(rs->manifest, offset);
	r = manifest_next(rs->manifest, ret, NULL, f);
	return r == 0 ? fault_set(f, EBADMSG, MANIFEST_NAME " was truncated") : r;
}

static int create_hard_link(struct restore *rs, const struct manifest_entry *e, struct fault *f)
{
	_cleanup_manifest_entry_ struct manifest_entry first = { 0 };
	const char *name, *first_name;
	int r;

	if (e->same >= rs->ids_room || !rs->ids[e->same])
		return skip_entry(rs, e, "it is a hard link, and the file is missing in the manifest", f);
	r = read_at(rs, rs->ids[e->same] - 1, &first, f);
	if (r < 0)
		return r;
	r = restore_cursor_move(&rs->linked, first.path, &first_name, f);
	if (r == 0)
		r = restore_cursor_move(&rs->here, e->path, &name, f);
	if (r < 0)
		return r;
	if (linkat(rs->linked.fd, first_name, rs->here.fd, name, 0) == 0)
		return 0;
	if (errno == ENOENT)
		return skip_entry(rs, e, "it is a hard link, and the file was not restored", f);
	return fault_errno(f, errno, "link '%s' to '%s'", e->path, first.path);
}

static int create_hard_links(struct restore *rs, struct fault *f)
{
	_cleanup_manifest_ struct manifest_file *lines = NULL;
	int r = manifest_open(rs->evidence, &lines, f);

	while (r >= 0) {
		_cleanup_manifest_entry_ struct manifest_entry e = { 0 };

		r = manifest_next(lines, &e, NULL, f);
		if (r <= 0)
			break;
		if (e.same && e.type == MANIFEST_FILE)
			r = create_hard_link(rs, &e, f);
	}
	return r;
}

static int finish_dirs(struct restore *rs, struct fault *f)
{
	for (size_t i = rs->n_dirs; i > 0; i--) {
		_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
		_cleanup_close_ int fd = -EBADF;
		const char *name;
		int r;

		r = read_at(rs, rs->dirs[i - 1], &e, f);
		if (r < 0)
			return r;
		r = restore_cursor_move(&rs->here, e.path, &name, f);
		if (r < 0)
			return r;
		fd = openat(rs->here.fd, *e.path ? name : ".",
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return fault_errno(f, errno, "open '%s'", e.path);
		r = *e.path ? restore_metadata_set(rs->o->exact, fd, &e, f)
			    : restore_metadata_set_root(rs->o->exact, fd, &e, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Entries of an access list need no look: the group bits of the mode are its mask. */
int restore_require_private(int target, const char *path, struct fault *f)
{
	const char *name = path ? path : "the target";
	struct stat st;

	if (fstat(target, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", name);
	if (st.st_uid != geteuid())
		return fault_set(f, EPERM,
				 "--exact restores devices and set-id files, and '%s' belongs to uid %u: "
				 "name a new directory",
				 name, (unsigned int)st.st_uid);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fault_set(f, EPERM,
				 "--exact restores devices and set-id files, and other users can enter '%s' "
				 "(mode %04o): chmod 700 '%s', or name a new directory",
				 name, (unsigned int)st.st_mode & 07777, name);
	return 0;
}

static int require_empty(int target, struct fault *f)
{
	int fd = openat(target, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!dir) {
		n = errno;
		fd_close(fd);
		return fault_errno(f, n, "open the target");
	}
	while ((entry = readdir(dir)))
		n += !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..");
	(void)closedir(dir);
	return n ? fault_set(f, ENOTEMPTY, "the target is not empty: name a new directory") : 0;
}

int restore_tree(int evidence, int target, const struct restore_options *o, struct restore_stats *ret,
		 struct fault *f)
{
	_cleanup_restore_ struct restore rs = { .o = o,
						.evidence = evidence,
						.here = { .rootfd = target, .fd = -EBADF },
						.linked = { .rootfd = target, .fd = -EBADF },
						.stats = ret,
						.buffer = malloc(CAPTURE_BUFFER) };
	uint64_t offset, bytes = 0;
	int r;

	*ret = (struct restore_stats){ 0 };
	if (!rs.buffer)
		return fault_errno(f, ENOMEM, "restore");
	r = o->exact ? restore_require_private(target, o->target, f) : 0;
	if (r == 0)
		r = require_empty(target, f);
	if (r == 0)
		r = manifest_open(evidence, &rs.manifest, f);
	while (r >= 0) {
		_cleanup_manifest_entry_ struct manifest_entry e = { 0 };

		r = manifest_next(rs.manifest, &e, &offset, f);
		if (r <= 0)
			break;
		r = create_entry(&rs, &e, offset, f);
		bytes += e.size;
		if (o->progress)
			o->progress(o->progress_arg, ret->entries, bytes);
	}
	if (r == 0 && rs.has_hard_links)
		r = create_hard_links(&rs, f);
	if (r == 0)
		r = finish_dirs(&rs, f);
	/* Again, by the same descriptor: the mode may have been changed meanwhile. */
	if (r == 0 && o->exact)
		r = restore_require_private(target, o->target, f);
	return r;
}
