/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/str.h"
#include "ledger/ledger-redact-find.h"
#include "ledger/ledger-redact-impl.h"
#include "ledger/ledger-redact-word.h"

#define MARKER "[redacted"
#define MARK_DIGITS 8
#define DOMAIN_VALUE "custody.redact/1"
#define DOMAIN_WORD "custody.argv/1"

/* Programs whose arguments are shell text, as the word after -c of a shell is. */
static const char *const shell_words[] = { "ssh", "eval", "su", "runuser", "watch", "parallel", NULL };

/* One pass over words or a text. */
struct pass {
	const struct redact *rules;
	bool marked;	     /* placeholders in the input are custody's own */
	const char *program; /* the last one so far whose short options take a password */
	bool code;	     /* the text is shell text */
	char ***values;	     /* collects the values that were replaced; NULL: not needed */
	bool failed;	     /* to collect one */
};

/* Neither part contains a NUL: the encoding is unambiguous. */
static int sign(const struct redact *rules, const char *domain, const char *text, size_t len,
		struct digest *ret)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_add(&t, domain, strlen(domain) + 1);
	strbuf_add(&t, text, len);
	if (t.broken)
		return -ENOMEM;
	digest_hmac(rules->key, REDACT_KEY_SIZE, t.text, t.len, ret);
	return 0;
}

int redact_sign_word(const struct redact *rules, const char *word, struct digest *ret)
{
	return sign(rules, DOMAIN_WORD, word, strlen(word), ret);
}

/* Of ", 51 bytes" or " 1a2b3c4d, 51 bytes". */
static size_t mark_run(const char *p, size_t *ret_bytes)
{
	size_t n = 1 + MARK_DIGITS, digits;

	if (p[0] != ' ' || strspn(p + 1, "0123456789abcdef") != MARK_DIGITS || !str_starts(p + n, ", "))
		return 0;
	n += 2;
	digits = strspn(p + n, "0123456789");
	*ret_bytes = 0;
	for (size_t i = 0; i < digits && i < 9; i++)
		*ret_bytes = *ret_bytes * 10 + (size_t)(p[n + i] - '0');
	n += digits;
	return digits > 0 && str_starts(p + n, " bytes") ? n + strlen(" bytes") : 0;
}

/* RET_BYTES: of the value that it stands for; 0: it does not say. */
static size_t marker_run(const char *p, size_t *ret_bytes)
{
	size_t n = strlen(MARKER);

	*ret_bytes = 0;
	if (!str_starts(p, MARKER))
		return 0;
	n += mark_run(p + n, ret_bytes);
	return p[n] == ']' ? n + 1 : 0;
}

size_t redact_marker_run(const char *p)
{
	size_t bytes;

	return marker_run(p, &bytes);
}

/* A placeholder that the caller typed is replaced as well, so that no word can pretend to be redacted. */
static bool has_mark(const struct redact *rules, const char *value, size_t len)
{
	return rules && rules->key && (redact_is_plain(value, len) || redact_marker_run(value) == len);
}

void redact_put_marker(struct strbuf *b, const struct redact *rules, const char *value, size_t len)
{
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	if (!has_mark(rules, value, len)) {
		strbuf_puts(b, REDACTED);
		return;
	}
	if (sign(rules, DOMAIN_VALUE, value, len, &d) < 0) {
		b->broken = true;
		return;
	}
	digest_to_hex(&d, hex);
	strbuf_printf(b, MARKER " %.*s, %zu bytes]", MARK_DIGITS, hex, len);
}

static void replace(struct pass *s, struct strbuf *b, const char *value, size_t len)
{
	_cleanup_free_ char *copy = s->values ? strndup(value, len) : NULL;

	redact_put_marker(b, s->rules, value, len);
	if (s->values && (!copy || strv_append(s->values, copy) < 0))
		s->failed = true;
}

bool redact_shows(const struct redact *rules, const char *word, const char *shown)
{
	while (*shown) {
		_cleanup_strbuf_ struct strbuf b = { 0 };
		size_t bytes, n = marker_run(shown, &bytes);

		if (n == 0 && (*word != *shown || redact_marker_run(word) > 0))
			return false;
		if (n == 0) {
			word++;
			shown++;
			continue;
		}
		if (strnlen(word, bytes) < bytes || !has_mark(rules, word, bytes))
			return false;
		redact_put_marker(&b, rules, word, bytes);
		if (b.broken || b.len != n || memcmp(b.text, shown, n) != 0)
			return false;
		word += bytes;
		shown += n;
	}
	return !*word;
}

static char *redact_shell(const char *text, struct pass *s)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	const char *p = text, *kept = text, *program;
	struct redact_quote quote = { 0 };

	while (*p) {
		bool word_start = p == text || !redact_is_token(p[-1]) || p[-1] == '=';
		const struct redact_place w = { .p = p,
						.text = text,
						.code = s->code,
						.marked = s->marked,
						.open = quote.open,
						.first = p > text && quote.open && p[-1] == quote.open,
						.rules = s->rules,
						.program = s->program };
		size_t keep = 0, n = *p == '[' ? redact_marker_run(p) : 0;

		if (n > 0 && s->marked) {
			p += n;
			continue;
		}
		if (n == 0 && (word_start || *p == ':'))
			n = redact_find(&w, word_start, &keep);
		if (n == 0) {
			program = word_start ? redact_program_at(p) : NULL;
			s->program = program ? program : s->program;
			redact_quote_feed(&quote, *p++);
			continue;
		}
		strbuf_add(&out, kept, (size_t)(p + keep - kept));
		replace(s, &out, p + keep, n);
		for (n += keep; n > 0; n--)
			redact_quote_feed(&quote, *p++);
		kept = p;
	}
	strbuf_add(&out, kept, (size_t)(p - kept));
	return strbuf_take(&out);
}

