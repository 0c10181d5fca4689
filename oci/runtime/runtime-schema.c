/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-schema.h"

#include <limits.h>

#define ALL 0
#define V1_21 LIBCRUN_NUMBER(1, 21, 0)
#define V1_28 LIBCRUN_NUMBER(1, 28, 0)
#define NEVER UINT_MAX
#define END                                    \
	{                                      \
		NULL, SCHEMA_OBJECT, NULL, ALL \
	}

/*
 * Every member of OCI runtime specification 1.0 to 1.3, with the first verified libcrun that does what the member says, also in
 * Debian's build of that version: a member that its parser knows and its code ignores is not done.
 */
/* clang-format off */
static const struct schema_member user[] = {
	{ "uid",            SCHEMA_ID,     NULL, ALL },
	{ "gid",            SCHEMA_ID,     NULL, ALL },
	{ "additionalGids", SCHEMA_IDS,    NULL, ALL },
	{ "umask",          SCHEMA_NUMBER, NULL, ALL },
	{ "username",       SCHEMA_STRING, NULL, NEVER }, /* of Windows */
	END,
};

static const struct schema_member capabilities[] = {
	{ "bounding",    SCHEMA_STRINGS, NULL, ALL },
	{ "effective",   SCHEMA_STRINGS, NULL, ALL },
	{ "permitted",   SCHEMA_STRINGS, NULL, ALL },
	{ "inheritable", SCHEMA_STRINGS, NULL, ALL },
	{ "ambient",     SCHEMA_STRINGS, NULL, ALL },
	END,
};

