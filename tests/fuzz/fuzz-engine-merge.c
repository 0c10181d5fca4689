/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "oci/engine/engine.h"
#include "tests/unit/engine-tight.h"

/*
 * A hostile config.json: an accepted one is nowhere looser than it was, the merged text is JSON again, the merge of the merged text
 * is accepted and changes nothing more, and the same text has the same document.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROFILE                                                                                        \
	"{\"schema\":1,\"name\":\"fuzz\",\"limits\":{\"memory\":\"64M\",\"pids\":64,\"cpu\":\"150%\"," \
	"\"files\":512},\"seccomp\":{"                                                                 \
	"\"allow\":[\"chroot\"],\"deny\":[\"ptrace\",\"kill\"]},\"network\":{\"class\":\"any\"},"      \
	"\"container\":{\"network\":\"engine\","                                                       \
	"\"capabilities\":[\"CAP_CHOWN\",\"CAP_KILL\"],\"sysctls\":[\"net.core.somaxconn\"]}}"

static const struct profile *profile(void)
{
	static const struct profile_vars vars = {
		.cwd = "/srv", .home = "/home/ann", .user = "ann", .workspace = "/srv", .uid = 1000
	};
	static struct profile *p;

	if (!p && profile_parse(PROFILE, strlen(PROFILE), "fuzz", &vars, &p, NULL) < 0)
		abort();
	return p;
}

static int read_text(const char *text, size_t len, bool isolate, struct engine_container *c)
{
	const struct digest_key key = { .bytes = { 1 } };
	const struct engine_input in = {
		.text = text,
		.len = len,
		.id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		.bundle = "/nonexistent",
		.rootfs = "/nonexistent/rootfs",
		.lane = LANE_SANDBOX,
		.profile = profile(),
		.home = "/home/ann",
		.isolate = isolate,
	};
	_cleanup_fault_ struct fault f = { 0 };
	int r = engine_read(&in, &key, c, &f);

	if (r < 0 && !f.text)
		abort();
	return r;
}

static void require(const char *what)
{
	if (!what)
		return;
	fprintf(stderr, "looser: %s\n", what);
	abort();
}

static void require_stable(const struct engine_container *c)
{
	_cleanup_engine_container_ struct engine_container again = { 0 };

	if (read_text(c->text, c->len, true, &again) < 0)
		abort();
	if (!c->pause && !jdoc_equal(engine_at(c->merged, "process.capabilities"),
				     engine_at(again.merged, "process.capabilities")))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct seccomp_choice choice = { .allow = profile()->seccomp_allow,
					       .deny = profile()->seccomp_deny };
	_cleanup_engine_container_ struct engine_container c = { 0 }, same = { 0 }, plain = { 0 };
	_cleanup_engine_calls_ struct engine_calls calls = { 0 };
	int r;

	if (size > 65536)
		return 0;
	r = read_text((const char *)data, size, true, &c);
	/* Without isolation less is refused, never more. */
	if (read_text((const char *)data, size, false, &plain) < 0 && r == 0)
		abort();
	if (r < 0)
		return 0;
	if (engine_calls_init(&calls, &choice, NULL) < 0)
		return 0;
	require(tight_check(c.engine, c.merged, profile(), &calls));
	require_stable(&c);
	if (read_text((const char *)data, size, true, &same) < 0 || !jdoc_equal(c.document, same.document))
		abort();
	return 0;
}
