/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-impl.h"

/*
 * A new key, and so another identity: grants name the old one.  Also after records may have been lost, because the uses
 * of these grants may have been among them.
 */
static int change_identity(struct ledger *l, struct seal *s, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct ledger_event e = { .kind = "ledger.key", .d = d, .verbatim = true };
	int r = checkpoint_key_replace(l, d, f);

	return r < 0 ? r : ledger_put_event(l, s, &e, f);
}

static int new_seal(struct ledger *l, struct seal *s, struct ledger_birth *birth, struct fault *f)
{
	int r;

	if (ledger_open_seal(l, NULL) == 0 && seal_read(l->sealfd, s, NULL) == 0)
		return fault_set(
			f, EEXIST,
			"the seal exists and is valid; '--accept-loss' continues after missing records");
	r = seal_new(s, f);
	if (r == 0)
		r = ledger_find_end(l, s, f);
	if (r == 0)
		r = checkpoint_key_create(l->dirfd, l->keysfd, f);
	if (r == 0)
		r = ledger_replace_seal(l, s, f);
	if (r < 0)
		return r;
	digest_to_hex(&s->key, birth->k0);
	r = ledger_put_birth(l, s, "seal.new", f);
	birth->made = r == 0;
	return r < 0 ? r : change_identity(l, s, f);
}

static int new_key(struct ledger *l, struct seal *s, struct fault *f)
{
	int r = ledger_ready(l, s, f);

	return r < 0 ? r : change_identity(l, s, f);
}

static int repair(struct ledger *l, struct seal *s, enum ledger_repair what, struct ledger_mark *before,
		  struct ledger_birth *birth, struct fault *f)
{
	int r;

	if (what == LEDGER_REPAIR_NEW_SEAL)
		return new_seal(l, s, birth, f);
	r = ledger_open_seal(l, NULL);
	if (r == -ENOENT)
		return ledger_refuse_unsealed(f);
	if (r < 0)
		return ledger_open_seal(l, f);
	r = seal_read(l->sealfd, s, f);
	if (r < 0)
		return r;
	*before = (struct ledger_mark){ .size = s->index, .head = s->head };
	if (what == LEDGER_REPAIR_NEW_KEY)
		return new_key(l, s, f);
	if (what == LEDGER_REPAIR_ACCEPT_LOSS) {
		/* Accept a loss only if recovery fails. */
		r = ledger_ready(l, s, NULL);
		if (r != -EUCLEAN)
			return r < 0 ? ledger_ready(l, s, f) : 0;
		r = ledger_accept_loss(l, s, f);
		return r < 0 ? r : change_identity(l, s, f);
	}
	return ledger_ready(l, s, f);
}

int ledger_repair(const char *state, const struct ledger_options *options, enum ledger_repair what,
		  struct ledger_mark *ret_before, struct ledger_mark *ret_after,
		  struct ledger_birth *ret_birth, struct fault *f)
{
	static const struct ledger_options none = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_seal_ struct seal s = { 0 };
	struct ledger_mark before = { 0 };
	int r;

	*ret_birth = (struct ledger_birth){ 0 };
	r = ledger_open_dirs(state, options ? options : &none, &l, f);
	if (r == 0)
		r = ledger_lock(l, LOCK_EX, f);
	if (r == 0) {
		r = repair(l, &s, what, &before, ret_birth, f);
		if (r == 0 && l->segfd >= 0 && fdatasync(l->segfd) < 0)
			r = fault_errno(f, errno, "sync");
		ledger_unlock(l);
	}
	if (r < 0)
		return fault_wrap(f, r, "ledger in '%s'", state);
	*ret_before = before;
	*ret_after = (struct ledger_mark){ .size = s.index, .head = s.head };
	return 0;
}
