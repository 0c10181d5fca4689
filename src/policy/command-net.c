/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-judge.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

/* --- hosts --------------------------------------------------------------------------------------------------- */

bool command_host_matches(const char *host, size_t len, const char *pattern)
{
	size_t want = strlen(pattern);

	if (len > 0 && host[len - 1] == '.')
		len--;
	if (want == 0 || len < want || strncasecmp(host + (len - want), pattern, want) != 0)
		return false;
	return len == want || host[len - want - 1] == '.';
}

/* Only what is a plain name or number: anything else in a host's place is somebody's trick. */
static bool is_plain_host(const char *host, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = host[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '-'))
			return false;
	}
	return len > 0 && len < 254;
}

static bool is_loopback(const char *host, size_t len)
{
	if (command_host_matches(host, len, "localhost"))
		return true;
	if (len >= 9 && strncmp(host, "127.", 4) == 0) {
		unsigned int dots = 0;

		for (size_t i = 0; i < len; i++) {
			dots += host[i] == '.';
			if (host[i] != '.' && (host[i] < '0' || host[i] > '9'))
				return false;
		}
		return dots == 3;
	}
	return false;
}

enum domain host_domain(const struct judge *j, const char *host, size_t len)
{
	if (len == 5 && strncmp(host, "[::1]", 5) == 0)
		return DOMAIN_LOCALHOST;
	if (!is_plain_host(host, len))
		return DOMAIN_UNTRUSTED;
	if (is_loopback(host, len))
		return DOMAIN_LOCALHOST;
	for (char *const *t = j->place->trusted_hosts; t && *t; t++)
		if (command_host_matches(host, len, *t))
			return DOMAIN_TRUSTED;
	return DOMAIN_UNTRUSTED;
}

/* USER@HOST:PORT with what follows cut off. */
static enum domain authority_domain(const struct judge *j, const char *text, size_t len)
{
	const char *at = memrchr(text, '@', len), *colon;

	/* Clients disagree about a backslash: some end the host there. */
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\\' || (unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
			return DOMAIN_UNTRUSTED;
	if (at) {
		if (memchr(text, '@', (size_t)(at - text)))
			return DOMAIN_UNTRUSTED;
		len -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	if (len > 0 && text[0] == '[') {
		const char *close = memchr(text, ']', len);

		return close ? host_domain(j, text, (size_t)(close + 1 - text)) : DOMAIN_UNTRUSTED;
	}
	colon = memchr(text, ':', len);
	return host_domain(j, text, colon ? (size_t)(colon - text) : len);
}

/* "scheme://authority/...", "user@host:path", "host:path"; DOMAIN_WORKSPACE where no host is named. */
enum domain url_domain(const struct judge *j, const char *text)
{
	const char *scheme = strstr(text, "://"), *colon = strchr(text, ':'), *slash = strchr(text, '/');

