/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-place.h"
#include "cgroup/cgroup.h"

#include "tap.h"

#define V1                                                                                    \
	"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"        \
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" \
	"39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
#define ROOT "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"

static bool parse(const char *mountinfo, const char *self, struct cgroup_host *h)
{
	return cgroup_host_parse(mountinfo, self, h, NULL) == 0;
}

static void pure_v1(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse(ROOT V1, "5:pids:/a\n4:memory:/a/b\n3:cpu,cpuacct:/\n", &h));
	CHECK(str_eq(h.v1[CGROUP_MEMORY], "/sys/fs/cgroup/memory/a/b"));
	CHECK(str_eq(h.v1[CGROUP_PIDS], "/sys/fs/cgroup/pids/a"));
	CHECK(str_eq(h.v1[CGROUP_CPU], "/sys/fs/cgroup/cpu"));
	CHECK(!h.v2);
}

static void pure_v2(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse(ROOT "41 23 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
		    "0::/user.slice/session-3.scope\n", &h));
	CHECK(str_eq(h.v2, "/sys/fs/cgroup/user.slice/session-3.scope"));
	CHECK(str_eq(h.v2_root, "/sys/fs/cgroup"));
	CHECK(!h.v1[CGROUP_MEMORY] && !h.v1[CGROUP_PIDS] && !h.v1[CGROUP_CPU]);
}

static void hybrid_has_both(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse(ROOT V1 "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
		    "4:memory:/x\n0::/\n", &h));
	CHECK(str_eq(h.v1[CGROUP_MEMORY], "/sys/fs/cgroup/memory/x"));
	CHECK(str_eq(h.v2, "/sys/fs/cgroup/unified"));
}

static void mount_that_shows_a_part_of_the_hierarchy(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse("35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		    "36 31 0:33 /docker/ab /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n",
		    "4:memory:/docker/ab/c\n5:pids:/docker/abc\n", &h));
	CHECK(str_eq(h.v1[CGROUP_MEMORY], "/sys/fs/cgroup/memory/c"));
	/* "/docker/abc" is beside "/docker/ab", not below it. */
	CHECK(!h.v1[CGROUP_PIDS]);
}

static void own_cgroup_outside_of_the_namespace(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse("41 23 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/../../init.scope\n", &h));
	CHECK(!h.v2);
}

static void escaped_mount_point(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse("41 23 0:38 / /mnt/a\\040b rw - cgroup2 none rw\n", "0::/\n", &h));
	CHECK(str_eq(h.v2, "/mnt/a b"));
}

static void no_cgroups_at_all(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse(ROOT "garbage\n\n12\n", "", &h));
	CHECK(!h.v2 && !h.v1[CGROUP_MEMORY]);
}

static void other_file_systems_are_not_taken_for_cgroups(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(parse("35 31 0:32 / /tmp/x rw - tmpfs cgroup rw,memory\n", "4:memory:/\n", &h));
	CHECK(!h.v1[CGROUP_MEMORY]);
}

