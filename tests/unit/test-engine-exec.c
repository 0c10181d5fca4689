/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-exec-tight.h"
#include "engine-fixture.h"
#include "oci/engine/engine-exec-basis.h"
#include "oci/engine/engine-exec-cgroup.h"
#include "oci/engine/engine-exec-document.h"
#include "oci/engine/engine-exec-merge.h"
#include "oci/engine/engine-exec-probe.h"
#include "oci/engine/engine-field.h"
#include "subject/subject-digest.h"
#include "tap.h"

static struct jdoc *json(const char *text)
{
	struct jdoc *d = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (jdoc_parse(text, strlen(text), "t", &(struct jdoc_limits){ .wide = true }, &d, &f) < 0)
		printf("# %s\n", fault_text(&f));
	return d;
}

/* The process of a recording, merged as create does it, into X. */
static const struct jdoc *container(struct engine_fixture *x, const char *recording)
{
	_cleanup_free_ char *text = engine_recording(recording);

	if (!text || engine_try(x, text) < 0) {
		printf("# %s: %s\n", recording, fault_text(&x->f));
		return NULL;
	}
	return jdoc_get(x->c.merged, "process");
}

#define CONTAINER                                                                                    \
	"{\"args\":[\"sh\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"                                      \
	"bin\",\"A=1\"],\"user\":{\"uid\":5,\"gid\":6},"                                             \
	"\"noNewPrivileges\":true,\"apparmorProfile\":\"custody\",\"oomScoreAdj\":100,"              \
	"\"capabilities\":{\"bounding\":[\"CAP_KILL\",\"CAP_CHOWN\"],\"effective\":[\"CAP_KILL\"]}," \
	"\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":0,\"soft\":0},"                             \
	"{\"type\":\"RLIMIT_NOFILE\",\"hard\":100,\"soft\":50}]}"

/* --- the merge --------------------------------------------------------------------------------------------------- */

static void GOV_15_a_process_is_never_looser_than_its_container(void)
{
	static const char *const rows[] = {
		"{\"args\":[\"a\"]}",
		"{\"args\":[\"a\"],\"noNewPrivileges\":false,\"apparmorProfile\":\"unconfined\","
		"\"selinuxLabel\":"
		"\"spc_t\"}",
		"{\"args\":[\"a\"],\"noNewPrivileges\":\"no\",\"capabilities\":7,\"rlimits\":{},"
		"\"oomScoreAdj\":-1000}",
		"{\"args\":[\"a\"],\"capabilities\":{\"effective\":[\"CAP_SYS_ADMIN\",\"CAP_KILL\",7],"
		"\"ambient\":["
		"\"CAP_SYS_PTRACE\"],"
		"\"bounding\":[\"CAP_CHOWN\"]}}",
		"{\"args\":[\"a\"],\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":18446744073709551615,"
		"\"soft\":"
		"1000},"
		"{\"type\":\"RLIMIT_NPROC\",\"hard\":9,\"soft\":9}]}",
		"{\"args\":[\"a\"],\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":-1,\"soft\":-1}]}",
	};
	_cleanup_jdoc_ struct jdoc *theirs = json(CONTAINER);

	CHECK(theirs);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *process = json(rows[i]);
		_cleanup_fault_ struct fault f = { 0 };
		const char *looser;

		CHECK(engine_exec_merge(theirs, process, &f) == 0);
		looser = tight_exec_check(theirs, process);
		if (looser)
			printf("# looser: %s in %s\n", looser, rows[i]);
		CHECK(!looser);
	}
}

static void GOV_15_what_is_tighter_stays(void)
{
	_cleanup_jdoc_ struct jdoc
		*theirs = json(CONTAINER),
		*process = json("{\"args\":[\"a\"],\"oomScoreAdj\":900,\"capabilities\":{\"bounding\":"
				"[\"CAP_CHOWN\"]},"
				"\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":9,\"soft\":8}]}");

	CHECK(engine_exec_merge(theirs, process, NULL) == 0);
	CHECK(tight_number(process, "oomScoreAdj", 0) == 900);
	CHECK(engine_count(process, "capabilities.bounding") == 1 &&
	      engine_count(process, "capabilities.effective") == 0);
	CHECK(tight_number(engine_item(process, "rlimits", 0), "hard", 0) == 9 &&
	      tight_number(engine_item(process, "rlimits", 0), "soft", 0) == 8);
}

