/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "policy-fixture.h"
#include "tap.h"

static char level_of(const struct policy_facts *facts, const char *line)
{
	return policy_level(facts, line);
}

static void run_of_make_is_a_with_and_without_a_terminal(void)
{
	char *make[] = { (char *)"make", NULL };
	struct policy_facts facts = policy_sandbox;
	_cleanup_verdict_ struct verdict *with = policy_of(facts, make), *without = NULL;

	facts.intention = INTENTION_AUTONOMOUS;
	without = policy_of(facts, make);
	CHECK(with && with->level == 'A' && with->decision == DECISION_ALLOW);
	CHECK(without && without->level == 'A' && without->decision == DECISION_ALLOW);
	CHECK(without->axes.raw_outcome == OUTCOME_SOFT && without->axes.outcome == OUTCOME_REVERSIBLE);
	CHECK(policy_has_reason(with, "confined"));
}

/* Under every profile, provenance, sandbox state and rule. */
static void GOV_3_unbounded_delete_is_c_in_every_setting(void)
{
	static char *const rm[] = { (char *)"rm", NULL }, *const any[] = { (char *)"sh", NULL };
	static const struct policy_rule allow[] = {
		{ .tier = POLICY_TIER_ADMIN, .effect = POLICY_EFFECT_ALLOW, .argv = rm },
		{ .tier = POLICY_TIER_ADMIN, .effect = POLICY_EFFECT_ALLOW, .argv = any },
		{ .tier = POLICY_TIER_ADMIN, .effect = POLICY_EFFECT_ALLOW, .profile = "p" },
	};

	for (unsigned int n = 0; n < 4 * 3 * 64; n++) {
		struct policy_facts facts = policy_sandbox;

		facts.security = (enum security_profile)(n % 4);
		facts.intention = (enum intention)(n / 4 % 3);
		facts.isolated = n / 12 % 2;
		facts.worktree_mode = n / 24 % 2 ? POLICY_WORKTREE_RW : POLICY_WORKTREE_EPHEMERAL;
		facts.network = n / 48 % 2 ? POLICY_NETWORK_HOST : POLICY_NETWORK_NONE;
		facts.broker_tool = n / 96 % 2;
		facts.web_requester = n / 192 % 2;
		facts.profile_name = "p";
		facts.rules = allow;
		facts.n_rules = n / 384 % 2 ? 3 : 0;
		CHECK(level_of(&facts, "rm -rf *") == 'C');
		CHECK(level_of(&facts, "rm -rf /") == 'C');
		CHECK(level_of(&facts, "find . -delete") == 'C');
	}
}

static void GOV_5_web_requester_needs_c_for_all_but_reads(void)
{
	struct policy_facts facts = policy_sandbox;

	facts.web_requester = true;
	CHECK(level_of(&facts, "ls -l && cat a") == 'A');
	CHECK(level_of(&facts, "git log | head") == 'A');
	CHECK(level_of(&facts, "touch a") == 'C');
	CHECK(level_of(&facts, "make") == 'C');
	CHECK(level_of(&facts, "curl http://localhost/") == 'C');
	CHECK(level_of(&facts, "ls > a") == 'C');
}

static void a_home_as_worktree_is_asked_about_whatever_the_command_is(void)
{
	static const struct policy_rule allow[] = { { .tier = POLICY_TIER_ADMIN,
						      .effect = POLICY_EFFECT_ALLOW,
						      .network = POLICY_RULE_NETWORK_NONE } };
	_cleanup_strbuf_ struct strbuf many = { 0 };
	char *ls[] = { (char *)"ls", NULL }, *crowd[] = { (char *)"sh", (char *)"-c", NULL, NULL };
	struct policy_facts facts = policy_sandbox;
	_cleanup_verdict_ struct verdict *v = NULL, *w = NULL;

	facts.home_is_apart = false;
	facts.worktree_host = "/home/me";
	for (int s = 0; s < _SECURITY_MAX; s++) {
		facts.security = (enum security_profile)s;
		CHECK(level_of(&facts, "ls") == 'B' && level_of(&facts, "rm -rf /") == 'C');
	}
	v = policy_of(facts, ls);
	CHECK(v && policy_has_reason(v, "home-exposed") && strstr(v->reasons[0].text, "'/home/me'"));
	/* Other reasons do not push it out. */
	for (int i = 0; i < 40; i++)
		strbuf_printf(&many, "rm -f a%d; cp b /etc/c%d; ", i, i);
	crowd[2] = many.text;
	w = policy_of(facts, crowd);
	CHECK(w && policy_has_reason(w, "home-exposed"));
	facts.rules = allow;
	facts.n_rules = 1;
	CHECK(level_of(&facts, "ls") == 'A');
}

