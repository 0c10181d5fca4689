# oci/libcrun: the only room that sees libcrun
# In both archives: custody-runtime-systemd does not link liboci.a.
libcrun_common = \
	oci/libcrun/libcrun-confine.h \
	oci/libcrun/libcrun-guard.c oci/libcrun/libcrun-guard.h \
	oci/libcrun/libcrun-hold.h \
	oci/libcrun/libcrun-passwd.c oci/libcrun/libcrun-passwd.h \
	oci/libcrun/libcrun-target.h

# libcrun calls into these; both programs wrap the same symbols (confine_wraps).
libcrun_confine = oci/libcrun/libcrun-confine.c oci/libcrun/libcrun-filter.c oci/libcrun/libcrun-hold.c \
	oci/libcrun/libcrun-hook.c oci/libcrun/libcrun-target.c
confine_wraps = -Wl,--wrap=fchown,--wrap=chdir,--wrap=openat,--wrap=run_process_with_stdin_timeout_envp \
	-Wl,--wrap=libcrun_reopen_dev_null,--wrap=libcrun_do_pivot_root,--wrap=libcrun_join_process \
	-Wl,--wrap=safe_openat,--wrap=crun_safe_create_and_open_ref_at,--wrap=umount2,--wrap=libcrun_open_seccomp_bpf

liboci_a_SOURCES += \
	$(libcrun_confine) \
	oci/libcrun/libcrun-adapter.c oci/libcrun/libcrun-adapter.h \
	$(libcrun_common) \
	oci/libcrun/libcrun-base64.c \
	oci/libcrun/libcrun-counters.c oci/libcrun/libcrun-counters.h \
	oci/libcrun/libcrun-ids.c oci/libcrun/libcrun-ids.h \
	oci/libcrun/libcrun-source.c oci/libcrun/libcrun-source.h \
	oci/libcrun/libcrun-wrap.c \
	oci/libcrun/libcrun.h oci/libcrun/libcrun-types.h oci/libcrun/libcrun-wrap.h \
	oci/libcrun/libcrun-1.8.1.h oci/libcrun/libcrun-1.21.h oci/libcrun/libcrun-1.28.h \
	oci/libcrun/systemd-notify.c \
	oci/libcrun/systemd-stub.c

# What a program that contains the adapter links after liboci.a, and the linker flags it needs.
# Twice: libcrun calls back into the wraps and the systemd symbols.
oci_libs = $(LIBCRUN_A) liboci.a libbase.a $(LIBCRUN_LIBS)
oci_ldflags = -Wl,--wrap=ensure_cloned_binary,--wrap=getpwuid_r,--wrap=libcrun_get_cgroup_mode,--wrap=run_process \
	-Wl,--wrap=mount,--wrap=syscall,--wrap=libcrun_set_sysctl,--wrap=base64_decode $(confine_wraps)

# The part that custody-runtime alone needs.
libruntime_a_SOURCES += \
	$(libcrun_common) \
	oci/libcrun/runtime-call.c oci/libcrun/runtime-call.h \
	oci/libcrun/unified-dir.c oci/libcrun/unified-dir.h \
	oci/libcrun/seccomp-cache.c oci/libcrun/seccomp-cache.h
# libcrun calls into these: an archive that comes before libcrun would not be searched again.
runtime_callbacks = oci/libcrun/libcrun-wrap-runtime.c oci/libcrun/libcrun-seccomp.c $(libcrun_confine)
