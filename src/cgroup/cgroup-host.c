/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup-host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define MOUNTINFO_MAX ((size_t)8 * 1024 * 1024)

static const char *const controller_names[_CGROUP_CONTROLLER_MAX] = {
	[CGROUP_MEMORY] = "memory",
	[CGROUP_PIDS] = "pids",
	[CGROUP_CPU] = "cpu",
};

const char *cgroup_controller_name(enum cgroup_controller c)
{
	return controller_names[c];
}

/* Is WORD one of the comma-separated words of LIST (LEN bytes)? */
static bool list_has(const char *list, size_t len, const char *word)
{
	const char *end = list + len;
	size_t n = strlen(word);

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list)) ?: end;

		if ((size_t)(comma - list) == n && memcmp(list, word, n) == 0)
			return true;
		list = comma + 1;
	}
	return false;
}

/*
 * "N:LIST:PATH" lines: the path of the line whose list has CONTROLLER, or of v2's "0::PATH" for NULL.  Borrowed
 * from SELF; *RET_LEN bytes.
 */
static const char *find_path(const char *self, const char *controller, size_t *ret_len)
{
	for (const char *line = self, *next; *line; line = next) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;

		next = *end ? end + 1 : end;
		if (!path)
			continue;
		list++;
		path++;
		if (controller ? list_has(list, (size_t)(path - 1 - list), controller) : path - 1 == list) {
			*ret_len = (size_t)(end - path);
			return path;
		}
	}
	return NULL;
}

struct mount {
	char *root, *point, *type, *options;
};

/* Splits one line of mountinfo into the needed fields; false for malformed lines. */
static bool split(char *line, struct mount *m)
{
	char *save = NULL, *field = NULL;

	*m = (struct mount){ 0 };
	for (int i = 0; i < 5; i++) {
		field = strtok_r(i ? NULL : line, " ", &save);
		if (!field)
			return false;
		if (i == 3)
			m->root = field;
	}
	m->point = field;
	do
		field = strtok_r(NULL, " ", &save);
	while (field && strcmp(field, "-") != 0);
	m->type = strtok_r(NULL, " ", &save);
	(void)strtok_r(NULL, " ", &save);
	m->options = strtok_r(NULL, " ", &save);
	return m->type && m->options;
}

/*
 * PATH is relative to the root of our cgroup namespace; the mount shows the directories below ROOT. A path
 * outside the mount is not reachable: NULL without an error.
 */
static int locate(const struct mount *m, const char *path, size_t len, char **ret, struct fault *f)
{
	size_t skip = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);

	if (len < skip || memcmp(path, m->root, skip) != 0 || (skip && len > skip && path[skip] != '/'))
		return 0;
	path += skip;
	len -= skip;
	while (len && path[len - 1] == '/')
		len--;
	if (len >= 3 && memcmp(path, "/..", 3) == 0)
		return 0;
	free(*ret);
	if (asprintf(ret, "%s%.*s", m->point, (int)len, path) < 0) {
		*ret = NULL;
		return fault_errno(f, ENOMEM, "cgroups");
	}
	return 0;
}

static int take_v2(struct cgroup_host *h, const struct mount *m, const char *self, struct fault *f)
{
	size_t len = 0;
	const char *path = find_path(self, NULL, &len);

	/* The first mount wins: others are bind mounts of the same hierarchy. */
	if (!path || h->v2)
		return 0;
	free(h->v2_root);
	h->v2_root = strdup(m->point);
	if (!h->v2_root)
		return fault_errno(f, ENOMEM, "cgroups");
	return locate(m, path, len, &h->v2, f);
}

static int take_v1(struct cgroup_host *h, const struct mount *m, const char *self, struct fault *f)
{
	for (unsigned int c = 0; c < _CGROUP_CONTROLLER_MAX; c++) {
		const char *path;
		size_t len = 0;
		int r;

		if (h->v1[c] || !list_has(m->options, strlen(m->options), controller_names[c]))
			continue;
		path = find_path(self, controller_names[c], &len);
		if (!path)
			continue;
		r = locate(m, path, len, &h->v1[c], f);
		if (r < 0)
			return r;
		free(h->v1_root[c]);
		h->v1_root[c] = strdup(m->point);
		if (!h->v1_root[c])
			return fault_errno(f, ENOMEM, "cgroups");
	}
	return 0;
}

static int take_line(struct cgroup_host *h, char *line, const char *self, struct fault *f)
{
	struct mount m;

	/* Hosts have hundreds of mounts; only these lines are split. */
	if (!strstr(line, " cgroup") || !split(line, &m) || !str_starts(m.type, "cgroup"))
		return 0;
	str_unoctal(m.point);
	str_unoctal(m.root);
	return strcmp(m.type, "cgroup2") == 0 ? take_v2(h, &m, self, f) : take_v1(h, &m, self, f);
}

int cgroup_host_parse(const char *mountinfo, const char *self, struct cgroup_host *ret, struct fault *f)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	_cleanup_free_ char *text = strdup(mountinfo);
	char *save = NULL;
	int r;

	if (!text)
		return fault_errno(f, ENOMEM, "cgroups");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		r = take_line(&h, line, self, f);
		if (r < 0)
			return r;
	}
	*ret = h;
	h = (struct cgroup_host){ 0 };
	return 0;
}

static int read_text(const char *path, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, fd_read_all(fd, MOUNTINFO_MAX, ret, &len, f), "'%s'", path);
}

int cgroup_host_load(struct cgroup_host *ret, struct fault *f)
{
	return cgroup_host_load_of(getpid(), ret, f);
}

int cgroup_host_load_of(pid_t pid, struct cgroup_host *ret, struct fault *f)
{
	_cleanup_free_ char *mountinfo = NULL, *self = NULL;
	char path[32];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	r = read_text(path, &self, f);
	if (r < 0)
		return r;
	r = read_text("/proc/self/mountinfo", &mountinfo, f);
	if (r < 0)
		return r;
	return cgroup_host_parse(mountinfo, self, ret, f);
}

char *cgroup_host_user_dir(const char *root, uid_t uid)
{
	char *dir = NULL;

	return asprintf(&dir, "%s/custody-user-%u", root, (unsigned int)uid) < 0 ? NULL : dir;
}

/* A v1 process moves itself into any cgroup whose files it may write: it need not be below a common ancestor. */
int cgroup_host_v1_parent(const struct cgroup_host *h, enum cgroup_controller c, char **ret, struct fault *f)
{
	_cleanup_free_ char *dir = NULL;
	struct stat st;

	*ret = NULL;
	if (!h->v1[c])
		return 0;
	if (access(h->v1[c], W_OK) < 0) {
		dir = cgroup_host_user_dir(h->v1_root[c], geteuid());
		if (!dir)
			return fault_errno(f, ENOMEM, "cgroups");
		if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		    access(dir, W_OK) < 0)
			return 0;
		*ret = TAKE_PTR(dir);
		return 0;
	}
	*ret = strdup(h->v1[c]);
	return *ret ? 0 : fault_errno(f, ENOMEM, "cgroups");
}

void cgroup_host_done(struct cgroup_host *h)
{
	for (unsigned int c = 0; c < _CGROUP_CONTROLLER_MAX; c++) {
		free(h->v1[c]);
		free(h->v1_root[c]);
	}
	free(h->v2);
	free(h->v2_root);
	*h = (struct cgroup_host){ 0 };
}
