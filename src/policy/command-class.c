/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-class.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "policy/command-classifier.h"
#include "policy/command-grammar.h"

/* Nested too deeply to parse: any delete among the words counts as unbounded. */
static void judge_depths(struct classifier *k, const struct shell_word *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct command_row *row = command_row_find(command_base(w[i].text, &(bool){ false }));

		if (row && (row->judge == command_judge_rm || row->judge == command_judge_find))
			classifier_add_unbounded(k, w[i].text, "nested too deeply to be checked");
	}
}

static bool only_asks(const struct simple_command *c)
{
	return c->n == 2 && (str_eq(c->w[1].text, "--version") || str_eq(c->w[1].text, "--help")) &&
	       command_row_says_version(c->row);
}

/* The first word that the program's grammar does not list, or the program if it has none; NULL: all are listed. */
static const char *unlisted_word(struct classifier *k, const struct simple_command *c, const char *name)
{
	const struct grammar_row *g = grammar_find(name, strlen(name));

	return g ? grammar_unlisted_word(k, g, c->w, c->n) : c->w[0].text;
}

/* "systemctl --user status": a rule may be written without the options. */
static void add_read(struct classifier *k, const struct simple_command *c)
{
	struct command_part *part = classifier_add_part(k, c->w, c->n);

	while (part && part->n_global + 2 < c->n && c->w[part->n_global + 1].text[0] == '-')
		part->n_global++;
}

static void judge_row(struct classifier *k, const struct simple_command *c, const char *name)
{
	const char *unlisted = k->probing ? NULL : unlisted_word(k, c, name);
	struct command_part **part = k->class->parts_tail;

	if (!unlisted && !k->probing && command_row_reads(c->row)) {
		add_read(k, c);
		return;
	}
	c->row->judge(k, c);
	/* bash --init-file x -ic make: a rule for make does not cover it. */
	if (unlisted && *part && (*part)->words == c->w)
		(*part)->clear = false;
	/* sort --compress-program 'rm -rf /' */
	if (unlisted && command_row_reads(c->row) && c->row->judge != command_judge_awk)
		classifier_probe_arguments(k, c->w, c->n);
	/* `make` has no grammar: its row says that it runs programs. */
	if (unlisted && !(c->row->judge == command_judge_fixed && c->row->traits & COMMAND_RUNS))
		classifier_add_unlisted(k, c->row, unlisted);
}

void classifier_read_command(struct classifier *k, const struct shell_word *w, size_t n)
{
	const struct command_row *row;
	const char *name;
	bool own;

	if (n == 0 || !classifier_spend(k, n + 8)) /* the table lookup costs more than the words */
		return;
	if (k->text.depth >= CLASSIFIER_DEPTH_MAX) {
		classifier_add_unparsable(k, w[0].text, "nested too deeply");
		judge_depths(k, w, n);
		return;
	}
	k->text.depth++;
	k->strange = k->strange || !command_is_tame(w, n);
	name = command_base(w[0].text, &own);
	row = command_row_find(name);
	if (command_text_is_unknown(w[0].text)) {
		struct command_part *p = classifier_add_part(k, w, n);

		if (p)
			p->altered = true;
		classifier_probe_unnamed(k, w, n);
	} else if (!row || own) {
		struct command_part *p = classifier_add_part(k, w, n);

		if (p)
			p->altered = p->altered || own;
		classifier_add_unknown(k, w[0].text, own ? "not in a system directory" : "unknown program");
		if (row)
			row->judge(&(struct classifier){ .arena = k->arena,
							 .place = k->place,
							 .class = k->class,
							 .shell.cwds = k->shell.cwds,
							 .text.depth = k->text.depth,
							 .probing = 1,
							 .fuel = k->fuel },
				   &(struct simple_command){ row, w, n });
		classifier_probe_lookalike(k, w, n);
		/* Words of a program that is neither shell nor wrapper are its data: claude -p 'rm -rf /'. */
		if (row)
			classifier_probe_arguments(k, w, n);
	} else if (only_asks(&(struct simple_command){ row, w, n })) {
		(void)classifier_add_part(k, w, n);
	} else {
		judge_row(k, &(struct simple_command){ row, w, n }, name);
	}
	classifier_read_system(k, name, w, n);
	classifier_probe_started(k, name, w, n);
	classifier_probe_removals(k, name, w, n);
	k->text.depth--;
}

/* A redirection is a part of its own: a rule that allows the command does not allow what it overwrites. */
static void add_redirect_part(struct classifier *k, const struct shell_redirect *d)
{
	struct shell_word *w = arena_alloc(k->arena, 2 * sizeof(*w));

	if (!w || command_is_harmless_device(d->word.text))
		return;
	w[0] = (struct shell_word){ d->kind == SHELL_REDIRECT_READ     ? "<"
				    : d->kind == SHELL_REDIRECT_APPEND ? ">>"
								       : ">",
				    0 };
	w[1] = d->word;
	(void)classifier_add_part(k, w, 2);
}

