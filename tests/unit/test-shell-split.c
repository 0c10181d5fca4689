/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "tap.h"

#include "base/str.h"
#include "shell/shell-split.h"

/*
 * Commands are shown as words in [], '?' for what only the running shell knows, "&&" before one that runs only if
 * the one before it worked, "*" in loops, "~" for words that may become a command, name= and <, >, >>, << apart.
 */
static void show_word(struct strbuf *b, const struct shell_word *w)
{
	strbuf_putc(b, '[');
	for (const char *p = w->text; *p; p++)
		strbuf_putc(b, *p == SHELL_UNKNOWN ? '?' : *p);
	strbuf_putc(b, ']');
}

static void show_command(struct strbuf *b, const struct shell_command *c)
{
	static const char *const signs[] = { "<", ">", ">>", "<<" };

	strbuf_puts(b, b->len ? " ; " : "");
	strbuf_puts(b, c->and_then ? "&&" : "");
	strbuf_puts(b, c->loops ? "*" : "");
	strbuf_puts(b, c->perhaps ? "~" : "");
	for (const struct shell_assignment *a = c->assignments; a; a = a->next) {
		strbuf_puts(b, a->name);
		strbuf_putc(b, '=');
		show_word(b, &a->value);
	}
	for (size_t i = 0; i < c->n_words; i++)
		show_word(b, &c->words[i]);
	for (const struct shell_redirect *d = c->redirects; d; d = d->next) {
		strbuf_puts(b, signs[d->kind]);
		show_word(b, &d->word);
	}
}

static char *shown(const char *text, size_t len)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_arena_ struct arena a;
	struct shell s;

	arena_init(&a);
	if (shell_split(&a, text, len, &s) < 0)
		return NULL;
	if (s.why) {
		strbuf_puts(&b, "not read: ");
		strbuf_puts(&b, s.why);
		return strbuf_take(&b);
	}
	for (const struct shell_command *c = s.first; c; c = c->next)
		show_command(&b, c);
	return strbuf_take(&b);
}

struct row {
	const char *text, *want;
};

static bool all_hold(const struct row *rows, size_t n)
{
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *is = shown(rows[i].text, strlen(rows[i].text));

		if (!str_eq(is, rows[i].want)) {
			printf("# %s\n#   is     %s\n#   wanted %s\n", rows[i].text, is, rows[i].want);
			ok = false;
		}
	}
	return ok;
}
#define HOLD(rows) CHECK(all_hold(rows, ARRAY_SIZE(rows)))

static void lists_and_pipelines(void)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "  # nothing", "" },
		{ "a", "[a]" },
		{ "a b  c\t d", "[a][b][c][d]" },
		{ "a; b", "[a] ; [b]" },
		{ "a;b;", "[a] ; [b]" },
		{ "a && b || c", "[a] ; &&[b] ; [c]" },
		{ "a && b | c && d", "[a] ; &&[b] ; [c] ; [d]" },
		{ "a | b |& c", "[a] ; [b] ; [c]" },
		{ "a & b &", "[a] ; [b]" },
		{ "! a && b", "[a] ; [b]" },
		{ "a\n\nb # x\nc", "[a] ; [b] ; [c]" },
		{ "a &&\n b", "[a] ; &&[b]" },
		{ "a \\\n b", "[a][b]" },
		{ "time -p a | b", "[a] ; [b]" },
	};

	HOLD(rows);
}

static void compound_commands(void)
{
	static const struct row rows[] = {
		{ "(a; b) && c", "[a] ; [b] ; [c]" },
		{ "{ a; b; } > f", "[a] ; [b] ; >[f]" },
		{ "if a; then b; elif c; then d; else e; fi", "[a] ; [b] ; [c] ; [d] ; [e]" },
		{ "while a; do b; done < f", "*[a] ; *[b] ; <[f]" },
		{ "until a; do b; done", "*[a] ; *[b]" },
		{ "for x in a $b; do c; done; d", "~[a][?] ; *[c] ; [d]" },
		{ "for x; do c; done", "*[c]" },
		{ "for ((i=0; i<9; i++)); do c; done", "*[c]" },
		{ "case $x in a|b) c;; (d) e;; *) f; esac", "[c] ; [e] ; [f]" },
		{ "case x in\na)\n;;\nesac\nb", "[b]" },
		{ "f() { a; }; f", "*[a] ; [f]" },
		{ "f () ( a )", "*[a]" },
		{ "function f { a; }", "*[a]" },
		{ "[[ a && b ]]", "[[[][a] ; ~[b]" },
		{ "[[ a\nb c ]]; d", "[[[][a] ; ~[b][c] ; [d]" },
		{ "((a))", "[a]" },
		{ "if a; then (b) fi", "[a] ; [b]" },
		{ "{ { a; } }", "[a]" },
	};

	HOLD(rows);
}

