/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-impl.h"

static int open_dir(int statefd, const char *name, bool create, struct fault *f)
{
	struct stat st;
	int fd;

	if (create && mkdirat(statefd, name, 0700) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "create '%s'", name);
	fd = openat(statefd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", name);
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 077)) {
		fd_close(fd);
		return fault_set(f, EPERM, "'%s' must be owned by you, with mode 0700: chown %u, chmod 0700",
				 name, (unsigned int)geteuid());
	}
	return fd;
}

static int open_state(const char *state, bool create, struct fault *f)
{
	int fd;

	if (create)
		return path_make_dirs(AT_FDCWD, state, 0700, f);
	fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", state) : fd;
}

static struct ledger *new_ledger(const struct ledger_options *o)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->dirfd = l->keysfd = l->lockfd = l->syncfd = l->sealfd = l->segfd = -EBADF;
	l->segment = UINT64_MAX;
	l->segment_max = o->segment_max ? o->segment_max : LEDGER_SEGMENT_MAX;
	l->wall_us = o->wall_us ? o->wall_us : clock_wall_us;
	return l;
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	fd_close(l->dirfd);
	fd_close(l->keysfd);
	fd_close(l->lockfd);
	fd_close(l->syncfd);
	ledger_sync_done(l);
	fd_close(l->sealfd);
	fd_close(l->segfd);
	free(l->buf);
	free(l);
}

