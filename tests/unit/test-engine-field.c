/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "oci/engine/engine-annotation.h"
#include "oci/engine/engine-field.h"
#include "oci/runtime/runtime-schema.h"
#include "tap.h"

#define PLAIN                                                                                        \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/"                                                \
	"\"},\"root\":{\"path\":\"rootfs\"},\"linux\":{\"namespaces\":["                             \
	"{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{\"type\":" \
	"\"mount\"}]}}"

/* --- the table and the specification --------------------------------------------------------------------------- */

static const struct schema_member *find_member(const struct schema_member *table, const char *key)
{
	for (; table->key; table++)
		if (strcmp(table->key, key) == 0)
			return table;
	return NULL;
}

static const struct engine_field *find_field(const struct engine_field *table, const char *key)
{
	for (; table->key; table++)
		if (strcmp(table->key, key) == 0)
			return table;
	return NULL;
}

/* A map has one row "*" in the engine's table; the schema names its type instead. */
static bool is_map(const struct schema_member *m)
{
	return m->type == SCHEMA_MAP || m->type == SCHEMA_MAP_OF_OBJECTS;
}

static bool same(const struct schema_member *members, const struct engine_field *fields)
{
	bool ok = true;

	for (const struct schema_member *m = members; m->key; m++) {
		const struct engine_field *f = find_field(fields, m->key), *in = f ? f->in : NULL;

		if (in && is_map(m))
			in = strcmp(in->key, "*") == 0 && !in[1].key ? in->in : NULL;
		if (!f || (m->in && !in && f->rule != ENGINE_REFUSE)) {
			printf("# '%s' of the specification is not in the table\n", m->key);
			ok = false;
		} else if (m->in && in) {
			ok = same(m->in, in) && ok;
		}
	}
	for (const struct engine_field *f = fields; f->key; f++)
		if (!find_member(members, f->key)) {
			printf("# '%s' of the table is not in the specification\n", f->key);
			ok = false;
		}
	return ok;
}

static void CARD_7_the_table_has_every_member_of_the_specification_and_no_other(void)
{
	CHECK(same(schema_config, engine_fields));
}

static bool says_why(const struct engine_field *table)
{
	for (const struct engine_field *f = table; f->key; f++) {
		if (!f->what || (!*f->what && f->rule != ENGINE_SUBJECT && !f->in)) {
			printf("# %s\n", f->key);
			return false;
		}
		if (f->in && !says_why(f->in))
			return false;
	}
	return true;
}

static void every_row_says_how_or_why(void)
{
	CHECK(says_why(engine_fields));
	for (size_t i = 0; engine_annotation_at(i); i++)
		CHECK(engine_annotation_at(i)->what || str_eq(engine_annotation_at(i)->name, "custody.*"));
}

/* --- each member, one at a time ---------------------------------------------------------------------------------- */

/* The document that has only the member PATH (a.b[].*.c) with VALUE. */
static void build(const char *path, const char *value, struct strbuf *out)
{
	size_t len = strcspn(path, ".[");
	bool array = path[len] == '[';
	const char *rest = path + len + (array ? 2 : 0);

	strbuf_printf(out, "{\"%.*s\":%s", *path == '*' ? 1 : (int)len, *path == '*' ? "k" : path,
		      array ? "[" : "");
	if (*rest == '.')
		build(rest + 1, value, out);
	else
		strbuf_puts(out, value);
	strbuf_puts(out, array ? "]}" : "}");
}

static void add(struct jdoc *to, const struct jdoc *from)
{
	for (size_t i = 0; i < from->n_members; i++) {
		const struct jdoc_member *m = from->members + i;
		struct jdoc *old = jdoc_get(to, m->key);

		if (engine_is(old, JDOC_OBJECT) && m->value->type == JDOC_OBJECT)
			add(old, m->value);
		else if (engine_is(old, JDOC_ARRAY) && m->value->type == JDOC_ARRAY)
			for (size_t k = 0; k < m->value->n_items; k++)
				jdoc_append(old, jdoc_copy(m->value->items[k]));
		else
			jdoc_set(to, m->key, jdoc_copy(m->value));
	}
}

/* A mount needs these, whatever its other members are. */
static void complete_mount(struct jdoc *mount)
{
	if (!jdoc_get(mount, "destination"))
		jdoc_set_string(mount, "destination", "/x");
	if (!jdoc_get(mount, "type"))
		jdoc_set_string(mount, "type", "tmpfs");
}

static char *with_member(const char *path, const char *value)
{
	_cleanup_jdoc_ struct jdoc *d = NULL, *one = NULL;
	_cleanup_strbuf_ struct strbuf t = { 0 };

	build(path, value, &t);
	if (jdoc_parse(PLAIN, strlen(PLAIN), "plain", NULL, &d, NULL) < 0 ||
	    jdoc_parse(t.text, t.len, path, &(struct jdoc_limits){ .wide = true }, &one, NULL) < 0)
		return NULL;
	if (strncmp(path, "mounts[].", strlen("mounts[].")) == 0)
		complete_mount(engine_item(one, "mounts", 0));
	add(d, one);
	return engine_written(d);
}

