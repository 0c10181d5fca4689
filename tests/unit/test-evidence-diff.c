/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-diff.h"

#include "capture/capture.h"
#include "tap.h"
#include "tree-fixture.h"

/* The differences as "PATH=WHAT+WHAT ", in the order of the calls. */
static int say(void *arg, const struct evidence_difference *d)
{
	struct strbuf *out = arg;
	const char *mark = "=";

	strbuf_printf(out, "%s", *d->path ? d->path : ".");
	for (unsigned int i = 0; i < EVIDENCE_CHANGES; i++)
		if (d->what & 1U << i) {
			strbuf_printf(out, "%s%s", mark, evidence_change_name(1U << i));
			mark = "+";
		}
	/* A missing file has no entry, an existing one has one. */
	if (!d->old != !!(d->what & EVIDENCE_ADDED) || !d->new != !!(d->what & EVIDENCE_REMOVED))
		strbuf_puts(out, "(!)");
	strbuf_putc(out, ' ');
	return 0;
}

static bool is(struct strbuf *out, int r, const char *want)
{
	const char *got = out->text ? out->text : "";

	if (r == 0 && strcmp(got, want) == 0)
		return true;
	printf("# %d: '%s', expected '%s'\n", r, got, want);
	return false;
}

static bool differs(const struct tree *a, const struct tree *b, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	return is(&out, evidence_diff(a->fd, b->fd, say, &out, NULL), want);
}

static bool differs_from(const struct evidence_diff_tree *t, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	return is(&out, evidence_diff_tree(t, say, &out, NULL), want);
}

/* Evidence of a tree: taken, as it is. */
struct scene {
	struct tree tree, evidence, other;
};

static void scene_done(struct scene *s)
{
	tree_done(&s->tree);
	tree_done(&s->evidence);
	tree_done(&s->other);
}
#define _cleanup_scene_ _cleanup_(scene_done)

static bool scene_make(struct scene *s)
{
	int fd;

	if (!tree_make(&s->tree) || !tree_make(&s->evidence) || !tree_make(&s->other))
		return false;
	fd = s->tree.fd;
	return tree_put(fd, "file", "text", 0644) && mkdirat(fd, "dir", 0755) == 0 &&
	       tree_put(fd, "dir/in", "inside", 0640) && symlinkat("file", fd, "link") == 0 &&
	       mkfifoat(fd, "pipe", 0600) == 0 && linkat(fd, "file", fd, "name", 0) == 0 &&
	       tree_put_sparse(fd, "holes", 1 << 20);
}

static bool take(int tree, const struct tree *into)
{
	struct capture_stats stats;

	return capture_tree(tree, into->fd, &(struct capture_options){ 0 }, &stats, NULL) == 0;
}

/* Evidence written by hand. */
static bool put_manifest(const struct tree *t, const struct manifest_entry *e, size_t n)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	for (size_t i = 0; i < n; i++)
		if (manifest_write(e + i, &out, NULL) < 0)
			return false;
	return tree_put(t->fd, MANIFEST_NAME, out.text, 0600);
}
#define PUT(t, ...)                                                     \
	put_manifest(t, (const struct manifest_entry[]){ __VA_ARGS__ }, \
		     sizeof((const struct manifest_entry[]){ __VA_ARGS__ }) / sizeof(struct manifest_entry))
#define DIRECTORY(p)                                                    \
	{                                                               \
		.path = (char *)(p), .type = MANIFEST_DIR, .mode = 0755 \
	}
/* Of one byte, so that its digest is the only thing in which two differ. */
#define KEPT_FILE(p, d)                                                                                  \
	{                                                                                                \
		.path = (char *)(p), .type = MANIFEST_FILE, .mode = 0644, .size = 1, .has_digest = true, \
		.digest = { { d } }, .at = (char *)"worktree/x"                                          \
	}

static void equal_trees_do_not_differ(void)
{
	_cleanup_scene_ struct scene s = { 0 };

	CHECK(scene_make(&s) && take(s.tree.fd, &s.evidence) && take(s.tree.fd, &s.other));
	CHECK(differs(&s.evidence, &s.other, ""));
	CHECK(differs_from(&(struct evidence_diff_tree){ .evidence = s.evidence.fd, .tree = s.tree.fd }, ""));
}

