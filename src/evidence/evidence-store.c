/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "evidence/evidence-impl.h"
#include "evidence/evidence-metadata.h"
#include "session/session-note.h"

#define NAMED_MAX 8		 /* of several matches, at most so many are listed */
#define REMOVING_SUFFIX ".going" /* suffix of evidence that is being removed */

static void item_done(struct evidence_item *i)
{
	free(i->name);
	jdoc_free(i->metadata);
}

void evidence_list_done(struct evidence_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		item_done(l->items + i);
	free(l->items);
	*l = (struct evidence_list){ 0 };
}

char *evidence_store_path(const struct dirs *d, const struct config *c)
{
	return c->forensics.path ? strdup(c->forensics.path) : path_join(d->base, "forensics");
}

static const char *text_of(const struct jdoc *o, const char *key)
{
	const char *text = jdoc_get_string(o, key);

	return text ? text : "";
}

static enum evidence_status status_of(const struct jdoc *metadata)
{
	const char *text = text_of(metadata, "status");

	for (int s = EVIDENCE_NONE; s <= EVIDENCE_COMPLETE; s++)
		if (str_eq(text, evidence_status_name((enum evidence_status)s)))
			return (enum evidence_status)s;
	return EVIDENCE_UNKNOWN;
}

/* Size according to metadata.json; 0: unknown. */
static uint64_t bytes_of(const struct jdoc *metadata)
{
	const struct jdoc *bytes = jdoc_get(jdoc_get(metadata, "tree"), "bytes"),
			  *entries = jdoc_get(jdoc_get(metadata, "tree"), "entries"),
			  *lines = jdoc_get(jdoc_get(metadata, "tree"), "manifest_bytes");
	int64_t sum = 0, each = 0;

	if (bytes && bytes->type == JDOC_INT && bytes->integer > 0)
		sum = bytes->integer;
	/* A line of the manifest and an inode per entry. */
	if (entries && entries->type == JDOC_INT && entries->integer > 0 &&
	    entries->integer < INT64_MAX / 8192)
		each = entries->integer * 1024;
	/* Long paths: the manifest itself is larger than that. */
	if (lines && lines->type == JDOC_INT && lines->integer > each)
		each = lines->integer;
	if (each < INT64_MAX - sum)
		sum += each;
	return (uint64_t)sum;
}

static void set_retention(struct evidence_item *i, const struct jdoc *metadata)
{
	const struct jdoc *s = jdoc_get(metadata, "retention_s");

	i->has_retention = s && s->type == JDOC_INT && s->integer >= 0;
	i->retention_s = i->has_retention ? (uint64_t)s->integer : 0;
}

static bool is_of_lane(const struct jdoc *metadata, enum lane lane)
{
	return metadata && lane_require_name(lane, jdoc_get_string(metadata, "lane"), "evidence", NULL) == 0;
}

