/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/grant.h"

#include <dirent.h>

#include "approval-fixture.h"
#include "approval/grant-impl.h"
#include "base/array.h"
#include "tap.h"

static const struct grant_terms once = { .level = 'B' }, thrice = { .level = 'B', .uses = 3 },
				with_pin = { .level = 'C' };

/* STATE/grants/NAME of G. */
static const char *file_of(const struct grant *g, char path[256])
{
	char name[GRANT_FILE_SIZE];

	grant_file_name(g, name);
	(void)snprintf(path, 256, "grants/%s", name);
	return path;
}

static void GOV_11_a_grant_is_used_once(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b));
	CHECK(look(&b, "make", 'B') == GRANT_NONE && reserve(&b, "make", 'B', "s1") == GRANT_NONE);
	CHECK(approve(&b, "make", "alice", &once, &g));
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	CHECK(reserve(&b, "make", 'B', "s1") == GRANT_VALID);
	CHECK(reserve(&b, "make", 'B', "s1") == GRANT_VALID); /* the same start, asking twice */
	CHECK(reserve(&b, "make", 'B', "s2") == GRANT_RESERVED);
	CHECK(consume(&b, "make", 'B', "s2") == GRANT_NONE);
	CHECK(consume(&b, "make", 'B', "s1") == GRANT_VALID);
	CHECK(consume(&b, "make", 'B', "s1") == GRANT_CONSUMED);
	CHECK(look(&b, "make", 'B') == GRANT_CONSUMED && reserve(&b, "make", 'B', "s2") == GRANT_CONSUMED);
	CHECK(count_records(&b, "grant.consume") == 1 && count_records(&b, "approval.grant") == 1);
	CHECK(count_records(&b, "approval.request") == 1 && bench_is_complete(&b));
}

static void GOV_11_uses_of_a_grant_are_counted(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &thrice, &g));
	CHECK(reserve(&b, "make", 'B', "s1") == GRANT_VALID && reserve(&b, "make", 'B', "s2") == GRANT_VALID);
	CHECK(reserve(&b, "make", 'B', "s3") == GRANT_VALID &&
	      reserve(&b, "make", 'B', "s4") == GRANT_RESERVED);
	CHECK(grant_release(&b.store, "s2", "setup-failed", NULL) == 0);
	CHECK(reserve(&b, "make", 'B', "s4") == GRANT_VALID);
	CHECK(consume(&b, "make", 'B', "s2") == GRANT_NONE);
	CHECK(consume(&b, "make", 'B', "s1") == GRANT_VALID && consume(&b, "make", 'B', "s3") == GRANT_VALID);
	CHECK(consume(&b, "make", 'B', "s4") == GRANT_VALID &&
	      consume(&b, "make", 'B', "s4") == GRANT_CONSUMED);
	CHECK(count_records(&b, "grant.consume") == 3 && count_records(&b, "grant.release") == 1);
	CHECK(bench_is_complete(&b));
}

static void GOV_11_expired_by_the_wall_clock_and_by_the_time_since_boot(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	struct moment at;

	CHECK(bench_make(&b) && bench_stop_clock(&b));
	CHECK(approve(&b, "make", "alice", &(struct grant_terms){ .level = 'B', .uses = 5, .for_s = 600 },
		      &g));
	at = b.now;
	bench_pass(&b, 599);
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	bench_pass(&b, 1);
	CHECK(look(&b, "make", 'B') == GRANT_EXPIRED && reserve(&b, "make", 'B', "s") == GRANT_EXPIRED);
	/* The clock on the wall was set back: the other one still knows. */
	b.now.wall_us = at.wall_us;
	CHECK(look(&b, "make", 'B') == GRANT_EXPIRED);
	/* After a reboot only the wall clock is left. */
	b.now = at;
	(void)snprintf(b.now.boot, sizeof(b.now.boot), "00000000");
	b.now.boot_ns = 1;
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	b.now.wall_us += (uint64_t)600 * 1000000;
	CHECK(look(&b, "make", 'B') == GRANT_EXPIRED);
}

static void GOV_11_not_yet_valid_when_the_clock_went_back(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b) && bench_stop_clock(&b) && approve(&b, "make", "alice", &once, &g));
	b.now.wall_us -= 59 * 1000000; /* two machines, or a clock that is set right */
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	b.now.wall_us -= 2 * 1000000;
	CHECK(look(&b, "make", 'B') == GRANT_NOT_YET_VALID &&
	      reserve(&b, "make", 'B', "s") == GRANT_NOT_YET_VALID);
}

static void GOV_11_expired_between_reserve_and_consume_does_not_start(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b) && bench_stop_clock(&b) && approve(&b, "make", "alice", &once, &g));
	CHECK(reserve(&b, "make", 'B', "s") == GRANT_VALID);
	bench_pass(&b, APPROVAL_GRANT_S);
	CHECK(consume(&b, "make", 'B', "s") == GRANT_EXPIRED && count_records(&b, "grant.consume") == 0);
}

static void GOV_11_revoked_wins_over_a_reservation(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, again = { 0 };
	char path[256], full[256];

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	CHECK(reserve(&b, "make", 'B', "s") == GRANT_VALID);
	CHECK(grant_revoke(&b.store, "ffff", "alice", NULL, NULL) == -ENOENT);
	CHECK(grant_revoke(&b.store, g.id, "alice", "changed my mind", NULL) == 0);
	CHECK(grant_revoke(&b.store, g.id, "alice", NULL, NULL) == -EALREADY);
	CHECK(consume(&b, "make", 'B', "s") == GRANT_REVOKED && look(&b, "make", 'B') == GRANT_REVOKED);
	CHECK(count_records(&b, "grant.consume") == 0 && count_records(&b, "approval.revoke") == 1);
	/* Removed and restored it stays revoked. */
	CHECK(place_path(&b.place, file_of(&g, path), full) && unlink(full) == 0);
	CHECK(look(&b, "make", 'B') == GRANT_NONE && import(&b, g.text, &again) == GRANT_REVOKED);
	CHECK(bench_is_complete(&b));
}

