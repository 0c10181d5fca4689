/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/command-class.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "core/command-judge.h"

/* --- what is found ------------------------------------------------------------------------------------------- */

void judge_trait(struct judge *j, unsigned int traits)
{
	if (!j->probing)
		j->class->traits |= traits;
}

void judge_domain(struct judge *j, enum domain d)
{
	if (!j->probing && d < j->class->domain)
		j->class->domain = d;
}

void judge_change(struct judge *j, enum outcome o, enum domain d)
{
	judge_trait(j, COMMAND_CHANGES);
	judge_domain(j, d);
	if (!j->probing && o < j->class->outcome)
		j->class->outcome = o;
}

static void add_note(struct judge *j, const char *id, const char *what, const char *why)
{
	struct command_class *c = j->class;

	for (size_t i = 0; i < c->n_notes; i++)
		if (str_eq(c->notes[i].id, id))
			return;
	if (c->n_notes < COMMAND_NOTES_MAX)
		c->notes[c->n_notes++] = (struct command_note){ id, what, why };
}

void judge_note(struct judge *j, const char *id, const char *what, const char *why)
{
	if (!j->probing)
		add_note(j, id, what, why);
}

void judge_unknown(struct judge *j, const char *what, const char *why)
{
	judge_note(j, "unknown-program", what, why);
	judge_trait(j, COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES);
}

/* Counts also where only this is looked for. */
void judge_unbounded(struct judge *j, const char *what, const char *why)
{
	add_note(j, "unbounded-delete", what, why);
	j->class->traits |= COMMAND_UNBOUNDED | COMMAND_CHANGES;
	j->class->outcome = OUTCOME_IRREVERSIBLE;
}

static void judge_unparsable(struct judge *j, const char *what, const char *why)
{
	judge_note(j, "unparsable", what, why);
	judge_trait(j, COMMAND_UNPARSABLE | COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES);
}

bool judge_spend(struct judge *j, size_t amount)
{
	if (j->fuel >= amount) {
		j->fuel -= amount;
		return true;
	}
	j->fuel = 0;
	/* Past the limit nothing was looked at, not even by a probe: it counts in any case. */
	add_note(j, "unparsable", "", "too long to be judged");
	j->class->traits |= COMMAND_UNPARSABLE | COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES;
	return false;
}

struct command_part *judge_part(struct judge *j, const struct shell_word *w, size_t n)
{
	struct command_part *p;

	if (j->probing)
		return NULL;
	p = arena_alloc(j->arena, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct command_part){ .words = w, .n_words = n, .altered = j->altered };
	*j->class->parts_tail = p;
	j->class->parts_tail = &p->next;
	return p;
}

/* --- variables that make programs of other programs ------------------------------------------------------------ */

static bool path_variable_is_plain(const char *value)
{
	for (const char *p = value, *stop;; p = stop + 1) {
		stop = strchrnul(p, ':');
		if (!str_starts(p, "/usr/") && !str_starts(p, "/bin") && !str_starts(p, "/sbin") &&
		    !str_starts(p, "/opt/"))
			return false;
		if (memmem(p, (size_t)(stop - p), "..", 2) || memchr(p, SHELL_UNKNOWN, (size_t)(stop - p)))
			return false;
		if (!*stop)
			return true;
	}
}

