/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger.h"

#include <dirent.h>
#include <errno.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "ledger/ledger-checkpoint.h"
#include "ledger-fixture.h"
#include "tap.h"

static const char boot_a[] = "aaaaaaaa", boot_b[] = "bbbbbbbb";

static struct ledger *reopen(const struct place *p, const char *boot)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct ledger *l = NULL;

	if (ledger_open(p->state, &(struct ledger_options){ .boot = boot }, &l, NULL, &f) < 0)
		printf("# %s\n", fault_text(&f));
	return l;
}

/* The whole first segment against first key and seal. */
static struct ledger_verify_result check(const struct place *p, const struct digest *k0, bool same_boot)
{
	struct ledger_verify_result bad = { .status = VERIFY_TAMPERED, .why = "unreadable" };
	_cleanup_free_ char *text = NULL;
	struct seal s;
	size_t len;

	text = slurp(p, FIRST_SEGMENT, &len);
	if (!text || !load_seal(p, &s))
		return bad;
	return judge(text, len,
		     &(struct ledger_verify_options){
			     .k0 = k0, .n_k0 = k0 != NULL, .seal = &s, .seal_is_of_this_boot = same_boot });
}

static bool holds(const struct place *p, const struct digest *k0, uint64_t records)
{
	struct ledger_verify_result r = check(p, k0, true);

	if (r.status == VERIFY_OK && r.next == records)
		return true;
	printf("# status %d, %llu records, at %llu: %s\n", (int)r.status, (unsigned long long)r.next,
	       (unsigned long long)r.bad_seq, r.why);
	return false;
}

static bool has_kind(const struct place *p, const char *kind)
{
	_cleanup_free_ char *text = NULL;
	char key[64];
	size_t len;

	text = slurp(p, FIRST_SEGMENT, &len);
	(void)snprintf(key, sizeof(key), "\"k\":\"%s\"", kind);
	return text && memmem(text, len, key, strlen(key));
}

static unsigned int count_torn(const struct place *p)
{
	char path[256];
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir;

	(void)place_path(p, "ledger", path);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		n += strncmp(e->d_name, "torn-", 5) == 0;
	if (dir)
		(void)closedir(dir);
	return n;
}

