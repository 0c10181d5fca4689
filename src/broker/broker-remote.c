/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-remote.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "base/trusted-path.h"

#define FILE_URL "file://"

static bool has_remotes(const struct broker_tool *t)
{
	return t->builtin == BROKER_GIT_PUSH || t->builtin == BROKER_GIT_FETCH;
}

static bool is_of_lane(const struct config_remote *r, enum lane lane)
{
	return lane_require_class(lane, (enum network_class)r->network, r->name, NULL) == 0;
}

static char level_of(const struct config_remote *r)
{
	return (char)('A' + r->level);
}

int broker_remotes_resolve(struct broker_tool *t, const struct config *c, enum lane lane, struct fault *f)
{
	size_t n = 0;

	if (!has_remotes(t))
		return 0;
	t->config = c;
	t->lane = lane;
	for (size_t i = 0; i < c->n_remotes; i++)
		if (is_of_lane(&c->remotes[i], lane)) {
			n++;
			/* The strictest one: the level is the tool's. */
			if (t->builtin == BROKER_GIT_PUSH && level_of(&c->remotes[i]) > t->level)
				t->level = level_of(&c->remotes[i]);
		}
	return n ? 0
		 : fault_set(
			   f, ENOENT,
			   "tool '%s' needs a remote of this lane: add one to broker.remotes in custody.json",
			   t->name);
}

static void put_words(struct jdoc *d, const char *key, char *const *words)
{
	struct jdoc *list = jdoc_set_array(d, key);

	for (; words && *words; words++)
		jdoc_append_string(list, *words);
}

void broker_remotes_describe(const struct broker_tool *t, struct jdoc *d)
{
	struct jdoc *list = t->config ? jdoc_set_array(d, "remotes") : NULL;

	for (size_t i = 0; list && i < t->config->n_remotes; i++) {
		const struct config_remote *r = &t->config->remotes[i];
		const char level[2] = { level_of(r), '\0' };
		struct jdoc *e;

		if (!is_of_lane(r, t->lane))
			continue;
		e = jdoc_append_object(list);
		jdoc_set_string(e, "name", r->name);
		jdoc_set_string(e, "url", r->url);
		jdoc_set_string(e, "ca", r->ca ? r->ca : "");
		jdoc_set_string(e, "credential", r->credential ? r->credential : "");
		jdoc_set_string(e, "user", r->user);
		jdoc_set_string(e, "level", level);
		jdoc_set_bool(e, "force", r->force);
		put_words(e, "branches", r->branches);
		put_words(e, "inspect_allow", r->inspect_allow);
	}
}

/* What the command could change could replace certificates, or the hooks of a repository. */
static int require_path(const struct config_remote *r, const char *path, char *const *places, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *real = NULL;
	int e = trusted_path_resolve(path, &real, &why);

	for (; e == 0 && places && *places; places++)
		if (path_is_below(path, *places) || path_is_below(real, *places))
			return fault_set(
				f, EPERM,
				"remote '%s': '%s' is in '%s', which the command may change: move it, and "
				"change broker.remotes in custody.json",
				r->name, path, *places);
	if (e == -ENOENT)
		return fault_set(f, ENOENT, "remote '%s': '%s' is missing", r->name, path);
	if (e < 0)
		return fault_set(f, -e, "remote '%s': %s", r->name, fault_text(&why));
	/* Each call opens it by its name, and a link on the way could be changed until then. */
	return str_eq(real, path)
		       ? 0
		       : fault_set(f, EPERM,
				   "remote '%s': '%s' has a link on the way: write '%s' in custody.json",
				   r->name, path, real);
}

int broker_remotes_require(const struct broker_tool *t, char *const *places, struct fault *f)
{
	int e = 0;

	for (size_t i = 0; t->config && e == 0 && i < t->config->n_remotes; i++) {
		const struct config_remote *r = &t->config->remotes[i];

		if (!is_of_lane(r, t->lane))
			continue;
		if (r->ca)
			e = require_path(r, r->ca, places, f);
		if (e == 0 && str_starts(r->url, FILE_URL))
			e = require_path(r, r->url + strlen(FILE_URL), places, f);
	}
	return e;
}

const char *broker_remotes_credential(const struct broker_tool *t, size_t *at)
{
	while (t->config && *at < t->config->n_remotes) {
		const struct config_remote *r = &t->config->remotes[(*at)++];

		if (r->credential && is_of_lane(r, t->lane))
			return r->credential;
	}
	return NULL;
}

const struct config_remote *broker_remote_find(const struct broker_tool *t, const char *name)
{
	for (size_t i = 0; name && t->config && i < t->config->n_remotes; i++)
		if (str_eq(t->config->remotes[i].name, name) && is_of_lane(&t->config->remotes[i], t->lane))
			return &t->config->remotes[i];
	return NULL;
}
