/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd-profile.h"
#include "base/exit-status.h"
#include "profile/profile-file.h"

/* One profile; an invalid file is listed with its error. */
static int add_profile(const struct profile_place *place, const char *name, const char *from,
		       struct jdoc *list)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct jdoc *entry = jdoc_append_object(list);
	int r;

	jdoc_set_string(entry, "name", name);
	jdoc_set_string(entry, "from", from);
	r = profile_load(name, &place->src, &place->vars, &p, &f);
	if (r == -ENOMEM)
		return r;
	jdoc_set_bool(entry, "valid", r == 0);
	if (r < 0) {
		jdoc_set_string(entry, "error", fault_text(&f));
		return 0;
	}
	jdoc_set_string(entry, "path", p->path);
	jdoc_set_string(entry, "description", p->description ? p->description : "");
	profile_set_digest(entry, "digest", &p->digest);
	return 0;
}

static int add_dir(const struct profile_place *place, const char *dir, const char *from, char ***seen,
		   struct jdoc *list, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	int r;

	r = profile_dir_list(dir, &names, f);
	for (size_t i = 0; r == 0 && names && names[i]; i++) {
		/* A directory that is searched earlier has the same name. */
		if (strv_has(*seen, names[i]))
			continue;
		r = strv_append(seen, names[i]);
		if (r == 0)
			r = add_profile(place, names[i], from, list);
		if (r < 0)
			return fault_errno(f, ENOMEM, "profile '%s'", names[i]);
	}
	return r;
}

static int collect(const struct profile_place *place, struct jdoc *list, struct fault *f)
{
	_cleanup_free_ char *own = profile_worktree_dir(place->project.top);
	_cleanup_strv_ char **seen = NULL;
	int r = 0;

	if (!own)
		return fault_errno(f, ENOMEM, "profile");
	for (size_t i = 0; place->search[i] && r == 0; i++)
		r = add_dir(place, place->search[i], place->labels[i], &seen, list, f);
	if (r == 0)
		r = add_dir(place, own, "worktree", &seen, list, f);
	return r;
}

static int print_text(const struct jdoc *list, struct fault *f)
{
	for (size_t i = 0; i < list->n_items; i++) {
		const struct jdoc *e = list->items[i];
		const char *error = jdoc_get_string(e, "error");
		/* A file of a worktree can have any name: escape it. */
		_cleanup_free_ char *text = str_escape(error ? error : jdoc_get_string(e, "description")),
				    *name = str_escape(jdoc_get_string(e, "name"));

		if (!text || !name)
			return fault_errno(f, ENOMEM, "profile");
		printf("%-16s %-8s %s%s\n", name, jdoc_get_string(e, "from"), error ? "INVALID: " : "", text);
	}
	return profile_flush(f);
}

int cmd_profile_ls(struct command_call *c, struct fault *f)
{
	_cleanup_profile_place_ struct profile_place place = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	struct jdoc *list;
	int r;

	jdoc_set_int(doc, "schema_version", 1);
	list = jdoc_set_array(doc, "profiles");
	if (!list)
		return fault_errno(f, ENOMEM, "profile");
	r = profile_place_init(&place, f);
	if (r == 0)
		r = collect(&place, list, f);
	if (r == 0)
		r = c->json ? profile_print(doc, f) : print_text(list, f);
	return r < 0 ? r : STATUS_OK;
}
