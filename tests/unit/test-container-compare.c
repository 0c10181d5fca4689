/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container-fixture.h"
#include "tap.h"

/* Each row of the table changes one thing of a container as asked and names the layer that is then missing. */

static void add_mount(uint64_t id, const char *point, const char *type)
{
	more[x.n_mounts++] = (struct container_mount){ .id = id,
						       .point = (char *)point,
						       .flags = word("rw"),
						       .tags = word(""),
						       .type = (char *)type,
						       .super = word("rw") };
}

/* clang-format off */
#define CHANGE(name, ...) static void name(void) { __VA_ARGS__; }
CHANGE(same_user, x.ns[INIT_NS_USER] = outside.ns[INIT_NS_USER])
CHANGE(host_root_mapped, x.uids.at[0].outside = 0)
CHANGE(host_group_mapped, x.gids.at[0].outside = 0)
CHANGE(no_map, x.uids.n = 0)
CHANGE(same_pid, x.ns[INIT_NS_PID] = outside.ns[INIT_NS_PID])
CHANGE(same_mnt, x.ns[INIT_NS_MNT] = outside.ns[INIT_NS_MNT])
CHANGE(same_net, x.ns[INIT_NS_NET] = outside.ns[INIT_NS_NET])
CHANGE(same_ipc, x.ns[INIT_NS_IPC] = outside.ns[INIT_NS_IPC])
CHANGE(same_uts, x.ns[INIT_NS_UTS] = outside.ns[INIT_NS_UTS])
CHANGE(same_cgroup, x.ns[INIT_NS_CGROUP] = outside.ns[INIT_NS_CGROUP])
CHANGE(unread_ns, x.ns_err = EACCES)
CHANGE(shared, more[4].tags = word("shared:1 master:2"))
CHANGE(unread_mounts, x.mounts_err = EACCES)
CHANGE(unread_root, x.root_err = EACCES)
CHANGE(writable_root, more[0].flags = word("rw,relatime"))
CHANGE(host_root, outside.root_dev = 1; outside.root_ino = 2)
CHANGE(root_elsewhere, x.root.mount = HOST)
CHANGE(root_no_mount, x.root.mount = DATA)
CHANGE(more_mounted, add_mount(HOST, "/etc/more", "ext4"))
CHANGE(data_alike, add_mount(HOST, "/dataX", "ext4"))
CHANGE(target_missing, targets[3].err = ENOENT)
CHANGE(target_not_mounted, targets[3].mount = ROOT)
CHANGE(writable_target, more[6].flags = word("rw"))
CHANGE(writable_cgroup, more[11].flags = word("rw"))
CHANGE(other_proc, more[1].type = word("tmpfs"))
CHANGE(unmasked, masked[0].mount = PROC)
CHANGE(masked_by_file, masked[0].null_device = false)
CHANGE(masked_not_empty, masked[1].empty = false)
CHANGE(masked_writable, more[8].flags = word("rw"))
CHANGE(masked_unknown, masked[1].err = EACCES)
CHANGE(writable_sys, more[9].flags = word("rw"))
CHANGE(read_only_unknown, read_only[0].err = EIO)
CHANGE(nothing_masked, asked.masked = NULL)
CHANGE(host_dev, more[2].type = word("devtmpfs"))
CHANGE(host_device, devices[2] = ((struct container_device){ word("kmsg"), S_IFCHR, makedev(1, 11) }); x.n_devices = 3)
CHANGE(block_device, devices[1].type = S_IFBLK)
CHANGE(unread_dev, x.devices_err = EACCES)
CHANGE(worktree_gone, x.worktree.err = ENOENT)
CHANGE(worktree_of_host, x.worktree.mount = HOST)
CHANGE(worktree_file, x.worktree.directory = false)
CHANGE(more_bounding, x.status.capabilities[CONTAINER_SET_BOUNDING] |= 1u << 21)
CHANGE(more_ambient, x.status.capabilities[CONTAINER_SET_AMBIENT] = 1u << 5)
CHANGE(more_inheritable, x.status.capabilities[CONTAINER_SET_INHERITABLE] = 1u << 5)
CHANGE(new_privs, x.status.no_new_privs = 0)
CHANGE(no_filter, x.status.seccomp = 0)
CHANGE(strict_filter, x.status.seccomp = 1)
CHANGE(unread_status, x.status.err = EACCES)
CHANGE(other_session, x.sid = 7)
CHANGE(host_terminal, fds[1].mount = HOST)
CHANGE(controlling_terminal, x.terminal = 34816; fds[1].terminal = false)
CHANGE(unread_fds, x.fds_err = EACCES)
CHANGE(directory, fds[3].directory = true)
CHANGE(stdin_directory, fds[0].directory = true)
CHANGE(inherited, fds[3].closed_at_exec = false)
CHANGE(cwd_of_host, x.cwd.mount = HOST)
CHANGE(cwd_in_proc, x.cwd.mount = PROC)
CHANGE(cwd_above, x.cwd_below = false)
CHANGE(cwd_other, x.cwd.ino = 5)
CHANGE(cwd_unknown, x.asked_cwd.err = ELOOP)
CHANGE(other_umask, x.status.umask = 0)
CHANGE(ignores, x.status.ignored = 1)
CHANGE(other_uid, x.status.uid[2] = 100001)
CHANGE(other_gid, x.status.gid[3] = 0)
CHANGE(host_uid, asked.uid = 70000)
CHANGE(other_group, x.status.groups = word("100000 27"))
CHANGE(more_files, x.rlimits = word("Max open files 100 4096 files\n"))
CHANGE(unlimited_files, x.rlimits = word("Max open files unlimited unlimited files\n"))
CHANGE(unread_rlimits, x.rlimits = NULL)
CHANGE(protected_from_oom, x.oom_score_adj = -500)
CHANGE(nicer, x.nice = -5)
CHANGE(real_time, x.policy = SCHED_FIFO)
CHANGE(traceable, x.files_owner = 100000)
CHANGE(our_cgroup, x.limits.foreign = false)
CHANGE(more_memory, x.limits.memory++)
CHANGE(no_memory, x.limits.memory = UINT64_MAX)
CHANGE(more_pids, x.limits.pids++)
CHANGE(more_cpu, x.limits.cpu++)
CHANGE(unread_cgroup, x.limits.err = ENOENT)

