/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "layer/layer.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"
#include "subject/subject.h"

/*
 * A subject with something in every field, in static memory: tests copy the structs and change one thing.  Nothing of
 * it is on the heap; subject_free and profile_free are never called for it.
 */
#define S(text) ((char *)(text))

static const struct digest_key fixture_key = { .bytes = { 1, 2, 3, 4 } };

static char *fixture_argv[] = { S("./run.sh"), S("--in=data.txt"), S("x"), NULL };
static char *fixture_env[] = { S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"),
			       S("TERM=xterm-256color"), NULL };
static char *fixture_copies[] = { S("/etc/localtime"), NULL };
static char *fixture_hide[] = { S("/work/.git"), NULL };
static char *fixture_allow[] = { S("keyctl"), NULL };
static char *fixture_deny[] = { S("ptrace"), NULL };
static char *fixture_danger[] = { S("rw-home"), NULL };

/* clang-format off */
static struct subject_mount fixture_mounts[] = {
	{ .kind = SUBJECT_MOUNT_TMPFS, .target = S("/tmp"), .rw = true, .is_dir = true, .size = 4096, .mode = 01777 },
	{ .kind = SUBJECT_MOUNT_BIND, .source = S("/usr"), .target = S("/usr"), .is_dir = true },
	{ .kind = SUBJECT_MOUNT_BIND, .source = S("/src/data"), .target = S("/work/data"), .is_dir = true, .rw = true,
	  .idmap = true, .owner_uid = 1000, .owner_gid = 100, .file = { 0x802, UINT64_C(0x8000000000000007), S_IFDIR } },
	{ .kind = SUBJECT_MOUNT_BIND, .source = S("/src/file"), .target = S("/x"), .idmap = true, .owner_uid = 1000 },
};
static struct subject_link fixture_links[] = { { S("/bin"), S("usr/bin") } };
static struct operand fixture_operands[] = {
	{ .arg = 0, .at = 0, .path = S("run.sh"), .sha256 = { { 7 } }, .size = 12, .mode = 0755, .use = OPERAND_RUNS },
	{ .arg = 1, .at = 5, .path = S("data.txt"), .sha256 = { { 8 } }, .size = 13, .mode = 0644 },
};
static struct operand_link fixture_operand_links[] = { { S("data.txt"), S("real.txt") } };
/* clang-format on */

static inline struct profile fixture_profile(void)
{
	return (struct profile){
		.name = S("offline"),
		.digest = { { 9, 9 } },
		.root = PROFILE_ROOT_HOST_RO,
		.workspace = PROFILE_WORKSPACE_OVERLAY,
		.workspace_target = S("/work"),
		.fs_hide = fixture_hide,
		.process_init = true,
		.limit_memory = 1 << 20,
		.limit_pids = 7,
		.limit_cpu_percent = 150,
		.limit_disk = 1 << 16,
		.limit_time_s = 90,
		.limit_grace_s = 5,
		.limit_files = 256,
		.limit_tmp = 1 << 20,
		.seccomp_allow = fixture_allow,
		.seccomp_deny = fixture_deny,
		.optional = LAYER_BIT(LAYER_CPU_LIMIT),
		.layers = LAYER_BIT(_LAYER_MAX) - 1,
		.dangerous = fixture_danger,
	};
}

static inline struct subject fixture_subject(const struct profile *p)
{
	return (struct subject){
		.profile = p,
		.argv = fixture_argv,
		.env = fixture_env,
		.cwd = S("/work"),
		.hostname = S("box"),
		.home = S("/home/sandbox"),
		.worktree = S("/src"),
		.owner_uid = 1000,
		.owner_gid = 100,
		.worktree_file = { 0x801, 42, S_IFDIR },
		.mounts = fixture_mounts,
		.n_mounts = 4,
		.worktree_at = 2,
		.links = fixture_links,
		.n_links = 1,
		.copies = fixture_copies,
		.layers = p->layers,
		.approved_time_s = 90,
		.operands = fixture_operands,
		.n_operands = 2,
		.operand_links = fixture_operand_links,
		.n_operand_links = 1,
	};
}

/* False unless S has a document. */
static inline bool fixture_digest(const struct subject *s, struct digest *ret)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (subject_to_json(s, &fixture_key, &d, &f) < 0 || subject_digest(d, ret, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	return true;
}
