# cgroup: cgroup v1/v2/hybrid of one session, OOM notifications
libcore_a_SOURCES += \
	src/cgroup/cgroup-end.c \
	src/cgroup/cgroup-file.c src/cgroup/cgroup-file.h \
	src/cgroup/cgroup-host.c src/cgroup/cgroup-host.h \
	src/cgroup/cgroup-leave.c src/cgroup/cgroup-leave.h \
	src/cgroup/cgroup-limit.c \
	src/cgroup/cgroup-place.c src/cgroup/cgroup-place.h \
	src/cgroup/cgroup-sweep.c \
	src/cgroup/cgroup.c src/cgroup/cgroup.h \
	src/cgroup/oom-watch.c src/cgroup/oom-watch.h \
	src/cgroup/pids-watch.c src/cgroup/pids-watch.h \
	src/cgroup/scope-proto.h \
	src/cgroup/scope.c src/cgroup/scope.h

# custody-scope: asks the user's systemd for a scope.  Dynamic: no static libsystemd exists, and only an ordinary user's run on a host
# with systemd starts it.
if SYSTEMD
pkglibexec_PROGRAMS += custody-scope
custody_scope_SOURCES = src/cgroup/scope-main.c src/cgroup/scope-proto.h src/cgroup/sd-bus.h
custody_scope_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SAN_FLAGS)
custody_scope_LDADD = $(SYSTEMD_LIBS)
endif
