# inspect: secrets and dangerous changes in what leaves a sandbox
libcore_a_SOURCES += \
	src/inspect/inspect-change.c \
	src/inspect/inspect-class.c \
	src/inspect/inspect-environ.c \
	src/inspect/inspect-impl.h \
	src/inspect/inspect-known.c \
	src/inspect/inspect-middle.c \
	src/inspect/inspect-name.c \
	src/inspect/inspect-params.c \
	src/inspect/inspect-rule.c src/inspect/inspect-rule.h \
	src/inspect/inspect-run.c \
	src/inspect/inspect-secret.c \
	src/inspect/inspect-token.c \
	src/inspect/inspect-trigger.c \
	src/inspect/inspect-view.c \
	src/inspect/inspect-wide.c \
	src/inspect/inspect.c src/inspect/inspect.h
