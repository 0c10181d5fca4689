/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/lane.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

static const char blanks[] = " \t";

/* clang-format off */
static const struct {
	const char *name, *alias;
	enum network_class class;
} lanes[_LANE_MAX] = {
	[LANE_SANDBOX] = { "sandbox", "test", NETWORK_CLASS_TEST },
	[LANE_PROD] = { "prod", "production", NETWORK_CLASS_PROD },
};
static const char *const classes[] = {
	[NETWORK_CLASS_UNKNOWN] = "unknown", [NETWORK_CLASS_TEST] = "test", [NETWORK_CLASS_PROD] = "prod",
	[NETWORK_CLASS_ANY] = "any",
};
/* clang-format on */

const char *lane_name(enum lane lane)
{
	return lanes[lane].name;
}

enum network_class lane_class(enum lane lane)
{
	return lanes[lane].class;
}

const char *network_class_name(enum network_class class)
{
	return classes[class];
}

/* TEXT without surrounding blanks; *LEN 0 if nothing is left. */
static const char *trim(const char *text, size_t *len)
{
	text += strspn(text, blanks);
	*len = strlen(text);
	while (*len > 0 && strchr(blanks, text[*len - 1]))
		(*len)--;
	return text;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

int lane_parse(const char *text, enum lane *ret, struct fault *f)
{
	_cleanup_free_ char *shown = NULL;
	const char *word;
	size_t len = 0;

	word = text ? trim(text, &len) : NULL;
	if (len == 0) {
		*ret = LANE_SANDBOX;
		return 0;
	}
	for (unsigned int i = 0; i < _LANE_MAX; i++)
		if (is_word(word, len, lanes[i].name) || is_word(word, len, lanes[i].alias)) {
			*ret = (enum lane)i;
			return 0;
		}
	shown = str_escape(text);
	return fault_set(f, EINVAL,
			 "unknown lane '%s': expected sandbox (alias test) or prod (alias production)",
			 shown ? shown : "?");
}

int lane_require_class(enum lane lane, enum network_class class, const char *what, struct fault *f)
{
	if (class & lanes[lane].class)
		return 0;
	return fault_set(f, LANE_REFUSED, "%s is of network class '%s', lane '%s' is of class '%s': refused",
			 what, class <= NETWORK_CLASS_ANY ? classes[class] : "unknown", lanes[lane].name,
			 classes[lanes[lane].class]);
}

int lane_require_name(enum lane lane, const char *stamp, const char *what, struct fault *f)
{
	_cleanup_free_ char *shown = stamp ? str_escape(stamp) : NULL;

	if (!stamp)
		return fault_set(f, LANE_REFUSED, "%s has no lane stamped on it, this is lane '%s': refused",
				 what, lanes[lane].name);
	if (strcmp(stamp, lanes[lane].name) == 0)
		return 0;
	return fault_set(f, LANE_REFUSED, "%s is of lane '%s', this is lane '%s': refused", what,
			 shown ? shown : "?", lanes[lane].name);
}
