/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-session.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/seam.h"
#include "ledger/ledger-audit.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-peer.h"
#include "ledger/ledger-record.h"

#define ARGV_MAX 8192 /* bytes of a command that are kept verbatim; six times that fits a record */
#define ENV_MAX 8192  /* bytes of names */

static void hash_words(char *const *words, char hex[DIGEST_HEX_SIZE])
{
	_cleanup_strbuf_ struct strbuf all = { 0 };
	struct digest d;

	for (; *words; words++)
		strbuf_add(&all, *words, strlen(*words) + 1);
	digest_bytes(all.text, all.len, &d);
	digest_to_hex(&d, hex);
}

/* WORDS as an array under KEY; a long list is truncated, and KEY_cut holds its length and digest. */
static void put_words(struct jdoc *d, const char *key, char *const *words, size_t max)
{
	struct jdoc *array = jdoc_set_array(d, key), *cut;
	size_t left = max, n = strv_len(words);
	char hex[DIGEST_HEX_SIZE], name[32];

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i]);

		if (len <= left) {
			jdoc_append(array, ledger_text(words[i]));
			left -= len;
			continue;
		}
		if (left > 0) {
			_cleanup_free_ char *begin = strndup(words[i], left);

			while (begin && left > 0 && ((unsigned char)words[i][left] & 0xc0) == 0x80)
				begin[--left] = '\0';
			jdoc_append(array, begin ? ledger_text(begin) : NULL);
		}
		hash_words(words, hex);
		(void)snprintf(name, sizeof(name), "%s_cut", key);
		cut = jdoc_set_object(d, name);
		jdoc_set_int(cut, "words", (int64_t)n);
		jdoc_set_string(cut, "sha256", hex);
		return;
	}
}

static void put_argv(struct jdoc *d, const struct ledger_run *run)
{
	_cleanup_strv_ char **argv = NULL;

	if (!run->argv)
		return;
	argv = redact_argv(run->argv, run->redact);
	if (argv)
		put_words(d, "command", argv, ARGV_MAX);
	else
		jdoc_set(d, "command", NULL); /* broken: a record with secrets must not be written */
}

static void put_env(struct jdoc *d, const struct ledger_run *run)
{
	_cleanup_strv_ char **names = NULL;
	size_t i = 0;

	if (!run->env)
		return;
	names = calloc(strv_len(run->env) + 1, sizeof(*names));
	for (; names && run->env[i]; i++) {
		names[i] = strndup(run->env[i], strcspn(run->env[i], "="));
		if (!names[i])
			break;
	}
	if (names && !run->env[i])
		put_words(d, "env", names, ENV_MAX);
	else
		jdoc_set(d, "env", NULL);
}

static void put_approval(struct jdoc *d, const struct ledger_run *run)
{
	struct jdoc *a = jdoc_set_object(d, "approval");
	char level[2] = { run->approval.level, '\0' }, at[CLOCK_TEXT_SIZE];

	jdoc_set_bool(a, "granted", run->approval.granted);
	if (run->approval.level)
		jdoc_set_string(a, "level", level);
	if (run->approval.granted_at_us) {
		clock_format(run->approval.granted_at_us, at);
		jdoc_set_string(a, "granted_at", at);
	}
	if (run->approval.by)
		jdoc_set(a, "by", ledger_text(run->approval.by));
	if (run->approval.verdict)
		jdoc_set(a, "verdict", jdoc_copy(run->approval.verdict));
}

static void put_text(struct jdoc *d, const char *key, const char *value)
{
	if (value)
		jdoc_set(d, key, ledger_text(value));
}

static struct jdoc *describe(const struct ledger_run *run)
{
	struct jdoc *d = jdoc_new_object();

