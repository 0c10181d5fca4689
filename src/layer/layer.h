/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * The layers of confinement. One name each, used in profiles (`enforce.optional`, `dangerous: ["no-NAME"]`),
 * in custody-init's report, in the result's `layers`, and in doctor's ids. A layer is requested by the
 * subject and proven from inside by custody-init (or, for limits, by the supervisor reading the kernel's
 * files); if it is missing, the run is refused and the layer named.
 */
enum layer {
	LAYER_USER_NS,
	LAYER_PID_NS,
	LAYER_MOUNT_NS,
	LAYER_NET_NS,
	LAYER_IPC_NS,
	LAYER_UTS_NS,
	LAYER_CGROUP_NS,
	LAYER_ROOT,	/* root and every host path in it read-only, nosuid, nodev; no homes of the host */
	LAYER_MASKS,	/* /proc/kcore, sysrq-trigger, keys ... hidden or read-only */
	LAYER_DEVICES,	/* private /dev: only the harmless nodes, mknod refused */
	LAYER_WORKTREE, /* mounted as the profile requires (overlay, ro, rw, tmpfs) */
	LAYER_CAPABILITIES, /* all five sets empty */
	LAYER_NO_NEW_PRIVS,
	LAYER_SECCOMP,
	LAYER_SESSION,	   /* own session; no terminal of the host */
	LAYER_DESCRIPTORS, /* only stdio is inherited */
	LAYER_ENVIRONMENT, /* exactly the variables that the subject lists */
	LAYER_CWD,	   /* starts in the requested directory, inside the root */
	LAYER_PROCESS, /* rows of layer/inherit-table.h that no other layer proves: umask, priorities ... */
	LAYER_MEMORY_LIMIT,
	LAYER_PIDS_LIMIT,
	LAYER_CPU_LIMIT,
	LAYER_DISK_LIMIT,
	LAYER_TIME_LIMIT,
	_LAYER_MAX,
};

#define LAYER_BIT(l) (UINT32_C(1) << (l))

/* Description of one layer, for doctor, refusals and documents. */
struct layer_info {
	const char *name;  /* "user-namespace" */
	const char *needs; /* capability or kernel feature */
	const char *what;  /* one line: its effect */
};

const struct layer_info *layer_info(enum layer l);
int layer_from_name(const char *name); /* enum layer, or -1 */

enum layer_state {
	LAYER_STATE_REFUSED, /* requested and missing: nothing is executed */
	LAYER_STATE_PROVEN,
	LAYER_STATE_PROVEN_AFTER_START,
	LAYER_STATE_OPTIONAL_MISSING,
	LAYER_STATE_NOT_ASKED, /* off in the profile, under `dangerous`; not listed in results */
};
/* "proven", "proven-after-start", "refused", "optional-missing" */
const char *layer_state_name(enum layer_state s);
