/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/fd.h"

#define HEADER 12
#define FIXED 62    /* of an entry, in front of its name */
#define CHECKSUM 20 /* at the end; git writes zeros with index.skipHash */
#define EXTENDED 0x4000u
#define INTENT 0x2000u /* of the second flags: git add -N */
#define MODE_AT 24
#define MODE_SUBMODULE 0160000u
#define OID_AT 40
#define FLAGS_AT 60
#define NAME_MAX_BYTES ((size_t)65536)

struct reader {
	const unsigned char *bytes;
	size_t at, end;
	uint32_t version;
	struct strbuf name; /* version 4: of the last entry */
};

static uint32_t get_u32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int damaged(struct fault *f)
{
	return fault_set(f, EUCLEAN, "the repository's index is damaged");
}

/* Version 4: how many bytes of the last name go. */
static bool take_varint(struct reader *r, size_t *ret)
{
	size_t value = 0;

	for (int n = 0; n < 4 && r->at < r->end; n++) {
		const unsigned char c = r->bytes[r->at++];

		value = (value << 7) + (c & 0x7f);
		if (!(c & 0x80)) {
			*ret = value;
			return true;
		}
		value++;
	}
	return false;
}

/* The name of the entry that began at START, into R->name. */
static bool take_name(struct reader *r, size_t start)
{
	size_t strip, len;
	const unsigned char *nul;

	if (r->version < 4)
		r->name.len = 0;
	else if (!take_varint(r, &strip) || strip > r->name.len)
		return false;
	else
		r->name.len -= strip;
	nul = r->at < r->end ? memchr(r->bytes + r->at, '\0', r->end - r->at) : NULL;
	if (!nul)
		return false;
	len = (size_t)(nul - (r->bytes + r->at));
	if (len + r->name.len == 0 || len + r->name.len > NAME_MAX_BYTES)
		return false;
	strbuf_add(&r->name, (const char *)r->bytes + r->at, len);
	r->at += len + 1;
	/* To a multiple of 8 bytes, of which at least one is the NUL. */
	if (r->version < 4)
		r->at = start + (r->at - start + 7) / 8 * 8;
	return r->at <= r->end && !r->name.broken;
}

/* Those that git writes.  Mode 0 would take the name out of the tree. */
static bool is_mode(uint32_t mode)
{
	return mode == 0100644 || mode == 0100755 || mode == 0120000 || mode == MODE_SUBMODULE;
}

static void put_entry(struct git_index *x, const struct reader *r, const unsigned char *e)
{
	const uint32_t mode = get_u32(e + MODE_AT);
	char hex[GIT_OID_SIZE];

	x->list[x->n++] = (struct git_index_name){ .at = x->names.len, .submodule = mode == MODE_SUBMODULE };
	strbuf_add(&x->names, r->name.text, r->name.len);
	strbuf_putc(&x->names, '\0');
	digest_hex(e + OID_AT, (GIT_OID_SIZE - 1) / 2, hex);
	strbuf_printf(&x->info, "%06o %s 0\t", mode, hex);
	strbuf_add(&x->info, r->name.text, r->name.len);
	strbuf_putc(&x->info, '\0');
}

static int take_entry(struct reader *r, struct git_index *x, struct fault *f)
{
	const size_t start = r->at;
	const unsigned char *e = r->bytes + start;
	bool intent = false;
	uint32_t flags;

	if (r->end - r->at < FIXED + 2)
		return damaged(f);
	flags = (uint32_t)e[FLAGS_AT] << 8 | e[FLAGS_AT + 1];
	r->at += FIXED;
	if (flags & EXTENDED && r->version < 3)
		return damaged(f);
	if (flags & EXTENDED) {
		intent = ((uint32_t)e[FIXED] << 8 | e[FIXED + 1]) & INTENT;
		r->at += 2;
	}
	if (!take_name(r, start))
		return damaged(f);
	if (flags & 0x3000u)
		return fault_set(f, EBUSY,
				 "the repository's index has unmerged files: resolve the conflicts");
	if (!is_mode(get_u32(e + MODE_AT)))
		return damaged(f);
	if (!intent)
		put_entry(x, r, e);
	if (x->names.len > GIT_INDEX_MAX)
		return fault_set(f, EFBIG, "the names in the repository's index have more than %zu MiB",
				 GIT_INDEX_MAX >> 20);
	return 0;
}

