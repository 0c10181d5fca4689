/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "subject/subject-redact.h"
#include "oci/bundle/bundle.h"
#include "tap.h"

#include "subject-fixture.h"

/* NULL on failure. */
static struct jdoc *document_of(const struct subject *s)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct jdoc *d = NULL;

	if (subject_to_json(s, &fixture_key, &d, &f) < 0)
		printf("# %s\n", fault_text(&f));
	return d;
}

static int read_back(const struct jdoc *d, char *const *env, struct subject **ret)
{
	_cleanup_fault_ struct fault f = { 0 };

	return subject_from_json(d, env, NULL, 90, &fixture_key, ret, &f);
}

static bool is_refused(const struct jdoc *d, char *const *env)
{
	_cleanup_subject_ struct subject *s = NULL;

	return read_back(d, env, &s) < 0 && !s;
}

static bool same_config(const struct subject *a, const struct subject *b, const struct placement *p)
{
	_cleanup_strbuf_ struct strbuf ta = { 0 }, tb = { 0 };
	_cleanup_jdoc_ struct jdoc *ca = NULL, *cb = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (bundle_config(a, p, &ca, &f) < 0 || bundle_config(b, p, &cb, &f) < 0 ||
	    jdoc_write(ca, JDOC_PRETTY, &ta, &f) < 0 || jdoc_write(cb, JDOC_PRETTY, &tb, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	return ta.len == tb.len && memcmp(ta.text, tb.text, ta.len) == 0;
}

static bool comes_back(const struct subject *s)
{
	_cleanup_subject_ struct subject *back = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_jdoc_ struct jdoc *d = document_of(s);
	const struct placement portable = fixture_portable(), own = fixture_own_run();

	if (!d ||
	    subject_from_json(d, s->env, s->argv, s->profile->limit_time_s, &fixture_key, &back, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	return same_config(s, back, &portable) && same_config(s, back, &own);
}

static void a_subject_comes_back_with_the_same_config(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);

	CHECK(comes_back(&s));
	p.limit_time_s = 9; /* shorter than approved */
	CHECK(comes_back(&s));
	p.limit_time_s = 90;
	p.workspace = PROFILE_WORKSPACE_RW;
	CHECK(comes_back(&s));
	p.workspace = PROFILE_WORKSPACE_TMPFS;
	s.worktree = NULL;
	s.operands = NULL;
	s.operand_links = NULL;
	s.n_operands = s.n_operand_links = 0;
	CHECK(comes_back(&s));
	p.limit_tmp = 0;
	CHECK(comes_back(&s));
	s.layers &= ~(LAYER_BIT(LAYER_CAPABILITIES) | LAYER_BIT(LAYER_SECCOMP) | LAYER_BIT(LAYER_NET_NS) |
		      LAYER_BIT(LAYER_TIME_LIMIT));
	s.approved_time_s = p.limit_time_s = 0;
	p.network = PROFILE_NETWORK_HOST;
	p.seccomp_violation = PROFILE_SECCOMP_KILL;
	CHECK(comes_back(&s));
}

static void a_built_subject_is_read_back(void)
{
	_cleanup_subject_ struct subject *s = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	static char *argv_true[] = { S("/bin/true"), S("\xf0\x9f\x98\x80"), S(""), S("\x1b[2J\n"), NULL };
	static char *env[] = { S("B=2"), S("A=1=2"), S("EMPTY="), NULL };
	struct profile p = { .workspace = PROFILE_WORKSPACE_TMPFS,
			     .process_init = true,
			     .layers = LAYER_BIT(_LAYER_MAX) - 1 };
	struct subject_request rq = { .argv = argv_true, .env = env };

	CHECK(subject_build(&p, &rq, &s, &f) == 0);
	CHECK(comes_back(s));
}

/* Walks D and calls FN for every place in it; FN may change the place, and it is put back afterwards. */
typedef void place_fn(struct jdoc *root, struct jdoc *at, void *arg);

static void walk(struct jdoc *root, struct jdoc *at, place_fn *fn, void *arg)
{
	fn(root, at, arg);
	for (size_t i = 0; at->type == JDOC_OBJECT && i < at->n_members; i++)
		walk(root, at->members[i].value, fn, arg);
	for (size_t i = 0; at->type == JDOC_ARRAY && i < at->n_items; i++)
		walk(root, at->items[i], fn, arg);
}

struct walked {
	size_t n, accepted;
};

static void note(struct walked *w, const struct jdoc *root, const char *what, const char *where)
{
	w->n++;
	if (is_refused(root, fixture_env))
		return;
	w->accepted++;
	printf("# accepted: %s %s\n", what, where);
}

static void add_unknown(struct jdoc *root, struct jdoc *at, void *arg)
{
	if (at->type != JDOC_OBJECT)
		return;
	jdoc_set_bool(at, "unknown", true);
	note(arg, root, "unknown key beside", at->n_members > 1 ? at->members[0].key : "nothing");
	(void)jdoc_remove(at, "unknown");
}

static void drop_each(struct jdoc *root, struct jdoc *at, void *arg)
{
	for (size_t i = 0; at->type == JDOC_OBJECT && i < at->n_members; i++) {
		char *key = strdup(at->members[i].key);
		struct jdoc *value = jdoc_copy(at->members[i].value);

		(void)jdoc_remove(at, key);
		note(arg, root, "missing", key);
		jdoc_set(at, key, value);
		free(key);
	}
}

static void set_type(struct jdoc *at, enum jdoc_type type)
{
	*at = (struct jdoc){ .type = type };
	if (type == JDOC_STRING)
		at->string = S("text");
}

/* Strings and lists of them may be replaced by another of their kind; nothing may change its type. */
static void change_type(struct jdoc *root, struct jdoc *at, void *arg)
{
	struct jdoc was = *at;

	for (int t = JDOC_NULL; t <= JDOC_OBJECT; t++) {
		if ((enum jdoc_type)t == was.type)
			continue;
		/* profile.name and root.path may be null. */
		if ((t == JDOC_NULL && at == jdoc_get(jdoc_get(root, "profile"), "name")) ||
		    (t == JDOC_STRING && at == jdoc_get(jdoc_get(root, "root"), "path")))
			continue;
		/* A profile without tools and one with an empty list of them are both possible. */
		if (t == JDOC_OBJECT && at == jdoc_get(root, "broker"))
			continue;
		set_type(at, (enum jdoc_type)t);
		note(arg, root, "type", jdoc_type_name(was.type));
	}
	*at = was;
}

static void anything_else_is_refused(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	_cleanup_jdoc_ struct jdoc *d = document_of(&s);
	struct walked w = { 0 };

	CHECK(d && !is_refused(d, fixture_env));
	walk(d, d, add_unknown, &w);
	CHECK(w.n >= 16 && w.accepted == 0);
	walk(d, d, drop_each, &w);
	CHECK(w.n >= 80 && w.accepted == 0);
	walk(d, d, change_type, &w);
	CHECK(w.n >= 400 && w.accepted == 0);
	CHECK(!is_refused(d, fixture_env));
	CHECK(is_refused(NULL, fixture_env));
}

/* What reads the same and is not the same text has no digest of ours. */
static void other_spellings_are_refused(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	/* clang-format off */
	static const struct { const char *object, *key, *value; } rows[] = {
		{ NULL, "layers", "[\"seccomp\",\"user-namespace\"]" }, /* not in their order */
		{ NULL, "layers", "[\"seccomp\",\"seccomp\"]" },
		{ NULL, "layers", "[\"time-limit\"]" },
		{ NULL, "optional", "[\"\"]" },
		{ NULL, "argv", "[]" },
		{ NULL, "lane", "\"production\"" },
		{ NULL, "lane", "\"SANDBOX\"" },
		{ NULL, "schema", "\"custody.subject/2\"" },
		{ NULL, "network", "\"bridge\"" },
		{ NULL, "cwd", "\"work\"" },
		{ NULL, "capabilities", "\"usual\"" },
		{ "profile", "digest", "\"09\"" },
		{ "limits", "memory", "-1" },
		{ "limits", "time_s", "89" }, /* 90 is asked for */
		{ "user", "uid", "4294967295" },
		{ "user", "uid", "4294967296" },
		{ "user", "ids", "\"single\"" },
		{ "user", "ids", "\"subordinate\"" }, /* of own runs only */
		{ "seccomp", "trace", "[\"denied\",\"exec\"]" }, /* the default is not written */
		{ "seccomp", "trace", "[\"everything\"]" },
		{ "worktree", "before", "5" },
		{ "worktree", "mode", "\"rw\"" },
		{ "worktree", "mode", "\"tmpfs\"" },
		{ "operands", "seal", "\"tree\"" },
		{ "operands", "seal", "\"all\"" },
		{ "env", "SECRET", "\"\"" },
		{ "env", "HOME", "\"zz\"" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *d = document_of(&s), *v = NULL;
		struct jdoc *at = rows[i].object ? jdoc_get(d, rows[i].object) : d;
		bool refused;

		CHECK(jdoc_parse(rows[i].value, strlen(rows[i].value), "v", NULL, &v, NULL) == 0);
		jdoc_set(at, rows[i].key, TAKE_PTR(v));
		refused = is_refused(d, fixture_env);
		if (!refused)
			printf("# accepted: %s = %s\n", rows[i].key, rows[i].value);
		CHECK(refused);
	}
}

/* Of a mount, an operand and a file: numbers beyond the end of a list. */
static void numbers_that_lead_astray_are_refused(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	/* clang-format off */
	static const struct { const char *list; size_t i; const char *key, *value; } rows[] = {
		{ "mounts", 2, "device", "\"8:2x\"" }, { "mounts", 2, "device", "\"8\"" }, { "mounts", 2, "device", "\" 8:2\"" },
		{ "mounts", 2, "device", "\"08:2\"" }, { "mounts", 2, "device", "\"-8:2\"" },
		{ "mounts", 2, "inode", "\"18446744073709551616\"" }, { "mounts", 2, "inode", "\"+7\"" }, { "mounts", 2, "inode", "\"07\"" },
		{ "mounts", 2, "type", "\"link\"" }, { "mounts", 2, "source", "\"src\"" }, { "mounts", 0, "mode", "4096" },
		{ "mounts", 0, "kind", "\"overlay\"" }, { "mounts", 1, "kind", "\"tmpfs\"" },
		{ "files", 0, "arg", "3" }, { "files", 0, "at", "99" }, { "files", 0, "sha256", "\"07\"" }, { "files", 0, "mode", "2541" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *d = document_of(&s), *v = NULL;
		struct jdoc *list =
			jdoc_get(strcmp(rows[i].list, "files") ? d : jdoc_get(d, "operands"), rows[i].list);
		bool refused;

		CHECK(list && jdoc_parse(rows[i].value, strlen(rows[i].value), "v", NULL, &v, NULL) == 0);
		jdoc_set(list->items[rows[i].i], rows[i].key, TAKE_PTR(v));
		refused = is_refused(d, fixture_env);
		if (!refused)
			printf("# accepted: %s = %s\n", rows[i].key, rows[i].value);
		CHECK(refused);
	}
}

static void each_value_of_the_environment_must_match(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	_cleanup_jdoc_ struct jdoc *d = document_of(&s);
	/* clang-format off */
	static char *rows[][6] = {
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter3"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET="), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), NULL },
		{ S("HOME=/home/sandbox"), S("LD_PRELOAD=/x"), S("PATH=/usr/bin"), S("SECRET=hunter2"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=hunter2"), S("SECRET=/usr/bin"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"), S("SECRET=hunter2"), NULL },
		{ S("PATH=/usr/bin"), S("HOME=/home/sandbox"), S("SECRET=hunter2"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"), S("TERM=../../x"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2\xff"), NULL },
		{ S("=x"), S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"), NULL },
		{ NULL },
	};
	static char *good[][6] = {
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"), S("TERM=vt100"), NULL },
		{ S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter2"), NULL },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(is_refused(d, rows[i]));
	CHECK(is_refused(d, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(!is_refused(d, good[i]));
}

static bool has_text(const struct jdoc *d, const char *text)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	return jdoc_write(d, JDOC_CANONICAL, &t, NULL) == 0 && strstr(t.text, text);
}

static void values_are_not_in_it_and_names_are(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	_cleanup_jdoc_ struct jdoc *d = document_of(&s);

	CHECK(has_text(d, "SECRET") && !has_text(d, "hunter2"));
	CHECK(!has_text(d, "TERM") && !has_text(d, "xterm"));
}

static const char *hmac_of(struct jdoc **d, const char *var, const struct digest_key *key)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	char *env[] = { S(var), NULL };

	s.env = env;
	jdoc_free(*d);
	*d = NULL;
	if (subject_to_json(&s, key, d, NULL) < 0)
		return NULL;
	return jdoc_get(*d, "env")->members[0].value->string;
}

/* One byte moved from the name to the value, or a value under another name, is another HMAC. */
static void names_and_values_have_one_border(void)
{
	static const char *const vars[] = { "A=BC", "AB=C", "ABC=", "A==BC", "B=BC", "A=BC=", "A=B" };
	_cleanup_jdoc_ struct jdoc *a = NULL, *b = NULL;
	struct digest_key other = fixture_key;

	for (size_t i = 0; i < ARRAY_SIZE(vars); i++)
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(hmac_of(&a, vars[i], &fixture_key),
				     hmac_of(&b, vars[k], &fixture_key)) != 0);
	CHECK(strcmp(hmac_of(&a, "A=B", &fixture_key), hmac_of(&b, "A=B", &fixture_key)) == 0);
	other.bytes[31]++;
	CHECK(strcmp(hmac_of(&a, "A=B", &fixture_key), hmac_of(&b, "A=B", &other)) != 0);
}

static char *secret_argv[] = { S("./run.sh"), S("--in=data.txt"), S("--token=abcdef123456"),
			       S("sh x --password 'ghijkl7890' y"), NULL };

/* A subject whose command has secrets, as a document. */
static struct jdoc *redacted_document(const struct digest_key *key, char *const *argv)
{
	const struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	struct jdoc *d = NULL;

	s.argv = (char **)argv;
	if (subject_redact(&s, NULL, key, NULL) == 0)
		d = document_of(&s);
	strv_free(s.shown);
	return d;
}

static int read_command(const struct jdoc *d, char *const *args, struct subject **ret, struct fault *f)
{
	return subject_from_json(d, fixture_env, args, 90, &fixture_key, ret, f);
}

static bool is_refused_with(const struct jdoc *d, char *const *args, const char *words)
{
	_cleanup_subject_ struct subject *back = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	int r = read_command(d, args, &back, &f);

	if (r < 0 && !back && strstr(fault_text(&f), words) && !strstr(fault_text(&f), "abcdef"))
		return true;
	printf("# %d: %s\n", r, fault_text(&f));
	return false;
}

static void secrets_of_the_command_are_not_in_the_document(void)
{
	_cleanup_jdoc_ struct jdoc *d = redacted_document(&fixture_key, secret_argv);
	/* The command is at the end of process.args. */
	char *args[] = { S("/init"),	 S("--"), secret_argv[0], secret_argv[1], secret_argv[2],
			 secret_argv[3], NULL };
	_cleanup_subject_ struct subject *back = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(d && jdoc_write(d, JDOC_CANONICAL, &text, NULL) == 0);
	CHECK(text.text && !strstr(text.text, "abcdef") && !strstr(text.text, "ghijkl"));
	CHECK(text.text && strstr(text.text, "\"--token=[redacted ") && strstr(text.text, ", 12 bytes]\""));
	CHECK(text.text && strstr(text.text, "sh x --password '[redacted ") && strstr(text.text, "]' y\""));
	CHECK(jdoc_get(d, "redacted") && jdoc_get(d, "redacted")->n_items == 2);
	CHECK(read_command(d, args, &back, &f) == 0 && back);
	for (size_t i = 0; back && i <= 4; i++)
		CHECK(str_eq(back->argv[i], secret_argv[i]));
}

static void only_the_approved_words_are_taken(void)
{
	_cleanup_jdoc_ struct jdoc *d = redacted_document(&fixture_key, secret_argv);
	char *args[] = { secret_argv[0], secret_argv[1], secret_argv[2], secret_argv[3], NULL };

	CHECK(d && is_refused_with(d, NULL, "fewer words"));
	CHECK(d && is_refused_with(d, args + 1, "fewer words"));
	args[2] = S("--token=abcdef123457");
	CHECK(d && is_refused_with(d, args, "argument 2 has another value"));
	args[2] = S("--token=abcdef123456 ");
	CHECK(d && is_refused_with(d, args, "argument 2 has another value"));
	args[2] = S("--tokem=abcdef123456");
	CHECK(d && is_refused_with(d, args, "argument 2 has another value"));
	args[2] = jdoc_get(d, "argv")->items[2]->string;
	CHECK(is_refused_with(d, args, "argument 2 has another value"));
}

/* A document that hides more than a secret is refused also where its HMACs are right. */
static void a_placeholder_for_other_text_is_refused(void)
{
	_cleanup_jdoc_ struct jdoc *d = redacted_document(&fixture_key, secret_argv),
				   *twice = redacted_document(&fixture_key, secret_argv),
				   *far = redacted_document(&fixture_key, secret_argv),
				   *none = redacted_document(&fixture_key, secret_argv);
	struct jdoc *word = d ? jdoc_get(d, "argv")->items[3] : NULL, *list, *item;

	CHECK(word && twice && far && none);
	if (!word || !twice || !far || !none)
		return;
	free(word->string);
	word->string = strdup("[redacted 01234567, 30 bytes]");
	CHECK(is_refused_with(d, secret_argv, "hides more"));
	free(word->string);
	word->string = strdup("[redacted]");
	CHECK(is_refused_with(d, secret_argv, "hides more"));

	list = jdoc_get(twice, "redacted");
	item = jdoc_append_object(list);
	jdoc_set_int(item, "arg", 2);
	jdoc_set_string(item, "hmac", jdoc_get(list->items[0], "hmac")->string);
	CHECK(is_refused_with(twice, secret_argv, ""));

	jdoc_get(jdoc_get(far, "redacted")->items[1], "arg")->integer = 4;
	CHECK(is_refused_with(far, secret_argv, "names argument 4"));
	jdoc_get(jdoc_get(far, "redacted")->items[1], "arg")->integer = 0;
	CHECK(is_refused_with(far, secret_argv, "names argument 0"));
	jdoc_get(jdoc_get(far, "redacted")->items[1], "arg")->integer = -1;
	CHECK(is_refused_with(far, secret_argv, ""));
}

/* Another secret, another key: another document.  A command that has the placeholder as its text is another one, too. */
static void the_digest_is_over_the_true_words(void)
{
	_cleanup_jdoc_ struct jdoc *d = redacted_document(&fixture_key, secret_argv), *other = NULL,
				   *forged = NULL;
	char *argv[] = { secret_argv[0], secret_argv[1], S("--token=abcdef123457"), secret_argv[3], NULL };
	struct digest a = { 0 }, b = { 0 }, c = { 0 };

	other = redacted_document(&fixture_key, argv);
	argv[2] = d ? jdoc_get(d, "argv")->items[2]->string : NULL;
	forged = redacted_document(&fixture_key, argv);
	CHECK(d && other && forged && subject_digest(d, &a, NULL) == 0 &&
	      subject_digest(other, &b, NULL) == 0 && subject_digest(forged, &c, NULL) == 0);
	CHECK(!digest_equal(&a, &b) && !digest_equal(&a, &c));
	CHECK(forged && !str_eq(jdoc_get(forged, "argv")->items[2]->string, argv[2]));
}

static void another_key_does_not_read_it(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	_cleanup_jdoc_ struct jdoc *d = document_of(&s);
	_cleanup_subject_ struct subject *back = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct digest_key other = fixture_key;

	other.bytes[0]++;
	CHECK(subject_from_json(d, s.env, NULL, 90, &other, &back, &f) == -EPERM && !back);
	CHECK(strstr(fault_text(&f), "HOME") && strstr(fault_text(&f), "digest key"));
	CHECK(!strstr(fault_text(&f), "hunter2"));
}

static void a_longer_time_is_refused(void)
{
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	_cleanup_jdoc_ struct jdoc *d = document_of(&s);
	/* clang-format off */
	static const struct { uint64_t time_s; int r; } rows[] = { { 90, 0 }, { 1, 0 }, { 91, -EPERM }, { 0, -EPERM } };
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_subject_ struct subject *back = NULL;

		CHECK(subject_from_json(d, s.env, NULL, rows[i].time_s, &fixture_key, &back, NULL) ==
		      rows[i].r);
	}
}

/* GOV-9: values that JSON cannot hold are refused; it is never left out, cut or replaced. */
static void values_that_JSON_cannot_hold_are_refused(void)
{
	static char *bad_argv[] = { S("a\xff"), NULL }, *bad_env[] = { S("A=\xc0\x80"), NULL },
		    *twice[] = { S("A=1"), S("A=1"), NULL }, *unsorted[] = { S("B=1"), S("A=1"), NULL },
		    *nameless[] = { S("=1"), NULL };
	char **envs[] = { bad_env, twice, unsorted, nameless };
	struct subject_mount mounts[4];
	struct subject_link bad_link[] = { { S("/bin"), S("\xed\xa0\x80") } };
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	struct jdoc *d = NULL;

	s.argv = bad_argv;
	CHECK(subject_to_json(&s, &fixture_key, &d, NULL) == -EILSEQ && !d);
	s = fixture_subject(&p);
	s.links = bad_link;
	CHECK(subject_to_json(&s, &fixture_key, &d, NULL) == -EILSEQ && !d);
	for (size_t i = 0; i < ARRAY_SIZE(envs); i++) {
		s = fixture_subject(&p);
		s.env = envs[i];
		CHECK(subject_to_json(&s, &fixture_key, &d, NULL) < 0 && !d);
	}
	s = fixture_subject(&p);
	p.limit_memory = UINT64_C(1) << 63;
	CHECK(subject_to_json(&s, &fixture_key, &d, NULL) == -ERANGE && !d);
	p = fixture_profile();
	memcpy(mounts, fixture_mounts, sizeof(mounts));
	mounts[0].idmap = true; /* of a tmpfs: the document has no field for it */
	s.mounts = mounts;
	CHECK(subject_to_json(&s, &fixture_key, &d, NULL) == -EINVAL && !d);
	s = fixture_subject(&p);
	s.hostname = NULL;
	CHECK(subject_to_json(&s, &fixture_key, &d, NULL) == -EINVAL && !d);
}

/* Two argument lists whose words run together in the same way are two documents. */
static void words_do_not_run_together(void)
{
	static char *lists[][4] = {
		{ S("a b"), NULL },	  { S("a"), S("b"), NULL },
		{ S("a\",\"b"), NULL },	  { S("a"), S(""), S("b"), NULL },
		{ S("a\\u0000b"), NULL }, { S("a\nb"), NULL },
		{ S("a\\nb"), NULL },	  { S("\xc3\xa9"), NULL },
		{ S("e\xcc\x81"), NULL },
	};
	struct digest seen[9];

	for (size_t i = 0; i < 9; i++) {
		struct profile p = fixture_profile();
		struct subject s = fixture_subject(&p);

		s.argv = lists[i];
		s.n_operands = 0;
		CHECK(fixture_digest(&s, &seen[i]));
		for (size_t k = 0; k < i; k++)
			CHECK(!digest_equal(&seen[i], &seen[k]));
	}
}

/* A bundle with S is refused; the document of a session with it is read, and written again as it was. */
static bool is_for_sessions_only(const struct subject *s, const char *why)
{
	_cleanup_subject_ struct subject *none = NULL, *back = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_jdoc_ struct jdoc *d = document_of(s), *again = NULL;
	bool ok = d && subject_from_json(d, s->env, NULL, 90, &fixture_key, &none, &f) == -EPERM && !none &&
		  strstr(fault_text(&f), why);

	ok = ok && subject_from_session(d, s->env, NULL, 90, &fixture_key, &back, NULL) == 0;
	again = ok ? document_of(back) : NULL;
	return again && jdoc_equal(d, again);
}

static void parts_that_a_supervisor_proves_are_not_for_bundles(void)
{
	const struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p), plain = s;
	struct subject_mount mounts[4];

	s.continued = true;
	s.base = (struct digest){ { 9 } };
	CHECK(is_for_sessions_only(&s, "a bundle cannot continue a session"));
	s = plain;
	s.disposable = true;
	CHECK(is_for_sessions_only(&s, "a bundle cannot use a disposable directory"));
	s = plain;
	memcpy(mounts, fixture_mounts, sizeof(mounts));
	s.mounts = mounts;
	mounts[2].disposable = true;
	CHECK(is_for_sessions_only(&s, "a bundle cannot use a disposable directory"));
	mounts[2].disposable = false;
	mounts[1].kind = SUBJECT_MOUNT_OVERLAY;
	mounts[1].rw = true;
	CHECK(is_for_sessions_only(&s, "a bundle cannot show a repository"));
}

static void allowed_hosts_are_in_the_document_and_not_for_bundles(void)
{
	struct host_rule hosts[] = { { S("api.example.org"), 443, HOST_PROTOCOL_TLS, false },
				     { S("*.example.org"), 22, HOST_PROTOCOL_TCP, true } };
	struct profile p = fixture_profile();
	struct subject s = fixture_subject(&p);
	struct digest both, one;

	p.network = PROFILE_NETWORK_ALLOW;
	p.network_hosts = hosts;
	p.n_network_hosts = 2;
	CHECK(is_for_sessions_only(&s, "a bundle has no custody-egress"));
	CHECK(fixture_digest(&s, &both));
	p.n_network_hosts = 1;
	CHECK(fixture_digest(&s, &one) && !digest_equal(&both, &one));
}

TAP_MAIN(T(a_subject_comes_back_with_the_same_config), T(a_built_subject_is_read_back),
	 T(anything_else_is_refused), T(other_spellings_are_refused), T(numbers_that_lead_astray_are_refused),
	 T(each_value_of_the_environment_must_match), T(values_are_not_in_it_and_names_are),
	 T(names_and_values_have_one_border), T(another_key_does_not_read_it),
	 T(secrets_of_the_command_are_not_in_the_document), T(only_the_approved_words_are_taken),
	 T(a_placeholder_for_other_text_is_refused), T(the_digest_is_over_the_true_words),
	 T(a_longer_time_is_refused), T(values_that_JSON_cannot_hold_are_refused),
	 T(words_do_not_run_together), T(parts_that_a_supervisor_proves_are_not_for_bundles),
	 T(allowed_hosts_are_in_the_document_and_not_for_bundles))
