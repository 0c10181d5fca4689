/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "approval/approval-store-impl.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-redact.h"
#include "ledger/ledger-reader.h"

#define READ_STEP 65536

void approval_store_put_text(struct jdoc *object, const char *key, const char *text)
{
	_cleanup_free_ char *clean = NULL;

	if (!text)
		return;
	clean = redact_text(text, NULL);
	jdoc_set(object, key, clean ? ledger_text(clean) : NULL);
}

int approval_store_record(const struct approval_store *d, const char *kind, const char *status,
			  const char *agent, const char *session, struct jdoc *details,
			  enum ledger_class class, struct ledger_mark *mark, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *owned = details;
	const struct ledger_event e = {
		.kind = kind,
		.status = status,
		.agent = agent ? agent : d->agent,
		.worker = d->worker,
		.session = session,
		.d = owned,
		.verbatim = true,
	};

	if (!owned)
		return fault_errno(f, ENOMEM, "record '%s'", kind);
	if (!d->ledger)
		return fault_set(f, ENOENT, "no ledger to record '%s' in: run 'custody ledger init'", kind);
	return ledger_append(d->ledger, &e, 1, class, mark, f);
}

int approval_store_ledger_key(const struct approval_store *d, char **ret, struct fault *f)
{
	int r = checkpoint_identity(d->dirfd, ret, f);

	if (r != -ENOENT)
		return r < 0 ? fault_wrap(f, r, "ledger in '%s'", d->state) : 0;
	*ret = strdup("");
	return *ret ? 0 : fault_errno(f, ENOMEM, "ledger");
}

bool approval_store_is_ledger_key(const char *text)
{
	_cleanup_free_ char *same = NULL;
	struct checkpoint_key key;

	if (strlen(text) > APPROVAL_LEDGER_KEY_MAX || checkpoint_key_parse(text, &key, NULL) < 0)
		return false;
	same = checkpoint_key_text(&key);
	return str_eq(same, text);
}

/* One line, not NUL-terminated. */
static bool line_has(const char *line, size_t len, const char *kind, const char *one, const char *other)
{
	return memmem(line, len, kind, strlen(kind)) && memmem(line, len, one, strlen(one)) &&
	       memmem(line, len, other, strlen(other));
}

struct scan {
	char *line; /* started but not complete */
	size_t len;
	const char *kind, *one, *other;
};

static int scan_bytes(struct scan *s, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *lf = memchr(bytes, '\n', len);
		size_t part = lf ? (size_t)(lf - bytes) + 1 : len;

		/* Longer than any record: damaged, therefore ignored. */
		if (s->len + part > LEDGER_LINE_MAX)
			return -EUCLEAN;
		memcpy(s->line + s->len, bytes, part);
		s->len += part;
		if (lf) {
			if (line_has(s->line, s->len, s->kind, s->one, s->other))
				return 1;
			s->len = 0;
		}
		bytes += part;
		len -= part;
	}
	return 0;
}

int approval_store_recorded(const struct approval_store *d, uint64_t seq, const char *kind, const char *one,
			    const char *other, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader source = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_free_ char *room = malloc(READ_STEP), *line = malloc(LEDGER_LINE_MAX);
	char quoted[64];
	struct scan s = { .line = line, .kind = quoted, .one = one, .other = other };
	size_t len = 0;
	uint64_t first;
	int r;

	if (!room || !line)
		return fault_errno(f, ENOMEM, "search the ledger");
	(void)snprintf(quoted, sizeof(quoted), "\"k\":\"%s\"", kind);
	r = ledger_reader_open_live(d->state, &source, f);
	if (r < 0)
		return fault_wrap(f, r, "search the ledger");
	ledger_reader_skip_to(&source, seq);
	do {
		r = ledger_reader_read(&source, room, READ_STEP, &len, &first, f);
		if (r < 0)
			return fault_wrap(f, r, "search the ledger");
		r = scan_bytes(&s, room, len);
	} while (r == 0 && len > 0);
	if (r < 0)
		return fault_set(f, EUCLEAN, "search the ledger: it is damaged: run 'custody ledger verify'");
	return r;
}
