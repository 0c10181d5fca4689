/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "tap.h"

#include "policy/command-class.h"

static const struct command_place place = {
	.cwd = "/work",
	.home = "/home/user",
	.worktree = "/work",
	.worktree_host = "/srv/project",
	.git_is_plain = true,
};

static bool classify(struct arena *a, const char *line, struct command_class *ret)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)line, NULL };

	arena_init(a);
	return command_classify(a, &place, argv, ret) == 0;
}

struct row {
	const char *line;
	unsigned int traits; /* exactly these */
};

#define CHANGES COMMAND_CHANGES
#define UNKNOWN (COMMAND_UNKNOWN | COMMAND_RUNS | COMMAND_CHANGES)

static void traits_describe_a_command(void)
{
	static const struct row rows[] = {
		{ "ls", 0 },
		{ "cat a | grep b", 0 },
		{ "touch a", CHANGES },
		{ "make", COMMAND_RUNS | CHANGES },
		{ "./x", UNKNOWN },
		{ "git status", 0 },
		{ "git push", COMMAND_NETWORK | CHANGES },
		{ "curl http://a.example/", COMMAND_NETWORK | COMMAND_FETCHES | CHANGES },
		{ "rm -rf *", COMMAND_UNBOUNDED | CHANGES },
		{ "echo 'x", COMMAND_UNPARSABLE | UNKNOWN },
		{ "sed -n 1p a", 0 },
		{ "sed -n 1,5p a", 0 },
		{ "sed '/a/d;s/x/y/gI' a", 0 },
		{ "sed 's/x/y/e' a", UNKNOWN },
		{ "sed 's/x/y/w f' a", UNKNOWN },
		{ "sed 'w f' a", UNKNOWN },
		{ "sed e a", UNKNOWN },
		{ "sed -f s a", UNKNOWN },
		{ "sed -e p -e d a", 0 },
		{ "sed -i.bak s/a/b/ f", CHANGES },
		{ "awk '{ print $1 }' a", 0 },
		{ "awk -f s a", UNKNOWN },
		{ "awk 'BEGIN { \"date\" | getline }'", UNKNOWN },
		{ "awk '{ print > \"f\" }' a", UNKNOWN },
		{ "sort -o a b", UNKNOWN },
		{ "sort --compress-prog=./x a", UNKNOWN },
		{ "sort $x", UNKNOWN },
		{ "sort -- $x", 0 },
		{ "sort a $x", UNKNOWN },
		{ "tee /dev/null", 0 },
		{ "ls > \"$x\"", COMMAND_UNKNOWN | CHANGES },
		{ "tar tvf a", 0 },
		{ "tar -tf a", 0 },
		{ "tar xf a", CHANGES },
		{ "git log --output=a", UNKNOWN },
		{ "git grep -O./x y", UNKNOWN },
		{ "git branch new", CHANGES },
		{ "git -c user.name=x log", 0 },
		{ "git -c core.fsmonitor=./x status", UNKNOWN },
		{ "git --exec-path=. status", UNKNOWN },
		{ "env", 0 },
		{ "env -u X ls", 0 },
		{ "command -v x", 0 },
		{ "ip addr", 0 },
		{ "declare 'a[$(x)]=1'", COMMAND_EVALUATES | UNKNOWN },
		{ "test -v 'a[$(x)]'", UNKNOWN },
		{ "exec 3< a", 0 },
		{ "find . -fprint a", CHANGES },
		{ "docker -H x ps", UNKNOWN },
	};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_arena_ struct arena a;
		struct command_class c;

		CHECK(classify(&a, rows[i].line, &c));
		if (c.traits != rows[i].traits) {
			printf("# %s: %x, not %x\n", rows[i].line, c.traits, rows[i].traits);
			ok = false;
		}
	}
	CHECK(ok);
}

