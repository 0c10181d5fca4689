/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "evidence/evidence-retention.h"
#include "evidence/evidence-store.h"
#include "evidence/evidence-verify.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "capture/manifest.h"
#include "capture/restore.h"
#include "tap.h"
#include "tree-fixture.h"

#define SESSION "20261116T031500Z-1a2b3c4d"

static struct jdoc *make_metadata(const char *lane, const char *agent)
{
	struct jdoc *o = jdoc_new_object();

	jdoc_set_string(o, "session", SESSION);
	if (lane)
		jdoc_set_string(o, "lane", lane);
	jdoc_set_string(o, "agent", agent);
	jdoc_set_string(jdoc_set_object(o, "exit"), "reason", "oom");
	return o;
}

struct scene {
	struct tree tree, store;
	struct evidence_taken taken;
	struct fault f;
};

static void scene_done(struct scene *s)
{
	evidence_taken_done(&s->taken);
	fault_done(&s->f);
	tree_done(&s->tree);
	tree_done(&s->store);
}
#define _cleanup_scene_ _cleanup_(scene_done)

static bool scene_make(struct scene *s)
{
	return tree_make(&s->tree) && tree_make(&s->store) && tree_put(s->tree.fd, "a", "aaa", 0644) &&
	       mkdirat(s->tree.fd, "d", 0755) == 0 && tree_put(s->tree.fd, "d/b", "bbb", 0755);
}

static bool take_as(struct scene *s, const char *lane, const char *agent, int tree)
{
	_cleanup_jdoc_ struct jdoc *metadata = make_metadata(lane, agent);
	_cleanup_close_ int output = openat(s->tree.fd, "a", O_RDONLY | O_CLOEXEC);
	const struct evidence_file files[] = { { "stdio.log", { .fd = output } },
					       { "audit.ndjson", EVIDENCE_CONTENT_NONE } };
	const struct evidence_request ask = { .store = s->store.path,
					      .session = SESSION,
					      .tree = tree,
					      .metadata = metadata,
					      .files = files,
					      .n_files = ARRAY_SIZE(files) };

	evidence_taken_done(&s->taken);
	return evidence_write(&ask, &s->taken, &s->f) == 0;
}

static bool take(struct scene *s)
{
	return take_as(s, "sandbox", "builder", s->tree.fd);
}

static int open_it(const struct scene *s)
{
	return evidence_open(s->store.path, LANE_SANDBOX, SESSION, NULL, NULL);
}