static void GOV_15_recordings_of_engines_pass_as_their_own_command(void)
{
	static const char *const recordings[] = { "cri", "docker", "podman", "crun" };
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };

	CHECK(engine_fixture_init(&x));
	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++) {
		const struct jdoc *theirs = container(&x, recordings[i]);
		_cleanup_jdoc_ struct jdoc *engine = jdoc_copy(jdoc_get(x.c.engine, "process")),
					   *merged = jdoc_copy(theirs);

		/* The engine sends what it sent to create: the result is what create made of it. */
		CHECK(theirs && engine_field_require_process(engine, NULL) == 0);
		CHECK(engine_exec_merge(theirs, engine, NULL) == 0 && !tight_exec_check(theirs, engine));
		CHECK(jdoc_equal(jdoc_get(theirs, "capabilities"), jdoc_get(engine, "capabilities")));
		/* A second merge changes nothing. */
		CHECK(engine_exec_merge(theirs, merged, NULL) == 0 && jdoc_equal(theirs, merged));
	}
}

static void ISO_14_members_without_a_rule_are_refused(void)
{
	static const char *const rows[][2] = {
		{ "{\"args\":[\"a\"],\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\"}}",
		  "process.seccomp" },
		{ "{\"args\":[\"a\"],\"commandLine\":\"a\"}", "process.commandLine" },
		{ "{\"args\":[\"a\"],\"user\":{\"uid\":1,\"shell\":\"x\"}}", "process.user.shell" },
		{ "{\"args\":[\"a\"],\"rlimits\":[{\"type\":\"x\",\"soft\":1,\"max\":2}]}",
		  "process.rlimits[0].max" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *process = json(rows[i][0]);
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(engine_field_require_process(process, &f) == -EPERM &&
		      strstr(fault_text(&f), rows[i][1]));
	}
}

static void ISO_14_real_time_and_a_limit_twice_are_refused(void)
{
	static const char *const rows[] = {
		"{\"args\":[\"a\"],\"scheduler\":{\"policy\":\"SCHED_FIFO\"}}",
		"{\"args\":[\"a\"],\"ioPriority\":{\"class\":\"IOPRIO_CLASS_RT\"}}",
		"{\"args\":[\"a\"],\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":0},{\"type\":\"RLIMIT_"
		"CORE\",\"hard\":9}"
		"]}",
	};
	_cleanup_jdoc_ struct jdoc *theirs = json(CONTAINER);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *process = json(rows[i]);
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(engine_exec_merge(theirs, process, &f) == -EPERM && f.text);
	}
}

/* --- the subject -------------------------------------------------------------------------------------------------- */

#define COMMAND                                                             \
	"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/" \
	"bin\",\"A=1\"],\"user\":{\"uid\":5,"                               \
	"\"gid\":6},\"terminal\":false,"                                    \
	"\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}"

static bool digest_of(const struct engine_fixture *x, const struct jdoc *config, const struct jdoc *document,
		      const char *process_text, const char *cgroup, unsigned int preserved, uint8_t of,
		      struct digest *ret)
{
	_cleanup_jdoc_ struct jdoc *process = json(process_text), *d = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct engine_exec_subject s = { .id = ENGINE_ID,
					 .bundle = x->dir,
					 .config = config,
					 .container = document,
					 .digest = &(struct digest){ { of } },
					 .process = process,
					 .cgroup = cgroup,
					 .preserved = preserved };
	char *argv[8] = { NULL };

