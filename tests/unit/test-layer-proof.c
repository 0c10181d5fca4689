/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "tap.h"
#include "layer/layer-proof.h"

static const uint64_t host[_INIT_NS_MAX] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint32_t all = LAYER_BIT(_LAYER_MAX) - 1;
static const uint32_t limits = (LAYER_BIT(_LAYER_MAX) - 1) & ~(LAYER_BIT(LAYER_MEMORY_LIMIT) - 1);

/* A report in which everything holds. */
static struct init_msg good_report(void)
{
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_REPORT };

	for (unsigned int n = 0; n < _INIT_NS_MAX; n++)
		m.ns[n] = n == INIT_NS_TIME ? host[n] : 100 + n;
	for (unsigned int l = 0; l < LAYER_MEMORY_LIMIT; l++) {
		m.proof[l].holds = 1;
		strcpy(m.proof[l].detail, "seen");
	}
	return m;
}

static void all_layers_that_hold_are_proven(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = good_report();

	CHECK(proof_compare(&m, all, 0, limits, host, s, &f) == 0);
	CHECK(f.code == 0);
	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		CHECK(s[l] == LAYER_STATE_PROVEN);
}

static void each_missing_layer_alone_refuses_and_is_named(void)
{
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		_cleanup_fault_ struct fault f = { 0 };
		enum layer_state s[_LAYER_MAX];
		struct init_msg m = good_report();
		uint32_t proven = limits & ~LAYER_BIT(l);
		char id[PROOF_ID_SIZE], quoted[64];

		m.proof[l].holds = 0;
		strcpy(m.proof[l].detail, "what init saw");
		CHECK(proof_compare(&m, all, 0, proven, host, s, &f) == -EPERM);
		for (unsigned int k = 0; k < _LAYER_MAX; k++)
			CHECK(s[k] == (k == l ? LAYER_STATE_REFUSED : LAYER_STATE_PROVEN));
		proof_doctor_id((enum layer)l, id);
		snprintf(quoted, sizeof(quoted), "'%s'", layer_info((enum layer)l)->name);
		CHECK(strstr(fault_text(&f), quoted));
		CHECK(strstr(fault_text(&f), layer_info((enum layer)l)->needs));
		CHECK(strstr(fault_text(&f), id));
		if (l < LAYER_MEMORY_LIMIT)
			CHECK(strstr(fault_text(&f), "what init saw"));
	}
}

static void namespace_equal_to_the_callers_is_refused(void)
{
	const enum layer layers[] = { LAYER_USER_NS, LAYER_PID_NS, LAYER_MOUNT_NS, LAYER_NET_NS,
				      LAYER_IPC_NS,  LAYER_UTS_NS, LAYER_CGROUP_NS };

	for (unsigned int n = 0; n < ARRAY_SIZE(layers); n++) {
		for (int zero = 0; zero < 2; zero++) {
			_cleanup_fault_ struct fault f = { 0 };
			enum layer_state s[_LAYER_MAX];
			struct init_msg m = good_report();

			m.ns[n] = zero ? 0 : host[n];
			CHECK(proof_compare(&m, all, 0, limits, host, s, &f) == -EPERM);
			for (unsigned int k = 0; k < _LAYER_MAX; k++)
				CHECK(s[k] == (k == layers[n] ? LAYER_STATE_REFUSED : LAYER_STATE_PROVEN));
		}
	}
}

static void another_time_namespace_is_refused(void)
{
	static const uint64_t without[_INIT_NS_MAX] = { 1, 2, 3, 4, 5, 6, 7, 0 };
	enum layer_state s[_LAYER_MAX];

	for (uint64_t n = 0; n < 3; n++) {
		_cleanup_fault_ struct fault f = { 0 };
		struct init_msg m = good_report();

		/* Not readable, or another one; a kernel without time namespaces shows none on either side. */
		m.ns[INIT_NS_TIME] = n < 2 ? n : 0;
		CHECK(proof_compare(&m, all, 0, limits, n < 2 ? host : without, s, &f) ==
		      (n < 2 ? -EPERM : 0));
		CHECK(s[LAYER_PROCESS] == (n < 2 ? LAYER_STATE_REFUSED : LAYER_STATE_PROVEN));
		CHECK(n == 2 || strstr(fault_text(&f), "its time namespace is not the caller's"));
	}
}

