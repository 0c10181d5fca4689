/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the tests of approval share: a lane of their own with a ledger, an approver, a request, a grant. */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "approval/grant.h"
#include "ledger/ledger-reader.h"
#include "approval/pin.h"
#include "approval/request.h"
#include "child.h"
#include "ledger-fixture.h"

/* Long: six digits appear in hashes and times by chance. */
#define PIN "2718281828459045"
#define COST 1 /* of yescrypt, for tests: 5 ms */

struct bench {
	struct place place;
	struct ledger *ledger;
	struct approval_rules rules;
	struct moment now;
	struct approval_store store;
};

static inline bool told(int r, const struct fault *f)
{
	if (r < 0)
		printf("# %s\n", fault_text(f));
	return r >= 0;
}

/* A second opening of the same lane, as another process would. */
static inline bool bench_join(struct bench *b, const struct bench *of)
{
	_cleanup_fault_ struct fault f = { 0 };

	*b = (struct bench){
		.place = of->place, .rules = of->rules, .now = of->now, .store = { .dirfd = -EBADF }
	};
	if (!told(ledger_open(b->place.state, &(struct ledger_options){ .create = true }, &b->ledger, NULL,
			      &f),
		  &f))
		return false;
	if (!told(approval_store_open(b->place.state, of->store.lane[0] ? of->store.lane : "sandbox",
				      &b->rules, b->ledger, &b->store, &f),
		  &f))
		return false;
	b->store.pin_cost = COST;
	b->store.login = APPROVER_NO_UID; /* not the uid that runs the tests */
	if (of->store.now)
		b->store.now = &b->now;
	return true;
}

static inline bool bench_make(struct bench *b)
{
	struct bench of = { .rules = { .allow_self = true } };

	return place_make(&of.place) && bench_join(b, &of);
}

static inline void bench_leave(struct bench *b)
{
	approval_store_done(&b->store);
	ledger_free(b->ledger);
	b->ledger = NULL;
}

static inline void bench_done(struct bench *b)
{
	bench_leave(b);
	place_done(&b->place);
}
#define _cleanup_bench_ _cleanup_(bench_done)

/* From here on the clock is stopped. */
static inline bool bench_stop_clock(struct bench *b)
{
	if (approval_store_now(&b->store, &b->now, NULL) < 0)
		return false;
	b->store.now = &b->now;
	return true;
}

static inline void bench_pass(struct bench *b, uint64_t seconds)
{
	b->now.wall_us += seconds * 1000000;
	b->now.boot_ns += seconds * 1000000000;
}

static inline size_t count_records(const struct bench *b, const char *kind)
{
	_cleanup_free_ char *text = NULL;
	char needle[64];
	size_t len = 0, n = 0;

	text = slurp(&b->place, FIRST_SEGMENT, &len);
	(void)snprintf(needle, sizeof(needle), "\"k\":\"%s\"", kind);
	for (const char *at = text; at && (at = strstr(at, needle)); at++)
		n++;
	return n;
}

static inline struct ledger_verify_result bench_verify(const struct bench *b)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	text = slurp(&b->place, FIRST_SEGMENT, &len);
	return judge(text, text ? len : 0, &(struct ledger_verify_options){ 0 });
}

/* A whole chain and whole stories. */
static inline bool bench_is_complete(const struct bench *b)
{
	struct ledger_verify_result v = bench_verify(b);

	if (v.status == VERIFY_BARE && v.unasked.n == 0 && v.unbegun.n == 0 && v.unfounded.n == 0 &&
	    v.overused.n == 0 && !v.names_overflow)
		return true;
	printf("# verify: %d %s, %llu unasked (%s)\n", (int)v.status, v.why, (unsigned long long)v.unasked.n,
	       v.unasked.n ? v.unasked.name[0] : "");
	return false;
}

/* A subject that differs by WORD, its document and its digest. */
static inline struct jdoc *make_subject(const char *word, struct digest *ret)
{
	struct jdoc *doc = jdoc_new_object();
	struct strbuf s = { 0 };

	jdoc_append_string(jdoc_set_array(doc, "argv"), word);
	if (jdoc_write(doc, JDOC_CANONICAL, &s, NULL) == 0)
		digest_bytes(s.text, s.len, ret);
	strbuf_done(&s);
	return doc;
}

static inline int ask(struct bench *b, const char *word, char level, struct request *ret)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject(word, &digest);
	const struct request_ask a = {
		.digest = &digest,
		.level = level,
		.command = word,
		.agent = "tester",
		.alike = "same",
		.subject = subject,
		.uid = 4242,
		.user = "asker",
	};
	int r = request_file(&b->store, &a, ret, &f);

	(void)told(r, &f);
	return r;
}

