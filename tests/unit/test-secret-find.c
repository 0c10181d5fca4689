/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "credential/secret-find.h"

#include <stdint.h>

#include "tap.h"

#define VALUE "s3cr3t/+value \"of\" a \\test\n"
#define KEY "-----BEGIN KEY-----\nabcdefghijklmnopqrstuvwxyz\nshort\n-----END KEY-----"

static bool has_len(const char *value, const char *text, size_t len)
{
	_cleanup_secret_ struct secret *s = NULL;
	/* Exactly LEN bytes, so that a read behind them is found. */
	_cleanup_free_ char *copy = malloc(len ? len : 1);
	bool found = false;

	if (!copy || secret_new(strlen(value), &s, NULL) < 0 || secret_add(s, value, strlen(value), NULL) < 0)
		abort();
	memcpy(copy, text, len);
	if (secret_find(s, copy, len, &found, NULL) < 0)
		abort();
	return found;
}

static bool has(const char *value, const char *text)
{
	return has_len(value, text, strlen(text));
}

static void ISO_12_a_value_is_found_as_it_is_and_in_json(void)
{
	CHECK(has(VALUE, VALUE) && has(VALUE, "x" VALUE "y"));
	CHECK(has(VALUE, "{\"a\":\"s3cr3t/+value \\\"of\\\" a \\\\test\\n\"}"));
	CHECK(has(VALUE, "\"s3cr3t\\/\\u002bvalue \\u0022of\\\" a \\u005Ctest\\u000a\""));
	/* A string of JSON in a string of JSON. */
	CHECK(has(VALUE, "\"{\\\"a\\\":\\\"s3cr3t/+value \\\\\\\"of\\\\\\\" a \\\\\\\\test\\\\n\\\"}\""));
	CHECK(has("p\xc3\xa4sswort-1", "\"p\\u00e4sswort-1\""));
	CHECK(has("p\xe2\x82\xacsswort-1", "\"p\\u20acsswort-1\""));
	CHECK(has_len("in-binary", "\0\xff\0in-binary\0", 13));
}

/* As templates of pages write it: a token of base64 has '/', '+' and '='. */
static void ISO_12_a_value_is_found_in_html(void)
{
	CHECK(has("s3cr3t/value+of=it", "<p>s3cr3t&#x2F;value+of&#61;it</p>"));
	CHECK(has("s3cr3t/value+of=it", "<p>s3cr3t&#x2f;value&#43;of&equals;it</p>"));
	CHECK(has("a&b<c>d\"e'f", "a&amp;b&lt;c&gt;d&quot;e&#39;f"));
	CHECK(has("a&b<c>d\"e'f", "a&amp;amp;b&amp;lt;c&gt;d&#0034;e&apos;f"));
	CHECK(has("a&b<c>d\"e'f", "{\"m\":\"a\\u0026amp;b&lt;c>d&quot;e&#39;f\"}"));
	CHECK(has("all-of-it", "&#97;&#x6c;&#X6C;&#45;&#111;&#102;&#x0002D;&#105;&#116;"));
	CHECK(!has("s3cr3t/value+of=it", "&;&#;&#x;&#x110000;&amp&#1234567890123456;s3cr3t value of it"));
}

static void ISO_12_a_value_is_found_percent_encoded(void)
{
	CHECK(has(VALUE, "q=s3cr3t%2F%2Bvalue%20%22of%22%20a%20%5Ctest%0A&r"));
	CHECK(has(VALUE, "q=s3cr3t%2f%2bvalue+%22of%22+a+%5ctest%0a"));
	/* A URL in a parameter of a URL. */
	CHECK(has("s3cr3t/value", "u=https%3A%2F%2Fx%3As3cr3t%252Fvalue%40host"));
	CHECK(has("all-of-it", "%61%6c%6C%2d%6f%66%2D%69%74"));
}