static const struct {
	enum layer layer;
	void (*change)(void);
	const char *why;
} rows[] = {
	{ LAYER_USER_NS,        same_user,            "the host's" },
	{ LAYER_USER_NS,        host_root_mapped,     "root of the host" },
	{ LAYER_USER_NS,        host_group_mapped,    "root of the host" },
	{ LAYER_USER_NS,        no_map,               "uid_map" },
	{ LAYER_USER_NS,        unread_ns,            "Permission denied" },
	{ LAYER_PID_NS,         same_pid,             "pid:[2]" },
	{ LAYER_PID_NS,         unread_ns,            "Permission denied" },
	{ LAYER_MOUNT_NS,       same_mnt,             "mnt:[3]" },
	{ LAYER_MOUNT_NS,       shared,               "/data is shared" },
	{ LAYER_MOUNT_NS,       unread_mounts,        "Permission denied" },
	{ LAYER_NET_NS,         same_net,             "net:[4]" },
	{ LAYER_IPC_NS,         same_ipc,             "ipc:[5]" },
	{ LAYER_UTS_NS,         same_uts,             "uts:[6]" },
	{ LAYER_CGROUP_NS,      same_cgroup,          "cgroup:[7]" },
	{ LAYER_ROOT,           unread_mounts,        "Permission denied" },
	{ LAYER_ROOT,           unread_root,          "Permission denied" },
	{ LAYER_ROOT,           writable_root,        "/ is writable" },
	{ LAYER_ROOT,           host_root,            "that of the host" },
	{ LAYER_ROOT,           root_elsewhere,       "not a mount of the container" },
	{ LAYER_ROOT,           root_no_mount,        "not a mount of the container" },
	{ LAYER_ROOT,           more_mounted,         "/etc/more is mounted" },
	{ LAYER_ROOT,           data_alike,           "/dataX is mounted" },
	{ LAYER_ROOT,           target_missing,       "/in cannot be found" },
	{ LAYER_ROOT,           target_not_mounted,   "nothing is mounted at /in" },
	{ LAYER_ROOT,           writable_target,      "/in is writable" },
	{ LAYER_ROOT,           writable_cgroup,      "/sys/fs/cgroup/cpu is writable" },
	{ LAYER_ROOT,           other_proc,           "/proc is of type tmpfs" },
	{ LAYER_MASKS,          unread_root,          "Permission denied" },
	{ LAYER_MASKS,          unmasked,             "/proc/keys is not masked" },
	{ LAYER_MASKS,          masked_by_file,       "/proc/keys is masked by something" },
	{ LAYER_MASKS,          masked_not_empty,     "/proc/acpi is masked by something" },
	{ LAYER_MASKS,          masked_writable,      "/proc/acpi is masked by something" },
	{ LAYER_MASKS,          masked_unknown,       "/proc/acpi cannot be looked at" },
	{ LAYER_MASKS,          writable_sys,         "/proc/sys is writable" },
	{ LAYER_MASKS,          read_only_unknown,    "/proc/sys cannot be looked at" },
	{ LAYER_MASKS,          nothing_masked,       "no maskedPaths" },
	{ LAYER_DEVICES,        host_dev,             "of type devtmpfs" },
	{ LAYER_DEVICES,        host_device,          "/dev/kmsg exists" },
	{ LAYER_DEVICES,        block_device,         "/dev/fuse exists" },
	{ LAYER_DEVICES,        unread_dev,           "/dev cannot be read" },
	{ LAYER_WORKTREE,       worktree_gone,        "No such file" },
	{ LAYER_WORKTREE,       worktree_of_host,     "no mount of the container" },
	{ LAYER_WORKTREE,       worktree_file,        "not a directory" },
	{ LAYER_CAPABILITIES,   more_bounding,        "bounding" },
	{ LAYER_CAPABILITIES,   more_ambient,         "ambient" },
	{ LAYER_CAPABILITIES,   more_inheritable,     "inheritable" },
	{ LAYER_CAPABILITIES,   unread_status,        "Permission denied" },
	{ LAYER_NO_NEW_PRIVS,   new_privs,            "NoNewPrivs is 0" },
	{ LAYER_NO_NEW_PRIVS,   unread_status,        "Permission denied" },
	{ LAYER_SECCOMP,        no_filter,            "Seccomp is 0" },
	{ LAYER_SECCOMP,        strict_filter,        "Seccomp is 1" },
	{ LAYER_SECCOMP,        unread_status,        "Permission denied" },
	{ LAYER_SESSION,        other_session,        "session 7" },
	{ LAYER_SESSION,        host_terminal,        "descriptor 1 is a terminal of the host" },
	{ LAYER_SESSION,        controlling_terminal, "controlling terminal" },
	{ LAYER_SESSION,        unread_fds,           "Permission denied" },
	{ LAYER_DESCRIPTORS,    directory,            "descriptor 3 is a directory" },
	{ LAYER_DESCRIPTORS,    stdin_directory,      "descriptor 0 is a directory" },
	{ LAYER_DESCRIPTORS,    inherited,            "descriptor 3 is inherited" },
	{ LAYER_DESCRIPTORS,    unread_fds,           "Permission denied" },
	{ LAYER_CWD,            cwd_of_host,          "no mount of the container" },
	{ LAYER_CWD,            cwd_in_proc,          "below /proc" },
	{ LAYER_CWD,            cwd_above,            "not below the root" },
	{ LAYER_CWD,            cwd_other,            "is not /data" },
	{ LAYER_CWD,            cwd_unknown,          "is not /data" },
	{ LAYER_CWD,            unread_root,          "Permission denied" },
	{ LAYER_PROCESS,        other_umask,          "umask is 000" },
	{ LAYER_PROCESS,        ignores,              "ignores signals" },
	{ LAYER_PROCESS,        other_uid,            "asked was 0:0" },
	{ LAYER_PROCESS,        other_gid,            "asked was 0:0" },
	{ LAYER_PROCESS,        host_uid,             "no number outside" },
	{ LAYER_PROCESS,        other_group,          "group 27" },
	{ LAYER_PROCESS,        more_files,           "RLIMIT_NOFILE is 100 and at most 4096" },
	{ LAYER_PROCESS,        unlimited_files,      "RLIMIT_NOFILE" },
	{ LAYER_PROCESS,        unread_rlimits,       "limits" },
	{ LAYER_PROCESS,        protected_from_oom,   "oom_score_adj is -500" },
	{ LAYER_PROCESS,        nicer,                "nice value is -5" },
	{ LAYER_PROCESS,        real_time,            "real-time" },
	{ LAYER_PROCESS,        traceable,            "traced" },
	{ LAYER_PROCESS,        unread_status,        "Permission denied" },
	{ LAYER_MEMORY_LIMIT,   our_cgroup,           "cgroup of its supervisor" },
	{ LAYER_MEMORY_LIMIT,   more_memory,          "1048577" },
	{ LAYER_MEMORY_LIMIT,   no_memory,            "no limit" },
	{ LAYER_PIDS_LIMIT,     more_pids,            "51" },
	{ LAYER_CPU_LIMIT,      more_cpu,             "50001" },
	{ LAYER_CPU_LIMIT,      unread_cgroup,        "No such file" },
};
/* clang-format on */

