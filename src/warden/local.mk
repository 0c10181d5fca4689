# warden: supervision of one run.  Uses core and base.
noinst_LIBRARIES += libwarden.a
libwarden_a_SOURCES = \
	src/warden/exit-reason.h \
	src/warden/init-proto.h \
	src/warden/proof.c src/warden/proof.h

# custody-init, PID 1 inside.  Linked with no library at all: src/warden/init-rt.h says why.
pkglibexec_PROGRAMS += custody-init
init_parsers = src/warden/init-facts.c src/warden/init-facts.h src/warden/init-line.c
custody_init_SOURCES = $(init_parsers) \
	src/core/layer.c \
	src/warden/init-dir.c src/warden/init-dir.h \
	src/warden/init-main.c \
	src/warden/init-options.c src/warden/init-options.h \
	src/warden/init-payload.c src/warden/init-payload.h \
	src/warden/init-prove.c src/warden/init-prove.h \
	src/warden/init-prove-mounts.c \
	src/warden/init-prove-namespaces.c \
	src/warden/init-prove-process.c \
	src/warden/init-pty.c src/warden/init-pty.h \
	src/warden/init-reap.c src/warden/init-reap.h \
	src/warden/init-rt.c src/warden/init-rt.h
custody_init_CPPFLAGS = $(AM_CPPFLAGS) -DNDEBUG
custody_init_CFLAGS = $(static_cflags) -ffreestanding $(INIT_CFLAGS)
custody_init_LDFLAGS = $(HARDEN_LDFLAGS) -static -nostdlib -no-pie
custody_init_LDADD =
