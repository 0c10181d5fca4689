/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oci/engine/engine-gate.h"
#include "oci/runtime/runtime-verbs.h"

/* Engines find out with --help.  The words are those after the global options: this verb's own are not parsed. */
static bool is_probe(const struct runtime_options *o)
{
	return o->n_args < 2 || strcmp(o->args[1], "--help") == 0 || strcmp(o->args[1], "-h") == 0;
}

/*
 * A checkpoint is a program with its memory: a restored process would go on in the middle of an approved program, past the
 * gate, with the bytes of files that another process may have changed.
 */
static int refuse_criu(struct runtime_job *job, struct fault *f)
{
	const struct engine_call call = { .profile = job->options->profile,
					  .lane = job->options->lane,
					  .allow_prod = job->options->allow_prod,
					  .argv = job->argv };
	static const char *const why[VERB_MAX_] = {
		[VERB_CHECKPOINT] =
			"refused: an image has the memory of a governed container, with its secrets",
		[VERB_RESTORE] =
			"refused: no approval covers the memory in an image; create the container again",
	};
	const enum runtime_verb verb = job->options->verb;
	int r = 0;

	if (!is_probe(job->options))
		r = engine_gate_forbid(&call, runtime_verb_name(verb), why[verb], f);
	if (r < 0)
		return r;
	return fault_set(f, ENOTSUP, "%s: not in this libcrun (" LIBCRUN_VERSION " was built without CRIU)",
			 runtime_verb_name(verb));
}

static int print_help(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;

	(void)f;
	for (int v = VERB_NONE + 1; o->n_args > 0 && v < VERB_MAX_; v++) {
		if (!strcmp(o->args[0], runtime_verb_name(v))) {
			runtime_options_help(v, stdout);
			return 0;
		}
	}
	runtime_options_help(VERB_NONE, stdout);
	return 0;
}

/* clang-format off */
static int (*const actions[VERB_MAX_])(struct runtime_job *job, struct fault *f) = {
	[VERB_CHECKPOINT] = refuse_criu,
	[VERB_CREATE]     = runtime_verb_create,
	[VERB_DELETE]     = runtime_verb_delete,
	[VERB_EXEC]       = runtime_verb_exec,
	[VERB_FEATURES]   = runtime_verb_features,
	[VERB_HELP]       = print_help,
	[VERB_KILL]       = runtime_verb_kill,
	[VERB_LIST]       = runtime_verb_list,
	[VERB_PAUSE]      = runtime_verb_pause,
	[VERB_PS]         = runtime_verb_ps,
	[VERB_RESTORE]    = refuse_criu,
	[VERB_RESUME]     = runtime_verb_resume,
	[VERB_RUN]        = runtime_verb_run,
	[VERB_SPEC]       = runtime_verb_spec,
	[VERB_START]      = runtime_verb_start,
	[VERB_STATE]      = runtime_verb_state,
	[VERB_UPDATE]     = runtime_verb_update,
};
/* clang-format on */

/* Only 0-2: higher descriptors may belong to the container (--preserve-fds); libcrun marks the rest close-on-exec. */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(EXIT_FAILURE);
}

static int act(const struct runtime_options *o, struct runtime_log *log, char **argv, struct fault *f)
{
	_cleanup_job_ struct runtime_job job = { 0 };
	int r;

	r = runtime_job_init(&job, o, log, argv, f);
	if (r < 0)
		return r;
	log->name = job.call.id;
	return actions[o->verb](&job, f);
}

int main(int argc, char **argv)
{
	_cleanup_runtime_log_ struct runtime_log log = RUNTIME_LOG_NONE;
	_cleanup_options_ struct runtime_options o = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_fault_ struct fault log_fault = { 0 };
	int r, logged;

	fill_standard_fds();
	r = runtime_options_parse(argc, argv, &o, &f);
	logged = runtime_log_open(o.log, o.log_format, o.debug ? "debug" : o.log_level, &log, &log_fault);
	if (r == 0 && logged < 0) {
		runtime_log_fault(&log, &log_fault);
		return EXIT_FAILURE;
	}
	if (r == 0 && o.version) {
		runtime_print_version(stdout);
		return EXIT_SUCCESS;
	}
	if (r == 0 && o.help) {
		runtime_options_help(o.verb, stdout);
		return EXIT_SUCCESS;
	}
	if (r == 0)
		r = act(&o, &log, argv, &f);
	if (r < 0) {
		runtime_log_fault(&log, &f);
		return EXIT_FAILURE;
	}
	return r;
}
