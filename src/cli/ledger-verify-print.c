/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ledger-verify-print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd-ledger.h"
#include "cli/output.h"
#include "ledger/ledger-segment.h"

static const char *const words[] = {
	[VERIFY_OK] = "ok",	  [VERIFY_TAMPERED] = "tampered", [VERIFY_TORN] = "torn",
	[VERIFY_SHORT] = "short", [VERIFY_BARE] = "bare",
};

static bool is_complete(const struct ledger_verify_result *r)
{
	return r->unended.n == 0 && r->unbegun.n == 0 && r->unasked.n == 0 && r->unfounded.n == 0 &&
	       r->overused.n == 0;
}

static void print_place(const struct ledger_verify_result *r)
{
	char name[SEGMENT_NAME_SIZE];

	printf("record %" PRIu64 ", byte %" PRIu64, r->bad_seq, r->bad_offset);
	if (r->bad_segment != UINT64_MAX) {
		segment_name(r->bad_segment, name);
		printf(" of %s", name);
	}
	printf(": %s\n", r->why);
}

static void print_checked(const struct ledger_verify_result *r)
{
	printf("               checked: chain");
	if (r->sealed > 0)
		printf(", %" PRIu64 " seals from the first key", r->sealed);
	if (r->seal_fits)
		printf(", the seal's end");
	if (r->checkpoints > 0)
		printf(", %" PRIu64 " checkpoints", r->checkpoints);
	if (r->anchored)
		printf(", the anchor");
	putchar('\n');
}

static void print_integrity(const struct ledger_verify_result *r)
{
	printf("integrity:     ");
	switch (r->status) {
	case VERIFY_OK:
		printf("ok\n");
		print_checked(r);
		break;
	case VERIFY_TAMPERED:
		if (r->beside) {
			printf("TAMPERED: %s\n", r->why);
			break;
		}
		printf("TAMPERED at ");
		print_place(r);
		break;
	case VERIFY_TORN:
		printf("torn at ");
		print_place(r);
		printf("               not tampering; the next append or 'custody ledger repair' completes "
		       "it\n");
		break;
	case VERIFY_SHORT:
		printf("RECORDS ARE MISSING from ");
		print_place(r);
		break;
	case VERIFY_BARE:
		if (r->proven > r->first) {
			printf("NOT PROVEN from record %" PRIu64
			       ": consistent, but no given key, seal or checkpoint covers the records from "
			       "there on\n",
			       r->proven);
			print_checked(r);
			printf("               their writer could have forged them: give newer checkpoints, "
			       "or the "
			       "key of each new seal\n");
			break;
		}
		if (r->own_checkpoints > 0) {
			printf("NOT PROVEN: consistent, but signed by a key that only this directory "
			       "names\n");
			printf("               its writer could have replaced all of it: --key, --k0, "
			       "--seal, "
			       "--from-checkpoint from elsewhere\n");
			break;
		}
		printf("NOT SEALED, NOT SIGNED: consistent, but without a key, seal or checkpoint to verify "
		       "it with\n");
		printf("               its writer could have replaced all of it: --k0, --seal, "
		       "--from-checkpoint\n");
		break;
	}
	if (r->status == VERIFY_BARE && r->beside)
		printf("               %s\n", r->why);
	if (r->gaps > 0)
		printf("               %" PRIu64
		       " times the end was lost and the chain went on (seal.gap), %" PRIu64
		       " records in all\n",
		       r->gaps, r->lost);
	if (r->new_seals > 0)
		printf("               %" PRIu64 " times a new seal was begun (seal.new)\n", r->new_seals);
	if (r->recovered > 0)
		printf("               %" PRIu64 " torn ends were moved to torn- files (ledger.recovered)\n",
		       r->recovered);
	if (r->clock_back > 0)
		printf("               %" PRIu64 " times the clock was set back (clock.back)\n",
		       r->clock_back);
}

