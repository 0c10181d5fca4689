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
#include "ledger/ledger-session.h"
#include "session/session.h"
#include "state/state-version.h"

#include "tap.h"

#define ID "20261116T031500Z-aaaaaaaa"
#define NO_SESSION                                 \
	{                                          \
		.run_fd = -EBADF, .ids_fd = -EBADF \
	}

static char root[] = "/tmp/custody-lane-XXXXXX";

static void LANE_1_words_and_aliases(void)
{
	static const struct {
		const char *text;
		enum lane lane;
	} rows[] = {
		{ NULL, LANE_SANDBOX },	     { "", LANE_SANDBOX },	  { " \t ", LANE_SANDBOX },
		{ "sandbox", LANE_SANDBOX }, { "test", LANE_SANDBOX },	  { "Sandbox", LANE_SANDBOX },
		{ "TEST ", LANE_SANDBOX },   { "prod", LANE_PROD },	  { "Prod ", LANE_PROD },
		{ " prod", LANE_PROD },	     { "PRODUCTION", LANE_PROD }, { "production", LANE_PROD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum lane lane = _LANE_MAX;

		CHECK(lane_parse(rows[i].text, &lane, NULL) == 0);
		CHECK(lane == rows[i].lane);
	}
}

static void LANE_1_anything_else_is_an_error_that_names_both(void)
{
	static const char *const words[] = { "sandbox\n", "prod\n",   "\n",	  "pro",	  "prods",
					     "prod prod", "live",     "sand box", "prod\xc2\xa0", "рrod",
					     "0",	  "prod\x01", "staging",  "sandbox,prod" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_fault_ struct fault f = { 0 };
		enum lane lane = _LANE_MAX;

		CHECK(lane_parse(words[i], &lane, &f) == -EINVAL);
		CHECK(lane == _LANE_MAX);
		CHECK(strstr(f.text, "sandbox") && strstr(f.text, "prod") && !strchr(f.text, '\n'));
	}
}

static int gate(enum lane lane, bool flag, const char *env, struct fault *f)
{
	_cleanup_lane_pass_ struct lane_pass *p = NULL;
	char *argv[] = { (char *)"run", (char *)"--", (char *)"make", NULL };

	return lane_gate(
		&(struct lane_ask){ .lane = lane, .allow_prod = flag, .allow_env = env, .argv = argv }, &p,
		f);
}

static void LANE_2_prod_needs_both_keys(void)
{
	static const char *const yes[] = { "1", "true", "yes", "y", "on", "TRUE", "On" };
	static const char *const no[] = { NULL, "",   "0", "false",	 "no",	"off",
					  " ",	"1 ", "2", "yes please", "prod" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		CHECK(gate(LANE_PROD, true, yes[i], NULL) == 0);
		CHECK(gate(LANE_PROD, false, yes[i], NULL) == -LANE_REFUSED);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		CHECK(gate(LANE_PROD, true, no[i], NULL) == -LANE_REFUSED);
		CHECK(gate(LANE_PROD, false, no[i], NULL) == -LANE_REFUSED);
		CHECK(gate(LANE_SANDBOX, false, no[i], NULL) == 0);
	}
	CHECK(gate((enum lane)7, true, "1", NULL) == -LANE_REFUSED);
}

static const char *missing(const struct fault *f, char part[256])
{
	const char *at = strstr(f->text, "missing: ");

	(void)snprintf(part, 256, "%.*s", at ? (int)strcspn(at + 9, ";") : 0, at ? at + 9 : "");
	return part;
}

static void LANE_2_refusal_names_exactly_the_missing_key(void)
{
	_cleanup_fault_ struct fault none = { 0 }, flag = { 0 }, env = { 0 }, odd = { 0 };
	char part[256];

	CHECK(gate(LANE_PROD, false, NULL, &none) < 0 && gate(LANE_PROD, true, "", &flag) < 0 &&
	      gate(LANE_PROD, false, "1", &env) < 0 && gate(LANE_PROD, true, "0", &odd) < 0);
	CHECK(strcmp(missing(&none, part), "--allow-prod and CUSTODY_ALLOW_PROD") == 0);
	CHECK(strcmp(missing(&flag, part), "CUSTODY_ALLOW_PROD") == 0);
	CHECK(strcmp(missing(&env, part), "--allow-prod") == 0);
	CHECK(str_starts(missing(&odd, part), "CUSTODY_ALLOW_PROD (it is '0', "));
	CHECK(strstr(none.text, "nothing was started"));
}

/* The printed command is passed to sh, as a person would paste it; the program prints its arguments. */
static char *paste(char *const *argv, const char *program, bool flag)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_lane_pass_ struct lane_pass *p = NULL;
	_cleanup_free_ char *shown = NULL, *script = NULL;
	const char *line;
	char *out = NULL;
	size_t len = 0;
	FILE *pipe;

	if (lane_gate(
		    &(struct lane_ask){
			    .lane = LANE_PROD, .allow_prod = flag, .program = program, .argv = argv },
		    &p, &f) != -LANE_REFUSED)
		return NULL;
	shown = str_escape(fault_text(&f)); /* as log_error does */
	line = shown ? strstr(shown, "to start it: ") : NULL;
	if (!line || asprintf(&script, "%s", line + strlen("to start it: ")) < 0)
		return NULL;
	pipe = popen(script, "re");
	if (!pipe)
		return NULL;
	if (getdelim(&out, &len, '\0', pipe) < 0)
		out = NULL;
	(void)pclose(pipe);
	return out;
}

