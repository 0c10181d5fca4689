# ledger: the hash-chained record: append, seal, sync, peers, checkpoints, verify, redaction
libcore_a_SOURCES += \
	src/ledger/ledger-action.c src/ledger/ledger-action.h \
	src/ledger/ledger-append.c \
	src/ledger/ledger-audit.c src/ledger/ledger-audit.h \
	src/ledger/ledger-checkpoint-text.c \
	src/ledger/ledger-checkpoint.c src/ledger/ledger-checkpoint.h \
	src/ledger/ledger-claim.c src/ledger/ledger-claim.h \
	src/ledger/ledger-export-cef.c \
	src/ledger/ledger-export-impl.h \
	src/ledger/ledger-export-kind.c \
	src/ledger/ledger-export-ocsf.c \
	src/ledger/ledger-export-otlp.c \
	src/ledger/ledger-export-text.c \
	src/ledger/ledger-export.c src/ledger/ledger-export.h \
	src/ledger/ledger-follow.c src/ledger/ledger-follow.h \
	src/ledger/ledger-impl.h \
	src/ledger/ledger-lines.c src/ledger/ledger-lines.h \
	src/ledger/ledger-lock.c \
	src/ledger/ledger-open.c \
	src/ledger/ledger-parse.c \
	src/ledger/ledger-peer-syslog.c \
	src/ledger/ledger-peer-config.c \
	src/ledger/ledger-peer-remote.c \
	src/ledger/ledger-peer-sink.c src/ledger/ledger-peer-sink.h \
	src/ledger/ledger-peer-syslog.c \
	src/ledger/ledger-peer.c src/ledger/ledger-peer.h \
	src/ledger/ledger-reader.c src/ledger/ledger-reader.h \
	src/ledger/ledger-record.c src/ledger/ledger-record.h \
	src/ledger/ledger-recover.c \
	src/ledger/ledger-redact-find.c src/ledger/ledger-redact-find.h \
	src/ledger/ledger-redact-plain.c \
	src/ledger/ledger-redact-impl.h \
	src/ledger/ledger-redact-message.c \
	src/ledger/ledger-redact-secret.c \
	src/ledger/ledger-redact-html.c src/ledger/ledger-redact-html.h \
	src/ledger/ledger-redact-spelling.c \
	src/ledger/ledger-redact-word.c src/ledger/ledger-redact-word.h \
	src/ledger/ledger-redact.c src/ledger/ledger-redact.h \
	src/ledger/ledger-repair.c \
	src/ledger/ledger-seal.c src/ledger/ledger-seal.h \
	src/ledger/ledger-segment.c src/ledger/ledger-segment.h \
	src/ledger/ledger-session.c src/ledger/ledger-session.h \
	src/ledger/ledger-sync.c \
	src/ledger/ledger-tail.c \
	src/ledger/ledger-torn.c \
	src/ledger/ledger-verify-notes.c src/ledger/ledger-verify-notes.h \
	src/ledger/ledger-verify-pairs.c src/ledger/ledger-verify-pairs.h \
	src/ledger/ledger-verify.c src/ledger/ledger-verify.h \
	src/ledger/ledger.h

# custody-peer: sends records to another host over TLS.  Dynamic, as custody-rest.
if CURL
pkglibexec_PROGRAMS += custody-peer
custody_peer_SOURCES = src/ledger/peer-main.c src/ledger/peer-proto.h
custody_peer_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS)
custody_peer_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SAN_FLAGS)
custody_peer_LDADD = libbase.a $(CURL_LIBS) $(MIXED_LIBS)
endif