int ledger_open_dirs(const char *state, const struct ledger_options *o, struct ledger **ret, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = new_ledger(o);
	_cleanup_close_ int statefd = -EBADF;
	int r;

	if (!l)
		return fault_errno(f, ENOMEM, "ledger");
	statefd = open_state(state, o->create, f);
	if (statefd < 0)
		return statefd;
	l->dirfd = open_dir(statefd, LEDGER_DIR, o->create, f);
	if (l->dirfd < 0)
		return l->dirfd;
	l->keysfd = open_dir(statefd, LEDGER_KEYS_DIR, o->create, f);
	if (l->keysfd < 0)
		return l->keysfd;
	if (o->boot) {
		(void)snprintf(l->boot, sizeof(l->boot), "%.8s", o->boot);
	} else {
		r = clock_boot_id(l->boot, f);
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(l);
	return 0;
}

int ledger_refuse_unsealed(struct fault *f)
{
	return fault_set(f, EUCLEAN,
			 "the ledger's seal is missing: restore it, or start a new one with 'custody ledger "
			 "repair --new-seal', which is recorded");
}

int ledger_open_seal(struct ledger *l, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = openat(l->keysfd, SEAL_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open the seal");
	r = fd_require_private(fd, geteuid(), f);
	if (r < 0)
		return fault_wrap(f, r, "the seal");
	fd_close(l->sealfd);
	l->sealfd = TAKE_FD(fd);
	return 0;
}

/* Reserved space for ends when the disk is full. Without it decisions are refused. */
int ledger_make_reserve(struct ledger *l, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (faccessat(l->dirfd, LEDGER_RESERVE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	fd = openat(l->dirfd, LEDGER_RESERVE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", LEDGER_RESERVE);
	r = posix_fallocate(fd, 0, LEDGER_RESERVE_SIZE);
	if (r == 0)
		return 0;
	(void)unlinkat(l->dirfd, LEDGER_RESERVE, 0);
	return fault_errno(
		f, r, "the ledger's disk is full, no space to record the end of a run: free space there");
}

int ledger_replace_seal(struct ledger *l, const struct seal *s, struct fault *f)
{
	_cleanup_seal_ struct seal copy = *s;
	int r;

	memcpy(copy.boot, l->boot, sizeof(copy.boot));
	seal_set_check(&copy);
	r = fd_replace_file(l->keysfd, SEAL_FILE, &copy, sizeof(copy), 0600, f);
	if (r < 0)
		return r;
	return ledger_open_seal(l, f);
}

int ledger_put_birth(struct ledger *l, struct seal *s, const char *kind, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_free_ char *public = NULL;
	struct ledger_event e = { .kind = kind, .d = d, .verbatim = true };
	char commitment[DIGEST_HEX_SIZE];
	int r;

	r = checkpoint_public_load(l->dirfd, &public, f);
	if (r < 0)
		return r;
	seal_commitment(&s->key, commitment);
	jdoc_set_string(d, "k0", commitment);
	jdoc_set_string(d, "public", public);
	jdoc_set_string(d, "version", PACKAGE_VERSION);
	return ledger_put_event(l, s, &e, f);
}

static int keep_first_key(const struct ledger *l, const struct ledger_birth *birth, struct fault *f)
{
	char line[DIGEST_HEX_SIZE + 1];
	int n = snprintf(line, sizeof(line), "%s\n", birth->k0);
	int r = fd_replace_file(l->keysfd, LEDGER_FIRST_KEY, line, (size_t)n, 0400, f);

	explicit_bzero(line, sizeof(line));
	return r;
}

/*
 * Seal, key, segment, first record, in this order: a kill in between leaves a seal of 0 records, and the next
 * caller continues from there. No record can be lost, because none exists yet.
 */
static int give_birth(struct ledger *l, bool take_k0, struct ledger_birth *birth, struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	if (l->sealfd < 0) {
		r = seal_new(&s, f);
		if (r == 0)
			r = ledger_replace_seal(l, &s, f);
		if (r < 0)
			return r;
	}
	r = checkpoint_key_create(l->dirfd, l->keysfd, f);
	if (r == 0)
		r = ledger_make_reserve(l, f);
	if (r == 0)
		r = seal_read(l->sealfd, &s, f);
	if (r == 0)
		r = ledger_ready(l, &s, f);
	/* A first record with a seal of 0 records: a process was killed here, and its key is lost. */
	if (r < 0 || s.index > 0)
		return r;
	digest_to_hex(&s.key, birth->k0);
	/* Before the first record: after a kill the next caller finds the same key, and no record under it. */
	r = take_k0 ? 0 : keep_first_key(l, birth, f);
	if (r == 0)
		r = ledger_put_birth(l, &s, "ledger.open", f);
	birth->made = r == 0;
	return r;
}

/* Records without a seal are not continued: otherwise deleting the seal would be a way to forge a ledger. */
static int require_virgin(struct ledger *l, struct fault *f)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n;
	int r;

	r = segment_list(l->dirfd, &list, &n, f);
	if (r < 0)
		return r;
	if (n > 0 || faccessat(l->dirfd, LEDGER_PUBLIC, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return ledger_refuse_unsealed(f);
	return 0;
}

static int ensure_born(struct ledger *l, const struct ledger_options *o, struct ledger_birth *birth,
		       struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	r = ledger_open_seal(l, f);
	if (r == -ENOENT) {
		ledger_clear_fault(f);
		r = require_virgin(l, f);
		if (r < 0)
			return r;
		if (!o->create)
			return fault_set(f, ENOENT, "missing ledger: create it with 'custody ledger init'");
		return give_birth(l, o->take_k0, birth, f);
	}
	if (r < 0)
		return r;
	r = seal_read(l->sealfd, &s, f);
	if (r < 0)
		return r;
	return s.index == 0 ? give_birth(l, o->take_k0, birth, f) : 0;
}

int ledger_open(const char *state, const struct ledger_options *options, struct ledger **ret,
		struct ledger_birth *ret_birth, struct fault *f)
{
	static const struct ledger_options none = { 0 };
	const struct ledger_options *o = options ? options : &none;
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_birth birth = { 0 };
	int r;

	r = ledger_open_dirs(state, o, &l, f);
	if (r < 0)
		return fault_wrap(f, r, "ledger in '%s'", state);
	/* The seal of a ledger in use always exists: the lock is needed only if it is missing. */
	if (ledger_open_seal(l, NULL) < 0 || o->create) {
		r = ledger_lock(l, LOCK_EX, f);
		if (r == 0) {
			r = ensure_born(l, o, &birth, f);
			ledger_unlock(l);
		}
	}
	if (r == 0 && birth.made) {
		l->unsynced_since_ns = clock_boot_ns();
		r = ledger_sync(l, f);
	}
	if (r < 0)
		return fault_wrap(f, r, "ledger in '%s'", state);
	if (ret_birth)
		*ret_birth = birth;
	explicit_bzero(&birth, sizeof(birth));
	*ret = TAKE_PTR(l);
	return 0;
}
