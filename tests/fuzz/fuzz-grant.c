/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "approval/grant-impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A statement has one spelling: an accepted text is the text that would be written, and means the same when read again. */
static void read_grant(const char *text, size_t len)
{
	_cleanup_grant_ struct grant g = { 0 }, again = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int r = grant_parse(text, len, "fuzz", &g, &f);

	require(r == 0 || f.code == -r);
	if (r < 0)
		return;
	if (text[len - 1] == '\n')
		len--;
	require(strlen(g.text) == len && memcmp(g.text, text, len) == 0);
	require((g.level == 'B' || g.level == 'C') && g.uses >= 1 && g.not_after_us > g.decided.wall_us);
	require(approver_require_name(g.approver, NULL) == 0 && strlen(g.id) == GRANT_ID_SIZE - 1);
	require(grant_parse(g.text, strlen(g.text), "fuzz", &again, NULL) == 0);
	require(digest_equal(&g.statement, &again.statement));
	/* No key signed it. */
	require(!grant_signature_verify(&g, &(struct sign_public){ .bytes = { 1 } }));
}

static void read_request(const char *text, size_t len)
{
	_cleanup_request_ struct request rq = { 0 }, again = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int r = request_parse(text, len, "fuzz", &rq, &f);

	require(r == 0 || f.code == -r);
	if (r < 0)
		return;
	require(rq.command && rq.askers && rq.count >= 1 && rq.expires_us >= rq.created.wall_us);
	require(request_write(&rq, &b, NULL) == 0 && request_parse(b.text, b.len, "fuzz", &again, NULL) == 0);
	require(digest_equal(&rq.digest, &again.digest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_grant((const char *)data, size);
	read_request((const char *)data, size);
	return 0;
}
