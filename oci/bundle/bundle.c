/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/bundle/bundle-impl.h"
#include "oci/seccomp/seccomp.h"

#define CPU_PERIOD_US 100000

/* clang-format off */
static const struct {
	enum layer layer;
	const char *type;
} namespaces[] = {
	{ LAYER_USER_NS,   "user"    },
	{ LAYER_PID_NS,    "pid"     },
	{ LAYER_MOUNT_NS,  "mount"   },
	{ LAYER_NET_NS,    "network" },
	{ LAYER_IPC_NS,    "ipc"     },
	{ LAYER_UTS_NS,    "uts"     },
	{ LAYER_CGROUP_NS, "cgroup"  },
};
/* clang-format on */

/* Kernel memory, keys, timers and devices of the whole host.  /sys is never mounted. */
static const char *const masked_paths[] = {
	"/proc/acpi",	     "/proc/asound", "/proc/interrupts",
	"/proc/kallsyms",    "/proc/kcore",  "/proc/key-users",
	"/proc/keys",	     "/proc/kmsg",   "/proc/latency_stats",
	"/proc/sched_debug", "/proc/scsi",   "/proc/timer_list",
	"/proc/timer_stats", NULL,
};

static const char *const readonly_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL,
};

/* Only for a profile that switches the layer off: the default of container engines. */
static const char *const usual_capabilities[] = {
	"CAP_AUDIT_WRITE", "CAP_CHOWN",	  "CAP_DAC_OVERRIDE", "CAP_FOWNER",	      "CAP_FSETID",
	"CAP_KILL",	   "CAP_MKNOD",	  "CAP_NET_RAW",      "CAP_NET_BIND_SERVICE", "CAP_SETFCAP",
	"CAP_SETGID",	   "CAP_SETPCAP", "CAP_SETUID",	      "CAP_SYS_CHROOT",	      NULL,
};

static void append_all(struct jdoc *array, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		jdoc_append_string(array, words[i]);
}

static void add_capabilities(struct jdoc *process, const struct subject *s)
{
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	struct jdoc *caps = jdoc_set_object(process, "capabilities");

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		struct jdoc *set = jdoc_set_array(caps, sets[i]);

		if (!bundle_asks(s, LAYER_CAPABILITIES) && i < 3)
			append_all(set, usual_capabilities);
	}
}

static void add_rlimit(struct jdoc *rlimits, const char *type, uint64_t value)
{
	struct jdoc *r = jdoc_append_object(rlimits);

	jdoc_set_string(r, "type", type);
	jdoc_set_int(r, "soft", (int64_t)value);
	jdoc_set_int(r, "hard", (int64_t)value);
}

static void add_process(struct jdoc *config, const struct subject *s, const struct placement *p)
{
	struct jdoc *process = jdoc_set_object(config, "process"), *user, *env, *rlimits;

	/* Init opens the pty, on the container's own devpts. */
	jdoc_set_bool(process, "terminal", p->console);
	user = jdoc_set_object(process, "user");
	jdoc_set_int(user, "uid", s->uid);
	jdoc_set_int(user, "gid", s->gid);
	bundle_add_args(process, s, p);
	env = jdoc_set_array(process, "env");
	for (size_t i = 0; s->env && s->env[i]; i++)
		jdoc_append_string(env, s->env[i]);
	/* Init enters the directory itself: the runtime still has descriptors of the host when it does. */
	jdoc_set_string(process, "cwd", s->profile->process_init ? "/" : s->cwd);
	add_capabilities(process, s);
	jdoc_set_bool(process, "noNewPrivileges", bundle_asks(s, LAYER_NO_NEW_PRIVS));
	rlimits = jdoc_set_array(process, "rlimits");
	add_rlimit(rlimits, "RLIMIT_CORE", 0);
	if (s->profile->limit_files)
		add_rlimit(rlimits, "RLIMIT_NOFILE", s->profile->limit_files);
	/* RLIMIT_FSIZE: no single file may exceed the limit of the whole worktree. */
	if (bundle_asks(s, LAYER_DISK_LIMIT))
		add_rlimit(rlimits, "RLIMIT_FSIZE", s->profile->limit_disk);
}

/* With one id, the user of the subject maps to the caller; no other id is mapped. */
struct id_map bundle_ids(const struct subject *s, const struct placement *p)
{
	if (id_map_is_set(p->ids))
		return *p->ids;
	return (struct id_map){
		.uid = { .at = { { p->n_ids == 1 ? s->uid : 0, p->uid_base, p->n_ids } }, .n = 1 },
		.gid = { .at = { { p->n_ids == 1 ? s->gid : 0, p->gid_base, p->n_ids } }, .n = 1 },
	};
}

static void add_mappings(struct jdoc *linux_part, const char *key, const struct id_extents *e)
{
	struct jdoc *list = jdoc_set_array(linux_part, key);

	for (unsigned int i = 0; i < e->n; i++) {
		struct jdoc *m = jdoc_append_object(list);

		jdoc_set_int(m, "containerID", e->at[i].inside);
		jdoc_set_int(m, "hostID", e->at[i].outside);
		jdoc_set_int(m, "size", e->at[i].count);
	}
}

