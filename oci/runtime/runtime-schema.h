/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* The members of config.json, of an exec's process and of an update's resources, with the type that the specification gives them. */
enum schema_type {
	SCHEMA_OBJECT,
	SCHEMA_ARRAY, /* of objects, where their members are listed */
	SCHEMA_MAP,   /* from names that the caller chooses to strings */
	SCHEMA_MAP_OF_OBJECTS,
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
	SCHEMA_PROPAGATION,
};

/* A version of libcrun as a number that can be compared. */
#define LIBCRUN_NUMBER(major, minor, patch) ((major)*10000u + (minor)*100u + (patch))

struct schema_member {
	const char *key; /* NULL ends a list */
	enum schema_type type;
	const struct schema_member *in;
	unsigned int since; /* first libcrun that does what the member says; UINT_MAX: none */
};

#define SCHEMA_MAX 32 /* members of one object */

extern const struct schema_member schema_config[], schema_process[], schema_resources[];