static void GOV_16_rw_with_a_program_that_runs_others_is_irreversible(void)
{
	static const struct policy_mount rw[] = { { "/data", "/mnt/data" } };
	char *make[] = { (char *)"make", NULL };
	struct policy_facts facts = policy_sandbox;
	_cleanup_verdict_ struct verdict *tree = NULL, *bind = NULL, *host = NULL;

	facts.worktree_mode = POLICY_WORKTREE_RW;
	tree = policy_of(facts, make);
	CHECK(tree && tree->axes.outcome == OUTCOME_IRREVERSIBLE && tree->level == 'B');
	CHECK(policy_has_reason(tree, "may-delete"));
	for (size_t i = 0; i < tree->n_reasons; i++)
		if (strcmp(tree->reasons[i].id, "may-delete") == 0)
			CHECK(strcmp(tree->reasons[i].text, "may delete everything under /srv/project") == 0);

	facts.worktree_mode = POLICY_WORKTREE_EPHEMERAL;
	facts.rw = rw;
	facts.n_rw = 1;
	bind = policy_of(facts, make);
	CHECK(bind && bind->axes.outcome == OUTCOME_IRREVERSIBLE);
	for (size_t i = 0; i < bind->n_reasons; i++)
		if (strcmp(bind->reasons[i].id, "may-delete") == 0)
			CHECK(strcmp(bind->reasons[i].text, "may delete everything under /mnt/data") == 0);
	facts.security = SECURITY_OFF;
	facts.intention = INTENTION_AUTONOMOUS;
	CHECK(level_of(&facts, "make") == 'C');
	CHECK(level_of(&facts, "ls") == 'A');

	facts.isolated = false;
	host = policy_of(facts, make);
	CHECK(host && host->axes.outcome == OUTCOME_IRREVERSIBLE && policy_has_reason(host, "may-delete"));
}

static void GOV_7_lowering_ends_with_the_confinement(void)
{
	static const struct policy_mount rw[] = { { "/data", "/mnt/data" } };
	struct policy_facts facts = policy_sandbox;

	CHECK(level_of(&facts, "rm -rf build") == 'A');
	facts.n_rw = 1;
	facts.rw = rw;
	CHECK(level_of(&facts, "rm -rf build") == 'B');
	facts = policy_sandbox;
	facts.network = POLICY_NETWORK_HOST;
	CHECK(level_of(&facts, "rm -rf build") == 'B');
	facts = policy_sandbox;
	facts.broker_tool = true;
	CHECK(level_of(&facts, "rm -rf build") == 'B');
	facts = policy_sandbox;
	facts.worktree_mode = POLICY_WORKTREE_RW;
	CHECK(level_of(&facts, "rm -rf build") == 'B');
	facts = policy_sandbox;
	facts.isolated = false;
	CHECK(level_of(&facts, "rm -rf build") == 'B');
}

static void taint_makes_the_intention_worse(void)
{
	char *reset[] = { (char *)"git", (char *)"reset", (char *)"--hard", NULL };
	struct policy_facts facts = policy_sandbox;
	_cleanup_verdict_ struct verdict *tool = NULL, *web = NULL;

	facts.worktree_mode = POLICY_WORKTREE_RW;
	facts.taints = TAINT_TOOL_OUTPUT;
	tool = policy_of(facts, reset);
	CHECK(tool && tool->axes.intention == INTENTION_TASK && tool->level == 'B');
	facts.taints = TAINT_WEB_CONTENT;
	web = policy_of(facts, reset);
	CHECK(web && web->axes.intention == INTENTION_AUTONOMOUS && web->level == 'C');
}

