/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "oci/libcrun/seccomp-cache.h"
#include "tap.h"

static char root[] = "/tmp/custody-test-cache.XXXXXX";
static const char filter[16] = "0123456789abcdef";

static void make_key(struct digest *key, char *path, size_t size)
{
	char hex[DIGEST_HEX_SIZE];

	digest_bytes("key", 3, key);
	digest_to_hex(key, hex);
	(void)snprintf(path, size, "%s/.seccomp/%s", root, hex);
}

static bool hits(const struct digest *key)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0;

	return seccomp_cache_load(root, key, &bytes, &len) == 0 && len == sizeof(filter) &&
	       !memcmp(bytes, filter, len);
}

static void a_stored_filter_is_found(void)
{
	struct digest key;
	char path[200];

	make_key(&key, path, sizeof(path));
	CHECK(!hits(&key));
	seccomp_cache_store(root, &key, filter, sizeof(filter));
	CHECK(hits(&key));
}

static void a_changed_entry_is_none(void)
{
	struct digest key;
	char path[200];
	int fd;

	make_key(&key, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && pwrite(fd, "X", 1, 40) == 1 && close(fd) == 0);
	CHECK(!hits(&key));
	seccomp_cache_store(root, &key, filter, sizeof(filter));
	CHECK(hits(&key));
	CHECK(truncate(path, 40) == 0);
	CHECK(!hits(&key));
	seccomp_cache_store(root, &key, filter, sizeof(filter));
}

static void an_entry_that_others_may_write_is_none(void)
{
	struct digest key;
	char path[200];

	make_key(&key, path, sizeof(path));
	CHECK(hits(&key) && chmod(path, 0666) == 0);
	CHECK(!hits(&key));
	CHECK(chmod(path, 0600) == 0 && hits(&key));
}

static void a_directory_that_others_may_enter_is_not_used(void)
{
	struct digest key;
	char path[200], dir[100];

	make_key(&key, path, sizeof(path));
	(void)snprintf(dir, sizeof(dir), "%s/.seccomp", root);
	CHECK(chmod(dir, 0755) == 0);
	CHECK(!hits(&key));
	CHECK(chmod(dir, 0700) == 0 && hits(&key));
}

static void the_root_is_removed(void)
{
	int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(tmp >= 0 && path_remove_tree(tmp, root + strlen("/tmp/"), NULL) == 0);
	(void)close(tmp);
}

static void a_root_is_made(void)
{
	CHECK(mkdtemp(root));
}

TAP_MAIN(T(a_root_is_made), T(a_stored_filter_is_found), T(a_changed_entry_is_none),
	 T(an_entry_that_others_may_write_is_none), T(a_directory_that_others_may_enter_is_not_used),
	 T(the_root_is_removed))
