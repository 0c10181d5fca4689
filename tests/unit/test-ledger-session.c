/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-session.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ledger/ledger-audit.h"
#include "ledger-fixture.h"
#include "tap.h"

static char *argv_plain[] = { (char *)"make",	     (char *)"--password", (char *)"hunter2",
			      (char *)"caf\xc3\xa9", (char *)"\xff\xfe",   NULL };
static char *env_plain[] = { (char *)"PATH=/bin", (char *)"API_KEY=hunter3", (char *)"TERM", NULL };

static struct ledger_run plain(void)
{
	return (struct ledger_run){
		.action = "run",
		.session = "20261116T031500Z-1a2b3c4d",
		.agent = "bob",
		.worker = "w1",
		.lane = "sandbox",
		.profile = "offline",
		.digest = "sha256:00",
		.argv = argv_plain,
		.env = env_plain,
		.cwd = "/work",
		.sandbox = true,
		.approval = { .level = 'A',
			      .granted = true,
			      .granted_at_us = 1794798900123456,
			      .by = "policy" },
	};
}

static struct ledger *born(const struct place *p)
{
	struct ledger *l = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (ledger_open(p->state, &(struct ledger_options){ .create = true }, &l, NULL, &f) < 0)
		printf("# %s\n", fault_text(&f));
	return l;
}

/* The record with this seq, as a document. */
static struct jdoc *record(const struct place *p, unsigned int seq)
{
	_cleanup_free_ char *text = NULL;
	struct jdoc *d = NULL;
	const char *line, *end;
	size_t len;

	text = slurp(p, FIRST_SEGMENT, &len);
	if (!text)
		return NULL;
	for (line = text; (end = strchr(line, '\n')) && seq > 0; line = end + 1)
		seq--;
	if (!end || jdoc_parse(line, (size_t)(end - line), "line", NULL, &d, NULL) < 0)
		return NULL;
	return d;
}

static bool string_is(const struct jdoc *d, const char *key, const char *want)
{
	if (str_eq(jdoc_get_string(d, key), want))
		return true;
	printf("# %s is '%s', not '%s'\n", key, jdoc_get_string(d, key) ? jdoc_get_string(d, key) : "NULL",
	       want);
	return false;
}

/* GOV-12: action, command, sandbox flag, profile, approval {level, granted, granted_at, by}. */
static void GOV_12_an_intent_has_caller_command_and_approval(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_jdoc_ struct jdoc *r = NULL;
	const struct jdoc *d, *a, *c;
	struct ledger_run run = plain();
	struct seal s;

	CHECK(place_make(&p) && (l = born(&p)));
	CHECK(ledger_intent(l, &run, NULL) == 0 && load_seal(&p, &s) && s.synced_index == 2);
	r = record(&p, 1);
	CHECK(r && string_is(r, "k", "session.intent") && string_is(r, "session", run.session));
	CHECK(string_is(r, "agent", "bob") && string_is(r, "worker", "w1") && string_is(r, "status", "ok"));
	d = jdoc_get(r, "d");
	CHECK(string_is(d, "action", "run") && string_is(d, "profile", "offline") &&
	      string_is(d, "lane", "sandbox"));
	CHECK(string_is(d, "digest", "sha256:00") && string_is(d, "cwd", "/work") &&
	      jdoc_get(d, "sandbox")->boolean);
	a = jdoc_get(d, "approval");
	CHECK(string_is(a, "level", "A") && jdoc_get(a, "granted")->boolean && string_is(a, "by", "policy"));
	CHECK(string_is(a, "granted_at", "2026-11-16T03:15:00.123456Z"));
	c = jdoc_get(d, "command");
	CHECK(c && c->n_items == 5 && str_eq(c->items[2]->string, REDACTED) &&
	      str_eq(c->items[3]->string, "caf\xc3\xa9"));
	CHECK(string_is(c->items[4], "b64", "//4="));
}

static void secrets_and_values_of_the_environment_are_nowhere(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_jdoc_ struct jdoc *r = NULL;
	const struct jdoc *env;
	struct ledger_run run = plain();
	size_t len;

	CHECK(place_make(&p) && (l = born(&p)));
	run.cwd = "/home/AKIAIOSFODNN7EXAMPLE/x";
	CHECK(ledger_intent(l, &run, NULL) == 0 &&
	      ledger_refuse(l, &run, "policy", "token ghp_0123456789abcdef0123", NULL) == 0);
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && !strstr(text, "hunter") && !strstr(text, "/bin") && !strstr(text, "AKIA") &&
	      !strstr(text, "ghp_"));
	r = record(&p, 1);
	env = jdoc_get(jdoc_get(r, "d"), "env");
	CHECK(env && env->n_items == 3 && str_eq(env->items[1]->string, "API_KEY") &&
	      str_eq(env->items[2]->string, "TERM"));
}

