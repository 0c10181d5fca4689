/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "doctor/doctor-host.h"
#include "tap.h"

static const char good_output[] =
	"{\"try\":\"mount\",\"layer\":\"seccomp\",\"stopped\":true,\"by\":\"EPERM\"}\n"
	"{\"try\":\"find a route "
	"out\",\"layer\":\"network-namespace\",\"stopped\":true,\"by\":\"ENETUNREACH\"}\n"
	"{\"done\":true}\n";

static struct doctor_run good_run(void)
{
	struct doctor_run run = { .profile = "test", .proven = true, .tried = true };

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		run.states[l] = LAYER_STATE_PROVEN;
	return run;
}

static enum doctor_state state_of(const struct doctor_report *r, const char *id)
{
	const struct doctor_check *c = doctor_find(r, id);

	return c ? c->state : DOCTOR_UNKNOWN;
}

static void layers_that_stopped_everything_are_ok_and_name_the_reason(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	struct doctor_run run = good_run();

	CHECK(doctor_read_tries(&r, good_output));
	doctor_judge_layers(&r, &run);
	CHECK(!doctor_has_errors(&r));
	CHECK(state_of(&r, "HOST-CANARY") == DOCTOR_OK);
	CHECK(strstr(doctor_find(&r, "LAYER-SECCOMP")->text, "mount (EPERM)"));
	CHECK(r.layers[LAYER_NET_NS] == DOCTOR_OK);
}

static void canary_that_got_through_outweighs_the_proof(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	struct doctor_run run = good_run();

	CHECK(doctor_read_tries(&r, "{\"try\":\"mount\",\"layer\":\"seccomp\",\"stopped\":false,\"by\":null}"
				    "\n{\"done\":true}\n"));
	doctor_judge_layers(&r, &run);
	CHECK(doctor_has_errors(&r));
	CHECK(state_of(&r, "LAYER-SECCOMP") == DOCTOR_MISSING);
	CHECK(strstr(doctor_find(&r, "LAYER-SECCOMP")->text, "got through: mount"));
	CHECK(state_of(&r, "LAYER-NETWORK-NAMESPACE") == DOCTOR_OK);
}

static void each_refused_layer_alone_is_the_only_error(void)
{
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		_cleanup_doctor_ struct doctor_report r = { 0 };
		struct doctor_run run = good_run();
		size_t errors = 0;

		run.states[l] = LAYER_STATE_REFUSED;
		CHECK(doctor_read_tries(&r, "{\"done\":true}\n"));
		doctor_judge_layers(&r, &run);
		for (size_t i = 0; i < r.n_checks; i++)
			errors += r.checks[i].severity == DOCTOR_ERROR;
		CHECK(errors == 1);
		CHECK(r.layers[l] == DOCTOR_MISSING);
	}
}

static void switched_off_and_optional_and_unset_differ(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	struct doctor_run run = good_run();

	run.states[LAYER_SECCOMP] = run.states[LAYER_TIME_LIMIT] = LAYER_STATE_NOT_ASKED;
	run.switched_off = LAYER_BIT(LAYER_SECCOMP);
	run.unset = LAYER_BIT(LAYER_TIME_LIMIT);
	run.states[LAYER_PIDS_LIMIT] = LAYER_STATE_OPTIONAL_MISSING;
	CHECK(doctor_read_tries(&r, "{\"done\":true}\n"));
	doctor_judge_layers(&r, &run);
	CHECK(doctor_find(&r, "LAYER-SECCOMP")->severity == DOCTOR_ERROR);
	CHECK(strstr(doctor_find(&r, "LAYER-SECCOMP")->remedy, "dangerous"));
	CHECK(doctor_find(&r, "LAYER-PIDS-LIMIT")->severity == DOCTOR_WARN);
	CHECK(state_of(&r, "LAYER-TIME-LIMIT") == DOCTOR_UNUSED);
}

static void run_that_never_started_leaves_layers_unknown(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	struct doctor_run run = { .profile = "test", .why = "no user namespaces here" };

	doctor_judge_layers(&r, &run);
	CHECK(doctor_has_errors(&r));
	CHECK(strstr(doctor_find(&r, "HOST-CANARY")->text, "no user namespaces here"));
	CHECK(state_of(&r, "LAYER-SECCOMP") == DOCTOR_UNKNOWN);
}

static void canary_that_did_not_finish_is_an_error(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	struct doctor_run run = good_run();

	run.tried = doctor_read_tries(
		&r, "{\"try\":\"mount\",\"layer\":\"seccomp\",\"stopped\":true,\"by\":\"EPERM\"}\n");
	CHECK(!run.tried);
	doctor_judge_layers(&r, &run);
	CHECK(doctor_has_errors(&r));
	CHECK(state_of(&r, "HOST-CANARY") == DOCTOR_MISSING);
}

static void canary_output_is_read_strictly(void)
{
	static const char *const bad[] = {
		"",
		"hello\n{\"done\":true}\n",
		"{\"try\":\"x\",\"layer\":\"no-such\",\"stopped\":true}\n{\"done\":true}\n",
		"{\"try\":\"x\",\"layer\":\"seccomp\",\"stopped\":\"yes\"}\n{\"done\":true}\n",
		"{\"layer\":\"seccomp\",\"stopped\":true}\n{\"done\":true}\n",
		"{\"done\":true}\n{\"try\":\"x\",\"layer\":\"seccomp\",\"stopped\":true}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_doctor_ struct doctor_report r = { 0 };

		CHECK(!doctor_read_tries(&r, bad[i]));
	}
}

