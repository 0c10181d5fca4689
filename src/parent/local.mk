# parent: custody-parent, the parent of an engine's process until its status is recorded (no libc)
# Linked with no library, as custody-init: there is one for each container and each command, as long as they run.
pkglibexec_PROGRAMS += custody-parent
custody_parent_SOURCES = src/parent/parent-main.c src/parent/parent-proto.h \
	src/init/init-line.c src/init/init-rt.c src/init/init-rt.h
custody_parent_CPPFLAGS = $(AM_CPPFLAGS) -DNDEBUG
custody_parent_CFLAGS = $(static_cflags) -ffreestanding $(INIT_CFLAGS)
custody_parent_LDFLAGS = $(HARDEN_LDFLAGS) -static -nostdlib -Wl,--strip-debug
custody_parent_LDADD =