static void a_long_command_is_cut_never_refused(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *big = malloc(1000001);
	_cleanup_free_ char **many = calloc(100001, sizeof(char *));
	char *one[] = { (char *)"sh", (char *)"-c", NULL, NULL };
	struct ledger_run run = plain();
	struct digest k0;

	CHECK(place_make(&p) && big && many && fill(&p, 1, NULL, &k0) && (l = born(&p)));
	memset(big, '\x01', 1000000); /* six bytes each in a record */
	big[1000000] = '\0';
	one[2] = big;
	run.argv = one;
	CHECK(ledger_intent(l, &run, NULL) == 0);
	memset(big, 'x', 1000000);
	memcpy(big + 8187, "\xf0\x9f\x98\x80", 4); /* across the cut */
	CHECK(ledger_intent(l, &run, NULL) == 0);
	for (size_t i = 0; i < 100000; i++)
		many[i] = (char *)"ab";
	run.argv = many;
	run.env = many;
	CHECK(ledger_intent(l, &run, NULL) == 0);
	for (unsigned int i = 1; i <= 3; i++) {
		_cleanup_jdoc_ struct jdoc *r = record(&p, i);
		const struct jdoc *d = r ? jdoc_get(r, "d") : NULL,
				  *cut = d ? jdoc_get(d, "command_cut") : NULL;

		CHECK(cut && jdoc_get(cut, "words")->integer == (i < 3 ? 3 : 100000) &&
		      jdoc_get_string(cut, "sha256"));
		CHECK(string_is(d, "digest", "sha256:00"));
	}
	{
		_cleanup_free_ char *text = NULL;
		size_t len;

		text = slurp(&p, FIRST_SEGMENT, &len);
		CHECK(judge(text, len, &(struct ledger_verify_options){ .k0 = &k0, .n_k0 = 1 }).status ==
		      VERIFY_OK);
	}
}

/* TRUST-9: the ledger cannot be written, and the caller gets the error before anything starts. */
static void TRUST_9_an_intent_that_cannot_be_written_is_an_error(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_run run = plain();
	struct seal before, after;
	int status;
	pid_t pid;

	CHECK(place_make(&p) && (l = born(&p)) && load_seal(&p, &before));
	pid = fork();
	if (pid == 0) {
		const struct rlimit limit = { before.offset + 100, before.offset + 100 };
		_cleanup_fault_ struct fault f = { 0 };

		/* A limit on the size of files represents every kind of short write. */
		(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
		_exit(!(setrlimit(RLIMIT_FSIZE, &limit) == 0 && ledger_intent(l, &run, &f) == -EFBIG));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	{
		_cleanup_free_ char *text = NULL;
		size_t len;

		text = slurp(&p, FIRST_SEGMENT, &len);
		CHECK(load_seal(&p, &after) && after.index == 1 && text && len == before.offset);
	}
	CHECK(ledger_intent(l, &run, NULL) == 0);
}

static void GOV_1_a_refusal_is_a_record(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_jdoc_ struct jdoc *r = NULL;
	struct ledger_run run = plain();
	struct seal s;

	CHECK(place_make(&p) && (l = born(&p)));
	run.approval.granted = false;
	CHECK(ledger_refuse(l, &run, "policy", "rm -rf / is a C", NULL) == 0 && load_seal(&p, &s) &&
	      s.synced_index == 2);
	r = record(&p, 1);
	CHECK(r && string_is(r, "k", "session.refused") && string_is(r, "status", "denied"));
	CHECK(string_is(jdoc_get(r, "d"), "refused", "policy") &&
	      string_is(jdoc_get(r, "d"), "why", "rm -rf / is a C"));
	CHECK(!jdoc_get(jdoc_get(jdoc_get(r, "d"), "approval"), "granted")->boolean);
}

static struct ledger_verify_result verdict(const struct place *p)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	text = slurp(p, FIRST_SEGMENT, &len);
	return judge(text, text ? len : 0, &(struct ledger_verify_options){ 0 });
}

static void stories_without_an_end_are_named(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_run run = plain(), other = plain(), third = plain();
	struct ledger_end end = { .reason = "exited", .source = "init" };
	struct ledger_verify_result r;

	CHECK(place_make(&p) && (l = born(&p)));
	other.session = "20261116T031500Z-00000002";
	third.session = "20261116T031500Z-00000003";
	CHECK(ledger_intent(l, &run, NULL) == 0 && ledger_start(l, &run, 1, NULL, NULL) == 0);
	CHECK(ledger_intent(l, &other, NULL) == 0);
	r = verdict(&p);
	CHECK(r.unended.n == 2 && r.unbegun.n == 0);
	CHECK(ledger_heartbeat(l, &run, NULL) == 0 && ledger_end(l, p.state, &run, &end, NULL) == 0);
	r = verdict(&p);
	CHECK(r.unended.n == 1 && strcmp(r.unended.name[0], other.session) == 0);
	CHECK(ledger_refuse(l, &other, "setup-failed", "x", NULL) == 0 && verdict(&p).unended.n == 0);
	CHECK(ledger_end(l, p.state, &third, &end, NULL) == 0);
	r = verdict(&p);
	CHECK(r.unended.n == 0 && r.unbegun.n == 1 && strcmp(r.unbegun.name[0], third.session) == 0);
}

static void many_sessions_are_followed_and_more_are_confessed(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_event e[100];
	char names[100][32];

	CHECK(place_make(&p) && (l = born(&p)));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4000; i += 100) {
			for (int k = 0; k < 100; k++) {
				(void)snprintf(names[k], sizeof(names[k]), "s%d",
					       round == 2 ? i + k + 4000 : i + k);
				e[k] = (struct ledger_event){ .kind = round == 1 ? "session.end"
										 : "session.intent",
							      .session = names[k] };
			}
			CHECK(ledger_append(l, e, 100, LEDGER_OBSERVED, NULL, NULL) == 0);
		}
		CHECK(verdict(&p).unended.n == (round == 1 ? 0 : 4000) && !verdict(&p).names_overflow);
	}
	for (int i = 0; i < 5000; i += 100) {
		for (int k = 0; k < 100; k++) {
			(void)snprintf(names[k], sizeof(names[k]), "t%d", i + k);
			e[k] = (struct ledger_event){ .kind = "session.intent", .session = names[k] };
		}
		CHECK(ledger_append(l, e, 100, LEDGER_OBSERVED, NULL, NULL) == 0);
	}
	CHECK(verdict(&p).names_overflow);
}

