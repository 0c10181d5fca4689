/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing approvals: what they are bound to, and that they are no approval of a subject. */
#include <fcntl.h>

#include "approval-fixture.h"
#include "approval/standing.h"
#include "base/array.h"
#include "subject-fixture.h"
#include "tap.h"

static const struct grant_terms always = { .level = 'C', .always = true };

/* The document of the fixture's subject, and its parts. */
struct sample {
	struct profile p;
	struct subject s;
	struct jdoc *document, *parts;
};

static bool sample_make(struct sample *x)
{
	_cleanup_fault_ struct fault f = { 0 };
	const char *why;

	*x = (struct sample){ .p = fixture_profile() };
	x->s = fixture_subject(&x->p);
	/* A program that exists here; its content is the operand's. */
	x->s.worktree = S("/usr");
	fixture_argv[0] = S("./bin/cut");
	if (!told(subject_to_json(&x->s, &fixture_key, &x->document, &f), &f))
		return false;
	return told(standing_bind(&x->s, x->document, &x->parts, &why, &f), &f) && x->parts;
}

static void sample_done(struct sample *x)
{
	jdoc_free(x->document);
	jdoc_free(x->parts);
}
#define _cleanup_sample_ _cleanup_(sample_done)

/* The parts in which DOCUMENT differs from those of X, as text. */
static bool differs(const struct sample *x, const struct jdoc *document, const char *parts)
{
	_cleanup_jdoc_ struct jdoc *other = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct digest one, two;
	const char *why, *got;

	if (standing_bind(&x->s, document, &other, &why, NULL) != 1)
		return false;
	standing_put_difference(x->parts, other, &b);
	got = b.text ? b.text : "";
	if (!str_eq(got, parts))
		printf("# '%s', not '%s'\n", got, parts);
	return str_eq(got, parts) && standing_digest(x->parts, &one, NULL) == 0 &&
	       standing_digest(other, &two, NULL) == 0 && (digest_equal(&one, &two) != 0) == !*parts;
}

static void GOV_9_every_key_of_the_subject_is_bound_or_left_out_by_name(void)
{
	static const char *const free_keys[] = { "argv", "copies", "cwd", "lane", "links", "schema", NULL };
	_cleanup_sample_ struct sample x;

	CHECK(sample_make(&x));
	CHECK(differs(&x, x.document, ""));
	for (size_t i = 0; i < x.document->n_members; i++) {
		const char *key = x.document->members[i].key;
		_cleanup_jdoc_ struct jdoc *d = jdoc_copy(x.document);
		char text[64];
		bool is_free = false;

		for (size_t k = 0; free_keys[k]; k++)
			is_free = is_free || str_eq(free_keys[k], key);
		/* Those with parts of their own follow below. */
		if (str_eq(key, "profile") || str_eq(key, "network") || str_eq(key, "operands") ||
		    str_eq(key, "worktree") || str_eq(key, "env"))
			continue;
		jdoc_set_string(d, key, "other");
		(void)snprintf(text, sizeof(text), "%s%s", is_free ? "" : "settings.", is_free ? "" : key);
		CHECK(differs(&x, d, text));
	}
}

static void GOV_9_parts_have_their_own_names(void)
{
	_cleanup_sample_ struct sample x;
	_cleanup_jdoc_ struct jdoc *d = NULL;

	CHECK(sample_make(&x));
	d = jdoc_copy(x.document);
	jdoc_set_string(jdoc_get(d, "profile"), "digest",
			"00000000000000000000000000000000000000000000000000000000000000aa");
	CHECK(differs(&x, d, "profile"));
	jdoc_set_string(d, "network", "host");
	CHECK(differs(&x, d, "egress, profile"));
	jdoc_set(d, "network", jdoc_copy(jdoc_get(x.document, "network")));
	jdoc_set(d, "profile", jdoc_copy(jdoc_get(x.document, "profile")));
	CHECK(differs(&x, d, ""));
	jdoc_set_string(jdoc_get(d, "worktree"), "source", "/elsewhere");
	CHECK(differs(&x, d, "worktree"));
	jdoc_set(d, "worktree", jdoc_copy(jdoc_get(x.document, "worktree")));
	jdoc_set_string(jdoc_get(d, "worktree"), "mode", "rw");
	CHECK(differs(&x, d, "settings.worktree"));
	jdoc_set(d, "worktree", jdoc_copy(jdoc_get(x.document, "worktree")));
	jdoc_set_string(jdoc_get(d, "operands"), "seal", "none");
	CHECK(differs(&x, d, "settings.seal"));
	jdoc_set(d, "operands", jdoc_copy(jdoc_get(x.document, "operands")));
	jdoc_set_string(jdoc_get(d, "env"), "LC_ALL", "x");
	jdoc_set_string(jdoc_get(d, "env"), "LANG", "x");
	CHECK(differs(&x, d, ""));
	jdoc_set_string(jdoc_get(d, "env"), "LANGUAGES", "x");
	CHECK(differs(&x, d, "settings.env"));
}

