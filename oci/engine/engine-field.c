/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-field.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define END                                     \
	{                                       \
		NULL, ENGINE_REFUSE, NULL, NULL \
	}

/*
 * Every member of OCI runtime specification 1.0 to 1.3 (oci/runtime/runtime-schema.c has the same list with types, and a test
 * compares them).  docs/design/engine.md shows this table (tests/engine-table.sh --write).
 */
/* clang-format off */
static const struct engine_field user[] = {
	{ "uid",            ENGINE_SUBJECT, NULL, "" },
	{ "gid",            ENGINE_SUBJECT, NULL, "" },
	{ "additionalGids", ENGINE_SUBJECT, NULL, "" },
	{ "umask",          ENGINE_SUBJECT, NULL, "" },
	{ "username",       ENGINE_REFUSE,  NULL, "of Windows" },
	END,
};

static const struct engine_field capabilities[] = {
	{ "bounding",    ENGINE_INTERSECT, NULL, "with the profile's container.capabilities; sorted" },
	{ "effective",   ENGINE_INTERSECT, NULL, "the same" },
	{ "permitted",   ENGINE_INTERSECT, NULL, "the same" },
	{ "inheritable", ENGINE_INTERSECT, NULL, "the same" },
	{ "ambient",     ENGINE_INTERSECT, NULL, "the same" },
	END,
};

static const struct engine_field rlimit[] = {
	{ "type", ENGINE_INTERSECT, NULL, "RLIMIT_CORE is added" },
	{ "hard", ENGINE_INTERSECT, NULL, "RLIMIT_CORE 0; RLIMIT_NOFILE at most limits.files" },
	{ "soft", ENGINE_INTERSECT, NULL, "the same" },
	END,
};

static const struct engine_field console[] = {
	{ "height", ENGINE_NOISE, NULL, "size of the window" },
	{ "width",  ENGINE_NOISE, NULL, "size of the window" },
	END,
};

static const struct engine_field io_priority[] = {
	{ "class",    ENGINE_INTERSECT, NULL, "IOPRIO_CLASS_RT is refused" },
	{ "priority", ENGINE_SUBJECT,   NULL, "" },
	END,
};

static const struct engine_field scheduler[] = {
	{ "policy",   ENGINE_INTERSECT, NULL, "only SCHED_OTHER, SCHED_BATCH and SCHED_IDLE" },
	{ "nice",     ENGINE_SUBJECT,   NULL, "" },
	{ "priority", ENGINE_SUBJECT,   NULL, "" },
	{ "flags",    ENGINE_SUBJECT,   NULL, "" },
	{ "runtime",  ENGINE_REFUSE,    NULL, "of SCHED_DEADLINE, which stops other processes of the host" },
	{ "deadline", ENGINE_REFUSE,    NULL, "of SCHED_DEADLINE, which stops other processes of the host" },
	{ "period",   ENGINE_REFUSE,    NULL, "of SCHED_DEADLINE, which stops other processes of the host" },
	END,
};

