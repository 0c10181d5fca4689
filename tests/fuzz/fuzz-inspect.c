/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECRET "Tr0ub4dor&3-known"
#define TOKEN   \
	"\nghp" \
	"_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2\n"

static const struct redact_secret known = { SECRET, sizeof(SECRET) - 1 };
static const struct inspect_options options = { .secrets = &known, .n_secrets = 1 };

static bool has(const struct inspect_found *found, enum inspect_rule rule)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->items[i].rule == rule)
			return true;
	return found->total > found->n;
}

/* A place is plain, and has no part of a secret. */
static void check_places(const struct inspect_found *found)
{
	_cleanup_free_ char *text = inspect_found_describe(found);
	_cleanup_jdoc_ struct jdoc *list = inspect_found_to_json(found);

	if (!text || list->broken || found->n > found->total || (found->total > 0) != (text[0] != '\0'))
		abort();
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			abort();
	if (strstr(text, SECRET))
		abort();
}

/* A secret that is planted between any bytes is found. */
static void plant(const uint8_t *data, size_t size, const char *secret, enum inspect_rule rule)
{
	const size_t n = strlen(secret), half = size / 2;
	_cleanup_inspect_found_ struct inspect_found found = { .options = &options };
	_cleanup_free_ char *text = malloc(size + n);

	if (!text)
		abort();
	memcpy(text, data, half);
	memcpy(text + half, secret, n);
	memcpy(text + half + n, data + half, size - half);
	inspect_text("text", text, size + n, &found);
	if (!has(&found, rule))
		abort();
	check_places(&found);
}

static void check_params(const uint8_t *data, size_t size)
{
	_cleanup_inspect_found_ struct inspect_found found = { .options = &options };
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (jdoc_parse((const char *)data, size, "params", NULL, &d, NULL) < 0)
		return;
	inspect_params(d, &found);
	check_places(&found);
}

static void check_change(const uint8_t *data, size_t size)
{
	static const uint32_t modes[] = { 0, 0100644, 0100755, 0120000, 0160000, 040000, 0104755, 0100664 };
	_cleanup_inspect_found_ struct inspect_found found = { .options = &options };
	_cleanup_free_ char *text = calloc(size + 1, 1), *secret = NULL;
	struct inspect_change c;

	if (!text)
		abort();
	memcpy(text, data, size);
	c = (struct inspect_change){ .status = "AMDRCTX"[size % 7],
				     .path = text,
				     .old_path = size % 2 ? text + strlen(text) / 2 : NULL,
				     .old_mode = modes[size / 7 % 8],
				     .mode = modes[size / 56 % 8] };
	inspect_change(&c, &found);
	inspect_content(&c, text, size, &found);
	inspect_path(text, size, &found);
	check_places(&found);
	/* A path with a secret is not repeated. */
	secret = inspect_place(SECRET, strlen(SECRET), &options);
	if (!secret || strstr(secret, SECRET))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plant(data, size, SECRET, INSPECT_SECRET_KNOWN);
	plant(data, size, TOKEN, INSPECT_SECRET_GITHUB);
	check_params(data, size);
	check_change(data, size);
	return 0;
}