	if (text_is_unknown(text))
		return DOMAIN_UNTRUSTED;
	if (scheme && strncasecmp(text, "file://", 7) == 0)
		return DOMAIN_WORKSPACE;
	if (scheme)
		return authority_domain(j, scheme + 3, strcspn(scheme + 3, "/?#"));
	if (strstr(text, "::"))
		return DOMAIN_UNTRUSTED;
	if (colon && (!slash || colon < slash))
		return authority_domain(j, text, (size_t)(colon - text));
	return DOMAIN_WORKSPACE;
}

/* As curl and wget read it: without a scheme the first part is the host. */
static enum domain address_domain(const struct judge *j, const char *text)
{
	if (text_is_unknown(text))
		return DOMAIN_UNTRUSTED;
	if (strstr(text, "://"))
		return url_domain(j, text);
	return authority_domain(j, text, strcspn(text, "/?#"));
}

/* A request that only asks changes nothing where the host is ours; elsewhere what is asked leaves the house. */
static void judge_request(struct judge *j, enum domain d, bool sends)
{
	judge_trait(j, COMMAND_NETWORK | COMMAND_FETCHES);
	judge_note(j, "network", "", "uses the network");
	judge_change(j,
		     sends		     ? OUTCOME_IRREVERSIBLE
		     : d == DOMAIN_UNTRUSTED ? OUTCOME_SOFT
					     : OUTCOME_REVERSIBLE,
		     d);
}

/* --- curl, wget ---------------------------------------------------------------------------------------------- */

static bool method_asks(const char *m)
{
	return m && (str_eq(m, "GET") || str_eq(m, "HEAD") || str_eq(m, "OPTIONS"));
}

void judge_curl(struct judge *j, const struct command *c)
{
	bool sends = false, detour = false, any = false;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad) &&
		    !word_is_option(&at, " progress-bar,proto,proto-redir,data-binary"))
			judge_unknown(j, c->w[0].text, "reads its options from a file, or loads code");
		if (word_is_option(&at,
				   "dFTQ "
				   "data,data-raw,data-binary,data-urlencode,data-ascii,form,form-string,"
				   "upload-file,"
				   "quote,json,mail-from"))
			sends = true;
		if (word_is_option(&at, "X request"))
			sends = sends || !method_asks(at.value);
		if (word_is_option(
			    &at,
			    "x "
			    "proxy,preproxy,connect-to,resolve,socks4,socks4a,socks5,socks5-hostname,doh-url,"
			    "unix-socket,abstract-unix-socket"))
			detour = true;
		if (word_is_option(&at, "ocD "
					"output,output-dir,cookie-jar,dump-header,trace,trace-ascii,stderr,"
					"libcurl,etag-save"))
			judge_write(j, at.value ? at.value : "\x01", OUTCOME_SOFT);
		if (word_is_option(&at, "O remote-name,remote-name-all"))
			judge_write(j, ".", OUTCOME_SOFT);
		if (word_is_operand(&at) || word_is_option(&at, " url")) {
			any = true;
			judge_request(j,
				      address_domain(j, at.word	   ? at.word
							: at.value ? at.value
								   : "\x01"),
				      false);
		}
	}
	if (sends || detour || !any)
		judge_request(j, any && !detour ? DOMAIN_LOCALHOST : DOMAIN_UNTRUSTED, sends);
}

void judge_wget(struct judge *j, const struct command *c)
{
	bool to_stdout = false, sends = false, any = false;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad))
			judge_unknown(j, c->w[0].text, "reads its options from a file, or loads code");
		if (word_is_option(&at, " post-data,post-file,body-data,body-file"))
			sends = true;
		if (word_is_option(&at, " method"))
			sends = sends || !method_asks(at.value);
		if (word_is_option(&at, "O output-document") && at.value && str_eq(at.value, "-"))
			to_stdout = true;
		else if (word_is_option(
				 &at,
				 "OoaP "
				 "output-document,output-file,append-output,directory-prefix,save-cookies"))
			judge_write(j, at.value ? at.value : "\x01", OUTCOME_SOFT);
		if (!word_is_operand(&at))
			continue;
		any = true;
		judge_request(j, address_domain(j, at.word), false);
	}
	if (!to_stdout)
		judge_write(j, ".", OUTCOME_SOFT);
	if (sends || !any)
		judge_request(j, any ? DOMAIN_LOCALHOST : DOMAIN_UNTRUSTED, sends);
}

/* nc, telnet, ping, dig ...: some operand is a host, and all of it may leave. */
void judge_hosts(struct judge *j, const struct command *c)
{
	enum domain worst = DOMAIN_WORKSPACE;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	judge_trait(j, c->row->traits);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		enum domain d;

		if (word_is_option(&at, c->row->bad)) {
			judge_unknown(j, c->w[0].text, "runs a program for the other end");
			if (at.value)
				judge_probe_text(j, at.value);
		}
		if (!word_is_operand(&at) || strspn(at.word, "0123456789-") == strlen(at.word))
			continue;
		d = address_domain(j, at.word);
		worst = d < worst ? d : worst;
		if (strstr(at.word, "EXEC:") || strstr(at.word, "SYSTEM:") || strstr(at.word, "exec:") ||
		    strstr(at.word, "system:"))
			judge_unknown(j, c->w[0].text, "runs a program for the other end");
	}
	judge_note(j, "network", "", "uses the network");
	judge_change(j, c->row->outcome, worst == DOMAIN_WORKSPACE ? DOMAIN_UNTRUSTED : worst);
}

/* --- ssh, scp, rsync ----------------------------------------------------------------------------------------- */

