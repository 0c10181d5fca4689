/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tap.h"

static void texts_grow_and_are_taken(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *empty = NULL, *text = NULL, *big = NULL;

	empty = strbuf_take(&b);
	CHECK(str_eq(empty, ""));
	strbuf_puts(&b, "a");
	strbuf_putc(&b, 'b');
	strbuf_add(&b, "cde", 2);
	strbuf_printf(&b, "-%d-%s", 7, "x");
	CHECK(b.len == 8 && str_eq(b.text, "abcd-7-x"));
	text = strbuf_take(&b);
	CHECK(str_eq(text, "abcd-7-x") && !b.text && b.len == 0 && b.room == 0);
	for (int i = 0; i < 10000; i++)
		strbuf_printf(&b, "%04d", i);
	CHECK(b.len == 40000);
	big = strbuf_take(&b);
	CHECK(strlen(big) == 40000 && str_ends(big, "99989999"));
}

static void a_broken_text_stays_broken(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_puts(&b, "kept");
	strbuf_add(&b, "", SIZE_MAX / 2);
	CHECK(b.broken);
	strbuf_puts(&b, "more");
	strbuf_printf(&b, "%d", 1);
	CHECK(b.len == 4);
	CHECK(!strbuf_take(&b));
	CHECK(!b.broken);
}

static void null_equals_only_null(void)
{
	CHECK(str_eq(NULL, NULL) && !str_eq(NULL, "") && !str_eq("", NULL));
	CHECK(str_eq("a", "a") && !str_eq("a", "A"));
}

static void beginnings_and_ends(void)
{
	CHECK(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("ab", "abc"));
	CHECK(str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("bc", "abc"));
}

/* Wherever it stands in the words that are looked at as one, and whatever stands around it. */
static void the_first_byte_that_is_no_ascii_is_found(void)
{
	static const char plain[] = { 0x01, 0x7f, 'a' }, odd[] = { 0, (char)0x80, (char)0xff };
	char text[40];

	for (size_t p = 0; p < sizeof(plain); p++)
		for (size_t len = 0; len <= sizeof(text); len++)
			for (size_t at = 0; at <= len; at++) {
				memset(text, plain[p], sizeof(text));
				CHECK(str_ascii_len(text, len) == len);
				for (size_t i = 0; at < len && i < sizeof(odd); i++) {
					text[at] = odd[i];
					CHECK(str_ascii_len(text, len) == at);
				}
			}
}

static void utf8_is_judged_strictly(void)
{
	static const char *const good[] = { "",
					    "a",
					    "\x7f",
					    "\xc2\x80",
					    "\xdf\xbf",
					    "\xe0\xa0\x80",
					    "\xed\x9f\xbf",
					    "\xee\x80\x80",
					    "\xef\xbf\xbf",
					    "\xf0\x90\x80\x80",
					    "\xf4\x8f\xbf\xbf",
					    NULL };
	static const char *const bad[] = { "\x80",
					   "\xbf",
					   "\xc0\x80",
					   "\xc1\xbf",
					   "\xc2",
					   "\xc2\x41",
					   "\xe0\x9f\xbf",
					   "\xe2\x82",
					   "\xed\xa0\x80",
					   "\xed\xbf\xbf",
					   "\xf0\x8f\xbf\xbf",
					   "\xf0\x90\x80",
					   "\xf4\x90\x80\x80",
					   "\xf5\x80\x80\x80",
					   "\xff",
					   "a\xfe",
					   NULL };

	for (int i = 0; good[i]; i++)
		CHECK(str_is_utf8(good[i], strlen(good[i])));
	for (int i = 0; bad[i]; i++)
		CHECK(!str_is_utf8(bad[i], strlen(bad[i])));
	CHECK(str_utf8_step("\xe2\x82\xac+", 4) == 3 && str_utf8_step("\xe2\x82\xac", 2) == 0);
	CHECK(str_utf8_step("", 0) == 0);
}

static void vectors_grow_copy_and_search(void)
{
	_cleanup_strv_ char **v = NULL, **copy = NULL, **none = NULL;

	CHECK(strv_len(NULL) == 0 && !strv_has(NULL, "a"));
	CHECK(strv_append(&v, "a") == 0 && strv_appendf(&v, "b%d", 2) == 0 && strv_append(&v, "") == 0);
	CHECK(strv_len(v) == 3 && strv_has(v, "b2") && strv_has(v, "") && !strv_has(v, "b"));
	copy = strv_copy(v);
	CHECK(copy && copy != v && copy[0] != v[0] && strv_len(copy) == 3 && str_eq(copy[1], "b2"));
	none = strv_copy(NULL);
	CHECK(none && !none[0]);
}

static bool u64_is(const char *text, int r, uint64_t wanted)
{
	uint64_t value = 77;

	return str_to_u64(text, &value) == r && value == (r < 0 ? 77 : wanted);
}

