/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/own-dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

void own_dir_done(struct own_dir *d)
{
	for (size_t i = 0; i < d->n_places; i++)
		place_done(&d->places[i]);
	free(d->places);
	free(d->path);
	*d = (struct own_dir){ 0 };
}

void own_dirs_init(struct own_dirs *o, const struct dirs *d)
{
	*o = (struct own_dirs){ .dirs = d };
}

void own_dirs_done(struct own_dirs *o)
{
	for (size_t i = 0; i < _OWN_DIR_MAX; i++)
		own_dir_done(&o->dir[i]);
	place_table_done(&o->mounts);
}

char *own_dirs_resolve(const char *path)
{
	_cleanup_free_ char *head = strdup(path), *real = NULL;

	while (head) {
		char *slash;

		real = realpath(head, NULL);
		if (real || errno == ENOMEM)
			break;
		slash = strrchr(head, '/');
		if (!slash || slash == head)
			return strdup(path);
		*slash = '\0';
	}
	if (!head || !real)
		return NULL;
	return path[strlen(head)] ? path_join(real, path + strlen(head) + 1) : TAKE_PTR(real);
}

/* Heap; *RET NULL: none. */
static int name_of(const struct dirs *d, enum own_dir_name name, char **ret, struct fault *f)
{
	const char *const whole[_OWN_DIR_MAX] = {
		[OWN_DIR_CONFIG] = d->config,
		[OWN_DIR_PROFILES_ADMIN] = d->profiles_admin,
		[OWN_DIR_PROFILES_USER] = d->profiles_user,
		[OWN_DIR_PROFILES_SHIPPED] = d->profiles_shipped,
		[OWN_DIR_BASE] = d->base,
		[OWN_DIR_DATA] = d->data,
		[OWN_DIR_RUN] = d->run,
		[OWN_DIR_LIBEXEC] = d->libexec,
	};
	const char *const below[_OWN_DIR_MAX] = {
		[OWN_DIR_SANDBOX] = lane_name(LANE_SANDBOX),
		[OWN_DIR_PROD] = lane_name(LANE_PROD),
		[OWN_DIR_EVIDENCE] = "forensics",
	};

	*ret = NULL;
	if (!whole[name] && !(below[name] && d->base))
		return 0;
	*ret = whole[name] ? strdup(whole[name]) : path_join(d->base, below[name]);
	return *ret ? 0 : fault_errno(f, ENOMEM, "custody's directories");
}

int own_dirs_path(struct own_dirs *o, enum own_dir_name name, const char **ret, struct fault *f)
{
	struct own_dir *dir = &o->dir[name];

	if (!dir->path) {
		_cleanup_free_ char *path = NULL;
		int r = name_of(o->dirs, name, &path, f);

		if (r < 0)
			return r;
		dir->path = path ? own_dirs_resolve(path) : NULL;
		if (path && !dir->path)
			return fault_errno(f, ENOMEM, "'%s'", path);
	}
	*ret = dir->path;
	return 0;
}

int own_dirs_mounts(struct own_dirs *o, const struct place_table **ret, struct fault *f)
{
	int r = o->mounts.n_mounts ? 0 : place_table_load(&o->mounts, f);

	if (r >= 0)
		*ret = &o->mounts;
	return r;
}

int own_dirs_place(struct own_dirs *o, const char *path, struct place *ret, struct fault *f)
{
	const struct place_table *mounts;
	int r = own_dirs_mounts(o, &mounts, f);

	return r < 0 ? r : place_find(mounts, path, ret, f);
}

int own_dirs_places(struct own_dirs *o, const char *path, struct own_dir *ret, struct fault *f)
{
	_cleanup_place_ struct place first = { 0 };
	_cleanup_own_dir_ struct own_dir d = { 0 };
	int r = own_dirs_place(o, path, &first, f);

	if (r < 0)
		return r;
	d.places = calloc(o->mounts.n_mounts + 1, sizeof(*d.places));
	if (!d.places)
		return fault_errno(f, ENOMEM, "'%s'", path);
	d.places[d.n_places++] = first;
	first = (struct place){ 0 };
	for (size_t i = 0; i < o->mounts.n_mounts; i++) {
		const struct place_mount *m = &o->mounts.mounts[i];

		if (!path_is_below(m->point, path))
			continue;
		d.places[d.n_places] = (struct place){ .fs = m->fs, .path = strdup(m->root) };
		if (!d.places[d.n_places++].path)
			return fault_errno(f, ENOMEM, "'%s'", path);
	}
	*ret = d;
	d = (struct own_dir){ 0 };
	return 0;
}

int own_dirs_get(struct own_dirs *o, enum own_dir_name name, const struct own_dir **ret, struct fault *f)
{
	struct own_dir found = { 0 };
	const char *path = NULL;
	int r = own_dirs_path(o, name, &path, f);

	*ret = NULL;
	if (r < 0 || !path)
		return r;
	if (!o->dir[name].places) {
		r = own_dirs_places(o, path, &found, f);
		if (r < 0)
			return r;
		o->dir[name].places = found.places;
		o->dir[name].n_places = found.n_places;
	}
	*ret = &o->dir[name];
	return 0;
}
