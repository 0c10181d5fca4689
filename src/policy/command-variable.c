/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/* Every entry is a system directory, which neither the command nor its author can write. */
static bool path_variable_is_plain(const char *value)
{
	for (const char *p = value, *stop;; p = stop + 1) {
		size_t len = strcspn(p, ":");

		stop = p + len;
		if (!str_starts(p, "/usr/") && !str_starts(p, "/opt/") &&
		    !(len == 4 && str_starts(p, "/bin")) && !(len == 5 && str_starts(p, "/sbin")))
			return false;
		if (memmem(p, len, "..", 2) || memchr(p, SHELL_UNKNOWN, len))
			return false;
		if (!*stop)
			return true;
	}
}

static bool variable_runs(const char *name, const char *value)
{
	/* clang-format off */
	static const char *const names[] = {
		"BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "SHELLOPTS", "BASHOPTS",
		"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "PYTHONPATH",
		"PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT",
		"RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS", "MAKEFLAGS", "CC",
		"RSYNC_RSH", "GREP_OPTIONS", "IFS", "GCONV_PATH", "SHELL", "ZDOTDIR", "XDG_CONFIG_HOME",
		"RIPGREP_CONFIG_PATH", "CURL_HOME", "WGETRC", "INPUTRC", "FPATH", "LUA_INIT", NULL
	};
	/* clang-format on */

	if (str_eq(name, "PATH"))
		return !path_variable_is_plain(value);
	/* The value of the shipped profiles; --to-command and --checkpoint-action run programs. */
	if (str_eq(name, "TAR_OPTIONS"))
		return !str_eq(value, "--no-same-owner");
	if (str_starts(name, "LD_") || str_starts(name, "BASH_FUNC_"))
		return true;
	if (str_starts(name, "GIT_"))
		return !str_starts(name, "GIT_AUTHOR_") && !str_starts(name, "GIT_COMMITTER_");
	for (size_t i = 0; names[i]; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

void classifier_read_variable(struct classifier *k, const char *name, const char *value)
{
	const struct command_row *row = command_row_find(value);

	if (str_eq(name, "HOME") || str_eq(name, "CDPATH") || str_eq(name, "PWD") || str_eq(name, "OLDPWD"))
		k->shell.lost = true;
	/* c=curl; $c example.org | sh */
	if (row && row->traits & COMMAND_FETCHES) {
		classifier_add_traits(k, row->traits);
		classifier_add_change(k, row->outcome, row->domain);
	}
	if (variable_runs(name, value)) {
		classifier_add_unknown(k, name, "this variable can run other programs");
		if (strpbrk(value, " `$"))
			classifier_read_text(k, value, false);
	} else if (strpbrk(value, " \t\n`$")) {
		/* X='rm -rf /'; $X */
		classifier_probe_text(k, value);
	}
}

/* The caller's environment: only PATH and the names are checked, values are not parsed as shell text. */
void classifier_read_environment(struct classifier *k)
{
	for (char *const *e = k->place->env; e && *e; e++) {
		const char *equals = strchr(*e, '=');
		char name[32];
		size_t len = equals ? (size_t)(equals - *e) : 0;

		if (len == 0)
			continue;
		if (len >= sizeof(name)) /* enough for the prefixes BASH_FUNC_ and LD_ */
			len = sizeof(name) - 1;
		memcpy(name, *e, len);
		name[len] = '\0';
		/* These two configure the interactive shell, not this command. */
		if (!str_eq(name, "SHELL") && !str_eq(name, "PS1") && variable_runs(name, equals + 1)) {
			classifier_add_unknown(k, arena_text(k->arena, name, len) ?: "",
					       "this variable can run other programs");
			k->text.altered = true;
		}
	}
}
