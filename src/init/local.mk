# init: custody-init, PID 1 inside (no libc)
# Linked with no library at all: src/init/init-rt.h says why.
pkglibexec_PROGRAMS += custody-init
init_parsers = src/init/init-facts.c src/init/init-facts.h src/init/init-facts-net.c src/init/init-line.c src/init/init-request.c src/init/init-request.h
custody_init_SOURCES = $(init_parsers) \
	src/layer/inherit-check.c src/layer/inherit-table.c \
	src/layer/layer.c \
	src/init/init-cwd.c \
	src/init/init-dir.c src/init/init-dir.h \
	src/init/init-exec.c src/init/init-exec.h \
	src/init/init-gate.c src/init/init-gate.h \
	src/init/init-inherit.c \
	src/init/init-main.c \
	src/init/init-network.c src/init/init-network.h \
	src/init/init-options.c src/init/init-options.h \
	src/init/init-payload.c src/init/init-payload.h \
	src/init/init-prove.c src/init/init-prove.h \
	src/init/init-prove-mounts.c \
	src/init/init-prove-namespaces.c \
	src/init/init-prove-process.c \
	src/init/init-pty.c src/init/init-pty.h \
	src/init/init-reap.c src/init/init-reap.h \
	src/init/init-release.c src/init/init-release.h \
	src/init/init-rt.c src/init/init-rt.h \
	src/init/init-trace.c src/init/init-trace.h
custody_init_CPPFLAGS = $(AM_CPPFLAGS) -DNDEBUG
custody_init_CFLAGS = $(static_cflags) -ffreestanding $(INIT_CFLAGS)
# Stripped of debug sections: each bundle has a copy, and each start compares it.
custody_init_LDFLAGS = $(HARDEN_LDFLAGS) -static -nostdlib -Wl,--strip-debug
custody_init_LDADD =
