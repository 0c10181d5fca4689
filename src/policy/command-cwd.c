/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>

#include "base/str.h"

static void add_cwd(struct judge_cwds *s, const char *dir)
{
	for (size_t i = 0; dir && i < s->n; i++)
		if (str_eq(s->v[i], dir))
			return;
	if (!dir || s->n == JUDGE_CWDS_MAX)
		s->unknown = true;
	else
		s->v[s->n++] = dir;
}

static void add_cwds(struct judge_cwds *to, const struct judge_cwds *from)
{
	for (size_t i = 0; i < from->n; i++)
		add_cwd(to, from->v[i]);
	to->unknown = to->unknown || from->unknown;
}

void judge_chdir(struct judge *j, const char *dir)
{
	struct judge_cwds to = { 0 };
	const char *full =
		text_is_unknown(dir) || pattern_is_any(dir, strlen(dir)) ? NULL : judge_expand_home(j, dir);

	if (!full || !*dir || (full[0] != '/' && j->cwds.unknown))
		to.unknown = true;
	for (size_t i = 0; full && i < (full[0] == '/' ? 1 : j->cwds.n); i++) {
		bool up = false;

		add_cwd(&to, judge_join(j, full[0] == '/' ? "/" : j->cwds.v[i], full, &up));
	}
	to.unknown = to.unknown || j->links || j->lost || (j->looping && dir[0] != '/');
	j->cwds = to;
}

/* From here on the shell stands there, or, unless && says that it worked, where it stood before. */
static void move_to(struct judge *j, const char *dir)
{
	if (!j->cd_pending)
		j->before = j->cwds;
	else
		add_cwds(&j->before, &j->cwds);
	judge_chdir(j, dir);
	j->cd_pending = true;
}

void judge_cd(struct judge *j, const struct command *c)
{
	const char *dir = NULL;
	struct word_iter o;
	struct word_read at;

	words_init(&o, c, false);
	while (words_next(&o, &at))
		if (word_is_operand(&at))
			dir = dir ? "\x01" : at.word;
	if (!dir)
		dir = j->place->home ? j->place->home : "\x01";
	if (str_eq(dir, "-") || dir[0] == '+')
		dir = "\x01";
	move_to(j, dir);
}

void judge_popd(struct judge *j, const struct command *c)
{
	(void)c;
	move_to(j, "\x01");
}

/* Before NEXT is judged: does it run only where the last `cd` worked? */
void judge_settle(struct judge *j, const struct shell_command *next)
{
	if (!j->cd_pending || (next && next->and_then && next->scope == j->cd_scope))
		return;
	add_cwds(&j->cwds, &j->before);
	j->cd_pending = false;
}
