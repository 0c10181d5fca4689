/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "credential/credential-answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_secret_ struct secret *token = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	/* A copy of exactly SIZE bytes, so that a read behind them is found. */
	_cleanup_free_ char *text = malloc(size ? size : 1);
	uint64_t expires;

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (credential_answer_parse(text, size, &token, &expires, &f) < 0) {
		if (token)
			abort();
		return 0;
	}
	if (secret_len(token) > size || secret_bytes(token)[secret_len(token)] != '\0')
		abort();
	return 0;
}
