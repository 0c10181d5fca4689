/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/mount-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "subject/subject-build.h"
#include "tap.h"

/* TOP/open (writable by all users)/proj/data, and TOP/private. */
static char top[64], proj[96], data[112], aside[96], private[96], closed[96];
static struct profile profile;
static struct subject_mount mount;
static struct subject subject;

static bool lay_out(void)
{
	char dir[80];
	struct stat st;

	(void)snprintf(top, sizeof(top), "/tmp/custody-test-way.XXXXXX");
	if (!mkdtemp(top))
		return false;
	(void)snprintf(dir, sizeof(dir), "%s/open", top);
	(void)snprintf(proj, sizeof(proj), "%s/proj", dir);
	(void)snprintf(data, sizeof(data), "%s/data", proj);
	(void)snprintf(aside, sizeof(aside), "%s/aside", dir);
	(void)snprintf(private, sizeof(private), "%s/private", top);
	(void)snprintf(closed, sizeof(closed), "%s/private/closed", top);
	if (mkdir(dir, 0700) < 0 || chmod(dir, 0777) < 0 || mkdir(proj, 0755) < 0 || mkdir(data, 0755) < 0 ||
	    mkdir(private, 0700) < 0 || mkdir(closed, 0700) < 0 || stat(proj, &st) < 0)
		return false;
	profile = (struct profile){ .workspace = PROFILE_WORKSPACE_OVERLAY };
	subject = (struct subject){ .profile = &profile,
				    .worktree = proj,
				    .worktree_file = subject_file_of(&st) };
	return true;
}

static void remove_all(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)!path_remove_tree(tmp, top + strlen("/tmp/"), NULL);
}

static bool swap_in(void)
{
	return rename(proj, aside) == 0 && symlink(private, proj) == 0;
}

static bool swap_back(void)
{
	return unlink(proj) == 0 && rename(aside, proj) == 0;
}

static void nothing_happened(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;

	CHECK(lay_out());
	CHECK(mount_watch_open(&subject, true, &w, NULL) == 0);
	CHECK(w.fd >= 0);
	/* Events in the tree, and of other names beside it, do not matter. */
	CHECK(mkdir(aside, 0755) == 0 && rmdir(aside) == 0 && rmdir(data) == 0);
	CHECK(mount_watch_verify(&w, NULL) == 0);
	remove_all();
}

static void a_link_in_its_place_is_seen(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(lay_out());
	CHECK(mount_watch_open(&subject, true, &w, NULL) == 0);
	CHECK(swap_in());
	CHECK(mount_watch_verify(&w, &f) == -EPERM);
	CHECK(strstr(fault_text(&f), "was replaced"));
	remove_all();
}

static void put_back_it_is_seen_as_well(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;

	CHECK(lay_out());
	CHECK(mount_watch_open(&subject, true, &w, NULL) == 0);
	CHECK(swap_in() && swap_back());
	CHECK(mount_watch_verify(&w, NULL) == -EPERM);
	remove_all();
}

static void replaced_before_the_watch_is_refused_at_once(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;

	CHECK(lay_out());
	CHECK(swap_in());
	CHECK(mount_watch_open(&subject, true, &w, NULL) == -EPERM);
	CHECK(w.fd < 0);
	remove_all();
}

static void a_source_below_an_open_directory_is_watched(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;
	struct stat st;

	CHECK(lay_out());
	CHECK(stat(data, &st) == 0);
	mount = (struct subject_mount){
		.kind = SUBJECT_MOUNT_BIND, .source = data, .is_dir = true, .file = subject_file_of(&st)
	};
	subject.worktree = NULL;
	subject.mounts = &mount;
	subject.n_mounts = 1;
	/* Also as root: this one is bound by its path. */
	CHECK(mount_watch_open(&subject, false, &w, NULL) == 0);
	CHECK(swap_in() && swap_back());
	CHECK(mount_watch_verify(&w, NULL) == -EPERM);
	remove_all();
}

static void as_root_cloned_sources_are_not_watched(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;

	CHECK(lay_out());
	CHECK(mount_watch_open(&subject, false, &w, NULL) == 0);
	CHECK(w.fd < 0);
	remove_all();
}

static void directories_that_only_we_can_write_are_not_watched(void)
{
	_cleanup_mount_watch_ struct mount_watch w = MOUNT_WATCH_NONE;
	struct stat st;

	/* /tmp is sticky: our own entries there stay. */
	CHECK(lay_out());
	CHECK(stat(closed, &st) == 0);
	subject.worktree = closed;
	subject.worktree_file = subject_file_of(&st);
	CHECK(mount_watch_open(&subject, true, &w, NULL) == 0);
	CHECK(w.fd < 0);
	CHECK(mount_watch_verify(&w, NULL) == 0);
	remove_all();
}

TAP_MAIN(T(nothing_happened), T(a_link_in_its_place_is_seen), T(put_back_it_is_seen_as_well),
	 T(replaced_before_the_watch_is_refused_at_once), T(a_source_below_an_open_directory_is_watched),
	 T(as_root_cloned_sources_are_not_watched), T(directories_that_only_we_can_write_are_not_watched))
