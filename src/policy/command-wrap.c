/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/*
 * Programs and builtins that run the rest of their words. If the options of a wrapper are misread, the
 * "program" is unknown and its arguments are probed, so an odd option hides nothing.
 */

static bool sets_variable(const char *text)
{
	return strchr(text, '=') != NULL && text[0] != '=';
}

static void set_variable(struct classifier *k, const char *text)
{
	const char *equals = strchr(text, '=');
	char *name = arena_text(k->arena, text, (size_t)(equals - text));

	if (name)
		classifier_read_variable(k, name, equals + 1);
}

/* At a terminal its output goes to a file, unless the words say where. */
static void judge_nohup(struct classifier *k)
{
	for (const struct shell_redirect *d = k->text.redirects; d; d = d->next)
		if (d->kind == SHELL_REDIRECT_WRITE || d->kind == SHELL_REDIRECT_APPEND)
			return;
	classifier_add_write(k, "nohup.out", OUTCOME_SOFT);
}

/* With row->skip operands of its own before the command: `timeout 5 make`. */
void command_judge_wrapper(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	unsigned int skip = c->row->skip;
	struct classifier_cwds cwds = k->shell.cwds;
	struct option_iter o;
	struct option_word at;

	option_iter_init(&o, c, true);
	classifier_add_traits(k, c->row->traits);
	classifier_add_domain(k, c->row->domain);
	if (c->row->domain == DOMAIN_SYSTEM)
		classifier_add_finding(k, "privilege", c->w[0].text,
				       "runs with other privileges or in another system");
	if (part)
		part->clear = c->row->domain == DOMAIN_WORKSPACE && c->row->traits == 0;
	if (str_eq(c->row->name, "nohup"))
		judge_nohup(k);
	while (option_iter_next(&o, &at)) {
		if (option_word_is_operand(&at)) {
			/* sudo X=1 cmd */
			if (c->row->domain == DOMAIN_SYSTEM && sets_variable(at.word)) {
				set_variable(k, at.word);
				o.ended = false;
				continue;
			}
			if (skip-- > 0)
				continue;
			classifier_read_command(k, c->w + at.at, c->n - at.at);
			k->shell.cwds = cwds;
			return;
		}
		if (option_word_is(&at, c->row->bad)) {
			classifier_add_unknown(k, c->w[0].text,
					       "an option that runs a program or writes a file");
			for (size_t i = at.at; i < c->n; i++)
				classifier_probe_text(k, c->w[i].text);
		}
		/* The working directory, if the option has one of the usual names. */
		if (at.value && option_word_is(&at, " chdir,working-directory,cwd"))
			classifier_chdir(k, at.value);
	}
	k->shell.cwds = cwds;
	/* Without a command: a shell (sudo -i, chroot DIR), or nothing. */
	if (c->row->domain == DOMAIN_SYSTEM)
		classifier_add_unknown(k, c->w[0].text, "starts a shell or an action named by its options");
}

/* env -S 'rm -rf' /: the words of TEXT, then the rest. */
static void judge_split_string(struct classifier *k, const char *text, const struct simple_command *c,
			       size_t from)
{
	struct shell_word *w = arena_alloc(k->arena, (c->n - from + 1) * sizeof(*w));
	char *all;

	if (!w)
		return;
	w[0] = (struct shell_word){ text, 0 };
	for (size_t i = from; i < c->n; i++)
		w[1 + i - from] = c->w[i];
	all = classifier_join_words(k, w, c->n - from + 1);
	if (all)
		classifier_read_text(k, all, false);
}

/* Without PATH bash also searches the working directory. */
static void lose_path(struct classifier *k, const char *name)
{
	if (!name || str_eq(name, "PATH") || command_text_is_unknown(name))
		classifier_add_unknown(k, "PATH",
				       "without this variable a shell may run programs of the worktree");
}

void command_judge_env(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	struct classifier_cwds cwds = k->shell.cwds;
	bool altered = k->text.altered, first = true;
	struct option_iter o;
	struct option_word at;

	option_iter_init(&o, c, true);
	while (option_iter_next(&o, &at)) {
		if (option_word_is_operand(&at) && sets_variable(at.word)) {
			set_variable(k, at.word);
			k->text.altered = true;
			first = false;
			continue;
		}
		if (option_word_is_operand(&at)) {
			if (part)
				part->clear = first;
			classifier_read_command(k, c->w + at.at, c->n - at.at);
			break;
		}
		if (option_word_is(&at, "S split-string") && at.value) {
			judge_split_string(k, at.value, c, o.i);
			break;
		}
		if (option_word_is(&at, "C chdir") && at.value)
			classifier_chdir(k, at.value);
		if (option_word_is(&at, "iu ignore-environment,unset"))
			lose_path(k, at.value);
		k->text.altered = true;
		first = false;
	}
	k->shell.cwds = cwds;
	k->text.altered = altered;
}

/* su [options] [-] [user [args]]: -c anywhere is a shell's text; args go to the user's shell. */
void command_judge_su(struct classifier *k, const struct simple_command *c)
{
	struct option_iter o;
	struct option_word at;
	bool text = false;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_domain(k, DOMAIN_SYSTEM);
	classifier_add_traits(k, COMMAND_CHANGES);
	classifier_add_finding(k, "privilege", c->w[0].text,
			       "runs with other privileges or in another system");
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (!option_word_is(&at, "c command,session-command") || !at.value)
			continue;
		text = true;
		classifier_read_text(k, at.value, false);
	}
	if (!text)
		classifier_add_unknown(k, c->w[0].text, "starts a shell");
	classifier_read_printed(k);
	classifier_probe_arguments(k, c->w, c->n);
}

