/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "credential/secret-find.h"

#include "ledger/ledger-redact.h"

int secret_find(const struct secret *s, const char *text, size_t len, bool *ret, struct fault *f)
{
	const struct redact_secret value = { secret_bytes(s), secret_len(s) };
	int r = redact_find_spelled(text, len, &value, 1, ret);

	return r < 0 ? fault_errno(f, -r, "search for a credential") : 0;
}
