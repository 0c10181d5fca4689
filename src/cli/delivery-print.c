/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/delivery-print.h"

#include <stdio.h>

#include "base/str.h"

void delivery_print(const struct delivery_report *r)
{
	_cleanup_free_ char *error = r->error ? str_escape(r->error) : NULL;

	printf("%llu delivered, %llu staged\n", (unsigned long long)r->delivered,
	       (unsigned long long)r->waiting);
	if (error)
		fprintf(stderr, PACKAGE_NAME ": %s\n", error);
	if (r->busy)
		fprintf(stderr, PACKAGE_NAME ": another process is delivering, or is blocked by the store\n");
}
