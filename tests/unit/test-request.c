/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/request.h"

#include <poll.h>

#include "approval-fixture.h"
#include "approval/request-impl.h"
#include "tap.h"

static void GOV_13_a_digest_is_asked_once_and_counted(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request first = { 0 }, second = { 0 }, other = { 0 }, read = { 0 };
	_cleanup_requests_ struct request_list l = { 0 };

	CHECK(bench_make(&b) && bench_stop_clock(&b) && ask(&b, "make", 'B', &first) == 0);
	CHECK(first.count == 1 && first.state == REQUEST_OPEN && strlen(first.id) == 16);
	bench_pass(&b, 1);
	CHECK(ask(&b, "make", 'B', &second) == 0 && second.count == 2 && strcmp(first.id, second.id) == 0);
	CHECK(ask(&b, "cp", 'C', &other) == 0 && other.count == 1);
	CHECK(request_list(&b.store, false, &l, NULL) == 0 && l.n == 2 &&
	      strcmp(l.items[0].id, first.id) == 0);
	CHECK(count_records(&b, "approval.request") == 2);
	CHECK(request_read(&b.store, "fff", &read, NULL) == -EINVAL &&
	      request_read(&b.store, "../x", &read, NULL) == -EINVAL);
	first.id[5] = '\0';
	CHECK(request_read(&b.store, first.id, &read, NULL) == 0 && strcmp(read.command, "make") == 0);
	CHECK(strcmp(read.agent, "tester") == 0 && read.level == 'B' && jdoc_get(read.subject, "argv"));
	CHECK(strv_len(read.askers) == 1 && strcmp(read.askers[0], "4242:asker") == 0);
}

/* The id is the beginning of a digest: another subject with the same beginning does not affect the first. */
static void GOV_9_two_digests_with_one_id_are_two_questions(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request first = { 0 }, twin = { 0 }, read = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject("make", &digest);
	const struct request_ask alike = {
		.digest = &digest, .level = 'B', .command = "rm", .subject = subject
	};

	CHECK(bench_make(&b) && bench_stop_clock(&b) && ask(&b, "make", 'B', &first) == 0);
	digest.bytes[DIGEST_SIZE - 1] ^= 1;
	CHECK(request_file(&b.store, &alike, &twin, &f) == -EEXIST && strstr(fault_text(&f), first.id));
	CHECK(request_read(&b.store, first.id, &read, NULL) == 0 && read.count == 1 &&
	      strcmp(read.command, "make") == 0);
}

static bool ask_make(struct bench *b, unsigned int i)
{
	_cleanup_request_ struct request rq = { 0 };

	(void)i;
	return ask(b, "make", 'B', &rq) == 0;
}

static void GOV_13_a_flood_of_sixteen_is_one_request(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_requests_ struct request_list l = { 0 };

	CHECK(bench_make(&b) && race(16, ask_make, &b) == 16);
	CHECK(request_list(&b.store, false, &l, NULL) == 0 && l.n == 1 && l.items[0].count == 16);
	CHECK(count_records(&b, "approval.request") == 1);
}

static void too_many_open_ones_are_refused_with_the_way_out(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject("w9", &digest);
	const struct request_ask one_more = {
		.digest = &digest, .level = 'B', .command = "w9", .subject = subject
	};
	unsigned int n;
	char word[16];

	CHECK(bench_make(&b) && bench_stop_clock(&b));
	b.rules.requests_max = 4;
	for (int i = 0; i < 4; i++) {
		_cleanup_request_ struct request each = { 0 };

		(void)snprintf(word, sizeof(word), "w%d", i);
		CHECK(ask(&b, word, 'B', &each) == 0);
	}
	CHECK(request_file(&b.store, &one_more, &rq, &f) == -EDQUOT &&
	      strstr(fault_text(&f), "custody deny --all"));
	CHECK(count_records(&b, "approval.request") == 4);
	/* An existing one can still be requested again. */
	CHECK(ask(&b, "w0", 'B', &rq) == 0 && rq.count == 2);
	request_done(&rq);
	/* Old ones make room. */
	bench_pass(&b, APPROVAL_REQUEST_EXPIRY_S);
	CHECK(request_file(&b.store, &one_more, &rq, NULL) == 0 && count_records(&b, "approval.drop") == 4);
	CHECK(request_drop_all(&b.store, "cleared", &n, NULL) == 0 && n == 1 && bench_is_complete(&b));
}

