/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/seccomp/seccomp-table.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* clang-format off */
const char *const seccomp_allowed[] = {
	/* files by name */
	"access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat", "statx", "readlink", "readlinkat",
	"mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat",
	"symlink", "symlinkat", "chown", "lchown", "fchownat", "truncate", "utime", "utimes", "futimesat", "utimensat",
	"statfs", "getcwd", "chdir",
	"setxattr", "lsetxattr", "getxattr", "lgetxattr", "listxattr", "llistxattr", "removexattr", "lremovexattr",
	"inotify_add_watch",
	/* files by descriptor */
	"read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2",
	"close", "close_range", "fstat", "fstatfs", "lseek", "dup", "dup2", "dup3", "fcntl", "flock", "fsync", "fdatasync",
	"sync", "syncfs", "sync_file_range", "sync_file_range2", "ftruncate", "fallocate", "fadvise64", "readahead",
	"getdents", "getdents64", "fchdir", "fchown", "fsetxattr", "fgetxattr", "flistxattr", "fremovexattr",
	"copy_file_range", "sendfile", "splice", "tee", "vmsplice", "umask", "memfd_create", "memfd_secret",
	"io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents",
	"inotify_init", "inotify_init1", "inotify_rm_watch",
	/* waiting */
	"poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
	"epoll_pwait2", "epoll_ctl_old", "epoll_wait_old", "eventfd", "eventfd2", "signalfd", "signalfd4",
	"timerfd_create", "timerfd_settime", "timerfd_gettime", "pipe", "pipe2", "pause",
	/* memory */
	"brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "process_madvise", "msync", "mincore", "mlock", "mlock2",
	"munlock", "mlockall", "munlockall", "remap_file_pages", "get_mempolicy", "membarrier", "map_shadow_stack", "mseal",
	"pkey_alloc", "pkey_free", "pkey_mprotect",
	/* processes */
	"fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "waitpid",
	"getpid", "getppid", "gettid", "getpgid", "getpgrp", "setpgid", "getsid", "setsid",
	"kill", "tkill", "tgkill", "pidfd_open", "pidfd_send_signal", "process_mrelease",
	"prctl", "arch_prctl", "set_tid_address", "set_thread_area", "get_thread_area", "set_robust_list", "get_robust_list",
	"rseq", "seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	"futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "restart_syscall",
	"getrlimit", "setrlimit", "getrusage", "getpriority", "ioprio_get",
	"sched_yield", "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler",
	"sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "getcpu",
	/* identity: without capabilities these can only fail or do nothing */
	"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "setuid", "setgid", "setreuid",
	"setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capget", "capset",
	/* signals */
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait",
	"rt_sigqueueinfo", "rt_tgsigqueueinfo", "sigaltstack", "sigreturn", "signal",
	/* time */
	"time", "times", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "alarm",
	"getitimer", "setitimer", "timer_create", "timer_delete", "timer_settime", "timer_gettime", "timer_getoverrun",
	/* sockets; socket() decides which families are allowed */
	"connect", "accept", "accept4", "bind", "listen", "shutdown", "getsockname", "getpeername", "getsockopt",
	"setsockopt", "send", "sendto", "sendmsg", "sendmmsg", "recv", "recvfrom", "recvmsg", "recvmmsg",
	/* shared memory, semaphores, queues: of the container's own ipc namespace */
	"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv",
	"msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr", "ipc",
	/* the rest */
	"uname", "sysinfo", "getrandom", "riscv_flush_icache", "riscv_hwprobe",
	NULL,
};

