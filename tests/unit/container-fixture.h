/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/json.h"
#include "warden/container-compare.h"

/* A container as runtimes make it: what its configuration asks, and what the kernel reports of it. */

static const char config_text[] =
	"{\"root\":{\"path\":\"rootfs\",\"readonly\":true},"
	"\"process\":{\"cwd\":\"/data\",\"user\":{\"uid\":0,\"gid\":0,\"additionalGids\":[7],\"umask\":18},"
	"\"oomScoreAdj\":100,\"noNewPrivileges\":true,\"capabilities\":{\"bounding\":[\"CAP_KILL\"],"
	"\"effective\":[\"CAP_KILL\"],\"permitted\":[\"CAP_KILL\"]},"
	"\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":100,\"hard\":1024}]},"
	"\"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\"},{\"destination\":\"/"
	"dev\",\"type\":\"tmpfs\"},"
	"{\"destination\":\"/data\",\"type\":\"bind\",\"options\":[\"rbind\"]},"
	"{\"destination\":\"/in\",\"type\":\"bind\",\"options\":[\"bind\",\"rw\",\"ro\"]},"
	"{\"destination\":\"/sys/fs/cgroup\",\"type\":\"cgroup\",\"options\":[\"ro\"]}],"
	"\"linux\":{\"namespaces\":[{\"type\":\"user\"},{\"type\":\"mount\"}],"
	"\"devices\":[{\"path\":\"/dev/fuse\",\"type\":\"c\",\"major\":10,\"minor\":229}],"
	"\"maskedPaths\":[\"/proc/keys\",\"/proc/acpi\",\"/proc/none\"],\"readonlyPaths\":[\"/proc/sys\",\"/"
	"proc/none\"],"
	"\"resources\":{\"memory\":{\"limit\":1048576},\"pids\":{\"limit\":50},\"cpu\":{\"quota\":20000,"
	"\"period\":40000}}}}";

enum { ROOT = 10, PROC, DEV, PTS, DATA, BELOW_DATA, IN, KEYS, ACPI, SYS, CGROUP, CPU, HOST };

#define W(text) ((char[]){ text })

static struct container_mount mounts[] = {
	{ ROOT, W("/"), W("ro,relatime"), W(""), W("overlay"), W("rw") },
	{ PROC, W("/proc"), W("rw,nosuid"), W(""), W("proc"), W("rw") },
	{ DEV, W("/dev"), W("rw,nosuid"), W(""), W("tmpfs"), W("rw") },
	{ PTS, W("/dev/pts"), W("rw,nosuid"), W(""), W("devpts"), W("rw") },
	{ DATA, W("/data"), W("rw"), W("master:1"), W("ext4"), W("rw") },
	{ BELOW_DATA, W("/data/more"), W("rw"), W(""), W("ext4"), W("rw") },
	{ IN, W("/in"), W("ro"), W(""), W("ext4"), W("rw") },
	{ KEYS, W("/proc/keys"), W("ro"), W(""), W("devtmpfs"), W("rw") },
	{ ACPI, W("/proc/acpi"), W("ro"), W(""), W("tmpfs"), W("rw") },
	{ SYS, W("/proc/sys"), W("ro"), W(""), W("proc"), W("rw") },
	{ CGROUP, W("/sys/fs/cgroup"), W("rw"), W(""), W("tmpfs"), W("rw") },
	{ CPU, W("/sys/fs/cgroup/cpu"), W("ro"), W(""), W("cgroup"), W("rw") },
	{ CPU, W("/sys/fs/cgroup/pids"), W("rw"), W(""), W("tmpfs"), W("ro") },
};
/* Without const, as the facts have it; they are not changed. */
static char *word(const char *text)
{
	return strchr(text, *text);
}

static struct container_mount more[ARRAY_SIZE(mounts) + 1];
static struct container_place masked[4], read_only[3], targets[6];
static struct container_descriptor fds[5];
static struct container_device devices[3];
static struct container_asked asked;
static struct container_facts x;
static struct container_outside outside;

static void set_process(void)
{
	for (unsigned int n = 0; n < _INIT_NS_MAX; n++) {
		outside.ns[n] = 1 + n;
		x.ns[n] = 100 + n;
	}
	outside.no_uid = outside.no_gid = 65534;
	x.status.groups = word("100000 100007");
	x.status.capabilities[CONTAINER_SET_BOUNDING] = 1u << 5;
	x.status.umask = 022;
	x.status.no_new_privs = 1;
	x.status.seccomp = 2;
	for (int i = 0; i < 4; i++)
		x.status.uid[i] = x.status.gid[i] = 100000;
	x.uids.at[0] = x.gids.at[0] = (struct container_extent){ 0, 100000, 65536 };
	x.uids.n = x.gids.n = 1;
	x.pid = x.sid = 42;
	x.policy = SCHED_OTHER;
	x.oom_score_adj = 100;
	x.rlimits = word("Limit\nMax processes   7   7\nMax open files       100       1024     files\n");
	x.limits = (struct container_limits){ .foreign = true, .memory = 1048576, .pids = 50, .cpu = 50000 };
}

static void set_files(void)
{
	memcpy(more, mounts, sizeof(mounts));
	memset(masked, 0, sizeof(masked));
	memset(read_only, 0, sizeof(read_only));
	memset(targets, 0, sizeof(targets));
	x.mounts = more;
	x.n_mounts = ARRAY_SIZE(mounts);
	x.root = (struct container_place){ .mount = ROOT, .dev = 1, .ino = 2, .directory = true };
	x.cwd = x.asked_cwd = x.worktree =
		(struct container_place){ .mount = DATA, .dev = 3, .ino = 4, .directory = true };
	x.cwd_below = true;
	outside.root_dev = 9;
	masked[0] = (struct container_place){ .mount = KEYS, .null_device = true };
	masked[1] = (struct container_place){ .mount = ACPI, .directory = true, .empty = true };
	masked[2].err = ENOENT;
	read_only[0] = (struct container_place){ .mount = SYS, .directory = true };
	read_only[1].err = ENOENT;
	for (unsigned int i = 0; i < 5; i++)
		targets[i].mount = (uint64_t[]){ PROC, DEV, DATA, IN, CGROUP }[i];
	x.masked = masked;
	x.read_only = read_only;
	x.targets = targets;
	memset(fds, 0, sizeof(fds));
	for (unsigned int i = 0; i < 3; i++)
		fds[i] = (struct container_descriptor){ .number = i,
							.mount = HOST,
							.target = word("pipe:[1]") };
	fds[1].terminal = true;
	fds[1].mount = PTS;
	fds[3] = (struct container_descriptor){ .number = 3,
						.closed_at_exec = true,
						.target = word("/exec.fifo") };
	x.fds = fds;
	x.n_fds = 4;
	devices[0] = (struct container_device){ word("null"), S_IFCHR, makedev(1, 3) };
	devices[1] = (struct container_device){ word("fuse"), S_IFCHR, makedev(10, 229) };
	x.devices = devices;
	x.n_devices = 2;
}

static int set_good(struct jdoc **ret)
{
	x = (struct container_facts){ 0 };
	outside = (struct container_outside){ 0 };
	set_process();
	set_files();
	if (jdoc_parse(config_text, sizeof(config_text) - 1, "config", NULL, ret, NULL) < 0)
		return -1;
	return container_asked_read(*ret, &asked, NULL);
}