/* The root of a writable bind is a root, whatever its name. */
static void GOV_3_the_root_of_a_writable_bind_is_unbounded(void)
{
	static const struct policy_mount rw[] = { { "/data/sets", "/mnt/disk/sets" } };
	struct policy_facts facts = policy_sandbox;

	CHECK(level_of(&facts, "rm -rf /data/sets") == 'B');
	facts.rw = rw;
	facts.n_rw = 1;
	CHECK(level_of(&facts, "rm -rf /data/sets") == 'C');
	CHECK(level_of(&facts, "rm -rf /data/sets/*") == 'C');
	CHECK(level_of(&facts, "rm -rf /mnt/disk") == 'C');
	CHECK(level_of(&facts, "rm -rf /data/sets/one") == 'B');
}

static void wrappers_in_wrappers_end_somewhere(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct policy_facts facts = policy_sandbox;

	for (size_t i = 0; i < 40; i++)
		strbuf_puts(&b, "nice ");
	strbuf_puts(&b, "ls");
	CHECK(level_of(&facts, b.text) == 'B');
	strbuf_puts(&b, "; ");
	for (size_t i = 0; i < 40; i++)
		strbuf_puts(&b, "env ");
	strbuf_puts(&b, "rm -rf /");
	CHECK(level_of(&facts, b.text) == 'C');
}

/* --- rules --------------------------------------------------------------------------------------------------- */

static char *const git_log[] = { (char *)"git", (char *)"log", NULL };
static char *const git_push[] = { (char *)"git", (char *)"push", NULL };
static char *const make_words[] = { (char *)"make", NULL };
static char *const rm_words[] = { (char *)"rm", NULL };

static struct policy_facts with_rules(const struct policy_rule *rules, size_t n)
{
	struct policy_facts facts = policy_sandbox;

	facts.worktree_mode = POLICY_WORKTREE_RW;
	facts.profile_name = "build";
	facts.rules = rules;
	facts.n_rules = n;
	return facts;
}

static void GOV_14_prefixes_are_whole_words(void)
{
	const struct policy_rule deny[] = { { .effect = POLICY_EFFECT_DENY, .argv = git_log } };
	struct policy_facts facts = with_rules(deny, 1);

	CHECK(level_of(&facts, "git log -1") == '-');
	CHECK(level_of(&facts, "git log") == '-');
	CHECK(level_of(&facts, "git logout") != '-');
	CHECK(level_of(&facts, "git status") == 'A');
	CHECK(level_of(&facts, "gitk log") != '-');
	CHECK(level_of(&facts, "git") != '-');
}

static void a_denied_program_is_found_wherever_it_stands(void)
{
	static const char *const lines[] = {
		"git push",	      "git -C x push",	     "git -c a=b --no-pager push",
		"/usr/bin/git push",  "./git push",	     "ls && git push",
		"sudo git push",      "env X=1 git push",    "timeout 5 git push",
		"bash -c 'git push'", "echo $(git push)",    "if true; then git push; fi",
		"eval git push",      "ls | xargs git push", "\\git 'push'"
	};
	const struct policy_rule deny[] = { { .effect = POLICY_EFFECT_DENY, .argv = git_push } };
	struct policy_facts facts = with_rules(deny, 1);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (level_of(&facts, lines[i]) != '-')
			printf("# not denied: %s\n", lines[i]);
		CHECK(level_of(&facts, lines[i]) == '-');
	}
}

static void unparsed_text_asks_when_a_rule_may_apply(void)
{
	const struct policy_rule deny[] = { { .effect = POLICY_EFFECT_DENY, .argv = git_push } };
	struct policy_facts facts = with_rules(deny, 1);

	facts.worktree_mode = POLICY_WORKTREE_EPHEMERAL;
	CHECK(level_of(&facts, "$X push") == 'B');
	CHECK(level_of(&facts, "echo \"unclosed") == 'B');
	facts.n_rules = 0;
	CHECK(level_of(&facts, "$X push") == 'A');
	CHECK(level_of(&facts, "echo \"unclosed") == 'B');
}