static void write_echo(char path[64])
{
	_cleanup_close_ int fd = -EBADF;
	static const char text[] = "#!/bin/sh\n[ \"$CUSTODY_ALLOW_PROD\" = 1 ] || exit 9\nfor a; do printf "
				   "'<%s>' \"$a\"; done\n";

	(void)snprintf(path, 64, "%s/my prog", root);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	if (fd < 0 || fd_write_all(fd, text, strlen(text), NULL) < 0)
		path[0] = '\0';
}

static void LANE_2_pasted_line_has_the_same_words(void)
{
	char path[64];
	char *plain[] = {
		(char *)"run", (char *)"--lane", (char *)"prod", (char *)"--", (char *)"make", NULL
	};
	char *env_lane[] = { (char *)"run", (char *)"--", (char *)"echo", (char *)"--lane", NULL };
	char *odd[] = { (char *)"run",
			(char *)"--lane=prod",
			(char *)"--",
			(char *)"it's",
			(char *)"a b;c|d&$HOME`x`\\n\"",
			(char *)"",
			(char *)"new\nline\n",
			(char *)"tab\t100%d \\033",
			(char *)"bell\a\x1b[31m",
			(char *)"\xc3\xa9\xe2\x80\xae",
			(char *)"*",
			(char *)"~",
			NULL };
	_cleanup_free_ char *a = NULL, *b = NULL, *c = NULL, *d = NULL;

	write_echo(path);
	a = paste(plain, path, false);
	CHECK(a && strcmp(a, "<run><--allow-prod><--lane><prod><--><make>") == 0);
	b = paste(plain, path, true);
	CHECK(b && strcmp(b, "<run><--lane><prod><--><make>") == 0);
	c = paste(env_lane, path, false);
	CHECK(c && strcmp(c, "<run><--allow-prod><--lane><prod><--><echo><--lane>") == 0);
	d = paste(odd, path, false);
	CHECK(d &&
	      strcmp(d, "<run><--allow-prod><--lane=prod><--><it's><a b;c|d&$HOME`x`\\n\"><><new\nline\n>"
			"<tab\t100%d \\033><bell\a\x1b[31m><\xc3\xa9\xe2\x80\xae><*><~>") == 0);
}

static int load(enum lane lane, struct dirs *d)
{
	return setenv("CUSTODY_ROOT", root, 1) == 0 ? dirs_load_lane(lane, d, NULL) : -1;
}