static const struct schema_member rlimit[] = {
	{ "type", SCHEMA_STRING, NULL, ALL },
	{ "hard", SCHEMA_NUMBER, NULL, ALL },
	{ "soft", SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member console[] = {
	{ "height", SCHEMA_NUMBER, NULL, ALL },
	{ "width",  SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member io_priority[] = {
	{ "class",    SCHEMA_STRING, NULL, V1_21 },
	{ "priority", SCHEMA_NUMBER, NULL, V1_21 },
	END,
};

static const struct schema_member scheduler[] = {
	{ "policy",   SCHEMA_STRING,  NULL, V1_21 },
	{ "nice",     SCHEMA_NUMBER,  NULL, V1_21 },
	{ "priority", SCHEMA_NUMBER,  NULL, V1_21 },
	{ "flags",    SCHEMA_STRINGS, NULL, V1_21 },
	{ "runtime",  SCHEMA_NUMBER,  NULL, V1_21 },
	{ "deadline", SCHEMA_NUMBER,  NULL, V1_21 },
	{ "period",   SCHEMA_NUMBER,  NULL, V1_21 },
	END,
};

static const struct schema_member affinity[] = {
	{ "initial", SCHEMA_STRING, NULL, V1_21 },
	{ "final",   SCHEMA_STRING, NULL, V1_21 },
	END,
};

const struct schema_member schema_process[] = {
	{ "args",            SCHEMA_STRINGS, NULL, ALL },
	{ "env",             SCHEMA_STRINGS, NULL, ALL },
	{ "cwd",             SCHEMA_STRING,  NULL, ALL },
	{ "terminal",        SCHEMA_BOOLEAN, NULL, ALL },
	{ "user",            SCHEMA_OBJECT,  user, ALL },
	{ "capabilities",    SCHEMA_OBJECT,  capabilities, ALL },
	{ "noNewPrivileges", SCHEMA_BOOLEAN, NULL, ALL },
	{ "apparmorProfile", SCHEMA_STRING,  NULL, ALL },
	{ "selinuxLabel",    SCHEMA_STRING,  NULL, ALL },
	{ "rlimits",         SCHEMA_ARRAY,   rlimit, ALL },
	{ "oomScoreAdj",     SCHEMA_NUMBER,  NULL, ALL },
	{ "consoleSize",     SCHEMA_OBJECT,  console, ALL },
	{ "ioPriority",      SCHEMA_OBJECT,  io_priority, V1_21 },
	{ "scheduler",       SCHEMA_OBJECT,  scheduler, V1_21 },
	{ "execCPUAffinity", SCHEMA_OBJECT,  affinity, V1_21 },
	{ "commandLine",     SCHEMA_STRING,  NULL, NEVER }, /* of Windows */
	END,
};

static const struct schema_member root[] = {
	{ "path",     SCHEMA_STRING,  NULL, ALL },
	{ "readonly", SCHEMA_BOOLEAN, NULL, ALL },
	END,
};

static const struct schema_member mapping[] = {
	{ "containerID", SCHEMA_NUMBER, NULL, ALL },
	{ "hostID",      SCHEMA_NUMBER, NULL, ALL },
	{ "size",        SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member mount[] = {
	{ "destination", SCHEMA_STRING,  NULL, ALL },
	{ "type",        SCHEMA_STRING,  NULL, ALL },
	{ "source",      SCHEMA_STRING,  NULL, ALL },
	{ "options",     SCHEMA_STRINGS, NULL, ALL },
	{ "uidMappings", SCHEMA_ARRAY,   mapping, ALL },
	{ "gidMappings", SCHEMA_ARRAY,   mapping, ALL },
	END,
};

static const struct schema_member hook[] = {
	{ "path",    SCHEMA_ABSOLUTE, NULL, ALL },
	{ "args",    SCHEMA_STRINGS,  NULL, ALL },
	{ "env",     SCHEMA_STRINGS,  NULL, ALL },
	{ "timeout", SCHEMA_NUMBER,   NULL, ALL },
	END,
};

static const struct schema_member hooks[] = {
	{ "prestart",        SCHEMA_ARRAY, hook, ALL },
	{ "createRuntime",   SCHEMA_ARRAY, hook, ALL },
	{ "createContainer", SCHEMA_ARRAY, hook, ALL },
	{ "startContainer",  SCHEMA_ARRAY, hook, ALL },
	{ "poststart",       SCHEMA_ARRAY, hook, ALL },
	{ "poststop",        SCHEMA_ARRAY, hook, ALL },
	END,
};

static const struct schema_member rule[] = {
	{ "allow",  SCHEMA_BOOLEAN, NULL, ALL },
	{ "type",   SCHEMA_STRING,  NULL, ALL },
	{ "access", SCHEMA_STRING,  NULL, ALL },
	{ "major",  SCHEMA_NUMBER,  NULL, ALL },
	{ "minor",  SCHEMA_NUMBER,  NULL, ALL },
	END,
};

static const struct schema_member device[] = {
	{ "path",     SCHEMA_ABSOLUTE, NULL, ALL },
	{ "type",     SCHEMA_KIND,     NULL, ALL },
	{ "major",    SCHEMA_NUMBER,   NULL, ALL },
	{ "minor",    SCHEMA_NUMBER,   NULL, ALL },
	{ "fileMode", SCHEMA_NUMBER,   NULL, ALL },
	{ "uid",      SCHEMA_ID,       NULL, ALL },
	{ "gid",      SCHEMA_ID,       NULL, ALL },
	END,
};

static const struct schema_member memory[] = {
	{ "limit",            SCHEMA_NUMBER,  NULL, ALL },
	{ "swap",             SCHEMA_NUMBER,  NULL, ALL },
	{ "reservation",      SCHEMA_NUMBER,  NULL, ALL },
	{ "kernel",           SCHEMA_NUMBER,  NULL, ALL },
	{ "kernelTCP",        SCHEMA_NUMBER,  NULL, ALL },
	{ "disableOOMKiller", SCHEMA_BOOLEAN, NULL, ALL },
	{ "swappiness",       SCHEMA_NUMBER,  NULL, ALL },
	{ "useHierarchy",     SCHEMA_BOOLEAN, NULL, ALL },
	{ "checkBeforeUpdate", SCHEMA_BOOLEAN, NULL, ALL },
	END,
};

static const struct schema_member cpu[] = {
	{ "shares",          SCHEMA_NUMBER, NULL, ALL },
	{ "quota",           SCHEMA_NUMBER, NULL, ALL },
	{ "period",          SCHEMA_NUMBER, NULL, ALL },
	{ "realtimeRuntime", SCHEMA_NUMBER, NULL, ALL },
	{ "realtimePeriod",  SCHEMA_NUMBER, NULL, ALL },
	{ "cpus",            SCHEMA_STRING, NULL, ALL },
	{ "mems",            SCHEMA_STRING, NULL, ALL },
	{ "idle",            SCHEMA_NUMBER, NULL, ALL },
	{ "burst",           SCHEMA_NUMBER, NULL, V1_21 },
	END,
};

static const struct schema_member pids[] = {
	{ "limit", SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member hugepages[] = {
	{ "pageSize", SCHEMA_STRING, NULL, ALL },
	{ "limit",    SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member weight[] = {
	{ "major",      SCHEMA_NUMBER, NULL, ALL },
	{ "minor",      SCHEMA_NUMBER, NULL, ALL },
	{ "weight",     SCHEMA_NUMBER, NULL, ALL },
	{ "leafWeight", SCHEMA_NUMBER, NULL, NEVER },
	END,
};

static const struct schema_member throttle[] = {
	{ "major", SCHEMA_NUMBER, NULL, ALL },
	{ "minor", SCHEMA_NUMBER, NULL, ALL },
	{ "rate",  SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member block_io[] = {
	{ "weight",                  SCHEMA_NUMBER, NULL, ALL },
	{ "leafWeight",              SCHEMA_NUMBER, NULL, ALL },
	{ "weightDevice",            SCHEMA_ARRAY,  weight, ALL },
	{ "throttleReadBpsDevice",   SCHEMA_ARRAY,  throttle, ALL },
	{ "throttleWriteBpsDevice",  SCHEMA_ARRAY,  throttle, ALL },
	{ "throttleReadIOPSDevice",  SCHEMA_ARRAY,  throttle, ALL },
	{ "throttleWriteIOPSDevice", SCHEMA_ARRAY,  throttle, ALL },
	END,
};

static const struct schema_member priority[] = {
	{ "name",     SCHEMA_STRING, NULL, ALL },
	{ "priority", SCHEMA_NUMBER, NULL, ALL },
	END,
};

static const struct schema_member network[] = {
	{ "classID",    SCHEMA_NUMBER, NULL, ALL },
	{ "priorities", SCHEMA_ARRAY,  priority, ALL },
	END,
};

static const struct schema_member rdma[] = {
	{ "hcaHandles", SCHEMA_NUMBER, NULL, NEVER },
	{ "hcaObjects", SCHEMA_NUMBER, NULL, NEVER },
	END,
};

const struct schema_member schema_resources[] = {
	{ "devices",        SCHEMA_ARRAY,  rule, ALL },
	{ "memory",         SCHEMA_OBJECT, memory, ALL },
	{ "cpu",            SCHEMA_OBJECT, cpu, ALL },
	{ "pids",           SCHEMA_OBJECT, pids, ALL },
	{ "blockIO",        SCHEMA_OBJECT, block_io, ALL },
	{ "unified",        SCHEMA_MAP,    NULL, ALL },
	{ "network",        SCHEMA_OBJECT, network, ALL },
	{ "rdma",           SCHEMA_MAP_OF_OBJECTS, rdma, NEVER },
	{ "hugepageLimits", SCHEMA_ARRAY,  hugepages, ALL },
	END,
};

static const struct schema_member namespace[] = {
	{ "type", SCHEMA_STRING, NULL, ALL },
	{ "path", SCHEMA_STRING, NULL, ALL },
	END,
};

static const struct schema_member argument[] = {
	{ "index",    SCHEMA_NUMBER, NULL, ALL },
	{ "value",    SCHEMA_NUMBER, NULL, ALL },
	{ "valueTwo", SCHEMA_NUMBER, NULL, ALL },
	{ "op",       SCHEMA_STRING, NULL, ALL },
	END,
};

static const struct schema_member syscall[] = {
	{ "names",    SCHEMA_STRINGS, NULL, ALL },
	{ "action",   SCHEMA_STRING,  NULL, ALL },
	{ "errnoRet", SCHEMA_NUMBER,  NULL, ALL },
	{ "args",     SCHEMA_ARRAY,   argument, ALL },
	END,
};

static const struct schema_member seccomp[] = {
	{ "defaultAction",   SCHEMA_STRING,  NULL, ALL },
	{ "defaultErrnoRet", SCHEMA_NUMBER,  NULL, ALL },
	{ "architectures",   SCHEMA_STRINGS, NULL, ALL },
	{ "flags",           SCHEMA_STRINGS, NULL, ALL },
	{ "listenerPath",    SCHEMA_STRING,  NULL, ALL },
	{ "listenerMetadata", SCHEMA_STRING, NULL, ALL },
	{ "syscalls",        SCHEMA_ARRAY,   syscall, ALL },
	END,
};

static const struct schema_member rdt[] = {
	{ "closID",           SCHEMA_NAME,    NULL, V1_21 },
	{ "l3CacheSchema",    SCHEMA_STRING,  NULL, V1_21 },
	{ "memBwSchema",      SCHEMA_STRING,  NULL, V1_21 },
	{ "schemata",         SCHEMA_STRINGS, NULL, V1_28 },
	{ "enableMonitoring", SCHEMA_BOOLEAN, NULL, V1_28 },
	{ "enableCMT",        SCHEMA_BOOLEAN, NULL, NEVER }, /* of 1.1 and 1.2 */
	{ "enableMBM",        SCHEMA_BOOLEAN, NULL, NEVER },
	END,
};

static const struct schema_member net_device[] = {
	{ "name", SCHEMA_STRING, NULL, V1_28 },
	END,
};

static const struct schema_member memory_policy[] = {
	{ "mode",  SCHEMA_STRING,  NULL, V1_28 },
	{ "nodes", SCHEMA_STRING,  NULL, V1_28 },
	{ "flags", SCHEMA_STRINGS, NULL, V1_28 },
	END,
};

static const struct schema_member personality[] = {
	{ "domain", SCHEMA_STRING,  NULL, ALL },
	{ "flags",  SCHEMA_STRINGS, NULL, NEVER },
	END,
};

static const struct schema_member offset[] = {
	{ "secs",     SCHEMA_NUMBER, NULL, V1_21 },
	{ "nanosecs", SCHEMA_NUMBER, NULL, V1_21 },
	END,
};

static const struct schema_member offsets[] = {
	{ "boottime",  SCHEMA_OBJECT, offset, V1_21 },
	{ "monotonic", SCHEMA_OBJECT, offset, V1_21 },
	END,
};

static const struct schema_member of_linux[] = {
	{ "namespaces",        SCHEMA_ARRAY,   namespace, ALL },
	{ "uidMappings",       SCHEMA_ARRAY,   mapping, ALL },
	{ "gidMappings",       SCHEMA_ARRAY,   mapping, ALL },
	{ "devices",           SCHEMA_ARRAY,   device, ALL },
	{ "cgroupsPath",       SCHEMA_CGROUP,  NULL, ALL },
	{ "resources",         SCHEMA_OBJECT,  schema_resources, ALL },
	{ "rootfsPropagation", SCHEMA_PROPAGATION, NULL, ALL },
	{ "seccomp",           SCHEMA_OBJECT,  seccomp, ALL },
	{ "intelRdt",          SCHEMA_OBJECT,  rdt, V1_21 },
	{ "sysctl",            SCHEMA_MAP,     NULL, ALL },
	{ "maskedPaths",       SCHEMA_STRINGS, NULL, ALL },
	{ "readonlyPaths",     SCHEMA_STRINGS, NULL, ALL },
	{ "mountLabel",        SCHEMA_STRING,  NULL, ALL },
	{ "personality",       SCHEMA_OBJECT,  personality, ALL },
	{ "timeOffsets",       SCHEMA_OBJECT,  offsets, V1_21 },
	{ "netDevices",        SCHEMA_MAP_OF_OBJECTS, net_device, V1_28 },
	{ "memoryPolicy",      SCHEMA_OBJECT,  memory_policy, V1_28 },
	END,
};

const struct schema_member schema_config[] = {
	{ "ociVersion",  SCHEMA_STRING, NULL, ALL },
	{ "process",     SCHEMA_OBJECT, schema_process, ALL },
	{ "root",        SCHEMA_OBJECT, root, ALL },
	{ "hostname",    SCHEMA_STRING, NULL, ALL },
	{ "domainname",  SCHEMA_STRING, NULL, ALL },
	{ "mounts",      SCHEMA_ARRAY,  mount, ALL },
	{ "hooks",       SCHEMA_OBJECT, hooks, ALL },
	{ "annotations", SCHEMA_MAP,    NULL, ALL },
	{ "linux",       SCHEMA_OBJECT, of_linux, ALL },
	/* Other platforms. */
	{ "solaris",     SCHEMA_OBJECT, NULL, NEVER },
	{ "windows",     SCHEMA_OBJECT, NULL, NEVER },
	{ "vm",          SCHEMA_OBJECT, NULL, NEVER },
	{ "zos",         SCHEMA_OBJECT, NULL, NEVER },
	{ "freebsd",     SCHEMA_OBJECT, NULL, NEVER },
	END,
};
/* clang-format on */