const char *const seccomp_denied[] = {
	/* mounts and roots */
	"mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
	"pivot_root", "chroot", "quotactl", "quotactl_fd", "swapon", "swapoff",
	/* namespaces (clone: see the rules; clone3 is not listed, its flags are in memory) */
	"unshare", "setns",
	/* other processes, also through their files */
	"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "perf_event_open", "userfaultfd",
	/* the kernel itself */
	"bpf", "init_module", "finit_module", "delete_module", "create_module", "query_module", "get_kernel_syms",
	"kexec_load", "kexec_file_load", "reboot", "syslog", "acct", "vhangup", "iopl", "ioperm", "modify_ldt",
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	"fanotify_init", "fanotify_mark", "lookup_dcookie", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl",
	/* keyrings belong to the user, not to the container */
	"add_key", "request_key", "keyctl",
	/* handles reach files outside every mount */
	"name_to_handle_at", "open_by_handle_at",
	/* clock and names of the host */
	"settimeofday", "stime", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
	/* memory placement of other processes */
	"mbind", "set_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages",
	"vm86", "vm86old", "s390_pci_mmio_read", "s390_pci_mmio_write", "s390_runtime_instr", "spu_create", "spu_run",
	NULL,
};

/* A filter cannot read their arguments: they are in memory. */
const char *const seccomp_unfilterable[] = { "openat2", "fchmodat2", NULL };

#ifdef __s390x__
#define CLONE_FLAGS_ARG 1
#else
#define CLONE_FLAGS_ARG 0
#endif
#define NAMESPACE_FLAGS \
	((uint64_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET))

/* The kernel uses the lower 32 bits only; a filter that compares all 64 bits can be bypassed. */
#define LOWER UINT64_C(0xffffffff)
#define SETID ((uint64_t)(S_ISUID | S_ISGID))
#define CREATING ((uint64_t)(O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))

#define EQ(call, v, n, value_) { .name = call, .verdict = v, .op = SECCOMP_EQ, .arg = n, .value = value_ }
#define MASK(call, v, n, m, value_) { .name = call, .verdict = v, .op = SECCOMP_MASK, .arg = n, .mask = m, .value = value_ }
#define CLONE_BIT(bit) MASK("clone", SECCOMP_DENY, CLONE_FLAGS_ARG, (uint64_t)(bit), (uint64_t)(bit))
#define ELSE(call, v) { .name = call, .verdict = v, .op = SECCOMP_ELSE, .arg = SECCOMP_ELSE_ARG }
#define PLAIN_MODE(call, n) \
	{ .name = call, .verdict = SECCOMP_ALLOW, .op = SECCOMP_MASK, .arg = n, .mask = SETID, .no_setid = true }
#define NOT_CREATING(call, n) \
	{ .name = call, .verdict = SECCOMP_ALLOW, .op = SECCOMP_MASK, .arg = n, .mask = CREATING, .no_setid = true }
/*
 * Argument 0 is any process but init.  A mask on argument 0 allows no "else": a number that is neither 0 nor 1 has one of
 * the bits 1 to 21 (a pid is less than 2^22), others name no process.
 */
#define OTHER(call, bit) MASK(call, SECCOMP_ALLOW, 0, UINT64_C(1) << (bit), UINT64_C(1) << (bit))
#define NOT_INIT(call) \
	MASK(call, SECCOMP_ALLOW, 0, LOWER, 0), MASK(call, SECCOMP_DENY, 0, LOWER, 1), \
	OTHER(call, 1), OTHER(call, 2), OTHER(call, 3), OTHER(call, 4), OTHER(call, 5), OTHER(call, 6), OTHER(call, 7), \
	OTHER(call, 8), OTHER(call, 9), OTHER(call, 10), OTHER(call, 11), OTHER(call, 12), OTHER(call, 13), OTHER(call, 14), \
	OTHER(call, 15), OTHER(call, 16), OTHER(call, 17), OTHER(call, 18), OTHER(call, 19), OTHER(call, 20), OTHER(call, 21)
#define ELSE_SETID(call) \
	{ .name = call, .verdict = SECCOMP_DENY, .op = SECCOMP_ELSE, .arg = SECCOMP_ELSE_ARG, .no_setid = true }

