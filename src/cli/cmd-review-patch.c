/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One change as a patch for git and patch(1). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cmd-review.h"
#include "review/line-diff.h"
#include "base/tree-at.h"

#define CONTEXT 3
#define DIGEST_MAX ((uint64_t)1024 * 1024 * 1024) /* hashing a large sparse file would take hours */
#define DIGEST_ALL_MAX (8 * DIGEST_MAX)		  /* likewise many files, or many links to one */

/* Content of one side. */
struct side {
	char *bytes;
	size_t len;
	bool binary, large, no_digest;
	char hex[DIGEST_HEX_SIZE]; /* digest of content that is not printed; NO_DIGEST: not computed */
};

static void side_done(struct side *s)
{
	free(s->bytes);
}
#define _cleanup_side_ _cleanup_(side_done)

/* BUDGET: bytes that may still be read for digests; NULL: no digest is needed. */
static int digest_side(int fd, struct side *s, uint64_t *budget, struct fault *f)
{
	struct digest d;
	int e;

	s->no_digest = !budget || s->len > DIGEST_MAX || s->len > *budget;
	if (s->no_digest)
		return 0;
	*budget -= s->len;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "read");
	e = digest_fd(fd, &d, f);
	if (e == 0)
		digest_to_hex(&d, s->hex);
	return e;
}

static int read_file(int fd, uint64_t size, struct side *s, uint64_t *budget, struct fault *f)
{
	int e;

	if (size > LINE_DIFF_BYTES) {
		s->large = true;
		s->len = size;
		return digest_side(fd, s, budget, f);
	}
	e = fd_read_all(fd, LINE_DIFF_BYTES, &s->bytes, &s->len, f);
	if (e == -EFBIG) {
		if (f)
			fault_done(f);
		s->large = true;
		s->len = size;
		return digest_side(fd, s, budget, f);
	}
	if (e < 0)
		return e;
	s->binary = memchr(s->bytes, '\0', s->len);
	return s->binary ? digest_side(fd, s, budget, f) : 0;
}

/* Reads PATH below ROOT; a symbolic link gives its target, a missing file is empty. */
static int read_side(int root, const char *path, const struct change_side *cs, struct side *s,
		     uint64_t *budget, struct fault *f)
{
	_cleanup_tree_at_ struct tree_at t = TREE_AT_NONE;
	_cleanup_close_ int fd = -EBADF;
	int e;

	if (S_ISLNK(cs->mode)) {
		s->bytes = strdup(cs->link);
		s->len = s->bytes ? strlen(s->bytes) : 0;
		return s->bytes ? 0 : fault_errno(f, ENOMEM, "diff");
	}
	if (!S_ISREG(cs->mode)) {
		s->bytes = strdup("");
		return s->bytes ? 0 : fault_errno(f, ENOMEM, "diff");
	}
	e = tree_at_init(&t, root, f);
	if (e < 0)
		return e;
	fd = tree_at_open(&t, path);
	if (fd < 0)
		return fault_errno(f, -fd, "'%s'", path);
	return fault_wrap(f, read_file(fd, cs->size, s, budget, f), "'%s'", path);
}

/* A line of an untrusted file: escape control characters. */
static void put_line(char mark, const char *bytes, size_t len)
{
	_cleanup_free_ char *text = NULL;

	putchar(mark);
	if (!isatty(STDOUT_FILENO)) {
		(void)fwrite(bytes, 1, len, stdout);
		putchar('\n');
		return;
	}
	text = strndup(bytes, len);
	for (char *p = text; p; p = strchr(p, '\t')) {
		_cleanup_free_ char *piece = NULL, *shown = NULL;

		if (*p == '\t') {
			putchar('\t');
			p++;
		}
		piece = strndup(p, strcspn(p, "\t"));
		shown = piece ? str_escape(piece) : NULL;
		(void)fputs(shown ? shown : "(out of memory)", stdout);
	}
	putchar('\n');
}

static void put(void *arg, enum line_kind kind, const char *bytes, size_t len)
{
	(void)arg;
	switch (kind) {
	case LINE_HUNK:
		printf("%.*s\n", (int)len, bytes);
		break;
	case LINE_EQUAL:
		put_line(' ', bytes, len);
		break;
	case LINE_REMOVED:
		put_line('-', bytes, len);
		break;
	case LINE_ADDED:
		put_line('+', bytes, len);
		break;
	case LINE_NO_END:
		printf("\\ No newline at end of file\n");
		break;
	}
}

