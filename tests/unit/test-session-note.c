/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/process.h"
#include "base/str.h"
#include "session/session-note.h"

#include "tap.h"
#include "thread-fixture.h"

#define ID_A "20261116T031500Z-aaaaaaaa"
#define ID_B "20261116T031500Z-bbbbbbbb"
#define ID_C "20261116T041500Z-cccccccc"
#define NO_SESSION                                 \
	{                                          \
		.run_fd = -EBADF, .ids_fd = -EBADF \
	}

static struct lane_pass *pass;
static char root[] = "/tmp/custody-note-XXXXXX";

static int load(struct dirs *d)
{
	return setenv("CUSTODY_ROOT", root, 1) == 0 ? dirs_load(d, NULL) : -1;
}

static void clean(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)!path_remove_tree(tmp, strrchr(root, '/') + 1, NULL);
	(void)mkdir(root, 0700);
}

/* Borrowed texts: never freed through session_note_done. */
static struct session_note example(const char *id)
{
	static char *argv[] = { (char *)"sh", (char *)"-c", (char *)"echo \"\x1b[31m\xc3\xa9\n\"", NULL };
	struct session_note n = { .state = SESSION_RUNNING,
				  .name = (char *)"build",
				  .agent = (char *)"bot",
				  .profile = (char *)"offline",
				  .digest = (char *)"sha256:00",
				  .argv = argv,
				  .worktree = (char *)"/srv/tree",
				  .worktree_device = 64,
				  .worktree_inode = UINT64_MAX / 4,
				  .workspace = (char *)"overlay",
				  .detached = true,
				  .pid = 4711,
				  .pid_start = 99,
				  .boot = "01234567",
				  .owner_uid = 1000,
				  .owner_gid = 1001,
				  .uid_base = 1879048192,
				  .gid_base = 1879048192,
				  .uid = 3,
				  .gid = 4,
				  .started_us = 1794798900000000 };

	memcpy(n.session, id, sizeof(n.session));
	return n;
}

static char *path_of(const struct dirs *d, const char *id, const char *name)
{
	char *path;

	return asprintf(&path, "%s/sessions/%s/%s", d->state, id, name) < 0 ? NULL : path;
}

static bool exists(const struct dirs *d, const char *id, const char *name)
{
	_cleanup_free_ char *path = path_of(d, id, name);

	return access(path, F_OK) == 0;
}

/* As a run leaves it behind when it is noted: S holds the lock. */
static int open_noted(const struct dirs *d, const struct session_note *n, struct session *s)
{
	_cleanup_close_ int dir = -EBADF;
	int r = session_open(d, pass, n->session, s, NULL);

	if (r == 0)
		r = session_make_state(s, d, NULL);
	if (r == 0)
		r = dir = session_note_open_dir(d, n->session, NULL);
	return r < 0 ? r : session_note_write(dir, n, NULL);
}

/* A directory with a note and no lock. */
static int make_ended(const struct dirs *d, struct session_note n)
{
	_cleanup_session_ struct session s = NO_SESSION;
	int r;

	n.state = SESSION_ENDED;
	n.ended_us = n.started_us + 1;
	n.reason = (char *)"exited";
	n.source = (char *)"init";
	r = open_noted(d, &n, &s);
	s.has_note = true;
	return r < 0 ? r : session_remove(&s, NULL);
}

static int read_back(const struct dirs *d, const char *id, struct session_note *ret, struct fault *f)
{
	_cleanup_close_ int dir = session_note_open_dir(d, id, f);

	return dir < 0 ? dir : session_note_read(dir, ret, f);
}

static void a_written_file_is_read_back(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_session_note_ struct session_note got = { 0 };
	struct session_note n = example(ID_A);

	clean();
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0);
	CHECK(read_back(&d, ID_A, &got, NULL) == 0);
	CHECK(str_eq(got.session, ID_A) && got.state == SESSION_RUNNING && got.lane == LANE_SANDBOX);
	CHECK(str_eq(got.name, "build") && str_eq(got.agent, "bot") && !got.worker && !got.issue);
	CHECK(strv_len(got.argv) == 3 && str_eq(got.argv[2], n.argv[2]) && !got.argv_cut);
	CHECK(str_eq(got.worktree, "/srv/tree") && str_eq(got.workspace, "overlay") && got.detached);
	CHECK(got.worktree_device == 64 && got.worktree_inode == UINT64_MAX / 4);
	CHECK(got.pid == 4711 && got.pid_start == 99 && str_eq(got.boot, "01234567"));
	CHECK(got.owner_uid == 1000 && got.owner_gid == 1001 && got.uid == 3 && got.gid == 4);
	CHECK(got.uid_base == 1879048192 && got.started_us == n.started_us && got.ended_us == 0);
	CHECK(!got.reason && !got.evidence && !got.kept && !got.settled);
	CHECK(session_remove(&s, NULL) == 0 && !exists(&d, ID_A, ""));
}

