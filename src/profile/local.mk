# profile: profile text -> struct profile
libcore_a_SOURCES += \
	src/profile/profile-compare.c \
	src/profile/profile-danger.c \
	src/profile/profile-expand.c \
	src/profile/profile-file.c src/profile/profile-file.h \
	src/profile/profile-key.h \
	src/profile/profile-list.c \
	src/profile/profile-load.c \
	src/profile/profile-merge.c \
	src/profile/profile-open.c src/profile/profile-open.h \
	src/profile/profile-parse.c \
	src/profile/profile-schema.c \
	src/profile/profile-table.c \
	src/profile/profile-trust.c \
	src/profile/profile-validate.c \
	src/profile/profile-value.c src/profile/profile-value.h \
	src/profile/profile.h
