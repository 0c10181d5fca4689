/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rest/rest-template.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define UNRESERVED UPPER LOWER DIGITS "-._~"
#define CONSTANT UNRESERVED "!$&'()*+,;=:@/"
#define NAME_MAX_LEN 64

bool rest_name_is_valid(const char *name, size_t len)
{
	return len > 0 && len <= NAME_MAX_LEN && !strchr(DIGITS, *name) &&
	       strspn(name, UPPER LOWER DIGITS "_") >= len;
}

bool rest_template_next(const char **at, struct rest_part *ret)
{
	const char *text = *at;
	size_t len;

	if (!*text)
		return false;
	if (*text != '{') {
		len = strcspn(text, "{");
		*ret = (struct rest_part){ text, len, false };
		*at = text + len;
		return true;
	}
	len = strcspn(text, "}");
	*ret = (struct rest_part){ text + 1, len - 1, true };
	*at = text + len + (text[len] == '}');
	return true;
}

/* No segment but the last one is empty, none is "." or "..", so the server sees the path that is written here. */
static bool has_whole_segments(const char *path)
{
	for (const char *at = path; *at == '/'; at += strcspn(at, "/")) {
		size_t len = strcspn(++at, "/");

		if (len == 0 && *at)
			return false;
		if ((len == 1 && *at == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
			return false;
	}
	return true;
}

bool rest_template_is_valid(const char *text)
{
	const char *at = text;
	struct rest_part p;
	bool name = false;

	if (*text != '/' || !has_whole_segments(text))
		return false;
	for (; rest_template_next(&at, &p); name = p.is_name) {
		if (p.is_name && (name || p.text[p.len] != '}' || !rest_name_is_valid(p.text, p.len)))
			return false;
		if (!p.is_name && strspn(p.text, CONSTANT) < p.len)
			return false;
	}
	return true;
}

bool rest_template_has(const char *text, const char *name, size_t len)
{
	struct rest_part p;

	while (rest_template_next(&text, &p))
		if (p.is_name && p.len == len && memcmp(p.text, name, len) == 0)
			return true;
	return false;
}

void rest_encode(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr(UNRESERVED, *text))
			strbuf_putc(out, *text);
		else
			strbuf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

static const struct jdoc *find(const struct jdoc *params, const char *name, size_t len)
{
	for (size_t i = 0; i < params->n_members; i++)
		if (strlen(params->members[i].key) == len && memcmp(params->members[i].key, name, len) == 0)
			return params->members[i].value;
	return NULL;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

int rest_value_text(const struct jdoc *params, const char *name, size_t len, char number[REST_NUMBER_SIZE],
		    const char **ret, struct fault *f)
{
	const struct jdoc *v = find(params, name, len);
	const char *text = number;

	if (!v)
		return fault_set(f, EINVAL, "parameter '%.*s' is missing", (int)len, name);
	if (v->type == JDOC_INT)
		(void)snprintf(number, REST_NUMBER_SIZE, "%" PRId64, v->integer);
	else if (v->type == JDOC_BOOL)
		(void)snprintf(number, REST_NUMBER_SIZE, "%s", v->boolean ? "true" : "false");
	else if (v->type == JDOC_STRING)
		text = v->string;
	else
		return fault_set(f, EINVAL, "parameter '%.*s' must be a string, a number, true or false",
				 (int)len, name);
	if (strlen(text) > REST_VALUE_MAX)
		return fault_set(f, EINVAL, "parameter '%.*s' has more than %d bytes", (int)len, name,
				 REST_VALUE_MAX);
	if (has_control(text))
		return fault_set(f, EINVAL, "parameter '%.*s' has a control character", (int)len, name);
	*ret = text;
	return 0;
}

/* '%': a server that decodes twice would see a '/' in "%2f". */
static int add_value(const struct rest_part *p, const struct jdoc *params, struct strbuf *out,
		     struct fault *f)
{
	char number[REST_NUMBER_SIZE];
	const char *value;
	int r = rest_value_text(params, p->text, p->len, number, &value, f);

	if (r < 0)
		return r;
	if (!*value || strpbrk(value, "/\\%") || strstr(value, ".."))
		return fault_set(f, EINVAL,
				 "parameter '%.*s' cannot be a part of a path: it is empty, or has '/', "
				 "'\\', '%%' or '..'",
				 (int)p->len, p->text);
	rest_encode(out, value);
	return 0;
}

int rest_template_fill(const char *text, const struct jdoc *params, struct strbuf *out, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf path = { 0 };
	struct rest_part p;

	while (rest_template_next(&text, &p)) {
		int r = 0;

		if (p.is_name)
			r = add_value(&p, params, &path, f);
		else
			strbuf_add(&path, p.text, p.len);
		if (r < 0)
			return r;
	}
	if (path.broken)
		return fault_errno(f, ENOMEM, "path");
	/* ".{name}" with "." is a whole segment only now. */
	if (path.len == 0 || !has_whole_segments(path.text))
		return fault_set(f, EINVAL, "the parameters would change the path");
	strbuf_add(out, path.text, path.len);
	return 0;
}
