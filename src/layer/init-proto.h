/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdint.h>

#include "base/exit-status.h"
#include "layer/layer.h"

/*
 * Messages between custody-init (inside, PID 1) and its supervisor, over one SOCK_SEQPACKET pair whose inner
 * end is descriptor 3 and is closed on exec. Both sides are the same build: fixed structs, magic checked.
 *
 *	     <- FILTER with a descriptor, with --trace: the filter that asks the observer, as struct sock_filter
 *	init -> NETWORK with the write end of a pipe, with --egress: the supervisor joins the network namespace, prepares it and
 *		binds its listeners, and writes one byte; after end of file nothing is executed
 *	init -> LISTENER with the filter's descriptor, once the layers are proven; or with errno, and nothing is executed
 *	init -> REPORT (facts; with a terminal the pty's master is passed as SCM_RIGHTS)
 *	     <- GO, or the socket closes: nothing is executed and init exits
 *	     -> EXECED, or EXEC_FAILED with errno (init_exec_status() gives 126 or 127)
 *	     -> EXITED with the payload's wait status, once the payload exited and every other process was killed
 *	     <- SIGNAL n: forwarded to the payload's process group, at any time after EXECED
 *
 *	     <- EXEC with INIT_EXEC_FDS descriptors, at any time after EXECED: a further command
 *
 * End of file at any time means that the supervisor has exited: init kills all processes and exits.
 *
 * For EXEC, init forks: the child inherits every layer from a process that has proven them.  The descriptors are the
 * child's own socket, whose other end `custody exec` holds, a file with struct init_exec_request, and the command's stdio.
 * The child becomes the descriptors' only owner and speaks the protocol above on its socket: it proves the layers again,
 * reports, waits for GO, executes, and kills every process below it before it sends EXITED or after end of file.  If init
 * cannot fork, it sends EXEC_FAILED there itself.  docs/design/exec.md.
 *
 * A bundle under another runtime has no such descriptor.  init connects to the gate, a socket whose listening end
 * custody-warden holds, and the warden accepts no other process than the container's first:
 *
 *	init -> READY, once every required layer is proven
 *	     <- GO: the grant is consumed and the start recorded, both on the disk; or REFUSED with the reason.  After
 *		end of file, or without an answer for INIT_GATE_S, nothing is executed either
 *
 * The warden removes the socket's name when init has connected, and both close the connection before the command runs.
 *
 * Command line, written by oci/bundle/bundle.c: INIT_PATH [OPTION]... -- COMMAND [ARG]...
 *
 *	--report	own run: report on descriptor 3 and wait for GO; the supervisor compares
 *	--tty=FDS	own run: open a pty of the container's devpts for the payload, for those of its descriptors
 *			that FDS names by their digits, such as 02; the others stay as they are
 *	--require=L,L	other runtime (no --report): init itself refuses unless these layers are proven; limits
 *			cannot be named, they are not visible from inside
 *	--gate		other runtime: connect to the gate first, and execute nothing without its GO
 *	--work=PATH:M	the worktree's mount; M is overlay, overlay-fuse, ro, rw or tmpfs
 *	--tmpfs=PATH	may be repeated: a tmpfs that may be written (/tmp ...)
 *	--rw=PATH	may be repeated: any other mount that may be written.  Every writable mount that is neither
 *			named by these three nor below /proc or /dev is a missing layer `read-only-root`
 *	--cwd=PATH	working directory of the command, which init enters itself; without it `working-directory` is
 *			not proven and the command starts where the runtime started init
 *	--uid-map=M	own run: /proc/self/uid_map must be exactly M, "INSIDE:OUTSIDE:COUNT,..."; --gid-map=M too
 *	--files=N	required RLIMIT_NOFILE; --file-size=N: required RLIMIT_FSIZE
 *	--tree=PATH	may be repeated: a read-only directory that must be an overlay, as the worktree in mode ro
 *	--hide=PATH	may be repeated: a path that must be hidden; a mask like those of /proc
 *	--env=N,N	names of the environment's variables, all of them; without it `environment` is not proven
 *	--plain-root	"/" need not be nosuid and nodev: portable bundles, and runs without root that use
 *			fuse-overlayfs, where the runtime binds a directory and does not set these flags
 *	--seccomp-kills	the filter kills instead of returning an error: init tries a forbidden call in a child
 *	--trace		own run: install the supervisor's second filter, on top of the runtime's, before REPORT
 *	--egress	own run with allowed hosts: the network namespace must have the routes of loopback and of
 *			198.18.0.0/15 to this machine, and no other device or route
 *	--time=S:GRACE	other runtime: TERM after S seconds, KILL after GRACE more, status 124 (own runs: the
 *			supervisor keeps the time)
 *
 * Status of init: the payload's (128 + signal), 126 and 127, or 125 if nothing was executed.
 */
#define INIT_PROTO_MAGIC 0x43555354u /* "CUST" */
#define INIT_FD 3

#define INIT_GATE_DIR \
	"/run/custody/gate" /* inside: a read-only file system that holds nothing but the socket */
#define INIT_GATE_NAME "socket"
#define INIT_GATE_PATH INIT_GATE_DIR "/" INIT_GATE_NAME
#define INIT_GATE_S 30 /* how long init waits to be accepted, and then for the answer */

enum init_msg_type {
	INIT_MSG_REPORT = 1,
	INIT_MSG_GO,
	INIT_MSG_EXECED,
	INIT_MSG_EXEC_FAILED,
	INIT_MSG_EXITED,
	INIT_MSG_SIGNAL,
	INIT_MSG_READY,
	INIT_MSG_REFUSED,
	INIT_MSG_EXEC,
	INIT_MSG_FILTER,
	INIT_MSG_LISTENER,
	INIT_MSG_NETWORK,
};

/* Of EXEC, in this order. */
enum init_exec_fd {
	INIT_EXEC_SOCKET,
	INIT_EXEC_REQUEST,
	INIT_EXEC_STDIO,
	INIT_EXEC_FDS = INIT_EXEC_STDIO + 3,
};

/*
 * The file of EXEC.  Behind it: the working directory, the names of all variables separated by commas, the words of the
 * command, the variables; each ends with a NUL byte.
 */
struct init_exec_request {
	uint32_t magic;
	uint32_t tty; /* bit N: the command's descriptor N is a pty; 0: no pty */
	uint32_t n_args, n_env;
};
#define INIT_EXEC_MAX ((size_t)4 * 1024 * 1024)
#define INIT_EXEC_WORDS_MAX 65536 /* words and variables together */

/* Every message at the gate. */
struct init_gate_msg {
	uint32_t magic;
	uint32_t type;
	char text[248]; /* REFUSED: the reason, NUL-terminated */
};

/* One fact per layer: the state that init read, and the kernel's answer to the forbidden call. */
struct init_proof {
	uint8_t holds;	 /* 1: proven, by reading and by a test */
	int32_t err;	 /* errno of the refused call, 0 if only reading proves it */
	char detail[96]; /* for people: "Seccomp: 0", "CapEff 000001ffffffffff" */
};

struct init_msg {
	uint32_t magic;
	uint32_t type;
	int32_t value;	/* EXEC_FAILED, LISTENER: errno; EXITED: wait status; SIGNAL: number */
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

/* The shell's exit status for a command that cannot be executed. */
static inline int init_exec_status(int err)
{
	return err == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}
