/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/git-identity.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define VALUE_MAX 256
#define KEY_MAX 64

struct reader {
	const char *at;
	bool in_user;		   /* the section is [user] */
	struct git_identity found; /* "": the file sets a value that must not be passed */
};

void git_identity_done(struct git_identity *g)
{
	free(g->name);
	free(g->email);
	*g = (struct git_identity){ 0 };
}

static void skip_blanks(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
		r->at++;
}

static void skip_line(struct reader *r)
{
	r->at += strcspn(r->at, "\n");
}

/* [section] or [section "subsection"], which may have a bracket in its quotes. */
static bool read_section(struct reader *r)
{
	const char *name = ++r->at;
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");

	r->in_user = len == strlen("user") && strncasecmp(name, "user", len) == 0 && name[len] == ']';
	r->at += len;
	skip_blanks(r);
	if (*r->at == '"') {
		for (r->at++; *r->at && *r->at != '"' && *r->at != '\n'; r->at++)
			if (*r->at == '\\' && r->at[1] && r->at[1] != '\n')
				r->at++;
		if (*r->at != '"')
			return false;
		r->at++;
	}
	if (len == 0 || *r->at != ']')
		return false;
	r->at++;
	return true;
}

/* Behind a backslash.  False: malformed. */
static bool read_escape(struct reader *r, struct strbuf *b)
{
	static const char from[] = "ntb\"\\", to[] = "\n\t\b\"\\";
	const char *found;

	r->at += *r->at == '\r' && r->at[1] == '\n';
	if (*r->at == '\n') {
		r->at++; /* the value goes on in the next line */
		return true;
	}
	found = *r->at ? strchr(from, *r->at) : NULL;
	if (!found)
		return false;
	strbuf_putc(b, to[found - from]);
	r->at++;
	return true;
}

/* Up to the end of the line or a comment, without blanks at its ends that are not quoted. */
static bool read_value(struct reader *r, struct strbuf *b)
{
	bool quoted = false;
	size_t keep = 0;

	skip_blanks(r);
	while (*r->at && *r->at != '\n') {
		char c = *r->at++;

		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			keep = b->len;
			continue;
		}
		if (c == '\\' && !read_escape(r, b))
			return false;
		if (c != '\\')
			strbuf_putc(b, c);
		if (quoted || c == '\\' || !strchr(" \t\r", c))
			keep = b->len;
	}
	if (b->text)
		b->text[keep] = '\0';
	b->len = keep;
	return !quoted && !b->broken;
}

/* A person could not see what a control character, or one that reorders text, does to a commit. */
static bool is_passable(const char *value)
{
	_cleanup_free_ char *escaped = str_escape(value);

	return escaped && str_eq(escaped, value) && strlen(value) <= VALUE_MAX;
}

static bool set(char **field, const char *value)
{
	free(*field);
	*field = strdup(is_passable(value) ? value : "");
	return *field;
}

/* NAME = VALUE, or NAME alone, which is a truth value and no text. */
static bool read_key(struct reader *r)
{
	_cleanup_strbuf_ struct strbuf value = { 0 };
	char key[KEY_MAX + 1] = "";
	size_t len = 0;

	if (!isalpha((unsigned char)*r->at))
		return false;
	for (; isalnum((unsigned char)*r->at) || *r->at == '-'; r->at++)
		if (len < KEY_MAX)
			key[len++] = *r->at;
	key[len] = '\0';
	skip_blanks(r);
	if (*r->at == '=') {
		r->at++;
		if (!read_value(r, &value))
			return false;
	} else if (*r->at && !strchr("\n#;", *r->at)) {
		return false;
	}
	if (r->in_user && strcasecmp(key, "name") == 0)
		return set(&r->found.name, value.text ? value.text : "");
	if (r->in_user && strcasecmp(key, "email") == 0)
		return set(&r->found.email, value.text ? value.text : "");
	return true;
}

static bool read_all(struct reader *r)
{
	for (;;) {
		bool good = true;

		skip_blanks(r);
		if (*r->at == '\0')
			return true;
		if (*r->at == '\n')
			r->at++;
		else if (*r->at == '#' || *r->at == ';')
			skip_line(r);
		else if (*r->at == '[')
			good = read_section(r);
		else
			good = read_key(r);
		if (!good)
			return false;
	}
}

/* *FOUND is NULL: the file does not set it; "": it sets a value that must not be passed. */
static void replace(char **field, char **found)
{
	if (!*found)
		return;
	free(*field);
	*field = **found ? TAKE_PTR(*found) : NULL;
}

void git_identity_parse(const char *text, struct git_identity *ret)
{
	struct reader r = { .at = str_starts(text, "\xef\xbb\xbf") ? text + 3 : text };

	if (read_all(&r)) {
		replace(&ret->name, &r.found.name);
		replace(&ret->email, &r.found.email);
	}
	git_identity_done(&r.found);
}

static void read_file(const char *dir, const char *name, struct git_identity *ret)
{
	_cleanup_free_ char *path = path_join(dir, name), *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	size_t len;

	if (!path)
		return;
	/* O_NONBLOCK: it may be a FIFO. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    fd_read_all(fd, GIT_IDENTITY_FILE_MAX, &text, &len, NULL) < 0 || strlen(text) != len)
		return;
	git_identity_parse(text, ret);
}

void git_identity_load(const char *home, const char *xdg, struct git_identity *ret)
{
	*ret = (struct git_identity){ 0 };
	/* git's order: the later wins. */
	if (xdg && xdg[0] == '/')
		read_file(xdg, "git/config", ret);
	else if (home && home[0] == '/')
		read_file(home, ".config/git/config", ret);
	if (home && home[0] == '/')
		read_file(home, ".gitconfig", ret);
}