static void quotes(void)
{
	static const struct row rows[] = {
		{ "'a b' \"c d\" e\\ f", "[a b][c d][e f]" },
		{ "r\"\"m r''m \\r\\m", "[rm][rm][rm]" },
		{ "\"a\\\"b\\$c\\`d\\\\e\\f\"", "[a\"b$c`d\\e\\f]" },
		{ "'a\nb'", "[a\nb]" },
		{ "$'a\\tb\\x41\\101\\n' $\"c\"", "[a\tbAA\n][c]" },
		{ "a\\\nb", "[ab]" },
		{ "''", "[]" },
		{ "a#b #c", "[a#b]" },
		{ "a '#' \"#\"", "[a][#][#]" },
		{ "a\\", "[a\\]" },
		{ "'if' a", "[if][a]" },
		{ "echo if then fi }", "[echo][if][then][fi][}]" },
	};

	HOLD(rows);
}

static void expansions_stay_unknown_and_what_runs_in_them_is_found(void)
{
	static const struct row rows[] = {
		{ "$a ${b} \"$c\" $1 $@ $? $$", "[?][?][?][?][?][?][?]" },
		{ "a$b/c", "[a?/c]" },
		{ "a $(b $(c)) d", "[c] ; [b][?] ; [a][?][d]" },
		{ "\"$(b)\"", "[b] ; [?]" },
		{ "`b \\`c\\``", "[c] ; [b][?] ; [?]" },
		{ "\"`b \\\"c\\\"`\"", "[b][c] ; [?]" },
		{ "${x:-$(a)} ${y#`b`}", "[a] ; [b] ; [?][?]" },
		{ "$((1 + $(a) * (2)))", "[a] ; [?]" },
		{ "a$IFS'b'${IFS}c", "[a][b][c]" },
		{ "a <(b) >(c)", "[b] ; [c] ; [a][?][?]" },
		{ "a{b,c}d {e} {f", "[abd][acd][{e}][{f]" },
		{ "a '{b,c}'", "[a][{b,c}]" },
		{ "$ a$ $%", "[$][a$][$%]" },
		{ "x=$(a) b", "[a] ; x=[?][b]" },
	};

	HOLD(rows);
}

static void redirections_and_assignments(void)
{
	static const struct row rows[] = {
		{ "a > b", "[a]>[b]" },
		{ "a >> b 2>&1 < c", "[a]<[c]>>[b]" },
		{ "a 2>/dev/null", "[a]>[/dev/null]" },
		{ "> a", ">[a]" },
		{ "a >| b", "[a]>[b]" },
		{ "a <> b", "[a]>[b]" },
		{ "a &> b", "[a]>[b]" },
		{ "a >& b", "[a]>[b]" },
		{ "a >&2 <&- 3>&1", "[a]" },
		{ "a 2 > b", "[a][2]>[b]" },
		{ "a > b c", "[a][c]>[b]" },
		{ "X=1 Y='a b' c Z=2", "Y=[a b]X=[1][c][Z=2]" },
		{ "X=1", "X=[1]" },
		{ "X+=1 a", "X=[1][a]" },
		{ "X=(a b) c", "~[a][b] ; X=[?][c]" },
		{ "'X=1' a", "[X=1][a]" },
		{ "1X=1 a", "[1X=1][a]" },
		{ "a <<< 'b c'", "[a]<<[b c]" },
	};

	HOLD(rows);
}