static void GOV_11_edited_anywhere_it_does_not_count(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	char path[256];
	size_t len, counted = 0;

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	file_of(&g, path);
	len = strlen(g.text);
	for (size_t i = 0; i < len; i += tap_stride()) {
		_cleanup_free_ char *text = strdup(g.text);

		CHECK(text);
		text[i] = text[i] == '1' ? '2' : '1';
		CHECK(spit(&b.place, path, text, len));
		/* Where the digest was changed it is another's: then nothing was approved. */
		if (look(&b, "make", 'B') == GRANT_VALID) {
			printf("# byte %zu counts\n", i);
			counted++;
		}
	}
	CHECK(counted == 0);
	CHECK(spit(&b.place, path, g.text, len - 1) && look(&b, "make", 'B') == GRANT_EDITED);
	CHECK(spit(&b.place, path, "", 0) && look(&b, "make", 'B') == GRANT_EDITED);
	CHECK(spit(&b.place, path, g.text, len) && look(&b, "make", 'B') == GRANT_VALID);
}

/* G with CHANGE, signed with KEY as if it had always been so. */
static bool resign(struct grant *g, const struct sign_secret *key)
{
	return grant_seal(g, key, NULL) == 0;
}

static bool copy_grant(const struct grant *g, struct grant *ret)
{
	return grant_parse(g->text, strlen(g->text), "copy", ret, NULL) == 0;
}

static void GOV_11_unknown_key(void)
{
	_cleanup_bench_ struct bench b = { 0 }, other = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, r1 = { 0 }, r2 = { 0 }, r3 = { 0 }, forged = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct approver a;

	/* The same name with a key from elsewhere. */
	CHECK(bench_make(&b) && bench_make(&other) && approver_new(&b.store, "alice", &a, NULL) == 0);
	CHECK(approve(&other, "make", "alice", &once, &g));
	CHECK(import(&b, g.text, &r1) == GRANT_UNKNOWN_KEY && look(&b, "make", 'B') == GRANT_NONE);
	CHECK(copy_grant(&g, &forged) && sign_new(&key, NULL) == 0);
	(void)snprintf(forged.approver, sizeof(forged.approver), "mallory");
	CHECK(resign(&forged, &key) && import(&b, forged.text, &r2) == GRANT_UNKNOWN_KEY);
	/* It claims alice's key. */
	(void)snprintf(forged.approver, sizeof(forged.approver), "alice");
	memcpy(forged.key_id, a.key_id, sizeof(a.key_id));
	CHECK(resign(&forged, &key) && import(&b, forged.text, &r3) == GRANT_EDITED);
	CHECK(count_records(&b, "approval.grant") == 0);
	/* No longer an approver. */
	grant_done(&g);
	CHECK(approve(&b, "make", "alice", &once, &g) && look(&b, "make", 'B') == GRANT_VALID);
	b.rules.configured = true;
	CHECK(look(&b, "make", 'B') == GRANT_UNKNOWN_KEY &&
	      reserve(&b, "make", 'B', "s") == GRANT_UNKNOWN_KEY);
}

static void LANE_6_a_grant_of_the_other_lane_is_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, r1 = { 0 }, r2 = { 0 };
	struct bench prod = { .store = { .dirfd = -EBADF } };
	struct approver a;
	char hex[APPROVER_KEY_SIZE];
	struct approver_entry e = { .name = "alice", .key = hex, .uid = APPROVER_NO_UID };

	/* The same state directory, opened as the other lane: nothing in it counts. */
	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	CHECK(approver_find(&b.store, "alice", &a, NULL) == 0);
	approver_key_text(&a.key, hex);
	CHECK(bench_join(&prod, &b));
	(void)snprintf(prod.store.lane, sizeof(prod.store.lane), "prod");
	CHECK(look(&prod, "make", 'B') == GRANT_FOREIGN_LANE);
	CHECK(reserve(&prod, "make", 'B', "s") == GRANT_FOREIGN_LANE);
	CHECK(import(&prod, g.text, &r1) == GRANT_FOREIGN_LANE);
	/* The key counts in both lanes; the grant does not. */
	prod.rules.approvers = &e;
	prod.rules.n_approvers = 1;
	prod.rules.configured = true;
	CHECK(look(&prod, "make", 'B') == GRANT_FOREIGN_LANE &&
	      import(&prod, g.text, &r2) == GRANT_FOREIGN_LANE);
	bench_leave(&prod);
	/* And an approver of another lane. */
	b.rules.approvers = &e;
	b.rules.n_approvers = 1;
	b.rules.configured = true;
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	e.lane = "prod";
	CHECK(look(&b, "make", 'B') == GRANT_FOREIGN_LANE);
}

static void GOV_9_wrong_digest(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, ret = { 0 };
	struct digest other;
	enum grant_reason reason;

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	jdoc_free(make_subject("make install", &other));
	CHECK(look(&b, "make install", 'B') == GRANT_NONE);
	CHECK(grant_import_text(&b.store, g.text, strlen(g.text), "x", &other, &ret, &reason, NULL) == 0);
	CHECK(reason == GRANT_WRONG_DIGEST);
	/* Reserved for one thing, started with another. */
	CHECK(reserve(&b, "make", 'B', "s") == GRANT_VALID);
	CHECK(consume(&b, "make install", 'B', "s") == GRANT_NONE && count_records(&b, "grant.consume") == 0);
}

