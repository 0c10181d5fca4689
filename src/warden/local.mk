# warden: supervision of one run.  Uses core and base.
noinst_LIBRARIES += libwarden.a
libwarden_a_SOURCES = \
	src/warden/exit-reason.h \
	src/warden/init-proto.h

# custody-init, PID 1 inside:
#	pkglibexec_PROGRAMS += custody-init
#	custody_init_SOURCES = src/warden/init-main.c ...
#	custody_init_CFLAGS = $(static_cflags)
#	custody_init_LDFLAGS = $(static_ldflags)
#	custody_init_LDADD =
