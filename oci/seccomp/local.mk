# oci/seccomp: the filter: table, generator, compiled programs
liboci_a_SOURCES += \
	oci/seccomp/seccomp-describe.c oci/seccomp/seccomp-describe.h \
	oci/seccomp/seccomp-filter.c oci/seccomp/seccomp-filter.h \
	oci/seccomp/seccomp-program.h \
	oci/seccomp/seccomp-table.c oci/seccomp/seccomp-table.h \
	oci/seccomp/seccomp-trace.c oci/seccomp/seccomp-trace.h \
	oci/seccomp/seccomp.c oci/seccomp/seccomp.h
nodist_liboci_a_SOURCES = oci/seccomp/seccomp-program.c

# The filter's programs are compiled while custody is built, by libseccomp on the machine that it is built for.
seccomp_filter = \
	oci/seccomp/seccomp-describe.c oci/seccomp/seccomp-describe.h \
	oci/seccomp/seccomp-filter.c oci/seccomp/seccomp-filter.h \
	oci/seccomp/seccomp-table.c oci/seccomp/seccomp-table.h \
	src/trace/trace-call.c src/trace/trace-call.h
noinst_PROGRAMS += oci/seccomp/seccomp-gen
oci_seccomp_seccomp_gen_SOURCES = oci/seccomp/seccomp-gen.c oci/seccomp/seccomp-program.h $(seccomp_filter)
oci_seccomp_seccomp_gen_LDADD = libbase.a $(DEP_LIBS)
oci/seccomp/seccomp-program.c: oci/seccomp/seccomp-gen$(EXEEXT)
	$(AM_V_GEN)$(EMULATOR) oci/seccomp/seccomp-gen$(EXEEXT) >$@.tmp && mv $@.tmp $@
CLEANFILES += oci/seccomp/seccomp-program.c
