/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-facts.h"

#include <string.h>

#include "base/array.h"

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* The length of the line at AT, which moves behind its first blanks; RET_NEXT: the next line. */
static size_t take_line(const char **at, const char **ret_next)
{
	const char *end = *at;

	while (*end && *end != '\n')
		end++;
	*ret_next = *end ? end + 1 : end;
	*at = skip_blanks(*at);
	return (size_t)(end - *at);
}

static bool is_text(const char *at, size_t len, const char *text)
{
	return len == strlen(text) && strncmp(at, text, len) == 0;
}

bool facts_has_only_loopback(const char *dev)
{
	unsigned int n = 0;

	/* Two lines of headings. */
	for (const char *at = dev, *next; *at; at = next, n++) {
		size_t len = take_line(&at, &next);

		if (n >= 2 && (len < 3 || strncmp(at, "lo:", 3) != 0))
			return false;
	}
	return n == 3;
}

bool facts_has_only_own_routes(const char *fib, const char **ret_bad, size_t *ret_len)
{
	static const struct {
		char address[16], text[24];
	} own[] = {
		{ "127.0.0.0", "/8 host LOCAL" },
		{ "127.0.0.1", "/32 host LOCAL" },
		{ "127.255.255.255", "/32 link BROADCAST" },
		{ "127.0.0.0", "/32 link BROADCAST" }, /* before Linux 5.14 */
		{ "198.18.0.0", "/15 host LOCAL" },
	};
	const char *leaf = "";
	size_t leaf_len = 0;
	bool found = false;

	for (const char *at = fib, *next; *at; at = next) {
		size_t len = take_line(&at, &next);
		unsigned int i = 0;

		if (len > 4 && strncmp(at, "|-- ", 4) == 0) {
			leaf = at + 4;
			leaf_len = len - 4;
		}
		if (len == 0 || *at != '/')
			continue;
		while (i < ARRAY_SIZE(own) &&
		       !(is_text(leaf, leaf_len, own[i].address) && is_text(at, len, own[i].text)))
			i++;
		if (i == ARRAY_SIZE(own)) {
			*ret_bad = leaf;
			*ret_len = leaf_len;
			return false;
		}
		found = found || i == ARRAY_SIZE(own) - 1;
	}
	*ret_bad = "198.18.0.0/15 is missing";
	*ret_len = strlen(*ret_bad);
	return found;
}

/* Columns of /proc/net/ipv6_route: destination and length, source and length, gateway, metric, two counters, flags, device. */
bool facts_has_no_ipv6_route(const char *routes)
{
	static const char own[] = "00000000000000000000000000000001 80 ";
	static const char none[] = "00000000000000000000000000000000 00 ";

	for (const char *at = routes, *next; *at; at = next) {
		size_t len = take_line(&at, &next);
		/* RTF_REJECT: no route. */
		bool rejects = strncmp(at, none, sizeof(none) - 1) == 0 && len > 141 &&
			       strncmp(at + 131, " 00200200 ", 10) == 0;

		if (!rejects && strncmp(at, own, sizeof(own) - 1) != 0)
			return false;
		if (len < 3 || strncmp(at + len - 3, " lo", 3) != 0)
			return false;
	}
	return true;
}
