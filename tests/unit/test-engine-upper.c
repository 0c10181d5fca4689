/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/xattr.h>

#include "engine-fixture.h"
#include "oci/engine/engine-upper.h"
#include "tap.h"

#define CONFIG "{\"mounts\":[{\"destination\":\"/bin/hosts\"},{\"destination\":\"/etc/hosts\"}]}"

/* The fixture's root, without its program, is the layer. */
static bool is_pristine(const struct engine_fixture *x)
{
	_cleanup_jdoc_ struct jdoc *config = NULL;

	return jdoc_parse(CONFIG, strlen(CONFIG), "c", NULL, &config, NULL) == 0 &&
	       engine_upper_is_pristine(x->rootfs, config);
}

static char *path_in(const struct engine_fixture *x, const char *name, char path[160])
{
	(void)snprintf(path, 160, "%s/%s", x->rootfs, name);
	return path;
}

static bool put(const struct engine_fixture *x, const char *name, const char *text)
{
	char path[160];
	_cleanup_close_ int fd = open(path_in(x, name, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool drop(const struct engine_fixture *x, const char *name)
{
	char path[160];

	return remove(path_in(x, name, path)) == 0;
}

static void GOV_9_mount_points_of_an_engine_are_no_change_and_all_else_is(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	char path[160];

	CHECK(engine_fixture_init(&x) && !is_pristine(&x));
	CHECK(drop(&x, "bin/sh") && is_pristine(&x));
	CHECK(put(&x, "bin/hosts", "") && is_pristine(&x));
	CHECK(put(&x, "bin/hosts", "x") && !is_pristine(&x) && drop(&x, "bin/hosts"));
	CHECK(put(&x, "bin/passwd", "") && !is_pristine(&x) && drop(&x, "bin/passwd"));
	CHECK(symlink("/proc/mounts", path_in(&x, "bin/mtab", path)) == 0 && !is_pristine(&x));
	CHECK(drop(&x, "bin/mtab") && mkdir(path_in(&x, "etc", path), 0755) == 0);
	CHECK(symlink("/proc/mounts", path_in(&x, "etc/mtab", path)) == 0 && is_pristine(&x));
	CHECK(drop(&x, "etc/mtab") && symlink("/evil", path_in(&x, "etc/mtab", path)) == 0 &&
	      !is_pristine(&x));
	CHECK(drop(&x, "etc/mtab") && mkfifo(path_in(&x, "etc/fifo", path), 0600) == 0 && !is_pristine(&x));
	CHECK(drop(&x, "etc/fifo") && drop(&x, "etc") && is_pristine(&x));
	CHECK(!engine_upper_is_pristine("/nonexistent", NULL));
}

static void GOV_9_a_directory_that_hides_or_moves_one_of_the_image_is_a_change(void)
{
	static const char *const marks[] = { "user.overlay.opaque", "user.overlay.redirect",
					     "user.fuseoverlayfs.opaque", "user.fuseoverlayfs.redirect" };
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	char path[160];

	CHECK(engine_fixture_init(&x) && drop(&x, "bin/sh") && is_pristine(&x));
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (setxattr(path_in(&x, "bin", path), marks[i], "y", 1, 0) < 0) {
			CHECK(errno == EOPNOTSUPP);
			continue;
		}
		CHECK(!is_pristine(&x) && removexattr(path, marks[i]) == 0 && is_pristine(&x));
		/* The kernel marks every new directory, also one that the runtime mounts on. */
		CHECK(mkdir(path_in(&x, "bin/hosts", path), 0755) == 0);
		CHECK(setxattr(path, marks[i], "y", 1, 0) == 0 && is_pristine(&x) && drop(&x, "bin/hosts"));
	}
}

TAP_MAIN(T(GOV_9_mount_points_of_an_engine_are_no_change_and_all_else_is),
	 T(GOV_9_a_directory_that_hides_or_moves_one_of_the_image_is_a_change))
