/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "policy-fixture.h"
#include "tap.h"

static char trusted[] = "trusted.example";
static char *hosts[] = { trusted, NULL };

/* One line of a corpus: "LEVELS\tcommand\treason", "^J" in the command is a line break, "^I" a tab. */
static bool parse(char *line, long levels, char **ret_command)
{
	char *tab = strchr(line, '\t'), *end = tab ? strchr(tab + 1, '\t') : NULL, *out;

	if (!end || tab - line != levels || strspn(line, "ABC") != (size_t)levels || strlen(end + 1) < 2)
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
		if (!parse(line, 3, &command)) {
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

static void GOV_5_commands_get_the_levels_that_were_typed(void)
{
	CHECK(compare("commands.txt", 300));
}

static void GOV_3_every_spelling_of_an_unbounded_delete_is_c(void)
{
	CHECK(compare("evasions.txt", 100));
}

/* One command per line, "^J" is a line break. */
static bool next_line(FILE *file, char *line, int room)
{
	char *out = line;

	do {
		if (!file || !fgets(line, room, file))
			return false;
	} while (line[0] == '#' || line[0] == '\n');
	line[strcspn(line, "\n")] = '\0';
	for (const char *p = line; *p; p++)
		if (p[0] == '^' && p[1] == 'J' && p++)
			*out++ = '\n';
		else
			*out++ = *p;
	*out = '\0';
	return true;
}

/* Raw in an overlay, in a writable tree and without isolation, under every profile. */
static void GOV_3_an_unbounded_delete_is_c_in_any_clothes(void)
{
	FILE *file = policy_data("unbounded.txt");
	char line[1024];
	size_t n = 0, wrong = 0;

	while (next_line(file, line, sizeof(line))) {
		n++;
		for (unsigned int i = 0; i < 3 * _SECURITY_MAX; i++) {
			struct policy_facts facts = policy_sandbox;

			facts.isolated = i % 3 < 2;
			facts.worktree_mode = i % 3 ? POLICY_WORKTREE_RW : POLICY_WORKTREE_EPHEMERAL;
			facts.security = (enum security_profile)(i / 3);
			if (policy_level(&facts, line) == 'C')
				continue;
			printf("# setting %u is %c: %s\n", i, policy_level(&facts, line), line);
			wrong++;
			break;
		}
	}
	if (file)
		(void)fclose(file);
	printf("# unbounded.txt: %zu lines\n", n);
	CHECK(n >= 200 && wrong == 0);
}

/* "LEVEL<tab>command": the default profile, with and without a terminal. At most a handful ask. */
static void GOV_7_everyday_commands_start_at_once_where_nothing_can_stay(void)
{
	FILE *file = policy_data("everyday.txt");
	char line[1024];
	size_t n = 0, asks = 0, wrong = 0;

	while (next_line(file, line, sizeof(line))) {
		struct policy_facts facts = policy_sandbox;
		const char *command = line[1] == '\t' ? line + 2 : "";

		n++;
		asks += line[0] != 'A';
		for (unsigned int i = 0; i < 2; i++) {
			facts.intention = i ? INTENTION_AUTONOMOUS : INTENTION_EXPLICIT;
			if (*command && policy_level(&facts, command) == line[0])
				continue;
			printf("# is %c: %s\n", policy_level(&facts, command), line);
			wrong++;
			break;
		}
	}
	if (file)
		(void)fclose(file);
	printf("# everyday.txt: %zu lines, %zu ask\n", n, asks);
	CHECK(n >= 200 && asks <= 6 && wrong == 0);
}

/* Every line of hostile.txt has at least its level where the worktree is writable. */
static void GOV_5_no_spelling_comes_below_its_level_with_a_writable_tree(void)
{
	struct policy_facts facts = policy_sandbox;
	FILE *file = policy_data("hostile.txt");
	char line[1024], *command;
	size_t n = 0, wrong = 0;

	facts.worktree_mode = POLICY_WORKTREE_RW;
	while (file && fgets(line, sizeof(line), file)) {
		char level = line[0];

		if (level == '#' || level == '\n')
			continue;
		n++;
		if (!parse(line, 1, &command) || policy_level(&facts, command) < level) {
			printf("# below %c: %s\n", level, command);
			wrong++;
		}
	}
	if (file)
		(void)fclose(file);
	printf("# hostile.txt: %zu lines\n", n);
	CHECK(wrong == 0 && n >= 300);
}

/* Every command of git that reads or changes something asks there, unless the repository's configuration is plain. */
static void GOV_16_git_asks_where_its_configuration_may_name_programs(void)
{
	static const char *const lines[] = { "git status",	     "git diff",
					     "git log -p",	     "git add a",
					     "git commit -m x",	     "git branch",
					     "cd src && git status", "git -C src status",
					     "sh -c 'git show'" };
	struct policy_facts facts = policy_sandbox;

	facts.git_is_plain = false;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CHECK(policy_level(&facts, lines[i]) == 'A');
	facts.worktree_mode = POLICY_WORKTREE_RW;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CHECK(policy_level(&facts, lines[i]) == 'B');
	CHECK(policy_level(&facts, "git --version") == 'A');
	facts.git_is_plain = true;
	CHECK(policy_level(&facts, "git status") == 'A' && policy_level(&facts, "git commit -m x") == 'A');
	CHECK(policy_level(&facts, "cd src && git status") == 'B' &&
	      policy_level(&facts, "git -C src log") == 'B');
	CHECK(policy_level(&facts, "git -C . log") == 'A');
}

/* "| `command` | A | A | B | C | B | C |", "\\|" in the command is a bar. */
static bool parse_row(char *line, char **ret_command, char levels[6])
{
	char *open = strchr(line, '`'), *close = open ? strchr(open + 1, '`') : NULL, *out;
	size_t n = 0;

	if (line[0] != '|' || !close)
		return false;
	*close = '\0';
	out = open + 1;
	for (const char *p = open + 1; *p; p++)
		if (p[0] != '\\' || p[1] != '|')
			*out++ = *p;
	*out = '\0';
	*ret_command = open + 1;
	for (const char *p = close + 1; *p && n < 6; p++)
		if (*p >= 'A' && *p <= 'C')
			levels[n++] = *p;
	return n == 6;
}

static FILE *open_document(void)
{
	const char *srcdir = getenv("SRCDIR");
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/docs/design/governance.md", srcdir ? srcdir : ".");
	return fopen(path, "re");
}

static void the_worked_rows_of_the_document_hold(void)
{
	FILE *file = open_document();
	char line[1024], levels[6], *command;
	size_t rows = 0, wrong = 0;
	bool in = false;

	while (file && fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			in = strcmp(line, "## Worked rows\n") == 0;
		if (!in || !parse_row(line, &command, levels))
			continue;
		rows++;
		for (size_t i = 0; i < 6; i++) {
			struct policy_facts facts = policy_sandbox;

			facts.worktree_mode = i / 2 == 1 ? POLICY_WORKTREE_RW : POLICY_WORKTREE_EPHEMERAL;
			facts.network = i / 2 == 2 ? POLICY_NETWORK_HOST : POLICY_NETWORK_NONE;
			facts.intention = i % 2 ? INTENTION_AUTONOMOUS : INTENTION_EXPLICIT;
			if (policy_level(&facts, command) != levels[i]) {
				printf("# column %zu is %c: %s\n", i + 1, policy_level(&facts, command),
				       command);
				wrong++;
			}
		}
	}
	if (file)
		(void)fclose(file);
	CHECK(rows >= 15 && wrong == 0);
}

TAP_MAIN(T(GOV_5_commands_get_the_levels_that_were_typed),
	 T(GOV_3_every_spelling_of_an_unbounded_delete_is_c),
	 T(GOV_3_an_unbounded_delete_is_c_in_any_clothes),
	 T(GOV_7_everyday_commands_start_at_once_where_nothing_can_stay),
	 T(GOV_5_no_spelling_comes_below_its_level_with_a_writable_tree),
	 T(GOV_16_git_asks_where_its_configuration_may_name_programs),
	 T(the_worked_rows_of_the_document_hold))
