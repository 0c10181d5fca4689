/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/migrate-stamp.h"
#include "state/migrate.h"

#include "tap.h"

#define MANY 3000

static char root[] = "/tmp/custody-migrate-XXXXXX";

static bool put(const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(root, name);
	_cleanup_free_ char *dir = path ? strndup(path, (size_t)(strrchr(path, '/') - path)) : NULL;
	_cleanup_close_ int at = dir ? path_make_dirs(AT_FDCWD, dir, 0700, NULL) : -EBADF;
	_cleanup_close_ int fd = at < 0 ? -EBADF : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0;
}

static int apply_with_keys(struct migrate_plan *p)
{
	const struct lane_ask ask = { .lane = LANE_PROD, .allow_prod = true, .allow_env = "1" };
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;

	return lane_gate(&ask, &pass, NULL) < 0
		       ? -EINVAL
		       : migrate_apply(p, pass, &(struct ledger_run){ .action = "migrate", .lane = "prod" },
				       NULL);
}

static void clean(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_remove_tree(tmp, root + strlen("/tmp/"), NULL) == 0 && mkdir(root, 0700) == 0);
}

static const struct migrate_item *find(const struct migrate_plan *p, const char *from)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->items[i].from, from) == 0)
			return &p->items[i];
	return NULL;
}

static void LANE_8_prefixes_are_exact(void)
{
	static const struct {
		const char *name, *rest;
		bool pointer;
		enum lane lane;
	} rows[] = {
		{ "test_a", "a", false, LANE_SANDBOX },
		{ "prod_a", "a", false, LANE_PROD },
		{ "test_", NULL, false, 0 },
		{ "testa", NULL, false, 0 },
		{ "Test_a", NULL, false, 0 },
		{ "production_a", NULL, false, 0 },
		{ "sandbox_a", NULL, false, 0 },
		{ "test.current", NULL, false, 0 },
		{ "test.current", "current", true, LANE_SANDBOX },
		{ "prod_test_a", "test_a", false, LANE_PROD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum lane lane = _LANE_MAX;

		CHECK(str_eq(migrate_prefix(rows[i].name, rows[i].pointer, &lane), rows[i].rest));
		CHECK(lane == (rows[i].rest ? rows[i].lane : _LANE_MAX));
	}
}

static void LANE_8_stamps_of_every_kind(void)
{
	static const struct {
		const char *name, *text;
		enum migrate_action action;
		enum lane lane;
	} rows[] = {
		{ "grants/a.json", "{\"lane\": \"prod\"}", MIGRATE_MOVE, LANE_PROD },
		{ "grants/b.json", "{\"network\": \"test\"}", MIGRATE_MOVE, LANE_SANDBOX },
		{ "grants/c.json", "{\"network\": \"test\", \"lane\": \"prod\"}", MIGRATE_CONFLICT, 0 },
		{ "grants/d.json", "{\"lane\": \"\"}", MIGRATE_CONFLICT, 0 },
		{ "grants/e.json", "{\"lane\": 1}", MIGRATE_CONFLICT, 0 },
		{ "grants/f.json", "{\"other\": 1}", MIGRATE_LEAVE, 0 },
		{ "grants/g.json", "no json", MIGRATE_LEAVE, 0 },
		{ "grants/h.json", "[]", MIGRATE_LEAVE, 0 },
		{ "grants/test_i.json", "", MIGRATE_MOVE, LANE_SANDBOX },
		{ "grants/prod_j.json", "{\"lane\": \"production\"}", MIGRATE_MOVE, LANE_PROD },
		{ "grants/prod_k.json", "{\"lane\": \"sandbox\"}", MIGRATE_CONFLICT, 0 },
		{ "audit_peer", "{\"lane\": \"prod\"}", MIGRATE_LEAVE, 0 },
		{ "test_thing", "x", MIGRATE_LEAVE, 0 },
	};
	_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };

	clean();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(put(rows[i].name, rows[i].text));
	CHECK(put("sessions/s/lane", "Prod\n") && put("sessions/t/lane", "prod\n") &&
	      put("sessions/t/metadata.json", "{\"lane\": \"test\"}") && put("sessions/.hidden", ""));
	CHECK(migrate_plan(root, &p, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct migrate_item *item = find(&p, rows[i].name);

		CHECK(item && item->action == rows[i].action);
		CHECK((item->action == MIGRATE_MOVE) == (item->to != NULL) &&
		      (item->why != NULL) == (item->to == NULL));
		CHECK(!item->to || item->lane == rows[i].lane);
	}
	CHECK(find(&p, "sessions/s")->action == MIGRATE_CONFLICT &&
	      find(&p, "sessions/t")->action == MIGRATE_CONFLICT);
	CHECK(!find(&p, "sessions/.hidden"));
}

static void LANE_8_pointers_lead_to_their_session_or_stay(void)
{
	static const char *const bad[] = { "", "\n", "x\n", "/etc\n", "relative/sessions/test_a\n", NULL };
	_cleanup_free_ char *good = NULL, *two = NULL, *up = NULL, *cross = NULL;

	clean();
	CHECK(asprintf(&good, "%s/sessions/test_a\n", root) > 0 && asprintf(&two, "%s%s", good, good) > 0);
	CHECK(asprintf(&up, "%s/sessions/../sessions/test_a\n", root) > 0);
	CHECK(asprintf(&cross, "%s/sessions/test_a", root) > 0);
	CHECK(put("sessions/test_a/x", "") && put("sessions/stays/x", ""));
	for (size_t i = 0; bad[i]; i++) {
		_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };

		CHECK(put("current", bad[i]) && put("test.current", two) && put("x.current", up) &&
		      put("y_current", cross));
		CHECK(put("prod.current", good));
		CHECK(migrate_plan(root, &p, NULL) == 0);
		CHECK(find(&p, "current")->action == MIGRATE_LEAVE &&
		      find(&p, "test.current")->action == MIGRATE_LEAVE);
		CHECK(find(&p, "x.current")->action == MIGRATE_LEAVE &&
		      find(&p, "y_current")->action == MIGRATE_LEAVE);
		CHECK(find(&p, "prod.current")->action == MIGRATE_CONFLICT);
	}
}

