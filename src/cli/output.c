/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "ledger/ledger-record.h"

int output_put_json(const struct strbuf *text, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf ascii = { 0 };

	if (isatty(STDOUT_FILENO)) {
		record_put_ascii(&ascii, text->text, text->len);
		text = &ascii;
	}
	if (text->broken)
		return fault_errno(f, ENOMEM, "print");
	(void)fputs(text->text, stdout);
	return 0;
}

int output_print(const struct jdoc *d, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r = jdoc_write(d, JDOC_PRETTY, &b, f);

	return r < 0 ? r : output_put_json(&b, f);
}
