/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/state-version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define WORD_MAX 64

static const char readme[] = "This is the state of custody's lane `sandbox`.  It is disposable: "
			     "remove it when no session of\n"
			     "this lane runs.  State that must be kept belongs into lane `prod`.\n";

int state_read_word(int dirfd, const char *name, char **ret, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	size_t len;
	int r;

	/* O_NONBLOCK: a FIFO under this name must not block us before its type is checked. */
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", name);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "'%s' is not a regular file", name);
	r = fd_read_all(fd, WORD_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", name);
	if (len == 0 || text[len - 1] != '\n' || strlen(text) != len || strchr(text, '\n') != text + len - 1)
		return fault_set(f, EINVAL, "'%s' is not one line", name);
	text[len - 1] = '\0';
	*ret = TAKE_PTR(text);
	return 1;
}

static int wrong_version(const char *state, const char *word, struct fault *f)
{
	_cleanup_free_ char *shown = str_escape(word);
	uint64_t version = 0;

	if (str_to_u64(word, &version) < 0)
		return fault_set(f, EINVAL,
				 "'%s/" STATE_VERSION_NAME
				 "' contains '%s', which is not a version: restore the state from "
				 "a backup, or start with an empty one: mv '%s' '%s.old'",
				 state, shown ? shown : "?", state, state);
	if (version < STATE_VERSION)
		return fault_set(f, EINVAL,
				 "'%s' has layout version %s, this custody writes version %d: run custody "
				 "migrate --apply",
				 state, shown ? shown : "?", STATE_VERSION);
	return fault_set(f, EINVAL,
			 "'%s' has layout version %s, newer than the supported version %d: use the custody "
			 "that wrote "
			 "it, or start with an empty state: mv '%s' '%s.v%s'",
			 state, shown ? shown : "?", STATE_VERSION, state, state, shown ? shown : "");
}

/* 1: exists and matches. 0: no version yet; a lane stamp, if any, is ours. */
static int check(int fd, const char *state, enum lane own, struct fault *f)
{
	_cleanup_free_ char *word = NULL;
	enum lane lane = own;
	int versioned, stamped;

	versioned = state_read_word(fd, STATE_VERSION_NAME, &word, f);
	if (versioned < 0)
		return fault_wrap(f, versioned, "state '%s'", state);
	if (versioned && (word[0] != '0' + STATE_VERSION || word[1]))
		return wrong_version(state, word, f);
	stamped = lane_read_stamp(fd, state, &lane, f);
	if (stamped < 0)
		return stamped;
	if (versioned || stamped) {
		int r = lane_require_name(own, stamped ? lane_name(lane) : NULL, state, f);

		if (r < 0)
			return r;
	}
	return versioned;
}

static int write_first(int fd, const char *state, enum lane lane, struct fault *f)
{
	_cleanup_free_ char *stamp = NULL;
	char version[16];
	int r;

	if (asprintf(&stamp, "%s\n", lane_name(lane)) < 0) {
		stamp = NULL;
		return fault_errno(f, ENOMEM, "state");
	}
	(void)snprintf(version, sizeof(version), "%d\n", STATE_VERSION);
	r = fd_replace_file(fd, LANE_STAMP, stamp, strlen(stamp), 0600, f);
	if (r == 0 && lane == LANE_SANDBOX)
		r = fd_replace_file(fd, STATE_README, readme, sizeof(readme) - 1, 0600, f);
	/* Last: while it is missing, the next start repeats all steps. */
	if (r == 0)
		r = fd_replace_file(fd, STATE_VERSION_NAME, version, strlen(version), 0600, f);
	return r < 0 ? fault_wrap(f, r, "state '%s'", state) : 0;
}

int state_open_lane(const char *state, enum lane lane, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = dirs_open_own(state, 0700, f);
	if (fd < 0)
		return fd;
	r = check(fd, state, lane, f);
	if (r == 0)
		r = write_first(fd, state, lane, f);
	return r < 0 ? r : TAKE_FD(fd);
}

int state_open(const struct dirs *d, struct fault *f)
{
	return state_open_lane(d->state, d->lane, f);
}

int state_require(const struct dirs *d, struct fault *f)
{
	_cleanup_close_ int fd = open(d->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '%s'", d->state);
	return check(fd, d->state, d->lane, f);
}
