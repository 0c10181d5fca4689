# core: the nouns.  Uses base; knows no container runtime.
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	src/core/approval-desk.c src/core/approval-desk.h \
	src/core/capture.c src/core/capture.h \
	src/core/capture-batch.c src/core/capture-batch.h \
	src/core/capture-copy.c src/core/capture-copy.h \
	src/core/capture-direct.c src/core/capture-direct.h \
	src/core/capture-entry.c src/core/capture-entry.h \
	src/core/capture-file.c src/core/capture-file.h \
	src/core/capture-open.c src/core/capture-open.h \
	src/core/capture-pool.c src/core/capture-pool.h \
	src/core/capture-sync.c src/core/capture-sync.h \
	src/core/container-evidence.c src/core/container-evidence.h \
	src/core/container-lost.c src/core/container-lost.h \
	src/core/dossier.c src/core/dossier.h \
	src/core/evidence-inside.c src/core/evidence-inside.h \
	src/core/delivery.c src/core/delivery.h \
	src/core/delivery-copy.c src/core/delivery-copy.h \
	src/core/delivery-kick.c \
	src/core/delivery-worker.c \
	src/core/evidence.c src/core/evidence.h src/core/evidence-impl.h \
	src/core/evidence-diff.c src/core/evidence-diff.h \
	src/core/evidence-ledger.c src/core/evidence-ledger.h \
	src/core/mounts.c src/core/mounts.h \
	src/core/evidence-config.c src/core/evidence-config.h \
	src/core/evidence-judge.c \
	src/core/evidence-probe.c src/core/evidence-probe.h \
	src/core/evidence-prune.c src/core/evidence-prune.h \
	src/core/evidence-store.c \
	src/core/evidence-verify.c \
	src/core/manifest.c src/core/manifest.h \
	src/core/manifest-file.c src/core/manifest-file.h \
	src/core/pack.c src/core/pack.h src/core/pack-proto.h \
	src/core/restore.c src/core/restore.h \
	src/core/restore-cursor.c src/core/restore-cursor.h \
	src/core/digest-key.c src/core/digest-key.h \
	src/core/config.c src/core/config.h src/core/config-key.h \
	src/core/config-env.c \
	src/core/config-file.c \
	src/core/config-finish.c \
	src/core/config-merge.c \
	src/core/config-table.c \
	src/core/dirs.c src/core/dirs.h \
	src/core/doctor.c src/core/doctor.h \
	src/core/doctor-explain.c \
	src/core/doctor-layers.c \
	src/core/exit-status.h \
	src/core/facts.c src/core/facts.h \
	src/core/lane.c src/core/lane.h \
	src/core/lane-gate.c \
	src/core/lane-stamp.c \
	src/core/layer.c src/core/layer.h \
	src/core/ledger-append.c src/core/ledger-impl.h \
	src/core/ledger-audit.c src/core/ledger-audit.h \
	src/core/ledger-checkpoint.c src/core/ledger-checkpoint.h \
	src/core/ledger-claim.c src/core/ledger-claim.h \
	src/core/ledger-lock.c \
	src/core/ledger-note.c \
	src/core/ledger-open.c \
	src/core/ledger-parse.c \
	src/core/ledger-peer-config.c \
	src/core/ledger-peer-sink.c src/core/ledger-peer-sink.h \
	src/core/ledger-peer.c src/core/ledger-peer.h \
	src/core/ledger-record.c src/core/ledger-record.h \
	src/core/ledger-recover.c \
	src/core/ledger-redact.c src/core/ledger-redact.h \
	src/core/ledger-repair.c \
	src/core/ledger-run.c src/core/ledger-run.h \
	src/core/ledger-seal.c src/core/ledger-seal.h \
	src/core/ledger-segment.c \
	src/core/ledger-source.c src/core/ledger-source.h \
	src/core/ledger-story.c src/core/ledger-story.h \
	src/core/ledger-sync.c \
	src/core/ledger-tail.c \
	src/core/ledger-verify.c src/core/ledger-verify.h \
	src/core/ledger.h \
	src/core/operand.c src/core/operand.h \
	src/core/operand-layer.c \
	src/core/operand-path.c src/core/operand-path.h \
	src/core/operand-tree.c \
	src/core/operand-use.c \
	src/core/migrate-apply.c src/core/migrate.h \
	src/core/migrate-plan.c src/core/migrate-impl.h \
	src/core/migrate-pointer.c \
	src/core/migrate-stamp.c src/core/migrate-stamp.h \
	src/core/placement.h \
	src/core/command-class.c src/core/command-class.h src/core/command-judge.h \
	src/core/command-code.c src/core/command-cwd.c src/core/command-delete.c src/core/command-file.c \
	src/core/command-found.c src/core/command-git.c src/core/command-net.c src/core/command-option.c \
	src/core/command-path.c src/core/command-probe.c src/core/command-sub.c src/core/command-table.c \
	src/core/command-variable.c src/core/command-wrap.c \
	src/core/policy.c src/core/policy.h \
	src/core/policy-name.c src/core/policy-rule.c src/core/policy-rule.h src/core/policy-subject.c src/core/policy-table.c src/core/policy-verdict.c \
	src/core/profile-danger.c \
	src/core/profile-expand.c \
	src/core/profile-file.c src/core/profile-file.h \
	src/core/profile-list.c \
	src/core/profile-load.c \
	src/core/profile-merge.c \
	src/core/profile-parse.c \
	src/core/profile-schema.c \
	src/core/profile-sound.c \
	src/core/profile-table.c src/core/profile-key.h \
	src/core/profile-tighter.c \
	src/core/profile-trust.c \
	src/core/profile-value.c src/core/profile-value.h \
	src/core/profile.h \
	src/core/runtime-ops.h \
	src/core/sandbox-clear.c src/core/sandbox-clear.h \
	src/core/sandbox-log.c src/core/sandbox-log.h \
	src/core/sandbox-prove.c \
	src/core/sandbox-root.c src/core/sandbox-root.h \
	src/core/session.c src/core/session.h \
	src/core/container-note.c src/core/container-note.h \
	src/core/session-note.c src/core/session-note.h src/core/session-note-find.c src/core/session-note-watch.c \
	src/core/session-settle.c \
	src/core/session-sweep.c \
	src/core/state-version.c src/core/state-version.h \
	src/core/shell-arena.c src/core/shell-arena.h src/core/shell-parse.h \
	src/core/shell-compound.c src/core/shell-expand.c src/core/shell-field.c src/core/shell-heredoc.c \
	src/core/shell-quote.c src/core/shell-scan.c src/core/shell-simple.c \
	src/core/shell-split.c src/core/shell-split.h src/core/shell-word.c \
	src/core/subject.c src/core/subject.h src/core/subject-build.h \
	src/core/subject-diff.c src/core/subject-diff.h \
	src/core/subject-digest.c src/core/subject-digest.h \
	src/core/subject-json.c src/core/subject-json.h \
	src/core/subject-map.c src/core/subject-map-env.c src/core/subject-map-mounts.c src/core/subject-map-operands.c src/core/subject-map.h \
	src/core/subject-apart.c src/core/subject-bind.c src/core/subject-env.c src/core/subject-file.c src/core/subject-mount.c src/core/subject-protect.c src/core/subject-root.c src/core/subject-sandbox.c \
	src/core/warden-door.c src/core/warden-door.h \
	src/core/warden-line.c src/core/warden-line.h \
	src/core/warden-order.c src/core/warden-order.h \
	src/core/way.c src/core/way.h \
	src/core/worktree.c src/core/worktree.h

