# evidence: store, retention, staging and delivery, verify, diff
libcore_a_SOURCES += \
	src/evidence/delivery-copy.c src/evidence/delivery-copy.h \
	src/evidence/delivery-kick.c \
	src/evidence/delivery-sender.c src/evidence/delivery-sender.h \
	src/evidence/delivery-worker.c \
	src/evidence/delivery.c src/evidence/delivery.h \
	src/evidence/evidence-capture.c src/evidence/evidence-capture.h \
	src/evidence/evidence-config.c src/evidence/evidence-config.h \
	src/evidence/evidence-diff-impl.h \
	src/evidence/evidence-diff-tree.c \
	src/evidence/evidence-diff.c src/evidence/evidence-diff.h \
	src/evidence/evidence-impl.h \
	src/evidence/evidence-ledger.c src/evidence/evidence-ledger.h \
	src/evidence/evidence-metadata.c src/evidence/evidence-metadata.h \
	src/evidence/evidence-probe.c src/evidence/evidence-probe.h \
	src/evidence/evidence-prune.c src/evidence/evidence-prune.h \
	src/evidence/evidence-retention.c src/evidence/evidence-retention.h \
	src/evidence/evidence-scope.c src/evidence/evidence-scope.h \
	src/evidence/evidence-source.c src/evidence/evidence-source.h \
	src/evidence/evidence-store.c src/evidence/evidence-store.h \
	src/evidence/evidence-userns.c src/evidence/evidence-userns.h \
	src/evidence/evidence-verify.c src/evidence/evidence-verify.h \
	src/evidence/evidence.c src/evidence/evidence.h \
	src/evidence/mount-type.c src/evidence/mount-type.h