static void keys_are_whole_words_at_line_starts(void)
{
	uint64_t n = 99;

	CHECK(cgroup_text_key("low 0\noom 3\noom_kill 17\noom_group_kill 5\n", "oom_kill", &n) == 0 &&
	      n == 17);
	CHECK(cgroup_text_key("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "oom_kill", &n) == 0 &&
	      n == 2);
	CHECK(cgroup_text_key("max 4", "max", &n) == 0 && n == 4);
	CHECK(cgroup_text_key("", "max", &n) == -ENOENT);
	CHECK(cgroup_text_key("a max 4\n", "max", &n) == -ENOENT);
}

static void words_are_whole(void)
{
	CHECK(cgroup_text_has("cpuset cpu memory\n", "cpu") == 1);
	CHECK(cgroup_text_has("cpuset memory\n", "cpu") == 0);
	CHECK(cgroup_text_has("", "cpu") == 0);
	CHECK(cgroup_text_has("pids", "pids") == 1);
}

/*
 * A cgroup directory is made of files: for the question where to go, ordinary ones do.  One whose subtree_control is a
 * directory refuses to hand out controllers, as one with processes in it does.
 */
static char root[] = "/tmp/custody-cgroup-XXXXXX";

static void put(const char *dir, const char *file, const char *text)
{
	_cleanup_free_ char *path = NULL;
	FILE *fp;

	if (asprintf(&path, "%s/%s/%s", root, dir, file) < 0)
		return;
	if (!text) {
		(void)mkdir(path, 0755);
		return;
	}
	fp = fopen(path, "we");
	if (fp) {
		(void)fputs(text, fp);
		(void)fclose(fp);
	}
}

static void make_host(struct cgroup_host *h, const char *root_control, const char *own_control)
{
	put("", "a", NULL);
	put("a", "own", NULL);
	put("", "custody", NULL);
	put("custody", "cgroup.subtree_control", "");
	put("", "cgroup.controllers", "cpuset cpu memory pids\n");
	put("", "cgroup.subtree_control", root_control);
	put("a", "cgroup.subtree_control", "memory pids\n");
	put("a/own", "cgroup.controllers", "memory pids\n");
	put("a/own", "cgroup.subtree_control", own_control);
	put("a/own", "cgroup.procs", "1\n2\n");
	*h = (struct cgroup_host){ .v2_root = strdup(root) };
	if (asprintf(&h->v2, "%s/a/own", root) < 0)
		h->v2 = NULL;
}

static bool placed(const struct cgroup_host *h, unsigned int want, const char *below)
{
	_cleanup_cgroup_ struct cgroup c = { 0 };
	_cleanup_free_ char *got = NULL, *full = NULL;

	if (cgroup_place_v2(&c, h, want, &got, NULL) < 0 ||
	    asprintf(&full, "%s%s", root, below ? below : "") < 0)
		return false;
	if (str_eq(got, below ? full : NULL))
		return true;
	printf("# got %s\n", got ? got : "nowhere");
	return false;
}

static void clean(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)!path_remove_tree(tmp, root + strlen("/tmp/"), NULL);
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
}

static void without_limits_a_child_of_our_own(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(mkdtemp(root));
	make_host(&h, NULL, NULL);
	CHECK(placed(&h, 0, "/a/own"));
	clean();
}

static void our_own_when_it_hands_out_controllers(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(mkdtemp(root));
	make_host(&h, NULL, "");
	CHECK(placed(&h, CGROUP_BIT(CGROUP_MEMORY), "/a/own"));
	clean();
}

static void root_uses_the_shared_place_when_our_own_is_busy(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(mkdtemp(root));
	make_host(&h, "", NULL);
	CHECK(placed(&h, CGROUP_BIT(CGROUP_CPU), geteuid() == 0 ? "/custody" : NULL));
	clean();
}

static void ancestor_that_hands_out_controllers(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };

	CHECK(mkdtemp(root));
	make_host(&h, NULL, NULL);
	CHECK(placed(&h, CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS), "/a"));
	CHECK(placed(&h, CGROUP_BIT(CGROUP_CPU), NULL));
	clean();
}

/* PLAT-3: below the user's systemd, which disables controllers again, only with a delegated cgroup on the way to us. */
static void ancestor_of_the_users_systemd_only_from_a_delegated_cgroup(void)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	_cleanup_free_ char *own = NULL, *slice = NULL;
	char unit[48], dir[96];

	CHECK(mkdtemp(root));
	(void)snprintf(unit, sizeof(unit), "user@%u.service", (unsigned int)geteuid());
	put("", unit, NULL);
	(void)snprintf(dir, sizeof(dir), "%s/app.slice", unit);
	put(unit, "app.slice", NULL);
	put(dir, "cgroup.subtree_control", "cpu memory pids\n");
	put(dir, "own", NULL);
	CHECK(asprintf(&slice, "/%s", dir) > 0 && asprintf(&own, "%s/%s/own", root, dir) > 0);
	h.v2_root = strdup(root);
	h.v2 = strdup(own);
	/* No controllers of our own, and not alone. */
	(void)snprintf(dir, sizeof(dir), "%s/app.slice/own", unit);
	put(dir, "cgroup.controllers", "memory\n");
	put(dir, "cgroup.subtree_control", NULL);
	put(dir, "cgroup.procs", "1\n2\n");
	put("", "cgroup.subtree_control", NULL);
	CHECK(placed(&h, CGROUP_BIT(CGROUP_MEMORY), NULL));
	CHECK(setxattr(own, "user.delegate", "0", 1, 0) == 0);
	CHECK(placed(&h, CGROUP_BIT(CGROUP_MEMORY), NULL));
	CHECK(setxattr(own, "user.delegate", "1", 1, 0) == 0);
	CHECK(placed(&h, CGROUP_BIT(CGROUP_MEMORY), slice));
	clean();
}