static void ISO_5_evidence_is_complete_and_has_its_metadata(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	_cleanup_close_ int dir = -EBADF;
	struct stat st;

	CHECK(scene_make(&s) && take(&s) && s.taken.status == EVIDENCE_COMPLETE);
	CHECK(stat(s.taken.path, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(evidence_list(s.store.path, LANE_SANDBOX, &l, NULL) == 0 && l.n == 1);
	CHECK(str_eq(l.items[0].name, SESSION) && str_eq(l.items[0].agent, "builder") &&
	      str_eq(l.items[0].reason, "oom") && l.items[0].status == EVIDENCE_COMPLETE &&
	      !l.items[0].pinned);
	CHECK(str_eq(jdoc_get_string(l.items[0].metadata, "status"), "complete"));
	CHECK(jdoc_get(l.items[0].metadata, "absent")->n_items == 1);
	dir = open_it(&s);
	CHECK(dir >= 0 && evidence_verify(dir, &c, NULL) == 0);
	CHECK(c.damaged == 0 && c.strange == 0 && c.files == 5 &&
	      digest_equal(&c.metadata, &s.taken.metadata));
}

/* The stock tool sees the same. */
static void ISO_5_sha256sum_agrees(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	char command[256];

	CHECK(scene_make(&s) && take(&s));
	(void)snprintf(command, sizeof(command), "cd %s && sha256sum -c --quiet " EVIDENCE_SUMS,
		       s.taken.path);
	CHECK(system(command) == 0);
}

static bool is_bad(const struct scene *s, uint64_t damaged, uint64_t strange)
{
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	_cleanup_close_ int dir = open_it(s);

	if (dir < 0 || evidence_verify(dir, &c, NULL) < 0)
		return false;
	if (c.damaged != damaged || c.strange != strange || !c.first)
		printf("# damaged %llu strange %llu first %s\n", (unsigned long long)c.damaged,
		       (unsigned long long)c.strange, c.first ? c.first : "-");
	return c.damaged == damaged && c.strange == strange && c.first;
}

static void each_change_is_found(void)
{
	static const struct {
		const char *path, *text;
		uint64_t damaged, strange;
	} rows[] = {
		{ "worktree/a", "aab", 1, 0 },	   { "worktree/d/b", "", 1, 0 },
		{ EVIDENCE_METADATA, "{}", 1, 0 }, { "stdio.log", "x", 1, 0 },
		{ MANIFEST_NAME, "{}\n", 2, 2 },   { "worktree/new", "n", 0, 1 },
		{ "worktree/d/new", "n", 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_scene_ struct scene s = { 0 };
		_cleanup_close_ int dir = -EBADF;

		CHECK(scene_make(&s) && take(&s));
		dir = open(s.taken.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(tree_put(dir, rows[i].path, rows[i].text, 0600));
		/* Metadata that is none has no lane either: then it is opened by its path. */
		if (str_eq(rows[i].path, EVIDENCE_METADATA)) {
			_cleanup_evidence_check_ struct evidence_check c = { 0 };

			CHECK(open_it(&s) == -ENOENT && evidence_verify(dir, &c, NULL) == 0 &&
			      c.damaged == 1);
			continue;
		}
		CHECK(is_bad(&s, rows[i].damaged, rows[i].strange));
	}
}

static void a_removed_file_is_found(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_close_ int dir = -EBADF;

	CHECK(scene_make(&s) && take(&s));
	dir = open(s.taken.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(unlinkat(dir, "worktree/a", 0) == 0 && is_bad(&s, 1, 0));
}

static void LANE_5_evidence_is_seen_in_its_own_lane_only(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_evidence_ struct evidence_list mine = { 0 }, theirs = { 0 };

	CHECK(scene_make(&s) && take_as(&s, "prod", "x", s.tree.fd) && take_as(&s, NULL, "x", s.tree.fd));
	CHECK(evidence_list(s.store.path, LANE_SANDBOX, &mine, NULL) == 0 && mine.n == 0);
	CHECK(evidence_list(s.store.path, LANE_PROD, &theirs, NULL) == 0 && theirs.n == 1);
	CHECK(open_it(&s) == -ENOENT);
}

static void ISO_5_two_of_one_name_both_stay(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_evidence_ struct evidence_list l = { 0 };

	CHECK(scene_make(&s) && take(&s) && take(&s) && take(&s));
	CHECK(str_ends(s.taken.path, SESSION "-3"));
	CHECK(evidence_list(s.store.path, LANE_SANDBOX, &l, NULL) == 0 && l.n == 3);
}

static void ISO_7_evidence_of_a_dead_process_is_adopted(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_taken_ struct evidence_taken found = { 0 };
	_cleanup_close_ int half = -EBADF;

	CHECK(scene_make(&s) && evidence_store_adopt(s.store.path, LANE_SANDBOX, SESSION, &found, NULL) == 0);
	CHECK(mkdirat(s.store.fd, SESSION EVIDENCE_PARTIAL, 0700) == 0);
	half = openat(s.store.fd, SESSION EVIDENCE_PARTIAL, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A process holds its lock. */
	CHECK(flock(half, LOCK_EX) == 0 &&
	      evidence_store_adopt(s.store.path, LANE_SANDBOX, SESSION, &found, NULL) == 0);
	CHECK(faccessat(s.store.fd, SESSION EVIDENCE_PARTIAL, F_OK, 0) == 0);
	half = fd_close(half);
	CHECK(evidence_store_adopt(s.store.path, LANE_SANDBOX, SESSION, &found, NULL) == 0);
	CHECK(faccessat(s.store.fd, SESSION EVIDENCE_PARTIAL, F_OK, 0) < 0);
	CHECK(take(&s) && evidence_store_adopt(s.store.path, LANE_PROD, SESSION, &found, NULL) == 0);
	CHECK(evidence_store_adopt(s.store.path, LANE_SANDBOX, SESSION, &found, NULL) == 1);
	CHECK(str_eq(found.path, s.taken.path) && digest_equal(&found.metadata, &s.taken.metadata));
}

static void evidence_without_a_tree_is_recorded(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_jdoc_ struct jdoc *metadata = make_metadata("sandbox", "x");
	const struct evidence_request ask = { .store = s.store.path,
					      .session = SESSION,
					      .tree = -EBADF,
					      .why = "the tree was gone",
					      .metadata = metadata };

	CHECK(scene_make(&s) && evidence_write(&ask, &s.taken, NULL) == 0 && s.taken.status == EVIDENCE_NONE);
	CHECK(evidence_list(s.store.path, LANE_SANDBOX, &l, NULL) == 0 && l.n == 1);
	CHECK(str_eq(jdoc_get_string(l.items[0].metadata, "why"), "the tree was gone"));
}

/* A user with write access there could plant evidence. */
static void a_store_that_others_can_write_is_refused(void)
{
	_cleanup_scene_ struct scene s = { 0 };

	CHECK(scene_make(&s) && chmod(s.store.path, 0777) == 0 && !take(&s) && s.f.code == EPERM);
	CHECK(faccessat(s.store.fd, SESSION, F_OK, 0) < 0 &&
	      faccessat(s.store.fd, SESSION EVIDENCE_PARTIAL, F_OK, 0) < 0);
}

static void names_that_lead_away_are_refused(void)
{
	static const char *const names[] = { "", ".", "..", "../x", "a/b", ".x" };
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_jdoc_ struct jdoc *metadata = make_metadata("sandbox", "x");

	CHECK(scene_make(&s));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct evidence_request ask = {
			.store = s.store.path, .session = names[i], .tree = s.tree.fd, .metadata = metadata
		};

		CHECK(evidence_write(&ask, &s.taken, NULL) < 0);
		CHECK(evidence_remove(s.store.path, names[i], NULL) < 0);
	}
}

/* Killed at any moment: nothing, or a .partial that is not listed as evidence, or all of it. */
static void a_kill_leaves_all_or_nothing(void)
{
	const int rounds = tap_stride() > 1 ? 2 : 25;
	_cleanup_scene_ struct scene s = { 0 };

	CHECK(scene_make(&s));
	for (int i = 0; i < 300; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%d", i);
		CHECK(tree_put(s.tree.fd, name, name, 0600));
	}
	for (int i = 0; i < rounds; i++) {
		_cleanup_evidence_ struct evidence_list l = { 0 };
		int status;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0)
			_exit(take(&s) ? 0 : 1);
		for (int spin = 0; spin < i * 20; spin++)
			(void)getppid();
		(void)kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(evidence_list(s.store.path, LANE_SANDBOX, &l, NULL) == 0);
		for (size_t k = 0; k < l.n; k++) {
			_cleanup_evidence_check_ struct evidence_check c = { 0 };
			_cleanup_close_ int dir =
				evidence_open(s.store.path, LANE_SANDBOX, l.items[k].name, NULL, NULL);

			CHECK(dir >= 0 && evidence_verify(dir, &c, NULL) == 0 && !c.damaged && !c.strange);
		}
	}
}

static void a_pin_is_set_and_taken_away(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	_cleanup_close_ int dir = -EBADF;

	CHECK(scene_make(&s) && take(&s));
	dir = open_it(&s);
	CHECK(evidence_unpin(dir, NULL) == -ENOENT && evidence_pin(dir, "court", NULL) == 0);
	CHECK(evidence_list(s.store.path, LANE_SANDBOX, &l, NULL) == 0 && l.items[0].pinned);
	CHECK(evidence_verify(dir, &c, NULL) == 0 && !c.damaged && !c.strange);
	CHECK(evidence_unpin(dir, NULL) == 0);
}

static void removed_is_gone(void)
{
	_cleanup_scene_ struct scene s = { 0 };

	CHECK(scene_make(&s) && take(&s) && evidence_remove(s.store.path, SESSION, NULL) == 0);
	CHECK(open_it(&s) == -ENOENT && access(s.taken.path, F_OK) < 0);
	CHECK(evidence_remove(s.store.path, SESSION, NULL) == -ENOENT);
}

/* --- order of removal ------------------------------------------------------------------------------------------ */

#define DAY ((uint64_t)24 * 3600 * 1000000)

static void ISO_6_the_rules(void)
{
	/* clang-format off */
	static const struct {
		const char *what;
		struct evidence_rules rules;
		uint64_t free_bytes;
		const char *want; /* one letter per item: s stays, o old, q quota, f full, h by hand */
	} rows[] = {
		{ "nothing to do", { .retention_days = 100, .now_us = 10 * DAY }, 1000, "sssss" },
		{ "older than three days", { .retention_days = 3, .now_us = 10 * DAY }, 1000, "oosss" },
		{ "0 days: only running sessions", { .retention_days = 0, .now_us = 10 * DAY }, 1000, "oooso" },
		{ "the clock was set back", { .retention_days = 3, .now_us = DAY }, 1000, "sssss" },
		/* small 10, big 100, big 100, big 100 (pinned), small 10: 320 in all */
		{ "quota: the heavy one's oldest", { .retention_days = 100, .quota = 250, .now_us = 10 * DAY }, 1000, "sqsss" },
		{ "quota: all that may go of it", { .retention_days = 100, .quota = 130, .now_us = 10 * DAY }, 1000, "sqqss" },
		{ "quota: pinned ones stay above it", { .retention_days = 100, .quota = 1, .now_us = 10 * DAY }, 1000, "qqqsq" },
		{ "disk: until enough is free", { .retention_days = 100, .keep_free = 1150, .now_us = 10 * DAY }, 1000, "sffss" },
		{ "disk: none is removed in vain", { .retention_days = 100, .keep_free = 5000, .now_us = 10 * DAY }, 1000, "sssss" },
		{ "disk: the heavy one's own make room for it, not others'", { .retention_days = 100, .keep_free = 1115, .now_us = 10 * DAY, .keep = "c" }, 1000, "sfsss" },
		{ "just taken: stays", { .retention_days = 100, .quota = 1, .now_us = 10 * DAY, .keep = "e" }, 1000, "qqqss" },
		{ "by hand: older ones", { .retention_days = 100, .set_older = true, .older_s = 3 * 86400, .now_us = 10 * DAY }, 1000, "hhsss" },
		{ "by hand: all but the pinned", { .retention_days = 3, .set_older = true, .now_us = 10 * DAY }, 1000, "oohsh" },
		{ "by hand, and the clock was set back", { .retention_days = 100, .set_older = true, .older_s = 1, .now_us = DAY }, 1000, "sssss" },
		{ "old ones make room first", { .retention_days = 3, .quota = 215, .now_us = 10 * DAY }, 1000, "oosss" },
	};
	/* clang-format on */
	struct evidence_item items[] = {
		{ .name = (char[]){ "a" }, .agent = "small", .taken_us = 5 * DAY, .bytes = 10 },
		{ .name = (char[]){ "b" }, .agent = "big", .taken_us = 6 * DAY, .bytes = 100 },
		{ .name = (char[]){ "c" }, .agent = "big", .taken_us = 8 * DAY, .bytes = 100 },
		{ .name = (char[]){ "d" },
		  .agent = "big",
		  .taken_us = 8 * DAY,
		  .bytes = 100,
		  .pinned = true },
		{ .name = (char[]){ "e" }, .agent = "small", .taken_us = 9 * DAY, .bytes = 10 },
	};
	const struct evidence_list l = { .items = items, .n = 5 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum evidence_verdict v[5];
		char got[6] = "";

		evidence_retention_decide(&l, &rows[i].rules, rows[i].free_bytes, v);
		for (int k = 0; k < 5; k++)
			got[k] = "soqfh"[v[k]];
		if (strcmp(got, rows[i].want) != 0) {
			printf("# %s: %s instead of %s\n", rows[i].what, got, rows[i].want);
			CHECK(false);
		}
	}
}

static void ISO_6_a_profile_may_say_how_long(void)
{
	struct evidence_item items[] = {
		{ .name = (char[]){ "a" },
		  .agent = "x",
		  .taken_us = DAY,
		  .has_retention = true,
		  .retention_s = 3600 },
		{ .name = (char[]){ "b" },
		  .agent = "x",
		  .taken_us = DAY,
		  .has_retention = true,
		  .retention_s = 10000000 },
		{ .name = (char[]){ "c" }, .agent = "x", .taken_us = DAY },
	};
	const struct evidence_list l = { .items = items, .n = 3 };
	enum evidence_verdict v[3];

	evidence_retention_decide(&l, &(struct evidence_rules){ .retention_days = 1, .now_us = 3 * DAY }, 0,
				  v);
	CHECK(v[0] == EVIDENCE_TOO_OLD && v[1] == EVIDENCE_STAYS && v[2] == EVIDENCE_TOO_OLD);
}

TAP_MAIN(T(ISO_5_evidence_is_complete_and_has_its_metadata), T(ISO_5_sha256sum_agrees),
	 T(each_change_is_found), T(a_removed_file_is_found), T(LANE_5_evidence_is_seen_in_its_own_lane_only),
	 T(ISO_5_two_of_one_name_both_stay), T(ISO_7_evidence_of_a_dead_process_is_adopted),
	 T(evidence_without_a_tree_is_recorded), T(a_store_that_others_can_write_is_refused),
	 T(names_that_lead_away_are_refused), T(a_kill_leaves_all_or_nothing), T(a_pin_is_set_and_taken_away),
	 T(removed_is_gone), T(ISO_6_the_rules), T(ISO_6_a_profile_may_say_how_long))
