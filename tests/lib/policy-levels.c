/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/policy-fixture.h"

/*
 * policy-levels: the level of each command on stdin at a terminal with a writable worktree and no network, a letter per
 * line; '-' where it is denied, '!' where it cannot be decided. A command ends with a NUL byte, its words with a tab.
 */
#define WORDS_MAX 64

static char level_of(char *text)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LANG=C.UTF-8",
		    home[] = "HOME=/home/user";
	char *env[] = { home, lang, path, NULL }, *argv[WORDS_MAX + 1] = { NULL };
	struct policy_facts facts = policy_sandbox;
	_cleanup_verdict_ struct verdict *v = NULL;
	size_t n = 0;

	for (char *tab; n < WORDS_MAX && (tab = strchr(text, '\t')) != NULL; text = tab + 1) {
		*tab = '\0';
		argv[n++] = text;
	}
	if (*text || n == 0)
		return '!';
	facts.worktree_mode = POLICY_WORKTREE_RW;
	facts.env = env;
	v = policy_of(facts, argv);
	return !v ? '!' : v->decision == DECISION_DENY ? '-' : v->level;
}

int main(void)
{
	char *text = NULL;
	size_t size = 0;

	while (getdelim(&text, &size, '\0', stdin) > 0)
		printf("%c\n", level_of(text));
	free(text);
	return ferror(stdin) || fflush(stdout) != 0;
}