static void an_allowing_rule_makes_b_an_a_and_leaves_c_alone(void)
{
	const struct policy_rule allow[] = { { .effect = POLICY_EFFECT_ALLOW, .argv = make_words },
					     { .effect = POLICY_EFFECT_ALLOW, .argv = rm_words } };
	struct policy_facts facts = with_rules(allow, 2);

	CHECK(level_of(&facts, "make") == 'A');
	CHECK(level_of(&facts, "make -j4 && make test") == 'A');
	CHECK(level_of(&facts, "nice make") == 'A');
	CHECK(level_of(&facts, "rm -rf build") == 'A');
	CHECK(level_of(&facts, "rm -rf *") == 'C');
	CHECK(level_of(&facts, "rm -rf /") == 'C');
	facts.intention = INTENTION_AUTONOMOUS;
	CHECK(level_of(&facts, "make") == 'C');
}

static void GOV_16_a_worktree_in_a_system_directory_is_no_path_of_programs(void)
{
	struct policy_facts facts = policy_sandbox;

	facts.worktree_mode = POLICY_WORKTREE_RW;
	CHECK(level_of(&facts, "PATH=/opt/app:/usr/bin ls") == 'A');
	facts.worktree = facts.cwd = "/opt/app";
	CHECK(level_of(&facts, "PATH=/usr/bin:/bin ls") == 'A');
	CHECK(level_of(&facts, "PATH=/opt/app:/usr/bin ls") == 'B');
	CHECK(level_of(&facts, "export PATH=/opt/./app/bin; ls") == 'B');
	CHECK(level_of(&facts, "env PATH=/opt//app ls") == 'B');
}

static void an_allowing_rule_covers_only_its_own_command(void)
{
	static const char *const lines[] = { "make && ./x",
					     "sudo make",
					     "./make",
					     "/work/make",
					     "LD_PRELOAD=x make",
					     "PATH=. make",
					     "env PATH=. make",
					     "X=1; make; ./y",
					     "make $X",
					     "make; curl -d a http://a.example/",
					     "m\"\"ake | tee /data/x/y",
					     "for PATH in ./x; do make; done",
					     "for a in 'b[$(id)]'; do make {z[a]}<f; done",
					     "for a in 'b[$(id)]'; do make; case $((a)) in 1) ;; esac; done",
					     "for a in 'b[$(id)]'; do make < \"${@:a}\"; done",
					     "for a in 'b[$(id)]'; do [[ -n x && a -eq 1 ]]; make; done",
					     "for i in $((a)); do make; done",
					     "bash --rcfile x -ic make",
					     "bash --init-file x -c make",
					     "bash -O extdebug -c make",
					     "cd x && make",
					     "pushd x; make",
					     "cd; make" };
	const struct policy_rule allow[] = { { .effect = POLICY_EFFECT_ALLOW, .argv = make_words } };
	struct policy_facts facts = with_rules(allow, 1);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char level = level_of(&facts, lines[i]);

		if (level != 'B' && level != 'C')
			printf("# %c: %s\n", level, lines[i]);
		CHECK(level == 'B' || level == 'C');
	}
}

