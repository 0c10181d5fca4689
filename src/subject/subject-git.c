/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/walk.h"

#define GIT_CONFIG_MAX ((size_t)64 * 1024)
#define GIT_INDEX_MAX ((size_t)64 * 1024 * 1024)
#define GIT_ENTRIES_MAX 50000 /* of .git without objects */

/* --- config -------------------------------------------------------------------------------------------------- */

/*
 * Keys that name no program and no other file; sections with a name in quotes have a '*'. git knows more keys that run
 * programs (core.fsmonitor, filter.*, diff.*.textconv, gpg.program ...) than a list of them would hold.
 */
static bool key_is_plain(const char *section, const char *key)
{
	static const char *const keys[] = { "core.repositoryformatversion",
					    "core.filemode",
					    "core.logallrefupdates",
					    "core.ignorecase",
					    "core.precomposeunicode",
					    "core.symlinks",
					    "core.autocrlf",
					    "core.eol",
					    "core.safecrlf",
					    "core.quotepath",
					    "core.abbrev",
					    "remote*.url",
					    "remote*.fetch",
					    "remote*.pushurl",
					    "remote*.tagopt",
					    "remote*.prune",
					    "branch*.remote",
					    "branch*.merge",
					    "branch*.rebase",
					    "branch*.description",
					    "user.name",
					    "user.email",
					    "init.defaultbranch",
					    "pull.rebase",
					    "pull.ff",
					    "push.default",
					    "push.autosetupremote",
					    "fetch.prune",
					    "color.ui",
					    "gc.auto",
					    NULL };
	size_t len = strlen(section);

	if (strcasecmp(section, "advice") == 0)
		return true;
	for (size_t i = 0; keys[i]; i++)
		if (strncasecmp(keys[i], section, len) == 0 && keys[i][len] == '.' &&
		    strcasecmp(keys[i] + len + 1, key) == 0)
			return true;
	return false;
}

