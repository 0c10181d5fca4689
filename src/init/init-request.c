/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-request.h"

#include <string.h>

/* The next string, or NULL: no NUL byte is left before END. */
static char *take(char **at, const char *end)
{
	char *text = *at, *c = text;

	while (c < end && *c)
		c++;
	if (c >= end)
		return NULL;
	*at = c + 1;
	return text;
}

/* N strings and a NULL; the first free place behind them, or NULL. */
static char **take_list(char **at, const char *end, uint32_t n, char **words)
{
	for (; n > 0; n--) {
		char *word = take(at, end);

		if (!word)
			return NULL;
		*words++ = word;
	}
	*words++ = NULL;
	return words;
}

bool request_parse(char *text, size_t len, char **words, size_t room, struct request *ret)
{
	struct init_exec_request head;
	char *at = text + sizeof(head);
	const char *end = text + len;
	char **env;

	if (len < sizeof(head) || len > INIT_EXEC_MAX)
		return false;
	memcpy(&head, text, sizeof(head));
	if (head.magic != INIT_PROTO_MAGIC || head.tty > 7 || head.n_args == 0 ||
	    head.n_args > INIT_EXEC_WORDS_MAX || head.n_env > INIT_EXEC_WORDS_MAX - head.n_args ||
	    (size_t)head.n_args + head.n_env + 2 > room)
		return false;
	ret->tty = head.tty;
	ret->cwd = take(&at, end);
	ret->names = ret->cwd ? take(&at, end) : NULL;
	if (!ret->names || ret->cwd[0] != '/')
		return false;
	ret->args = words;
	env = take_list(&at, end, head.n_args, words);
	ret->env = env;
	return env && take_list(&at, end, head.n_env, env) && at == end;
}
