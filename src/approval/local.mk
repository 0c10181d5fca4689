# approval: requests, grants, keys, PIN, rules of approval; asking for it
libcore_a_SOURCES += \
	src/approval/approval-card-engine.c src/approval/approval-card-tool.c src/approval/approval-card-impl.h \
	src/approval/approval-card.c src/approval/approval-card.h \
	src/approval/approval-obtain-impl.h \
	src/approval/approval-obtain.c src/approval/approval-obtain.h \
	src/approval/approval-lane.c src/approval/approval-lane.h \
	src/approval/approval-prompt.c src/approval/approval-prompt.h \
	src/approval/approval-store-file.c \
	src/approval/approval-store-impl.h \
	src/approval/approval-store-record.c \
	src/approval/approval-store.c src/approval/approval-store.h \
	src/approval/approval-text.c src/approval/approval-text.h \
	src/approval/approval-wait.c \
	src/approval/approver-file.c \
	src/approval/approver-impl.h \
	src/approval/approver.c src/approval/approver.h \
	src/approval/grant-always.c \
	src/approval/grant-impl.h \
	src/approval/grant-items.c \
	src/approval/grant-judge.c \
	src/approval/grant-text.c \
	src/approval/grant-use.c \
	src/approval/grant-uses.c \
	src/approval/grant.c src/approval/grant.h \
	src/approval/pin-impl.h \
	src/approval/pin-tries.c \
	src/approval/pin-wrap.c \
	src/approval/pin.c src/approval/pin.h \
	src/approval/policy-input.c src/approval/policy-input.h \
	src/approval/prompt-rate.c src/approval/prompt-rate.h \
	src/approval/request-answer.c \
	src/approval/request-approved.c \
	src/approval/request-command.c src/approval/request-command.h \
	src/approval/request-file.c \
	src/approval/request-impl.h \
	src/approval/request-import.c \
	src/approval/request-notice.c src/approval/request-notice.h \
	src/approval/request.c src/approval/request.h \
	src/approval/standing.c src/approval/standing.h