static void optional_layer_may_be_missing_and_is_shown_so(void)
{
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = good_report();

	m.proof[LAYER_CGROUP_NS].holds = 0;
	CHECK(proof_compare(&m, all, LAYER_BIT(LAYER_CGROUP_NS) | LAYER_BIT(LAYER_PIDS_LIMIT),
			    limits & ~LAYER_BIT(LAYER_PIDS_LIMIT), host, s, NULL) == 0);
	CHECK(s[LAYER_CGROUP_NS] == LAYER_STATE_OPTIONAL_MISSING);
	CHECK(s[LAYER_PIDS_LIMIT] == LAYER_STATE_OPTIONAL_MISSING);
	CHECK(s[LAYER_SECCOMP] == LAYER_STATE_PROVEN);
}

static void layer_that_was_not_requested_is_not_compared(void)
{
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = good_report();

	m.proof[LAYER_SECCOMP].holds = 0;
	CHECK(proof_compare(&m, all & ~LAYER_BIT(LAYER_SECCOMP), 0, limits, host, s, NULL) == 0);
	CHECK(s[LAYER_SECCOMP] == LAYER_STATE_NOT_ASKED);
}

static void every_missing_layer_is_named_in_one_message(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = good_report();

	m.proof[LAYER_SECCOMP].holds = 0;
	m.proof[LAYER_ROOT].holds = 0;
	CHECK(proof_compare(&m, all, 0, limits, host, s, &f) == -EPERM);
	CHECK(strstr(fault_text(&f), "'seccomp'"));
	CHECK(strstr(fault_text(&f), "'read-only-root'"));
}

static void zeroed_report_proves_nothing(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_REPORT };

	CHECK(proof_compare(&m, all, 0, 0, host, s, &f) == -EPERM);
	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		CHECK(s[l] == LAYER_STATE_REFUSED);
}

static void another_message_than_a_report_is_refused(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = good_report();

	m.type = INIT_MSG_EXITED;
	CHECK(proof_compare(&m, all, all, limits, host, s, &f) == -EPROTO);
	CHECK(s[LAYER_SECCOMP] == LAYER_STATE_REFUSED);
	m = good_report();
	m.magic = 0;
	CHECK(proof_compare(&m, all, all, limits, host, s, &f) == -EPROTO);
}

static void detail_without_end_or_with_escapes_stays_one_clean_line(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	enum layer_state s[_LAYER_MAX];
	struct init_msg m = good_report();

	m.proof[LAYER_ROOT].holds = 0;
	memset(m.proof[LAYER_ROOT].detail, '\033', sizeof(m.proof[LAYER_ROOT].detail));
	CHECK(proof_compare(&m, all, 0, limits, host, s, &f) == -EPERM);
	CHECK(!strchr(fault_text(&f), '\033'));
	CHECK(strlen(fault_text(&f)) < 400);
}

static void own_namespaces_are_read(void)
{
	uint64_t ns[_INIT_NS_MAX];

	CHECK(proof_host_namespaces(ns, NULL) == 0);
	for (unsigned int n = 0; n < INIT_NS_TIME; n++)
		CHECK(ns[n] != 0);
}

TAP_MAIN(T(all_layers_that_hold_are_proven), T(each_missing_layer_alone_refuses_and_is_named),
	 T(namespace_equal_to_the_callers_is_refused), T(another_time_namespace_is_refused),
	 T(optional_layer_may_be_missing_and_is_shown_so), T(layer_that_was_not_requested_is_not_compared),
	 T(every_missing_layer_is_named_in_one_message), T(zeroed_report_proves_nothing),
	 T(another_message_than_a_report_is_refused),
	 T(detail_without_end_or_with_escapes_stays_one_clean_line), T(own_namespaces_are_read))
