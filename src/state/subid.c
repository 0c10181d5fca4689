/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/subid.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 65536
#define OWNER_SHOWN 32

struct entry {
	const char *owner; /* not terminated */
	size_t owner_len;
	uint32_t first, last;
	size_t line;
	bool own;
};

struct entries {
	struct entry *at;
	size_t n, room;
};

static void entries_done(struct entries *e)
{
	free(e->at);
}
#define _cleanup_entries_ _cleanup_(entries_done)

/* One line of a text: without its newline. */
struct span {
	const char *text;
	size_t len;
};

static bool next_line(struct span *rest, struct span *ret)
{
	const char *end;

	if (rest->len == 0)
		return false;
	end = memchr(rest->text, '\n', rest->len);
	ret->text = rest->text;
	ret->len = end ? (size_t)(end - rest->text) : rest->len;
	rest->text += ret->len + (end ? 1 : 0);
	rest->len -= ret->len + (end ? 1 : 0);
	return true;
}

/* Up to the next colon, or to the end; *REST is NULL behind the last one. */
static bool take_field(struct span *rest, struct span *ret)
{
	const char *colon;

	if (!rest->text)
		return false;
	colon = rest->len ? memchr(rest->text, ':', rest->len) : NULL;
	ret->text = rest->text;
	ret->len = colon ? (size_t)(colon - rest->text) : rest->len;
	if (!colon) {
		*rest = (struct span){ 0 };
		return true;
	}
	rest->text += ret->len + 1;
	rest->len -= ret->len + 1;
	return true;
}

static bool to_number(const struct span *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s->len == 0 || s->len > 10)
		return false;
	for (size_t i = 0; i < s->len; i++) {
		if (s->text[i] < '0' || s->text[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s->text[i] - '0');
	}
	*ret = v;
	return true;
}

/* The last id, 4294967295, means "unchanged" to the kernel. */
static bool parse_entry(struct span line, struct entry *ret)
{
	struct span owner, first, count;
	uint64_t from, n;

	if (!take_field(&line, &owner) || !take_field(&line, &first) || !take_field(&line, &count) ||
	    line.text)
		return false;
	if (owner.len == 0 || memchr(owner.text, '\0', owner.len) || !to_number(&first, &from) ||
	    !to_number(&count, &n) || n == 0 || from + n > UINT32_MAX)
		return false;
	*ret = (struct entry){ .owner = owner.text,
			       .owner_len = owner.len,
			       .first = (uint32_t)from,
			       .last = (uint32_t)(from + n - 1) };
	return true;
}

static bool is_own(const struct entry *e, const struct subid_ask *ask)
{
	const struct span owner = { e->owner, e->owner_len };
	uint64_t uid;

	if (e->owner_len == strlen(ask->name) && memcmp(e->owner, ask->name, e->owner_len) == 0)
		return true;
	return to_number(&owner, &uid) && uid == ask->uid;
}

static int add(struct entries *l, const struct entry *e)
{
	if (l->n == ENTRIES_MAX)
		return -E2BIG;
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		struct entry *grown = reallocarray(l->at, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->at = grown;
		l->room = room;
	}
	l->at[l->n++] = *e;
	return 0;
}

static int read_entries(const char *text, size_t len, const struct subid_ask *ask, struct entries *l,
			struct fault *f)
{
	struct span rest = { text, len }, line;
	size_t number = 0;

	while (next_line(&rest, &line)) {
		struct entry e;
		int r;

		number++;
		if (line.len == 0 || line.text[0] == '#')
			continue;
		if (!parse_entry(line, &e))
			return fault_set(f, EINVAL,
					 "line %zu of '%s' is not NAME:FIRST:COUNT with numbers of ids",
					 number, ask->file);
		e.line = number;
		e.own = is_own(&e, ask);
		r = add(l, &e);
		if (r < 0)
			return fault_errno(f, -r, "'%s'", ask->file);
	}
	return 0;
}

static bool overlaps(const struct entry *e, uint32_t first, uint32_t last)
{
	return e->first <= last && first <= e->last;
}

static int refuse(const struct subid_ask *ask, const struct entry *e, const char *why, struct fault *f)
{
	return fault_set(f, EPERM, "line %zu of '%s', %" PRIu32 " to %" PRIu32 ", %s", e->line, ask->file,
			 e->first, e->last, why);
}

static int shown_len(const struct entry *e)
{
	return (int)(e->owner_len < OWNER_SHOWN ? e->owner_len : OWNER_SHOWN);
}