static bool variable_runs(const char *name, const char *value)
{
	static const char *const names[] = { "BASH_ENV",
					     "ENV",
					     "PROMPT_COMMAND",
					     "PS0",
					     "PS1",
					     "PS2",
					     "PS4",
					     "SHELLOPTS",
					     "BASHOPTS",
					     "EDITOR",
					     "VISUAL",
					     "PAGER",
					     "MANPAGER",
					     "BROWSER",
					     "LESSOPEN",
					     "LESSCLOSE",
					     "PYTHONPATH",
					     "PYTHONSTARTUP",
					     "PYTHONHOME",
					     "PERL5OPT",
					     "PERL5LIB",
					     "PERLLIB",
					     "PERL5DB",
					     "RUBYOPT",
					     "RUBYLIB",
					     "NODE_OPTIONS",
					     "NODE_PATH",
					     "JAVA_TOOL_OPTIONS",
					     "MAKEFLAGS",
					     "CC",
					     "RSYNC_RSH",
					     "GREP_OPTIONS",
					     "IFS",
					     "GCONV_PATH",
					     "SHELL",
					     "ZDOTDIR",
					     "XDG_CONFIG_HOME",
					     "RIPGREP_CONFIG_PATH",
					     "CURL_HOME",
					     "WGETRC",
					     "INPUTRC",
					     "FPATH",
					     "LUA_INIT",
					     NULL };

	if (str_eq(name, "PATH"))
		return !path_variable_is_plain(value);
	/* What the shipped profiles say; --to-command and --checkpoint-action run programs. */
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

void judge_variable(struct judge *j, const char *name, const char *value)
{
	const struct command_row *row = command_row_find(value);

	if (str_eq(name, "HOME") || str_eq(name, "CDPATH") || str_eq(name, "PWD") || str_eq(name, "OLDPWD"))
		j->lost = true;
	/* c=curl; $c example.org | sh */
	if (row && row->traits & COMMAND_FETCHES) {
		judge_trait(j, row->traits);
		judge_change(j, row->outcome, row->domain);
	}
	if (variable_runs(name, value)) {
		judge_unknown(j, name, "this variable decides what runs");
		if (strpbrk(value, " `$"))
			judge_shell_text(j, value, false);
	} else if (strpbrk(value, " \t\n`$")) {
		/* X='rm -rf /'; $X */
		judge_probe_text(j, value);
	}
}

/* What the caller's environment already says, without the terms of a text: PATH and names only. */
static void judge_environment(struct judge *j)
{
	for (char *const *e = j->place->env; e && *e; e++) {
		const char *equals = strchr(*e, '=');
		char name[32];
		size_t len = equals ? (size_t)(equals - *e) : 0;

		if (len == 0 || len >= sizeof(name))
			continue;
		memcpy(name, *e, len);
		name[len] = '\0';
		/* Those two name what a person uses, not what this command runs. */
		if (!str_eq(name, "SHELL") && !str_eq(name, "PS1") && variable_runs(name, equals + 1)) {
			judge_unknown(j, arena_text(j->arena, name, len) ?: "",
				      "this variable decides what runs");
			j->altered = true;
		}
	}
}

/* --- probes: is there an unbounded delete in it? --------------------------------------------------------------- */

void judge_probe_command(struct judge *j, const struct shell_word *w, size_t n)
{
	struct judge before = *j;

	j->probing++;
	judge_command(j, w, n);
	before.fuel = j->fuel;
	*j = before;
}

void judge_probe_text(struct judge *j, const char *text)
{
	struct judge before = *j;

	j->probing++;
	judge_shell_text(j, text, false);
	before.fuel = j->fuel;
	*j = before;
}

/* Names of functions that delete trees, in languages that are not read here. */
static bool mentions_tree_delete(const char *text)
{
	static const char *const names[] = { "rmtree",	   "remove_tree", "rimraf",	    "rmSync",
					     "rmdirSync",  "rm_rf",	  "rm_r",	    "fs.rm(",
					     "removedirs", "RemoveAll",	  "remove_dir_all", "deltree",
					     NULL };

	for (size_t i = 0; names[i]; i++)
		if (strstr(text, names[i]))
			return true;
	return false;
}

/* Words between separators, as if they were typed; each that deletes is judged with what follows it. */
static void probe_words(struct judge *j, const char *text, const char *drop)
{
	size_t len = strlen(text), n = 0;
	struct shell_word *w = arena_alloc(j->arena, (len / 2 + 2) * sizeof(*w));
	char *copy = arena_alloc(j->arena, len + 2), *out = copy;
	bool open = false;

	if (!w || !copy)
		return;
	for (const char *p = text;; p++) {
		bool ends = !*p || strchr(";|&\n", *p), separates = ends || strchr(" \t()<>{}[],'\"`=!", *p);

		if (!ends && strchr(drop, *p))
			continue;
		if (!separates) {
			if (!open)
				w[n++] = (struct shell_word){ out, 0 };
			open = true;
			*out++ = *p;
			continue;
		}
		if (open)
			*out++ = '\0';
		open = false;
		if (!ends)
			continue;
		for (size_t i = 0; i < n; i++)
			if (command_row_deletes(
				    command_row_find(command_base(w[i].text, &(bool){ false })))) {
				judge_probe_command(j, w + i, n - i);
				break;
			}
		n = 0;
		if (!*p)
			return;
		w = arena_alloc(j->arena, (strlen(p) / 2 + 2) * sizeof(*w));
		if (!w)
			return;
	}
}

void judge_probe_crude(struct judge *j, const char *text)
{
	if (!judge_spend(j, strlen(text)))
		return;
	if (mentions_tree_delete(text))
		judge_unbounded(j, text, "what it deletes cannot be known");
	probe_words(j, text, "\\");
	probe_words(j, text, "'\"\\");
}

/* --- commands -------------------------------------------------------------------------------------------------- */

/* ./x -rf /: it may be a copy of rm. */
static void judge_likeness(struct judge *j, const struct shell_word *w, size_t n)
{
	bool recursive = false, force = false;
	const char *why;

	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		if (t[0] != '-')
			continue;
		recursive =
			recursive || (t[1] != '-' ? strpbrk(t, "rR") != NULL : str_starts(t, "--recursive"));
		force = force || (t[1] != '-' ? strchr(t, 'f') != NULL : str_starts(t, "--force"));
	}
	for (size_t i = 1; recursive && force && i < n; i++)
		if (w[i].text[0] != '-' && path_is_unbounded(j, w[i].text, &why)) {
			judge_unbounded(j, w[i].text, "the program may be rm");
			return;
		}
}

