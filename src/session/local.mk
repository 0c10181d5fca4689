# session: one session on disk: id, lock, session.json, kept upper; exit reason, result
libcore_a_SOURCES += \
	src/session/exec-socket.c src/session/exec-socket.h \
	src/session/exit-reason.c src/session/exit-reason.h \
	src/session/run-result.c src/session/run-result.h \
	src/session/runtime-ops.h \
	src/session/session-aside.c src/session/session-aside.h \
	src/session/session-end.c src/session/session-end.h \
	src/session/session-here.c src/session/session-here.h \
	src/session/session-note-fill.c \
	src/session/session-note-find.c \
	src/session/session-note-watch.c \
	src/session/session-note.c src/session/session-note.h \
	src/session/session-owners.c src/session/session-owners.h \
	src/session/session-pick.c src/session/session-pick.h \
	src/session/session-process.c src/session/session-process.h \
	src/session/session-settle.c \
	src/session/session-sum.c src/session/session-sum.h \
	src/session/session-summary.c src/session/session-summary.h \
	src/session/session-sweep.c \
	src/session/session-upper.c src/session/session-upper.h \
	src/session/session.c src/session/session.h \
	src/session/stop-signal.h
