# cgroup: cgroup v1/v2/hybrid of one session, OOM notifications
libcore_a_SOURCES += \
	src/cgroup/cgroup-end.c \
	src/cgroup/cgroup-file.c src/cgroup/cgroup-file.h \
	src/cgroup/cgroup-host.c src/cgroup/cgroup-host.h \
	src/cgroup/cgroup-limit.c \
	src/cgroup/cgroup-place.c src/cgroup/cgroup-place.h \
	src/cgroup/cgroup-sweep.c \
	src/cgroup/cgroup.c src/cgroup/cgroup.h \
	src/cgroup/oom-watch.c src/cgroup/oom-watch.h