/* An unrecognised program may run what its arguments say: "foo rm -rf /", "foo -c 'rm -rf /'". */
void judge_probe_arguments(struct judge *j, const struct shell_word *w, size_t n)
{
	unsigned int tried = 0;

	for (size_t i = 1; i < n && tried < 8; i++) {
		const char *text = w[i].text;

		if (strpbrk(text, " \t\n;|&")) {
			tried++;
			judge_probe_text(j, text);
		} else if (command_row_deletes(command_row_find(command_base(text, &(bool){ false })))) {
			tried++;
			judge_probe_command(j, w + i, n - i);
		}
	}
}

/* The name itself is not known: it may be rm.  "/", "~" and "*" tell by themselves, others with a -r. */
static void judge_nameless(struct judge *j, const struct shell_word *w, size_t n)
{
	bool recursive = false;

	judge_unknown(j, w[0].text, "which program it is cannot be known");
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		recursive = recursive || (t[0] == '-' && t[1] != '-' && strpbrk(t, "rR\x01")) ||
			    (str_starts(t, "--r") && str_starts("--recursive", t)) || str_eq(t, "-delete");
	}
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text, *why;
		bool plain = t[0] == '/' || t[0] == '~' || t[0] == '*';

		if (t[0] != '-' && (plain || recursive) && path_is_unbounded(j, t, &why)) {
			judge_unbounded(j, t, "the program may be rm");
			return;
		}
	}
	judge_probe_arguments(j, w, n);
}

static bool only_asks(const struct command *c)
{
	return c->n == 2 && (str_eq(c->w[1].text, "--version") || str_eq(c->w[1].text, "--help"));
}

void judge_command(struct judge *j, const struct shell_word *w, size_t n)
{
	const struct command_row *row;
	const char *name;
	bool own;

	if (n == 0 || !judge_spend(j, n + 1))
		return;
	if (j->depth >= JUDGE_DEPTH_MAX) {
		judge_unparsable(j, w[0].text, "nested too deeply");
		return;
	}
	j->depth++;
	name = command_base(w[0].text, &own);
	row = command_row_find(name);
	if (text_is_unknown(w[0].text)) {
		struct command_part *p = judge_part(j, w, n);

		if (p)
			p->altered = true;
		judge_nameless(j, w, n);
	} else if (!row || own) {
		struct command_part *p = judge_part(j, w, n);

		if (p)
			p->altered = p->altered || own;
		judge_unknown(j, w[0].text,
			      own ? "a program of its own" : "not a program that is recognised");
		if (row)
			row->judge(&(struct judge){ .arena = j->arena,
						    .place = j->place,
						    .class = j->class,
						    .cwds = j->cwds,
						    .depth = j->depth,
						    .probing = 1,
						    .fuel = j->fuel },
				   &(struct command){ row, w, n });
		judge_likeness(j, w, n);
		judge_probe_arguments(j, w, n);
	} else if (only_asks(&(struct command){ row, w, n }) && !command_row_deletes(row)) {
		(void)judge_part(j, w, n);
	} else {
		row->judge(j, &(struct command){ row, w, n });
	}
	j->depth--;
}

/* --- shell text ------------------------------------------------------------------------------------------------ */

static void judge_redirects(struct judge *j, const struct shell_redirect *d)
{
	for (; d; d = d->next) {
		if (d->kind == SHELL_REDIRECT_WRITE || d->kind == SHELL_REDIRECT_APPEND)
			judge_write(j, d->word.text, OUTCOME_SOFT);
		else if (d->kind == SHELL_REDIRECT_READ && str_starts(d->word.text, "/dev/tcp/"))
			judge_write(j, d->word.text, OUTCOME_SOFT);
		else if (d->kind == SHELL_REDIRECT_READ && str_starts(d->word.text, "/dev/udp/"))
			judge_write(j, d->word.text, OUTCOME_SOFT);
	}
}