static void a_ledger_is_made_only_when_asked_for(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL, *again = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct ledger_birth birth;
	struct digest k0;
	char path[256];
	struct stat st;

	CHECK(place_make(&p));
	CHECK(ledger_open(p.state, NULL, &l, NULL, &f) == -ENOENT);
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &l, &birth, NULL) == 0);
	CHECK(birth.made && digest_from_hex(birth.k0, &k0) == 0);
	CHECK(holds(&p, &k0, 1) && has_kind(&p, "ledger.open"));
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &again, &birth, NULL) == 0);
	CHECK(!birth.made && birth.k0[0] == '\0' && holds(&p, &k0, 1));
	CHECK(place_path(&p, "ledger-keys/key", path) && stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(place_path(&p, SEAL_PATH, path) && stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(place_path(&p, "ledger-keys", path) && stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(place_path(&p, "ledger", path) && stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
}

static void the_first_key_is_not_kept(void)
{
	_cleanup_place_ struct place p = { 0 };
	struct digest k0;
	struct seal s;

	CHECK(place_make(&p) && fill(&p, 1, NULL, &k0) && load_seal(&p, &s));
	CHECK(!digest_equal(&k0, &s.key));
	seal_evolve(&k0, 1);
	CHECK(digest_equal(&k0, &s.key) && s.index == 1);
}

static void two_handles_take_turns(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *a = NULL, *b = NULL;
	struct digest k0;

	CHECK(place_make(&p) && fill(&p, 1, NULL, &k0));
	a = reopen(&p, NULL);
	b = reopen(&p, NULL);
	CHECK(a && b);
	for (int i = 0; i < 20; i++)
		CHECK(put(i % 3 ? a : b, "test.event", i % 5 ? LEDGER_OBSERVED : LEDGER_DECIDED) == 0);
	CHECK(holds(&p, &k0, 21));
}

static void a_forks_child_takes_its_own_lock(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct digest k0;
	int status;
	pid_t pid;

	CHECK(place_make(&p) && fill(&p, 1, NULL, &k0));
	l = reopen(&p, NULL);
	CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
	/* Held by us, so not to be had by a child that has the same handle. */
	CHECK(ledger_lock(l, LOCK_EX, NULL) == 0);
	pid = fork();
	if (pid == 0)
		_exit(ledger_lock(l, LOCK_EX | LOCK_NB, NULL) != -EWOULDBLOCK);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	ledger_unlock(l);
	pid = fork();
	for (int i = 0; i < 200; i++)
		if (put(l, "test.event", LEDGER_OBSERVED) < 0 && pid == 0)
			_exit(1);
	if (pid == 0)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(holds(&p, &k0, 402));
}

static void many_events_are_one_write(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_event e[3] = { { .kind = "a" }, { .kind = "b" }, { .kind = "BAD" } };
	struct ledger_mark mark;
	struct digest k0;
	struct seal s;

	CHECK(place_make(&p) && fill(&p, 1, NULL, &k0));
	l = reopen(&p, NULL);
	CHECK(l && ledger_append(l, e, 3, LEDGER_OBSERVED, NULL, NULL) == -EINVAL && holds(&p, &k0, 1));
	CHECK(ledger_append(l, e, 0, LEDGER_OBSERVED, NULL, NULL) == -EINVAL);
	e[2].kind = "c";
	CHECK(ledger_append(l, e, 3, LEDGER_OBSERVED, &mark, NULL) == 0 && holds(&p, &k0, 4));
	CHECK(mark.size == 4 && load_seal(&p, &s) && digest_equal(&mark.head, &s.head));
}

static void only_synced_records_count_as_synced(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct seal s;
	int due;

	CHECK(place_make(&p) && fill(&p, 1, NULL, NULL));
	l = reopen(&p, NULL);
	CHECK(l && ledger_sync_due_ms(l) == -1);
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && load_seal(&p, &s));
	CHECK(s.index == 2 && s.synced_index == 1);
	due = ledger_sync_due_ms(l);
	CHECK(due >= 0 && due <= LEDGER_SYNC_MS);
	CHECK(put(l, "test.event", LEDGER_DECIDED) == 0 && load_seal(&p, &s));
	CHECK(s.index == 3 && s.synced_index == 3 && s.synced_offset == s.offset &&
	      ledger_sync_due_ms(l) == -1);
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && ledger_sync(l, NULL) == 0 && load_seal(&p, &s));
	CHECK(s.synced_index == 4);
}

/* What a kill between the two writes leaves: the ledger ahead of its seal. */
static void records_ahead_of_the_seal_are_taken_over(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct digest k0;
	struct seal old;

	CHECK(place_make(&p) && fill(&p, 5, NULL, &k0) && load_seal(&p, &old));
	l = reopen(&p, NULL);
	for (int i = 0; i < 7; i++)
		CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
	CHECK(store_seal(&p, &old) && check(&p, &k0, true).status == VERIFY_OK);
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && holds(&p, &k0, 13));
	CHECK(count_torn(&p) == 0 && !has_kind(&p, "ledger.recovered"));
}

static void a_kill_before_the_first_seal_leaves_one_first_record(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_birth birth;
	struct digest k0;
	struct seal s;

	CHECK(place_make(&p) && fill(&p, 1, NULL, &k0) && load_seal(&p, &s));
	s.index = s.offset = s.last_len = s.synced_index = s.synced_offset = 0;
	s.head = (struct digest){ 0 };
	s.key = k0;
	CHECK(store_seal(&p, &s));
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &l, &birth, NULL) == 0);
	CHECK(!birth.made && put(l, "test.event", LEDGER_DECIDED) == 0 && holds(&p, &k0, 2));
}

/* Cut at each byte of the last record, whose seal was never written. */
static void a_torn_end_is_moved_away_at_every_offset(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct digest k0;
	struct seal before;
	size_t len, start;
	unsigned int n = 0;

	CHECK(place_make(&p) && fill(&p, 3, NULL, &k0) && load_seal(&p, &before));
	start = before.offset;
	{
		_cleanup_ledger_ struct ledger *l = reopen(&p, NULL);

		CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
	}
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && len > start + 300);
	for (size_t cut = start + 1; cut < len; cut++) {
		_cleanup_ledger_ struct ledger *l = NULL;

		CHECK(spit(&p, FIRST_SEGMENT, text, cut) && store_seal(&p, &before));
		CHECK(check(&p, &k0, true).status == VERIFY_TORN);
		l = reopen(&p, NULL);
		CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
		CHECK(holds(&p, &k0, 5) && has_kind(&p, "ledger.recovered"));
		n++;
	}
	CHECK(n == len - start - 1 && count_torn(&p) == n);
}

