/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "profile/profile-impl.h"
#include "profile-fixture.h"
#include "tap.h"

#define WITH_PLACE                              \
	_cleanup_place_ struct place s = { 0 }; \
	place_init(&s)

static void a_child_is_merged_onto_its_parent(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	put_profile(s.admin, "base",
		    ",\"limits\":{\"memory\":\"1G\",\"pids\":9},\"filesystem\":{\"ro\":[\"/a\",\"/b\"],"
		    "\"tmpfs\":[{\"path\":\"/t\",\"size\":\"1M\"},{\"path\":\"/u\",\"size\":\"1M\"}]},"
		    "\"env\":{\"set\":{\"A\":\"1\",\"B\":\"1\"}},\"description\":\"base\",\"x-n\":1");
	put_profile(s.admin, "child",
		    ",\"extends\":\"base\",\"limits\":{\"pids\":8},\"filesystem\":{\"ro\":[\"/b\",\"/c\"],"
		    "\"tmpfs\":[{\"path\":\"/t\",\"size\":\"2M\"}]},\"env\":{\"set\":{\"B\":\"2\"}}");
	p = load_ok(&s, "child");
	CHECK(p && str_eq(p->name, "child") && !p->description);
	CHECK(p->limit_memory == 1 << 30 && p->limit_pids == 8);
	CHECK(strv_len(p->fs_ro) == 3 && str_eq(p->fs_ro[0], "/a") && str_eq(p->fs_ro[2], "/c"));
	CHECK(p->n_fs_tmpfs == 2 && p->fs_tmpfs[0].size == 2 << 20 && p->fs_tmpfs[1].size == 1 << 20);
	CHECK(p->n_env_set == 2 && str_ends(p->path, "/admin/child.json"));
}

static void origins_name_the_file_of_the_value(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	const struct jdoc *pids, *memory;
	WITH_PLACE;

	put_profile(s.admin, "base", ",\"limits\":{\"memory\":\"1G\",\"pids\":9}");
	put_profile(s.admin, "child", ",\"extends\":[\"base\"],\n\"limits\":{\"pids\":8}");
	p = load_ok(&s, "child");
	CHECK(p);
	memory = key_row_value(profile_key_find("limits", "memory"), p->document);
	pids = key_row_value(profile_key_find("limits", "pids"), p->document);
	CHECK(str_ends(memory->origin, "/base.json") && memory->line == 1);
	CHECK(str_ends(pids->origin, "/child.json") && pids->line == 2);
}

static void later_parents_win_over_earlier_ones(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	put_profile(s.admin, "a", ",\"limits\":{\"pids\":5},\"env\":{\"pass\":[\"AA\"]}");
	put_profile(s.admin, "b", ",\"limits\":{\"pids\":6},\"env\":{\"pass\":[\"BB\"]}");
	put_profile(s.admin, "c", ",\"extends\":[\"a\",\"b\"]");
	p = load_ok(&s, "c");
	CHECK(p && p->limit_pids == 6 && strv_len(p->env_pass) == 2);
}

static void a_circle_is_shown_as_a_chain(void)
{
	WITH_PLACE;

	put_profile(s.admin, "a", ",\"extends\":\"b\"");
	put_profile(s.admin, "b", ",\"extends\":\"c\"");
	put_profile(s.admin, "c", ",\"extends\":\"a\"");
	put_profile(s.admin, "self", ",\"extends\":\"self\"");
	CHECK(load_refused(&s, "a", "a -> b -> c -> a"));
	CHECK(load_refused(&s, "self", "self -> self"));
}

