/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-facts.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* Clang and gcc both inline this; strncmp with a known length keeps callers readable. */
static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static uint64_t take_number(const char **at, unsigned int base)
{
	uint64_t v = 0;
	int d;

	while (**at == ' ' || **at == '\t')
		(*at)++;
	for (; (d = digit_value(**at)) >= 0 && (unsigned int)d < base; (*at)++)
		v = v * base + (unsigned int)d;
	return v;
}

static const char *next_line(const char *at)
{
	const char *nl = strchr(at, '\n');

	return nl ? nl + 1 : at + strlen(at);
}

void facts_parse_status(const char *text, struct facts_status *ret)
{
	struct facts_status s = { 0 };
	const struct {
		const char *key;
		int *number;
		uint64_t *mask;
	} fields[] = {
		{ "SigIgn:", NULL, &s.sig_ign },	  { "CapInh:", NULL, &s.cap_inh },
		{ "CapPrm:", NULL, &s.cap_prm },	  { "CapEff:", NULL, &s.cap_eff },
		{ "CapBnd:", NULL, &s.cap_bnd },	  { "CapAmb:", NULL, &s.cap_amb },
		{ "NoNewPrivs:", &s.no_new_privs, NULL }, { "Seccomp:", &s.seccomp, NULL },
	};
	const unsigned int n_fields = ARRAY_SIZE(fields);
	unsigned int n = 0; /* the kernel prints them in this order */

	for (const char *at = text; *at; at = next_line(at)) {
		const char *value;

		if (starts(at, "Seccomp_filters:")) { /* since Linux 5.9 */
			value = at + strlen("Seccomp_filters:");
			s.seccomp_filters = (int)take_number(&value, 10);
		}
		if (n == n_fields || !starts(at, fields[n].key))
			continue;
		value = at + strlen(fields[n].key);
		if (fields[n].mask)
			*fields[n].mask = take_number(&value, 16);
		else
			*fields[n].number = (int)take_number(&value, 10);
		n++;
	}
	s.complete = n == n_fields;
	*ret = s;
}

bool facts_parse_map(const char *text, struct facts_map *ret)
{
	const char *at = text;

	*ret = (struct facts_map){ 0 };
	ret->inside = take_number(&at, 10);
	ret->outside = take_number(&at, 10);
	ret->count = take_number(&at, 10);
	return ret->count > 0;
}

bool facts_map_is(const char *text, const char *asked)
{
	while (*text || *asked) {
		struct facts_map map;

		if (!facts_parse_map(text, &map) || take_number(&asked, 10) != map.inside ||
		    *asked++ != ':' || take_number(&asked, 10) != map.outside || *asked++ != ':' ||
		    take_number(&asked, 10) != map.count)
			return false;
		text = next_line(text);
		if (*asked == ',' && *text)
			asked++;
	}
	return true;
}

bool facts_cgroup_is_root(const char *text, const char **ret_path, size_t *ret_len)
{
	if (!*text)
		return false;
	for (const char *at = text; *at; at = next_line(at)) {
		const char *path = strchr(at, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		if (!path)
			return false;
		path++;
		*ret_path = path;
		*ret_len = strchr(path, '\n') ? (size_t)(strchr(path, '\n') - path) : strlen(path);
		if (*ret_len != 1 || *path != '/')
			return false;
	}
	return true;
}

/* "\040" -> " ", in place: the kernel escapes blanks and backslashes so. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; to++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
		    s[3] <= '7') {
			*to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to = *s++;
		}
	}
	*to = '\0';
}

/* Cuts one blank-separated word off *AT; NULL at the end. */
static char *take_word(char **at)
{
	char *word = *at, *end;

	if (!word || !*word)
		return NULL;
	end = strchr(word, ' ');
	*at = end ? end + 1 : word + strlen(word);
	if (end)
		*end = '\0';
	return word;
}

static bool parse_mount(char *line, struct facts_mount *ret)
{
	const char *id = line;
	char *word;

	ret->id = take_number(&id, 10);
	for (int skip = 0; skip < 3; skip++) /* id, parent, device */
		if (!take_word(&line))
			return false;
	ret->root = take_word(&line);
	ret->point = take_word(&line);
	ret->flags = take_word(&line);
	ret->tags = line;
	do
		word = take_word(&line);
	while (word && strcmp(word, "-") != 0);
	if (!word)
		return false;
	/* The tags were cut into words: join them again, up to the hyphen that ends them. */
	for (char *c = ret->tags; c < word; c++)
		if (!*c)
			*c = ' ';
	*word = '\0';
	ret->fstype = take_word(&line);
	ret->source = take_word(&line); /* "" if the mount has none */
	ret->super = take_word(&line);
	if (!ret->super)
		return false;
	unescape(ret->root);
	unescape(ret->point);
	return true;
}

bool facts_next_mount(char **at, struct facts_mount *ret, bool *broken)
{
	char *line = *at, *nl;

	if (!*line)
		return false;
	nl = strchr(line, '\n');
	*at = nl ? nl + 1 : line + strlen(line);
	if (nl)
		*nl = '\0';
	*ret = (struct facts_mount){ 0 };
	if (!parse_mount(line, ret)) {
		*broken = true;
		return false;
	}
	return true;
}

bool facts_has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (list) {
		if (strncmp(list, word, n) == 0 && (list[n] == ',' || list[n] == '\0'))
			return true;
		list = strchr(list, ',');
		if (list)
			list++;
	}
	return false;
}

bool facts_is_below(const char *path, const char *parent)
{
	size_t n = strlen(parent);

	if (strcmp(parent, "/") == 0)
		return path[0] == '/';
	return strncmp(path, parent, n) == 0 && (path[n] == '/' || path[n] == '\0');
}