static void GOV_6_a_grant_without_the_PIN_is_no_C(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant plain = { 0 }, forged = { 0 }, c = { 0 }, ret = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };

	CHECK(bench_make(&b) && approve(&b, "rm", "alice", &thrice, &plain));
	CHECK(look(&b, "rm", 'B') == GRANT_VALID && look(&b, "rm", 'C') == GRANT_LEVEL_TOO_LOW);
	CHECK(reserve(&b, "rm", 'C', "s") == GRANT_LEVEL_TOO_LOW);
	/* The owner of the plain key signs a statement of level C. */
	CHECK(approver_unlock(&b.store, "alice", &key, NULL) == 0 && copy_grant(&plain, &forged));
	forged.level = 'C';
	CHECK(resign(&forged, &key) && import(&b, forged.text, &ret) == GRANT_LEVEL_TOO_LOW);
	/* With the PIN, and then it serves a B too, once. */
	CHECK(approve(&b, "cp", "alice", &with_pin, &c) && c.level == 'C');
	CHECK(look(&b, "cp", 'C') == GRANT_VALID && look(&b, "cp", 'B') == GRANT_VALID);
	CHECK(reserve(&b, "cp", 'C', "s") == GRANT_VALID && consume(&b, "cp", 'C', "s") == GRANT_VALID);
	CHECK(look(&b, "cp", 'B') == GRANT_CONSUMED && bench_is_complete(&b));
}

static void GOV_6_a_C_cannot_be_remembered(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant c = { 0 }, many = { 0 }, ret = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct pin_answer answer;
	struct approver a;
	bool complete;

	CHECK(bench_make(&b) && approve(&b, "cp", "alice", &with_pin, &c) && ask(&b, "rm", 'C', &rq) == 0);
	CHECK(approver_find(&b.store, "alice", &a, NULL) == 0);
	CHECK(pin_try(&b.store, "alice", PIN, &answer, &key, NULL) == 0 && answer.result == PIN_RIGHT);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &(struct grant_terms){ .level = 'C', .uses = 2 }, &ret,
			 &complete, NULL) == -EINVAL);
	/* Signed on another machine: still one start. */
	CHECK(copy_grant(&c, &many));
	many.uses = 10;
	many.digest = rq.digest;
	CHECK(resign(&many, &key) && import(&b, many.text, &ret) == GRANT_VALID);
	CHECK(reserve(&b, "rm", 'C', "s1") == GRANT_VALID && reserve(&b, "rm", 'C', "s2") == GRANT_RESERVED);
	CHECK(consume(&b, "rm", 'C', "s1") == GRANT_VALID && reserve(&b, "rm", 'C', "s2") == GRANT_CONSUMED);
}

static void GOV_6_a_request_of_level_C_takes_no_B(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, ret = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct approver a;
	bool complete;

	CHECK(bench_make(&b) && approve(&b, "cp", "alice", &once, &g) && ask(&b, "rm", 'C', &rq) == 0);
	CHECK(approver_find(&b.store, "alice", &a, NULL) == 0 &&
	      approver_unlock(&b.store, "alice", &key, NULL) == 0);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -EPERM);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &with_pin, &ret, &complete, NULL) == -EINVAL);
	/* The caller's copy of the request has level B, or another digest; the file has not. */
	rq.level = 'B';
	rq.digest.bytes[DIGEST_SIZE - 1] ^= 1;
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -ESTALE);
	rq.digest.bytes[DIGEST_SIZE - 1] ^= 1;
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -EPERM);
	CHECK(look(&b, "rm", 'B') == GRANT_NONE && count_records(&b, "approval.grant") == 1);
}

/* The card was shown in time; the answer came too late, or the approver was removed before it. */
static void GOV_13_changes_between_card_and_answer_count(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, ret = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct approver a;
	bool complete;

	CHECK(bench_make(&b) && bench_stop_clock(&b) && approve(&b, "cp", "alice", &once, &g) &&
	      ask(&b, "mv", 'B', &rq) == 0);
	CHECK(approver_find(&b.store, "alice", &a, NULL) == 0 &&
	      approver_unlock(&b.store, "alice", &key, NULL) == 0);
	a.counts = false;
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -EACCES);
	a.counts = true;
	bench_pass(&b, APPROVAL_REQUEST_EXPIRY_S + 1);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -ETIME);
	CHECK(look(&b, "mv", 'B') == GRANT_NONE && count_records(&b, "approval.grant") == 1);
}

/* Numbers of processes come back, and mean nothing in another namespace. */
static void GOV_11_a_reservation_is_not_held_by_a_reused_pid(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct grant_reservation r, other;
	struct moment now;

	CHECK(bench_make(&b) && approval_store_now(&b.store, &now, NULL) == 0 &&
	      grant_reservation_init(&r, "s", getpid(), &now, NULL) == 0);
	CHECK(!grant_reservation_is_dead(&r, &now));
	other = r;
	other.start++;
	CHECK(grant_reservation_is_dead(&other, &now));
	other = r;
	other.pid = 0x3fffffff;
	CHECK(grant_reservation_is_dead(&other, &now));
	other.pidns++;
	CHECK(!grant_reservation_is_dead(&other, &now));
	other.boot[0] = other.boot[0] == '0' ? '1' : '0';
	CHECK(grant_reservation_is_dead(&other, &now));
}

static enum grant_reason look_as(struct bench *b, const char *word, uid_t uid, const char *user)
{
	_cleanup_grants_ struct grant_set set = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject(word, &digest);
	const struct grant_query q = { .digest = &digest, .level = 'B', .uid = uid, .user = user };

	return grant_find(&b->store, &q, &set, NULL) == 0 ? set.reason : GRANT_UNDECIDED;
}

