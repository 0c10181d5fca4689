/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hostname.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static int refuse(struct fault *f, const char *why)
{
	return fault_set(f, EINVAL, "not a host name: %s", why);
}

/* C is no character of a label: why. */
static int refuse_character(unsigned char c, struct fault *f)
{
	if (c >= 0x80)
		return refuse(f, "it is not ASCII; write its xn-- form");
	if (c == ':' || c == '[' || c == ']' || c == '%')
		return refuse(f, "it has a port or is an address of IPv6; write the name alone");
	if (c == '*')
		return refuse(f, "'*' is for patterns");
	if (c == ' ' || c == '\t')
		return refuse(f, "it has a blank");
	if (c < 0x20 || c == 0x7f)
		return refuse(f, "it has a control character");
	return fault_set(f, EINVAL, "not a host name: it has the character '%c'", c);
}

/* inet_aton() and URL parsers take digits and 0x with hexadecimal digits for a part of an address, and then the name for one. */
static bool is_number(const char *label)
{
	if (label[0] == '0' && label[1] == 'x')
		return label[2 + strspn(label + 2, DIGITS "abcdef")] == '\0';
	return label[strspn(label, DIGITS)] == '\0';
}

static int check_label(const char *label, size_t len, struct fault *f)
{
	if (len == 0)
		return refuse(f, "a label is empty");
	if (len > HOSTNAME_LABEL_MAX)
		return refuse(f, "a label is longer than 63 characters");
	if (label[0] == '-' || label[len - 1] == '-')
		return refuse(f, "a label begins or ends with '-'");
	return 0;
}

static int check_labels(const char *name, struct fault *f)
{
	const char *label = name;

	for (;;) {
		const size_t len = strcspn(label, ".");
		int r = check_label(label, len, f);

		if (r < 0)
			return r;
		if (!label[len])
			break;
		label += len + 1;
	}
	if (is_number(label))
		return refuse(f, "it is a spelling of an address; only names can be allowed");
	return 0;
}

int hostname_parse(const char *text, size_t len, char ret[HOSTNAME_SIZE], struct fault *f)
{
	char name[HOSTNAME_SIZE];
	int r;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0)
		return refuse(f, "it is empty");
	if (len >= HOSTNAME_SIZE)
		return refuse(f, "it is longer than 253 characters");
	for (size_t i = 0; i < len; i++) {
		const char c = text[i];

		name[i] = c;
		if (c >= 'A' && c <= 'Z')
			name[i] = (char)(c - 'A' + 'a');
		else if (!c || !strchr(LOWER DIGITS "-_.", c))
			return refuse_character((unsigned char)c, f);
	}
	name[len] = '\0';
	r = check_labels(name, f);
	if (r < 0)
		return r;
	memcpy(ret, name, len + 1);
	return 0;
}
