/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/subordinate-ids.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/id-map-write.h"
#include "state/subid.h"

#define SUBUID_FILE "/etc/subuid"
#define SUBGID_FILE "/etc/subgid"

static int read_text(const char *path, char **ret, size_t *ret_len, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = fd_read_all(fd, SUBID_TEXT_MAX, ret, ret_len, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : 0;
}

/* As in dirs.c: never NSS.  newuidmap finds no ids of a user without an entry. */
static char *find_name(uid_t uid)
{
	FILE *fp = fopen("/etc/passwd", "re");
	struct passwd pw, *found = NULL;
	char buf[1024], *name = NULL;

	while (fp && !name && fgetpwent_r(fp, &pw, buf, sizeof(buf), &found) == 0 && found)
		if (pw.pw_uid == uid)
			name = strdup(pw.pw_name);
	if (fp)
		(void)fclose(fp);
	return name;
}

/* FILE grants the ids, ACCOUNTS names those that are not free. */
static int choose(const char *file, const char *accounts, const char *kind, struct subid_ask *ask,
		  struct id_extents *ret, struct fault *f)
{
	_cleanup_free_ char *text = NULL, *names = NULL;
	size_t len, names_len = 0;
	int r = read_text(file, &text, &len, f);

	ask->file = file;
	if (r == 0)
		r = subid_choose(text, len, ask, ret, f);
	if (r == 0)
		r = read_text(accounts, &names, &names_len, f);
	return r < 0 ? r : subid_require_free(names, names_len, kind, ret, f);
}

static int require_files(struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = read_text("/etc/nsswitch.conf", &text, &len, f);

	if (r == -ENOENT) {
		fault_done(f);
		return 0;
	}
	return r < 0 ? r : subid_require_files(text, len, f);
}

int subordinate_ids_find(struct id_map *ret, struct fault *f)
{
	_cleanup_fault_ struct fault own = { 0 };
	struct fault *why = f ? f : &own; /* fault_done of a missing file needs one */
	_cleanup_free_ char *name = find_name(geteuid());
	struct subid_ask ask = { .name = name,
				 .uid = geteuid(),
				 .self = geteuid(),
				 .reserved_first = SUBID_RESERVED_FIRST,
				 .reserved_last = SUBID_RESERVED_LAST };
	struct id_map m = { 0 };
	int r;

	if (!name)
		return fault_set(why, ENOENT, "/etc/passwd has no user with uid %u", (unsigned int)geteuid());
	r = require_files(why);
	if (r == 0)
		r = choose(SUBUID_FILE, "/etc/passwd", "user", &ask, &m.uid, why);
	ask.self = getegid();
	if (r == 0)
		r = choose(SUBGID_FILE, "/etc/group", "group", &ask, &m.gid, why);
	if (r == 0)
		r = id_map_require_programs(why);
	if (r < 0)
		return r;
	*ret = m;
	return 0;
}
