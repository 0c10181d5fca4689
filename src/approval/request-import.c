/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "approval/request-impl.h"

static int read_file(const char *path, struct request *ret, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = approval_store_read_path(path, "request", APPROVAL_STORE_FILE_MAX, &text, &len, f);
	return r < 0 ? r : request_parse(text, len, path, ret, f);
}

static int mark_imported(struct request *rq, struct fault *f)
{
	for (char **a = rq->askers; *a; a++) {
		char *marked = NULL;

		if (**a == REQUEST_ASKER_IMPORTED)
			continue;
		if (asprintf(&marked, "%c%s", REQUEST_ASKER_IMPORTED, *a) < 0)
			return fault_errno(f, ENOMEM, "request");
		free(*a);
		*a = marked;
	}
	return 0;
}

/* The sender's command line is not trusted; this one is derived from the subject under the digest. */
static int name_command(struct request *rq, struct fault *f)
{
	const struct jdoc *argv = jdoc_get(rq->subject, "argv");
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *line = NULL;

	for (size_t i = 0; argv && argv->type == JDOC_ARRAY && i < argv->n_items; i++)
		strbuf_printf(&b, "%s%s", i ? " " : "",
			      argv->items[i]->type == JDOC_STRING ? argv->items[i]->string : "(bytes)");
	line = strbuf_take(&b);
	free(rq->command);
	rq->command = NULL;
	return line && request_copy_command(line, &rq->command) ? 0 : fault_errno(f, ENOMEM, "request");
}

int request_import(const struct approval_store *d, const char *path, struct request *ret, struct fault *f)
{
	_cleanup_request_ struct request rq = { 0 }, here = { 0 };
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	struct moment now;
	int r;

	r = read_file(path, &rq, f);
	if (r == 0 && !str_eq(rq.lane, d->lane))
		r = fault_set(f, EACCES, "request '%s' belongs to lane '%s', not to '%s'", path, rq.lane,
			      d->lane);
	/* Without the subject only the sender's claim says what the digest covers. */
	if (r == 0 && !rq.subject)
		r = fault_set(f, EINVAL, "request '%s' contains no subject: it cannot be reviewed", path);
	/* The grant is for the ledger that asks. */
	if (r == 0 && !rq.ledger)
		r = fault_set(
			f, EINVAL,
			"request '%s' names no ledger: an older version filed it; request it again there",
			path);
	if (r == 0)
		r = approval_store_open_locked(d, APPROVAL_STORE_REQUESTS, true, &dirfd, &lock, f);
	if (r == 0)
		r = approval_store_now(d, &now, f);
	if (r < 0)
		return r;
	if (now.wall_us >= rq.expires_us)
		return fault_set(f, ETIME, "request '%s' has expired: request it again", path);
	r = request_load_current(d, dirfd, &rq.digest, &now, &here, f);
	/* One request per digest: its grant would be for the other ledger. */
	if (r == 0 && !str_eq(here.ledger, rq.ledger))
		r = fault_set(f, EEXIST,
			      "request '%s' is pending here for another ledger: answer it first, or run "
			      "'custody deny "
			      "%s'",
			      here.id, here.id);
	if (r != -ENOENT)
		goto out;
	/* Program and worktree are those of the other machine. */
	jdoc_free(rq.standing);
	rq.standing = NULL;
	r = mark_imported(&rq, f);
	if (r == 0)
		r = name_command(&rq, f);
	if (r < 0)
		return r;
	/* Its clocks are those of another machine; the remaining time runs on ours. */
	rq.created = now;
	rq.state = REQUEST_OPEN;
	r = request_require_room(d, dirfd, &now, f);
	if (r == 0)
		r = request_record(d, "approval.request", "carried", &rq, NULL, NULL, f);
	if (r == 0)
		r = request_store(dirfd, &rq, f);
	request_done(&here);
	here = rq;
	rq = (struct request){ 0 };
out:
	if (r < 0)
		return r;
	*ret = here;
	here = (struct request){ 0 };
	return 0;
}