static void nuls_inside_the_last_line_are_moved_away(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct digest k0;
	struct seal before;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 3, NULL, &k0) && load_seal(&p, &before));
	l = reopen(&p, NULL);
	CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text);
	memset(text + before.offset + 150, 0, 60);
	CHECK(spit(&p, FIRST_SEGMENT, text, len) && store_seal(&p, &before));
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && holds(&p, &k0, 5) && count_torn(&p) == 1);
}

static void strange_bytes_behind_the_end_are_moved_away(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct digest k0;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 3, NULL, &k0));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text);
	{
		_cleanup_free_ char *more = calloc(1, len + 300000);
		_cleanup_ledger_ struct ledger *l = reopen(&p, NULL);

		/* A record that is whole in itself, then more than any line may have. */
		CHECK(more && l);
		memcpy(more, text, len);
		memcpy(more + len, text, 400);
		memset(more + len + 400, 'x', 250000);
		CHECK(spit(&p, FIRST_SEGMENT, more, len + 250400));
		CHECK(put(l, "test.event", LEDGER_DECIDED) == 0);
	}
	CHECK(holds(&p, &k0, 5) && count_torn(&p) == 1);
}

static bool refuses(const struct place *p, const char *boot, const char *word)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_ledger_ struct ledger *l = reopen(p, boot);
	const struct ledger_event e = { .kind = "test.event" };
	int r = l ? ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, &f) : 0;

	if (r == -EUCLEAN && strstr(fault_text(&f), word) && strstr(fault_text(&f), "custody ledger"))
		return true;
	printf("# %d: %s\n", r, fault_text(&f));
	return false;
}

/* Ten records that are synced and five that are not, written under boot_a. */
static bool fill_half_synced(const struct place *p, struct digest *k0, struct seal *synced)
{
	_cleanup_ledger_ struct ledger *l = NULL;

	if (!fill(p, 10, &(struct ledger_options){ .boot = boot_a }, k0) || !load_seal(p, synced))
		return false;
	l = reopen(p, boot_a);
	for (int i = 0; i < 5; i++)
		if (!l || put(l, "test.event", LEDGER_OBSERVED) < 0)
			return false;
	return true;
}

static void a_power_cut_is_recorded_and_the_chain_goes_on(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct ledger_verify_result r;
	struct digest k0;
	struct seal synced;
	size_t len;

	CHECK(place_make(&p) && fill_half_synced(&p, &k0, &synced));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && spit(&p, FIRST_SEGMENT, text, synced.synced_offset + 700)); /* one whole, one torn */
	CHECK(check(&p, &k0, false).status == VERIFY_TORN && check(&p, &k0, true).status == VERIFY_SHORT);
	l = reopen(&p, boot_b);
	CHECK(l && put(l, "test.event", LEDGER_DECIDED) == 0);
	r = check(&p, &k0, true);
	CHECK(r.status == VERIFY_OK && r.gaps == 1 && r.lost == 4 && r.recovered == 1 && r.sealed == r.next);
	CHECK(r.next == 14 && has_kind(&p, "seal.gap") && count_torn(&p) == 1);
	CHECK(put(l, "test.event", LEDGER_DECIDED) == 0 && holds(&p, &k0, 15));
}

static void a_power_cut_that_leaves_nuls_is_the_same(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct ledger_verify_result r;
	struct digest k0;
	struct seal synced;
	size_t len;

	CHECK(place_make(&p) && fill_half_synced(&p, &k0, &synced));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text);
	memset(text + synced.synced_offset + 700, 0, 100); /* in the second record; whole ones follow */
	CHECK(spit(&p, FIRST_SEGMENT, text, len));
	l = reopen(&p, boot_b);
	CHECK(l && put(l, "test.event", LEDGER_DECIDED) == 0);
	r = check(&p, &k0, true);
	CHECK(r.status == VERIFY_OK && r.gaps == 1 && r.lost == 4 && r.next == 14);
}

