/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/request-notice.h"

#include "base/log.h"
#include "base/str.h"
#include "approval/request-command.h"
#include "approval/prompt-rate.h"
#include "subject/subject-digest.h"

static void set_time(struct jdoc *d, const char *key, uint64_t wall_us)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(wall_us, text);
	jdoc_set_string(d, key, text);
}

static void set_or_null(struct jdoc *d, const char *key, const char *value)
{
	jdoc_set(d, key, value ? jdoc_new_string(value) : jdoc_new_null());
}

static const char *const states[] = {
	[REQUEST_OPEN] = "open",
	[REQUEST_DENIED] = "denied",
	[REQUEST_DAMAGED] = "damaged",
};

struct jdoc *request_describe(const struct request *rq)
{
	const char level[2] = { rq->level };
	struct jdoc *d = jdoc_new_object();
	char digest[SUBJECT_DIGEST_SIZE];

	subject_digest_to_text(&rq->digest, digest);
	jdoc_set_string(d, "id", rq->id);
	jdoc_set_string(d, "digest", digest);
	jdoc_set_string(d, "lane", rq->lane);
	jdoc_set_string(d, "level", level);
	jdoc_set_string(d, "state", states[rq->state]);
	set_or_null(d, "command", rq->command);
	set_or_null(d, "agent", rq->agent);
	set_or_null(d, "profile", rq->profile);
	jdoc_set_int(d, "count", (int64_t)rq->count);
	jdoc_set_int(d, "approvals", (int64_t)strv_len(rq->approvals));
	set_time(d, "created", rq->created.wall_us);
	set_time(d, "expires", rq->expires_us);
	return d;
}

/* Once per request, and limited in rate.  Its failures do not affect the request. */
void request_notify(const struct approval_store *store, const struct request *rq, char *const *argv,
		    unsigned int rate)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	bool allowed = false;
	int r;

	if (!argv || !argv[0] || rq->count != 1)
		return;
	r = prompt_rate_take(store, PROMPT_RATE_NOTICES, rate ? rate : PROMPT_RATE_USUAL, &allowed, &f);
	if (r == 0 && !allowed) {
		log_info("on_request not started: rate limit reached (prompt_rate per minute)");
		return;
	}
	doc = request_describe(rq);
	if (r == 0)
		r = request_command_run(argv, rq->id, doc, ON_REQUEST_SECONDS, &f);
	if (r < 0)
		log_info("%s, ignoring", fault_text(&f));
}