static void long_commands_are_cut(void)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_free_ char *big = malloc(SESSION_NOTE_ARGV_MAX);
	char *argv[] = { (char *)"cat", big, (char *)"x", NULL };

	CHECK(big);
	memset(big, 'a', SESSION_NOTE_ARGV_MAX - 1);
	big[SESSION_NOTE_ARGV_MAX - 1] = '\0';
	CHECK(session_note_set_argv(&n, argv, NULL) == 0);
	CHECK(strv_len(n.argv) == 1 && n.argv_cut);
}

/* An unreadable note would be swept together with the changes of its session: it is not written. */
static void an_unreadable_note_is_not_written(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_free_ char *big = malloc(SESSION_NOTE_MAX / 4);
	struct session_note n = example(ID_A);

	clean();
	CHECK(big);
	memset(big, 1, SESSION_NOTE_MAX / 4 - 1);
	big[SESSION_NOTE_MAX / 4 - 1] = '\0';
	n.name = big;
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == -E2BIG);
	CHECK(session_remove(&s, NULL) == 0);
}

static bool put(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0;
}

static void only_a_whole_note_of_ours_is_read(void)
{
	static const char *const bad[] = { "", "{}", "[]", "{\"session\":", "null\n", "\x01\x02" };
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_free_ char *path = NULL, *text = NULL, *wrong = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct session_note got = { 0 }, n = example(ID_A);
	size_t len;

	clean();
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0);
	path = path_of(&d, ID_A, SESSION_NOTE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd_read_all(fd, SESSION_NOTE_MAX, &text, &len, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(put(path, bad[i]) && read_back(&d, ID_A, &got, &f) < 0 && f.text);
	}
	/* A key too many, a key less, a state that is never written, an id of a wrong length. */
	CHECK(asprintf(&wrong, "{\"x\":1,%s", text + 1) > 0 && put(path, wrong));
	CHECK(read_back(&d, ID_A, &got, NULL) == -EINVAL);
	CHECK(strstr(text, "\"kept\":false,"));
	memset(strstr(text, "\"kept\":false,"), ' ', strlen("\"kept\":false,"));
	CHECK(put(path, text) && read_back(&d, ID_A, &got, NULL) == -EINVAL);
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0 && read_back(&d, ID_A, &got, NULL) == -EINVAL);
	CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
	CHECK(read_back(&d, ID_A, &got, NULL) == -ELOOP);
	CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0 && read_back(&d, ID_A, &got, NULL) == -EINVAL);
	CHECK(rmdir(path) == 0 && put(path, text) && chmod(path, 0666) == 0);
	CHECK(read_back(&d, ID_A, &got, NULL) == -EPERM);
	CHECK(session_remove(&s, NULL) == 0);
}

static void of_a_container_it_tells_bundle_and_id(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_session_note_ struct session_note got = { 0 }, old = { 0 };
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct session_note n = example(ID_A);
	const char *const keys[] = { "\"bundle\":\"/srv/b\",", "\"container\":\"c-1\"," };
	size_t len;

	clean();
	n.container = (char *)"c-1";
	n.bundle = (char *)"/srv/b";
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0 && read_back(&d, ID_A, &got, NULL) == 0);
	CHECK(str_eq(got.container, "c-1") && str_eq(got.bundle, "/srv/b"));
	/* One of the two is a note that lost a key; without both it was written before there were any. */
	path = path_of(&d, ID_A, SESSION_NOTE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd_read_all(fd, SESSION_NOTE_MAX, &text, &len, NULL) == 0);
	for (size_t i = 0; i < 2; i++) {
		char *at = strstr(text, keys[i]);

		CHECK(at);
		memset(at, ' ', strlen(keys[i]));
		CHECK(put(path, text) && read_back(&d, ID_A, &old, NULL) == (i == 0 ? -EINVAL : 0));
	}
	CHECK(str_eq(old.session, ID_A) && !old.container && !old.bundle);
	CHECK(session_remove(&s, NULL) == 0);
}

