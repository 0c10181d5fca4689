/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdint.h>

#include "base/exit-status.h"
#include "layer/layer.h"

/*
 * Words between custody-init (inside, PID 1) and its supervisor, over one SOCK_SEQPACKET pair whose inner end is
 * descriptor 3 and is closed on exec.  Both sides are the same build: fixed structs, magic checked.
 *
 *	init -> REPORT (facts; with a terminal the pty's master rides along as SCM_RIGHTS)
 *	     <- GO, or the socket closes: nothing is executed and init exits
 *	     -> EXECED, or EXEC_FAILED with errno (init_exec_status() gives 126 or 127)
 *	     -> EXITED with the payload's wait status, once the payload ended and every other process was killed
 *	     <- SIGNAL n: forwarded to the payload's process group, at any time after EXECED
 *
 * End of file on the supervisor's side at any time means the supervisor is gone: init kills all and exits.
 *
 * Command line, written by oci/bundle/bundle.c: INIT_PATH [OPTION]... -- COMMAND [ARG]...
 *
 *	--report	own run: report on descriptor 3 and wait for GO; the supervisor decides what is missing
 *	--tty		own run: make a pty of the container's devpts for the payload
 *	--require=L,L	foreign runtime (no --report): init itself refuses unless these layers hold; limits cannot
 *			be named, nothing inside shows them
 *	--work=PATH:M	the worktree's mount; M is overlay, overlay-fuse, ro, rw or tmpfs
 *	--tmpfs=PATH	may be repeated: a tmpfs that may be written (/tmp ...)
 *	--rw=PATH	may be repeated: any other mount that may be written.  Every writable mount that is neither
 *			named by these three nor below /proc or /dev is a missing layer `read-only-root`
 *	--hide=PATH	may be repeated: a path that must not be seen; a mask like those of /proc
 *	--env=N,N	names of the environment's variables, all of them; without it `environment` is not proven
 *	--plain-root	"/" need not be nosuid and nodev: portable bundles and rootless runs, where the runtime
 *			binds a directory and nobody could mount it so; also without a user namespace
 *	--seccomp-kills	the filter kills instead of answering: init tries a forbidden call in a child, not itself
 *	--time=S:GRACE	foreign runtime: TERM after S seconds, KILL after GRACE more, status 124 (own runs: the
 *			supervisor keeps the time)
 *
 * Status of init: the payload's (128 + signal), 126 and 127, or 125 when nothing was executed.
 */
#define INIT_PROTO_MAGIC 0x43555354u /* "CUST" */
#define INIT_FD 3

enum init_msg_type {
	INIT_MSG_REPORT = 1,
	INIT_MSG_GO,
	INIT_MSG_EXECED,
	INIT_MSG_EXEC_FAILED,
	INIT_MSG_EXITED,
	INIT_MSG_SIGNAL,
};

/* One fact per layer: what init saw and what the kernel answered to the forbidden try. */
struct init_proof {
	uint8_t holds;	 /* 1: as it should be, seen and tried */
	int32_t err;	 /* errno of the try that was refused, 0 where only reading proves */
	char detail[96]; /* for people: "Seccomp: 0", "CapEff 000001ffffffffff" */
};

struct init_msg {
	uint32_t magic;
	uint32_t type;
	int32_t value;	/* EXEC_FAILED: errno; EXITED: wait status; SIGNAL: number */
	uint64_t ns[8]; /* REPORT: inode numbers of init's namespaces, by enum init_ns */
	struct init_proof proof[_LAYER_MAX];
};

/* Index into `ns`; the order of the message, of /proc/self/ns names in init and of the supervisor's own list. */
enum init_ns {
	INIT_NS_USER,
	INIT_NS_PID,
	INIT_NS_MNT,
	INIT_NS_NET,
	INIT_NS_IPC,
	INIT_NS_UTS,
	INIT_NS_CGROUP,
	INIT_NS_TIME,
	_INIT_NS_MAX,
};

/* The shell's convention for a command that could not be executed. */
static inline int init_exec_status(int err)
{
	return err == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}
