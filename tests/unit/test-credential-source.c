/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "credential/credential.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "credential/credential-answer.h"
#include "credential/credential-impl.h"
#include "ledger-fixture.h"
#include "tap.h"

#define TOKEN "t0ken-of-a-test-1"

/* valgrind does not know pidfd_open, without which no program is executed. */
static bool has_programs(void)
{
	return !tap_has("CUSTODY_TEST_VALGRIND", "1");
}

struct store {
	struct place place;
	struct dirs dirs;
};

static bool store_make(struct store *s)
{
	*s = (struct store){ 0 };
	return place_make_in(&s->place, "/tmp") && chmod(s->place.state, 0755) == 0 &&
	       setenv("CUSTODY_ROOT", s->place.state, 1) == 0 &&
	       dirs_load_lane(LANE_SANDBOX, &s->dirs, NULL) == 0;
}

static void store_done(struct store *s)
{
	dirs_done(&s->dirs);
	place_done(&s->place);
}
#define _cleanup_store_ _cleanup_(store_done)

static bool write_mode(const char *path, const char *text, mode_t mode)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0;
}

/* A script of sh with this body; its path in PATH. */
static bool write_program(const struct store *s, const char *body, char path[256])
{
	char text[2048];

	return place_path(&s->place, "program", path) &&
	       snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", body) < (int)sizeof(text) &&
	       write_mode(path, text, 0755);
}

static int add(const struct store *s, enum credential_kind kind, const char *source, struct fault *f)
{
	const struct credential_info i = { .name = "c", .kind = kind, .source = (char *)source };
	bool replaced;

	return credential_add(&s->dirs, &i, NULL, &replaced, f);
}

/* 0 with the value, or a refusal whose message has no token. */
static int load(const struct store *s, char value[256], struct fault *f)
{
	_cleanup_credential_ struct credential *c = NULL;
	const struct secret *v;
	int r = credential_open(&s->dirs, "c", NULL, &c, f);

	if (r == 0)
		r = credential_value(c, &v, f);
	if (r == 0)
		(void)snprintf(value, 256, "%s", secret_bytes(v));
	return r;
}

/* What a program with this body leads to: 0, or the errno of a refusal that says WHY. */
static int try_program(const char *body, const char *why)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_store_ struct store s = { 0 };
	char path[256], value[256];
	int r;

	if (!store_make(&s) || !write_program(&s, body, path) || add(&s, CREDENTIAL_EXEC, path, &f) < 0)
		return -1;
	r = load(&s, value, &f);
	if (r == 0)
		return strcmp(value, TOKEN) == 0 ? 0 : -2;
	if (strstr(fault_text(&f), "t0ken") || !strstr(fault_text(&f), why)) {
		printf("# %s\n", fault_text(&f));
		return -3;
	}
	return -r;
}

#define ANSWER "{\"version\":1,\"token\":\"" TOKEN "\"}"

static void DOOR_8_a_program_gives_a_token_or_a_reason(void)
{
	if (!has_programs())
		return;
	CHECK(try_program("echo '" ANSWER "'", "") == 0);
	CHECK(try_program("echo '" ANSWER "'; exit 3", "ended with status 3") == EIO);
	CHECK(try_program("echo '" ANSWER "'; kill -9 $$", "killed by signal 9") == EIO);
	CHECK(try_program("echo " TOKEN, "one JSON object") == EBADMSG);
	CHECK(try_program("echo " TOKEN " >&2; exit 1", "ended with status 1") == EIO);
	CHECK(try_program("exec cat /dev/zero", "more than 16384 bytes") == EMSGSIZE);
	CHECK(try_program("while :; do echo " TOKEN "; done", "more than") == EMSGSIZE);
	CHECK(try_program("echo '{\"version\":1,\"token\":\"short\"}'", "at least 8") == EINVAL);
	CHECK(try_program("echo '{\"version\":1,\"token\":\"" TOKEN
			  "\",\"expires_at\":\"2001-01-01T00:00:00Z\"}'",
			  "expired") == EKEYEXPIRED);
	CHECK(try_program(":", "one JSON object") == EBADMSG);
}

