/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "container/container-info.h"
#include "container/warden-call.h"
#include "decision/decision-exec.h"
#include "layer/layer.h"
#include "oci/engine/engine-exec-basis.h"
#include "oci/engine/engine-exec-cgroup.h"
#include "oci/engine/engine-exec-document.h"
#include "oci/engine/engine-exec-merge.h"
#include "oci/engine/engine-exec-probe.h"
#include "oci/engine/engine-field.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-record.h"

struct engine_exec {
	const struct engine_exec_call *call; /* borrowed until engine_exec_open returns */
	struct engine_record record;
	struct dirs dirs;
	struct config *config;
	struct digest_key key;
	struct container_info info;
	struct engine_exec_basis basis;
	struct jdoc *container, *merged; /* the subject and config.json of the container */
	struct jdoc *process;
	char **argv; /* borrowed words of PROCESS, array on the heap */
	char **env;  /* the same */
	struct jdoc *document;
	struct digest digest;
	struct strbuf text;
	struct decision decision;
	int warden;
	bool below;	  /* --cgroup */
	bool probe;	  /* approved with the container */
	bool handed_over; /* claim and every further record are the warden's */
	char id[SESSION_ID_SIZE];
};

void engine_exec_free(struct engine_exec *x)
{
	if (!x)
		return;
	decision_done(&x->decision);
	(void)fd_close(x->warden);
	strbuf_done(&x->text);
	jdoc_free(x->document);
	free(x->argv);
	free(x->env);
	jdoc_free(x->process);
	jdoc_free(x->merged);
	jdoc_free(x->container);
	engine_exec_basis_done(&x->basis);
	container_info_done(&x->info);
	digest_key_done(&x->key);
	config_free(x->config);
	dirs_done(&x->dirs);
	engine_record_done(&x->record);
	free(x);
}

static int locate(struct engine_exec *x, struct fault *f)
{
	int r = engine_record_dirs(&x->record, &x->dirs, f);

	if (r >= 0)
		r = config_load(&x->dirs, &x->config, f);
	if (r < 0)
		return r;
	x->decision.dirs = &x->dirs;
	x->decision.config = x->config;
	x->decision.run = (struct ledger_run){ .action = LEDGER_ACTION_EXEC,
					       .session = x->id,
					       .within = x->record.session,
					       .lane = lane_name(x->dirs.lane) };
	return decision_redact(&x->decision, NULL, f);
}

static int enter(struct engine_exec *x, struct fault *f)
{
	const struct lane_ask ask = { .lane = x->dirs.lane,
				      .allow_prod = x->call->allow_prod,
				      .allow_env = getenv(LANE_ALLOW_ENV) };

	return decision_enter(&x->decision, &ask, f);
}

static int parse(const char *text, size_t len, const char *label, struct jdoc **ret, struct fault *f)
{
	static const struct jdoc_limits limits = { .wide = true };
	int r = jdoc_parse(text, len, label, &limits, ret, f);

	return r == 0 && (*ret)->type != JDOC_OBJECT ? fault_set(f, EINVAL, "%s: no object", label) : r;
}