/* A user's own `build` that only adds to the shipped one.  A circle through another file stays one. */
static void a_namesake_is_the_next_one_of_the_search(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	char user[96], shipped[96];
	WITH_PLACE;
	const char *const dirs[] = { s.admin, user, shipped, NULL };

	snprintf(user, sizeof(user), "%s/user", s.dir);
	snprintf(shipped, sizeof(shipped), "%s/shipped", s.dir);
	CHECK(mkdir(user, 0755) == 0 && mkdir(shipped, 0755) == 0);
	s.src.dirs = dirs;

	put_profile(s.admin, "n", ",\"extends\":\"n\",\"limits\":{\"pids\":5}");
	put_profile(user, "n", ",\"extends\":\"n\",\"env\":{\"pass\":[\"AA\"]}");
	put_profile(shipped, "n", ",\"limits\":{\"pids\":9,\"files\":77}");
	p = load_ok(&s, "n");
	CHECK(p && p->limit_pids == 5 && p->limit_files == 77 && strv_has(p->env_pass, "AA"));
	put_profile(s.admin, "x", ",\"extends\":\"y\"");
	put_profile(s.admin, "y", ",\"extends\":\"x\"");
	put_profile(shipped, "x", "");
	CHECK(load_refused(&s, "x", "x -> y -> x"));
	put_profile(user, "last", ",\"extends\":\"last\"");
	CHECK(load_refused(&s, "last", "last -> last"));
	/* The tree cannot provide the parent of a file outside of it. */
	put_profile(s.own, "last", "");
	CHECK(load_refused(&s, "last", "last -> last"));
}

static void eight_levels_are_the_end(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	char name[8], body[64];
	WITH_PLACE;

	put_profile(s.admin, "p0", "");
	for (int i = 1; i <= 9; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(body, sizeof(body), ",\"extends\":\"p%d\"", i - 1);
		put_profile(s.admin, name, body);
	}
	p = load_ok(&s, "p8");
	CHECK(p);
	CHECK(load_refused(&s, "p9", "more than 8 levels deep: p9 -> p8"));
}

static void a_forest_of_parents_is_cut_down(void)
{
	char name[8], body[256];
	WITH_PLACE;

	put_profile(s.admin, "f0", "");
	for (int i = 1; i <= 7; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		snprintf(body, sizeof(body), ",\"extends\":[\"f%d\",\"f%d\",\"f%d\",\"f%d\"]", i - 1, i - 1,
			 i - 1, i - 1);
		put_profile(s.admin, name, body);
	}
	CHECK(load_refused(&s, "f7", "more than 64 files"));
}

static void remove_takes_away_by_pointer(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	put_profile(s.admin, "base",
		    ",\"filesystem\":{\"ro\":[\"/a\",\"/b\",\"/c\"],\"tmpfs\":[{\"path\":\"/"
		    "t\",\"size\":\"1M\"}]},"
		    "\"env\":{\"set\":{\"A\":\"1\"}},\"limits\":{\"pids\":7}");
	put_profile(s.admin, "child",
		    ",\"extends\":\"base\",\"remove\":[\"/filesystem/ro/0\",\"/filesystem/ro/1\",\"/limits\","
		    "\"/env/set/A\"],\"filesystem\":{\"ro\":[\"/d\"]}");
	p = load_ok(&s, "child");
	CHECK(p && strv_len(p->fs_ro) == 2 && str_eq(p->fs_ro[0], "/c") && str_eq(p->fs_ro[1], "/d"));
	CHECK(p->limit_pids == 512 && p->n_env_set == 0 && p->n_fs_tmpfs == 1);
}

static void a_pointer_that_matches_nothing_is_an_error(void)
{
	static const char *const pointers[] = { "/filesystem/ro/1",
						"/filesystem/ro/00",
						"/filesystem/ro/-",
						"/filesystem/ro/+0",
						"/limits",
						"/filesystem/ro/0/x",
						"/filesystem~1ro/0",
						"/",
						"/filesystem/ro/99999999999999999999" };
	char body[256];
	WITH_PLACE;

	put_profile(s.admin, "base", ",\"filesystem\":{\"ro\":[\"/a\"]}");
	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
		snprintf(body, sizeof(body), ",\"extends\":\"base\",\"remove\":[\"%s\"]", pointers[i]);
		put_profile(s.admin, "child", body);
		CHECK(load_refused(&s, "child", "matches nothing in the merged parent"));
	}
	put_profile(s.admin, "child", ",\"extends\":\"base\",\"remove\":[\"filesystem\"]");
	CHECK(load_refused(&s, "child", "is not a JSON Pointer"));
	put_profile(s.admin, "child", ",\"remove\":[\"/limits\"]");
	CHECK(load_refused(&s, "child", "'remove' without 'extends'"));
}

