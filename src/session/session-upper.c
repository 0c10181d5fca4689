/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-upper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-map.h"
#include "base/path.h"
#include "base/process-detach.h"
#include "base/str.h"
#include "base/walk.h"
#include "session/session-note.h"

#define KEPT_MAX ((size_t)1024 * 1024)
#define ENTRY_MIN 4096
#define NAME_COST 256 /* another hard link of a counted file */
#define DAY_US (UINT64_C(24) * 60 * 60 * 1000000)
#define REMOVE_NICE 10 /* of a removal for which no command waits */

void session_upper_done(struct session_upper *k)
{
	free(k->worktree);
	strv_free(k->protect);
	strv_free(k->ask);
	strv_free(k->allow);
	strv_free(k->chain);
	free(k->own);
	*k = (struct session_upper){ 0 };
}

void session_upper_list_done(struct session_upper_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		session_upper_done(&l->items[i]);
	free(l->items);
	*l = (struct session_upper_list){ 0 };
}

/* A string in a buffer of fixed size. */
static void map_text(struct jmap *m, const char *key, char *field, size_t room)
{
	_cleanup_free_ char *text = m->reading ? NULL : strdup(field);

	jmap_string(m, key, &text);
	if (m->r < 0 || !m->reading)
		return;
	if (strlen(text) >= room)
		(void)jmap_fail(m, EINVAL, "'%s' is too long", key);
	else
		(void)snprintf(field, room, "%s", text);
}

static void map_id(struct jmap *m, const char *key, uint32_t *field)
{
	unsigned int n = *field;

	jmap_uint(m, key, &n, UINT32_MAX);
	*field = n;
}

/* An older version wrote none of the three. */
static void map_questions(struct jmap *m, struct session_upper *k)
{
	if (m->reading && !jdoc_get(m->d, "ask_deletions") && !jdoc_get(m->d, "allow")) {
		k->ask_deletions = SESSION_UPPER_ASK_DELETIONS;
		return;
	}
	jmap_strv(m, "ask", &k->ask);
	jmap_strv(m, "allow", &k->allow);
	jmap_u64(m, "ask_deletions", &k->ask_deletions);
}

static void map(struct jmap *m, struct session_upper *k)
{
	static const char *const notes[] = {
		[OVERLAY_XATTR_USER] = "user",
		[OVERLAY_XATTR_TRUSTED] = "trusted",
		[OVERLAY_XATTR_FUSE] = "fuse",
		NULL,
	};
	unsigned int n = k->notes, version = 1;

	jmap_uint(m, "schema_version", &version, 1);
	map_text(m, "session", k->session, sizeof(k->session));
	jmap_path(m, "worktree", &k->worktree);
	jmap_u64(m, "device", &k->device);
	jmap_u64(m, "inode", &k->inode);
	jmap_word(m, "notes", notes, &n);
	jmap_bool(m, "rootless", &k->rootless);
	jmap_bool(m, "mapped", &k->ids.set);
	map_id(m, "uid_from", &k->ids.uid_from);
	map_id(m, "uid_to", &k->ids.uid_to);
	map_id(m, "gid_from", &k->ids.gid_from);
	map_id(m, "gid_to", &k->ids.gid_to);
	jmap_u64(m, "since_us", &k->since_us);
	jmap_u64(m, "ended_us", &k->ended_us);
	map_text(m, "boot", k->boot, sizeof(k->boot));
	jmap_u64(m, "bytes", &k->bytes);
	jmap_strv(m, "protect", &k->protect);
	map_questions(m, k);
	/* Only of a session that continues another one. */
	if (m->reading ? jdoc_get(m->d, "chain") != NULL : k->chain != NULL)
		jmap_strv(m, "chain", &k->chain);
	if (m->r == 0 && (m->reading ? jdoc_get(m->d, "own") != NULL : k->own != NULL))
		jmap_string(m, "own", &k->own);
	k->notes = n;
}

