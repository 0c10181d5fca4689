# base: no policy: fault fd path str json digest sign clock log process walk tree-at
libbase_a_SOURCES += \
	src/base/array.h \
	src/base/call-filter.c src/base/call-filter.h \
	src/base/cleanup.h \
	src/base/clock.c src/base/clock.h \
	src/base/digest-two.c src/base/digest-two.h \
	src/base/digest.c src/base/digest.h \
	src/base/dir.h \
	src/base/disk-usage.c src/base/disk-usage.h \
	src/base/exit-status.h \
	src/base/fault.c src/base/fault.h \
	src/base/fd-replace.c \
	src/base/fd-sanitize.c \
	src/base/fd.c src/base/fd.h \
	src/base/hostname.c src/base/hostname.h \
	src/base/id-map-write.c src/base/id-map-write.h \
	src/base/id-map.c src/base/id-map.h \
	src/base/json-explain.c \
	src/base/json-map.c src/base/json-map.h \
	src/base/json-parse.c \
	src/base/json-span.c src/base/json-span.h \
	src/base/json-text.c src/base/json-text.h \
	src/base/json-tree.h \
	src/base/json-write.c \
	src/base/json.c src/base/json.h \
	src/base/local-time.c src/base/local-time.h \
	src/base/log.c src/base/log.h \
	src/base/net-address.c src/base/net-address.h \
	src/base/new-mount.c src/base/new-mount.h \
	src/base/option.c src/base/option.h \
	src/base/path-open.c \
	src/base/path-remove-wide.c \
	src/base/path-remove.c \
	src/base/path.c src/base/path.h \
	src/base/pidfd-status.c src/base/pidfd-status.h \
	src/base/place.c src/base/place.h \
	src/base/process-children.c src/base/process-children.h \
	src/base/process-detach.c src/base/process-detach.h \
	src/base/process-keeper.c src/base/process-keeper.h \
	src/base/process-pages.c src/base/process-pages.h \
	src/base/process.c src/base/process.h \
	src/base/seam.c src/base/seam.h \
	src/base/sign.c src/base/sign.h \
	src/base/str.c src/base/str.h \
	src/base/strbuf.c \
	src/base/strv.c \
	src/base/sys-call.h \
	src/base/tree-at.c src/base/tree-at.h \
	src/base/trusted-path.c src/base/trusted-path.h \
	src/base/userns.c src/base/userns.h \
	src/base/unit-text.c src/base/unit-text.h \
	src/base/walk.c src/base/walk.h \
	src/base/write-access.c src/base/write-access.h