static void an_expired_one_is_dropped_with_a_record(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 }, again = { 0 }, read = { 0 };
	struct moment at;

	CHECK(bench_make(&b) && bench_stop_clock(&b));
	b.rules.request_expiry_s = 60;
	CHECK(ask(&b, "make", 'B', &rq) == 0);
	at = b.now;
	bench_pass(&b, 59);
	CHECK(request_read(&b.store, rq.id, &read, NULL) == 0);
	request_done(&read);
	bench_pass(&b, 1);
	CHECK(request_read(&b.store, rq.id, &read, NULL) == -ENOENT &&
	      count_records(&b, "approval.drop") == 1);
	CHECK(ask(&b, "make", 'B', &again) == 0 && again.count == 1 &&
	      count_records(&b, "approval.request") == 2);
	/* A clock that was set back does not make it young again. */
	bench_pass(&b, 61);
	b.now.wall_us = again.created.wall_us;
	CHECK(request_sweep(&b.store, NULL) == 0 && count_records(&b, "approval.drop") == 2);
	(void)at;
}

static void a_denied_request_is_answered_again(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 }, again = { 0 };
	_cleanup_requests_ struct request_list open = { 0 }, all = { 0 };

	CHECK(bench_make(&b) && ask(&b, "rm", 'C', &rq) == 0);
	CHECK(request_deny(&b.store, "0000", "alice", "no", NULL) == -ENOENT);
	CHECK(request_deny(&b.store, rq.id, "alice", "never", NULL) == 0 &&
	      count_records(&b, "approval.deny") == 1);
	CHECK(ask(&b, "rm", 'C', &again) == 0 && again.state == REQUEST_DENIED && again.count == 2);
	CHECK(strcmp(again.denied_by, "alice") == 0 && strcmp(again.denied_reason, "never") == 0);
	CHECK(request_list(&b.store, false, &open, NULL) == 0 && open.n == 0);
	CHECK(request_list(&b.store, true, &all, NULL) == 0 && all.n == 1);
	CHECK(count_records(&b, "approval.request") == 1 && bench_is_complete(&b));
	CHECK(request_drop(&b.store, rq.id, "withdrawn", NULL) == 0 &&
	      request_drop(&b.store, rq.id, "x", NULL) == -ENOENT);
}

static void the_higher_level_of_two_askers_stays(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request one = { 0 }, two = { 0 }, three = { 0 };

	CHECK(bench_make(&b) && ask(&b, "rm", 'B', &one) == 0 && ask(&b, "rm", 'C', &two) == 0);
	CHECK(two.level == 'C' && ask(&b, "rm", 'B', &three) == 0 && three.level == 'C');
	CHECK(ask(&b, "rm", 'A', &three) == -EINVAL);
}

static void GOV_9_the_shown_request_is_the_approved_one(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 }, read = { 0 };
	_cleanup_free_ char *text = NULL;
	char path[64], *at;
	size_t len;

	CHECK(bench_make(&b) && ask(&b, "rm", 'B', &rq) == 0);
	(void)snprintf(path, sizeof(path), "requests/%s.json", rq.id);
	text = slurp(&b.place, path, &len);
	CHECK(text && (at = strstr(text, "{\"argv\":[\"rm\"]}")));
	at[10] = 'l';
	at[11] = 's';
	CHECK(spit(&b.place, path, text, len) && request_read(&b.store, rq.id, &read, NULL) == -EBADMSG);
	/* It can still be cleared. */
	CHECK(request_drop(&b.store, rq.id, "cleared", NULL) == 0);
}

static void a_damaged_file_is_refused_and_can_be_cleared(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 }, other = { 0 }, again = { 0 };
	_cleanup_requests_ struct request_list l = { 0 };
	char path[64];

	CHECK(bench_make(&b) && ask(&b, "rm", 'B', &rq) == 0 && ask(&b, "cp", 'B', &other) == 0);
	(void)snprintf(path, sizeof(path), "requests/%s.json", rq.id);
	CHECK(spit(&b.place, path, "{", 1));
	/* The other one is still listed. */
	CHECK(request_list(&b.store, false, &l, NULL) == 0 && l.n == 2 &&
	      l.items[0].state == REQUEST_DAMAGED && strcmp(l.items[0].id, rq.id) == 0 &&
	      strcmp(l.items[1].id, other.id) == 0);
	CHECK(request_deny(&b.store, rq.id, "alice", NULL, NULL) < 0);
	CHECK(request_drop(&b.store, rq.id, "cleared", NULL) == 0 && ask(&b, "rm", 'B', &again) == 0);
}

