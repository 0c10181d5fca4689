/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/disk-usage.h"
#include "base/exit-status.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/unit-text.h"
#include "cli/cmd-evidence.h"
#include "cli/cmd-ledger.h"
#include "cli/output.h"
#include "cli/session-print.h"
#include "ledger/ledger.h"
#include "state/home-list.h"
#include "state/sandbox-root.h"
#include "tty/table.h"

#define SMALL_MAX \
	((uint64_t)1024 * 1024) /* notes of ended sessions below this size are counted, not listed */

enum df_kind {
	DF_SESSION,
	DF_EVIDENCE,
	DF_SANDBOX,
	DF_HOME,
	_DF_MAX,
};
static const char *const kind_names[] = { "session", "evidence", "sandbox", "home" };

/* Sessions come first: evidence then lists the files of a kept upper as shared. */
struct df {
	const struct command_call *call;
	struct disk_usage *usage;
	struct jdoc *items; /* NULL: a table is printed */
	struct table table;
	struct jdoc *unread; /* names that could not be read */
	uint64_t now_us;
	struct df_total {
		uint64_t n, bytes;
	} totals[_DF_MAX];
	struct df_total small; /* of them: not listed */
	bool partial;
};

struct df_item {
	enum df_kind kind;
	const char *id;
	const char *state; /* what holds the space: "kept", "running", "pinned", ... */
	const char *what;  /* worktree, exit reason, path; may be NULL */
	uint64_t since_us;
	bool is_note; /* of a session that ended and keeps no changes */
};

static void put_row(struct df *d, const struct df_item *i, const struct disk_usage_size *s, uint64_t age_s)
{
	_cleanup_strbuf_ struct strbuf what = { 0 };
	char bytes[UNIT_TEXT_SIZE], shared[UNIT_TEXT_SIZE], age[UNIT_TEXT_SIZE], size[UNIT_TEXT_SIZE + 1];

	(void)snprintf(size, sizeof(size), "%s%s", s->partial ? ">" : "", unit_text_bytes(s->bytes, bytes));
	strbuf_puts(&what, i->what ? i->what : "-");
	if (s->shared)
		strbuf_printf(&what, "  (+%s shared with a session)", unit_text_bytes(s->shared, shared));
	table_put(&d->table, (const char *const[]){ kind_names[i->kind], i->id, size,
						    unit_text_seconds(age_s, age), i->state, what.text });
}

static void add_json(struct df *d, const struct df_item *i, const struct disk_usage_size *s, uint64_t age_s)
{
	struct jdoc *row = jdoc_append_object(d->items);

	jdoc_set_string(row, "kind", kind_names[i->kind]);
	jdoc_set_string(row, "id", i->id);
	jdoc_set_string(row, "state", i->state);
	jdoc_set(row, "what", i->what ? ledger_text(i->what) : jdoc_new_null());
	jdoc_set_int(row, "bytes", (int64_t)s->bytes);
	jdoc_set_int(row, "shared", (int64_t)s->shared);
	jdoc_set_int(row, "entries", (int64_t)s->entries);
	jdoc_set_bool(row, "partial", s->partial);
	jdoc_set_int(row, "age_s", (int64_t)age_s);
}

/* A directory that cannot be read is listed as that, and the others are counted. */
static void add_unread(struct df *d, const char *kind, const char *id, const char *why)
{
	_cleanup_free_ char *text = NULL, *shown = NULL;

	if (asprintf(&text, "%s %s: %s", kind, id, why) < 0)
		text = NULL;
	shown = text ? str_escape(text) : NULL;
	fprintf(stderr, PACKAGE_NAME " df: cannot read %s\n", shown ? shown : kind);
	jdoc_append_string(d->unread, shown ? shown : kind);
}