/* bash connects to a host for the names /dev/tcp/HOST/PORT and /dev/udp/HOST/PORT, also from a variable. */
static bool may_connect(const struct classifier *k, const char *target)
{
	if (str_starts(target, "/dev/tcp/") || str_starts(target, "/dev/udp/"))
		return true;
	if (!command_text_is_unknown(target))
		return false;
	if (strstr(target, "/tcp/") || strstr(target, "/udp/"))
		return true;
	for (const struct classifier_value *v = k->values; v; v = v->next)
		if (strstr(v->text, "/tcp") || strstr(v->text, "/udp"))
			return true;
	return false;
}

static void judge_redirects(struct classifier *k, const struct shell_redirect *d)
{
	for (; d; d = d->next) {
		bool writes = d->kind == SHELL_REDIRECT_WRITE || d->kind == SHELL_REDIRECT_APPEND;
		bool connects = d->kind == SHELL_REDIRECT_READ && may_connect(k, d->word.text);

		if (!writes && !connects)
			continue;
		add_redirect_part(k, d);
		classifier_add_write(k, d->word.text, OUTCOME_SOFT);
	}
}

/* Words that may become a command through a variable: known programs are classified as if they ran. */
static void judge_perhaps(struct classifier *k, const struct shell_command *c)
{
	const struct command_row *row = command_row_find(command_base(c->words[0].text, &(bool){ false }));

	if (row && row->judge != command_judge_read)
		classifier_read_command(k, c->words, c->n_words);
	if (!c->variable && !grammar_condition_is_plain(c->words, c->n_words)) {
		classifier_add_unknown(k, "[[", "the shell may evaluate this as code");
		classifier_add_traits(k, COMMAND_EVALUATES);
	}
	for (size_t i = 0; i < c->n_words; i++)
		if (strpbrk(c->words[i].text, " \t\n`$"))
			classifier_probe_text(k, c->words[i].text);
}

static void add_disagreement(struct classifier *k, const char *what)
{
	classifier_add_unknown(k, what, "sh and bash read this text differently");
	classifier_add_traits(k, COMMAND_EVALUATES);
}

/*
 * sh -c '{/bin/ls,-l}' runs a file of that name. Of commands for which an operand is no more than the name of a file in
 * the same directory, or text, the operands do not matter.
 */
static void judge_dialect(struct classifier *k, const struct shell_command *c)
{
	static const char *const names[] = { "rm", "mkdir", "touch", "cp", "mv",
					     "ls", "cat",   "echo",  "wc", NULL };
	bool plain = false;

	for (size_t i = 0; c->n_words > 0 && names[i]; i++)
		plain = plain ||
			(str_eq(c->words[0].text, names[i]) && !(c->words[0].flags & SHELL_WORD_BASH));
	for (size_t i = 0; i < c->n_words && !plain && !k->text.bash; i++)
		if (c->words[i].flags & SHELL_WORD_BASH)
			add_disagreement(k, c->words[i].text);
}

/* Builtins that change the directory, or run words that may. */
static bool may_move(const struct shell_command *c)
{
	static const char *const names[] = { "cd",	"pushd", "popd",   "eval", "builtin",
					     "command", ".",	 "source", NULL };

	for (size_t i = 0; c->n_words > 0 && names[i]; i++)
		if (str_eq(c->words[0].text, names[i]))
			return !str_eq(names[i], "command") || c->n_words < 2 ||
			       !str_eq(c->words[1].text, "-v");
	return c->n_words > 0 && command_text_is_unknown(c->words[0].text);
}

static bool text_moves(const struct shell_command *c)
{
	while (c && !may_move(c))
		c = c->next;
	return c != NULL;
}

/* The body of a loop or a function also runs after a `cd` that stands behind it. */
static void judge_again(struct classifier *k, const struct shell_command *c)
{
	const struct classifier_cwds cwds = k->shell.cwds;

	k->shell.cwds.unknown = true;
	classifier_read_command(k, c->words, c->n_words);
	k->shell.cwds = cwds;
}

/* for x in 1 2; do rm -rf work; cd /; done: the second time in "/". */
static void probe_again(struct classifier *k, const struct shell_command *c)
{
	for (; c && k->text.moves; c = c->next)
		if (c->loops && !c->perhaps && !may_move(c))
			classifier_probe_command(k, c->words, c->n_words);
}

static void judge_words(struct classifier *k, const struct shell_command *c)
{
	if (c->perhaps && c->n_words > 0)
		judge_perhaps(k, c);
	else if (c->loops && k->text.moves && !may_move(c))
		judge_again(k, c);
	else
		classifier_read_command(k, c->words, c->n_words);
}

