/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-digest.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

#define PREFIX "sha256:"

int subject_digest(const struct jdoc *subject, struct digest *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = jdoc_write(subject, JDOC_CANONICAL, &text, f);

	if (r < 0)
		return fault_wrap(f, r, "subject");
	digest_bytes(text.text, text.len, ret);
	return 0;
}

void subject_digest_to_text(const struct digest *d, char text[SUBJECT_DIGEST_SIZE])
{
	memcpy(text, PREFIX, sizeof(PREFIX));
	digest_to_hex(d, text + strlen(PREFIX));
}

int subject_digest_from_text(const char *text, struct digest *ret)
{
	return str_starts(text, PREFIX) ? digest_from_hex(text + strlen(PREFIX), ret) : -EINVAL;
}
