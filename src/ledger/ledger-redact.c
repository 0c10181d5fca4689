/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact.h"

#include <string.h>

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
static const struct short_flag {
	const char *program;
	char letter;
	bool attached; /* only so: the next word is something else */
	bool login;    /* NAME:PASSWORD */
} short_flags[] = {
	{ "mysql", 'p', true, false }, { "mysqldump", 'p', true, false }, { "mysqladmin", 'p', true, false },
	{ "mariadb", 'p', true, false }, { "mariadb-dump", 'p', true, false }, { "7z", 'p', true, false },
	{ "sshpass", 'p', false, false }, { "redis-cli", 'a', false, false }, { "openssl", 'k', false, false },
	{ "login", 'p', false, false }, { "mongo", 'p', false, false }, { "mongosh", 'p', false, false },
	{ "mongodump", 'p', false, false }, { "zip", 'P', false, false }, { "unzip", 'P', false, false },
	{ "ldapsearch", 'w', false, false }, { "ldapadd", 'w', false, false }, { "ldapmodify", 'w', false, false },
	{ "ldapdelete", 'w', false, false }, { "ldapwhoami", 'w', false, false }, { "curl", 'u', false, true },
	{ "curl", 'U', false, true }, { "smbclient", 'U', false, true }, { NULL, '\0', false, false },
};
/* Programs whose arguments are shell text, as the word after -c of a shell is. */
static const char *const shell_words[] = { "ssh", "eval", "su", "runuser", "watch", "parallel", NULL };
/* clang-format on */

#define TOKEN_MIN 16  /* minimal length of a token with a known prefix */
#define OPAQUE_MIN 32 /* minimal length of a random-looking string */
#define REPLACE_MIN 6 /* minimal length of a word that is replaced inside of others */

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

/* Where a secret may be. */
struct place {
	const char *p;
	bool whole; /* P is a word of an argv: its value ends with it */
	char open;  /* the quote in which P stands */
	bool first; /* P is right behind it */
	const struct redact *rules;
	const char *program; /* the last one so far whose short options take a password; NULL: none */
};

/* The value AT of an option or a header at W: the rest of its word. */
static size_t rest_run(const struct place *w, const char *at)
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

static size_t header_at(const struct place *w, size_t *ret_keep)
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

/* Behind the option at P: --token, -password, and those of the site.  NULL: none of them. */
static const char *skip_flag(const char *p, const struct redact *rules)
{
	const char *end = match_list(p, flag_words, rules ? rules->flags : NULL, false);
	size_t len = 0;

	if (end && !is_name(*end) && *end != '-')
		return end;
	while (p[0] == '-' && (is_name(p[len]) || p[len] == '-'))
		len++;
	return len > 4 && redact_option_is_secret(p, len) ? p + len : NULL;
}

