/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "review/line-diff.h"
#include "review/reflog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_inside(const struct reflog_span *s, const char *line, size_t len)
{
	if (s->len && (s->text < line || s->len > len || (size_t)(s->text - line) > len - s->len))
		abort();
}

static void read_line(const char *line, size_t len)
{
	struct reflog_entry e;

	if (reflog_parse(line, len, &e) < 0)
		return;
	require_inside(&e.old, line, len);
	require_inside(&e.new, line, len);
	require_inside(&e.name, line, len);
	require_inside(&e.action, line, len);
	require_inside(&e.subject, line, len);
	if (e.time < 0 || e.old.len != e.new.len || (e.new.len != 40 && e.new.len != 64))
		abort();
}

/* The two halves as texts: the numbers are those of the whole diff. */
static void count(const char *text, size_t len)
{
	_cleanup_line_diff_ struct line_diff d = { 0 };
	size_t half = len / 2, added, removed;

	if (line_diff(text, half, text + half, len - half, &d, NULL) < 0 ||
	    line_diff_count(text, half, text + half, len - half, &removed, &added, NULL) < 0)
		return;
	if (d.added != added || d.removed != removed)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1); /* exactly as long, so that a sanitizer finds a read behind it */

	if (!text)
		return 0;
	text = size ? realloc(text, size) : text;
	if (!text)
		return 0;
	memcpy(text, data, size);
	read_line(text, size);
	count(text, size);
	free(text);
	return 0;
}