static void GOV_13_requesters_and_starters_may_not_approve(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, ret = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject("rm", &digest);
	struct request_ask own = { .digest = &digest, .level = 'B', .command = "rm", .subject = subject };
	struct approver a;
	bool complete;

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	b.rules.allow_self = false;
	CHECK(look_as(&b, "make", 4242, "asker") == GRANT_VALID);
	CHECK(look_as(&b, "make", geteuid(), "root") == GRANT_SELF_APPROVAL); /* starts it himself */
	CHECK(look_as(&b, "make", 77, "alice") == GRANT_SELF_APPROVAL);	      /* ... from another account */
	b.store.login = geteuid();					      /* sudo */
	CHECK(look_as(&b, "make", 77, "root") == GRANT_SELF_APPROVAL);
	b.store.login = APPROVER_NO_UID;
	/* Asked for by the approver: by uid, and by name. */
	own.uid = geteuid();
	own.user = "mallory";
	CHECK(request_file(&b.store, &own, &rq, NULL) == 0 &&
	      approver_find(&b.store, "alice", &a, NULL) == 0);
	CHECK(approver_unlock(&b.store, "alice", &key, NULL) == 0);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -EPERM);
	/* If only the requester's rules forbid it, the request has a mark. */
	b.rules.allow_self = true;
	CHECK(rq.no_self && grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -EPERM);
	CHECK(count_records(&b, "approval.grant") == 1);
	request_done(&rq);
	CHECK(request_file(&b.store, &own, &rq, NULL) == 0 && !rq.no_self);
	/* Signed while it was allowed, it does not count once it is not, for any caller. */
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == 0 && complete);
	CHECK(look_as(&b, "rm", 4242, "asker") == GRANT_VALID);
	b.rules.allow_self = false;
	CHECK(look_as(&b, "rm", 4242, "asker") == GRANT_SELF_APPROVAL);
	/* Asked for through sudo: the login user is a requester as well, and the statement has it. */
	request_done(&rq);
	jdoc_free(subject);
	subject = make_subject("sudo", &digest);
	own.subject = subject;
	own.uid = 77;
	own.user = "root";
	b.store.login = geteuid();
	CHECK(request_file(&b.store, &own, &rq, NULL) == 0 && strv_len(rq.askers) == 2);
	b.store.login = APPROVER_NO_UID;
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -EPERM);
}

static void GOV_13_min_approvals_needs_as_many_approvers(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g1 = { 0 }, g2 = { 0 }, g3 = { 0 }, g4 = { 0 }, g5 = { 0 };
	_cleanup_requests_ struct request_list open = { 0 }, closed = { 0 };
	struct approver alice, bob;
	unsigned int n;
	char ka[APPROVER_KEY_SIZE], kb[APPROVER_KEY_SIZE];
	struct approver_entry e[] = { { .name = "alice", .key = ka, .uid = APPROVER_NO_UID },
				      { .name = "bob", .key = kb, .uid = APPROVER_NO_UID } };

	CHECK(bench_make(&b) && approver_new(&b.store, "alice", &alice, NULL) == 0);
	CHECK(approver_new(&b.store, "bob", &bob, NULL) == 0);
	approver_key_text(&alice.key, ka);
	approver_key_text(&bob.key, kb);
	b.rules.min_approvals = 2;
	/* One user made both keys and no admin vouches for them: one voice. */
	CHECK(approve(&b, "make", "alice", &once, &g1) && approve(&b, "make", "bob", &once, &g2));
	CHECK(look(&b, "make", 'B') == GRANT_TOO_FEW_APPROVALS);
	CHECK(reserve(&b, "make", 'B', "s") == GRANT_TOO_FEW_APPROVALS);
	b.rules.approvers = e;
	b.rules.n_approvers = 2;
	b.rules.configured = true;
	CHECK(look(&b, "make", 'B') == GRANT_VALID);
	/* Both are used by one start. */
	CHECK(reserve(&b, "make", 'B', "s") == GRANT_VALID &&
	      reserve(&b, "make", 'B', "t") == GRANT_RESERVED);
	CHECK(consume(&b, "make", 'B', "s") == GRANT_VALID && count_records(&b, "grant.consume") == 2);
	CHECK(look(&b, "make", 'B') == GRANT_CONSUMED);
	CHECK(request_drop_all(&b.store, "cleared", &n, NULL) == 0 && n == 1);
	/* Twice the same one is one, and the question stays. */
	grant_done(&g1);
	grant_done(&g2);
	CHECK(approve(&b, "rm", "alice", &once, &g1) && approve(&b, "rm", "alice", &once, &g2));
	CHECK(look(&b, "rm", 'B') == GRANT_TOO_FEW_APPROVALS);
	CHECK(request_list(&b.store, false, &open, NULL) == 0 && open.n == 1 &&
	      strv_len(open.items[0].approvals) == 1);
	CHECK(approve(&b, "rm", "bob", &once, &g3) && look(&b, "rm", 'B') == GRANT_VALID);
	CHECK(request_list(&b.store, false, &closed, NULL) == 0 && closed.n == 0);
	/* One of both is taken back, before the start and between reserve and start. */
	CHECK(reserve(&b, "rm", 'B', "r") == GRANT_VALID);
	CHECK(grant_revoke(&b.store, g3.id, "bob", NULL, NULL) == 0 &&
	      look(&b, "rm", 'B') == GRANT_TOO_FEW_APPROVALS);
	b.rules.min_approvals = 1;
	CHECK(consume(&b, "rm", 'B', "r") == GRANT_REVOKED &&
	      grant_release(&b.store, "r", "revoked", NULL) == 0);
	b.rules.min_approvals = 2;
	/* So is one PIN under two names, whichever key signed. */
	CHECK(approve(&b, "cp", "alice", &once, &g4) && approve(&b, "cp", "bob", &once, &g5) &&
	      look(&b, "cp", 'B') == GRANT_VALID);
	e[0].pin_key = e[1].pin_key =
		"ed25519:7777777777777777777777777777777777777777777777777777777777777777";
	CHECK(look(&b, "cp", 'B') == GRANT_TOO_FEW_APPROVALS);
	e[0].pin_key = e[1].pin_key = NULL;
	/* One key under two names is one. */
	memcpy(kb, ka, sizeof(ka));
	CHECK(look(&b, "rm", 'B') == GRANT_TOO_FEW_APPROVALS && bench_is_complete(&b));
}