int session_upper_write(int dirfd, const struct session_upper *k, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct session_upper copy = *k; /* the map is not const, but writing changes nothing */
	struct jmap m;
	int r;

	jmap_init_write(&m, doc, SESSION_UPPER_FILE, f);
	map(&m, &copy);
	r = jmap_end(&m);
	if (r == 0)
		r = jdoc_write(doc, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	(void)unlinkat(dirfd, SESSION_UPPER_FILE, 0);
	fd = openat(dirfd, SESSION_UPPER_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", SESSION_UPPER_FILE);
	return fd_write_all(fd, text.text, text.len, f);
}

int session_upper_read(int dirfd, struct session_upper *ret, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dirfd, SESSION_UPPER_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_session_upper_ struct session_upper k = { 0 };
	struct jmap m;
	size_t len;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "'%s'", SESSION_UPPER_FILE);
	r = fd_require_private(fd, geteuid(), f);
	if (r == 0)
		r = fd_read_all(fd, KEPT_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", SESSION_UPPER_FILE);
	if (r == 0)
		r = jdoc_parse(text, len, SESSION_UPPER_FILE, NULL, &doc, f);
	if (r < 0)
		return r;
	jmap_init_read(&m, doc, SESSION_UPPER_FILE, f);
	map(&m, &k);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	*ret = k;
	k = (struct session_upper){ 0 };
	return 0;
}

/*
 * Share the size among hard links: else many links to one file could evict the uppers of other sessions.  Evidence, which
 * is removed earlier, does not count.
 */
static uint64_t cost(const struct statx *stx, bool shared)
{
	const uint64_t links = shared && stx->stx_nlink > 1 ? stx->stx_nlink - 1 : stx->stx_nlink;
	uint64_t bytes = stx->stx_blocks * 512;

	if (bytes < ENTRY_MIN)
		bytes = ENTRY_MIN;
	return S_ISDIR(stx->stx_mode) || links < 2 ? bytes : bytes / links + NAME_COST;
}

int session_upper_measure(int layer, struct session_upper *k, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	uint64_t bytes = 0, files = 0;
	struct walk_entry e;
	int r = walk_new(layer, 0, &w, f);

	while (r >= 0 && (r = walk_next(w, &e, f)) > 0) {
		bytes += r == WALK_LEAVE ? 0 : cost(&e.stx, k->shared);
		files += r == WALK_ENTRY;
	}
	if (r < 0)
		return r;
	k->bytes = bytes;
	k->files = files;
	return 0;
}

/* The worktree's last: finish_removal looks for it. */
static int remove_trees(int dirfd, struct fault *f)
{
	int r = path_remove_tree(dirfd, SESSION_UPPER_SUM, f);

	if (r == 0)
		r = path_remove_tree(dirfd, SESSION_REPOSITORY, f);

	return r < 0 ? r : path_remove_wide_tree(dirfd, SESSION_UPPER_DIR, f);
}

/* First: session_upper_list removes an upper without layer.json. */
static int remove_files(int dirfd, struct fault *f)
{
	if (unlinkat(dirfd, SESSION_UPPER_FILE, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '%s'", SESSION_UPPER_FILE);
	if (unlinkat(dirfd, SESSION_UPPER_BASE, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '%s'", SESSION_UPPER_BASE);
	return 0;
}

int session_upper_remove(int dirfd, struct fault *f)
{
	int r = remove_files(dirfd, f);

	return r < 0 ? r : remove_trees(dirfd, f);
}

int session_upper_remove_later(int dirfd, struct fault *f)
{
	int r = remove_files(dirfd, f);

	if (r < 0)
		return r;
	r = process_detach("custody-remove", dirfd);
	if (r == 0) {
		(void)!nice(REMOVE_NICE);
		_exit(remove_trees(dirfd, NULL) < 0);
	}
	return r > 0 ? 0 : remove_trees(dirfd, f);
}

static int lock(const struct dirs *d, const char *id, int how, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -EBADF;

	if (asprintf(&path, "%s/sessions/%s", d->state, id) < 0) {
		path = NULL;
		return fault_errno(f, ENOMEM, "session");
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (flock(fd, how | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? fault_set(f, EBUSY,
					   "session '%s' is being reviewed, removed or continued by another "
					   "process",
					   id)
			       : fault_errno(f, errno, "lock '%s'", path);
	return TAKE_FD(fd);
}

int session_upper_lock(const struct dirs *d, const char *id, struct fault *f)
{
	return lock(d, id, LOCK_EX, f);
}

int session_upper_lock_shared(const struct dirs *d, const char *id, struct fault *f)
{
	return lock(d, id, LOCK_SH, f);
}

static int by_age(const void *a, const void *b)
{
	const struct session_upper *x = a, *y = b;

	if (x->ended_us != y->ended_us)
		return x->ended_us < y->ended_us ? -1 : 1;
	return strcmp(x->session, y->session);
}

static int add(struct session_upper_list *l, struct session_upper *k, struct fault *f)
{
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		struct session_upper *grown = reallocarray(l->items, room, sizeof(*grown));

		if (!grown)
			return fault_errno(f, ENOMEM, "sessions");
		l->items = grown;
		l->room = room;
	}
	l->items[l->n++] = *k;
	*k = (struct session_upper){ 0 };
	return 0;
}

/* An upper without layer.json: its removal was interrupted. */
static int finish_removal(int states, const char *id, int dir, struct fault *f)
{
	struct stat st;

	if (fstatat(dir, SESSION_UPPER_DIR, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !session_note_is_settled(states, id))
		return 0;
	return flock(dir, LOCK_EX | LOCK_NB) < 0 ? 0 : remove_trees(dir, f);
}

/* KEPT: of ended sessions, in their state; else as announced for recovery by those that run or were killed. */
static int list(const char *parent, bool kept, struct session_upper_list *l, struct fault *f)
{
	_cleanup_free_ char *path = path_join(parent, "sessions");
	const struct dirent *e;
	DIR *dir;
	int r = 0;

	if (!path)
		return fault_errno(f, ENOMEM, "sessions");
	dir = opendir(path);
	if (!dir && errno != ENOENT)
		return fault_errno(f, errno, "open '%s'", path);
	while (r == 0 && dir && (e = readdir(dir))) {
		_cleanup_close_ int fd = -EBADF;
		_cleanup_session_upper_ struct session_upper k = { 0 };

		if (e->d_name[0] == '.')
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		r = session_upper_read(fd, &k, NULL);
		if (r == 0 && str_eq(k.session, e->d_name))
			r = add(l, &k, f);
		else
			r = kept && r == -ENOENT ? finish_removal(dirfd(dir), e->d_name, fd, f) : 0;
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

int session_upper_list(const struct dirs *d, struct session_upper_list *ret, struct fault *f)
{
	_cleanup_session_upper_list_ struct session_upper_list l = { 0 };
	int r = list(d->state, true, &l, f);

	if (r < 0)
		return r;
	if (l.n)
		qsort(l.items, l.n, sizeof(*l.items), by_age);
	*ret = l;
	l = (struct session_upper_list){ 0 };
	return 0;
}

static bool has_base(const struct session_upper *k, const char *id)
{
	return k->chain && str_eq(k->chain[0], id);
}

bool session_upper_is_base(const struct session_upper_list *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (has_base(&l->items[i], id))
			return true;
	return false;
}

int session_upper_list_announced(const struct dirs *d, struct session_upper_list *ret, struct fault *f)
{
	return list(d->run, false, ret, f);
}

int session_upper_children(const struct dirs *d, const char *id, char ***ret, struct fault *f)
{
	_cleanup_session_upper_list_ struct session_upper_list l = { 0 };
	_cleanup_strv_ char **found = NULL;
	int r = list(d->state, true, &l, f);

	if (r == 0)
		r = session_upper_list_announced(d, &l, f);
	for (size_t i = 0; r == 0 && i < l.n; i++)
		if (has_base(&l.items[i], id) && !strv_has(found, l.items[i].session) &&
		    strv_append(&found, l.items[i].session) < 0)
			r = fault_errno(f, ENOMEM, "sessions");
	if (r < 0)
		return r;
	*ret = TAKE_PTR(found);
	return 0;
}

void session_upper_judge(const struct session_upper_list *l, uint64_t now_us, uint64_t days, uint64_t quota,
			 const char *keep, const char **v)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct session_upper *k = &l->items[i];

		/* After the clock was set back no upper is too old. */
		v[i] = k->ended_us < now_us && (now_us - k->ended_us) / DAY_US >= days &&
				       !str_eq(k->session, keep)
			       ? "too-old"
			       : NULL;
		/* Over quota by itself: evicting the others would not make it fit. */
		if (!v[i] && k->bytes > quota) {
			v[i] = str_eq(k->session, keep) ? NULL : "over-quota";
			continue;
		}
		sum += v[i] ? 0 : k->bytes;
	}
	for (size_t i = 0; i < l->n && sum > quota; i++) {
		if (v[i] || l->items[i].bytes > quota || str_eq(l->items[i].session, keep) ||
		    session_upper_is_base(l, l->items[i].session))
			continue;
		v[i] = "over-quota";
		sum -= l->items[i].bytes;
	}
}