static void a_note_of_an_older_version_has_no_identity(void)
{
	static const char keys[] = ",\"worktree_device\":64,\"worktree_inode\":4611686018427387903";
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_session_note_ struct session_note got = { 0 };
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct session_note n = example(ID_A);
	size_t len;
	char *at;

	clean();
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0);
	path = path_of(&d, ID_A, SESSION_NOTE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd_read_all(fd, SESSION_NOTE_MAX, &text, &len, NULL) == 0);
	at = strstr(text, keys);
	CHECK(at);
	memset(at, ' ', strlen(",\"worktree_device\":64"));
	CHECK(put(path, text) && read_back(&d, ID_A, &got, NULL) == -EINVAL);
	memset(at, ' ', strlen(keys));
	CHECK(put(path, text) && read_back(&d, ID_A, &got, NULL) == 0);
	CHECK(got.worktree_device == 0 && got.worktree_inode == 0 && str_eq(got.worktree, "/srv/tree"));
	CHECK(session_remove(&s, NULL) == 0);
}

static void an_end_replaces_the_note_before(void)
{
	_cleanup_session_note_ struct session_note n = { .state = SESSION_RUNNING };
	const struct ledger_end
		first = { .reason = "exited", .source = "pidfd", .evidence = "/e", .code = 3 },
		second = { .reason = "lost", .source = "keeper", .code = 125, .abnormal = true };

	CHECK(session_note_end(&n, &first, NULL) == 0 && n.state == SESSION_ENDED && n.ended_us);
	CHECK(str_eq(n.reason, "exited") && str_eq(n.evidence, "/e") && n.code == 3 && !n.abnormal);
	CHECK(session_note_end(&n, &second, NULL) == 0);
	CHECK(str_eq(n.reason, "lost") && str_eq(n.source, "keeper") && !n.evidence && n.abnormal);
}

static void bad_notes_hide_no_other_note(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	_cleanup_free_ char *path = NULL;

	clean();
	CHECK(load(&d) == 0 && make_ended(&d, example(ID_A)) == 0 && make_ended(&d, example(ID_B)) == 0);
	path = path_of(&d, ID_A, SESSION_NOTE);
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	CHECK(session_note_list(&d, &l, NULL) == 0 && l.n == 1 && str_eq(l.items[0].session, ID_B));
	CHECK(strv_len(l.broken) == 1 && str_starts(l.broken[0], ID_A ": "));
}

static void running_sessions_are_distinguished_from_dead_ones(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session a = NO_SESSION, b = NO_SESSION;
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	struct session_note na = example(ID_A), nb = example(ID_B), nc = example(ID_C);

	clean();
	na.started_us += 2;
	nb.started_us += 1;
	CHECK(load(&d) == 0 && open_noted(&d, &na, &a) == 0 && open_noted(&d, &nb, &b) == 0);
	CHECK(make_ended(&d, nc) == 0);
	session_done(&b);
	CHECK(session_note_list(&d, &l, NULL) == 0 && l.n == 3 && !l.broken);
	CHECK(str_eq(l.items[0].session, ID_A) && l.items[0].state == SESSION_RUNNING);
	CHECK(str_eq(l.items[1].session, ID_B) && l.items[1].state == SESSION_LOST);
	CHECK(str_eq(l.items[2].session, ID_C) && l.items[2].state == SESSION_ENDED && l.items[2].settled);
	CHECK(session_remove(&a, NULL) == 0);
}

