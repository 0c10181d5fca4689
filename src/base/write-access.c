/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/write-access.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define TEXT_MAX ((size_t)4 * 1024 * 1024)
#define FIELDS_MAX 7

struct field {
	const char *text;
	size_t len;
};

/* A line of fields that colons separate.  Returns its end; *RET_N: how many fields it has, at most FIELDS_MAX. */
static const char *read_line(const char *at, struct field *fields, size_t *ret_n)
{
	const char *end = at + strcspn(at, "\n");
	size_t n = 0;

	while (n < FIELDS_MAX) {
		size_t len = strcspn(at, ":\n");

		fields[n++] = (struct field){ at, len };
		at += len;
		if (*at != ':')
			break;
		at++;
	}
	*ret_n = n;
	return *end ? end + 1 : end;
}

/* As shadow writes them.  Other spellings, which some readers take, belong to no id that is known here. */
static bool is_plain(const struct field *f)
{
	for (size_t i = 0; i < f->len; i++)
		if (f->text[i] < '0' || f->text[i] > '9')
			return false;
	return f->len == 1 || (f->len > 0 && f->len < 11 && f->text[0] != '0');
}

static bool is_number(const struct field *f, uint32_t number)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%" PRIu32, number);

	return f->len == (size_t)n && memcmp(f->text, text, f->len) == 0;
}

static bool is_same(const struct field *a, const struct field *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* The only account with this uid, and the only one with this primary group. */
static bool find_owner(const char *passwd, gid_t gid, uid_t uid, struct field *ret)
{
	struct field f[FIELDS_MAX];
	bool found = false;
	size_t n;

	for (const char *at = passwd; *at;) {
		at = read_line(at, f, &n);
		if (n < 4)
			continue;
		if (!is_plain(&f[2]) || !is_plain(&f[3]) || is_number(&f[2], uid) != is_number(&f[3], gid))
			return false;
		if (!is_number(&f[2], uid))
			continue;
		if (found)
			return false;
		*ret = f[0];
		found = true;
	}
	return found;
}

/* OWNER alone may be in the list. */
static bool has_no_other(const struct field *members, const struct field *owner)
{
	const char *at = members->text, *end = at + members->len;

	while (at < end) {
		struct field one = { at, 0 };

		while (at < end && *at != ',')
			at++;
		one.len = (size_t)(at - one.text);
		if (one.len > 0 && !is_same(&one, owner))
			return false;
		at++;
	}
	return true;
}

/* Lines "passwd:" and "group:": files, and sources that know only the files and the accounts of services. */
static bool is_complete(const char *nsswitch)
{
	static const char *const known[] = { "files", "compat", "systemd", NULL };

	for (const char *at = nsswitch; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *word = at + strspn(at, " \t");

		if (!str_starts(word, "passwd:") && !str_starts(word, "group:"))
			continue;
		word += strcspn(word, ":") + 1;
		for (;;) {
			size_t len;
			bool found = false;

			word += strspn(word, " \t\r");
			len = strcspn(word, " \t\r\n#");
			if (len == 0)
				break;
			for (size_t i = 0; known[i] && !found; i++)
				found = strlen(known[i]) == len && memcmp(word, known[i], len) == 0;
			if (!found)
				return false;
			word += len;
		}
	}
	return true;
}

bool group_is_private(const char *groups, const char *passwd, const char *nsswitch, gid_t gid, uid_t uid)
{
	struct field f[FIELDS_MAX], owner = { 0 };
	bool found = false;
	size_t n;

	if (!is_complete(nsswitch) || !find_owner(passwd, gid, uid, &owner))
		return false;
	for (const char *at = groups; *at;) {
		at = read_line(at, f, &n);
		if (n >= 4 && !is_plain(&f[2]))
			return false;
		if (n < 4 || !is_number(&f[2], gid))
			continue;
		if (!has_no_other(&f[3], &owner))
			return false;
		found = true;
	}
	return found;
}

/* "" if it is missing, NULL if it cannot be read; a NUL byte would hide the rest. */
static char *read_text(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	if (fd < 0)
		return strdup("");
	if (fd_read_all(fd, TEXT_MAX, &text, &len, NULL) < 0)
		return NULL;
	if (strlen(text) == len)
		return text;
	free(text);
	return NULL;
}

/* Never NSS: a static program has none. */
static bool is_private(gid_t gid, uid_t uid)
{
	_cleanup_free_ char *groups = read_text("/etc/group"), *passwd = read_text("/etc/passwd");
	_cleanup_free_ char *nsswitch = read_text("/etc/nsswitch.conf");

	return groups && passwd && nsswitch && group_is_private(groups, passwd, nsswitch, gid, uid);
}

bool write_access_is_shared(int fd, const struct stat *st)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	if (!(st->st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	if ((st->st_mode & S_IWOTH) || st->st_uid == 0 || st->st_uid != geteuid())
		return true;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return getxattr(link, "system.posix_acl_access", NULL, 0) >= 0 || !is_private(st->st_gid, st->st_uid);
}
