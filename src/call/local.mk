# call: custody-call, which sends one tool call from inside (no libc)
# Linked with no library, as custody-init: it runs in roots that have none, and is started once per call.
pkglibexec_PROGRAMS += custody-call
custody_call_SOURCES = src/call/call-main.c src/call/call-reply.c src/call/call-reply.h \
	src/init/init-line.c src/init/init-rt.c src/init/init-rt.h
custody_call_CPPFLAGS = $(AM_CPPFLAGS) -DNDEBUG
custody_call_CFLAGS = $(static_cflags) -ffreestanding $(INIT_CFLAGS)
custody_call_LDFLAGS = $(HARDEN_LDFLAGS) -static -nostdlib -Wl,--strip-debug
custody_call_LDADD =
