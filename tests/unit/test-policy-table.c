/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "policy-fixture.h"
#include "tap.h"

static const enum domain columns[] = { DOMAIN_WORKSPACE, DOMAIN_LOCALHOST, DOMAIN_TRUSTED, DOMAIN_UNTRUSTED,
				       DOMAIN_SYSTEM };

/* A command for each outcome and domain, where nothing is lowered. */
static const char *const commands[_OUTCOME_MAX][_DOMAIN_MAX] = {
	[OUTCOME_REVERSIBLE] = {
		[DOMAIN_WORKSPACE] = "ls", [DOMAIN_LOCALHOST] = "curl http://localhost/",
		[DOMAIN_TRUSTED] = "curl https://www.trusted.example/", [DOMAIN_UNTRUSTED] = "getent hosts a.example",
		[DOMAIN_SYSTEM] = "sudo ls",
	},
	[OUTCOME_SOFT] = {
		[DOMAIN_WORKSPACE] = "rm a", [DOMAIN_LOCALHOST] = "kill 1",
		[DOMAIN_TRUSTED] = "git push https://trusted.example/x", [DOMAIN_UNTRUSTED] = "git push",
		[DOMAIN_SYSTEM] = "sudo rm a",
	},
	[OUTCOME_IRREVERSIBLE] = {
		[DOMAIN_WORKSPACE] = "git reset --hard", [DOMAIN_LOCALHOST] = "rm /data/a/b",
		[DOMAIN_TRUSTED] = "curl -d x http://trusted.example/", [DOMAIN_UNTRUSTED] = "curl -d x http://a.example/",
		[DOMAIN_SYSTEM] = "mkfs.ext4 /dev/sdb1",
	},
};

struct line {
	enum security_profile profile;
	enum outcome outcome;
	enum intention intention;
	enum review review[_DOMAIN_MAX];
	char level[_DOMAIN_MAX];
};

static bool parse_intention(const char *text, enum intention *ret)
{
	for (unsigned int i = 0; i < _INTENTION_MAX; i++)
		if (strcmp(text, intention_name((enum intention)i)) == 0) {
			*ret = (enum intention)i;
			return true;
		}
	return false;
}

static bool parse_outcome(const char *text, enum outcome *ret)
{
	for (unsigned int o = 0; o < _OUTCOME_MAX; o++)
		if (strcmp(text, outcome_name((enum outcome)o)) == 0) {
			*ret = (enum outcome)o;
			return true;
		}
	return false;
}

static bool parse_cell(char *text, enum review *ret, char *ret_level)
{
	char *slash = strchr(text, '/');

	if (!slash || !slash[1] || slash[2])
		return false;
	*slash = '\0';
	*ret_level = slash[1];
	for (unsigned int r = 0; r < _REVIEW_MAX; r++)
		if (strcmp(text, review_name((enum review)r)) == 0) {
			*ret = (enum review)r;
			return true;
		}
	return false;
}

static bool parse_line(char *text, struct line *ret)
{
	char *save = NULL, *word[8];

	for (size_t i = 0; i < 8; i++) {
		word[i] = strtok_r(i == 0 ? text : NULL, " \n", &save);
		if (!word[i])
			return false;
	}
	if (strtok_r(NULL, " \n", &save) || security_profile_parse(word[0], &ret->profile) < 0 ||
	    !parse_outcome(word[1], &ret->outcome) || !parse_intention(word[2], &ret->intention))
		return false;
	for (size_t i = 0; i < 5; i++)
		if (!parse_cell(word[3 + i], &ret->review[columns[i]], &ret->level[columns[i]]))
			return false;
	return true;
}

/* The cells that were seen, so that a line twice or a line missing shows. */
static bool seen[_SECURITY_MAX][_OUTCOME_MAX][_INTENTION_MAX];
static struct line lines[_SECURITY_MAX * _OUTCOME_MAX * _INTENTION_MAX];
static size_t n_lines;

static bool load(const char *name)
{
	FILE *file = policy_data(name);
	char text[256];

	if (!file)
		return false;
	memset(seen, 0, sizeof(seen));
	for (n_lines = 0; fgets(text, sizeof(text), file);) {
		struct line *l = &lines[n_lines];

		if (text[0] == '#' || text[0] == '\n')
			continue;
		if (n_lines == ARRAY_SIZE(lines) || !parse_line(text, l) ||
		    seen[l->profile][l->outcome][l->intention]) {
			(void)fclose(file);
			return false;
		}
		seen[l->profile][l->outcome][l->intention] = true;
		n_lines++;
	}
	(void)fclose(file);
	return n_lines == ARRAY_SIZE(lines);
}

static void compare_cells(const char *name, bool ephemeral)
{
	size_t cells = 0;

	CHECK(load(name));
	for (size_t i = 0; i < n_lines; i++)
		for (size_t d = 0; d < _DOMAIN_MAX; d++, cells++) {
			const struct line *l = &lines[i];
			enum review is = policy_table_review(l->profile, l->outcome, l->intention,
							     (enum domain)d, ephemeral);

			if (is != l->review[d])
				printf("# %s %s %s %s: %s\n", security_profile_name(l->profile),
				       outcome_name(l->outcome), intention_name(l->intention),
				       domain_name((enum domain)d), review_name(is));
			CHECK(is == l->review[d]);
		}
	CHECK(cells == 180);
}

static void GOV_2_every_cell_of_the_table_is_as_it_was_typed(void)
{
	compare_cells("table.txt", false);
}

static void GOV_7_every_cell_where_effects_are_ephemeral_is_as_it_was_typed(void)
{
	compare_cells("table-ephemeral.txt", true);
}

