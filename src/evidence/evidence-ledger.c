/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger/ledger-record.h"
#include "ledger/ledger-reader.h"

struct search {
	const char *session;
	char digest[DIGEST_HEX_SIZE + 2]; /* as a record spells it, with its quotes */
	struct evidence_told *told;
};

static void look_at(void *arg, const char *line, size_t len)
{
	const struct search *x = arg;
	struct span digest;
	struct record r;
	const char *why;
	bool delivered;

	/* Most lines are of others: those are not read. */
	if (!memmem(line, len, x->session, strlen(x->session)) || record_parse(line, len, &r, &why) < 0 ||
	    !span_is(r.session, x->session) || !record_hash_verify(&r))
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

int evidence_find_told(const char *state, const char *session, const struct digest *metadata,
		       struct evidence_told *ret, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	char hex[DIGEST_HEX_SIZE];
	struct search x = { .session = session, .told = ret };
	int r;

	*ret = (struct evidence_told){ 0 };
	/* Names of sessions have nothing that a record would spell otherwise; what has, is none. */
	if (!*session || strpbrk(session, "\"\\"))
		return 0;
	digest_to_hex(metadata, hex);
	(void)snprintf(x.digest, sizeof(x.digest), "\"%s\"", hex);
	r = ledger_reader_open_live(state, &s, f);
	if (r == -ENOENT) {
		if (f)
			fault_done(f);
		return 0;
	}
	return r < 0 ? r : ledger_reader_look_through(&s, look_at, &x, f);
}
