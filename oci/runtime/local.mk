# oci/runtime: custody-runtime
libruntime_a_SOURCES += \
	oci/runtime/runtime-apart.c oci/runtime/runtime-apart.h \
	oci/runtime/runtime-config.c oci/runtime/runtime-config.h \
	oci/runtime/runtime-control.c \
	oci/runtime/runtime-create.c \
	oci/runtime/runtime-exec.c \
	oci/runtime/runtime-features.c \
	oci/runtime/runtime-govern.c oci/runtime/runtime-govern.h \
	oci/runtime/runtime-guard.c oci/runtime/runtime-guard.h \
	oci/runtime/runtime-hold.c oci/runtime/runtime-hold.h \
	oci/runtime/runtime-job.c \
	oci/runtime/runtime-labels.c oci/runtime/runtime-labels.h \
	oci/runtime/runtime-log.c oci/runtime/runtime-log.h \
	oci/runtime/runtime-mounts.c oci/runtime/runtime-mounts.h \
	oci/runtime/runtime-namespace.c oci/runtime/runtime-namespace.h \
	oci/runtime/runtime-parent.c oci/runtime/runtime-parent.h \
	oci/runtime/runtime-options.c oci/runtime/runtime-options.h \
	oci/runtime/runtime-process.c oci/runtime/runtime-process.h \
	oci/runtime/runtime-query.c \
	oci/runtime/runtime-record.c oci/runtime/runtime-record.h \
	oci/runtime/runtime-root.c oci/runtime/runtime-root.h \
	oci/runtime/runtime-rootfs.c oci/runtime/runtime-rootfs.h \
	oci/runtime/runtime-schema.c oci/runtime/runtime-schema.h \
	oci/runtime/runtime-signal.c oci/runtime/runtime-signal.h \
	oci/runtime/runtime-types.c oci/runtime/runtime-types.h \
	oci/runtime/runtime-update.c \
	oci/runtime/runtime-verbs.h \
	oci/runtime/runtime-version.c oci/runtime/runtime-version.h

# Static, because it is started three times per container; custody-runtime-systemd is the same program with libsystemd,
# executed when a container's cgroups are systemd's.
bin_PROGRAMS += custody-runtime
runtime_sources = oci/runtime/runtime-main.c $(runtime_callbacks) $(nettle_cpuid)
custody_runtime_SOURCES = $(runtime_sources) oci/runtime/runtime-systemd-no.c
# Its own wraps, in libcrun-wrap-runtime.c and libcrun-seccomp.c; libcrun-wrap.c, which has those of custody run, must stay out.
runtime_wraps = -Wl,--wrap=ensure_cloned_binary,--wrap=getpwuid_r,--wrap=libcrun_get_cgroup_mode \
	-Wl,--wrap=libcrun_generate_seccomp,--wrap=write_file_at_with_flags,--wrap=write_file_with_flags \
	-Wl,--wrap=libcrun_cgroup_is_container_paused -Wl,--wrap=waitpid $(confine_wraps) $(nettle_wraps)
custody_runtime_LDFLAGS = $(prog_ldflags) $(runtime_wraps)
custody_runtime_LDADD = libruntime.a libengine.a libcore.a liboci.a libbase.a $(oci_libs) $(PROG_LIBS)

if SYSTEMD
pkglibexec_PROGRAMS += custody-runtime-systemd
custody_runtime_systemd_SOURCES = $(runtime_sources) oci/runtime/runtime-systemd-yes.c
custody_runtime_systemd_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SAN_FLAGS) $(runtime_wraps)
# Not liboci.a: it has the stubs of what libsystemd has.
custody_runtime_systemd_LDADD = libruntime.a libengine.a libcore.a libbase.a $(LIBCRUN_A) $(LIBCRUN_MIXED_LIBS) $(MIXED_LIBS) $(SYSTEMD_LIBS)
endif
