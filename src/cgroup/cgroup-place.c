/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup-place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"

static int open_dir(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Does FILE of DIR list every controller of WANT? */
static bool names_all(const char *dir, const char *file, unsigned int want)
{
	_cleanup_close_ int fd = open_dir(dir);
	char text[CGROUP_TEXT_MAX];

	if (fd < 0 || cgroup_file_read(fd, file, text) < 0)
		return false;
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		if ((want & CGROUP_BIT(i)) && !cgroup_text_has(text, cgroup_controller_name(i)))
			return false;
	return true;
}

/* The root of the hierarchy alone has no type. */
static bool holds_processes(int fd)
{
	char text[CGROUP_TEXT_MAX];

	return faccessat(fd, "cgroup.type", F_OK, 0) == 0 &&
	       (cgroup_file_read(fd, "cgroup.procs", text) < 0 || text[0]);
}

bool cgroup_place_enable(const char *dir, unsigned int want)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_strbuf_ struct strbuf words = { 0 };

	if (names_all(dir, "cgroup.subtree_control", want))
		return true;
	fd = open_dir(dir);
	if (fd < 0 || holds_processes(fd))
		return false;
	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		if (want & CGROUP_BIT(i))
			strbuf_printf(&words, "%s+%s", words.len ? " " : "", cgroup_controller_name(i));
	return !words.broken && words.text &&
	       cgroup_file_write(fd, "cgroup.subtree_control", words.text) == 0;
}

static bool holds_only_us(const char *dir)
{
	_cleanup_close_ int fd = open_dir(dir);
	char text[CGROUP_TEXT_MAX], self[16];

	(void)snprintf(self, sizeof(self), "%d\n", (int)getpid());
	return fd >= 0 && cgroup_file_read(fd, "cgroup.procs", text) == 0 && strcmp(text, self) == 0;
}

/*
 * A scope delegated to this process alone: v2 requires its processes in leaves before it enables controllers.
 */
static int move_aside(struct cgroup *c, const char *own, unsigned int want, struct fault *f)
{
	_cleanup_free_ char *leaf = NULL, *parent = strdup(own);
	_cleanup_close_ int fd = -EBADF, own_fd = -EBADF;
	char self[16];

	if (!parent || asprintf(&leaf, "%s/custody-supervisor-%d", own, (int)getpid()) < 0) {
		leaf = NULL;
		return fault_errno(f, ENOMEM, "cgroup");
	}
	if (mkdir(leaf, 0755) < 0)
		return 0;
	(void)snprintf(self, sizeof(self), "%d", (int)getpid());
	fd = open_dir(leaf);
	if (fd >= 0 && cgroup_file_write(fd, "cgroup.procs", self) == 0) {
		if (cgroup_place_enable(own, want)) {
			c->leaf = TAKE_PTR(leaf);
			c->leaf_parent = TAKE_PTR(parent);
			return 1;
		}
		own_fd = open_dir(own);
		if (own_fd >= 0)
			(void)!cgroup_file_write(own_fd, "cgroup.procs", self);
	}
	(void)rmdir(leaf);
	return 0;
}

/* ROOT/custody, with the controllers enabled. Other sessions may remove it concurrently while it is empty. */
static bool make_shared(const char *root, const char *shared, unsigned int want)
{
	if (!cgroup_place_enable(root, want))
		return false;
	for (int i = 0; i < 8; i++) {
		if (mkdir(shared, 0755) < 0 && errno != EEXIST)
			return false;
		if (cgroup_place_enable(shared, want))
			return true;
		if (access(shared, F_OK) == 0)
			return false;
	}
	return false;
}

/* Is DIR the user's systemd's, or below it?  That one enables and disables controllers there as its units need them. */
static bool is_of_user_systemd(const char *dir)
{
	char unit[48];

	(void)snprintf(unit, sizeof(unit), "/user@%u.service", (unsigned int)geteuid());
	return strstr(dir, unit) != NULL;
}

