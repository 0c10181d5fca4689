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
	  "Whose signature counts in this lane, and whether their private keys are within reach of the caller's uid.  A process of\n"
	  "that uid outside of a sandbox can use a key that lies here, for level B; level C also needs the PIN.  docs/THREATS.md,\n"
	  "\"Same uid\", says which set-up protects from whom." },
	{ "APPROVAL-PIN",
	  "Level C is approved with a key that only a PIN unwraps.  There is no default PIN: 'custody pin set' makes one." },
	{ "APPROVAL-TERMINAL",
	  "With the ioctl TIOCSTI a process can put letters into the input of its own terminal, so also the answer to a question.\n"
	  "Sandboxes have a terminal of their own and a filter without that call.  For processes outside of them the kernel can\n"
	  "switch it off since Linux 6.2: sysctl dev.tty.legacy_tiocsti=0." },
	{ "CONFIG-FILE",
	  "What holds for all runs stands in /etc/custody/custody.json (the admin's) and, for users, in\n"
	  "~/.config/custody/custody.json, which may add and tighten.  A file with a mistake, or one that others may write,\n"
	  "stops everything: rules that cannot be read are not rules that allow.  custody.json(5) has the keys." },
	{ "CONFIG-OVERRIDE",
	  "A value of custody.json that something replaced: a variable of the environment (CUSTODY_LANE,\n"
	  "CUSTODY_SANDBOX_ENABLED, CUSTODY_SANDBOX_RETENTION_PATH), or the user's file over the admin's.  Both values and\n"
	  "both sources are shown; doctor --json has all keys with theirs." },
	{ "CONFIG-UNUSED",
	  "Keys of capabilities that this version does not have yet: they are checked like all others, and nothing reads them." },
	{ "CONFIG-SECRET",
	  "With the digest key anybody can try values of variables against the digest of a subject.  The file that holds it\n"
	  "should be readable only by those who run custody: chmod o-r, and a group for them." },
	{ "STATE-SANDBOX",
	  "State of lane sandbox: its files `version` and `lane` must say what this custody expects.  It is disposable: with\n"
	  "no session running it may be moved away, the next run makes a new one." },
	{ "STATE-PROD",
	  "State of lane prod: its files `version` and `lane` must say what this custody expects.  It is not disposable: a\n"
	  "layout that this version does not know needs the custody that wrote it." },
	{ "STATE-OLD",
	  "Sessions, grants, reports, audit peers or pointers that lie beside the lanes come from a layout without lanes.\n"
	  "Nothing reads them.  custody migrate shows where they belong, custody migrate --apply moves them." },
	{ "HOST-KERNEL",
	  "custody needs Linux 5.11 (overlay in a user namespace) and, as root, 5.19 (idmapped lower layers of an overlay).\n"
	  "Older kernels run the profiles whose workspace is not an overlay." },
	{ "HOST-USERNS",
	  "Every run has a user namespace: root inside is an unprivileged id outside.  A kernel can switch them off for users:\n"
	  "sysctl user.max_user_namespaces (0), kernel.unprivileged_userns_clone (0, Debian's old patch),\n"
	  "kernel.apparmor_restrict_unprivileged_userns (1, Ubuntu: a program needs an AppArmor profile that allows 'userns').\n"
	  "An administrator changes them with: sysctl -w NAME=VALUE, and in /etc/sysctl.d to keep it." },
	{ "HOST-OVERLAY",
	  "The default workspace is a kernel overlay: the payload writes to a layer on top, the original is never written.\n"
	  "It needs CONFIG_OVERLAY_FS and, because it is mounted inside a user namespace, Linux 5.11.\n"
	  "Without it use a profile with workspace.mode ro, rw or tmpfs, or with workspace.overlay fuse." },
	{ "HOST-IDMAP",
	  "As root each run gets ids of its own, and the worktree is shown through an idmapped mount so that its owner is root\n"
	  "inside.  File systems learned that one by one: ext4, xfs, vfat 5.12, btrfs 5.15, tmpfs 6.3; overlayfs cannot.\n"
	  "Move the worktree to one of them, or run custody as the worktree's owner instead of as root." },
	{ "HOST-UPPERDIR",
	  "An overlay's upper layer must lie on a file system with extended attributes and whiteouts.  The root of another\n"
	  "container is itself an overlay and cannot hold one, nor can NFS, CIFS, FAT or FUSE.  Mount a volume or a tmpfs\n"
	  "on custody's state directory, move it with CUSTODY_ROOT, or use a profile with workspace.overlay fuse." },
	{ "HOST-PROC",
	  "A run mounts a /proc of its own.  The kernel refuses that in a user namespace where the /proc that is there is\n"
	  "partly covered, as in most containers: what is hidden must not come back.  Start the outer container with an\n"
	  "uncovered /proc (podman: --security-opt unmask=/proc/*, docker: --security-opt systempaths=unconfined)." },
	{ "HOST-SECCOMP",
	  "The system call filter needs CONFIG_SECCOMP_FILTER and the action SECCOMP_RET_ERRNO (Linux 3.5)." },
	{ "HOST-PIDFD",
	  "The supervisor waits for and signals processes by descriptor, never by a number that could have been given to\n"
	  "somebody else: pidfd_open, Linux 5.3." },
	{ "HOST-CGROUP-MEMORY",
	  "The memory limit is a cgroup's.  As root custody makes one on v1, v2 and mixed hosts.  A user needs one that was\n"
	  "delegated; with systemd: systemd-run --user --scope -p Delegate=yes -- custody run ...\n"
	  "A profile can call the limit optional (enforce.optional), then runs go on without it and say so." },
	{ "HOST-CGROUP-PIDS",
	  "The limit on processes is a cgroup's; see HOST-CGROUP-MEMORY for how a user gets one." },
	{ "HOST-CGROUP-CPU",
	  "The limit on processor time is a cgroup's; see HOST-CGROUP-MEMORY for how a user gets one.\n"
	  "systemd delegates memory and pids to users by default but not cpu: a drop-in for user@.service with\n"
	  "Delegate=cpu memory pids changes that." },
	{ "HOST-SUBUID",
	  "Without root a run has one id: root inside is you.  Files that it writes are yours, and other processes of yours are\n"
	  "protected from it by the namespaces only.  Ranges in /etc/subuid are not used yet; docs/THREATS.md says what one\n"
	  "id means." },
	{ "HOST-FUSE-OVERLAYFS",
	  "fuse-overlayfs makes the overlay where the kernel cannot: a kernel before 5.11 without root, or a state directory on\n"
	  "a file system that cannot hold an upper layer.  custody starts it only where a profile says \"workspace\":\n"
	  "{\"overlay\": \"fuse\"}, never by itself.  It needs /usr/bin/fuse-overlayfs (apt install fuse-overlayfs) and a\n"
	  "/dev/fuse that the caller may open.  docs/design/overlay-fuse.md says what it costs." },
	{ "HOST-LIBCRUN",
	  "custody links libcrun statically, so its version is custody's own.  Below 1.27 the user of `exec` is parsed too\n"
	  "generously (CVE-2026-30892): custody writes numeric ids itself and has no exec of its own.  Below 1.28 a symlink\n"
	  "below /dev of an image is followed (CVE-2026-47766): custody never hands an image's /dev to libcrun; /dev is\n"
	  "always a fresh tmpfs, and a root directory is shown entry by entry on a skeleton of custody's own.\n"
	  "A bundle that other runtimes run depends on their version, not on this one." },
	{ "HOST-LEDGER",
	  "The record of what ran, a chain with a seal that knows how it ends.  'custody ledger verify' says whether it was\n"
	  "changed; docs/design/ledger.md says what a lost seal or removed records mean and how to go on." },
	{ "HOST-EVIDENCE",
	  "Evidence for a store that is no local file system is taken into STATE/staging and brought to the store by a process\n"
	  "that nobody waits for: a share that hangs, is full or away costs no run anything and loses nothing.  What waits is\n"
	  "tried again at every start, by 'custody recover' and by 'custody evidence deliver'.  A store that was a share and is\n"
	  "not mounted any more is not written to: --local says that it is meant to be on this disk now." },
	{ "HOST-AUDIT-PEER",
	  "Places outside this machine's reach that get each checkpoint of the ledger (STATE/audit_peer).  Only they can notice a\n"
	  "disk that was rolled back as a whole.  A peer may lag and loses nothing: 'custody ledger checkpoint' sends what waits." },
	{ "HOST-CANARY",
	  "doctor starts a real container, the way `custody run` does, with a program that tries what must not work: mount,\n"
	  "ptrace, reach the network, read /etc/shadow, load a module and so on.  Each LAYER-* line is what that layer\n"
	  "stopped.  Where the container cannot be started this check repeats the reason." },
	{ "ENGINE-PODMAN-INSTALLED",
	  "Is there a program 'podman' in PATH?  The other checks read podman's files all the same." },
	{ "ENGINE-PODMAN-RUNTIME",
	  "podman finds a runtime by its name in the table [engine.runtimes] and executes the first path listed there that\n"
	  "exists.  It reads /usr/share/containers/containers.conf, /etc/containers/containers.conf with the files\n"
	  "/etc/containers/containers.conf.d/*.conf, and for users both below ~/.config/containers; what comes later wins.\n"
	  "CONTAINERS_CONF=FILE replaces them all." },
	{ "ENGINE-PODMAN-JSON",
	  "podman asks a runtime for its errors in JSON only if runtime_supports_json in [engine] names it.  Without it a\n"
	  "container that cannot start fails without a reason.  The list of a later file replaces that of an earlier one." },
	{ "ENGINE-PODMAN-NOCGROUP",
	  "podman refuses --cgroups=disabled with a runtime that runtime_supports_nocgroup in [engine] does not name.  The\n"
	  "manual page writes the key with an s at the end; the one that podman reads has none." },
	{ "ENGINE-DOCKER-INSTALLED",
	  "Is there a program 'dockerd' in PATH or a directory of daemons?  The other check reads docker's file all the same." },
	{ "ENGINE-DOCKER-RUNTIME",
	  "docker finds a runtime by its name under \"runtimes\" in /etc/docker/daemon.json (rootless: in\n"
	  "~/.config/docker/daemon.json) and executes its \"path\".  The check looks for an entry whose path ends in\n"
	  "custody-runtime and is an executable file; the name is yours to choose: docker run --runtime NAME." },
	{ "ENGINE-CONTAINERD-INSTALLED",
	  "Is there a program 'containerd' in PATH or a directory of daemons?  The other checks read its file all the same." },
	{ "ENGINE-CONTAINERD-RUNTIME",
	  "containerd's CRI plug-in finds a runtime in a table ...containerd.runtimes.NAME of /etc/containerd/config.toml or of\n"
	  "a file that it imports.  Its shim executes BinaryName of the table's options.  NAME is the handler of a RuntimeClass." },
	{ "ENGINE-CONTAINERD-DEFAULT",
	  "containerd 1.6 forgets its built-in runtimes as soon as one is configured.  Unless the default one (runc, or what\n"
	  "default_runtime_name says) is listed too, its CRI plug-in does not load and no pod starts." },
	{ "ENGINE-CONTAINERD-CRI",
	  "Some packages ship containerd with disabled_plugins = [\"cri\"], because docker does not need that plug-in.  The\n"
	  "runtimes of config.toml are then read by nobody; ctr and nerdctl name the runtime on their command line." },
};

