# capture: hostile tree -> directory or archive with manifest, and back
libcore_a_SOURCES += \
	src/capture/capture-batch.c src/capture/capture-batch.h \
	src/capture/capture-copy.c src/capture/capture-copy.h \
	src/capture/capture-direct.c src/capture/capture-direct.h \
	src/capture/capture-entry.c src/capture/capture-entry.h \
	src/capture/capture-file.c src/capture/capture-file.h \
	src/capture/capture-open.c src/capture/capture-open.h \
	src/capture/capture-pool.c src/capture/capture-pool.h \
	src/capture/capture-share.c src/capture/capture-share.h \
	src/capture/capture-sync.c src/capture/capture-sync.h \
	src/capture/capture.c src/capture/capture.h \
	src/capture/manifest-file.c src/capture/manifest-file.h \
	src/capture/manifest.c src/capture/manifest.h \
	src/capture/pack-proto.h \
	src/capture/pack.c src/capture/pack.h \
	src/capture/restore-cursor.c src/capture/restore-cursor.h \
	src/capture/restore-metadata.c src/capture/restore-metadata.h \
	src/capture/restore.c src/capture/restore.h

# custody-pack: writes a worktree into one archive and reads it back.  Dynamic: Debian has no static libarchive, and only a slow
# share needs it.
pkglibexec_PROGRAMS += custody-pack
custody_pack_SOURCES = src/capture/pack-main.c src/capture/pack-proto.h
custody_pack_CPPFLAGS = $(AM_CPPFLAGS) $(LIBARCHIVE_CFLAGS)
custody_pack_LDFLAGS = $(HARDEN_LDFLAGS) $(PIE_LDFLAGS)
custody_pack_LDADD = $(LIBARCHIVE_LIBS)
