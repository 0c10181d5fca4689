/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

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
	to.unknown = to.unknown || k->links || k->shell.lost || (k->text.looping && dir[0] != '/');
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
	(void)c;
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
