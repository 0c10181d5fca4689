/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "core/subject-build.h"

/* What of the host is seen by default.  On merged-/usr hosts all but the first are symlinks into it. */
static const char *const host_paths[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", NULL };

/*
 * What of the host's /etc programs cannot do without and nobody keeps a secret in; shown where it exists.  Small
 * plain files are copied by oci/rootfs.c instead: a file costs less than a mount.
 */
static const char *const etc_paths[] = {
	"/etc/alternatives",
	"/etc/ca-certificates/extracted",
	"/etc/crypto-policies",
	"/etc/fonts",
	"/etc/java-11-openjdk",
	"/etc/java-17-openjdk",
	"/etc/java-21-openjdk",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/os-release",
	"/etc/pki/ca-trust/extracted",
	"/etc/pki/tls/certs",
	"/etc/ssl/cert.pem",
	"/etc/ssl/certs",
	"/etc/terminfo",
	NULL,
};

/* Of a root directory: ours are mounted there, or are nothing that a container should see. */
static const char *const root_dir_skipped[] = { "proc", "sys", "dev", "run", "tmp", "lost+found", NULL };

static bool is_shown(const struct subject *s, const char *path)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && strcmp(s->mounts[i].source, s->mounts[i].target) == 0 &&
		    path_is_below(path, s->mounts[i].target))
			return true;
	return false;
}

static bool has_subdirectory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_nlink > 2;
}

/*
 * PATH of the host at the same place inside: a symlink when it is one and its end is shown as well, else a bind.
 * REQUIRED: it was asked for by name, so its absence is an error.
 */
static int show(struct subject *s, const char *path, bool required, struct fault *f)
{
	_cleanup_free_ char *real = NULL;
	char text[PATH_MAX];
	ssize_t len;

	if (subject_find_mount(s, path) || strcmp(subject_work_target(s), path) == 0)
		return 0;
	real = realpath(path, NULL);
	if (!real && !required)
		return 0;
	if (!real)
		return fault_errno(f, errno, "root.host_paths: '%s'", path);
	len = readlink(path, text, sizeof(text) - 1);
	if (len > 0 && is_shown(s, real)) {
		text[len] = '\0';
		/* A chain of links may pass where nothing is shown: then straight to its end. */
		if (text[0] == '/' && !is_shown(s, text))
			return subject_add_link(s, path, real, f);
		return subject_add_link(s, path, text, f);
	}
	return subject_add_bind(s, real, path, false, false, f);
}

static int show_host(struct subject *s, struct fault *f)
{
	char *const *asked = s->profile->root_host_paths;
	const char *const *paths = asked && asked[0] ? (const char *const *)asked : host_paths;
	int r = 0;

	for (size_t i = 0; r >= 0 && paths[i]; i++) {
		bool known = false;

		for (size_t k = 0; host_paths[k]; k++)
			known = known || strcmp(paths[i], host_paths[k]) == 0;
		r = show(s, paths[i], !known, f);
	}
	for (size_t i = 0; r >= 0 && etc_paths[i]; i++) {
		/* Debian's /etc/terminfo holds nothing but a README: not worth a mount in each run. */
		if (strcmp(etc_paths[i], "/etc/terminfo") == 0 && !has_subdirectory(etc_paths[i]))
			continue;
		r = show(s, etc_paths[i], false, f);
	}
	return r;
}

static bool is_skipped(const char *name)
{
	for (size_t i = 0; root_dir_skipped[i]; i++)
		if (strcmp(name, root_dir_skipped[i]) == 0)
			return true;
	return false;
}

static int show_entry(struct subject *s, const char *dir, const char *name, struct fault *f)
{
	_cleanup_free_ char *source = path_join(dir, name), *target = path_join("/", name);
	char text[PATH_MAX];
	struct stat st;
	ssize_t len;

	if (!source || !target)
		return fault_errno(f, ENOMEM, "root directory");
	if (!str_is_utf8(name, strlen(name)))
		return fault_set(f, EILSEQ, "root directory '%s' has a name that is not UTF-8", dir);
	if (subject_find_mount(s, target) || strcmp(subject_work_target(s), target) == 0)
		return 0;
	if (lstat(source, &st) < 0)
		return fault_errno(f, errno, "root directory '%s'", source);
	if (!S_ISLNK(st.st_mode))
		return S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) ? subject_add_bind(s, source, target, false, false, f) :
								    0;
	len = readlink(source, text, sizeof(text) - 1);
	if (len < 0)
		return fault_errno(f, errno, "root directory '%s'", source);
	text[len] = '\0';
	return subject_add_link(s, target, text, f);
}

static void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

/*
 * A root directory is not mounted as the root itself: mount points that it lacks would have to be made in it.  Its
 * entries are bound into a root of our own instead; nothing is ever written to it.
 */
static int show_dir(struct subject *s, struct fault *f)
{
	_cleanup_(dir_closep) DIR *d = NULL;
	_cleanup_free_ char *dir = NULL;
	struct dirent *e;
	int r = 0;

	if (!s->profile->root_path)
		return fault_set(f, EINVAL, "root.path is missing: root.type \"dir\" needs it");
	dir = realpath(s->profile->root_path, NULL);
	if (!dir)
		return fault_errno(f, errno, "root directory '%s'", s->profile->root_path);
	if (strcmp(dir, "/") == 0)
		return fault_set(f, EPERM, "root directory '/': use root.type \"host-ro\"");
	d = opendir(dir);
	if (!d)
		return fault_errno(f, errno, "root directory '%s'", dir);
	while (r >= 0) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		if (e->d_name[0] != '.' && !is_skipped(e->d_name))
			r = show_entry(s, dir, e->d_name, f);
	}
	if (r >= 0 && errno)
		return fault_errno(f, errno, "root directory '%s'", dir);
	if (r >= 0 && !subject_find_mount(s, "/usr") && !subject_find_mount(s, "/bin"))
		return fault_set(f, ENOENT, "root directory '%s' has neither usr nor bin", dir);
	return r;
}

int subject_build_root(struct subject *s, struct fault *f)
{
	return s->profile->root == PROFILE_ROOT_DIR ? show_dir(s, f) : show_host(s, f);
}
