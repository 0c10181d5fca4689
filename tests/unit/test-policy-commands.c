/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy-fixture.h"

static char trusted[] = "trusted.example";
static char *hosts[] = { trusted, NULL };

/* One line of a corpus: "LEVELS\tcommand\treason", "^J" in the command is a line break, "^I" a tab. */
static bool parse(char *line, char **ret_command)
{
	char *tab = strchr(line, '\t'), *end = tab ? strchr(tab + 1, '\t') : NULL, *out;

	if (!end || tab - line != 3 || strspn(line, "ABC") != 3 || strlen(end + 1) < 2)
		return false;
	*end = '\0';
	*ret_command = out = tab + 1;
	for (const char *p = tab + 1; *p; p++)
		if (p[0] == '^' && (p[1] == 'J' || p[1] == 'I')) {
			*out++ = p[1] == 'J' ? '\n' : '\t';
			p++;
		} else {
			*out++ = *p;
		}
	*out = '\0';
	return true;
}

static void settings_of(size_t column, struct policy_facts *ret)
{
	*ret = policy_sandbox;
	ret->trusted_hosts = hosts;
	if (column > 0) {
		ret->worktree_mode = POLICY_WORKTREE_RW;
		ret->network = POLICY_NETWORK_HOST;
	}
	if (column > 1)
		ret->intention = INTENTION_AUTONOMOUS;
}

/* Every line of FILE has its three levels. */
static bool compare(const char *name, size_t least)
{
	FILE *file = policy_data(name);
	char line[1024], *command;
	size_t n = 0, wrong = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		n++;
		if (!parse(line, &command)) {
			printf("# line %zu is not one: %s", n, line);
			wrong++;
			continue;
		}
		for (size_t i = 0; i < 3; i++) {
			struct policy_facts facts;
			char is;

			settings_of(i, &facts);
			is = policy_level(&facts, command);
			if (is != line[i]) {
				printf("# %.3s column %zu is %c: %s\n", line, i + 1, is, command);
				wrong++;
			}
		}
	}
	if (file)
		(void)fclose(file);
	printf("# %s: %zu lines\n", name, n);
	return wrong == 0 && n >= least;
}

static void gov_5_commands_get_the_levels_that_were_typed(void)
{
	CHECK(compare("commands.txt", 300));
}

static void gov_3_every_spelling_of_an_unbounded_delete_is_c(void)
{
	CHECK(compare("evasions.txt", 100));
}

TAP_MAIN(T(gov_5_commands_get_the_levels_that_were_typed),
	 T(gov_3_every_spelling_of_an_unbounded_delete_is_c))
