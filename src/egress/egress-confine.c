/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/egress-confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/str.h"

/* All rights of the first version, so that each kernel with Landlock knows them. */
#define RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* Its configuration, its modules, and what writes resolv.conf. */
static const char *const places[] = { "/etc",
				      "/usr",
				      "/lib",
				      "/lib64",
				      "/run/systemd/resolve",
				      "/run/NetworkManager",
				      "/run/resolvconf",
				      "/run/nscd" };
/* Links to other places on some hosts. */
static const char *const files[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf" };

static int allow(int rules, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr a = { .allowed_access = READ, .parent_fd = fd };

	if (fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : fault_errno(f, errno, "open '%s'", path);
	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0
		       ? fault_errno(f, errno, "allow '%s'", path)
		       : 0;
}

/* The directory that FILE lies in, because it is replaced and not written. */
static int allow_beside(int rules, const char *file, struct fault *f)
{
	_cleanup_free_ char *real = realpath(file, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;

	if (!slash || slash == real)
		return 0;
	*slash = '\0';
	return allow(rules, real, f);
}

int egress_confine(struct fault *f)
{
	const struct landlock_ruleset_attr a = { .handled_access_fs = RIGHTS };
	_cleanup_close_ int rules = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof(a), 0);
	int r = 0;

	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : fault_errno(f, errno, "Landlock");
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(places); i++)
		r = allow(rules, places[i], f);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(files); i++)
		r = allow_beside(rules, files[i], f);
	if (r == 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		r = fault_errno(f, errno, "Landlock");
	return r;
}
