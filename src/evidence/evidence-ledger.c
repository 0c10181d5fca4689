/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "capture/manifest.h"
#include "evidence/evidence-metadata.h"
#include "ledger/ledger-action.h"
#include "ledger/ledger-record.h"
#include "ledger/ledger-reader.h"

struct search {
	const char *session;
	char digest[DIGEST_HEX_SIZE + 2]; /* as JSON, with quotes */
	struct evidence_ledger_found *found;
};

static void match_line(void *arg, const char *line, size_t len)
{
	const struct search *x = arg;
	struct span digest;
	struct record r;
	const char *why;
	bool delivered;

	/* Parse only lines that contain the name of the session. */
	if (!memmem(line, len, x->session, strlen(x->session)) || record_parse(line, len, &r, &why) < 0 ||
	    !span_is(r.session, x->session) || !record_hash_verify(&r))
		return;
	delivered = record_kind_is(&r, "evidence.deliver");
	if (!delivered && !record_kind_is(&r, "session.end"))
		return;
	digest = record_get(&r, "evidence_sha256");
	if (!digest.at)
		return;
	if (!span_is(digest, x->digest)) {
		x->found->other = true;
		return;
	}
	x->found->named = true;
	x->found->delivered |= delivered;
}

int evidence_ledger_find(const char *state, const char *session, const struct digest *metadata,
			 struct evidence_ledger_found *ret, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	char hex[DIGEST_HEX_SIZE];
	struct search x = { .session = session, .found = ret };
	int r;

	*ret = (struct evidence_ledger_found){ 0 };
	/* A name that JSON would escape is not a session's. */
	if (!*session || strpbrk(session, "\"\\"))
		return 0;
	digest_to_hex(metadata, hex);
	(void)snprintf(x.digest, sizeof(x.digest), "\"%s\"", hex);
	r = ledger_reader_open_live(state, &s, f);
	if (r == -ENOENT) {
		if (f)
			fault_done(f);
		return 0;
	}
	return r < 0 ? r : ledger_reader_each_line(&s, match_line, &x, f);
}

void evidence_ledger_end(const struct evidence_taken *t, struct ledger_end *end)
{
	end->evidence = t->path;
	end->evidence_digest = &t->metadata;
	end->evidence_staged = t->staged;
}

int evidence_ledger_deliver(const struct dirs *d, const char *session, const char *path,
			    const struct digest *metadata, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(metadata, hex);
	jdoc_set(doc, "evidence", ledger_text(path));
	jdoc_set_string(doc, "evidence_sha256", hex);
	return ledger_action_append(d->state, d->user, "evidence.deliver", session, doc, f);
}

/* 1; 0: FILE cannot be read. */
static int hash_file(int evidence, const char *file, struct digest *ret)
{
	_cleanup_close_ int fd = openat(evidence, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && digest_fd(fd, ret, NULL) >= 0;
}

int evidence_ledger_compare(int evidence, const char *state, const char *name, const char **ret,
			    struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = evidence_metadata_read(evidence);
	const char *session = jdoc_get_string(o, "session"),
		   *wanted = jdoc_get_string(jdoc_get(o, "tree"), "manifest");
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";
	struct evidence_ledger_found found;
	struct digest manifest, metadata;
	int r;

	*ret = NULL;
	if (!hash_file(evidence, MANIFEST_NAME, &manifest) ||
	    !hash_file(evidence, EVIDENCE_METADATA, &metadata)) {
		*ret = "its manifest or metadata.json cannot be read";
		return 0;
	}
	digest_to_hex(&manifest, text + sizeof("sha256:") - 1);
	if (!str_eq(wanted, text)) {
		*ret = "its manifest is not the one that metadata.json names";
		return 0;
	}
	r = evidence_ledger_find(state, session ? session : name, &metadata, &found, f);
	if (r < 0)
		return r;
	if (!found.named && found.other)
		*ret = "its metadata.json is not the one that the ledger names";
	return 0;
}
