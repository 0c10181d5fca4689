/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "tap.h"

static bool hex_is(const struct digest *d, const char *wanted)
{
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(d, hex);
	return strcmp(hex, wanted) == 0;
}

/* FIPS 180-4 examples. */
static void known_texts_have_known_digests(void)
{
	struct digest d;

	digest_bytes(NULL, 0, &d);
	CHECK(hex_is(&d, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
	digest_bytes("abc", 3, &d);
	CHECK(hex_is(&d, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

/* RFC 4231, test cases 2 and 6. */
static void known_keys_give_known_codes(void)
{
	char key[131];
	struct digest d;

	digest_hmac("Jefe", 4, "what do ya want for nothing?", 28, &d);
	CHECK(hex_is(&d, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
	memset(key, 0xaa, sizeof(key));
	digest_hmac(key, sizeof(key), "Test Using Larger Than Block-Size Key - Hash Key First", 54, &d);
	CHECK(hex_is(&d, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
	digest_hmac(NULL, 0, NULL, 0, &d);
	CHECK(hex_is(&d, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"));
}

static void a_file_is_hashed_from_its_offset(void)
{
	_cleanup_close_ int fd = memfd_create("digest", MFD_CLOEXEC);
	char bytes[200000];
	struct digest whole, rest, d;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	CHECK(fd >= 0 && fd_write_all(fd, bytes, sizeof(bytes), NULL) == 0);
	digest_bytes(bytes, sizeof(bytes), &whole);
	digest_bytes(bytes + 100, sizeof(bytes) - 100, &rest);
	CHECK(lseek(fd, 0, SEEK_SET) == 0 && digest_fd(fd, &d, NULL) == 0 && digest_equal(&d, &whole));
	CHECK(lseek(fd, 100, SEEK_SET) == 100 && digest_fd(fd, &d, NULL) == 0 && digest_equal(&d, &rest));
	CHECK(!digest_equal(&whole, &rest));
}

static void an_unreadable_file_is_an_error(void)
{
	_cleanup_close_ int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fault_ struct fault f = { 0 };
	struct digest d = { { 7 } };

	CHECK(digest_fd(fd, &d, &f) == -EISDIR && f.code == EISDIR);
	CHECK(d.bytes[0] == 7);
}

static void hex_goes_both_ways(void)
{
	static const char hex[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	struct digest a, b;
	char text[7];

	digest_bytes("abc", 3, &a);
	CHECK(digest_from_hex(hex, &b) == 0 && digest_equal(&a, &b));
	digest_hex("\x00\x7f\xff", 3, text);
	CHECK(strcmp(text, "007fff") == 0);
	digest_hex("", 0, text);
	CHECK(strcmp(text, "") == 0);
}

static void hex_is_exactly_64_lower_case_digits(void)
{
	char hex[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	char longer[sizeof(hex) + 1] = { 0 };
	struct digest d = { { 7 } };

	memcpy(longer, hex, sizeof(hex) - 1);
	longer[sizeof(hex) - 1] = '0';
	CHECK(digest_from_hex(longer, &d) == -EINVAL);
	for (size_t i = 0; i < sizeof(hex) - 1; i++) {
		char saved = hex[i];

		hex[i] = 'A';
		CHECK(digest_from_hex(hex, &d) == -EINVAL);
		hex[i] = '\0';
		CHECK(digest_from_hex(hex, &d) == -EINVAL);
		hex[i] = saved;
	}
	CHECK(d.bytes[0] == 7);
}

static void one_bit_makes_a_difference(void)
{
	struct digest a, b;

	digest_bytes("abc", 3, &a);
	for (size_t i = 0; i < sizeof(a.bytes); i++) {
		b = a;
		CHECK(digest_equal(&a, &b));
		b.bytes[i] ^= 0x80;
		CHECK(!digest_equal(&a, &b));
	}
}

TAP_MAIN(T(known_texts_have_known_digests), T(known_keys_give_known_codes),
	 T(a_file_is_hashed_from_its_offset), T(an_unreadable_file_is_an_error), T(hex_goes_both_ways),
	 T(hex_is_exactly_64_lower_case_digits), T(one_bit_makes_a_difference))