static void ISO_1_a_container_as_asked_is_proven(void)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct container_compare c = { &asked, &x, &outside };

	CHECK(set_good(&d) == 0);
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		const struct container_layer r = container_compare_layer(&c, (enum layer)l);

		if (!r.holds && (container_provable() & LAYER_BIT(l)))
			printf("# %s: %s\n", layer_info((enum layer)l)->name, r.why);
		CHECK(r.holds == ((container_provable() & LAYER_BIT(l)) != 0));
	}
}

static void ISO_1_each_difference_is_found_and_named(void)
{
	const struct container_compare c = { &asked, &x, &outside };
	uint32_t seen = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *d = NULL;
		struct container_layer r;

		CHECK(set_good(&d) == 0);
		rows[i].change();
		r = container_compare_layer(&c, rows[i].layer);
		if (r.holds || !strstr(r.why, rows[i].why))
			printf("# row %zu, %s: '%s' in '%s'\n", i, layer_info(rows[i].layer)->name,
			       rows[i].why, r.why);
		CHECK(!r.holds && strstr(r.why, rows[i].why));
		seen |= LAYER_BIT(rows[i].layer);
	}
	CHECK(seen == container_provable());
}

static void more_than_asked_is_missing_and_less_is_not(void)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct container_compare c = { &asked, &x, &outside };

	CHECK(set_good(&d) == 0);
	x.status.capabilities[CONTAINER_SET_BOUNDING] = 0;
	x.limits.memory = x.limits.pids = x.limits.cpu = 1;
	x.oom_score_adj = 1000;
	x.status.groups = word("");
	CHECK(container_compare_layer(&c, LAYER_CAPABILITIES).holds);
	CHECK(container_compare_layer(&c, LAYER_PROCESS).holds);
	CHECK(container_compare_layer(&c, LAYER_CPU_LIMIT).holds);
	asked.memory = 0;
	CHECK(container_compare_layer(&c, LAYER_MEMORY_LIMIT).holds);
	asked.oom_score_adj = -600;
	x.oom_score_adj = -500;
	CHECK(container_compare_layer(&c, LAYER_PROCESS).holds);
	asked.preserved = 1;
	fds[3].closed_at_exec = false;
	fds[3].directory = true;
	CHECK(container_compare_layer(&c, LAYER_DESCRIPTORS).holds);
}

/* In a user namespace of an engine the host's root has no number for us, and so none in it or below. */
static void a_namespace_of_the_engine_counts_if_none_was_asked(void)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct container_compare c = { &asked, &x, &outside };

	CHECK(set_good(&d) == 0);
	outside.host_uid = outside.no_uid;
	outside.host_gid = outside.no_gid;
	x.uids.at[0].outside = x.gids.at[0].outside = 0;
	CHECK(container_compare_layer(&c, LAYER_USER_NS).holds);
	x.ns[INIT_NS_USER] = outside.ns[INIT_NS_USER];
	CHECK(!container_compare_layer(&c, LAYER_USER_NS).holds);
	asked.user_namespace = false;
	CHECK(container_compare_layer(&c, LAYER_USER_NS).holds);
	outside.host_uid = 0;
	CHECK(!container_compare_layer(&c, LAYER_USER_NS).holds);
}

TAP_MAIN(T(ISO_1_a_container_as_asked_is_proven), T(ISO_1_each_difference_is_found_and_named),
	 T(more_than_asked_is_missing_and_less_is_not), T(a_namespace_of_the_engine_counts_if_none_was_asked))
