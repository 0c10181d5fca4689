# oci/engine: containers of podman, docker and containerd: merge, subject, facts, gate
# With the part of oci/seccomp that it needs: custody-runtime-systemd does not link liboci.a.
libengine_a_SOURCES += \
	oci/engine/engine-annotation.c oci/engine/engine-annotation.h \
	oci/engine/engine-broker.c oci/engine/engine-broker.h \
	oci/engine/engine-broker-files.c oci/engine/engine-broker-files.h \
	oci/engine/engine-change.c oci/engine/engine-change.h \
	oci/engine/engine-cpuset.c \
	oci/engine/engine-device.c oci/engine/engine-device.h \
	oci/engine/engine-doc.c \
	oci/engine/engine-docker.c oci/engine/engine-docker.h \
	oci/engine/engine-document.c oci/engine/engine-document.h \
	oci/engine/engine-end.c oci/engine/engine-end.h \
	oci/engine/engine-exec.c oci/engine/engine-exec.h \
	oci/engine/engine-exec-basis.c oci/engine/engine-exec-basis.h \
	oci/engine/engine-exec-cgroup.c oci/engine/engine-exec-cgroup.h \
	oci/engine/engine-exec-document.c oci/engine/engine-exec-document.h \
	oci/engine/engine-exec-merge.c oci/engine/engine-exec-merge.h \
	oci/engine/engine-exec-probe.c oci/engine/engine-exec-probe.h \
	oci/engine/engine-facts.c oci/engine/engine-facts.h \
	oci/engine/engine-field.c oci/engine/engine-field.h \
	oci/engine/engine-filesystem.c oci/engine/engine-filesystem.h \
	oci/engine/engine-gate.c oci/engine/engine-gate.h oci/engine/engine-gate-impl.h \
	oci/engine/engine-gate-broker.c \
	oci/engine/engine-gate-profile.c \
	oci/engine/engine-hook.c oci/engine/engine-hook.h \
	oci/engine/engine-image.c oci/engine/engine-image.h \
	oci/engine/engine-impl.h \
	oci/engine/engine-layer.c oci/engine/engine-layer.h \
	oci/engine/engine-limit.c oci/engine/engine-limit.h oci/engine/engine-limit-impl.h \
	oci/engine/engine-limit-clamp.c oci/engine/engine-limit-couple.c oci/engine/engine-limit-list.c \
	oci/engine/engine-limit-normal.c \
	oci/engine/engine-made.c oci/engine/engine-made.h \
	oci/engine/engine-merge-process.c \
	oci/engine/engine-mount.c oci/engine/engine-mount.h \
	oci/engine/engine-namespace.c oci/engine/engine-namespace.h \
	oci/engine/engine-noise.c oci/engine/engine-noise.h \
	oci/engine/engine-own-dirs.c \
	oci/engine/engine-pause.c oci/engine/engine-pause.h \
	oci/engine/engine-pin.c oci/engine/engine-pin.h \
	oci/engine/engine-place.c oci/engine/engine-place.h \
	oci/engine/engine-pod.c oci/engine/engine-pod.h \
	oci/engine/engine-profile.c \
	oci/engine/engine-program.c \
	oci/engine/engine-record.c oci/engine/engine-record.h \
	oci/engine/engine-resource.c \
	oci/engine/engine-seccomp-args.c oci/engine/engine-seccomp-args.h \
	oci/engine/engine-seccomp-call.c oci/engine/engine-seccomp-call.h \
	oci/engine/engine-seccomp.c \
	oci/engine/engine-sign.c oci/engine/engine-sign.h \
	oci/engine/engine-size.c oci/engine/engine-size.h \
	oci/engine/engine-slurm.c oci/engine/engine-slurm.h \
	oci/engine/engine-start.c oci/engine/engine-start.h \
	oci/engine/engine-supervise.c \
	oci/engine/engine-sysctl.c oci/engine/engine-sysctl.h \
	oci/engine/engine-unified.c \
	oci/engine/engine-update.c oci/engine/engine-update.h \
	oci/engine/engine-upper.c oci/engine/engine-upper.h \
	oci/engine/engine.c oci/engine/engine.h \
	$(seccomp_filter)
