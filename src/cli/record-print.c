/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record-print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/str.h"
#include "cli/record-text.h"

#define TIME_WIDTH 19
#define KIND_WIDTH 16
#define STATUS_WIDTH 8
#define DETAILS_WIDTH 30

static void init_session(struct record_print *p)
{
	p->columns[1] = (struct table_column){ .title = "RECORD", .width = KIND_WIDTH };
	p->columns[2] = (struct table_column){ .title = "STATUS", .width = STATUS_WIDTH, .extra = true };
	p->columns[3] = (struct table_column){ .title = "DETAILS", .width = DETAILS_WIDTH };
}

static void init_all(struct record_print *p)
{
	p->columns[1] = (struct table_column){ .title = "SEQ", .width = 6, .right = true, .extra = true };
	p->columns[2] = (struct table_column){ .title = "RECORD", .width = KIND_WIDTH };
	p->columns[3] = (struct table_column){ .title = "STATUS", .width = STATUS_WIDTH };
	p->columns[4] =
		(struct table_column){ .title = "SESSION", .width = SESSION_ID_SIZE - 1, .extra = true };
	p->columns[5] = (struct table_column){ .title = "AGENT", .width = 10, .extra = true };
	p->columns[6] = (struct table_column){ .title = "DETAILS", .width = DETAILS_WIDTH };
}

void record_print_init(struct record_print *p, bool of_session, FILE *out)
{
	*p = (struct record_print){ .of_session = of_session };
	local_time_title("TIME", p->title);
	p->columns[0] = (struct table_column){ .title = p->title, .width = TIME_WIDTH };
	if (of_session)
		init_session(p);
	else
		init_all(p);
	table_init(&p->table, p->columns, of_session ? 4 : ARRAY_SIZE(p->columns), out);
}

static char *copy(struct span s)
{
	return s.at ? strndup(s.at, s.len) : NULL;
}

void record_print_put(struct record_print *p, const struct record *r)
{
	_cleanup_free_ char *kind = copy(r->kind), *status = copy(r->status), *session = copy(r->session),
			    *agent = copy(r->agent), *text = record_text(r);
	char time[LOCAL_TIME_SIZE], seq[24];
	uint64_t us;

	if (local_time_parse(r->t, &us))
		local_time_second(us, time);
	else
		(void)snprintf(time, sizeof(time), "%.19s", r->t);
	(void)snprintf(seq, sizeof(seq), "%" PRIu64, r->seq);
	if (p->of_session)
		table_put(&p->table, (const char *const[]){ time, kind, status, text });
	else
		table_put(&p->table, (const char *const[]){ time, seq, kind, status, session, agent, text });
}
