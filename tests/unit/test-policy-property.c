/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "policy-fixture.h"
#include "tap.h"

#include "shell/shell-split.h"

/* Laws that hold for every command and every setting, tried on many of both.  The seed is fixed: a failure repeats. */

#define LINES_MAX 2048
#define LINE_MAX_LEN 1024

static char lines[LINES_MAX][LINE_MAX_LEN];
static size_t n_lines;
static uint64_t state;

static uint32_t roll(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % n;
}

static bool load(const char *name)
{
	FILE *file = policy_data(name);
	char line[LINE_MAX_LEN];

	while (file && n_lines < LINES_MAX && fgets(line, sizeof(line), file)) {
		char *tab = strchr(line, '\t'), *end = tab ? strchr(tab + 1, '\t') : NULL,
		     *out = lines[n_lines];

		if (line[0] == '#' || line[0] == '\n')
			continue;
		/* One command per line, or between two tabs, or after one. */
		if (!end)
			end = line + strcspn(line, "\n");
		for (const char *p = tab ? tab + 1 : line; p < end; p++)
			if (p[0] == '^' && p[1] == 'J' && p++)
				*out++ = '\n';
			else if (p[0] == '^' && p[1] == 'I' && p++)
				*out++ = '\t';
			else
				*out++ = *p;
		*out = '\0';
		n_lines++;
	}
	if (file)
		(void)fclose(file);
	return file != NULL;
}

static char mount_target[] = "/data", mount_source[] = "/mnt/data";
static const struct policy_mount mounts[] = { { mount_target, mount_source },
					      { "/cache", "/home/user/.cache/x" } };
static char trusted[] = "trusted.example";
static char *hosts[] = { trusted, NULL };

static void random_facts(struct policy_facts *ret)
{
	*ret = policy_sandbox;
	ret->isolated = roll(4) != 0;
	ret->worktree_mode = roll(2) ? POLICY_WORKTREE_EPHEMERAL : POLICY_WORKTREE_RW;
	ret->network = roll(2) ? POLICY_NETWORK_NONE : POLICY_NETWORK_HOST;
	ret->rw = mounts;
	ret->n_rw = roll(3) ? 0 : roll(3);
	ret->broker_tool = roll(4) == 0;
	ret->intention = (enum intention)roll(_INTENTION_MAX);
	ret->security = (enum security_profile)roll(_SECURITY_MAX);
	ret->taints = roll(3) ? 0 : roll(8);
	ret->web_requester = roll(5) == 0;
	ret->trusted_hosts = roll(2) ? hosts : NULL;
	ret->profile_name = "build";
}

static const char *random_line(void)
{
	return n_lines ? lines[roll((uint32_t)n_lines)] : "";
}

/* A < B < C < denied */
static int rank(const struct policy_facts *facts, const char *line)
{
	char level = policy_level(facts, line);

	return level == '-' ? 3 : level == '!' ? 99 : level - 'A';
}

static size_t cases(void)
{
	return tap_is_full() ? 200000 : 6000 / tap_stride();
}

static bool holds(bool law, const char *what, const char *line, const struct policy_facts *facts)
{
	if (!law)
		printf("# %s: isolated %d mode %d network %d rw %zu broker %d intention %d profile %d taints "
		       "%u web %d: %s\n",
		       what, facts->isolated, facts->worktree_mode, facts->network, facts->n_rw,
		       facts->broker_tool, facts->intention, facts->security, facts->taints,
		       facts->web_requester, line);
	return law;
}

static void GOV_4_taint_never_lowers_a_level(void)
{
	for (size_t i = 0; i < cases(); i++) {
		struct policy_facts facts, more;
		const char *line = random_line();

		random_facts(&facts);
		more = facts;
		more.taints |= 1u << roll(3);
		CHECK(holds(rank(&more, line) >= rank(&facts, line), "taint", line, &facts));
		more.taints |= 1u << 7; /* one that is not known yet */
		CHECK(holds(rank(&more, line) >= rank(&facts, line), "unknown taint", line, &facts));
	}
}