static void judge_simple(struct classifier *k, const struct shell_command *before,
			 const struct shell_command *c)
{
	const struct shell_redirect *outer = k->text.redirects;
	bool altered = k->text.altered;

	classifier_settle_cd(k, c);
	k->text.named = classifier_cd_names(k, before, c);
	k->text.looping = c->loops;
	for (const struct shell_assignment *a = c->assignments; a; a = a->next) {
		if (c->n_words > 0)
			classifier_read_variable(k, a->name, a->value.text);
		else
			classifier_read_local(k, a->name, a->value.text);
		k->text.altered = true;
		k->strange = k->strange || c->n_words > 0; /* BASHOPTS=cdable_vars bash -c '...' */
	}
	judge_dialect(k, c);
	judge_redirects(k, c->redirects);
	k->text.redirects = c->redirects;
	judge_words(k, c);
	k->text.redirects = outer;
	if (k->shell.cd_pending)
		k->shell.cd_scope = c->scope;
	/* An assignment without a command stays in effect for the commands after it. */
	if (c->n_words > 0)
		k->text.altered = altered;
}

void classifier_read_text(struct classifier *k, const char *text, bool same_shell)
{
	const struct classifier_text outer_text = k->text;
	const struct classifier_shell outer_shell = k->shell;
	const struct classifier_value *values = k->values;
	struct shell parsed;

	if (k->text.depth >= CLASSIFIER_DEPTH_MAX) {
		classifier_add_unparsable(k, text, "nested too deeply");
		classifier_probe_raw(k, text);
		return;
	}
	if (!classifier_spend(k, strlen(text)) || shell_split(k->arena, text, strlen(text), &parsed) < 0)
		return;
	k->text.depth++;
	if (parsed.why) {
		classifier_add_unparsable(k, text, parsed.why);
		classifier_probe_raw(k, text);
	}
	classifier_read_expansions(k, text);
	if (parsed.bash_only && !k->text.bash)
		add_disagreement(k, text);
	if (command_text_is_unknown(text))
		classifier_add_unknown(k, text, "part of the shell text is known only at run time");
	k->shell.cd_pending = false;
	k->strange = k->strange || parsed.functions || parsed.why;
	k->text.commands = parsed.first;
	k->text.moves = text_moves(parsed.first);
	k->shell.renamed = k->shell.renamed || parsed.functions;
	classifier_collect_values(k, &parsed);
	for (const struct shell_command *c = parsed.first, *before = NULL; c; before = c, c = c->next)
		judge_simple(k, before, c);
	classifier_settle_cd(k, NULL);
	probe_again(k, parsed.first);
	classifier_probe_values(k, text, &parsed);
	k->values = values;
	k->text = outer_text;
	if (!same_shell)
		k->shell = outer_shell;
}

/* Joined by single blanks. */
char *classifier_join_words(struct classifier *k, const struct shell_word *w, size_t n)
{
	size_t len = 1, at = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		len += strlen(w[i].text) + 1;
	text = arena_alloc(k->arena, len);
	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t one = strlen(w[i].text);

		if (i > 0)
			text[at++] = ' ';
		memcpy(text + at, w[i].text, one);
		at += one;
	}
	text[at] = '\0';
	return text;
}

static struct shell_word *words_of(struct arena *a, char *const *argv, size_t *ret_n)
{
	struct shell_word *w;
	size_t n = 0;

	while (argv[n])
		n++;
	w = arena_alloc(a, (n + 1) * sizeof(*w));
	for (size_t i = 0; w && i < n; i++)
		w[i] = (struct shell_word){ argv[i],
					    strchr(argv[i], SHELL_UNKNOWN) ? SHELL_WORD_UNKNOWN : 0 };
	*ret_n = n;
	return w;
}

/* A fetch and a run in one command line, in either order: downloaded text may be executed. */
static void judge_fetch_and_run(struct classifier *k)
{
	if (!(k->class->traits & COMMAND_FETCHES) || !(k->class->traits & COMMAND_RUNS))
		return;
	classifier_add_finding(k, "fetch-and-run", "", "runs downloaded code");
	classifier_add_change(k, OUTCOME_IRREVERSIBLE, DOMAIN_UNTRUSTED);
}

int command_classify(struct arena *a, const struct command_place *place, char *const *argv,
		     struct command_class *ret)
{
	struct classifier k = { .arena = a, .place = place, .class = ret, .fuel = CLASSIFIER_FUEL };
	struct shell_word *w;
	size_t n;

	ret->outcome = OUTCOME_REVERSIBLE;
	ret->domain = DOMAIN_WORKSPACE;
	ret->traits = 0;
	ret->n_findings = 0;
	ret->parts = NULL;
	ret->parts_tail = &ret->parts;
	if (place->cwd && place->cwd[0] == '/')
		k.shell.cwds = (struct classifier_cwds){ .v = { place->cwd }, .n = 1 };
	else
		k.shell.cwds.unknown = true;
	w = words_of(a, argv, &n);
	if (w && n > 0) {
		classifier_read_environment(&k);
		classifier_read_command(&k, w, n);
		judge_fetch_and_run(&k);
	} else if (w) {
		classifier_add_unknown(&k, "", "no command");
	}
	if (a->error == -ENOMEM)
		return -ENOMEM;
	if (a->error)
		(void)classifier_spend(&k, CLASSIFIER_FUEL + 1);
	return 0;
}