static void GOV_13_a_request_lists_its_requesters(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_grant_ struct grant g1 = { 0 }, g2 = { 0 };
	_cleanup_sign_ struct sign_secret ka = { 0 }, kb = { 0 }, kc = { 0 };
	struct approver alice, bob, carol;
	char keys[3][APPROVER_KEY_SIZE];
	struct approver_entry e[] = { { .name = "alice", .key = keys[0], .uid = APPROVER_NO_UID },
				      { .name = "bob", .key = keys[1], .uid = APPROVER_NO_UID },
				      { .name = "carol", .key = keys[2], .uid = APPROVER_NO_UID } };
	bool complete = true;

	CHECK(bench_make(&b) && approver_new(&b.store, "alice", &alice, NULL) == 0);
	CHECK(approver_new(&b.store, "bob", &bob, NULL) == 0 &&
	      approver_new(&b.store, "carol", &carol, NULL) == 0);
	approver_key_text(&alice.key, keys[0]);
	approver_key_text(&bob.key, keys[1]);
	approver_key_text(&carol.key, keys[2]);
	CHECK(approver_unlock(&b.store, "alice", &ka, NULL) == 0 &&
	      approver_unlock(&b.store, "bob", &kb, NULL) == 0);
	CHECK(approver_unlock(&b.store, "carol", &kc, NULL) == 0);
	/* Asked under a profile that wants two of alice and bob; answered where only the configuration is known. */
	b.rules = (struct approval_rules){ .approvers = e,
					   .n_approvers = 2,
					   .configured = true,
					   .narrowed = true,
					   .allow_self = true,
					   .min_approvals = 2 };
	CHECK(ask(&b, "rm", 'B', &rq) == 0 && rq.needed == 2 && strv_len(rq.only) == 2);
	b.rules = (struct approval_rules){
		.approvers = e, .n_approvers = 3, .configured = true, .allow_self = true
	};
	CHECK(approver_find(&b.store, "carol", &carol, NULL) == 0 &&
	      approver_find(&b.store, "alice", &alice, NULL) == 0);
	CHECK(approver_find(&b.store, "bob", &bob, NULL) == 0 && carol.counts && bob.counts);
	CHECK(grant_sign(&b.store, &rq, &carol, &kc, &once, &g1, &complete, NULL) == -EPERM);
	CHECK(grant_sign(&b.store, &rq, &alice, &ka, &once, &g1, &complete, NULL) == 0 && !complete);
	CHECK(grant_sign(&b.store, &rq, &bob, &kb, &once, &g2, &complete, NULL) == 0 && complete);
	CHECK(bench_is_complete(&b));
}

/* COPY_ID: read before or after the grant itself, whose id is random. */
static void check_copy(const char *copy_id)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, again = { 0 }, r2 = { 0 }, r3 = { 0 };
	_cleanup_grants_ struct grant_set set = { 0 };
	char path[256], full[256], copy[256];

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	/* Under another name beside the first. */
	(void)snprintf(copy, sizeof(copy), "%s", file_of(&g, path));
	memcpy(strchr(copy, '-') + 1, copy_id, 16);
	CHECK(spit(&b.place, copy, g.text, strlen(g.text)) && grant_list(&b.store, &set, NULL) == 0 &&
	      set.n == 2);
	CHECK((set.items[0].reason == GRANT_VALID) + (set.items[1].reason == GRANT_VALID) == 1);
	CHECK((set.items[0].reason == GRANT_UNREGISTERED) + (set.items[1].reason == GRANT_UNREGISTERED) == 1);
	CHECK(reserve(&b, "make", 'B', "s1") == GRANT_VALID &&
	      reserve(&b, "make", 'B', "s2") == GRANT_RESERVED);
	CHECK(consume(&b, "make", 'B', "s1") == GRANT_VALID);
	CHECK(reserve(&b, "make", 'B', "s2") == GRANT_CONSUMED);
	/* Deleted and restored, as a file and by import. */
	CHECK(place_path(&b.place, path, full) && unlink(full) == 0 && place_path(&b.place, copy, full) &&
	      unlink(full) == 0);
	CHECK(look(&b, "make", 'B') == GRANT_NONE && import(&b, g.text, &again) == GRANT_CONSUMED);
	CHECK(spit(&b.place, path, g.text, strlen(g.text)) && look(&b, "make", 'B') == GRANT_CONSUMED);
	/* The count is deleted too: the ledger remembers. */
	(void)snprintf(path, sizeof(path), "grants/%s.uses", g.id);
	CHECK(place_path(&b.place, path, full) && unlink(full) == 0);
	CHECK(look(&b, "make", 'B') == GRANT_UNREGISTERED &&
	      reserve(&b, "make", 'B', "s2") == GRANT_UNREGISTERED);
	CHECK(import(&b, g.text, &r2) == GRANT_UNREGISTERED && look(&b, "make", 'B') == GRANT_UNREGISTERED);
	/* Or replaced by that of another grant. */
	CHECK(approve(&b, "cp", "alice", &once, &r3));
	{
		_cleanup_free_ char *text = NULL;
		size_t len;

		(void)snprintf(copy, sizeof(copy), "grants/%s.uses", r3.id);
		text = slurp(&b.place, copy, &len);
		CHECK(text && spit(&b.place, path, text, len) && look(&b, "make", 'B') == GRANT_UNREGISTERED);
	}
	CHECK(count_records(&b, "grant.consume") == 1 && bench_is_complete(&b));
}

static void GOV_11_a_copy_is_the_same_grant(void)
{
	check_copy("0000000000000000");
	check_copy("ffffffffffffffff");
}

