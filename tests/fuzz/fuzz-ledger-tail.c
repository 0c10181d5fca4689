/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a segment as recovery reads it.  First byte: with or without keys, and whether hashes are set right. */
#include <stdint.h>
#include <stdlib.h>

#include "ledger/ledger-impl.h"
#include "ledger-fix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger_tail t = { .stop = UINT64_MAX }, again = { .stop = UINT64_MAX },
			   stopped = { .stop = 1 };
	struct digest key = { 0 }, key_again = { 0 };
	uint8_t how;
	char *text = ledger_input(data, size, key);

	if (!text)
		return 0;
	how = data[0];
	size--;
	ledger_tail_scan(text, size, how & 2 ? &key : NULL, &t);
	require(t.good <= size && t.last_len <= t.good && (t.good == 0) == (t.seq == 0));
	require(t.good == 0 || text[t.good - 1] == '\n');
	/* The valid part is valid again and has the same length: recovery may be killed and start over. */
	ledger_tail_scan(text, t.good, how & 2 ? &key_again : NULL, &again);
	require(again.good == t.good && again.seq == t.seq && !again.why &&
		memcmp(&again.head, &t.head, 32) == 0);
	require(memcmp(&key, &key_again, sizeof(key)) == 0);
	ledger_tail_scan(text, size, NULL, &stopped);
	require(stopped.seq <= 1);
	free(text);
	return 0;
}
