/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <pwd.h>

#include "oci/libcrun/libcrun.h"

/*
 * Functions that the linker replaces in custody and custody-runtime (--wrap, see local.mk): libcrun calls __wrap_NAME, and
 * __real_NAME is the function itself.  m4/libcrun.m4 has the list of those that the archive must define and call.
 */
#define WRAPPED(type, name, ...)         \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)
/* The first declaration is libcrun's: contrib/libcrun-verify.sh compiles it with that of libcrun's header. */
#define WRAPPED_LIBCRUN(type, name, ...) \
	type name(__VA_ARGS__);          \
	WRAPPED(type, name, __VA_ARGS__)

WRAPPED(int, fchown, int fd, uid_t uid, gid_t gid);
WRAPPED(int, chdir, const char *path);
WRAPPED(int, openat, int dirfd, const char *path, int flags, ...);
WRAPPED(int, umount2, const char *target, int flags);
WRAPPED(int, mount, const char *source, const char *target, const char *type, unsigned long flags,
	const void *data);
WRAPPED(long, syscall, long number, ...);
WRAPPED(pid_t, waitpid, pid_t pid, int *status, int options);
WRAPPED(int, getpwuid_r, uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret);

WRAPPED_LIBCRUN(int, ensure_cloned_binary, void);
WRAPPED_LIBCRUN(int, libcrun_get_cgroup_mode, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, run_process, char **args, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, base64_decode, const char *text, size_t len, char *ret, size_t size, size_t *ret_len);
WRAPPED_LIBCRUN(int, libcrun_set_sysctl, struct libcrun_container_s *container, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, libcrun_reopen_dev_null, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, libcrun_do_pivot_root, struct libcrun_container_s *container, bool no_pivot,
		const char *rootfs, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, libcrun_join_process, JOIN_PARAMETERS);
WRAPPED_LIBCRUN(int, run_process_with_stdin_timeout_envp, HOOK_PARAMETERS);
WRAPPED_LIBCRUN(int, safe_openat, int dirfd, ROOT_PARAMETERS, const char *path, int flags, int mode,
		libcrun_error_t *err);
WRAPPED_LIBCRUN(int, crun_safe_create_and_open_ref_at, bool dir, int dirfd, ROOT_PARAMETERS, const char *path,
		int mode, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, libcrun_open_seccomp_bpf, struct libcrun_seccomp_gen_ctx_s *ctx, int *fd,
		libcrun_error_t *err);
WRAPPED_LIBCRUN(int, libcrun_generate_seccomp, struct libcrun_seccomp_gen_ctx_s *ctx, libcrun_error_t *err);
WRAPPED_LIBCRUN(int, write_file_at_with_flags, int dirfd, int flags, mode_t mode, const char *name,
		const void *data, size_t len, libcrun_error_t *err);
#ifdef LIBCRUN_HAS_WRITE_FILE_WITH_FLAGS
WRAPPED_LIBCRUN(int, write_file_with_flags, const char *name, int flags, const void *data, size_t len,
		libcrun_error_t *err);
#endif
WRAPPED_LIBCRUN(int, libcrun_cgroup_is_container_paused, struct libcrun_cgroup_status *status, bool *paused,
		libcrun_error_t *err);
