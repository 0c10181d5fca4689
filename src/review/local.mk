# review: changes of an overlay: list, judge, apply, line diff
libcore_a_SOURCES += \
	src/review/apply-attributes.c \
	src/review/apply-batch.c \
	src/review/apply-file.c \
	src/review/apply-impl.h \
	src/review/apply-mark.c \
	src/review/apply-sources.c \
	src/review/apply-swap.c \
	src/review/apply-threads.c \
	src/review/apply.c src/review/apply.h \
	src/review/attributes.c src/review/attributes.h \
	src/review/base-record.c src/review/base-record.h \
	src/review/changes-base.c \
	src/review/changes-collect.c \
	src/review/changes-impl.h \
	src/review/changes-gone.c \
	src/review/changes-judge.c \
	src/review/changes-threads.c \
	src/review/changes.c src/review/changes.h \
	src/review/git-changes.c src/review/git-changes.h \
	src/review/line-count.c \
	src/review/line-diff.c src/review/line-diff.h \
	src/review/line-unified.c \
	src/review/review-alias.c \
	src/review/review-ask.c src/review/review-ask.h \
	src/review/reflog.c src/review/reflog.h \
	src/review/rename.c src/review/rename.h \
	src/review/review-judge.c src/review/review-judge.h \
	src/review/review-link.c \
	src/review/review-protect.c src/review/review-protect.h \
	src/review/review-prune.c src/review/review-prune.h
