# run: `custody run`, from options to exit status; recovery
librun_a_SOURCES += \
	src/run/exec-session.c src/run/exec-session.h \
	src/run/exec.c src/run/exec.h \
	src/run/run-approval.c src/run/run-approval.h \
	src/run/run-base-repository.c \
	src/run/run-base.c src/run/run-base.h \
	src/run/run-broker.c src/run/run-broker.h \
	src/run/run-egress.c src/run/run-egress.h \
	src/run/run-detach.c src/run/run-detach.h \
	src/run/run-dry.c \
	src/run/run-evidence.c src/run/run-evidence.h \
	src/run/run-exec.c src/run/run-exec.h \
	src/run/run-housekeeping.c src/run/run-housekeeping.h \
	src/run/run-ids.c src/run/run-ids.h \
	src/run/run-impl.h \
	src/run/run-keep-upper.c \
	src/run/run-layer.c \
	src/run/run-ledger.c src/run/run-ledger.h \
	src/run/run-limits.c src/run/run-limits.h \
	src/run/run-lost.c src/run/run-lost.h \
	src/run/run-note.c \
	src/run/run-options.c src/run/run-options.h \
	src/run/run-plan.c src/run/run-plan.h \
	src/run/run-prepare-impl.h \
	src/run/run-prepare-broker.c \
	src/run/run-prepare-root.c \
	src/run/run-prepare-user.c \
	src/run/run-prepare.c src/run/run-prepare.h \
	src/run/run-recover.c src/run/run-recover.h \
	src/run/run-recovery-files.c src/run/run-recovery-files.h \
	src/run/run-scope.c src/run/run-scope.h \
	src/run/run-supervise.c \
	src/run/run-trace.c src/run/run-trace.h \
	src/run/run.c src/run/run.h
