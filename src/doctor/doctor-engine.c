/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "doctor/doctor-engine.h"

/* clang-format off */
static const struct {
	const char *name, *program, *id, *remedy;
	void (*check)(struct doctor_report *r, const struct dirs *d);
} engines[] = {
	{ "podman", "podman", "ENGINE-PODMAN-INSTALLED", "as root: apt-get install podman", doctor_check_podman },
	{ "docker", "dockerd", "ENGINE-DOCKER-INSTALLED", "as root: apt-get install docker.io", doctor_check_docker },
	{ "containerd", "containerd", "ENGINE-CONTAINERD-INSTALLED", "as root: apt-get install containerd",
	  doctor_check_containerd },
};
/* clang-format on */

#define N_ENGINES ARRAY_SIZE(engines)

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Is NAME an executable in one of the directories of LIST, which colons separate? */
static bool list_has_program(const char *list, const char *name)
{
	while (*list) {
		size_t n = strcspn(list, ":");
		_cleanup_free_ char *dir = strndup(list, n), *path = dir ? path_join(dir, name) : NULL;

		if (n > 0 && path && is_program(path))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

bool doctor_engine_has_program(const char *path)
{
	const char *list = getenv("PATH");

	if (strchr(path, '/'))
		return is_program(path);
	/* Daemons are installed in directories outside an ordinary user's PATH. */
	return (list && list_has_program(list, path)) ||
	       list_has_program("/usr/local/sbin:/usr/sbin:/sbin", path);
}

bool doctor_engine_is_ours(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, ENGINE_RUNTIME) == 0;
}

char *doctor_engine_user_file(const struct dirs *d, const char *name)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	_cleanup_free_ char *config = xdg && *xdg == '/' ? strdup(xdg) : path_join(d->home, ".config");

	return config ? path_join(config, name) : NULL;
}

char *doctor_engine_file(const struct dirs *d, const char *name)
{
	_cleanup_free_ char *own = d->rootless ? doctor_engine_user_file(d, name) : NULL;

	if (own && access(own, F_OK) == 0)
		return TAKE_PTR(own);
	return path_join("/etc", name);
}

int doctor_require_engine(const char *name, struct fault *f)
{
	const char *words[N_ENGINES + 1] = { NULL };
	_cleanup_free_ char *shown = str_escape(name);
	int at;

	for (size_t i = 0; i < N_ENGINES; i++) {
		if (strcmp(engines[i].name, name) == 0)
			return 0;
		words[i] = engines[i].name;
	}
	at = str_nearest(name, words);
	if (at >= 0)
		return fault_set(f, EINVAL, "no engine '%s'; did you mean '%s'?", shown ? shown : "?",
				 words[at]);
	return fault_set(f, EINVAL, "no engine '%s'; the engines are podman, docker and containerd",
			 shown ? shown : "?");
}

void doctor_check_engine(struct doctor_report *r, const struct dirs *d, const char *name)
{
	for (size_t i = 0; i < N_ENGINES; i++) {
		if (strcmp(engines[i].name, name) != 0)
			continue;
		if (doctor_engine_has_program(engines[i].program))
			doctor_add(r, engines[i].id, DOCTOR_OK, DOCTOR_INFO, NULL, "%s is installed",
				   engines[i].program);
		else
			doctor_add(r, engines[i].id, DOCTOR_MISSING, DOCTOR_ERROR, engines[i].remedy,
				   "missing program '%s'", engines[i].program);
		engines[i].check(r, d);
		doctor_check_engine_profile(r, d, name);
		doctor_check_engine_status(r, d);
	}
}
