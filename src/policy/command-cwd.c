/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

static void add_cwd(struct classifier_cwds *s, const char *dir)
{
	for (size_t i = 0; dir && i < s->n; i++)
		if (str_eq(s->v[i], dir))
			return;
	if (!dir || s->n == CLASSIFIER_CWDS_MAX)
		s->unknown = true;
	else
		s->v[s->n++] = dir;
}

static void add_cwds(struct classifier_cwds *to, const struct classifier_cwds *from)
{
	for (size_t i = 0; i < from->n; i++)
		add_cwd(to, from->v[i]);
	to->unknown = to->unknown || from->unknown;
	to->climbed = to->climbed || from->climbed;
}

bool classifier_cwds_equal(const struct classifier_cwds *a, const struct classifier_cwds *b)
{
	if (a->n != b->n || a->unknown != b->unknown || a->climbed != b->climbed)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i], b->v[i]))
			return false;
	return true;
}

/* Has DIR a component ".."? */
static bool climbs(const char *dir)
{
	for (const char *p = strstr(dir, ".."); p; p = strstr(p + 1, ".."))
		if ((p == dir || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
			return true;
	return false;
}

void classifier_chdir(struct classifier *k, const char *dir)
{
	struct classifier_cwds to = { 0 };
	const char *full = command_text_is_unknown(dir) || command_pattern_is_any(dir, strlen(dir))
				   ? NULL
				   : classifier_expand_home(k, dir);

	if (!full || !*dir || (full[0] != '/' && k->shell.cwds.unknown))
		to.unknown = true;
	for (size_t i = 0; full && i < (full[0] == '/' ? 1 : k->shell.cwds.n); i++) {
		bool up = false;

		add_cwd(&to, classifier_join_path(k, full[0] == '/' ? "/" : k->shell.cwds.v[i], full, &up));
	}
	to.climbed = climbs(dir) || (dir[0] != '/' && k->shell.cwds.climbed);
	to.unknown = to.unknown || k->links || k->shell.lost || k->shell.renamed ||
		     (k->text.looping && dir[0] != '/');
	k->shell.cwds = to;
}

/*
 * The working directory from here on; unless && proves that `cd` succeeded, the previous one is possible too.
 */
static void move_to(struct classifier *k, const char *dir)
{
	if (!k->shell.cd_pending)
		k->shell.before = k->shell.cwds;
	else
		add_cwds(&k->shell.before, &k->shell.cwds);
	classifier_chdir(k, dir);
	k->shell.cd_pending = true;
}

void command_judge_cd(struct classifier *k, const struct simple_command *c)
{
	const char *dir = NULL;
	struct option_iter o;
	struct option_word at;

	/* A rule for "make" does not allow it in another directory. */
	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at))
		if (option_word_is_operand(&at))
			dir = dir ? "\x01" : at.word;
	if (!dir)
		dir = k->place->home ? k->place->home : "\x01";
	if (str_eq(dir, "-") || dir[0] == '+')
		dir = "\x01";
	move_to(k, dir);
}

void command_judge_popd(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	move_to(k, "\x01");
}

/*
 * Called before NEXT is classified: keeps only the new directory if NEXT runs only after a successful `cd`.
 */
void classifier_settle_cd(struct classifier *k, const struct shell_command *next)
{
	if (!k->shell.cd_pending || (next && next->and_then && next->scope == k->shell.cd_scope))
		return;
	add_cwds(&k->shell.cwds, &k->shell.before);
	k->shell.cd_pending = false;
}

/* --- cd NAME && rm -rf * ------------------------------------------------------------------------------------- */

/* Words of a shell, or of set, that change neither `cd` nor patterns: "-c", "-euc". */
static bool is_plain_flags(const char *word)
{
	return word[0] == '-' && word[1] && strspn(word + 1, "ceux") == strlen(word + 1);
}

/*
 * Commands that make no link and no mount, define no command and set no option of the shell. A program that
 * runs others is not among them.
 */
bool command_is_tame(const struct shell_word *w, size_t n)
{
	static const char *const names[] = { "cd", "mkdir", "echo", "true", ":",      "test",
					     "[",  "ls",    "pwd",  "cat",  "rm",     "touch",
					     "wc", "head",  "date", "exit", "mktemp", NULL };

	if (str_eq(w[0].text, "sh") || str_eq(w[0].text, "bash") || str_eq(w[0].text, "dash"))
		return n == 3 && is_plain_flags(w[1].text);
	if (str_eq(w[0].text, "set"))
		return (n == 2 && is_plain_flags(w[1].text)) ||
		       (n == 3 && is_plain_flags(w[1].text) && str_eq(w[2].text, "pipefail"));
	for (size_t i = 0; names[i]; i++)
		if (str_eq(w[0].text, names[i]))
			return true;
	return false;
}

static bool is_set(char *const *env, const char *name)
{
	for (; env && *env; env++)
		if (str_starts(*env, name) && (*env)[strlen(name)] == '=' && (*env)[strlen(name) + 1])
			return true;
	return false;
}

/* ... & ln -sfn / NAME: behind it, but at the same time. */
static bool makes_links(const struct shell_command *c)
{
	for (; c; c = c->next) {
		const char *name = c->n_words > 0 ? command_base(c->words[0].text, &(bool){ false }) : "";

		if (str_eq(name, "ln") || str_eq(name, "mount") || str_eq(name, "cp") || str_eq(name, "mv"))
			return true;
	}
	return false;
}

/* Variables of the environment that give `cd` another meaning. */
static bool environment_is_plain(const struct classifier *k)
{
	static const char *const names[] = {
		"CDPATH", "BASH_ENV", "ENV", "BASHOPTS", "BASH_FUNC_cd%%", NULL
	};

	for (size_t i = 0; names[i]; i++)
		if (is_set(k->place->env, names[i]))
			return false;
	return true;
}

/* Literal, and no component is "..". */
static bool is_plain_name(const char *dir)
{
	if (!*dir || strpbrk(dir, "\x01$`~*?[{") || dir[0] == '-' || dir[0] == '+')
		return false;
	for (const char *p = dir; *p; p += strcspn(p, "/"), p += strspn(p, "/"))
		if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
			return false;
	return true;
}

/* BEFORE is exactly "cd NAME", C is the rm that runs only if it succeeded. */
bool classifier_cd_names(const struct classifier *k, const struct shell_command *before,
			 const struct shell_command *c)
{
	if (!before || k->strange || k->links || k->shell.lost)
		return false;
	if (!c->and_then || c->loops || c->scope != before->scope || c->n_words == 0 || c->assignments ||
	    !str_eq(c->words[0].text, "rm"))
		return false;
	return before->n_words == 2 && !before->assignments && !before->redirects && !before->perhaps &&
	       str_eq(before->words[0].text, "cd") && is_plain_name(before->words[1].text) &&
	       environment_is_plain(k) && !makes_links(c->next);
}

bool classifier_is_in_named_directory(const struct classifier *k, const char *text)
{
	const char *root = k->place->worktree;

	if (!k->text.named || (!str_eq(text, "*") && !str_eq(text, "./*")) || !root || k->shell.cwds.unknown)
		return false;
	for (size_t i = 0; i < k->shell.cwds.n; i++)
		if (!path_is_below(k->shell.cwds.v[i], root) || path_is_below(root, k->shell.cwds.v[i]))
			return false;
	return k->shell.cwds.n > 0;
}
