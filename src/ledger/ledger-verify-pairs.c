/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-verify-pairs.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/ledger-session.h"

#define SLOTS 16384 /* a power of two */
#define FILL_MAX (SLOTS / 2)
#define NAME_ROOM VERIFY_NAME_SIZE

enum begun {
	BEGUN_NOTHING, /* also: begun and ended */
	BEGUN_SESSION,
	BEGUN_REQUEST,
	BEGUN_GRANT,
	BEGUN_SPENT, /* a grant without uses left, kept while there is room: another use is named as that */
};

struct slot {
	enum begun what;
	uint64_t left; /* uses of a grant */
	char name[NAME_ROOM];
};

struct verify_pairs {
	struct slot slots[SLOTS];
	size_t n;
};

struct verify_pairs *verify_pairs_new(void)
{
	return calloc(1, sizeof(struct verify_pairs));
}

void verify_pairs_free(struct verify_pairs *s)
{
	free(s);
}

static void copy_name(struct span name, char ret[NAME_ROOM])
{
	size_t len = name.len < NAME_ROOM - 1 ? name.len : NAME_ROOM - 1;

	memcpy(ret, name.at, len);
	ret[len] = '\0';
}

static size_t slot_of(const char *name, enum begun what)
{
	uint64_t h = 14695981039346656037u ^ (uint64_t)what;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return (h ^ h >> 29) & (SLOTS - 1);
}

/* Linear probing; the slot of NAME, or the free one for it. */
static struct slot *find(struct verify_pairs *s, const char *name, enum begun what)
{
	size_t i = slot_of(name, what);

	while (s->slots[i].what != BEGUN_NOTHING &&
	       (s->slots[i].what != what || strcmp(s->slots[i].name, name) != 0))
		i = (i + 1) & (SLOTS - 1);
	return &s->slots[i];
}

static void erase(struct verify_pairs *s, struct slot *slot);

/* Later uses of these are then uses without a grant. */
static void forget_spent(struct verify_pairs *s)
{
	for (size_t i = 0; i < SLOTS;)
		if (s->slots[i].what == BEGUN_SPENT)
			erase(s, &s->slots[i]);
		else
			i++;
}

static struct slot *begin(struct verify_pairs *s, const char *name, enum begun what,
			  struct ledger_verify_result *result)
{
	struct slot *slot = find(s, name, what);

	if (slot->what != BEGUN_NOTHING)
		return NULL;
	if (s->n == FILL_MAX) {
		forget_spent(s);
		slot = find(s, name, what);
	}
	if (s->n == FILL_MAX) {
		result->names_overflow = true;
		return NULL;
	}
	*slot = (struct slot){ .what = what };
	memcpy(slot->name, name, strlen(name) + 1);
	s->n++;
	return slot;
}

/* Deletion closes the hole, so that no probe ends too early. */
static void erase(struct verify_pairs *s, struct slot *slot)
{
	size_t hole = (size_t)(slot - s->slots), i = hole;

	s->n--;
	for (;;) {
		size_t home;

		i = (i + 1) & (SLOTS - 1);
		if (s->slots[i].what == BEGUN_NOTHING)
			break;
		home = slot_of(s->slots[i].name, s->slots[i].what);
		if (((i - home) & (SLOTS - 1)) >= ((i - hole) & (SLOTS - 1))) {
			s->slots[hole] = s->slots[i];
			hole = i;
		}
	}
	s->slots[hole].what = BEGUN_NOTHING;
}

static void add_name(struct ledger_verify_names *names, const char *name)
{
	if (names->n < VERIFY_NAMES_MAX)
		memcpy(names->name[names->n], name, strlen(name) + 1);
	names->n++;
}

static void feed_session(struct verify_pairs *s, const struct record *r, struct ledger_verify_result *result)
{
	char name[NAME_ROOM];
	struct slot *slot;

	if (!r->session.at || r->session.len == 0)
		return;
	copy_name(r->session, name);
	if (ledger_session_kind_is(r, LEDGER_SESSION_INTENT)) {
		(void)begin(s, name, BEGUN_SESSION, result);
		return;
	}
	slot = find(s, name, BEGUN_SESSION);
	/* A refusal may be recorded without an intent. */
	if (slot->what == BEGUN_NOTHING && !result->names_overflow &&
	    !ledger_session_kind_is(r, LEDGER_SESSION_REFUSED))
		add_name(&result->unbegun, name);
	if (slot->what != BEGUN_NOTHING && (ledger_session_kind_is(r, LEDGER_SESSION_END) ||
					    ledger_session_kind_is(r, LEDGER_SESSION_REFUSED)))
		erase(s, slot);
}

