/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspect/inspect-impl.h"

/* Tokens without a prefix: a text in their middle says what they are. */

/* The rest of a client secret of Azure is before and behind "Q~". */
static bool is_azure_client(const char *p, size_t at, size_t len)
{
	size_t n = 0;

	if (at < 4 || (p[at - 1] != '7' && p[at - 1] != '8'))
		return false;
	for (size_t i = at - 4; i + 1 < at; i++)
		if (!inspect_is(p[i], INSPECT_ALNUM))
			return false;
	while (n < 35 && at + 2 + n < len && inspect_is(p[at + 2 + n], INSPECT_VALUE))
		n++;
	return n >= 31 && n <= 34 && inspect_distinct(p + at + 2, n) >= 8;
}

/* A bot token of Telegram: digits, ":AA", and 33 more. */
static bool is_telegram(const char *p, size_t at, size_t len)
{
	size_t n = 0, digits = 0;

	while (digits < at && digits < 11 && inspect_is(p[at - digits - 1], INSPECT_DIGIT))
		digits++;
	while (n < 34 && at + 3 + n < len && inspect_is(p[at + 3 + n], INSPECT_BASE64))
		n++;
	return digits >= 8 && digits <= 10 && n == 33;
}

/* "sig=" of a shared access signature, which is 32 bytes in base64, escaped or not. */
static bool is_signature(const char *p, size_t at, size_t len)
{
	size_t n = 0;

	if (at == 0 || (p[at - 1] != '&' && p[at - 1] != '?' && p[at - 1] != ';'))
		return false;
	while (n < 81 && at + 4 + n < len &&
	       (inspect_is(p[at + 4 + n], INSPECT_BASE64) || p[at + 4 + n] == '%'))
		n++;
	return n >= 43 && n <= 80 && inspect_distinct(p + at + 4, n) >= 16;
}

static bool is_terraform(const char *p, size_t at, size_t len)
{
	size_t n = 0;

	while (n < 60 && at + 9 + n < len && inspect_is(p[at + 9 + n], INSPECT_BASE64))
		n++;
	return at >= 14 && inspect_is(p[at - 1], INSPECT_ALNUM) && n >= 60;
}

void inspect_azure_client(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (is_azure_client(p, at, len))
		inspect_report(s, INSPECT_SECRET_AZURE, at);
}

void inspect_azure_signature(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (is_signature(p, at, len))
		inspect_report(s, INSPECT_SECRET_AZURE, at);
}

void inspect_telegram(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (is_telegram(p, at, len))
		inspect_report(s, INSPECT_SECRET_SERVICE, at);
}

void inspect_terraform(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (is_terraform(p, at, len))
		inspect_report(s, INSPECT_SECRET_CLOUD, at);
}
