# policy: pure: facts of a command -> verdict
libcore_a_SOURCES += \
	src/policy/command-builtin.c \
	src/policy/command-class.c src/policy/command-class.h \
	src/policy/command-code.c \
	src/policy/command-cwd.c \
	src/policy/command-delete.c \
	src/policy/command-expansion.c \
	src/policy/command-file.c \
	src/policy/command-found.c \
	src/policy/command-git.c \
	src/policy/command-grammar.c src/policy/command-grammar.h \
	src/policy/command-grammar-impl.h \
	src/policy/command-grammar-operand.c \
	src/policy/command-grammar-read.c \
	src/policy/command-grammar-table.c \
	src/policy/command-grammar-text.c \
	src/policy/command-classifier.h \
	src/policy/command-net.c \
	src/policy/command-option.c \
	src/policy/command-path.c \
	src/policy/command-probe.c \
	src/policy/command-remove.c \
	src/policy/command-start.c \
	src/policy/command-sub.c \
	src/policy/command-system.c \
	src/policy/command-table.c \
	src/policy/command-value.c \
	src/policy/command-variable.c \
	src/policy/command-wrap.c \
	src/policy/policy-name.c \
	src/policy/policy-rule.c src/policy/policy-rule.h \
	src/policy/policy-table.c \
	src/policy/policy-verdict.c \
	src/policy/policy.c src/policy/policy.h
