/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "credential/credential.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "credential/credential-answer.h"
#include "credential/credential-impl.h"
#include "ledger-fixture.h"
#include "tap.h"

#define VALUE "s3cr3t-value-of-a-test"
#define OTHER "another-s3cr3t-of-a-test"

/* A state of its own, in which programs can be executed. */
struct store {
	struct place place;
	struct dirs dirs;
};

static bool store_make(struct store *s, enum lane lane)
{
	*s = (struct store){ 0 };
	return place_make_in(&s->place, "/tmp") && chmod(s->place.state, 0755) == 0 &&
	       setenv("CUSTODY_ROOT", s->place.state, 1) == 0 && dirs_load_lane(lane, &s->dirs, NULL) == 0;
}

static void store_done(struct store *s)
{
	dirs_done(&s->dirs);
	place_done(&s->place);
}
#define _cleanup_store_ _cleanup_(store_done)

static struct secret *make_secret(const char *bytes, size_t len)
{
	struct secret *s = NULL;

	if (secret_new(len, &s, NULL) < 0 || secret_add(s, bytes, len, NULL) < 0)
		return NULL;
	return s;
}

static int add_value(struct store *s, const char *name, const char *bytes, size_t len, struct fault *f)
{
	_cleanup_secret_ struct secret *value = make_secret(bytes, len);
	static char *hosts[] = { (char *)"api.example.org", NULL };
	struct credential_info i = { .kind = CREDENTIAL_VALUE, .hosts = hosts };
	bool replaced;

	(void)snprintf(i.name, sizeof(i.name), "%s", name);
	return value ? credential_add(&s->dirs, &i, value, &replaced, f) : -ENOMEM;
}

static bool has_value(struct store *s, const char *name, const char *want)
{
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const struct secret *value;

	if (credential_open(&s->dirs, name, NULL, &c, &f) == 0 && credential_value(c, &value, &f) == 0)
		return secret_len(value) == strlen(want) && strcmp(secret_bytes(value), want) == 0;
	printf("# %s\n", fault_text(&f));
	return false;
}

/* Refused with this errno, and the message has no value. */
static bool is_refused(struct store *s, const char *name, int e)
{
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const struct secret *value;
	int r = credential_open(&s->dirs, name, NULL, &c, &f);

	if (r == 0)
		r = credential_value(c, &value, &f);
	if (r == -e && !strstr(fault_text(&f), "s3cr3t"))
		return true;
	printf("# %d, not %d: %s\n", r, -e, r < 0 ? fault_text(&f) : "no error");
	return false;
}

static bool file_path(const struct store *s, const char *name, char path[512])
{
	return snprintf(path, 512, "%s/credentials/%s", s->dirs.state, name) < 512;
}

static void LANE_6_a_value_is_stored_for_its_lane_and_its_owner(void)
{
	_cleanup_store_ struct store s = { 0 };
	_cleanup_credential_info_ struct credential_info i = { 0 };
	_cleanup_credential_list_ struct credential_list l = { 0 };
	char path[512];
	struct stat st;

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(has_value(&s, "gh", VALUE));
	CHECK(file_path(&s, "gh.credential", path) && stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(credential_read_info(&s.dirs, "gh", &i, NULL) == 0 && i.lane == LANE_SANDBOX &&
	      i.class == NETWORK_CLASS_TEST && i.kind == CREDENTIAL_VALUE && i.used_us == 0);
	CHECK(add_value(&s, "gh", OTHER, strlen(OTHER), NULL) == 0 && has_value(&s, "gh", OTHER));
	CHECK(credential_load_list(&s.dirs, &l, NULL) == 0 && l.n == 1 && !l.damaged);
	CHECK(credential_remove(&s.dirs, "gh", NULL) == 0 && is_refused(&s, "gh", ENOENT));
	CHECK(credential_remove(&s.dirs, "gh", NULL) == -ENOENT);
}

static bool copy_file(const char *from, const char *to)
{
	_cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char bytes[65536];
	ssize_t n = in >= 0 ? read(in, bytes, sizeof(bytes)) : -1;

	return n >= 0 && out >= 0 && write(out, bytes, (size_t)n) == n;
}

static void LANE_6_a_credential_of_the_other_lane_or_of_none_is_refused(void)
{
	_cleanup_store_ struct store s = { 0 };
	struct dirs prod = { 0 };
	char path[512], there[512];

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(dirs_load_lane(LANE_PROD, &prod, NULL) == 0);
	dirs_done(&s.dirs);
	s.dirs = prod;
	CHECK(is_refused(&s, "gh", ENOENT) && add_value(&s, "own", OTHER, strlen(OTHER), NULL) == 0);
	/* The file of the sandbox lane, in the store of prod. */
	(void)snprintf(path, sizeof(path), "%s/sandbox/credentials/gh.credential", s.place.state);
	CHECK(file_path(&s, "gh.credential", there) && copy_file(path, there) &&
	      is_refused(&s, "gh", LANE_REFUSED) && has_value(&s, "own", OTHER));
	/* Without its stamp the whole store is refused. */
	CHECK(file_path(&s, "lane", path) && unlink(path) == 0 && is_refused(&s, "own", LANE_REFUSED));
	(void)snprintf(there, sizeof(there), "%s/sandbox/credentials/lane", s.place.state);
	CHECK(copy_file(there, path) && is_refused(&s, "own", LANE_REFUSED));
}

/* Replaces TEXT in the file of a credential by as many other bytes. */
static bool edit(const char *path, const char *text, const char *by)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	char bytes[4096];
	ssize_t n = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;
	char *at = n > 0 ? memmem(bytes, (size_t)n, text, strlen(text)) : NULL;

	return at && pwrite(fd, by, strlen(text), at - bytes) == (ssize_t)strlen(text);
}

