/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-file.h"
#include "profile-fixture.h"
#include "tap.h"

#define LOOSE ",\"limits\":{\"memory\":\"64G\"}"
#define WITH_PLACE                              \
	_cleanup_place_ struct place s = { 0 }; \
	place_init(&s);                         \
	put_profile(s.admin, "offline", "")

static int trust(struct place *s, const char *name, bool on)
{
	_cleanup_profile_file_ struct profile_file file = { 0 };

	if (profile_file_open(name, &s->src, false, NULL, &file, NULL) < 0)
		return -1;
	return profile_trust_set(s->trust, file.path, on ? &file.digest : NULL, NULL);
}

static void a_worktree_profile_may_tighten(void)
{
	_cleanup_profile_ struct profile *p = NULL, *q = NULL;
	WITH_PLACE;

	put_profile(s.own, "mine", ",\"limits\":{\"memory\":\"1G\"}");
	put_profile(s.own, "child", ",\"extends\":\"offline\",\"workspace\":{\"mode\":\"ro\"}");
	p = load_ok(&s, "mine");
	q = load_ok(&s, "child");
	CHECK(p && p->limit_memory == 1 << 30 && q && q->workspace == PROFILE_WORKSPACE_RO);
}

static void a_worktree_profile_may_not_loosen_the_default(void)
{
	WITH_PLACE;

	put_profile(s.own, "mine", LOOSE);
	CHECK(load_refused(&s, "mine", "'limits.memory' is looser than in 'offline'"));
	CHECK(load_refused(&s, "mine", "custody profile trust "));
	CHECK(load_refused(&s, "mine", "mine.json:1:"));
}

static void a_worktree_profile_may_not_loosen_its_parents(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	put_profile(s.admin, "wide", ",\"limits\":{\"memory\":\"64G\",\"pids\":9}");
	put_profile(s.own, "ok", ",\"extends\":\"wide\"");
	put_profile(s.own, "more", ",\"extends\":\"wide\",\"limits\":{\"pids\":10}");
	put_profile(s.own, "both", ",\"extends\":[\"offline\",\"wide\"]");
	put_profile(s.own, "gone", ",\"extends\":\"wide\",\"remove\":[\"/limits/pids\"]");
	p = load_ok(&s, "ok");
	CHECK(p && p->limit_memory == UINT64_C(64) << 30);
	CHECK(load_refused(&s, "more", "'limits.pids' is looser than in 'wide'"));
	CHECK(load_refused(&s, "both", "'limits.memory' is looser than in 'offline'"));
	CHECK(load_refused(&s, "gone", "'limits.pids' is looser than in 'wide'"));
}

static void a_chain_inside_the_worktree_is_judged_at_each_step(void)
{
	WITH_PLACE;

	put_profile(s.own, "loose", LOOSE);
	put_profile(s.own, "top", ",\"extends\":\"loose\"");
	CHECK(load_refused(&s, "top", "'limits.memory' is looser than in 'offline'"));
}

static void a_path_below_the_worktree_is_the_worktree(void)
{
	_cleanup_free_ char *path = NULL, *link = NULL;
	_cleanup_profile_ struct profile *p = NULL;
	char through[256];
	WITH_PLACE;

	put_profile(s.tree, "mine", LOOSE);
	path = path_join(s.tree, "mine.json");
	CHECK(load_refused(&s, path, "is looser than in 'offline'"));
	/* A link in the worktree to a file outside counts as a profile of the worktree. */
	put_profile(s.admin, "mine", LOOSE);
	link = path_join(s.tree, "out");
	CHECK(symlink(s.admin, link) == 0);
	snprintf(through, sizeof(through), "%s/out/mine.json", s.tree);
	CHECK(load_refused(&s, through, "is looser than in 'offline'"));
	snprintf(through, sizeof(through), "%s/mine.json", s.admin);
	p = load_ok(&s, through);
	CHECK(p);
}

static void a_linked_profile_directory_is_not_believed(void)
{
	char other[160];
	WITH_PLACE;

	snprintf(other, sizeof(other), "%s/other", s.dir);
	CHECK(mkdir(other, 0755) == 0 && rmdir(s.own) == 0 && symlink(other, s.own) == 0);
	put_profile(other, "mine", LOOSE);
	CHECK(load_refused(&s, "mine", "is looser than in 'offline'"));
}

static void a_trusted_file_may_loosen_until_it_changes(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	put_profile(s.own, "mine", LOOSE);
	CHECK(trust(&s, "mine", true) == 0);
	p = load_ok(&s, "mine");
	CHECK(p && p->limit_memory == UINT64_C(64) << 30);
	put_profile(s.own, "mine", LOOSE ",\"network\":{\"mode\":\"none\"}");
	CHECK(load_refused(&s, "mine", "it was trusted, but the file has changed since"));
}

static void trust_is_for_one_path(void)
{
	WITH_PLACE;

	put_profile(s.own, "mine", LOOSE);
	CHECK(trust(&s, "mine", true) == 0);
	put(s.own, "copy.json", "{\"schema\":1,\"name\":\"mine\"" LOOSE "}");
	CHECK(load_refused(&s, "copy", ""));
	put_profile(s.tree, "mine", LOOSE);
	{
		_cleanup_free_ char *path = path_join(s.tree, "mine.json");

		CHECK(load_refused(&s, path, "is looser"));
	}
}

static void trust_can_be_taken_back(void)
{
	WITH_PLACE;

	put_profile(s.own, "mine", LOOSE);
	CHECK(trust(&s, "mine", false) == -ENOENT);
	CHECK(trust(&s, "mine", true) == 0);
	CHECK(trust(&s, "mine", true) == 0);
	CHECK(trust(&s, "mine", false) == 0);
	CHECK(trust(&s, "mine", false) == -ENOENT);
	CHECK(load_refused(&s, "mine", "may only tighten:"));
}

static void dangers_stay_dangers_in_a_trusted_file(void)
{
	WITH_PLACE;

	put_profile(s.own, "mine", ",\"filesystem\":{\"rw\":[\"${home}\"]}");
	CHECK(trust(&s, "mine", true) == 0);
	CHECK(load_refused(&s, "mine", "add \"rw-home\""));
}

static void a_trust_file_that_others_can_write_trusts_nothing(void)
{
	WITH_PLACE;

	put_profile(s.own, "mine", LOOSE);
	CHECK(trust(&s, "mine", true) == 0);
	CHECK(chmod(s.trust, 0622) == 0);
	CHECK(load_refused(&s, "mine", "can be changed by others"));
	CHECK(chmod(s.trust, 0600) == 0);
	put(s.dir, "etc/trust.json", "{\"trusted\":{}}");
	CHECK(load_refused(&s, "mine", "trust file"));
	put(s.dir, "etc/trust.json", "{");
	CHECK(load_refused(&s, "mine", "trust.json:1:"));
	CHECK(unlink(s.trust) == 0 && symlink("/dev/null", s.trust) == 0);
	CHECK(load_refused(&s, "mine", "trust file"));
}

TAP_MAIN(T(a_worktree_profile_may_tighten), T(a_worktree_profile_may_not_loosen_the_default),
	 T(a_worktree_profile_may_not_loosen_its_parents),
	 T(a_chain_inside_the_worktree_is_judged_at_each_step), T(a_path_below_the_worktree_is_the_worktree),
	 T(a_linked_profile_directory_is_not_believed), T(a_trusted_file_may_loosen_until_it_changes),
	 T(trust_is_for_one_path), T(trust_can_be_taken_back), T(dangers_stay_dangers_in_a_trusted_file),
	 T(a_trust_file_that_others_can_write_trusts_nothing))
