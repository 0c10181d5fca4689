/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* The rules: one table (inspect-rule.c), which docs/design/inspection.md shows.  Their names are in custody.json and in the ledger. */
enum inspect_rule {
	INSPECT_SECRET_KNOWN, /* zero: cannot be allowed */
	INSPECT_SECRET_PEM,
	INSPECT_SECRET_KEY_FILE,
	INSPECT_SECRET_ANTHROPIC,
	INSPECT_SECRET_AWS,
	INSPECT_SECRET_AZURE,
	INSPECT_SECRET_CLOUD,
	INSPECT_SECRET_GITHUB,
	INSPECT_SECRET_GITLAB,
	INSPECT_SECRET_GOOGLE,
	INSPECT_SECRET_HUGGINGFACE,
	INSPECT_SECRET_JWT,
	INSPECT_SECRET_NPM,
	INSPECT_SECRET_OPENAI,
	INSPECT_SECRET_PYPI,
	INSPECT_SECRET_SERVICE,
	INSPECT_SECRET_SLACK,
	INSPECT_SECRET_STRIPE,
	INSPECT_SECRET_VAULT,
	INSPECT_SECRET_URL,
	INSPECT_SECRET_HEADER,
	INSPECT_SECRET_ENTROPY,
	INSPECT_PROC_ENVIRON,
	INSPECT_PROC_PATH,
	INSPECT_LINE_LONG,
	INSPECT_TEXT_LARGE,
	INSPECT_PATH_FORM,
	INSPECT_PATH_GIT,
	INSPECT_PATH_GIT_HOOK,
	INSPECT_PATH_SSH,
	INSPECT_PATH_ENV,
	INSPECT_PATH_CREDENTIALS,
	INSPECT_PATH_KEY,
	INSPECT_PATH_CUSTODY,
	INSPECT_PATH_CI,
	INSPECT_MODE_SYMLINK,
	INSPECT_MODE_SYMLINK_OUTSIDE,
	INSPECT_MODE_EXECUTABLE,
	INSPECT_MODE_SET_ID,
	INSPECT_MODE_UNKNOWN,
	INSPECT_CHANGE_SUBMODULE,
	INSPECT_CHANGE_GITATTRIBUTES,
	INSPECT_CHANGE_UNKNOWN,
	_INSPECT_RULE_MAX,
};

const char *inspect_rule_name(enum inspect_rule r);
const char *inspect_rule_text(enum inspect_rule r); /* one line: finds ... */
bool inspect_rule_is_fixed(enum inspect_rule r);    /* it cannot be allowed */

/* NAMES (NULL or NULL-terminated) as a set: bit 1 << RULE.  -EINVAL: one that does not exist, or is fixed. */
int inspect_rules_parse(char *const *names, uint64_t *ret, struct fault *f) _must_check_;