static void add_resources(struct jdoc *linux_part, const struct subject *s, const struct placement *p)
{
	struct jdoc *resources = jdoc_set_object(linux_part, "resources"), *part;
	const struct profile *pr = s->profile;
	uint32_t asked = s->layers;

	/* A user's runtime may have no writable cgroup; limits that are optional in the profile are then omitted. */
	if (p->rootless)
		asked &= ~pr->optional;
	if (asked & LAYER_BIT(LAYER_MEMORY_LIMIT)) {
		part = jdoc_set_object(resources, "memory");
		jdoc_set_int(part, "limit", (int64_t)pr->limit_memory);
		jdoc_set_int(part, "swap", (int64_t)pr->limit_memory);
	}
	if (asked & LAYER_BIT(LAYER_PIDS_LIMIT)) {
		part = jdoc_set_object(resources, "pids");
		jdoc_set_int(part, "limit", (int64_t)pr->limit_pids);
	}
	if (asked & LAYER_BIT(LAYER_CPU_LIMIT)) {
		part = jdoc_set_object(resources, "cpu");
		jdoc_set_int(part, "quota", (int64_t)(pr->limit_cpu_percent * (CPU_PERIOD_US / 100)));
		jdoc_set_int(part, "period", CPU_PERIOD_US);
	}
}

static int add_seccomp(struct jdoc *config, struct jdoc *linux_part, const struct subject *s,
		       const struct placement *p, struct fault *f)
{
	struct jdoc *seccomp = NULL;
	int r;

	if (!bundle_asks(s, LAYER_SECCOMP))
		return 0;
	if (p->seccomp_bpf) {
		jdoc_set_string(jdoc_set_object(config, "annotations"), "run.oci.seccomp_bpf_data",
				p->seccomp_bpf);
		return 0;
	}
	if (p->seccomp_apart) {
		jdoc_set_string(linux_part, "seccomp", "");
		return 0;
	}
	r = seccomp_describe(s, &seccomp, f);
	if (r < 0)
		return r;
	jdoc_set(linux_part, "seccomp", seccomp);
	return 0;
}

static int add_linux(struct jdoc *config, const struct subject *s, const struct placement *p, struct fault *f)
{
	struct jdoc *part = jdoc_set_object(config, "linux"), *list;

	list = jdoc_set_array(part, "namespaces");
	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++)
		if (bundle_asks(s, namespaces[i].layer))
			jdoc_set_string(jdoc_append_object(list), "type", namespaces[i].type);
	if (bundle_asks(s, LAYER_USER_NS)) {
		const struct id_map m = bundle_ids(s, p);

		add_mappings(part, "uidMappings", &m.uid);
		add_mappings(part, "gidMappings", &m.gid);
	}
	list = jdoc_set_array(part, "maskedPaths");
	if (bundle_asks(s, LAYER_MASKS))
		append_all(list, masked_paths);
	for (char **hide = s->profile->fs_hide; hide && *hide; hide++)
		jdoc_append_string(list, *hide);
	for (char **hide = s->secrets; hide && *hide; hide++)
		jdoc_append_string(list, *hide);
	list = jdoc_set_array(part, "readonlyPaths");
	if (bundle_asks(s, LAYER_MASKS))
		append_all(list, readonly_paths);
	if (p->limits)
		add_resources(part, s, p);
	return add_seccomp(config, part, s, p, f);
}

static int require_ids(const struct subject *s, const struct placement *p, struct fault *f)
{
	if (!bundle_asks(s, LAYER_USER_NS))
		return 0;
	if (p->n_ids == 0)
		return fault_set(f, EINVAL, "placement without ids");
	if (id_map_is_set(p->ids))
		return 0; /* run-ids.c compared them with the user */
	if (p->n_ids == 1 && (s->uid != 0 || s->gid != 0))
		return fault_set(
			f, EPERM,
			"process.user %u:%u is not mapped: without root only container root (0:0) is", s->uid,
			s->gid);
	if (s->uid >= p->n_ids || s->gid >= p->n_ids)
		return fault_set(f, EINVAL, "process.user %u:%u is not one of the container's %u ids", s->uid,
				 s->gid, p->n_ids);
	return 0;
}

int bundle_config(const struct subject *s, const struct placement *p, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *config = jdoc_new_object();
	struct jdoc *root;
	int r;

	if (!config)
		return fault_errno(f, ENOMEM, "config.json");
	r = require_ids(s, p, f);
	if (r >= 0)
		r = subject_require_cwd(s, f);
	if (r >= 0)
		r = bundle_require_gate(s, p, f);
	if (r < 0)
		return r;
	jdoc_set_string(config, "ociVersion", "1.0.2");
	add_process(config, s, p);
	root = jdoc_set_object(config, "root");
	jdoc_set_string(root, "path", p->rootfs);
	/* libcrun would remount it once more, and drop the other flags. */
	jdoc_set_bool(root, "readonly", bundle_asks(s, LAYER_ROOT) && !bundle_remounts_root(s, p));
	/* Without a separate UTS namespace it would change the host's name. */
	if (bundle_asks(s, LAYER_UTS_NS))
		jdoc_set_string(config, "hostname", s->hostname);
	r = bundle_add_mounts(config, s, p, f);
	if (r >= 0)
		r = add_linux(config, s, p, f);
	if (r >= 0 && p->portable) {
		struct jdoc *annotations = jdoc_set_object(config, "annotations");

		jdoc_set_string(annotations, BUNDLE_MARK, "1");
		if (p->hook_stderr)
			jdoc_set_string(annotations, HOOK_STDERR, p->hook_stderr);
		r = bundle_add_hooks(config, s, p, f);
	}
	if (r < 0)
		return r;
	if (config->broken)
		return fault_errno(f, ENOMEM, "config.json");
	*ret = TAKE_PTR(config);
	return 0;
}