char *redact_text(const char *text, const struct redact *rules)
{
	struct pass s = { .rules = rules, .marked = true };
	_cleanup_free_ char *masked = NULL;

	if (!redact_has_secrets(rules))
		return redact_shell(text, &s);
	masked = redact_mask(text, rules);
	return masked ? redact_shell(masked, &s) : NULL;
}

/* The first KEEP bytes of ARG, a placeholder for the next LEN, and the rest. */
static char *cut(const char *arg, size_t keep, size_t len, struct pass *s)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_add(&b, arg, keep);
	replace(s, &b, arg + keep, len);
	strbuf_puts(&b, arg + keep + len);
	return strbuf_take(&b);
}

/* A word that begins like an option, an assignment or a header with a secret is one to its end. */
static char *redact_arg(const char *arg, struct pass *s)
{
	const struct redact_place w = { .p = arg,
					.text = arg,
					.whole = true,
					.marked = s->marked,
					.rules = s->rules,
					.program = s->program };
	size_t keep, n = redact_find_word(&w, &keep);

	return n > 0 ? cut(arg, keep, n, s) : redact_shell(arg, s);
}

/* What the words before one tell of it. */
struct argv_state {
	bool secret, login; /* it is the value of an option */
	bool code;	    /* it is shell text */
	bool remote;	    /* so are all words that follow */
};

static void note_word(struct argv_state *s, const char *arg, const struct pass *pass)
{
	const size_t len = redact_cluster_run(arg);
	const struct redact_short *f = arg[len] ? NULL : redact_short_find(pass->program, arg, len);
	const char *flag = redact_skip_flag(arg, pass->rules), *slash = strrchr(arg, '/');
	bool was_secret = s->secret;

	s->secret = !was_secret && ((flag && !*flag) || (f && !f->attached && !f->login));
	s->login = (f && f->login) || strcmp(arg, "-u") == 0 || strcmp(arg, "--user") == 0 ||
		   strcmp(arg, "--proxy-user") == 0;
	s->code = len > 1 && !arg[len] && arg[len - 1] == 'c';
	for (const char *const *w = shell_words; *w; w++)
		s->remote = s->remote || strcmp(slash ? slash + 1 : arg, *w) == 0;
}

/*
 * ARG is the value of the option before it: how much of it is replaced?  Where only plain values are, a word with a dash is
 * shown: it may be an option of its own.
 */
static size_t value_run(const char *arg, const struct argv_state *s, const struct pass *pass,
			size_t *ret_keep)
{
	bool plain = pass->rules && pass->rules->plain;
	size_t n = 0;

	*ret_keep = 0;
	if (pass->marked && redact_marker_run(arg) > 0)
		return 0;
	if (s->secret)
		n = strlen(arg);
	else if (s->login)
		n = redact_login_run(arg, strlen(arg), ret_keep);
	if (!plain)
		return n;
	return arg[0] == '-' || !redact_is_plain(arg + *ret_keep, n) ||
			       redact_is_file(pass->rules, arg, arg + *ret_keep, n)
		       ? 0
		       : n;
}

static char *redact_next(const char *arg, const struct argv_state *s, struct pass *pass)
{
	size_t keep, n = value_run(arg, s, pass, &keep);

	if (n > 0 || (s->secret && !*arg))
		return cut(arg, keep, n, pass);
	pass->code = s->code || s->remote;
	return pass->code ? redact_shell(arg, pass) : redact_arg(arg, pass);
}

static char **redact_words(char *const *argv, struct pass *pass)
{
	/* One allocation: argv may have a hundred thousand words. */
	_cleanup_strv_ char **out = calloc(strv_len(argv) + 1, sizeof(*out));
	bool plain = pass->rules && pass->rules->plain;
	struct argv_state s = { 0 };

	for (size_t i = 0; out && argv[i]; i++) {
		_cleanup_free_ char *masked =
			redact_has_secrets(pass->rules) ? redact_mask(argv[i], pass->rules) : NULL;
		const char *arg = redact_has_secrets(pass->rules) ? masked : argv[i];

		/* The program that runs is always shown to an approver. */
		out[i] = arg ? redact_next(arg, &s, pass) : NULL;
		if (out[i] && i == 0 && plain) {
			free(out[i]);
			out[i] = strdup(argv[i]);
		}
		if (!out[i] || pass->failed)
			return NULL;
		note_word(&s, argv[i], pass);
	}
	return TAKE_PTR(out);
}

char **redact_argv_values(char *const *argv, const struct redact *rules, char ***values)
{
	struct pass pass = { .rules = rules, .marked = rules && rules->marked, .values = values };

	return redact_words(argv, &pass);
}

char **redact_argv(char *const *argv, const struct redact *rules)
{
	return redact_argv_values(argv, rules, NULL);
}
