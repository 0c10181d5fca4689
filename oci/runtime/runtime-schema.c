/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-schema.h"

/* clang-format off */
static const struct schema user = { 4, {
	{ "uid",            SCHEMA_ID,     NULL },
	{ "gid",            SCHEMA_ID,     NULL },
	{ "additionalGids", SCHEMA_IDS,    NULL },
	{ "umask",          SCHEMA_NUMBER, NULL },
} };

static const struct schema capabilities = { 5, {
	{ "bounding",    SCHEMA_STRINGS, NULL },
	{ "effective",   SCHEMA_STRINGS, NULL },
	{ "permitted",   SCHEMA_STRINGS, NULL },
	{ "inheritable", SCHEMA_STRINGS, NULL },
	{ "ambient",     SCHEMA_STRINGS, NULL },
} };

static const struct schema rlimit = { 3, {
	{ "type", SCHEMA_STRING, NULL },
	{ "hard", SCHEMA_NUMBER, NULL },
	{ "soft", SCHEMA_NUMBER, NULL },
} };

const struct schema schema_process = { 11, {
	{ "args",            SCHEMA_STRINGS, NULL },
	{ "env",             SCHEMA_STRINGS, NULL },
	{ "cwd",             SCHEMA_STRING,  NULL },
	{ "terminal",        SCHEMA_BOOLEAN, NULL },
	{ "user",            SCHEMA_OBJECT,  &user },
	{ "capabilities",    SCHEMA_OBJECT,  &capabilities },
	{ "noNewPrivileges", SCHEMA_BOOLEAN, NULL },
	{ "apparmorProfile", SCHEMA_STRING,  NULL },
	{ "selinuxLabel",    SCHEMA_STRING,  NULL },
	{ "rlimits",         SCHEMA_ARRAY,   &rlimit },
	{ "oomScoreAdj",     SCHEMA_NUMBER,  NULL },
} };

static const struct schema root = { 2, {
	{ "path",     SCHEMA_STRING,  NULL },
	{ "readonly", SCHEMA_BOOLEAN, NULL },
} };

static const struct schema mount = { 4, {
	{ "destination", SCHEMA_STRING,  NULL },
	{ "type",        SCHEMA_STRING,  NULL },
	{ "source",      SCHEMA_STRING,  NULL },
	{ "options",     SCHEMA_STRINGS, NULL },
} };

static const struct schema hook = { 4, {
	{ "path",    SCHEMA_ABSOLUTE, NULL },
	{ "args",    SCHEMA_STRINGS,  NULL },
	{ "env",     SCHEMA_STRINGS,  NULL },
	{ "timeout", SCHEMA_NUMBER,   NULL },
} };

static const struct schema hooks = { 6, {
	{ "prestart",        SCHEMA_ARRAY, &hook },
	{ "createRuntime",   SCHEMA_ARRAY, &hook },
	{ "createContainer", SCHEMA_ARRAY, &hook },
	{ "startContainer",  SCHEMA_ARRAY, &hook },
	{ "poststart",       SCHEMA_ARRAY, &hook },
	{ "poststop",        SCHEMA_ARRAY, &hook },
} };

static const struct schema rule = { 5, {
	{ "allow",  SCHEMA_BOOLEAN, NULL },
	{ "type",   SCHEMA_STRING,  NULL },
	{ "access", SCHEMA_STRING,  NULL },
	{ "major",  SCHEMA_NUMBER,  NULL },
	{ "minor",  SCHEMA_NUMBER,  NULL },
} };

static const struct schema device = { 7, {
	{ "path",     SCHEMA_ABSOLUTE, NULL },
	{ "type",     SCHEMA_KIND,     NULL },
	{ "major",    SCHEMA_NUMBER,   NULL },
	{ "minor",    SCHEMA_NUMBER,   NULL },
	{ "fileMode", SCHEMA_NUMBER,   NULL },
	{ "uid",      SCHEMA_ID,       NULL },
	{ "gid",      SCHEMA_ID,       NULL },
} };

static const struct schema memory = { 7, {
	{ "limit",            SCHEMA_NUMBER,  NULL },
	{ "swap",             SCHEMA_NUMBER,  NULL },
	{ "reservation",      SCHEMA_NUMBER,  NULL },
	{ "kernel",           SCHEMA_NUMBER,  NULL },
	{ "kernelTCP",        SCHEMA_NUMBER,  NULL },
	{ "disableOOMKiller", SCHEMA_BOOLEAN, NULL },
	{ "swappiness",       SCHEMA_NUMBER,  NULL },
} };

static const struct schema cpu = { 7, {
	{ "shares",          SCHEMA_NUMBER, NULL },
	{ "quota",           SCHEMA_NUMBER, NULL },
	{ "period",          SCHEMA_NUMBER, NULL },
	{ "realtimeRuntime", SCHEMA_NUMBER, NULL },
	{ "realtimePeriod",  SCHEMA_NUMBER, NULL },
	{ "cpus",            SCHEMA_STRING, NULL },
	{ "mems",            SCHEMA_STRING, NULL },
} };

static const struct schema pids = { 1, {
	{ "limit", SCHEMA_NUMBER, NULL },
} };

static const struct schema hugepages = { 2, {
	{ "pageSize", SCHEMA_STRING, NULL },
	{ "limit",    SCHEMA_NUMBER, NULL },
} };

