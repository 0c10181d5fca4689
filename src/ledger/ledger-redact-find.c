/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact-find.h"

#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "ledger/ledger-redact-word.h"

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
/* Prefixes of tokens of well-known services. */
static const char *const token_starts[] = {
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "xoxb-", "xoxp-", "xoxa-", "xoxs-",
	"xapp-", "sk-", "sk_live_", "rk_live_", "pk_live_", "whsec_", "AKIA", "ASIA", "AIza", "ya29.", "npm_",
	"pypi-", "hf_", "dop_v1_", "SG.", "shpat_", "sq0", "EAAC", "AGE-SECRET-KEY-", "hvs.", "kb1.", "eyJ", NULL,
};
/* Short options that take a password: -p VALUE, -pVALUE, and -vp VALUE among others. */
static const struct redact_short short_flags[] = {
	{ "mysql", 'p', true, false }, { "mysqldump", 'p', true, false }, { "mysqladmin", 'p', true, false },
	{ "mariadb", 'p', true, false }, { "mariadb-dump", 'p', true, false }, { "7z", 'p', true, false },
	{ "sshpass", 'p', false, false }, { "redis-cli", 'a', false, false }, { "openssl", 'k', false, false },
	{ "login", 'p', false, false }, { "mongo", 'p', false, false }, { "mongosh", 'p', false, false },
	{ "mongodump", 'p', false, false }, { "zip", 'P', false, false }, { "unzip", 'P', false, false },
	{ "ldapsearch", 'w', false, false }, { "ldapadd", 'w', false, false }, { "ldapmodify", 'w', false, false },
	{ "ldapdelete", 'w', false, false }, { "ldapwhoami", 'w', false, false }, { "curl", 'u', false, true },
	{ "curl", 'U', false, true }, { "smbclient", 'U', false, true }, { NULL, '\0', false, false },
};
/* clang-format on */

#define TOKEN_MIN 16  /* minimal length of a token with a known prefix */
#define OPAQUE_MIN 32 /* minimal length of a random-looking string */

static size_t token_run(const char *p)
{
	size_t n = 0;

	while (redact_is_token(p[n]))
		n++;
	return n;
}

/* The value AT of an option or a header at W: the rest of its word. */
static size_t rest_run(const struct redact_place *w, const char *at)
{
	return w->whole ? strlen(at) : redact_word_run(at, w->open, w->first && w->open);
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

static size_t header_at(const struct redact_place *w, size_t *ret_keep)
{
	/* curl -HName:value */
	const char *name = str_starts(w->p, "-H") ? w->p + 2 : w->p;
	const char *end = match_list(name, header_words, w->rules ? w->rules->headers : NULL, true);

	if (!end)
		return 0;
	end += strspn(end, "\"'");
	end += strspn(end, " \t");
	if (*end != ':')
		return 0;
	end++;
	end += strspn(end, " \t");
	*ret_keep = (size_t)(end - w->p);
	if (w->whole)
		return strlen(end);
	return w->open && w->first ? redact_word_run(end, w->open, true) : strcspn(end, "\r\n\"'");
}

const char *redact_skip_flag(const char *p, const struct redact *rules)
{
	static const char *const none[] = { NULL };
	const char *end = match_list(p, *p == '-' ? flag_words : none, rules ? rules->flags : NULL, false);
	size_t len = 0;

	if (end && !redact_is_name(*end) && *end != '-')
		return end;
	while (p[0] == '-' && (redact_is_name(p[len]) || p[len] == '-'))
		len++;
	return len > 4 && redact_option_is_secret(p, len) ? p + len : NULL;
}

static size_t flag_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *end = redact_skip_flag(w->p, w->rules);
	bool quoted;

	/* "--token" 'value' */
	quoted = end && w->open && *end == w->open;
	if (quoted)
		end++;
	if (!end || (*end != '=' && *end != ' ' && *end != '\t'))
		return 0;
	if (*end == '=') {
		end++;
		*ret_keep = (size_t)(end - w->p);
		return rest_run(w, end);
	}
	/* A word that has both is text. */
	end += strspn(end, " \t\\\n");
	*ret_keep = (size_t)(end - w->p);
	return redact_word_run(end, quoted ? '\0' : w->open, false);
}

