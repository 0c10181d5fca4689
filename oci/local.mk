# oci: bundle, libcrun adapter, hooks.  Uses base and core; the only room that sees libcrun.
noinst_LIBRARIES += liboci.a
liboci_a_SOURCES =
liboci_a_SOURCES += oci/libcrun-adapter.c oci/libcrun-adapter.h oci/libcrun-wrap.c oci/libcrun.h oci/systemd-stub.c
liboci_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCRUN_CPPFLAGS)

# What a program that contains the adapter links after liboci.a, and the linker flags it needs.
oci_libs = $(LIBCRUN_A)
oci_ldflags = -Wl,--wrap=ensure_cloned_binary,--wrap=getpwuid_r,--wrap=libcrun_get_cgroup_mode

# custody-hook: pkglibexec_PROGRAMS += custody-hook, with static_cflags and static_ldflags as custody-init has.