static bool holds(const char *file, const char *want)
{
	_cleanup_close_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[CGROUP_TEXT_MAX];

	return fd >= 0 && cgroup_file_read(fd, file, text) == 0 && str_eq(text, want);
}

/* A file keeps what the last write did not cover: "-cpu" over "cpu\n". */
static void end_in_leaf(bool other, bool locked)
{
	_cleanup_cgroup_ struct cgroup c = { 0 };
	_cleanup_close_ int fd = -EBADF;
	const bool stays = other || locked;

	CHECK(mkdtemp(root));
	put("", "cgroup.subtree_control", "cpu\n");
	put("", "cgroup.procs", "");
	put("", "custody-supervisor-1", NULL);
	if (other)
		put("", "custody-20261116T031500Z-1a2b3c4d", NULL);
	if (locked) {
		fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(fd >= 0 && flock(fd, LOCK_SH) == 0);
	}
	CHECK(asprintf(&c.leaf, "%s/custody-supervisor-1", root) > 0);
	c.leaf_parent = strdup(root);
	CHECK(cgroup_remove(&c, NULL) == 0);
	CHECK(holds("cgroup.subtree_control", stays ? "cpu\n" : "-cpu"));
	CHECK(holds("cgroup.procs", "") == stays);
	CHECK((access(c.leaf, F_OK) == 0) == stays);
	clean();
}

/* Disabling a controller would remove the limits of the other session. */
static void PLAT_3_controllers_stay_while_another_session_needs_them(void)
{
	end_in_leaf(true, false);
	end_in_leaf(false, true);
}

static void the_last_session_of_a_scope_returns_to_it(void)
{
	end_in_leaf(false, false);
}

static void only_names_of_sessions_are_swept(void)
{
	static const char *const others[] = {
		"custody",
		"custody-",
		"custody-supervisor-1",
		"custody-suite-20261116T031500Z-1a2b3c4d",
		"custody-20261116T031500Z-1a2b3c4",
		"custody-20261116T031500Z-1a2b3c4d5",
		"custody-20261116T031500Z-1a2b3c4g",
		"custody-20261116T031500Z-1A2b3c4d",
		"custody-2026111xT031500Z-1a2b3c4d",
		"custody-20261116 031500Z-1a2b3c4d",
		"custodi-20261116T031500Z-1a2b3c4d",
		"",
	};

	CHECK(cgroup_is_of_session("custody-20261116T031500Z-1a2b3c4d"));
	CHECK(cgroup_is_of_session("custody-00000000T000000Z-00000000"));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!cgroup_is_of_session(others[i]));
}

TAP_MAIN(T(PLAT_3_controllers_stay_while_another_session_needs_them),
	 T(the_last_session_of_a_scope_returns_to_it), T(only_names_of_sessions_are_swept), T(pure_v1),
	 T(pure_v2), T(hybrid_has_both), T(mount_that_shows_a_part_of_the_hierarchy),
	 T(own_cgroup_outside_of_the_namespace), T(escaped_mount_point), T(no_cgroups_at_all),
	 T(other_file_systems_are_not_taken_for_cgroups), T(keys_are_whole_words_at_line_starts),
	 T(words_are_whole), T(without_limits_a_child_of_our_own), T(our_own_when_it_hands_out_controllers),
	 T(root_uses_the_shared_place_when_our_own_is_busy), T(ancestor_that_hands_out_controllers),
	 T(ancestor_of_the_users_systemd_only_from_a_delegated_cgroup))
