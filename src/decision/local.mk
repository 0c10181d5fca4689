# decision: lane gate, verdict, grant, intent, consume, end: one pipeline for run, hook, warden and recovery
libcore_a_SOURCES += \
	src/decision/decision-approve.c \
	src/decision/decision-consume.c \
	src/decision/decision-exec.c src/decision/decision-exec.h \
	src/decision/decision-judge.c \
	src/decision/decision-ledger.c \
	src/decision/decision-request.c \
	src/decision/decision-resume.c \
	src/decision/decision-standing.c \
	src/decision/decision-wait.c \
	src/decision/decision.c src/decision/decision.h
