/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "doctor/doctor-engine.h"

#define ID "ENGINE-DOCKER-RUNTIME"
#define SNIPPET PKGDATADIR "/docker/daemon.json"

/* The program of an entry of "runtimes": its "path", or with its own shim the shim's option.  NULL: unknown. */
static const char *entry_path(const struct jdoc *entry)
{
	const char *path = jdoc_get_string(entry, "path");

	return path ? path : jdoc_get_string(jdoc_get(entry, "options"), "BinaryName");
}

/* The entry of custody-runtime; of several, one whose program exists. */
static const struct jdoc_member *find_entry(const struct jdoc *doc)
{
	const struct jdoc *runtimes = jdoc_get(doc, "runtimes");
	const struct jdoc_member *found = NULL;

	if (!runtimes || runtimes->type != JDOC_OBJECT)
		return NULL;
	for (size_t i = 0; i < runtimes->n_members; i++) {
		const char *path = entry_path(runtimes->members[i].value);

		if (path && doctor_engine_is_ours(path) && (!found || doctor_engine_has_program(path)))
			found = &runtimes->members[i];
	}
	return found;
}

static int load(const char *path, struct jdoc **ret, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = fd_read_all(fd, JDOC_SIZE_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", path);
	return jdoc_parse(text, len, path, NULL, ret, f);
}

/* Merges our settings into an existing file. */
static void add_unregistered(struct doctor_report *r, const char *file, bool exists)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (exists)
		strbuf_printf(&b,
			      "jq -s '.[0] * .[1]' %s " SNIPPET
			      " >%s.new && mv %s.new %s, then: systemctl reload "
			      "docker",
			      file, file, file, file);
	else
		strbuf_printf(&b, "install -D -m 644 " SNIPPET " %s, then: systemctl reload docker", file);
	doctor_add(r, ID, DOCTOR_MISSING, DOCTOR_ERROR, b.broken ? NULL : b.text,
		   "docker does not know " ENGINE_RUNTIME ": %s '%s'",
		   exists ? "no entry in \"runtimes\" of" : "missing file", file);
}

void doctor_check_docker(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_free_ char *file = doctor_engine_file(d, "docker/daemon.json");
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const struct jdoc_member *entry;
	const char *path;
	int e = file ? load(file, &doc, &f) : fault_errno(&f, ENOMEM, "docker");

	if (e < 0 && e != -ENOENT) {
		doctor_add(r, ID, DOCTOR_UNKNOWN, DOCTOR_ERROR,
			   "correct that file, then run this command again", "%s", fault_text(&f));
		return;
	}
	entry = doc ? find_entry(doc) : NULL;
	path = entry ? entry_path(entry->value) : NULL;
	if (!path)
		add_unregistered(r, file, e == 0);
	else if (doctor_engine_has_program(path))
		doctor_add(r, ID, DOCTOR_OK, DOCTOR_INFO, NULL, "%s:%u: runtime '%s' is '%s'", file,
			   entry->line, entry->key, path);
	else
		doctor_add(r, ID, DOCTOR_MISSING, DOCTOR_ERROR,
			   "set its path to " BINDIR "/" ENGINE_RUNTIME ", then: systemctl reload docker",
			   "%s:%u: runtime '%s': '%s' is not an executable file", file, entry->line,
			   entry->key, path);
}