/* WORD asked for and approved by NAME, whose keys are made as needed. */
static inline bool approve(struct bench *b, const char *word, const char *name,
			   const struct grant_terms *terms, struct grant *ret)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer;
	struct approver by;
	bool complete;
	int r;

	if (ask(b, word, terms->level, &rq) < 0)
		return false;
	r = approver_find(&b->store, name, &by, NULL);
	if (r == -ENOENT)
		r = approver_new(&b->store, name, &by, &f);
	if (r == 0 && terms->level == 'C' && !by.has_pin_secret)
		r = pin_set(&b->store, name, NULL, PIN, &answer, &by, &f);
	if (r == 0)
		r = terms->level == 'C' ? pin_try(&b->store, name, PIN, &answer, &key, &f)
					: approver_unlock(&b->store, name, &key, &f);
	if (r == 0)
		r = grant_sign(&b->store, &rq, &by, &key, terms, ret, &complete, &f);
	return told(r, &f);
}

static inline enum grant_reason look(struct bench *b, const char *word, char level)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_grants_ struct grant_set set = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject(word, &digest);
	const struct grant_query q = { .digest = &digest, .level = level, .uid = 4242, .user = "asker" };

	return told(grant_find(&b->store, &q, &set, &f), &f) ? set.reason : GRANT_UNDECIDED;
}

/* As a start does it; GRANT_VALID: it may go on. */
static inline enum grant_reason reserve(struct bench *b, const char *word, char level, const char *session)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_grants_ struct grant_set set = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject(word, &digest);
	const struct grant_query q = { .digest = &digest, .level = level, .uid = 4242, .user = "asker" };

	return told(grant_reserve(&b->store, &q, &(struct grant_owner){ .session = session }, &set, &f), &f)
		       ? set.reason
		       : GRANT_UNDECIDED;
}

static inline enum grant_reason consume(struct bench *b, const char *word, char level, const char *session)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_grants_ struct grant_set set = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject(word, &digest);
	const struct grant_query q = { .digest = &digest, .level = level, .uid = 4242, .user = "asker" };

	return told(grant_consume(&b->store, &q, session, &set, &f), &f) ? set.reason : GRANT_UNDECIDED;
}

static inline enum grant_reason import(struct bench *b, const char *text, struct grant *ret)
{
	_cleanup_fault_ struct fault f = { 0 };
	enum grant_reason reason = GRANT_UNDECIDED;

	return told(grant_import_text(&b->store, text, strlen(text), "text", NULL, ret, &reason, &f), &f)
		       ? reason
		       : GRANT_UNDECIDED;
}

/* What `boss` signs on LAPTOP, for a request that HERE filed and sent there. */
static inline bool sign_far(struct bench *here, struct bench *laptop, const char *word,
			    const struct grant_terms *terms, struct grant *ret)
{
	_cleanup_request_ struct request asked = { 0 }, rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	struct approver by;
	char path[256];
	bool complete;
	int r;

	if (ask(here, word, terms->level, &asked) < 0 || request_write(&asked, &text, NULL) < 0 ||
	    !spit(&laptop->place, "asked.json", text.text, text.len) ||
	    !place_path(&laptop->place, "asked.json", path))
		return false;
	r = request_import(&laptop->store, path, &rq, &f);
	if (r == 0)
		r = approver_own(&laptop->store, NULL, "boss", &by, &f);
	if (r == 0)
		r = approver_unlock(&laptop->store, "boss", &key, &f);
	if (r == 0)
		r = grant_sign(&laptop->store, &rq, &by, &key, terms, ret, &complete, &f);
	return told(r, &f) && complete;
}

/* HERE accepts the keys of LAPTOP's boss, whose texts KEYS holds. */
static inline bool trust_boss(struct bench *here, struct bench *laptop, char keys[2][APPROVER_KEY_SIZE],
			      struct approver_entry *entry)
{
	struct approver boss;

	if (approver_own(&laptop->store, NULL, "boss", &boss, NULL) < 0)
		return false;
	approver_key_text(&boss.key, keys[0]);
	approver_key_text(&boss.pin_key, keys[1]);
	*entry = (struct approver_entry){ .name = "boss",
					  .key = keys[0],
					  .pin_key = boss.has_pin_key ? keys[1] : NULL,
					  .uid = APPROVER_NO_UID };
	here->rules = (struct approval_rules){
		.approvers = entry, .n_approvers = 1, .configured = true, .allow_self = true
	};
	return true;
}

/*
 * Runs WORK in a child and kills it when it is about to make its Nth call, counted from when it stops itself.
 * 1: killed; 0: WORK was done before; negative: it failed.
 */
static inline int kill_at(unsigned int n, bool (*work)(struct bench *b), struct bench *b)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(!(child_be_traced() && work(b)));
	return child_kill_at(pid, n);
}

/* WORK in N children that begin at the same moment; how many returned true, or -1. */
static inline int race(unsigned int n, bool (*work)(struct bench *b, unsigned int i), const struct bench *b)
{
	int go[2], won = 0, status;

	if (pipe(go) < 0)
		return -1;
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0) {
			struct bench mine;
			bool ready = bench_join(&mine, b);
			char c;

			(void)close(go[1]);
			(void)!read(go[0], &c, 1);
			_exit(!ready ? 2 : work(&mine, i) ? 0 : 1);
		}
	}
	(void)close(go[0]);
	(void)close(go[1]);
	for (unsigned int i = 0; i < n; i++) {
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
			return -1;
		won += WEXITSTATUS(status) == 0;
	}
	return won;
}
