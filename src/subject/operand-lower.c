/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "subject/operand-path.h"

#define ATTRS_MAX 65536	  /* bytes of names, and of one value: the kernel's own limits */
#define UNMAPPED_ID 65534 /* an id in no container's map: it has no rights inside */

struct operand_node *operand_lower_find(const struct operand_lower *l, const char *path)
{
	for (size_t i = 0; i < l->n_nodes; i++)
		if (strcmp(l->nodes[i].path, path) == 0)
			return &l->nodes[i];
	return NULL;
}

/*
 * Attributes of users and programs.  Not overlayfs' own: in a lower they would be instructions to it.  Not
 * security.*: capabilities are equivalent to set-id.
 */
static bool is_kept(const char *name)
{
	return (str_starts(name, "user.") && !str_starts(name, "user.overlay.")) ||
	       str_starts(name, "system.posix_acl_");
}

static int add_attr(struct operand_node *n, const char *path, const char *name, struct fault *f)
{
	_cleanup_free_ char *value = malloc(ATTRS_MAX), *copy = strdup(name);
	struct operand_attr *more = reallocarray(n->attrs, n->n_attrs + 1, sizeof(*more));
	ssize_t len;

	if (more)
		n->attrs = more;
	if (!value || !copy || !more)
		return fault_errno(f, ENOMEM, "operand");
	len = getxattr(path, name, value, ATTRS_MAX);
	if (len < 0)
		return errno == ENODATA ? 0 : fault_errno(f, errno, "attribute '%s'", name);
	n->attrs[n->n_attrs++] = (struct operand_attr){ TAKE_PTR(copy), TAKE_PTR(value), (size_t)len };
	return 0;
}

static int read_attrs(struct operand_node *n, int fd, struct fault *f)
{
	_cleanup_free_ char *names = NULL;
	char path[40];
	ssize_t len;
	int r = 0;

	if (S_ISLNK(n->st.st_mode))
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = listxattr(path, NULL, 0);
	if (len <= 0)
		return len == 0 || errno == EOPNOTSUPP ? 0 : fault_errno(f, errno, "attributes");
	names = malloc(ATTRS_MAX);
	if (!names)
		return fault_errno(f, ENOMEM, "operand");
	len = listxattr(path, names, ATTRS_MAX);
	if (len < 0)
		return fault_errno(f, errno, "attributes");
	for (const char *name = names; r >= 0 && name < names + len; name += strlen(name) + 1)
		if (is_kept(name))
			r = add_attr(n, path, name, f);
	return r;
}