static void another_boot_alone_changes_nothing(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct digest k0;

	CHECK(place_make(&p) && fill(&p, 10, &(struct ledger_options){ .boot = boot_a }, &k0));
	l = reopen(&p, boot_a);
	CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
	ledger_free(TAKE_PTR(l));
	l = reopen(&p, boot_b);
	CHECK(l && put(l, "test.event", LEDGER_OBSERVED) == 0);
	CHECK(holds(&p, &k0, 12) && !has_kind(&p, "seal.gap") && !has_kind(&p, "ledger.recovered"));
}

static void removed_records_stop_every_writer(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct digest k0;
	struct seal s;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 10, NULL, &k0) && load_seal(&p, &s));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && spit(&p, FIRST_SEGMENT, text, len - s.last_len));
	CHECK(refuses(&p, NULL, "removed") && refuses(&p, boot_b, "removed"));
	CHECK(spit(&p, FIRST_SEGMENT, text, len - s.last_len - 1) && refuses(&p, NULL, "removed"));
	CHECK(spit(&p, FIRST_SEGMENT, "", 0) && refuses(&p, NULL, "removed"));
	text[len - 200] ^= 1;
	CHECK(spit(&p, FIRST_SEGMENT, text, len) && refuses(&p, NULL, "changed") &&
	      refuses(&p, boot_b, "changed"));
	text[len - 200] ^= 1;
	CHECK(spit(&p, FIRST_SEGMENT, text, len) && holds(&p, &k0, 10));
}

static void a_live_segment_that_vanishes_stops_its_writer(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	const struct ledger_event e = { .kind = "test.event" };
	char path[256];
	struct digest k0;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 10, NULL, &k0));
	l = reopen(&p, NULL);
	CHECK(l && put(l, "test.event", LEDGER_DECIDED) == 0);
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && place_path(&p, FIRST_SEGMENT, path) && unlink(path) == 0);
	CHECK(ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, NULL) == -EUCLEAN);
	CHECK(access(path, F_OK) < 0);
	/* Put back byte for byte it is the ledger again, though it is another file. */
	CHECK(spit(&p, FIRST_SEGMENT, text, len) && put(l, "test.event", LEDGER_DECIDED) == 0 &&
	      holds(&p, &k0, 12));
}

static void a_lost_or_damaged_seal_stops_every_writer(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *seal = NULL;
	struct ledger_birth birth;
	char path[256];
	size_t len;

	CHECK(place_make(&p) && fill(&p, 10, NULL, NULL));
	seal = slurp(&p, SEAL_PATH, &len);
	CHECK(seal && place_path(&p, SEAL_PATH, path));
	seal[20] ^= 1;
	CHECK(spit(&p, SEAL_PATH, seal, len));
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &l, &birth, NULL) ==
		      -EBADMSG &&
	      !l);
	CHECK(unlink(path) == 0);
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &l, &birth, NULL) ==
		      -EUCLEAN &&
	      !l);
	/* Nor by taking the segments away as well. */
	CHECK(place_path(&p, FIRST_SEGMENT, path) && unlink(path) == 0);
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &l, &birth, NULL) ==
		      -EUCLEAN &&
	      !l);
}

static void files_that_others_may_write_are_refused(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	char path[256];

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL));
	CHECK(place_path(&p, SEAL_PATH, path) && chmod(path, 0666) == 0);
	CHECK(ledger_open(p.state, NULL, &l, NULL, NULL) == -EPERM && chmod(path, 0600) == 0);
	CHECK(place_path(&p, "ledger", path) && chmod(path, 0755) == 0);
	CHECK(ledger_open(p.state, NULL, &l, NULL, NULL) == -EPERM && !l);
}

