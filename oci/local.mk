# oci: bundle, libcrun adapter, hooks.  Uses base and core; the only room that sees libcrun.
noinst_LIBRARIES += liboci.a
liboci_a_SOURCES =
liboci_a_SOURCES += oci/libcrun-adapter.c oci/libcrun-adapter.h oci/libcrun-wrap.c oci/libcrun.h oci/systemd-notify.c oci/systemd-stub.c
liboci_a_SOURCES += oci/bundle.c oci/bundle.h oci/bundle-approve.c oci/bundle-approve.h oci/bundle-args.c oci/bundle-dir.c oci/bundle-dir.h oci/bundle-hooks.c oci/bundle-mount.c oci/bundle-part.h oci/bundle-subject.c oci/bundle-subject.h
liboci_a_SOURCES += oci/jspan.c oci/jspan.h
liboci_a_SOURCES += oci/rootfs.c oci/rootfs-check.c oci/rootfs.h oci/rootfs-etc.c oci/rootfs-etc.h
liboci_a_SOURCES += oci/seccomp.c oci/seccomp.h oci/seccomp-program.h $(seccomp_filter)
nodist_liboci_a_SOURCES = oci/seccomp-program.c
liboci_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCRUN_CPPFLAGS)

# What a program that contains the adapter links after liboci.a, and the linker flags it needs.
# Twice: libcrun calls back into the wraps and the systemd symbols.
oci_libs = $(LIBCRUN_A) liboci.a libbase.a
oci_ldflags = -Wl,--wrap=ensure_cloned_binary,--wrap=getpwuid_r,--wrap=libcrun_get_cgroup_mode,--wrap=run_process

# What runtimes call for a portable bundle; static unless the build is a sanitizer's.
pkglibexec_PROGRAMS += custody-hook
custody_hook_SOURCES = oci/hook-main.c oci/hook.h oci/hook-approve.c oci/hook-approve.h oci/hook-judge.c oci/hook-grant.c oci/hook-admit.c oci/hook-audit.c oci/hook-pid.c oci/hook-say.c oci/hook-warden.c oci/hook-warden.h oci/hook-attach.c oci/hook-attach.h oci/hook-mount.c oci/hook-plan.c oci/hook-plan.h oci/hook-state.c $(nettle_cpuid)
custody_hook_LDFLAGS = $(prog_ldflags) $(nettle_wraps)
custody_hook_LDADD = liboci.a libcore.a libbase.a $(PROG_LIBS)

# The filter's programs are compiled while custody is built, by libseccomp on the machine that it is built for.
seccomp_filter = oci/seccomp-describe.c oci/seccomp-describe.h oci/seccomp-filter.c oci/seccomp-filter.h oci/seccomp-table.c oci/seccomp-table.h
noinst_PROGRAMS += oci/seccomp-gen
oci_seccomp_gen_SOURCES = oci/seccomp-gen.c oci/seccomp-program.h $(seccomp_filter)
oci_seccomp_gen_LDADD = libbase.a $(DEP_LIBS)
oci/seccomp-program.c: oci/seccomp-gen$(EXEEXT)
	$(AM_V_GEN)oci/seccomp-gen$(EXEEXT) >$@.tmp && mv $@.tmp $@
CLEANFILES += oci/seccomp-program.c

include oci/runtime.mk
