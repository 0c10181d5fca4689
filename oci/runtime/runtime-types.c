/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-types.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"

enum type {
	OBJECT,
	ARRAY, /* of objects, where their members are listed */
	STRING,
	STRINGS,
	NUMBER,
	BOOLEAN,
	ID, /* of a user or a group */
	IDS,
	CGROUP,
	NAME, /* of one directory */
};

#define MEMBERS_MAX 16

struct members {
	size_t n;
	struct {
		const char *key;
		enum type type;
		const struct members *in;
	} list[MEMBERS_MAX];
};

/* clang-format off */
static const struct members user = { 4, {
	{ "uid",            ID,     NULL },
	{ "gid",            ID,     NULL },
	{ "additionalGids", IDS,    NULL },
	{ "umask",          NUMBER, NULL },
} };

static const struct members capabilities = { 5, {
	{ "bounding",    STRINGS, NULL },
	{ "effective",   STRINGS, NULL },
	{ "permitted",   STRINGS, NULL },
	{ "inheritable", STRINGS, NULL },
	{ "ambient",     STRINGS, NULL },
} };

static const struct members rlimit = { 3, {
	{ "type", STRING,  NULL },
	{ "hard", NUMBER,  NULL },
	{ "soft", NUMBER,  NULL },
} };

static const struct members process = { 10, {
	{ "args",            STRINGS, NULL },
	{ "env",             STRINGS, NULL },
	{ "cwd",             STRING,  NULL },
	{ "terminal",        BOOLEAN, NULL },
	{ "user",            OBJECT,  &user },
	{ "capabilities",    OBJECT,  &capabilities },
	{ "noNewPrivileges", BOOLEAN, NULL },
	{ "apparmorProfile", STRING,  NULL },
	{ "selinuxLabel",    STRING,  NULL },
	{ "rlimits",         ARRAY,   &rlimit },
} };

static const struct members root = { 2, {
	{ "path",     STRING,  NULL },
	{ "readonly", BOOLEAN, NULL },
} };

static const struct members mount = { 4, {
	{ "destination", STRING,  NULL },
	{ "type",        STRING,  NULL },
	{ "source",      STRING,  NULL },
	{ "options",     STRINGS, NULL },
} };

static const struct members hook = { 4, {
	{ "path",    STRING,  NULL },
	{ "args",    STRINGS, NULL },
	{ "env",     STRINGS, NULL },
	{ "timeout", NUMBER,  NULL },
} };

static const struct members hooks = { 6, {
	{ "prestart",        ARRAY,   &hook },
	{ "createRuntime",   ARRAY,   &hook },
	{ "createContainer", ARRAY,   &hook },
	{ "startContainer",  ARRAY,   &hook },
	{ "poststart",       ARRAY,   &hook },
	{ "poststop",        ARRAY,   &hook },
} };

static const struct members rule = { 5, {
	{ "allow",  BOOLEAN, NULL },
	{ "type",   STRING,  NULL },
	{ "access", STRING,  NULL },
	{ "major",  NUMBER,  NULL },
	{ "minor",  NUMBER,  NULL },
} };

static const struct members memory = { 6, {
	{ "limit",            NUMBER,  NULL },
	{ "swap",             NUMBER,  NULL },
	{ "reservation",      NUMBER,  NULL },
	{ "kernel",           NUMBER,  NULL },
	{ "kernelTCP",        NUMBER,  NULL },
	{ "disableOOMKiller", BOOLEAN, NULL },
} };

static const struct members cpu = { 7, {
	{ "shares",          NUMBER, NULL },
	{ "quota",           NUMBER, NULL },
	{ "period",          NUMBER, NULL },
	{ "realtimeRuntime", NUMBER, NULL },
	{ "realtimePeriod",  NUMBER, NULL },
	{ "cpus",            STRING, NULL },
	{ "mems",            STRING, NULL },
} };

static const struct members pids = { 1, {
	{ "limit", NUMBER, NULL },
} };