static int add(struct df *d, int dirfd, const struct df_item *i, struct fault *f)
{
	const uint64_t age_s = d->now_us > i->since_us ? (d->now_us - i->since_us) / 1000000 : 0;
	struct disk_usage_size size;
	int r = disk_usage_measure(d->usage, dirfd, &size, f);

	if (r < 0)
		return r;
	d->totals[i->kind].n++;
	d->totals[i->kind].bytes += size.bytes;
	d->partial |= size.partial;
	if (d->items) {
		add_json(d, i, &size, age_s);
	} else if (i->is_note && size.bytes < SMALL_MAX) {
		d->small.n++;
		d->small.bytes += size.bytes;
	} else {
		put_row(d, i, &size, age_s);
	}
	return 0;
}

static int add_session(struct df *d, const struct session_note *n, struct fault *f)
{
	_cleanup_close_ int dir = session_note_open_dir(&d->call->dirs, n->session, NULL);
	const struct df_item i = { .kind = DF_SESSION,
				   .id = n->session,
				   .state = n->kept			? "kept"
					    : n->state == SESSION_ENDED ? "ended"
									: session_state_name(n->state),
				   .what = n->worktree,
				   .is_note = !n->kept && n->state == SESSION_ENDED,
				   .since_us = n->ended_us ? n->ended_us : n->started_us };

	return dir < 0 ? 0 : add(d, dir, &i, f); /* removed concurrently */
}

static int add_sessions(struct df *d, struct fault *f)
{
	_cleanup_session_notes_ struct session_note_list l = { 0 };
	int r = session_note_list(&d->call->dirs, &l, f);

	for (size_t i = 0; r == 0 && i < l.n; i++)
		r = add_session(d, &l.items[i], f);
	for (char **b = l.broken; r == 0 && b && *b; b++)
		add_unread(d, "session", *b, "not counted");
	return r;
}

static int add_store(struct df *d, const char *store, bool staged, struct fault *f)
{
	_cleanup_evidence_ struct evidence_list l = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r = evidence_list(store, d->call->dirs.lane, &l, f);

	if (r == 0 && l.n)
		fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; r == 0 && i < l.n; i++) {
		const struct evidence_item *e = &l.items[i];
		_cleanup_close_ int dir =
			openat(fd, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		const struct df_item item = { .kind = DF_EVIDENCE,
					      .id = e->name,
					      .state = e->pinned ? "pinned"
						       : staged	 ? "staged"
								 : evidence_status_name(e->status),
					      .what = e->reason,
					      .since_us = e->taken_us };

		r = dir < 0 ? 0 : add(d, dir, &item, f);
	}
	return r;
}

static int add_evidence(struct df *d, struct fault *f)
{
	struct evidence_call e = { .call = d->call };
	_cleanup_fault_ struct fault away = { 0 };
	int r = delivery_place(&d->call->dirs, d->call->config, &e.place, f);

	if (r == 0)
		r = add_store(d, e.place.staging, true, f);
	if (r == 0 && evidence_require_store(&e, &away) < 0)
		add_unread(d, "evidence", e.place.store, fault_text(&away));
	else if (r == 0)
		r = add_store(d, e.place.store, false, f);
	delivery_place_done(&e.place);
	return r;
}

