# doctor: checks of the host; custody-canary
librun_a_SOURCES += \
	src/doctor/doctor-approval.c \
	src/doctor/doctor-canary.c src/doctor/doctor-canary.h \
	src/doctor/doctor-cgroup.c \
	src/doctor/doctor-config.c \
	src/doctor/doctor-containerd.c \
	src/doctor/doctor-decoy.c src/doctor/doctor-decoy.h \
	src/doctor/doctor-docker.c \
	src/doctor/doctor-engine-exec.c \
	src/doctor/doctor-engine-profile.c \
	src/doctor/doctor-engine-status.c \
	src/doctor/doctor-engine.c src/doctor/doctor-engine.h \
	src/doctor/doctor-evidence.c \
	src/doctor/doctor-explain.c \
	src/doctor/doctor-files.c \
	src/doctor/doctor-libcrun.c \
	src/doctor/doctor-host.h \
	src/doctor/doctor-kernel.c \
	src/doctor/doctor-layers.c \
	src/doctor/doctor-ledger.c \
	src/doctor/doctor-podman.c \
	src/doctor/doctor-probe.c src/doctor/doctor-probe.h \
	src/doctor/doctor.c src/doctor/doctor.h \
	src/doctor/toml-lines.c src/doctor/toml-lines.h

# custody-canary: the payload that `custody doctor` runs in a container.  Static, because any root must be able to run it.
pkglibexec_PROGRAMS += custody-canary
custody_canary_SOURCES = \
	src/base/str.c src/base/strbuf.c \
	src/layer/inherit-check.c src/layer/inherit-table.c \
	src/layer/layer.c \
	src/doctor/canary.h \
	src/doctor/canary-calls.c \
	src/doctor/canary-inherit.c \
	src/doctor/canary-main.c \
	src/doctor/canary-names.c \
	src/doctor/canary-places.c
custody_canary_CFLAGS = $(static_cflags)
custody_canary_LDFLAGS = $(static_ldflags)
custody_canary_LDADD =