static void GOV_13_a_grant_signed_elsewhere_works_here_and_once(void)
{
	_cleanup_bench_ struct bench here = { 0 }, laptop = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, r1 = { 0 }, r2 = { 0 }, r3 = { 0 };
	char keys[2][APPROVER_KEY_SIZE], path[256];
	struct approver_entry e;
	_cleanup_requests_ struct request_list open = { 0 };
	enum grant_reason reason;

	CHECK(bench_make(&here) && bench_make(&laptop));
	CHECK(sign_far(&here, &laptop, "make", &once, &g));
	CHECK(import(&here, g.text, &r1) == GRANT_UNKNOWN_KEY && trust_boss(&here, &laptop, keys, &e));
	CHECK(spit(&here.place, "carried", g.text, strlen(g.text)) &&
	      place_path(&here.place, "carried", path));
	CHECK(grant_import(&here.store, path, &g.digest, &r2, &reason, NULL) == 0 && reason == GRANT_VALID);
	CHECK(import(&here, g.text, &r3) == GRANT_VALID && count_records(&here, "approval.grant") == 1);
	CHECK(reserve(&here, "make", 'B', "s") == GRANT_VALID &&
	      consume(&here, "make", 'B', "s") == GRANT_VALID);
	grant_done(&r3);
	CHECK(import(&here, g.text, &r3) == GRANT_CONSUMED && look(&here, "make", 'B') == GRANT_CONSUMED);
	CHECK(count_records(&here, "approval.request") == 1 && bench_is_complete(&here));
	/* The request that is open here is answered. */
	grant_done(&g);
	grant_done(&r3);
	CHECK(sign_far(&here, &laptop, "cp", &once, &g));
	CHECK(import(&here, g.text, &r3) == GRANT_VALID &&
	      request_list(&here.store, true, &open, NULL) == 0 && open.n == 0);
	CHECK(bench_is_complete(&here));
}

static void GOV_11_a_grant_is_for_the_ledger_that_asked(void)
{
	_cleanup_bench_ struct bench here = { 0 }, there = { 0 }, laptop = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, old = { 0 }, two = { 0 }, r1 = { 0 }, r2 = { 0 }, r3 = { 0 },
				     r4 = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	_cleanup_free_ char *own = NULL, *other = NULL;
	char keys[2][APPROVER_KEY_SIZE];
	struct approver_entry entry;

	CHECK(bench_make(&here) && bench_make(&there) && bench_make(&laptop));
	CHECK(trust_boss(&here, &laptop, keys, &entry) && trust_boss(&there, &laptop, keys, &entry));
	CHECK(sign_far(&here, &laptop, "make", &thrice, &g));
	CHECK(approval_store_ledger_key(&here.store, &own, NULL) == 0 &&
	      approval_store_ledger_key(&there.store, &other, NULL) == 0 && strcmp(own, other) != 0);
	CHECK(strv_len(g.ledgers) == 1 && strcmp(g.ledgers[0], own) == 0);
	/* In another state it is not even registered. */
	CHECK(import(&there, g.text, &r1) == GRANT_FOREIGN_LEDGER && look(&there, "make", 'B') == GRANT_NONE);
	CHECK(count_records(&there, "approval.grant") == 0);
	CHECK(import(&here, g.text, &r2) == GRANT_VALID && look(&here, "make", 'B') == GRANT_VALID);
	/* Nor on the approver's machine, where the signed statement is kept. */
	CHECK(look(&laptop, "make", 'B') == GRANT_FOREIGN_LEDGER);
	/* A statement of an older version, signed with the right key. */
	CHECK(approver_unlock(&laptop.store, "boss", &key, NULL) == 0 && copy_grant(&g, &old));
	strv_free(old.ledgers);
	old.ledgers = NULL;
	CHECK(resign(&old, &key) && import(&here, old.text, &r3) == GRANT_UNBOUND);
	/* Two ledgers without a fleet are no statement. */
	CHECK(copy_grant(&g, &two) && strv_append(&two.ledgers, other) == 0 && resign(&two, &key));
	CHECK(import(&here, two.text, &r4) == GRANT_EDITED);
}

static void GOV_11_a_fleet_is_named_by_statement_and_admin(void)
{
	_cleanup_bench_ struct bench here = { 0 }, there = { 0 }, laptop = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, c = { 0 }, r1 = { 0 }, r2 = { 0 }, r3 = { 0 }, r4 = { 0 },
				     r5 = { 0 };
	_cleanup_free_ char *own = NULL, *other = NULL;
	_cleanup_sign_ struct sign_secret key = { 0 };
	char keys[2][APPROVER_KEY_SIZE];
	struct approver_entry entry;
	struct pin_answer answer;
	struct approver boss;

	CHECK(bench_make(&here) && bench_make(&there) && bench_make(&laptop));
	CHECK(approver_new(&laptop.store, "boss", &boss, NULL) == 0 &&
	      pin_set(&laptop.store, "boss", NULL, PIN, &answer, &boss, NULL) == 0);
	CHECK(trust_boss(&here, &laptop, keys, &entry) && trust_boss(&there, &laptop, keys, &entry));
	CHECK(approval_store_ledger_key(&here.store, &own, NULL) == 0 &&
	      approval_store_ledger_key(&there.store, &other, NULL) == 0);
	{
		char *both[] = { own, other, NULL }, *one[] = { own, NULL };
		const struct approval_fleet web = { "web", both }, less = { "web", one },
					    shop = { "shop", both };
		const struct grant_terms fleet = { .level = 'B', .fleet = "web" };

		laptop.rules.fleets = &less;
		laptop.rules.n_fleets = 1;
		CHECK(grant_require_fleet(&laptop.rules, "web", 'B', other, NULL) == -EINVAL);
		CHECK(grant_require_fleet(&laptop.rules, "web", 'C', own, NULL) == -EINVAL);
		laptop.rules.fleets = &web;
		CHECK(sign_far(&here, &laptop, "make", &fleet, &g));
		CHECK(import(&here, g.text, &r1) == GRANT_UNKNOWN_FLEET);
		here.rules.fleets = &shop;
		here.rules.n_fleets = 1;
		CHECK(import(&here, g.text, &r2) == GRANT_UNKNOWN_FLEET);
		here.rules.fleets = &web;
		CHECK(import(&here, g.text, &r3) == GRANT_VALID);
		/* The admin of the other machine lists this ledger only. */
		there.rules.fleets = &less;
		there.rules.n_fleets = 1;
		CHECK(import(&there, g.text, &r4) == GRANT_UNKNOWN_FLEET);
		grant_done(&r4);
		there.rules.fleets = &web;
		CHECK(import(&there, g.text, &r4) == GRANT_VALID);
		CHECK(reserve(&here, "make", 'B', "s") == GRANT_VALID &&
		      consume(&here, "make", 'B', "s") == GRANT_VALID);
		CHECK(look(&here, "make", 'B') == GRANT_CONSUMED && look(&there, "make", 'B') == GRANT_VALID);
		/* A C for a fleet, signed by another program with the PIN's key. */
		CHECK(copy_grant(&g, &c) && pin_try(&laptop.store, "boss", PIN, &answer, &key, NULL) == 0);
		c.level = 'C';
		memcpy(c.key_id, boss.pin_key_id, sizeof(c.key_id));
		CHECK(resign(&c, &key) && import(&here, c.text, &r5) == GRANT_FLEET_FOR_C);
		here.rules.n_fleets = there.rules.n_fleets = laptop.rules.n_fleets = 0;
	}
}

