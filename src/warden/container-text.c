/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "warden/container-facts.h"

/* Texts of /proc as values.  Pure. */

/* The text behind KEY at the start of a line; NULL if there is no such line. */
static const char *find_line(const char *text, const char *key)
{
	const size_t n = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0)
			return line + n + strspn(line + n, " \t");
	}
	return NULL;
}

static bool take_number(const char **at, unsigned int base, uint64_t *ret)
{
	*at += strspn(*at, " \t");
	return str_take_u64(at, base, ret) == 0;
}

static bool take_signed(const char **at, int64_t *ret)
{
	bool negative;
	uint64_t n;

	*at += strspn(*at, " ");
	negative = **at == '-';
	*at += negative;
	if (str_take_u64(at, 10, &n) < 0)
		return false;
	/* Addresses and masks are unsigned, up to UINT64_MAX. */
	*ret = (int64_t)(negative ? 0 - n : n);
	return true;
}

static bool find_number(const char *text, const char *key, unsigned int base, uint64_t *ret)
{
	const char *at = find_line(text, key);

	return at && take_number(&at, base, ret);
}

static bool find_ids(const char *text, const char *key, uint64_t ids[4])
{
	const char *at = find_line(text, key);

	for (int i = 0; i < 4; i++)
		if (!at || !take_number(&at, 10, &ids[i]))
			return false;
	return true;
}

static bool find_sets(const char *text, struct container_status *s)
{
	static const char *const keys[_CONTAINER_SET_MAX] = {
		[CONTAINER_SET_BOUNDING] = "CapBnd:",  [CONTAINER_SET_EFFECTIVE] = "CapEff:",
		[CONTAINER_SET_PERMITTED] = "CapPrm:", [CONTAINER_SET_INHERITABLE] = "CapInh:",
		[CONTAINER_SET_AMBIENT] = "CapAmb:",
	};

	for (unsigned int i = 0; i < _CONTAINER_SET_MAX; i++)
		if (!find_number(text, keys[i], 16, &s->capabilities[i]))
			return false;
	return true;
}

static char *copy_line(const char *at)
{
	size_t n = strcspn(at, "\n");

	while (n > 0 && at[n - 1] == ' ')
		n--;
	return strndup(at, n);
}

int container_status_parse(const char *text, struct container_status *ret)
{
	struct container_status s = { 0 };
	const char *name = find_line(text, "Name:"), *state = find_line(text, "State:"),
		   *groups = find_line(text, "Groups:");

	if (!name || !state || !groups || !find_ids(text, "Uid:", s.uid) || !find_ids(text, "Gid:", s.gid) ||
	    !find_sets(text, &s) || !find_number(text, "Umask:", 8, &s.umask) ||
	    !find_number(text, "SigIgn:", 16, &s.ignored) ||
	    !find_number(text, "NoNewPrivs:", 10, &s.no_new_privs) ||
	    !find_number(text, "Seccomp:", 10, &s.seccomp))
		/* A process that is exiting, and a zombie, have no file system and so no umask. */
		return name && state && !find_line(text, "Umask:") ? -ESRCH : -EBADMSG;
	(void)snprintf(s.name, sizeof(s.name), "%.*s", (int)strcspn(name, "\n"), name);
	s.ended = *state == 'Z' || *state == 'X';
	s.groups = copy_line(groups);
	if (!s.groups)
		return -ENOMEM;
	*ret = s;
	return 0;
}

int container_map_parse(const char *text, struct container_map *ret)
{
	ret->n = 0;
	for (const char *at = text; *at;) {
		struct container_extent e;

		if (ret->n == CONTAINER_EXTENTS_MAX || !take_number(&at, 10, &e.inside) ||
		    !take_number(&at, 10, &e.outside) || !take_number(&at, 10, &e.count))
			return -EBADMSG;
		ret->at[ret->n++] = e;
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return 0;
}

/* "ID PARENT DEV ROOT POINT FLAGS [TAG...] - TYPE SOURCE SUPER" */
static int parse_mount(char *line, struct container_mount *ret)
{
	char *dash = strstr(line, " - "), *fields[6], *save = NULL, *rest;
	struct container_mount m = { 0 };

	if (!dash)
		return -EBADMSG;
	*dash = '\0';
	for (int i = 0; i < 6; i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!fields[i])
			return -EBADMSG;
	}
	rest = strtok_r(NULL, "", &save);
	str_unoctal(fields[4]);
	save = NULL;
	m.type = strtok_r(dash + 3, " ", &save);
	if (!m.type || !strtok_r(NULL, " ", &save) || str_to_u64(fields[0], &m.id) < 0)
		return -EBADMSG;
	m.super = strtok_r(NULL, " ", &save);
	m.type = strdup(m.type);
	m.point = strdup(fields[4]);
	m.flags = strdup(fields[5]);
	m.tags = strdup(rest ? rest : "");
	m.super = strdup(m.super ? m.super : "");
	*ret = m;
	return m.type && m.point && m.flags && m.tags && m.super ? 0 : -ENOMEM;
}

int container_mounts_parse(const char *text, struct container_facts *x)
{
	_cleanup_free_ char *copy = strdup(text);
	char *save = NULL;
	size_t lines = 0;

	if (!copy)
		return -ENOMEM;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	x->mounts = calloc(lines + 1, sizeof(*x->mounts));
	if (!x->mounts)
		return -ENOMEM;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		int r = parse_mount(line, &x->mounts[x->n_mounts++]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The name may hold anything; field 3 follows its last parenthesis. */
int container_stat_parse(const char *text, struct container_facts *x)
{
	const char *at = strrchr(text, ')');
	int64_t fields[53] = { 0 };
	uint64_t pid;

	if (!at || strlen(at) < 4 || !take_number(&text, 10, &pid))
		return -EBADMSG;
	at += 4;
	for (int i = 4; i <= 41; i++)
		if (!take_signed(&at, &fields[i]))
			return -EBADMSG;
	x->pid = (pid_t)pid;
	x->sid = (pid_t)fields[6];
	x->terminal = fields[7];
	x->nice = fields[19];
	x->policy = fields[41];
	return 0;
}