static void segments_rotate_and_the_numbers_go_on(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	const struct ledger_options o = { .create = true, .segment_max = 3000 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ uint64_t *list = NULL;
	_cleanup_ledger_verify_ struct ledger_verify *v = NULL;
	_cleanup_close_ int dirfd = -EBADF;
	struct ledger_verify_result r;
	struct ledger_birth birth;
	struct digest k0;
	struct seal s;
	char path[256];
	size_t n;

	CHECK(place_make(&p) && ledger_open(p.state, &o, &l, &birth, &f) == 0);
	CHECK(digest_from_hex(birth.k0, &k0) == 0);
	for (int i = 0; i < 60; i++)
		CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0);
	CHECK(place_path(&p, "ledger", path) && load_seal(&p, &s));
	dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(segment_list(dirfd, &list, &n, NULL) == 0 && n > 5 && list[0] == 0 && list[n - 1] == s.segment);
	v = ledger_verify_new(&(struct ledger_verify_options){
		.k0 = &k0, .n_k0 = 1, .seal = &s, .seal_is_of_this_boot = true });
	CHECK(v);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = NULL;
		char name[64] = "ledger/";
		size_t len;

		segment_name(list[i], name + 7);
		text = slurp(&p, name, &len);
		CHECK(text);
		ledger_verify_segment(v, list[i]);
		CHECK(ledger_verify_feed(v, text, len));
	}
	ledger_verify_end(v, &r);
	CHECK(r.status == VERIFY_OK && r.next == 61 + n - 1 && r.sealed == r.next);
}

/* Every segment of P, in order, as `custody ledger verify` reads them. */
static struct ledger_verify_result verify_segments(const struct place *p,
						   const struct ledger_verify_options *o)
{
	_cleanup_ledger_verify_ struct ledger_verify *v = ledger_verify_new(o);
	struct ledger_verify_result r = { .status = VERIFY_BARE };
	_cleanup_free_ uint64_t *list = NULL;
	_cleanup_close_ int dirfd = -EBADF;
	char path[256];
	size_t n = 0;

	if (!v || !place_path(p, "ledger", path))
		return r;
	dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (segment_list(dirfd, &list, &n, NULL) < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = NULL;
		char name[64] = "ledger/";
		size_t len = 0;

		segment_name(list[i], name + 7);
		text = slurp(p, name, &len);
		ledger_verify_segment(v, list[i]);
		if (!text || !ledger_verify_feed(v, text, len))
			break;
	}
	ledger_verify_end(v, &r);
	return r;
}

/* Verify refuses what writers refuse: SPLIT 0: the last two segments become one; 1: the last becomes two. */
static void merged_and_split_segments_are_found_by_verify_and_writers(void)
{
	for (int split = 0; split < 2; split++) {
		_cleanup_place_ struct place p = { 0 };
		const struct ledger_options o = { .create = true, .segment_max = 3000 };
		_cleanup_ledger_ struct ledger *l = NULL;
		_cleanup_free_ char *last = NULL, *before = NULL;
		_cleanup_strbuf_ struct strbuf both = { 0 };
		_cleanup_free_ uint64_t *list = NULL;
		char name[2][64] = { "ledger/", "ledger/" }, path[256];
		size_t n, len, len_before, at;

		CHECK(place_make(&p) && ledger_open(p.state, &o, &l, NULL, NULL) == 0);
		for (int i = 0; i < 25; i++)
			CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0);
		CHECK(segment_list(l->dirfd, &list, &n, NULL) == 0 && n > 2);
		CHECK(verify_segments(&p, &(struct ledger_verify_options){ 0 }).status == VERIFY_BARE);
		segment_name(list[n - 1], name[0] + 7);
		segment_name(list[n - 2], name[1] + 7);
		last = slurp(&p, name[0], &len);
		before = slurp(&p, name[1], &len_before);
		CHECK(last && before && len > 0 && strchr(last, '\n'));
		if (!split) {
			strbuf_add(&both, before, len_before);
			strbuf_add(&both, last, len);
			CHECK(place_path(&p, name[1], path) && chmod(path, 0600) == 0);
			CHECK(spit(&p, name[1], both.text, both.len));
			CHECK(place_path(&p, name[0], path) && unlink(path) == 0);
		} else {
			at = (size_t)(strchr(last, '\n') + 1 - last);
			CHECK(at < len);
			CHECK(spit(&p, name[0], last, at));
			segment_name(list[n - 1] + 1, name[1] + 7);
			CHECK(spit(&p, name[1], last + at, len - at));
		}
		CHECK(verify_segments(&p, &(struct ledger_verify_options){ 0 }).status == VERIFY_TAMPERED);
		ledger_free(TAKE_PTR(l));
		CHECK(ledger_open(p.state, &o, &l, NULL, NULL) == 0 &&
		      put(l, "test.event", LEDGER_OBSERVED) == -EUCLEAN);
	}
}