/* What create kept, and the warden that supervises the container. */
static int open_container(struct engine_exec *x, struct fault *f)
{
	_cleanup_close_ int dir = open(x->record.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_jdoc_ struct jdoc *subject = NULL;
	int r;

	x->decision.refused = "session";
	x->warden = warden_call_connect(x->record.path, f);
	if (x->warden < 0)
		return fault_wrap(f, x->warden, "the custody-warden of this container is gone");
	if (dir < 0)
		return fault_errno(f, errno, "session '%s'", x->record.session);
	r = container_info_read(dir, &x->info, f);
	if (r >= 0)
		r = engine_exec_basis_read(x->info.exec, &x->basis, f);
	if (r >= 0)
		r = parse(x->info.config, x->info.config_len, "config.json", &x->merged, f);
	if (r >= 0)
		r = parse(x->info.subject, x->info.subject_len, "subject", &subject, f);
	if (r < 0)
		return r;
	x->container = jdoc_copy(jdoc_get(subject, "subject"));
	x->decision.run.profile = x->info.profile;
	x->decision.run.image = x->info.image;
	x->decision.run.sandbox = x->basis.facts.isolated;
	return x->container ? 0 : fault_errno(f, ENOMEM, "exec");
}

/* Redaction rules of the container's profile, from here on. */
static int redact(struct engine_exec *x, struct fault *f)
{
	int r = digest_key_load(&x->dirs, x->config->digest_key, false, &x->key, f);

	if (r < 0)
		return r;
	config_redact_done(&x->decision.redact);
	r = decision_redact(&x->decision, x->info.redact, f);
	if (r >= 0)
		decision_redact_with(&x->decision, &x->key);
	return r;
}

/* Strings of the array KEY; borrowed, in an array on the heap. */
static int take_words(const struct jdoc *process, const char *key, char ***ret, struct fault *f)
{
	size_t n = engine_count(process, key);
	char **words = calloc(n + 1, sizeof(*words));

	if (!words)
		return fault_errno(f, ENOMEM, "exec");
	*ret = words;
	for (size_t i = 0; i < n; i++) {
		const struct jdoc *word = engine_item(process, key, i);

		if (word->type != JDOC_STRING)
			return fault_set(f, EINVAL, "exec: 'process.%s[%zu]' is no string", key, i);
		words[i] = word->string;
	}
	return 0;
}

static int merge(struct engine_exec *x, struct fault *f)
{
	int r;

	x->decision.refused = "config";
	r = parse(x->call->text, x->call->len, "exec", &x->process, f);
	if (r == 0)
		r = engine_field_require_process(x->process, f);
	if (r == 0 && x->basis.facts.isolated)
		r = engine_exec_merge(jdoc_get(x->merged, "process"), x->process, f);
	x->probe = r == 0 && !x->call->cgroup && x->call->preserved == 0 &&
		   engine_exec_take_probe(x->basis.allow, jdoc_get(x->merged, "process"), x->process);
	/* No approver sees it, so it is tightened in any case. */
	if (x->probe && !x->basis.facts.isolated)
		r = engine_exec_merge(jdoc_get(x->merged, "process"), x->process, f);
	if (r == 0)
		r = take_words(x->process, "args", &x->argv, f);
	if (r == 0)
		r = take_words(x->process, "env", &x->env, f);
	if (r == 0 && !x->argv[0])
		r = fault_set(f, EINVAL, "exec: 'process.args' has no command");
	if (r == 0)
		r = jdoc_write(x->process, JDOC_CANONICAL, &x->text, f);
	if (r < 0)
		return r;
	x->decision.run.argv = x->argv;
	x->decision.run.env = x->env;
	x->decision.run.cwd = engine_text(x->process, "cwd");
	return x->text.broken ? fault_errno(f, ENOMEM, "exec") : 0;
}

static int build_subject(struct engine_exec *x, struct fault *f)
{
	const struct engine_exec_subject s = { .id = x->info.container,
					       .bundle = x->info.bundle,
					       .config = x->merged,
					       .container = x->container,
					       .digest = &x->info.digest,
					       .process = x->process,
					       .argv = x->argv,
					       .cgroup = x->call->cgroup,
					       .preserved = x->call->preserved,
					       .redact = x->decision.run.redact };
	int r = engine_exec_document(&s, &x->key, &x->document, f);

	return r < 0 ? r : subject_digest(x->document, &x->digest, f);
}

static const char *find_home(char *const *env)
{
	for (; *env; env++)
		if (str_starts(*env, "HOME="))
			return *env + strlen("HOME=");
	return "/root";
}

static int judge(struct engine_exec *x, struct fault *f)
{
	struct policy_facts facts;
	struct decision_question q = { .facts = &facts,
				       .argv = x->argv,
				       .document = x->document,
				       .digest = &x->digest,
				       .security = SECURITY_OFF,
				       .governance = x->basis.governance };
	int r;

	if (x->call->preserved > 0)
		engine_exec_basis_add_host(&x->basis);
	facts = x->basis.facts;
	q.once = facts.image_unknown;
	facts.argv = x->argv;
	facts.env = x->env;
	facts.cwd = engine_text(x->process, "cwd");
	facts.home = find_home(x->env);
	facts.profile_name = x->info.profile;
	r = decision_judge(&x->decision, &q, f);
	if (r < 0)
		return r;
	decision_exec_exempt(&x->decision, &q);
	/* Approved with the container; but an unbounded delete is a C, whatever was approved. */
	if (x->probe && x->decision.verdict->level != 'C')
		q.exempt = "custody.exec.allow";
	return decision_approve(&x->decision, &q, f);
}

/* The order of the steps before libcrun. */
static int decide(struct engine_exec *x, struct fault *f)
{
	int r;

	r = locate(x, f);
	if (r < 0)
		return r;
	r = enter(x, f);
	if (r >= 0)
		r = open_container(x, f);
	if (r >= 0)
		r = redact(x, f);
	if (r >= 0)
		r = merge(x, f);
	if (r >= 0)
		r = decision_exec_require(&x->decision, x->basis.governance, f);
	if (r >= 0)
		r = build_subject(x, f);
	if (r >= 0)
		r = decision_open(&x->decision, f);
	if (r >= 0)
		r = judge(x, f);
	if (r >= 0)
		r = decision_intend(&x->decision, f);
	return r < 0 ? engine_exec_refuse(x, r, f) : 0;
}

int engine_exec_open(const struct engine_exec_call *call, struct engine_exec **ret, struct fault *f)
{
	_cleanup_engine_exec_ struct engine_exec *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return fault_errno(f, ENOMEM, "exec");
	x->call = call;
	x->below = call->cgroup != NULL;
	x->warden = -EBADF;
	x->decision = DECISION_NONE;
	*ret = NULL;
	r = engine_record_read(call->dir, &x->record, f);
	if (r < 0 || !x->record.governed)
		return r;
	r = clock_session_id(x->id, f);
	if (r >= 0)
		r = decide(x, f);
	x->call = NULL;
	if (r < 0)
		return r;
	*ret = TAKE_PTR(x);
	return 0;
}

const struct strbuf *engine_exec_text(const struct engine_exec *x)
{
	return &x->text;
}

void engine_exec_forget(struct engine_exec *x)
{
	digest_key_done(&x->key);
}

char *engine_exec_parent(const struct engine_exec *x)
{
	return path_join(x->dirs.libexec, "custody-parent");
}

static int hand_over(struct engine_exec *x, pid_t pid, int pidfd, int parent, struct fault *f)
{
	struct warden_call m = { .type = WARDEN_CALL_EXEC, .digest = x->digest, .pid = pid };
	const int fds[WARDEN_CALL_FDS] = { x->decision.claim.fd, pidfd, parent };
	int r;

	memcpy(m.exec, x->id, sizeof(m.exec));
	r = warden_call_ask(x->warden, &m, fds, f);
	if (r < 0)
		return fault_wrap(f, r, "custody-warden does not supervise it");
	x->handed_over = true;
	/* The warden has few connections, and a command may run for days. */
	x->warden = fd_close(x->warden);
	/* The lock is shared: the warden's exit must free it. */
	claim_done(&x->decision.claim);
	return 0;
}

/* As they will be: the warden kills it otherwise. */
static int list_layers(const struct engine_exec *x, char ***ret, struct fault *f)
{
	static const enum layer layers[] = { LAYER_NO_NEW_PRIVS, LAYER_SECCOMP };

	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		if ((x->basis.layers & LAYER_BIT(layers[i])) &&
		    strv_appendf(ret, "%s=%s", layer_info(layers[i])->name,
				 layer_state_name(LAYER_STATE_PROVEN_AFTER_START)) < 0)
			return fault_errno(f, ENOMEM, "exec");
	return 0;
}

int engine_exec_start(struct engine_exec *x, pid_t pid, int pidfd, int parent, struct fault *f)
{
	_cleanup_strv_ char **words = NULL;
	int r = x->below ? engine_exec_cgroup_require(x->info.pid, pid, f) : 0;

	if (r >= 0)
		r = decision_consume(&x->decision, f);
	x->decision.refused = r == -EACCES ? "approval" : "setup-failed";
	if (r >= 0)
		r = list_layers(x, &words, f);
	if (r >= 0)
		r = decision_start(&x->decision, pid, words, f);
	return r < 0 ? r : hand_over(x, pid, pidfd, parent, f);
}

int engine_exec_refuse(struct engine_exec *x, int r, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };

	if (x->handed_over)
		return r;
	if (!x->decision.refused && x->decision.run.intended)
		x->decision.refused = "setup-failed";
	/* It was never released. */
	x->decision.started = false;
	(void)!decision_release(&x->decision, x->decision.refused ? x->decision.refused : "setup-failed",
				NULL);
	if (decision_refuse(&x->decision, fault_text(f), &why) < 0)
		r = fault_wrap(f, r, "not recorded (%s)", fault_text(&why));
	return r;
}