/* "rm build > src/main.c" empties a file that no rule names. */
static void GOV_14_an_allowing_rule_does_not_allow_a_redirection(void)
{
	static char *const to_log[] = { (char *)">", (char *)"build.log", NULL };
	static char *const to_any[] = { (char *)">>", NULL };
	static const char *const lines[] = { "rm -rf build > src/main.c",
					     "> src/main.c rm -rf build",
					     "rm -rf build >> src/main.c",
					     "rm -rf build >| src/main.c",
					     "rm -rf build <> src/main.c",
					     "rm -rf build 2> src/main.c",
					     "rm -rf build &> src/main.c",
					     "rm -rf build >& src/main.c",
					     "rm -rf build > \"$x\"",
					     "rm -rf build > build.log.old",
					     "{ rm -rf build; } > src/main.c",
					     "(rm -rf build) > src/main.c",
					     "if true; then rm -rf build; fi > src/main.c",
					     "for i in 1; do rm -rf build; done > src/main.c",
					     "rm -rf build; > src/main.c",
					     "rm -rf build > >(make)",
					     "sh -c 'rm -rf build' > src/main.c",
					     "nice rm -rf build > src/main.c",
					     "echo $(rm -rf build > src/main.c)",
					     "rm -rf build < /dev/tcp/a.example/80" };
	const struct policy_rule allow[] = { { .effect = POLICY_EFFECT_ALLOW, .argv = rm_words },
					     { .effect = POLICY_EFFECT_ALLOW, .argv = make_words },
					     { .effect = POLICY_EFFECT_ALLOW, .argv = to_log },
					     { .effect = POLICY_EFFECT_ALLOW, .argv = to_any } };
	struct policy_facts facts = with_rules(allow, 3);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (level_of(&facts, lines[i]) == 'A')
			printf("# allowed: %s\n", lines[i]);
		CHECK(level_of(&facts, lines[i]) != 'A');
	}
	CHECK(level_of(&facts, "rm -rf build") == 'A');
	CHECK(level_of(&facts, "rm -rf build > /dev/null 2>&1") == 'A');
	CHECK(level_of(&facts, "rm -rf build < list") == 'A');
	CHECK(level_of(&facts, "make > build.log") == 'A');
	CHECK(level_of(&facts, "make >> build.log") == 'B');
	facts.n_rules = 4;
	CHECK(level_of(&facts, "make >> build.log") == 'A');
	CHECK(level_of(&facts, "make > other.log") == 'B');
}

static void higher_tiers_decide_and_deny_wins(void)
{
	struct policy_rule r[] = {
		{ .tier = POLICY_TIER_USER, .effect = POLICY_EFFECT_ALLOW, .argv = make_words },
		{ .tier = POLICY_TIER_DEFAULT, .effect = POLICY_EFFECT_ASK, .argv = make_words },
		{ .tier = POLICY_TIER_ADMIN, .effect = POLICY_EFFECT_ASK, .argv = make_words },
		{ .tier = POLICY_TIER_DEFAULT, .effect = POLICY_EFFECT_DENY, .argv = make_words }
	};
	struct policy_facts facts = with_rules(r, 1);

	CHECK(level_of(&facts, "make") == 'A');
	facts.n_rules = 2; /* a lower tier asks: the user's rule takes precedence */
	CHECK(level_of(&facts, "make") == 'A');
	facts.n_rules = 3; /* the admin asks */
	CHECK(level_of(&facts, "make") == 'B');
	facts.n_rules = 4; /* any tier denies */
	CHECK(level_of(&facts, "make") == '-');
	r[1].tier = POLICY_TIER_USER; /* same tier: to ask wins */
	facts.n_rules = 2;
	CHECK(level_of(&facts, "make") == 'B');
}

