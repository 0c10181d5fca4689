# warden: supervision; custody-warden
libcore_a_SOURCES += \
	src/warden/container-asked.c src/warden/container-asked.h \
	src/warden/container-compare.c src/warden/container-compare.h \
	src/warden/container-compare-mounts.c src/warden/container-compare-process.c \
	src/warden/container-facts.c src/warden/container-facts.h \
	src/warden/container-facts-mounts.c src/warden/container-facts-process.c \
	src/warden/container-prove.c src/warden/container-prove.h \
	src/warden/container-text.c \
	src/warden/creator.c src/warden/creator.h \
	src/warden/disk-unlinked.c \
	src/warden/disk-watch.c src/warden/disk-watch.h \
	src/warden/filter-record.c src/warden/filter-record.h \
	src/warden/full-watch.c src/warden/full-watch.h \
	src/warden/inode-set.c src/warden/inode-set.h \
	src/warden/output-log.c src/warden/output-log.h \
	src/warden/output-tail.c src/warden/output-tail.h \
	src/warden/parent-status.c src/warden/parent-status.h \
	src/warden/pump.c src/warden/pump.h \
	src/warden/stdio-relay.c src/warden/stdio-relay.h \
	src/warden/warden-end.c \
	src/warden/warden-exec.c \
	src/warden/warden-init.c \
	src/warden/warden-join.c src/warden/warden-join.h \
	src/warden/warden-side.c \
	src/warden/warden-signals.c \
	src/warden/warden-state.h \
	src/warden/warden-stop.c \
	src/warden/warden-terminal.c \
	src/warden/warden.c src/warden/warden.h

# custody-warden: supervises a container that another runtime runs.  Static: it is started once per container.
pkglibexec_PROGRAMS += custody-warden
custody_warden_SOURCES = src/warden/warden-main.c \
	src/warden/container-broker.c src/warden/container-broker.h \
	src/warden/container-call.c src/warden/container-call.h \
	src/warden/container-engine.c src/warden/container-engine.h \
	src/warden/container-exec.c src/warden/container-exec.h \
	src/warden/container-end.c src/warden/container-watch.c src/warden/container-watch.h \
	src/warden/container-sweep.c src/warden/container-sweep.h \
	src/warden/container-gate.c src/warden/container-gate.h \
	src/warden/container-layers.c src/warden/container-layers.h \
	src/warden/container-unasked.c src/warden/container-unasked.h \
	src/warden/warden-exit.c src/warden/warden-exit.h \
	src/warden/warden-protect.c src/warden/warden-protect.h \
	src/warden/warden-backup.c src/warden/warden-backup.h $(nettle_cpuid)
custody_warden_LDFLAGS = $(prog_ldflags) $(nettle_wraps)
custody_warden_LDADD = libcore.a libbase.a $(PROG_LIBS)
