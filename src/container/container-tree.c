/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define MOUNTINFO_MAX ((size_t)16 * 1024 * 1024)
#define UPPER_OPTION "upperdir="

/* Of a file in /proc; heap. */
static char *read_proc(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, MOUNTINFO_MAX, &text, &len, NULL) == 0 ? text : NULL;
}

/* The id of the mount that FD is on; 0: not known. */
static uint64_t find_mount(int fd)
{
	char path[64];
	_cleanup_free_ char *text = NULL;
	unsigned long long id = 0;
	const char *line;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	text = read_proc(path);
	line = text ? strstr(text, "mnt_id:") : NULL;
	return line && sscanf(line, "mnt_id: %llu", &id) == 1 ? id : 0;
}

/* The line of mount ID in MOUNTINFO, which is cut into lines; NULL: none. */
static char *find_line(char *mountinfo, uint64_t id)
{
	char *at = mountinfo, *line;
	unsigned long long own;

	while ((line = strsep(&at, "\n")))
		if (sscanf(line, "%llu ", &own) == 1 && own == id)
			return line;
	return NULL;
}

/* After " - ": the file system's type, its source and its options. */
static bool split_line(char *line, char **ret_type, char **ret_options)
{
	char *at = strstr(line, " - ");

	if (!at)
		return false;
	at += strlen(" - ");
	*ret_type = strsep(&at, " ");
	(void)strsep(&at, " ");
	*ret_options = at;
	return at != NULL;
}

/* Octal escapes of the kernel, and the backslash that overlayfs puts before ',' and ':'. */
static char *unescape(const char *text, size_t len)
{
	char *out = calloc(len + 1, 1), *to = out;
	unsigned int code;

	for (size_t i = 0; out && i < len; i++) {
		if (text[i] == '\\' && i + 3 < len && sscanf(text + i + 1, "%3o", &code) == 1 && code > 0 &&
		    code < 256) {
			*to++ = (char)code;
			i += 3;
		} else if (text[i] != '\\' || i + 1 == len) {
			*to++ = text[i];
		}
	}
	return out;
}

/* Absolute path of the upper; heap.  NULL: none, or relative to a directory that is not known. */
static char *find_upper(const char *options)
{
	const char *at = options;
	char *path;
	size_t len;

	while (at && !str_starts(at, UPPER_OPTION)) {
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return NULL;
	at += strlen(UPPER_OPTION);
	for (len = 0; at[len] && at[len] != ','; len++)
		if (at[len] == '\\' && at[len + 1])
			len++;
	path = unescape(at, len);
	if (path && path[0] == '/')
		return path;
	free(path);
	return NULL;
}

static int open_upper(const char *options)
{
	_cleanup_free_ char *path = find_upper(options);
	int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	return fd < 0 ? -EBADF : fd;
}

/* Whether the file system of LINE is mounted outside the container as well: a bind mount of the host's /tmp is a tmpfs, too. */
static bool is_outside(const char *line)
{
	_cleanup_free_ char *text = read_proc("/proc/self/mountinfo");
	char device[32], other[32], *at = text;
	const char *own;

	if (!text || sscanf(line, "%*u %*u %31s", device) != 1)
		return false;
	while ((own = strsep(&at, "\n")))
		if (sscanf(own, "%*u %*u %31s", other) == 1 && str_eq(device, other))
			return true;
	return false;
}

/* How changes of a worktree on the mount of LINE can be told from its earlier files. */
static enum profile_workspace find_mode(char *line, bool on_root, int *ret_upper)
{
	char *type = NULL, *options = NULL;

	if (!line || !split_line(line, &type, &options))
		return PROFILE_WORKSPACE_RW;
	if (str_eq(type, "tmpfs") && !is_outside(line))
		return PROFILE_WORKSPACE_TMPFS;
	/* A bind mount or a volume outlives the container. */
	if (!on_root)
		return PROFILE_WORKSPACE_RW;
	if (str_eq(type, "overlay"))
		*ret_upper = open_upper(options);
	/* Without an upper the container's own directory is removed with it: all of it is kept. */
	return *ret_upper >= 0 ? PROFILE_WORKSPACE_OVERLAY : PROFILE_WORKSPACE_TMPFS;
}

static int open_root(pid_t pid, struct fault *f)
{
	char path[sizeof("/proc//root") + 3 * sizeof(pid_t)];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open the root of the container") : fd;
}

int container_tree_open(pid_t pid, const char *work, struct container_tree *ret, struct fault *f)
{
	struct container_tree t = CONTAINER_TREE_NONE;
	_cleanup_close_ int root = open_root(pid, f);
	char path[sizeof("/proc//mountinfo") + 3 * sizeof(pid_t)];
	_cleanup_free_ char *mounts = NULL;
	uint64_t of_root, of_tree;
	int fd;

	if (root < 0)
		return root;
	fd = path_open_in_root(root, work, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, f);
	if (fd < 0)
		return fault_wrap(f, fd, "worktree '%s' of the container", work);
	t.held.tree = fd;
	of_root = find_mount(root);
	of_tree = find_mount(fd);
	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	mounts = read_proc(path);
	if (mounts && of_tree)
		t.mode = find_mode(find_line(mounts, of_tree), of_root == of_tree, &t.held.upper);
	if (str_eq(work, "/"))
		t.held.tree = fd_close(t.held.tree);
	*ret = t;
	return 0;
}

int container_tree_open_changes(int upper, const char *work, struct fault *f)
{
	const char *below = work + strspn(work, "/");

	if (!*below)
		return fcntl(upper, F_DUPFD_CLOEXEC, 3);
	return path_open_beneath(upper, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, f);
}
