# custody-runtime: the OCI runtime that engines call.  Static, because it is started three times per container;
# custody-runtime-systemd is the same program with libsystemd, executed when a container's cgroups are systemd's.
bin_PROGRAMS += custody-runtime
noinst_LIBRARIES += libruntime.a
libruntime_a_SOURCES = \
	oci/jspan.c oci/jspan.h \
	oci/libcrun-guard.h \
	oci/libcrun-verbs.c oci/libcrun-verbs.h \
	oci/runtime-cache.c oci/runtime-cache.h \
	oci/runtime-config.c oci/runtime-config.h \
	oci/runtime-control.c \
	oci/runtime-create.c \
	oci/runtime-exec.c \
	oci/runtime-features.c \
	oci/runtime-guard.c oci/runtime-guard.h \
	oci/runtime-job.c \
	oci/runtime-log.c oci/runtime-log.h \
	oci/runtime-options.c oci/runtime-options.h \
	oci/runtime-process.c oci/runtime-process.h \
	oci/runtime-query.c \
	oci/runtime-record.c oci/runtime-record.h \
	oci/runtime-root.c oci/runtime-root.h \
	oci/runtime-update.c \
	oci/runtime-verbs.h
libruntime_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCRUN_CPPFLAGS)
# What libcrun calls back into cannot wait in an archive that comes before libcrun.
runtime_sources = oci/runtime-main.c oci/libcrun-runtime.c oci/libcrun-seccomp.c
custody_runtime_SOURCES = $(runtime_sources) oci/runtime-systemd-no.c
custody_runtime_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCRUN_CPPFLAGS)
# Its own wraps, in libcrun-runtime.c and libcrun-seccomp.c; libcrun-wrap.c, which has those of custody run, must stay out.
runtime_wraps = -Wl,--wrap=ensure_cloned_binary,--wrap=getpwuid_r,--wrap=libcrun_get_cgroup_mode \
	-Wl,--wrap=libcrun_generate_seccomp
custody_runtime_LDFLAGS = $(prog_ldflags) $(runtime_wraps)
custody_runtime_LDADD = libruntime.a liboci.a libbase.a $(oci_libs) $(PROG_LIBS)

if SYSTEMD
pkglibexec_PROGRAMS += custody-runtime-systemd
custody_runtime_systemd_SOURCES = $(runtime_sources) oci/runtime-systemd-yes.c
custody_runtime_systemd_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCRUN_CPPFLAGS)
custody_runtime_systemd_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SAN_FLAGS) $(runtime_wraps)
# Not liboci.a: it has the stubs of what libsystemd has.
custody_runtime_systemd_LDADD = libruntime.a libbase.a $(LIBCRUN_A) $(MIXED_LIBS) $(SYSTEMD_LIBS)
endif
