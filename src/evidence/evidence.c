/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/walk.h"
#include "state/dirs.h"
#include "evidence/evidence-metadata.h"
#include "evidence/evidence-userns.h"
#include "evidence/evidence-probe.h"
#include "capture/manifest.h"
#include "capture/pack.h"

#define FILE_MAX ((uint64_t)64 * 1024 * 1024) /* of one file beside the tree */
/* Beyond these limits an archive is written instead of a mirror: 50,000 files at 20 ms take 17 minutes. */
#define SLOW_US 2000
#define MANY 500
#define GRACE_NS (UINT64_C(60) * 1000000000) /* after the deadline of the capture: for the final sync */

struct writing {
	const struct evidence_request *request;
	int store, dir;
	char *name; /* of DIR */
	struct jdoc *absent;
	struct strbuf sums;
};

static void writing_done(struct writing *t)
{
	fd_close(t->store);
	fd_close(t->dir);
	free(t->name);
	jdoc_free(t->absent);
	strbuf_done(&t->sums);
}
#define _cleanup_writing_ _cleanup_(writing_done)

void evidence_taken_done(struct evidence_taken *t)
{
	free(t->path);
	*t = (struct evidence_taken){ 0 };
}

const char *evidence_status_name(enum evidence_status s)
{
	static const char *const names[] = { "unknown", "none", "partial", "complete" };

	return names[s];
}

char *evidence_name(const char *session, unsigned int n, const char *suffix)
{
	char *name;
	int r = n == 1 ? asprintf(&name, "%s%s", session, suffix)
		       : asprintf(&name, "%s-%u%s", session, n, suffix);

	return r < 0 ? NULL : name;
}

static int open_store(const struct evidence_request *request, struct fault *f)
{
	_cleanup_close_ int fd = path_make_dirs(AT_FDCWD, request->store, 0700, f);
	int r;

	if (fd < 0)
		return fd;
	/* Modes on a share come from its mount options: not checked. */
	r = evidence_is_local(fd) ? dirs_require_own(fd, request->store, f) : 0;
	return r < 0 ? r : TAKE_FD(fd);
}

/* A new name: earlier evidence, and evidence that is being written, is never touched. */
static int begin(struct writing *t, struct fault *f)
{
	const char *session = t->request->session;

	if (!*session || strchr(session, '/') || session[0] == '.')
		return fault_set(f, EINVAL, "invalid session name '%s'", session);
	t->store = t->request->opened ? fcntl(*t->request->opened, F_DUPFD_CLOEXEC, 3)
				      : open_store(t->request, f);
	if (t->store < 0)
		return t->request->opened ? fault_errno(f, errno, "open '%s'", t->request->store) : t->store;
	for (unsigned int i = 1; i <= EVIDENCE_NAMES_MAX; i++) {
		t->name = evidence_name(session, i, EVIDENCE_PARTIAL);
		if (!t->name)
			return fault_errno(f, ENOMEM, "evidence");
		if (mkdirat(t->store, t->name, 0700) == 0)
			break;
		if (errno != EEXIST)
			return fault_errno(f, errno, "create '%s/%s'", t->request->store, t->name);
		free(t->name);
		t->name = NULL;
	}
	if (!t->name)
		return fault_set(f, EEXIST, "'%s' has evidence of '%s' %d times", t->request->store, session,
				 EVIDENCE_NAMES_MAX);
	seam("evidence-made");
	t->dir = openat(t->store, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->dir < 0 || flock(t->dir, LOCK_EX | LOCK_NB) < 0)
		return fault_errno(f, errno, "open '%s/%s'", t->request->store, t->name);
	return 0;
}

static int add_sum(struct writing *t, const char *name, const struct digest *d, struct fault *f)
{
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(d, hex);
	strbuf_printf(&t->sums, "%s  %s\n", hex, name);
	return t->sums.broken ? fault_errno(f, ENOMEM, "evidence") : 0;
}

