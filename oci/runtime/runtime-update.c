/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-update.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-types.h"
#include "oci/runtime/runtime-verbs.h"

/* Position of each limit in the resources JSON; NULL: not supported by libcrun 1.8.1. */
/* clang-format off */
enum unit {
	WORD,
	NUMBER,
	BYTES, /* a number, also with a unit: 50M */
};

static const struct {
	const char *section, *name;
	enum unit unit;
} places[LIMIT_MAX_] = {
	[LIMIT_BLKIO_WEIGHT]       = { "blockIO", "weight",          NUMBER },
	[LIMIT_CPU_BURST]          = { NULL,      "--cpu-burst",     NUMBER },
	[LIMIT_CPU_IDLE]           = { NULL,      "--cpu-idle",      NUMBER },
	[LIMIT_CPU_PERIOD]         = { "cpu",     "period",          NUMBER },
	[LIMIT_CPU_QUOTA]          = { "cpu",     "quota",           NUMBER },
	[LIMIT_CPU_RT_PERIOD]      = { "cpu",     "realtimePeriod",  NUMBER },
	[LIMIT_CPU_RT_RUNTIME]     = { "cpu",     "realtimeRuntime", NUMBER },
	[LIMIT_CPU_SHARES]         = { "cpu",     "shares",          NUMBER },
	[LIMIT_CPUSET_CPUS]        = { "cpu",     "cpus",            WORD },
	[LIMIT_CPUSET_MEMS]        = { "cpu",     "mems",            WORD },
	[LIMIT_KERNEL_MEMORY]      = { "memory",  "kernel",          BYTES },
	[LIMIT_KERNEL_MEMORY_TCP]  = { "memory",  "kernelTCP",       BYTES },
	[LIMIT_MEMORY]             = { "memory",  "limit",           BYTES },
	[LIMIT_MEMORY_RESERVATION] = { "memory",  "reservation",     BYTES },
	[LIMIT_MEMORY_SWAP]        = { "memory",  "swap",            BYTES },
	[LIMIT_PIDS]               = { "pids",    "limit",           NUMBER },
};
/* clang-format on */

/* As runc reads it: 50M, 50m, 50MB, 50MiB are the same number of bytes. */
static int parse_bytes(const char *text, uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	char plain[32];

	if (digits == 0 || digits > 20)
		return -EINVAL;
	if (*unit && !str_eq(unit + 1, "") && strcasecmp(unit + 1, "b") != 0 &&
	    strcasecmp(unit + 1, "ib") != 0)
		return -EINVAL;
	(void)snprintf(plain, sizeof(plain), "%.*s%c", (int)digits, text, toupper((unsigned char)*unit));
	return str_to_size(plain, ret);
}

static int add_limit(struct jdoc *d, enum runtime_limit which, const char *text, struct fault *f)
{
	const char *section = places[which].section, *name = places[which].name;
	struct jdoc *to;
	uint64_t bytes;
	int64_t n;

	if (!section)
		return fault_set(f, ENOTSUP, "update: %s is not in libcrun " LIBCRUN_VERSION, name);
	to = jdoc_get(d, section);
	if (!to)
		to = jdoc_set_object(d, section);
	if (places[which].unit == WORD) {
		jdoc_set_string(to, name, text);
		return 0;
	}
	if (places[which].unit == BYTES && parse_bytes(text, &bytes) == 0 && bytes <= INT64_MAX)
		n = (int64_t)bytes;
	else if (str_to_i64(text, &n) < 0)
		return fault_set(f, EINVAL, "update: %s.%s takes a number%s, not '%s'", section, name,
				 places[which].unit == BYTES ? " of bytes (50M, 1G) or -1" : "", text);
	jdoc_set_int(to, name, n);
	return 0;
}