static void here_documents(void)
{
	static const struct row rows[] = {
		{ "a <<E\nx $(b)\ny\nE\nc", "[a]<<[x $(b)\ny\n] ; [b] ; [c]" },
		{ "a <<'E'\nx $(b)\nE\nc", "[a]<<[x $(b)\n] ; [c]" },
		{ "a <<-E\n\tx\n\tE\nc", "[a]<<[\tx\n] ; [c]" },
		{ "a <<E <<F; b\n1\nE\n2\nF\nc", "[a]<<[2\n]<<[1\n] ; [b] ; [c]" },
		{ "a <<E\n E\nE", "[a]<<[ E\n]" },
		{ "a <<E | b\nx\nE", "[a]<<[x\n] ; [b]" },
		{ "a $(b <<E\nx\nE\n) c", "[b]<<[x\n] ; [a][?][c]" },
	};

	HOLD(rows);
}

/* Where a shell would complain, where two shells would differ, and unsupported syntax. */
static void unparsed_text_has_a_reason(void)
{
	static const char *const texts[] = { "a \"b",
					     "a 'b",
					     "a `b",
					     "a $(b",
					     "a ${b",
					     "a $((1)",
					     "(a",
					     "a)",
					     "{ a",
					     "}",
					     "if a",
					     "if a; then b",
					     "then",
					     "done",
					     "while a; b",
					     "for",
					     "for x in a; b",
					     "case x",
					     "case x in a b;; esac",
					     "; a",
					     "a ;; b",
					     "a && && b",
					     "| a",
					     "a | | b",
					     "&",
					     "a >",
					     "a > ;",
					     "a <<",
					     "a <<E",
					     "a <<E; b",
					     "a <<E\nx",
					     "a <<$E\nx\n$E",
					     "a (b)",
					     "a b()",
					     "coproc a",
					     "[[ a",
					     "a &> b c",
					     "$'a\\'b'",
					     "\"${a:-'}\"",
					     "a <<E\nx\\\nE",
					     "a <<E $(b\n)\nE",
					     "a <<E 'x\ny'\nE",
					     "\x02",
					     "$'\\0'",
					     "$((a # b))" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_free_ char *is = shown(texts[i], strlen(texts[i]));

		if (!is || !str_starts(is, "not read: "))
			printf("# %s -> %s\n", texts[i], is ? is : "");
		CHECK(is && str_starts(is, "not read: ") && strlen(is) > 12);
	}
}

static void limits_hold(void)
{
	static char text[SHELL_TEXT_MAX + 2];
	_cleanup_free_ char *long_one = NULL, *deep = NULL, *nul = NULL, *most = NULL;

	memset(text, 'a', sizeof(text));
	long_one = shown(text, SHELL_TEXT_MAX + 1);
	most = shown(text, SHELL_TEXT_MAX);
	memset(text, '(', sizeof(text));
	deep = shown(text, SHELL_TEXT_MAX);
	nul = shown("a\0b", 3);
	CHECK(str_eq(long_one, "not read: too long"));
	CHECK(most && most[0] == '[');
	CHECK(str_eq(deep, "not read: nested too deeply"));
	CHECK(str_eq(nul, "not read: NUL"));
}

/* Every kind of nesting ends at the limit, none is slow. */
static void nesting_of_every_kind_ends(void)
{
	static const char *const openers[] = { "(",   "{ ",	"$(",  "\"$(",	   "${a:-", "$((",
					       "if ", "while ", "<(",  "f() ",	   "! ",    "case x in a) ",
					       "`",   "a=(",	"[[ ", "x <<E $(", "{a,",   "eval " };
	static char text[SHELL_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
		size_t len = strlen(openers[i]), n = 0;

		for (; n + len <= sizeof(text); n += len)
			memcpy(text + n, openers[i], len);
		free(shown(text, n));
	}
	CHECK(true);
}

TAP_MAIN(T(lists_and_pipelines), T(compound_commands), T(quotes),
	 T(expansions_stay_unknown_and_what_runs_in_them_is_found), T(redirections_and_assignments),
	 T(here_documents), T(unparsed_text_has_a_reason), T(limits_hold), T(nesting_of_every_kind_ends))
