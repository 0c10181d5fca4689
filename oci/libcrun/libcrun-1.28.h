/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What differs between versions, as it is in libcrun 1.28: included by libcrun-types.h. */
typedef int libcrun_level; /* 0: an error, 1: a warning */
typedef void (*crun_output_handler)(int errno_, const char *msg, libcrun_level level, void *arg);

#ifndef LIBCRUN_THEIR_STRUCTS
struct libcrun_context_s {
	const char *state_root;
	const char *id;
	const char *bundle;
	const char *console_socket;
	const char *pid_file;
	const char *notify_socket;
	const char *handler;
	int preserve_fds;
	int listen_fds;
	crun_output_handler output_handler;
	void *output_handler_arg;
	int fifo_exec_wait_fd; /* 0 would mean stdin: start with -1 */
	bool systemd_cgroup;
	bool detach;
	bool no_new_keyring;
	bool force_no_cgroup;
	bool no_pivot;
	char **argv;
	int argc;
	struct custom_handler_manager_s *handler_manager;
};

struct libcrun_container_s {
	void *container_def;
	uid_t host_uid;
	gid_t host_gid;
	uid_t container_uid;
	gid_t container_gid;
	char *config_file;
	char *config_file_content; /* the argument of libcrun_container_load_from_memory */
	void *annotations;
	int proc_fd;
	void *private_data;
	void (*cleanup_private_data)(void *private_data);
	struct libcrun_context_s *context;
};

struct libcrun_container_status_s {
	pid_t pid;
	unsigned long long process_start_time;
	char *bundle;
	char *rootfs;
	char *cgroup_path;
	char *scope;
	int systemd_cgroup;
	char *created;
	int detached;
	char *external_descriptors;
	char *owner;
};

struct libcrun_container_exec_options_s {
	size_t struct_size;
	void *process; /* ocispec struct: always NULL here */
	const char *path;
	const char *cgroup;
	bool merge_env;
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct libcrun_context_s) == 120, "libcrun 1.28 context");
_Static_assert(sizeof(void *) != 8 || offsetof(struct libcrun_context_s, fifo_exec_wait_fd) == 80,
	       "libcrun 1.28 context");
_Static_assert(sizeof(void *) != 8 || offsetof(struct libcrun_context_s, argv) == 96, "libcrun 1.28 context");
_Static_assert(sizeof(void *) != 8 || sizeof(struct libcrun_container_s) == 80, "libcrun 1.28 container");
_Static_assert(sizeof(void *) != 8 || offsetof(struct libcrun_container_s, context) == 72,
	       "libcrun 1.28 container");
_Static_assert(sizeof(void *) != 8 || sizeof(struct libcrun_container_status_s) == 88, "libcrun 1.28 status");
_Static_assert(sizeof(void *) != 8 || sizeof(struct libcrun_container_exec_options_s) == 40,
	       "libcrun 1.28 exec options");
#endif

/* Flags of calls that libcrun-confine.c recognises: the target of proc and sysfs; the root's dev, before devices are made. */
#define OPEN_PLAIN_TARGET (O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY)
#define OPEN_DEV (O_CLOEXEC | O_PATH | O_DIRECTORY)

/* A descriptor of the host's /proc that libcrun needs inside, until it closes all before it executes the program. */
#define CONTAINER_PROC_FD(container) ((container)->proc_fd)

/* The path of a container's root, beside its descriptor. */
#define ROOT_PARAMETERS const char *root
#define ROOT_ARGUMENTS(path) (path)
#define JOIN_PARAMETERS                                                                                   \
	struct libcrun_context_s *context, struct libcrun_container_s *container, pid_t pid,              \
		struct libcrun_container_status_s *status, const char *cgroup, int detach, void *process, \
		int *terminal_fd, libcrun_error_t *err
#define JOIN_ARGUMENTS context, container, pid, status, cgroup, detach, process, terminal_fd, err
#define HOOK_PARAMETERS                                                                                    \
	char *path, char **args, const char *cwd, int timeout, char **envp, char *input, size_t input_len, \
		int out_fd, int err_fd, bool cwd_is_optional, libcrun_error_t *err
#define HOOK_ARGUMENTS path, args, cwd, timeout, envp, input, input_len, out_fd, err_fd, cwd_is_optional, err
#define HOOK_CWD_IS_OPTIONAL cwd_is_optional
#define OUTPUT_PARAMETERS crun_output_handler handler, void *arg
#define OUTPUT_ARGUMENTS(handler, arg) (handler), (arg)