/* A child that keeps its output open neither delays the answer nor survives. */
static void a_program_leaves_no_process(void)
{
	_cleanup_store_ struct store s = { 0 };
	char path[256], pidfile[256], body[1024], value[256], *text;
	uint64_t pid;
	size_t len;

	if (!has_programs())
		return;
	CHECK(store_make(&s) && place_path(&s.place, "pid", pidfile));
	(void)snprintf(body, sizeof(body), "setsid sleep 1000 & echo $! >%s; echo '" ANSWER "'", pidfile);
	CHECK(write_program(&s, body, path) && add(&s, CREDENTIAL_EXEC, path, NULL) == 0);
	CHECK(load(&s, value, NULL) == 0 && strcmp(value, TOKEN) == 0);
	text = slurp(&s.place, "pid", &len);
	CHECK(text);
	text[strcspn(text, "\n")] = '\0';
	CHECK(str_to_u64(text, &pid) == 0);
	free(text);
	CHECK(kill((pid_t)pid, 0) < 0 && errno == ESRCH);
}

static void a_program_that_hangs_is_killed_and_refused(void)
{
	_cleanup_secret_ struct secret *out = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_store_ struct store s = { 0 };
	char path[256];

	if (!has_programs())
		return;
	CHECK(store_make(&s) && write_program(&s, "trap '' TERM INT; echo x; exec sleep 1000", path));
	CHECK(credential_exec(path, "c", 300, &out, &f) == -ETIMEDOUT && !out);
	CHECK(write_program(&s, "exec >&-; exec sleep 1000", path));
	fault_done(&f);
	CHECK(credential_exec(path, "c", 300, &out, &f) == -ETIMEDOUT && !out);
}

static void a_program_gets_few_variables_and_no_descriptor(void)
{
	_cleanup_secret_ struct secret *out = NULL;
	_cleanup_store_ struct store s = { 0 };
	char path[256];
	int fd;

	if (!has_programs())
		return;
	CHECK(setenv("CUSTODY_TEST_PRIVATE", "private", 1) == 0);
	fd = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
	CHECK(store_make(&s) && write_program(&s, "env; ls /proc/self/fd | wc -l", path));
	CHECK(credential_exec(path, "c", 5000, &out, NULL) == 0);
	CHECK(!strstr(secret_bytes(out), "CUSTODY_TEST_PRIVATE") &&
	      strstr(secret_bytes(out), "CUSTODY_CREDENTIAL=c\n"));
	/* stdio, and the directory that ls reads. */
	CHECK(strstr(secret_bytes(out), "\n4\n"));
	(void)close(fd);
	(void)unsetenv("CUSTODY_TEST_PRIVATE");
}

static void programs_that_others_can_change_are_not_executed(void)
{
	_cleanup_store_ struct store s = { 0 };
	char path[256], dir[256], inside[512], trace[256], body[512], value[256];

	if (!has_programs())
		return;
	CHECK(store_make(&s) && place_path(&s.place, "trace", trace) && place_path(&s.place, "dir", dir));
	(void)snprintf(body, sizeof(body), "touch %s; echo '" ANSWER "'", trace);
	CHECK(write_program(&s, body, path) && add(&s, CREDENTIAL_EXEC, path, NULL) == 0);
	CHECK(chmod(path, 0757) == 0 && load(&s, value, NULL) == -EPERM && access(trace, F_OK) < 0);
	CHECK(add(&s, CREDENTIAL_EXEC, path, NULL) == -EPERM);
	CHECK(add(&s, CREDENTIAL_EXEC, "program", NULL) == -EINVAL);
	/* In a directory that others can write, although the file itself is fine. */
	CHECK(mkdir(dir, 0755) == 0 && snprintf(inside, sizeof(inside), "%s/p", dir) > 0 &&
	      chmod(path, 0755) == 0 && rename(path, inside) == 0);
	CHECK(add(&s, CREDENTIAL_EXEC, inside, NULL) == 0 && load(&s, value, NULL) == 0 &&
	      unlink(trace) == 0);
	CHECK(chmod(dir, 0777) == 0 && load(&s, value, NULL) == -EPERM && access(trace, F_OK) < 0);
	if (geteuid() == 0)
		CHECK(chmod(dir, 0755) == 0 && chown(inside, 64321, 64321) == 0 &&
		      load(&s, value, NULL) == -EPERM && access(trace, F_OK) < 0);
	CHECK(add(&s, CREDENTIAL_EXEC, dir, NULL) < 0);
}