static bool has(const char *name)
{
	_cleanup_free_ char *path = path_join(root, name);

	return path && access(path, F_OK) == 0;
}

static void LANE_3_no_session_without_the_gate(void)
{
	_cleanup_dirs_ struct dirs d = { 0 }, p = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_lane_pass_ struct lane_pass *sandbox = NULL, *prod = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(load(LANE_SANDBOX, &d) == 0 && load(LANE_PROD, &p) == 0);
	CHECK(lane_gate(&(struct lane_ask){ .lane = LANE_SANDBOX }, &sandbox, NULL) == 0);
	CHECK(lane_gate(&(struct lane_ask){ .lane = LANE_PROD, .allow_prod = true, .allow_env = "1" }, &prod,
			NULL) == 0);
	CHECK(session_open(&d, NULL, ID, &s, NULL) == -LANE_REFUSED);
	CHECK(session_open(&p, NULL, ID, &s, NULL) == -LANE_REFUSED);
	CHECK(session_open(&p, sandbox, ID, &s, NULL) == -LANE_REFUSED);
	CHECK(session_open(&d, prod, ID, &s, NULL) == -LANE_REFUSED);
	/* LANE-7: armed, but without a ledger record. */
	CHECK(session_open(&p, prod, ID, &s, &f) == -LANE_REFUSED && strstr(f.text, "ledger"));
	CHECK(!has("run") && !has("sandbox") && !has("prod"));
}

static void LANE_7_override_is_a_record(void)
{
	_cleanup_dirs_ struct dirs p = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	char *argv[] = { (char *)"deploy", (char *)"--token=quiet-word", NULL };
	const struct ledger_run run = { .action = "run", .session = ID, .lane = "prod", .argv = argv };
	size_t len;

	CHECK(load(LANE_PROD, &p) == 0);
	CHECK(lane_gate(&(struct lane_ask){ .lane = LANE_PROD, .allow_prod = true, .allow_env = "1" }, &pass,
			NULL) == 0);
	CHECK(ledger_open(p.state, &(struct ledger_options){ .create = true }, &l, NULL, NULL) == 0);
	CHECK(lane_record(pass, l, &run, NULL) == 0);
	CHECK(session_open(&p, pass, ID, &s, NULL) == 0);
	CHECK(session_remove(&s, NULL) == 0);
	path = path_join(p.state, "ledger/00000000000000000000.ndjson");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && fd_read_all(fd, 1 << 20, &text, &len, NULL) == 0);
	CHECK(strstr(text, "\"k\":\"lane.override\"") && strstr(text, "\"session\":\"" ID "\""));
	CHECK(strstr(text, "\"uid\":") && strstr(text, "deploy") && !strstr(text, "quiet-word"));
}

static void LANE_4_class_of_the_other_lane_is_refused(void)
{
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(lane_class(LANE_SANDBOX) == NETWORK_CLASS_TEST && lane_class(LANE_PROD) == NETWORK_CLASS_PROD);
	for (int i = 0; i < _LANE_MAX; i++) {
		CHECK(lane_require_class((enum lane)i, lane_class((enum lane)i), "it", NULL) == 0);
		CHECK(lane_require_class((enum lane)i, NETWORK_CLASS_ANY, "it", NULL) == 0);
		CHECK(lane_require_class((enum lane)i, lane_class((enum lane) !i), "it", NULL) ==
		      -LANE_REFUSED);
		CHECK(lane_require_class((enum lane)i, NETWORK_CLASS_UNKNOWN, "it", NULL) == -LANE_REFUSED);
	}
	CHECK(lane_require_class(LANE_PROD, NETWORK_CLASS_TEST, "profile 'x'", &f) < 0);
	CHECK(strstr(f.text, "profile 'x'") && strstr(f.text, "'test'") && strstr(f.text, "'prod'"));
}

