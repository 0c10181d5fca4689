/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(const char *admin, size_t admin_len, const char *user, size_t user_len, struct config **ret,
		 struct fault *f)
{
	const struct config_texts t = {
		.admin = admin, .admin_len = admin_len, .user = user, .user_len = user_len
	};

	return config_parse(&t, ret, f);
}

/* An accepted document is accepted again when written out; every value has its source. */
static void require_stable(const struct config *c)
{
	_cleanup_config_ struct config *again = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (jdoc_write(c->document, JDOC_PRETTY, &b, NULL) < 0 || b.len > CONFIG_SIZE_MAX)
		return;
	if (parse(b.text, b.len, NULL, 0, &again, NULL) < 0 || !jdoc_equal(c->document, again->document))
		abort();
	for (size_t i = 0; i < c->n_values; i++)
		if (!c->values[i].source || !c->values[i].path)
			abort();
}

/* A user's file equal to the admin's loosens nothing. */
static void require_reflexive(const char *text, size_t len)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (parse(text, len, text, len, &c, &f) < 0 && (!f.text || strstr(f.text, "loosens")))
		abort();
}

/* The admin's text, a NUL, the user's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t admin = strnlen(text, size);
	_cleanup_config_ struct config *c = NULL, *alone = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (size > CONFIG_SIZE_MAX)
		return 0;
	if (parse(text, admin, NULL, 0, &alone, NULL) == 0) {
		require_stable(alone);
		require_reflexive(text, admin);
	}
	if (admin == size)
		return 0;
	if (parse(text, admin, text + admin + 1, size - admin - 1, &c, &f) == 0)
		require_stable(c);
	return 0;
}
