# warden: supervision of one run.  Uses core and base.
noinst_LIBRARIES += libwarden.a
libwarden_a_SOURCES = \
	src/warden/cgroup.c src/warden/cgroup.h \
	src/warden/cgroup-end.c \
	src/warden/cgroup-file.c src/warden/cgroup-file.h \
	src/warden/cgroup-host.c src/warden/cgroup-host.h \
	src/warden/cgroup-limit.c \
	src/warden/cgroup-place.c src/warden/cgroup-place.h \
	src/warden/cgroup-sweep.c \
	src/warden/container-orphan.c src/warden/container-orphan.h \
	src/warden/creator.c src/warden/creator.h \
	src/warden/disk.c src/warden/disk-nameless.c src/warden/disk.h \
	src/warden/exit-reason.c src/warden/exit-reason.h src/warden/forensics.c src/warden/forensics.h \
	src/warden/init-proto.h \
	src/warden/oom-watch.c src/warden/oom-watch.h \
	src/warden/pidfd-end.c src/warden/pidfd-end.h \
	src/warden/proof.c src/warden/proof.h \
	src/warden/output-log.c src/warden/output-log.h \
	src/warden/pump.c src/warden/pump.h \
	src/warden/stop-signal.h \
	src/warden/result.c src/warden/result.h \
	src/warden/stdio.c src/warden/stdio.h \
	src/warden/tail.c src/warden/tail.h \
	src/warden/terminal.c src/warden/terminal.h \
	src/warden/warden.c src/warden/warden.h \
	src/warden/warden-end.c \
	src/warden/warden-init.c \
	src/warden/warden-state.h

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
# Without what only debuggers read: each bundle has a copy, and each start compares it.
custody_init_LDFLAGS = $(HARDEN_LDFLAGS) -static -nostdlib -Wl,--strip-debug
custody_init_LDADD =

# custody-canary: what `custody doctor` runs in a container of its own.  Static, because any root must be able to run it.
pkglibexec_PROGRAMS += custody-canary
custody_canary_SOURCES = \
	src/base/str.c src/base/strbuf.c \
	src/core/layer.c \
	src/warden/canary.h \
	src/warden/canary-calls.c \
	src/warden/canary-main.c \
	src/warden/canary-names.c \
	src/warden/canary-places.c
custody_canary_CFLAGS = $(static_cflags)
custody_canary_LDFLAGS = $(static_ldflags)
custody_canary_LDADD =

# custody-warden: stands beside a container that another runtime runs.  Static: it is started once per container.
pkglibexec_PROGRAMS += custody-warden
custody_warden_SOURCES = src/warden/warden-main.c src/warden/warden-exit.c src/warden/warden-exit.h \
	src/warden/warden-keeper.c src/warden/warden-keeper.h $(nettle_cpuid)
custody_warden_LDFLAGS = $(prog_ldflags) $(nettle_wraps)
custody_warden_LDADD = libwarden.a libcore.a libbase.a $(PROG_LIBS)

# custody-capture: a worktree as one file, and back.  Dynamic: libarchive has no static form in Debian, and it is started only
# for a share that is slow.
pkglibexec_PROGRAMS += custody-capture
custody_capture_SOURCES = src/warden/capture-main.c src/core/pack-proto.h
custody_capture_CPPFLAGS = $(AM_CPPFLAGS) $(LIBARCHIVE_CFLAGS)
custody_capture_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS)
custody_capture_LDADD = $(LIBARCHIVE_LIBS)
