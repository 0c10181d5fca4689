# egress: allowed hosts of a session: DNS and proxy inside its network namespace, decision, relay; custody-egress
libcore_a_SOURCES += \
	src/egress/dns-message.c src/egress/dns-message.h \
	src/egress/dns-pool.c src/egress/dns-pool.h \
	src/egress/egress-net.c src/egress/egress-net.h \
	src/egress/http-body.c src/egress/http-body.h \
	src/egress/http-field.c src/egress/http-field.h \
	src/egress/http-head-write.c \
	src/egress/http-head.c src/egress/http-head.h \
	src/egress/http-target.c src/egress/http-target.h \
	src/egress/tls-hello.c src/egress/tls-hello.h
