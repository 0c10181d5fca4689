/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* Members of config.json that protect the host, with the type that the specification gives them. */
enum schema_type {
	SCHEMA_OBJECT,
	SCHEMA_ARRAY, /* of objects, where their members are listed */
	SCHEMA_STRING,
	SCHEMA_STRINGS,
	SCHEMA_NUMBER,
	SCHEMA_BOOLEAN,
	SCHEMA_ID, /* of a user or a group */
	SCHEMA_IDS,
	SCHEMA_CGROUP,
	SCHEMA_NAME,	 /* of one directory */
	SCHEMA_ABSOLUTE, /* a path in the root */
	SCHEMA_KIND,	 /* of a device */
};

#define SCHEMA_MAX 16

struct schema {
	size_t n;
	struct {
		const char *key;
		enum schema_type type;
		const struct schema *in;
	} list[SCHEMA_MAX];
};

extern const struct schema schema_config, schema_process, schema_resources;
