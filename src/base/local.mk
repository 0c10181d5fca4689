# base: libc, yajl and nettle only.
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	src/base/cleanup.h \
	src/base/clock.h \
	src/base/digest.h \
	src/base/fault.c src/base/fault.h \
	src/base/fd.c src/base/fd-replace.c src/base/fd-sanitize.c src/base/fd.h \
	src/base/json.h \
	src/base/log.h \
	src/base/path.h \
	src/base/str.c src/base/strbuf.c src/base/strv.c src/base/str.h
