/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/write-access.h"
#include "state/caller-homes.h"
#include "state/passwd.h"

#define CONFIG_NAME "/custody.json"
#define UID_MAP_MAX ((size_t)64 * 1024)

static char *join(const char *dir, const char *rest)
{
	char *text = NULL;

	return asprintf(&text, "%s%s", dir, rest) < 0 ? NULL : text;
}

/* An environment variable counts only if it is an absolute path. */
static const char *env_dir(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

static int find_user(uid_t uid, struct dirs *d)
{
	_cleanup_passwd_entry_ struct passwd_entry e = { 0 };

	if (passwd_find(NULL, uid, &e) < 0)
		return -ENOMEM;
	d->home = TAKE_PTR(e.home);
	d->user = TAKE_PTR(e.name);
	if (!d->home)
		d->home = strdup(env_dir("HOME") ?: "/");
	if (!d->user)
		d->user = strdup(getenv("LOGNAME") ?: "nobody");
	d->caller_homes = caller_homes_find(d->home);
	return d->home && d->user && d->caller_homes ? 0 : -ENOMEM;
}

static void set_root(struct dirs *d, const char *root)
{
	d->config = join(root, "/etc");
	d->profiles_admin = join(root, "/etc/profiles");
	d->config_admin = join(root, "/etc" CONFIG_NAME);
	d->base = join(root, "");
	d->data = join(root, "");
	d->run = join(root, "/run");
}

static void set_system(struct dirs *d)
{
	d->config = strdup("/etc/custody");
	d->base = strdup("/var/lib/custody");
	d->data = strdup("/var/lib/custody");
	d->run = strdup("/run/custody");
}

static char *xdg(const char *name, const char *home, const char *fallback, const char *rest)
{
	_cleanup_free_ char *base = NULL;
	const char *dir = env_dir(name);

	if (!dir) {
		base = join(home, fallback);
		dir = base;
	}
	return dir ? join(dir, rest) : NULL;
}

static void set_user(struct dirs *d)
{
	const char *home = env_dir("HOME") ?: d->home;

	d->config = xdg("XDG_CONFIG_HOME", home, "/.config", "/custody");
	d->profiles_user = d->config ? join(d->config, "/profiles") : NULL;
	d->config_user = d->config ? join(d->config, CONFIG_NAME) : NULL;
	d->base = xdg("XDG_STATE_HOME", home, "/.local/state", "/custody");
	d->data = xdg("XDG_DATA_HOME", home, "/.local/share", "/custody");
	/* No login session: the state directory is private too, and locks work there as well. */
	d->run = xdg("XDG_RUNTIME_DIR", home, "/.local/state/custody/run", "/custody");
}

/* The id outside of the user namespace of UID; UID itself where the map cannot be read. */
static uid_t find_outer(uid_t uid)
{
	_cleanup_close_ int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	unsigned int inside, outside, count;
	size_t len;

	if (fd < 0 || fd_read_all(fd, UID_MAP_MAX, &text, &len, NULL) < 0)
		return uid;
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && uid - inside < count)
			return outside + (uid - inside);
	return uid;
}

/*
 * A user's engine calls its runtime as root of a user namespace.  The root directory then belongs to no id of the namespace;
 * inside of a container with a namespace of its own it belongs to that container's root.
 */
static uid_t find_caller(void)
{
	struct stat st;

	return geteuid() == 0 && stat("/", &st) == 0 && st.st_uid != 0 ? find_outer(0) : geteuid();
}

