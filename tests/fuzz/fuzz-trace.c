/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace-memory.h"
#include "trace/trace-message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_message(const char *bytes, size_t size)
{
	struct trace_message m;
	size_t len = sizeof(m.head);

	if (!trace_message_parse(bytes, size, &m))
		return;
	if (m.head.texts > TRACE_ARGS_MAX || m.texts[m.head.texts])
		abort();
	for (uint32_t i = 0; i < m.head.texts; i++)
		len += strlen(m.texts[i]) + 1;
	if (len != size)
		abort();
}

/* A message with a valid head, so that its texts are reached. */
static void try_texts(const uint8_t *data, size_t size)
{
	const struct trace_head h = { .kind = TRACE_KIND_CALL, .texts = size ? data[0] : 0 };
	char *bytes = malloc(sizeof(h) + size);

	if (!bytes)
		return;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), data, size);
	require_message(bytes, sizeof(h) + size);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes =
		malloc(size ? size : 1); /* exactly as long, so that a sanitizer finds a read behind it */
	char address[TRACE_ADDRESS_SIZE], *text = strndup((const char *)data, size);

	if (bytes && text) {
		memcpy(bytes, data, size);
		require_message(bytes, size);
		trace_address_text(bytes, size, address);
		if (!memchr(address, '\0', sizeof(address)) || trace_inner_pid(text) < 0)
			abort();
	}
	free(bytes);
	free(text);
	try_texts(data, size);
	return 0;
}