static size_t count_calls(const struct store *s)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	text = slurp(&s->place, "calls", &len);
	return text ? len : 0;
}

/* The program writes one byte per call. */
static bool open_counted(struct store *s, const char *expiry, struct credential **ret)
{
	char path[256], calls[256], body[1024];

	if (!store_make(s) || !place_path(&s->place, "calls", calls))
		return false;
	(void)snprintf(body, sizeof(body),
		       "printf x >>%s; printf '{\"version\":1,\"token\":\"" TOKEN "\"%s}'", calls, expiry);
	return write_program(s, body, path) && add(s, CREDENTIAL_EXEC, path, NULL) == 0 &&
	       credential_open(&s->dirs, "c", NULL, ret, NULL) == 0;
}

static void DOOR_8_a_token_is_kept_and_refreshed_before_it_expires(void)
{
	_cleanup_credential_ struct credential *kept = NULL, *plain = NULL, *brief = NULL;
	_cleanup_store_ struct store s = { 0 }, t = { 0 }, u = { 0 };
	char expiry[64], when[CLOCK_TEXT_SIZE];
	const struct secret *value;

	if (!has_programs())
		return;
	CHECK(open_counted(&s, ",\"expires_at\":\"2100-01-01T00:00:00Z\"", &kept));
	for (int i = 0; i < 5; i++)
		CHECK(credential_value(kept, &value, NULL) == 0 && strcmp(secret_bytes(value), TOKEN) == 0);
	CHECK(count_calls(&s) == 1 && credential_info(kept)->expires_us == (uint64_t)4102444800000000);
	CHECK(open_counted(&t, "", &plain) && credential_value(plain, &value, NULL) == 0 &&
	      credential_value(plain, &value, NULL) == 0 && count_calls(&t) == 1);
	/* Three seconds to live: the second call is before its end, and after 80 % of it. */
	clock_format(clock_wall_us() + 3000000, when);
	(void)snprintf(expiry, sizeof(expiry), ",\"expires_at\":\"%s\"", when);
	CHECK(open_counted(&u, expiry, &brief));
	while (count_calls(&u) < 2) {
		if (credential_value(brief, &value, NULL) < 0)
			break;
		CHECK(clock_wall_us() < credential_info(brief)->expires_us + 10000000);
		(void)nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	CHECK(count_calls(&u) == 2);
}

static void files_are_read_at_each_use_and_checked(void)
{
	_cleanup_credential_ struct credential *c = NULL;
	_cleanup_store_ struct store s = { 0 };
	char path[256], value[256];
	const struct secret *v;

	CHECK(store_make(&s) && place_path(&s.place, "token", path) && write_mode(path, TOKEN "\n", 0600));
	CHECK(add(&s, CREDENTIAL_FILE, path, NULL) == 0 && load(&s, value, NULL) == 0 &&
	      strcmp(value, TOKEN) == 0);
	CHECK(credential_open(&s.dirs, "c", NULL, &c, NULL) == 0 && credential_value(c, &v, NULL) == 0);
	CHECK(write_mode(path, "changed-" TOKEN "\r\n", 0600) && credential_value(c, &v, NULL) == 0 &&
	      strcmp(secret_bytes(v), "changed-" TOKEN) == 0);
	CHECK(chmod(path, 0644) == 0 && credential_value(c, &v, NULL) == -EPERM);
	CHECK(unlink(path) == 0 && credential_value(c, &v, NULL) == -ENOENT);
	CHECK(mkfifo(path, 0600) == 0 && credential_value(c, &v, NULL) == -EINVAL);
	CHECK(unlink(path) == 0 && symlink("/dev/zero", path) == 0 && credential_value(c, &v, NULL) < 0);
}

static void credentials_of_systemd_come_from_its_directory(void)
{
	_cleanup_store_ struct store s = { 0 };
	char dir[256], path[512], value[256];

	CHECK(store_make(&s) && place_path(&s.place, "cred", dir) && mkdir(dir, 0700) == 0);
	CHECK(add(&s, CREDENTIAL_SYSTEMD, "../token", NULL) == -EINVAL);
	CHECK(add(&s, CREDENTIAL_SYSTEMD, "token", NULL) == 0);
	(void)unsetenv("CREDENTIALS_DIRECTORY");
	CHECK(load(&s, value, NULL) == -ENOENT);
	CHECK(setenv("CREDENTIALS_DIRECTORY", dir, 1) == 0 && load(&s, value, NULL) == -ENOENT);
	CHECK(snprintf(path, sizeof(path), "%s/token", dir) > 0 && write_mode(path, TOKEN, 0440));
	CHECK(load(&s, value, NULL) == 0 && strcmp(value, TOKEN) == 0);
	CHECK(setenv("CREDENTIALS_DIRECTORY", "cred", 1) == 0 && load(&s, value, NULL) == -ENOENT);
	(void)unsetenv("CREDENTIALS_DIRECTORY");
}

static void answers_are_read_strictly(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"null",
		"{}",
		"{\"token\":\"" TOKEN "\"}",
		"{\"version\":1}",
		"{\"version\":2,\"token\":\"" TOKEN "\"}",
		"{\"version\":\"1\",\"token\":\"" TOKEN "\"}",
		"{\"version\":1,\"token\":7}",
		"{\"version\":1,\"token\":null}",
		"{\"version\":1,\"token\":\"" TOKEN "\\u0041\"}",
		"{\"version\":1,\"token\":\"" TOKEN "\n\"}",
		"{\"version\":1,\"token\":\"" TOKEN "\",\"token\":\"other-token\"}",
		ANSWER "{}",
		"x" ANSWER,
		"{\"version\":1,\"token\":\"" TOKEN "\",\"expires_at\":1}",
		"{\"version\":1,\"token\":\"" TOKEN "\",\"expires_at\":\"tomorrow\"}",
		"{\"version\":1,\"token\":\"" TOKEN,
		"{\"version\":1,\"a\":[[[[[[[[[[[1]]]]]]]]]]],\"token\":\"" TOKEN "\"}",
	};
	static const char odd[] = " { \"more\":[1,{}],\"token\":\"a\\/b\\\\c\\\"d\\n\",\"version\":1}\n";
	_cleanup_secret_ struct secret *token = NULL;
	uint64_t expires;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(credential_answer_parse(bad[i], strlen(bad[i]), &token, &expires, &f) < 0 && !token);
		CHECK(!strstr(fault_text(&f), "t0ken"));
	}
	CHECK(credential_answer_parse(odd, strlen(odd), &token, &expires, NULL) == 0);
	CHECK(strcmp(secret_bytes(token), "a/b\\c\"d\n") == 0 && expires == 0);
}