# Approval.  pin*.c need libcrypt: only what asks for a PIN links them.
libcore_a_SOURCES += src/core/approver-desk.c src/core/approver-desk.h src/core/approver-desk-impl.h
libcore_a_SOURCES += src/core/approver-desk-file.c src/core/approver-desk-record.c
libcore_a_SOURCES += src/core/approver-file.c src/core/approver-impl.h src/core/approver.c src/core/approver.h
libcore_a_SOURCES += src/core/grant-impl.h src/core/grant-items.c src/core/grant-judge.c src/core/grant-text.c
libcore_a_SOURCES += src/core/grant-use.c src/core/grant-uses.c src/core/grant.c src/core/grant.h
libcore_a_SOURCES += src/core/pin-impl.h src/core/pin-tries.c src/core/pin-wrap.c src/core/pin.c src/core/pin.h
libcore_a_SOURCES += src/core/request-answer.c src/core/request-carry.c
libcore_a_SOURCES += src/core/request-approved.c src/core/request-file.c src/core/request-impl.h
libcore_a_SOURCES += src/core/request.c src/core/request.h
libcore_a_SOURCES += src/core/request-notice.c src/core/request-notice.h
libcore_a_SOURCES += src/core/on-request.c src/core/on-request.h src/core/prompt-rate.c src/core/prompt-rate.h

# Review of what an overlay run changed.
libcore_a_SOURCES += src/core/apply.c src/core/apply.h src/core/apply-file.c src/core/apply-impl.h src/core/apply-hold.c src/core/apply-swap.c
libcore_a_SOURCES += src/core/changes.c src/core/changes.h src/core/changes-base.c src/core/changes-collect.c
libcore_a_SOURCES += src/core/changes-impl.h src/core/changes-judge.c
libcore_a_SOURCES += src/core/kept.c src/core/kept.h
libcore_a_SOURCES += src/core/line-diff.c src/core/line-diff.h src/core/line-unified.c
libcore_a_SOURCES += src/core/overlay-keeper.c src/core/overlay-keeper.h
libcore_a_SOURCES += src/core/overlay-mark.c src/core/overlay-mark.h
libcore_a_SOURCES += src/core/overlay-program.c src/core/overlay-server.c src/core/overlay-server.h
libcore_a_SOURCES += src/core/review.h src/core/review-judge.c src/core/review-link.c
libcore_a_SOURCES += src/core/tree-at.c src/core/tree-at.h
