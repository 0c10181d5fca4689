/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record-print.h"

#include <inttypes.h>

static void print_span(struct span s, int width, FILE *out)
{
	fprintf(out, "%-*.*s ", width, s.at ? (int)s.len : 1, s.at ? s.at : "-");
}

void record_print(const struct record *r, FILE *out)
{
	fprintf(out, "%.10s %.8s %6" PRIu64 " ", r->t, r->t + 11, r->seq);
	print_span(r->kind, 16, out);
	print_span(r->status, 8, out);
	print_span(r->session, 25, out);
	print_span(r->agent, 10, out);
	/* Records are ASCII without control characters: safe for a terminal. */
	fprintf(out, "%.*s\n", (int)r->d.len, r->d.at);
}