/* "PATH: refused: WHY" or "PATH: passed on | changed; in the subject | not in the subject". */
static char *outcome(struct engine_fixture *x, const char *path, const char *value)
{
	_cleanup_free_ char *text = with_member(path, value), *engine = NULL, *plain = NULL,
			    *same_engine = NULL;
	_cleanup_jdoc_ struct jdoc *before = NULL;
	char top[64], *line = NULL;
	int n = 0;

	if (engine_try(x, PLAIN) == 0)
		before = jdoc_copy(x->c.document);
	if (text && engine_try(x, text) < 0)
		n = asprintf(&line, "%s: refused: %s", path, fault_text(&x->f));
	else if (text && before) {
		(void)snprintf(top, sizeof(top), "%.*s", (int)strcspn(path, "["), path);
		engine = engine_at(x->c.engine, top) ? engine_written(engine_at(x->c.engine, top))
						     : strdup("");
		same_engine = engine_at(x->c.merged, top) ? engine_written(engine_at(x->c.merged, top))
							  : strdup("");
		n = asprintf(&line, "%s: %s; %s", path, str_eq(engine, same_engine) ? "passed on" : "changed",
			     jdoc_equal(before, x->c.document) ? "not in the subject" : "in the subject");
	}
	return n < 0 ? NULL : line;
}

static FILE *open_data(const char *name)
{
	const char *srcdir = getenv("SRCDIR");
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tests/data/%s", srcdir ? srcdir : ".", name);
	return fopen(path, "re");
}

/* CUSTODY_TEST_PRINT=1 prints the lines of the file, for changes of the table. */
static void CARD_7_each_member_alone_is_done_with_as_the_list_says(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	char row[4096], wanted[4096];
	FILE *members = open_data("runtime/members"), *list = open_data("engine/members.txt");
	bool ok = members && list;
	size_t n = 0;

	CHECK(engine_fixture_init(&x));
	while (ok && fgets(row, sizeof(row), members)) {
		char *value = strchr(row, ' '), *end = strrchr(row, ' ');
		_cleanup_free_ char *line = NULL;

		if (*row == '#' || !value || end == value)
			continue;
		*value++ = '\0';
		*end = '\0';
		line = outcome(&x, row, value);
		if (tap_has("CUSTODY_TEST_PRINT", "1")) {
			printf("%s\n", line ? line : row);
			continue;
		}
		do
			ok = fgets(wanted, sizeof(wanted), list);
		while (ok && *wanted == '#');
		wanted[strcspn(wanted, "\n")] = '\0';
		if (!ok || !str_eq(line, wanted)) {
			printf("# got    %s\n# wanted %s\n", line ? line : "(nothing)", wanted);
			ok = false;
		}
		n++;
	}
	if (members)
		(void)fclose(members);
	if (list)
		(void)fclose(list);
	CHECK(ok && n > 150);
}

static bool is_listed(const char *path)
{
	FILE *members = open_data("runtime/members");
	size_t len = strlen(path);
	bool found = false;
	char row[4096];

	while (members && !found && fgets(row, sizeof(row), members))
		found = strncmp(row, path, len) == 0 && row[len] == ' ';
	if (members)
		(void)fclose(members);
	if (!found)
		printf("# '%s' of the specification is not in tests/data/runtime/members\n", path);
	return found;
}

static bool are_listed(const struct schema_member *members, const char *before)
{
	bool ok = true;

	for (const struct schema_member *m = members; m->key; m++) {
		char path[512];

		(void)snprintf(path, sizeof(path), "%s%s%s%s", before, m->key,
			       m->in && m->type == SCHEMA_ARRAY		   ? "[]"
			       : m->in && m->type == SCHEMA_MAP_OF_OBJECTS ? ".*"
									   : "",
			       m->in ? "." : "");
		ok = (m->in ? are_listed(m->in, path) : is_listed(path)) && ok;
	}
	return ok;
}

static void CARD_7_the_list_has_every_member_of_the_specification(void)
{
	CHECK(are_listed(schema_config, ""));
}

/* --- members in no table -------------------------------------------------------------------------------------------- */

static void CARD_7_an_unlisted_member_is_refused_by_its_name(void)
{
	static const char *const paths[] = { "extra",
					     "process.extra",
					     "linux.resources.memory.extra",
					     "mounts[].extra",
					     "linux.seccomp.syscalls[].args[].extra",
					     "hooks.poststop[].extra",
					     "linux.Seccomp" };
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };

	CHECK(engine_fixture_init(&x));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		for (int isolate = 0; isolate < 2; isolate++) {
			_cleanup_free_ char *text = with_member(paths[i], "1");

			CHECK(text && engine_try_as(&x, text, ENGINE_ID, isolate) == -EPERM);
			CHECK(strstr(fault_text(&x.f),
				     strrchr(paths[i], '.') ? strrchr(paths[i], '.') + 1 : paths[i]));
			CHECK(!x.c.merged && !x.c.document);
		}
	CHECK(engine_try(&x, "{\"process\":{},\"process\":{}}") == -EINVAL &&
	      strstr(fault_text(&x.f), "'process' again"));
}

TAP_MAIN(T(CARD_7_the_table_has_every_member_of_the_specification_and_no_other), T(every_row_says_how_or_why),
	 T(CARD_7_each_member_alone_is_done_with_as_the_list_says),
	 T(CARD_7_the_list_has_every_member_of_the_specification),
	 T(CARD_7_an_unlisted_member_is_refused_by_its_name))
