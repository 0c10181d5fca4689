/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-info.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tap.h"
#include "tree-fixture.h"

static char *text(const char *t)
{
	return (char *)t;
}

static bool make(int dirfd, struct fault *f)
{
	char *argv[] = { text("sh"), text("-c"), text("exit 3\n"), NULL };
	char *redact[] = { text("--pass-phrase"), NULL };
	char *hide[] = { text("keys/\xc3\xa4"), NULL };
	_cleanup_jdoc_ struct jdoc *verdict = jdoc_new_object();
	const struct container_info d = {
		.container = text("c 1"),
		.bundle = text("/srv/b"),
		.pid = 4711,
		.start = UINT64_C(123456789012),
		.digest = { { 1, 2, 3 } },
		.profile = text("plain"),
		.profile_digest = { { 4 } },
		.argv = argv,
		.redact = redact,
		.verdict = verdict,
		.workspace = PROFILE_WORKSPACE_RW,
		.work = text("/work"),
		.hide = hide,
		.ids = { .set = true, .uid_from = 1879048192, .uid_to = 1000, .gid_from = 5, .gid_to = 0 },
		.subject = text("{\n}\n"),
		.subject_len = 4,
		.config = text("{ \"a\": 1 }"),
		.config_len = 10,
	};

	jdoc_set_string(verdict, "level", "A");
	return container_info_write(dirfd, &d, f) == 0;
}

static void written_info_is_read_back(void)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_(tree_done) struct tree t = { 0 };

	CHECK(tree_make(&t) && make(t.fd, &f));
	CHECK(container_info_read(t.fd, &d, &f) == 0);
	CHECK(strcmp(d.container, "c 1") == 0 && strcmp(d.bundle, "/srv/b") == 0);
	CHECK(d.pid == 4711 && d.start == UINT64_C(123456789012) && d.digest.bytes[2] == 3);
	CHECK(strcmp(d.profile, "plain") == 0 && d.profile_digest.bytes[0] == 4);
	CHECK(strv_len(d.argv) == 3 && strcmp(d.argv[2], "exit 3\n") == 0);
	CHECK(strv_len(d.redact) == 1 && strcmp(d.redact[0], "--pass-phrase") == 0);
	CHECK(strcmp(jdoc_get_string(d.verdict, "level"), "A") == 0 && d.forensics == NULL);
	CHECK(d.workspace == PROFILE_WORKSPACE_RW && strcmp(d.work, "/work") == 0);
	CHECK(strv_len(d.hide) == 1 && strcmp(d.hide[0], "keys/\xc3\xa4") == 0);
	CHECK(d.ids.set && d.ids.uid_from == 1879048192 && d.ids.uid_to == 1000 && d.ids.gid_from == 5);
	CHECK(d.subject_len == 4 && strcmp(d.subject, "{\n}\n") == 0);
	CHECK(d.config_len == 10 && strcmp(d.config, "{ \"a\": 1 }") == 0);
}

static void it_is_written_once(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_(tree_done) struct tree t = { 0 };

	CHECK(tree_make(&t) && make(t.fd, &f));
	CHECK(!make(t.fd, &f) && f.code == EEXIST);
	/* No half-written file remains: recovery would stop at it. */
	CHECK(faccessat(t.fd, CONTAINER_INFO_NAME ".new", F_OK, 0) < 0);
}

static void missing_info_is_an_error(void)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_(tree_done) struct tree t = { 0 };

	CHECK(tree_make(&t) && container_info_read(t.fd, &d, &f) == -ENOENT);
}

/* Cut at every byte, and one byte more: it is refused. */
static void half_a_container_info_is_none(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_(tree_done) struct tree t = { 0 };
	_cleanup_close_ int fd = -EBADF;
	off_t size;

	CHECK(tree_make(&t) && make(t.fd, &f));
	fd = openat(t.fd, CONTAINER_INFO_NAME, O_WRONLY | O_CLOEXEC);
	size = lseek(fd, 0, SEEK_END);
	CHECK(fd >= 0 && size > 0 && write(fd, "x", 1) == 1);
	for (off_t n = size + 1; n >= 0; n--) {
		_cleanup_container_info_ struct container_info d = { 0 };
		_cleanup_fault_ struct fault why = { 0 };

		if (n == size)
			continue;
		CHECK(ftruncate(fd, n) == 0);
		CHECK(container_info_read(t.fd, &d, &why) < 0 && why.code && !d.container);
	}
}

static void files_that_others_can_write_and_links_are_not_read(void)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	_cleanup_fault_ struct fault f = { 0 }, g = { 0 };
	_cleanup_(tree_done) struct tree t = { 0 };

	CHECK(tree_make(&t) && make(t.fd, &f));
	CHECK(fchmodat(t.fd, CONTAINER_INFO_NAME, 0622, 0) == 0);
	CHECK(container_info_read(t.fd, &d, &f) < 0);
	CHECK(fchmodat(t.fd, CONTAINER_INFO_NAME, 0600, 0) == 0 &&
	      renameat(t.fd, CONTAINER_INFO_NAME, t.fd, "x") == 0);
	CHECK(symlinkat("x", t.fd, CONTAINER_INFO_NAME) == 0);
	CHECK(container_info_read(t.fd, &d, &g) == -ELOOP);
}

TAP_MAIN(T(written_info_is_read_back), T(it_is_written_once), T(missing_info_is_an_error),
	 T(half_a_container_info_is_none), T(files_that_others_can_write_and_links_are_not_read))
