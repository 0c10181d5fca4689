# worktree: mounts of a run: clones, idmap, overlay, fuse-overlayfs, watch on mount sources
libcore_a_SOURCES += \
	src/worktree/mount-watch.c src/worktree/mount-watch.h \
	src/worktree/overlay-copy.c src/worktree/overlay-copy.h \
	src/worktree/overlay-manifest.c src/worktree/overlay-manifest.h \
	src/worktree/overlay-monitor.c src/worktree/overlay-monitor.h \
	src/worktree/overlay-program.c \
	src/worktree/overlay-server.c src/worktree/overlay-server.h \
	src/worktree/overlay-sum.c src/worktree/overlay-sum.h \
	src/worktree/overlay-view.c src/worktree/overlay-view.h \
	src/worktree/overlay-xattr.c src/worktree/overlay-xattr.h \
	src/worktree/worktree.c src/worktree/worktree.h
