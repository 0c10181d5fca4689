/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-exec.h"

#include <errno.h>

#include "base/fd.h"
#include "base/log.h"
#include "ledger/ledger-audit.h"
#include "run/exec-session.h"
#include "run/run-impl.h"
#include "session/exec-socket.h"

static void put_strings(struct jdoc *d, const char *key, char *const *words)
{
	struct jdoc *list = jdoc_set_array(d, key);

	for (; words && *words; words++)
		jdoc_append_string(list, *words);
}

static void put_section(struct jdoc *d, const char *key, const struct jdoc *section)
{
	jdoc_set(d, key, section ? jdoc_copy(section) : jdoc_new_null());
}

/* What `custody exec` needs and only this process has: values of the environment, and its findings about init. */
static int describe(void *arg, pid_t init, const uint64_t *ns, uint32_t limits, struct strbuf *out,
		    struct fault *f)
{
	const struct run *run = arg;
	const struct run_plan *p = &run->plan;
	const struct subject *s = p->subject;
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list;

	jdoc_set_int(d, "schema_version", EXEC_SESSION_VERSION);
	jdoc_set_string(d, "session", run->id);
	jdoc_set(d, "subject", jdoc_copy(p->document));
	put_strings(d, "env", s->env);
	put_strings(d, "args", s->argv);
	jdoc_set_int(d, "time_s",
		     s->layers & LAYER_BIT(LAYER_TIME_LIMIT) ? (int64_t)p->asked.limit_time_s : 0);
	put_section(d, "governance", p->profile->sections[PROFILE_SECTION_GOVERNANCE]);
	put_section(d, "audit", p->profile->sections[PROFILE_SECTION_AUDIT]);
	jdoc_set_int(d, "init", init);
	list = jdoc_set_array(d, "ns");
	for (unsigned int i = 0; i < _INIT_NS_MAX; i++)
		jdoc_append(list, jdoc_new_int((int64_t)ns[i]));
	jdoc_set_int(d, "limits", limits);
	return jdoc_write(d, JDOC_CANONICAL, out, f);
}

/* A full disk must not end the run: the lane's ledger has the records of `custody exec` itself. */
static void record(void *arg, const struct exec_msg *m)
{
	const struct run *run = arg;
	const struct ledger_run *l = &run->decision.run;
	const bool ended = m->type == EXEC_MSG_ENDED;
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = { .kind = ended ? "session.exec.end" : "session.exec",
					.session = run->id,
					.agent = l->agent,
					.worker = l->worker,
					.status = "ok",
					.d = d };

	jdoc_set_string(d, "exec", m->id);
	if (ended) {
		jdoc_set(d, "reason", ledger_text(m->text));
		jdoc_set_int(d, "code", m->code);
	} else {
		jdoc_set(d, "digest", ledger_text(m->digest));
	}
	if (l->audit)
		(void)!audit_append(l->audit, &e, NULL);
}

void run_exec_open(struct run *run, struct run_exec *ret)
{
	_cleanup_fault_ struct fault f = { 0 };

	*ret = (struct run_exec){
		.job = { .fd = -EBADF, .describe = describe, .record = record, .arg = run }
	};
	/* doctor's own run is no session for people. */
	if (run->options->canary)
		return;
	ret->job.fd = exec_socket_make(run->session.run_fd, &f);
	if (ret->job.fd < 0)
		log_info("%s, ignoring: 'custody exec' will be refused", fault_text(&f));
}

void run_exec_done(struct run_exec *e)
{
	e->job.fd = fd_close(e->job.fd);
}
