/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "credential/credential.h"

#define HOST_MAX 253
#define LABEL_MAX 63

bool credential_name_is_valid(const char *name)
{
	size_t len = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") : 0;

	return len > 0 && len <= CREDENTIAL_NAME_MAX && !name[len] && name[0] != '.' && name[0] != '-';
}

static bool is_label(const char *at, size_t len)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

	return len > 0 && len <= LABEL_MAX && strspn(at, set) >= len && at[0] != '-' && at[len - 1] != '-';
}

bool credential_host_is_valid(const char *host)
{
	const char *at = str_starts(host, "*.") ? host + 2 : host;

	if (strlen(at) > HOST_MAX)
		return false;
	for (;;) {
		size_t len = strcspn(at, ".");

		if (!is_label(at, len))
			return false;
		if (!at[len])
			return true;
		at += len + 1;
	}
}

static bool fits(const char *rule, const char *host)
{
	size_t below, len;

	if (!str_starts(rule, "*."))
		return strcasecmp(rule, host) == 0;
	rule++;
	below = strlen(rule);
	len = strlen(host);
	return len > below && strcasecmp(host + len - below, rule) == 0;
}

bool credential_host_fits(char *const *hosts, const char *host)
{
	/* A name that is none cannot be matched: "evil.org/.example.org" is not below example.org. */
	if (!credential_host_is_valid(host) || *host == '*')
		return false;
	for (; hosts && *hosts; hosts++)
		if (fits(*hosts, host))
			return true;
	return false;
}