static void GOV_14_trusted_hosts_match_whole_labels(void)
{
	static const struct {
		const char *host, *pattern;
		bool want;
	} rows[] = {
		{ "example.org", "example.org", true },
		{ "www.example.org", "example.org", true },
		{ "WWW.Example.ORG", "example.org", true },
		{ "example.org.", "example.org", true },
		{ "badexample.org", "example.org", false },
		{ "example.org.evil.com", "example.org", false },
		{ "example.or", "example.org", false },
		{ "xample.org", "example.org", false },
		{ "org", "example.org", false },
		{ "", "example.org", false },
		{ "example.org", "", false },
		{ ".example.org", "example.org", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(command_host_matches(rows[i].host, strlen(rows[i].host), rows[i].pattern) ==
		      rows[i].want);
}

static void hosts_are_found_where_a_client_looks_for_them(void)
{
	static char trusted[] = "good.example";
	char *hosts[] = { trusted, NULL };
	static const struct {
		const char *line;
		enum domain domain;
	} rows[] = {
		{ "curl https://good.example/x", DOMAIN_TRUSTED },
		{ "curl good.example/x", DOMAIN_TRUSTED },
		{ "curl https://user:pw@good.example:8443/x", DOMAIN_TRUSTED },
		{ "curl https://good.example@evil.com/", DOMAIN_UNTRUSTED },
		{ "curl https://evil.com/@good.example", DOMAIN_UNTRUSTED },
		{ "curl https://evil.com?@good.example", DOMAIN_UNTRUSTED },
		{ "curl 'https://evil.com#@good.example'", DOMAIN_UNTRUSTED },
		{ "curl 'https://evil.com\\@good.example'", DOMAIN_UNTRUSTED },
		{ "curl https://a@b@good.example/", DOMAIN_UNTRUSTED },
		{ "curl 'https://{evil.com,good.example}/'", DOMAIN_UNTRUSTED },
		{ "curl https://$X.good.example/", DOMAIN_UNTRUSTED },
		{ "curl https://good.example/ https://evil.com/", DOMAIN_UNTRUSTED },
		{ "curl --url https://evil.com/ https://good.example/", DOMAIN_UNTRUSTED },
		{ "curl --resolve good.example:443:1.2.3.4 https://good.example/", DOMAIN_UNTRUSTED },
		{ "curl http://[::1]:80/", DOMAIN_LOCALHOST },
		{ "curl http://127.0.0.1/", DOMAIN_LOCALHOST },
		{ "curl http://127.1/", DOMAIN_UNTRUSTED },
		{ "curl http://app.localhost/", DOMAIN_LOCALHOST },
		{ "curl", DOMAIN_UNTRUSTED },
		{ "git clone git@good.example:x/y", DOMAIN_TRUSTED },
		{ "git clone https://good.example/x.git", DOMAIN_TRUSTED },
		{ "git push https://evil.com/x", DOMAIN_UNTRUSTED },
		{ "ssh me@good.example ls", DOMAIN_TRUSTED },
		{ "ssh -p 22 good.example ls", DOMAIN_TRUSTED },
		{ "scp good.example:a b", DOMAIN_TRUSTED },
	};
	struct command_place with = place;
	bool ok = true;

	with.trusted_hosts = hosts;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *argv[] = { (char *)"sh", (char *)"-c", (char *)rows[i].line, NULL };
		_cleanup_arena_ struct arena a;
		struct command_class c;

		arena_init(&a);
		CHECK(command_classify(&a, &with, argv, &c) == 0);
		if (c.domain != rows[i].domain) {
			printf("# %s: %s\n", rows[i].line, domain_name(c.domain));
			ok = false;
		}
	}
	CHECK(ok);
}

static void paths_have_their_domain(void)
{
	static const struct {
		const char *line;
		enum domain domain;
	} rows[] = {
		{ "touch a", DOMAIN_WORKSPACE },
		{ "touch /work/a", DOMAIN_WORKSPACE },
		{ "touch /srv/project/a", DOMAIN_WORKSPACE },
		{ "touch /workshop/a", DOMAIN_LOCALHOST },
		{ "touch ../a", DOMAIN_SYSTEM },
		{ "touch /tmp/a", DOMAIN_LOCALHOST },
		{ "touch ~/a", DOMAIN_LOCALHOST },
		{ "touch ~/.cache/a", DOMAIN_LOCALHOST },
		{ "touch ~/.ssh/a", DOMAIN_SYSTEM },
		{ "touch /etc/a", DOMAIN_SYSTEM },
		{ "touch /work/../etc/a", DOMAIN_SYSTEM },
		{ "cd /etc && touch a", DOMAIN_SYSTEM },
		{ "cd /etc; ls; touch a", DOMAIN_SYSTEM },
		{ "(cd /etc); touch a", DOMAIN_SYSTEM }, /* not that precise, and on the safe side */
		{ "ls > /dev/null", DOMAIN_WORKSPACE },
		{ "ls > /dev/sda", DOMAIN_SYSTEM },
		{ "cat /etc/shadow", DOMAIN_WORKSPACE },
		{ "cp a /usr/bin/", DOMAIN_SYSTEM },
		{ "cp -t /etc a", DOMAIN_SYSTEM },
		{ "mv /etc/a .", DOMAIN_SYSTEM },
		{ "ln -s /etc/passwd a", DOMAIN_WORKSPACE },
	};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_arena_ struct arena a;
		struct command_class c;

		CHECK(classify(&a, rows[i].line, &c));
		if (c.domain != rows[i].domain) {
			printf("# %s: %s\n", rows[i].line, domain_name(c.domain));
			ok = false;
		}
	}
	CHECK(ok);
}

