/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "tap.h"

static bool becomes(const char *text, const char *want)
{
	_cleanup_free_ char *got = redact_text(text, NULL);

	if (str_eq(got, want))
		return true;
	printf("# '%s' became '%s', wanted '%s'\n", text, got ? got : "NULL", want);
	return false;
}

static bool stays(const char *text)
{
	return becomes(text, text);
}

static void tokens_of_services_are_recognised(void)
{
	CHECK(becomes("git clone https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/x",
		      "git clone https://[redacted]@github.com/x"));
	CHECK(becomes("x=glpat-abcdefghij1234567890 y", "x=[redacted] y"));
	CHECK(becomes("AKIAIOSFODNN7EXAMPLE", "[redacted]"));
	CHECK(becomes("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijklmnop", "[redacted]"));
	CHECK(becomes("say xoxb-123456789012-abcdef", "say [redacted]"));
	CHECK(becomes("a -----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY----- b",
		      "a [redacted] b"));
	CHECK(becomes("-----BEGIN RSA PRIVATE KEY-----\nabc", "[redacted]"));
	CHECK(becomes("wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12", "[redacted]"));
}

static void headers_and_schemes_are_recognised(void)
{
	CHECK(becomes("Authorization: Bearer abc", "Authorization: [redacted]"));
	CHECK(becomes("curl -H 'authorization: x y z' http://h/",
		      "curl -H 'authorization: [redacted]' http://h/"));
	CHECK(becomes("Cookie: a=b; c=d", "Cookie: [redacted]"));
	CHECK(becomes("echo \"X-Api-Key:k\" >f", "echo \"X-Api-Key:[redacted]\" >f"));
	CHECK(becomes("send Bearer abcdef012345 now", "send Bearer [redacted] now"));
}

static void attached_and_quoted_spellings_are_recognised(void)
{
	char *argv[] = { (char *)"/usr/bin/sshpass",
			 (char *)"-p",
			 (char *)"v",
			 (char *)"mysql",
			 (char *)"-pv",
			 (char *)"-p",
			 (char *)"db",
			 NULL };
	char *want[] = { (char *)"/usr/bin/sshpass", (char *)"-p", (char *)"[redacted]", (char *)"mysql",
			 (char *)"-p[redacted]",     (char *)"-p", (char *)"db",	 NULL };
	_cleanup_strv_ char **got = redact_argv(argv, NULL);

	for (size_t i = 0; want[i]; i++)
		CHECK(got && str_eq(got[i], want[i]));
	CHECK(becomes("curl -HAuthorization:v h", "curl -HAuthorization:[redacted]"));
	CHECK(becomes("curl -ubob:v http://h", "curl -ubob:[redacted] http://h"));
	CHECK(becomes("x \"--token\" \"v\" y", "x \"--token\" [redacted] y"));
	CHECK(becomes("x '--password' v", "x '--password' [redacted]"));
	CHECK(becomes("openssl enc -k v -passin pass:w",
		      "openssl enc -k [redacted] -passin pass:[redacted]"));
	CHECK(becomes("redis-cli -a v get x", "redis-cli -a [redacted] get x"));
	CHECK(becomes("sudo mysqldump -uroot -pv db", "sudo mysqldump -uroot -p[redacted] db"));
	CHECK(stays("mkdir -p a/b"));
	CHECK(stays("docker run -p 80:80 -u1000:1000 x"));
	CHECK(stays("mysql -p db"));
	CHECK(stays("x -uhttp://h/"));
}

