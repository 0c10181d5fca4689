# egress: allowed hosts of a session: DNS and proxy inside its network namespace, decision, relay; custody-egress
libcore_a_SOURCES += \
	src/egress/dns-message.c src/egress/dns-message.h \
	src/egress/dns-pool.c src/egress/dns-pool.h \
	src/egress/egress-config.c \
	src/egress/egress-confine.c src/egress/egress-confine.h \
	src/egress/egress-decide.c src/egress/egress-decide.h \
	src/egress/egress-net.c src/egress/egress-net.h \
	src/egress/egress.c src/egress/egress.h \
	src/egress/http-body.c src/egress/http-body.h \
	src/egress/http-field.c src/egress/http-field.h \
	src/egress/http-head-write.c \
	src/egress/http-head.c src/egress/http-head.h \
	src/egress/http-target.c src/egress/http-target.h \
	src/egress/tls-hello.c src/egress/tls-hello.h

# custody-egress: dynamic, because names are resolved by the host's C library and its modules.
pkglibexec_PROGRAMS += custody-egress
custody_egress_SOURCES = src/egress/egress-connection.c \
	src/egress/egress-dns.c \
	src/egress/egress-flow.c \
	src/egress/egress-impl.h \
	src/egress/egress-main.c \
	src/egress/egress-read.c \
	src/egress/egress-record.c \
	src/egress/egress-relay.c \
	src/egress/egress-reply.c \
	src/egress/egress-resolve.c \
	src/egress/egress-server.c \
	src/egress/egress-upstream.c
custody_egress_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS) $(SAN_FLAGS)
custody_egress_LDADD = libcore.a libbase.a $(MIXED_LIBS)