static void find_wants_exactly_one(void)
{
	static const struct {
		const char *word, *id; /* NULL: CODE */
		int code;
	} rows[] = {
		{ ID_A, ID_A, 0 },
		{ "20261116T031500Z-a", ID_A, 0 },
		{ "20261116T04", ID_C, 0 },
		{ "20261116T031500Z", NULL, -ENOTUNIQ },
		{ "2026", NULL, -ENOTUNIQ },
		{ "other", ID_C, 0 },
		{ "build", NULL, -ENOTUNIQ },
		{ "buil", NULL, -ENOENT },
		{ "", NULL, -ENOENT },
		{ ".", NULL, -ENOENT },
		{ "..", NULL, -ENOENT },
		{ "../sessions/" ID_A, NULL, -ENOENT },
		{ "20261116T031500Z-dddddddd", NULL, -ENOENT },
		{ "aaaaaaaa", ID_A, 0 },
		{ "bbbb", ID_B, 0 },
		{ "bbb", NULL, -ENOENT },
		{ "aaaaaaaaa", NULL, -ENOENT },
		{ "last", NULL, -ENOENT },
	};
	_cleanup_dirs_ struct dirs d = { 0 };
	struct session_note other = example(ID_C);

	clean();
	other.name = (char *)"other";
	CHECK(load(&d) == 0 && make_ended(&d, example(ID_A)) == 0 && make_ended(&d, example(ID_B)) == 0);
	CHECK(make_ended(&d, other) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_session_note_ struct session_note n = { 0 };
		_cleanup_fault_ struct fault f = { 0 };
		int r = session_note_find(&d, rows[i].word, &n, &f);

		CHECK(r == rows[i].code && str_eq(rows[i].id ? rows[i].id : "", n.session));
		CHECK(r != -ENOTUNIQ || (strstr(f.text, ID_A) && strstr(f.text, ID_B)));
	}
}

static void digits_of_one_session_as_the_name_of_another_are_ambiguous(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	struct session_note hostile = example(ID_B), own = example(ID_C);

	clean();
	hostile.name = (char *)"aaaaaaaa";
	own.name = (char *)"cccccccc";
	CHECK(load(&d) == 0 && make_ended(&d, example(ID_A)) == 0 && make_ended(&d, hostile) == 0);
	CHECK(make_ended(&d, own) == 0);
	CHECK(session_note_find(&d, "aaaaaaaa", &n, &f) == -ENOTUNIQ);
	CHECK(strstr(f.text, ID_A) && strstr(f.text, ID_B) && !strstr(f.text, ID_C));
	CHECK(session_note_find(&d, "cccccccc", &n, NULL) == 0 && str_eq(n.session, ID_C));
}

static void a_name_given_twice_is_that_of_the_living(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION, t = NO_SESSION;
	_cleanup_session_note_ struct session_note n = { 0 };
	struct session_note living = example(ID_B), second = example(ID_C);

	clean();
	CHECK(load(&d) == 0 && make_ended(&d, example(ID_A)) == 0 && open_noted(&d, &living, &s) == 0);
	CHECK(session_note_find(&d, "build", &n, NULL) == 0 && str_eq(n.session, ID_B));
	CHECK(open_noted(&d, &second, &t) == 0);
	CHECK(session_note_find(&d, "build", &n, NULL) == -ENOTUNIQ);
	CHECK(session_remove(&s, NULL) == 0 && session_remove(&t, NULL) == 0);
}

static void LANE_6_the_other_lane_is_not_shown(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	struct session_note n = example(ID_A), got = { 0 };

	clean();
	n.lane = LANE_PROD;
	CHECK(load(&d) == 0 && make_ended(&d, n) == 0);
	CHECK(session_note_list(&d, &l, NULL) == 0 && l.n == 0 && strv_len(l.broken) == 1);
	CHECK(session_note_find(&d, ID_A, &got, NULL) == -LANE_REFUSED);
}

static void a_note_of_another_session_is_refused(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_free_ char *from = NULL, *to = NULL;
	struct session_note got = { 0 };

	clean();
	CHECK(load(&d) == 0 && make_ended(&d, example(ID_A)) == 0 && make_ended(&d, example(ID_B)) == 0);
	from = path_of(&d, ID_A, SESSION_NOTE);
	to = path_of(&d, ID_B, SESSION_NOTE);
	CHECK(rename(from, to) == 0);
	CHECK(session_note_find(&d, ID_B, &got, NULL) == -EINVAL);
}

static bool make_junk(const struct dirs *d, const char *id)
{
	static const char *const dirs[] = { "u", "w", "w/work" };
	static const char *const files[] = { "u/file", "audit.ndjson", "stdio.log", "session.json.new" };
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		_cleanup_free_ char *path = path_of(d, id, dirs[i]);

		ok = ok && mkdir(path, 0700) == 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = path_of(d, id, files[i]);

		ok = ok && put(path, "x");
	}
	return ok;
}