static void rules_may_name_profile_network_and_mount(void)
{
	static const struct policy_mount rw[] = { { "/data", "/mnt/data" } };
	struct policy_rule r = { .effect = POLICY_EFFECT_DENY, .profile = "build" };
	struct policy_facts facts = with_rules(&r, 1);

	CHECK(level_of(&facts, "ls") == '-');
	r.profile = "other";
	CHECK(level_of(&facts, "ls") == 'A');
	r = (struct policy_rule){ .effect = POLICY_EFFECT_DENY, .network = POLICY_RULE_NETWORK_HOST };
	CHECK(level_of(&facts, "ls") == 'A');
	facts.network = POLICY_NETWORK_HOST;
	CHECK(level_of(&facts, "ls") == '-');
	facts.network = POLICY_NETWORK_ALLOW;
	CHECK(level_of(&facts, "ls") == '-');
	r = (struct policy_rule){ .effect = POLICY_EFFECT_DENY, .network = POLICY_RULE_NETWORK_NONE };
	CHECK(level_of(&facts, "ls") == 'A');
	r = (struct policy_rule){ .effect = POLICY_EFFECT_DENY, .network = POLICY_RULE_NETWORK_ALLOW };
	CHECK(level_of(&facts, "ls") == '-');
	facts.network = POLICY_NETWORK_HOST;
	CHECK(level_of(&facts, "ls") == 'A');
	r = (struct policy_rule){ .effect = POLICY_EFFECT_DENY, .mount = "/mnt" };
	CHECK(level_of(&facts, "ls") == 'A');
	facts.rw = rw;
	facts.n_rw = 1;
	CHECK(level_of(&facts, "ls") == '-');
	r.mount = "/mn";
	CHECK(level_of(&facts, "ls") == 'A');
	r.mount = "/srv/project";
	CHECK(level_of(&facts, "ls") == '-');
	r.mount = NULL; /* names nothing: matches everything */
	CHECK(level_of(&facts, "ls") == 'A');
}

/* --- the verdict --------------------------------------------------------------------------------------------- */

static void a_verdict_has_the_documented_shape(void)
{
	char *argv[] = { (char *)"rm", (char *)"-rf", (char *)"/", NULL };
	_cleanup_verdict_ struct verdict *v = policy_of(policy_sandbox, argv);
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	struct jdoc *first;

	CHECK(v);
	doc = verdict_to_json(v);
	CHECK(jdoc_write(doc, JDOC_CANONICAL, &b, NULL) == 0);
	CHECK(strcmp(jdoc_get_string(doc, "decision"), "ask") == 0);
	CHECK(strcmp(jdoc_get_string(doc, "level"), "C") == 0);
	CHECK(strcmp(jdoc_get_string(jdoc_get(doc, "axes"), "raw_outcome"), "irreversible") == 0);
	CHECK(strcmp(jdoc_get_string(jdoc_get(doc, "axes"), "intention"), "explicit") == 0);
	CHECK(strcmp(jdoc_get_string(jdoc_get(doc, "axes"), "profile"), "balanced") == 0);
	first = jdoc_get(doc, "reasons");
	CHECK(first && first->type == JDOC_ARRAY && first->n_items > 0);
	CHECK(strcmp(jdoc_get_string(first->items[0], "id"), "unbounded-delete") == 0);
	CHECK(strstr(jdoc_get_string(first->items[0], "text"), "'/'"));
}

/* The text in a reason comes from the author of the command. */
static void reasons_are_one_printable_line(void)
{
	static const char *const lines[] = { "rm -rf \"$X\033[2J\"", "\xff\xfe -x", "'a\nb\tc' $(",
					     "echo '\xe2\x80\xae' | \"x\xe2\x80\xae\"",
					     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
					     "aaaaaaaaaaaaaaaa\xc3\xa4\xc3\xa4 x" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *argv[] = { (char *)"sh", (char *)"-c", (char *)lines[i], NULL };
		_cleanup_verdict_ struct verdict *v = policy_of(policy_sandbox, argv);
		_cleanup_strbuf_ struct strbuf b = { 0 };
		_cleanup_jdoc_ struct jdoc *doc = NULL;

		CHECK(v && v->n_reasons > 0);
		for (size_t k = 0; k < v->n_reasons; k++)
			for (const char *p = v->reasons[k].text; *p; p++)
				CHECK((unsigned char)*p >= ' ' && *p != 0x7f);
		doc = verdict_to_json(v);
		CHECK(jdoc_write(doc, JDOC_CANONICAL, &b, NULL) == 0);
	}
}

static void direct_words_are_judged_without_a_shell(void)
{
	char *glob[] = { (char *)"rm", (char *)"-rf", (char *)"*", NULL };
	char *data[] = { (char *)"echo", (char *)"a; rm -rf /", NULL };
	char *message[] = { (char *)"git", (char *)"commit", (char *)"-m", (char *)"rm -rf /", NULL };
	_cleanup_verdict_ struct verdict *a = policy_of(policy_sandbox, glob),
					 *b = policy_of(policy_sandbox, data),
					 *c = policy_of(policy_sandbox, message);

	CHECK(a && a->level == 'C');
	CHECK(b && b->level == 'A');
	CHECK(c && c->level == 'A');
}