/* From the evidence to another one, and from the tree, as it is now, to the evidence: the other way round. */
static void each_kind_of_difference_is_reported(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	int fd;

	CHECK(scene_make(&s) && take(s.tree.fd, &s.evidence));
	fd = s.tree.fd;
	/* Other bytes of the same length; "name" is the same file. */
	CHECK(tree_put(fd, "file", "TEXT", 0644));
	CHECK(fchmodat(fd, "dir/in", 0600, 0) == 0 && unlinkat(fd, "link", 0) == 0);
	CHECK(symlinkat("dir", fd, "link") == 0 && unlinkat(fd, "pipe", 0) == 0);
	CHECK(tree_put(fd, "pipe", "", 0600) && tree_put(fd, "dir/new", "", 0644));
	CHECK(unlinkat(fd, "holes", 0) == 0);
	CHECK(take(fd, &s.other));
	CHECK(differs(&s.evidence, &s.other,
		      "dir/in=mode dir/new=added file=modified holes=removed link=link name=modified "
		      "pipe=type "));
	CHECK(differs_from(&(struct evidence_diff_tree){ .evidence = s.evidence.fd, .tree = fd },
			   "dir/in=mode dir/new=removed file=modified holes=added link=link name=modified "
			   "pipe=type "));
}

static void a_file_with_holes_differs_only_by_its_bytes(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct evidence_diff_tree t;

	CHECK(scene_make(&s) && take(s.tree.fd, &s.evidence));
	t = (struct evidence_diff_tree){ .evidence = s.evidence.fd, .tree = s.tree.fd };
	fd = openat(s.tree.fd, "holes", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && pwrite(fd, "\0\0\0", 3, 512 * 1024) == 3);
	CHECK(differs_from(&t, ""));
	CHECK(pwrite(fd, "x", 1, 512 * 1024 + 1) == 1);
	CHECK(differs_from(&t, "holes=modified "));
	CHECK(pwrite(fd, "\0", 1, 512 * 1024 + 1) == 1 && differs_from(&t, ""));
	CHECK(pwrite(fd, "BEGIN", 5, 4096) == 5 && differs_from(&t, "holes=modified "));
	/* Another length is another file, whatever is in it. */
	CHECK(pwrite(fd, "begin", 5, 4096) == 5 && ftruncate(fd, 2 << 20) == 0);
	CHECK(differs_from(&t, "holes=modified "));
}

static void files_that_were_not_kept_are_unclear(void)
{
	_cleanup_scene_ struct scene s = { 0 };

	CHECK(scene_make(&s));
	CHECK(PUT(&s.evidence, DIRECTORY(""), KEPT_FILE("a", 1), KEPT_FILE("b", 1), KEPT_FILE("c", 1),
		  { .path = (char *)"d", .type = MANIFEST_UNKNOWN, .why = (char *)"EIO" }));
	CHECK(PUT(&s.other, DIRECTORY(""), KEPT_FILE("a", 1), KEPT_FILE("b", 2),
		  { .path = (char *)"c",
		    .type = MANIFEST_FILE,
		    .mode = 0600,
		    .size = 1,
		    .why = (char *)"full" },
		  { .path = (char *)"d", .type = MANIFEST_UNKNOWN, .why = (char *)"EIO" }));
	CHECK(differs(&s.evidence, &s.other, "b=modified c=mode+unclear d=unclear "));
}

static void owners_and_removed_names_are_compared(void)
{
	_cleanup_scene_ struct scene s = { 0 };

	CHECK(scene_make(&s));
	CHECK(PUT(&s.evidence, DIRECTORY(""), { .path = (char *)"back", .type = MANIFEST_GONE },
		  { .path = (char *)"both", .type = MANIFEST_GONE },
		  { .path = (char *)"d", .type = MANIFEST_DIR, .mode = 0755, .uid = 1 },
		  KEPT_FILE("went", 1)));
	CHECK(PUT(&s.other, DIRECTORY(""), KEPT_FILE("back", 1),
		  { .path = (char *)"both", .type = MANIFEST_GONE },
		  { .path = (char *)"d", .type = MANIFEST_DIR, .mode = 0755, .uid = 2 },
		  { .path = (char *)"went", .type = MANIFEST_GONE }));
	CHECK(differs(&s.evidence, &s.other, "back=added d=owner went=removed "));
}

/* A name refers to the one that has the bytes: it differs when that does. */
static void another_name_of_a_file_is_that_file(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	struct manifest_entry first = KEPT_FILE("first", 1), second = {
		.path = (char *)"second", .type = MANIFEST_FILE, .mode = 0644, .size = 1, .same = 7
	};

	CHECK(scene_make(&s));
	first.id = 7;
	CHECK(PUT(&s.evidence, DIRECTORY(""), first, second));
	CHECK(PUT(&s.other, DIRECTORY(""), first, KEPT_FILE("second", 1)));
	CHECK(differs(&s.evidence, &s.other, ""));
	CHECK(PUT(&s.other, DIRECTORY(""), first, KEPT_FILE("second", 2)));
	CHECK(differs(&s.evidence, &s.other, "second=modified "));
}