	for (size_t i = 0; i < engine_count(process, "args") && i < 7; i++)
		argv[i] = engine_item(process, "args", i)->string;
	s.argv = argv;
	if (engine_exec_document(&s, &x->key, &d, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	/* Values stay outside. */
	text = engine_written(d);
	return !strstr(text, "swordfish") && subject_digest(d, ret, &f) == 0;
}

static void GOV_15_the_digest_is_that_of_container_command_and_process(void)
{
	static const char *const others[] = {
		"{\"args\":[\"cat\",\"/other\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"
		"bin\",\"A=1\"],\"user\":{\"uid\":5,"
		"\"gid\":6},\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}",
		"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/\",\"env\":[\"PATH=/"
		"bin\",\"A=1\"],\"user\":{\"uid\":5,"
		"\"gid\":6},\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}",
		"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"
		"bin\",\"A=swordfish\"],\"user\":{"
		"\"uid\":5,\"gid\":6},\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}",
		"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"
		"bin\",\"A=1\",\"B=\"],\"user\":{\"uid\":"
		"5,\"gid\":6},\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}",
		"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"
		"bin\",\"A=1\"],\"user\":{\"uid\":0,"
		"\"gid\":6},\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}",
		"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"
		"bin\",\"A=1\"],\"user\":{\"uid\":5,"
		"\"gid\":6},\"capabilities\":{\"effective\":[]}}",
		"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"PATH=/"
		"bin\",\"A=1\"],\"user\":{\"uid\":5,"
		"\"gid\":6},\"terminal\":true,\"capabilities\":{\"effective\":[\"CAP_KILL\"]}}",
	};
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	struct digest first, again, other;

	CHECK(engine_fixture_init(&x) && container(&x, "podman"));
	CHECK(digest_of(&x, x.c.merged, x.c.document, COMMAND, NULL, 0, 1, &first));
	CHECK(digest_of(&x, x.c.merged, x.c.document, COMMAND, NULL, 0, 1, &again) &&
	      digest_equal(&first, &again));
	/* The order of variables, and the window, are noise. */
	CHECK(digest_of(&x, x.c.merged, x.c.document,
			"{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\",\"env\":[\"A=1\",\"PATH=/"
			"bin\"],\"user\":{"
			"\"gid\":6,\"uid\":5},"
			"\"consoleSize\":{\"height\":9,\"width\":9},\"capabilities\":{\"effective\":[\"CAP_"
			"KILL\"]}}",
			NULL, 0, 1, &again) &&
	      digest_equal(&first, &again));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		CHECK(digest_of(&x, x.c.merged, x.c.document, others[i], NULL, 0, 1, &other));
		CHECK(!digest_equal(&first, &other));
	}
	CHECK(digest_of(&x, x.c.merged, x.c.document, COMMAND, NULL, 0, 2, &other) &&
	      !digest_equal(&first, &other));
	CHECK(digest_of(&x, x.c.merged, x.c.document, COMMAND, "sub", 0, 1, &other) &&
	      !digest_equal(&first, &other));
	CHECK(digest_of(&x, x.c.merged, x.c.document, COMMAND, NULL, 1, 1, &other) &&
	      !digest_equal(&first, &other));
}

/* --- commands that were approved with the container ------------------------------------------------------------------ */

#define PROBE "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/\",\"user\":{\"uid\":5,\"gid\":6},"

static void GOV_15_only_the_listed_command_as_the_containers_user_is_a_probe(void)
{
	static const struct {
		const char *process;
		bool probe;
	} rows[] = {
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/"
		  "srv\",\"env\":[\"A=1\"],\"user\":{\"uid\":5,\"gid\":6}}",
		  true },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/"
		  "\",\"user\":{\"uid\":5,\"gid\":6},\"capabilities\":{"
		  "\"effective\":[\"CAP_KILL\"]}}",
		  true },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/\",\"env\":[\"A=1\",\"HOME=/"
		  "x\"],\"user\":{\"uid\":5,"
		  "\"gid\":6}}",
		  true },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/\",\"env\":[\"HOME=/y\",\"HOME=/"
		  "x\"],\"user\":{\"uid\":"
		  "5,\"gid\":6}}",
		  false },
		{ "{\"args\":[\"cat\",\"/ready\",\"x\"],\"cwd\":\"/srv\",\"user\":{\"uid\":5,\"gid\":6}}",
		  false },
		{ "{\"args\":[\"cat\"],\"cwd\":\"/srv\",\"user\":{\"uid\":5,\"gid\":6}}", false },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/tmp\",\"user\":{\"uid\":5,\"gid\":6}}", false },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/srv\"}", false },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/"
		  "srv\",\"user\":{\"uid\":5,\"gid\":6,\"additionalGids\":[0]}}",
		  true },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/"
		  "srv\",\"env\":[\"A=2\"],\"user\":{\"uid\":5,\"gid\":6}}",
		  false },
		{ "{\"args\":[\"cat\",\"/ready\"],\"cwd\":\"/"
		  "srv\",\"user\":{\"uid\":5,\"gid\":6},\"capabilities\":{"
		  "\"effective\":[\"CAP_CHOWN\"]}}",
		  false },
		/* It would have more of the processors, or of the disk. */
		{ PROBE "\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":-20}}", false },
		{ PROBE "\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":0}}", false },
		{ PROBE "\"execCPUAffinity\":{\"initial\":\"0-3\"}}", false },
		{ PROBE
		  "\"scheduler\":null,\"ioPriority\":{},\"terminal\":false,\"consoleSize\":{\"height\":5}}",
		  true },
	};
	_cleanup_jdoc_ struct jdoc *theirs = json(CONTAINER),
				   *allow = json("[[\"true\"],[\"cat\",\"/ready\"]]");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *process = json(rows[i].process);

		bool probe = engine_exec_take_probe(allow, theirs, process);

		if (probe != rows[i].probe)
			printf("# %s\n", rows[i].process);
		CHECK(probe == rows[i].probe);
		CHECK(!engine_exec_take_probe(NULL, theirs, process));
		/* libcrun sets it from the container's users. */
		CHECK(!probe || !engine_list_has(jdoc_get(process, "env"), "HOME=/x"));
		CHECK(!probe || jdoc_equal(jdoc_get(process, "user"), jdoc_get(theirs, "user")));
	}
}