size_t redact_login_run(const char *p, size_t len, size_t *ret_keep)
{
	const char *colon = memchr(p, ':', len);

	if (!colon)
		colon = memchr(p, '%', len);
	if (!colon || strspn(p, "0123456789:") == len)
		return 0;
	*ret_keep = (size_t)(colon + 1 - p);
	return len - *ret_keep;
}

static size_t login_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *end = match_list(w->p, login_words, NULL, false);
	size_t keep = 0, len;

	if (!end)
		return 0;
	/* -uname:password; what else begins so has no name before its colon, or is a URL. */
	if (*end == '=' || *end == ' ')
		end++;
	else if (!str_starts(w->p, "-u") || !redact_is_name(*end) ||
		 str_starts(end + strcspn(end, ":"), "://"))
		return 0;
	len = redact_login_run(end, w->whole ? strlen(end) : redact_word_run(end, w->open, false), &keep);
	*ret_keep = (size_t)(end - w->p) + keep;
	return len;
}

/* API_TOKEN=value, "client_secret":"value", password: value */
static size_t named_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *p = w->p;
	size_t len = 0, at;

	while (redact_is_name(p[len]) || p[len] == '-')
		len++;
	/* The cheap test first: every word of every record comes here, and few are names of values. */
	if (p[len] != '=' && p[len] != ':' && p[len] != '"' && p[len] != '\'')
		return 0;
	if (len == 0 || !redact_name_is_secret(p, len))
		return 0;
	/* An approver reads which program or file it is. */
	if (w->rules && w->rules->plain && redact_name_is_harmless(p, len))
		return 0;
	if (p[len] == '=') {
		*ret_keep = len + 1;
		return w->whole ? strlen(p + len + 1) : redact_word_run(p + len + 1, w->open, false);
	}
	at = len + (p[len] == '"' || p[len] == '\'');
	at += at > len ? strspn(p + at, " ") : 0;
	if (p[at] != ':' || (at == len && p[at + 1] != ' '))
		return 0;
	at++;
	at += strspn(p + at, " ");
	*ret_keep = at;
	return at > len && (p[len] == '"' || p[len] == '\'') ? redact_json_run(p + at) : rest_run(w, p + at);
}

/* openssl -passin pass:value */
static size_t pass_at(const struct redact_place *w, size_t *ret_keep)
{
	if (!str_starts(w->p, "pass:"))
		return 0;
	*ret_keep = 5;
	return rest_run(w, w->p + 5);
}

const char *redact_program_at(const char *p)
{
	for (const struct redact_short *f = short_flags; f->program; f++) {
		const char *end = match_word(p, f->program, false);

		if (end && !redact_is_token(*end))
			return f->program;
	}
	return NULL;
}

const struct redact_short *redact_short_find(const char *program, const char *p, size_t len)
{
	for (const struct redact_short *f = short_flags; program && len > 1 && f->program; f++)
		if (str_eq(f->program, program) && p[len - 1] == f->letter)
			return f;
	return NULL;
}

size_t redact_cluster_run(const char *p)
{
	size_t n = 1;

	if (*p != '-' || p[1] == '-')
		return 0;
	while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z'))
		n++;
	return n;
}

/* Behind a program of the table: -p value, -pvalue, -vp value. */
static size_t short_at(const struct redact_place *w, size_t *ret_keep)
{
	const struct redact_short *f = redact_short_find(w->program, w->p, redact_cluster_run(w->p));
	const char *end = w->p + redact_cluster_run(w->p);
	size_t keep = 0, len;

	if (f && !f->attached && (*end == ' ' || *end == '\t')) {
		end += strspn(end, " \t");
	} else {
		f = w->p[0] == '-' && w->p[1] ? redact_short_find(w->program, w->p, 2) : NULL;
		end = w->p + 2;
	}
	if (!f || !*end)
		return 0;
	len = w->whole ? strlen(end) : redact_word_run(end, w->open, false);
	if (f->login)
		len = redact_login_run(end, len, &keep);
	*ret_keep = (size_t)(end - w->p) + keep;
	return len;
}

