/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "core/approval-desk.h"
#include "core/config.h"
#include "core/digest-key.h"
#include "core/dossier.h"
#include "core/facts.h"
#include "core/grant.h"
#include "core/layer.h"
#include "core/ledger-claim.h"
#include "core/ledger-redact.h"
#include "core/request-notice.h"
#include "core/session.h"
#include "core/subject-digest.h"
#include "core/warden-door.h"
#include "oci/bundle-approve.h"
#include "oci/bundle-subject.h"
#include "oci/hook-warden.h"
#include "oci/hook.h"

#define COMMAND_MAX 200 /* bytes, roughly */

/*
 * Whether a bundle may run under a runtime that knows nothing of custody.  In this order, each step a refusal:
 *
 * 1. the directory and its files are the caller's alone, and no links;
 * 2. config.json is what subject.json says, byte for byte, for this very hook with these very arguments;
 * 3. the sealed copies are what was hashed, writable sources are the files that were judged;
 * 4. policy, asked again with today's rules and today's caller;
 * 5. levels B and C: a grant for the digest, reserved;
 * 6. the intent is on the disk;
 * 7. custody-warden stands beside the container.
 *
 * crun runs no poststop hook after this: a refusal is recorded here.
 */
struct approve {
	const struct hook_state *state;
	char *const *args;
	struct approve_terms terms;
	struct dirs dirs;
	struct config *config;
	struct digest_key key;
	struct bundle_files bundle;
	char digest[SUBJECT_DIGEST_SIZE];
	struct verdict *verdict;
	struct ledger *ledger;
	struct approval_desk desk;
	struct session session;
	struct claim claim;
	struct grant_set grants;
	struct ledger_run run;
	struct redact redact; /* flags are the terms' */
	struct jdoc *told;    /* the verdict */
	bool reserved;
	struct hook_warden warden;
	char id[SESSION_ID_SIZE];
	int pidfd;
	uint64_t began;	     /* the container's first process, as /proc says */
	const char *refusal; /* stable word for the record: the step that is being taken */
};

static void approve_done(struct approve *a)
{
	hook_warden_done(&a->warden);
	grant_set_done(&a->grants);
	claim_done(&a->claim);
	session_done(&a->session);
	approval_desk_done(&a->desk);
	ledger_free(a->ledger);
	verdict_free(a->verdict);
	jdoc_free(a->told);
	bundle_files_done(&a->bundle);
	digest_key_done(&a->key);
	config_free(a->config);
	dirs_done(&a->dirs);
	approve_terms_done(&a->terms);
	fd_close(a->pidfd);
}

/* Where things lie is what the bundle says, not what the runtime's caller has in its environment. */
static int take_terms(struct approve *a, struct fault *f)
{
	int r = approve_terms_parse(a->args, &a->terms, f);

	if (r >= 0)
		r = approve_terms_use_env(&a->terms, f);
	if (r < 0)
		return r;
	return dirs_load_lane(a->terms.lane, &a->dirs, f);
}

static int open_ledger(struct approve *a, struct fault *f)
{
	const struct ledger_options options = { .create = true };
	int r;

	r = ledger_open(a->dirs.state, &options, &a->ledger, NULL, f);
	return r < 0 ? fault_wrap(f, r, "nothing was started, for it could not be recorded in '%s'",
				  a->dirs.state)
		     : 0;
}

static int require_own_file(int dirfd, const char *name, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "bundle's '%s'", name);
	return fault_wrap(f, fd_require_private(fd, geteuid(), f), "bundle's '%s'", name);
}

static int require_own_bundle(const char *path, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return fault_set(f, ELOOP, "bundle '%s' is a symbolic link: name the directory itself", path);
	if (fd < 0)
		return fault_errno(f, errno, "bundle '%s'", path);
	r = dirs_require_own(fd, path, f);
	if (r >= 0)
		r = require_own_file(fd, "config.json", f);
	if (r >= 0)
		r = require_own_file(fd, BUNDLE_SUBJECT, f);
	return r;
}

static int read_bundle(struct approve *a, struct fault *f)
{
	int r;

	r = require_own_bundle(a->state->bundle, f);
	if (r >= 0)
		r = bundle_read(a->state->bundle, &a->bundle, f);
	if (r < 0)
		return r;
	subject_digest_to_text(&a->bundle.digest, a->digest);
	a->run.digest = a->digest;
	if (a->bundle.lane != a->terms.lane)
		return fault_set(f, EPERM, "the bundle's subject is of lane '%s', its hook of lane '%s'",
				 lane_name(a->bundle.lane), lane_name(a->terms.lane));
	r = digest_key_load(&a->dirs, a->config->digest_key, false, &a->key, f);
	if (r < 0)
		return fault_wrap(f, r, "the lane's digest key");
	a->bundle.approve = a->args;
	a->bundle.run = a->dirs.run;
	r = bundle_verify(&a->bundle, &a->key, "/proc/self/exe", f);
	if (r < 0)
		return r;
	a->run.profile = a->bundle.subject->profile->name;
	a->run.argv = a->bundle.subject->argv;
	a->run.env = a->bundle.subject->env;
	a->run.cwd = a->bundle.subject->cwd;
	return 0;
}