static void LANE_6_a_request_of_the_other_lane_is_refused(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 }, read = { 0 }, adopted = { 0 };
	_cleanup_requests_ struct request_list l = { 0 };
	char path[256], name[64];

	CHECK(bench_make(&b) && ask(&b, "rm", 'B', &rq) == 0);
	(void)snprintf(b.store.lane, sizeof(b.store.lane), "prod");
	CHECK(request_read(&b.store, rq.id, &read, NULL) == -EACCES &&
	      request_list(&b.store, true, &l, NULL) == 0 && l.n == 0);
	(void)snprintf(name, sizeof(name), "requests/%s.json", rq.id);
	CHECK(place_path(&b.place, name, path) && request_import(&b.store, path, &adopted, NULL) == -EACCES);
}

static void GOV_13_an_imported_request_is_adopted_with_its_requesters(void)
{
	_cleanup_bench_ struct bench server = { 0 }, laptop = { 0 };
	_cleanup_request_ struct request rq = { 0 }, here = { 0 }, bare = { 0 };
	_cleanup_strbuf_ struct strbuf text = { 0 };
	char path[256];

	CHECK(bench_make(&server) && bench_make(&laptop) && ask(&server, "rm", 'C', &rq) == 0);
	CHECK(request_write(&rq, &text, NULL) == 0 && spit(&laptop.place, "carried", text.text, text.len));
	CHECK(place_path(&laptop.place, "carried", path) &&
	      request_import(&laptop.store, path, &here, NULL) == 0);
	CHECK(strcmp(here.id, rq.id) == 0 && here.level == 'C' && jdoc_equal(here.subject, rq.subject));
	CHECK(strcmp(here.askers[0], "@4242:asker") == 0 && count_records(&laptop, "approval.request") == 1);
	/* A uid of another machine does not exist here; a name does. */
	CHECK(!request_asker_is(here.askers[0], 4242, "bob") && request_asker_is(here.askers[0], 1, "asker"));
	request_done(&here);
	CHECK(request_import(&laptop.store, path, &here, NULL) == 0 &&
	      count_records(&laptop, "approval.request") == 1);
	/* Without its subject it cannot be imported. */
	jdoc_free(rq.subject);
	rq.subject = NULL;
	text.len = 0;
	CHECK(request_write(&rq, &text, NULL) == 0 && spit(&laptop.place, "carried", text.text, text.len));
	CHECK(request_import(&laptop.store, path, &bare, NULL) == -EINVAL);
}

static void any_bytes_of_a_command_can_be_asked_for(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 }, read = { 0 };
	_cleanup_free_ char *long_one = malloc(3 * REQUEST_COMMAND_MAX);

	CHECK(bench_make(&b) &&
	      ask(&b, "cat \xff\xfe", 'B', &rq) < 0); /* the subject's document is not UTF-8 */
	{
		struct digest digest;
		_cleanup_jdoc_ struct jdoc *subject = make_subject("x", &digest);
		struct request_ask a = {
			.digest = &digest, .level = 'B', .command = "cat \xff\xfe", .subject = subject
		};

		CHECK(request_file(&b.store, &a, &rq, NULL) == 0 &&
		      request_read(&b.store, rq.id, &read, NULL) == 0);
		CHECK(strcmp(read.command, "cat \\xFF\\xFE") == 0);
		request_done(&rq);
		request_done(&read);
		subject->members[0].value->items[0]->string[0] = 'y';
		jdoc_free(make_subject("y", &digest));
		CHECK(long_one);
		for (size_t i = 0; i < 3 * REQUEST_COMMAND_MAX - 1; i += 2)
			memcpy(long_one + i, "\xc3\xa4", 2);
		long_one[3 * REQUEST_COMMAND_MAX - 1] = '\0';
		long_one[3 * REQUEST_COMMAND_MAX - 2] = '\0';
		a.command = long_one;
		CHECK(request_file(&b.store, &a, &rq, NULL) == 0 &&
		      strlen(rq.command) == REQUEST_COMMAND_MAX);
		CHECK(request_deny(&b.store, rq.id, "\xff", NULL, NULL) == -EINVAL);
		CHECK(request_deny(&b.store, rq.id, "a", "\xff", NULL) == -EINVAL &&
		      count_records(&b, "approval.deny") == 0);
		a.user = "\xff";
		CHECK(request_file(&b.store, &a, &(struct request){ 0 }, NULL) == -EINVAL);
	}
}