static size_t scheme_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *p = w->p;
	static const char *const schemes[] = { "bearer ", "basic ", "token ", NULL };
	const char *end = match_any(p, schemes, true);
	size_t len;

	if (!end)
		return 0;
	len = strspn(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=");
	*ret_keep = (size_t)(end - p);
	return len >= 8 ? len : 0;
}

static size_t pem_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *p = w->p;
	const char *head, *end;

	*ret_keep = 0;
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

	if (len < OPAQUE_MIN)
		return false;
	for (size_t i = 0; i < len; i++) {
		upper += p[i] >= 'A' && p[i] <= 'Z';
		lower += p[i] >= 'a' && p[i] <= 'z';
		digit += p[i] >= '0' && p[i] <= '9';
	}
	return upper >= 4 && lower >= 4 && digit >= 3;
}

static size_t token_at(const struct redact_place *w, size_t *ret_keep)
{
	size_t len = token_run(w->p);

	*ret_keep = 0;
	/* An approver reads which program it is. */
	if (w->code && w->rules && w->rules->plain && redact_is_command(w->text, w->p))
		return 0;
	if (len >= TOKEN_MIN && match_any(w->p, token_starts, false))
		return len;
	return is_opaque(w->p, len) ? len : 0;
}

/* The password of scheme://name:password@host, P at "://". */
static size_t url_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *p = w->p;
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

/* "--flag value" in one word of an argv is text. */
static size_t flag_word_at(const struct redact_place *w, size_t *ret_keep)
{
	const char *end = redact_skip_flag(w->p, w->rules);

	return end && *end == '=' ? flag_at(w, ret_keep) : 0;
}

/* The kinds of secrets: each returns the length of a value behind the *RET_KEEP bytes of W that stay, 0: none. */
typedef size_t kind_at(const struct redact_place *w, size_t *ret_keep);

/* clang-format off */
static kind_at *const text_kinds[] = {
	header_at, flag_at, login_at, named_at, pass_at, short_at, scheme_at, pem_at, token_at,
};
static kind_at *const word_kinds[] = { header_at, flag_word_at, login_at, named_at, pass_at, short_at };
/* clang-format on */

/* May the value be replaced?  Of a quoted one, the quotes stay. */
static size_t admit(const struct redact_place *w, size_t n, size_t *keep)
{
	const char *value = w->p + *keep;

	if (n == 0 || (w->marked && redact_marker_run(value) > 0))
		return 0;
	if (!w->rules || !w->rules->plain)
		return n;
	if (n > 2 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0]) {
		value++;
		(*keep)++;
		n -= 2;
	}
	return redact_is_plain(value, n) && !redact_is_file(w->rules, w->text, value, n) ? n : 0;
}

static size_t first_of(kind_at *const *kinds, size_t n_kinds, const struct redact_place *w, size_t *ret_keep)
{
	for (size_t i = 0; i < n_kinds; i++) {
		size_t n;

		*ret_keep = 0;
		n = kinds[i](w, ret_keep);
		n = admit(w, n, ret_keep);
		if (n > 0)
			return n;
	}
	return 0;
}

size_t redact_find(const struct redact_place *w, bool word_start, size_t *ret_keep)
{
	static kind_at *const url[] = { url_at };
	size_t n = first_of(url, ARRAY_SIZE(url), w, ret_keep);

	return n > 0 || !word_start ? n : first_of(text_kinds, ARRAY_SIZE(text_kinds), w, ret_keep);
}

size_t redact_find_word(const struct redact_place *w, size_t *ret_keep)
{
	return first_of(word_kinds, ARRAY_SIZE(word_kinds), w, ret_keep);
}