static void GOV_2_every_cell_gives_its_level_to_a_command(void)
{
	static char trusted[] = "trusted.example";
	char *hosts[] = { trusted, NULL };
	struct policy_facts facts = policy_sandbox;
	size_t cells = 0;

	CHECK(load("table.txt"));
	facts.network = POLICY_NETWORK_HOST; /* nothing is lowered */
	facts.trusted_hosts = hosts;
	for (size_t i = 0; i < n_lines; i++)
		for (size_t d = 0; d < _DOMAIN_MAX; d++, cells++) {
			const struct line *l = &lines[i];
			const char *command = commands[l->outcome][d];
			char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
			_cleanup_verdict_ struct verdict *v = NULL;

			facts.security = l->profile;
			facts.intention = l->intention;
			v = policy_of(facts, argv);
			CHECK(v);
			if (v->level != l->level[d] || v->axes.outcome != l->outcome || v->axes.domain != d)
				printf("# %s %s '%s': %s %s %c, not %c\n", security_profile_name(l->profile),
				       intention_name(l->intention), command, outcome_name(v->axes.outcome),
				       domain_name(v->axes.domain), v->level, l->level[d]);
			CHECK(v->axes.raw_outcome == l->outcome && v->axes.outcome == l->outcome);
			CHECK(v->axes.domain == d && v->axes.intention == l->intention);
			CHECK(v->level == l->level[d]);
			CHECK(v->decision == (v->level == 'A' ? DECISION_ALLOW : DECISION_ASK));
		}
	CHECK(cells == 180);
}

/* The outcome is one step below the raw one; so a cell of "irreversible" has no command. */
static void GOV_7_every_cell_gives_its_level_where_effects_are_ephemeral(void)
{
	static char trusted[] = "trusted.example";
	char *hosts[] = { trusted, NULL };
	struct policy_facts facts = policy_sandbox;
	size_t cells = 0;

	CHECK(load("table-ephemeral.txt"));
	facts.trusted_hosts = hosts;
	for (size_t i = 0; i < n_lines; i++)
		for (size_t d = 0; d < _DOMAIN_MAX && lines[i].outcome != OUTCOME_IRREVERSIBLE;
		     d++, cells++) {
			const struct line *l = &lines[i];
			const char *command = commands[l->outcome - 1][d];
			char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
			_cleanup_verdict_ struct verdict *v = NULL;

			facts.security = l->profile;
			facts.intention = l->intention;
			v = policy_of(facts, argv);
			CHECK(v);
			if (v->level != l->level[d])
				printf("# %s %s '%s': %s %s %c, not %c\n", security_profile_name(l->profile),
				       intention_name(l->intention), command, outcome_name(v->axes.outcome),
				       domain_name(v->axes.domain), v->level, l->level[d]);
			CHECK(v->axes.raw_outcome == l->outcome - 1 && v->axes.outcome == l->outcome);
			CHECK(v->axes.domain == d && v->level == l->level[d]);
		}
	CHECK(cells == 120);
}

static void values_outside_the_enums_get_the_strictest_answer(void)
{
	CHECK(policy_table_review(_SECURITY_MAX, OUTCOME_REVERSIBLE, INTENTION_EXPLICIT, DOMAIN_WORKSPACE,
				  false) == REVIEW_PIN);
	CHECK(policy_table_review(SECURITY_OFF, (enum outcome)99, INTENTION_EXPLICIT, DOMAIN_WORKSPACE,
				  false) == REVIEW_PIN);
	CHECK(policy_table_review(SECURITY_OFF, OUTCOME_REVERSIBLE, (enum intention) - 1, DOMAIN_WORKSPACE,
				  false) == REVIEW_PIN);
	CHECK(policy_table_review(SECURITY_OFF, OUTCOME_REVERSIBLE, INTENTION_EXPLICIT, _DOMAIN_MAX, false) ==
	      REVIEW_PIN);
}

static void an_empty_verdict_denies(void)
{
	struct verdict v = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = verdict_to_json(&v);

	CHECK(v.decision == DECISION_DENY);
	CHECK(strcmp(jdoc_get_string(doc, "decision"), "deny") == 0);
	CHECK(strcmp(jdoc_get_string(doc, "level"), "C") == 0);
	CHECK(strcmp(jdoc_get_string(jdoc_get(doc, "axes"), "review"), "pin") == 0);
}

static void empty_facts_are_the_worst(void)
{
	char *make[] = { (char *)"make", NULL }, *none[] = { NULL };
	struct policy_facts facts = { 0 };
	_cleanup_verdict_ struct verdict *v = policy_of(facts, make);
	_cleanup_fault_ struct fault f = { 0 };
	struct verdict *no = NULL;

	CHECK(v && v->level == 'C' && v->decision == DECISION_ASK);
	CHECK(policy_level(&facts, "rm -rf build") == 'C'); /* the working directory is unknown */
	facts.argv = none;
	CHECK(policy_decide(&facts, &no, &f) == -EINVAL && !no && f.text);
}

TAP_MAIN(T(GOV_2_every_cell_of_the_table_is_as_it_was_typed),
	 T(GOV_7_every_cell_where_effects_are_ephemeral_is_as_it_was_typed),
	 T(GOV_2_every_cell_gives_its_level_to_a_command),
	 T(GOV_7_every_cell_gives_its_level_where_effects_are_ephemeral),
	 T(values_outside_the_enums_get_the_strictest_answer), T(an_empty_verdict_denies),
	 T(empty_facts_are_the_worst))