static void escaped_pointers_reach_their_key(void)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object(), *pointers = jdoc_new_array();

	jdoc_set_int(doc, "a/b", 1);
	jdoc_set_int(doc, "m~n", 2);
	jdoc_set_int(doc, "~1", 3);
	jdoc_set_int(doc, "keep", 4);
	jdoc_append_string(pointers, "/a~1b");
	jdoc_append_string(pointers, "/m~0n");
	jdoc_append_string(pointers, "/~01");
	CHECK(profile_remove(doc, pointers, NULL) == 0);
	CHECK(doc->n_members == 1 && jdoc_get(doc, "keep"));
}

static void an_overridden_value_is_still_checked(void)
{
	WITH_PLACE;

	put_profile(s.admin, "base", ",\"limits\":{\"pids\":-1}");
	put_profile(s.admin, "child", ",\"extends\":\"base\",\"limits\":{\"pids\":8}");
	CHECK(load_refused(&s, "child", "base.json:1:"));
}

static void a_missing_parent_points_at_the_line(void)
{
	WITH_PLACE;

	put_profile(s.admin, "offline", "");
	put_profile(s.admin, "child", ",\n\"extends\":\"offlime\"");
	CHECK(load_refused(&s, "child", "child.json:2:"));
	CHECK(load_refused(&s, "child", "no profile 'offlime': did you mean 'offline'?"));
	CHECK(load_refused(&s, "child", s.admin));
}

static void the_name_is_the_file_s_name(void)
{
	WITH_PLACE;

	put(s.admin, "a.json", "{\"schema\":1,\"name\":\"b\"}");
	CHECK(load_refused(&s, "a", "'name' is 'b', but the file is called 'a.json'"));
}

static void names_are_not_paths(void)
{
	WITH_PLACE;

	CHECK(load_refused(&s, "A b", "is not a profile name"));
	CHECK(load_refused(&s, "..", "is not a profile name"));
	CHECK(load_refused(&s, "", "is not a profile name"));
}

static void the_first_directory_wins(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	const char *both[3];
	WITH_PLACE;

	put_profile(s.admin, "a", ",\"limits\":{\"pids\":5}");
	put_profile(s.own, "a", ",\"limits\":{\"pids\":6}");
	both[0] = s.own;
	both[1] = s.admin;
	both[2] = NULL;
	s.src.dirs = both;
	p = load_ok(&s, "a");
	CHECK(p && p->limit_pids == 6);
}

static void the_worktree_never_answers_for_a_known_name(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	put_profile(s.admin, "offline", ",\"limits\":{\"pids\":5}");
	put_profile(s.own, "offline", ",\"limits\":{\"pids\":4}");
	p = load_ok(&s, "offline");
	CHECK(p && p->limit_pids == 5);
}

static void a_profile_from_outside_has_no_parent_inside(void)
{
	WITH_PLACE;

	put_profile(s.admin, "offline", "");
	put_profile(s.own, "inner", "");
	put_profile(s.admin, "outer", ",\"extends\":\"inner\"");
	CHECK(load_refused(&s, "outer", "no profile 'inner'"));
}

TAP_MAIN(T(a_child_is_merged_onto_its_parent), T(origins_name_the_file_of_the_value),
	 T(later_parents_win_over_earlier_ones), T(a_circle_is_shown_as_a_chain),
	 T(a_namesake_is_the_next_one_of_the_search), T(eight_levels_are_the_end),
	 T(a_forest_of_parents_is_cut_down), T(remove_takes_away_by_pointer),
	 T(a_pointer_that_matches_nothing_is_an_error), T(escaped_pointers_reach_their_key),
	 T(an_overridden_value_is_still_checked), T(a_missing_parent_points_at_the_line),
	 T(the_name_is_the_file_s_name), T(names_are_not_paths), T(the_first_directory_wins),
	 T(the_worktree_never_answers_for_a_known_name), T(a_profile_from_outside_has_no_parent_inside))
