/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/str.h"
#include "doctor/doctor.h"

/* clang-format off */
static const struct {
	const char *id, *text;
} check_texts[] = {
	{ "APPROVAL-APPROVERS",
	  "The approvers whose signatures count in this lane, and whether the caller's uid can read their private keys.  A process\n"
	  "of that uid outside a sandbox can sign level B with such a key; level C also needs the PIN.  docs/THREATS.md, \"Same\n"
	  "uid\", lists the set-ups and the protection that each gives." },
	{ "APPROVAL-PIN",
	  "Level C is approved with a key that only a PIN unwraps.  No PIN is set by default: 'custody pin set' sets one." },
	{ "APPROVAL-TERMINAL",
	  "With the ioctl TIOCSTI a process can type into its own terminal, for example the answer to a question of custody.\n"
	  "Sandboxes have their own terminal and a filter that refuses the call.  For processes outside of them the kernel can\n"
	  "switch it off since Linux 6.2: sysctl dev.tty.legacy_tiocsti=0." },
	{ "CONFIG-FILE",
	  "Settings for all runs are in /etc/custody/custody.json (the admin's) and, for users, in\n"
	  "~/.config/custody/custody.json, which can add and tighten.  If a file is invalid, or writable by others, custody\n"
	  "refuses every run: unreadable rules permit nothing.  custody.json(5) has the keys." },
	{ "CONFIG-OVERRIDE",
	  "A value of custody.json that is overridden by an environment variable (CUSTODY_LANE, CUSTODY_SANDBOX_ENABLED,\n"
	  "CUSTODY_SANDBOX_RETENTION_PATH), or by the user's file.  Both values and both sources are shown; doctor --json lists\n"
	  "all keys with their sources." },
	{ "CONFIG-UNUSED",
	  "Keys of capabilities that this version does not have yet: they are validated like all others, but not used." },
	{ "CONFIG-SECRET",
	  "A process that knows the digest key can test guessed values of variables against the digest of a subject.  The file\n"
	  "should be readable only by users who run custody: chmod o-r, and a group for these users." },
	{ "STATE-SANDBOX",
	  "State of lane sandbox: its files `version` and `lane` must have the values that this version expects.  It is\n"
	  "disposable: while no session runs it can be moved away, and the next run creates a new one." },
	{ "STATE-PROD",
	  "State of lane prod: its files `version` and `lane` must have the values that this version expects.  It is not\n"
	  "disposable: an unknown layout needs the version of custody that wrote it." },
	{ "STATE-OLD",
	  "Sessions, grants, reports, audit peers or pointers beside the lanes' directories come from a layout without lanes.\n"
	  "They are not read.  custody migrate shows their new places, custody migrate --apply moves them." },
	{ "HOST-KERNEL",
	  "custody needs Linux 5.11 (overlay in a user namespace) and, as root, 5.19 (idmapped lowers of an overlay).\n"
	  "Older kernels run the profiles whose workspace is not an overlay." },
	{ "HOST-USERNS",
	  "Every run has a user namespace: root inside is an unprivileged id outside.  A kernel can switch them off for users:\n"
	  "sysctl user.max_user_namespaces (0), kernel.unprivileged_userns_clone (0, Debian's old patch),\n"
	  "kernel.apparmor_restrict_unprivileged_userns (1, Ubuntu: a program needs an AppArmor profile that allows 'userns').\n"
	  "An administrator changes them with: sysctl -w NAME=VALUE, and in /etc/sysctl.d to keep it." },
	{ "HOST-OVERLAY",
	  "The default workspace is a kernel overlay: the payload writes to the upper, never to the original.\n"
	  "It needs CONFIG_OVERLAY_FS and, because it is mounted inside a user namespace, Linux 5.11.\n"
	  "Without it use a profile with workspace.mode ro, rw or tmpfs, or with workspace.overlay fuse." },
	{ "HOST-IDMAP",
	  "As root each run gets its own ids, and the worktree is an idmapped mount, so that its owner is root\n"
	  "inside.  File systems that support it: ext4, xfs, vfat 5.12, btrfs 5.15, tmpfs 6.3; overlayfs does not.\n"
	  "Move the worktree to one of them, or run custody as the worktree's owner instead of as root." },
	{ "HOST-UPPERDIR",
	  "An overlay's upper must be on a file system with extended attributes and whiteouts.  The root of another\n"
	  "container is itself an overlay and cannot hold one, nor can NFS, CIFS, FAT or FUSE.  Mount a volume or a tmpfs\n"
	  "on custody's state directory, move it with CUSTODY_ROOT, or use a profile with workspace.overlay fuse." },
	{ "HOST-PROC",
	  "A run mounts its own /proc.  In a user namespace the kernel refuses that if the existing /proc is partly covered,\n"
	  "as in most containers, because the mount would show the hidden files again.  Start the outer container with an\n"
	  "uncovered /proc (podman: --security-opt unmask=/proc/*, docker: --security-opt systempaths=unconfined)." },
	{ "HOST-SECCOMP",
	  "The system call filter needs CONFIG_SECCOMP_FILTER and the action SECCOMP_RET_ERRNO (Linux 3.5)." },
	{ "HOST-PIDFD",
	  "The supervisor waits for and signals processes by descriptor, because a pid can be reused by another process:\n"
	  "pidfd_open, Linux 5.3." },
	{ "HOST-CGROUP",
	  "A cgroup enforces the limits of memory, processes and processor time.  As root custody creates one on v1, v2 and hybrid\n"
	  "hosts.  A user needs a delegated one: on cgroup v2 custody asks the user's own systemd for a scope for each run; where there\n"
	  "is none, 'sudo custody setup USER' makes a cgroup once, for all runs of USER.  With 'custody\n"
	  "run --without LIMIT', or 'enforce.optional' of a profile, a run starts without the limits that are missing here, a line\n"
	  "on stderr names them on each run, and limits of processes hold in their place (custody-run(1))." },
	{ "HOST-SUBUID",
	  "Without root a run has one id: root inside is the caller's uid.  Files that it writes belong to the caller, and only\n"
	  "the namespaces protect the caller's other processes; docs/THREATS.md explains the risk of one id.  With a range in\n"
	  "/etc/subuid and /etc/subgid and the package uidmap, a command with another process.user than root, or with\n"
	  "capabilities (no-capabilities in 'dangerous'), also has the ids of the range: docs/design/run.md, \"Ids\"." },
	{ "HOST-FUSE-OVERLAYFS",
	  "fuse-overlayfs provides the overlay where the kernel cannot: a kernel before 5.11 without root, or a state directory on\n"
	  "a file system that cannot hold an upper.  custody starts it only if a profile says \"workspace\":\n"
	  "{\"overlay\": \"fuse\"}, never by itself.  It needs /usr/bin/fuse-overlayfs (apt install fuse-overlayfs) and a\n"
	  "/dev/fuse that the caller may open.  docs/design/overlay-fuse.md lists its costs." },
	{ "HOST-LIBCRUN",
	  "libcrun is linked statically: its version is that of the custody binary.  custody run gives it numeric ids, a /dev that is\n"
	  "always a new tmpfs, and a root that is mounted entry by entry on a skeleton that custody creates: none of these faults\n"
	  "can be reached there.  custody-runtime replaces the faulty calls and refuses such images; docs/THREATS.md lists each\n"
	  "published attack with its test.  Remains below 1.25.1: on a host with AppArmor or SELinux, a container with\n"
	  "CAP_SYS_ADMIN can mislead the file through which exec sets a label (CVE-2025-52881): give it no CAP_SYS_ADMIN.\n"
	  "A bundle that other runtimes run depends on their version, not on this one." },
	{ "HOST-LEDGER",
	  "The ledger of all runs: a hash chain with a seal that records its last entry.  'custody ledger verify' checks it for\n"
	  "tampering; docs/design/ledger.md explains a missing seal and removed records, and how to continue.\n"
	  "With the first seal key 'custody ledger verify --k0 FILE' finds every changed record of a copy.  'custody ledger init'\n"
	  "prints it and keeps nothing; a ledger that the first run created keeps it in ledger-keys/first-seal-key.  As long as it\n"
	  "is there, a process of the ledger's owner can read it and forge records that pass: move the file to another machine." },
	{ "HOST-EVIDENCE",
	  "Evidence for a store on a share is captured in STATE/staging and delivered by a background process: a share that\n"
	  "hangs, is full or not mounted delays no run and loses nothing.  Staged evidence is delivered again at every start, by\n"
	  "'custody recover' and by 'custody evidence deliver'.  A store that was a share and is not mounted any more is not\n"
	  "written to; --local confirms that it is on the local disk now." },
	{ "HOST-AUDIT-PEER",
	  "Peers outside this machine that receive each checkpoint of the ledger (STATE/audit_peer).  Only they can detect that\n"
	  "the whole disk was rolled back.  A peer may be behind and loses nothing: 'custody ledger checkpoint' sends the rest." },
	{ "HOST-CANARY",
	  "doctor starts a real container, the way `custody run` does, with a program that tries forbidden operations: mount,\n"
	  "ptrace, reach the network, read /etc/shadow, load a module and so on.  Each LAYER-* line lists the\n"
	  "tries that this layer stopped.  If the container cannot be started, this check repeats the reason." },
	{ "ENGINE-PROFILE",
	  "Containers that name no profile get sandbox.profile of custody.json, default \"container\"; the annotation\n"
	  "custody.profile may choose a tighter one.  A profile that cannot be read refuses them.  Unused: both switches,\n"
	  "sandbox.enabled and security_profile, are off." },
	{ "ENGINE-EXEC",
	  "Commands in governed containers (podman exec, docker exec, kubectl exec) are judged like a start: \"exec\" of\n"
	  "custody.json and governance.exec of the profile deny, ask or allow them.  Probes of pods and health checks of podman\n"
	  "are the same call.  The annotation custody.exec.allow lists those that start without a question, for example\n"
	  "[[\"cat\",\"/tmp/ready\"]]; it is approved with the container.  docker's health check is found by itself." },
	{ "ENGINE-EXIT-STATUS",
	  "The engine is the parent of a container's processes, and custody-warden records how they ended.  Since Linux 6.15 the\n"
	  "kernel keeps the status after the parent has reaped a process.  Before, custody-runtime leaves custody-parent as the\n"
	  "parent of each governed process, which passes it to the engine once its status is recorded.  The end is 'lost' only if\n"
	  "custody-parent is killed.  It cannot be placed above a bundle that another runtime runs (custody bundle): if that\n"
	  "runtime's caller reaps the container before custody-warden has seen it, its end is 'lost'." },
	{ "ENGINE-PODMAN-INSTALLED",
	  "Is the program 'podman' in PATH?  The other checks read podman's files in any case." },
	{ "ENGINE-PODMAN-RUNTIME",
	  "podman finds a runtime by its name in the table [engine.runtimes] and executes the first path listed there that\n"
	  "exists.  It reads /usr/share/containers/containers.conf, /etc/containers/containers.conf with the files\n"
	  "/etc/containers/containers.conf.d/*.conf, and for users both below ~/.config/containers; later files override.\n"
	  "CONTAINERS_CONF=FILE replaces them all." },
	{ "ENGINE-PODMAN-JSON",
	  "podman requests errors in JSON from a runtime only if runtime_supports_json in [engine] names it.  Without it a\n"
	  "container that cannot start fails without a reason.  The list of a later file replaces earlier lists." },
	{ "ENGINE-PODMAN-NOCGROUP",
	  "podman refuses --cgroups=disabled with a runtime that runtime_supports_nocgroup in [engine] does not name.  The\n"
	  "manual page spells the key with an s at the end; podman reads it without." },
	{ "ENGINE-DOCKER-INSTALLED",
	  "Is the program 'dockerd' in PATH or a directory of daemons?  The other check reads docker's file in any case." },
	{ "ENGINE-DOCKER-RUNTIME",
	  "docker finds a runtime by its name under \"runtimes\" in /etc/docker/daemon.json (rootless: in\n"
	  "~/.config/docker/daemon.json) and executes its \"path\".  The check requires an entry whose path ends in\n"
	  "custody-runtime and is an executable file; any name is valid: docker run --runtime NAME." },
	{ "ENGINE-CONTAINERD-INSTALLED",
	  "Is the program 'containerd' in PATH or a directory of daemons?  The other checks read its file in any case." },
	{ "ENGINE-CONTAINERD-RUNTIME",
	  "containerd's CRI plug-in finds a runtime in a table ...containerd.runtimes.NAME of /etc/containerd/config.toml or of\n"
	  "a file that it imports.  Its shim executes BinaryName of the table's options.  NAME is the handler of a RuntimeClass." },
	{ "ENGINE-CONTAINERD-DEFAULT",
	  "containerd 1.6 drops its built-in runtimes as soon as one is configured.  Unless the default one (runc, or the\n"
	  "value of default_runtime_name) is listed too, its CRI plug-in does not load and no pod starts." },
	{ "ENGINE-CONTAINERD-CRI",
	  "Some packages ship containerd with disabled_plugins = [\"cri\"], because docker does not need that plug-in.  The\n"
	  "runtimes of config.toml are not used then; ctr and nerdctl name the runtime on their command line." },
};

