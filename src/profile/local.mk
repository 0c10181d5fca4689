# profile: profile text -> struct profile
libcore_a_SOURCES += \
	src/profile/host-rule.c src/profile/host-rule.h \
	src/profile/key-compare.c \
	src/profile/key-list.c \
	src/profile/key-schema.c \
	src/profile/key-table.c src/profile/key-table.h \
	src/profile/key-value.c src/profile/key-value.h \
	src/profile/profile-danger.c \
	src/profile/profile-default.c src/profile/profile-default.h \
	src/profile/profile-diff.c src/profile/profile-diff.h \
	src/profile/profile-expand.c \
	src/profile/profile-file.c src/profile/profile-file.h \
	src/profile/profile-impl.h \
	src/profile/profile-load.c \
	src/profile/profile-merge.c \
	src/profile/profile-open.c src/profile/profile-open.h \
	src/profile/profile-parse.c \
	src/profile/profile-table.c \
	src/profile/profile-trust.c \
	src/profile/profile-validate.c \
	src/profile/profile-walk.c src/profile/profile-walk.h \
	src/profile/profile.h
