# cli: main, command table, cmd-*.c
libcli_a_SOURCES += \
	src/cli/apply-gate.c src/cli/apply-gate.h \
	src/cli/cmd-apply.c \
	src/cli/cmd-approve.c \
	src/cli/cmd-bundle.c \
	src/cli/cmd-check.c \
	src/cli/cmd-completion.c \
	src/cli/cmd-credential.c \
	src/cli/cmd-deny.c \
	src/cli/cmd-df.c \
	src/cli/cmd-diff.c \
	src/cli/cmd-discard.c \
	src/cli/cmd-doctor.c \
	src/cli/cmd-evidence-diff.c \
	src/cli/cmd-evidence-manage.c \
	src/cli/cmd-evidence-restore.c \
	src/cli/cmd-evidence-show.c \
	src/cli/cmd-evidence.c src/cli/cmd-evidence.h \
	src/cli/cmd-grants.c \
	src/cli/cmd-exec.c \
	src/cli/cmd-help.c \
	src/cli/cmd-key.c \
	src/cli/cmd-ledger-admin.c \
	src/cli/cmd-ledger-export.c \
	src/cli/cmd-ledger-show.c \
	src/cli/cmd-ledger-tail.c \
	src/cli/cmd-ledger-verify.c \
	src/cli/cmd-ledger.c src/cli/cmd-ledger.h \
	src/cli/cmd-logs.c \
	src/cli/cmd-migrate.c \
	src/cli/cmd-pending.c \
	src/cli/cmd-pin.c \
	src/cli/cmd-profile-check.c \
	src/cli/cmd-profile-diff.c \
	src/cli/cmd-profile-ls.c \
	src/cli/cmd-profile-show.c \
	src/cli/cmd-profile-trust.c \
	src/cli/cmd-profile.c src/cli/cmd-profile.h \
	src/cli/cmd-prune.c \
	src/cli/cmd-recover.c \
	src/cli/cmd-reset-home.c \
	src/cli/cmd-reset.c src/cli/cmd-reset.h \
	src/cli/cmd-reset.c \
	src/cli/cmd-review-count.c \
	src/cli/cmd-review-git.c \
	src/cli/cmd-review-patch.c \
	src/cli/cmd-review-print.c \
	src/cli/cmd-review-repository.c \
	src/cli/cmd-review.c src/cli/cmd-review.h \
	src/cli/cmd-revoke.c \
	src/cli/cmd-run.c src/cli/cmd-run.h \
	src/cli/cmd-sessions.c \
	src/cli/cmd-setup.c \
	src/cli/cmd-shell.c \
	src/cli/cmd-show.c \
	src/cli/cmd-stop.c \
	src/cli/cmd-why.c \
	src/cli/command-help.c src/cli/command-help.h \
	src/cli/command-lane.c src/cli/command-lane.h \
	src/cli/command-table-run.c \
	src/cli/command-table.c src/cli/command-table.h \
	src/cli/command.h \
	src/cli/completion-bash.c \
	src/cli/completion-fish.c \
	src/cli/completion-values.c \
	src/cli/completion-zsh.c \
	src/cli/completion.h \
	src/cli/confirm.c src/cli/confirm.h \
	src/cli/delivery-print.c src/cli/delivery-print.h \
	src/cli/dispatch.c src/cli/dispatch.h \
	src/cli/evidence-target.c src/cli/evidence-target.h \
	src/cli/ledger-filter.c \
	src/cli/ledger-verify-print.c src/cli/ledger-verify-print.h \
	src/cli/output.c src/cli/output.h \
	src/cli/record-print.c src/cli/record-print.h \
	src/cli/record-text.c src/cli/record-text.h \
	src/cli/review-chain.c src/cli/review-chain.h \
	src/cli/run-call.c src/cli/run-call.h \
	src/cli/run-notice.c src/cli/run-notice.h \
	src/cli/session-print.c src/cli/session-print.h \
	src/cli/trace-summary.c src/cli/trace-summary.h

bin_PROGRAMS += custody
custody_SOURCES = src/cli/main.c
custody_LDFLAGS = $(prog_ldflags) $(oci_ldflags)
custody_LDADD = libcli.a librun.a liboci.a libcore.a libbase.a $(oci_libs) $(PROG_LIBS) $(CRYPT_LIBS)
