/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-labels.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

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

int runtime_labels_require_process(struct jspan process, const char *label, struct fault *f)
{
	if (is_set(process, "apparmorProfile") && !has_apparmor())
		return refuse(label, "apparmorProfile", "AppArmor", f);
	if (is_set(process, "selinuxLabel") && !has_selinux())
		return refuse(label, "selinuxLabel", "SELinux", f);
	return 0;
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