static void variables_of_the_environment_count(void)
{
	char *ls[] = { (char *)"ls", NULL };
	char preload[] = "LD_PRELOAD=/work/x.so", path[] = "PATH=/work/bin:/usr/bin",
	     plain[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LANG=C", shell[] = "SHELL=/bin/bash";
	char function[] = "BASH_FUNC_a_name_that_is_longer_than_most%%=() { ./x; }",
	     odd[] = "PATH=/binx:/usr/bin";
	char *more[] = { function, NULL }, *strange[] = { odd, NULL };
	char *bad[] = { preload, NULL }, *other[] = { path, NULL }, *good[] = { plain, lang, shell, NULL };
	struct policy_facts facts = policy_sandbox;
	_cleanup_verdict_ struct verdict *a = NULL, *b = NULL, *c = NULL;

	facts.worktree_mode = POLICY_WORKTREE_RW;
	facts.env = bad;
	a = policy_of(facts, ls);
	facts.env = other;
	b = policy_of(facts, ls);
	facts.env = good;
	c = policy_of(facts, ls);
	CHECK(a && a->level == 'B' && b && b->level == 'B' && c && c->level == 'A');
	facts.env = more;
	CHECK(level_of(&facts, "ls") == 'B');
	facts.env = strange;
	CHECK(level_of(&facts, "ls") == 'B');
}

static void long_and_deep_commands_are_decided_not_passed(void)
{
	enum { LEN = 3 * 1024 * 1024 };
	char *text = malloc(LEN + 1);
	struct policy_facts facts = policy_sandbox;

	CHECK(text);
	memset(text, 'a', LEN);
	text[LEN] = '\0';
	CHECK(policy_level(&facts, text) == 'B');
	for (size_t i = 0; i + 1 < 4096; i += 2)
		memcpy(text + i, "$(", 2);
	text[4096] = '\0';
	CHECK(policy_level(&facts, text) == 'B');
	memset(text, '(', 100000);
	text[100000] = '\0';
	CHECK(policy_level(&facts, text) == 'B');
	for (size_t i = 0; i < 100000; i += 5)
		memcpy(text + i, "eval ", 5);
	CHECK(policy_level(&facts, text) == 'B');
	free(text);
}

TAP_MAIN(T(run_of_make_is_a_with_and_without_a_terminal), T(GOV_3_unbounded_delete_is_c_in_every_setting),
	 T(GOV_5_web_requester_needs_c_for_all_but_reads),
	 T(a_home_as_worktree_is_asked_about_whatever_the_command_is),
	 T(GOV_16_rw_with_a_program_that_runs_others_is_irreversible),
	 T(GOV_7_lowering_ends_with_the_confinement), T(taint_makes_the_intention_worse),
	 T(GOV_3_the_root_of_a_writable_bind_is_unbounded), T(wrappers_in_wrappers_end_somewhere),
	 T(GOV_14_prefixes_are_whole_words), T(a_denied_program_is_found_wherever_it_stands),
	 T(unparsed_text_asks_when_a_rule_may_apply), T(an_allowing_rule_makes_b_an_a_and_leaves_c_alone),
	 T(GOV_16_a_worktree_in_a_system_directory_is_no_path_of_programs),
	 T(an_allowing_rule_covers_only_its_own_command),
	 T(GOV_14_an_allowing_rule_does_not_allow_a_redirection), T(higher_tiers_decide_and_deny_wins),
	 T(rules_may_name_profile_network_and_mount), T(a_verdict_has_the_documented_shape),
	 T(reasons_are_one_printable_line), T(direct_words_are_judged_without_a_shell),
	 T(variables_of_the_environment_count), T(long_and_deep_commands_are_decided_not_passed))
