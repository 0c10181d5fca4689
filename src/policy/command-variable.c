/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

/*
 * Programs, the loader and the shell obey more variables than a list can name, so what a program gets is listed from
 * the other side: a variable that is not known to be harmless makes the command unrecognised. A variable of the shell
 * alone may have any name but those that the shell itself obeys.
 */

/* The worktree or a writable bind may lie in a system directory: workspace.target of /opt/app. */
static bool is_shared(struct classifier *k, const char *dir)
{
	const char *path = dir ? classifier_join_path(k, "/", dir, &(bool){ false }) : NULL;

	if (!path || (k->place->worktree && path_is_below(path, k->place->worktree)))
		return true;
	for (size_t i = 0; i < k->place->n_rw; i++)
		if (k->place->rw[i].target && path_is_below(path, k->place->rw[i].target))
			return true;
	return false;
}

/* Every entry is a system directory, which neither the command nor its author can write. */
static bool path_variable_is_plain(struct classifier *k, const char *value)
{
	for (const char *p = value, *stop;; p = stop + 1) {
		size_t len = strcspn(p, ":");

		stop = p + len;
		if (!str_starts(p, "/usr/") && !str_starts(p, "/opt/") &&
		    !(len == 4 && str_starts(p, "/bin")) && !(len == 5 && str_starts(p, "/sbin")))
			return false;
		if (memmem(p, len, "..", 2) || memchr(p, SHELL_UNKNOWN, len) ||
		    is_shared(k, arena_text(k->arena, p, len)))
			return false;
		if (!*stop)
			return true;
	}
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), want = strlen(end);

	return len >= want && str_eq(text + len - want, end);
}

/* No program obeys a name like "file" or "X" that scripts use for themselves, except for these. */
static bool is_own_name(const char *name)
{
	size_t lower = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (strlen(name) == 1)
		return true;
	return lower == strlen(name) && !ends_with(name, "_proxy") && !str_starts(name, "npm_") &&
	       !str_eq(name, "histchars") && !str_eq(name, "auto_resume");
}

/* May a program get NAME=VALUE and still do what its row says? */
static bool variable_is_harmless(struct classifier *k, const char *name, const char *value)
{
	static const char *const names[] = { "TZ",
					     "TERM",
					     "COLORTERM",
					     "NO_COLOR",
					     "CLICOLOR",
					     "CLICOLOR_FORCE",
					     "FORCE_COLOR",
					     "COLUMNS",
					     "LINES",
					     "USER",
					     "LOGNAME",
					     "HOSTNAME",
					     "CI",
					     "SHLVL",
					     "SOURCE_DATE_EPOCH",
					     "GIT_AUTHOR_NAME",
					     "GIT_AUTHOR_EMAIL",
					     "GIT_AUTHOR_DATE",
					     "GIT_COMMITTER_NAME",
					     "GIT_COMMITTER_EMAIL",
					     "GIT_COMMITTER_DATE",
					     "GIT_OPTIONAL_LOCKS",
					     "DEBIAN_FRONTEND",
					     "PYTHONUNBUFFERED",
					     "PYTHONDONTWRITEBYTECODE",
					     NULL };

	if (str_eq(name, "PATH"))
		return path_variable_is_plain(k, value);
	/* The value of the shipped profiles; --to-command and --checkpoint-action run programs. */
	if (str_eq(name, "TAR_OPTIONS"))
		return str_eq(value, "--no-same-owner");
	if (str_eq(name, "PAGER") || str_eq(name, "GIT_PAGER"))
		return str_eq(value, "cat");
	/* A name with a slash is a path, and translations hold format strings. */
	if (str_eq(name, "LANG") || str_eq(name, "LANGUAGE") || str_starts(name, "LC_"))
		return !strpbrk(value, "/\x01");
	return is_own_name(name) || is_one_of(name, names);
}

static bool is_in_worktree(struct classifier *k, const char *dir)
{
	const char *path = dir[0] == '/' ? classifier_join_path(k, "/", dir, &(bool){ false }) : NULL;

	return !path || path_is_below(path, k->place->worktree);
}

/* The environment of the run, set by its profile or with -e. */
static bool environment_is_harmless(struct classifier *k, const char *name, const char *value)
{
	static const char *const names[] = { "HOME",	  "SHELL",    "PS1",	    "PWD",
					     "OLDPWD",	  "MAIL",     "HTTP_PROXY", "HTTPS_PROXY",
					     "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
					     "all_proxy", "no_proxy", "container",  NULL };

	/* A login shell obeys files in the home. */
	if (str_eq(name, "HOME") && k->place->worktree && is_in_worktree(k, value))
		return false;
	/* Engines set the version of an image's main program. */
	return variable_is_harmless(k, name, value) || is_one_of(name, names) ||
	       str_starts(name, "CUSTODY_") || ends_with(name, "_VERSION");
}

