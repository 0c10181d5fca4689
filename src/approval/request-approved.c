/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "approval/request-impl.h"

/*
 * STATE/approved/HASH.json: the subject that was approved last under each `alike`, for "what changed since".
 * It affects no decision: its loss only costs the comparison on the card.
 */
#define KEPT_MAX 512

static void name_of(const char *alike, char name[REQUEST_FILE_SIZE])
{
	struct digest d;
	char id[REQUEST_ID_SIZE];

	digest_bytes(alike, strlen(alike), &d);
	request_id(&d, id);
	request_file_name(id, name);
}

static int make_room(int dirfd, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	const char *oldest = NULL;
	struct timespec when = { 0 };
	int r;

	r = approval_store_names(dirfd, ".json", &names, f);
	if (r < 0 || strv_len(names) < KEPT_MAX)
		return r;
	for (char **n = names; *n; n++) {
		struct stat st;

		if (fstatat(dirfd, *n, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!oldest || st.st_mtim.tv_sec < when.tv_sec) {
			oldest = *n;
			when = st.st_mtim;
		}
	}
	if (oldest)
		(void)unlinkat(dirfd, oldest, 0);
	return 0;
}

int request_keep_approved(const struct approval_store *d, const struct request *rq, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_close_ int dirfd = -EBADF;
	char name[REQUEST_FILE_SIZE];
	int r;

	if (!rq->alike || !rq->subject)
		return 0;
	dirfd = approval_store_open_dir(d, APPROVAL_STORE_APPROVED, true, f);
	if (dirfd < 0)
		return dirfd;
	r = make_room(dirfd, f);
	if (r < 0)
		return r;
	doc = jdoc_new_object();
	jdoc_set_int(doc, "schema_version", 1);
	jdoc_set_string(doc, "alike", rq->alike);
	jdoc_set_string(doc, "lane", rq->lane);
	jdoc_set(doc, "subject", jdoc_copy(rq->subject));
	name_of(rq->alike, name);
	return approval_store_write_json(dirfd, name, doc, f);
}

int request_last_approved(const struct approval_store *d, const char *alike, struct jdoc **ret_subject,
			  struct fault *f)
{
	_cleanup_close_ int dirfd = approval_store_open_dir(d, APPROVAL_STORE_APPROVED, false, f);
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	char name[REQUEST_FILE_SIZE];
	struct jdoc *subject;
	int r;

	name_of(alike, name);
	r = dirfd < 0 ? dirfd
		      : approval_store_read_json(dirfd, name, "read the last approved subject", &doc, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no similar subject was approved before");
	if (r < 0)
		return r;
	subject = jdoc_get(doc, "subject");
	if (!subject || !str_eq(jdoc_get_string(doc, "alike"), alike) ||
	    !str_eq(jdoc_get_string(doc, "lane"), d->lane))
		return fault_set(f, ENOENT, "no similar subject was approved before");
	*ret_subject = jdoc_copy(subject);
	return *ret_subject ? 0 : fault_errno(f, ENOMEM, "read the last approved subject");
}

void request_put_alike(const struct jdoc *subject, struct strbuf *out)
{
	const struct jdoc *argv = jdoc_get(subject, "argv");
	const char *name = jdoc_get_string(jdoc_get(subject, "profile"), "name");
	const char *tree = jdoc_get_string(jdoc_get(subject, "worktree"), "source");
	bool has_program =
		argv && argv->type == JDOC_ARRAY && argv->n_items && argv->items[0]->type == JDOC_STRING;

	jdoc_quote(out, name ? name : "");
	jdoc_quote(out, tree ? tree : "");
	jdoc_quote(out, has_program ? argv->items[0]->string : "");
}