static void the_end_leaves_the_note_and_the_log(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	struct session_note n = example(ID_A);

	clean();
	n.state = SESSION_ENDED;
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0 && make_junk(&d, ID_A));
	s.has_note = true;
	CHECK(session_remove(&s, NULL) == 0 && access(s.run, F_OK) < 0);
	CHECK(exists(&d, ID_A, SESSION_NOTE) && exists(&d, ID_A, SESSION_LOG) &&
	      exists(&d, ID_A, LANE_STAMP));
	CHECK(!exists(&d, ID_A, "u") && !exists(&d, ID_A, "w") && exists(&d, ID_A, "audit.ndjson"));
	CHECK(!exists(&d, ID_A, "session.json.new"));
	session_done(&s);
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 0 && exists(&d, ID_A, SESSION_NOTE));
}

static void a_kept_layer_stays(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	struct session_note n = example(ID_A);

	clean();
	n.state = SESSION_ENDED;
	n.changed = n.kept = true;
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0 && make_junk(&d, ID_A));
	s.has_note = true;
	CHECK(session_remove(&s, NULL) == 0);
	CHECK(exists(&d, ID_A, "u/file") && !exists(&d, ID_A, "w") && exists(&d, ID_A, "audit.ndjson"));
	session_done(&s);
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 0 && exists(&d, ID_A, "u/file"));
}

/* Killed, with its directory in RUN or, after a reboot, without. */
static void the_dead_become_lost(void)
{
	for (int reboot = 0; reboot < 2; reboot++) {
		_cleanup_dirs_ struct dirs d = { 0 };
		_cleanup_session_ struct session s = NO_SESSION;
		_cleanup_session_note_ struct session_note got = { 0 };
		_cleanup_close_ int runs = -EBADF;
		struct session_note n = example(ID_A);

		clean();
		CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0 && make_junk(&d, ID_A));
		if (reboot) {
			runs = openat(s.run_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			CHECK(path_remove_tree(runs, ID_A, NULL) == 0);
		}
		session_done(&s);
		CHECK(session_sweep(&d, NULL, NULL, NULL) == 1);
		CHECK(session_note_find(&d, ID_A, &got, NULL) == 0 && got.state == SESSION_ENDED &&
		      got.settled);
		CHECK(str_eq(got.reason, "lost") && got.code == 125 && got.abnormal && got.ended_us > 0);
		CHECK(!exists(&d, ID_A, "u") && exists(&d, ID_A, "audit.ndjson"));
		CHECK(session_sweep(&d, NULL, NULL, NULL) == 0);
	}
}

/* The end was recorded, then the supervisor died before the cleanup: the record is kept. */
static void a_recorded_end_is_not_lost(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_session_note_ struct session_note got = { 0 };
	struct session_note n = example(ID_A);

	clean();
	n.state = SESSION_ENDED;
	n.reason = (char *)"exited";
	CHECK(load(&d) == 0 && open_noted(&d, &n, &s) == 0 && make_junk(&d, ID_A));
	session_done(&s);
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 1);
	CHECK(session_note_find(&d, ID_A, &got, NULL) == 0 && str_eq(got.reason, "exited") && got.settled);
	CHECK(!exists(&d, ID_A, "u"));
}

static void old_and_too_many_notes_go(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_free_ char *layer = NULL;
	char now[SESSION_ID_SIZE];

	clean();
	CHECK(load(&d) == 0 && clock_session_id(now, NULL) == 0);
	CHECK(make_ended(&d, example("20200101T000000Z-00000000")) == 0);
	CHECK(make_ended(&d, example("20200101T000000Z-11111111")) == 0);
	layer = path_of(&d, "20200101T000000Z-11111111", "u");
	CHECK(mkdir(layer, 0700) == 0);
	for (unsigned int i = 0; i < SESSION_NOTES_MAX + 2; i++) {
		char id[SESSION_ID_SIZE + 8], *dash;

		memcpy(id, now, sizeof(now));
		dash = strchr(id, '-');
		(void)snprintf(dash, 10, "-%08x", i);
		CHECK(make_ended(&d, example(id)) == 0);
	}
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 0);
	CHECK(!exists(&d, "20200101T000000Z-00000000", "") && exists(&d, "20200101T000000Z-11111111", "u"));
	memcpy(strchr(now, '-'), "-00000001", 9);
	CHECK(!exists(&d, now, ""));
	/* The one with a layer counts as well. */
	memcpy(strchr(now, '-'), "-00000004", 9);
	CHECK(exists(&d, now, SESSION_NOTE));
}