/* 1 and an item; 0: NAME is not evidence of this lane. */
static int read_item(int store, const char *name, enum lane lane, struct evidence_item *ret)
{
	_cleanup_close_ int dir = openat(store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_jdoc_ struct jdoc *metadata = dir >= 0 ? evidence_metadata_read(dir) : NULL;
	struct evidence_item i = { 0 };
	struct stat st;

	if (!is_of_lane(metadata, lane))
		return 0;
	i.name = strdup(name);
	if (!i.name)
		return -ENOMEM;
	i.status = status_of(metadata);
	i.agent = text_of(metadata, "agent");
	i.reason = text_of(jdoc_get(metadata, "exit"), "reason");
	i.bytes = bytes_of(metadata);
	set_retention(&i, metadata);
	i.pinned = fstatat(dir, EVIDENCE_PIN, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (fstatat(dir, EVIDENCE_METADATA, &st, AT_SYMLINK_NOFOLLOW) == 0)
		i.taken_us = (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
	i.metadata = TAKE_PTR(metadata);
	*ret = i;
	return 1;
}

static int add_item(struct evidence_list *l, const struct evidence_item *i)
{
	struct evidence_item *grown = reallocarray(l->items, l->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->items = grown;
	l->items[l->n++] = *i;
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct evidence_item *x = a, *y = b;

	return x->taken_us != y->taken_us ? (x->taken_us > y->taken_us) - (x->taken_us < y->taken_us)
					  : strcmp(x->name, y->name);
}

/* A store may be shared: other files are ignored, and their names may be unsafe for a terminal. */
bool evidence_is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~')
			return false;
	return name[0] != '.' && !str_ends(name, EVIDENCE_PARTIAL) && !str_ends(name, REMOVING_SUFFIX);
}

static int open_store(const char *store, struct fault *f)
{
	int fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? fault_errno(f, errno, "open the evidence store '%s'", store) : fd;
}

int evidence_list(const char *store, enum lane lane, struct evidence_list *ret, struct fault *f)
{
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_close_ int fd = -EBADF;
	const struct dirent *entry;
	int r = 0;
	DIR *dir;

	*ret = (struct evidence_list){ 0 };
	fd = open_store(store, f);
	if (fd == -ENOENT) {
		if (f)
			fault_done(f);
		return 0;
	}
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return fault_errno(f, errno, "list '%s'", store);
	while (r >= 0 && (entry = readdir(dir))) {
		struct evidence_item i;

		if (!evidence_is_name(entry->d_name))
			continue;
		r = read_item(dirfd(dir), entry->d_name, lane, &i);
		if (r > 0 && add_item(&l, &i) < 0) {
			item_done(&i);
			r = -ENOMEM;
		}
	}
	(void)TAKE_FD(fd);
	(void)closedir(dir);
	if (r < 0)
		return fault_errno(f, ENOMEM, "list '%s'", store);
	if (l.n)
		qsort(l.items, l.n, sizeof(*l.items), by_age);
	*ret = l;
	l = (struct evidence_list){ 0 };
	return 0;
}

/* Evidence with damaged metadata has no lane and is not listed; asked for by name, it is reported as damaged. */
static int refuse_missing(int fd, const char *store, const char *name, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;
	_cleanup_jdoc_ struct jdoc *metadata = NULL;

	if (fd >= 0 && evidence_is_name(name) && !strchr(name, '/'))
		dir = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		metadata = evidence_metadata_read(dir);
	if (f)
		fault_done(f);
	if (dir >= 0 && !metadata)
		return fault_set(f, EBADMSG,
				 "the " EVIDENCE_METADATA
				 " of evidence '%s' is modified or damaged: inspect '%s/%s'",
				 name, store, name);
	return fault_set(f, ENOENT, "no evidence '%s' in this lane: custody evidence ls", name);
}

/* WORD is the directory's name, a prefix of it or of its digits, or the name of the session. */
static bool is_meant(const struct evidence_item *i, const char *word)
{
	return session_word_matches(word, i->name) || str_eq(jdoc_get_string(i->metadata, "name"), word);
}

static int refuse_several(const struct evidence_list *l, const char *word, size_t hits, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < l->n && n < NAMED_MAX; i++)
		if (is_meant(l->items + i, word))
			strbuf_printf(&names, "%s%s", n++ ? ", " : "", l->items[i].name);
	if (hits > n)
		strbuf_printf(&names, " and %zu more", hits - n);
	return fault_set(f, EEXIST, "'%s' is ambiguous, it matches %zu evidences: %s", word, hits,
			 names.broken || !names.text ? "?" : names.text);
}

/* The item that WORD means; NULL: none. */
static int find_item(const struct evidence_list *l, const char *word, const char **ret, struct fault *f)
{
	size_t hits = 0;

	*ret = NULL;
	for (size_t i = 0; i < l->n; i++) {
		if (!is_meant(l->items + i, word))
			continue;
		hits++;
		*ret = l->items[i].name;
		if (str_eq(*ret, word))
			return 0;
	}
	return hits > 1 ? refuse_several(l, word, hits, f) : 0;
}

int evidence_open(const char *store, enum lane lane, const char *name, char **ret_name, struct fault *f)
{
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_close_ int fd = -EBADF;
	const char *found = NULL;
	int dir, r;

	/* An empty shell variable would be a prefix of every name. */
	if (!*name)
		return fault_set(f, ENOENT, "missing evidence id: custody evidence ls");
	r = evidence_list(store, lane, &l, f);
	if (r == 0)
		r = find_item(&l, name, &found, f);
	if (r < 0)
		return r;
	fd = open_store(store, f);
	if (fd < 0 && found)
		return fd;
	if (!found)
		return refuse_missing(fd, store, name, f);
	dir = openat(fd, found, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "open evidence '%s'", found);
	if (ret_name) {
		*ret_name = strdup(found);
		if (!*ret_name) {
			fd_close(dir);
			return fault_errno(f, ENOMEM, "evidence");
		}
	}
	return dir;
}

int evidence_pin(int evidence, const char *reason, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_printf(&text, "%s\n", reason ? reason : "");
	if (text.broken)
		return fault_errno(f, ENOMEM, "pin");
	return fd_replace_file(evidence, EVIDENCE_PIN, text.text, text.len, 0600, f);
}

int evidence_unpin(int evidence, struct fault *f)
{
	if (unlinkat(evidence, EVIDENCE_PIN, 0) == 0)
		return 0;
	return errno == ENOENT ? fault_set(f, ENOENT, "it is not pinned") : fault_errno(f, errno, "unpin");
}

int evidence_remove(const char *store, const char *name, struct fault *f)
{
	_cleanup_close_ int fd = open_store(store, f), dir = -EBADF;
	_cleanup_free_ char *removing = NULL;

	if (fd < 0)
		return fd;
	if (!*name || strchr(name, '/') || !evidence_is_name(name))
		return fault_set(f, EINVAL, "invalid evidence id '%s'", name);
	if (asprintf(&removing, "%s" REMOVING_SUFFIX, name) < 0) {
		removing = NULL;
		return fault_errno(f, ENOMEM, "evidence");
	}
	/* Renamed first: incomplete evidence must not be listed.  The rest of an interrupted removal goes first. */
	if (path_remove_tree(fd, removing, f) < 0)
		return f ? -f->code : -EIO;
	/* Locked until this process exits: evidence_sweep skips it. */
	dir = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		(void)flock(dir, LOCK_EX | LOCK_NB);
	if (renameat(fd, name, fd, removing) < 0)
		return fault_errno(f, errno, "remove evidence '%s'", name);
	seam("evidence-going");
	return path_remove_tree(fd, removing, f);
}

int evidence_sweep(const char *store, struct fault *f)
{
	int fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		(void)fd_close(fd);
		return 0;
	}
	while (r == 0 && (entry = readdir(dir))) {
		_cleanup_close_ int removing = -EBADF;

		if (!str_ends(entry->d_name, REMOVING_SUFFIX))
			continue;
		removing = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (removing >= 0 && flock(removing, LOCK_EX | LOCK_NB) == 0)
			r = path_remove_tree(fd, entry->d_name, f);
	}
	(void)closedir(dir);
	return r;
}

/* Unfinished evidence; its writer is dead if the lock is free. */
static int remove_unfinished(int store, const char *session, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = -EBADF;

	if (asprintf(&name, "%s" EVIDENCE_PARTIAL, session) < 0) {
		name = NULL;
		return fault_errno(f, ENOMEM, "evidence");
	}
	dir = openat(store, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
		return 0;
	return path_remove_tree(store, name, f);
}

int evidence_store_adopt(const char *store, enum lane lane, const char *session, struct evidence_taken *ret,
			 struct fault *f)
{
	_cleanup_close_ int fd = -EBADF, dir = -EBADF, file = -EBADF;
	_cleanup_jdoc_ struct jdoc *metadata = NULL;
	int r;

	fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* no store: no evidence */
	r = remove_unfinished(fd, session, f);
	if (r < 0)
		return r;
	dir = openat(fd, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	metadata = dir >= 0 ? evidence_metadata_read(dir) : NULL;
	if (!is_of_lane(metadata, lane))
		return 0;
	file = openat(dir, EVIDENCE_METADATA, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return fault_errno(f, errno, "open '" EVIDENCE_METADATA "'");
	r = digest_fd(file, &ret->metadata, f);
	if (r < 0)
		return r;
	ret->status = status_of(metadata);
	ret->path = path_join(store, session);
	return ret->path ? 1 : fault_errno(f, ENOMEM, "evidence");
}