static void names_that_tell_of_secrets_hide_their_values(void)
{
	CHECK(becomes("env GITHUB_TOKEN=abc make", "env GITHUB_TOKEN=[redacted] make"));
	CHECK(becomes("DB_PASSWORD='a b' run", "DB_PASSWORD=[redacted] run"));
	CHECK(becomes("{\"client_secret\":\"v\",\"id\":1}", "{\"client_secret\":[redacted],\"id\":1}"));
	CHECK(becomes("{\"password\": \"v\"}", "{\"password\": [redacted]}"));
	CHECK(becomes("mysql --password=x db", "mysql --password=[redacted] db"));
	CHECK(becomes("sh -c 'tool --token abc --v'", "sh -c 'tool --token [redacted] --v'"));
	CHECK(becomes("curl -u bob:secret http://h", "curl -u bob:[redacted] http://h"));
	CHECK(becomes("postgres://bob:pw@host/db", "postgres://bob:[redacted]@host/db"));
	CHECK(becomes("postgres://bob:p@ss@host/db", "postgres://bob:[redacted]@host/db"));
	CHECK(becomes("https://bob:@@:p@@host:8443/x@y?z", "https://bob:[redacted]@host:8443/x@y?z"));
}

static void words_that_are_no_secrets_stay(void)
{
	CHECK(stays("make -j2 all"));
	CHECK(stays("git checkout 0123456789abcdef0123456789abcdef01234567"));
	CHECK(stays("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
	CHECK(stays("/usr/lib/x86_64-linux-gnu/libhogweed.a"));
	CHECK(stays("20261116T031500Z-1a2b3c4d"));
	CHECK(stays("docker run -u 1000:1000 image"));
	CHECK(stays("https://example.org/a:b@c"));
	CHECK(stays("test_the_very_long_name_of_a_function_in_a_suite"));
	CHECK(stays("-----BEGIN PUBLIC KEY-----\nabc"));
	CHECK(stays(""));
	CHECK(stays("\xff\xfe caf\xc3\xa9"));
}

static bool argv_becomes(char *const *argv, const struct redact *rules, char *const *want)
{
	_cleanup_strv_ char **got = redact_argv(argv, rules);
	size_t i = 0;

	while (got && want[i] && str_eq(got[i], want[i]))
		i++;
	if (got && !got[i] && !want[i])
		return true;
	printf("# word %zu is '%s'\n", i, got && got[i] ? got[i] : "NULL");
	return false;
}

static void a_flags_value_in_the_next_word_is_hidden(void)
{
	char *argv[] = { (char *)"t", (char *)"--password", (char *)"--token",
			 (char *)"x", (char *)"--token",    (char *)"y",
			 NULL };
	char *want[] = { (char *)"t", (char *)"--password", (char *)REDACTED,
			 (char *)"x", (char *)"--token",    (char *)REDACTED,
			 NULL };
	char *login[] = { (char *)"curl", (char *)"-u", (char *)"a:b", (char *)"-u", (char *)"1:2", NULL };
	char *login_want[] = { (char *)"curl", (char *)"-u",  (char *)"a:" REDACTED,
			       (char *)"-u",   (char *)"1:2", NULL };
	char *none[] = { NULL };

	CHECK(argv_becomes(argv, NULL, want));
	CHECK(argv_becomes(login, NULL, login_want));
	CHECK(argv_becomes(none, NULL, none));
}

/* Each value ends in SECRET; a blank, a quote or an operator in it ends no word of an argv. */
static void values_are_hidden_to_their_end(void)
{
	static const char *const words[][4] = {
		{ "t", "--password=a;SECRET" },
		{ "t", "--password=a SECRET" },
		{ "t", "--password=a,SECRET" },
		{ "t", "--password=it'sSECRET" },
		{ "t", "--http-password", "SECRET" },
		{ "t", "-password", "SECRET" },
		{ "t", "--DB-PASSWORD", "SECRET" },
		{ "env", "DB_PASSWORD=a SECRET" },
		{ "env", "MYSQL_PWD=SECRET" },
		{ "env", "SMTP_PASS=SECRET" },
		{ "curl", "-su", "bob:SECRET" },
		{ "curl", "-U", "bob:SECRET" },
		{ "curl", "-ubob:a SECRET" },
		{ "curl", "-H", "Authorization: Digest a=\"b\", c=\"SECRET\"" },
		{ "curl", "-H", "Cookie: a='1'; b=SECRET" },
		{ "curl", "-H", "X-Site-Token: SECRET" },
		{ "docker", "login", "-p", "SECRET" },
		{ "sshpass", "-vp", "SECRET" },
		{ "mysql", "-pa,SECRET" },
		{ "openssl", "rsa", "-passin", "pass:a SECRET" },
		{ "unzip", "-P", "SECRET" },
		{ "ldapsearch", "-xw", "SECRET" },
		{ "smbclient", "-U", "bob%SECRET" },
		{ "sh", "-c", "t --token=a\"b\"SECRET" },
		{ "sh", "-c", "TOKEN=a\\ SECRET t" },
		{ "sh", "-c", "t --db-password SECRET" },
		{ "sh", "-c", "t --password=$(echo SECRET)" },
		{ "sh", "-c", "t --password=$'SECRET'" },
		{ "sh", "-c", "t --password \\\nSECRET" },
		{ "sh", "-c", "t '--password=a SECRET'" },
		{ "sh", "-c", "curl -su bob:SECRET h" },
		{ "sh", "-c", "echo 'password: SECRET'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char *argv[5] = { NULL };
		_cleanup_strv_ char **got = NULL;
		bool shown = false;

		for (size_t k = 0; k < 4 && words[i][k]; k++)
			argv[k] = (char *)(uintptr_t)words[i][k];
		got = redact_argv(argv, NULL);
		for (char **w = got; w && *w; w++)
			shown = shown || strstr(*w, "SECRET");
		if (shown)
			printf("# shown: %s %s\n", argv[0], argv[1]);
		CHECK(got && !shown);
	}
}

/* A secret must not hide the command that follows it. */
static void commands_behind_a_secret_stay(void)
{
	char *run[] = { (char *)"sh", (char *)"-c", (char *)"TOKEN=x rm -rf /", NULL };
	char *want[] = { (char *)"sh", (char *)"-c", (char *)"TOKEN=[redacted] rm -rf /", NULL };
	char *away[] = { (char *)"ssh", (char *)"h", (char *)"TOKEN=x rm -rf /", NULL };
	char *away_want[] = { (char *)"ssh", (char *)"h", (char *)"TOKEN=[redacted] rm -rf /", NULL };

	CHECK(argv_becomes(run, NULL, want));
	CHECK(argv_becomes(away, NULL, away_want));
	CHECK(becomes("bash -c \"t --password=x\" && rm \"-rf\" /",
		      "bash -c \"t --password=[redacted]\" && rm \"-rf\" /"));
	CHECK(stays("PWD=/x OLDPWD_X=/y t --token-file f --no-password rm -rf /"));
	CHECK(stays("rsync -avu host:path dest"));
}

static void messages_show_no_word_that_the_command_hides(void)
{
	char *argv[] = { (char *)"t", (char *)"--password=it'sSECRET", (char *)"--token", (char *)"abc",
			 NULL };
	_cleanup_free_ char *got =
		redact_message("'--password=it'sSECRET': unknown; 'abc': abcde", argv, NULL);

	CHECK(str_eq(got, "'--password=[redacted]': unknown; '[redacted]': abcde"));
}

static void a_site_adds_flags_and_headers(void)
{
	char *flags[] = { (char *)"--magic-word", NULL }, *headers[] = { (char *)"X-Site", NULL };
	const struct redact rules = { .flags = flags, .headers = headers };
	char *argv[] = { (char *)"--magic-word", (char *)"x", (char *)"--magic-word=y", (char *)"x-site: z",
			 NULL };
	char *want[] = { (char *)"--magic-word", (char *)REDACTED, (char *)"--magic-word=" REDACTED,
			 (char *)"x-site: " REDACTED, NULL };

	CHECK(argv_becomes(argv, &rules, want));
	CHECK(argv_becomes(argv, NULL, argv));
}

static void documents_are_searched_to_their_leaves(void)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct jdoc *in = jdoc_set_object(d, "o");

	jdoc_set_string(in, "b64", "AKIAIOSFODNN7EXAMPLE");
	jdoc_append_string(jdoc_set_array(in, "l"), "AKIAIOSFODNN7EXAMPLE");
	jdoc_set_int(d, "n", 1);
	redact_document(d, NULL, NULL);
	CHECK(jdoc_write(d, JDOC_CANONICAL, &b, NULL) == 0);
	CHECK(str_eq(b.text, "{\"n\":1,\"o\":{\"b64\":\"AKIAIOSFODNN7EXAMPLE\",\"l\":[\"[redacted]\"]}}"));
}

static const uint8_t key[REDACT_KEY_SIZE] = { 1, 2, 3 };
static const struct redact plain = { .key = key, .plain = true }, keyed = { .key = key };

/* WORD as the only argument of a program: what an approver sees. */
static char *approver_sees(const char *word)
{
	char *argv[] = { (char *)"t", (char *)word, NULL };
	char **got = redact_argv(argv, &plain);
	char *text = got ? strdup(got[1]) : NULL;

	strv_free(got);
	return text;
}

static bool is_hidden(const char *word, const char *head, const char *tail)
{
	_cleanup_free_ char *got = approver_sees(word);
	bool ok = got && str_starts(got, head) && str_ends(got, tail) && redact_shows(&plain, word, got);

	if (!ok)
		printf("# '%s' became '%s'\n", word, got ? got : "NULL");
	return ok;
}

static bool is_shown(const char *word)
{
	_cleanup_free_ char *got = approver_sees(word);

	if (str_eq(got, word))
		return true;
	printf("# '%s' became '%s'\n", word, got ? got : "NULL");
	return false;
}

/* What could be another command, option or expansion never hides behind a placeholder. */
static void an_approver_reads_all_but_plain_values(void)
{
	CHECK(is_hidden("API_KEY=abcd1234", "API_KEY=[redacted ", ", 8 bytes]"));
	CHECK(is_hidden("--token=aZ09._~+/=-", "--token=[redacted ", ", 11 bytes]"));
	CHECK(is_hidden("sh --token 'abcd1234' x", "sh --token '[redacted ", ", 8 bytes]' x"));
	CHECK(is_hidden("http://bob:abcd1234@host/", "http://bob:[redacted ", ", 8 bytes]@host/"));
	CHECK(is_shown("API_KEY=abcd123"));
	CHECK(is_shown("API_KEY=$(rm -rf x)"));
	CHECK(is_shown("API_KEY=$abcd1234"));
	CHECK(is_shown("API_KEY=`abcd1234`"));
	CHECK(is_hidden("API_KEY=abcd1234;rm", "API_KEY=[redacted ", ", 8 bytes];rm"));
	CHECK(is_shown("API_KEY=abcd 1234"));
	CHECK(is_shown("API_KEY=abcd'1234"));
	CHECK(is_shown("API_KEY=abcd\"1234"));
	CHECK(is_hidden("--token=abcd1234&x", "--token=[redacted ", ", 8 bytes]&x"));
	CHECK(is_hidden("--token=abcd1234|x", "--token=[redacted ", ", 8 bytes]|x"));
	CHECK(is_shown("--token=abcd\n1234"));
	CHECK(is_shown("--token=abcd1234\\x"));
	CHECK(is_shown("--token=caf\xc3\xa9"
		       "1234"));
	CHECK(is_shown("Authorization: abcd 1234"));
	CHECK(is_shown("PASSWORD_COMMAND=./program"));
	CHECK(is_shown("--password-command=./program"));
	CHECK(is_shown("--token-file=/etc/shadow"));
}

static void an_approver_reads_the_program_and_options(void)
{
	char *argv[] = { (char *)"API_KEY=abcd1234", (char *)"--token", (char *)"--delete-all",
			 (char *)"--token",	     (char *)"a b",	NULL };

	CHECK(argv_becomes(argv, &plain, argv));
}

/* A placeholder that the caller typed differs from that of any value. */
static void a_typed_placeholder_is_replaced(void)
{
	static const char *const words[] = { "[redacted]", "[redacted 01234567, 9 bytes]", "x[redacted]y",
					     "--token=[redacted 01234567, 9 bytes]" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_free_ char *got = approver_sees(words[i]);

		CHECK(got && !str_eq(got, words[i]) && redact_shows(&plain, words[i], got));
		CHECK(got && !redact_shows(&plain, words[i], words[i]));
	}
}

static void placeholders_tell_values_apart(void)
{
	_cleanup_free_ char *a = approver_sees("--token=abcd1234"), *b = approver_sees("--token=abcd1235"),
			    *c = approver_sees("--secret=abcd1234");
	struct digest x, y;

	CHECK(a && b && c && !str_eq(a, b) && str_eq(a + strlen("--token="), c + strlen("--secret=")));
	CHECK(a && redact_shows(&plain, "--token=abcd1234", a) &&
	      !redact_shows(&plain, "--token=abcd1235", a));
	CHECK(a && !redact_shows(&plain, "--token=abcd12345", a) && !redact_shows(&plain, "--token=abcd", a));
	CHECK(!redact_shows(&plain, "x", "") && !redact_shows(&plain, "", "x") &&
	      redact_shows(&plain, "", ""));
	CHECK(redact_sign_word(&plain, "a", &x) == 0 && redact_sign_word(&plain, "b", &y) == 0 &&
	      !digest_equal(&x, &y));
}

/* The record of a redacted command is that of the command. */
static void placeholders_stay_where_custody_wrote_them(void)
{
	const struct redact marked = { .key = key, .marked = true };
	char *argv[] = { (char *)"t",
			 (char *)"--token",
			 (char *)"abcd1234",
			 (char *)"--secret=abcd1234",
			 (char *)"API_KEY='a b'",
			 NULL };
	_cleanup_strv_ char **once = redact_argv(argv, &keyed);
	_cleanup_free_ char *text = NULL;

	CHECK(once && argv_becomes(once, &marked, once));
	text = once ? redact_text(once[3], NULL) : NULL;
	CHECK(text && str_eq(text, once[3]));
	CHECK(once && str_starts(once[2], "[redacted ") && str_eq(once[4], "API_KEY=[redacted]"));
}

static bool is_evil(const void *arg, const char *name)
{
	(void)arg;
	return str_eq(name, "tool/evil") || str_eq(name, "./npm_aaaaaaaaaaaaaaaa/run") ||
	       str_eq(name, "npm_bbbbbbbbbbbbbbbb");
}

/* Word LAST of a command that an approver reads; FILES: some names are files. */
static bool is_read(bool files, const char *option, const char *last)
{
	const struct redact rules = { .key = key, .plain = true, .is_file = files ? is_evil : NULL };
	char *argv[] = { (char *)"sh", (char *)option, (char *)last, NULL };
	_cleanup_strv_ char **got = redact_argv(argv, &rules);

	return got && str_eq(got[2], last);
}

static void an_approver_reads_options_expansions_and_commands(void)
{
	static const char *const shown[] = {
		"curl --token -o/etc/cron.d/x h", "TOKEN=~/.ssh/id_rsa; cat $TOKEN",
		"TOKEN=../../evil.sh; sh $TOKEN", "TOKEN=./evil.sh; sh $TOKEN",
		"npm_aaaaaaaaaaaaaaaa --all",	  "cd x && npm_aaaaaaaaaaaaaaaa",
		"(./npm_aaaaaaaaaaaaaaaa)",	  "x\n\"npm_aaaaaaaaaaaaaaaa\" y"
	};
	static const char *const hidden[] = { "TOKEN=abcd/1234; use $TOKEN",
					      "cat <<E\nghp_aaaaaaaaaaaaaaaa\nE",
					      "login ghp_aaaaaaaaaaaaaaaa",
					      "curl https://h/ghp_aaaaaaaaaaaaaaaa",
					      "X=ghp_aaaaaaaaaaaaaaaa x" };

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		CHECK(is_read(false, "-c", shown[i]));
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		CHECK(!is_read(true, "-c", hidden[i]));
	CHECK(!is_read(false, "x", "ghp_aaaaaaaaaaaaaaaa"));
}

static void an_approver_reads_names_of_files(void)
{
	static const char *const words[][2] = { { "-c", "TOKEN=tool/evil; $TOKEN" },
						{ "--token", "tool/evil" },
						{ "x", "--token=tool/evil" },
						{ "-u", "name:tool/evil" },
						{ "-c", "sh ./npm_aaaaaaaaaaaaaaaa/run" },
						{ "x", "npm_bbbbbbbbbbbbbbbb" } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		CHECK(is_read(true, words[i][0], words[i][1]));
		CHECK(!is_read(false, words[i][0], words[i][1]));
	}
}

/* A message that quotes a part of a word has the placeholder of that part. */
static void a_message_has_the_placeholders_of_the_command(void)
{
	char *argv[] = { (char *)"t", (char *)"--token=abcd1234", NULL };
	_cleanup_strv_ char **shown = redact_argv(argv, &keyed);
	_cleanup_free_ char *got = redact_message("no file 'abcd1234' here", argv, &keyed);

	CHECK(got && shown && !strstr(got, "abcd1234") && strstr(got, shown[1] + strlen("--token=")));
}

/* Values that the process has loaded: they look like nothing that other rules know. */
static void DOOR_2_loaded_secrets_are_replaced_wherever_they_are(void)
{
	static const char pem[] =
		"-----BEGIN-----\nfirst line of the key body\nsecond line of the key body\nend";
	static const struct redact_secret secrets[] = { { "plain words as value", 20 },
							{ "abcabc", 6 },
							{ pem, sizeof(pem) - 1 } };
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "plain words as value", "[redacted]" },
		{ "xplain words as valuex", "x[redacted]x" },
		{ "url?q=plain words as value&r=plain words as value", "url?q=[redacted]&r=[redacted]" },
		{ "plain words as valu", "plain words as valu" },
		{ "abcabcabc", "[redacted]" }, /* two that overlap */
		{ "x\nsecond line of the key body\ny", "x\n[redacted]\ny" },
		{ "the end", "the end" },
	};
	const struct redact rules = { .secrets = secrets, .n_secrets = ARRAY_SIZE(secrets) };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *const argv[] = { (char *)"echo", (char *)cases[i].text, NULL };
		_cleanup_free_ char *text = redact_text(cases[i].text, &rules);
		_cleanup_free_ char *message = redact_message(cases[i].text, NULL, &rules);
		_cleanup_strv_ char **words = redact_argv(argv, &rules);

		CHECK(str_eq(text, cases[i].want) && str_eq(message, cases[i].want) && words &&
		      str_eq(words[1], cases[i].want));
	}
}

TAP_MAIN(T(DOOR_2_loaded_secrets_are_replaced_wherever_they_are), T(tokens_of_services_are_recognised),
	 T(headers_and_schemes_are_recognised), T(attached_and_quoted_spellings_are_recognised),
	 T(names_that_tell_of_secrets_hide_their_values), T(words_that_are_no_secrets_stay),
	 T(a_flags_value_in_the_next_word_is_hidden), T(values_are_hidden_to_their_end),
	 T(commands_behind_a_secret_stay), T(messages_show_no_word_that_the_command_hides),
	 T(a_site_adds_flags_and_headers), T(documents_are_searched_to_their_leaves),
	 T(an_approver_reads_all_but_plain_values), T(an_approver_reads_the_program_and_options),
	 T(a_typed_placeholder_is_replaced), T(an_approver_reads_options_expansions_and_commands),
	 T(an_approver_reads_names_of_files), T(placeholders_tell_values_apart),
	 T(placeholders_stay_where_custody_wrote_them), T(a_message_has_the_placeholders_of_the_command))
