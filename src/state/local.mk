# state: where things live: dirs, lanes, version, migration, digest key, sandbox roots, the project
libcore_a_SOURCES += \
	src/state/digest-key.c src/state/digest-key.h \
	src/state/caller-homes.c src/state/caller-homes.h \
	src/state/dirs.c src/state/dirs.h \
	src/state/disposable-dir.c src/state/disposable-dir.h \
	src/state/file-owners.c src/state/file-owners.h \
	src/state/git-link.c src/state/git-link.h \
	src/state/home-dir.c src/state/home-dir.h \
	src/state/home-list.c src/state/home-list.h \
	src/state/lane-gate.c \
	src/state/lane-stamp.c \
	src/state/lane.c src/state/lane.h \
	src/state/migrate-apply.c \
	src/state/migrate-impl.h \
	src/state/migrate-plan.c \
	src/state/migrate-pointer.c \
	src/state/migrate-stamp.c src/state/migrate-stamp.h \
	src/state/migrate.h \
	src/state/passwd.c src/state/passwd.h \
	src/state/project.c src/state/project.h \
	src/state/sandbox-clear.c src/state/sandbox-clear.h \
	src/state/sandbox-log.c src/state/sandbox-log.h \
	src/state/sandbox-root.c src/state/sandbox-root.h \
	src/state/state-version.c src/state/state-version.h \
	src/state/subid.c src/state/subid.h \
	src/state/subordinate-ids.c src/state/subordinate-ids.h
