/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

void strv_free(char **v)
{
	for (char **p = v; p && *p; p++)
		free(*p);
	free(v);
}

size_t strv_len(char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

bool strv_has(char *const *v, const char *text)
{
	for (; v && *v; v++)
		if (strcmp(*v, text) == 0)
			return true;
	return false;
}

/* Owns TEXT from the call on. */
static int append_taken(char ***v, char *text)
{
	_cleanup_free_ char *owned = text;
	size_t n = strv_len(*v);
	char **grown;

	if (!owned)
		return -ENOMEM;
	grown = reallocarray(*v, n + 2, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[n] = TAKE_PTR(owned);
	grown[n + 1] = NULL;
	*v = grown;
	return 0;
}

int strv_append(char ***v, const char *text)
{
	return append_taken(v, strdup(text));
}

int strv_appendf(char ***v, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return append_taken(v, n < 0 ? NULL : text);
}

char **strv_copy(char *const *v)
{
	_cleanup_strv_ char **copy = NULL;
	size_t n = strv_len(v);

	copy = calloc(n + 1, sizeof(*copy));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		copy[i] = strdup(v[i]);
		if (!copy[i])
			return NULL;
	}
	return TAKE_PTR(copy);
}