/* How each layer is proven: one sentence, beside what layer_info says. */
static const char *const layer_proofs[_LAYER_MAX] = {
	[LAYER_USER_NS] = "init reads its uid_map and sees that the host's root has no number inside; the namespace differs from the caller's.",
	[LAYER_PID_NS] = "init is process 1, kill(-1, 0) finds nobody, /proc/self is 1.",
	[LAYER_MOUNT_NS] = "the namespace differs from the caller's and no mount is shared with it.",
	[LAYER_NET_NS] = "the namespace differs from the caller's and connect() to 192.0.2.1 finds no route.",
	[LAYER_IPC_NS] = "the namespace differs from the caller's; the canary cannot attach shared memory of the host.",
	[LAYER_UTS_NS] = "the namespace differs from the caller's; the canary sees another host name.",
	[LAYER_CGROUP_NS] = "the namespace differs from the caller's and every path in /proc/self/cgroup is '/'.",
	[LAYER_ROOT] = "every mount that the profile did not make writable is read-only, all are nosuid and nodev, and creating files in / and /usr fails with EROFS.",
	[LAYER_MASKS] = "files of /proc such as kcore and keys are covered, /proc/sys and sysrq-trigger are read-only mounts.",
	[LAYER_DEVICES] = "/dev is a tmpfs of its own that holds only null, zero, full, random, urandom, tty and terminals.",
	[LAYER_WORKTREE] = "the mount at the worktree's place has the type and flags that the profile asks for.",
	[LAYER_CAPABILITIES] = "all five sets in /proc/self/status are empty and a file of mode 000 stays shut to its owner.",
	[LAYER_NO_NEW_PRIVS] = "NoNewPrivs is 1 in /proc/self/status.",
	[LAYER_SECCOMP] = "Seccomp is 2 in /proc/self/status and a forbidden call gets the filter's answer, not the kernel's.",
	[LAYER_SESSION] = "init leads its session, /dev/tty cannot be opened, no descriptor is a terminal of the host.",
	[LAYER_DESCRIPTORS] = "/proc/self/fd holds stdin, stdout, stderr and init's own socket, and none of them is a directory.",
	[LAYER_ENVIRONMENT] = "the names of all variables are exactly those that the subject lists.",
	[LAYER_MEMORY_LIMIT] = "the supervisor reads the limit back from the cgroup in which init is a member.",
	[LAYER_PIDS_LIMIT] = "the supervisor reads the limit back from the cgroup in which init is a member.",
	[LAYER_CPU_LIMIT] = "the supervisor reads the limit back from the cgroup in which init is a member.",
	[LAYER_DISK_LIMIT] = "the supervisor watches the layer, and no single file may pass the limit (RLIMIT_FSIZE read back).",
	[LAYER_TIME_LIMIT] = "the supervisor's own clock, from the release of the payload on.",
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
