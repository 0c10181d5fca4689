/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ls, show, verify: the commands that only read evidence. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/local-time.h"
#include "base/str.h"
#include "base/unit-text.h"
#include "cli/output.h"
#include "cli/cmd-evidence.h"
#include "cli/cmd-ledger.h"
#include "evidence/evidence-metadata.h"
#include "evidence/evidence-ledger.h"
#include "evidence/evidence-verify.h"
#include "base/exit-status.h"
#include "ledger/ledger.h"
#include "tty/table.h"

int evidence_print_json(struct jdoc *d, struct fault *f)
{
	int r;

	jdoc_set_int(d, "schema_version", 1);
	r = output_print(d, f);
	return r < 0 ? r : STATUS_OK;
}

static void describe_item(struct jdoc *list, const struct evidence_item *e, bool staged)
{
	struct jdoc *row = jdoc_append_object(list);
	char taken[CLOCK_TEXT_SIZE];

	clock_format(e->taken_us, taken);
	jdoc_set_string(row, "id", e->name);
	jdoc_set_string(row, "status", evidence_status_name(e->status));
	jdoc_set_string(row, "reason", e->reason);
	jdoc_set_string(row, "agent", e->agent);
	jdoc_set_string(row, "taken", taken);
	jdoc_set_int(row, "bytes", (int64_t)e->bytes);
	jdoc_set_bool(row, "pinned", e->pinned);
	jdoc_set_bool(row, "staged", staged);
}

static int ls_json(const struct evidence_list *l, const struct evidence_list *staged,
		   const struct delivery_state *note, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	struct jdoc *list = jdoc_set_array(o, "evidence"), *delivery = jdoc_set_object(o, "delivery");

	for (size_t i = 0; i < l->n; i++)
		describe_item(list, l->items + i, false);
	for (size_t i = 0; i < staged->n; i++)
		describe_item(list, staged->items + i, true);
	jdoc_set_int(delivery, "waiting", (int64_t)staged->n);
	jdoc_set_int(delivery, "tries", (int64_t)note->tries);
	jdoc_set(delivery, "error", note->error ? jdoc_new_string(note->error) : jdoc_new_null());
	return evidence_print_json(o, f);
}

/* The command as metadata.json has it; heap, NULL: unknown. */
static char *describe_command(const struct jdoc *metadata)
{
	const struct jdoc *words = jdoc_get(metadata, "command");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!words || words->type != JDOC_ARRAY)
		return NULL;
	for (size_t i = 0; i < words->n_items; i++) {
		if (i)
			strbuf_putc(&b, ' ');
		if (words->items[i]->type == JDOC_STRING)
			strbuf_put_word(&b, words->items[i]->string);
		else
			strbuf_putc(&b, '?');
	}
	return strbuf_take(&b);
}

static void put_rows(struct table *t, const struct evidence_list *l, bool staged)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct evidence_item *e = l->items + i;
		_cleanup_free_ char *command = describe_command(e->metadata);
		char taken[LOCAL_TIME_SIZE], size[UNIT_TEXT_SIZE], state[48];

		local_time_minute(e->taken_us, taken);
		(void)snprintf(state, sizeof(state), "%s%s%s", evidence_status_name(e->status),
			       e->pinned ? ", pinned" : "", staged ? ", staged" : "");
		table_put(t,
			  (const char *const[]){ e->name, e->reason, state, unit_text_bytes(e->bytes, size),
						 taken, e->agent, command });
	}
}

static void print_all(const struct evidence_call *c, const struct evidence_list *l,
		      const struct evidence_list *staged, const struct delivery_state *note)
{
	char title[LOCAL_TITLE_SIZE];
	const struct table_column columns[] = {
		{ .title = "EVIDENCE", .width = 25 },
		{ .title = "REASON", .width = 8 },
		{ .title = "STATE", .width = 8, .extra = true },
		{ .title = "SIZE", .width = 8, .right = true },
		{ .title = title, .width = 16, .extra = true },
		{ .title = "AGENT", .width = 8, .extra = true },
		{ .title = "COMMAND" },
	};
	_cleanup_free_ char *error = note->error ? str_escape(note->error) : NULL;
	_cleanup_table_ struct table t;

	local_time_title("TAKEN", title);
	table_init(&t, columns, ARRAY_SIZE(columns), stdout);
	put_rows(&t, l, false);
	put_rows(&t, staged, true);
	table_end(&t, NULL);
	if (staged->n && error)
		fprintf(stderr, "staged after %llu failed deliveries: %s\n", (unsigned long long)note->tries,
			error);
	if (l->n + staged->n == 0)
		fprintf(stderr, "no evidence of lane '%s' in %s\n", lane_name(c->call->dirs.lane),
			c->place.store);
}

/* Staged evidence is listed even if the store is not available. */
int evidence_cmd_ls(const struct evidence_call *c, struct fault *f)
{
	_cleanup_evidence_ struct evidence_list l = { 0 }, staged = { 0 };
	_cleanup_delivery_state_ struct delivery_state note = { 0 };
	_cleanup_fault_ struct fault away = { 0 };
	int r, asked;

	delivery_state_load(c->place.staging, &note);
	r = evidence_list(c->place.staging, c->call->dirs.lane, &staged, f);
	asked = r == 0 ? evidence_require_store(c, &away) : 0;
	if (r == 0 && asked == 0)
		r = evidence_list(c->place.store, c->call->dirs.lane, &l, f);
	if (r < 0)
		return r;
	if (c->call->json)
		r = ls_json(&l, &staged, &note, f);
	else
		print_all(c, &l, &staged, &note);
	if (r >= 0 && asked < 0)
		return fault_set(f, -asked, "%s: only staged evidence is listed", fault_text(&away));
	return r < 0 ? r : STATUS_OK;
}

