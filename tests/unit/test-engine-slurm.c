/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "tap.h"

#define NAMESPACES                                                                                          \
	"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{" \
	"\"type\":\"mount\"}]"
#define STEP(env)                                                                   \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/\",\"env\":[\"PATH=/bin\"," env \
	"]},\"root\":{\"path\":\"rootfs\"},\"mounts\":[],\"annotations\":{},\"linux\":{" NAMESPACES "}}"
#define FIRST                                                                                             \
	"\"SLURM_JOB_ID=7\",\"SLURM_JOBID=7\",\"SLURM_STEP_ID=0\",\"SLURM_ARRAY_TASK_ID=3\",\"SLURM_"     \
	"NODELIST=n[1-2]\",\"SLURMD_NODENAME=n1\",\"SLURM_SRUN_COMM_PORT=40001\",\"SLURM_SRUN_COMM_HOST=" \
	"192.0.2.1\",\"HOSTNAME=n1\",\"SLURM_NTASKS=1\""
#define SECOND                                                                                           \
	"\"SLURM_JOB_ID=81\",\"SLURM_JOBID=81\",\"SLURM_STEP_ID=5\",\"SLURM_ARRAY_TASK_ID=4\",\"SLURM_"  \
	"NODELIST=n4,n7\",\"SLURMD_NODENAME=n7\",\"SLURM_SRUN_COMM_PORT=40002\",\"SLURM_SRUN_COMM_HOST=" \
	"2001:"                                                                                          \
	"db8::1\",\"HOSTNAME=n7\",\"SLURM_NTASKS=1\""
#define JOB "\"SLURM_JOB_ID=7\""
#define ID "n1.ann.b.7.0.0"

#define WITH                                                      \
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 }; \
	CHECK(engine_fixture_init(&x))

static char *subject_of(struct engine_fixture *x, const char *text, const char *id)
{
	if (engine_try_as(x, text, id, true) == 0)
		return engine_written(x->c.document);
	printf("# %s\n", fault_text(&x->f));
	return NULL;
}

static bool is_same(struct engine_fixture *x, const char *a, const char *id_a, const char *b,
		    const char *id_b)
{
	_cleanup_free_ char *one = subject_of(x, a, id_a), *other = subject_of(x, b, id_b);

	return one && other && str_eq(one, other);
}

static void GOV_9_two_steps_of_the_same_command_are_one_subject(void)
{
	WITH;

	CHECK(is_same(&x, STEP(FIRST), ID, STEP(SECOND), "n7.ann.b.81.5.0"));
	CHECK(strstr(x.c.text, "SLURM_JOB_ID=81") && strstr(x.c.text, "HOSTNAME=n7"));
	/* The step of a batch script has the largest number. */
	CHECK(is_same(&x, STEP(JOB), ID, STEP(JOB), "n1.ann.7.4294967291.0"));
}

static void GOV_9_what_a_step_asked_for_is_in_the_subject(void)
{
	static const char *const other[] = {
		STEP(JOB ",\"SLURM_NTASKS=2\""),
		STEP(JOB ",\"SLURM_JOB_NAME=x\""),
		STEP(JOB ",\"SLURM_CPUS_PER_TASK=4\""),
		STEP(JOB ",\"SLURM_JOB_IDS=7\""),
		STEP(JOB ",\"SLURM\""),
		STEP(JOB ",\"HOSTNAME=n\""),
		STEP(JOB ",\"HOSTNAME=\""),
	};
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		CHECK(!is_same(&x, STEP(JOB), ID, other[i], ID));
}

/* The user of a job writes its environment: a value that Slurm does not give could choose what runs. */
static void GOV_9_a_variable_of_slurm_with_another_form_is_in_the_subject(void)
{
	static const char *const other[] = {
		STEP(JOB ",\"SLURM_ARRAY_TASK_ID=3;id\""),
		STEP(JOB ",\"SLURM_ARRAY_TASK_ID=\""),
		STEP(JOB ",\"SLURM_ARRAY_TASK_ID=-3\""),
		STEP(JOB ",\"SLURM_ARRAY_TASK_ID=123456789012345678901\""),
		STEP(JOB ",\"SLURM_STEP_ID=0x1\""),
		STEP(JOB ",\"SLURM_NODELIST=-rf\""),
		STEP(JOB ",\"SLURM_NODELIST=/etc\""),
		STEP(JOB ",\"SLURM_NODELIST=n1 n2\""),
		STEP(JOB ",\"SLURM_JOB_NODELIST=$(id)\""),
		STEP(JOB ",\"SLURM_SRUN_COMM_HOST=a/b\""),
		STEP(JOB ",\"SLURM_ARRAY_TASK_ID=3\",\"SLURM_ARRAY_TASK_ID=x\""),
	};
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		CHECK(!is_same(&x, STEP(JOB), ID, other[i], ID));
}

static void GOV_9_only_the_container_of_a_step_has_them(void)
{
	static const char *const ids[] = {
		ENGINE_ID, "7",		  "n1.ann.8.0.0", "n1.ann.7.0", "n1.ann.77.0.0",
		"7.0.0",   "n1.ann.7.0.", "n1.ann.7..0",  ".7.0.0x",	"n1.ann.7.0.0.0"
	};
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		CHECK(!is_same(&x, STEP(JOB ",\"SLURM_ARRAY_TASK_ID=3\""), ids[i],
			       STEP(JOB ",\"SLURM_ARRAY_TASK_ID=4\""), ids[i]));
	/* The id is compared with that variable. */
	CHECK(!is_same(&x, STEP("\"SLURM_STEP_ID=1\""), ID, STEP("\"SLURM_STEP_ID=2\""), ID));
}

TAP_MAIN(T(GOV_9_two_steps_of_the_same_command_are_one_subject),
	 T(GOV_9_what_a_step_asked_for_is_in_the_subject),
	 T(GOV_9_a_variable_of_slurm_with_another_form_is_in_the_subject),
	 T(GOV_9_only_the_container_of_a_step_has_them))
