/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger-audit.h"
#include "session/session-end.h"
#include "session/session-note.h"
#include "session/session-owners.h"
#include "session/session-upper.h"

static bool stays(const char *name, bool kept)
{
	static const char *const always[] = { SESSION_NOTE,  SESSION_LOG, SESSION_LOG_OLD,
					      SESSION_NOTES, AUDIT_NAME,  LANE_STAMP };

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		if (strcmp(name, always[i]) == 0)
			return true;
	return kept && (strcmp(name, SESSION_UPPER) == 0 || strcmp(name, SESSION_UPPER_FILE) == 0 ||
			strcmp(name, SESSION_UPPER_BASE) == 0 || strcmp(name, SESSION_UPPER_SUM) == 0 ||
			strcmp(name, SESSION_REPOSITORY) == 0);
}

int session_note_trim(int dir, bool kept, struct fault *f)
{
	_cleanup_close_ int fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!d)
		return fault_errno(f, errno, "read the session's directory");
	(void)TAKE_FD(fd);
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !stays(e->d_name, kept))
			r = path_remove_tree(dir, e->d_name, f);
	(void)closedir(d);
	return r;
}

/* The container's ids owned the directory while it had an upper; the next container may get the same ids. */
static int take_back(int dir, struct fault *f)
{
	struct stat st;

	if (fstat(dir, &st) < 0 || (st.st_uid != geteuid() && fchown(dir, geteuid(), getegid()) < 0))
		return fault_errno(f, errno, "chown the session's directory");
	return 0;
}

/* The supervisor was killed; the ledger records the same. */
static int write_lost(int dir, struct session_note *n, struct fault *f)
{
	const struct ledger_end end = session_end_lost(EXIT_SOURCE_SUPERVISOR);
	int r = session_note_end(n, &end, f);

	return r < 0 ? r : session_note_write(dir, n, f);
}

int session_note_settle(int states_fd, const char *id, struct fault *f)
{
	_cleanup_close_ int dir = openat(states_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_session_note_ struct session_note n = { 0 };
	int r;

	if (dir < 0 && errno == ENOENT)
		return 0;
	r = dir < 0 ? 0 : session_owners_return(dir, f);
	if (r < 0)
		return r;
	if (dir < 0 || session_note_read(dir, &n, NULL) < 0 || !str_eq(n.session, id))
		return path_remove_tree(states_fd, id, f);
	/* Remove large files first: the disk may be full. */
	r = session_note_trim(dir, n.kept, f);
	if (r == 0 && n.state != SESSION_ENDED)
		r = write_lost(dir, &n, f);
	if (r == 0)
		r = take_back(dir, f);
	if (r == 0 && fchmodat(dir, SESSION_NOTE, 0400, 0) < 0)
		r = fault_errno(f, errno, "make '" SESSION_NOTE "' read-only");
	return r;
}

bool session_note_is_settled(int states_fd, const char *id)
{
	char path[NAME_MAX + sizeof("/" SESSION_NOTE)];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/" SESSION_NOTE, id);
	return fstatat(states_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       !(st.st_mode & S_IWUSR);
}

static bool has_entries(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *e;
	bool found = false;
	DIR *d;

	if (fd < 0)
		return errno != ENOENT;
	d = fdopendir(fd);
	if (!d)
		return true;
	(void)TAKE_FD(fd);
	while (!found && (e = readdir(d)))
		found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	(void)closedir(d);
	return found;
}

bool session_has_changes(int dirfd)
{
	return has_entries(dirfd, SESSION_UPPER) || has_entries(dirfd, SESSION_REPOSITORY "/" SESSION_UPPER);
}