/* systemd marks what it delegates. */
static bool is_delegated(const char *dir)
{
	char mark = 0;

	return getxattr(dir, "user.delegate", &mark, sizeof(mark)) == 1 && mark == '1';
}

/*
 * The nearest ancestor that this user owns and that enables the controllers: the new cgroup is a sibling of
 * our scope.  Below the user's systemd only if a delegated cgroup on the way to us needs the controllers there as long as we
 * run: it would disable them, and with them our limits, when the last unit that needs them ends.
 */
static char *find_ancestor(const struct cgroup_host *h, unsigned int want)
{
	_cleanup_free_ char *dir = strdup(h->v2);
	size_t root = strlen(h->v2_root);
	bool delegated = false;

	while (dir && strlen(dir) > root) {
		char *slash = strrchr(dir, '/');

		if (!slash || (size_t)(slash - dir) < root)
			break;
		delegated = delegated || is_delegated(dir);
		*slash = '\0';
		if ((delegated || !is_of_user_systemd(dir)) &&
		    names_all(dir, "cgroup.subtree_control", want) && access(dir, W_OK) == 0)
			return TAKE_PTR(dir);
	}
	return NULL;
}

static int give(const char *path, char **ret, struct fault *f)
{
	*ret = strdup(path);
	return *ret ? 0 : fault_errno(f, ENOMEM, "cgroup");
}

int cgroup_place_v2(struct cgroup *c, const struct cgroup_host *h, unsigned int want, char **ret,
		    struct fault *f)
{
	_cleanup_free_ char *shared = NULL;
	int r;

	*ret = NULL;
	if (want == 0)
		return give(h->v2, ret, f);
	if (access(h->v2, W_OK) == 0 && cgroup_place_enable(h->v2, want))
		return give(h->v2, ret, f);

	if (asprintf(&shared, "%s/custody", h->v2_root) < 0) {
		shared = NULL;
		return fault_errno(f, ENOMEM, "cgroup");
	}
	if (geteuid() == 0 && make_shared(h->v2_root, shared, want)) {
		*ret = TAKE_PTR(shared);
		return 0;
	}
	if (access(h->v2, W_OK) == 0 && names_all(h->v2, "cgroup.controllers", want) &&
	    holds_only_us(h->v2)) {
		r = move_aside(c, h->v2, want, f);
		if (r < 0)
			return r;
		if (r > 0)
			return give(h->v2, ret, f);
	}
	*ret = find_ancestor(h, want);
	return 0;
}

static void add_names(struct strbuf *b, unsigned int set, const char *separator)
{
	const char *s = "";

	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
		if (!(set & CGROUP_BIT(i)))
			continue;
		strbuf_printf(b, "%s%s", s, cgroup_controller_name(i));
		s = separator;
	}
}

int cgroup_explain_missing(struct cgroup *c, const struct cgroup_host *h, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	unsigned int v1 = 0;

	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++)
		v1 |= h->v1[i] && (c->missing & CGROUP_BIT(i)) ? CGROUP_BIT(i) : 0;
	strbuf_puts(&b, "no cgroup with ");
	add_names(&b, c->missing, ", ");
	if (v1) {
		strbuf_puts(&b, " is delegated to this user");
	} else if (!h->v2) {
		strbuf_puts(
			&b,
			" can be created: no cgroup file system is mounted (as root: mount -t cgroup2 none "
			"/sys/fs/cgroup)");
	} else if (!names_all(h->v2_root, "cgroup.controllers", c->missing)) {
		strbuf_puts(&b, " can be created: this host's cgroup hierarchy lacks these controllers");
	} else {
		strbuf_puts(&b, " is delegated to this user");
	}
	c->setup_helps = v1 || (h->v2 && names_all(h->v2_root, "cgroup.controllers", c->missing));
	c->why = strbuf_take(&b);
	return c->why ? 0 : fault_errno(f, ENOMEM, "cgroup");
}
