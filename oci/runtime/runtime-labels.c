/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-labels.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/runtime/runtime-schema.h"
#include "oci/runtime/runtime-version.h"

#define APPARMOR_FS "/sys/kernel/security/apparmor"

static bool has_apparmor(void)
{
	_cleanup_close_ int fd = open("/sys/module/apparmor/parameters/enabled", O_RDONLY | O_CLOEXEC);
	char c = 'N';

	return fd >= 0 && read(fd, &c, 1) == 1 && c == 'Y';
}

/* As libcrun decides it: whether selinuxfs is mounted. */
static bool has_selinux(void)
{
	_cleanup_close_ int fd = open("/proc/mounts", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, (size_t)16 * 1024 * 1024, &text, &len, NULL) == 0 &&
	       strstr(text, " selinuxfs ");
}

static bool is_set(struct jspan object, const char *key)
{
	struct jspan v;

	return jspan_get(object, key, &v) > 0 && jspan_is(v, '"') && v.len > strlen("\"\"");
}

static int refuse(const char *label, const char *member, const char *module, struct fault *f)
{
	return fault_set(
		f, ENOTSUP,
		"%s: '%s' is set, but %s is disabled on this host and the label would be ignored; remove it",
		label, member, module);
}

/* Of this process's namespace of profiles; a name of another one (":ns:name") or of several ("a//&b") is for the kernel to find. */
static bool is_loaded(const char *name)
{
	_cleanup_close_ int fd = open(APPARMOR_FS "/profiles", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len, n = strlen(name);

	if (str_eq(name, "unconfined") || name[0] == ':' || strstr(name, "//&") || fd < 0 ||
	    fd_read_all(fd, (size_t)16 * 1024 * 1024, &text, &len, NULL) < 0)
		return true;
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, name, n) == 0 && strncmp(line + n, " (", 2) == 0)
			return true;
	return false;
}

static int require_apparmor(struct jspan process, const char *label, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	struct jspan v;

	if (!is_set(process, "apparmorProfile"))
		return 0;
	if (!has_apparmor())
		return refuse(label, "apparmorProfile", "AppArmor", f);
	/* libcrun before 1.28 fails there with "AppArmor is not initialized correctly". */
	if (runtime_libcrun() < LIBCRUN_NUMBER(1, 28, 0) && access(APPARMOR_FS, F_OK) < 0)
		return fault_set(f, ENOTSUP,
				 "%s: 'apparmorProfile' is set, but '" APPARMOR_FS
				 "' does not exist here; as "
				 "root: mount -t securityfs securityfs /sys/kernel/security",
				 label);
	name = jspan_get(process, "apparmorProfile", &v) > 0 ? jspan_string(v) : NULL;
	if (!name)
		return fault_set(f, EINVAL, "%s: 'apparmorProfile' is no valid string", label);
	/* libcrun would not say which profile. */
	return is_loaded(name)
		       ? 0
		       : fault_set(f, ENOENT,
				   "%s: AppArmor profile '%s' is not loaded; 'aa-status' lists those that "
				   "are, and as root: apparmor_parser -r FILE loads one",
				   label, name);
}

int runtime_labels_require_process(struct jspan process, const char *label, struct fault *f)
{
	if (is_set(process, "selinuxLabel") && !has_selinux())
		return refuse(label, "selinuxLabel", "SELinux", f);
	return require_apparmor(process, label, f);
}

int runtime_labels_require(struct jspan config, struct fault *f)
{
	struct jspan process, section;
	int r = 0;

	if (jspan_get(config, "process", &process) > 0)
		r = runtime_labels_require_process(process, "config.json", f);
	if (r == 0 && jspan_get(config, "linux", &section) > 0 && is_set(section, "mountLabel") &&
	    !has_selinux())
		r = refuse("config.json", "mountLabel", "SELinux", f);
	return r;
}