int operand_lower_add(struct operand_lower *l, int fd, const char *path, char *bytes, struct fault *f)
{
	_cleanup_free_ char *own = bytes;
	struct operand_node *n;
	int r;

	if (operand_lower_find(l, path))
		return 0;
	n = reallocarray(l->nodes, l->n_nodes + 1, sizeof(*n));
	if (!n)
		return fault_errno(f, ENOMEM, "operand");
	l->nodes = n;
	n += l->n_nodes;
	*n = (struct operand_node){ .path = strdup(path) };
	if (!n->path)
		return fault_errno(f, ENOMEM, "operand");
	l->n_nodes++;
	n->bytes = TAKE_PTR(own);
	if (fstat(fd, &n->st) < 0)
		return fault_errno(f, errno, "'%s'", path);
	r = read_attrs(n, fd, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : 0;
}

static int make_node(const struct operand_node *n, int dirfd, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (strcmp(n->path, ".") == 0)
		return 0;
	if (S_ISDIR(n->st.st_mode))
		return mkdirat(dirfd, n->path, 0700) < 0 ? fault_errno(f, errno, "make '%s'", n->path) : 0;
	if (S_ISLNK(n->st.st_mode))
		return symlinkat(n->bytes, dirfd, n->path) < 0 ? fault_errno(f, errno, "link '%s'", n->path)
							       : 0;
	fd = openat(dirfd, n->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", n->path);
	return fd_write_all(fd, n->bytes, (size_t)n->st.st_size, f);
}

static int give(const struct operand_node *n, int dirfd, const struct operand_ids *ids, struct fault *f)
{
	uid_t uid = n->st.st_uid;
	gid_t gid = n->st.st_gid;

	if (ids->rootless)
		return 0;
	if (!ids->identity) {
		/* A file of kept changes has the command's id already. */
		uid = uid == ids->from_uid || uid == ids->to_uid ? ids->to_uid : UNMAPPED_ID;
		gid = gid == ids->from_gid || gid == ids->to_gid ? ids->to_gid : UNMAPPED_ID;
	}
	if (fchownat(dirfd, n->path, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "give '%s' to uid %u", n->path, (unsigned int)uid);
	return 0;
}

/*
 * A user's copy of another user's file belongs to the user: it gets the permissions of "others" for its owner
 * too.
 */
static mode_t copy_mode(const struct operand_node *n, const struct operand_ids *ids)
{
	mode_t mode = n->st.st_mode & (S_ISDIR(n->st.st_mode) ? 01777 : 0777);

	if (ids->rootless && n->st.st_uid != geteuid())
		mode |= (mode & 07) << 6 | (mode & 070) << 3;
	return mode;
}

static int set_attrs(const struct operand_node *n, int dirfd, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (n->n_attrs == 0)
		return 0;
	fd = openat(dirfd, n->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", n->path);
	for (size_t i = 0; i < n->n_attrs; i++)
		/* tmpfs supports user.* since Linux 6.6; they do not affect execution. */
		if (fsetxattr(fd, n->attrs[i].name, n->attrs[i].value, n->attrs[i].len, 0) < 0 &&
		    errno != EOPNOTSUPP)
			return fault_errno(f, errno, "set attribute '%s' of '%s'", n->attrs[i].name, n->path);
	return 0;
}

static int finish_node(const struct operand_node *n, int dirfd, const struct operand_ids *ids,
		       struct fault *f)
{
	struct timespec times[2] = { n->st.st_mtim, n->st.st_mtim };
	int r;

	r = set_attrs(n, dirfd, f);
	if (r >= 0)
		r = give(n, dirfd, ids, f);
	if (r < 0)
		return r;
	if (!S_ISLNK(n->st.st_mode) && fchmodat(dirfd, n->path, copy_mode(n, ids), 0) < 0)
		return fault_errno(f, errno, "set the mode of '%s'", n->path);
	if (utimensat(dirfd, n->path, times, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "set the time of '%s'", n->path);
	return 0;
}

int operand_lower_write(const struct subject *s, int dirfd, const struct operand_ids *ids, struct fault *f)
{
	const struct operand_lower *l = s->lower;
	int r = 0;

	if (!l)
		return 0;
	for (size_t i = 0; r >= 0 && i < l->n_nodes; i++)
		r = make_node(&l->nodes[i], dirfd, f);
	/* Backwards: time and mode of a directory are set after its last entry is created. */
	for (size_t i = l->n_nodes; r >= 0 && i-- > 0;)
		r = finish_node(&l->nodes[i], dirfd, ids, f);
	return r < 0 ? fault_wrap(f, r, "write sealed copies") : 0;
}

void operand_lower_free(struct operand_lower *l)
{
	struct operand_place p = { .fd = -EBADF };

	if (!l)
		return;
	p.parents = *l;
	operand_place_done(&p);
	free(l);
}

/* Compares a lower on disk with the subject. */
struct lower_check {
	const struct subject *s;
	size_t n_found;
};

static const struct operand *find_operand(const struct subject *s, const char *path)
{
	for (size_t i = 0; i < s->n_operands; i++)
		if (strcmp(s->operands[i].path, path) == 0)
			return &s->operands[i];
	return NULL;
}

static const struct operand_link *find_link(const struct subject *s, const char *path)
{
	for (size_t i = 0; i < s->n_operand_links; i++)
		if (strcmp(s->operand_links[i].path, path) == 0)
			return &s->operand_links[i];
	return NULL;
}

static bool is_parent(const struct subject *s, const char *dir)
{
	for (size_t i = 0; i < s->n_operands; i++)
		if (path_is_below(s->operands[i].path, dir))
			return true;
	for (size_t i = 0; i < s->n_operand_links; i++)
		if (path_is_below(s->operand_links[i].path, dir))
			return true;
	return false;
}

static int check_link(const struct lower_check *c, const struct walk_entry *e, struct fault *f)
{
	const struct operand_link *link = find_link(c->s, e->path);
	char text[4096];
	ssize_t n = readlinkat(e->dirfd, e->name, text, sizeof(text) - 1);

	if (n < 0)
		return fault_errno(f, errno, "read the link '%s'", e->path);
	text[n] = '\0';
	if (!link || strcmp(link->text, text) != 0)
		return fault_set(f, EBADMSG, "the sealed link '%s' differs from the approved one", e->path);
	return 0;
}

static int check_file(const struct lower_check *c, const struct walk_entry *e, struct fault *f)
{
	_cleanup_close_ int fd = openat(e->dirfd, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const struct operand *o = find_operand(c->s, e->path);
	struct digest d;
	int r;

	if (!o)
		return fault_set(f, EBADMSG,
				 "unexpected file '%s' among the sealed copies: it was not approved",
				 e->path);
	if (fd < 0)
		return fault_errno(f, errno, "open the sealed copy of '%s'", e->path);
	if (e->stx.stx_size != o->size)
		return fault_set(f, EBADMSG, "the sealed copy of '%s' has %llu bytes, not %llu", e->path,
				 (unsigned long long)e->stx.stx_size, (unsigned long long)o->size);
	r = digest_fd(fd, &d, f);
	if (r < 0)
		return r;
	if (!digest_equal(&d, &o->sha256))
		return fault_set(f, EBADMSG, "the sealed copy of '%s' differs from the approved content",
				 e->path);
	if (e->stx.stx_mode & (S_ISUID | S_ISGID))
		return fault_set(f, EBADMSG, "the sealed copy of '%s' is set-id", e->path);
	return 0;
}

static int check_entry(void *arg, const struct walk_entry *e, bool other_mount, struct fault *f)
{
	struct lower_check *c = arg;

	if (S_ISDIR(e->stx.stx_mode) && !other_mount && is_parent(c->s, e->path))
		return 0;
	c->n_found++;
	if (S_ISLNK(e->stx.stx_mode))
		return check_link(c, e, f);
	if (S_ISREG(e->stx.stx_mode))
		return check_file(c, e, f);
	return fault_set(f, EBADMSG, "unexpected file '%s' among the sealed copies: it was not approved",
			 e->path);
}

int operand_lower_verify(const struct subject *s, int dirfd, struct fault *f)
{
	struct lower_check c = { .s = s };
	size_t n = s->n_operand_links;
	int r;

	for (size_t i = 0; i < s->n_operands; i++)
		n += !s->operands[i].again;
	r = operand_walk(dirfd, check_entry, &c, f);
	if (r < 0)
		return r;
	if (c.n_found != n)
		return fault_set(f, EBADMSG, "%zu sealed copies expected, %zu found", n, c.n_found);
	return 0;
}