static void parts_are_all_that_would_run(void)
{
	_cleanup_arena_ struct arena a;
	struct command_class c;
	char *argv[] = { (char *)"sudo", (char *)"sh", (char *)"-c",
			 (char *)"git -C x log && nice make $(id)", NULL };
	static const char *const want[] = { "sudo", "sh", "git", "id", "nice", "make" };
	size_t n = 0;

	arena_init(&a);
	CHECK(command_classify(&a, &place, argv, &c) == 0);
	for (const struct command_part *p = c.parts; p; p = p->next, n++) {
		CHECK(n < 6 && strcmp(p->words[0].text, want[n]) == 0);
		CHECK(p->clear == (n == 1 || n == 4));
		CHECK(n != 2 || p->n_global == 2);
	}
	CHECK(n == 6);
}

/* Inside, the worktree has the path that it has outside: below a home, a list of the system, or a name with ".git". */
static void a_worktree_is_the_workspace_wherever_it_lies(void)
{
	static const char *const trees[] = { "/root/p",	   "/home/user/p", "/home/p",  "/srv/p",
					     "/opt/a/b/c", "/var/lib/p",   "/nix/p",   "/tmp/p",
					     "/root/.x/p", "/mnt/p",	   "/projects" };

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		const struct command_place at = { .cwd = trees[i],
						  .home = "/home/sandbox",
						  .worktree = trees[i],
						  .worktree_host = trees[i] };
		char *soft[] = { (char *)"rm", (char *)"-rf", (char *)"build", NULL };
		char *whole[] = { (char *)"rm", (char *)"-rf", (char *)trees[i], NULL };
		char *out[] = { (char *)"cp", (char *)"x", (char *)"/etc/passwd", NULL };
		_cleanup_arena_ struct arena a;
		struct command_class c;

		arena_init(&a);
		CHECK(command_classify(&a, &at, soft, &c) == 0);
		CHECK(c.domain == DOMAIN_WORKSPACE && c.outcome == OUTCOME_SOFT &&
		      !(c.traits & COMMAND_UNBOUNDED));
		CHECK(command_classify(&a, &at, whole, &c) == 0 && c.traits & COMMAND_UNBOUNDED);
		CHECK(command_classify(&a, &at, out, &c) == 0 && c.domain == DOMAIN_SYSTEM);
	}
}

static void a_git_directory_is_found_below_a_name_that_begins_alike(void)
{
	const struct command_place at = { .cwd = "/home/user/.gitlab/p",
					  .home = "/home/sandbox",
					  .worktree = "/home/user/.gitlab/p",
					  .worktree_host = "/home/user/.gitlab/p" };
	char *hook[] = { (char *)"cp", (char *)"evil", (char *)".git/hooks/pre-commit", NULL };
	char *plain[] = { (char *)"cp", (char *)"a", (char *)"b", NULL };
	_cleanup_arena_ struct arena a;
	struct command_class c;

	arena_init(&a);
	CHECK(command_classify(&a, &at, hook, &c) == 0 && c.outcome == OUTCOME_IRREVERSIBLE);
	CHECK(command_classify(&a, &at, plain, &c) == 0 && c.outcome != OUTCOME_IRREVERSIBLE);
}

TAP_MAIN(T(traits_describe_a_command), T(GOV_14_trusted_hosts_match_whole_labels),
	 T(hosts_are_found_where_a_client_looks_for_them), T(paths_have_their_domain),
	 T(a_worktree_is_the_workspace_wherever_it_lies),
	 T(a_git_directory_is_found_below_a_name_that_begins_alike), T(parts_are_all_that_would_run))