static void GOV_11_caps_apply_to_grants_signed_without_them(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, ret = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	struct approver a;
	bool complete;

	CHECK(bench_make(&b) && bench_stop_clock(&b));
	CHECK(approve(&b, "make", "alice", &(struct grant_terms){ .level = 'B', .uses = 9, .for_s = 9000 },
		      &g));
	b.rules.grant_max_uses = 1;
	b.rules.grant_max_s = 100;
	CHECK(ask(&b, "rm", 'B', &rq) == 0 && approver_find(&b.store, "alice", &a, NULL) == 0);
	CHECK(approver_unlock(&b.store, "alice", &key, NULL) == 0);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &(struct grant_terms){ .level = 'B', .uses = 2 }, &ret,
			 &complete, NULL) == -EINVAL);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &(struct grant_terms){ .level = 'B', .for_s = 101 }, &ret,
			 &complete, NULL) == -EINVAL);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == 0);
	CHECK(ret.not_after_us == b.now.wall_us + 100 * 1000000);
	CHECK(reserve(&b, "make", 'B', "s1") == GRANT_VALID &&
	      reserve(&b, "make", 'B', "s2") == GRANT_RESERVED);
	bench_pass(&b, 100);
	CHECK(look(&b, "make", 'B') == GRANT_EXPIRED && look(&b, "rm", 'B') == GRANT_EXPIRED);
}

static void a_statement_is_read_strictly(void)
{
	static const struct {
		const char *from, *to;
	} bad[] = {
		{ "\"uses\":1", "\"uses\":1,\"uses\":1" },
		{ "\"uses\":1", "\"uses\":\"1\"" },
		{ "\"uses\":1", "\"uses\":0" },
		{ "\"uses\":1", "\"uses\":-1" },
		{ "\"uses\":1", "\"uses\":1.0" },
		{ "\"uses\":1", "\"uses\":01" },
		{ "\"uses\":1", "\"uses\":1,\"zzz\":1" },
		{ "\"uses\":1", "\"uses\": 1" },
		{ "\"uses\":1", "\"use\":1" },
		{ "\"level\":\"B\"", "\"level\":\"A\"" },
		{ "\"level\":\"B\"", "\"level\":\"b\"" },
		{ "\"schema_version\":1", "\"schema_version\":2" },
		{ "\"kind\":\"custody.grant\"", "\"kind\":\"custody.denial\"" },
		{ "\"digest\":\"sha256:", "\"digest\":\"sha512:" },
		{ "\"approver\":\"alice\"", "\"approver\":\"../alice\"" },
		{ "\"reason\":\"\"", "\"reason\":\"\\u0000\"" },
		{ "\"reason\":\"\"", "\"reason\":\"\\u0061\"" },
		{ "\"signature\"", "\"signature\":\"\",\"signature\"" },
		{ "{\"signature\"", " {\"signature\"" },
		{ "{\"signature\"", "\xef\xbb\xbf{\"signature\"" },
	};
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_strbuf_ struct strbuf text = { 0 };
		_cleanup_grant_ struct grant ret = { 0 };
		const char *at = strstr(g.text, bad[i].from);

		CHECK(at);
		strbuf_add(&text, g.text, (size_t)(at - g.text));
		strbuf_puts(&text, bad[i].to);
		strbuf_puts(&text, at + strlen(bad[i].from));
		if (grant_parse(text.text, text.len, "t", &ret, NULL) >= 0)
			printf("# %s\n", text.text);
		CHECK(grant_parse(text.text, text.len, "t", &ret, NULL) < 0);
		CHECK(import(&b, text.text, &ret) == GRANT_EDITED);
	}
	/* One LF at the end is how files are written. */
	{
		_cleanup_strbuf_ struct strbuf text = { 0 };
		_cleanup_grant_ struct grant ret = { 0 };

		strbuf_printf(&text, "%s\n", g.text);
		CHECK(grant_parse(text.text, text.len, "t", &ret, NULL) == 0 && strcmp(ret.id, g.id) == 0);
		strbuf_putc(&text, '\n');
		CHECK(grant_parse(text.text, text.len, "t", &(struct grant){ 0 }, NULL) < 0);
	}
}

static void a_grant_follows_its_request_only_once(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 }, ret = { 0 };
	_cleanup_request_ struct request rq = { 0 }, again = { 0 };
	_cleanup_sign_ struct sign_secret key = { 0 };
	_cleanup_jdoc_ struct jdoc *was = NULL;
	struct approver a;
	bool complete;

	CHECK(bench_make(&b) && ask(&b, "make", 'B', &rq) == 0 &&
	      approver_own(&b.store, NULL, "alice", &a, NULL) == 0);
	CHECK(approver_unlock(&b.store, "alice", &key, NULL) == 0);
	CHECK(request_last_approved(&b.store, "same", &was, NULL) == -ENOENT);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &g, &complete, NULL) == 0 && complete);
	CHECK(grant_sign(&b.store, &rq, &a, &key, &once, &ret, &complete, NULL) == -ENOENT);
	CHECK(request_last_approved(&b.store, "same", &was, NULL) == 0 && jdoc_equal(was, rq.subject));
	/* Refused first, approved then. */
	CHECK(ask(&b, "rm", 'B', &again) == 0 && request_deny(&b.store, again.id, "alice", "no", NULL) == 0);
	CHECK(grant_sign(&b.store, &again, &a, &key, &once, &ret, &complete, NULL) == 0 && complete);
	CHECK(count_records(&b, "approval.deny") == 1 && bench_is_complete(&b));
}