/* Of "abcdefghij.k~?" behind 0, 1 and 2 other bytes, as coreutils spell it. */
static void ISO_12_a_value_is_found_in_base64_at_any_offset(void)
{
	static const char value[] = "abcdefghij\xfb\xff~?";

	CHECK(has(value, "YWJjZGVmZ2hpavv/fj8="));
	CHECK(has(value, "eGFiY2RlZmdoaWr7/34/Cg=="));
	CHECK(has(value, "eHhhYmNkZWZnaGlq+/9+Pw=="));
	CHECK(has(value, "YWJjZGVmZ2hpavv_fj8"));
	CHECK(has(value, "eHhhYmNkZWZnaGlq-_9-Pw"));
	/* Behind digits that are no part of it. */
	CHECK(has(value, "a/YWJjZGVmZ2hpavv/fj8=") && has(value, "/YWJjZGVmZ2hpavv/fj8="));
	CHECK(has(value, "id-YWJjZGVmZ2hpavv/fj8=") && has(value, "fileYWJjZGVmZ2hpavv/fj8="));
	/* In lines, in JSON, and in a URL. */
	CHECK(has(value, "YWJjZG\r\n VmZ2hpa\nvv/fj8=\n"));
	CHECK(has(value, "{\"b\":\"YWJjZG\\nVmZ2hpavv\\/fj8=\"}"));
	CHECK(has(value, "b=eHhhYmNkZWZnaGlq%2B%2F9%2BPw%3D%3D"));
}

static void ISO_12_a_value_is_found_in_hex(void)
{
	CHECK(has("abcdefgh\xff", "6162636465666768ff"));
	CHECK(has("abcdefgh\xff", "61 62 63 64\n65 66 67 68 FF"));
	CHECK(has("abcdefgh\xff", "x61:62:63:64:65:66:67:68:ff"));
	CHECK(has("abcdefgh\xff", "{ 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0xff }"));
	CHECK(has("abcdefgh\xff", "0616263646566676 8ff0"));
	CHECK(!has("abcdefgh\xff", "6162636465666768f"));
}

static void ISO_12_a_value_is_found_in_utf16(void)
{
	CHECK(has_len("abcdefgh", "a\0b\0c\0d\0e\0f\0g\0h\0", 16));
	CHECK(has_len("abcdefgh", "\xfe\xff\0a\0b\0c\0d\0e\0f\0g\0h", 18));
	CHECK(has("abcdefgh", "YQBiAGMAZABlAGYAZwBoAA=="));
}

static void ISO_12_a_long_line_of_a_value_is_found_alone(void)
{
	CHECK(has(KEY, "abcdefghijklmnopqrstuvwxyz"));
	CHECK(has(KEY, "-----BEGIN KEY-----abcdefghijklmnopqrstuvwxyzshort-----END KEY-----"));
	CHECK(has("-----BEGIN KEY-----\r\nabcdefghijklmnopqrstuvwxyz\r\n", "abcdefghijklmnopqrstuvwxyz"));
	CHECK(!has(KEY, "short"));
	CHECK(!has(KEY, "abcdefghijklmnopqrstuvwxy"));
}

static void other_text_is_not_taken_for_a_value(void)
{
	static const char *const others[] = {
		"",
		"%",
		"\\",
		"\\u",
		"%4",
		"done",
		"s3cr3t/+value \"of\" a \\tes",
		"YWJj",
		"{\"a\":[1,2]}",
		"s3cr3t/+value \"of\" another test\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!has(VALUE, others[i]));
}

TAP_MAIN(T(ISO_12_a_value_is_found_as_it_is_and_in_json), T(ISO_12_a_value_is_found_in_html),
	 T(ISO_12_a_value_is_found_percent_encoded), T(ISO_12_a_value_is_found_in_base64_at_any_offset),
	 T(ISO_12_a_value_is_found_in_hex), T(ISO_12_a_value_is_found_in_utf16),
	 T(ISO_12_a_long_line_of_a_value_is_found_alone), T(other_text_is_not_taken_for_a_value))