static void unsigned_numbers_are_digits_only(void)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "0x1", "1e1", "1.0", "a", NULL };

	CHECK(u64_is("0", 0, 0) && u64_is("007", 0, 7));
	CHECK(u64_is("18446744073709551615", 0, UINT64_MAX));
	CHECK(u64_is("18446744073709551616", -ERANGE, 0) && u64_is("99999999999999999999999", -ERANGE, 0));
	for (int i = 0; bad[i]; i++)
		CHECK(u64_is(bad[i], -EINVAL, 0));
}

static void digits_are_taken_from_a_text(void)
{
	const char *at = "0644 17f,18446744073709551616";
	uint64_t value = 77;

	CHECK(str_take_u64(&at, 8, &value) == 0 && value == 0644 && *at == ' ');
	CHECK(str_take_u64(&at, 10, &value) == -EINVAL && value == 0644 && *at++ == ' ');
	CHECK(str_take_u64(&at, 16, &value) == 0 && value == 0x17f && *at++ == ',');
	CHECK(str_take_u64(&at, 10, &value) == -ERANGE && value == 0x17f && *at == '1');
}

static void a_number_is_found_behind_its_key(void)
{
	uint64_t value = 77;

	CHECK(str_find_u64("rchar: 1\nwrite_bytes: 42\n", "\nwrite_bytes:", &value) == 0 && value == 42);
	CHECK(str_find_u64("mnt_id:\t7\nx", "mnt_id:", &value) == 0 && value == 7);
	CHECK(str_find_u64("mnt_id: x", "mnt_id:", &value) == -ENOENT && value == 7);
	CHECK(str_find_u64("", "mnt_id:", &value) == -ENOENT);
}

static bool i64_is(const char *text, int r, int64_t wanted)
{
	int64_t value = 77;

	return str_to_i64(text, &value) == r && value == (r < 0 ? 77 : wanted);
}

static void signed_numbers_reach_both_ends(void)
{
	CHECK(i64_is("-9223372036854775808", 0, INT64_MIN) && i64_is("9223372036854775807", 0, INT64_MAX));
	CHECK(i64_is("-9223372036854775809", -ERANGE, 0) && i64_is("9223372036854775808", -ERANGE, 0));
	CHECK(i64_is("-0", 0, 0) && i64_is("-1", 0, -1));
	CHECK(i64_is("-", -EINVAL, 0) && i64_is("--1", -EINVAL, 0) && i64_is("", -EINVAL, 0));
}

static bool size_is(const char *text, int r, uint64_t wanted)
{
	uint64_t value = 77;

	return str_to_size(text, &value) == r && value == (r < 0 ? 77 : wanted);
}

static void sizes_have_units_and_no_overflow(void)
{
	CHECK(size_is("512", 0, 512) && size_is("1K", 0, 1024) && size_is("512M", 0, UINT64_C(512) << 20));
	CHECK(size_is("2G", 0, UINT64_C(2) << 30) && size_is("1T", 0, UINT64_C(1) << 40));
	CHECK(size_is("16777215T", 0, UINT64_C(16777215) << 40) && size_is("16777216T", -ERANGE, 0));
	CHECK(size_is("M", -EINVAL, 0) && size_is("1MB", -EINVAL, 0) && size_is("1X", -EINVAL, 0));
	CHECK(size_is("-1K", -EINVAL, 0) && size_is("1.5G", -EINVAL, 0) && size_is("", -EINVAL, 0));
	CHECK(size_is("1m", -EINVAL, 0));
}

static bool seconds_is(const char *text, int r, uint64_t wanted)
{
	uint64_t value = 77;

	return str_to_seconds(text, &value) == r && value == (r < 0 ? 77 : wanted);
}

static void times_have_units_and_no_overflow(void)
{
	CHECK(seconds_is("90", 0, 90) && seconds_is("90s", 0, 90) && seconds_is("30m", 0, 1800));
	CHECK(seconds_is("2h", 0, 7200) && seconds_is("1d", 0, 86400) && seconds_is("0", 0, 0));
	CHECK(seconds_is("213503982334601d", 0, UINT64_C(213503982334601) * 86400));
	CHECK(seconds_is("213503982334602d", -ERANGE, 0));
	CHECK(seconds_is("1M", -EINVAL, 0) && seconds_is("1h30m", -EINVAL, 0) && seconds_is("s", -EINVAL, 0));
}

static void the_nearest_word_is_suggested(void)
{
	static const char *const words[] = { "network", "mounts", "memory_max", "run",
					     "ro",	"rw",	  "read_only",	NULL };

	CHECK(str_nearest("netwrok", words) == 0); /* swapped */
	CHECK(str_nearest("netwok", words) == 0);  /* missing */
	CHECK(str_nearest("nettwork", words) == 0);
	CHECK(str_nearest("Network", words) == 0);
	CHECK(str_nearest("mount", words) == 1);
	CHECK(str_nearest("memory-max", words) == 2);
	CHECK(str_nearest("rnu", words) == 3);
	CHECK(str_nearest("readonly", words) == 6);
	CHECK(str_nearest("mounts", words) == 1);
}

