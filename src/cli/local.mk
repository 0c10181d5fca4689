# cli: the program `custody`.  The only room that knows both oci and the rest.
bin_PROGRAMS += custody
custody_SOURCES = \
	src/cli/approval.c src/cli/approval.h src/cli/approval-impl.h \
	src/cli/approval-person.c src/cli/approval-person.h \
	src/cli/approval-text.c src/cli/approval-text.h \
	src/cli/approval-wait.c \
	src/cli/card.c src/cli/card.h \
	src/cli/card-subject.c src/cli/card-subject.h \
	src/cli/card-word.c src/cli/card-text.h \
	src/cli/cmd-approve.c \
	src/cli/cmd-bundle.c \
	src/cli/cmd-check.c \
	src/cli/cmd-deny.c \
	src/cli/cmd-grants.c \
	src/cli/cmd-key.c \
	src/cli/cmd-evidence.c src/cli/cmd-evidence.h \
	src/cli/cmd-evidence-diff.c \
	src/cli/cmd-evidence-keep.c src/cli/cmd-evidence-look.c \
	src/cli/cmd-ledger.c src/cli/cmd-ledger.h \
	src/cli/cmd-ledger-admin.c \
	src/cli/cmd-ledger-show.c \
	src/cli/cmd-ledger-tail.c \
	src/cli/cmd-ledger-verify.c \
	src/cli/cmd-migrate.c \
	src/cli/cmd-pending.c \
	src/cli/cmd-pin.c \
	src/cli/cmd-reset.c \
	src/cli/cmd-revoke.c \
	src/cli/cmd-recover.c \
	src/cli/cmd-run.c src/cli/cmd-run.h \
	src/cli/cmd-shell.c \
	src/cli/cmd-profile.c src/cli/cmd-profile.h \
	src/cli/cmd-profile-check.c \
	src/cli/cmd-profile-diff.c \
	src/cli/cmd-profile-ls.c \
	src/cli/cmd-profile-show.c \
	src/cli/cmd-profile-trust.c \
	src/cli/cmd-doctor.c \
	src/cli/command.c src/cli/command.h \
	src/cli/delivery-tell.c src/cli/delivery-tell.h \
	src/cli/docket.c src/cli/docket.h \
	src/cli/doctor-approval.c \
	src/cli/doctor-bait.c src/cli/doctor-bait.h \
	src/cli/doctor-canary.c src/cli/doctor-canary.h \
	src/cli/doctor-cgroup.c \
	src/cli/doctor-config.c \
	src/cli/doctor-containerd.c \
	src/cli/doctor-docker.c \
	src/cli/doctor-engine.c src/cli/doctor-engine.h \
	src/cli/doctor-evidence.c \
	src/cli/doctor-files.c \
	src/cli/doctor-kernel.c src/cli/doctor-host.h \
	src/cli/doctor-ledger.c \
	src/cli/doctor-podman.c \
	src/cli/doctor-probe.c src/cli/doctor-probe.h \
	src/cli/evidence-target.c src/cli/evidence-target.h \
	src/cli/ledger-filter.c \
	src/cli/ledger-lines.c src/cli/ledger-lines.h \
	src/cli/ledger-verdict.c src/cli/ledger-verdict.h \
	src/cli/main.c \
	src/cli/options.c src/cli/options.h \
	src/cli/profile-open.c src/cli/profile-open.h \
	src/cli/progress.c src/cli/progress.h \
	src/cli/prompt.c src/cli/prompt.h \
	src/cli/session-gate.c src/cli/session-gate.h \
	src/cli/session-evidence.c src/cli/session-evidence.h \
	src/cli/session-lost.c \
	src/cli/cmd-sessions.c src/cli/cmd-show.c src/cli/cmd-logs.c src/cli/cmd-stop.c \
	src/cli/session-text.c src/cli/session-text.h \
	src/cli/session-detach.c src/cli/session-detach.h \
	src/cli/session-noted.c \
	src/cli/session-papers.c src/cli/session-papers.h \
	src/cli/session-place.c src/cli/session-place.h \
	src/cli/session-record.c src/cli/session-record.h \
	src/cli/session-recover.c src/cli/session-recover.h \
	src/cli/session-run.c src/cli/session-run.h src/cli/session-run-impl.h \
	src/cli/session-describe.c \
	src/cli/session-supervise.c \
	src/cli/toml-lines.c src/cli/toml-lines.h \
	src/cli/verb.c src/cli/verb.h
custody_SOURCES += src/cli/cmd-apply.c src/cli/cmd-diff.c src/cli/cmd-discard.c
custody_SOURCES += src/cli/review.c src/cli/review.h src/cli/review-print.c src/cli/review-prune.c src/cli/review-text.c
custody_SOURCES += src/cli/session-keep.c
custody_LDFLAGS = $(prog_ldflags) $(oci_ldflags)
custody_LDADD = libwarden.a liboci.a libcore.a libbase.a $(oci_libs) $(PROG_LIBS) $(CRYPT_LIBS)