static const struct schema weight = { 4, {
	{ "major",      SCHEMA_NUMBER, NULL },
	{ "minor",      SCHEMA_NUMBER, NULL },
	{ "weight",     SCHEMA_NUMBER, NULL },
	{ "leafWeight", SCHEMA_NUMBER, NULL },
} };

static const struct schema throttle = { 3, {
	{ "major", SCHEMA_NUMBER, NULL },
	{ "minor", SCHEMA_NUMBER, NULL },
	{ "rate",  SCHEMA_NUMBER, NULL },
} };

static const struct schema block_io = { 7, {
	{ "weight",                  SCHEMA_NUMBER, NULL },
	{ "leafWeight",              SCHEMA_NUMBER, NULL },
	{ "weightDevice",            SCHEMA_ARRAY,  &weight },
	{ "throttleReadBpsDevice",   SCHEMA_ARRAY,  &throttle },
	{ "throttleWriteBpsDevice",  SCHEMA_ARRAY,  &throttle },
	{ "throttleReadIOPSDevice",  SCHEMA_ARRAY,  &throttle },
	{ "throttleWriteIOPSDevice", SCHEMA_ARRAY,  &throttle },
} };

static const struct schema priority = { 2, {
	{ "name",     SCHEMA_STRING, NULL },
	{ "priority", SCHEMA_NUMBER, NULL },
} };

static const struct schema network = { 2, {
	{ "classID",    SCHEMA_NUMBER, NULL },
	{ "priorities", SCHEMA_ARRAY,  &priority },
} };

const struct schema schema_resources = { 9, {
	{ "devices",        SCHEMA_ARRAY,  &rule },
	{ "memory",         SCHEMA_OBJECT, &memory },
	{ "cpu",            SCHEMA_OBJECT, &cpu },
	{ "pids",           SCHEMA_OBJECT, &pids },
	{ "blockIO",        SCHEMA_OBJECT, &block_io },
	{ "unified",        SCHEMA_OBJECT, NULL },
	{ "network",        SCHEMA_OBJECT, &network },
	{ "rdma",           SCHEMA_OBJECT, NULL },
	{ "hugepageLimits", SCHEMA_ARRAY,  &hugepages },
} };

static const struct schema namespace = { 2, {
	{ "type", SCHEMA_STRING, NULL },
	{ "path", SCHEMA_STRING, NULL },
} };

static const struct schema mapping = { 3, {
	{ "containerID", SCHEMA_NUMBER, NULL },
	{ "hostID",      SCHEMA_NUMBER, NULL },
	{ "size",        SCHEMA_NUMBER, NULL },
} };

static const struct schema argument = { 4, {
	{ "index",    SCHEMA_NUMBER, NULL },
	{ "value",    SCHEMA_NUMBER, NULL },
	{ "valueTwo", SCHEMA_NUMBER, NULL },
	{ "op",       SCHEMA_STRING, NULL },
} };

static const struct schema syscall = { 4, {
	{ "names",    SCHEMA_STRINGS, NULL },
	{ "action",   SCHEMA_STRING,  NULL },
	{ "errnoRet", SCHEMA_NUMBER,  NULL },
	{ "args",     SCHEMA_ARRAY,   &argument },
} };

static const struct schema seccomp = { 6, {
	{ "defaultAction",   SCHEMA_STRING,  NULL },
	{ "defaultErrnoRet", SCHEMA_NUMBER,  NULL },
	{ "architectures",   SCHEMA_STRINGS, NULL },
	{ "flags",           SCHEMA_STRINGS, NULL },
	{ "listenerPath",    SCHEMA_STRING,  NULL },
	{ "syscalls",        SCHEMA_ARRAY,   &syscall },
} };

static const struct schema rdt = { 1, {
	{ "closID", SCHEMA_NAME, NULL },
} };

static const struct schema of_linux = { 13, {
	{ "namespaces",        SCHEMA_ARRAY,   &namespace },
	{ "uidMappings",       SCHEMA_ARRAY,   &mapping },
	{ "gidMappings",       SCHEMA_ARRAY,   &mapping },
	{ "devices",           SCHEMA_ARRAY,   &device },
	{ "cgroupsPath",       SCHEMA_CGROUP,  NULL },
	{ "resources",         SCHEMA_OBJECT,  &schema_resources },
	{ "rootfsPropagation", SCHEMA_STRING,  NULL },
	{ "seccomp",           SCHEMA_OBJECT,  &seccomp },
	{ "intelRdt",          SCHEMA_OBJECT,  &rdt },
	{ "sysctl",            SCHEMA_OBJECT,  NULL },
	{ "maskedPaths",       SCHEMA_STRINGS, NULL },
	{ "readonlyPaths",     SCHEMA_STRINGS, NULL },
	{ "mountLabel",        SCHEMA_STRING,  NULL },
} };

const struct schema schema_config = { 6, {
	{ "process",     SCHEMA_OBJECT, &schema_process },
	{ "root",        SCHEMA_OBJECT, &root },
	{ "mounts",      SCHEMA_ARRAY,  &mount },
	{ "hooks",       SCHEMA_OBJECT, &hooks },
	{ "annotations", SCHEMA_OBJECT, NULL },
	{ "linux",       SCHEMA_OBJECT, &of_linux },
} };
/* clang-format on */
