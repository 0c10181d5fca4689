/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "approval/approval-lane.h"
#include "approval/approval-prompt.h"
#include "approval/approval-text.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "base/exit-status.h"

/* Checked before the card is shown: do not ask for an approval that cannot be signed. */
static int require_caps(const struct approval_rules *rules, const struct grant_terms *t, char level,
			struct fault *f)
{
	const uint64_t uses = rules->grant_max_uses ? rules->grant_max_uses : APPROVAL_GRANT_MAX_USES;
	const uint64_t for_s = rules->grant_max_s ? rules->grant_max_s : APPROVAL_GRANT_MAX_S;

	if (level == 'C' && t->uses > 1)
		return fault_set(f, EPERM, "--uses %llu: a level C is approved for one start at a time",
				 (unsigned long long)t->uses);
	if (t->uses > uses)
		return fault_set(f, EPERM,
				 "--uses %llu is more than the %llu that custody.json allows (grant_max)",
				 (unsigned long long)t->uses, (unsigned long long)uses);
	if (t->for_s > for_s)
		return fault_set(f, EPERM,
				 "--for %llu s is more than the %llu s that custody.json allows (grant_max)",
				 (unsigned long long)t->for_s, (unsigned long long)for_s);
	return 0;
}

/* A request file from another machine, or the id of a request of this one. */
static int find(const struct approval_store *d, const char *word, struct request *ret, struct fault *f)
{
	return strchr(word, '/') || str_ends(word, ".json") ? request_import(d, word, ret, f)
							    : request_read(d, word, ret, f);
}

static int write_grant(const char *path, const struct grant *g, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "the grant is signed and stored, but not written to '%s'", path);
	r = fd_write_all(fd, g->text, strlen(g->text), f);
	return r < 0 ? fault_wrap(f, r, "the grant is signed and stored, but not written to '%s'", path) : 0;
}

static void print_standing(const struct grant *g, const char *until)
{
	_cleanup_free_ char *program = str_escape(jdoc_get_string(g->standing, "program"));
	_cleanup_free_ char *worktree = str_escape(jdoc_get_string(g->standing, "worktree"));

	printf("approved every start of %s in %s by %s: standing approval %s until %sZ; to end it: custody "
	       "revoke "
	       "%s\n",
	       program ? program : "?", worktree ? worktree : "?", g->approver, g->id, until, g->id);
}

static int report_yes(const struct approval_lane *d, const struct command_call *c, const struct request *rq,
		      const struct approval_prompt_result *answer, struct fault *f)
{
	const struct grant *g = &answer->grant;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char until[CLOCK_TEXT_SIZE];

	clock_format(g->not_after_us, until);
	until[sizeof("2026-11-16T03:15:00") - 1] = '\0';
	if (g->standing)
		print_standing(g, until);
	else
		printf("approved %s by %s: grant %s, level %c, %llu %s until %sZ\n", rq->id, g->approver,
		       g->id, g->level, (unsigned long long)g->uses, g->uses == 1 ? "start" : "starts",
		       until);
	if (!answer->complete) {
		approval_text_put_command(&b, &d->store, "approve", rq->id);
		printf("not enough yet: %u approvals are needed; another approver must run: %s\n",
		       rq->needed > d->rules.min_approvals ? rq->needed : d->rules.min_approvals,
		       b.text ? b.text : "custody approve");
	}
	if (c->output) {
		int r = write_grant(c->output, g, f);

		if (r < 0)
			return r;
	}
	return STATUS_OK;
}

static int report(const struct approval_lane *d, const struct command_call *c, const struct request *rq,
		  const struct approval_prompt_result *answer, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *why = answer->text ? str_escape(answer->text) : NULL;

	switch (answer->answer) {
	case APPROVAL_PROMPT_YES:
		return report_yes(d, c, rq, answer, f);
	case APPROVAL_PROMPT_UNAVAILABLE:
		return fault_set(f, ENOTTY, "%s%s", answer->text ? answer->text : "no terminal to ask on",
				 rq->level == 'B' && answer->unseen && !c->always ? "; use --yes in a script"
										  : "");
	case APPROVAL_PROMPT_NO_ANSWER:
	case APPROVAL_PROMPT_NO:
		break;
	}
	approval_text_put_command(&b, &d->store, "deny", rq->id);
	fprintf(stderr, PACKAGE_NAME " approve: not approved%s%s; the request stays open (to deny it: %s)\n",
		why ? ": " : "", why ? why : "", b.text ? b.text : "custody deny");
	return answer->signal ? STATUS_SIGNAL_BASE + answer->signal : STATUS_NO;
}

int cmd_approve(struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_request_ struct request rq = { 0 };
	_cleanup_approval_prompt_result_ struct approval_prompt_result answer = { 0 };
	struct approval_prompt p = { .store = &d.store,
				     .request = &rq,
				     .as = c->as,
				     .user = c->dirs.user,
				     .yes = c->yes,
				     .alone = c->yes,
				     .terms = { .uses = c->uses,
						.for_s = c->for_s,
						.reason = c->reason,
						.fleet = c->fleet,
						.always = c->always } };
	int r;

	if (c->reason && strlen(c->reason) > GRANT_REASON_MAX)
		return dispatch_usage(c, "--reason is longer than %d bytes", GRANT_REASON_MAX);
	if (c->always && (c->uses || c->yes || c->fleet || c->output))
		return dispatch_usage(c, "--always needs a person with the PIN and is for this ledger: leave "
					 "out --uses, --yes, --fleet and --output");
	r = approval_lane_open_to_write(&c->dirs, c->config, &ledger, &d, f);
	if (r == 0)
		r = find(&d.store, c->args[0], &rq, f);
	if (r == 0)
		r = require_caps(&d.rules, &p.terms, rq.level, f);
	if (r == 0)
		r = grant_require_fleet(&d.rules, c->fleet, rq.level, rq.ledger, f);
	if (r == 0 && c->always)
		r = grant_require_always(&d.store, &rq, f);
	if (r == 0)
		r = approval_prompt_ask(&p, &answer, f);
	return r < 0 ? r : report(&d, c, &rq, &answer, f);
}
