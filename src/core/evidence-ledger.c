/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/evidence-ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/ledger-record.h"
#include "core/ledger-source.h"

#define BYTES ((size_t)4 * LEDGER_LINE_MAX)

struct search {
	const char *session;
	char digest[DIGEST_HEX_SIZE + 2]; /* as a record spells it, with its quotes */
	struct evidence_told *told;
};

static void look_at(const struct search *x, const char *line, size_t len)
{
	struct span digest;
	struct record r;
	const char *why;
	bool delivered;

	/* Most lines are of others: those are not read. */
	if (!memmem(line, len, x->session, strlen(x->session)) || record_parse(line, len, &r, &why) < 0 ||
	    !span_is(r.session, x->session) || !record_hash_holds(&r))
		return;
	delivered = record_kind_is(&r, "evidence.deliver");
	if (!delivered && !record_kind_is(&r, "session.end"))
		return;
	digest = record_get(&r, "evidence_sha256");
	if (!digest.at)
		return;
	if (!span_is(digest, x->digest)) {
		x->told->other = true;
		return;
	}
	x->told->named = true;
	x->told->delivered |= delivered;
}

/* Whole lines of BYTES; returns how many bytes they are. */
static size_t look_through(const struct search *x, const char *bytes, size_t len)
{
	size_t done = 0;
	const char *lf;

	while ((lf = memchr(bytes + done, '\n', len - done))) {
		size_t n = (size_t)(lf - bytes) + 1 - done;

		look_at(x, bytes + done, n);
		done += n;
	}
	return done;
}

static int read_all(struct source *s, const struct search *x, struct fault *f)
{
	_cleanup_free_ char *bytes = malloc(BYTES);
	size_t have = 0, n = 1;
	uint64_t first;

	if (!bytes)
		return fault_errno(f, ENOMEM, "ledger");
	while (n > 0 && have < BYTES) {
		size_t done;
		int r = source_read(s, bytes + have, BYTES - have, &n, &first, f);

		if (r < 0)
			return r;
		have += n;
		done = look_through(x, bytes, have);
		memmove(bytes, bytes + done, have - done);
		have -= done;
	}
	return 0;
}

int evidence_find_told(const char *state, const char *session, const struct digest *metadata,
		       struct evidence_told *ret, struct fault *f)
{
	_cleanup_source_ struct source s = { .dirfd = -EBADF, .fd = -EBADF };
	char hex[DIGEST_HEX_SIZE];
	struct search x = { .session = session, .told = ret };
	int r;

	*ret = (struct evidence_told){ 0 };
	/* Names of sessions have nothing that a record would spell otherwise; what has, is none. */
	if (!*session || strpbrk(session, "\"\\"))
		return 0;
	digest_to_hex(metadata, hex);
	(void)snprintf(x.digest, sizeof(x.digest), "\"%s\"", hex);
	r = source_open_live(state, &s, f);
	if (r == -ENOENT) {
		if (f)
			fault_done(f);
		return 0;
	}
	return r < 0 ? r : read_all(&s, &x, f);
}
