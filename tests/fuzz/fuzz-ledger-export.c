/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-span.h"
#include "ledger/ledger-export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One line, and one JSON text where the format is JSON: no record can add a row or a member of its own. */
static void require_line(enum export_format format, const struct record *r)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	struct jspan root;

	export_record(format, r, &out);
	if (out.broken || out.len == 0 || memchr(out.text, '\n', out.len) != out.text + out.len - 1)
		abort();
	if (format == EXPORT_CEF ? strncmp(out.text, "CEF:0|custody|custody|1|", 24) != 0
				 : jspan_check(out.text, out.len, 80) < 0 ||
					   jspan_root(out.text, out.len, &root) < 0 || !jspan_is(root, '{'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *line = malloc(size ? size : 1);
	struct record r;
	const char *why;

	if (!line)
		return 0;
	memcpy(line, data, size);
	if (record_parse(line, size, &r, &why) < 0)
		return 0;
	for (int format = EXPORT_JSONL; format < _EXPORT_FORMAT_MAX; format++)
		require_line((enum export_format)format, &r);
	return 0;
}
