# subject: everything that runs, resolved; its JSON, digest, diff; sealed operands
libcore_a_SOURCES += \
	src/subject/git-identity.c src/subject/git-identity.h \
	src/subject/operand-lower.c \
	src/subject/operand-path.c src/subject/operand-path.h \
	src/subject/operand-tree.c \
	src/subject/operand-use.c \
	src/subject/operand.c src/subject/operand.h \
	src/subject/own-dirs.c src/subject/own-dirs.h \
	src/subject/placement.h \
	src/subject/program-interpreter.c src/subject/program-interpreter.h \
	src/subject/program-missing.c src/subject/program-missing.h \
	src/subject/subject-bind.c \
	src/subject/subject-build.h \
	src/subject/subject-cwd.c \
	src/subject/subject-diff.c src/subject/subject-diff.h \
	src/subject/subject-digest.c src/subject/subject-digest.h \
	src/subject/subject-env.c \
	src/subject/subject-exec.c src/subject/subject-exec.h \
	src/subject/subject-facts.c src/subject/subject-facts.h \
	src/subject/subject-fields-env.c \
	src/subject/subject-fields-mounts.c \
	src/subject/subject-fields-operands.c \
	src/subject/subject-fields.c src/subject/subject-fields.h \
	src/subject/subject-file.c \
	src/subject/subject-git.c src/subject/subject-git.h \
	src/subject/subject-hidden.c src/subject/subject-hidden.h \
	src/subject/subject-home.c \
	src/subject/subject-json.c src/subject/subject-json.h \
	src/subject/subject-mount.c \
	src/subject/subject-own-dirs.c \
	src/subject/subject-program.c src/subject/subject-program.h \
	src/subject/subject-protect.c \
	src/subject/subject-prove-root.c src/subject/subject-prove-root.h \
	src/subject/subject-redact.c src/subject/subject-redact.h \
	src/subject/subject-repository.c \
	src/subject/subject-root.c \
	src/subject/subject-sandbox.c \
	src/subject/subject-secrets.c \
	src/subject/subject-target.c \
	src/subject/subject-tools.c \
	src/subject/subject-trace.c src/subject/subject-trace.h \
	src/subject/subject.c src/subject/subject.h \
	src/subject/tool-places.c src/subject/tool-places.h \
	src/subject/worktree-secrets.c src/subject/worktree-secrets.h
