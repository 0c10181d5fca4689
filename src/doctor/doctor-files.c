/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "doctor/doctor-host.h"
#include "state/subordinate-ids.h"
#include "worktree/overlay-server.h"
#include "session/session.h"
#include "worktree/worktree.h"
#include "oci/libcrun/libcrun-adapter.h"

/* Missing in some versions of linux/magic.h. */
#define MAGIC_NFS 0x6969
#define MAGIC_FUSE 0x65735546
#define MAGIC_CIFS 0xff534d42
#define MAGIC_SMB2 0xfe534d42
#define MAGIC_VFAT 0x4d44
#define MAGIC_EXFAT 0x2011bab0

/* Name of a file system that cannot hold an overlay's upper; NULL: another one. */
static const char *bad_upper(unsigned long magic)
{
	switch (magic & 0xffffffff) {
	case OVERLAYFS_SUPER_MAGIC:
		return "an overlay itself";
	case MAGIC_NFS:
		return "NFS";
	case MAGIC_CIFS:
	case MAGIC_SMB2:
		return "a Windows share";
	case MAGIC_FUSE:
		return "FUSE";
	case MAGIC_VFAT:
	case MAGIC_EXFAT:
		return "FAT";
	default:
		return NULL;
	}
}

/* PATH or its nearest existing parent. */
static int statfs_above(const char *path, struct statfs *ret)
{
	_cleanup_free_ char *p = strdup(path);

	while (p && statfs(p, ret) < 0) {
		char *slash = strrchr(p, '/');

		if (errno != ENOENT || !slash || slash == p)
			return statfs("/", ret) < 0 ? -errno : 0;
		*slash = '\0';
	}
	return p ? 0 : -ENOMEM;
}

static void check_upper(struct doctor_report *r, const struct dirs *d)
{
	struct statfs fs;
	const char *bad;
	int e = statfs_above(d->state, &fs);

	if (e < 0) {
		doctor_add(r, "HOST-UPPERDIR", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "'%s': %s", d->state,
			   strerror(-e));
		return;
	}
	bad = bad_upper((unsigned long)fs.f_type);
	if (bad)
		doctor_add(r, "HOST-UPPERDIR", DOCTOR_MISSING, DOCTOR_WARN,
			   "mount a volume or a tmpfs there, set CUSTODY_ROOT, or use a profile with "
			   "workspace.overlay fuse",
			   "'%s' is on %s, which cannot hold the upper of an overlay", d->state, bad);
	else
		doctor_add(r, "HOST-UPPERDIR", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "'%s' can hold the upper of an overlay", d->state);
}

static void check_idmap(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_close_ int tree = -EBADF;
	struct worktree_ids ids = { .to_uid = SESSION_ID_BASE, .to_gid = SESSION_ID_BASE };
	struct stat st;

	if (d->rootless) {
		doctor_add(r, "HOST-IDMAP", DOCTOR_UNUSED, DOCTOR_INFO, NULL, "used by root only");
		return;
	}
	if (stat(".", &st) == 0) {
		ids.from_uid = st.st_uid;
		ids.from_gid = st.st_gid;
	}
	if (worktree_clone(".", false, &ids, &tree, &f) == 0)
		doctor_add(r, "HOST-IDMAP", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "the file system of the current directory supports idmapped mounts");
	else
		doctor_add(r, "HOST-IDMAP", DOCTOR_MISSING, DOCTOR_WARN,
			   "use a worktree on ext4, xfs or btrfs, or run custody as its owner", "%s",
			   fault_text(&f));
}

static void check_subuid(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct id_map ids = { 0 };
	int e;

	if (!d->rootless) {
		doctor_add(r, "HOST-SUBUID", DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "as root each run has 65536 ids of its own");
		return;
	}
	e = subordinate_ids_find(&ids, &f);
	if (e == 0)
		doctor_add(r, "HOST-SUBUID", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "%u subordinate ids, for commands that run as another user (process.user) or with "
			   "capabilities; the others have one id",
			   id_extents_count(&ids.uid) - 1);
	else if (e == -ENOENT)
		doctor_add(r, "HOST-SUBUID", DOCTOR_LIMITED, DOCTOR_INFO,
			   "docs/THREATS.md explains the risk of one id; for more: apt install uidmap, then "
			   "sudo "
			   "custody setup USER",
			   "one id: root inside is this user (%s)", fault_text(&f));
	else
		doctor_add(r, "HOST-SUBUID", DOCTOR_LIMITED, DOCTOR_WARN,
			   "correct it, as root: until then process.user is refused, and other commands have "
			   "one id",
			   "the subordinate ids are not used: %s", fault_text(&f));
}

/* Program and device only; a run tests the mount itself. */
static void check_fuse(struct doctor_report *r)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (overlay_server_require(&f) == 0)
		doctor_add(
			r, "HOST-FUSE-OVERLAYFS", DOCTOR_OK, DOCTOR_INFO, NULL,
			"fuse-overlayfs can be used by profiles with workspace.overlay fuse; all others use "
			"the kernel's overlay");
	else
		doctor_add(r, "HOST-FUSE-OVERLAYFS", DOCTOR_MISSING, DOCTOR_INFO,
			   access(OVERLAY_SERVER_PROGRAM, X_OK) < 0
				   ? OVERLAY_SERVER_INSTALL
				   : "as root: modprobe fuse; chmod 0666 " OVERLAY_SERVER_DEVICE,
			   "fuse-overlayfs cannot be used; only profiles with workspace.overlay fuse need it "
			   "only");
}

void doctor_check_files(struct doctor_report *r, const struct dirs *d)
{
	check_upper(r, d);
	check_idmap(r, d);
	check_subuid(r, d);
	check_fuse(r);
}

void doctor_check_libcrun(struct doctor_report *r)
{
	doctor_describe_libcrun(r, adapter_ops.version());
}
