/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace-message.h"

#include <string.h>

static bool has_kind(const struct trace_head *h)
{
	switch (h->kind) {
	case TRACE_KIND_CALL:
	case TRACE_KIND_REPEAT:
		return h->texts <= TRACE_ARGS_MAX && h->err == 0;
	case TRACE_KIND_DENIED:
		return h->texts == 0 && h->err > 0;
	case TRACE_KIND_END:
		return h->texts == 0;
	default:
		return false;
	}
}

bool trace_message_parse(const char *bytes, size_t len, struct trace_message *ret)
{
	const char *at = bytes + sizeof(ret->head), *end = bytes + len;

	if (len < sizeof(ret->head) || len > TRACE_MESSAGE_MAX)
		return false;
	memcpy(&ret->head, bytes, sizeof(ret->head));
	if (!has_kind(&ret->head))
		return false;
	for (uint32_t i = 0; i < ret->head.texts; i++) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));

		if (!nul)
			return false;
		ret->texts[i] = at;
		at = nul + 1;
	}
	ret->texts[ret->head.texts] = NULL;
	return at == end;
}