/* [name] or [name "sub"], alone on its line; SECTION becomes "name" or "name*". */
static bool read_section(const char *line, char section[32])
{
	size_t len = strspn(line + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	const char *rest = line + 1 + len;

	if (len == 0 || len > 30)
		return false;
	memcpy(section, line + 1, len);
	section[len] = '\0';
	if (*rest == ' ' && rest[1] == '"') {
		rest = strchr(rest + 2, '"');
		if (!rest || rest[-1] == '\\')
			return false;
		section[len] = '*';
		section[len + 1] = '\0';
		rest++;
	}
	return str_eq(rest, "]");
}

static bool setting_is_plain(const char *section, const char *line)
{
	size_t len = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	const char *value = line + len + strspn(line + len, " \t");
	char key[40];

	if (len == 0 || len >= sizeof(key) || *value != '=' || line[strlen(line) - 1] == '\\')
		return false;
	memcpy(key, line, len);
	key[len] = '\0';
	value++;
	value += strspn(value, " \t");
	if (strcasecmp(section, "core") == 0 && strcasecmp(key, "bare") == 0)
		return str_eq(value, "false");
	/* "ext::COMMAND" and other helpers. */
	return key_is_plain(section, key) && !strstr(value, "::");
}

bool git_config_is_plain(const char *text)
{
	char section[32] = "", line[1024];

	for (const char *p = text, *stop; *p; p = *stop ? stop + 1 : stop) {
		const char *from = p + strspn(p, " \t");
		size_t len;

		stop = strchrnul(p, '\n');
		len = from < stop ? (size_t)(stop - from) : 0;
		while (len > 0 && strchr(" \t\r", from[len - 1]))
			len--;
		if (len >= sizeof(line))
			return false;
		memcpy(line, from, len);
		line[len] = '\0';
		if (len == 0 || line[0] == '#' || line[0] == ';')
			continue;
		if (line[0] == '[' ? !read_section(line, section) : !setting_is_plain(section, line))
			return false;
	}
	return true;
}

/* --- index --------------------------------------------------------------------------------------------------- */

static uint32_t big_endian(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

#define INDEX_ENTRY 62 /* bytes before the name, with SHA-1 */

/* Not 0160000, a submodule, nor 0040000, a directory of a sparse index. */
static bool mode_is_plain(uint32_t mode)
{
	return (mode & 0170000) == 0100000 || (mode & 0170000) == 0120000;
}

/*
 * The extensions behind the entries, up to the checksum at END. Only those that hold no entries: "link" names a file
 * with more of them, and git expands the directories of "sdir".
 */
static bool extensions_are_plain(const unsigned char *bytes, size_t at, size_t end)
{
	static const char *const names[] = { "TREE", "REUC", "UNTR", "EOIE", "IEOT", NULL };

	while (at < end) {
		size_t i = 0;

		if (end - at < 8)
			return false;
		while (names[i] && memcmp(bytes + at, names[i], 4) != 0)
			i++;
		if (!names[i] || big_endian(bytes + at + 4) > end - at - 8)
			return false;
		at += 8 + big_endian(bytes + at + 4);
	}
	return true;
}

/* gitformat-index(5). git enters a submodule, and obeys the configuration that it finds there. */
bool git_index_is_plain(const unsigned char *bytes, size_t len)
{
	uint32_t version, entries;
	size_t at = 12;

	if (len < 12 || memcmp(bytes, "DIRC", 4) != 0)
		return false;
	version = big_endian(bytes + 4);
	entries = big_endian(bytes + 8);
	if (version < 2 || version > 4)
		return false;
	for (uint32_t i = 0; i < entries; i++) {
		size_t head = INDEX_ENTRY, size;
		const unsigned char *end;

		if (len < at + INDEX_ENTRY + 3 || !mode_is_plain(big_endian(bytes + at + 24)))
			return false;
		if (bytes[at + 60] & 0x40) /* extended flags */
			head += 2;
		if (version == 4) /* the length to cut from the name before, seven bits in each byte */
			while (at + head < len && bytes[at + head] & 0x80)
				head++;
		head += version == 4;
		end = at + head < len ? memchr(bytes + at + head, '\0', len - at - head) : NULL;
		if (!end)
			return false;
		/* Older versions pad an entry to eight bytes, with at least one NUL. */
		size = (size_t)(end - bytes) - at;
		at += version == 4 ? size + 1 : (size + 8) & ~(size_t)7;
	}
	return len >= at + 20 && extensions_are_plain(bytes, at, len - 20);
}

/* --- the directory ------------------------------------------------------------------------------------------- */

static bool is_absent(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static int open_plain(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EBADF;
	return TAKE_FD(fd);
}

static bool read_is_plain(int dirfd, const char *name, size_t max, bool text)
{
	_cleanup_close_ int fd = open_plain(dirfd, name);
	_cleanup_free_ char *bytes = NULL;
	size_t len;

	if (fd < 0 || fd_read_all(fd, max, &bytes, &len, NULL) < 0)
		return false;
	return text ? strlen(bytes) == len && git_config_is_plain(bytes)
		    : git_index_is_plain((const unsigned char *)bytes, len);
}

/* Samples are not executed. */
static bool has_hook(int git)
{
	int fd = openat(git, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *e;
	bool found = false;
	DIR *d;

	if (fd < 0)
		return errno != ENOENT;
	d = fdopendir(fd);
	if (!d) {
		fd_close(fd);
		return true;
	}
	while (!found && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		found = !str_eq(e->d_name, ".") && !str_eq(e->d_name, "..") &&
			!(len > 7 && str_eq(e->d_name + len - 7, ".sample"));
	}
	(void)closedir(d);
	return found;
}

/* --- the repository itself ----------------------------------------------------------------------------------- */

/* A directory of OWNER that git can enter. */
static bool is_own_dir(int dirfd, const char *name, uid_t owner)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == owner && (st.st_mode & 0500) == 0500;
}

/* "ref: refs/..." or the name of a commit. */
static bool head_is_plain(int git, uid_t owner)
{
	_cleanup_close_ int fd = open_plain(git, "HEAD");
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != owner || !(st.st_mode & 0400) ||
	    fd_read_all(fd, GIT_CONFIG_MAX, &text, &len, NULL) < 0)
		return false;
	return str_starts(text, "ref: refs/") ||
	       (strspn(text, "0123456789abcdef") == 40 && (text[40] == '\n' || text[40] == '\0'));
}

/*
 * Is it what git takes for a repository? Else git goes on: to the worktree's root itself, if that has HEAD, objects and
 * refs, whose `config` is a file of the tree, and to the directories above.
 */
static bool is_repository(int tree, int git)
{
	struct stat st;

	return fstat(git, &st) == 0 && (st.st_mode & 0500) == 0500 && head_is_plain(git, st.st_uid) &&
	       is_own_dir(git, "objects", st.st_uid) && is_own_dir(git, "refs", st.st_uid) &&
	       is_absent(tree, "HEAD");
}

/*
 * git writes COMMIT_EDITMSG, logs and others in place: through a link, or a second name, it would write another file of
 * the tree. Objects may have several names (git clone of a directory), and are never written again.
 */
static bool has_links(int git)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	size_t n = 0;
	int event;

	if (walk_new(git, 0, &w, NULL) < 0)
		return true;
	while ((event = walk_next(w, &e, NULL)) > WALK_END) {
		bool object = str_starts(e.path, "objects/");

		if (event == WALK_ERROR || ++n > GIT_ENTRIES_MAX)
			return true;
		if (event == WALK_ENTER && object)
			walk_skip(w);
		if (event == WALK_ENTRY && (!S_ISREG(e.stx.stx_mode) || (e.stx.stx_nlink != 1 && !object)))
			return true;
	}
	return event < 0;
}

/* A run before may have written ~/.gitconfig. */
static bool home_is_kept(const struct subject *s)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].rw && s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->home &&
		    (path_is_below(s->home, s->mounts[i].target) ||
		     path_is_below(s->mounts[i].target, s->home)))
			return true;
	return false;
}

bool subject_git_is_plain(const struct subject *s)
{
	_cleanup_close_ int tree = -EBADF, git = -EBADF;

	if (!s->worktree || home_is_kept(s))
		return false;
	tree = open(subject_tree_path(s), O_PATH | O_DIRECTORY | O_CLOEXEC);
	git = tree < 0 ? -EBADF : openat(tree, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (git < 0 || !is_absent(git, "commondir") || !is_absent(git, "config.worktree") || has_hook(git))
		return false;
	if (!is_repository(tree, git) || has_links(git) ||
	    !read_is_plain(git, "config", GIT_CONFIG_MAX, true))
		return false;
	return is_absent(git, "index") || read_is_plain(git, "index", GIT_INDEX_MAX, false);
}