static void LANE_8_names_may_be_any_bytes(void)
{
	_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *moved = path_join(root, "sandbox/sessions/\xff\x1b[31m\n");

	clean();
	CHECK(put("sessions/test_\xff\x1b[31m\n/x", "kept"));
	CHECK(migrate_plan(root, &p, NULL) == 0 && apply_with_keys(&p) == 0);
	CHECK(access(moved, F_OK) == 0);
	doc = migrate_describe(&p, true);
	CHECK(jdoc_write(doc, JDOC_PRETTY, &b, NULL) == 0);
}

static void LANE_8_thousands_move_and_all_are_reported(void)
{
	_cleanup_migrate_ struct migrate_plan p = { .dirfd = -EBADF };
	_cleanup_free_ char *path = path_join(root, "prod/ledger/00000000000000000000.ndjson"), *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	size_t n = MANY / tap_stride(), told = 0, len;

	clean();
	for (size_t i = 0; i < n; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "grants/prod_%zu.json", i);
		CHECK(put(name, "{}"));
	}
	CHECK(migrate_plan(root, &p, NULL) == 0 && migrate_count(&p, MIGRATE_MOVE) == n);
	CHECK(apply_with_keys(&p) == 0 && migrate_count(&p, MIGRATE_CONFLICT) == 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && fd_read_all(fd, 64 << 20, &text, &len, NULL) == 0);
	for (const char *at = text; (at = strstr(at, "\"from\":\"grants/prod_")); at++)
		told++;
	CHECK(told == n);
}

static void start(void)
{
	CHECK(mkdtemp(root));
}

static void finish(void)
{
	clean();
	CHECK(rmdir(root) == 0);
}

TAP_MAIN(T(start), T(LANE_8_prefixes_are_exact), T(LANE_8_stamps_of_every_kind),
	 T(LANE_8_pointers_lead_to_their_session_or_stay), T(LANE_8_names_may_be_any_bytes),
	 T(LANE_8_thousands_move_and_all_are_reported), T(finish))
