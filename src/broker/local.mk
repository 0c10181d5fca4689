# broker: tools outside that a session may call: decision, socket, dispatch, records
libcore_a_SOURCES += \
	src/broker/broker-approve.c \
	src/broker/broker-call.c \
	src/broker/broker-client.c \
	src/broker/broker-credential.c src/broker/broker-credential.h \
	src/broker/broker-credential-impl.h \
	src/broker/broker-credential-process.c \
	src/broker/broker-decide.c src/broker/broker-decide.h \
	src/broker/broker-git.c \
	src/broker/broker-git-credential.c src/broker/broker-git-credential.h \
	src/broker/broker-impl.h \
	src/broker/broker-inspect.c src/broker/broker-inspect.h \
	src/broker/broker-params.c src/broker/broker-params.h \
	src/broker/broker-pending.c \
	src/broker/broker-peer.c src/broker/broker-peer.h \
	src/broker/broker-process.c src/broker/broker-process.h \
	src/broker/broker-program.c \
	src/broker/broker-record.c \
	src/broker/broker-relay.c \
	src/broker/broker-remote.c src/broker/broker-remote.h \
	src/broker/broker-rest.c \
	src/broker/broker-request.c src/broker/broker-request.h \
	src/broker/broker-schema.c \
	src/broker/broker-server.c \
	src/broker/broker-token.c src/broker/broker-token.h \
	src/broker/broker-tool.c \
	src/broker/broker-tools.c src/broker/broker-tools.h \
	src/broker/broker.c src/broker/broker.h
