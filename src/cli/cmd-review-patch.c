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
#include "tty/colour.h"

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
	e = fd_read_file(fd, size, LINE_DIFF_BYTES, &s->bytes, &s->len, f);
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

/* Reads PATH in T; a symbolic link gives its target, a missing file is empty. */
static int read_side(struct tree_at *t, const char *path, const struct change_side *cs, struct side *s,
		     uint64_t *budget, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (S_ISLNK(cs->mode)) {
		s->bytes = strdup(cs->link);
		s->len = s->bytes ? strlen(s->bytes) : 0;
		return s->bytes ? 0 : fault_errno(f, ENOMEM, "diff");
	}
	if (!S_ISREG(cs->mode)) {
		s->bytes = strdup("");
		return s->bytes ? 0 : fault_errno(f, ENOMEM, "diff");
	}
	/* Lines are counted at once; patches are printed while a person reads. */
	fd = budget ? tree_at_open(t, path) : tree_at_open_known(t, path);
	if (fd < 0)
		return fault_errno(f, -fd, "'%s'", path);
	return fault_wrap(f, read_file(fd, cs->size, s, budget, f), "'%s'", path);
}

static void put_escaped(const char *bytes, size_t len)
{
	_cleanup_free_ char *text = strndup(bytes, len);

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
}

/* A line of an untrusted file.  Colours are for a terminal in the end, whatever is in between. */
static void put_line(const struct review_call *r, char mark, const char *bytes, size_t len)
{
	putchar(mark);
	if (r->terminal || r->colour)
		put_escaped(bytes, len);
	else
		(void)fwrite(bytes, 1, len, stdout);
}

static void put(void *arg, enum line_kind kind, const char *bytes, size_t len)
{
	const struct review_call *r = arg;
	bool plain = kind == LINE_EQUAL || kind == LINE_NO_END;

	if (!plain)
		(void)fputs(colour_begin(r->colour, kind == LINE_HUNK	   ? COLOUR_HUNK
						    : kind == LINE_REMOVED ? COLOUR_OLD
									   : COLOUR_NEW),
			    stdout);
	switch (kind) {
	case LINE_HUNK:
		printf("%.*s", (int)len, bytes);
		break;
	case LINE_EQUAL:
		put_line(r, ' ', bytes, len);
		break;
	case LINE_REMOVED:
		put_line(r, '-', bytes, len);
		break;
	case LINE_ADDED:
		put_line(r, '+', bytes, len);
		break;
	case LINE_NO_END:
		printf("\\ No newline at end of file");
		break;
	}
	printf("%s\n", colour_end(r->colour && !plain));
}

/* "a/" and the path, quoted as a whole. */
static void put_path(struct strbuf *b, const char *prefix, const char *path)
{
	_cleanup_strbuf_ struct strbuf full = { 0 };
	_cleanup_free_ char *quoted = NULL;

	strbuf_printf(&full, "%s%s", prefix, path);
	strbuf_puts(b, full.broken ? "(out of memory)" : review_quote(full.text, &quoted));
}

/* git marks symbolic links with this mode only. */
static unsigned int git_mode(mode_t mode)
{
	return S_ISLNK(mode) ? S_IFLNK : (unsigned int)mode;
}

/* Prints the lines of B in the colour of a header. */
static void print_header(const struct review_call *r, const struct strbuf *b)
{
	for (const char *p = b->broken || !b->text ? "(out of memory)\n" : b->text; *p;) {
		size_t n = strcspn(p, "\n");

		printf("%s%.*s%s\n", colour_begin(r->colour, COLOUR_HEAD), (int)n, p, colour_end(r->colour));
		p += n + (p[n] == '\n');
	}
}

static void print_head(const struct review_call *r, const struct change *ch, bool old, bool new)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, "diff --git ");
	put_path(&b, "a/", ch->path);
	strbuf_putc(&b, ' ');
	put_path(&b, "b/", ch->path);
	strbuf_putc(&b, '\n');
	if (old && new && ch->old.mode != ch->new.mode)
		strbuf_printf(&b, "old mode %06o\nnew mode %06o\n", git_mode(ch->old.mode),
			      git_mode(ch->new.mode));
	else if (!old)
		strbuf_printf(&b, "new file mode %06o\n", git_mode(ch->new.mode));
	else if (!new)
		strbuf_printf(&b, "deleted file mode %06o\n", git_mode(ch->old.mode));
	print_header(r, &b);
}

/* FROM was removed and TO added, with the same bytes. */
static void print_rename(const struct review_call *r, const struct change *from, const struct change *to)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, "diff --git ");
	put_path(&b, "a/", from->path);
	strbuf_putc(&b, ' ');
	put_path(&b, "b/", to->path);
	strbuf_putc(&b, '\n');
	if (from->old.mode != to->new.mode)
		strbuf_printf(&b, "old mode %06o\nnew mode %06o\n", git_mode(from->old.mode),
			      git_mode(to->new.mode));
	strbuf_puts(&b, "similarity index 100%\nrename from ");
	put_path(&b, "", from->path);
	strbuf_puts(&b, "\nrename to ");
	put_path(&b, "", to->path);
	strbuf_putc(&b, '\n');
	print_header(r, &b);
}

