/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "tap.h"

#define WITH                                                      \
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 }; \
	CHECK(engine_fixture_init(&x))

#define NAMESPACES                                                                                          \
	"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{" \
	"\"type\":\"mount\"}]"
#define PROCESS "\"process\":{\"args\":[\"sh\"],\"cwd\":\"/\",\"env\":[\"PATH=/bin\"]}"
#define PLAIN "{" PROCESS ",\"root\":{\"path\":\"rootfs\"},\"linux\":{" NAMESPACES "}}"

static void CARD_7_a_plain_configuration_is_tightened(void)
{
	const struct jdoc *m;
	WITH;

	CHECK(engine_try(&x, PLAIN) == 0);
	m = x.c.merged;
	CHECK(engine_at(m, "process.noNewPrivileges")->boolean);
	CHECK(engine_count(m, "process.capabilities.bounding") == 0);
	CHECK(engine_at(m, "linux.seccomp.syscalls"));
	CHECK(engine_list_has(engine_at(m, "linux.maskedPaths"), "/proc/kcore"));
	CHECK(str_eq(engine_text(engine_item(m, "process.rlimits", 0), "type"), "RLIMIT_CORE"));
	CHECK(x.c.document && x.c.changes && x.c.changes->n_items > 0 && !x.c.image && !x.c.pause);
	CHECK(str_eq(x.c.argv[0], "sh") && !x.c.argv[1] && str_eq(x.c.worktree, "/"));
}

TAP_MAIN(T(CARD_7_a_plain_configuration_is_tightened))