/* A checkpoint that the ledger's own key signed, for each segment that was ended: at least up to its end. */
static void every_rotation_is_signed(void)
{
	_cleanup_place_ struct place p = { 0 };
	const struct ledger_options o = { .create = true, .segment_max = 3000 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *public = NULL, *checkpoints = NULL;
	_cleanup_free_ uint64_t *list = NULL;
	size_t n, len, at = 0, step, found = 0;
	struct checkpoint_key key;
	struct checkpoint checkpoint;

	CHECK(place_make(&p) && ledger_open(p.state, &o, &l, NULL, NULL) == 0);
	for (int i = 0; i < 60; i++)
		CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0);
	CHECK(segment_list(l->dirfd, &list, &n, NULL) == 0 && n > 5);
	CHECK(checkpoint_public_load(l->dirfd, &public, NULL) == 0 &&
	      checkpoint_key_parse(public, &key, NULL) == 0);
	checkpoints = slurp(&p, "ledger/" LEDGER_CHECKPOINTS, &len);
	CHECK(checkpoints);
	for (; at < len && checkpoint_parse(checkpoints + at, len - at, &checkpoint, &step) == 0;
	     at += step) {
		while (at + step < len && checkpoints[at + step] == '\n')
			step++;
		found++;
		CHECK(checkpoint_verify(&checkpoint, &key) && found < n &&
		      checkpoint.mark.size >= list[found]);
	}
	CHECK(found == n - 1);
}

/* Records until the first segment is full: a few fit.  BEFORE and AFTER: the seal around the last one. */
static bool fill_first_segment(struct ledger *l, const struct place *p, struct seal *before,
			       struct seal *after)
{
	for (int i = 0; i < 20; i++) {
		if (!load_seal(p, before) || put(l, "test.event", LEDGER_OBSERVED) != 0 ||
		    !load_seal(p, after))
			return false;
		if (after->segment > 0)
			return true;
	}
	return false;
}

/* A kill in the middle of a rotation: the record exists, the next file or the seal does not. */
static void a_rotation_is_finished_by_the_next_writer(void)
{
	for (int made = 0; made < 2; made++) {
		_cleanup_place_ struct place p = { 0 };
		const struct ledger_options o = { .create = true, .segment_max = 2000 };
		_cleanup_ledger_ struct ledger *l = NULL;
		struct ledger_birth birth;
		char path[256], name[64] = "ledger/";
		struct seal s, before, after;

		CHECK(place_make(&p) && ledger_open(p.state, &o, &l, &birth, NULL) == 0);
		CHECK(fill_first_segment(l, &p, &before, &s));
		/* Back to when the rotate record had just been written. */
		segment_name(s.segment, name + 7);
		CHECK(place_path(&p, name, path));
		CHECK(made ? truncate(path, 0) == 0 : unlink(path) == 0);
		CHECK(store_seal(&p, &before));
		ledger_free(TAKE_PTR(l));
		CHECK(ledger_open(p.state, &o, &l, NULL, NULL) == 0 &&
		      put(l, "test.event", LEDGER_OBSERVED) == 0);
		CHECK(load_seal(&p, &after) && after.segment == s.segment && after.index == s.index);
		CHECK(count_torn(&p) == 0);
	}
}

/* Modes do not stop root, so what they stop is seen only by an ordinary user. */
static void a_rotation_is_finished_by_an_ordinary_user(void)
{
	int status;
	pid_t pid;

	(void)fflush(stdout); /* or the child would print it again */
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 &&
		    (setresgid(64321, 64321, 64321) < 0 || setresuid(64321, 64321, 64321) < 0))
			_exit(2);
		a_rotation_is_finished_by_the_next_writer();
		(void)fflush(stdout);
		_exit(!tap_ok);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* The same, found by a writer that has been at work all the time: it must not rotate a second time. */
static void a_rotation_is_finished_by_an_open_writer(void)
{
	_cleanup_place_ struct place p = { 0 };
	const struct ledger_options o = { .create = true, .segment_max = 2000 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct seal before, after;
	char hex[65], name[64] = "ledger/", path[256];
	size_t len;

	CHECK(place_make(&p) && ledger_open(p.state, &o, &l, NULL, NULL) == 0);
	CHECK(fill_first_segment(l, &p, &before, &after));
	segment_name(after.segment, name + 7);
	CHECK(place_path(&p, name, path) && unlink(path) == 0);
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && count(text, "ledger.rotate") == 1);
	/* The seal as it was when the rotate record had just been counted. */
	memcpy(hex, text + len - 67, 64);
	hex[64] = '\0';
	before.last_len = len - before.offset;
	before.offset = len;
	before.index++;
	before.rotated = 1;
	seal_evolve(&before.key, 1);
	CHECK(digest_from_hex(hex, &before.head) == 0 && store_seal(&p, &before));
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && load_seal(&p, &after) &&
	      after.segment == before.index);
	free(text);
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && len == before.offset && count(text, "ledger.rotate") == 1);
}