static const struct members resources = { 6, {
	{ "devices", ARRAY,  &rule },
	{ "memory",  OBJECT, &memory },
	{ "cpu",     OBJECT, &cpu },
	{ "pids",    OBJECT, &pids },
	{ "blockIO", OBJECT, NULL },
	{ "unified", OBJECT, NULL },
} };

static const struct members namespace = { 2, {
	{ "type", STRING,  NULL },
	{ "path", STRING,  NULL },
} };

static const struct members mapping = { 3, {
	{ "containerID", NUMBER,  NULL },
	{ "hostID",      NUMBER,  NULL },
	{ "size",        NUMBER,  NULL },
} };

static const struct members argument = { 4, {
	{ "index",    NUMBER,  NULL },
	{ "value",    NUMBER,  NULL },
	{ "valueTwo", NUMBER,  NULL },
	{ "op",       STRING,  NULL },
} };

static const struct members syscall = { 4, {
	{ "names",    STRINGS, NULL },
	{ "action",   STRING,  NULL },
	{ "errnoRet", NUMBER,  NULL },
	{ "args",     ARRAY,   &argument },
} };

static const struct members seccomp = { 6, {
	{ "defaultAction",   STRING,  NULL },
	{ "defaultErrnoRet", NUMBER,  NULL },
	{ "architectures",   STRINGS, NULL },
	{ "flags",           STRINGS, NULL },
	{ "listenerPath",    STRING,  NULL },
	{ "syscalls",        ARRAY,   &syscall },
} };

static const struct members rdt = { 1, {
	{ "closID", NAME,    NULL },
} };

static const struct members of_linux = { 13, {
	{ "namespaces",        ARRAY,   &namespace },
	{ "uidMappings",       ARRAY,   &mapping },
	{ "gidMappings",       ARRAY,   &mapping },
	{ "devices",           ARRAY,   NULL },
	{ "cgroupsPath",       CGROUP,  NULL },
	{ "resources",         OBJECT,  &resources },
	{ "rootfsPropagation", STRING,  NULL },
	{ "seccomp",           OBJECT,  &seccomp },
	{ "intelRdt",          OBJECT,  &rdt },
	{ "sysctl",            OBJECT,  NULL },
	{ "maskedPaths",       STRINGS, NULL },
	{ "readonlyPaths",     STRINGS, NULL },
	{ "mountLabel",        STRING,  NULL },
} };

static const struct members config = { 6, {
	{ "process",     OBJECT, &process },
	{ "root",        OBJECT, &root },
	{ "mounts",      ARRAY,  &mount },
	{ "hooks",       OBJECT, &hooks },
	{ "annotations", OBJECT, NULL },
	{ "linux",       OBJECT, &of_linux },
} };

static const char *const names[] = {
	[OBJECT]  = "an object",
	[ARRAY]   = "an array",
	[STRING]  = "a string",
	[STRINGS] = "an array of strings",
	[NUMBER]  = "a number",
	[BOOLEAN] = "true or false",
	[ID]      = "an id from 0 to 4294967294",
	[IDS]     = "an array of ids from 0 to 4294967294",
	[CGROUP]  = "a path without '..'",
	[NAME]    = "the name of a directory",
};
/* clang-format on */

static bool is_word(struct jspan v, const char *word)
{
	return v.len == strlen(word) && !memcmp(v.at, word, v.len);
}

static bool is_string(struct jspan v)
{
	return jspan_is(v, '"');
}

/* -1 as an id means "do not change it" to the kernel: the process would stay root. */
static bool is_id(struct jspan v)
{
	_cleanup_free_ char *text = strndup(v.at, v.len);
	uint64_t n;

	return text && str_to_u64(text, &n) == 0 && n < UINT32_MAX;
}

static bool is_array_of(struct jspan array, bool (*is_item)(struct jspan v))
{
	struct jspan item;
	const char *at = NULL;
	int r;

	while ((r = jspan_next_item(array, &at, &item)) > 0)
		if (!is_item(item))
			return false;
	return r == 0 && jspan_is(array, '[');
}