static void a_start_looks_at_all_of_them_once_a_minute(void)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_free_ char *stamp = NULL;

	clean();
	CHECK(load(&d) == 0 && make_ended(&d, example("20200101T000000Z-00000000")) == 0);
	CHECK(asprintf(&stamp, "%s/swept-sandbox", d.run) > 0);
	CHECK(session_sweep_start(&d, NULL, NULL, NULL) == 0 && !exists(&d, "20200101T000000Z-00000000", ""));
	CHECK(make_ended(&d, example("20200101T000000Z-00000000")) == 0);
	CHECK(session_sweep_start(&d, NULL, NULL, NULL) == 0 && exists(&d, "20200101T000000Z-00000000", ""));
	CHECK(utimensat(AT_FDCWD, stamp, long_ago, 0) == 0);
	CHECK(session_sweep_start(&d, NULL, NULL, NULL) == 0 && !exists(&d, "20200101T000000Z-00000000", ""));
	/* A caller can still read it by its id. */
	CHECK(make_ended(&d, example("20200101T000000Z-00000000")) == 0);
	CHECK(session_sweep(&d, NULL, NULL, NULL) == 0 && !exists(&d, "20200101T000000Z-00000000", ""));
	/* A clock that went back is no reason never to look. */
	CHECK(make_ended(&d, example("20200101T000000Z-00000000")) == 0);
	CHECK(utimensat(AT_FDCWD, stamp,
			(struct timespec[2]){ { .tv_sec = 9999999999 }, { .tv_sec = 9999999999 } }, 0) == 0);
	CHECK(session_sweep_start(&d, NULL, NULL, NULL) == 0 && !exists(&d, "20200101T000000Z-00000000", ""));
}

static void a_supervisor_is_proven_before_it_is_watched(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_thread_ struct thread thread = THREAD_NONE;
	struct session_note n = example(ID_A), other;
	pid_t child;
	int fd;

	/* Which knows no pidfd_open. */
	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	clean();
	CHECK(load(&d) == 0 && session_note_sign(&n, NULL) == 0 && open_noted(&d, &n, &s) == 0);
	fd = session_note_watch(&d, &n, NULL);
	CHECK(fd >= 0);
	fd_close(fd);
	/* The number exists, but belongs to another process. */
	other = n;
	other.pid_start++;
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	other = n;
	memcpy(other.boot, "ffffffff", 8);
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	/* A running process with its true start time, that holds no lock. */
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(STDOUT_FILENO);
		(void)pause();
		_exit(0);
	}
	CHECK(child > 0);
	other = n;
	other.pid = child;
	CHECK(process_start_time(child, &other.pid_start) == 1);
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	/* The number came back as that of a thread: no process, and no error. */
	CHECK(thread_start(&thread) && process_start_time(thread.tid, &other.pid_start) == 1);
	other.pid = thread.tid;
	other.pid_start--;
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	/* init, and no process at all. */
	other.pid = 1;
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	other.pid = 0;
	CHECK(session_note_watch(&d, &other, NULL) == -ESRCH);
	CHECK(session_remove(&s, NULL) == 0);
	CHECK(session_note_watch(&d, &n, NULL) == -ESRCH);
}

static void start(void)
{
	const struct lane_ask ask = { .lane = LANE_SANDBOX };

	CHECK(mkdtemp(root) && lane_gate(&ask, &pass, NULL) == 0);
}

static void end(void)
{
	clean();
	lane_pass_free(pass);
	CHECK(rmdir(root) == 0);
}

TAP_MAIN(T(start), T(a_written_file_is_read_back), T(long_commands_are_cut),
	 T(an_unreadable_note_is_not_written), T(only_a_whole_note_of_ours_is_read),
	 T(of_a_container_it_tells_bundle_and_id), T(a_note_of_an_older_version_has_no_identity),
	 T(an_end_replaces_the_note_before), T(bad_notes_hide_no_other_note),
	 T(running_sessions_are_distinguished_from_dead_ones), T(find_wants_exactly_one),
	 T(digits_of_one_session_as_the_name_of_another_are_ambiguous),
	 T(a_name_given_twice_is_that_of_the_living), T(LANE_6_the_other_lane_is_not_shown),
	 T(a_note_of_another_session_is_refused), T(the_end_leaves_the_note_and_the_log),
	 T(a_kept_layer_stays), T(the_dead_become_lost), T(a_recorded_end_is_not_lost),
	 T(old_and_too_many_notes_go), T(a_start_looks_at_all_of_them_once_a_minute),
	 T(a_supervisor_is_proven_before_it_is_watched), T(end))