static int add_sandbox(struct df *d, const char *name, struct fault *f)
{
	_cleanup_sandbox_root_ struct sandbox_root *root = NULL;
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct df_item i = { .kind = DF_SANDBOX, .id = name, .state = "root" };
	struct stat st;

	if (sandbox_root_open(&d->call->dirs, name, SANDBOX_LOOK, &root, &why) < 0) {
		add_unread(d, "sandbox", name, fault_text(&why));
		return 0;
	}
	/* Each run writes to the log. */
	if (fstatat(root->logs_fd, "custody.log", &st, AT_SYMLINK_NOFOLLOW) == 0 || fstat(root->fd, &st) == 0)
		i.since_us = (uint64_t)st.st_mtim.tv_sec * 1000000;
	i.what = root->path;
	fd = openat(root->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", root->path) : add(d, fd, &i, f);
}

static int add_sandboxes(struct df *d, struct fault *f)
{
	DIR *dir = opendir(d->call->dirs.sandboxes);
	const struct dirent *e;
	int r = 0;

	if (!dir && errno != ENOENT)
		add_unread(d, "sandbox", d->call->dirs.sandboxes, "cannot be opened");
	while (r == 0 && dir && (e = readdir(dir)))
		if (sandbox_name_is_valid(e->d_name))
			r = add_sandbox(d, e->d_name, f);
	if (dir)
		(void)closedir(dir);
	return r;
}

static int add_home(struct df *d, const char *id, struct fault *f)
{
	_cleanup_home_dir_ struct home_dir *h = NULL;
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *worktree = NULL;
	struct df_item i = { .kind = DF_HOME, .id = id, .state = "home" };
	_cleanup_close_ int fd = -EBADF;

	if (home_dir_open(&d->call->dirs, id, NULL, HOME_LOOK, &h, &why) < 0) {
		add_unread(d, "home", id, fault_text(&why));
		return 0;
	}
	i.since_us = home_dir_used_us(h, &worktree);
	i.what = worktree;
	fd = openat(h->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", h->path) : add(d, fd, &i, f);
}

static int add_homes(struct df *d, struct fault *f)
{
	_cleanup_strv_ char **ids = NULL;
	int r = home_list(&d->call->dirs, &ids, f);

	for (char **id = ids; r == 0 && id && *id; id++)
		r = add_home(d, *id, f);
	return r;
}

static void print_totals(struct df *d)
{
	static const char *const names[] = { "sessions", "evidence", "sandbox roots", "homes" };
	char size[UNIT_TEXT_SIZE];
	uint64_t sum = 0;

	if (d->small.n)
		table_put(&d->table, (const char *const[]){ kind_names[DF_SESSION], "notes of ended sessions",
							    unit_text_bytes(d->small.bytes, size), NULL,
							    "ended", NULL });
	table_end(&d->table, NULL);
	for (int k = 0; k < _DF_MAX; k++) {
		const struct df_total *t = d->totals + k;

		sum += t->bytes;
		printf("%s%s %s (%llu)", k ? ", " : "total: ", names[k], unit_text_bytes(t->bytes, size),
		       (unsigned long long)t->n);
	}
	printf("; together %s%s\n", unit_text_bytes(sum, size),
	       d->partial ? "; '>': more, some entries cannot be read" : "");
}

static int print_json(const struct df *d, struct jdoc *o, struct fault *f)
{
	struct jdoc *totals = jdoc_set_object(o, "totals");

	jdoc_set_int(o, "schema_version", 1);
	jdoc_set_string(o, "lane", lane_name(d->call->dirs.lane));
	for (int k = 0; k < _DF_MAX; k++)
		jdoc_set_int(totals, kind_names[k], (int64_t)d->totals[k].bytes);
	return output_print(o, f);
}

int cmd_df(struct command_call *c, struct fault *f)
{
	static const struct table_column columns[] = {
		{ .title = "KIND", .width = 8 },
		{ .title = "ID", .width = 25 },
		{ .title = "SIZE", .width = 8, .right = true },
		{ .title = "AGE", .width = 4, .right = true },
		{ .title = "STATE", .width = 8, .extra = true },
		{ .title = "WHAT" },
	};
	_cleanup_disk_usage_ struct disk_usage *usage = NULL;
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	struct df d = { .call = c,
			.items = c->json ? jdoc_set_array(o, "items") : NULL,
			.unread = jdoc_set_array(o, "unreadable"),
			.now_us = clock_wall_us() };
	int r = disk_usage_new(&usage, f);

	d.usage = usage;
	table_init(&d.table, columns, ARRAY_SIZE(columns), stdout);
	if (r == 0)
		r = add_sessions(&d, f);
	if (r == 0)
		r = add_evidence(&d, f);
	if (r == 0)
		r = add_sandboxes(&d, f);
	if (r == 0)
		r = add_homes(&d, f);
	if (r == 0 && c->json)
		r = print_json(&d, o, f);
	else if (r == 0)
		print_totals(&d);
	table_done(&d.table);
	return r;
}