static void LANE_6_names_must_match_exactly(void)
{
	static const char *const odd[] = {
		NULL, "", "Sandbox", "sandbox ", "test", "sandbox\n", "prod", "x"
	};

	CHECK(lane_require_name(LANE_SANDBOX, "sandbox", "grant", NULL) == 0);
	CHECK(lane_require_name(LANE_PROD, "prod", "grant", NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		CHECK(lane_require_name(LANE_SANDBOX, odd[i], "grant", NULL) == -LANE_REFUSED);
}

static bool put(const char *dir, const char *name, const char *text)
{
	_cleanup_close_ int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd =
		at < 0 ? -EBADF
		       : openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, text, strlen(text), NULL) == 0;
}

static void clean(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_remove_tree(tmp, root + strlen("/tmp/"), NULL) == 0 && mkdir(root, 0700) == 0);
}

/* A session of the lane in a state as it is now. */
static int open_one(enum lane lane, struct fault *f)
{
	_cleanup_dirs_ struct dirs d = { 0 };
	_cleanup_session_ struct session s = NO_SESSION;
	_cleanup_lane_pass_ struct lane_pass *pass = NULL;
	_cleanup_ledger_ struct ledger *l = NULL;
	const struct ledger_run run = { .action = "run", .lane = lane_name(lane) };
	int r;

	if (load(lane, &d) < 0 ||
	    lane_gate(&(struct lane_ask){ .lane = lane, .allow_prod = true, .allow_env = "1" }, &pass, NULL) <
		    0)
		return -EIO;
	if (lane == LANE_PROD &&
	    (ledger_open(d.state, &(struct ledger_options){ .create = true }, &l, NULL, NULL) < 0 ||
	     lane_record(pass, l, &run, NULL) < 0))
		return -EIO;
	r = session_open(&d, pass, ID, &s, f);
	return r < 0 ? r : session_remove(&s, f);
}

static void LANE_5_state_names_its_lane_and_version_and_is_disposable(void)
{
	clean();
	CHECK(open_one(LANE_SANDBOX, NULL) == 0);
	CHECK(has("sandbox/version") && has("sandbox/lane") && has("sandbox/README") && !has("prod"));
	CHECK(open_one(LANE_PROD, NULL) == 0);
	CHECK(has("prod/version") && has("prod/lane") && !has("prod/README"));
	CHECK(open_one(LANE_SANDBOX, NULL) == 0 && open_one(LANE_PROD, NULL) == 0);
}

static void LANE_6_state_of_the_other_lane_is_refused(void)
{
	_cleanup_free_ char *sandbox = path_join(root, "sandbox"), *prod = path_join(root, "prod");
	_cleanup_fault_ struct fault f = { 0 };

	/* Renamed, then linked. */
	clean();
	CHECK(open_one(LANE_PROD, NULL) == 0 && rename(prod, sandbox) == 0);
	CHECK(open_one(LANE_SANDBOX, &f) == -LANE_REFUSED && strstr(f.text, "'prod'") &&
	      strstr(f.text, "'sandbox'"));
	CHECK(rename(sandbox, prod) == 0 && symlink("prod", sandbox) == 0);
	CHECK(open_one(LANE_SANDBOX, NULL) == -LANE_REFUSED);
	CHECK(!has("run/sessions/" ID) && !has("prod/README"));
}