/* The remote shell gets the words joined by blanks. */
static void judge_remote(struct judge *j, const struct command *c, size_t from)
{
	char *text = judge_join_words(j, c->w + from, c->n - from);

	if (text)
		judge_shell_text(j, text, false);
}

void judge_ssh(struct judge *j, const struct command *c)
{
	const char *host = NULL;
	struct judge_cwds cwds = j->cwds;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	judge_trait(j, COMMAND_NETWORK | COMMAND_FETCHES);
	judge_note(j, "network", "", "uses the network");
	words_init(&o, c, true);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, "oFDLRwWJ"))
			judge_unknown(j, c->w[0].text, "an option that runs a program or opens a way");
		if (word_is_option(&at, "o") && at.value)
			judge_probe_text(j, strchr(at.value, '=') ? strchr(at.value, '=') + 1 : at.value);
		if (!word_is_operand(&at))
			continue;
		if (!host) {
			host = at.word;
			o.ended = false; /* ssh host -p 22 cmd */
			continue;
		}
		/* Where it stands over there is not known. */
		j->cwds = (struct judge_cwds){ .unknown = true };
		judge_change(j, OUTCOME_SOFT, DOMAIN_LOCALHOST);
		judge_remote(j, c, at.at);
		j->cwds = cwds;
		judge_domain(j, address_domain(j, host));
		return;
	}
	judge_unknown(j, c->w[0].text, "starts a shell elsewhere");
	judge_printed(j);
	judge_domain(j, host ? address_domain(j, host) : DOMAIN_UNTRUSTED);
}

/* scp, sftp: the last operand is written, others are read, each here or there. */
void judge_copy_remote(struct judge *j, const struct command *c)
{
	const char *last = NULL;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	judge_trait(j, COMMAND_NETWORK | COMMAND_FETCHES);
	judge_note(j, "network", "", "uses the network");
	judge_change(j, OUTCOME_SOFT, DOMAIN_LOCALHOST);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad))
			judge_unknown(j, c->w[0].text, "an option that runs a program");
		if (!word_is_operand(&at))
			continue;
		judge_domain(j, url_domain(j, at.word));
		last = at.word;
	}
	if (!last || str_eq(c->row->name, "sftp"))
		judge_change(j, OUTCOME_SOFT, last ? address_domain(j, last) : DOMAIN_UNTRUSTED);
	else if (url_domain(j, last) == DOMAIN_WORKSPACE)
		judge_write(j, last, OUTCOME_SOFT);
	else /* what left cannot be called back */
		judge_change(j, OUTCOME_IRREVERSIBLE, url_domain(j, last));
}

void judge_rsync(struct judge *j, const struct command *c)
{
	bool deletes = false, moves = false, remote = false;
	const char *last = NULL;
	struct word_iter o;
	struct word_read at;

	(void)judge_part(j, c->w, c->n);
	judge_change(j, OUTCOME_SOFT, DOMAIN_WORKSPACE);
	words_init(&o, c, false);
	while (words_next(&o, &at)) {
		if (word_is_option(&at, c->row->bad)) {
			judge_unknown(j, c->w[0].text, "an option that runs a program");
			if (at.value)
				judge_probe_text(j, at.value);
		}
		if (at.name && (str_starts(at.name, "del") || text_is_unknown(at.name)))
			deletes = true;
		moves = moves || (at.name && word_is_option(&at, " remove-source-files"));
		if (!word_is_operand(&at))
			continue;
		if (url_domain(j, at.word) != DOMAIN_WORKSPACE) {
			remote = true;
			judge_trait(j, COMMAND_NETWORK | COMMAND_FETCHES);
			judge_domain(j, url_domain(j, at.word));
		}
		last = at.word;
	}
	if (moves)
		for (size_t i = 1; i + 1 < c->n; i++)
			if (c->w[i].text[0] != '-')
				judge_delete(j, c->w[0].text, c->w[i].text);
	if (last && deletes)
		judge_delete(j, "rsync --delete", last);
	if (last && url_domain(j, last) == DOMAIN_WORKSPACE)
		judge_write(j, last, OUTCOME_SOFT);
	else if (remote)
		judge_change(j, OUTCOME_IRREVERSIBLE, DOMAIN_TRUSTED);
}