static const struct engine_field affinity[] = {
	{ "initial", ENGINE_SUBJECT, NULL, "" },
	{ "final",   ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field process[] = {
	{ "args",            ENGINE_SUBJECT,   NULL, "secrets as HMAC; argv[0] also as SHA-256 of the file in the image" },
	{ "cwd",             ENGINE_SUBJECT,   NULL, "" },
	{ "terminal",        ENGINE_NOISE,     NULL, "terminal or pipes" },
	{ "env",             ENGINE_SUBJECT,   NULL, "names sorted, values as HMAC; HOSTNAME is noise if it is the container's id" },
	{ "user",            ENGINE_SUBJECT,   user, "" },
	{ "rlimits",         ENGINE_INTERSECT, rlimit, "sorted" },
	{ "apparmorProfile", ENGINE_SUBJECT,   NULL, "" },
	{ "selinuxLabel",    ENGINE_SUBJECT,   NULL, "the categories, which engines draw for each container, are noise" },
	{ "capabilities",    ENGINE_INTERSECT, capabilities, "" },
	{ "noNewPrivileges", ENGINE_INTERSECT, NULL, "true" },
	{ "oomScoreAdj",     ENGINE_SUBJECT,   NULL, "" },
	{ "consoleSize",     ENGINE_NOISE,     console, "size of the window" },
	{ "ioPriority",      ENGINE_INTERSECT, io_priority, "" },
	{ "scheduler",       ENGINE_INTERSECT, scheduler, "" },
	{ "execCPUAffinity", ENGINE_SUBJECT,   affinity, "" },
	{ "commandLine",     ENGINE_REFUSE,    NULL, "of Windows" },
	END,
};

static const struct engine_field root[] = {
	{ "path",     ENGINE_NOISE,   NULL, "the image is in the subject instead; else the path" },
	{ "readonly", ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field mapping[] = {
	{ "containerID", ENGINE_SUBJECT, NULL, "" },
	{ "hostID",      ENGINE_SUBJECT, NULL, "" },
	{ "size",        ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field mount[] = {
	{ "destination", ENGINE_INTERSECT, NULL, "a path without '..', not the root; mounts are sorted where none hides another" },
	{ "type",        ENGINE_INTERSECT, NULL, "bind, tmpfs, ramfs, devpts, mqueue, cgroup, cgroup2, proc at /proc, sysfs at /sys; others need \"rw-root\", proc and sysfs elsewhere \"no-masked-paths\"" },
	{ "source",      ENGINE_INTERSECT, NULL, "of a bind: absolute, or from the bundle; words of `dangerous` as for custody run; device, inode and type if writable; files that the engine makes per container are noise" },
	{ "options",     ENGINE_INTERSECT, NULL, "shared becomes slave; sysfs is read-only, cgroup too where the profile has limits" },
	{ "uidMappings", ENGINE_SUBJECT,   mapping, "" },
	{ "gidMappings", ENGINE_SUBJECT,   mapping, "" },
	END,
};

static const struct engine_field hook[] = {
	{ "path",    ENGINE_SUBJECT, NULL, "/proc/PID/exe as the program that it names" },
	{ "args",    ENGINE_SUBJECT, NULL, "the container's id and docker's controller id are noise" },
	{ "env",     ENGINE_SUBJECT, NULL, "names sorted, values as HMAC" },
	{ "timeout", ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field hooks[] = {
	{ "prestart",        ENGINE_SUBJECT, hook, "" },
	{ "createRuntime",   ENGINE_SUBJECT, hook, "" },
	{ "createContainer", ENGINE_SUBJECT, hook, "" },
	{ "startContainer",  ENGINE_SUBJECT, hook, "" },
	{ "poststart",       ENGINE_SUBJECT, hook, "" },
	{ "poststop",        ENGINE_SUBJECT, hook, "" },
	END,
};

static const struct engine_field annotations[] = {
	{ "*", ENGINE_SUBJECT, NULL, "the tables of annotations below" },
	END,
};

static const struct engine_field rule[] = {
	{ "allow",  ENGINE_INTERSECT, NULL, "only harmless devices may be read or written, others need \"no-private-devices\"" },
	{ "type",   ENGINE_INTERSECT, NULL, "the same" },
	{ "access", ENGINE_INTERSECT, NULL, "the same" },
	{ "major",  ENGINE_INTERSECT, NULL, "the same" },
	{ "minor",  ENGINE_INTERSECT, NULL, "the same" },
	END,
};

static const struct engine_field device[] = {
	{ "path",     ENGINE_SUBJECT,   NULL, "" },
	{ "type",     ENGINE_INTERSECT, NULL, "only harmless devices, others need \"no-private-devices\"" },
	{ "major",    ENGINE_INTERSECT, NULL, "the same" },
	{ "minor",    ENGINE_INTERSECT, NULL, "the same" },
	{ "fileMode", ENGINE_SUBJECT,   NULL, "" },
	{ "uid",      ENGINE_SUBJECT,   NULL, "" },
	{ "gid",      ENGINE_SUBJECT,   NULL, "" },
	END,
};

static const struct engine_field memory[] = {
	{ "limit",            ENGINE_INTERSECT, NULL, "at most limits.memory" },
	{ "swap",             ENGINE_INTERSECT, NULL, "at most the new memory limit, if that was lowered" },
	{ "reservation",      ENGINE_INTERSECT, NULL, "at most limits.memory" },
	{ "kernel",           ENGINE_SUBJECT,   NULL, "" },
	{ "kernelTCP",        ENGINE_SUBJECT,   NULL, "" },
	{ "disableOOMKiller", ENGINE_INTERSECT, NULL, "false" },
	{ "swappiness",       ENGINE_SUBJECT,   NULL, "" },
	{ "useHierarchy",     ENGINE_SUBJECT,   NULL, "" },
	{ "checkBeforeUpdate", ENGINE_SUBJECT,  NULL, "" },
	END,
};

static const struct engine_field cpu[] = {
	{ "shares",          ENGINE_SUBJECT,   NULL, "" },
	{ "quota",           ENGINE_INTERSECT, NULL, "at most limits.cpu of the period" },
	{ "period",          ENGINE_INTERSECT, NULL, "100000 where limits.cpu sets a quota and none is given" },
	{ "realtimeRuntime", ENGINE_REFUSE,    NULL, "real-time scheduling stops other processes of the host" },
	{ "realtimePeriod",  ENGINE_REFUSE,    NULL, "real-time scheduling stops other processes of the host" },
	{ "cpus",            ENGINE_SUBJECT,   NULL, "" },
	{ "mems",            ENGINE_SUBJECT,   NULL, "" },
	{ "idle",            ENGINE_SUBJECT,   NULL, "" },
	{ "burst",           ENGINE_INTERSECT, NULL, "0 where limits.cpu lowers the quota" },
	END,
};

static const struct engine_field pids[] = {
	{ "limit", ENGINE_INTERSECT, NULL, "at most limits.pids" },
	END,
};

static const struct engine_field hugepages[] = {
	{ "pageSize", ENGINE_SUBJECT, NULL, "" },
	{ "limit",    ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field weight[] = {
	{ "major",      ENGINE_SUBJECT, NULL, "" },
	{ "minor",      ENGINE_SUBJECT, NULL, "" },
	{ "weight",     ENGINE_SUBJECT, NULL, "" },
	{ "leafWeight", ENGINE_REFUSE,  NULL, "no libcrun sets it" },
	END,
};

static const struct engine_field throttle[] = {
	{ "major", ENGINE_SUBJECT, NULL, "" },
	{ "minor", ENGINE_SUBJECT, NULL, "" },
	{ "rate",  ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field block_io[] = {
	{ "weight",                  ENGINE_SUBJECT, NULL, "" },
	{ "leafWeight",              ENGINE_SUBJECT, NULL, "" },
	{ "weightDevice",            ENGINE_SUBJECT, weight, "" },
	{ "throttleReadBpsDevice",   ENGINE_SUBJECT, throttle, "" },
	{ "throttleWriteBpsDevice",  ENGINE_SUBJECT, throttle, "" },
	{ "throttleReadIOPSDevice",  ENGINE_SUBJECT, throttle, "" },
	{ "throttleWriteIOPSDevice", ENGINE_SUBJECT, throttle, "" },
	END,
};

static const struct engine_field priority[] = {
	{ "name",     ENGINE_SUBJECT, NULL, "" },
	{ "priority", ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field network[] = {
	{ "classID",    ENGINE_SUBJECT, NULL, "" },
	{ "priorities", ENGINE_SUBJECT, priority, "" },
	END,
};

static const struct engine_field rdma_limit[] = {
	{ "hcaHandles", ENGINE_REFUSE, NULL, "no libcrun sets it" },
	{ "hcaObjects", ENGINE_REFUSE, NULL, "no libcrun sets it" },
	END,
};

static const struct engine_field rdma[] = {
	{ "*", ENGINE_REFUSE, rdma_limit, "no libcrun sets it" },
	END,
};

static const struct engine_field unified[] = {
	{ "*", ENGINE_INTERSECT, NULL, "memory.max, memory.swap.max, memory.high, pids.max and cpu.max at most the profile's; other files of the memory, cpu, cpuset, pids, io, hugetlb and misc controllers are in the subject; the rest is refused" },
	END,
};

static const struct engine_field resources[] = {
	{ "devices",        ENGINE_INTERSECT, rule, "" },
	{ "memory",         ENGINE_INTERSECT, memory, "" },
	{ "cpu",            ENGINE_INTERSECT, cpu, "" },
	{ "pids",           ENGINE_INTERSECT, pids, "" },
	{ "blockIO",        ENGINE_SUBJECT,   block_io, "" },
	{ "unified",        ENGINE_INTERSECT, unified, "" },
	{ "network",        ENGINE_SUBJECT,   network, "" },
	{ "rdma",           ENGINE_REFUSE,    rdma, "no libcrun sets it" },
	{ "hugepageLimits", ENGINE_SUBJECT,   hugepages, "" },
	END,
};

static const struct engine_field namespace[] = {
	{ "type", ENGINE_INTERSECT, NULL, "a namespace of the host needs \"host-network\", \"no-pid-namespace\" ...; cgroup is added" },
	{ "path", ENGINE_INTERSECT, NULL, "the host's own is a namespace of the host; another's reads \"joined\" in the subject" },
	END,
};

static const struct engine_field argument[] = {
	{ "index",    ENGINE_INTERSECT, NULL, "kept where custody allows the call" },
	{ "value",    ENGINE_INTERSECT, NULL, "the same" },
	{ "valueTwo", ENGINE_INTERSECT, NULL, "the same" },
	{ "op",       ENGINE_INTERSECT, NULL, "the same" },
	END,
};

static const struct engine_field syscall[] = {
	{ "names",    ENGINE_INTERSECT, NULL, "of allowing rules: those that custody's list allows" },
	{ "action",   ENGINE_INTERSECT, NULL, "allow, log, errno, kill and trap; notify and trace are refused" },
	{ "errnoRet", ENGINE_INTERSECT, NULL, "kept" },
	{ "args",     ENGINE_INTERSECT, argument, "" },
	END,
};

static const struct engine_field seccomp[] = {
	{ "defaultAction",    ENGINE_INTERSECT, NULL, "allow and log become ENOSYS with custody's list" },
	{ "defaultErrnoRet",  ENGINE_INTERSECT, NULL, "kept" },
	{ "architectures",    ENGINE_INTERSECT, NULL, "must have this machine's; 32-bit ones and x32 are removed" },
	{ "flags",            ENGINE_INTERSECT, NULL, "SECCOMP_FILTER_FLAG_SPEC_ALLOW is removed" },
	{ "listenerPath",     ENGINE_REFUSE,    NULL, "a process of the host would answer system calls" },
	{ "listenerMetadata", ENGINE_REFUSE,    NULL, "a process of the host would answer system calls" },
	{ "syscalls",         ENGINE_INTERSECT, syscall, "" },
	END,
};

static const struct engine_field rdt[] = {
	{ "closID",           ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	{ "l3CacheSchema",    ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	{ "memBwSchema",      ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	{ "schemata",         ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	{ "enableMonitoring", ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	{ "enableCMT",        ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	{ "enableMBM",        ENGINE_REFUSE, NULL, "changes caches of the whole host" },
	END,
};

static const struct engine_field net_device[] = {
	{ "name", ENGINE_REFUSE, NULL, "takes a network device from the host" },
	END,
};

static const struct engine_field net_devices[] = {
	{ "*", ENGINE_REFUSE, net_device, "takes a network device from the host" },
	END,
};

static const struct engine_field memory_policy[] = {
	{ "mode",  ENGINE_SUBJECT, NULL, "" },
	{ "nodes", ENGINE_SUBJECT, NULL, "" },
	{ "flags", ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field personality[] = {
	{ "domain", ENGINE_SUBJECT, NULL, "" },
	{ "flags",  ENGINE_REFUSE,  NULL, "no libcrun sets them" },
	END,
};

static const struct engine_field offset[] = {
	{ "secs",     ENGINE_SUBJECT, NULL, "" },
	{ "nanosecs", ENGINE_SUBJECT, NULL, "" },
	END,
};

static const struct engine_field offsets[] = {
	{ "boottime",  ENGINE_SUBJECT, offset, "" },
	{ "monotonic", ENGINE_SUBJECT, offset, "" },
	END,
};

static const struct engine_field sysctl[] = {
	{ "*", ENGINE_INTERSECT, NULL, "names of a namespace of the container's own, in custody's list or in container.sysctls" },
	END,
};

static const struct engine_field of_linux[] = {
	{ "namespaces",        ENGINE_INTERSECT, namespace, "" },
	{ "uidMappings",       ENGINE_SUBJECT,   mapping, "" },
	{ "gidMappings",       ENGINE_SUBJECT,   mapping, "" },
	{ "devices",           ENGINE_INTERSECT, device, "" },
	{ "cgroupsPath",       ENGINE_NOISE,     NULL, "has the container's id" },
	{ "resources",         ENGINE_INTERSECT, resources, "" },
	{ "rootfsPropagation", ENGINE_INTERSECT, NULL, "shared becomes slave" },
	{ "seccomp",           ENGINE_INTERSECT, seccomp, "with custody's list, by name; custody's filter if the engine has no filter" },
	{ "intelRdt",          ENGINE_REFUSE,    rdt, "changes caches of the whole host" },
	{ "sysctl",            ENGINE_INTERSECT, sysctl, "" },
	{ "maskedPaths",       ENGINE_INTERSECT, NULL, "with custody's added" },
	{ "readonlyPaths",     ENGINE_INTERSECT, NULL, "with custody's added" },
	{ "mountLabel",        ENGINE_SUBJECT,   NULL, "as process.selinuxLabel" },
	{ "personality",       ENGINE_SUBJECT,   personality, "" },
	{ "timeOffsets",       ENGINE_SUBJECT,   offsets, "" },
	{ "netDevices",        ENGINE_REFUSE,    net_devices, "takes a network device from the host" },
	{ "memoryPolicy",      ENGINE_SUBJECT,   memory_policy, "" },
	END,
};

const struct engine_field engine_fields[] = {
	{ "ociVersion",  ENGINE_NOISE,     NULL, "each member decides" },
	{ "process",     ENGINE_INTERSECT, process, "" },
	{ "root",        ENGINE_SUBJECT,   root, "" },
	{ "hostname",    ENGINE_SUBJECT,   NULL, "noise if it is the container's id or the pod's name" },
	{ "domainname",  ENGINE_SUBJECT,   NULL, "" },
	{ "mounts",      ENGINE_INTERSECT, mount, "" },
	{ "hooks",       ENGINE_SUBJECT,   hooks, "" },
	{ "annotations", ENGINE_SUBJECT,   annotations, "" },
	{ "linux",       ENGINE_INTERSECT, of_linux, "" },
	{ "solaris",     ENGINE_REFUSE,    NULL, "another platform" },
	{ "windows",     ENGINE_REFUSE,    NULL, "another platform" },
	{ "vm",          ENGINE_REFUSE,    NULL, "another platform" },
	{ "zos",         ENGINE_REFUSE,    NULL, "another platform" },
	{ "freebsd",     ENGINE_REFUSE,    NULL, "another platform" },
	END,
};
/* clang-format on */

const char *engine_rule_name(enum engine_rule r)
{
	static const char *const names[] = {
		[ENGINE_REFUSE] = "refuse",
		[ENGINE_INTERSECT] = "intersect",
		[ENGINE_SUBJECT] = "in the subject",
		[ENGINE_NOISE] = "noise",
	};

	return names[r];
}

bool engine_field_is_empty(const struct jdoc *d)
{
	switch (d->type) {
	case JDOC_NULL:
		return true;
	case JDOC_BOOL:
		return !d->boolean;
	case JDOC_INT:
		return d->integer == 0;
	case JDOC_STRING:
		return !*d->string;
	case JDOC_ARRAY:
		return d->n_items == 0;
	case JDOC_OBJECT:
		return d->n_members == 0;
	}
	return false;
}

static const struct engine_field *find(const struct engine_field *table, const char *key)
{
	for (; table->key; table++)
		if (strcmp(table->key, "*") == 0 || strcmp(table->key, key) == 0)
			return table;
	return NULL;
}

/* "linux.resources.devices[2].major": on the way out of the recursion, each level adds its part in front. */
static int add_place(struct strbuf *path, const char *key, const char *index)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_puts(&t, key);
	strbuf_puts(&t, index);
	if (path->len > 0 && path->text[0] != '[')
		strbuf_putc(&t, '.');
	if (path->len > 0)
		strbuf_puts(&t, path->text);
	strbuf_done(path);
	*path = t;
	t = (struct strbuf){ 0 };
	return -EPERM;
}

static int require_members(const struct engine_field *table, const struct jdoc *object, struct strbuf *path,
			   const char **ret_why);

static int require_value(const struct engine_field *field, const struct jdoc *value, struct strbuf *path,
			 const char **ret_why)
{
	char index[32];

	if (!field->in)
		return 0;
	if (value->type == JDOC_OBJECT)
		return require_members(field->in, value, path, ret_why);
	if (value->type != JDOC_ARRAY)
		return 0;
	for (size_t i = 0; i < value->n_items; i++) {
		if (value->items[i]->type != JDOC_OBJECT ||
		    require_members(field->in, value->items[i], path, ret_why) == 0)
			continue;
		(void)snprintf(index, sizeof(index), "[%zu]", i);
		return add_place(path, "", index);
	}
	return 0;
}

static int require_members(const struct engine_field *table, const struct jdoc *object, struct strbuf *path,
			   const char **ret_why)
{
	for (size_t i = 0; i < object->n_members; i++) {
		const struct jdoc_member *m = object->members + i;
		const struct engine_field *field = find(table, m->key);

		if (!field)
			*ret_why = "";
		else if (field->rule == ENGINE_REFUSE && !engine_field_is_empty(m->value))
			*ret_why = field->what;
		else if (require_value(field, m->value, path, ret_why) == 0)
			continue;
		return add_place(path, m->key, "");
	}
	return 0;
}

static int require(const struct engine_field *table, const struct jdoc *object, const char *label,
		   const char *prefix, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf path = { 0 };
	const char *why = NULL;
	int r = require_members(table, object, &path, &why);

	if (r == 0)
		return 0;
	if (path.broken)
		return fault_errno(f, ENOMEM, "%s", label);
	if (why && *why)
		return fault_set(f, EPERM, "%s: '%s%.200s' is refused: %s", label, prefix, path.text, why);
	return fault_set(f, EPERM,
			 "%s: '%s%.200s' is not in custody's list of members, so its effect is not known",
			 label, prefix, path.text);
}

int engine_field_require(const struct jdoc *config, struct fault *f)
{
	return require(engine_fields, config, "config.json", "", f);
}

int engine_field_require_process(const struct jdoc *p, struct fault *f)
{
	return require(process, p, "exec", "process.", f);
}
