/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/passwd.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSWD "/etc/passwd"
#define LINE_MAX_BYTES 4096

void passwd_entry_done(struct passwd_entry *e)
{
	free(e->name);
	free(e->home);
	*e = (struct passwd_entry){ 0 };
}

int passwd_find(const char *name, uid_t uid, struct passwd_entry *ret)
{
	struct passwd pw, *found = NULL;
	char buf[LINE_MAX_BYTES];
	FILE *fp = fopen(PASSWD, "re");
	int r = 0;

	while (fp && r == 0 && fgetpwent_r(fp, &pw, buf, sizeof(buf), &found) == 0 && found) {
		if (name ? strcmp(found->pw_name, name) != 0 : found->pw_uid != uid)
			continue;
		*ret = (struct passwd_entry){ .name = strdup(found->pw_name),
					      .home = strdup(found->pw_dir),
					      .uid = found->pw_uid,
					      .gid = found->pw_gid };
		r = ret->name && ret->home ? 1 : -ENOMEM;
		if (r < 0)
			passwd_entry_done(ret);
	}
	if (fp)
		(void)fclose(fp);
	return r;
}