static void print_names(const char *what, const struct ledger_verify_names *names)
{
	if (names->n == 0)
		return;
	printf("               %" PRIu64 " %s:", names->n, what);
	for (size_t i = 0; i < names->n && i < VERIFY_NAMES_MAX; i++)
		printf(" %s", names->name[i]);
	printf("%s\n", names->n > VERIFY_NAMES_MAX ? " ..." : "");
}

int ledger_verify_print(const struct ledger_verify_result *r, const struct ledger_verify_options *o)
{
	(void)o;
	printf("records:       %" PRIu64 " (from %" PRIu64 "), %" PRIu64 " bytes\n", r->next - r->first,
	       r->first, r->bytes);
	print_integrity(r);
	printf("completeness:  %s\n", r->names_overflow ? "unknown, too many open sessions at once"
				      : is_complete(r)	? "ok"
							: "open stories");
	print_names("sessions without an end", &r->unended);
	print_names("sessions without an intent", &r->unbegun);
	print_names("grants without a request", &r->unasked);
	print_names("uses without a grant", &r->unfounded);
	print_names("uses beyond those of their grant", &r->overused);
	return 0;
}

static void put_names(struct jdoc *d, const char *key, const struct ledger_verify_names *names)
{
	struct jdoc *list = jdoc_set_array(d, key);

	for (size_t i = 0; i < names->n && i < VERIFY_NAMES_MAX; i++)
		jdoc_append_string(list, names->name[i]);
}

static void put_bad(struct jdoc *d, const struct ledger_verify_result *r)
{
	struct jdoc *bad = jdoc_set_object(d, "first_bad");
	char name[SEGMENT_NAME_SIZE];

	jdoc_set_int(bad, "seq", (int64_t)r->bad_seq);
	jdoc_set_int(bad, "offset", (int64_t)r->bad_offset);
	jdoc_set_string(bad, "why", r->why);
	if (r->bad_segment != UINT64_MAX) {
		segment_name(r->bad_segment, name);
		jdoc_set_string(bad, "segment", name);
	}
}

int ledger_verify_print_json(const struct ledger_verify_result *r, const struct ledger_verify_options *o,
			     struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *i = jdoc_set_object(d, "integrity"), *c = jdoc_set_object(d, "completeness");
	char head[DIGEST_HEX_SIZE];

	digest_to_hex(&r->head, head);
	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_string(i, "verdict", words[r->status]);
	if (r->status != VERIFY_OK && (r->status != VERIFY_BARE || r->beside))
		put_bad(i, r);
	jdoc_set_int(i, "first", (int64_t)r->first);
	jdoc_set_int(i, "records", (int64_t)(r->next - r->first));
	jdoc_set_int(i, "bytes", (int64_t)r->bytes);
	jdoc_set_int(i, "proven", (int64_t)r->proven);
	jdoc_set_string(i, "head", head);
	jdoc_set_int(i, "seals", (int64_t)r->sealed);
	jdoc_set_bool(i, "seal_end", o->seal && r->seal_fits);
	jdoc_set_int(i, "checkpoints", (int64_t)r->checkpoints);
	jdoc_set_int(i, "own_checkpoints", (int64_t)r->own_checkpoints);
	jdoc_set_int(i, "gaps", (int64_t)r->gaps);
	jdoc_set_int(i, "lost", (int64_t)r->lost);
	jdoc_set_int(i, "new_seals", (int64_t)r->new_seals);
	jdoc_set_int(i, "recovered", (int64_t)r->recovered);
	jdoc_set_int(i, "clock_back", (int64_t)r->clock_back);
	jdoc_set_string(c, "verdict", r->names_overflow ? "unknown" : is_complete(r) ? "ok" : "open");
	put_names(c, "sessions_without_end", &r->unended);
	put_names(c, "sessions_without_intent", &r->unbegun);
	put_names(c, "grants_without_request", &r->unasked);
	put_names(c, "uses_without_grant", &r->unfounded);
	put_names(c, "uses_beyond_grant", &r->overused);
	return output_print(d, f);
}
