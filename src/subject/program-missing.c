/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/program-missing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "subject/program-interpreter.h"
#include "subject/subject-program.h"
#include "subject/tool-places.h"

#define DIRS_MAX 256  /* of the caller's PATH */
#define SCRIPTS_MAX 5 /* interpreters that are scripts themselves, as the kernel allows */

/* A message, a result file and -v can name it as it is. */
static bool is_nameable(const char *path)
{
	_cleanup_free_ char *escaped = str_escape(path);

	return escaped && str_eq(escaped, path) && !strchr(path, ':');
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Where the caller's shell would find NAME. */
static bool find_outside(const char *name, const char *search, char ret[PATH_MAX])
{
	const char *dir = search;

	if (strchr(name, '/'))
		return name[0] == '/' && snprintf(ret, PATH_MAX, "%s", name) < PATH_MAX && is_program(ret);
	for (int i = 0; dir && *dir && i < DIRS_MAX; i++) {
		size_t len = strcspn(dir, ":");

		/* Relative ones depend on where the caller is. */
		if (dir[0] == '/' && snprintf(ret, PATH_MAX, "%.*s/%s", (int)len, dir, name) < PATH_MAX &&
		    is_program(ret))
			return true;
		dir += len + (dir[len] == ':');
	}
	return false;
}

/* The directory of PATH; PATH alone if its directory is / or the home. */
static char *place_of(const char *path, const char *home)
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	_cleanup_free_ char *dir = strndup(path, len);

	if (!dir || len == 0 || str_eq(dir, home))
		return strdup(path);
	return TAKE_PTR(dir);
}

static void put_volume(struct strbuf *b, const char *place)
{
	_cleanup_strbuf_ struct strbuf word = { 0 };

	strbuf_printf(&word, "%s:%s", place, place);
	strbuf_puts(b, " -v ");
	strbuf_put_word(b, word.text ? word.text : "");
	b->broken |= word.broken;
}

/* Would --tools show both PATH and the file REAL that it leads to? */
static bool is_tool(const struct subject *s, const char *path, const char *real,
		    const struct tool_search *caller)
{
	_cleanup_tool_places_ struct tool_places t = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	return !s->profile->fs_tools && tool_places_find(caller, &t, &f) == 0 && tool_places_has(&t, path) &&
	       tool_places_has(&t, real);
}

/* "; to show it: custody run -v DIR:DIR -- COMMAND"; a second -v for the file if PATH is a link to elsewhere. */
static void put_remedy(struct strbuf *b, const struct subject *s, const char *path,
		       const struct tool_search *caller, const char *command)
{
	_cleanup_free_ char *normal = NULL, *real = realpath(path, NULL), *place = NULL, *other = NULL;
	char host[PATH_MAX];

	if (!real || !is_nameable(real) || path_normalize(path, &normal, NULL) < 0)
		return;
	if (is_tool(s, normal, real, caller)) {
		strbuf_puts(b, "; to show your tools: custody run --tools -- ");
		strbuf_put_word(b, s->argv[0]);
		return;
	}
	place = place_of(normal, caller->home);
	other = place_of(real, caller->home);
	if (!place || !other)
		return;
	strbuf_puts(b, "; to show it: custody run");
	put_volume(b, place);
	if (!path_is_below(real, place) && !subject_find_program(s, real, host))
		put_volume(b, other);
	strbuf_puts(b, " -- ");
	strbuf_put_word(b, command);
}

static void explain_outside(const struct subject *s, const struct tool_search *caller, struct strbuf *b)
{
	char path[PATH_MAX], host[PATH_MAX];

	if (!find_outside(s->argv[0], caller->path, path) || !is_nameable(path))
		return;
	if (subject_find_program(s, path, host)) {
		strbuf_printf(b, "%s in the PATH inside; it is '%s': custody run -- ", strerror(ENOENT),
			      path);
		strbuf_put_word(b, path);
		return;
	}
	strbuf_printf(b, "%s; outside it is '%s'", strerror(ENOENT), path);
	put_remedy(b, s, path, caller, path);
}

static void put_interpreter(struct strbuf *b, const struct subject *s, const char *name,
			    const struct tool_search *caller)
{
	size_t len = strlen(name);

	if (name[len - 1] == '\r')
		strbuf_puts(b, "its #! line ends with a carriage return (CR LF), which is no part of a name: "
			       "sed -i 's/\\r$//' FILE");
	else if (!is_nameable(name))
		strbuf_puts(b, "its interpreter is missing inside");
	else {
		strbuf_printf(b, "its interpreter '%s' is missing inside", name);
		if (name[0] == '/' && is_program(name))
			put_remedy(b, s, name, caller, s->argv[0]);
	}
}

/* HOST: the program. */
static void explain_interpreter(const struct subject *s, char host[PATH_MAX],
				const struct tool_search *caller, struct strbuf *b)
{
	char name[PATH_MAX], path[PATH_MAX];

	for (int i = 0; i < SCRIPTS_MAX && host[0] && interpreter_read(host, name, sizeof(name)); i++) {
		/* Never looked for in PATH: without a slash it is a file of the working directory. */
		if (snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "./", name) >=
		    (int)sizeof(path))
			return;
		if (!subject_find_program(s, path, host)) {
			put_interpreter(b, s, name, caller);
			return;
		}
	}
}

char *subject_explain_missing(const struct subject *s, const char *search, const char *home)
{
	const struct tool_search caller = { .path = search, .home = home, .worktree = s->worktree };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *name = s->argv[0];
	char host[PATH_MAX];

	if (!name || !*name || !is_nameable(name))
		return NULL;
	if (subject_find_program(s, name, host))
		explain_interpreter(s, host, &caller, &b);
	else
		explain_outside(s, &caller, &b);
	return b.len > 0 ? strbuf_take(&b) : NULL;
}
