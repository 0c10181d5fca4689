/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shell/shell-parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BRACE_WORDS_MAX 256
#define BRACE_TRIES_MAX 512

int shell_push_word(struct shell_parse *x, struct shell_words *out, const char *text, unsigned int flags)
{
	if (out->n == out->room) {
		size_t room = out->room ? out->room * 2 : 8;
		struct shell_word *v = arena_alloc(x->arena, room * sizeof(*v));

		if (!v)
			return x->arena->error;
		if (out->n)
			memcpy(v, out->v, out->n * sizeof(*v));
		out->v = v;
		out->room = room;
	}
	out->v[out->n++] = (struct shell_word){ text, flags };
	return 0;
}

static void plain_braces(char *text)
{
	for (; *text; text++)
		*text = *text == SHELL_BRACE_OPEN    ? '{'
			: *text == SHELL_BRACE_COMMA ? ','
			: *text == SHELL_BRACE_CLOSE ? '}'
						     : *text;
}

struct braces {
	struct shell_words *out;
	unsigned int flags;
	size_t made, tried;
};

static int push_braces(struct shell_parse *x, struct braces *b, char *text, size_t done, unsigned int depth);

/* The brace that closes OPEN, or NULL. *RET_COMMA: a comma stands between them, outside of inner braces. */
static char *closing_brace(char *open, bool *ret_comma)
{
	unsigned int depth = 0;

	*ret_comma = false;
	for (char *p = open; *p; p++) {
		depth += *p == SHELL_BRACE_OPEN;
		*ret_comma = *ret_comma || (*p == SHELL_BRACE_COMMA && depth == 1);
		if (*p == SHELL_BRACE_CLOSE && --depth == 0)
			return p;
	}
	return NULL;
}

/* TEXT with OPEN..CLOSE replaced by LEN bytes at PART. */
static int push_part(struct shell_parse *x, struct braces *b, const char *text, const char *open,
		     const char *close, const char *part, size_t len, unsigned int depth)
{
	size_t before = (size_t)(open - text), after = strlen(close + 1);
	char *made;

	b->flags |= SHELL_WORD_BASH;
	if (++b->made > BRACE_WORDS_MAX)
		return shell_fail(x, "braces with too many words");
	made = arena_alloc(x->arena, before + len + after + 1);
	if (!made)
		return x->arena->error;
	memcpy(made, text, before);
	memcpy(made + before, part, len);
	memcpy(made + before + len, close + 1, after + 1);
	return push_braces(x, b, made, before, depth + 1);
}

static int push_parts(struct shell_parse *x, struct braces *b, const char *text, const char *open,
		      const char *close, unsigned int depth)
{
	unsigned int level = 0;
	const char *part = open + 1;
	int r = 0;

	for (const char *p = open + 1; p <= close && r == 0; p++) {
		if (p == close || (*p == SHELL_BRACE_COMMA && level == 0)) {
			r = push_part(x, b, text, open, close, part, (size_t)(p - part), depth);
			part = p + 1;
		}
		level += *p == SHELL_BRACE_OPEN;
		level -= *p == SHELL_BRACE_CLOSE && p < close;
	}
	return r;
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* {A..z} has a backslash and a backquote among its letters, and bash expands the words again: code in quotes would run. */
static bool has_letters_only(const int range[2])
{
	return is_letter(range[0]) && is_letter(range[1]) && (range[0] < 'a') == (range[1] < 'a');
}

/* {a..z}, {1..9}: *RET_FROM and *RET_TO are letters or numbers. */
static bool is_range(const char *open, const char *close, int *ret_from, int *ret_to, bool *ret_letters)
{
	const char *dots = memmem(open, (size_t)(close - open), "..", 2), *p = open + 1;
	int *to = ret_from;

	if (!dots)
		return false;
	*ret_letters = dots - p == 1 && close - dots > 2 && (*p > '9' || *p < '0');
	if (*ret_letters) {
		*ret_from = (unsigned char)*p;
		*ret_to = (unsigned char)dots[2];
		return dots[2] > ' ' && *p > ' ' && (close - dots == 3 || dots[3] == '.');
	}
	for (size_t n = 0; n < 2; n++, to = ret_to) {
		bool minus = *p == '-';

		p += minus;
		if (*p < '0' || *p > '9')
			return false;
		for (*to = 0; *p >= '0' && *p <= '9' && *to < 1000000; p++)
			*to = *to * 10 + (*p - '0');
		*to = minus ? -*to : *to;
		if (n == 0 && p != dots)
			return false;
		p = dots + 2;
	}
	return true;
}

static int push_range(struct shell_parse *x, struct braces *b, const char *text, const char *open,
		      const char *close, const int range[2], bool letters, unsigned int depth)
{
	int step = range[0] <= range[1] ? 1 : -1, count = (range[1] - range[0]) * step + 1, r = 0;
	char part[16];

	if (letters && !has_letters_only(range))
		return shell_fail(x, "a range of characters that are no letters");
	/* A long one: its ends, and a word that is not known. */
	if (count > BRACE_WORDS_MAX / 2) {
		b->flags |= SHELL_WORD_UNKNOWN | SHELL_WORD_SPLIT;
		r = push_part(x, b, text, open, close, "\x01", 1, depth);
		step *= count - 1;
		count = 2;
	}
	for (int i = 0; i < count && r == 0; i++) {
		int value = range[0] + i * step,
		    len = snprintf(part, sizeof(part), letters ? "%c" : "%d", value);

		r = push_part(x, b, text, open, close, part, (size_t)len, depth);
	}
	return r;
}

/* "a{b,{c,d}}e" -> abe ace ade. Braces before DONE are literal. */
static int push_braces(struct shell_parse *x, struct braces *b, char *text, size_t done, unsigned int depth)
{
	if (depth > SHELL_DEPTH_MAX)
		return shell_fail(x, "nested too deeply");
	for (char *open = strchr(text + done, SHELL_BRACE_OPEN); open;
	     open = strchr(open + 1, SHELL_BRACE_OPEN)) {
		bool comma, letters;
		char *close = closing_brace(open, &comma);
		int range[2];

		/* Each was compared with the rest of the word. */
		if (++b->tried > BRACE_TRIES_MAX)
			return shell_fail(x, "too many braces");
		if (close && comma)
			return push_parts(x, b, text, open, close, depth);
		if (close && is_range(open, close, &range[0], &range[1], &letters))
			return push_range(x, b, text, open, close, range, letters, depth);
	}
	plain_braces(text);
	return shell_push_word(x, b->out, text, b->flags);
}

int shell_push_fields(struct shell_parse *x, struct shell_words *out, struct shell_text *t, bool assignment)
{
	char *text = t->bytes, *stop;
	int r = 0;

	if (!text)
		return shell_push_word(x, out, "", t->flags);
	for (char *p = text; assignment && *p; p++)
		if (*p == SHELL_FIELD_BREAK) {
			*p = SHELL_UNKNOWN;
			t->flags |= SHELL_WORD_UNKNOWN;
		}
	if (assignment) {
		plain_braces(text);
		return shell_push_word(x, out, text, t->flags);
	}
	do {
		stop = strchr(text, SHELL_FIELD_BREAK);
		if (stop)
			*stop = '\0';
		if (*text || (!stop && text == t->bytes))
			r = push_braces(x, &(struct braces){ out, t->flags, 0, 0 }, text, 0, 0);
		text = stop ? stop + 1 : NULL;
	} while (r == 0 && text);
	return r;
}
