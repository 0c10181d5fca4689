/* SPDX-License-Identifier: GPL-2.0-or-later */
/* First byte: what the ledger is held against and whether its hashes are set right; the rest is the ledger. */
#include <stdint.h>
#include <stdlib.h>

#include "ledger/ledger-verify.h"
#include "ledger-fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ledger_verify_result judge(const char *text, size_t len, size_t step,
					 const struct ledger_verify_options *o)
{
	struct ledger_verify_result r = { 0 };
	_cleanup_ledger_verify_ struct ledger_verify *v = ledger_verify_new(o);

	if (!v)
		return r;
	for (size_t at = 0; at < len; at += step)
		(void)ledger_verify_feed(v, text + at, len - at < step ? len - at : step);
	ledger_verify_end(v, &r);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct digest zero = { 0 };
	struct seal seal = { .index = 3, .synced_index = 2, .key = { .bytes = { 7 } } };
	struct checkpoint checkpoints[1] = { { .mark.size = 2, .text = "", .text_len = 0 } };
	const struct ledger_mark anchor = { .size = 2 };
	struct ledger_verify_options o = { 0 };
	struct ledger_verify_result whole, parts;
	uint8_t how;
	char *text = ledger_input(data, size, zero);

	if (!text)
		return 0;
	how = data[0];
	size--;
	if (how & 2) {
		o.k0 = &zero;
		o.n_k0 = 1;
	}
	if (how & 4)
		o.seal = &seal;
	if (how & 8) {
		o.checkpoints = checkpoints;
		o.n_checkpoints = 1;
	}
	o.anchor = how & 16 ? &anchor : NULL;
	o.from_checkpoint = how & 32;
	o.seal_is_of_this_boot = how & 64;

	whole = judge(text, size, size ? size : 1, &o);
	parts = judge(text, size, 1 + how % 7, &o);
	/* The size of the portions does not matter, and a valid ledger was read to its end. */
	require(whole.status == parts.status && whole.next == parts.next && whole.bytes == parts.bytes);
	require(whole.bytes <= size);
	if (whole.status == VERIFY_OK || whole.status == VERIFY_BARE)
		require(whole.bytes == size);
	else
		require(whole.why[0] != '\0');
	free(text);
	return 0;
}
