/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/json.h"
#include "base/str.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-verbs.h"

/* Position of each limit in the resources JSON; NULL: not supported by libcrun 1.8.1. */
/* clang-format off */
static const struct {
	const char *section, *name;
	bool number;
} places[LIMIT_MAX_] = {
	[LIMIT_BLKIO_WEIGHT]       = { "blockIO", "weight",          true },
	[LIMIT_CPU_BURST]          = { NULL,      "--cpu-burst",     true },
	[LIMIT_CPU_IDLE]           = { NULL,      "--cpu-idle",      true },
	[LIMIT_CPU_PERIOD]         = { "cpu",     "period",          true },
	[LIMIT_CPU_QUOTA]          = { "cpu",     "quota",           true },
	[LIMIT_CPU_RT_PERIOD]      = { "cpu",     "realtimePeriod",  true },
	[LIMIT_CPU_RT_RUNTIME]     = { "cpu",     "realtimeRuntime", true },
	[LIMIT_CPU_SHARES]         = { "cpu",     "shares",          true },
	[LIMIT_CPUSET_CPUS]        = { "cpu",     "cpus",            false },
	[LIMIT_CPUSET_MEMS]        = { "cpu",     "mems",            false },
	[LIMIT_KERNEL_MEMORY]      = { "memory",  "kernel",          true },
	[LIMIT_KERNEL_MEMORY_TCP]  = { "memory",  "kernelTCP",       true },
	[LIMIT_MEMORY]             = { "memory",  "limit",           true },
	[LIMIT_MEMORY_RESERVATION] = { "memory",  "reservation",     true },
	[LIMIT_MEMORY_SWAP]        = { "memory",  "swap",            true },
	[LIMIT_PIDS]               = { "pids",    "limit",           true },
};
/* clang-format on */

static int add_limit(struct jdoc *d, enum runtime_limit which, const char *text, struct fault *f)
{
	const char *section = places[which].section, *name = places[which].name;
	struct jdoc *to;
	int64_t n;

	if (!section)
		return fault_set(f, ENOTSUP, "update: %s is not in libcrun " LIBCRUN_VERSION, name);
	to = jdoc_get(d, section);
	if (!to)
		to = jdoc_set_object(d, section);
	if (!places[which].number) {
		jdoc_set_string(to, name, text);
		return 0;
	}
	if (str_to_i64(text, &n) < 0)
		return fault_set(f, EINVAL, "update: %s.%s takes a number, not '%s'", section, name, text);
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

/*
 * docker sends every member that it knows, 0 for "not set".  v2 has no limit of kernel memory: runc ignores the member,
 * libcrun refuses the whole update.
 */
static void drop_unset(struct runtime_json *resources)
{
	struct statfs fs;

	if (statfs("/sys/fs/cgroup", &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
		return;
	runtime_json_blank(resources, "memory", "kernel", "0");
	runtime_json_blank(resources, "memory", "kernelTCP", "0");
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
		drop_unset(&file);
	return r < 0 ? r : runtime_update(&job->call, o->resources ? file.text : made.text, f);
}
