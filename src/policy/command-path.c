/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

/* BASE/TEXT without "." and "..", absolute. *RET_UP: a ".." follows a name, which may be a symbolic link. */
char *classifier_join_path(struct classifier *k, const char *base, const char *text, bool *ret_up)
{
	size_t len = 0, n_base = text[0] == '/' ? 0 : strlen(base);
	char *out = arena_alloc(k->arena, n_base + strlen(text) + 3);
	bool named = false;

	if (!out)
		return NULL;
	memcpy(out, base, n_base);
	len = n_base;
	while (len > 0 && out[len - 1] == '/')
		len--;
	for (const char *p = text, *stop; *p; p = stop) {
		while (*p == '/')
			p++;
		stop = strchrnul(p, '/');
		if (stop == p || (stop - p == 1 && *p == '.'))
			continue;
		if (stop - p == 2 && p[0] == '.' && p[1] == '.') {
			*ret_up = *ret_up || named;
			while (len > 0 && out[len - 1] != '/')
				len--;
			if (len > 0)
				len--;
			continue;
		}
		named = true;
		out[len++] = '/';
		memcpy(out + len, p, (size_t)(stop - p));
		len += (size_t)(stop - p);
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

/* False if either is NULL. */
static bool is_below(const char *path, const char *dir)
{
	return path && dir && path_is_below(path, dir);
}

static size_t depth_of(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += path[0] == '/' && path[1] != '\0';
	return n;
}

/* PATH is "/", a home, the worktree, a writable mount, or a parent of one of them. */
static bool is_root(const struct classifier *k, const char *path)
{
	const struct command_place *p = k->place;

	if (depth_of(path) <= 1 || is_below(p->worktree, path) || is_below(p->worktree_host, path) ||
	    is_below(p->home, path) || is_below(path, "/proc") || is_below(path, "/dev/fd"))
		return true;
	if (is_below(path, "/home") && depth_of(path) == 2)
		return true;
	for (size_t i = 0; i < p->n_rw; i++)
		if (is_below(p->rw[i].target, path) || is_below(p->rw[i].source, path))
			return true;
	return false;
}

/* Length of the bracket expression at TEXT, with "[]x]", "[!]x]" and "[[:alnum:]]"; 1 if it is not closed. */
static size_t bracket_length(const char *text, size_t len)
{
	size_t i = 1;

	i += i < len && (text[i] == '!' || text[i] == '^');
	i += i < len && text[i] == ']';
	for (; i < len && text[i] != ']'; i++)
		if (text[i] == '[' && i + 1 < len && strchr(":.=", text[i + 1])) {
			const char end[2] = { text[i + 1], ']' };
			const char *close = memmem(text + i + 2, len - i - 2, end, 2);

			if (close)
				i = (size_t)(close - text) + 1;
		}
	return i < len ? i + 1 : 1;
}

/* Patterns with fewer than two literal characters: "*", "?*", ".*", "*.*", "[a-z]*", "a*". */
bool command_pattern_is_broad(const char *text, size_t len)
{
	size_t own = 0, letters = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '[') {
			i += bracket_length(text + i, len - i) - 1;
			continue;
		}
		if (c == '*' || c == '?')
			continue;
		own++;
		letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
	}
	return own < 2 || letters < 1;
}

bool command_pattern_is_any(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '*' || text[i] == '?' || text[i] == '[')
			return true;
	return false;
}

/* PATH is absolute and normalized; its first pattern and the directories above it decide. */
static bool is_unbounded_path(struct classifier *k, char *path)
{
	bool broad = true, found = false;
	char *base_end = NULL;

	for (char *p = path, *stop; *p == '/'; p = stop) {
		size_t len;

		stop = strchrnul(p + 1, '/');
		len = (size_t)(stop - p - 1);
		if (!found && command_pattern_is_any(p + 1, len)) {
			found = true;
			base_end = p;
		}
		if (found)
			broad = broad && command_pattern_is_any(p + 1, len) &&
				command_pattern_is_broad(p + 1, len);
	}
	if (!found)
		return is_root(k, path);
	if (base_end == path)
		return true;
	*base_end = '\0';
	if (!is_root(k, path))
		return false;
	/*
	 * Above a root any pattern may match it; in the worktree itself only a broad pattern matches
	 * everything.
	 */
	return broad || !str_eq(path, k->place->worktree);
}

bool command_text_is_unknown(const char *text)
{
	return strchr(text, SHELL_UNKNOWN) != NULL;
}

/* Expands "~" and "~/x"; NULL if the home is not known. */
const char *classifier_expand_home(struct classifier *k, const char *text)
{
	bool up = false;

	if (text[0] != '~')
		return text;
	if ((text[1] != '/' && text[1] != '\0') || !k->place->home || k->shell.lost)
		return NULL;
	text += text[1] == '/' ? 2 : 1;
	return classifier_join_path(k, k->place->home, *text == '/' ? text + strspn(text, "/") : text, &up);
}