/* Owned by the user who runs the test, like the tree. */
static struct manifest_entry own(struct manifest_entry e)
{
	e.uid = geteuid();
	e.gid = getegid();
	return e;
}

static void files_that_changes_do_not_name_are_unchanged(void)
{
	struct manifest_xattr opaque = { .name = (char *)"user.overlay.opaque",
					 .value = (char *)"y",
					 .len = 1 };
	_cleanup_scene_ struct scene s = { 0 };
	struct evidence_diff_tree t;
	struct manifest_entry root = DIRECTORY(""), dir = DIRECTORY("dir");
	struct stat st;

	CHECK(scene_make(&s) && fstat(s.tree.fd, &st) == 0);
	root.mode = st.st_mode & 07777;
	t = (struct evidence_diff_tree){ .evidence = s.evidence.fd, .tree = s.tree.fd, .changes = true };
	CHECK(PUT(&s.evidence, own(root), { .path = (char *)"link", .type = MANIFEST_GONE }));
	CHECK(differs_from(&t, "link=removed "));
	CHECK(PUT(&s.evidence, own(root), own(dir)) && differs_from(&t, ""));
	/* A directory of its own in the place of the one that was there. */
	dir.xattrs = &opaque;
	dir.n_xattrs = 1;
	CHECK(PUT(&s.evidence, own(root), own(dir)) && differs_from(&t, "dir/in=removed "));
	CHECK(PUT(&s.evidence, own(root), own((struct manifest_entry)KEPT_FILE("dir", 1))));
	CHECK(differs_from(&t, "dir=type dir/in=removed "));
}

static void files_that_were_not_captured_are_not_compared(void)
{
	char *hidden[] = { (char *)"dir", NULL };
	_cleanup_scene_ struct scene s = { 0 };
	struct evidence_diff_tree t;
	struct manifest_entry root = DIRECTORY("");
	struct stat st;

	CHECK(scene_make(&s) && fstat(s.tree.fd, &st) == 0);
	root.mode = st.st_mode & 07777;
	t = (struct evidence_diff_tree){ .evidence = s.evidence.fd, .tree = s.tree.fd, .cut = true };
	CHECK(PUT(&s.evidence, own(root), own((struct manifest_entry)KEPT_FILE("file", 1))));
	CHECK(differs_from(&t, "file=modified "));
	t.cut = false;
	t.hidden = hidden;
	CHECK(differs_from(&t, "file=modified holes=removed link=removed name=removed pipe=removed "));
}

static int stop(void *arg, const struct evidence_difference *d)
{
	(void)d;
	++*(int *)arg;
	return 42;
}

static void the_callback_may_stop_the_walk(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	int times = 0;

	CHECK(scene_make(&s) && PUT(&s.evidence, DIRECTORY("")));
	CHECK(PUT(&s.other, DIRECTORY(""), KEPT_FILE("a", 1), KEPT_FILE("b", 1)));
	CHECK(evidence_diff(s.evidence.fd, s.other.fd, stop, &times, NULL) == 42 && times == 1);
}

static void evidence_that_cannot_be_read_is_an_error(void)
{
	_cleanup_scene_ struct scene s = { 0 };
	_cleanup_strbuf_ struct strbuf out = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(scene_make(&s) && PUT(&s.evidence, DIRECTORY("")));
	CHECK(evidence_diff(s.evidence.fd, s.other.fd, say, &out, &f) < 0 && f.text && !out.text);
	CHECK(tree_put(s.other.fd, MANIFEST_NAME, "{\"p\":\"../x\",\"t\":\"d\"}\n", 0600));
	CHECK(evidence_diff(s.evidence.fd, s.other.fd, say, &out, NULL) < 0 && !out.text);
}

TAP_MAIN(T(equal_trees_do_not_differ), T(each_kind_of_difference_is_reported),
	 T(a_file_with_holes_differs_only_by_its_bytes), T(files_that_were_not_kept_are_unclear),
	 T(owners_and_removed_names_are_compared), T(another_name_of_a_file_is_that_file),
	 T(files_that_changes_do_not_name_are_unchanged), T(files_that_were_not_captured_are_not_compared),
	 T(the_callback_may_stop_the_walk), T(evidence_that_cannot_be_read_is_an_error))
