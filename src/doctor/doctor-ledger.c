/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/path.h"
#include "doctor/doctor-host.h"
#include "ledger/ledger.h"
#include "ledger/ledger-peer.h"
#include "ledger/ledger-reader.h"

static bool has_first_key(const char *state)
{
	_cleanup_free_ char *path = path_join(state, "ledger-keys/" LEDGER_FIRST_KEY);

	return path && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* True when a ledger exists, so that its peers can be checked. */
static bool check_ledger(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_fault_ struct fault f = { 0 };
	int e = ledger_reader_open_live(d->state, &s, &f);

	if (e == -ENOENT)
		doctor_add(r, "HOST-LEDGER", DOCTOR_UNUSED, DOCTOR_INFO,
			   "custody ledger init shows the first seal key; a ledger created by the first run "
			   "keeps it in a file",
			   "no ledger yet");
	else if (e < 0)
		doctor_add(r, "HOST-LEDGER", DOCTOR_MISSING, DOCTOR_WARN, "custody ledger verify", "%s",
			   fault_text(&f));
	else if (!s.has_seal)
		doctor_add(r, "HOST-LEDGER", DOCTOR_MISSING, DOCTOR_WARN, "custody ledger repair --new-seal",
			   "the ledger's seal is missing");
	else if (has_first_key(d->state))
		doctor_add(r, "HOST-LEDGER", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "%" PRIu64
			   " records in '%s'; its first seal key is still in ledger-keys/" LEDGER_FIRST_KEY
			   ": move it to another machine, to verify the ledger with it",
			   s.seal.index, d->state);
	else
		doctor_add(r, "HOST-LEDGER", DOCTOR_OK, DOCTOR_INFO, NULL, "%" PRIu64 " records in '%s'",
			   s.seal.index, d->state);
	return e == 0;
}

static void add_peer(struct strbuf *text, const struct peer *p, const struct peer_state *st)
{
	strbuf_printf(text, "%s'%s' is %" PRIu64 " records behind%s%s", text->len > 0 ? "; " : "", p->name,
		      st->behind, st->error[0] ? ": " : "", st->error);
}

void doctor_check_ledger(struct doctor_report *r, const struct dirs *d)
{
	static const char id[] = "HOST-AUDIT-PEER";
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_peers_ struct peers peers = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	bool behind = false, there = check_ledger(r, d);
	int e = peer_load(d->state, &peers, &f);

	for (size_t i = 0; i < peers.n && there && e == 0; i++) {
		struct peer_state st;

		e = peer_state(d->state, &peers.items[i], &st, &f);
		if (e < 0)
			break;
		behind |= st.behind > 0 || st.error[0];
		add_peer(&text, &peers.items[i], &st);
	}
	if (e < 0)
		doctor_add(r, id, DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "%s", fault_text(&f));
	else if (peers.n == 0)
		doctor_add(r, id, DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "no audit peer: a rolled-back disk would not be detected");
	else if (!there)
		doctor_add(r, id, DOCTOR_UNUSED, DOCTOR_INFO, NULL, "nothing to send yet");
	else
		doctor_add(r, id, behind ? DOCTOR_LIMITED : DOCTOR_OK, behind ? DOCTOR_WARN : DOCTOR_INFO,
			   behind ? "custody ledger checkpoint sends the rest" : NULL, "%s",
			   text.text ? text.text : "?");
}