/* The string under KEY; false if it is missing. */
static bool get_name(const struct record *r, const char *key, char ret[NAME_ROOM])
{
	struct span s = record_get(r, key);

	if (!s.at || s.len < 3 || s.at[0] != '"')
		return false;
	copy_name((struct span){ s.at + 1, s.len - 2 }, ret);
	return true;
}

/* A grant is usable as often as it states; an imported one is marked and has no request here. */
static void feed_grant(struct verify_pairs *s, const struct record *r, const char *request,
		       struct ledger_verify_result *result)
{
	bool asked = find(s, request, BEGUN_REQUEST)->what != BEGUN_NOTHING;
	struct slot *slot;
	char name[NAME_ROOM];

	if (!asked && !result->names_overflow && !span_is(record_get(r, "imported"), "true"))
		add_name(&result->unasked, request);
	if (!get_name(r, "grant", name))
		return;
	slot = begin(s, name, BEGUN_GRANT, result);
	if (slot && (!record_get_u64(r, "uses", &slot->left) || slot->left == 0))
		slot->left = 1;
}

static void feed_approval(struct verify_pairs *s, const struct record *r, struct ledger_verify_result *result)
{
	struct slot *slot;
	char name[NAME_ROOM];

	if (record_kind_is(r, "approval.revoke")) {
		slot = get_name(r, "grant", name) ? find(s, name, BEGUN_GRANT) : NULL;
		if (slot && slot->what != BEGUN_NOTHING)
			erase(s, slot);
		return;
	}
	if (!get_name(r, "request", name))
		return;
	if (record_kind_is(r, "approval.request")) {
		(void)begin(s, name, BEGUN_REQUEST, result);
	} else if (record_kind_is(r, "approval.grant")) {
		feed_grant(s, r, name, result);
	} else {
		slot = find(s, name, BEGUN_REQUEST);
		if (slot->what != BEGUN_NOTHING)
			erase(s, slot); /* denied or dropped: nothing can follow */
	}
}

/* A use without a grant, or beyond its limit, is a start without approval. */
static void feed_use(struct verify_pairs *s, const struct record *r, struct ledger_verify_result *result)
{
	struct slot *slot;
	char name[NAME_ROOM];

	if (!get_name(r, "grant", name))
		return;
	slot = find(s, name, BEGUN_GRANT);
	if (record_kind_is(r, "grant.drop")) {
		if (slot->what != BEGUN_NOTHING)
			erase(s, slot);
		return;
	}
	if (!record_kind_is(r, "grant.consume"))
		return;
	if (slot->what == BEGUN_NOTHING) {
		if (find(s, name, BEGUN_SPENT)->what != BEGUN_NOTHING)
			add_name(&result->overused, name);
		else if (!result->names_overflow)
			add_name(&result->unfounded, name);
		return;
	}
	if (--slot->left > 0)
		return;
	erase(s, slot);
	(void)begin(s, name, BEGUN_SPENT, result);
}

static bool starts_with(struct span s, const char *text, size_t len)
{
	return s.len > len && memcmp(s.at, text, len) == 0;
}

void verify_pairs_feed(struct verify_pairs *s, const struct record *r, struct ledger_verify_result *result)
{
	if (starts_with(r->kind, "session.", 8) || starts_with(r->kind, "exec.", 5))
		feed_session(s, r, result);
	else if (starts_with(r->kind, "approval.", 9))
		feed_approval(s, r, result);
	else if (starts_with(r->kind, "grant.", 6))
		feed_use(s, r, result);
	else if (record_kind_is(r, "ledger.recovered"))
		result->recovered++;
	else if (record_kind_is(r, "clock.back"))
		result->clock_back++;
}

void verify_pairs_end(const struct verify_pairs *s, struct ledger_verify_result *result)
{
	for (size_t i = 0; i < SLOTS && s->n > 0; i++)
		if (s->slots[i].what == BEGUN_SESSION)
			add_name(&result->unended, s->slots[i].name);
}
