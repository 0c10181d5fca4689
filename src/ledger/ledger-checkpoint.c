/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "ledger/ledger-impl.h"

/* Reads a small private file as one line. */
static int read_line(int dirfd, const char *name, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open the ledger's '%s'", name);
	r = fd_read_all(fd, CHECKPOINT_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "the ledger's '%s'", name);
	text[strcspn(text, "\n")] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

int checkpoint_public_load(int dirfd, char **ret, struct fault *f)
{
	return read_line(dirfd, LEDGER_PUBLIC, ret, f);
}

static int write_line(int dirfd, const char *name, const char *text, mode_t mode, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, text);
	strbuf_putc(&b, '\n');
	if (b.broken)
		return fault_errno(f, ENOMEM, "'%s'", name);
	return fd_replace_file(dirfd, name, b.text, b.len, mode, f);
}

/* Stores SECRET for ORIGIN, replacing the current key. */
static int keep_key(int dirfd, int keysfd, const char *origin, const struct sign_secret *secret,
		    struct fault *f)
{
	char hex[2 * sizeof(secret->seed) + 1];
	_cleanup_free_ char *text = NULL;
	struct checkpoint_key key;
	int r;

	checkpoint_key_init(origin, &secret->public, &key);
	text = checkpoint_key_text(&key);
	if (!text)
		return fault_errno(f, ENOMEM, "public key");
	digest_hex(secret->seed, sizeof(secret->seed), hex);
	r = write_line(keysfd, LEDGER_KEY, hex, 0600, f);
	explicit_bzero(hex, sizeof(hex));
	return r < 0 ? r : write_line(dirfd, LEDGER_PUBLIC, text, 0644, f);
}