	put_text(d, "action", run->action);
	put_text(d, "lane", run->lane);
	put_text(d, "profile", run->profile);
	put_text(d, "image", run->image);
	put_text(d, "digest", run->digest);
	put_text(d, "issue", run->issue);
	put_text(d, "cwd", run->cwd);
	put_text(d, "overlay", run->overlay);
	put_text(d, "within", run->within);
	jdoc_set_bool(d, "sandbox", run->sandbox);
	put_argv(d, run);
	put_env(d, run);
	put_approval(d, run);
	return d;
}

/* Records of a command in a running session have kinds of their own: a reader that counts sessions does not count them. */
static const char *kind_of(const struct ledger_run *run, enum ledger_session_kind k)
{
	static const char *const kinds[][2] = {
		[LEDGER_SESSION_INTENT] = { "session.intent", "exec.intent" },
		[LEDGER_SESSION_START] = { "session.start", "exec.start" },
		[LEDGER_SESSION_ALIVE] = { "session.alive", "exec.alive" },
		[LEDGER_SESSION_END] = { "session.end", "exec.end" },
		[LEDGER_SESSION_REFUSED] = { "session.refused", "exec.refused" },
	};

	return kinds[k][run->action && strcmp(run->action, LEDGER_ACTION_EXEC) == 0];
}

bool ledger_session_kind_is(const struct record *r, enum ledger_session_kind k)
{
	const struct ledger_run run = { 0 }, exec = { .action = LEDGER_ACTION_EXEC };

	return record_kind_is(r, kind_of(&run, k)) || record_kind_is(r, kind_of(&exec, k));
}

bool ledger_session_has(const char *id, const struct record *r)
{
	struct span within;
	size_t len = strlen(id);

	if (span_is(r->session, id))
		return true;
	if (r->kind.len < 5 || memcmp(r->kind.at, "exec.", 5) != 0)
		return false;
	/* With its quotes. */
	within = record_get(r, "within");
	return within.at && within.len == len + 2 && memcmp(within.at + 1, id, len) == 0;
}

static struct ledger_event event(const struct ledger_run *run, const char *kind, const char *status,
				 const struct jdoc *d)
{
	return (struct ledger_event){
		.kind = kind,
		.session = run->session,
		.agent = run->agent,
		.worker = run->worker,
		.status = status,
		.d = d,
	};
}

static int append_one(struct ledger *l, const struct ledger_run *run, const char *kind, const char *status,
		      const struct jdoc *d, enum ledger_class class, struct fault *f)
{
	const struct ledger_event e = event(run, kind, status, d);

	return ledger_append(l, &e, 1, class, NULL, f);
}

int ledger_intent(struct ledger *l, const struct ledger_run *run, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = describe(run);

	return append_one(l, run, kind_of(run, LEDGER_SESSION_INTENT), "ok", d, LEDGER_DECIDED, f);
}

int ledger_intent_audit(const struct ledger_run *run, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = describe(run);
	const struct ledger_event e = event(run, kind_of(run, LEDGER_SESSION_INTENT), "ok", d);

	return audit_append(run->audit, &e, f);
}

/* An observation, to both chains. */
static int observe(struct ledger *l, const struct ledger_run *run, const char *kind, const struct jdoc *d,
		   struct fault *f)
{
	const struct ledger_event e = event(run, kind, "ok", d);
	int r;

	r = ledger_append(l, &e, 1, LEDGER_OBSERVED, NULL, f);
	if (r == 0 && run->audit)
		r = audit_append(run->audit, &e, f);
	return r;
}

int ledger_start(struct ledger *l, const struct ledger_run *run, pid_t pid, char *const *layers,
		 struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	put_text(d, "within", run->within);
	jdoc_set_int(d, "pid", pid);
	if (layers)
		put_words(d, "layers", layers, ARGV_MAX);
	return observe(l, run, kind_of(run, LEDGER_SESSION_START), d, f);
}

int ledger_heartbeat(struct ledger *l, const struct ledger_run *run, struct fault *f)
{
	return observe(l, run, kind_of(run, LEDGER_SESSION_ALIVE), NULL, f);
}