const struct seccomp_rule seccomp_rules[] = {
	MASK("clone", SECCOMP_ALLOW, CLONE_FLAGS_ARG, NAMESPACE_FLAGS, 0),
	CLONE_BIT(CLONE_NEWNS), CLONE_BIT(CLONE_NEWCGROUP), CLONE_BIT(CLONE_NEWUTS), CLONE_BIT(CLONE_NEWIPC),
	CLONE_BIT(CLONE_NEWUSER), CLONE_BIT(CLONE_NEWPID), CLONE_BIT(CLONE_NEWNET),

	EQ("socket", SECCOMP_ALLOW, 0, AF_UNIX),
	EQ("socket", SECCOMP_ALLOW, 0, AF_INET),
	EQ("socket", SECCOMP_ALLOW, 0, AF_INET6),
	EQ("socket", SECCOMP_ALLOW, 0, AF_NETLINK),
	ELSE("socket", SECCOMP_NO_FAMILY),
	EQ("socketpair", SECCOMP_ALLOW, 0, AF_UNIX),
	ELSE("socketpair", SECCOMP_NO_FAMILY),

	/* PER_LINUX, PER_LINUX32, UNAME26, and 0xffffffff, which only queries. */
	EQ("personality", SECCOMP_ALLOW, 0, 0),
	EQ("personality", SECCOMP_ALLOW, 0, 8),
	EQ("personality", SECCOMP_ALLOW, 0, 0x20000),
	EQ("personality", SECCOMP_ALLOW, 0, 0x20008),
	EQ("personality", SECCOMP_ALLOW, 0, 0xffffffff),
	ELSE("personality", SECCOMP_DENY),

	/* Both insert input into a terminal. */
	MASK("ioctl", SECCOMP_DENY, 1, LOWER, TIOCSTI),
	MASK("ioctl", SECCOMP_DENY, 1, LOWER, TIOCLINUX),
	ELSE("ioctl", SECCOMP_ALLOW),

	/* Own limits, and reading those of another process.  Setting those of init could take its descriptors away. */
	EQ("prlimit64", SECCOMP_ALLOW, 0, 0),
	EQ("prlimit64", SECCOMP_ALLOW, 2, 0),
	ELSE("prlimit64", SECCOMP_DENY),

	/*
	 * Init has the id of the command, which could keep it from running, and with it its clock and even its death.
	 * A process group 1 is init's as well, and so are all processes of a user.
	 */
	NOT_INIT("sched_setscheduler"),
	NOT_INIT("sched_setattr"),
	NOT_INIT("sched_setparam"),
	NOT_INIT("sched_setaffinity"),
	MASK("setpriority", SECCOMP_DENY, 1, LOWER, 1),
	EQ("setpriority", SECCOMP_ALLOW, 0, PRIO_PROCESS),
	EQ("setpriority", SECCOMP_ALLOW, 0, PRIO_PGRP),
	ELSE("setpriority", SECCOMP_DENY),
	MASK("ioprio_set", SECCOMP_DENY, 1, LOWER, 1),
	EQ("ioprio_set", SECCOMP_ALLOW, 0, IOPRIO_WHO_PROCESS),
	EQ("ioprio_set", SECCOMP_ALLOW, 0, IOPRIO_WHO_PGRP),
	ELSE("ioprio_set", SECCOMP_DENY),

	/* A writable tree of the host: no file in it may become set-id, whatever its owner. */
	PLAIN_MODE("chmod", 1), ELSE_SETID("chmod"),
	PLAIN_MODE("fchmod", 1), ELSE_SETID("fchmod"),
	PLAIN_MODE("fchmodat", 2), ELSE_SETID("fchmodat"),
	PLAIN_MODE("creat", 1), ELSE_SETID("creat"),
	NOT_CREATING("open", 1), PLAIN_MODE("open", 2), ELSE_SETID("open"),
	NOT_CREATING("openat", 2), PLAIN_MODE("openat", 3), ELSE_SETID("openat"),
	PLAIN_MODE("mknod", 1), ELSE_SETID("mknod"),
	PLAIN_MODE("mknodat", 2), ELSE_SETID("mknodat"),
	{ 0 },
};
/* clang-format on */