static int require_sealed(const struct approve *a, struct fault *f)
{
	const struct subject *s = a->bundle.subject;
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = subject_require_sources(s, f);
	if (r >= 0)
		r = operand_require_same(s, f);
	if (r < 0 || !operand_has_layer(s))
		return r;
	fd = openat(a->bundle.dirfd, "operands", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "bundle's 'operands'");
	return operand_check_layer(s, fd, f);
}

static int judge(struct approve *a, struct fault *f)
{
	_cleanup_facts_ struct facts facts = { 0 };
	int r;

	r = facts_build(a->bundle.subject, a->config, a->terms.taints, &facts, f);
	if (r < 0)
		return r;
	/* Zero is the strictest. */
	if (a->terms.security < facts.policy.security)
		facts.policy.security = a->terms.security;
	r = policy_decide(&facts.policy, &a->verdict, f);
	if (r < 0)
		return r;
	a->told = verdict_to_json(a->verdict);
	if (!a->told)
		return fault_errno(f, ENOMEM, "verdict");
	a->run.approval.level = a->verdict->level;
	a->run.approval.verdict = a->told;
	if (a->verdict->decision == DECISION_DENY)
		return fault_set(f, EACCES, "denied by policy: %s",
				 a->verdict->n_reasons ? a->verdict->reasons[0].text : "no reason was given");
	return 0;
}

/* For lists; the card is drawn from the subject. */
static int put_command(const struct subject *s, const struct redact *redact, struct strbuf *out,
		       struct fault *f)
{
	_cleanup_strv_ char **safe = redact_argv(s->argv, redact);

	for (char **word = safe; word && *word && out->len < COMMAND_MAX; word++) {
		_cleanup_free_ char *plain = str_escape(*word);

		strbuf_printf(out, "%s%.*s", out->len ? " " : "", COMMAND_MAX, plain ? plain : "?");
	}
	return safe && !out->broken ? 0 : fault_errno(f, ENOMEM, "approve");
}

static int file_request(const struct approve *a, struct request *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf command = { 0 }, alike = { 0 };
	struct request_ask q = { .digest = &a->bundle.digest,
				 .level = a->verdict->level,
				 .profile = a->bundle.subject->profile->name,
				 .subject = a->bundle.document,
				 .verdict = a->told,
				 .uid = geteuid(),
				 .user = a->dirs.user };
	int r;

	r = put_command(a->bundle.subject, &a->redact, &command, f);
	request_put_alike(a->bundle.document, &alike);
	if (r >= 0 && alike.broken)
		r = fault_errno(f, ENOMEM, "approve");
	if (r < 0)
		return r;
	q.command = command.text;
	q.alike = alike.text;
	return request_file(&a->desk.desk, &q, ret, f);
}

/* Nobody said yes: a person can now. */
static int ask(const struct approve *a, struct fault *f)
{
	_cleanup_free_ char *why = grant_set_explain(&a->grants);
	_cleanup_request_ struct request filed = { 0 };
	const char *root = getenv("CUSTODY_ROOT");
	int r;

	r = file_request(a, &filed, f);
	if (r < 0)
		return r;
	if (filed.state == REQUEST_DENIED)
		return fault_set(
			f, EACCES, "denied by %s%s%s", filed.denied_by ? filed.denied_by : "a person",
			filed.denied_reason ? ": " : "", filed.denied_reason ? filed.denied_reason : "");
	request_notify(&a->desk.desk, &filed, a->config->on_request, (unsigned int)a->config->prompt_rate);
	return fault_set(
		f, EACCES,
		"level %c needs approval (%s): %s%s%scustody approve %s --lane %s, then start it again",
		a->verdict->level, why ? why : "nothing was approved", root ? "CUSTODY_ROOT=" : "",
		root ? root : "", root ? " " : "", filed.id, lane_name(a->terms.lane));
}