/* Write, fsync, close, stat: a full share may report ENOSPC at any of these, or never. */
static int put_file(struct writing *t, const char *name, const void *bytes, size_t len, struct digest *ret,
		    struct fault *f)
{
	int fd = openat(t->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), r;
	struct stat st;

	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", name);
	r = fd_write_all(fd, bytes, len, f);
	if (r == 0 && fsync(fd) < 0)
		r = fault_errno(f, errno, "sync '%s'", name);
	if (close(fd) < 0 && r == 0)
		r = fault_errno(f, errno, "close '%s'", name);
	if (r == 0 && (fstatat(t->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || (size_t)st.st_size != len))
		r = fault_set(f, EIO, "'%s' is truncated after writing", name);
	if (r < 0)
		return r;
	digest_bytes(bytes, len, ret);
	return 0;
}

static int add_file(struct writing *t, const struct evidence_file *file, struct fault *f)
{
	const struct evidence_content *c = &file->content;
	_cleanup_free_ char *bytes = NULL;
	struct digest d;
	size_t len;
	int r;

	if (c->text) {
		r = put_file(t, file->name, c->text, c->len, &d, f);
		return r < 0 ? r : add_sum(t, file->name, &d, f);
	}
	if (c->fd < 0) {
		jdoc_append_string(t->absent, file->name);
		return 0;
	}
	if (lseek(c->fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "read '%s'", file->name);
	r = fd_read_all(c->fd, FILE_MAX, &bytes, &len, f);
	if (r == 0)
		r = put_file(t, file->name, bytes, len, &d, f);
	return r < 0 ? r : add_sum(t, file->name, &d, f);
}

/* More than MANY entries; the walk stops there. */
static bool has_many(int tree)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	unsigned int n = 0;

	if (walk_new(tree, WALK_UNSEEN_FILES, &w, NULL) < 0)
		return false;
	while (n <= MANY && walk_next(w, &e, NULL) > 0)
		n++;
	return n > MANY;
}

/* An archive where creating files is slow.  Without custody-pack a mirror is written; it only takes longer. */
static bool wants_archive(const struct writing *t, const struct evidence_probe *probe)
{
	if (t->request->form == EVIDENCE_MIRROR || t->request->form == EVIDENCE_ARCHIVE)
		return t->request->form == EVIDENCE_ARCHIVE;
	if (t->request->form == EVIDENCE_PORTABLE)
		return pack_is_available();
	return !probe->local && (probe->create_us > SLOW_US || has_many(t->request->tree)) &&
	       pack_is_available();
}

/* Read back: a full share may have stored less than it reported. */
static int sum_archive(struct writing *t, struct fault *f)
{
	_cleanup_close_ int fd = openat(t->dir, PACK_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct digest d;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open " PACK_NAME);
	r = digest_fd(fd, &d, f);
	return r < 0 ? r : add_sum(t, PACK_NAME, &d, f);
}

static int write_tree(struct writing *t, struct evidence_taken *ret, struct evidence_probe *probe,
		      struct fault *f)
{
	struct capture_options o = t->request->limits ? *t->request->limits : (struct capture_options){ 0 };
	_cleanup_pack_ struct pack *pack = NULL;
	int r;

	ret->status = EVIDENCE_NONE;
	r = evidence_probe(t->dir, probe, f);
	seam("store-probed");
	if (r < 0 || t->request->tree < 0)
		return r;
	probe->any_names &= t->request->form != EVIDENCE_PORTABLE;
	o.any_names = probe->any_names;
	o.sync_each = !probe->local;
	probe->archive = wants_archive(t, probe);
	if (probe->archive)
		r = pack_create(t->dir, o.deadline_ns ? o.deadline_ns + GRACE_NS : 0, &pack, f);
	if (r < 0)
		return r;
	o.pack = pack;
	r = capture_tree(t->request->tree, t->dir, &o, &ret->stats, f);
	if (r < 0)
		return r;
	ret->status = ret->stats.missing || ret->stats.unstable || ret->stats.cut_short ? EVIDENCE_CUT
											: EVIDENCE_COMPLETE;
	r = probe->archive ? sum_archive(t, f) : 0;
	return r < 0 ? r : add_sum(t, MANIFEST_NAME, &ret->stats.manifest, f);
}

static int put_metadata(struct writing *t, struct evidence_taken *taken, const struct evidence_probe *probe,
			struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_copy(t->request->metadata);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	evidence_metadata_complete(o, t->request, taken, probe);
	jdoc_set(o, "absent", TAKE_PTR(t->absent));
	r = jdoc_write(o, JDOC_PRETTY, &text, f);
	if (r == 0)
		r = put_file(t, EVIDENCE_METADATA, text.text, text.len, &taken->metadata, f);
	return r < 0 ? r : add_sum(t, EVIDENCE_METADATA, &taken->metadata, f);
}

int evidence_rename(int store, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(store, from, store, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A share without RENAME_NOREPLACE.  rename never replaces a directory that is not empty. */
	if (fstatat(store, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(store, from, store, to) < 0 ? -errno : 0;
}

/* The evidence exists from this rename on. */
static int rename_complete(struct writing *t, struct evidence_taken *taken, struct fault *f)
{
	int r = -EEXIST;

	if (syncfs(t->dir) < 0)
		return fault_errno(f, errno, "sync the evidence");
	seam("evidence-synced");
	for (unsigned int i = 1; r == -EEXIST && i <= EVIDENCE_NAMES_MAX; i++) {
		_cleanup_free_ char *name = evidence_name(t->request->session, i, "");

		if (!name)
			return fault_errno(f, ENOMEM, "evidence");
		r = evidence_rename(t->store, t->name, name);
		if (r == 0)
			taken->path = path_join(t->request->store, name);
	}
	if (r < 0)
		return fault_errno(f, -r, "rename the evidence");
	seam("evidence-renamed");
	(void)fsync(t->store); /* not every share supports fsync of directories */
	return taken->path ? 0 : fault_errno(f, ENOMEM, "evidence");
}

static int write_here(const struct evidence_request *request, struct evidence_taken *ret, struct fault *f)
{
	_cleanup_writing_ struct writing t = { .request = request, .store = -EBADF, .dir = -EBADF };
	_cleanup_taken_ struct evidence_taken taken = { 0 };
	struct evidence_probe probe = { 0 };
	struct digest ignored;
	int r;

	t.absent = jdoc_new_array();
	r = begin(&t, f);
	if (r == 0)
		r = write_tree(&t, &taken, &probe, f);
	seam("tree-copied");
	for (size_t i = 0; r == 0 && i < request->n_files; i++)
		r = add_file(&t, request->files + i, f);
	seam("sides-written");
	if (r == 0)
		r = put_metadata(&t, &taken, &probe, f);
	seam("metadata-written");
	if (r == 0)
		r = put_file(&t, EVIDENCE_SUMS, t.sums.text, t.sums.len, &ignored, f);
	seam("sums-written");
	if (r == 0)
		r = rename_complete(&t, &taken, f);
	if (r < 0) {
		/* Incomplete evidence is useless, and a full disk needs the space. */
		if (t.dir >= 0)
			(void)!path_remove_tree(t.store, t.name, NULL);
		return fault_wrap(f, r, "evidence of '%s'", request->session);
	}
	*ret = taken;
	taken = (struct evidence_taken){ 0 };
	return 0;
}

int evidence_write(const struct evidence_request *request, struct evidence_taken *ret, struct fault *f)
{
	struct evidence_request inside = *request;
	_cleanup_close_ int store = -EBADF;
	int r = -ENOSYS;

	if (geteuid() != 0 && request->tree >= 0 &&
	    (id_map_is_set(request->owners) ||
	     evidence_userns_is_needed(request->tree, request->limits ? request->limits->max_entries : 0))) {
		/* Before the namespace, in which a directory of root is 65534's like one of any user. */
		store = open_store(request, f);
		if (store < 0)
			return fault_wrap(f, store, "evidence of '%s'", request->session);
		inside.opened = &store;
		r = evidence_userns_write(write_here, &inside, ret, f);
	}
	/* Without a namespace, unreadable files are entries with the reason. */
	return r == -ENOSYS ? write_here(request, ret, f) : r;
}
