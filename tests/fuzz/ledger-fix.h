/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A fuzzer cannot guess hashes.  fix_lines gives each line that ends like a record the right prev, seal and h, so that the
 * code after those checks is reached as well. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger-record.h"
#include "ledger/ledger-seal.h"

static inline void fix_lines(char *text, size_t len, struct digest key)
{
	struct digest head = { 0 }, d;
	char hex[DIGEST_HEX_SIZE];

	for (char *line = text, *end; (end = memchr(line, '\n', len - (size_t)(line - text)));
	     line = end + 1) {
		size_t n = (size_t)(end + 1 - line);
		char *prev = memmem(line, n, "\"prev\":\"", 8);

		if (n < 2 * RECORD_SUFFIX + RECORD_SEAL + 200 ||
		    memcmp(end + 1 - RECORD_SUFFIX, ",\"h\":\"", 6) != 0)
			continue;
		if (prev && prev - line < 40) {
			digest_to_hex(&head, hex);
			memcpy(prev + 8, hex, 64);
		}
		if (memcmp(end + 1 - RECORD_SUFFIX - RECORD_SEAL, ",\"m\":\"", 6) == 0) {
			seal_mac(&key, line, n - RECORD_SUFFIX - RECORD_SEAL, &d);
			digest_to_hex(&d, hex);
			memcpy(end + 1 - RECORD_SUFFIX - RECORD_SEAL + 6, hex, 64);
		}
		digest_bytes(line, n - RECORD_SUFFIX, &head);
		digest_to_hex(&head, hex);
		memcpy(end + 1 - RECORD_SUFFIX + 6, hex, 64);
		seal_evolve(&key, 1);
	}
}

/* The bytes after the first, in memory of their own and with hashes set right if bit 0 of the first one is set; NULL: no input. */
static inline char *ledger_input(const uint8_t *data, size_t size, struct digest key)
{
	char *text = size < 1 ? NULL : malloc(size);

	if (!text)
		return NULL;
	memcpy(text, data + 1, size - 1);
	if (data[0] & 1)
		fix_lines(text, size - 1, key);
	return text;
}

static inline void require(bool holds)
{
	if (!holds)
		abort();
}
