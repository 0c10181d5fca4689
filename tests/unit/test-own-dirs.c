/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/own-dirs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "tap.h"

static char top[] = "/tmp/custody-own-dirs.XXXXXX";
static char real[64], link_name[64], base[96];

static void setup(void)
{
	CHECK(mkdtemp(top));
	(void)snprintf(real, sizeof(real), "%s/real", top);
	(void)snprintf(link_name, sizeof(link_name), "%s/link", top);
	(void)snprintf(base, sizeof(base), "%s/base", link_name);
	CHECK(mkdir(real, 0700) == 0 && symlink("real", link_name) == 0);
}

static bool is_resolved(struct own_dirs *o, enum own_dir_name name, const char *below)
{
	char want[PATH_MAX];
	const char *path = NULL;

	(void)snprintf(want, sizeof(want), "%s%s", real, below);
	return own_dirs_path(o, name, &path, NULL) == 0 && str_eq(path, want);
}

static void own_directories_are_resolved_also_if_they_do_not_exist_yet(void)
{
	struct dirs d = { .base = base, .run = link_name };
	_cleanup_own_dirs_ struct own_dirs own;

	setup();
	own_dirs_init(&own, &d);
	CHECK(is_resolved(&own, OWN_DIR_RUN, ""));
	CHECK(is_resolved(&own, OWN_DIR_BASE, "/base"));
	CHECK(is_resolved(&own, OWN_DIR_SANDBOX, "/base/sandbox"));
	CHECK(is_resolved(&own, OWN_DIR_PROD, "/base/prod"));
	CHECK(is_resolved(&own, OWN_DIR_EVIDENCE, "/base/forensics"));
}

static void a_caller_without_a_directory_has_none(void)
{
	struct dirs d = { 0 };
	_cleanup_own_dirs_ struct own_dirs own;
	const struct own_dir *dir = &own.dir[0];

	own_dirs_init(&own, &d);
	CHECK(own_dirs_get(&own, OWN_DIR_CONFIG, &dir, NULL) == 0 && !dir);
	CHECK(own_dirs_get(&own, OWN_DIR_EVIDENCE, &dir, NULL) == 0 && !dir);
}

static void places_are_those_of_the_path_and_of_mounts_below_it(void)
{
	struct dirs d = { .base = (char *)"/own", .run = (char *)"/own/run" };
	_cleanup_own_dirs_ struct own_dirs own;
	const struct own_dir *dir = NULL;

	own_dirs_init(&own, &d);
	CHECK(place_table_parse("20 1 254:0 / / rw - ext4 /dev/vda rw\n"
				"21 20 254:1 /part /own/run rw - ext4 /dev/vdb rw\n"
				"22 20 254:2 / /owner rw - ext4 /dev/vdc rw\n",
				&own.mounts, NULL) == 0);
	CHECK(own_dirs_get(&own, OWN_DIR_BASE, &dir, NULL) == 0 && dir && dir->n_places == 2);
	CHECK(str_eq(dir->places[0].fs, "254:0") && str_eq(dir->places[0].path, "/own"));
	CHECK(str_eq(dir->places[1].fs, "254:1") && str_eq(dir->places[1].path, "/part"));
}

static void a_directory_is_resolved_once(void)
{
	struct dirs d = { .run = link_name };
	_cleanup_own_dirs_ struct own_dirs own;
	const struct own_dir *first = NULL, *again = NULL;
	const struct place *places;

	own_dirs_init(&own, &d);
	CHECK(own_dirs_get(&own, OWN_DIR_RUN, &first, NULL) == 0 && first);
	places = first->places;
	CHECK(unlink(link_name) == 0 && symlink("elsewhere", link_name) == 0);
	CHECK(own_dirs_get(&own, OWN_DIR_RUN, &again, NULL) == 0);
	CHECK(again == first && again->places == places && str_eq(again->path, real));
	CHECK(unlink(link_name) == 0 && rmdir(real) == 0 && rmdir(top) == 0);
}

TAP_MAIN(T(own_directories_are_resolved_also_if_they_do_not_exist_yet),
	 T(a_caller_without_a_directory_has_none), T(places_are_those_of_the_path_and_of_mounts_below_it),
	 T(a_directory_is_resolved_once))
