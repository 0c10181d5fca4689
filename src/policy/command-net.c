/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

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

/* Accept only plain names and numbers; any other host is treated as untrusted. */
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

enum domain command_host_domain(const struct classifier *k, const char *host, size_t len)
{
	if (len == 5 && strncmp(host, "[::1]", 5) == 0)
		return DOMAIN_LOCALHOST;
	if (!is_plain_host(host, len))
		return DOMAIN_UNTRUSTED;
	if (is_loopback(host, len))
		return DOMAIN_LOCALHOST;
	for (char *const *t = k->place->trusted_hosts; t && *t; t++)
		if (command_host_matches(host, len, *t))
			return DOMAIN_TRUSTED;
	return DOMAIN_UNTRUSTED;
}

/* The host of USER@HOST:PORT. */
static enum domain authority_domain(const struct classifier *k, const char *text, size_t len)
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

		return close ? command_host_domain(k, text, (size_t)(close + 1 - text)) : DOMAIN_UNTRUSTED;
	}
	colon = memchr(text, ':', len);
	return command_host_domain(k, text, colon ? (size_t)(colon - text) : len);
}

/* "scheme://authority/...", "user@host:path", "host:path"; DOMAIN_WORKSPACE if no host is named. */
enum domain command_url_domain(const struct classifier *k, const char *text)
{
	const char *scheme = strstr(text, "://"), *colon = strchr(text, ':'), *slash = strchr(text, '/');

	if (command_text_is_unknown(text))
		return DOMAIN_UNTRUSTED;
	if (scheme && strncasecmp(text, "file://", 7) == 0)
		return DOMAIN_WORKSPACE;
	if (scheme)
		return authority_domain(k, scheme + 3, strcspn(scheme + 3, "/?#"));
	if (strstr(text, "::"))
		return DOMAIN_UNTRUSTED;
	if (colon && (!slash || colon < slash))
		return authority_domain(k, text, (size_t)(colon - text));
	return DOMAIN_WORKSPACE;
}

/* As curl and wget read it: without a scheme the first part is the host. */
static enum domain address_domain(const struct classifier *k, const char *text)
{
	if (command_text_is_unknown(text))
		return DOMAIN_UNTRUSTED;
	if (strstr(text, "://"))
		return command_url_domain(k, text);
	return authority_domain(k, text, strcspn(text, "/?#"));
}

/* A GET to a trusted or local host changes nothing; to any other host, the request itself may leak data. */
static void judge_request(struct classifier *k, enum domain d, bool sends)
{
	classifier_add_traits(k, COMMAND_NETWORK | COMMAND_FETCHES);
	classifier_add_finding(k, "network", "", "uses the network");
	classifier_add_change(k,
			      sends		      ? OUTCOME_IRREVERSIBLE
			      : d == DOMAIN_UNTRUSTED ? OUTCOME_SOFT
						      : OUTCOME_REVERSIBLE,
			      d);
}

/* --- curl, wget ---------------------------------------------------------------------------------------------- */

static bool method_asks(const char *m)
{
	return m && (str_eq(m, "GET") || str_eq(m, "HEAD") || str_eq(m, "OPTIONS"));
}

void command_judge_curl(struct classifier *k, const struct simple_command *c)
{
	bool sends = false, detour = false, any = false;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad) &&
		    !option_word_is(&at, " progress-bar,proto,proto-redir,data-binary"))
			classifier_add_unknown(k, c->w[0].text, "reads options from a file, or loads code");
		if (option_word_is(&at,
				   "dFTQ "
				   "data,data-raw,data-binary,data-urlencode,data-ascii,form,form-string,"
				   "upload-file,"
				   "quote,json,mail-from"))
			sends = true;
		if (option_word_is(&at, "X request"))
			sends = sends || !method_asks(at.value);
		if (option_word_is(
			    &at,
			    "x "
			    "proxy,preproxy,connect-to,resolve,socks4,socks4a,socks5,socks5-hostname,doh-url,"
			    "unix-socket,abstract-unix-socket"))
			detour = true;
		if (option_word_is(&at, "ocD "
					"output,output-dir,cookie-jar,dump-header,trace,trace-ascii,stderr,"
					"libcurl,etag-save"))
			classifier_add_write(k, at.value ? at.value : "\x01", OUTCOME_SOFT);
		if (option_word_is(&at, "O remote-name,remote-name-all"))
			classifier_add_write(k, ".", OUTCOME_SOFT);
		if (option_word_is_operand(&at) || option_word_is(&at, " url")) {
			any = true;
			judge_request(k,
				      address_domain(k, at.word	   ? at.word
							: at.value ? at.value
								   : "\x01"),
				      false);
		}
	}
	if (sends || detour || !any)
		judge_request(k, any && !detour ? DOMAIN_LOCALHOST : DOMAIN_UNTRUSTED, sends);
}

void command_judge_wget(struct classifier *k, const struct simple_command *c)
{
	bool to_stdout = false, sends = false, any = false;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad))
			classifier_add_unknown(k, c->w[0].text, "reads options from a file, or loads code");
		if (option_word_is(&at, " post-data,post-file,body-data,body-file"))
			sends = true;
		if (option_word_is(&at, " method"))
			sends = sends || !method_asks(at.value);
		if (option_word_is(&at, "O output-document") && at.value && str_eq(at.value, "-"))
			to_stdout = true;
		else if (option_word_is(
				 &at,
				 "OoaP "
				 "output-document,output-file,append-output,directory-prefix,save-cookies"))
			classifier_add_write(k, at.value ? at.value : "\x01", OUTCOME_SOFT);
		if (!option_word_is_operand(&at))
			continue;
		any = true;
		judge_request(k, address_domain(k, at.word), false);
	}
	if (!to_stdout)
		classifier_add_write(k, ".", OUTCOME_SOFT);
	if (sends || !any)
		judge_request(k, any ? DOMAIN_LOCALHOST : DOMAIN_UNTRUSTED, sends);
}

