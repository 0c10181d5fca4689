/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/json-span.h"
#include "base/str.h"

#define RUNTIME_CONFIG_MAX ((size_t)16 * 1024 * 1024)
#define RUNTIME_CONFIG_DEPTH 128 /* libcrun's parser frees a tree by recursion */

/*
 * An untrusted JSON text (config.json, a process, resources), read once, so that libcrun gets the checked bytes.
 * Regular file, unnamed pipe (/dev/fd/N) or stdin (for "-"), bounded in size and depth, one object, no NUL.
 */
struct runtime_json {
	char *text;
	struct jspan object;
};

int runtime_json_load(const char *path, struct runtime_json *ret, struct fault *f) _must_check_;
int runtime_json_parse(char *text, size_t len, const char *label, struct runtime_json *ret,
		       struct fault *f) _must_check_; /* takes ownership of TEXT */
void runtime_json_done(struct runtime_json *j);
#define _cleanup_runtime_json_ _cleanup_(runtime_json_done)

/*
 * Members that the linked libcrun implements (runtime-types.h), and a root directory that it can prepare (runtime-rootfs.h).
 * BUNDLE is the working directory: relative paths start there.  NOTIFY: the socket that libcrun will create inside, or NULL.
 * IGNORED gets the names of members of the root object that are in no specification.
 */
int runtime_config_require(const struct runtime_json *config, const char *bundle, const char *notify,
			   struct strbuf *ignored, struct fault *f) _must_check_;

/*
 * Blanks the member NAME of the object SECTION when its value is written as VALUE, together with one comma.  Everything
 * else is unchanged, also a member that is missing or has another value.
 */
void runtime_json_blank(struct runtime_json *j, const char *section, const char *name, const char *value);
