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

TAP_MAIN(T(tokens_of_services_are_recognised), T(headers_and_schemes_are_recognised),
	 T(attached_and_quoted_spellings_are_recognised), T(names_that_tell_of_secrets_hide_their_values),
	 T(words_that_are_no_secrets_stay), T(a_flags_value_in_the_next_word_is_hidden),
	 T(values_are_hidden_to_their_end), T(commands_behind_a_secret_stay),
	 T(messages_show_no_word_that_the_command_hides), T(a_site_adds_flags_and_headers),
	 T(documents_are_searched_to_their_leaves))
