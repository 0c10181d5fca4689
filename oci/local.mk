# oci: bundle, libcrun adapter, hooks.  Uses base and core; the only room that sees libcrun.
noinst_LIBRARIES += liboci.a
liboci_a_SOURCES =
liboci_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBCRUN_CPPFLAGS)

# What a program that contains the adapter links after liboci.a, and the linker flags it needs.
oci_libs =
oci_ldflags =

# custody-hook: pkglibexec_PROGRAMS += custody-hook, with static_cflags and static_ldflags as custody-init has.
