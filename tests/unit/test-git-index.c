/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gitwork/git-index.h"

#include <errno.h>
#include <string.h>

#include "gitwork/git-list.h"
#include "tap.h"

/* An index as git writes it. */
struct image {
	char bytes[4096];
	size_t len;
};

static void put(struct image *i, const void *bytes, size_t len)
{
	memcpy(i->bytes + i->len, bytes, len);
	i->len += len;
}

static void put_u32(struct image *i, uint32_t v)
{
	const unsigned char b[] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
				    (unsigned char)(v >> 8), (unsigned char)v };

	put(i, b, sizeof(b));
}

static void begin(struct image *i, uint32_t version, uint32_t n)
{
	*i = (struct image){ 0 };
	put(i, "DIRC", 4);
	put_u32(i, version);
	put_u32(i, n);
}

static void end(struct image *i)
{
	static const char sum[20];

	put(i, sum, sizeof(sum));
}

static void put_fixed(struct image *i, uint32_t mode, unsigned int flags)
{
	static const char times[24], ids[12];
	const unsigned char two[] = { (unsigned char)(flags >> 8), (unsigned char)flags };

	put(i, times, sizeof(times));
	put_u32(i, mode);
	put(i, ids, sizeof(ids));
	put(i, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24", 20);
	put(i, two, 2);
}

/* Versions 2 and 3. */
static void put_entry(struct image *i, uint32_t mode, unsigned int flags, unsigned int more, const char *name)
{
	static const char nul[8];
	const size_t start = i->len;

	put_fixed(i, mode, flags);
	if (flags & 0x4000u)
		put(i, (const char[]){ (char)(more >> 8), (char)more }, 2);
	put(i, name, strlen(name));
	put(i, nul, 8 - (i->len - start) % 8);
}

#define OID "0102030405060708090a0b0c0d0e0f1011121314"

static void ISO_11_an_index_is_read_as_git_wrote_it(void)
{
	_cleanup_git_index_ struct git_index x = { 0 };
	static const char want[] = "100644 " OID " 0\ta\0"
				   "120000 " OID " 0\td/\xff\n\0"
				   "160000 " OID " 0\tsub";
	struct image i;

	begin(&i, 3, 4);
	put_entry(&i, 0100644, 1, 0, "a");
	put_entry(&i, 0100644, 0x4001, 0x2000, "b");
	put_entry(&i, 0120000, 4, 0, "d/\xff\n");
	put_entry(&i, 0160000, 3, 0, "sub");
	put(&i, "TREE\0\0\0\2xx", 10);
	end(&i);
	CHECK(git_index_parse(i.bytes, i.len, &x, NULL) == 0);
	CHECK(x.n == 3);
	CHECK(x.info.len == sizeof(want) && memcmp(x.info.text, want, sizeof(want)) == 0);
	CHECK(git_index_has(&x, "a") && git_index_has(&x, "d/\xff\n") && !git_index_has(&x, "d"));
	/* Announced alone. */
	CHECK(!git_index_has(&x, "b"));
	CHECK(git_index_has_submodule(&x, "sub") && !git_index_has_submodule(&x, "a"));
	CHECK(git_index_has_below(&x, "d") && !git_index_has_below(&x, "a"));
}

static void ISO_11_names_of_version_4_share_their_beginning(void)
{
	_cleanup_git_index_ struct git_index x = { 0 };
	struct image i;

	begin(&i, 4, 2);
	put_fixed(&i, 0100644, 7);
	put(&i, "\0dir/abc", 9);
	put_fixed(&i, 0100644, 6);
	put(&i, "\2xy", 4);
	end(&i);
	CHECK(git_index_parse(i.bytes, i.len, &x, NULL) == 0);
	CHECK(git_index_has(&x, "dir/abc") && git_index_has(&x, "dir/axy"));
}

static int parse(const struct image *i)
{
	_cleanup_git_index_ struct git_index x = { 0 };

	return git_index_parse(i->bytes, i->len, &x, NULL);
}

static void ISO_11_an_index_that_says_something_else_is_refused(void)
{
	struct image i;

	begin(&i, 2, 1);
	put_entry(&i, 0100644, 0x1001, 0, "a");
	end(&i);
	CHECK(parse(&i) == -EBUSY);
	begin(&i, 2, 0);
	put(&i, "link\0\0\0\0", 8);
	end(&i);
	CHECK(parse(&i) == -ENOTSUP);
	begin(&i, 5, 0);
	end(&i);
	CHECK(parse(&i) == -ENOTSUP);
	begin(&i, 2, 0xffffffff);
	end(&i);
	CHECK(parse(&i) == -EUCLEAN);
	/* git takes a file of mode 0 out of the tree, and would not write the others. */
	for (size_t k = 0; k < 4; k++) {
		static const uint32_t modes[] = { 0, 040000, 0100600, 0140000 };

		begin(&i, 2, 1);
		put_entry(&i, modes[k], 4, 0, "name");
		end(&i);
		CHECK(parse(&i) == -EUCLEAN);
	}
	/* Cut anywhere. */
	begin(&i, 2, 1);
	put_entry(&i, 0100644, 1, 0, "name");
	for (size_t len = i.len; len > 0; len--) {
		struct image cut = i;

		cut.len = len - 1;
		end(&cut);
		CHECK(parse(&cut) == -EUCLEAN);
	}
	/* Version 4: more is taken from the last name than it has. */
	begin(&i, 4, 1);
	put_fixed(&i, 0100644, 1);
	put(&i, "\1a", 3);
	end(&i);
	CHECK(parse(&i) == -EUCLEAN);
}

/* In version 4 each name can take all of the one before it: 65 bytes of the file become 64 KiB in memory. */
static void ISO_11_names_of_version_4_that_grow_beyond_the_limit_are_refused(void)
{
	enum { ENTRIES = 2000, LONG = 60000 };
	_cleanup_git_index_ struct git_index x = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	struct image i;

	begin(&i, 4, ENTRIES);
	strbuf_add(&b, i.bytes, i.len);
	for (int n = 0; n < ENTRIES; n++) {
		i.len = 0;
		put_fixed(&i, 0100644, 1);
		put(&i, "\0", 1);
		strbuf_add(&b, i.bytes, i.len);
		for (int k = 0; k < (n == 0 ? LONG : 1); k++)
			strbuf_putc(&b, 'x');
		strbuf_putc(&b, '\0');
	}
	i.len = 0;
	end(&i);
	strbuf_add(&b, i.bytes, i.len);
	CHECK(b.len < 200000 && git_index_parse(b.text, b.len, &x, &f) == -EFBIG);
	CHECK(x.n == 0 && strstr(fault_text(&f), "names"));
}

static void ISO_11_changes_are_read_by_both_names(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	static const char text[] = ":100644 100755 " OID " " OID " R090\0old\nname\0new\xff\0"
				   ":000000 120000 " OID " " OID " A\0link";
	struct git_change c;
	size_t at = 0;

	strbuf_add(&b, text, sizeof(text));
	CHECK(git_change_next(&b, &at, &c, NULL) == 1);
	CHECK(c.status == 'R' && strcmp(c.from, "old\nname") == 0 && strcmp(c.path, "new\xff") == 0);
	CHECK(git_change_next(&b, &at, &c, NULL) == 1);
	CHECK(c.status == 'A' && !c.from && strcmp(c.new_mode, "120000") == 0);
	CHECK(git_change_next(&b, &at, &c, NULL) == 0);
}

static void ISO_11_another_format_is_refused(void)
{
	static const char *const bad[] = { "x",
					   ":100644 100755 short short M",
					   ":100644",
					   "::100644 100644 a b M",
					   ":100644 100644 " OID " " OID " X",
					   ":100644 100644 " OID " " OID " R" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };
		struct git_change c;
		size_t at = 0;

		strbuf_add(&b, bad[i], strlen(bad[i]) + 1);
		strbuf_add(&b, "path", 5);
		CHECK(git_change_next(&b, &at, &c, NULL) == -EUCLEAN);
	}
}

