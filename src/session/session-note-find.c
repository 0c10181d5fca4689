/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "session/session-note.h"

#define DIGITS_AT (sizeof("20261116T031500Z-") - 1) /* random digits of an id */
#define NAMED_MAX 8				    /* of several matches, at most so many are listed */

void session_note_list_done(struct session_note_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		session_note_done(&l->items[i]);
	free(l->items);
	strv_free(l->broken);
	*l = (struct session_note_list){ 0 };
}

/* A shared lock, held briefly: a concurrent sweep takes the session for alive and retries at the next start. */
static bool is_held(int runs, const char *id)
{
	_cleanup_close_ int fd = openat(runs, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* RUNS may be negative: after a reboot no session is alive. */
static int read_one(int states, int runs, enum lane lane, const char *id, struct session_note *ret,
		    struct fault *f)
{
	_cleanup_close_ int dir = openat(states, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_session_note_ struct session_note n = { 0 };
	int r;

	if (dir < 0)
		return fault_errno(f, errno, "open session '%s'", id);
	r = session_note_read(dir, &n, f);
	if (r < 0)
		return r;
	if (!str_eq(n.session, id))
		return fault_set(f, EINVAL, "session.json is of another session, '%s'", n.session);
	if (n.lane != lane)
		return fault_set(f, LANE_REFUSED, "session.json is of another lane, '%s'", lane_name(n.lane));
	/* The supervisor writes the note before it releases the lock: check the lock, then read the note again. */
	if (n.state == SESSION_RUNNING && !is_held(runs, id)) {
		session_note_done(&n);
		r = session_note_read(dir, &n, f);
		if (r < 0)
			return r;
		if (n.state == SESSION_RUNNING)
			n.state = SESSION_LOST;
	}
	*ret = n;
	n = (struct session_note){ 0 };
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct session_note *x = a, *y = b;

	if (x->started_us != y->started_us)
		return x->started_us < y->started_us ? 1 : -1;
	return strcmp(y->session, x->session);
}

static int add(struct session_note_list *l, struct session_note *n, struct fault *f)
{
	struct session_note *grown = reallocarray(l->items, l->n + 1, sizeof(*grown));

	if (!grown) {
		session_note_done(n);
		return fault_errno(f, ENOMEM, "sessions");
	}
	l->items = grown;
	grown[l->n++] = *n;
	return 0;
}

struct places {
	DIR *states; /* NULL: the directory is missing */
	int runs;
};

static void places_done(struct places *p)
{
	if (p->states)
		(void)closedir(p->states);
	p->runs = fd_close(p->runs);
}

static int open_places(const struct dirs *d, struct places *ret, struct fault *f)
{
	_cleanup_free_ char *states = path_join(d->state, "sessions"), *runs = path_join(d->run, "sessions");
	_cleanup_close_ int fd = -EBADF;

	if (!states || !runs)
		return fault_errno(f, ENOMEM, "sessions");
	fd = open(states, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '%s'", states);
	ret->states = fdopendir(fd);
	if (!ret->states)
		return fault_errno(f, errno, "read '%s'", states);
	(void)TAKE_FD(fd);
	ret->runs = open(runs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return 0;
}

/* Without a note the session is being created, or belongs to a container engine. */
static int list_one(const struct dirs *d, const struct places *p, const char *id, struct session_note_list *l,
		    struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	struct session_note n = { 0 };
	int r = read_one(dirfd(p->states), p->runs, d->lane, id, &n, &why);

	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0)
		return strv_appendf(&l->broken, "%s: %s", id, fault_text(&why)) < 0
			       ? fault_errno(f, ENOMEM, "sessions")
			       : 0;
	return add(l, &n, f);
}

int session_note_list(const struct dirs *d, struct session_note_list *ret, struct fault *f)
{
	__attribute__((cleanup(places_done))) struct places p = { .runs = -EBADF };
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	const struct dirent *e;
	int r = open_places(d, &p, f);

	while (r == 0 && p.states && (e = readdir(p.states)))
		if (e->d_name[0] != '.')
			r = list_one(d, &p, e->d_name, &l, f);
	if (r < 0)
		return r;
	if (l.n > 1)
		qsort(l.items, l.n, sizeof(*l.items), newest_first);
	*ret = l;
	l = (struct session_note_list){ 0 };
	return 0;
}

static int refuse_many(const char *word, char *const *ids, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf names = { 0 };
	size_t n = strv_len(ids);

	for (size_t i = 0; i < n && i < NAMED_MAX; i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "", ids[i]);
	if (n > NAMED_MAX)
		strbuf_printf(&names, " and %zu more", n - NAMED_MAX);
	return fault_set(f, ENOTUNIQ, "'%s' is ambiguous, it matches %zu sessions: %s", word, n,
			 names.broken || !names.text ? "?" : names.text);
}

/* The id (heap) of the only running session of that name, else of the only one; NULL: no session has it. */
static int find_name(const struct dirs *d, const char *name, char **ret, struct fault *f)
{
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	_cleanup_strv_ char **all = NULL, **alive = NULL;
	int r = session_note_list(d, &l, f);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < l.n; i++)
		if (str_eq(l.items[i].name, name)) {
			r = strv_append(&all, l.items[i].session);
			if (r == 0 && l.items[i].state == SESSION_RUNNING)
				r = strv_append(&alive, l.items[i].session);
		}
	if (r < 0)
		return fault_errno(f, ENOMEM, "sessions");
	if (!all)
		return 0;
	if (strv_len(alive) != 1 && strv_len(all) != 1)
		return refuse_many(name, all, f);
	*ret = strdup(strv_len(alive) == 1 ? alive[0] : all[0]);
	return *ret ? 0 : fault_errno(f, ENOMEM, "sessions");
}

bool session_word_matches(const char *word, const char *id)
{
	const char *digits = strlen(id) > DIGITS_AT ? id + DIGITS_AT : "";

	return str_starts(id, word) || (strlen(word) >= SESSION_DIGITS_MIN && str_starts(digits, word));
}

static int list_matches(const struct places *p, const char *word, char ***ret, struct fault *f)
{
	const struct dirent *e;

	while (p->states && *word && (e = readdir(p->states)))
		if (e->d_name[0] != '.' && session_word_matches(word, e->d_name) &&
		    strv_append(ret, e->d_name) < 0)
			return fault_errno(f, ENOMEM, "sessions");
	return 0;
}

/* A name is no digits of another session: then both are candidates. */
static int require_own_digits(const struct places *p, const char *word, const char *named, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	int r = strlen(word) == SESSION_ID_SIZE - 1 - DIGITS_AT ? list_matches(p, word, &ids, f) : 0;

	if (r < 0 || !ids || (str_eq(ids[0], named) && !ids[1]))
		return r;
	for (size_t i = 0; ids[i]; i++)
		if (str_eq(ids[i], named))
			return refuse_many(word, ids, f);
	return strv_append(&ids, named) < 0 ? fault_errno(f, ENOMEM, "sessions") : refuse_many(word, ids, f);
}

static int find_prefix(const struct places *p, const char *word, char **ret, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	int r = list_matches(p, word, &ids, f);

	if (r < 0)
		return r;
	if (!ids)
		return fault_set(f, ENOENT, "no session has the id, id prefix or name '%s'", word);
	if (ids[1])
		return refuse_many(word, ids, f);
	*ret = strdup(ids[0]);
	return *ret ? 0 : fault_errno(f, ENOMEM, "sessions");
}

static bool is_id(const char *word)
{
	return strlen(word) == SESSION_ID_SIZE - 1 && !strchr(word, '/') && word[0] != '.';
}

int session_note_find(const struct dirs *d, const char *word, struct session_note *ret, struct fault *f)
{
	__attribute__((cleanup(places_done))) struct places p = { .runs = -EBADF };
	_cleanup_free_ char *id = NULL;
	int r = open_places(d, &p, f);

	if (r == 0 && p.states && is_id(word) &&
	    faccessat(dirfd(p.states), word, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		r = (id = strdup(word)) ? 0 : fault_errno(f, ENOMEM, "session");
	/* A run may have an empty name, but an empty variable of a script must not match it. */
	if (r == 0 && !id && *word)
		r = find_name(d, word, &id, f);
	if (r == 0 && id)
		r = require_own_digits(&p, word, id, f);
	if (r == 0 && !id)
		r = find_prefix(&p, word, &id, f);
	if (r < 0)
		return r;
	r = read_one(dirfd(p.states), p.runs, d->lane, id, ret, f);
	return r < 0 ? fault_wrap(f, r, "session '%s'", id) : 0;
}
