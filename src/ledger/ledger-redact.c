/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact.h"

#include <string.h>

#include "base/str.h"

/* clang-format off */
static const char *const flag_words[] = {
	"--password", "--passwd", "--passphrase", "--pass", "--token", "--secret", "--api-key", "--apikey",
	"--access-key", "--secret-key", "--access-token", "--auth-token", "--client-secret", "--private-key",
	"--oauth2-bearer", "--pin", NULL,
};
static const char *const login_words[] = { "-u", "--user", "--proxy-user", NULL }; /* NAME:PASSWORD */
static const char *const header_words[] = {
	"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token", "x-csrf-token",
	"x-vault-token", "private-token", "api-key", NULL,
};
/* Parts of a variable's or member's name that indicate a secret value. */
static const char *const name_parts[] = {
	"password", "passwd", "passphrase", "token", "secret", "api_key", "apikey", "api-key", "access_key",
	"private_key", "credential", NULL,
};
/* Prefixes of tokens of well-known services. */
static const char *const token_starts[] = {
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "xoxb-", "xoxp-", "xoxa-", "xoxs-",
	"xapp-", "sk-", "sk_live_", "rk_live_", "pk_live_", "whsec_", "AKIA", "ASIA", "AIza", "ya29.", "npm_",
	"pypi-", "hf_", "dop_v1_", "SG.", "shpat_", "sq0", "EAAC", "AGE-SECRET-KEY-", "hvs.", "kb1.", "eyJ", NULL,
};
/* Short options that take a password: -p VALUE, -pVALUE. */
static const struct short_flag {
	const char *program, *flag;
	bool attached; /* only so: the next word is something else */
} short_flags[] = {
	{ "mysql", "-p", true }, { "mysqldump", "-p", true }, { "mysqladmin", "-p", true }, { "mariadb", "-p", true },
	{ "mariadb-dump", "-p", true }, { "sshpass", "-p", false }, { "redis-cli", "-a", false },
	{ "openssl", "-k", false }, { NULL, NULL, false },
};
/* clang-format on */

#define TOKEN_MIN 16  /* minimal length of a token with a known prefix */
#define OPAQUE_MIN 32 /* minimal length of a random-looking string */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_token(char c)
{
	return is_name(c) || c == '-' || c == '.' || c == '+' || c == '=' || c == '~';
}

static size_t token_run(const char *p)
{
	size_t n = 0;

	while (is_token(p[n]))
		n++;
	return n;
}

