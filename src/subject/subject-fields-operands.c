/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "subject/subject-fields.h"

#define LINKS_MAX 4096

/* By `use`, then those that were searched. */
static const char *const uses[] = { "data", "runs", "data-found", "runs-found", NULL };
#define USES_SEARCHED 2

void subject_map_digest(struct jmap *m, const char *key, struct digest *d)
{
	_cleanup_free_ char *text = NULL;
	char hex[DIGEST_HEX_SIZE], *p = hex;

	digest_to_hex(d, hex);
	jmap_string(m, key, m->reading ? &text : &p);
	if (m->r == 0 && m->reading && digest_from_hex(text, d) < 0)
		(void)jmap_fail(m, EINVAL, "'%s' is not a SHA-256", key);
}

void *subject_map_room(struct jmap *m, const char *key, const struct jdoc *array, size_t max, size_t size,
		       size_t *n)
{
	void *items;

	if (m->r < 0)
		return NULL;
	if (array->n_items > max) {
		(void)jmap_fail(m, E2BIG, "'%s' has more than %zu items", key, max);
		return NULL;
	}
	items = calloc(array->n_items + 1, size);
	if (!items)
		(void)jmap_fail(m, ENOMEM, "no memory");
	else
		*n = array->n_items;
	return items;
}

static void map_size(struct jmap *m, const char *key, size_t *field)
{
	uint64_t value = *field;

	jmap_u64(m, key, &value);
	if (m->r == 0 && m->reading)
		*field = value;
}

static void map_file(struct jmap *m, struct operand *o)
{
	unsigned int use = o->use + (o->searched ? USES_SEARCHED : 0), mode = o->mode;

	map_size(m, "arg", &o->arg);
	map_size(m, "at", &o->at);
	jmap_string(m, "path", &o->path);
	subject_map_digest(m, "sha256", &o->sha256);
	jmap_u64(m, "size", &o->size);
	jmap_uint(m, "mode", &mode, 0777);
	jmap_word(m, "use", uses, &use);
	jmap_bool(m, "again", &o->again);
	if (m->r == 0 && m->reading) {
		o->use = (enum operand_use)(use % USES_SEARCHED);
		o->searched = use >= USES_SEARCHED;
		o->mode = mode;
	}
}

static void map_files(struct jmap *m, struct subject *s)
{
	struct jdoc *a = jmap_value(m, "files", JDOC_ARRAY);
	size_t n_args = 0;

	while (s->argv && s->argv[n_args])
		n_args++;
	/* One word may name a file by itself and another one through PATH, and several words the same file. */
	if (m->reading)
		s->operands =
			subject_map_room(m, "files", a, 2 * n_args, sizeof(*s->operands), &s->n_operands);
	for (size_t i = 0; m->r == 0 && i < s->n_operands; i++) {
		struct operand *o = &s->operands[i];
		struct jmap item;

		jmap_enter_item(m, "files", a, i, &item);
		map_file(&item, o);
		/* Users of it rely on the word and the path in it. */
		if (item.r == 0 && (o->arg >= n_args || o->at > strlen(s->argv[o->arg])))
			(void)jmap_fail(&item, ERANGE, "no such argument");
		jmap_leave(m, &item);
	}
}

static void map_links(struct jmap *m, struct subject *s)
{
	struct jdoc *a = jmap_value(m, "links", JDOC_ARRAY);

	if (m->reading)
		s->operand_links = subject_map_room(m, "links", a, LINKS_MAX, sizeof(*s->operand_links),
						    &s->n_operand_links);
	for (size_t i = 0; m->r == 0 && i < s->n_operand_links; i++) {
		struct jmap item;

		jmap_enter_item(m, "links", a, i, &item);
		jmap_string(&item, "path", &s->operand_links[i].path);
		jmap_string(&item, "text", &s->operand_links[i].text);
		jmap_leave(m, &item);
	}
}

void subject_map_operands(struct jmap *parent, struct subject *s)
{
	const char *const seals[] = { operand_seal_name(OPERAND_SEAL_NAMED),
				      operand_seal_name(OPERAND_SEAL_NONE),
				      operand_seal_name(OPERAND_SEAL_TREE), NULL };
	unsigned int seal = s->seal;
	struct jmap m;

	jmap_enter(parent, "operands", &m);
	jmap_word(&m, "seal", seals, &seal);
	map_files(&m, s);
	map_links(&m, s);
	if (seal == OPERAND_SEAL_TREE)
		subject_map_digest(&m, "tree", &s->tree);
	jmap_leave(parent, &m);
	if (m.r == 0 && m.reading)
		s->seal = (enum operand_seal)seal;
}