/* nc, telnet, ping, dig ...: some operand is a host, and data may be sent to it. */
void command_judge_hosts(struct classifier *k, const struct simple_command *c)
{
	enum domain worst = DOMAIN_WORKSPACE;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_traits(k, c->row->traits);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		enum domain d;

		if (option_word_is(&at, c->row->bad)) {
			classifier_add_unknown(k, c->w[0].text, "runs a program for the remote host");
			if (at.value)
				classifier_probe_text(k, at.value);
		}
		if (!option_word_is_operand(&at) || strspn(at.word, "0123456789-") == strlen(at.word))
			continue;
		d = address_domain(k, at.word);
		worst = d < worst ? d : worst;
		if (strstr(at.word, "EXEC:") || strstr(at.word, "SYSTEM:") || strstr(at.word, "exec:") ||
		    strstr(at.word, "system:"))
			classifier_add_unknown(k, c->w[0].text, "runs a program for the remote host");
	}
	classifier_add_finding(k, "network", "", "uses the network");
	classifier_add_change(k, c->row->outcome, worst == DOMAIN_WORKSPACE ? DOMAIN_UNTRUSTED : worst);
}

/* --- ssh, scp, rsync ----------------------------------------------------------------------------------------- */

/* The remote shell gets the words joined by blanks. */
static void judge_remote(struct classifier *k, const struct simple_command *c, size_t from)
{
	char *text = classifier_join_words(k, c->w + from, c->n - from);

	if (text)
		classifier_read_text(k, text, false);
}

void command_judge_ssh(struct classifier *k, const struct simple_command *c)
{
	const char *host = NULL;
	struct classifier_cwds cwds = k->shell.cwds;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_traits(k, COMMAND_NETWORK | COMMAND_FETCHES);
	classifier_add_finding(k, "network", "", "uses the network");
	option_iter_init(&o, c, true);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, "oFDLRwWJ"))
			classifier_add_unknown(k, c->w[0].text,
					       "an option that runs a program or opens a tunnel");
		if (option_word_is(&at, "o") && at.value)
			classifier_probe_text(k,
					      strchr(at.value, '=') ? strchr(at.value, '=') + 1 : at.value);
		if (!option_word_is_operand(&at))
			continue;
		if (!host) {
			host = at.word;
			o.ended = false; /* ssh host -p 22 cmd */
			continue;
		}
		/* The remote working directory is not known. */
		k->shell.cwds = (struct classifier_cwds){ .unknown = true };
		classifier_add_change(k, OUTCOME_SOFT, DOMAIN_LOCALHOST);
		judge_remote(k, c, at.at);
		k->shell.cwds = cwds;
		classifier_add_domain(k, address_domain(k, host));
		return;
	}
	classifier_add_unknown(k, c->w[0].text, "starts a remote shell");
	classifier_read_printed(k);
	classifier_add_domain(k, host ? address_domain(k, host) : DOMAIN_UNTRUSTED);
}

/* scp, sftp: the last operand is written, others are read; each is local or remote. */
void command_judge_copy_remote(struct classifier *k, const struct simple_command *c)
{
	const char *last = NULL;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_traits(k, COMMAND_NETWORK | COMMAND_FETCHES);
	classifier_add_finding(k, "network", "", "uses the network");
	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_LOCALHOST);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad))
			classifier_add_unknown(k, c->w[0].text, "an option that runs a program");
		if (!option_word_is_operand(&at))
			continue;
		classifier_add_domain(k, command_url_domain(k, at.word));
		last = at.word;
	}
	if (!last || str_eq(c->row->name, "sftp"))
		classifier_add_change(k, OUTCOME_SOFT, last ? address_domain(k, last) : DOMAIN_UNTRUSTED);
	else if (command_url_domain(k, last) == DOMAIN_WORKSPACE)
		classifier_add_write(k, last, OUTCOME_SOFT);
	else /* sent data cannot be recalled */
		classifier_add_change(k, OUTCOME_IRREVERSIBLE, command_url_domain(k, last));
}

void command_judge_rsync(struct classifier *k, const struct simple_command *c)
{
	bool deletes = false, moves = false, remote = false;
	const char *last = NULL;
	struct option_iter o;
	struct option_word at;

	(void)classifier_add_part(k, c->w, c->n);
	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
	option_iter_init(&o, c, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, c->row->bad)) {
			classifier_add_unknown(k, c->w[0].text, "an option that runs a program");
			if (at.value)
				classifier_probe_text(k, at.value);
		}
		if (at.name && (str_starts(at.name, "del") || command_text_is_unknown(at.name)))
			deletes = true;
		moves = moves || (at.name && option_word_is(&at, " remove-source-files"));
		if (!option_word_is_operand(&at))
			continue;
		if (command_url_domain(k, at.word) != DOMAIN_WORKSPACE) {
			remote = true;
			classifier_add_traits(k, COMMAND_NETWORK | COMMAND_FETCHES);
			classifier_add_domain(k, command_url_domain(k, at.word));
		}
		last = at.word;
	}
	if (moves)
		for (size_t i = 1; i + 1 < c->n; i++)
			if (c->w[i].text[0] != '-')
				classifier_add_delete(k, c->w[0].text, c->w[i].text);
	if (last && deletes)
		classifier_add_delete(k, "rsync --delete", last);
	if (last && command_url_domain(k, last) == DOMAIN_WORKSPACE)
		classifier_add_write(k, last, OUTCOME_SOFT);
	else if (remote)
		classifier_add_change(k, OUTCOME_IRREVERSIBLE, DOMAIN_TRUSTED);
}