static int reserve(struct approve *a, struct fault *f)
{
	const struct grant_query q = { .digest = &a->bundle.digest,
				       .level = a->verdict->level,
				       .uid = geteuid(),
				       .user = a->dirs.user };
	const struct grant_owner owner = { .session = a->id, .pid = a->warden.pid };
	int r;

	if (a->verdict->level == 'A') {
		a->run.approval.granted = true;
		a->run.approval.granted_at_us = clock_wall_us();
		a->run.approval.by = "policy";
		return 0;
	}
	r = grant_reserve(&a->desk.desk, &q, &owner, &a->grants, f);
	if (r < 0)
		return r;
	if (a->grants.reason != GRANT_VALID)
		return ask(a, f);
	a->reserved = a->run.approval.granted = true;
	if (a->grants.n_chosen > 0) {
		a->run.approval.by = a->grants.items[0].grant.approver;
		a->run.approval.granted_at_us = a->grants.items[0].grant.decided.wall_us;
	}
	return 0;
}

/* CUSTODY_ALLOW_PROD of whoever called the runtime: our own environment is the bundle's.  Heap, NULL: not set. */
static char *runtime_env(const char *name)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len = 0, n = strlen(name);
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, (size_t)4 * 1024 * 1024, &text, &len, NULL) < 0)
		return NULL;
	for (const char *at = text; at < text + len; at += strlen(at) + 1)
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return strdup(at + n + 1);
	return NULL;
}

static int open_session(struct approve *a, struct fault *f)
{
	_cleanup_free_ char *allow_env = a->terms.lane == LANE_PROD ? runtime_env(LANE_ALLOW_ENV) : NULL;
	const struct lane_ask ask = { .lane = a->terms.lane,
				      .allow_prod = a->terms.allow_prod,
				      .allow_env = allow_env };
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;
	int r;

	a->refusal = "lane";
	r = lane_gate(&ask, &pass, f);
	if (r >= 0)
		r = lane_record(pass, a->ledger, &a->run, f);
	if (r < 0)
		return r;
	a->refusal = "setup-failed";
	return session_open(&a->dirs, pass, a->id, &a->session, f);
}

/* From now on: between us and the warden nothing may be missed, for a short command is over before it looks. */
static int watch_init(const struct approve *a, int *ret, struct fault *f)
{
	const char *init = a->bundle.placement.init;
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0 && errno == EMFILE)
		return fault_set(
			f, EMFILE,
			"no inotify instance is left for this user: start or delete containers that are "
			"only created, or sysctl -w fs.inotify.max_user_instances=1024");
	if (fd < 0)
		return fault_errno(f, errno, "inotify");
	if (a->bundle.subject->profile->process_init && inotify_add_watch(fd, init, IN_OPEN) < 0)
		return fault_errno(f, errno, "watch '%s'", init);
	*ret = TAKE_FD(fd);
	return 0;
}

/* Paths below the worktree that are hidden inside: after the end nothing hides them any more. */
static int list_hidden(const struct subject *s, char ***ret, struct fault *f)
{
	const char *work = subject_work_target(s);

	for (char **h = s->profile->fs_hide; h && *h; h++)
		if (path_is_below(*h, work) && strlen(*h) > strlen(work) &&
		    strv_append(ret, *h + strlen(work) + (work[1] != '\0')) < 0)
			return fault_errno(f, ENOMEM, "dossier");
	return 0;
}

/* What its evidence would need, whatever becomes of the bundle. */
static int write_dossier(const struct approve *a, struct fault *f)
{
	const struct subject *s = a->bundle.subject;
	const struct placement *p = &a->bundle.placement;
	_cleanup_strv_ char **hidden = NULL;
	struct dossier d = {
		.container = a->state->id,
		.bundle = a->state->bundle,
		.pid = a->state->pid,
		.start = a->began,
		.digest = a->bundle.digest,
		.profile = s->profile->name,
		.profile_digest = s->profile->digest,
		.argv = s->argv,
		.redact = a->terms.redact,
		.verdict = a->told,
		.forensics = a->terms.forensics,
		.workspace = s->profile->workspace,
		.work = (char *)subject_work_target(s),
		.ids = { .set = !p->rootless,
			 .uid_from = p->uid_base + s->uid,
			 .uid_to = s->worktree ? s->owner_uid : geteuid(),
			 .gid_from = p->gid_base + s->gid,
			 .gid_to = s->worktree ? s->owner_gid : getegid() },
		.subject = a->bundle.text,
		.subject_len = a->bundle.text_len,
		.config = a->bundle.config,
		.config_len = a->bundle.config_len,
	};
	int r;

	r = list_hidden(s, &hidden, f);
	d.hide = hidden;
	return r < 0 ? r : dossier_write(a->session.run_fd, &d, f);
}

