/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decision/decision.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"

static int adopt_claim(struct decision *d, struct fault *f)
{
	_cleanup_free_ char *path = path_join(d->dirs->state, CLAIM_DIR);

	if (!path)
		return fault_errno(f, ENOMEM, "claim");
	d->claim.dirfd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return d->claim.dirfd < 0 ? fault_errno(f, errno, "open '%s'", path) : 0;
}

static void fill(struct decision *d, const struct warden_request *rq)
{
	d->run = (struct ledger_run){
		.action = "create",
		.session = rq->session,
		.lane = lane_name(rq->lane),
		.sandbox = true,
		.intended = true,
	};
	decision_name_digest(d, &rq->digest);
	d->query = (struct grant_query){
		.digest = &d->digest, .level = rq->level, .uid = rq->uid, .user = rq->user, .once = rq->once
	};
}

int decision_resume(struct decision *d, const struct config *config, const struct warden_request *rq,
		    int claim_fd, struct fault *f)
{
	int r;

	d->config = config;
	d->claim.fd = claim_fd;
	memcpy(d->claim.session, rq->session, sizeof(d->claim.session));
	fill(d, rq);
	r = ledger_open(d->dirs->state, NULL, &d->ledger, NULL, f);
	if (r >= 0)
		r = decision_open_approval(d, rq->governance, rq->profile, f);
	if (r >= 0)
		r = adopt_claim(d, f);
	d->reserved = r >= 0 && rq->reserved;
	return r;
}