static void a_sessions_own_chain_is_anchored_in_its_end(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_audit_ struct audit *a = NULL;
	_cleanup_jdoc_ struct jdoc *r = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int dirfd = -EBADF;
	struct ledger_run run = plain();
	struct ledger_mark mark, told;
	struct ledger_end end = {
		.reason = "oom", .source = "init", .code = 137, .signal = 9, .abnormal = true, .audit = &mark
	};
	const struct jdoc *audit;
	size_t len;

	CHECK(place_make(&p) && (l = born(&p)));
	dirfd = open(p.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(audit_open(dirfd, AUDIT_NAME, &a, NULL) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(audit_append(a, &(struct ledger_event){ .kind = "tool.call", .session = run.session },
				   NULL) == 0);
	mark = audit_mark(a);
	CHECK(mark.size == 5 && ledger_end(l, p.state, &run, &end, NULL) == 0);
	r = record(&p, 1);
	CHECK(r && string_is(r, "status", "abnormal"));
	audit = jdoc_get(jdoc_get(r, "d"), "audit");
	CHECK(audit && jdoc_get(audit, "records")->integer == 5);
	told.size = 5;
	CHECK(digest_from_hex(jdoc_get_string(audit, "head"), &told.head) == 0);
	text = slurp(&p, AUDIT_NAME, &len);
	CHECK(text &&
	      judge(text, len, &(struct ledger_verify_options){ .anchor = &told }).status == VERIFY_OK);
	CHECK(judge(text, len, &(struct ledger_verify_options){ 0 }).status == VERIFY_BARE);
	text[100] ^= 1;
	CHECK(judge(text, len, &(struct ledger_verify_options){ .anchor = &told }).status == VERIFY_TAMPERED);
	/* One such file exists per session. */
	CHECK(audit_open(dirfd, AUDIT_NAME, &a, NULL) == -EEXIST);
}

TAP_MAIN(T(GOV_12_an_intent_has_caller_command_and_approval),
	 T(secrets_and_values_of_the_environment_are_nowhere), T(a_long_command_is_cut_never_refused),
	 T(TRUST_9_an_intent_that_cannot_be_written_is_an_error), T(GOV_1_a_refusal_is_a_record),
	 T(stories_without_an_end_are_named), T(many_sessions_are_followed_and_more_are_confessed),
	 T(a_sessions_own_chain_is_anchored_in_its_end))
