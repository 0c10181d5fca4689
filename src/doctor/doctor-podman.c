/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "doctor/doctor-engine.h"
#include "doctor/toml-lines.h"

#define SNIPPET PKGDATADIR "/podman/60-custody.conf"
#define DROP_IN "containers/containers.conf.d/60-custody.conf"

/* One setting: the value of the last file that has it. */
struct setting {
	char *where; /* "FILE:LINE"; NULL: not set */
	char **words;
};

struct podman_conf {
	struct setting paths, json, nocgroup;
};

static void setting_done(struct setting *s)
{
	free(s->where);
	strv_free(s->words);
	*s = (struct setting){ 0 };
}

static void podman_conf_done(struct podman_conf *c)
{
	setting_done(&c->paths);
	setting_done(&c->json);
	setting_done(&c->nocgroup);
}

static int take_line(const struct toml_line *l, void *arg)
{
	struct podman_conf *c = arg;
	struct setting *s;

	if (strcmp(l->name, "engine.runtimes." ENGINE_RUNTIME) == 0)
		s = &c->paths;
	else if (strcmp(l->name, "engine.runtime_supports_json") == 0)
		s = &c->json;
	else if (strcmp(l->name, "engine.runtime_supports_nocgroup") == 0)
		s = &c->nocgroup;
	else
		return 0;
	setting_done(s);
	if (asprintf(&s->where, "%s:%u", l->file, l->line) < 0) {
		s->where = NULL;
		return -ENOMEM;
	}
	s->words = l->words ? strv_copy(l->words) : NULL;
	return l->words && !s->words ? -ENOMEM : 0;
}

/* A missing file sets nothing. */
static int read_file_if_any(struct podman_conf *c, const char *path, struct fault *f)
{
	int r;

	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	r = toml_lines_read(path, take_line, c, f);
	return r < 0 ? r : 0;
}

/* FILE, then FILE.d/ *.conf sorted by name. */
static int read_with_drop_ins(struct podman_conf *c, const char *file, struct fault *f)
{
	_cleanup_free_ char *pattern = NULL;
	glob_t found = { 0 };
	int r = read_file_if_any(c, file, f);

	if (r < 0)
		return r;
	if (asprintf(&pattern, "%s.d/*.conf", file) < 0) {
		pattern = NULL;
		return fault_errno(f, ENOMEM, "%s", file);
	}
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
			r = read_file_if_any(c, found.gl_pathv[i], f);
	globfree(&found);
	return r;
}

/* In podman's order: later files override earlier ones. */
static int load(struct podman_conf *c, const struct dirs *d, struct fault *f)
{
	const char *only = getenv("CONTAINERS_CONF");
	_cleanup_free_ char *own = NULL;
	int r;

	if (only && *only)
		return toml_lines_read(only, take_line, c, f);
	/* No drop-ins beside this one: podman 4.3 reads none there. */
	r = read_file_if_any(c, "/usr/share/containers/containers.conf", f);
	if (r == 0)
		r = read_with_drop_ins(c, "/etc/containers/containers.conf", f);
	if (r < 0 || !d->rootless)
		return r;
	own = doctor_engine_user_file(d, "containers/containers.conf");
	return own ? read_with_drop_ins(c, own, f) : fault_errno(f, ENOMEM, "podman");
}

/* The command that registers custody-runtime; heap. */
static char *make_remedy(const struct dirs *d)
{
	const char *only = getenv("CONTAINERS_CONF");
	_cleanup_free_ char *own = d->rootless ? doctor_engine_user_file(d, DROP_IN) : NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (only && *only)
		strbuf_printf(&b,
			      "add the settings of " SNIPPET
			      " to '%s', the only file that podman reads while "
			      "CONTAINERS_CONF is set",
			      only);
	else
		strbuf_printf(&b, "install -D -m 644 " SNIPPET " %s", own ? own : "/etc/" DROP_IN);
	return strbuf_take(&b);
}

/* podman uses the first path that exists. */
static void check_runtime(struct doctor_report *r, const struct setting *s, const char *remedy)
{
	if (!s->where) {
		doctor_add(r, "ENGINE-PODMAN-RUNTIME", DOCTOR_MISSING, DOCTOR_ERROR, remedy,
			   "podman does not know " ENGINE_RUNTIME ": no file lists it in [engine.runtimes]");
		return;
	}
	for (size_t i = 0; s->words && s->words[i]; i++)
		if (doctor_engine_has_program(s->words[i])) {
			doctor_add(r, "ENGINE-PODMAN-RUNTIME", DOCTOR_OK, DOCTOR_INFO, NULL, "%s: '%s'",
				   s->where, s->words[i]);
			return;
		}
	doctor_add(r, "ENGINE-PODMAN-RUNTIME", DOCTOR_MISSING, DOCTOR_ERROR,
		   "list " BINDIR "/" ENGINE_RUNTIME " there, in brackets and quotes as in " SNIPPET,
		   "%s: not an executable file: '%s'%s", s->where, s->words && s->words[0] ? s->words[0] : "",
		   s->words && s->words[0] && s->words[1] ? ", nor those after it" : "");
}

static void check_list(struct doctor_report *r, const char *id, enum doctor_severity severity,
		       const char *key, const struct setting *s, const char *remedy, const char *without)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (s->words && strv_has(s->words, ENGINE_RUNTIME)) {
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL, "%s: %s lists it", s->where, key);
		return;
	}
	/* A later file that sets the same list overrides our drop-in. */
	if (s->where) {
		strbuf_printf(&b, "add \"" ENGINE_RUNTIME "\" to the list at %s", s->where);
		remedy = b.broken ? NULL : b.text;
	}
	doctor_add(r, id, DOCTOR_MISSING, severity, remedy, "%s%s%s does not list " ENGINE_RUNTIME ": %s",
		   s->where ? s->where : "", s->where ? ": " : "", key, without);
}

static void add_unknown(struct doctor_report *r, const char *why)
{
	static const char *const ids[] = { "ENGINE-PODMAN-RUNTIME", "ENGINE-PODMAN-JSON",
					   "ENGINE-PODMAN-NOCGROUP" };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		doctor_add(r, ids[i], DOCTOR_UNKNOWN, DOCTOR_ERROR,
			   "correct that file, then run this command again", "%s", why);
}

void doctor_check_podman(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_(podman_conf_done) struct podman_conf c = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *remedy = NULL;

	if (load(&c, d, &f) < 0) {
		add_unknown(r, fault_text(&f));
		return;
	}
	remedy = make_remedy(d);
	check_runtime(r, &c.paths, remedy);
	check_list(r, "ENGINE-PODMAN-JSON", DOCTOR_ERROR, "runtime_supports_json", &c.json, remedy,
		   "podman does not show why a container failed");
	check_list(r, "ENGINE-PODMAN-NOCGROUP", DOCTOR_WARN, "runtime_supports_nocgroup", &c.nocgroup, remedy,
		   "podman refuses --cgroups=disabled with it");
}
