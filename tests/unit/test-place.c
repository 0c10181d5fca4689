/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/place.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

/* A disk, its directory /home bound to /data/home, a second disk at /home/u/big, a directory of it at /big, a name with a blank. */
#define MOUNTS                                                                   \
	"20 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"                        \
	"21 20 254:0 /home /data/home rw,relatime shared:1 - ext4 /dev/vda rw\n" \
	"22 20 254:1 / /home/u/big rw - ext4 /dev/vdb rw\n"                      \
	"23 20 254:1 /some /big rw - ext4 /dev/vdb rw\n"                         \
	"24 20 254:0 /srv/a\\040b /mnt/x\\040y rw - ext4 /dev/vda rw\n"

static bool is_at(const struct place_table *t, const char *path, const char *fs, const char *inside)
{
	_cleanup_place_ struct place p = { 0 };

	return place_find(t, path, &p, NULL) == 0 && strcmp(p.fs, fs) == 0 && strcmp(p.path, inside) == 0;
}

static bool is_below(const struct place_table *t, const char *path, const char *parent)
{
	_cleanup_place_ struct place p = { 0 }, q = { 0 };

	return place_find(t, path, &p, NULL) == 0 && place_find(t, parent, &q, NULL) == 0 &&
	       place_is_below(&p, &q);
}

static void a_path_lies_in_the_file_system_of_its_mount(void)
{
	_cleanup_place_table_ struct place_table t = { 0 };

	CHECK(place_table_parse(MOUNTS, &t, NULL) == 0 && t.n_mounts == 5);
	CHECK(is_at(&t, "/", "254:0", "/"));
	CHECK(is_at(&t, "/etc/x", "254:0", "/etc/x"));
	CHECK(is_at(&t, "/data/home", "254:0", "/home"));
	CHECK(is_at(&t, "/data/home/u/f", "254:0", "/home/u/f"));
	CHECK(is_at(&t, "/data/homework", "254:0", "/data/homework"));
	CHECK(is_at(&t, "/home/u/big", "254:1", "/"));
	CHECK(is_at(&t, "/home/u/big/some/f", "254:1", "/some/f"));
	CHECK(is_at(&t, "/big/f", "254:1", "/some/f"));
	CHECK(is_at(&t, "/mnt/x y/f", "254:0", "/srv/a b/f"));
}

static void two_names_of_one_directory_are_one_place(void)
{
	_cleanup_place_table_ struct place_table t = { 0 };

	CHECK(place_table_parse(MOUNTS, &t, NULL) == 0);
	CHECK(is_below(&t, "/home/u/state", "/data/home/u"));
	CHECK(is_below(&t, "/data/home/u/state", "/home/u"));
	CHECK(is_below(&t, "/data/home/u", "/home/u"));
	CHECK(is_below(&t, "/big", "/home/u/big"));
	CHECK(!is_below(&t, "/home/u/big", "/big"));
	CHECK(!is_below(&t, "/home/u/big", "/home/u"));
	CHECK(!is_below(&t, "/home/ux", "/data/home/u"));
}

static void the_last_mount_at_a_point_is_on_top(void)
{
	_cleanup_place_table_ struct place_table t = { 0 };

	CHECK(place_table_parse(MOUNTS "30 20 0:9 / /big rw - tmpfs none rw\n", &t, NULL) == 0);
	CHECK(is_at(&t, "/big/f", "0:9", "/f"));
}

static void a_table_that_cannot_be_read_is_an_error(void)
{
	_cleanup_place_table_ struct place_table t = { 0 };
	_cleanup_place_ struct place p = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(place_table_parse("20 1 254:0 /\n", &t, &f) == -EBADMSG);
	CHECK(place_table_parse("20 1 254:0 / /only rw - ext4 x rw\n", &t, NULL) == 0);
	CHECK(place_find(&t, "/elsewhere", &p, NULL) == -ENOENT);
}

static void the_table_of_this_machine_is_read(void)
{
	_cleanup_place_table_ struct place_table t = { 0 };
	_cleanup_place_ struct place p = { 0 };

	CHECK(place_table_load(&t, NULL) == 0);
	CHECK(place_find(&t, "/", &p, NULL) == 0 && p.path[0] == '/');
}

TAP_MAIN(T(a_path_lies_in_the_file_system_of_its_mount), T(two_names_of_one_directory_are_one_place),
	 T(the_last_mount_at_a_point_is_on_top), T(a_table_that_cannot_be_read_is_an_error),
	 T(the_table_of_this_machine_is_read))