static void distant_words_are_not_suggested(void)
{
	static const char *const words[] = { "network", "run", "ro", NULL };
	static const char *const none[] = { NULL };
	char longer[80];

	CHECK(str_nearest("filesystem", words) == -1);
	CHECK(str_nearest("x", words) == -1);
	CHECK(str_nearest("", words) == -1);
	CHECK(str_nearest("run", none) == -1);
	memset(longer, 'n', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK(str_nearest(longer, words) == -1);
	CHECK(str_nearest("run", (const char *const[]){ longer, NULL }) == -1);
}

static bool escapes_to(const char *text, const char *wanted)
{
	_cleanup_free_ char *escaped = str_escape(text);

	return str_eq(escaped, wanted);
}

static void terminals_see_no_control_characters(void)
{
	CHECK(escapes_to("", "") &&
	      escapes_to("plain \xc3\xa9 \xf0\x9f\x98\x80", "plain \xc3\xa9 \xf0\x9f\x98\x80"));
	CHECK(escapes_to("a\n\x1b[31m\x7f", "a\\x0A\\x1B[31m\\x7F"));
	CHECK(escapes_to("\xc2\x9b\xc2\xa0", "\\xC2\\x9B\xc2\xa0")); /* C1 CSI, no-break space */
	CHECK(escapes_to("\xff\xc3", "\\xFF\\xC3"));
	CHECK(escapes_to("a\xe2\x80\xae"
			 "b",
			 "a\\xE2\\x80\\xAE"
			 "b")); /* right-to-left override */
	CHECK(escapes_to("\xe2\x81\xa6\xe2\x80\x8b\xe2\x80\xa8\xd8\x9c\xef\xbb\xbf",
			 "\\xE2\\x81\\xA6\\xE2\\x80\\x8B\\xE2\\x80\\xA8\\xD8\\x9C\\xEF\\xBB\\xBF"));
	CHECK(escapes_to("\xe2\x80\x94\xe2\x80\x9c", "\xe2\x80\x94\xe2\x80\x9c")); /* dash and quote stay */
}

static void numbers_are_written_as_printf_writes_them(void)
{
	static const uint64_t numbers[] = { 0, 7, 10, 99, 100, 18446744073709551615u };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };
		char want[32];

		(void)snprintf(want, sizeof(want), "%" PRIu64, numbers[i]);
		strbuf_number(&b, numbers[i]);
		CHECK(str_eq(b.text, want));
	}
}

/* With any room before: a text that fits exactly, and one that is one too long. */
static void printf_grows_by_the_size_needed(void)
{
	for (int before = 0; before < 70; before++)
		for (int more = 0; more < 140; more++) {
			_cleanup_strbuf_ struct strbuf b = { 0 };

			strbuf_printf(&b, "%0*d", before, 0);
			strbuf_printf(&b, "%*s", more, "");
			CHECK(b.text && b.len == strlen(b.text) && b.len < b.room &&
			      b.len == (size_t)(before > 0 ? before : 1) + (size_t)more);
		}
}

static void a_word_is_quoted_where_a_shell_would_not_take_it_as_it_is(void)
{
	static const char *const words[][2] = { { "make", "make" }, { "", "''" },
						{ "a b", "'a b'" }, { "it's", "'it'\\''s'" },
						{ "=x", "'=x'" },   { "x=1", "x=1" },
						{ "[a]", "'[a]'" }, { "$(x)", "'$(x)'" } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		strbuf_put_word(&b, words[i][0]);
		CHECK(b.text && strlen(words[i][1]) == b.len && memcmp(b.text, words[i][1], b.len) == 0);
	}
}

static void octal_digits_of_the_kernel_become_bytes(void)
{
	char text[] = "/a\\040b\\134c\\011\\08\\400\\";

	str_unoctal(text);
	CHECK(strcmp(text, "/a b\\c\t\\08\\400\\") == 0);
}

TAP_MAIN(T(a_word_is_quoted_where_a_shell_would_not_take_it_as_it_is),
	 T(octal_digits_of_the_kernel_become_bytes), T(numbers_are_written_as_printf_writes_them),
	 T(printf_grows_by_the_size_needed), T(texts_grow_and_are_taken), T(a_broken_text_stays_broken),
	 T(null_equals_only_null), T(beginnings_and_ends), T(the_first_byte_that_is_no_ascii_is_found),
	 T(utf8_is_judged_strictly), T(vectors_grow_copy_and_search), T(unsigned_numbers_are_digits_only),
	 T(digits_are_taken_from_a_text), T(a_number_is_found_behind_its_key),
	 T(signed_numbers_reach_both_ends), T(sizes_have_units_and_no_overflow),
	 T(times_have_units_and_no_overflow), T(the_nearest_word_is_suggested),
	 T(distant_words_are_not_suggested), T(terminals_see_no_control_characters))
