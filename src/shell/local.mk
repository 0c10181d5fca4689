# shell: pure: shell text -> simple commands
libcore_a_SOURCES += \
	src/shell/shell-arena.c src/shell/shell-arena.h \
	src/shell/shell-compound.c \
	src/shell/shell-expand.c \
	src/shell/shell-field.c \
	src/shell/shell-heredoc.c \
	src/shell/shell-parse.h \
	src/shell/shell-quote.c \
	src/shell/shell-scan.c \
	src/shell/shell-simple.c \
	src/shell/shell-split.c src/shell/shell-split.h \
	src/shell/shell-word.c
