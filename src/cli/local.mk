# cli: the program `custody`.  The only room that knows both oci and the rest.
bin_PROGRAMS += custody
custody_SOURCES = \
	src/cli/command.c src/cli/command.h \
	src/cli/main.c
custody_LDFLAGS = $(prog_ldflags) $(oci_ldflags)
custody_LDADD = libwarden.a liboci.a libcore.a libbase.a $(oci_libs) $(PROG_LIBS)
