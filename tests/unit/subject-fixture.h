/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "layer/layer.h"
#include "subject/placement.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"
#include "subject/subject.h"

/*
 * A subject with a value in every field, and a plain one, in static memory: tests copy the structs and change one field.
 * Do not call subject_free or profile_free for them.  The corpus of fuzz-subject was written with this key and environment.
 */
#define S(text) ((char *)(text))

static const struct digest_key fixture_key = { .bytes = { 1, 2, 3, 4 } };

static char *fixture_argv[] = { S("./run.sh"), S("--in=data.txt"), S("x"), NULL };
static char *fixture_env[] = { S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"),
			       S("TERM=xterm-256color"), NULL };
static __attribute__((unused)) char *fixture_args[] = { S("./run.sh"), S("--in=data.txt"),
							S("--token=abcdef123456"), NULL };
static char *fixture_plain_argv[] = { S("ls"), S("-l"), NULL };
static char *fixture_plain_env[] = { S("HOME=/home/sandbox"), S("PATH=/usr/bin"), NULL };
static char *fixture_copies[] = { S("/etc/localtime"), NULL };
static char *fixture_hide[] = { S("/work/.git"), NULL };
static char *fixture_allow[] = { S("keyctl"), NULL };
static char *fixture_deny[] = { S("ptrace"), NULL };
static char *fixture_trace[] = { S("exec"), S("denied"), NULL };
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

static inline struct profile fixture_plain_profile(void)
{
	return (struct profile){
		.process_init = true,
		.audit_trace = fixture_trace,
		.limit_memory = 1 << 20,
		.limit_pids = 7,
		.limit_cpu_percent = 150,
		.limit_disk = 1 << 16,
		.limit_time_s = 90,
		.limit_grace_s = 5,
		.limit_files = 256,
		.layers = LAYER_BIT(_LAYER_MAX) - 1,
	};
}

static inline struct profile fixture_profile(void)
{
	struct profile p = fixture_plain_profile();

	p.name = S("offline");
	p.digest = (struct digest){ { 9, 9 } };
	p.root = PROFILE_ROOT_HOST_RO;
	p.workspace = PROFILE_WORKSPACE_OVERLAY;
	p.fs_hide = fixture_hide;
	p.limit_tmp = 1 << 20;
	p.seccomp_allow = fixture_allow;
	p.seccomp_deny = fixture_deny;
	p.optional = LAYER_BIT(LAYER_CPU_LIMIT);
	p.dangerous = fixture_danger;
	return p;
}

/* `ls -l` with the mounts and links above, and no operands. */
static inline struct subject fixture_plain_subject(const struct profile *p)
{
	return (struct subject){
		.profile = p,
		.argv = fixture_plain_argv,
		.env = fixture_plain_env,
		.cwd = S("/work"),
		.hostname = S("box"),
		.home = S("/home/sandbox"),
		.worktree = S("/src"),
		.target = S("/work"),
		.owner_uid = 1000,
		.owner_gid = 100,
		.mounts = fixture_mounts,
		.n_mounts = 4,
		.worktree_at = 2,
		.links = fixture_links,
		.n_links = 1,
		.layers = p->layers,
	};
}

static inline struct subject fixture_subject(const struct profile *p)
{
	struct subject s = fixture_plain_subject(p);

	s.argv = fixture_argv;
	s.env = fixture_env;
	s.worktree_file = (struct subject_file){ 0x801, 42, S_IFDIR };
	s.copies = fixture_copies;
	s.approved_time_s = 90;
	s.operands = fixture_operands;
	s.n_operands = 2;
	s.operand_links = fixture_operand_links;
	s.n_operand_links = 1;
	return s;
}

/* A bundle for another runtime, whose hook mounts the worktree. */
static inline struct placement fixture_portable(void)
{
	return (struct placement){
		.portable = true,
		.uid_base = 2000000,
		.gid_base = 3000000,
		.n_ids = 65536,
		.rootfs = "rootfs",
		.init = "/lib/custody-init",
		.hook = "/lib/custody-hook",
		.report_fd = -1,
		.limits = true,
	};
}

/* A container that custody starts itself. */
static inline struct placement fixture_own_run(void)
{
	return (struct placement){
		.uid_base = 2000000,
		.gid_base = 3000000,
		.n_ids = 65536,
		.rootfs = "/s/root",
		.worktree = "/s/tree",
		.upper = "/s/l/u",
		.work = "/s/l/w",
		.init = "/lib/custody-init",
		.report_fd = 3,
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