static void GOV_7_less_confinement_never_lowers_a_level(void)
{
	for (size_t i = 0; i < cases(); i++) {
		struct policy_facts facts, less;
		const char *line = random_line();

		random_facts(&facts);
		less = facts;
		switch (roll(5)) {
		case 0:
			less.isolated = false;
			break;
		case 1:
			less.worktree_mode = POLICY_WORKTREE_RW;
			break;
		case 2:
			less.network = POLICY_NETWORK_HOST;
			break;
		case 3:
			less.n_rw = 2;
			break;
		default:
			less.broker_tool = true;
		}
		CHECK(holds(rank(&less, line) >= rank(&facts, line), "confinement", line, &facts));
	}
}

static void GOV_7_the_sandbox_lowers_by_at_most_one_step_and_nothing_else(void)
{
	for (size_t i = 0; i < cases(); i++) {
		char *argv[] = { (char *)"sh", (char *)"-c", (char *)random_line(), NULL };
		struct policy_facts facts, bare;
		_cleanup_verdict_ struct verdict *in = NULL, *out = NULL;

		random_facts(&facts);
		bare = facts;
		bare.isolated = false;
		in = policy_of(facts, argv);
		out = policy_of(bare, argv);
		CHECK(in && out);
		CHECK(in->axes.outcome - in->axes.raw_outcome <= 1);
		CHECK(holds(in->axes.domain == out->axes.domain && in->axes.intention == out->axes.intention,
			    "axes", argv[2], &facts));
	}
}

static void a_worse_intention_or_a_stricter_profile_never_lowers_a_level(void)
{
	for (size_t i = 0; i < cases(); i++) {
		struct policy_facts facts, worse;
		const char *line = random_line();

		random_facts(&facts);
		worse = facts;
		worse.intention = (enum intention)roll((uint32_t)facts.intention + 1);
		CHECK(holds(rank(&worse, line) >= rank(&facts, line), "intention", line, &facts));
		worse = facts;
		worse.security = (enum security_profile)roll((uint32_t)facts.security + 1);
		CHECK(holds(rank(&worse, line) >= rank(&facts, line), "profile", line, &facts));
		worse = facts;
		worse.web_requester = true;
		CHECK(holds(rank(&worse, line) >= rank(&facts, line), "web", line, &facts));
	}
}

static char *const words[][3] = { { (char *)"rm", NULL },   { (char *)"git", (char *)"push", NULL },
				  { (char *)"make", NULL }, { (char *)"ls", NULL },
				  { (char *)"sudo", NULL }, { (char *)"curl", NULL },
				  { (char *)"find", NULL }, { (char *)"sh", NULL },
				  { (char *)"git", NULL },  { (char *)"python3", NULL } };

static void random_rule(struct policy_rule *ret)
{
	*ret = (struct policy_rule){
		.tier = (enum policy_tier)roll(_POLICY_TIER_MAX),
		.effect = (enum policy_effect)roll(_POLICY_EFFECT_MAX),
		.argv = roll(4) ? words[roll(ARRAY_SIZE(words))] : NULL,
		.profile = roll(3) ? NULL : "build",
		.network = (enum policy_rule_network)(roll(2) ? 0 : roll(3)),
		.mount = roll(4) ? NULL : "/data",
	};
}

static void GOV_6_rules_that_deny_or_ask_never_lower_and_none_skips_a_pin(void)
{
	for (size_t i = 0; i < cases(); i++) {
		struct policy_rule rules[6];
		struct policy_facts facts, more, none;
		const char *line = random_line();
		size_t n = roll(5);

		random_facts(&facts);
		for (size_t k = 0; k <= n; k++)
			random_rule(&rules[k]);
		facts.rules = rules;
		facts.n_rules = n;
		more = facts;
		more.n_rules = n + 1;
		none = facts;
		none.n_rules = 0;
		if (rules[n].effect != POLICY_EFFECT_ALLOW)
			CHECK(holds(rank(&more, line) >= rank(&facts, line), "rule", line, &facts));
		if (rank(&none, line) == 2)
			CHECK(holds(rank(&more, line) >= 2, "pin", line, &facts));
	}
}

