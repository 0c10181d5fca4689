/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "subject/git-identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A value that is passed shows on a terminal as it is, and is not empty. */
static void require_passable(const char *value)
{
	_cleanup_free_ char *escaped = value ? str_escape(value) : NULL;

	if (value && (!*value || strlen(value) > 256 || !escaped || strcmp(escaped, value) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_git_identity_ struct git_identity g = { 0 };
	_cleanup_free_ char *text = strndup((const char *)data, size);

	if (!text)
		return 0;
	git_identity_parse(text, &g);
	require_passable(g.name);
	require_passable(g.email);
	return 0;
}
