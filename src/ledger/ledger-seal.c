/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-seal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char magic[8] = { 'c', 's', 'e', 'a', 'l', ' ', '1', '\n' };
static const char evolve_label[] = "custody ledger seal: next key";

_Static_assert(sizeof(struct seal) <= 512,
	       "the state fits one sector, so that a power cut leaves the old or the new");
_Static_assert(sizeof(struct seal) == offsetof(struct seal, check) + sizeof(struct digest),
	       "no padding at the end");

int seal_new(struct seal *ret, struct fault *f)
{
	struct seal s = { 0 };
	ssize_t n;

	memcpy(s.magic, magic, sizeof(magic));
	do
		n = getrandom(&s.key, sizeof(s.key), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(s.key))
		return fault_errno(f, n < 0 ? errno : EIO, "getrandom");
	*ret = s;
	seal_done(&s);
	return 0;
}

static void check_of(const struct seal *s, struct digest *ret)
{
	digest_bytes(s, offsetof(struct seal, check), ret);
}

int seal_read(int fd, struct seal *ret, struct fault *f)
{
	struct digest check;
	ssize_t n;

	do
		n = pread(fd, ret, sizeof(*ret), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "read the seal");
	check_of(ret, &check);
	if (n != (ssize_t)sizeof(*ret) || memcmp(ret->magic, magic, sizeof(magic)) != 0 ||
	    memcmp(&check, &ret->check, sizeof(check)) != 0) {
		seal_done(ret);
		return fault_set(f, EBADMSG,
				 "the seal is damaged: 'custody ledger repair --new-seal' starts a new one");
	}
	return 0;
}

void seal_set_check(struct seal *s)
{
	check_of(s, &s->check);
}

int seal_write(int fd, struct seal *s, struct fault *f)
{
	ssize_t n;

	seal_set_check(s);
	do
		n = pwrite(fd, s, sizeof(*s), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*s))
		return fault_errno(f, n < 0 ? errno : ENOSPC, "write the seal");
	return 0;
}

void seal_done(struct seal *s)
{
	explicit_bzero(s, sizeof(*s));
}

void seal_mac(const struct digest *key, const void *bytes, size_t len, struct digest *ret)
{
	digest_hmac(key, sizeof(*key), bytes, len, ret);
}

void seal_evolve(struct digest *key, uint64_t steps)
{
	while (steps-- > 0)
		digest_hmac(key, sizeof(*key), evolve_label, sizeof(evolve_label) - 1, key);
}

void seal_commitment(const struct digest *key, char hex[DIGEST_HEX_SIZE])
{
	struct digest d;

	digest_bytes(key, sizeof(*key), &d);
	digest_to_hex(&d, hex);
}