static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void a_waiter_hears_of_every_answer(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_grant_ struct grant g = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_close_ int fd = -EBADF;

	CHECK(bench_make(&b) && ask(&b, "rm", 'B', &rq) == 0);
	fd = approval_store_watch(&b.store, &f);
	CHECK(told(fd, &f));
	CHECK(!is_readable(fd) && request_deny(&b.store, rq.id, "alice", NULL, NULL) == 0 && is_readable(fd));
	approval_store_watch_drain(fd);
	CHECK(!is_readable(fd) && approve(&b, "rm", "alice", &(struct grant_terms){ .level = 'B' }, &g) &&
	      is_readable(fd));
	approval_store_watch_drain(fd);
	CHECK(!is_readable(fd) && grant_revoke(&b.store, g.id, "alice", NULL, NULL) == 0 && is_readable(fd));
}

static bool ask_and_deny(struct bench *b)
{
	_cleanup_request_ struct request rq = { 0 };

	return ask(b, "rm", 'B', &rq) == 0 && request_deny(&b->store, rq.id, "alice", NULL, NULL) == 0 &&
	       request_drop(&b->store, rq.id, "cleared", NULL) == 0;
}

static void killed_at_every_call_a_request_is_whole_or_missing(void)
{
	unsigned int n = 0;
	int r;

	do {
		_cleanup_bench_ struct bench b = { 0 };
		_cleanup_requests_ struct request_list l = { 0 };
		_cleanup_request_ struct request rq = { 0 };

		CHECK(bench_make(&b));
		n += n ? (unsigned int)tap_stride() : 1;
		r = kill_at(n, ask_and_deny, &b);
		CHECK(r >= 0 && n < 2000 && request_list(&b.store, true, &l, NULL) == 0 && l.n <= 1);
		/* A stored request is on record. */
		CHECK(l.n <= count_records(&b, "approval.request") && ask(&b, "rm", 'B', &rq) == 0 &&
		      bench_is_complete(&b));
	} while (r > 0);
	CHECK(n > 20 || tap_stride() > 1);
}

static void only_so_many_askers(void)
{
	_cleanup_bench_ struct bench b = { 0 };
	struct digest digest;
	_cleanup_jdoc_ struct jdoc *subject = make_subject("rm", &digest);
	struct request_ask a = {
		.digest = &digest, .level = 'B', .command = "rm", .subject = subject, .user = "u"
	};

	CHECK(bench_make(&b));
	for (uid_t i = 0; i < REQUEST_ASKERS_MAX; i++) {
		_cleanup_request_ struct request rq = { 0 };

		a.uid = i;
		CHECK(request_file(&b.store, &a, &rq, NULL) == 0 && strv_len(rq.askers) == i + 1);
	}
	a.uid = 99;
	CHECK(request_file(&b.store, &a, &(struct request){ 0 }, NULL) == -EDQUOT);
}

TAP_MAIN(T(GOV_13_a_digest_is_asked_once_and_counted), T(GOV_9_two_digests_with_one_id_are_two_questions),
	 T(GOV_13_a_flood_of_sixteen_is_one_request), T(too_many_open_ones_are_refused_with_the_way_out),
	 T(an_expired_one_is_dropped_with_a_record), T(a_denied_request_is_answered_again),
	 T(the_higher_level_of_two_askers_stays), T(GOV_9_the_shown_request_is_the_approved_one),
	 T(a_damaged_file_is_refused_and_can_be_cleared), T(LANE_6_a_request_of_the_other_lane_is_refused),
	 T(GOV_13_an_imported_request_is_adopted_with_its_requesters),
	 T(any_bytes_of_a_command_can_be_asked_for), T(a_waiter_hears_of_every_answer),
	 T(killed_at_every_call_a_request_is_whole_or_missing), T(only_so_many_askers))
