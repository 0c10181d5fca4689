/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "oci/engine/engine-exec-document.h"
#include "oci/engine/engine-exec-merge.h"
#include "oci/engine/engine-exec-probe.h"
#include "oci/engine/engine-field.h"
#include "oci/engine/engine.h"
#include "tests/unit/engine-exec-tight.h"

/*
 * A hostile config.json: an accepted one is nowhere looser than it was, the merged text is JSON again, the merge of the merged text
 * is accepted and changes nothing more, and the same text has the same document.
 *
 * Its process, as that of an exec in a container of the same engine: merged, it is nowhere looser than the container's own.
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

#define CONTAINER                                                                                            \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/\",\"env\":[\"A=1\"],\"apparmorProfile\":\"p\","         \
	"\"oomScoreAdj\":50,\"capabilities\":{\"bounding\":[\"CAP_KILL\",\"CAP_CHOWN\"]},"                   \
	"\"rlimits\":[{\"type\":\"RLIMIT_NPROC\",\"hard\":99,\"soft\":9}]},\"root\":{\"path\":\"r\"},"       \
	"\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":" \
	"\"uts\"},{\"type\":\"mount\"}]}}"

static void write_document(const struct engine_container *c, struct jdoc *process, struct jdoc **ret)
{
	const struct digest_key key = { .bytes = { 1 } };
	char *argv[] = { (char *)"sh", NULL };
	const struct engine_exec_subject s = { .id = "c",
					       .bundle = "/nonexistent",
					       .config = c->merged,
					       .container = c->document,
					       .digest = &(struct digest){ { 1 } },
					       .process = process,
					       .argv = argv };
	_cleanup_fault_ struct fault f = { 0 };

	if (engine_exec_document(&s, &key, ret, &f) < 0 && !f.text)
		abort();
}

static void exec_in_a_container(const char *text, size_t len)
{
	static const struct jdoc_limits limits = { .wide = true };
	static struct engine_container c;
	_cleanup_jdoc_ struct jdoc *engine = NULL, *process = NULL, *again = NULL, *one = NULL, *two = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const struct jdoc *theirs;

	if (jdoc_parse(text, len, "fuzz", &limits, &engine, NULL) < 0)
		return;
	process = jdoc_copy(jdoc_get(engine, "process"));
	if (!c.merged && read_text(CONTAINER, strlen(CONTAINER), true, &c) < 0)
		abort();
	theirs = jdoc_get(c.merged, "process");
	if (!engine_is(process, JDOC_OBJECT) || engine_field_require_process(process, &f) < 0 ||
	    engine_exec_merge(theirs, process, &f) < 0)
		return;
	require(tight_exec_check(theirs, process));
	again = jdoc_copy(process);
	if (engine_exec_merge(theirs, again, NULL) < 0 || !jdoc_equal(process, again))
		abort();
	write_document(&c, process, &one);
	write_document(&c, again, &two);
	if (!one != !two || (one && !jdoc_equal(one, two)))
		abort();
	(void)engine_exec_take_probe(jdoc_get(engine, "mounts"), theirs, process);
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
	exec_in_a_container((const char *)data, size);
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