static bool is_understood(const char *line)
{
	_cleanup_arena_ struct arena a;
	struct shell s;

	arena_init(&a);
	return shell_split(&a, line, strlen(line), &s) == 0 && !s.why;
}

/* Two commands in a row are at least as much as each. */
static void GOV_14_a_list_is_at_least_its_worst_part(void)
{
	for (size_t i = 0; i < cases(); i++) {
		const char *a = random_line(), *b = random_line();
		char both[2 * LINE_MAX_LEN + 2];
		struct policy_facts facts;
		int r;

		random_facts(&facts);
		/* Unparsed text ends the reading, as a script in a file would: B, and the rest is not seen. */
		if (!is_understood(a))
			continue;
		(void)snprintf(both, sizeof(both), "%s\n%s", a, b);
		r = rank(&facts, both);
		CHECK(holds(r >= rank(&facts, a) && r >= rank(&facts, b), "list", both, &facts));
	}
}

static void quote_text(char *out, const char *text)
{
	*out++ = '\'';
	for (; *text; text++)
		if (*text == '\'') {
			memcpy(out, "'\\''", 4);
			out += 4;
		} else {
			*out++ = *text;
		}
	*out++ = '\'';
	*out = '\0';
}

static void GOV_3_a_wrapper_is_at_least_as_severe_as_its_command(void)
{
	static const char *const wrappers[] = { "sh -c",	   "bash -ec",		"eval",
						"env X=1 sh -c",   "sudo sh -c",	"nice -n 5 sh -c",
						"timeout 5 sh -c", "command eval",	"busybox sh -c",
						"su -c",	   "nohup setsid sh -c" };
	char quoted[5 * LINE_MAX_LEN], wrapped[5 * LINE_MAX_LEN + 64];

	for (size_t i = 0; i < cases(); i++) {
		const char *line = random_line();
		struct policy_facts facts;

		random_facts(&facts);
		quote_text(quoted, line);
		(void)snprintf(wrapped, sizeof(wrapped), "%s %s", wrappers[roll(11)], quoted);
		CHECK(holds(rank(&facts, wrapped) >= rank(&facts, line), "wrapper", wrapped, &facts));
	}
}

/* Bytes in a row, from the alphabet of a shell: decided, always, and the same twice. */
static void anything_is_decided(void)
{
	static const char alphabet[] = "rm -rf/*.~$(){}[]<>|&;'\"`\\\n#=!x1\t";

	for (size_t i = 0; i < cases() * 2; i++) {
		char line[64];
		struct policy_facts facts;
		size_t len = roll(sizeof(line) - 1);

		random_facts(&facts);
		for (size_t k = 0; k < len; k++)
			line[k] = alphabet[roll(sizeof(alphabet) - 1)];
		line[len] = '\0';
		CHECK(holds(rank(&facts, line) <= 3 && rank(&facts, line) == rank(&facts, line), "bytes",
			    line, &facts));
	}
}

static void the_corpora_exist(void)
{
	state = UINT64_C(0x5eed5eed);
	CHECK(load("commands.txt") && load("evasions.txt"));
	CHECK(load("unbounded.txt") && load("everyday.txt"));
	CHECK(n_lines > 1400 && n_lines < LINES_MAX);
}

TAP_MAIN(T(the_corpora_exist), T(GOV_4_taint_never_lowers_a_level),
	 T(GOV_7_less_confinement_never_lowers_a_level),
	 T(GOV_7_the_sandbox_lowers_by_at_most_one_step_and_nothing_else),
	 T(a_worse_intention_or_a_stricter_profile_never_lowers_a_level),
	 T(GOV_6_rules_that_deny_or_ask_never_lower_and_none_skips_a_pin),
	 T(GOV_14_a_list_is_at_least_its_worst_part), T(GOV_3_a_wrapper_is_at_least_as_severe_as_its_command),
	 T(anything_is_decided))
