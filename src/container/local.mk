# container: containers that another runtime runs: info, note, evidence, lost
libcore_a_SOURCES += \
	src/container/container-audit.c src/container/container-audit.h \
	src/container/container-evidence.c src/container/container-evidence.h \
	src/container/container-info.c src/container/container-info.h \
	src/container/container-lost.c src/container/container-lost.h \
	src/container/container-note.c src/container/container-note.h \
	src/container/container-orphan.c src/container/container-orphan.h \
	src/container/container-tree.c src/container/container-tree.h \
	src/container/warden-call.c src/container/warden-call.h \
	src/container/warden-channel.c src/container/warden-channel.h \
	src/container/warden-handover.c src/container/warden-handover.h \
	src/container/warden-request.c src/container/warden-request.h \
	src/container/warden-start.c src/container/warden-start.h