static void the_list_shows_why_a_grant_is_not_valid(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g1 = { 0 }, g2 = { 0 };
	_cleanup_grants_ struct grant_set before = { 0 }, set = { 0 }, after = { 0 };
	_cleanup_free_ char *text = NULL;

	CHECK(bench_make(&b) && grant_list(&b.store, &before, NULL) == 0 && before.n == 0);
	CHECK(bench_stop_clock(&b) && approve(&b, "make", "alice", &thrice, &g1) &&
	      approve(&b, "cp", "alice", &once, &g2));
	CHECK(grant_revoke(&b.store, g2.id, "alice", NULL, NULL) == 0 &&
	      reserve(&b, "make", 'B', "s") == GRANT_VALID);
	CHECK(consume(&b, "make", 'B', "s") == GRANT_VALID && grant_list(&b.store, &set, NULL) == 0 &&
	      set.n == 2);
	for (size_t i = 0; i < set.n; i++) {
		bool first = strcmp(set.items[i].grant.id, g1.id) == 0;

		CHECK(set.items[i].reason == (first ? GRANT_VALID : GRANT_REVOKED) &&
		      set.items[i].used == (first ? 1 : 0));
	}
	text = grant_set_explain(&set);
	CHECK(text && strstr(text, "revoked") && strstr(text, g1.id));
	/* Grants that expired a day ago are removed; used ones are kept as long as they could be replayed. */
	bench_pass(&b, APPROVAL_GRANT_S + 86399);
	CHECK(grant_sweep(&b.store, NULL) == 0);
	bench_pass(&b, 1);
	CHECK(grant_sweep(&b.store, NULL) == 2 && grant_list(&b.store, &after, NULL) == 0 && after.n == 0);
	CHECK(bench_is_complete(&b));
}

static void every_reason_has_its_own_id(void)
{
	for (unsigned int i = 0; i < _GRANT_REASON_MAX; i++) {
		CHECK(grant_reason_id(i) && *grant_reason_id(i) && grant_reason_text(i));
		for (unsigned int k = 0; k < i; k++)
			CHECK(strcmp(grant_reason_id(i), grant_reason_id(k)) != 0);
	}
}

static void verify_names_a_use_too_many(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL, *other = NULL;
	struct ledger_verify_result v;
	char whole[DIGEST_HEX_SIZE];

	CHECK(bench_make(&b) && approve(&b, "make", "alice", &once, &g) &&
	      reserve(&b, "make", 'B', "s") == GRANT_VALID);
	CHECK(consume(&b, "make", 'B', "s") == GRANT_VALID && bench_is_complete(&b));
	d = grant_details(&g);
	CHECK(ledger_append(b.ledger,
			    &(struct ledger_event){
				    .kind = "grant.consume", .session = "t", .d = d, .verbatim = true },
			    1, LEDGER_DECIDED, NULL, NULL) == 0);
	v = bench_verify(&b);
	digest_to_hex(&g.statement, whole);
	CHECK(v.overused.n == 1 && strcmp(v.overused.name[0], whole) == 0);
	CHECK(v.unasked.n == 0 && v.unfounded.n == 0);
	/* A use of a grant that this ledger never had. */
	memset(&g.statement, 7, sizeof(g.statement));
	digest_to_hex(&g.statement, whole);
	other = grant_details(&g);
	CHECK(ledger_append(b.ledger,
			    &(struct ledger_event){
				    .kind = "grant.consume", .session = "u", .d = other, .verbatim = true },
			    1, LEDGER_DECIDED, NULL, NULL) == 0);
	v = bench_verify(&b);
	CHECK(v.overused.n == 1 && v.unfounded.n == 1 && strcmp(v.unfounded.name[0], whole) == 0);
}

TAP_MAIN(T(GOV_11_a_grant_is_used_once), T(GOV_11_uses_of_a_grant_are_counted),
	 T(GOV_11_expired_by_the_wall_clock_and_by_the_time_since_boot),
	 T(GOV_11_not_yet_valid_when_the_clock_went_back),
	 T(GOV_11_expired_between_reserve_and_consume_does_not_start),
	 T(GOV_11_revoked_wins_over_a_reservation), T(GOV_11_edited_anywhere_it_does_not_count),
	 T(GOV_11_unknown_key), T(LANE_6_a_grant_of_the_other_lane_is_refused), T(GOV_9_wrong_digest),
	 T(GOV_6_a_grant_without_the_PIN_is_no_C), T(GOV_6_a_C_cannot_be_remembered),
	 T(GOV_6_a_request_of_level_C_takes_no_B), T(GOV_13_changes_between_card_and_answer_count),
	 T(GOV_11_a_reservation_is_not_held_by_a_reused_pid),
	 T(GOV_13_requesters_and_starters_may_not_approve), T(GOV_13_min_approvals_needs_as_many_approvers),
	 T(GOV_13_a_request_lists_its_requesters), T(GOV_11_a_copy_is_the_same_grant),
	 T(GOV_13_a_grant_signed_elsewhere_works_here_and_once),
	 T(GOV_11_a_grant_is_for_the_ledger_that_asked), T(GOV_11_a_fleet_is_named_by_statement_and_admin),
	 T(GOV_11_caps_apply_to_grants_signed_without_them), T(a_statement_is_read_strictly),
	 T(a_grant_follows_its_request_only_once), T(the_list_shows_why_a_grant_is_not_valid),
	 T(every_reason_has_its_own_id), T(verify_names_a_use_too_many))
