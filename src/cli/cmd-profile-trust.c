/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/cmd-profile.h"
#include "base/exit-status.h"
#include "profile/profile-default.h"

static int add(const struct profile_place *place, const char *path, struct fault *f)
{
	_cleanup_profile_file_ struct profile_file file = { 0 };
	_cleanup_free_ char *shown = NULL, *name = NULL;
	char hex[DIGEST_HEX_SIZE];
	int r;

	r = profile_file_open(path, &place->src, false, NULL, &file, f);
	if (r < 0)
		return r;
	/* Hash the bytes that were checked, not the file again. */
	r = profile_default_is(file.path) ? profile_default_parse(&file, &name, f)
					  : profile_file_verify(&file, &place->vars, f);
	if (r < 0)
		return fault_wrap(f, r, "not trusted");
	r = profile_trust_set(place->trust, file.path, &file.digest, f);
	if (r < 0)
		return r;
	digest_to_hex(&file.digest, hex);
	shown = str_escape(file.path);
	printf("%s  %s\n", hex, shown ? shown : "?");
	if (!file.in_worktree)
		fprintf(stderr, "custody profile trust: the file is not below the current directory; "
				"it is trusted at its own path\n");
	fprintf(stderr, "custody profile trust: recorded in %s; a changed file is no longer trusted\n",
		place->trust);
	r = profile_flush(f);
	return r < 0 ? r : STATUS_OK;
}

/* A missing file: its directory is resolved, else the path is used as given. */
static char *true_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = strndup(path, (size_t)(slash - path)), *real = NULL;

	real = realpath(path, NULL);
	if (real)
		return TAKE_PTR(real);
	real = dir ? realpath(*dir ? dir : "/", NULL) : NULL;
	return real ? path_join(real, slash + 1) : strdup(path);
}

static int take_back(const struct profile_place *place, const char *path, struct fault *f)
{
	_cleanup_free_ char *real = true_path(path), *shown = real ? str_escape(real) : NULL;
	int r;

	if (!real)
		return fault_errno(f, ENOMEM, "profile '%s'", path);
	r = profile_trust_set(place->trust, real, NULL, f);
	if (r == -ENOENT) {
		profile_report("trust", fault_text(f));
		fault_done(f);
		return STATUS_NO;
	}
	if (r < 0)
		return r;
	fprintf(stderr, "custody profile trust: '%s' is no longer trusted\n", shown ? shown : "?");
	return STATUS_OK;
}

int cmd_profile_trust(struct command_call *c, struct fault *f)
{
	_cleanup_profile_place_ struct profile_place place = { 0 };
	_cleanup_free_ char *path = profile_as_path(c->args[0]);
	int r;

	if (!path)
		return fault_errno(f, ENOMEM, "profile");
	r = profile_place_init(&place, f);
	if (r < 0)
		return r;
	return c->rm ? take_back(&place, path, f) : add(&place, path, f);
}