/* "a/" and the path, quoted as a whole. */
static void print_path(const char *prefix, const char *path)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *quoted = NULL;

	strbuf_printf(&b, "%s%s", prefix, path);
	(void)fputs(b.broken ? "(out of memory)" : review_quote(b.text, &quoted), stdout);
}

/* git marks symbolic links with this mode only. */
static unsigned int git_mode(mode_t mode)
{
	return S_ISLNK(mode) ? S_IFLNK : (unsigned int)mode;
}

static void print_head(const struct change *ch, bool old, bool new)
{
	printf("diff --git ");
	print_path("a/", ch->path);
	putchar(' ');
	print_path("b/", ch->path);
	putchar('\n');
	if (old && new && ch->old.mode != ch->new.mode)
		printf("old mode %06o\nnew mode %06o\n", git_mode(ch->old.mode), git_mode(ch->new.mode));
	else if (!old)
		printf("new file mode %06o\n", git_mode(ch->new.mode));
	else if (!new)
		printf("deleted file mode %06o\n", git_mode(ch->old.mode));
}

static void print_sides(const struct change *ch, bool old, bool new)
{
	printf("--- ");
	if (old)
		print_path("a/", ch->path);
	else
		printf("/dev/null");
	printf("\n+++ ");
	if (new)
		print_path("b/", ch->path);
	else
		printf("/dev/null");
	putchar('\n');
}

static void print_digest(const char *what, const struct side *s)
{
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	if (s->no_digest) {
		printf("  %s %zu bytes, too large for a digest\n", what, s->len);
		return;
	}
	if (!s->hex[0]) {
		digest_bytes(s->bytes, s->len, &d);
		digest_to_hex(&d, hex);
	}
	printf("  %s %zu bytes, sha256:%s\n", what, s->len, s->hex[0] ? s->hex : hex);
}

/* OLD or NEW false: that side counts as empty, because a change of type is two patches. */
static int print_patch(struct review_call *r, const struct change *ch, bool old, bool new, bool quiet,
		       struct review_count *ret, struct fault *f)
{
	static const struct change_side nothing;
	_cleanup_line_diff_ struct line_diff d = { 0 };
	_cleanup_side_ struct side a = { 0 }, b = { 0 };
	uint64_t left = r->digested < DIGEST_ALL_MAX ? DIGEST_ALL_MAX - r->digested : 0, before = left;
	uint64_t *budget = quiet ? NULL : &left;
	int e;

	e = read_side(r->base, ch->path, old ? &ch->old : &nothing, &a, budget, f);
	if (e == 0)
		e = read_side(ch->data ? r->base : r->upper, ch->data ? ch->data : ch->path,
			      new ? &ch->new : &nothing, &b, budget, f);
	r->digested += before - left;
	if (e < 0)
		return e;
	if (!quiet)
		print_head(ch, old, new);
	if (old && new && !ch->bytes)
		return 0;
	if (!a.binary && !a.large && !b.binary && !b.large) {
		e = line_diff(a.bytes, a.len, b.bytes, b.len, &d, f);
		if (e < 0 && e != -EFBIG)
			return e;
		a.large = e == -EFBIG;
		if (a.large && f)
			fault_done(f);
	}
	ret->binary |= a.binary || b.binary;
	ret->large |= a.large || b.large;
	ret->added += d.added;
	ret->removed += d.removed;
	if (quiet)
		return 0;
	if (!a.binary && !a.large && !b.binary && !b.large) {
		if (d.n_edits)
			print_sides(ch, old, new);
		line_diff_unified(&d, CONTEXT, put, NULL);
		return 0;
	}
	printf("%s files differ:\n", a.large || b.large ? "Large" : "Binary");
	if (old)
		print_digest("old:", &a);
	if (new)
		print_digest("new:", &b);
	return 0;
}

static bool is_text(mode_t mode)
{
	return S_ISREG(mode) || S_ISLNK(mode);
}

int review_print_change(struct review_call *r, const struct change *ch, bool quiet, struct review_count *ret,
			struct fault *f)
{
	bool old = is_text(ch->old.mode), new = is_text(ch->new.mode) && ch->kind != CHANGE_DELETED;
	int e = 0;

	*ret = (struct review_count){ 0 };
	if (ch->kind == CHANGE_SAME || ch->kind == CHANGE_UNKNOWN)
		return 0;
	if (old && new && ch->kind == CHANGE_REPLACED) {
		e = print_patch(r, ch, true, false, quiet, ret, f);
		return e < 0 ? e : print_patch(r, ch, false, true, quiet, ret, f);
	}
	return old || new ? print_patch(r, ch, old, new, quiet, ret, f) : 0;
}