/* Only ".", ".." and patterns that match everything: the whole directory, whichever it is. */
static bool names_nothing(const char *text)
{
	for (const char *p = text, *stop; *p; p = *stop ? stop + 1 : stop) {
		size_t len;

		stop = strchrnul(p, '/');
		len = (size_t)(stop - p);
		if (strspn(p, ".") != len &&
		    !(command_pattern_is_any(p, len) && command_pattern_is_broad(p, len)))
			return false;
	}
	return text[0] != '/';
}

/* The paths that FULL may mean, one for each possible working directory. */
static enum command_reach full_reach(struct classifier *k, const char *full, const char **ret_why)
{
	for (size_t i = 0; i < (full[0] == '/' ? 1 : k->shell.cwds.n); i++) {
		bool up = false;
		char *path = classifier_join_path(k, full[0] == '/' ? "/" : k->shell.cwds.v[i], full, &up);

		if (!path || up) {
			*ret_why = "'..' after a name that may be a link";
			return REACH_WHOLE;
		}
		if (is_unbounded_path(k, path)) {
			*ret_why = "deletes a whole root, home or worktree";
			return REACH_WHOLE;
		}
	}
	return REACH_NAMED;
}

enum command_reach classifier_path_reach(struct classifier *k, const char *text, const char **ret_why)
{
	const char *full = text;
	enum command_reach reach;

	*ret_why = "deletes files whose names are not known";
	if (!*text)
		return REACH_NAMED;
	if (strpbrk(text, "\x01$`"))
		return REACH_UNKNOWN;
	if (names_nothing(text) && !classifier_is_in_named_directory(k, text)) {
		*ret_why = "deletes everything in the current directory";
		return REACH_WHOLE;
	}
	full = classifier_expand_home(k, text);
	/* Another user's home, or braces that argv[] may still get from a shell. */
	if (!full || (strchr(text, '{') && strchr(text, ',')))
		return REACH_WHOLE;
	if (k->mounts || (k->links && strchr(text, '/'))) {
		*ret_why = "a link or a mount of this command may lead to a root";
		return REACH_WHOLE;
	}
	reach = full_reach(k, full, ret_why);
	if (reach == REACH_NAMED && full[0] != '/' && (k->shell.cwds.unknown || k->shell.cwds.n == 0))
		return REACH_UNKNOWN;
	return reach;
}

bool classifier_path_is_unbounded(struct classifier *k, const char *text, const char **ret_why)
{
	return classifier_path_reach(k, text, ret_why) != REACH_NAMED;
}

bool command_is_harmless_device(const char *path)
{
	static const char *const devices[] = { "/dev/null",    "/dev/stdout", "/dev/stderr", "/dev/tty",
					       "/dev/zero",    "/dev/full",   "/dev/stdin",  "/dev/random",
					       "/dev/urandom", NULL };

	for (size_t i = 0; devices[i]; i++)
		if (str_eq(path, devices[i]))
			return true;
	return str_starts(path, "/dev/fd/") && strspn(path + 8, "0123456789") == strlen(path + 8);
}

static bool is_system(const char *path)
{
	static const char *const roots[] = { "/etc",	"/usr",	 "/bin", "/sbin", "/lib", "/lib32", "/lib64",
					     "/libx32", "/boot", "/dev", "/proc", "/sys", "/var",   "/opt",
					     "/root",	"/run",	 "/srv", "/snap", "/nix", "/efi",   NULL };

	for (size_t i = 0; roots[i]; i++)
		if (is_below(path, roots[i]))
			return true;
	return depth_of(path) <= 1;
}

/* Configuration files in a home: ".ssh/authorized_keys", ".bashrc", ".config/...". */
static bool is_obeyed(const char *path, const char *home)
{
	size_t len = strlen(home);

	return path[len] == '/' && path[len + 1] == '.' && !is_below(path + len, "/.cache");
}

static enum domain path_domain(const struct classifier *k, const char *path)
{
	const struct command_place *p = k->place;

	/*
	 * Both names of the worktree; a writable bind does not count: less confinement must not lower the
	 * risk of a path.
	 */
	if (p->worktree && depth_of(p->worktree) > 0 && is_below(path, p->worktree))
		return DOMAIN_WORKSPACE;
	if (p->worktree_host && depth_of(p->worktree_host) > 0 && is_below(path, p->worktree_host))
		return DOMAIN_WORKSPACE;
	if (is_below(path, "/tmp") || is_below(path, "/var/tmp") || is_below(path, "/dev/shm"))
		return DOMAIN_LOCALHOST;
	if (p->home && depth_of(p->home) > 0 && is_below(path, p->home))
		return is_obeyed(path, p->home) ? DOMAIN_SYSTEM : DOMAIN_LOCALHOST;
	return is_system(path) ? DOMAIN_SYSTEM : DOMAIN_LOCALHOST;
}

/* A file in .git may be a program that git runs, or history. */
static bool is_git_file(const char *path)
{
	/* Each of them: a worktree may lie below ".gitlab". */
	for (const char *p = strstr(path, "/.git"); p; p = strstr(p + 1, "/.git"))
		if (p[5] == '\0' || strchr("/*?[", p[5]))
			return true;
	return false;
}

