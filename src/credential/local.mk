# credential: secrets of a lane for what runs outside of sandboxes: store, sources, one value in locked memory
libcore_a_SOURCES += \
	src/credential/credential-answer.c src/credential/credential-answer.h \
	src/credential/credential-exec.c \
	src/credential/credential-host.c \
	src/credential/credential-impl.h \
	src/credential/credential-source.c \
	src/credential/credential-store.c \
	src/credential/credential-store-file.c \
	src/credential/credential.c src/credential/credential.h \
	src/credential/secret-find.c src/credential/secret-find.h \
	src/credential/secret.c src/credential/secret.h
