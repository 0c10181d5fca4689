/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "doctor/doctor-engine.h"
#include "doctor/toml-lines.h"

#define SNIPPET PKGDATADIR "/containerd/custody.toml"
#define RUNTIMES ".containerd.runtimes."
#define RESTART ", then: systemctl restart containerd"

struct containerd_conf {
	char *where, *path; /* "FILE:LINE" and value of the BinaryName that names custody-runtime */
	char **handlers;    /* names of all runtimes */
	char *default_name; /* NULL: runc */
	char **imports;	    /* patterns */
	bool cri_disabled;
};

static void containerd_conf_done(struct containerd_conf *c)
{
	free(c->where);
	free(c->path);
	free(c->default_name);
	strv_free(c->handlers);
	strv_free(c->imports);
}

static int set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

/* NAME is the key after RUNTIMES: "custody.options.BinaryName" */
static int take_handler(struct containerd_conf *c, const struct toml_line *l, const char *name)
{
	_cleanup_free_ char *handler = strndup(name, strcspn(name, ".")), *where = NULL;

	if (!handler || (!strv_has(c->handlers, handler) && strv_append(&c->handlers, handler) < 0))
		return -ENOMEM;
	if (!str_ends(name, ".options.BinaryName") || !l->words || !doctor_engine_is_ours(l->words[0]))
		return 0;
	/* Of several handlers, the first whose program exists. */
	if (c->path && doctor_engine_has_program(c->path))
		return 0;
	if (asprintf(&where, "%s:%u", l->file, l->line) < 0) {
		where = NULL;
		return -ENOMEM;
	}
	free(c->where);
	c->where = TAKE_PTR(where);
	return set_text(&c->path, l->words[0]);
}

static int take_line(const struct toml_line *l, void *arg)
{
	struct containerd_conf *c = arg;
	const char *at = strstr(l->name, RUNTIMES);

	if (at)
		return take_handler(c, l, at + strlen(RUNTIMES));
	if (!l->words)
		return 0;
	if (str_ends(l->name, ".containerd.default_runtime_name"))
		return set_text(&c->default_name, l->words[0]);
	if (strcmp(l->name, "disabled_plugins") == 0)
		c->cri_disabled = strv_has(l->words, "cri") ||
				  strv_has(l->words, "io.containerd.grpc.v1.cri") ||
				  strv_has(l->words, "io.containerd.cri.v1.runtime");
	for (size_t i = 0; strcmp(l->name, "imports") == 0 && l->words[i]; i++)
		if (strv_append(&c->imports, l->words[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* One level: imports of imported files are not read. */
static int load_imports(struct containerd_conf *c, const char *file, struct fault *f)
{
	_cleanup_strv_ char **patterns = TAKE_PTR(c->imports);
	_cleanup_free_ char *dir = strndup(file, (size_t)(strrchr(file, '/') - file));
	int r = 0;

	for (size_t i = 0; r == 0 && patterns && patterns[i]; i++) {
		_cleanup_free_ char *pattern = NULL;
		glob_t found = { 0 };

		if (dir)
			pattern = patterns[i][0] == '/' ? strdup(patterns[i]) : path_join(dir, patterns[i]);
		if (!pattern)
			return fault_errno(f, ENOMEM, "%s", file);
		if (glob(pattern, 0, NULL, &found) == 0)
			for (size_t k = 0; r == 0 && k < found.gl_pathc; k++)
				r = toml_lines_read(found.gl_pathv[k], take_line, c, f);
		globfree(&found);
	}
	return r;
}

static void check_runtime(struct doctor_report *r, const struct containerd_conf *c, const char *file,
			  bool exists)
{
	static const char id[] = "ENGINE-CONTAINERD-RUNTIME";
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (c->path && doctor_engine_has_program(c->path)) {
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL, "%s: BinaryName '%s'", c->where, c->path);
		return;
	}
	if (c->path) {
		doctor_add(r, id, DOCTOR_MISSING, DOCTOR_ERROR,
			   "write BinaryName = \"" BINDIR "/" ENGINE_RUNTIME "\" there" RESTART,
			   "%s: '%s' is not an executable file", c->where, c->path);
		return;
	}
	if (exists)
		strbuf_printf(&b,
			      "copy the tables of " SNIPPET
			      " to the end of %s (the table of runc only if it is missing)" RESTART,
			      file);
	else
		strbuf_printf(&b, "install -D -m 644 " SNIPPET " %s" RESTART, file);
	doctor_add(r, id, DOCTOR_MISSING, DOCTOR_ERROR, b.broken ? NULL : b.text,
		   "containerd does not know " ENGINE_RUNTIME ": %s '%s'",
		   exists ? "no runtime has it as BinaryName in" : "missing file", file);
}

/* A configured runtime replaces containerd's built-in ones; without the default the CRI plug-in does not load. */
static void check_default(struct doctor_report *r, const struct containerd_conf *c, const char *file)
{
	static const char id[] = "ENGINE-CONTAINERD-DEFAULT";
	const char *name = c->default_name ? c->default_name : "runc";
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!c->handlers) {
		doctor_add(r, id, DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "no runtime is configured, the built-in ones apply");
		return;
	}
	if (strv_has(c->handlers, name)) {
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL, "the default runtime '%s' is listed", name);
		return;
	}
	if (strcmp(name, "runc") == 0)
		strbuf_printf(&b, "copy the table of runc from " SNIPPET " to the end of %s" RESTART, file);
	else
		strbuf_printf(&b, "correct default_runtime_name in %s" RESTART, file);
	doctor_add(r, id, DOCTOR_MISSING, DOCTOR_ERROR, b.broken ? NULL : b.text,
		   "the default runtime '%s' is missing: the CRI plug-in does not load", name);
}

static void check_cri(struct doctor_report *r, const struct containerd_conf *c, const char *file)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!c->cri_disabled) {
		doctor_add(r, "ENGINE-CONTAINERD-CRI", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "the CRI plug-in is not disabled");
		return;
	}
	strbuf_printf(&b, "for Kubernetes remove it from disabled_plugins in %s" RESTART, file);
	doctor_add(r, "ENGINE-CONTAINERD-CRI", DOCTOR_MISSING, DOCTOR_WARN, b.broken ? NULL : b.text,
		   "disabled_plugins names the CRI plug-in: the configured runtimes are not used; "
		   "ctr --runc-binary still works");
}

void doctor_check_containerd(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_(containerd_conf_done) struct containerd_conf c = { 0 };
	_cleanup_free_ char *file = doctor_engine_file(d, "containerd/config.toml");
	_cleanup_fault_ struct fault f = { 0 };
	int e = file ? toml_lines_read(file, take_line, &c, &f) : fault_errno(&f, ENOMEM, "containerd");
	bool exists = e != -ENOENT;

	if (e == 0)
		e = load_imports(&c, file, &f);
	if (e < 0 && exists) {
		doctor_add(r, "ENGINE-CONTAINERD-RUNTIME", DOCTOR_UNKNOWN, DOCTOR_ERROR,
			   "correct that file, then run this command again", "%s", fault_text(&f));
		return;
	}
	check_runtime(r, &c, file, exists);
	check_default(r, &c, file);
	check_cri(r, &c, file);
}