/* libcrun appends the path to the mount point of each controller and creates it. */
static bool is_cgroup(struct jspan v)
{
	_cleanup_free_ char *path = jspan_string(v);

	for (const char *at = path; at && *at; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");

		if (len == 2 && !memcmp(at, "..", 2))
			return false;
		at += len;
	}
	return path;
}

/* libcrun appends it to the path of resctrl and creates it. */
static bool is_name(struct jspan v)
{
	_cleanup_free_ char *name = jspan_string(v);

	return name && !strchr(name, '/') && !str_eq(name, ".") && !str_eq(name, "..");
}

static bool has_type(struct jspan v, enum type type)
{
	switch (type) {
	case OBJECT:
		return jspan_is(v, '{');
	case ARRAY:
		return jspan_is(v, '[');
	case STRING:
		return is_string(v);
	case STRINGS:
		return is_array_of(v, is_string);
	case NUMBER:
		return v.len > 0 && strchr("-0123456789", *v.at);
	case BOOLEAN:
		return is_word(v, "true") || is_word(v, "false");
	case ID:
		return is_id(v);
	case IDS:
		return is_array_of(v, is_id);
	case CGROUP:
		return is_cgroup(v);
	case NAME:
		return is_name(v);
	}
	return false;
}

static int require(struct jspan object, const struct members *m, const char *name, struct fault *f);

static int require_each(struct jspan array, const struct members *m, const char *key, const char *name,
			struct fault *f)
{
	struct jspan item;
	const char *at = NULL;
	int r;

	while ((r = jspan_next_item(array, &at, &item)) > 0) {
		if (!jspan_is(item, '{'))
			return fault_set(f, EINVAL, "%s: '%s' must be an array of objects", name, key);
		r = require(item, m, name, f);
		if (r < 0)
			return r;
	}
	return r < 0 ? fault_set(f, EINVAL, "%s: '%s' cannot be read", name, key) : 0;
}

static int require(struct jspan object, const struct members *m, const char *name, struct fault *f)
{
	const char *keys[MEMBERS_MAX];
	struct jspan v[MEMBERS_MAX];
	int r = 0;

	for (size_t i = 0; i < m->n; i++)
		keys[i] = m->list[i].key;
	if (jspan_get_each(object, keys, m->n, v) < 0)
		return fault_set(f, EINVAL, "%s: a member is repeated or written with escapes", name);
	for (size_t i = 0; i < m->n && r == 0; i++) {
		if (!v[i].at || is_word(v[i], "null"))
			continue;
		if (!has_type(v[i], m->list[i].type))
			return fault_set(f, EINVAL, "%s: '%s' must be %s", name, keys[i],
					 names[m->list[i].type]);
		if (m->list[i].in && m->list[i].type == ARRAY)
			r = require_each(v[i], m->list[i].in, keys[i], name, f);
		else if (m->list[i].in)
			r = require(v[i], m->list[i].in, name, f);
	}
	return r;
}

/* Without one libcrun would mount the container's file systems in the namespace of its caller. */
static int require_mount_namespace(struct jspan object, struct fault *f)
{
	struct jspan section = { 0 }, list = { 0 }, item, type;
	const char *at = NULL;

	if (jspan_get(object, "linux", &section) > 0 && jspan_get(section, "namespaces", &list) > 0)
		while (jspan_next_item(list, &at, &item) > 0)
			if (jspan_get(item, "type", &type) > 0 && jspan_key_is(type, "mount"))
				return 0;
	return fault_set(f, EINVAL,
			 "config.json: 'linux.namespaces' has no mount namespace, so the container's file "
			 "systems would be mounted on the host; add {\"type\": \"mount\"}");
}

int runtime_types_require(struct jspan object, struct fault *f)
{
	int r = require(object, &config, "config.json", f);

	return r < 0 ? r : require_mount_namespace(object, f);
}

int runtime_types_require_process(struct jspan object, struct fault *f)
{
	return require(object, &process, "process", f);
}