static bool is_socket_path(const char *path)
{
	return str_starts(path, "/dev/tcp/") || str_starts(path, "/dev/udp/");
}

static void write_path(struct classifier *k, const char *text, const char *path, enum outcome o)
{
	if (command_is_harmless_device(path))
		return;
	if (is_socket_path(path)) {
		const char *host = path + 9;

		classifier_add_traits(k, COMMAND_NETWORK | COMMAND_FETCHES);
		classifier_add_change(k, OUTCOME_SOFT,
				      command_host_domain(k, host, (size_t)(strchrnul(host, '/') - host)));
		return;
	}
	if (path_domain(k, path) == DOMAIN_SYSTEM)
		classifier_add_finding(k, "system-path", text, "writes to a system path");
	if (is_git_file(path)) {
		classifier_add_finding(k, "git-directory", text,
				       "changes git hooks, configuration or history");
		o = OUTCOME_IRREVERSIBLE;
	}
	/* An overwritten device or system file cannot be restored. */
	if (o != OUTCOME_REVERSIBLE && path_domain(k, path) == DOMAIN_SYSTEM)
		o = OUTCOME_IRREVERSIBLE;
	classifier_add_change(k, o, path_domain(k, path));
}

/* The paths that TEXT may name, one for each possible working directory; false if they are not known. */
static bool each_path(struct classifier *k, const char *text, enum outcome o,
		      void (*fn)(struct classifier *k, const char *text, const char *path, enum outcome o))
{
	const char *full;

	if (strpbrk(text, "\x01"))
		return false;
	full = classifier_expand_home(k, text);
	if (!full || (full[0] != '/' && (k->shell.cwds.unknown || k->shell.cwds.n == 0)))
		return false;
	for (size_t i = 0; i < (full[0] == '/' ? 1 : k->shell.cwds.n); i++) {
		bool up = false;
		const char *path =
			classifier_join_path(k, full[0] == '/' ? "/" : k->shell.cwds.v[i], full, &up);

		if (!path || (up && k->links))
			return false;
		fn(k, text, path, o);
	}
	return true;
}

void classifier_add_write(struct classifier *k, const char *text, enum outcome o)
{
	if (!*text || each_path(k, text, o, write_path))
		return;
	classifier_add_finding(k, "unknown-target", text, "writes files whose names are not known");
	classifier_add_change(k, OUTCOME_REVERSIBLE, DOMAIN_LOCALHOST);
	classifier_add_traits(k, COMMAND_UNKNOWN);
}

static void write_system_path(struct classifier *k, const char *text, const char *path, enum outcome o)
{
	if (path_domain(k, path) == DOMAIN_SYSTEM && !is_socket_path(path))
		write_path(k, text, path, o);
}

void classifier_add_system_write(struct classifier *k, const char *text)
{
	if (*text)
		(void)each_path(k, text, OUTCOME_SOFT, write_system_path);
}

static void delete_path(struct classifier *k, const char *text, const char *path, enum outcome o)
{
	enum domain d = path_domain(k, path);
	bool temporary = is_below(path, "/tmp") || is_below(path, "/var/tmp") || is_below(path, "/dev/shm");

	(void)text;
	if (o == OUTCOME_SOFT && (is_git_file(path) || (d != DOMAIN_WORKSPACE && !temporary)))
		o = OUTCOME_IRREVERSIBLE;
	classifier_add_change(k, o, d);
}

/*
 * git's pathspecs: ":/x" and ":(top)x" begin at the root of the repository, ":!x" and ":(exclude)x" mean all but
 * x. Returns the path in it, or "*" for all.
 */
static const char *pathspec_path(const char *text)
{
	const char *rest = text + 1, *close = strchr(text, ')');

	if (text[0] != ':')
		return text;
	if (*rest == '(') {
		const char *but = strstr(rest, "exclude");

		rest = close ? close + 1 : "";
		if (but && but < rest)
			return "*";
	} else {
		size_t magic = strspn(rest, "/!^:");

		if (strcspn(rest, "!^") < magic)
			return "*";
		rest += magic;
	}
	return *rest ? rest : "*";
}

void classifier_add_delete(struct classifier *k, const char *program, const char *text)
{
	const char *why;
	enum command_reach reach;

	if (str_starts(program, "git "))
		text = pathspec_path(text);
	reach = classifier_path_reach(k, text, &why);

	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
	classifier_add_reach(k, reach, text, why);
	classifier_add_finding(k, "deletes", program, "deletes files");
	if (reach != REACH_UNKNOWN && !each_path(k, text, OUTCOME_SOFT, delete_path))
		classifier_add_change(k, OUTCOME_IRREVERSIBLE, DOMAIN_LOCALHOST);
	else if (reach == REACH_UNKNOWN)
		classifier_add_domain(k, DOMAIN_LOCALHOST);
}