static int make_resources(const struct runtime_options *o, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	bool any = false;
	int r = 0;

	for (int i = 0; i < LIMIT_MAX_ && r == 0; i++) {
		if (!o->limits[i])
			continue;
		any = true;
		r = add_limit(d, i, o->limits[i], f);
	}
	if (r < 0)
		return r;
	if (!any)
		return fault_set(f, EINVAL,
				 "update: nothing to change; custody-runtime help update lists the limits");
	return jdoc_write(d, JDOC_CANONICAL, out, f);
}

static bool is_v2(void)
{
	struct statfs fs;

	return statfs("/sys/fs/cgroup", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/*
 * docker sends every member that it knows, 0 for "not set".  v2 has no limit of kernel memory: runc ignores the member,
 * libcrun refuses the whole update.
 */
static void drop_unset(struct runtime_json *resources)
{
	if (!is_v2())
		return;
	runtime_json_blank(resources, "memory", "kernel", "0");
	runtime_json_blank(resources, "memory", "kernelTCP", "0");
}

/*
 * On v2 libcrun 1.8.1 ignores a quota of -1 that comes without a period, and the old limit stays.  Without a quota the period
 * has no effect: any will do.
 */
static int lift_quota(const struct runtime_call *c, const char *text, struct fault *f)
{
	struct jspan root, cpu, quota, period;

	if (!is_v2() || jspan_root(text, strlen(text), &root) < 0 || jspan_get(root, "cpu", &cpu) <= 0 ||
	    jspan_get(cpu, "quota", &quota) <= 0 || jspan_get(cpu, "period", &period) != 0 ||
	    quota.len != 2 || memcmp(quota.at, "-1", 2) != 0)
		return 0;
	return runtime_update(c, "{\"cpu\":{\"quota\":-1,\"period\":100000}}", f);
}

static int set_limits(const struct runtime_call *c, const char *text, struct fault *f)
{
	int r = runtime_update(c, text, f);

	return r < 0 ? r : lift_quota(c, text, f);
}

/* A member that fails leaves those before it changed: a new period without its quota would be looser. */
static int set_or_undo(const struct runtime_call *c, const struct engine_update *u, const char *text,
		       struct fault *f)
{
	_cleanup_free_ char *before = NULL;
	int r = set_limits(c, text, f);

	if (r >= 0)
		return r;
	before = engine_update_undo(u);
	if (before)
		(void)!set_limits(c, before, NULL);
	return r;
}

static int update(const struct runtime_call *c, const struct runtime_entry *e, const char *text,
		  struct fault *f)
{
	_cleanup_engine_update_ struct engine_update u = ENGINE_UPDATE_NONE;
	_cleanup_free_ char *dir = path_join(c->state_root, c->id), *set = NULL;
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "update");
	r = engine_update_open(dir, c->id, is_v2(), &u, f);
	if (r < 0)
		return r;
	if (!u.record.governed)
		return set_limits(c, text, f);
	if (e->pid == 0)
		return fault_set(f, ESRCH, "not updated: the container has ended");
	r = engine_update_decide(&u, text, &set, f);
	if (r < 0)
		return r;
	if (set)
		r = set_or_undo(c, &u, set, f);
	return engine_update_end(&u, r, f);
}

int runtime_verb_update(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;
	_cleanup_entry_ struct runtime_entry e = { 0 };
	_cleanup_runtime_json_ struct runtime_json file = { 0 };
	_cleanup_strbuf_ struct strbuf made = { 0 };
	int r;

	r = runtime_entry_load(&job->call, &e, f);
	if (r == 0 && e.systemd_cgroup)
		r = runtime_need_systemd(job, f);
	if (r == 0)
		r = o->resources ? runtime_json_load(o->resources, &file, f) : make_resources(o, &made, f);
	if (r == 0 && o->resources)
		r = runtime_types_require_resources(file.object, f);
	if (r == 0 && o->resources)
		drop_unset(&file);
	return r < 0 ? r : update(&job->call, &e, o->resources ? file.text : made.text, f);
}
