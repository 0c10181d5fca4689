/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "base/json-span.h"

#define RUNTIME_CONFIG_MAX ((size_t)16 * 1024 * 1024)
#define RUNTIME_CONFIG_DEPTH 128 /* libcrun's parser frees a tree by recursion */

/*
 * A JSON text that somebody else wrote (config.json, a process, resources), read once: what was looked at is what
 * libcrun gets.  Regular file (or stdin, for "-"), bounded in size and depth, one object, no NUL.
 */
struct runtime_json {
	char *text;
	struct jspan object;
};

int runtime_json_load(const char *path, struct runtime_json *ret, struct fault *f) _must_check_;
int runtime_json_parse(char *text, size_t len, const char *label, struct runtime_json *ret,
		       struct fault *f) _must_check_; /* owns TEXT from the call on */
void runtime_json_done(struct runtime_json *j);
#define _cleanup_runtime_json_ _cleanup_(runtime_json_done)

/* A version that libcrun implements and a root directory that exists; relative paths start at the bundle. */
int runtime_config_require(const struct runtime_json *config, const char *bundle,
			   struct fault *f) _must_check_;

/*
 * Blanks the member NAME of the object SECTION when its value is written as VALUE, together with one comma.  Everything
 * else stays where it is.  What is not there, or not so, is left alone.
 */
void runtime_json_blank(struct runtime_json *j, const char *section, const char *name, const char *value);