static int require_own_only(const struct entries *l, const struct entry *e, const struct subid_ask *ask,
			    struct fault *f)
{
	if (e->first == 0)
		return refuse(ask, e, "contains 0, the host's root", f);
	if (overlaps(e, ask->self, ask->self))
		return refuse(ask, e, "contains the caller's own id", f);
	if (overlaps(e, ask->reserved_first, ask->reserved_last))
		return refuse(ask, e, "overlaps the ids of custody's runs as root (id_range)", f);
	for (size_t i = 0; i < l->n; i++) {
		const struct entry *x = &l->at[i];

		if (x == e || !overlaps(e, x->first, x->last))
			continue;
		/* By name and by uid, for example. */
		if (x->own && x->first == e->first && x->last == e->last)
			continue;
		if (x->own)
			return fault_set(f, EPERM, "lines %zu and %zu of '%s' overlap: give each id once",
					 e->line < x->line ? e->line : x->line,
					 e->line < x->line ? x->line : e->line, ask->file);
		return fault_set(f, EPERM, "lines %zu and %zu of '%s' overlap: '%.*s' has ids of '%.*s'",
				 e->line < x->line ? e->line : x->line, e->line < x->line ? x->line : e->line,
				 ask->file, shown_len(x), x->owner, shown_len(e), e->owner);
	}
	return 0;
}

static bool is_repeated(const struct entries *l, const struct entry *e)
{
	for (const struct entry *x = l->at; x < e; x++)
		if (x->own && x->first == e->first)
			return true;
	return false;
}

static void take(struct id_extents *e, uint32_t *used, const struct entry *x)
{
	uint32_t count = x->last - x->first + 1;

	if (e->n == ID_EXTENTS_MAX || *used == SUBID_USED_MAX)
		return;
	if (count > SUBID_USED_MAX - *used)
		count = SUBID_USED_MAX - *used;
	e->at[e->n++] = (struct id_extent){ .inside = *used + 1, .outside = x->first, .count = count };
	*used += count;
}

int subid_choose(const char *text, size_t len, const struct subid_ask *ask, struct id_extents *ret,
		 struct fault *f)
{
	_cleanup_entries_ struct entries l = { 0 };
	struct id_extents e = { .at = { { .inside = 0, .outside = ask->self, .count = 1 } }, .n = 1 };
	uint32_t used = 0;
	int r = read_entries(text, len, ask, &l, f);

	for (size_t i = 0; r == 0 && i < l.n; i++)
		if (l.at[i].own)
			r = require_own_only(&l, &l.at[i], ask, f);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++)
		if (l.at[i].own && !is_repeated(&l, &l.at[i]))
			take(&e, &used, &l.at[i]);
	if (used == 0)
		return fault_set(f, ENOENT, "'%s' has no range of user '%.*s'", ask->file, OWNER_SHOWN,
				 ask->name);
	*ret = e;
	return 0;
}

bool subid_is_granted(const char *text, size_t len, uint64_t first, uint64_t count)
{
	struct span rest = { text, len }, line;
	struct entry e;

	while (next_line(&rest, &line))
		if (parse_entry(line, &e) && e.last >= first && e.first < first + count)
			return true;
	return false;
}

/* Not the first extent: that is the caller's own id. */
static bool has_id(const struct id_extents *e, uint64_t id)
{
	for (unsigned int i = 1; i < e->n; i++)
		if (id >= e->at[i].outside && id - e->at[i].outside < e->at[i].count)
			return true;
	return false;
}

int subid_require_free(const char *text, size_t len, const char *kind, const struct id_extents *e,
		       struct fault *f)
{
	struct span rest = { text, len }, line;

	while (next_line(&rest, &line)) {
		struct span name, password, id;
		uint64_t number;

		if (!take_field(&line, &name) || !take_field(&line, &password) || !take_field(&line, &id) ||
		    !to_number(&id, &number) || !has_id(e, number))
			continue;
		return fault_set(f, EPERM, "the subordinate ids contain %" PRIu64 ", which is %s '%.*s'",
				 number, kind, (int)(name.len < OWNER_SHOWN ? name.len : OWNER_SHOWN),
				 name.text);
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool take_word(struct span *rest, struct span *ret)
{
	while (rest->len && is_blank(*rest->text)) {
		rest->text++;
		rest->len--;
	}
	ret->text = rest->text;
	ret->len = 0;
	while (ret->len < rest->len && !is_blank(rest->text[ret->len]))
		ret->len++;
	rest->text += ret->len;
	rest->len -= ret->len;
	return ret->len > 0;
}

static bool is_word(const struct span *w, const char *text)
{
	return w->len == strlen(text) && memcmp(w->text, text, w->len) == 0;
}

/* "subid: sss" */
static bool names_other_source(struct span line)
{
	struct span word;
	const char *hash = memchr(line.text, '#', line.len);

	if (hash)
		line.len = (size_t)(hash - line.text);
	while (line.len && is_blank(*line.text)) {
		line.text++;
		line.len--;
	}
	if (line.len < 6 || memcmp(line.text, "subid:", 6) != 0)
		return false;
	line.text += 6;
	line.len -= 6;
	while (take_word(&line, &word))
		if (!is_word(&word, "files"))
			return true;
	return false;
}

int subid_require_files(const char *text, size_t len, struct fault *f)
{
	struct span rest = { text, len }, line;

	while (next_line(&rest, &line))
		if (line.len && names_other_source(line))
			return fault_set(f, ENOTSUP,
					 "'subid' in /etc/nsswitch.conf names another source than 'files', "
					 "which is not supported");
	return 0;
}