/* TEXT with every TOKEN replaced by VALUE. */
const char *classifier_replace(struct classifier *k, const char *text, const char *token, const char *value)
{
	size_t n = 0, len = strlen(value), skip = strlen(token);
	char *out, *to;

	for (const char *p = skip ? strstr(text, token) : NULL; p; p = strstr(p + skip, token))
		n++;
	if (n == 0)
		return text;
	to = out = arena_alloc(k->arena, strlen(text) + n * len + 1);
	if (!out || !classifier_spend(k, n * len))
		return "\x01";
	for (const char *p = text, *hit; *p; p = hit + skip) {
		size_t plain;

		hit = strstr(p, token);
		plain = hit ? (size_t)(hit - p) : strlen(p);
		memcpy(to, p, plain);
		to += plain;
		if (!hit)
			break;
		memcpy(to, value, len);
		to += len;
	}
	*to = '\0';
	return out;
}

/* The N words with TOKEN replaced by INPUT, and the fields of INPUT behind them. */
static void probe_input(struct classifier *k, const struct shell_word *w, size_t n, const char *token,
			const char *input)
{
	static const char blanks[] = " \t\n'\"";
	struct shell_word *all;
	size_t fields = 0;

	for (const char *p = input + strspn(input, blanks); *p; p += strspn(p, blanks), fields++)
		p += strcspn(p, blanks);
	all = arena_alloc(k->arena, (n + fields + 1) * sizeof(*all));
	if (!all || !classifier_spend(k, strlen(input) + n + fields))
		return;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct shell_word){ classifier_replace(k, w[i].text, token, input), w[i].flags };
	for (const char *p = input + strspn(input, blanks); *p; p += strspn(p, blanks)) {
		all[n++] = (struct shell_word){ arena_text(k->arena, p, strcspn(p, blanks)) ?: "\x01", 0 };
		p += strcspn(p, blanks);
	}
	classifier_probe_command(k, all, n);
}

/* echo / | xargs rm -rf: the words that commands of this text print, and its here-documents. */
void classifier_probe_inputs(struct classifier *k, const struct shell_word *w, size_t n, const char *token)
{
	for (const struct shell_command *c = k->text.commands; c; c = c->next) {
		const char *text = classifier_printed_text(k, c);

		if (text)
			probe_input(k, w, n, token, text);
		for (const struct shell_redirect *d = c->redirects; d; d = d->next)
			if (d->kind == SHELL_REDIRECT_HERE)
				probe_input(k, w, n, token, d->word.text);
	}
}

void command_judge_xargs(struct classifier *k, const struct simple_command *c)
{
	const char *token = "{}";
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, true);
	while (option_iter_next(&o, &at)) {
		struct shell_word *w;
		size_t n;

		if (!option_word_is_operand(&at)) {
			if (option_word_is(&at, "Ii replace") && at.value && *at.value)
				token = at.value;
			continue;
		}
		n = c->n - at.at;
		w = arena_alloc(k->arena, (n + 1) * sizeof(*w));
		if (!w)
			return;
		for (size_t i = 0; i < n; i++)
			w[i] = (struct shell_word){ classifier_replace(k, c->w[at.at + i].text, token,
								       "\x01"),
						    c->w[at.at + i].flags };
		w[n] = (struct shell_word){ "\x01", SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT };
		classifier_read_command(k, w, n + 1);
		classifier_probe_inputs(k, c->w + at.at, n, token);
		return;
	}
}

void command_judge_eval(struct classifier *k, const struct simple_command *c)
{
	char *text = classifier_join_words(k, c->w + 1, c->n - 1);
	struct command_part *part = classifier_add_part(k, c->w, c->n);

	if (part)
		part->clear = true;
	if (text)
		classifier_read_text(k, text, true);
}

/* command, builtin, exec: run the following words in the same shell. */
void command_judge_builtin(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	struct option_iter o;
	struct option_word at;

	if (part)
		part->clear = true;
	option_iter_init(&o, c, true);
	while (option_iter_next(&o, &at)) {
		if (option_word_is_operand(&at)) {
			classifier_read_command(k, c->w + at.at, c->n - at.at);
			return;
		}
		if (str_eq(c->row->name, "command") && (at.c == 'v' || at.c == 'V'))
			return;
		if (str_eq(c->row->name, "exec") && at.c == 'c')
			lose_path(k, NULL);
	}
}

/* busybox rm -rf /, toybox: the applet is the program. */
void command_judge_busybox(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);

	if (part)
		part->clear = true;
	if (c->n > 1 && c->w[1].text[0] != '-')
		classifier_read_command(k, c->w + 1, c->n - 1);
	else if (c->n > 1)
		classifier_add_unknown(k, c->w[0].text, "an option that runs a program or writes a file");
}

/* A subscript is evaluated: declare 'a[$(rm -rf /)]=1'. */
static void judge_subscripts(struct classifier *k, const struct simple_command *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (strstr(c->w[i].text, "$(") || strchr(c->w[i].text, '`')) {
			classifier_add_unknown(k, c->w[i].text, "the shell evaluates this word as code");
			classifier_probe_raw(k, c->w[i].text);
		}
}

void command_judge_export(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	judge_subscripts(k, c);
	for (size_t i = 1; i < c->n; i++)
		if (c->row->skip == 0 && sets_variable(c->w[i].text) && c->w[i].text[0] != '-') {
			set_variable(k, c->w[i].text);
			k->text.altered = true;
		}
}

/* set -- rm -rf /; "$@" */
void command_judge_set(struct classifier *k, const struct simple_command *c)
{
	(void)classifier_add_part(k, c->w, c->n);
	for (size_t i = 1; i < c->n; i++)
		if (c->w[i].text[0] != '-' && c->w[i].text[0] != '+') {
			classifier_probe_command(k, c->w + i, c->n - i);
			return;
		}
}
