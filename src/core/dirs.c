/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/dirs.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static char *join(const char *dir, const char *rest)
{
	char *text = NULL;

	return asprintf(&text, "%s%s", dir, rest) < 0 ? NULL : text;
}

/* An environment variable counts only when it holds an absolute path. */
static const char *env_dir(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

/* /etc/passwd itself, never nss: this program is static, and a module loaded from here would not be. */
static int find_user(uid_t uid, struct dirs *d)
{
	struct passwd pw, *found = NULL;
	char buf[1024];
	FILE *fp = fopen("/etc/passwd", "re");

	while (fp && fgetpwent_r(fp, &pw, buf, sizeof(buf), &found) == 0 && found) {
		if (found->pw_uid != uid)
			continue;
		d->home = strdup(found->pw_dir);
		d->user = strdup(found->pw_name);
		break;
	}
	if (fp)
		(void)fclose(fp);
	if (!d->home)
		d->home = strdup(env_dir("HOME") ?: "/");
	if (!d->user)
		d->user = strdup(getenv("LOGNAME") ?: "nobody");
	return d->home && d->user ? 0 : -ENOMEM;
}

static void set_root(struct dirs *d, const char *root)
{
	d->config = join(root, "/etc");
	d->profiles_admin = join(root, "/etc/profiles");
	d->state = join(root, "/sandbox");
	d->run = join(root, "/run");
}

static void set_system(struct dirs *d)
{
	d->config = strdup("/etc/custody");
	d->state = strdup("/var/lib/custody/sandbox");
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
	d->state = xdg("XDG_STATE_HOME", home, "/.local/state", "/custody/sandbox");
	/* No login session: the state directory is private too, and locks work there as well. */
	d->run = xdg("XDG_RUNTIME_DIR", home, "/.local/state/custody/run", "/custody");
}

int dirs_load(struct dirs *ret, struct fault *f)
{
	_cleanup_dirs_ struct dirs d = { .rootless = geteuid() != 0 };
	const char *root = getenv("CUSTODY_ROOT");

	if (root && *root && root[0] != '/')
		return fault_set(f, EINVAL, "CUSTODY_ROOT is '%s': it must be an absolute path", root);
	if (find_user(geteuid(), &d) < 0)
		return fault_errno(f, ENOMEM, "directories");

	if (root && *root)
		set_root(&d, root);
	else if (d.rootless)
		set_user(&d);
	else
		set_system(&d);
	if (!d.profiles_admin)
		d.profiles_admin = strdup("/etc/custody/profiles");
	d.profiles_shipped = join(env_dir("CUSTODY_DATADIR") ?: PKGDATADIR, "/profiles");
	d.libexec = strdup(env_dir("CUSTODY_LIBEXEC") ?: PKGLIBEXECDIR);

	if (!d.config || !d.profiles_admin || !d.state || !d.run || !d.profiles_shipped || !d.libexec)
		return fault_errno(f, ENOMEM, "directories");
	*ret = d;
	d = (struct dirs){ 0 };
	return 0;
}

void dirs_done(struct dirs *d)
{
	free(d->config);
	free(d->profiles_admin);
	free(d->profiles_user);
	free(d->profiles_shipped);
	free(d->state);
	free(d->run);
	free(d->libexec);
	free(d->home);
	free(d->user);
	*d = (struct dirs){ 0 };
}
