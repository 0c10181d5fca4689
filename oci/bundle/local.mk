# oci/bundle: subject -> config.json, rootfs, bundle on disk and its check
liboci_a_SOURCES += \
	oci/bundle/bundle-args.c \
	oci/bundle/bundle-dir.c oci/bundle/bundle-dir.h \
	oci/bundle/bundle-hooks.c \
	oci/bundle/bundle-impl.h \
	oci/bundle/bundle-mount.c \
	oci/bundle/bundle-operands.c oci/bundle/bundle-operands.h \
	oci/bundle/bundle-subject.c oci/bundle/bundle-subject.h \
	oci/bundle/bundle-verify-impl.h \
	oci/bundle/bundle-verify.c \
	oci/bundle/bundle.c oci/bundle/bundle.h \
	oci/bundle/hook-args.c oci/bundle/hook-args.h \
	oci/bundle/rootfs-check.c \
	oci/bundle/rootfs-etc.c \
	oci/bundle/rootfs-impl.h \
	oci/bundle/rootfs.c oci/bundle/rootfs.h