static void LANE_6_stamp_that_is_missing_or_odd_is_refused(void)
{
	static const char *const odd[] = { "",	      "\n",	    "Prod\n",
					   "sandbox", "sandbox \n", "sandbox\nprod\n",
					   "test\n" };
	_cleanup_free_ char *sandbox = path_join(root, "sandbox"), *lane = path_join(root, "sandbox/lane");

	clean();
	CHECK(open_one(LANE_SANDBOX, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		CHECK(put(sandbox, "lane", odd[i]));
		CHECK(open_one(LANE_SANDBOX, NULL) < 0);
	}
	CHECK(unlink(lane) == 0 && open_one(LANE_SANDBOX, NULL) == -LANE_REFUSED);
	CHECK(!has("sandbox/lane"));
	CHECK(symlink("README", lane) == 0 && open_one(LANE_SANDBOX, NULL) < 0);
}

static void version_that_is_unknown_or_no_file_is_refused_with_a_fix(void)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{ "2\n", "use the custody that wrote it" },
		{ "99\n", "mv '" },
		{ "0\n", "custody migrate --apply" },
		{ "one\n", "is not a version" },
		{ "", "is not one line" },
		{ "1", "is not one line" },
		{ "01\n", "version 01" },
		{ "1\n1\n", "is not one line" },
	};
	_cleanup_free_ char *sandbox = path_join(root, "sandbox"),
			    *version = path_join(root, "sandbox/version");

	clean();
	CHECK(open_one(LANE_SANDBOX, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(put(sandbox, "version", rows[i].text));
		CHECK(open_one(LANE_SANDBOX, &f) == -EINVAL && strstr(f.text, rows[i].part));
	}
	CHECK(unlink(version) == 0 && mkfifo(version, 0600) == 0 && open_one(LANE_SANDBOX, NULL) == -EINVAL);
	CHECK(unlink(version) == 0 && mkdir(version, 0700) == 0 && open_one(LANE_SANDBOX, NULL) == -EINVAL);
	CHECK(rmdir(version) == 0 && symlink("README", version) == 0 &&
	      open_one(LANE_SANDBOX, NULL) == -ELOOP);
	CHECK(unlink(version) == 0 && open_one(LANE_SANDBOX, NULL) == 0 && has("sandbox/version"));
}

static int count(void *arg, const char *id, int run_fd, struct fault *f)
{
	(void)id, (void)run_fd, (void)f;
	++*(int *)arg;
	return 0;
}

static void LANE_6_sweep_leaves_the_dead_of_the_other_lane(void)
{
	_cleanup_dirs_ struct dirs d = { 0 }, p = { 0 };
	_cleanup_free_ char *dead = path_join(root, "run/sessions/" ID);
	int n = 0;

	clean();
	CHECK(open_one(LANE_SANDBOX, NULL) == 0 && load(LANE_SANDBOX, &d) == 0 && load(LANE_PROD, &p) == 0);
	CHECK(mkdir(dead, 0700) == 0 && put(dead, "lane", "prod\n"));
	CHECK(session_sweep(&d, count, &n, NULL) == 0 && n == 0 && has("run/sessions/" ID));
	CHECK(put(dead, "lane", "moon\n"));
	CHECK(session_sweep(&d, count, &n, NULL) == -LANE_REFUSED && n == 0 && has("run/sessions/" ID));
	CHECK(put(dead, "lane", "prod\n"));
	CHECK(session_sweep(&p, count, &n, NULL) == 1 && n == 1 && !has("run/sessions/" ID));
	/* One without a stamp died before it belonged to a lane. */
	CHECK(mkdir(dead, 0700) == 0 && session_sweep(&d, count, &n, NULL) == 1 && n == 2);
}

static void start(void)
{
	CHECK(mkdtemp(root));
}

static void finish(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_remove_tree(tmp, root + strlen("/tmp/"), NULL) == 0);
}

TAP_MAIN(T(start), T(LANE_1_words_and_aliases), T(LANE_1_anything_else_is_an_error_that_names_both),
	 T(LANE_2_prod_needs_both_keys), T(LANE_2_refusal_names_exactly_the_missing_key),
	 T(LANE_2_pasted_line_has_the_same_words), T(LANE_3_no_session_without_the_gate),
	 T(LANE_7_override_is_a_record), T(LANE_4_class_of_the_other_lane_is_refused),
	 T(LANE_6_names_must_match_exactly), T(LANE_5_state_names_its_lane_and_version_and_is_disposable),
	 T(LANE_6_state_of_the_other_lane_is_refused), T(LANE_6_stamp_that_is_missing_or_odd_is_refused),
	 T(version_that_is_unknown_or_no_file_is_refused_with_a_fix),
	 T(LANE_6_sweep_leaves_the_dead_of_the_other_lane), T(finish))