/* The shell word at P, quotes included. */
static size_t word_run(const char *p)
{
	size_t n = 0;

	if (*p == '"' || *p == '\'') {
		const char *end = strchr(p + 1, *p);

		return end ? (size_t)(end + 1 - p) : strlen(p);
	}
	while (p[n] && !strchr(" \t\n\"'&;|)<>,", p[n]))
		n++;
	return n;
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Pointer after WORD if it is at P, else NULL. FOLD: ignore case. */
static const char *match_word(const char *p, const char *word, bool fold)
{
	for (; *word; word++, p++)
		if (fold ? lower(*p) != lower(*word) : *p != *word)
			return NULL;
	return p;
}

static const char *match_any(const char *p, const char *const *words, bool fold)
{
	for (; *words; words++) {
		const char *end = match_word(p, *words, fold);

		if (end)
			return end;
	}
	return NULL;
}

/* The longest wins: "--pass" must not hide "--password". */
static const char *match_list(const char *p, const char *const *own, char *const *more, bool fold)
{
	const char *best = NULL, *end;

	for (; *own; own++) {
		end = match_word(p, *own, fold);
		best = end && (!best || end > best) ? end : best;
	}
	for (; more && *more; more++) {
		end = match_word(p, *more, fold);
		best = end && (!best || end > best) ? end : best;
	}
	return best;
}

static size_t header_at(const char *p, const struct redact *rules, size_t *ret_keep)
{
	/* curl -HName:value */
	const char *name = str_starts(p, "-H") ? p + 2 : p;
	const char *end = match_list(name, header_words, rules ? rules->headers : NULL, true);

	if (!end)
		return 0;
	end += strspn(end, "\"'");
	end += strspn(end, " \t");
	if (*end != ':')
		return 0;
	end++;
	end += strspn(end, " \t");
	*ret_keep = (size_t)(end - p);
	return strcspn(end, "\r\n\"'");
}

static size_t flag_at(const char *p, const struct redact *rules, size_t *ret_keep)
{
	const char *end = match_list(p, flag_words, rules ? rules->flags : NULL, false);

	/* "--token" 'value' */
	end += end ? strspn(end, "\"'") : 0;
	if (!end || (*end != '=' && *end != ' ' && *end != '\t'))
		return 0;
	end += *end == '=' ? 1 : strspn(end, " \t");
	*ret_keep = (size_t)(end - p);
	return word_run(end);
}

/* Skips the name of "name:password", unless it is a pair of ids. */
static size_t login_value(const char *p, size_t *ret_keep)
{
	size_t len = word_run(p);
	const char *colon = memchr(p, ':', len);

	if (!colon || strspn(p, "0123456789:") == len)
		return 0;
	*ret_keep = (size_t)(colon + 1 - p);
	return len - *ret_keep;
}

static size_t login_at(const char *p, size_t *ret_keep)
{
	const char *end = match_list(p, login_words, NULL, false);
	size_t keep = 0, len;

	if (!end)
		return 0;
	/* -uname:password; what else begins so has no name before its colon, or is a URL. */
	if (*end == '=' || *end == ' ')
		end++;
	else if (!str_starts(p, "-u") || !is_name(*end) || str_starts(end + strcspn(end, ":"), "://"))
		return 0;
	len = login_value(end, &keep);
	*ret_keep = (size_t)(end - p) + keep;
	return len;
}

/* API_TOKEN=value, "client_secret":"value" */
static size_t named_at(const char *p, size_t *ret_keep)
{
	size_t len = 0, at;
	bool secret = false;

	while (is_name(p[len]) || p[len] == '-')
		len++;
	for (at = 0; at < len && !secret; at++)
		secret = match_any(p + at, name_parts, true) != NULL;
	if (!secret || len == 0)
		return 0;
	if (p[len] == '=') {
		*ret_keep = len + 1;
		return word_run(p + len + 1);
	}
	if (p[len] != '"' && p[len] != '\'')
		return 0;
	at = len + 1;
	at += strspn(p + at, " ");
	if (p[at] != ':')
		return 0;
	at++;
	at += strspn(p + at, " ");
	*ret_keep = at;
	return word_run(p + at);
}

/* openssl -passin pass:value */
static size_t pass_at(const char *p, size_t *ret_keep)
{
	if (!str_starts(p, "pass:"))
		return 0;
	*ret_keep = 5;
	return word_run(p + 5);
}

static const struct short_flag *program_at(const char *p)
{
	for (const struct short_flag *f = short_flags; f->program; f++) {
		const char *end = match_word(p, f->program, false);

		if (end && !is_token(*end))
			return f;
	}
	return NULL;
}

/* Behind the program F. */
static size_t short_at(const char *p, const struct short_flag *f, size_t *ret_keep)
{
	const char *end = f ? match_word(p, f->flag, false) : NULL;

	if (!end)
		return 0;
	if (!f->attached)
		end += strspn(end, " \t");
	*ret_keep = (size_t)(end - p);
	return word_run(end);
}

static size_t scheme_at(const char *p, size_t *ret_keep)
{
	static const char *const schemes[] = { "bearer ", "basic ", "token ", NULL };
	const char *end = match_any(p, schemes, true);
	size_t len;

	if (!end)
		return 0;
	len = strspn(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=");
	*ret_keep = (size_t)(end - p);
	return len >= 8 ? len : 0;
}

static size_t pem_at(const char *p)
{
	const char *head, *end;

	if (!str_starts(p, "-----BEGIN "))
		return 0;
	head = strstr(p + 11, "-----");
	if (!head || !memmem(p, (size_t)(head - p), "PRIVATE KEY", 11))
		return 0;
	end = strstr(head + 5, "-----END ");
	end = end ? strstr(end + 9, "-----") : NULL;
	return end ? (size_t)(end + 5 - p) : strlen(p);
}

/* A long string that mixes upper case, lower case and digits throughout is not a natural word. */
static bool is_opaque(const char *p, size_t len)
{
	size_t upper = 0, lower = 0, digit = 0;

	for (size_t i = 0; i < len; i++) {
		upper += p[i] >= 'A' && p[i] <= 'Z';
		lower += p[i] >= 'a' && p[i] <= 'z';
		digit += p[i] >= '0' && p[i] <= '9';
	}
	return len >= OPAQUE_MIN && upper >= 4 && lower >= 4 && digit >= 3;
}

static size_t token_at(const char *p)
{
	size_t len = token_run(p);

	if (len >= TOKEN_MIN && match_any(p, token_starts, false))
		return len;
	return is_opaque(p, len) ? len : 0;
}

/* The password of scheme://name:password@host, P at "://". */
static size_t url_at(const char *p, size_t *ret_keep)
{
	size_t len;
	const char *colon, *at;

	if (!str_starts(p, "://"))
		return 0;
	len = strcspn(p + 3, "/?# \t\n\"'");
	at = memrchr(p + 3, '@', len);
	colon = at ? memchr(p + 3, ':', (size_t)(at - p - 3)) : NULL;
	if (!colon)
		return 0;
	*ret_keep = (size_t)(colon + 1 - p);
	return (size_t)(at - colon - 1);
}

/* Length of the secret at P; the *RET_KEEP bytes before it stay. */
static size_t secret_at(const char *p, bool word_start, const struct redact *rules,
			const struct short_flag *program, size_t *ret_keep)
{
	size_t n;

	*ret_keep = 0;
	n = url_at(p, ret_keep);
	if (n > 0 || !word_start)
		return n;
	n = header_at(p, rules, ret_keep);
	n = n > 0 ? n : flag_at(p, rules, ret_keep);
	n = n > 0 ? n : login_at(p, ret_keep);
	n = n > 0 ? n : named_at(p, ret_keep);
	n = n > 0 ? n : pass_at(p, ret_keep);
	n = n > 0 ? n : short_at(p, program, ret_keep);
	n = n > 0 ? n : scheme_at(p, ret_keep);
	if (n > 0)
		return n;
	*ret_keep = 0;
	n = pem_at(p);
	return n > 0 ? n : token_at(p);
}

/* *PROGRAM: the last one so far whose short options take a password. */
static char *redact_word(const char *text, const struct redact *rules, const struct short_flag **program)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	const char *p = text, *kept = text;

	while (*p) {
		bool word_start = p == text || !is_token(p[-1]) || p[-1] == '=';
		size_t keep, n;

		if (!word_start && *p != ':') {
			p++;
			continue;
		}
		n = secret_at(p, word_start, rules, *program, &keep);
		if (n == 0) {
			if (word_start && program_at(p))
				*program = program_at(p);
			p++;
			continue;
		}
		strbuf_add(&out, kept, (size_t)(p + keep - kept));
		strbuf_puts(&out, REDACTED);
		p += keep + n;
		kept = p;
	}
	strbuf_add(&out, kept, (size_t)(p - kept));
	return strbuf_take(&out);
}

char *redact_text(const char *text, const struct redact *rules)
{
	const struct short_flag *program = NULL;

	return redact_word(text, rules, &program);
}

static bool is_one_of(const char *arg, const char *const *own, char *const *more)
{
	const char *end = match_list(arg, own, more, false);

	return end && *end == '\0';
}

/* "name:" and the placeholder for its password. */
static char *redact_login(const char *arg, size_t keep)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_add(&b, arg, keep);
	strbuf_puts(&b, REDACTED);
	return strbuf_take(&b);
}

