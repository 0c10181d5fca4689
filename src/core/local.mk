# core: the nouns.  Uses base; knows no container runtime.
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	src/core/dirs.h \
	src/core/exit-status.h \
	src/core/layer.c src/core/layer.h \
	src/core/placement.h \
	src/core/profile.h \
	src/core/runtime-ops.h \
	src/core/subject.h