static void times_are_those_of_rfc_3339(void)
{
	static const char *const bad[] = { "",
					   "2026-11-19",
					   "2026-11-19T15:00:00",
					   "2026-11-19 15:00:00Z",
					   "2026-13-19T15:00:00Z",
					   "2026-11-19T24:00:00Z",
					   "2026-11-19T15:00:00+0100",
					   "2026-11-19T15:00:00Zx",
					   "1969-01-01T00:00:00Z",
					   "2026-11-19T15:00:00+25:00" };
	uint64_t us, other;

	CHECK(credential_time_parse("2026-11-19T15:00:00Z", 20, &us) == 0 &&
	      us == (uint64_t)1795100400000000);
	CHECK(credential_time_parse("2026-11-19T16:00:00.5+01:00", 27, &other) == 0 && other == us);
	CHECK(credential_time_parse("2026-11-19T10:00:00-05:00", 25, &other) == 0 && other == us);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(credential_time_parse(bad[i], strlen(bad[i]), &us) < 0);
}

TAP_MAIN(T(DOOR_8_a_program_gives_a_token_or_a_reason), T(a_program_leaves_no_process),
	 T(a_program_that_hangs_is_killed_and_refused), T(a_program_gets_few_variables_and_no_descriptor),
	 T(programs_that_others_can_change_are_not_executed),
	 T(DOOR_8_a_token_is_kept_and_refreshed_before_it_expires), T(files_are_read_at_each_use_and_checked),
	 T(credentials_of_systemd_come_from_its_directory), T(answers_are_read_strictly),
	 T(times_are_those_of_rfc_3339))
