/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shell/shell-split.h"
#include "tests/unit/policy-fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int level(struct policy_facts facts, const char *text)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"--", (char *)text, NULL };
	_cleanup_verdict_ struct verdict *v = NULL;
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	facts.argv = argv;
	if (policy_decide(&facts, &v, NULL) < 0)
		abort();
	doc = verdict_to_json(v);
	if (jdoc_write(doc, JDOC_CANONICAL, &b, NULL) < 0)
		abort();
	if (v->level < 'A' || v->level > 'C' || (v->level == 'A') != (v->decision == DECISION_ALLOW))
		abort();
	return v->level;
}

static bool is_understood(const char *text, size_t len)
{
	_cleanup_arena_ struct arena a;
	struct shell s;

	arena_init(&a);
	if (shell_split(&a, text, len, &s) < 0)
		abort();
	return !s.why;
}

/* Every text is decided, never lower with less confinement; a delete after text that was parsed is found. */
static void require_laws(const char *text, size_t len)
{
	static const char more[] = "\nrm -rf /";
	struct policy_facts loose = policy_sandbox;
	char *both;
	int first;

	first = level(policy_sandbox, text);
	loose.worktree_mode = POLICY_WORKTREE_RW;
	loose.intention = INTENTION_AUTONOMOUS;
	if (level(loose, text) < first)
		abort();
	if (!is_understood(text, len)) {
		if (first == 'A')
			abort();
		return;
	}
	both = malloc(len + sizeof(more));
	if (!both)
		return;
	memcpy(both, text, len);
	memcpy(both + len, more, sizeof(more));
	/* A backslash at the end escapes the line break: the appended words are arguments of the last command. */
	if ((len == 0 || text[len - 1] != '\\') && level(policy_sandbox, both) != 'C')
		abort();
	free(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size > 4096)
		return 0;
	(void)is_understood((const char *)data, size);
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	require_laws(text, strlen(text));
	free(text);
	return 0;
}