static size_t flag_at(const struct place *w, size_t *ret_keep)
{
	const char *end = skip_flag(w->p, w->rules);
	bool quoted;

	/* "--token" 'value' */
	quoted = end && w->open && *end == w->open;
	end += quoted;
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

/* Skips the name of "name:password", or smbclient's "name%password", unless it is a pair of ids. */
static size_t login_value(const char *p, size_t len, size_t *ret_keep)
{
	const char *colon = memchr(p, ':', len);

	if (!colon)
		colon = memchr(p, '%', len);
	if (!colon || strspn(p, "0123456789:") == len)
		return 0;
	*ret_keep = (size_t)(colon + 1 - p);
	return len - *ret_keep;
}

static size_t login_at(const struct place *w, size_t *ret_keep)
{
	const char *end = match_list(w->p, login_words, NULL, false);
	size_t keep = 0, len;

	if (!end)
		return 0;
	/* -uname:password; what else begins so has no name before its colon, or is a URL. */
	if (*end == '=' || *end == ' ')
		end++;
	else if (!str_starts(w->p, "-u") || !is_name(*end) || str_starts(end + strcspn(end, ":"), "://"))
		return 0;
	len = login_value(end, w->whole ? strlen(end) : redact_word_run(end, w->open, false), &keep);
	*ret_keep = (size_t)(end - w->p) + keep;
	return len;
}

/* API_TOKEN=value, "client_secret":"value", password: value */
static size_t named_at(const struct place *w, size_t *ret_keep)
{
	const char *p = w->p;
	size_t len = 0, at;

	while (is_name(p[len]) || p[len] == '-')
		len++;
	if (len == 0 || !redact_name_is_secret(p, len))
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
static size_t pass_at(const struct place *w, size_t *ret_keep)
{
	if (!str_starts(w->p, "pass:"))
		return 0;
	*ret_keep = 5;
	return rest_run(w, w->p + 5);
}

static const char *program_at(const char *p)
{
	for (const struct short_flag *f = short_flags; f->program; f++) {
		const char *end = match_word(p, f->program, false);

		if (end && !is_token(*end))
			return f->program;
	}
	return NULL;
}

/* The short option of PROGRAM whose value follows the cluster of letters at P, which has LEN bytes with its dash. */
static const struct short_flag *find_short(const char *program, const char *p, size_t len)
{
	for (const struct short_flag *f = short_flags; program && len > 1 && f->program; f++)
		if (str_eq(f->program, program) && p[len - 1] == f->letter)
			return f;
	return NULL;
}

static size_t cluster_run(const char *p)
{
	size_t n = 1;

	if (*p != '-' || p[1] == '-')
		return 0;
	while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z'))
		n++;
	return n;
}

/* Behind a program of the table: -p value, -pvalue, -vp value. */
static size_t short_at(const struct place *w, size_t *ret_keep)
{
	const struct short_flag *f = find_short(w->program, w->p, cluster_run(w->p));
	const char *end = w->p + cluster_run(w->p);
	size_t keep = 0, len;

	if (f && !f->attached && (*end == ' ' || *end == '\t')) {
		end += strspn(end, " \t");
	} else {
		f = w->p[0] == '-' && w->p[1] ? find_short(w->program, w->p, 2) : NULL;
		end = w->p + 2;
	}
	if (!f || !*end)
		return 0;
	len = w->whole ? strlen(end) : redact_word_run(end, w->open, false);
	if (f->login)
		len = login_value(end, len, &keep);
	*ret_keep = (size_t)(end - w->p) + keep;
	return len;
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

/* Length of the secret at W; the *RET_KEEP bytes before it stay. */
static size_t secret_at(const struct place *w, bool word_start, size_t *ret_keep)
{
	size_t n;

	*ret_keep = 0;
	n = url_at(w->p, ret_keep);
	if (n > 0 || !word_start)
		return n;
	n = header_at(w, ret_keep);
	n = n > 0 ? n : flag_at(w, ret_keep);
	n = n > 0 ? n : login_at(w, ret_keep);
	n = n > 0 ? n : named_at(w, ret_keep);
	n = n > 0 ? n : pass_at(w, ret_keep);
	n = n > 0 ? n : short_at(w, ret_keep);
	n = n > 0 ? n : scheme_at(w->p, ret_keep);
	if (n > 0)
		return n;
	*ret_keep = 0;
	n = pem_at(w->p);
	return n > 0 ? n : token_at(w->p);
}

/* *PROGRAM: the last one so far whose short options take a password. */
static char *redact_shell(const char *text, const struct redact *rules, const char **program)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	const char *p = text, *kept = text;
	struct redact_quote quote = { 0 };

	while (*p) {
		bool word_start = p == text || !is_token(p[-1]) || p[-1] == '=';
		const struct place w = { .p = p,
					 .open = quote.open,
					 .first = p > text && quote.open && p[-1] == quote.open,
					 .rules = rules,
					 .program = *program };
		size_t keep, n = 0;

		if (word_start || *p == ':')
			n = secret_at(&w, word_start, &keep);
		if (n == 0) {
			if (word_start && program_at(p))
				*program = program_at(p);
			redact_quote_feed(&quote, *p++);
			continue;
		}
		strbuf_add(&out, kept, (size_t)(p + keep - kept));
		strbuf_puts(&out, REDACTED);
		for (n += keep; n > 0; n--)
			redact_quote_feed(&quote, *p++);
		kept = p;
	}
	strbuf_add(&out, kept, (size_t)(p - kept));
	return strbuf_take(&out);
}

char *redact_text(const char *text, const struct redact *rules)
{
	const char *program = NULL;

	return redact_shell(text, rules, &program);
}

/* The first KEEP bytes of ARG and the placeholder. */
static char *cut(const char *arg, size_t keep)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_add(&b, arg, keep);
	strbuf_puts(&b, REDACTED);
	return strbuf_take(&b);
}

/* A word that begins like an option, an assignment or a header with a secret is one to its end. */
static char *redact_arg(const char *arg, const struct redact *rules, const char **program)
{
	const struct place w = { .p = arg, .whole = true, .rules = rules, .program = *program };
	size_t keep = 0, n = header_at(&w, &keep);

	/* "--flag value" in one word is text. */
	if (n == 0 && skip_flag(arg, rules) && *skip_flag(arg, rules) == '=')
		n = flag_at(&w, &keep);
	n = n > 0 ? n : login_at(&w, &keep);
	n = n > 0 ? n : named_at(&w, &keep);
	n = n > 0 ? n : pass_at(&w, &keep);
	n = n > 0 ? n : short_at(&w, &keep);
	return n > 0 ? cut(arg, keep) : redact_shell(arg, rules, program);
}

/* What the words before one tell of it. */
struct argv_state {
	const char *program;
	bool secret, login; /* it is the value of an option */
	bool code;	    /* it is shell text */
	bool remote;	    /* so are all words that follow */
};

static void note_word(struct argv_state *s, const char *arg, const struct redact *rules)
{
	const size_t len = cluster_run(arg);
	const struct short_flag *f = arg[len] ? NULL : find_short(s->program, arg, len);
	const char *flag = skip_flag(arg, rules), *slash = strrchr(arg, '/');
	bool was_secret = s->secret;

	s->secret = !was_secret && ((flag && !*flag) || (f && !f->attached && !f->login));
	s->login = (f && f->login) || strcmp(arg, "-u") == 0 || strcmp(arg, "--user") == 0 ||
		   strcmp(arg, "--proxy-user") == 0;
	s->code = len > 1 && !arg[len] && arg[len - 1] == 'c';
	for (const char *const *w = shell_words; *w; w++)
		s->remote = s->remote || strcmp(slash ? slash + 1 : arg, *w) == 0;
}

char **redact_argv(char *const *argv, const struct redact *rules)
{
	/* One allocation: argv may have a hundred thousand words. */
	_cleanup_strv_ char **out = calloc(strv_len(argv) + 1, sizeof(*out));
	struct argv_state s = { 0 };

	for (size_t i = 0; out && argv[i]; i++) {
		size_t keep = 0;

		if (s.secret)
			out[i] = strdup(REDACTED);
		else if (s.login && login_value(argv[i], strlen(argv[i]), &keep) > 0)
			out[i] = cut(argv[i], keep);
		else if (s.code || s.remote)
			out[i] = redact_shell(argv[i], rules, &s.program);
		else
			out[i] = redact_arg(argv[i], rules, &s.program);
		if (!out[i])
			return NULL;
		note_word(&s, argv[i], rules);
	}
	return TAKE_PTR(out);
}

/* Appends TEXT with each WORD in it replaced by SHOWN.  A short word only in quotes: it may be a part of others. */
static char *replace_word(const char *text, const char *word, const char *shown)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const size_t len = strlen(word);
	const char *hit;

	for (const char *from = text; (hit = strstr(from, word)); text = from = hit + len) {
		bool quoted = hit > text && hit[-1] == '\'' && hit[len] == '\'';

		strbuf_add(&b, text, (size_t)(hit - text));
		strbuf_puts(&b, quoted || len >= REPLACE_MIN ? shown : word);
	}
	strbuf_puts(&b, text);
	return strbuf_take(&b);
}