static void ISO_11_a_tree_is_read_to_its_end(void)
{
	static const char id[] = "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24";
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct git_tree_entry e;
	size_t at = 0;

	strbuf_add(&b, "100644 a b\0", 11);
	strbuf_add(&b, id, 20);
	strbuf_add(&b, "40000 \xff\0", 8);
	strbuf_add(&b, id, 20);
	CHECK(git_tree_next(b.text, b.len, &at, &e, NULL) == 1);
	CHECK(!e.is_directory && e.len == 3 && memcmp(e.name, "a b", 3) == 0 && strcmp(e.oid, OID) == 0);
	CHECK(git_tree_next(b.text, b.len, &at, &e, NULL) == 1);
	CHECK(e.is_directory && strcmp(e.name, "\xff") == 0 && strcmp(e.oid, OID) == 0);
	CHECK(git_tree_next(b.text, b.len, &at, &e, NULL) == 0);
	/* Cut anywhere in the second entry. */
	for (size_t len = b.len - 1; len > 31; len--) {
		at = 31;
		CHECK(git_tree_next(b.text, len, &at, &e, NULL) == -EUCLEAN);
	}
}

TAP_MAIN(T(ISO_11_an_index_is_read_as_git_wrote_it), T(ISO_11_names_of_version_4_share_their_beginning),
	 T(ISO_11_an_index_that_says_something_else_is_refused), T(ISO_11_changes_are_read_by_both_names),
	 T(ISO_11_another_format_is_refused), T(ISO_11_a_tree_is_read_to_its_end),
	 T(ISO_11_names_of_version_4_that_grow_beyond_the_limit_are_refused))
