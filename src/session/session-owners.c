/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-owners.h"

#include <sys/stat.h>

#include "session/session-upper.h"
#include "state/file-owners.h"

int session_owners_note(int dir, const struct id_map *ids, struct fault *f)
{
	return fault_wrap(f, file_owners_note_new(dir, ids, f), "session");
}

int session_owners_read(int dir, struct id_map *ret, struct fault *f)
{
	return fault_wrap(f, file_owners_read(dir, ret, f), "session");
}

/* The kernel leaves the work directory of an overlay without permissions.  No name leads out: the payload never sees it. */
static void open_work(int dir)
{
	(void)!fchmodat(dir, "w/work", 0700, 0);
	(void)!fchmodat(dir, SESSION_REPOSITORY "/w/work", 0700, 0);
}

int session_owners_return(int dir, struct fault *f)
{
	struct id_map ids;
	int r = session_owners_read(dir, &ids, f);

	if (r < 0 || !id_map_is_set(&ids))
		return r;
	open_work(dir);
	return fault_wrap(f, file_owners_return(dir, f), "session");
}
