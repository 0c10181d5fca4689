# trace: system calls of a session that are observed: which ones, the process that answers, its messages
libcore_a_SOURCES += \
	src/trace/trace-advice.c src/trace/trace-advice.h \
	src/trace/trace-call.c src/trace/trace-call.h \
	src/trace/trace-memory.c src/trace/trace-memory.h \
	src/trace/trace-message.c src/trace/trace-message.h \
	src/trace/trace-repeat.c src/trace/trace-repeat.h \
	src/trace/trace-server.c \
	src/trace/trace.c src/trace/trace.h
