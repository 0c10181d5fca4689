/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/file-owners.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "base/userns.h"
#include "base/walk.h"
#include "state/subordinate-ids.h"

#define TEXT_MAX ((size_t)4096)

int file_owners_note_new(int dir, const struct id_map *ids, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dir, FILE_OWNERS_IDS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	_cleanup_free_ char *text = id_map_to_text(ids);

	if (fd < 0)
		return fault_errno(f, errno, "create '" FILE_OWNERS_IDS "'");
	if (!text)
		return fault_errno(f, ENOMEM, "'" FILE_OWNERS_IDS "'");
	return fd_write_all(fd, text, strlen(text), f);
}

int file_owners_note(int dir, const struct id_map *ids, struct fault *f)
{
	_cleanup_free_ char *text = id_map_to_text(ids);
	struct id_map noted;
	int r = file_owners_read(dir, &noted, f);

	if (r < 0 || file_owners_is_same(&noted, ids))
		return r;
	if (id_map_is_set(&noted))
		return fault_set(f, EEXIST, "'" FILE_OWNERS_IDS "' has other subordinate ids");
	if (!text)
		return fault_errno(f, ENOMEM, "'" FILE_OWNERS_IDS "'");
	return fd_replace_file(dir, FILE_OWNERS_IDS, text, strlen(text), 0600, f);
}

bool file_owners_is_same(const struct id_map *a, const struct id_map *b)
{
	_cleanup_free_ char *left = id_map_to_text(a), *right = id_map_to_text(b);

	return left && right && str_eq(left, right);
}

bool file_owners_is_own(const struct id_map *ids, uid_t uid)
{
	for (unsigned int i = 0; ids && i < ids->uid.n; i++)
		if (uid >= ids->uid.at[i].outside && uid - ids->uid.at[i].outside < ids->uid.at[i].count)
			return true;
	return uid == geteuid();
}

int file_owners_read(int dir, struct id_map *ret, struct fault *f)
{
	_cleanup_close_ int fd = openat(dir, FILE_OWNERS_IDS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct id_map m = { 0 };
	size_t len;
	int r;

	if (fd < 0 && errno != ENOENT)
		return fault_errno(f, errno, "open '" FILE_OWNERS_IDS "'");
	r = fd < 0 ? 0 : fd_require_private(fd, geteuid(), f);
	if (r == 0 && fd >= 0)
		r = fd_read_all(fd, TEXT_MAX, &text, &len, f);
	/* Never synced: after a crash of the machine it may be empty, and the caller's ids of now are the best guess. */
	if (r == 0 && text)
		r = len ? id_map_parse(text, &m, f) : subordinate_ids_find(&m, f);
	if (r < 0)
		return fault_wrap(f, r, "'" FILE_OWNERS_IDS "'");
	*ret = m;
	return 0;
}

/* AT_SYMLINK_NOFOLLOW: a link gets an owner as well, and is never followed. */
static int return_entry(const struct walk_entry *e, uid_t uid, gid_t gid)
{
	if (e->stx.stx_uid == uid && e->stx.stx_gid == gid)
		return 0;
	if (e->fd >= 0)
		return fchown(e->fd, uid, gid) < 0 ? -errno : 0;
	return fchownat(e->dirfd, e->name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/*
 * In a user namespace with every id of the run.  The whole directory: a review of the running session may have copied files.
 * Without paths, which a payload can make longer than any limit: a file that is left out would stay for ever.
 */
static int return_all(int dir)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int event, error = 0;

	if (walk_new(dir, WALK_NAMES_ONLY, &w, NULL) < 0)
		return -ENOMEM;
	while ((event = walk_next(w, &e, NULL)) > 0) {
		int r = 0;

		if (event == WALK_ENTER || event == WALK_ENTRY)
			r = return_entry(&e, geteuid(), getegid());
		else if (event == WALK_ERROR)
			r = e.error ? -e.error : -EIO;
		if (r < 0 && error == 0)
			error = r;
	}
	return event < 0 ? event : error;
}

/* Files of other ids exist, or an unreadable directory may hide some. */
static bool has_others(int dir)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int event;

	if (walk_new(dir, WALK_NAMES_ONLY, &w, NULL) < 0)
		return true;
	while ((event = walk_next(w, &e, NULL)) > 0)
		if (event == WALK_ERROR || ((event == WALK_ENTER || event == WALK_ENTRY) &&
					    (e.stx.stx_uid != geteuid() || e.stx.stx_gid != getegid())))
			return true;
	return event < 0;
}

struct answer {
	int code;
	char text[512];
};

/* NAME NULL: everything below DIR. */
static void run_child(int dir, const char *name, const struct id_map *ids, int out, pid_t parent)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct answer a = { 0 };
	int r;

	/* newuidmap opens /proc/PID, which is root's for a process that is not dumpable. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	r = userns_enter_map(ids, &f);
	/* After userns_enter_map: a change of credentials clears PR_SET_PDEATHSIG. */
	if (r == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		_exit(1);
	if (r == 0) {
		seam("owners-entered");
		r = !name								 ? return_all(dir)
		    : fchownat(dir, name, geteuid(), getegid(), AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											 : 0;
	}
	if (r < 0) {
		a.code = -r;
		(void)snprintf(a.text, sizeof(a.text), "%s", f.code ? fault_text(&f) : strerror(-r));
	}
	_exit(write(out, &a, sizeof(a)) != sizeof(a));
}

static int return_inside(int dir, const char *name, const struct id_map *ids, struct fault *f)
{
	_cleanup_close_ int in = -EBADF;
	const pid_t parent = getpid();
	struct answer a;
	int fd[2], r = 0;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "return the files to the caller");
	in = fd[0];
	pid = fork();
	if (pid == 0)
		run_child(dir, name, ids, fd[1], parent);
	(void)fd_close(fd[1]);
	if (pid < 0)
		return fault_errno(f, errno, "return the files to the caller");
	if (read(in, &a, sizeof(a)) != sizeof(a))
		r = fault_set(f, EIO, "the process that returns the files exited without an answer");
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (r < 0 || a.code == 0)
		return r;
	a.text[sizeof(a.text) - 1] = '\0';
	return fault_set(f, a.code, "the files of subordinate ids cannot be returned to the caller: %s",
			 a.text);
}

int file_owners_take(int dir, const char *name, const struct id_map *ids, struct fault *f)
{
	return return_inside(dir, name, ids, f);
}

int file_owners_return(int dir, struct fault *f)
{
	struct id_map ids;
	int r = file_owners_read(dir, &ids, f);

	if (r < 0 || !id_map_is_set(&ids))
		return r;
	r = has_others(dir) ? return_inside(dir, NULL, &ids, f) : 0;
	if (r < 0)
		return r;
	seam("owners-returned");
	if (unlinkat(dir, FILE_OWNERS_IDS, 0) < 0)
		return fault_errno(f, errno, "remove '" FILE_OWNERS_IDS "'");
	return 0;
}
