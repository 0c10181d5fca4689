# setup: what root prepares once for an ordinary user: changes, their record, and the way back
libcore_a_SOURCES += \
	src/setup/setup-change.c src/setup/setup-change.h \
	src/setup/setup-cgroup.c src/setup/setup-cgroup.h \
	src/setup/setup-ids.c src/setup/setup-ids.h \
	src/setup/setup-names.c src/setup/setup-names.h \
	src/setup/setup-plan.c src/setup/setup.h \
	src/setup/setup-record.c src/setup/setup-record.h \
	src/setup/setup-subid.c src/setup/setup-subid.h \
	src/setup/setup.c
