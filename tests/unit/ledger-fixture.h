/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by the tests of the ledger: a temporary state directory, ledgers of many records, whole files as bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-impl.h"
#include "ledger/ledger-reader.h"
#include "ledger/ledger-verify.h"
#include "ledger/ledger.h"

struct place {
	char state[64];
};

static inline bool place_make_in(struct place *p, const char *dir)
{
	(void)snprintf(p->state, sizeof(p->state), "%.30s/custody-test.XXXXXX", dir ? dir : "/tmp");
	return mkdtemp(p->state) != NULL;
}

static inline bool place_make_on_disk(struct place *p)
{
	return place_make_in(p, getenv("TMPDIR"));
}

/* On a file system where a sync is cheap, if one exists: most of these tests sync thousands of times. */
static inline bool place_make(struct place *p)
{
	return access("/dev/shm", W_OK) == 0 ? place_make_in(p, "/dev/shm") : place_make_on_disk(p);
}

static inline void place_done(struct place *p)
{
	char *slash = strrchr(p->state, '/');
	_cleanup_close_ int fd = -EBADF;

	if (!slash)
		return;
	*slash = '\0';
	fd = open(p->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || path_remove_tree(fd, slash + 1, NULL) < 0)
		printf("# %s was not removed\n", slash + 1);
	*slash = '/';
}
#define _cleanup_place_ _cleanup_(place_done)

static inline bool place_path(const struct place *p, const char *name, char path[256])
{
	return snprintf(path, 256, "%s/%s", p->state, name) < 256;
}

#define FIRST_SEGMENT "ledger/00000000000000000000.ndjson"
#define SEAL_PATH "ledger-keys/seal"

static inline char *slurp(const struct place *p, const char *name, size_t *ret_len)
{
	char path[256], *text = NULL;
	_cleanup_close_ int fd = -EBADF;

	if (!place_path(p, name, path))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, (size_t)1 << 30, &text, ret_len, NULL) < 0)
		return NULL;
	return text;
}

/* In place, so that descriptors that others hold see it. */
static inline bool spit(const struct place *p, const char *name, const void *bytes, size_t len)
{
	char path[256];
	_cleanup_close_ int fd = -EBADF;

	if (!place_path(p, name, path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd >= 0 && fd_write_all(fd, bytes, len, NULL) == 0;
}

static inline int put(struct ledger *l, const char *kind, enum ledger_class class)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = kind, .session = "s", .agent = "a", .d = d };
	int r;

	jdoc_set_string(d, "text", "some words about an event");
	jdoc_set_int(d, "pid", 4711);
	r = ledger_append(l, &e, 1, class, NULL, &f);
	if (r < 0)
		printf("# %s\n", fault_text(&f));
	return r;
}

/* A ledger of N records, genesis included, all synced.  K0 may be NULL. */
static inline bool fill(const struct place *p, size_t n, const struct ledger_options *o, struct digest *k0)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct ledger_options options = o ? *o : (struct ledger_options){ 0 };
	struct ledger_birth birth;

	options.create = true;
	if (ledger_open(p->state, &options, &l, &birth, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	if (k0 && digest_from_hex(birth.k0, k0) < 0)
		return false;
	for (size_t i = 1; i < n; i++)
		if (put(l, "test.event", LEDGER_OBSERVED) < 0)
			return false;
	return ledger_sync(l, &f) == 0;
}

static inline bool load_seal(const struct place *p, struct seal *ret)
{
	char path[256];
	_cleanup_close_ int fd = -EBADF;

	if (!place_path(p, SEAL_PATH, path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && seal_read(fd, ret, NULL) == 0;
}

static inline bool store_seal(const struct place *p, struct seal *s)
{
	char path[256];
	_cleanup_close_ int fd = -EBADF;

	if (!place_path(p, SEAL_PATH, path))
		return false;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd >= 0 && seal_write(fd, s, NULL) == 0;
}

static inline struct ledger_verify_result judge(const char *bytes, size_t len,
						const struct ledger_verify_options *o)
{
	struct ledger_verify_result result = { .status = VERIFY_TAMPERED, .why = "ENOMEM" };
	_cleanup_ledger_verify_ struct ledger_verify *v = ledger_verify_new(o);

	if (v) {
		(void)ledger_verify_feed(v, bytes, len);
		ledger_verify_end(v, &result);
	}
	return result;
}

/* The whole ledger as it is on disk, with its checkpoints and its seal.  K0 may be NULL. */
static inline struct ledger_verify_result verify_state(const struct place *p, const struct digest *k0)
{
	struct ledger_verify_result result = { .status = VERIFY_TAMPERED, .why = "unreadable" };
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_ledger_verify_ struct ledger_verify *v = NULL;
	struct ledger_verify_options o = { .k0 = k0, .n_k0 = k0 != NULL, .seal_is_of_this_boot = true };
	struct checkpoint checkpoints[64];
	static char buf[65536];
	uint64_t first;
	size_t len, used;

	if (ledger_reader_open_live(p->state, &s, NULL) < 0)
		return result;
	for (size_t at = 0; at < s.checkpoints_len; at += used + 1)
		if (o.n_checkpoints == 64 || checkpoint_parse(s.checkpoints + at, s.checkpoints_len - at,
							      &checkpoints[o.n_checkpoints++], &used) < 0)
			return result;
	o.checkpoints = checkpoints;
	o.seal = s.has_seal ? &s.seal : NULL;
	v = ledger_verify_new(&o);
	while (v && ledger_reader_read(&s, buf, sizeof(buf), &len, &first, NULL) == 0) {
		if (first != UINT64_MAX)
			ledger_verify_segment(v, first);
		if (!ledger_verify_feed(v, buf, len) || len == 0)
			break;
	}
	if (v)
		ledger_verify_end(v, &result);
	return result;
}