static bool is_in_environment(const struct classifier *k, const char *name)
{
	size_t len = strlen(name);

	for (char *const *e = k->place->env; e && *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return true;
	return false;
}

/* A variable of the shell that no program gets: does the shell obey it, or is it in the environment already? */
bool classifier_variable_is_obeyed(const struct classifier *k, const char *name)
{
	/* All that dash(1) and bash(1) name, and a few of other shells; bash evaluates what RANDOM is set to. */
	static const char *const names[] = { "ENV",
					     "PATH",
					     "IFS",
					     "SHELLOPTS",
					     "GLOBIGNORE",
					     "GLOBSORT",
					     "EXECIGNORE",
					     "FIGNORE",
					     "FUNCNEST",
					     "FUNCNAME",
					     "TEXTDOMAIN",
					     "TEXTDOMAINDIR",
					     "INPUTRC",
					     "TMPDIR",
					     "TMOUT",
					     "FPATH",
					     "ZDOTDIR",
					     "OPTIND",
					     "OPTARG",
					     "OPTERR",
					     "MAIL",
					     "MAILPATH",
					     "MAILCHECK",
					     "HOME",
					     "CDPATH",
					     "PWD",
					     "OLDPWD",
					     "DIRSTACK",
					     "RANDOM",
					     "SRANDOM",
					     "SECONDS",
					     "LINENO",
					     "PPID",
					     "UID",
					     "EUID",
					     "GROUPS",
					     "PIPESTATUS",
					     "REPLY",
					     "MAPFILE",
					     "COPROC",
					     "CHILD_MAX",
					     "IGNOREEOF",
					     "TIMEFORMAT",
					     "EMACS",
					     "INSIDE_EMACS",
					     "POSIXLY_CORRECT",
					     "ATTY",
					     "FC_EDIT",
					     "FCEDIT",
					     "EDITOR",
					     "VISUAL",
					     "HOSTFILE",
					     "HOSTTYPE",
					     "MACHTYPE",
					     "OSTYPE",
					     "PROMPT_COMMAND",
					     "PROMPT_DIRTRIM",
					     NULL };
	static const char *const begins[] = { "BASH", "LD_",	   "GIT_",  "PS", "HIST",
					      "COMP", "READLINE_", "EPOCH", NULL };

	for (size_t i = 0; begins[i]; i++)
		if (str_starts(name, begins[i]))
			return true;
	return is_one_of(name, names) || is_in_environment(k, name);
}

static void read_value(struct classifier *k, const char *name, const char *value)
{
	const struct command_row *row = command_row_find(value);

	if (str_eq(name, "HOME") || str_eq(name, "CDPATH") || str_eq(name, "PWD") || str_eq(name, "OLDPWD"))
		k->shell.lost = true;
	/* c=curl; $c example.org | sh */
	if (row && row->traits & COMMAND_FETCHES) {
		classifier_add_traits(k, row->traits);
		classifier_add_change(k, row->outcome, row->domain);
	}
}

static void read_assignment(struct classifier *k, const char *name, const char *value, bool harmless)
{
	read_value(k, name, value);
	if (!harmless) {
		classifier_add_unknown(k, name, "this variable can run other programs");
		if (strpbrk(value, " `$"))
			classifier_read_text(k, value, false);
	} else if (strpbrk(value, " \t\n`$")) {
		/* X='rm -rf /'; $X */
		classifier_probe_text(k, value);
	}
}

void classifier_read_variable(struct classifier *k, const char *name, const char *value)
{
	read_assignment(k, name, value, variable_is_harmless(k, name, value));
}

void classifier_read_local(struct classifier *k, const char *name, const char *value)
{
	read_assignment(k, name, value,
			variable_is_harmless(k, name, value) || !classifier_variable_is_obeyed(k, name));
}

bool classifier_variable_is_harmless(const char *name)
{
	/* Of PATH nothing is harmless without its value. */
	return !str_eq(name, "PATH") && variable_is_harmless(NULL, name, "\x01");
}

/* Values are not parsed as shell text. */
void classifier_read_environment(struct classifier *k)
{
	/* -v x:/usr/bin/ls: no word has the meaning of the table. */
	if (k->place->replaced) {
		classifier_add_unknown(k, k->place->replaced, "replaces programs or settings of the system");
		k->text.altered = true;
	}
	if (k->place->env && !is_in_environment(k, "PATH"))
		classifier_add_unknown(k, "PATH",
				       "without this variable a shell may run programs of the worktree");
	for (char *const *e = k->place->env; e && *e; e++) {
		const char *equals = strchr(*e, '=');
		size_t len = equals ? (size_t)(equals - *e) : 0;
		const char *name = len > 0 ? arena_text(k->arena, *e, len) : NULL;

		if (!name || environment_is_harmless(k, name, equals + 1))
			continue;
		classifier_add_unknown(k, name, "this variable can run other programs");
		k->text.altered = true;
	}
}