static void GOV_9_identity_of_program_and_worktree_count(void)
{
	_cleanup_sample_ struct sample x;

	CHECK(sample_make(&x));
	x.s.worktree_file.inode++;
	CHECK(differs(&x, x.document, "worktree_id"));
	x.s.worktree_file.inode--;
	x.s.worktree_file.device++;
	CHECK(differs(&x, x.document, "worktree_id"));
	x.s.worktree_file.device--;
	fixture_operands[0].sha256.bytes[31] ^= 1;
	CHECK(differs(&x, x.document, "program_sha256"));
	fixture_operands[0].sha256.bytes[31] ^= 1;
	/* Not an operand: the file of the host is read. */
	x.s.n_operands = 0;
	CHECK(differs(&x, x.document, "program_sha256"));
	fixture_argv[0] = S("./bin/wc");
	CHECK(differs(&x, x.document, "program, program_sha256, settings.name"));
	fixture_argv[0] = S("./bin/no such program");
	CHECK(!differs(&x, x.document, ""));
	fixture_argv[0] = S("./bin");
	CHECK(!differs(&x, x.document, ""));
}

/* The call of PROGRAM below /usr is bound with its arguments. */
static bool binds_arguments(const char *program)
{
	_cleanup_sample_ struct sample x;
	_cleanup_jdoc_ struct jdoc *made = NULL, *other = NULL, *d = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	const char *why;

	if (!sample_make(&x))
		return false;
	fixture_argv[0] = (char *)program;
	d = jdoc_copy(x.document);
	jdoc_append(jdoc_get(d, "argv"), jdoc_new_string("more"));
	jdoc_set_string(d, "cwd", "/elsewhere");
	jdoc_set_string(jdoc_get(d, "operands"), "other", "x");
	if (standing_bind(&x.s, x.document, &made, &why, NULL) != 1 ||
	    standing_bind(&x.s, d, &other, &why, NULL) != 1)
		return false;
	standing_put_difference(made, other, &b);
	if (b.text && !str_eq(b.text, "settings.argv, settings.cwd, settings.operands"))
		printf("# %s: %s\n", program, b.text);
	return b.text;
}