static void document_has_the_shape_that_scripts_read(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct doctor_run run = good_run();
	struct jdoc *checks, *layers, *seccomp = NULL;

	doctor_add(&r, "HOST-X", DOCTOR_MISSING, DOCTOR_WARN, "do that", "no %s", "x");
	CHECK(doctor_read_tries(&r, good_output));
	doctor_judge_layers(&r, &run);
	CHECK(doctor_describe(&r, &d, NULL) == 0);
	CHECK(jdoc_get(d, "schema_version")->integer == 1);
	checks = jdoc_get(d, "checks");
	CHECK(checks->n_items == 2 + _LAYER_MAX);
	CHECK(str_eq(jdoc_get_string(checks->items[0], "id"), "HOST-X"));
	CHECK(str_eq(jdoc_get_string(checks->items[0], "severity"), "warn"));
	CHECK(str_eq(jdoc_get_string(checks->items[0], "state"), "missing"));
	CHECK(str_eq(jdoc_get_string(checks->items[0], "remedy"), "do that"));
	layers = jdoc_get(d, "layers");
	CHECK(layers->n_items == _LAYER_MAX);
	seccomp = layers->items[LAYER_SECCOMP];
	CHECK(str_eq(jdoc_get_string(seccomp, "name"), "seccomp") && jdoc_get_string(seccomp, "needs"));
	CHECK(jdoc_get(seccomp, "tries")->n_items == 1);
}

static void every_layer_and_host_check_is_explained(void)
{
	static const char *const hosts[] = { "HOST-KERNEL",  "HOST-USERNS",   "HOST-OVERLAY",
					     "HOST-IDMAP",   "HOST-UPPERDIR", "HOST-PROC",
					     "HOST-SECCOMP", "HOST-PIDFD",    "HOST-CGROUP",
					     "HOST-SUBUID",  "HOST-LIBCRUN",  "HOST-FUSE-OVERLAYFS",
					     "HOST-CANARY" };

	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		_cleanup_free_ char *text = NULL;

		CHECK(doctor_explain(hosts[i], &text, NULL) == 0 && strlen(text) > 40);
	}
	for (unsigned int l = 0; l < _LAYER_MAX; l++) {
		_cleanup_free_ char *text = NULL;
		char id[64];

		snprintf(id, sizeof(id), "LAYER-%s", layer_info((enum layer)l)->name);
		CHECK(doctor_explain(id, &text, NULL) == 0);
		CHECK(strstr(text, layer_info((enum layer)l)->needs) && !strstr(text, "(null)"));
	}
}

static void unknown_id_names_the_nearest(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	char *text = NULL;

	CHECK(doctor_explain("LAYER-SECOMP", &text, &f) == -ENOENT);
	CHECK(strstr(fault_text(&f), "'LAYER-SECCOMP'"));
	CHECK(doctor_explain("\033[31m", &text, &f) == -ENOENT);
	CHECK(!strchr(fault_text(&f), '\033'));
}

static void the_disk_limit_names_its_mechanism(void)
{
	_cleanup_doctor_ struct doctor_report r = { 0 };
	struct doctor_run run = good_run();

	run.disk_by = "watching";
	doctor_judge_layers(&r, &run);
	CHECK(strstr(doctor_find(&r, "LAYER-DISK-LIMIT")->text, "; enforced by watching"));
	CHECK(!strstr(doctor_find(&r, "LAYER-MEMORY-LIMIT")->text, "enforced by"));
}

/* The faults that a version has, read in its source. */
static void PLAT_2_libcrun_is_described_by_its_version(void)
{
	static const struct {
		const char *version, *text;
	} cases[] = {
		{ "1.8.1", "libcrun 1.8.1; remains: as CVE-2025-52881 (LSM label of exec); stopped by "
			   "custody: stdio of the host changes "
			   "owner, CVE-2026-47766 (an image's /dev), exec --cgroup leaves the container's "
			   "cgroup, CVE-2026-88264 (an "
			   "image's /dev/console), CVE-2026-88265 (an image's /dev/null)" },
		{ "1.21",
		  "libcrun 1.21; remains: as CVE-2025-52881 (LSM label of exec); stopped by custody: stdio "
		  "of the host changes "
		  "owner, CVE-2026-30892 (user of exec), CVE-2026-47766 (an image's /dev), exec --cgroup "
		  "leaves the container's "
		  "cgroup, CVE-2026-88264 (an image's /dev/console), CVE-2026-88265 (an image's /dev/null)" },
		{ "1.28", "libcrun 1.28; stopped by custody: exec --cgroup leaves the container's cgroup, "
			  "CVE-2026-88264 (an image's "
			  "/dev/console), CVE-2026-88265 (an image's /dev/null)" },
		{ "1.30", "libcrun 1.30" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_doctor_ struct doctor_report r = { 0 };

		doctor_describe_libcrun(&r, cases[i].version);
		CHECK(str_eq(doctor_find(&r, "HOST-LIBCRUN")->text, cases[i].text));
	}
}

TAP_MAIN(T(layers_that_stopped_everything_are_ok_and_name_the_reason),
	 T(canary_that_got_through_outweighs_the_proof), T(each_refused_layer_alone_is_the_only_error),
	 T(switched_off_and_optional_and_unset_differ), T(run_that_never_started_leaves_layers_unknown),
	 T(canary_that_did_not_finish_is_an_error), T(canary_output_is_read_strictly),
	 T(document_has_the_shape_that_scripts_read), T(every_layer_and_host_check_is_explained),
	 T(unknown_id_names_the_nearest), T(the_disk_limit_names_its_mechanism),
	 T(PLAT_2_libcrun_is_described_by_its_version))