static int start_warden(struct approve *a, struct fault *f)
{
	struct warden_order order = { .lane = a->terms.lane,
				      .container = a->state->id,
				      .level = a->verdict->level,
				      .reserved = a->reserved,
				      .digest = a->bundle.digest,
				      .uid = geteuid(),
				      .user = a->dirs.user,
				      .pid = a->state->pid,
				      .init = a->bundle.subject->profile->process_init,
				      .profile = a->bundle.subject->profile->name,
				      .governance = a->reserved ? a->terms.governance : NULL };
	_cleanup_close_ int watch = -EBADF, door = -EBADF;
	int r;

	memcpy(order.session, a->id, sizeof(order.session));
	r = write_dossier(a, f);
	if (r >= 0)
		r = watch_init(a, &watch, f);
	if (r < 0)
		return r;
	door = warden_door_make(a->session.run_fd, a->state->id, f);
	if (door < 0)
		return door;
	return hook_warden_release(&a->warden, &order,
				   (const int[]){ a->pidfd, a->session.run_fd, a->claim.fd, watch, door }, f);
}

/* The site's lists and the profile's, on top of those that are built in. */
static int set_redact(struct approve *a, struct fault *f)
{
	for (char **flag = a->config->redact_flags; flag && *flag; flag++)
		if (strv_append(&a->terms.redact, *flag) < 0)
			return fault_errno(f, ENOMEM, "words to redact");
	a->redact = (struct redact){ .flags = a->terms.redact, .headers = a->config->redact_headers };
	a->run.redact = &a->redact;
	return 0;
}

/* Everything that decides, and nothing that stays. */
static int decide(struct approve *a, struct fault *f)
{
	const struct subject *s;
	int r;

	a->refusal = "bundle";
	r = config_load(&a->dirs, &a->config, f);
	if (r >= 0)
		r = set_redact(a, f);
	if (r >= 0)
		r = read_bundle(a, f);
	if (r >= 0)
		r = require_sealed(a, f);
	if (r < 0)
		return r;
	s = a->bundle.subject;
	r = hook_pin(a->state->pid, s->layers & LAYER_BIT(LAYER_PID_NS), &a->pidfd, &a->began, f);
	if (r < 0)
		return r;
	a->refusal = "policy";
	return judge(a, f);
}

/* For level A nobody is asked, and nothing is reserved for a process that must be there. */
static int open_desk(struct approve *a, struct fault *f)
{
	int r;

	if (a->verdict->level == 'A')
		return 0;
	r = hook_warden_require(&a->warden, f);
	if (r >= 0)
		r = approval_desk_open(&a->dirs, a->config, a->ledger, &a->desk, f);
	if (r < 0)
		return r;
	a->refusal = "approval";
	return approval_desk_tighten(&a->desk, a->terms.governance, a->bundle.subject->profile->name, f);
}

static int admit(struct approve *a, struct fault *f)
{
	int r;

	a->refusal = "setup-failed";
	r = hook_warden_start(&a->warden, a->dirs.libexec, f);
	if (r >= 0)
		r = open_desk(a, f);
	if (r >= 0)
		r = reserve(a, f);
	if (r >= 0)
		r = open_session(a, f);
	if (r >= 0)
		r = claim_take(a->dirs.state, a->ledger, a->id, &a->claim, f);
	if (r >= 0)
		r = ledger_intent(a->ledger, &a->run, f);
	if (r < 0)
		return r;
	a->run.intended = true;
	return start_warden(a, f);
}

/* The reason is said in any case; if it cannot be recorded, that is said as well. */
static int refuse(struct approve *a, int r, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int e = 0;

	hook_warden_done(&a->warden);
	if (a->reserved)
		(void)!grant_release(&a->desk.desk, a->id, a->refusal, NULL);
	if (a->ledger)
		e = ledger_refuse(a->ledger, &a->run, a->refusal, fault_text(f), &why);
	if (e < 0)
		r = fault_wrap(f, r, "not recorded (%s)", fault_text(&why));
	claim_drop(&a->claim);
	if (a->session.run)
		(void)!session_remove(&a->session, NULL);
	return r;
}

int hook_approve(const struct hook_state *s, char **args, struct fault *f)
{
	_cleanup_(approve_done) struct approve a = { .state = s, .args = args, .pidfd = -EBADF };
	int r;

	a.bundle.dirfd = a.desk.desk.dirfd = -EBADF;
	a.session.run_fd = a.session.ids_fd = -EBADF;
	a.claim = CLAIM_NONE;
	a.warden = HOOK_WARDEN_NONE;
	r = clock_session_id(a.id, f);
	if (r >= 0)
		r = take_terms(&a, f);
	if (r < 0)
		return r;
	a.run = (struct ledger_run){
		.action = "create", .session = a.id, .lane = lane_name(a.terms.lane), .sandbox = true
	};
	r = open_ledger(&a, f);
	if (r >= 0)
		r = decide(&a, f);
	if (r >= 0)
		r = admit(&a, f);
	return r < 0 ? refuse(&a, r, f) : 0;
}
