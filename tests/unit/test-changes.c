/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layers that the kernel itself has made, played at random: what apply makes of the base is what the payload saw. */
#include "overlay-play.h"
#include "tap.h"

#define ROUNDS 40
#define STEPS 60

/* fuse-overlayfs has power over one id only: a process with another id cannot change anything. */
static void become(const struct overlay *o, uid_t id)
{
	if (overlay_is_fuse(o) && (setegid(id) < 0 || seteuid(id) < 0))
		(void)!(seteuid(id) == 0 && setegid(id) == 0);
}

static bool play(const char *options, unsigned int seed)
{
	/* fuse-overlayfs 1.10 loses its way where a link leads in circles, and shows names that are not in its layer. */
	const bool links = strcmp(options, "fuse") != 0;
	struct overlay o;
	_cleanup_free_ char *seen = NULL, *made = NULL;
	bool ok = false;

	if (!overlay_make(&o, options))
		return false;
	/* The base is made by the same steps. */
	if (rmdir("m") < 0 || rename("l", "m") < 0)
		return false;
	for (int i = 0; i < STEPS; i++)
		play_step(&seed, links);
	if (rename("m", "l") < 0 || mkdir("m", 0755) < 0 || !overlay_mount(&o)) {
		printf("# mount %s: %s\n", options, strerror(errno));
		goto out;
	}
	become(&o, OVERLAY_FUSE_ID);
	for (int i = 0; i < STEPS; i++)
		play_step(&seed, links);
	become(&o, 0);
	/* fuse-overlayfs 1.10 may show what it remembers and not what it wrote: asked is what it reads from its layer. */
	if (overlay_is_fuse(&o) && (!overlay_unmount(&o) || !overlay_serve(&o)))
		goto out;
	seen = overlay_portrait("m");
	if (!overlay_unmount(&o) || !seen)
		goto out;
	if (!overlay_apply(&o, NULL, true))
		goto out;
	made = overlay_portrait("l");
	ok = made && strcmp(seen, made) == 0;
	if (!ok)
		printf("# seen:\n%s\n# made:\n%s\n", seen, made ? made : "?");
	/*
	 * And once more: nothing is left to do.  Where a moved directory came from is not told any more once all is moved, so
	 * this does not hold for those; custody mounts without them.
	 */
	if (ok && overlay_is_fuse(&o))
		ok = overlay_give("l"); /* an apply without ids gives everything to its own */
	if (ok && !strstr(options, "redirect")) {
		_cleanup_changes_ struct changes c = { 0 };
		int fds[2];

		ok = overlay_collect(&o, fds, &c);
		for (size_t i = 0; i < c.n; i++)
			if (c.items[i].kind != CHANGE_SAME) {
				printf("# left: %s is %s\n", c.items[i].path,
				       changes_kind_name(c.items[i].kind));
				ok = false;
			}
	}
out:
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static bool play_all(const char *options)
{
	for (unsigned int seed = 1; seed <= ROUNDS; seed += (unsigned int)tap_stride())
		if (!overlay_in_child(play, options, seed)) {
			printf("# options '%s', seed %u\n", options, seed);
			return false;
		}
	return true;
}

static void an_upper_with_user_xattrs_gives_the_merged_view(void)
{
	CHECK(play_all("userxattr"));
	CHECK(play_all("userxattr,volatile"));
}

static void an_upper_with_trusted_xattrs_gives_the_merged_view(void)
{
	if (geteuid() != 0)
		return;
	CHECK(play_all(""));
}

static void moved_directories_are_found_where_they_were(void)
{
	if (geteuid() != 0)
		return;
	CHECK(play_all("redirect_dir=on"));
}

/* Each file's old data is at the path of the other one, and has the same size. */
static bool swap_places(const char *options, unsigned int unused)
{
	_cleanup_free_ char *seen = NULL, *made = NULL;
	struct overlay o;
	bool ok;

	(void)unused;
	ok = overlay_make(&o, options) && mkdir("l/a", 0755) == 0 && mkdir("l/b", 0755) == 0;
	play_put("l/a/f", "1\n", 0);
	play_put("l/b/f", "2\n", 0);
	ok = ok && overlay_mount(&o) && rename("m/a", "m/t") == 0 && rename("m/b", "m/a") == 0 &&
	     rename("m/t", "m/b") == 0;
	seen = ok ? overlay_portrait("m") : NULL;
	ok = ok && overlay_unmount(&o) && overlay_apply(&o, NULL, true);
	made = ok ? overlay_portrait("l") : NULL;
	ok = seen && made && strcmp(seen, made) == 0;
	if (!ok)
		printf("# seen:\n%s\n# made:\n%s\n", seen ? seen : "?", made ? made : "?");
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void two_directories_that_changed_places(void)
{
	if (geteuid() != 0)
		return;
	CHECK(overlay_in_child(swap_places, "redirect_dir=on", 0));
}

/* More files in each other's places than can be held: nothing is touched. */
static bool swap_many(const char *options, unsigned int n)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct overlay o;
	bool ok;

	ok = overlay_make(&o, options) && mkdir("l/a", 0755) == 0 && mkdir("l/b", 0755) == 0;
	for (unsigned int i = 0; i < n; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "l/%s/%u", i % 2 ? "a" : "b", i / 2);
		play_put(path, i % 2 ? "1\n" : "2\n", 0);
	}
	before = ok ? overlay_portrait("l") : NULL;
	ok = before && overlay_mount(&o) && rename("m/a", "m/t") == 0 && rename("m/b", "m/a") == 0 &&
	     rename("m/t", "m/b") == 0 && overlay_unmount(&o) && !overlay_apply(&o, NULL, true);
	after = ok ? overlay_portrait("l") : NULL;
	ok = after && strcmp(before, after) == 0;
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void a_swap_of_too_many_files_does_not_begin(void)
{
	if (geteuid() != 0)
		return;
	CHECK(overlay_in_child(swap_many, "redirect_dir=on", 300));
	CHECK(!overlay_in_child(swap_many, "redirect_dir=on", 20));
}

static void data_that_stayed_below_is_found(void)
{
	if (geteuid() != 0)
		return;
	CHECK(play_all("redirect_dir=on,metacopy=on"));
}

static void an_upper_of_fuse_overlayfs_gives_the_merged_view(void)
{
	/* valgrind knows no clone() with memory in common, which makes the user namespace. */
	if (geteuid() != 0 || tap_has("CUSTODY_TEST_VALGRIND", "1") || overlay_server_require(NULL) < 0)
		return;
	/* A process for each: fewer of them. */
	for (unsigned int seed = 1; seed <= ROUNDS; seed += 4 * (unsigned int)tap_stride())
		CHECK(overlay_in_child(play, "fuse", seed));
}

TAP_MAIN(T(an_upper_of_fuse_overlayfs_gives_the_merged_view),
	 T(an_upper_with_user_xattrs_gives_the_merged_view),
	 T(an_upper_with_trusted_xattrs_gives_the_merged_view),
	 T(moved_directories_are_found_where_they_were), T(two_directories_that_changed_places),
	 T(a_swap_of_too_many_files_does_not_begin), T(data_that_stayed_below_is_found))