/* --- its cgroup --------------------------------------------------------------------------------------------------- */

static void GOV_15_a_process_that_stays_in_the_cgroup_of_its_caller_is_outside(void)
{
	static const char caller[] = "4:memory:/user\n3:cpu,cpuacct:/\n0::/user\n",
			  first[] = "4:memory:/x\n3:cpu,cpuacct:/\n0::/x\n";

	CHECK(!engine_exec_cgroup_is_outside(caller, first, "4:memory:/x/sub\n3:cpu,cpuacct:/\n0::/x/sub\n"));
	CHECK(!engine_exec_cgroup_is_outside(caller, first, first));
	CHECK(engine_exec_cgroup_is_outside(caller, first, caller));
	CHECK(engine_exec_cgroup_is_outside(caller, first, "4:memory:/user\n3:cpu,cpuacct:/\n0::/x/sub\n"));
	CHECK(engine_exec_cgroup_is_outside(caller, first, "4:memory:/x/sub\n3:cpu,cpuacct:/\n0::/user\n"));
	/* It has exited. */
	CHECK(engine_exec_cgroup_is_outside(caller, first, ""));
}

/* --- what create keeps ---------------------------------------------------------------------------------------------- */

static void GOV_15_the_facts_of_create_are_those_of_exec(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	_cleanup_engine_exec_basis_ struct engine_exec_basis b = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL, *empty = json("{}");
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(engine_fixture_init(&x) && container(&x, "podman"));
	x.c.facts.image_unknown = true;
	d = engine_exec_basis_make(&x.c, x.profile);
	CHECK(d && engine_exec_basis_read(d, &b, &f) == 0);
	CHECK(b.facts.isolated == x.c.facts.isolated && b.facts.network == x.c.facts.network &&
	      b.facts.worktree_mode == x.c.facts.worktree_mode && b.facts.n_rw == x.c.facts.n_rw &&
	      b.facts.home_is_apart == x.c.facts.home_is_apart && b.facts.image_unknown);
	CHECK(strcmp(b.facts.worktree, x.c.facts.worktree) == 0);
	for (size_t i = 0; i < b.facts.n_rw; i++)
		CHECK(strcmp(b.facts.rw[i].source, x.c.facts.rw[i].source) == 0);
	engine_exec_basis_add_host(&b);
	CHECK(b.facts.n_rw == x.c.facts.n_rw + 1 && strcmp(b.facts.rw[x.c.facts.n_rw].source, "/") == 0);
	engine_exec_basis_done(&b);
	/* Another version's, or none. */
	CHECK(engine_exec_basis_read(NULL, &b, &f) == -EINVAL);
	CHECK(engine_exec_basis_read(empty, &b, &f) == -EINVAL);
}

TAP_MAIN(T(GOV_15_a_process_is_never_looser_than_its_container), T(GOV_15_what_is_tighter_stays),
	 T(GOV_15_recordings_of_engines_pass_as_their_own_command),
	 T(ISO_14_members_without_a_rule_are_refused), T(ISO_14_real_time_and_a_limit_twice_are_refused),
	 T(GOV_15_the_digest_is_that_of_container_command_and_process),
	 T(GOV_15_only_the_listed_command_as_the_containers_user_is_a_probe),
	 T(GOV_15_a_process_that_stays_in_the_cgroup_of_its_caller_is_outside),
	 T(GOV_15_the_facts_of_create_are_those_of_exec))
