/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which changes apply asks for: names of the lists, the number of deletions, and the options that answer. */
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/str.h"
#include "review/review-ask.h"
#include "tap.h"

#define FILE_MODE (S_IFREG | 0644)
#define DIR_MODE (S_IFDIR | 0755)
#define LINK_MODE (S_IFLNK | 0777)

static struct change added(const char *path, mode_t mode)
{
	return (struct change){
		.path = (char *)path, .kind = CHANGE_ADDED, .new = { .mode = mode }, .picked = true
	};
}

static struct change deleted(const char *path, mode_t mode)
{
	return (struct change){
		.path = (char *)path, .kind = CHANGE_DELETED, .old = { .mode = mode }, .picked = true
	};
}

/* The name that is asked for when CH is the only change; "" for none. */
static const char *asked(struct change ch, const struct review_gate *g)
{
	struct changes c = { .items = &ch, .n = 1 };
	struct review_question q;

	review_ask(&c, g, &q);
	return q.names != (ch.asks != NULL) ? "(miscounted)" : ch.asks ? ch.asks : "";
}

static void files_that_others_obey_are_found_in_every_directory(void)
{
	static const struct review_gate g = { .limit = 10 };
	static const struct {
		const char *path, *name;
	} rows[] = {
		{ ".github/workflows/ci.yml", ".github/workflows" },
		{ "sub/dir/.github/workflows/x/y.yml", ".github/workflows" },
		{ ".GitHub/Workflows/ci.yml", ".github/workflows" },
		{ ".github/workflows", ".github/workflows" },
		{ ".github/ISSUE_TEMPLATE.md", "" },
		{ ".gitlab-ci.yml", ".gitlab-ci.yml" },
		{ "Jenkinsfile", "Jenkinsfile" },
		{ "Jenkinsfile.md", "" },
		{ ".claude/settings.json", ".claude" },
		{ "pkg/.mcp.json", ".mcp.json" },
		{ ".vscode/tasks.json", ".vscode" },
		{ "my.vscode/tasks.json", "" },
		{ "a b.code-workspace", "*.code-workspace" },
		{ ".envrc", ".envrc" },
		{ ".envrc.example", "" },
		{ "AGENTS.md", "AGENTS.md" },
		{ ".custody/profiles/x.json", ".custody" },
		{ "Makefile", "" },
		{ "src/main.c", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *got = asked(added(rows[i].path, FILE_MODE), &g);

		if (!str_eq(got, rows[i].name))
			printf("# %s: '%s', not '%s'\n", rows[i].path, got, rows[i].name);
		CHECK(str_eq(got, rows[i].name));
		CHECK(str_eq(asked(deleted(rows[i].path, FILE_MODE), &g), rows[i].name));
	}
}

static void a_link_or_a_file_above_a_name_asks_and_a_directory_does_not(void)
{
	static const struct review_gate g = { .limit = 10 };
	struct change replaced = added(".github", DIR_MODE);

	CHECK(str_eq(asked(added(".github", LINK_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added("a/.github", FILE_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(deleted(".github", DIR_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added(".github", DIR_MODE), &g), ""));
	CHECK(str_eq(asked(added(".github/workflows", DIR_MODE), &g), ""));
	replaced.kind = CHANGE_REPLACED;
	CHECK(str_eq(asked(replaced, &g), ".github/workflows"));
}

static void the_profile_adds_and_removes_names(void)
{
	char *ask[] = { (char *)"Makefile", (char *)"*.mk", (char *)".idea", NULL };
	char *allow[] = { (char *)".vscode", (char *)".idea", NULL };
	const struct review_gate g = { .limit = 10, .ask = ask, .allow = allow };

	CHECK(str_eq(asked(added("Makefile", FILE_MODE), &g), "Makefile"));
	CHECK(str_eq(asked(added("src/Local.MK", FILE_MODE), &g), "*.mk"));
	CHECK(str_eq(asked(added(".vscode/tasks.json", FILE_MODE), &g), ""));
	/* A name in both lists is asked for. */
	CHECK(str_eq(asked(added(".idea/x", FILE_MODE), &g), ".idea"));
	CHECK(str_eq(asked(added(".claude/x", FILE_MODE), &g), ".claude"));
}

static void an_allowed_file_does_not_allow_a_link_above_it(void)
{
	char *allow[] = { (char *)".github/workflows/docs.yml", (char *)".GitLab/ci", NULL };
	const struct review_gate g = { .limit = 10, .allow = allow };

	CHECK(str_eq(asked(added(".github/workflows/docs.yml", FILE_MODE), &g), ""));
	CHECK(str_eq(asked(added(".github/workflows/ci.yml", FILE_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added(".github", LINK_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added(".github/workflows", LINK_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(deleted("a/.github", DIR_MODE), &g), ".github/workflows"));
	/* The list loses a name of its own entirely. */
	CHECK(str_eq(asked(added(".gitlab", LINK_MODE), &g), ""));
	CHECK(str_eq(asked(added(".gitlab/ci/x.yml", FILE_MODE), &g), ""));
}

static void the_command_line_answers_for_the_paths_that_it_names(void)
{
	char *paths[] = { (char *)".github/workflows/ci.yml", (char *)".claude", NULL };
	const struct review_gate g = { .limit = 10, .paths = paths };

	CHECK(str_eq(asked(added(".github/workflows/ci.yml", FILE_MODE), &g), ""));
	CHECK(str_eq(asked(added(".github/workflows/ci.yml2", FILE_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added(".github/workflows/other.yml", FILE_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added("sub/.github/workflows/ci.yml", FILE_MODE), &g), ".github/workflows"));
	CHECK(str_eq(asked(added(".claude/settings.json", FILE_MODE), &g), ""));
	/* A person names one spelling. */
	CHECK(str_eq(asked(added(".CLAUDE/settings.json", FILE_MODE), &g), ".claude"));
}

static void deletions_of_the_repository_are_part_of_the_number(void)
{
	struct change items[] = { deleted("a", FILE_MODE), deleted("b", FILE_MODE) };
	struct changes c = { .items = items, .n = ARRAY_SIZE(items) };
	struct review_gate g = { .limit = 10, .more = 8 };
	struct review_question q;

	review_ask(&c, &g, &q);
	CHECK(q.deletions == 10 && !q.too_many);
	g.more = 9;
	review_ask(&c, &g, &q);
	CHECK(q.deletions == 11 && q.too_many);
	g.deletions = 11;
	review_ask(&c, &g, &q);
	CHECK(!q.too_many);
}

static void deletions_are_counted_as_they_are_applied(void)
{
	struct change items[] = { deleted("a", DIR_MODE),  deleted("a/b", FILE_MODE),
				  deleted("c", FILE_MODE), deleted("refused", FILE_MODE),
				  added("d", FILE_MODE),   deleted("other", FILE_MODE) };
	struct changes c = { .items = items, .n = ARRAY_SIZE(items) };
	struct review_question q;

	items[3].refused = (char *)"why";
	items[5].picked = false;
	review_ask(&c, &(struct review_gate){ .limit = 3 }, &q);
	CHECK(q.deletions == 3 && !q.too_many && q.names == 0);
	review_ask(&c, &(struct review_gate){ .limit = 2 }, &q);
	CHECK(q.too_many);
	review_ask(&c, &(struct review_gate){ .limit = 0, .deletions = 2 }, &q);
	CHECK(q.too_many);
	review_ask(&c, &(struct review_gate){ .limit = 0, .deletions = 3 }, &q);
	CHECK(!q.too_many);
	/* A smaller number on the command line does not take the profile's away. */
	review_ask(&c, &(struct review_gate){ .limit = 3, .deletions = 1 }, &q);
	CHECK(!q.too_many);
}

static void a_refused_or_unselected_change_is_not_asked_for(void)
{
	static const struct review_gate g = { .limit = 10 };
	struct change ch = added(".envrc", FILE_MODE);

	ch.refused = (char *)"why";
	CHECK(str_eq(asked(ch, &g), ""));
	ch.refused = NULL;
	ch.picked = false;
	CHECK(str_eq(asked(ch, &g), ""));
}

static void long_and_strange_names_match_nothing_by_accident(void)
{
	static const struct review_gate g = { .limit = 10 };
	char path[700];
	size_t end = 7;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	CHECK(str_eq(asked(added(path, FILE_MODE), &g), ""));
	CHECK(str_eq(asked(added("", DIR_MODE), &g), ""));
	CHECK(str_eq(asked(added("\xff\xfe.envrc", FILE_MODE), &g), ""));
	CHECK(str_eq(asked(added("\xff\xfe/.envrc", FILE_MODE), &g), ".envrc"));
	CHECK(str_eq(asked(added("\xff.code-workspace", FILE_MODE), &g), "*.code-workspace"));
	CHECK(review_ask_matches(".claude", "a/.claude/x", &end) && end == strlen("a/.claude"));
	CHECK(!review_ask_matches(".claude", "a/x", &end) && end == 0);
}

static void every_name_of_the_list_is_a_path_below_the_worktree(void)
{
	for (const char *const *n = review_ask_names(); *n; n++)
		CHECK(**n && **n != '/' && !strstr(*n, "//") && !str_ends(*n, "/") &&
		      review_ask_matches(*n, *n, NULL));
}

TAP_MAIN(T(files_that_others_obey_are_found_in_every_directory),
	 T(a_link_or_a_file_above_a_name_asks_and_a_directory_does_not),
	 T(the_profile_adds_and_removes_names), T(an_allowed_file_does_not_allow_a_link_above_it),
	 T(the_command_line_answers_for_the_paths_that_it_names),
	 T(deletions_of_the_repository_are_part_of_the_number), T(deletions_are_counted_as_they_are_applied),
	 T(a_refused_or_unselected_change_is_not_asked_for),
	 T(long_and_strange_names_match_nothing_by_accident),
	 T(every_name_of_the_list_is_a_path_below_the_worktree))