static struct jdoc *describe_end(const struct ledger_run *run, const struct ledger_end *end)
{
	struct jdoc *d = jdoc_new_object();
	char hex[DIGEST_HEX_SIZE];

	put_text(d, "within", run->within);
	put_text(d, "reason", end->reason);
	put_text(d, "source", end->source);
	put_text(d, "evidence", end->evidence);
	put_text(d, "evidence_error", end->evidence_error);
	if (end->evidence && end->evidence_digest) {
		digest_to_hex(end->evidence_digest, hex);
		jdoc_set_string(d, "evidence_sha256", hex);
		if (end->evidence_staged)
			jdoc_set_bool(d, "evidence_staged", true);
	}
	jdoc_set_int(d, "code", end->code);
	if (end->signal)
		jdoc_set_int(d, "signal", end->signal);
	jdoc_set_bool(d, "abnormal", end->abnormal);
	jdoc_set_int(d, "wall_ms", (int64_t)end->wall_ms);
	return d;
}

void ledger_end_audit(const struct ledger_run *run, const struct ledger_end *end)
{
	_cleanup_jdoc_ struct jdoc *d = describe_end(run, end);
	const struct ledger_event e =
		event(run, kind_of(run, LEDGER_SESSION_END), end->abnormal ? "abnormal" : "ok", d);

	/* The lane's record holds the end of this chain; a full disk must not lose both. */
	if (run->audit)
		(void)!audit_append(run->audit, &e, NULL);
}

int ledger_end(struct ledger *l, const char *state, const struct ledger_run *run,
	       const struct ledger_end *end, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = describe_end(run, end);
	const char *status = end->abnormal ? "abnormal" : "ok";
	struct ledger_mark mark;
	int r;

	if (run->audit)
		mark = audit_mark(run->audit);
	if (end->audit || run->audit)
		audit_put_mark(d, end->audit ? end->audit : &mark);
	r = append_one(l, run, kind_of(run, LEDGER_SESSION_END), status, d, LEDGER_CLOSING, f);
	if (r < 0)
		return r;
	seam("end-written");
	r = ledger_checkpoint(l, NULL, NULL, f);
	if (r < 0)
		return r;
	peer_kick(state);
	return 0;
}

static int refuse(struct ledger *l, const struct ledger_run *run, const char *kind, const char *id,
		  const char *text, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = describe(run);
	/* It may repeat the command line. */
	_cleanup_free_ char *why = redact_message(text, run->argv, run->redact);

	put_text(d, "refused", id);
	if (why)
		put_text(d, "why", why);
	else
		jdoc_set(d, "why", NULL); /* broken, as a command that cannot be redacted */
	return append_one(l, run, kind, "denied", d, run->intended ? LEDGER_CLOSING : LEDGER_DECIDED, f);
}

int ledger_refuse(struct ledger *l, const struct ledger_run *run, const char *id, const char *text,
		  struct fault *f)
{
	return refuse(l, run, kind_of(run, LEDGER_SESSION_REFUSED), id, text, f);
}

int ledger_refuse_lane(struct ledger *l, const struct ledger_run *run, const char *text, struct fault *f)
{
	return refuse(l, run, "lane.refused", "lane", text, f);
}

/* The login uid, also after sudo; missing if the kernel does not know it. */
static void put_login(struct jdoc *d)
{
	_cleanup_close_ int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	uint64_t uid;
	size_t len;

	if (fd < 0 || fd_read_all(fd, 32, &text, &len, NULL) < 0 || str_to_u64(text, &uid) < 0 ||
	    uid >= UINT32_MAX)
		return;
	jdoc_set_int(d, "login_uid", (int64_t)uid);
}

int ledger_override(struct ledger *l, const struct ledger_run *run, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = describe(run);

	jdoc_set_int(d, "uid", (int64_t)getuid());
	put_login(d);
	return append_one(l, run, "lane.override", "ok", d, LEDGER_DECIDED, f);
}
