/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <sys/stat.h>

#include "inspect/inspect-impl.h"

#define WITHHELD "(path withheld)"
#define MODE_LINK 0120000u
#define MODE_GITLINK 0160000u

char *inspect_place(const char *path, size_t len, const struct inspect_options *o)
{
	/* A secret that a rule allows in content is still not repeated in a record. */
	const struct inspect_options all = { .secrets = o ? o->secrets : NULL,
					     .n_secrets = o ? o->n_secrets : 0 };
	_cleanup_inspect_found_ struct inspect_found found = { .options = &all };
	_cleanup_strbuf_ struct strbuf b = { 0 };

	inspect_text("", path, len, &found);
	if (found.total > 0)
		return strdup(WITHHELD);
	for (size_t i = 0; i < len; i++) {
		const uint8_t c = (uint8_t)path[i];

		if (c > ' ' && c < 0x7f && c != '\\')
			strbuf_putc(&b, path[i]);
		else
			strbuf_printf(&b, "\\x%02x", c);
	}
	return strbuf_take(&b);
}

static void check_path(const char *path, size_t len, const char *place, struct inspect_found *found)
{
	const enum inspect_rule rule = inspect_name_rule(path, len);

	if (rule != INSPECT_NO_RULE)
		inspect_add(found, rule, place);
	if (!inspect_name_is_formed(path, len))
		inspect_add(found, INSPECT_PATH_FORM, place);
	inspect_value(&(struct inspect_scan){ .found = found, .place = place }, path, len);
}

/* The place of PATH; broken and NULL without memory. */
static char *make_place(const char *path, size_t len, struct inspect_found *found)
{
	char *place = inspect_place(path, len, found->options);

	if (!place)
		inspect_broken(found);
	return place;
}

void inspect_path(const char *path, size_t len, struct inspect_found *found)
{
	_cleanup_free_ char *place = make_place(path, len, found);

	if (place)
		check_path(path, len, place, found);
}

static void check_mode(const struct inspect_change *c, const char *place, struct inspect_found *found)
{
	switch (c->mode & S_IFMT) {
	case S_IFREG:
		if (c->mode & (S_ISUID | S_ISGID | S_ISVTX))
			inspect_add(found, INSPECT_MODE_SET_ID, place);
		if ((c->mode & 0111) && ((c->old_mode & S_IFMT) != S_IFREG || !(c->old_mode & 0111)))
			inspect_add(found, INSPECT_MODE_EXECUTABLE, place);
		break;
	case S_IFLNK:
		inspect_add(found, INSPECT_MODE_SYMLINK, place);
		break;
	case MODE_GITLINK:
		inspect_add(found, INSPECT_CHANGE_SUBMODULE, place);
		return;
	default:
		break;
	}
	if (c->mode != 0100644 && c->mode != 0100755 && c->mode != 0100664 && c->mode != MODE_LINK)
		inspect_add(found, INSPECT_MODE_UNKNOWN, place);
}

void inspect_change(const struct inspect_change *c, struct inspect_found *found)
{
	const size_t len = strlen(c->path);
	_cleanup_free_ char *place = make_place(c->path, len, found);

	if (!place)
		return;
	if (!c->status || !strchr("AMDRCT", c->status) ||
	    (c->old_path != NULL) != (c->status == 'R' || c->status == 'C'))
		inspect_add(found, INSPECT_CHANGE_UNKNOWN, place);
	if (c->old_path)
		inspect_path(c->old_path, strlen(c->old_path), found);
	if (c->status == 'D') {
		if (!inspect_name_is_formed(c->path, len))
			inspect_add(found, INSPECT_PATH_FORM, place);
		return;
	}
	check_path(c->path, len, place, found);
	if (inspect_name_is(c->path, len, ".gitmodules"))
		inspect_add(found, INSPECT_CHANGE_SUBMODULE, place);
	check_mode(c, place, found);
}

/* Does the link leave the directory that its own path is in?  Only by names: a directory on the way may be a link itself. */
static bool is_outside(const char *path, const char *target, size_t len)
{
	long depth = 0;

	if (len == 0 || target[0] == '/')
		return true;
	for (const char *p = path; *p; p++)
		depth += *p == '/';
	for (size_t at = 0; at < len;) {
		const char *slash = memchr(target + at, '/', len - at);
		const size_t n = slash ? (size_t)(slash - target) - at : len - at;

		if (n == 2 && target[at] == '.' && target[at + 1] == '.')
			depth--;
		else if (n > 0 && !(n == 1 && target[at] == '.'))
			depth++;
		if (depth < 0)
			return true;
		at += n + 1;
	}
	return false;
}

static void check_link(const struct inspect_change *c, const char *target, size_t len, const char *place,
		       struct inspect_found *found)
{
	const enum inspect_rule rule = inspect_name_rule(target, len);

	if (is_outside(c->path, target, len) || memchr(target, '\0', len))
		inspect_add(found, INSPECT_MODE_SYMLINK_OUTSIDE, place);
	if (rule != INSPECT_NO_RULE)
		inspect_add(found, rule, place);
	if (inspect_has_proc_path(target, len))
		inspect_add(found, INSPECT_PROC_PATH, place);
}

/* An attribute word that makes git execute or convert: also unset ones of a macro.  "-diff" and "diff" name no driver. */
static bool is_driver(const char *p, size_t len)
{
	static const char *const names[] = { "filter", "diff", "merge", "working-tree-encoding" };

	for (size_t i = 0; i < 4; i++) {
		const size_t n = strlen(names[i]);

		if (len > n && memcmp(p, names[i], n) == 0 && p[n] == '=')
			return true;
	}
	return false;
}

static bool names_driver(const char *p, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = 0;

		while (at + n < len && !inspect_is(p[at + n], INSPECT_BLANK))
			n++;
		if (is_driver(p + at, n))
			return true;
		at += n + 1;
	}
	return false;
}

void inspect_content(const struct inspect_change *c, const char *bytes, size_t len,
		     struct inspect_found *found)
{
	_cleanup_free_ char *place = make_place(c->path, strlen(c->path), found);

	if (!place)
		return;
	if ((c->mode & S_IFMT) == S_IFLNK)
		check_link(c, bytes, len, place, found);
	else if (inspect_name_is(c->path, strlen(c->path), ".gitattributes") && names_driver(bytes, len))
		inspect_add(found, INSPECT_CHANGE_GITATTRIBUTES, place);
	inspect_text(place, bytes, len, found);
}

void inspect_too_large(const struct inspect_change *c, struct inspect_found *found)
{
	_cleanup_free_ char *place = make_place(c->path, strlen(c->path), found);

	if (place)
		inspect_add(found, INSPECT_TEXT_LARGE, place);
}