static uint64_t now_us = 2000000000000000;

static uint64_t wall(void)
{
	return now_us;
}

static void a_clock_set_back_is_a_record(void)
{
	_cleanup_place_ struct place p = { 0 };
	const struct ledger_options o = { .create = true, .wall_us = wall };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct ledger_birth birth;
	struct ledger_verify_result r;
	struct digest k0;

	CHECK(place_make(&p) && ledger_open(p.state, &o, &l, &birth, NULL) == 0);
	CHECK(digest_from_hex(birth.k0, &k0) == 0);
	now_us -= 500000; /* half a second is a time daemon at work */
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && !has_kind(&p, "clock.back"));
	now_us -= 86400000000;
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0 && has_kind(&p, "clock.back"));
	CHECK(put(l, "test.event", LEDGER_OBSERVED) == 0);
	r = check(&p, &k0, true);
	CHECK(r.status == VERIFY_OK && r.next == 5 && r.clock_back == 1 && r.sealed == 5);
}

static bool repair(const struct place *p, enum ledger_repair what, struct ledger_birth *birth)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct ledger_mark before, after;
	struct ledger_birth ignored;

	if (ledger_repair(p->state, NULL, what, &before, &after, birth ? birth : &ignored, &f) == 0)
		return true;
	printf("# %s\n", fault_text(&f));
	return false;
}

static void a_person_may_accept_a_loss_and_it_stays_visible(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct ledger_verify_result r;
	struct digest k0;
	struct seal s;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 10, NULL, &k0) && load_seal(&p, &s));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && spit(&p, FIRST_SEGMENT, text, len - s.last_len - 10));
	CHECK(ledger_repair(p.state, NULL, LEDGER_REPAIR_TAIL, &(struct ledger_mark){ 0 },
			    &(struct ledger_mark){ 0 }, &(struct ledger_birth){ 0 }, NULL) == -EUCLEAN);
	CHECK(repair(&p, LEDGER_REPAIR_ACCEPT_LOSS, NULL));
	r = check(&p, &k0, true);
	CHECK(r.status == VERIFY_OK && r.gaps == 1 && r.lost == 2 && r.next == 11);
	/* Uses of grants may be among the lost records: the ledger has another identity. */
	CHECK(has_kind(&p, "ledger.key"));
	l = reopen(&p, NULL);
	CHECK(l && put(l, "test.event", LEDGER_DECIDED) == 0 && holds(&p, &k0, 12));
	/* Where nothing is wrong nothing is given up. */
	CHECK(repair(&p, LEDGER_REPAIR_ACCEPT_LOSS, NULL) && holds(&p, &k0, 12));
	CHECK(repair(&p, LEDGER_REPAIR_TAIL, NULL) && holds(&p, &k0, 12));
}

static void an_accepted_rewrite_still_fails_with_the_first_key(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct digest k0, h;
	struct seal s;
	char hex[65];
	size_t len;

	CHECK(place_make(&p) && fill(&p, 10, NULL, &k0) && load_seal(&p, &s));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text);
	memcpy((char *)memmem(text + len - s.last_len, s.last_len, "some", 4), "evil", 4);
	digest_bytes(text + len - s.last_len, s.last_len - RECORD_SUFFIX, &h);
	digest_to_hex(&h, hex);
	memcpy(text + len - RECORD_SUFFIX + 6, hex, 64);
	CHECK(spit(&p, FIRST_SEGMENT, text, len) && refuses(&p, NULL, "changed"));
	CHECK(repair(&p, LEDGER_REPAIR_ACCEPT_LOSS, NULL));
	CHECK(check(&p, NULL, true).status == VERIFY_OK);
	CHECK(check(&p, &k0, true).status == VERIFY_TAMPERED && check(&p, &k0, true).bad_seq == 9);
}