int checkpoint_key_create(int dirfd, int keysfd, struct fault *f)
{
	_cleanup_sign_ struct sign_secret secret = { 0 };
	char origin[ORIGIN_SIZE] = ORIGIN_PREFIX;
	uint8_t id[16];
	int r;

	if (faccessat(dirfd, LEDGER_PUBLIC, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (getrandom(id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return fault_errno(f, errno ? errno : EIO, "getrandom");
	digest_hex(id, sizeof(id), origin + sizeof(ORIGIN_PREFIX) - 1);
	r = sign_new(&secret, f);
	return r < 0 ? r : keep_key(dirfd, keysfd, origin, &secret, f);
}

static int load_key(int dirfd, int keysfd, struct checkpoint_key *ret_key, struct sign_secret *ret_secret,
		    struct fault *f)
{
	_cleanup_free_ char *public = NULL, *hex = NULL;
	struct digest seed;
	int r;

	r = checkpoint_public_load(dirfd, &public, f);
	if (r == 0)
		r = checkpoint_key_parse(public, ret_key, f);
	if (r == 0)
		r = read_line(keysfd, LEDGER_KEY, &hex, f);
	if (r < 0)
		return r;
	r = digest_from_hex(hex, &seed);
	explicit_bzero(hex, strlen(hex));
	if (r < 0)
		return fault_set(
			f, EBADMSG,
			"the ledger's signing key is damaged: run 'custody ledger repair --new-key'");
	sign_from_seed(seed.bytes, ret_secret);
	explicit_bzero(&seed, sizeof(seed));
	if (memcmp(&ret_secret->public, &ret_key->public, sizeof(ret_key->public)) != 0)
		return fault_set(
			f, EBADMSG,
			"the ledger's signing key does not match its public key: restore both, or run "
			"'custody ledger repair --new-key'");
	return 0;
}

int checkpoint_identity(int statefd, char **ret, struct fault *f)
{
	_cleanup_close_ int dirfd = openat(statefd, LEDGER_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int keysfd = -EBADF;
	_cleanup_sign_ struct sign_secret secret = { 0 };
	struct checkpoint_key key;
	int r;

	if (dirfd < 0)
		return errno == ENOENT ? -ENOENT : fault_errno(f, errno, "open '%s'", LEDGER_DIR);
	keysfd = openat(statefd, LEDGER_KEYS_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (keysfd < 0 && errno != ENOENT)
		return fault_errno(f, errno, "open '%s'", LEDGER_KEYS_DIR);
	r = load_key(dirfd, keysfd, &key, &secret, NULL);
	if (r == -ENOENT)
		return fault_set(
			f, EUCLEAN,
			"the ledger's public or private key is missing: restore it, or run 'custody ledger "
			"repair --new-key'");
	if (r < 0)
		return load_key(dirfd, keysfd, &key, &secret, f);
	*ret = checkpoint_key_text(&key);
	return *ret ? 0 : fault_errno(f, ENOMEM, "identity of the ledger");
}

/* The current end of the ledger, synced: signed records must not be lost. */
static int settle(struct ledger *l, struct ledger_mark *ret, struct fault *f)
{
	_cleanup_seal_ struct seal s = { 0 };
	int r;

	r = ledger_lock(l, LOCK_EX, f);
	if (r < 0)
		return r;
	r = seal_read(l->sealfd, &s, f);
	if (r == 0)
		r = ledger_ready(l, &s, f);
	ledger_unlock(l);
	if (r < 0)
		return r;
	*ret = (struct ledger_mark){ .size = s.index, .head = s.head };
	if (s.synced_index >= s.index)
		return 0;
	l->written_index = s.index;
	l->unsynced_since_ns = clock_boot_ns();
	return ledger_sync(l, f);
}

/* Checkpoints are appended, separated by empty lines. */
static int keep_checkpoint(struct ledger *l, const char *checkpoint, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = -EBADF;

	strbuf_printf(&b, "%s\n", checkpoint);
	if (b.broken)
		return fault_errno(f, ENOMEM, "checkpoint");
	/* Not blocking: a FIFO in its place must be an error. */
	fd = openat(l->dirfd, LEDGER_CHECKPOINTS,
		    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "open the ledger's '%s'", LEDGER_CHECKPOINTS);
	/* Not synced: it can be signed again, and the important copies are at the peers. */
	return fd_write_all(fd, b.text, b.len, f);
}

int ledger_checkpoint(struct ledger *l, char **ret_text, struct ledger_mark *ret_mark, struct fault *f)
{
	_cleanup_sign_ struct sign_secret secret = { 0 };
	_cleanup_free_ char *checkpoint = NULL;
	struct ledger_mark mark;
	struct checkpoint_key key;
	int r;

	r = load_key(l->dirfd, l->keysfd, &key, &secret, f);
	if (r == 0)
		r = settle(l, &mark, f);
	if (r < 0)
		return fault_wrap(f, r, "checkpoint");
	checkpoint = checkpoint_sign(&key, &secret, &mark);
	if (!checkpoint)
		return fault_errno(f, ENOMEM, "checkpoint");
	r = keep_checkpoint(l, checkpoint, f);
	if (r < 0)
		return fault_wrap(f, r, "checkpoint");
	if (ret_text)
		*ret_text = TAKE_PTR(checkpoint);
	if (ret_mark)
		*ret_mark = mark;
	return 0;
}

int checkpoint_key_replace(struct ledger *l, struct jdoc *d, struct fault *f)
{
	_cleanup_sign_ struct sign_secret secret = { 0 };
	_cleanup_free_ char *was = NULL, *now = NULL;
	struct checkpoint_key key;
	int r;

	r = checkpoint_public_load(l->dirfd, &was, f);
	if (r == -ENOENT) {
		/* The origin is lost with the public file. */
		ledger_clear_fault(f);
		r = checkpoint_key_create(l->dirfd, l->keysfd, f);
	} else if (r == 0) {
		r = checkpoint_key_parse(was, &key, f);
		if (r == 0)
			r = sign_new(&secret, f);
		if (r == 0)
			r = keep_key(l->dirfd, l->keysfd, key.origin, &secret, f);
	}
	if (r == 0)
		r = checkpoint_public_load(l->dirfd, &now, f);
	if (r < 0)
		return r;
	jdoc_set_string(d, "public", now);
	if (was)
		jdoc_set_string(d, "was", was);
	return 0;
}