char *redact_message(const char *text, char *const *argv, const struct redact *rules)
{
	_cleanup_strv_ char **shown = argv ? redact_argv(argv, rules) : NULL;
	_cleanup_free_ char *now = strdup(text);

	if (!now || (argv && !shown))
		return NULL;
	for (size_t i = 0; shown && argv[i] && now; i++) {
		char *next;

		if (!*argv[i] || str_eq(argv[i], shown[i]))
			continue;
		next = replace_word(now, argv[i], shown[i]);
		free(now);
		now = next;
	}
	return now ? redact_text(now, rules) : NULL;
}

void redact_document(struct jdoc *d, char *const *argv, const struct redact *rules)
{
	char *text;

	if (!d)
		return;
	switch (d->type) {
	case JDOC_STRING:
		text = d->string ? redact_message(d->string, argv, rules) : NULL;
		if (text) {
			free(d->string);
			d->string = text;
		} else {
			d->broken = true;
		}
		break;
	case JDOC_ARRAY:
		for (size_t i = 0; i < d->n_items; i++)
			redact_document(d->items[i], argv, rules);
		break;
	case JDOC_OBJECT:
		for (size_t i = 0; i < d->n_members; i++)
			if (!str_eq(d->members[i].key, "b64"))
				redact_document(d->members[i].value, argv, rules);
		break;
	case JDOC_NULL:
	case JDOC_BOOL:
	case JDOC_INT:
		break;
	}
}
