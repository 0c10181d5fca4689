/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/operand.h"

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
#include "subject/operand-path.h"

#define NO_SEAL "or run with --no-seal, which does not seal the worktree"

static const char *const seal_names[] = {
	[OPERAND_SEAL_NAMED] = "named",
	[OPERAND_SEAL_NONE] = "none",
	[OPERAND_SEAL_TREE] = "tree",
};

const char *operand_seal_name(enum operand_seal s)
{
	return (size_t)s < ARRAY_SIZE(seal_names) ? seal_names[s] : "";
}

int operand_seal_parse(const char *name, enum operand_seal *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(seal_names); i++)
		if (strcmp(seal_names[i], name) == 0) {
			*ret = (enum operand_seal)i;
			return 0;
		}
	return -EINVAL;
}

static int open_tree(const struct subject *s, struct fault *f)
{
	int fd = open(subject_tree_path(s), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* A directory with search but without read permission still has files that can be named. */
	if (fd < 0 && errno == EACCES)
		fd = open(subject_tree_path(s), O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "worktree '%s'", s->worktree) : fd;
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Reads a regular file that must not change concurrently.  *RET is heap, SIZE long. */
static int read_whole(int fd, const char *path, uint64_t room, char **ret, uint64_t *ret_size,
		      struct fault *f)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat before, after;
	size_t size, got = 0;

	if (fstat(fd, &before) < 0)
		return fault_errno(f, errno, "'%s'", path);
	if ((uint64_t)before.st_size > room)
		return fault_set(f, EFBIG,
				 "the files that the command names are larger than %llu MiB together (one is "
				 "'%s'): name fewer, " NO_SEAL,
				 (unsigned long long)(OPERAND_BYTES_MAX >> 20), path);
	size = (size_t)before.st_size;
	bytes = malloc(size + 1);
	if (!bytes)
		return fault_errno(f, ENOMEM, "'%s'", path);
	for (;;) {
		/* One byte more than expected detects a growing file. */
		ssize_t n = read(fd, bytes + got, size + 1 - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read '%s'", path);
		got += (size_t)n;
		if (n == 0 || got > size)
			break;
	}
	if (fstat(fd, &after) < 0)
		return fault_errno(f, errno, "'%s'", path);
	if (got != size || after.st_size != before.st_size ||
	    !is_same_time(&after.st_mtim, &before.st_mtim) || !is_same_time(&after.st_ctim, &before.st_ctim))
		return fault_set(f, EBUSY, "'%s' changed while it was read: try again, " NO_SEAL, path);
	*ret = TAKE_PTR(bytes);
	*ret_size = size;
	return 0;
}

static int add_links(struct subject *s, const struct operand_lower *parents, struct fault *f)
{
	for (size_t i = 0; i < parents->n_nodes; i++) {
		const struct operand_node *n = &parents->nodes[i];
		struct operand_link *more;

		if (!S_ISLNK(n->st.st_mode) || operand_lower_find(s->lower, n->path))
			continue;
		more = reallocarray(s->operand_links, s->n_operand_links + 1, sizeof(*more));
		if (!more)
			return fault_errno(f, ENOMEM, "operand");
		s->operand_links = more;
		more += s->n_operand_links++;
		*more = (struct operand_link){ strdup(n->path), strdup(n->bytes) };
		if (!more->path || !more->text)
			return fault_errno(f, ENOMEM, "operand");
		if (!str_is_utf8(more->path, strlen(more->path)) ||
		    !str_is_utf8(more->text, strlen(more->text)))
			return fault_set(f, EILSEQ,
					 "a link that leads to an operand is not UTF-8: rename it, " NO_SEAL);
	}
	return 0;
}

/* Moves nodes that are new; existing ones stay with PLACE. */
static int merge_lower(struct operand_lower *to, struct operand_lower *from, struct fault *f)
{
	struct operand_node *more = reallocarray(to->nodes, to->n_nodes + from->n_nodes + 1, sizeof(*more));

	if (!more)
		return fault_errno(f, ENOMEM, "operand");
	to->nodes = more;
	for (size_t i = 0; i < from->n_nodes; i++) {
		if (operand_lower_find(to, from->nodes[i].path))
			continue;
		to->nodes[to->n_nodes++] = from->nodes[i];
		from->nodes[i] = (struct operand_node){ 0 };
	}
	return 0;
}

static struct operand *find_path(const struct subject *s, const char *path)
{
	for (size_t i = 0; i < s->n_operands; i++)
		if (strcmp(s->operands[i].path, path) == 0)
			return &s->operands[i];
	return NULL;
}

static int read_operand(struct subject *s, struct operand *o, struct operand_place *p, uint64_t *room,
			struct fault *f)
{
	const struct operand_node *node;
	char *bytes = NULL;
	int r;

	r = read_whole(p->fd, p->path, *room, &bytes, &o->size, f);
	if (r < 0)
		return r;
	*room -= o->size;
	digest_bytes(bytes, o->size, &o->sha256);
	r = add_links(s, &p->parents, f);
	if (r >= 0)
		r = merge_lower(s->lower, &p->parents, f);
	if (r < 0) {
		free(bytes);
		return r;
	}
	r = operand_lower_add(s->lower, p->fd, p->path, bytes, f);
	node = operand_lower_find(s->lower, p->path);
	if (r < 0 || !node)
		return r;
	o->mode = node->st.st_mode & 0777;
	if ((uint64_t)node->st.st_size != o->size)
		return fault_set(f, EBUSY, "'%s' changed while it was read: try again, " NO_SEAL, p->path);
	return 0;
}

static int add_operand(struct subject *s, size_t arg, size_t at, struct operand_place *p, uint64_t *room,
		       struct fault *f)
{
	struct operand *more = reallocarray(s->operands, s->n_operands + 1, sizeof(*more)), *o;
	const struct operand *same;
	size_t n_files = 0;

	if (!more)
		return fault_errno(f, ENOMEM, "operand");
	s->operands = more;
	if (!str_is_utf8(p->path, strlen(p->path)))
		return fault_set(f, EILSEQ, "the path of an operand is not UTF-8: rename it, " NO_SEAL);
	same = find_path(s, p->path);
	o = &s->operands[s->n_operands];
	*o = (struct operand){ .path = strdup(p->path) };
	if (!o->path)
		return fault_errno(f, ENOMEM, "operand");
	s->n_operands++;
	if (same) {
		o->sha256 = same->sha256;
		o->size = same->size;
		o->mode = same->mode;
		o->again = true;
	}
	o->arg = arg;
	o->at = at;
	for (size_t i = 0; i < s->n_operands; i++)
		n_files += !s->operands[i].again;
	if (n_files > OPERAND_FILES_MAX)
		return fault_set(f, E2BIG,
				 "the command names more than %d files of the worktree: name a directory or "
				 "a list, " NO_SEAL,
				 OPERAND_FILES_MAX);
	/* A second path to the same file has links of its own. */
	if (same) {
		int r = add_links(s, &p->parents, f);

		return r < 0 ? r : merge_lower(s->lower, &p->parents, f);
	}
	return read_operand(s, o, p, room, f);
}

/* One word of argv: position of a file of the tree in it.  Returns as operand_resolve. */
static int resolve_word(const struct subject *s, int rootfd, const char *word, size_t *ret_at,
			struct operand_place *p, struct fault *f)
{
	const char *equal;
	int r;

	*ret_at = 0;
	r = operand_resolve(s, rootfd, word, p, f);
	if (r != 0)
		return r < 0 ? fault_wrap(f, r, "operand '%s' (%s)", word, NO_SEAL) : r;
	equal = strchr(word, '=');
	if (!equal)
		return 0;
	*ret_at = (size_t)(equal + 1 - word);
	r = operand_resolve(s, rootfd, equal + 1, p, f);
	return r < 0 ? fault_wrap(f, r, "operand '%s' (%s)", word, NO_SEAL) : r;
}

/*
 * A word without a slash, through the entries of PATH that are in the tree.  *RET_FIRST: no entry outside precedes
 * the match.
 */
static int search(const struct subject *s, int rootfd, const char *path, const char *word,
		  struct operand_place *p, bool *ret_first, struct fault *f)
{
	const char *dir = path;
	int r = 0;

	*ret_first = true;
	for (const char *end; r == 0 && dir; dir = *end ? end + 1 : NULL) {
		_cleanup_free_ char *name = NULL, *absolute = NULL;

		end = dir + strcspn(dir, ":");
		if (asprintf(&name, "%.*s%s%s", (int)(end - dir), dir, end > dir ? "/" : "", word) < 0) {
			name = NULL;
			return fault_errno(f, ENOMEM, "operand");
		}
		absolute = name[0] == '/' ? strdup(name) : path_join(s->cwd, name);
		if (!absolute)
			return fault_errno(f, ENOMEM, "operand");
		if (operand_names_tree(s, absolute))
			r = operand_resolve(s, rootfd, absolute, p, f);
		else
			*ret_first = false;
	}
	return r < 0 ? fault_wrap(f, r, "command '%s'", word) : r;
}

/* Programs that find their commands search words without a slash, and an empty PATH is the working directory. */
static bool is_searched(const char *path, const char *word)
{
	return *path && *word && !strchr(word, '/') && !strchr(word, '=');
}

struct finding {
	struct subject *s;
	int rootfd;
	uint64_t room; /* bytes left */
};

/* 1: ARGV[i] names a file of the tree by itself. */
static int find_word(struct finding *d, size_t i, bool runs, struct fault *f)
{
	_cleanup_operand_place_ struct operand_place p = { .fd = -EBADF };
	struct subject *s = d->s;
	size_t at = 0;
	int r;

	r = i == 0 ? operand_resolve(s, d->rootfd, s->argv[0], &p, f)
		   : resolve_word(s, d->rootfd, s->argv[i], &at, &p, f);
	if (r != 1)
		return r;
	r = add_operand(s, i, at, &p, &d->room, f);
	if (r >= 0 && runs && at == 0)
		s->operands[s->n_operands - 1].use = OPERAND_RUNS;
	return r < 0 ? r : at == 0;
}

/* 1: it names one through PATH. */
static int find_searched(struct finding *d, size_t i, const char *path, bool runs, struct fault *f)
{
	_cleanup_operand_place_ struct operand_place p = { .fd = -EBADF };
	struct subject *s = d->s;
	const struct operand *word = i > 0 ? operand_of(s, i, false) : NULL;
	bool first;
	int r;

	if (i > 0 && !is_searched(path, s->argv[i]))
		return 0;
	r = search(s, d->rootfd, path, s->argv[i], &p, &first, f);
	if (r != 1 || (word && strcmp(word->path, p.path) == 0))
		return r;
	r = add_operand(s, i, 0, &p, &d->room, f);
	if (r < 0)
		return r;
	s->operands[s->n_operands - 1].searched = i > 0;
	if (runs && first)
		s->operands[s->n_operands - 1].use = OPERAND_RUNS;
	return 1;
}

/*
 * The program that a wrapper executes comes from PATH, the script of a shell only if the working directory has none.  What
 * other programs do with a word is unknown: both files are sealed.
 */
static int find_both(struct finding *d, size_t i, enum operand_role role, const char *path, struct fault *f)
{
	int r, other = 0;

	if (role == OPERAND_ROLE_COMMAND) {
		r = find_searched(d, i, path, true, f);
		if (r >= 0)
			other = find_word(d, i, r == 0, f);
	} else {
		r = find_word(d, i, role == OPERAND_ROLE_SCRIPT, f);
		if (r >= 0)
			other = find_searched(d, i, path, role == OPERAND_ROLE_SCRIPT && r == 0, f);
	}
	return r < 0 ? r : other < 0 ? other : r || other;
}

static int find_all(struct subject *s, int rootfd, struct fault *f)
{
	struct finding d = { .s = s, .rootfd = rootfd, .room = OPERAND_BYTES_MAX };
	struct operand_reader reader = operand_reader_new(s);
	int r = 0;

	for (size_t i = 0; r >= 0 && s->argv[i]; i++) {
		enum operand_role role = operand_reader_role(&reader, s->argv[i]);

		if (i > 0)
			r = find_both(&d, i, role, reader.path, f);
		else if (strchr(s->argv[0], '/'))
			r = find_word(&d, 0, true, f);
		else
			r = find_searched(&d, 0, reader.path, true, f);
		operand_reader_pass(&reader, s->argv[i], i == 0, r > 0);
	}
	return r < 0 ? r : 0;
}

int operand_find(struct subject *s, struct fault *f)
{
	_cleanup_close_ int rootfd = -EBADF;
	int r;

	if (!s->worktree || s->seal == OPERAND_SEAL_NONE)
		return 0;
	rootfd = open_tree(s, f);
	if (rootfd < 0)
		return rootfd;
	s->lower = calloc(1, sizeof(*s->lower));
	if (!s->lower)
		return fault_errno(f, ENOMEM, "operand");
	r = find_all(s, rootfd, f);
	if (r < 0 || s->seal != OPERAND_SEAL_TREE)
		return r;
	return fault_wrap(f, operand_digest_tree(rootfd, &s->tree, &s->tree_lines, f), "--seal-tree");
}

/* First line of A or B that is missing in the other, copied to TEXT. */
static void name_difference(const char *a, const char *b, char text[256])
{
	size_t n;

	while (*a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || memcmp(a, b, la) != 0)
			break;
		a += la + (a[la] == '\n');
		b += lb + (b[lb] == '\n');
	}
	/* The path is the fourth word. */
	b = *b ? b : a;
	n = strcspn(b, "\n");
	for (int words = 0; words < 3 && n; words++) {
		size_t skip = strcspn(b, " \n") + 1;

		skip = skip > n ? n : skip;
		b += skip;
		n -= skip;
	}
	(void)snprintf(text, 256, "%.*s", n > 255 ? 255 : (int)n, b);
}

static int require_same_tree(const struct subject *s, int rootfd, struct fault *f)
{
	_cleanup_free_ char *lines = NULL;
	char path[256] = "";
	struct digest d;
	int r;

	r = operand_digest_tree(rootfd, &d, &lines, f);
	if (r < 0)
		return fault_wrap(f, r, "--seal-tree");
	if (digest_equal(&d, &s->tree))
		return 0;
	if (s->tree_lines)
		name_difference(s->tree_lines, lines, path);
	return fault_set(f, EBADMSG, "the worktree changed after it was sealed%s%s%s", path[0] ? ": '" : "",
			 path, path[0] ? "'" : "");
}

static int require_same_content(const struct operand *o, const struct operand_place *p, struct fault *f)
{
	_cleanup_free_ char *bytes = NULL;
	struct digest d;
	uint64_t size;
	int r;

	r = read_whole(p->fd, p->path, OPERAND_BYTES_MAX, &bytes, &size, f);
	if (r < 0)
		return r;
	digest_bytes(bytes, size, &d);
	if (!digest_equal(&d, &o->sha256) || strcmp(o->path, p->path) != 0)
		return fault_set(f, EBADMSG, "operand '%s' changed after it was checked", p->path);
	return 0;
}

/* It runs from its copy, whatever the tree contains now. */
static bool is_in_place(const struct subject *s, const struct operand *o)
{
	return s->profile->workspace == PROFILE_WORKSPACE_RW && o->use == OPERAND_DATA;
}

static int refuse_new(const char *word, struct fault *f)
{
	return fault_set(f, EBADMSG,
			 "'%s' names a file of the worktree now, but did not when the command was checked",
			 word);
}

static int require_same_word(const struct subject *s, int rootfd, size_t i, struct fault *f)
{
	_cleanup_operand_place_ struct operand_place p = { .fd = -EBADF };
	const struct operand *o = operand_of(s, i, false);
	size_t at;
	int r;

	if (o && !is_in_place(s, o))
		return 0;
	r = i == 0 ? operand_resolve(s, rootfd, s->argv[0], &p, f)
		   : resolve_word(s, rootfd, s->argv[i], &at, &p, f);
	if (r < 0)
		return r;
	if (!o)
		return r == 0 ? 0 : refuse_new(s->argv[i], f);
	return r == 1 ? require_same_content(o, &p, f)
		      : fault_set(f, EBADMSG, "operand '%s' was removed", o->path);
}

/* Also a sealed one: a file in an earlier entry of PATH would run in its place. */
static int require_same_search(const struct subject *s, int rootfd, const char *path, size_t i,
			       struct fault *f)
{
	_cleanup_operand_place_ struct operand_place p = { .fd = -EBADF };
	const struct operand *o = operand_of(s, i, i > 0), *word = i > 0 ? operand_of(s, i, false) : NULL;
	bool first;
	int r;

	if (i > 0 && !is_searched(path, s->argv[i]))
		return 0;
	r = search(s, rootfd, path, s->argv[i], &p, &first, f);
	if (r < 0)
		return r;
	if (r == 1 && o && strcmp(o->path, p.path) == 0)
		return is_in_place(s, o) ? require_same_content(o, &p, f) : 0;
	if (r == 1 && !(word && strcmp(word->path, p.path) == 0))
		return refuse_new(s->argv[i], f);
	return r == 0 && o && is_in_place(s, o) ? fault_set(f, EBADMSG, "operand '%s' was removed", o->path)
						: 0;
}

static int require_same_words(const struct subject *s, int rootfd, struct fault *f)
{
	struct operand_reader reader = operand_reader_new(s);
	int r = 0;

	for (size_t i = 0; r >= 0 && s->argv[i]; i++) {
		const struct operand *o = operand_at(s, i);

		(void)operand_reader_role(&reader, s->argv[i]);
		if (i > 0 || strchr(s->argv[0], '/'))
			r = require_same_word(s, rootfd, i, f);
		if (r >= 0 && (i > 0 || !strchr(s->argv[0], '/')))
			r = require_same_search(s, rootfd, reader.path, i, f);
		operand_reader_pass(&reader, s->argv[i], i == 0, o && o->at == 0);
	}
	return r;
}

int operand_require_same(const struct subject *s, struct fault *f)
{
	_cleanup_close_ int rootfd = -EBADF;
	int r;

	if (!s->worktree || s->seal == OPERAND_SEAL_NONE)
		return 0;
	rootfd = open_tree(s, f);
	if (rootfd < 0)
		return rootfd;
	r = require_same_words(s, rootfd, f);
	return r < 0 || s->seal != OPERAND_SEAL_TREE ? r : require_same_tree(s, rootfd, f);
}

bool operand_needs_lower(const struct subject *s)
{
	if (s->profile->workspace != PROFILE_WORKSPACE_RW)
		return s->n_operands > 0;
	for (size_t i = 0; i < s->n_operands; i++)
		if (s->operands[i].use == OPERAND_RUNS)
			return true;
	return false;
}

char *operand_word(const struct subject *s, size_t i)
{
	const struct operand *o = operand_at(s, i);

	if (s->profile->workspace == PROFILE_WORKSPACE_RW && o && o->use == OPERAND_RUNS)
		return path_join(OPERAND_DIR, o->path);
	return strdup(s->argv[i]);
}
