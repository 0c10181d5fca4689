/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "cli/cmd-profile.h"
#include "base/exit-status.h"

/* 1: valid; 0: invalid, the reason is printed; negative: failed. */
static int check_one(const struct profile_place *place, const char *name, bool json, struct jdoc *list,
		     struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 }, later = { 0 };
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_free_ char *path = profile_as_path(name);
	struct jdoc *entry = jdoc_append_object(list);
	int r;

	r = path ? profile_load(path, &place->src, &place->vars, &p, &why) : -ENOMEM;
	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "profile '%s'", name);
	jdoc_set_string(entry, "path", name);
	jdoc_set_bool(entry, "valid", r == 0);
	if (r < 0) {
		jdoc_set_string(entry, "error", fault_text(&why));
		if (!json)
			profile_report("check", fault_text(&why));
		return 0;
	}
	profile_set_digest(entry, "digest", &p->digest);
	jdoc_set_bool(entry, "supported", profile_require_supported(p, &later) == 0);
	if (later.code)
		jdoc_set_string(entry, "unsupported", fault_text(&later));
	if (!json) {
		_cleanup_free_ char *shown = str_escape(name);

		printf("%s: valid, sha256 of the merged profile %s\n", shown ? shown : "?",
		       jdoc_get_string(entry, "digest") + sizeof("sha256:") - 1);
	}
	if (!json && later.code)
		profile_report("check: valid, but a run would be refused", fault_text(&later));
	return 1;
}

int cmd_profile_check(struct command_call *c, struct fault *f)
{
	_cleanup_profile_place_ struct profile_place place = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	struct jdoc *list;
	bool all = true;
	int r;

	jdoc_set_int(doc, "schema_version", 1);
	list = jdoc_set_array(doc, "files");
	if (!list)
		return fault_errno(f, ENOMEM, "profile");
	r = profile_place_init(&place, f);
	for (size_t i = 0; i < c->n_args && r >= 0; i++) {
		r = check_one(&place, c->args[i], c->json, list, f);
		all &= r == 1;
	}
	if (r >= 0)
		r = c->json ? profile_print(doc, f) : profile_flush(f);
	if (r < 0)
		return r;
	return all ? STATUS_OK : STATUS_NO;
}

int cmd_profile_schema(struct command_call *c, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *schema = profile_schema();
	int r;

	(void)c;
	if (!schema)
		return fault_errno(f, ENOMEM, "profile schema");
	r = profile_print(schema, f);
	return r < 0 ? r : STATUS_OK;
}