static void print_sides(const struct review_call *r, const struct change *ch, bool old, bool new)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, "--- ");
	put_path(&b, old ? "a/" : "", old ? ch->path : "/dev/null");
	strbuf_puts(&b, "\n+++ ");
	put_path(&b, new ? "b/" : "", new ? ch->path : "/dev/null");
	strbuf_putc(&b, '\n');
	print_header(r, &b);
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

/* Both sides of one patch.  OLD or NEW false: that side counts as empty, because a change of type is two patches. */
struct sides {
	const struct change *change;
	bool old, new;
	struct side a, b;
};

static int read_sides(struct review_reader *r, struct sides *x, bool digests, struct fault *f)
{
	static const struct change_side nothing;
	const struct change *ch = x->change;
	uint64_t left = r->digested < DIGEST_ALL_MAX ? DIGEST_ALL_MAX - r->digested : 0, before = left;
	uint64_t *budget = digests ? &left : NULL;
	int e = read_side(&r->base, ch->path, x->old ? &ch->old : &nothing, &x->a, budget, f);

	if (e == 0)
		e = read_side(ch->data ? &r->base : &r->upper, ch->data ? ch->data : ch->path,
			      x->new ? &ch->new : &nothing, &x->b, budget, f);
	r->digested += before - left;
	return e;
}

static bool has_lines(const struct sides *x)
{
	return !x->a.binary && !x->a.large && !x->b.binary && !x->b.large;
}

/* More lines than line_diff accepts: listed like a large file. */
static int note_large(struct sides *x, int e, struct fault *f)
{
	if (e != -EFBIG)
		return e;
	if (f)
		fault_done(f);
	x->a.large = true;
	return 0;
}

static void sides_done(struct sides *x)
{
	side_done(&x->a);
	side_done(&x->b);
}
#define _cleanup_sides_ _cleanup_(sides_done)

static int count_patch(struct review_reader *r, const struct change *ch, bool old, bool new,
		       struct review_count *ret, struct fault *f)
{
	_cleanup_sides_ struct sides x = { .change = ch, .old = old, .new = new };
	size_t added = 0, removed = 0;
	int e;

	if (old && new && !ch->bytes)
		return 0;
	e = read_sides(r, &x, false, f);
	if (e == 0 && has_lines(&x))
		e = note_large(
			&x, line_diff_count(x.a.bytes, x.a.len, x.b.bytes, x.b.len, &removed, &added, f), f);
	if (e < 0)
		return e;
	ret->binary |= x.a.binary || x.b.binary;
	ret->large |= x.a.large || x.b.large;
	ret->added += added;
	ret->removed += removed;
	return 0;
}

static int print_patch(struct review_call *r, const struct change *ch, bool old, bool new, struct fault *f)
{
	_cleanup_line_diff_ struct line_diff d = { 0 };
	_cleanup_sides_ struct sides x = { .change = ch, .old = old, .new = new };
	int e = read_sides(&r->reader, &x, true, f);

	if (e < 0)
		return e;
	print_head(r, ch, old, new);
	if (old && new && !ch->bytes)
		return 0;
	if (has_lines(&x))
		e = note_large(&x, line_diff(x.a.bytes, x.a.len, x.b.bytes, x.b.len, &d, f), f);
	if (e < 0)
		return e;
	if (has_lines(&x)) {
		if (d.n_edits)
			print_sides(r, ch, old, new);
		line_diff_unified(&d, CONTEXT, put, r);
		return 0;
	}
	printf("%s files differ:\n", x.a.large || x.b.large ? "Large" : "Binary");
	if (old)
		print_digest("old:", &x.a);
	if (new)
		print_digest("new:", &x.b);
	return 0;
}

static bool is_text(mode_t mode)
{
	return S_ISREG(mode) || S_ISLNK(mode);
}

/* The patches of CH: none, one, or two if its type changed between file and link. */
static bool has_patch(const struct change *ch, bool *ret_old, bool *ret_new)
{
	*ret_old = is_text(ch->old.mode);
	*ret_new = is_text(ch->new.mode) && ch->kind != CHANGE_DELETED;
	return ch->kind != CHANGE_SAME && ch->kind != CHANGE_UNKNOWN && (*ret_old || *ret_new);
}

int review_count_change(struct review_reader *r, const struct change *ch, struct review_count *ret,
			struct fault *f)
{
	bool old, new;
	int e;

	*ret = (struct review_count){ 0 };
	if (!has_patch(ch, &old, &new))
		return 0;
	if (!old || !new || ch->kind != CHANGE_REPLACED)
		return count_patch(r, ch, old, new, ret, f);
	e = count_patch(r, ch, true, false, ret, f);
	return e < 0 ? e : count_patch(r, ch, false, true, ret, f);
}

int review_print_change(struct review_call *r, const struct change *ch, struct fault *f)
{
	bool old, new;
	int e;

	if (!has_patch(ch, &old, &new))
		return 0;
	if (ch->pair) {
		if (ch->kind == CHANGE_ADDED)
			print_rename(r, ch->pair, ch);
		return 0;
	}
	if (!old || !new || ch->kind != CHANGE_REPLACED)
		return print_patch(r, ch, old, new, f);
	e = print_patch(r, ch, true, false, f);
	return e < 0 ? e : print_patch(r, ch, false, true, f);
}