/* How each layer is proven: one sentence, in addition to layer_info. */
static const char *const layer_proofs[_LAYER_MAX] = {
	[LAYER_USER_NS] = "init reads its uid_map: the host's root is not mapped; the namespace differs from the caller's.",
	[LAYER_PID_NS] = "init is process 1, kill(-1, 0) finds no process, /proc/self is 1.",
	[LAYER_MOUNT_NS] = "the namespace differs from the caller's and no mount is shared with it.",
	[LAYER_NET_NS] = "the namespace differs from the caller's and connect() to 192.0.2.1 finds no route.",
	[LAYER_IPC_NS] = "the namespace differs from the caller's; the canary cannot attach shared memory of the host.",
	[LAYER_UTS_NS] = "the namespace differs from the caller's; the canary sees another host name.",
	[LAYER_CGROUP_NS] = "the namespace differs from the caller's and every path in /proc/self/cgroup is '/'.",
	[LAYER_ROOT] = "every mount that the profile did not make writable is read-only, all are nosuid and nodev, and creating files in / and /usr fails with EROFS.",
	[LAYER_MASKS] = "files of /proc such as kcore and keys are covered, /proc/sys and sysrq-trigger are read-only mounts.",
	[LAYER_DEVICES] = "/dev is a separate tmpfs with only null, zero, full, random, urandom, tty and terminals.",
	[LAYER_WORKTREE] = "the worktree's mount has the type and flags that the profile requires.",
	[LAYER_CAPABILITIES] = "all five sets in /proc/self/status are empty and a file of mode 000 cannot be opened by its owner.",
	[LAYER_NO_NEW_PRIVS] = "NoNewPrivs is 1 in /proc/self/status.",
	[LAYER_SECCOMP] = "Seccomp is 2 in /proc/self/status and a forbidden call returns the filter's errno, not the kernel's.",
	[LAYER_SESSION] = "init leads its session, /dev/tty cannot be opened, no descriptor is a terminal of the host.",
	[LAYER_DESCRIPTORS] = "/proc/self/fd holds stdin, stdout, stderr and init's own socket, and none of them is a directory.",
	[LAYER_ENVIRONMENT] = "the names of all variables are exactly those that the subject lists.",
	[LAYER_CWD] = "init enters it itself after the descriptors are proven; its path is reachable from the root, its mount is in /proc/self/mountinfo, and neither is one of /proc, /dev or /sys.",
	[LAYER_PROCESS] = "init reads each attribute that docs/design/layers.md lists for this layer, after it has reset it.",
	[LAYER_MEMORY_LIMIT] = "the supervisor reads the limit back from the cgroup in which init is a member.",
	[LAYER_PIDS_LIMIT] = "the supervisor reads the limit back from the cgroup in which init is a member.",
	[LAYER_CPU_LIMIT] = "the supervisor reads the limit back from the cgroup in which init is a member.",
	[LAYER_DISK_LIMIT] = "the supervisor watches the size of the upper and of removed files, and no single file can exceed the limit (RLIMIT_FSIZE read back).",
	[LAYER_TIME_LIMIT] = "the supervisor measures the time from the release of the payload.",
};
/* clang-format on */