static void hostile_files_are_refused(void)
{
	_cleanup_store_ struct store s = { 0 };
	char path[512], moved[512], link_path[512];

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(file_path(&s, "gh.credential", path) && file_path(&s, "moved", moved));
	CHECK(chmod(path, 0640) == 0 && is_refused(&s, "gh", EPERM) && chmod(path, 0600) == 0);
	CHECK(link(path, moved) == 0 && is_refused(&s, "gh", EINVAL) && unlink(moved) == 0);
	if (geteuid() == 0)
		CHECK(chown(path, 64321, 64321) == 0 && is_refused(&s, "gh", EPERM) &&
		      chown(path, 0, 0) == 0);
	CHECK(has_value(&s, "gh", VALUE));
	CHECK(rename(path, moved) == 0 && symlink(moved, path) == 0 && is_refused(&s, "gh", ELOOP));
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0 && is_refused(&s, "gh", EINVAL));
	CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0 && is_refused(&s, "gh", EINVAL));
	CHECK(rmdir(path) == 0 && rename(moved, path) == 0 && has_value(&s, "gh", VALUE));
	CHECK(file_path(&s, "other.credential", link_path) && rename(path, link_path) == 0 &&
	      is_refused(&s, "other", EBADMSG) && rename(link_path, path) == 0);
	CHECK(truncate(path, 60) == 0 && is_refused(&s, "gh", EBADMSG));
	CHECK(truncate(path, 1 << 20) == 0 && is_refused(&s, "gh", EFBIG));
	CHECK(is_refused(&s, "../gh", ENOENT) && is_refused(&s, "", ENOENT));
	(void)snprintf(moved, sizeof(moved), "%s/credentials", s.dirs.state);
	CHECK(add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0 && chmod(moved, 0750) == 0 &&
	      is_refused(&s, "gh", EPERM));
}