char **redact_argv(char *const *argv, const struct redact *rules)
{
	/* One allocation: argv may have a hundred thousand words. */
	_cleanup_strv_ char **out = calloc(strv_len(argv) + 1, sizeof(*out));
	const struct short_flag *program = NULL;
	bool secret = false, login = false;

	for (size_t i = 0; out && argv[i]; i++) {
		size_t keep = 0;

		if (secret)
			out[i] = strdup(REDACTED);
		else if (login && login_value(argv[i], &keep) > 0)
			out[i] = redact_login(argv[i], keep);
		else
			out[i] = redact_word(argv[i], rules, &program);
		if (!out[i])
			return NULL;
		secret = !secret && (is_one_of(argv[i], flag_words, rules ? rules->flags : NULL) ||
				     (program && !program->attached && str_eq(argv[i], program->flag)));
		login = is_one_of(argv[i], login_words, NULL);
	}
	return TAKE_PTR(out);
}

void redact_document(struct jdoc *d, const struct redact *rules)
{
	char *text;

	if (!d)
		return;
	switch (d->type) {
	case JDOC_STRING:
		text = d->string ? redact_text(d->string, rules) : NULL;
		if (text) {
			free(d->string);
			d->string = text;
		} else {
			d->broken = true;
		}
		break;
	case JDOC_ARRAY:
		for (size_t i = 0; i < d->n_items; i++)
			redact_document(d->items[i], rules);
		break;
	case JDOC_OBJECT:
		for (size_t i = 0; i < d->n_members; i++)
			if (!str_eq(d->members[i].key, "b64"))
				redact_document(d->members[i].value, rules);
		break;
	case JDOC_NULL:
	case JDOC_BOOL:
	case JDOC_INT:
		break;
	}
}