static void a_new_seal_begins_where_the_records_end(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct ledger_birth birth;
	struct digest k0[2];
	struct ledger_verify_result r;
	char path[256];
	struct seal s;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 10, NULL, &k0[0]));
	CHECK(ledger_repair(p.state, NULL, LEDGER_REPAIR_NEW_SEAL, &(struct ledger_mark){ 0 },
			    &(struct ledger_mark){ 0 }, &birth, NULL) == -EEXIST);
	CHECK(place_path(&p, SEAL_PATH, path) && unlink(path) == 0);
	CHECK(repair(&p, LEDGER_REPAIR_NEW_SEAL, &birth) && birth.made &&
	      digest_from_hex(birth.k0, &k0[1]) == 0);
	l = reopen(&p, NULL);
	CHECK(l && put(l, "test.event", LEDGER_DECIDED) == 0 && has_kind(&p, "seal.new"));
	text = slurp(&p, FIRST_SEGMENT, &len);
	CHECK(text && load_seal(&p, &s));
	r = judge(text, len,
		  &(struct ledger_verify_options){
			  .k0 = k0, .n_k0 = 2, .seal = &s, .seal_is_of_this_boot = true });
	CHECK(r.status == VERIFY_OK && r.sealed == 13 && r.new_seals == 1);
	r = judge(text, len,
		  &(struct ledger_verify_options){
			  .k0 = k0, .n_k0 = 1, .seal = &s, .seal_is_of_this_boot = true });
	CHECK(r.status == VERIFY_OK && r.sealed == 10 && r.new_seals == 1);
	r = judge(text, len, &(struct ledger_verify_options){ .k0 = k0 + 1, .n_k0 = 1 });
	CHECK(r.status == VERIFY_TAMPERED && r.bad_seq == 0);
}

static void the_seal_is_behind_after_a_rollback_of_it_alone(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	struct digest k0;
	struct seal old;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 5, NULL, &k0) && load_seal(&p, &old));
	l = reopen(&p, NULL);
	for (int i = 0; i < 5; i++)
		CHECK(l && put(l, "test.event", LEDGER_DECIDED) == 0);
	text = slurp(&p, FIRST_SEGMENT, &len);
	/* Seal and ledger rolled back together pass here: only a checkpoint elsewhere can know. */
	CHECK(store_seal(&p, &old) && text && spit(&p, FIRST_SEGMENT, text, old.offset) && holds(&p, &k0, 5));
	/* The seal alone: the records prove themselves. */
	CHECK(spit(&p, FIRST_SEGMENT, text, len) && check(&p, &k0, true).next == 10 && holds(&p, &k0, 10));
}

TAP_MAIN(T(a_ledger_is_made_only_when_asked_for), T(the_first_key_is_not_kept), T(two_handles_take_turns),
	 T(a_forks_child_takes_its_own_lock), T(many_events_are_one_write),
	 T(only_synced_records_count_as_synced), T(records_ahead_of_the_seal_are_taken_over),
	 T(a_kill_before_the_first_seal_leaves_one_first_record), T(a_torn_end_is_moved_away_at_every_offset),
	 T(nuls_inside_the_last_line_are_moved_away), T(strange_bytes_behind_the_end_are_moved_away),
	 T(a_power_cut_is_recorded_and_the_chain_goes_on), T(a_power_cut_that_leaves_nuls_is_the_same),
	 T(another_boot_alone_changes_nothing), T(removed_records_stop_every_writer),
	 T(a_live_segment_that_vanishes_stops_its_writer), T(a_lost_or_damaged_seal_stops_every_writer),
	 T(files_that_others_may_write_are_refused), T(segments_rotate_and_the_numbers_go_on),
	 T(merged_and_split_segments_are_found_by_verify_and_writers), T(every_rotation_is_signed),
	 T(a_rotation_is_finished_by_the_next_writer), T(a_rotation_is_finished_by_an_ordinary_user),
	 T(a_rotation_is_finished_by_an_open_writer), T(a_clock_set_back_is_a_record),
	 T(a_person_may_accept_a_loss_and_it_stays_visible),
	 T(an_accepted_rewrite_still_fails_with_the_first_key), T(a_new_seal_begins_where_the_records_end),
	 T(the_seal_is_behind_after_a_rollback_of_it_alone))
