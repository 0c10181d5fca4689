/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>

#include "base/json.h"
#include "oci/runtime/runtime-mounts.h"
#include "oci/runtime/runtime-schema.h"
#include "oci/runtime/runtime-verbs.h"
#include "oci/runtime/runtime-version.h"

/*
 * What the linked libcrun does, whatever this kernel has: engines decide by it what they write into config.json.  Mount options and
 * members come from the tables that config.json is compared with.
 */
/* clang-format off */
static const char *const hooks[] = {
	"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop", NULL,
};
static const char *const namespaces[] = { "cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts", NULL };
static const char *const actions[] = {
	"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD",
	"SCMP_ACT_LOG", "SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE", "SCMP_ACT_TRAP", NULL,
};
static const char *const operators[] = {
	"SCMP_CMP_EQ", "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_LE", "SCMP_CMP_LT", "SCMP_CMP_MASKED_EQ",
	"SCMP_CMP_NE", NULL,
};
static const char *const flags[] = {
	"SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_SPEC_ALLOW", "SECCOMP_FILTER_FLAG_LOG",
	"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", NULL,
};
static const char *const archs[] = {
	"AARCH64", "ARM", "MIPS", "MIPS64", "MIPS64N32", "MIPSEL", "MIPSEL64", "MIPSEL64N32", "PARISC", "PARISC64",
	"PPC", "PPC64", "PPC64LE", "RISCV64", "S390", "S390X", "X32", "X86", "X86_64", NULL,
};
/* clang-format on */

static void add_words(struct jdoc *object, const char *key, const char *const *words)
{
	struct jdoc *array = jdoc_set_array(object, key);

	for (; *words; words++)
		jdoc_append_string(array, *words);
}

/* Only names that the linked libseccomp can resolve. */
static void add_archs(struct jdoc *object)
{
	struct jdoc *array = jdoc_set_array(object, "archs");

	for (size_t i = 0; archs[i]; i++) {
		char name[32] = { 0 }, full[sizeof("SCMP_ARCH_") + sizeof(name)];

		for (size_t c = 0; archs[i][c]; c++)
			name[c] = archs[i][c] >= 'A' && archs[i][c] <= 'Z' ? (char)(archs[i][c] + 32)
									   : archs[i][c];
		(void)snprintf(full, sizeof(full), "SCMP_ARCH_%s", archs[i]);
		if (seccomp_arch_resolve_name(name) != 0)
			jdoc_append_string(array, full);
	}
}

static void add_capabilities(struct jdoc *object)
{
	struct jdoc *array = jdoc_set_array(object, "capabilities");

	for (cap_value_t c = 0; c <= CAP_LAST_CAP; c++) {
		char *name = cap_to_name(c);

		for (char *p = name; p && *p; p++)
			*p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
		if (name)
			jdoc_append_string(array, name);
		(void)cap_free(name);
	}
}

static void add_mount_options(struct jdoc *d)
{
	struct jdoc *array = jdoc_set_array(d, "mountOptions");
	const char *name;

	for (size_t i = 0; (name = runtime_mounts_option(i, runtime_libcrun())); i++)
		jdoc_append_string(array, name);
}

static void add_enabled(struct jdoc *object, const char *key, bool enabled)
{
	jdoc_set_bool(jdoc_set_object(object, key), "enabled", enabled);
}

/* Does the linked libcrun do what this member of `linux` says? */
static bool has_member(const char *key)
{
	for (const struct schema_member *m = schema_config; m->key; m++) {
		if (strcmp(m->key, "linux") != 0)
			continue;
		for (m = m->in; m->key; m++)
			if (!strcmp(m->key, key))
				return m->since <= runtime_libcrun();
		break;
	}
	return false;
}

/*
 * Annotations that this program or the linked libcrun obeys, or that a governed container is refused for.  Those of handlers and
 * of CRIU are not among them: this libcrun has neither.
 */
/* clang-format off */
static const char *const annotations[] = {
	"custody.",
	"io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri.container-type",
	"org.systemd.property.",
	"run.oci.", NULL,
};
/* clang-format on */

static void add_linux(struct jdoc *d)
{
	struct jdoc *l = jdoc_set_object(d, "linux"), *cgroup, *seccomp;

	add_words(l, "namespaces", namespaces);
	add_capabilities(l);
	cgroup = jdoc_set_object(l, "cgroup");
	jdoc_set_bool(cgroup, "v1", true);
	jdoc_set_bool(cgroup, "v2", true);
	jdoc_set_bool(cgroup, "systemd", runtime_systemd_available());
	jdoc_set_bool(cgroup, "systemdUser", runtime_systemd_available());
	jdoc_set_bool(cgroup, "rdma", false);
	seccomp = jdoc_set_object(l, "seccomp");
	jdoc_set_bool(seccomp, "enabled", true);
	add_words(seccomp, "actions", actions);
	add_words(seccomp, "operators", operators);
	add_words(seccomp, "knownFlags", flags);
	add_words(seccomp, "supportedFlags", flags);
	add_archs(seccomp);
	add_enabled(l, "apparmor", true);
	add_enabled(l, "selinux", true);
	add_enabled(l, "intelRdt", has_member("intelRdt"));
	add_enabled(l, "netDevices", has_member("netDevices"));
	add_enabled(jdoc_set_object(l, "mountExtensions"), "idmap", true);
}

static struct jdoc *make_features(void)
{
	const struct scmp_version *v = seccomp_version();
	struct jdoc *d = jdoc_new_object(), *notes;
	char version[32] = "unknown";

	if (v)
		(void)snprintf(version, sizeof(version), "%u.%u.%u", v->major, v->minor, v->micro);
	jdoc_set_string(d, "ociVersionMin", "1.0.0");
	jdoc_set_string(d, "ociVersionMax", RUNTIME_SPEC_MAX ".0");
	add_words(d, "hooks", hooks);
	add_mount_options(d);
	add_linux(d);
	add_words(d, "potentiallyUnsafeConfigAnnotations", annotations);
	notes = jdoc_set_object(d, "annotations");
	jdoc_set_string(notes, "io.github.seccomp.libseccomp.version", version);
	jdoc_set_string(notes, "org.opencontainers.runc.checkpoint.enabled", "false");
	jdoc_set_string(notes, "custody.runtime.version", PACKAGE_VERSION);
	jdoc_set_string(notes, "custody.runtime.libcrun", LIBCRUN_VERSION);
	return d;
}

int runtime_verb_features(struct runtime_job *job, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = make_features();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	(void)job;
	r = d ? jdoc_write(d, JDOC_PRETTY, &text, f) : fault_errno(f, ENOMEM, "features");
	if (r < 0)
		return r;
	if (fputs(text.text, stdout) < 0 || fflush(stdout) != 0)
		return fault_errno(f, errno, "write to standard output");
	return 0;
}