/* Words that a variable may become a command of: known programs are taken at their word. */
static void judge_perhaps(struct judge *j, const struct shell_command *c)
{
	const struct command_row *row = command_row_find(command_base(c->words[0].text, &(bool){ false }));

	if (row && row->judge != judge_read)
		judge_command(j, c->words, c->n_words);
	for (size_t i = 0; i < c->n_words; i++)
		if (strpbrk(c->words[i].text, " \t\n`$"))
			judge_probe_text(j, c->words[i].text);
}

static void judge_simple(struct judge *j, const struct shell_command *c)
{
	const struct shell_redirect *outer = j->redirects;
	bool altered = j->altered;

	judge_settle(j, c);
	j->looping = c->loops;
	for (const struct shell_assignment *a = c->assignments; a; a = a->next) {
		judge_variable(j, a->name, a->value.text);
		j->altered = true;
	}
	judge_redirects(j, c->redirects);
	j->redirects = c->redirects;
	if (c->perhaps && c->n_words > 0)
		judge_perhaps(j, c);
	else
		judge_command(j, c->words, c->n_words);
	j->redirects = outer;
	if (j->cd_pending)
		j->cd_scope = c->scope;
	/* A variable that stands alone stays set for the commands after it. */
	if (c->n_words > 0)
		j->altered = altered;
}

void judge_shell_text(struct judge *j, const char *text, bool same_shell)
{
	struct judge outer = *j;
	struct shell shell;

	if (j->depth >= JUDGE_DEPTH_MAX) {
		judge_unparsable(j, text, "nested too deeply");
		judge_probe_crude(j, text);
		return;
	}
	if (!judge_spend(j, strlen(text)))
		return;
	j->depth++;
	if (shell_split(j->arena, text, strlen(text), &shell) < 0)
		return;
	if (shell.why) {
		judge_unparsable(j, text, shell.why);
		judge_probe_crude(j, text);
	}
	if (text_is_unknown(text))
		judge_unknown(j, text, "part of the shell's text cannot be known");
	j->cd_pending = false;
	for (const struct shell_command *c = shell.first; c; c = c->next) {
		j->shell = shell.first;
		judge_simple(j, c);
	}
	judge_settle(j, NULL);
	j->depth = outer.depth;
	j->shell = outer.shell;
	j->altered = outer.altered;
	j->looping = outer.looping;
	j->cd_pending = false;
	if (!same_shell) {
		j->cwds = outer.cwds;
		j->before = outer.before;
		j->cd_pending = outer.cd_pending;
		j->cd_scope = outer.cd_scope;
		j->lost = outer.lost;
		j->redirects = outer.redirects;
	}
}

/* --- the whole ------------------------------------------------------------------------------------------------- */

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

/* Downloaded text that is run, in whatever order the words stand. */
static void judge_fetch_and_run(struct judge *j)
{
	if (!(j->class->traits & COMMAND_FETCHES) || !(j->class->traits & COMMAND_RUNS))
		return;
	judge_note(j, "fetch-and-run", "", "what came from the network is run");
	judge_change(j, OUTCOME_IRREVERSIBLE, DOMAIN_UNTRUSTED);
}

int command_classify(struct arena *a, const struct command_place *place, char *const *argv,
		     struct command_class *ret)
{
	struct judge j = { .arena = a, .place = place, .class = ret, .fuel = JUDGE_FUEL };
	struct shell_word *w;
	size_t n;

	ret->outcome = OUTCOME_REVERSIBLE;
	ret->domain = DOMAIN_WORKSPACE;
	ret->traits = 0;
	ret->n_notes = 0;
	ret->parts = NULL;
	ret->parts_tail = &ret->parts;
	if (place->cwd && place->cwd[0] == '/')
		j.cwds = (struct judge_cwds){ .v = { place->cwd }, .n = 1 };
	else
		j.cwds.unknown = true;
	w = words_of(a, argv, &n);
	if (w && n > 0) {
		judge_environment(&j);
		judge_command(&j, w, n);
		judge_fetch_and_run(&j);
	} else if (w) {
		judge_unknown(&j, "", "no command");
	}
	if (a->error == -ENOMEM)
		return -ENOMEM;
	if (a->error)
		(void)judge_spend(&j, JUDGE_FUEL + 1);
	return 0;
}