static void changed_headers_are_refused(void)
{
	static const struct {
		const char *text, *by;
		int e;
	} edits[] = {
		{ "\"sandbox\"", "\"SANDBOX\"", LANE_REFUSED },
		{ "\"test\"", "\"prod\"", LANE_REFUSED },
		{ "\"kind\"", "\"king\"", EBADMSG },
		{ "\"value\"", "\"exec\" ", EBADMSG },
		{ "\"version\":1", "\"version\":2", EBADMSG },
		{ "\"bytes\":22", "\"bytes\":21", EBADMSG },
		{ "api.example.org", "api..xample.org", EBADMSG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		_cleanup_store_ struct store s = { 0 };
		char path[512];

		CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
		CHECK(file_path(&s, "gh.credential", path) && edit(path, edits[i].text, edits[i].by));
		CHECK(is_refused(&s, "gh", edits[i].e));
	}
}

static void a_damaged_credential_does_not_hide_the_others(void)
{
	_cleanup_credential_list_ struct credential_list l = { 0 };
	_cleanup_store_ struct store s = { 0 };
	char path[512];

	CHECK(store_make(&s, LANE_SANDBOX) && credential_load_list(&s.dirs, &l, NULL) == 0 && l.n == 0);
	CHECK(add_value(&s, "a", VALUE, strlen(VALUE), NULL) == 0 &&
	      add_value(&s, "b", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(file_path(&s, "a.credential", path) && truncate(path, 10) == 0);
	CHECK(credential_load_list(&s.dirs, &l, NULL) == 0 && l.n == 1 && strcmp(l.items[0].name, "b") == 0 &&
	      strv_len(l.damaged) == 1 && strstr(l.damaged[0], "'a'"));
}

static void values_that_cannot_be_kept_are_refused(void)
{
	_cleanup_store_ struct store s = { 0 };
	static char big[CREDENTIAL_VALUE_MAX + 1];

	memset(big, 'x', sizeof(big));
	CHECK(store_make(&s, LANE_SANDBOX));
	CHECK(add_value(&s, "a", "1234567", 7, NULL) == -EINVAL);
	CHECK(add_value(&s, "a", "1234\0005678", 9, NULL) == -EINVAL);
	CHECK(add_value(&s, "a", big, sizeof(big), NULL) == -EMSGSIZE);
	CHECK(add_value(&s, "A", VALUE, strlen(VALUE), NULL) == -EINVAL &&
	      add_value(&s, ".a", VALUE, strlen(VALUE), NULL) == -EINVAL);
	CHECK(is_refused(&s, "a", ENOENT));
	CHECK(add_value(&s, "a", big, sizeof(big) - 1, NULL) == 0);
}

/* Killed at any moment: the old value or the new one, and the next change removes leftovers. */
static void a_killed_writer_leaves_one_of_the_values(void)
{
	_cleanup_store_ struct store s = { 0 };
	char path[512];

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	for (int i = 0; i < 20; i++) {
		_cleanup_credential_ struct credential *c = NULL;
		const struct secret *value;
		int ends[2];
		char byte;
		pid_t pid;

		CHECK(pipe(ends) == 0);
		pid = fork();
		if (pid == 0)
			for (int k = 0;; k++)
				if (add_value(&s, "gh", k % 2 ? VALUE : OTHER, strlen(k % 2 ? VALUE : OTHER),
					      NULL) < 0 ||
				    write(ends[1], "x", 1) != 1)
					_exit(1);
		for (int k = 0; k <= i; k++)
			CHECK(read(ends[0], &byte, 1) == 1);
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
		(void)close(ends[0]);
		(void)close(ends[1]);
		CHECK(credential_open(&s.dirs, "gh", NULL, &c, NULL) == 0 &&
		      credential_value(c, &value, NULL) == 0);
		CHECK(strcmp(secret_bytes(value), VALUE) == 0 || strcmp(secret_bytes(value), OTHER) == 0);
	}
	CHECK(file_path(&s, ".new-0123456789abcdef", path) && copy_file("/dev/null", path));
	CHECK(add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0 && access(path, F_OK) < 0);
	CHECK(credential_remove(&s.dirs, "gh", NULL) == 0);
}

/* What the kernel says of the pages of S, or NULL. */
static char *read_flags(const struct secret *s)
{
	_cleanup_free_ char *maps = NULL;
	_cleanup_close_ int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	char want[32], *flags;
	size_t len;

	if (!s || fd < 0 || fd_read_all(fd, (size_t)1 << 24, &maps, &len, NULL) < 0)
		return NULL;
	(void)snprintf(want, sizeof(want), "\n%lx-", (unsigned long)(uintptr_t)secret_bytes(s) & ~0xfffUL);
	flags = strstr(maps, want);
	flags = flags ? strstr(flags, "VmFlags:") : NULL;
	return flags ? strndup(flags, strcspn(flags, "\n")) : NULL;
}

static void ISO_12_a_value_is_in_locked_memory_that_no_dump_has(void)
{
	_cleanup_secret_ struct secret *s = make_secret(VALUE, strlen(VALUE));
	_cleanup_free_ char *flags = NULL;

	/* valgrind shows other mappings. */
	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	flags = read_flags(s);
	CHECK(flags && strstr(flags, " dd"));
#ifndef __SANITIZE_ADDRESS__ /* which replaces mlock by nothing */
	CHECK(strstr(flags, " lo"));
#endif
	secret_cut(s, 2, 3);
	CHECK(strcmp(secret_bytes(s), "cr3") == 0 && !memmem(secret_bytes(s), 64, "value", 5));
}

/* Their copy would not be locked. */
static void ISO_12_children_of_a_process_do_not_get_the_value_that_it_keeps(void)
{
	_cleanup_store_ struct store s = { 0 };
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_free_ char *flags = NULL;
	const struct secret *value;

	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(credential_open(&s.dirs, "gh", NULL, &c, NULL) == 0 && credential_value(c, &value, NULL) == 0);
	flags = read_flags(value);
	CHECK(flags && strstr(flags, " dc"));
}

static void hosts_are_matched_by_whole_labels(void)
{
	static char *const hosts[] = { (char *)"api.example.org", (char *)"*.example.com", NULL };
	static const char *const yes[] = { "api.example.org", "API.Example.ORG", "a.example.com",
					   "a.b.example.com" };
	static const char *const no[] = { "example.org",    "xapi.example.org", "api.example.org.evil.net",
					  "example.com",    "xexample.com",	"evil.net/.example.com",
					  "*.example.com",  "api.example.org.", "",
					  "a..example.com", "-a.example.com",	"user@a.example.com" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		CHECK(credential_host_fits(hosts, yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		CHECK(!credential_host_fits(hosts, no[i]));
	CHECK(!credential_host_fits(NULL, "api.example.org"));
}

static void a_credential_goes_only_to_its_hosts(void)
{
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_store_ struct store s = { 0 };

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(credential_open(&s.dirs, "gh", "evil.example.org", &c, NULL) == -EACCES && !c);
	CHECK(credential_open(&s.dirs, "gh", "api.example.org", &c, NULL) == 0);
}

/* Every record of the ledger, as one text. */
static char *read_ledger(struct store *s)
{
	char path[512], *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/" FIRST_SEGMENT, s->dirs.state);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && fd_read_all(fd, (size_t)1 << 24, &text, &len, NULL) == 0 ? text : NULL;
}

static void DOOR_9_each_use_is_a_record_without_the_value(void)
{
	const struct credential_use use = {
		.session = "s-1", .agent = "a", .to = "api.example.org:443", .tool = "rest"
	};
	_cleanup_credential_info_ struct credential_info i = { 0 };
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_store_ struct store s = { 0 };
	const struct secret *value;

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(ledger_open(s.dirs.state, &(struct ledger_options){ .create = true }, &l, NULL, NULL) == 0);
	CHECK(credential_open(&s.dirs, "gh", "api.example.org", &c, NULL) == 0 &&
	      credential_value(c, &value, NULL) == 0);
	CHECK(credential_record_use(c, l, &use, NULL) == 0);
	CHECK(credential_record_refusal("gh", l, &use, "not for this host", NULL) == 0);
	text = read_ledger(&s);
	CHECK(text &&
	      strstr(text,
		     "\"k\":\"credential.use\",\"session\":\"s-1\",\"agent\":\"a\",\"status\":\"ok\"") &&
	      strstr(text, "\"name\":\"gh\"") && strstr(text, "\"to\":\"api.example.org:443\"") &&
	      strstr(text, "\"k\":\"credential.refused\"") && !strstr(text, VALUE));
	CHECK(credential_read_info(&s.dirs, "gh", &i, NULL) == 0 && i.used_us > 0 &&
	      i.used_us <= clock_wall_us() + 1000000);
}

static void DOOR_2_records_of_a_process_never_have_a_value_that_it_loaded(void)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object(), *key = jdoc_new_object();
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *text = NULL;
	_cleanup_store_ struct store s = { 0 };
	struct redact_secret room[4];
	struct redact rules = { 0 };
	const struct secret *value;
	struct jdoc *list;

	CHECK(store_make(&s, LANE_SANDBOX) && add_value(&s, "gh", VALUE, strlen(VALUE), NULL) == 0);
	CHECK(ledger_open(s.dirs.state, &(struct ledger_options){ .create = true }, &l, NULL, NULL) == 0);
	CHECK(credential_open(&s.dirs, "gh", NULL, &c, NULL) == 0 && credential_value(c, &value, NULL) == 0);
	CHECK(add_value(&s, "gh", OTHER, strlen(OTHER), NULL) == 0 && credential_value(c, &value, NULL) == 0);
	/* The old value as well. */
	credential_redact(c, room, ARRAY_SIZE(room), &rules);
	CHECK(rules.n_secrets == 2);
	ledger_set_redact(l, &rules);
	jdoc_set_string(d, "plain", "before" VALUE "behind");
	jdoc_set_string(d, "twice", OTHER OTHER " and " VALUE);
	list = jdoc_set_array(jdoc_set_object(d, "nested"), "list");
	jdoc_append_string(list, "x=" OTHER);
	jdoc_set(d, "bytes", ledger_text("\xff " VALUE " \xff"));
	jdoc_set(d, "other", ledger_text("\xff bytes"));
	CHECK(ledger_append(l, &(struct ledger_event){ .kind = "test.event", .d = d }, 1, LEDGER_DECIDED,
			    NULL, NULL) == 0);
	jdoc_set_string(key, "k-" VALUE, "v");
	CHECK(ledger_append(l, &(struct ledger_event){ .kind = "test.event", .d = key }, 1, LEDGER_DECIDED,
			    NULL, NULL) < 0);
	text = read_ledger(&s);
	CHECK(text && !strstr(text, "s3cr3t") && strstr(text, "before[redacted]behind") &&
	      strstr(text, "\"x=[redacted]\""));
	CHECK(strstr(text, "\"bytes\":{\"b64\":\"W3JlZGFjdGVkXQ==\"}") &&
	      strstr(text, "\"other\":{\"b64\":\"/yBieXRlcw==\"}"));
}

static bool is_time(const char *text, uint64_t *ret_us)
{
	return credential_time_parse(text, strlen(text), ret_us) == 0;
}

/* A day that does not exist would be a later one: the token would be kept for longer than it lives. */
static void an_expiry_is_a_day_that_exists(void)
{
	uint64_t us = 0;

	CHECK(is_time("2026-02-28T23:59:59Z", &us) && us == UINT64_C(1772323199000000));
	CHECK(is_time("2028-02-29T00:00:00Z", &us));
	CHECK(!is_time("2026-02-29T00:00:00Z", &us) && !is_time("2026-02-31T00:00:00Z", &us));
	CHECK(!is_time("2026-04-31T00:00:00Z", &us) && !is_time("2100-02-29T00:00:00Z", &us));
}

static void a_token_is_kept_for_a_day_at_most(void)
{
	const uint64_t day_us = UINT64_C(86400) * 1000000;

	CHECK(credential_keep_ns(0) == 0);
	CHECK(credential_keep_ns(1000) == 800000);
	CHECK(credential_keep_ns(day_us) == day_us / 10 * 8 * 1000);
	CHECK(credential_keep_ns(10 * day_us) == day_us * 1000);
	/* 731 years are 2^64 ns, of which a multiplication leaves nothing. */
	CHECK(credential_keep_ns(UINT64_C(23058430092136940)) == day_us * 1000);
	CHECK(credential_keep_ns(UINT64_MAX) == day_us * 1000);
}

TAP_MAIN(T(an_expiry_is_a_day_that_exists), T(a_token_is_kept_for_a_day_at_most),
	 T(LANE_6_a_value_is_stored_for_its_lane_and_its_owner),
	 T(LANE_6_a_credential_of_the_other_lane_or_of_none_is_refused), T(hostile_files_are_refused),
	 T(changed_headers_are_refused), T(a_damaged_credential_does_not_hide_the_others),
	 T(values_that_cannot_be_kept_are_refused), T(a_killed_writer_leaves_one_of_the_values),
	 T(ISO_12_a_value_is_in_locked_memory_that_no_dump_has),
	 T(ISO_12_children_of_a_process_do_not_get_the_value_that_it_keeps),
	 T(hosts_are_matched_by_whole_labels), T(a_credential_goes_only_to_its_hosts),
	 T(DOOR_9_each_use_is_a_record_without_the_value),
	 T(DOOR_2_records_of_a_process_never_have_a_value_that_it_loaded))
