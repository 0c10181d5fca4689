# tty: a person at a terminal: raw mode, prompt, card, progress line
libcore_a_SOURCES += \
	src/tty/card-text.h \
	src/tty/card-word.c \
	src/tty/card.c src/tty/card.h \
	src/tty/interrupt-keys.c src/tty/interrupt-keys.h \
	src/tty/progress.c src/tty/progress.h \
	src/tty/prompt.c src/tty/prompt.h \
	src/tty/terminal.c src/tty/terminal.h