int dirs_load_lane(enum lane lane, struct dirs *ret, struct fault *f)
{
	const uid_t caller = find_caller();
	_cleanup_dirs_ struct dirs d = { .rootless = caller != 0, .lane = lane };
	const char *root = getenv("CUSTODY_ROOT");

	if (root && *root && root[0] != '/')
		return fault_set(f, EINVAL, "CUSTODY_ROOT is '%s': it must be an absolute path", root);
	if (find_user(caller, &d) < 0)
		return fault_errno(f, ENOMEM, "directories");

	if (root && *root)
		set_root(&d, root);
	else if (d.rootless)
		set_user(&d);
	else
		set_system(&d);
	if (!d.profiles_admin)
		d.profiles_admin = strdup("/etc/custody/profiles");
	if (!d.config_admin)
		d.config_admin = strdup("/etc/custody" CONFIG_NAME);
	d.state = d.base ? path_join(d.base, lane_name(lane)) : NULL;
	if (d.data && asprintf(&d.sandboxes, "%s/%s/sandbox", d.data, lane_name(lane)) < 0)
		d.sandboxes = NULL;
	if (d.data && asprintf(&d.homes, "%s/%s/home", d.data, lane_name(lane)) < 0)
		d.homes = NULL;
	d.profiles_shipped = join(env_dir("CUSTODY_DATADIR") ?: PKGDATADIR, "/profiles");
	d.libexec = strdup(env_dir("CUSTODY_LIBEXEC") ?: PKGLIBEXECDIR);

	if (!d.config || !d.config_admin || !d.profiles_admin || !d.state || !d.sandboxes || !d.homes ||
	    !d.run || !d.profiles_shipped || !d.libexec)
		return fault_errno(f, ENOMEM, "directories");
	*ret = d;
	d = (struct dirs){ 0 };
	return 0;
}

int dirs_load(struct dirs *ret, struct fault *f)
{
	return dirs_load_lane(LANE_SANDBOX, ret, f);
}

void dirs_done(struct dirs *d)
{
	free(d->config);
	free(d->profiles_admin);
	free(d->profiles_user);
	free(d->profiles_shipped);
	free(d->config_admin);
	free(d->config_user);
	free(d->base);
	strv_free(d->caller_homes);
	free(d->state);
	free(d->data);
	free(d->sandboxes);
	free(d->homes);
	free(d->run);
	free(d->libexec);
	free(d->home);
	free(d->user);
	*d = (struct dirs){ 0 };
}

static int open_dirs(const char *path, mode_t mode, struct fault *f)
{
	int fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd >= 0 ? fd : fault_errno(f, errno, "open '%s'", path);
	return path_make_dirs(AT_FDCWD, path, mode, f);
}

/*
 * A sweep kills processes and removes files named here, and all paths below are used by name later: another
 * user with write access to DIR or its parent could choose them.
 */
int dirs_require_own(int fd, const char *path, struct fault *f)
{
	_cleanup_close_ int parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st, up;

	if (parent < 0 || fstat(fd, &st) < 0 || fstat(parent, &up) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if (st.st_uid != geteuid())
		return fault_set(
			f, EPERM,
			"'%s' belongs to uid %u, not to you: set CUSTODY_ROOT to a directory that you own",
			path, (unsigned int)st.st_uid);
	if (write_access_is_shared(fd, &st))
		return fault_set(f, EPERM, "'%s' is writable by other users: chmod go-w '%s'", path, path);
	if (up.st_uid != geteuid() && up.st_uid != 0)
		return fault_set(
			f, EPERM,
			"the parent directory of '%s' belongs to uid %u, neither to root nor to you: "
			"set CUSTODY_ROOT to a directory that you own",
			path, (unsigned int)up.st_uid);
	if (!(up.st_mode & S_ISVTX) && write_access_is_shared(parent, &up))
		return fault_set(f, EPERM,
				 "the parent directory of '%s' is writable by other users: chmod go-w it",
				 path);
	return 0;
}

int dirs_open_own(const char *path, mode_t mode, struct fault *f)
{
	_cleanup_close_ int fd = open_dirs(path, mode, f);
	int r;

	if (fd < 0)
		return fd;
	r = dirs_require_own(fd, path, f);
	return r < 0 ? r : TAKE_FD(fd);
}