static void GOV_9_a_program_that_runs_its_arguments_is_bound_with_them(void)
{
	static const char *const runs[] = { "./bin/env",  "./bin/sh",	   "/bin/sh",	 "./bin/bash",
					    "./bin/perl", "./bin/python3", "./bin/nice", "./bin/find",
					    "./bin/make", "./bin/gcc",	   "./bin/sort" };
	static const char *const others[] = { "./bin/cut", "./bin/ls", "./bin/printf" };

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		CHECK(binds_arguments(runs[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(!binds_arguments(others[i]));
}

static void parts_are_read_strictly(void)
{
	_cleanup_sample_ struct sample x;
	static const char *const keys[] = { "egress",	"profile", "program",  "program_sha256",
					    "settings", "uid",	   "worktree", "worktree_id" };

	CHECK(sample_make(&x) && standing_require(x.parts, "test", NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_cleanup_jdoc_ struct jdoc *missing = jdoc_copy(x.parts), *typed = jdoc_copy(x.parts);

		CHECK(jdoc_remove(missing, keys[i]) && standing_require(missing, "test", NULL) == -EINVAL);
		jdoc_set_bool(typed, keys[i], true);
		CHECK(standing_require(typed, "test", NULL) == -EINVAL);
		jdoc_set_string(missing, "more", "x");
		CHECK(standing_require(missing, "test", NULL) == -EINVAL);
	}
	jdoc_set_string(jdoc_get(x.parts, "settings"), "env", "short");
	CHECK(standing_require(x.parts, "test", NULL) == -EINVAL && standing_require(NULL, "t", NULL) < 0);
}

/* A request of WORD with PARTS, answered by alice for always. */
static int sign_always(struct bench *b, const struct jdoc *parts, const struct grant_terms *terms,
		       struct grant *ret)
{
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject("agent", &digest);
	const struct request_ask a = { .digest = &digest,
				       .level = 'C',
				       .command = "agent",
				       .subject = subject,
				       .standing = parts,
				       .uid = 4242,
				       .user = "asker" };
	struct pin_answer answer;
	struct approver by;
	bool complete;
	int r = request_file(&b->store, &a, &rq, &f);

	if (r == 0 && approver_find(&b->store, "alice", &by, NULL) == -ENOENT)
		r = approver_new(&b->store, "alice", &by, &f);
	if (r == 0 && !by.has_pin_secret)
		r = pin_set(&b->store, "alice", NULL, PIN, &answer, &by, &f);
	if (r == 0)
		r = pin_try(&b->store, "alice", PIN, &answer, &key, &f);
	if (r == 0)
		r = grant_sign(&b->store, &rq, &by, &key, terms, ret, &complete, &f);
	return r == 0 && !complete ? -EAGAIN : r;
}

static enum grant_reason ask_store(struct bench *b, const struct digest *digest, char level, bool standing)
{
	_cleanup_grants_ struct grant_set set = { 0 };
	const struct grant_query q = {
		.digest = digest, .level = level, .uid = 4242, .user = "asker", .standing = standing
	};

	return grant_find(&b->store, &q, &set, NULL) == 0 ? set.reason : GRANT_UNDECIDED;
}

static void GOV_6_a_standing_approval_answers_a_B_of_its_parts_and_nothing_else(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sample_ struct sample x;
	_cleanup_grant_ struct grant g = { 0 };
	struct digest parts, subject;
	_cleanup_jdoc_ struct jdoc *doc = make_subject("agent", &subject);

	CHECK(sample_make(&x) && bench_make(&b) && standing_digest(x.parts, &parts, NULL) == 0);
	CHECK(sign_always(&b, x.parts, &always, &g) == 0 && g.level == 'C' && g.standing);
	CHECK(ask_store(&b, &parts, 'B', true) == GRANT_VALID);
	/* No C, no subject, not as a grant of one, not the other way round. */
	CHECK(ask_store(&b, &parts, 'C', true) == GRANT_LEVEL_TOO_LOW);
	CHECK(ask_store(&b, &parts, 'B', false) == GRANT_WRONG_DIGEST);
	CHECK(ask_store(&b, &parts, 'C', false) == GRANT_WRONG_DIGEST);
	CHECK(ask_store(&b, &subject, 'B', false) == GRANT_NONE &&
	      ask_store(&b, &subject, 'B', true) == GRANT_NONE);
	parts.bytes[31] ^= 1;
	CHECK(ask_store(&b, &parts, 'B', true) == GRANT_WRONG_DIGEST);
	CHECK(bench_is_complete(&b) && doc);
}

static void GOV_11_it_ends_by_time_and_by_revocation(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sample_ struct sample x;
	_cleanup_grant_ struct grant g = { 0 }, long_one = { 0 };
	struct grant_terms terms = always;
	struct digest parts;

	CHECK(sample_make(&x) && bench_make(&b) && bench_stop_clock(&b));
	CHECK(standing_digest(x.parts, &parts, NULL) == 0 && sign_always(&b, x.parts, &always, &g) == 0);
	bench_pass(&b, STANDING_S - 1);
	CHECK(ask_store(&b, &parts, 'B', true) == GRANT_VALID);
	bench_pass(&b, 1);
	CHECK(ask_store(&b, &parts, 'B', true) == GRANT_EXPIRED);
	terms.for_s = STANDING_S + 1;
	CHECK(sign_always(&b, x.parts, &terms, &long_one) == -EINVAL);
	terms.for_s = 60;
	CHECK(sign_always(&b, x.parts, &terms, &long_one) == 0);
	CHECK(ask_store(&b, &parts, 'B', true) == GRANT_VALID);
	CHECK(grant_revoke(&b.store, long_one.id, "alice", NULL, NULL) == 0);
	CHECK(ask_store(&b, &parts, 'B', true) == GRANT_REVOKED);
}

static void GOV_11_each_start_is_counted_and_many_may_start_at_once(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sample_ struct sample x;
	_cleanup_grant_ struct grant g = { 0 };
	struct digest parts;
	struct grant_query q = {
		.digest = &parts, .level = 'B', .uid = 4242, .user = "asker", .standing = true
	};

	CHECK(sample_make(&x) && bench_make(&b) && standing_digest(x.parts, &parts, NULL) == 0);
	CHECK(sign_always(&b, x.parts, &always, &g) == 0);
	for (int i = 0; i < 5; i++) {
		_cleanup_grants_ struct grant_set set = { 0 };
		char session[8];

		(void)snprintf(session, sizeof(session), "s%d", i);
		CHECK(grant_reserve(&b.store, &q, &(struct grant_owner){ .session = session }, &set, NULL) ==
			      0 &&
		      set.reason == GRANT_VALID);
	}
	for (int i = 0; i < 5; i++) {
		_cleanup_grants_ struct grant_set set = { 0 };
		char session[8];

		(void)snprintf(session, sizeof(session), "s%d", i);
		/* The revocation comes between: the rest does not start. */
		if (i == 3)
			CHECK(grant_revoke(&b.store, g.id, "alice", NULL, NULL) == 0);
		CHECK(grant_consume(&b.store, &q, session, &set, NULL) == 0);
		CHECK(set.reason == (i < 3 ? GRANT_VALID : GRANT_REVOKED));
	}
	CHECK(count_records(&b, "grant.consume") == 3 && bench_is_complete(&b));
}

static void GOV_11_terms_and_requests_that_cannot_be_for_always_are_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sample_ struct sample x;
	_cleanup_grant_ struct grant g = { 0 };
	_cleanup_jdoc_ struct jdoc *never = jdoc_new_object(), *other = NULL;

	CHECK(sample_make(&x) && bench_make(&b));
	CHECK(sign_always(&b, x.parts, &(struct grant_terms){ .level = 'C', .always = true, .uses = 3 },
			  &g) == -EINVAL);
	CHECK(sign_always(&b, x.parts, &(struct grant_terms){ .level = 'B', .always = true }, &g) < 0);
	CHECK(sign_always(&b, NULL, &always, &g) == -EPERM);
	jdoc_set_string(never, "never", "an unbounded delete");
	CHECK(sign_always(&b, never, &always, &g) == -EPERM);
	other = jdoc_copy(x.parts);
	CHECK(jdoc_remove(other, "program") && sign_always(&b, other, &always, &g) == -EINVAL);
	CHECK(count_records(&b, "approval.grant") == 0);
}

/* Every byte of the parts is under the digest, and the digest under the signature. */
static void GOV_11_an_edited_part_is_no_grant(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_sample_ struct sample x;
	_cleanup_grant_ struct grant g = { 0 };
	const char *from;

	CHECK(sample_make(&x) && bench_make(&b) && sign_always(&b, x.parts, &always, &g) == 0);
	from = strstr(g.text, "\"standing\":{");
	CHECK(from);
	for (size_t i = (size_t)(from - g.text) + strlen("\"standing\":{"); g.text[i] && g.text[i] != '}';
	     i++) {
		_cleanup_grant_ struct grant got = { 0 };
		char kept = g.text[i];

		g.text[i] = kept == 'a' ? 'b' : 'a';
		CHECK(grant_parse(g.text, strlen(g.text), "test", &got, NULL) < 0);
		g.text[i] = kept;
	}
}

TAP_MAIN(T(GOV_9_every_key_of_the_subject_is_bound_or_left_out_by_name), T(GOV_9_parts_have_their_own_names),
	 T(GOV_9_a_program_that_runs_its_arguments_is_bound_with_them),
	 T(GOV_9_identity_of_program_and_worktree_count), T(parts_are_read_strictly),
	 T(GOV_6_a_standing_approval_answers_a_B_of_its_parts_and_nothing_else),
	 T(GOV_11_it_ends_by_time_and_by_revocation),
	 T(GOV_11_each_start_is_counted_and_many_may_start_at_once),
	 T(GOV_11_terms_and_requests_that_cannot_be_for_always_are_refused),
	 T(GOV_11_an_edited_part_is_no_grant))
