# tty: a person at a terminal: raw mode, prompt, card, progress line
libcore_a_SOURCES += \
	src/tty/card-text.h \
	src/tty/card-word.c \
	src/tty/card.c src/tty/card.h \
	src/tty/colour.c src/tty/colour.h \
	src/tty/interrupt-keys.c src/tty/interrupt-keys.h \
	src/tty/pager.c src/tty/pager.h \
	src/tty/progress.c src/tty/progress.h \
	src/tty/prompt.c src/tty/prompt.h \
	src/tty/table.c src/tty/table.h \
	src/tty/terminal.c src/tty/terminal.h \
	src/tty/text-width.c src/tty/text-width.h
