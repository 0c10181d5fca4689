/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "subject/subject-exec.h"
#include "subject/subject-facts.h"
#include "tap.h"

#include "subject-fixture.h"

static char *caller[] = { S("TERM=vt100"), S("LANG=C"), NULL };

/* The container's subject, as it is read from its document; NULL on failure. */
static struct subject *container(void)
{
	const struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p), *ret = NULL;
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (subject_to_json(&s, &fixture_key, &d, &f) < 0 ||
	    subject_from_json(d, s.env, NULL, 90, &fixture_key, &ret, &f) < 0)
		printf("# %s\n", fault_text(&f));
	return ret;
}

/* Digest of the command X in a container whose document has the digest OF; false on failure. */
static bool digest_of(const struct subject_exec *x, uint8_t of, struct digest *ret)
{
	_cleanup_subject_ struct subject *s = container();
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const struct digest base = { { of } };

	return s && subject_exec_change(s, x, &f) >= 0 &&
	       subject_exec_to_json(s, &base, &fixture_key, &d, &f) >= 0 && subject_digest(d, ret, &f) >= 0;
}

static bool differs(const struct subject_exec *a, uint8_t of_a, const struct subject_exec *b, uint8_t of_b)
{
	struct digest x, y;

	return digest_of(a, of_a, &x) && digest_of(b, of_b, &y) && !digest_equal(&x, &y);
}

static char *command[] = { S("ls"), S("-l"), NULL }, *other[] = { S("ls"), S("-a"), NULL };
static const struct subject_exec plain = { .argv = command, .environ = caller };

static void a_retry_has_the_same_digest(void)
{
	struct subject_exec again = plain;
	struct digest x, y;

	CHECK(digest_of(&plain, 1, &x) && digest_of(&again, 1, &y) && digest_equal(&x, &y));
	/* A terminal and its TERM are no part of the approval. */
	again.terminal = true;
	CHECK(digest_of(&again, 1, &y) && digest_equal(&x, &y));
}

static void everything_that_changes_the_command_changes_the_digest(void)
{
	struct subject_exec x = plain;

	CHECK(differs(&plain, 1, &plain, 2)); /* another container */
	x.argv = other;
	CHECK(differs(&plain, 1, &x, 1));
	x = plain;
	x.workdir = "/tmp";
	CHECK(differs(&plain, 1, &x, 1));
	x = plain;
	x.env = (char *[]){ S("SECRET=other"), NULL };
	CHECK(differs(&plain, 1, &x, 1));
	x.env = (char *[]){ S("LANG"), NULL };
	CHECK(differs(&plain, 1, &x, 1));
	/* Unset for the caller: stays unset. */
	x.env = (char *[]){ S("NONE"), NULL };
	CHECK(!differs(&plain, 1, &x, 1));
}

static void it_is_never_the_container_itself(void)
{
	const struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	const struct subject_exec x = { .argv = s.argv, .environ = caller };
	struct digest run, exec;

	CHECK(fixture_digest(&s, &run) && digest_of(&x, 1, &exec) && !digest_equal(&run, &exec));
}

static void nothing_is_sealed_and_git_is_not_trusted(void)
{
	_cleanup_subject_ struct subject *s = container();
	_cleanup_fault_ struct fault f = { 0 };
	struct policy_facts facts;
	const struct subject_exec x = { .argv = (char *[]){ S("git"), S("status"), NULL },
					.environ = caller };

	CHECK(s && s->n_operands > 0);
	CHECK(subject_exec_change(s, &x, &f) == 0);
	CHECK(s->n_operands == 0 && s->n_operand_links == 0 && s->seal == OPERAND_SEAL_NONE && s->in_use);
	CHECK(subject_facts_fill(s, &facts, &f) == 0);
	CHECK(!facts.git_is_plain && strcmp(facts.argv[0], "git") == 0);
	subject_facts_done(&facts);
}

static void bad_input_is_refused(void)
{
	const struct subject_exec bad[] = {
		{ .argv = command, .workdir = "/proc/self" },
		{ .argv = command, .workdir = "/dev" },
		{ .argv = command, .workdir = "../../.." },
		{ .argv = (char *[]){ S("\xff"), NULL } },
		{ .argv = command, .env = (char *[]){ S("=x"), NULL } },
		{ .argv = command, .env = (char *[]){ S("A=\xff"), NULL } },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		_cleanup_subject_ struct subject *s = container();
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(s && subject_exec_change(s, &bad[i], &f) < 0 && f.text);
	}
}

TAP_MAIN(T(a_retry_has_the_same_digest), T(everything_that_changes_the_command_changes_the_digest),
	 T(it_is_never_the_container_itself), T(nothing_is_sealed_and_git_is_not_trusted),
	 T(bad_input_is_refused))
