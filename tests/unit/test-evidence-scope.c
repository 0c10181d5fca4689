/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-scope.h"

#include "tap.h"

static enum evidence_scope decide(const char *section, enum exit_reason reason, int code)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const struct exit_verdict v = { .reason = reason, .code = code, .abnormal = code != 0 };
	struct profile p = { 0 };

	if (section && jdoc_parse(section, strlen(section), "forensics", NULL, &d, NULL) < 0)
		return EVIDENCE_SCOPE_ALL;
	p.sections[PROFILE_SECTION_FORENSICS] = d;
	return evidence_scope_decide_shell(&p, &v);
}

static void a_shells_number_of_a_signal_is_both(void)
{
	CHECK(decide(NULL, EXIT_REASON_EXITED, 139) == EVIDENCE_SCOPE_ALL);
	CHECK(decide("{\"on\":[\"signaled\"]}", EXIT_REASON_EXITED, 139) == EVIDENCE_SCOPE_ALL);
	CHECK(decide("{\"on\":[\"exited\"]}", EXIT_REASON_EXITED, 139) == EVIDENCE_SCOPE_CHANGES);
	CHECK(decide("{\"on\":[\"oom\"]}", EXIT_REASON_EXITED, 139) == EVIDENCE_SCOPE_NONE);
	CHECK(decide("{\"capture\":\"changes\"}", EXIT_REASON_EXITED, 139) == EVIDENCE_SCOPE_CHANGES);
}

static void an_expected_number_is_expected(void)
{
	CHECK(decide("{\"expect_exit\":[143]}", EXIT_REASON_EXITED, 143) == EVIDENCE_SCOPE_NONE);
	CHECK(decide("{\"expect_exit\":[143]}", EXIT_REASON_EXITED, 137) == EVIDENCE_SCOPE_ALL);
	CHECK(decide("{\"expect_exit\":[143]}", EXIT_REASON_SIGNALED, 143) == EVIDENCE_SCOPE_ALL);
}

static void other_statuses_and_reasons_are_reported_unchanged(void)
{
	CHECK(decide(NULL, EXIT_REASON_EXITED, 0) == EVIDENCE_SCOPE_NONE);
	CHECK(decide(NULL, EXIT_REASON_EXITED, 3) == EVIDENCE_SCOPE_CHANGES);
	CHECK(decide(NULL, EXIT_REASON_EXITED, 128) == EVIDENCE_SCOPE_CHANGES);
	CHECK(decide(NULL, EXIT_REASON_EXITED, 193) == EVIDENCE_SCOPE_CHANGES);
	CHECK(decide("{\"on\":[\"signaled\"]}", EXIT_REASON_EXITED, 3) == EVIDENCE_SCOPE_NONE);
	CHECK(decide(NULL, EXIT_REASON_LOST, 125) == EVIDENCE_SCOPE_ALL);
	CHECK(decide(NULL, EXIT_REASON_SETUP_FAILED, 125) == EVIDENCE_SCOPE_NONE);
	CHECK(decide(NULL, EXIT_REASON_DENIED, 114) == EVIDENCE_SCOPE_NONE);
}

TAP_MAIN(T(a_shells_number_of_a_signal_is_both), T(an_expected_number_is_expected),
	 T(other_statuses_and_reasons_are_reported_unchanged))
