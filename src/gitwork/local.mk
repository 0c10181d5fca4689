# gitwork: git repositories of others, read from outside: copy, verify, list
libcore_a_SOURCES += \
	src/gitwork/git-box.c src/gitwork/git-box.h \
	src/gitwork/git-call.h \
	src/gitwork/git-copy.c \
	src/gitwork/git-diff.c src/gitwork/git-diff.h \
	src/gitwork/git-fetch.c src/gitwork/git-fetch.h \
	src/gitwork/git-index.c src/gitwork/git-index.h \
	src/gitwork/git-list.c src/gitwork/git-list.h \
	src/gitwork/git-outgoing.c src/gitwork/git-outgoing.h \
	src/gitwork/git-push.c src/gitwork/git-push.h \
	src/gitwork/git-remote.c src/gitwork/git-remote.h \
	src/gitwork/git-run.c \
	src/gitwork/git-source.c src/gitwork/git-source.h