/* Text of an untrusted file, escaped for a terminal. */
static void print_field(const struct jdoc *o, const char *key)
{
	_cleanup_free_ char *text = jdoc_get_string(o, key) ? str_escape(jdoc_get_string(o, key)) : NULL;

	if (text)
		printf("%-9s %s\n", key, text);
}

static void print_number(const struct jdoc *o, const char *key)
{
	const struct jdoc *v = jdoc_get(o, key);

	if (v && v->type == JDOC_INT)
		printf("  %-9s %lld\n", key, (long long)v->integer);
}

static int find_item(const struct evidence_list *l, const char *name, const struct evidence_item **ret)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->items[i].name, name)) {
			*ret = l->items + i;
			return 0;
		}
	return -ENOENT;
}

int evidence_cmd_show(const struct evidence_call *c, struct fault *f)
{
	static const char *const fields[] = { "session", "lane",    "agent", "worker", "issue",	 "profile",
					      "digest",	 "started", "ended", "taken",  "status", "why" };
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int dir = -EBADF;
	const struct evidence_item *e;
	const struct jdoc *tree;
	const char *store;
	int r;

	dir = evidence_locate(c, c->call->args[0], &name, &store, f);
	if (dir < 0)
		return dir;
	r = evidence_list(store, c->call->dirs.lane, &l, f);
	if (r < 0)
		return r;
	if (find_item(&l, name, &e) < 0)
		return fault_set(f, ENOENT, "evidence '%s' does not exist", name);
	if (c->call->json)
		return evidence_print_json(e->metadata, f);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		print_field(e->metadata, fields[i]);
	print_field(jdoc_get(e->metadata, "exit"), "reason");
	tree = jdoc_get(e->metadata, "tree");
	if (tree)
		printf("tree\n");
	print_number(tree, "entries");
	print_number(tree, "files");
	print_number(tree, "bytes");
	print_number(tree, "missing");
	print_number(tree, "unstable");
	printf("where     %s/%s%s%s\n", store, name, store == c->place.staging ? " (staged)" : "",
	       e->pinned ? " (pinned)" : "");
	return STATUS_OK;
}

/* Whether the lane's ledger names this evidence: "named", "other" or "absent". */
static int ask_ledger(const struct evidence_call *c, int dir, const char *name, const struct digest *metadata,
		      const char **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = evidence_metadata_read(dir);
	const char *session = jdoc_get_string(o, "session");
	struct evidence_ledger_found found;
	int r;

	r = evidence_ledger_find(c->call->dirs.state, session ? session : name, metadata, &found, f);
	if (r < 0)
		return r;
	*ret = found.named ? "named" : found.other ? "other" : "absent";
	return 0;
}

static const char *explain_ledger(const char *found)
{
	if (str_eq(found, "named"))
		return "the ledger names it";
	return str_eq(found, "other") ? "NOT what this ledger names: it has another digest"
				      : "not in this ledger";
}

static int verify_json(const char *name, const struct evidence_check *check, const char *found, bool ok,
		       struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	char text[sizeof("sha256:") + DIGEST_HEX_SIZE] = "sha256:";

	digest_to_hex(&check->metadata, text + sizeof("sha256:") - 1);
	jdoc_set_string(o, "id", name);
	jdoc_set_bool(o, "ok", ok);
	jdoc_set_string(o, "ledger", found);
	jdoc_set_string(o, "metadata", text);
	jdoc_set_int(o, "files", (int64_t)check->files);
	jdoc_set_int(o, "damaged", (int64_t)check->damaged);
	jdoc_set_int(o, "strange", (int64_t)check->strange);
	if (check->first)
		jdoc_set(o, "first", ledger_text(check->first));
	return evidence_print_json(o, f);
}

int evidence_cmd_verify(const struct evidence_call *c, struct fault *f)
{
	_cleanup_evidence_check_ struct evidence_check check = { 0 };
	_cleanup_free_ char *name = NULL, *first = NULL;
	_cleanup_close_ int dir = -EBADF;
	const char *found = "absent";
	bool whole, ok;
	int r;

	dir = evidence_locate(c, c->call->args[0], &name, NULL, f);
	if (dir < 0)
		return dir;
	r = evidence_verify(dir, &check, f);
	if (r == 0)
		r = ask_ledger(c, dir, name, &check.metadata, &found, f);
	if (r < 0)
		return r;
	whole = !check.damaged && !check.strange;
	ok = whole && str_eq(found, "named");
	if (c->call->json) {
		r = verify_json(name, &check, found, ok, f);
		return r < 0 ? r : ok ? STATUS_OK : STATUS_NO;
	}
	first = check.first ? str_escape(check.first) : NULL;
	printf("%s: %s, %llu files read; %s\n", name, whole ? "ok" : "DAMAGED",
	       (unsigned long long)check.files, explain_ledger(found));
	if (!whole)
		printf("damaged %llu, unexpected %llu; first: %s\n", (unsigned long long)check.damaged,
		       (unsigned long long)check.strange, first ? first : "?");
	return ok ? STATUS_OK : STATUS_NO;
}