#define N_CHECKS ARRAY_SIZE(check_texts)

static void layer_id(enum layer l, char id[64])
{
	(void)snprintf(id, 64, "LAYER-%s", layer_info(l)->name);
}

static int explain_layer(enum layer l, char **ret, struct fault *f)
{
	const struct layer_info *info = layer_info(l);
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_printf(&b,
		      "Layer '%s': %s.\nNeeds: %s.\nProof: %s\nSwitched off by \"dangerous\": [\"no-%s\"] in "
		      "a profile.",
		      info->name, info->what, info->needs, layer_proofs[l], info->name);
	*ret = strbuf_take(&b);
	return *ret ? 0 : fault_errno(f, ENOMEM, "explain");
}

static int refuse(const char *id, struct fault *f)
{
	char ids[_LAYER_MAX][64];
	const char *words[N_CHECKS + _LAYER_MAX + 1] = { NULL };
	_cleanup_free_ char *shown = str_escape(id);
	size_t n = 0;
	int at;

	for (size_t i = 0; i < N_CHECKS; i++)
		words[n++] = check_texts[i].id;
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		layer_id((enum layer)l, ids[l]);
		for (char *c = ids[l]; *c; c++)
			if (*c >= 'a' && *c <= 'z')
				*c = (char)(*c - 'a' + 'A');
		words[n++] = ids[l];
	}
	at = str_nearest(id, words);
	if (at >= 0)
		return fault_set(f, ENOENT, "no check '%s'; did you mean '%s'?", shown ? shown : "?",
				 words[at]);
	return fault_set(f, ENOENT, "no check '%s'; 'custody doctor' lists them", shown ? shown : "?");
}

int doctor_explain(const char *id, char **ret, struct fault *f)
{
	for (size_t i = 0; i < N_CHECKS; i++) {
		if (strcasecmp(check_texts[i].id, id) != 0)
			continue;
		*ret = strdup(check_texts[i].text);
		return *ret ? 0 : fault_errno(f, ENOMEM, "explain");
	}
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		char name[64];

		layer_id((enum layer)l, name);
		if (strcasecmp(name, id) == 0)
			return explain_layer((enum layer)l, ret, f);
	}
	return refuse(id, f);
}