/* A required extension (lower case) means something else than the entries say. */
static int check_extensions(const struct reader *r, struct fault *f)
{
	size_t at = r->at;

	while (at + 8 <= r->end) {
		const unsigned char *e = r->bytes + at;
		const size_t len = get_u32(e + 4);

		if (*e < 'A' || *e > 'Z')
			return fault_set(f, ENOTSUP,
					 "the repository's index is split or sparse: run 'git update-index "
					 "--no-split-index', or 'git sparse-checkout disable'");
		if (len > r->end - at - 8)
			return damaged(f);
		at += 8 + len;
	}
	return at == r->end ? 0 : damaged(f);
}

int git_index_parse(const char *bytes, size_t len, struct git_index *ret, struct fault *f)
{
	_cleanup_git_index_ struct git_index x = { 0 };
	struct reader r = { .bytes = (const unsigned char *)bytes, .at = HEADER };
	size_t n;
	int e = 0;

	if (len < HEADER + CHECKSUM || memcmp(bytes, "DIRC", 4) != 0)
		return damaged(f);
	r.version = get_u32(r.bytes + 4);
	r.end = len - CHECKSUM;
	if (r.version < 2 || r.version > 4)
		return fault_set(f, ENOTSUP, "the repository's index has version %u, which is not supported",
				 r.version);
	n = get_u32(r.bytes + 8);
	if (n > (r.end - HEADER) / (FIXED + 2))
		return damaged(f);
	x.list = calloc(n + 1, sizeof(*x.list));
	if (!x.list)
		return fault_errno(f, ENOMEM, "index");
	for (size_t i = 0; e == 0 && i < n; i++)
		e = take_entry(&r, &x, f);
	strbuf_done(&r.name);
	if (e == 0)
		e = check_extensions(&r, f);
	if (e == 0 && (x.info.broken || x.names.broken))
		e = fault_errno(f, ENOMEM, "index");
	if (e < 0)
		return e;
	*ret = x;
	x = (struct git_index){ 0 };
	return 0;
}

int git_index_load(const struct git_source *s, struct git_index *ret, struct fault *f)
{
	_cleanup_close_ int fd = git_source_open_file(s, s->git, "index");
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r;

	if (fd == -ENOENT) {
		*ret = (struct git_index){ 0 };
		return 0;
	}
	if (fd < 0)
		return fault_set(f, -fd, "the repository's index is no regular file, or cannot be read");
	r = fd_read_all(fd, GIT_INDEX_MAX, &bytes, &len, NULL);
	if (r < 0)
		return fault_set(f, -r, "the repository's index cannot be read, or has more than %zu MiB",
				 GIT_INDEX_MAX >> 20);
	return git_index_parse(bytes, len, ret, f);
}

void git_index_done(struct git_index *x)
{
	strbuf_done(&x->info);
	strbuf_done(&x->names);
	free(x->list);
	*x = (struct git_index){ 0 };
}

/* The first name that is not before NAME.  A damaged order finds less: names are then untracked. */
static size_t find(const struct git_index *x, const char *name)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (strcmp(x->names.text + x->list[mid].at, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool git_index_has(const struct git_index *x, const char *name)
{
	const size_t i = find(x, name);

	return i < x->n && str_eq(x->names.text + x->list[i].at, name);
}

bool git_index_has_submodule(const struct git_index *x, const char *name)
{
	return git_index_has(x, name) && x->list[find(x, name)].submodule;
}

bool git_index_has_below(const struct git_index *x, const char *dir)
{
	_cleanup_strbuf_ struct strbuf prefix = { 0 };
	size_t i;

	strbuf_puts(&prefix, dir);
	strbuf_putc(&prefix, '/');
	if (prefix.broken)
		return true;
	i = find(x, prefix.text);
	return i < x->n && str_starts(x->names.text + x->list[i].at, prefix.text);
}
