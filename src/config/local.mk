# config: custody.json -> struct config
libcore_a_SOURCES += \
	src/config/config-env.c \
	src/config/config-file.c \
	src/config/config-finish.c \
	src/config/config-impl.h \
	src/config/config-merge.c \
	src/config/config-params.c \
	src/config/config-redact.c src/config/config-redact.h \
	src/config/config-table.c \
	src/config/config-table-remote.c \
	src/config/config-table-tool.c \
	src/config/config.c src/config/config.h
