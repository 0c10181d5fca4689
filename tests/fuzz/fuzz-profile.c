/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An accepted profile is as tight as itself, and its merged document is accepted again with the same digest. */
static void require_stable(const struct profile *p, const struct profile_vars *vars)
{
	_cleanup_profile_ struct profile *again = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (jdoc_write(p->document, JDOC_PRETTY, &b, NULL) < 0)
		return;
	if (profile_parse(b.text, b.len, "again", vars, &again, NULL) < 0)
		abort();
	if (!profile_is_tighter(p, again, NULL) || !digest_equal(&p->digest, &again->digest))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct profile_vars vars = {
		.cwd = "/srv/project", .home = "/home/ann", .user = "ann", .uid = 1000
	};
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (size <= PROFILE_SIZE_MAX && profile_parse((const char *)data, size, "fuzz", &vars, &p, &f) == 0)
		require_stable(p, &vars);
	return 0;
}
