/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/key-value.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"

int key_fault_at(struct fault *f, const struct jdoc *v, int r)
{
	return fault_wrap(f, r, "%s:%u:%u", v->origin ? v->origin : "profile", v->line, v->column);
}

static int no_memory(struct fault *f)
{
	return fault_errno(f, ENOMEM, "profile");
}

void *key_row_field(const struct key_row *k, void *p)
{
	return p && k->offset != KEY_NO_FIELD ? (char *)p + k->offset : NULL;
}

/* The expected value, for the message about a wrong type. */
static const char *expected(const struct key_row *k)
{
	switch (k->kind) {
	case KEY_KIND_SECTION:
		return "an object";
	case KEY_KIND_BOOL:
		return "true or false";
	case KEY_KIND_WORD:
	case KEY_KIND_TEXT:
		return "a string";
	case KEY_KIND_PATH:
		return "a string with an absolute path";
	case KEY_KIND_COUNT:
		return k->none ? "an integer or \"none\"" : "an integer";
	case KEY_KIND_SIZE:
		return "a size such as \"512M\" or an integer (bytes)";
	case KEY_KIND_SECONDS:
		return "a time such as \"30m\" or an integer (seconds)";
	case KEY_KIND_PERCENT:
		return "a percentage such as \"200%\" or an integer (percent)";
	case KEY_KIND_COUNTS:
		return "an array of integers";
	case KEY_KIND_EXTENDS:
		return "a string or an array of strings";
	case KEY_KIND_TMPFS:
		return "an array of objects with path and size";
	case KEY_KIND_ENV:
		return "an object of strings";
	case KEY_KIND_WORDS:
	case KEY_KIND_TEXTS:
	case KEY_KIND_PATHS:
	case KEY_KIND_BINDS:
	case KEY_KIND_LAYERS:
	case KEY_KIND_DANGERS:
	case KEY_KIND_ARGV:
		break;
	case KEY_KIND_OBJECTS:
		return "an array of objects";
	}
	return "an array of strings";
}

int key_value_wrong_type(const struct key_row *k, const struct jdoc *v, struct fault *f)
{
	return key_fault_set(f, v, "'%s' must be %s, not of type %s", k->path, expected(k),
			     jdoc_type_name(v->type));
}

int key_value_require_type(const struct key_row *k, const struct jdoc *v, enum jdoc_type type,
			   struct fault *f)
{
	return v->type == type ? 0 : key_value_wrong_type(k, v, f);
}

/* A text that matches the row's shape, ${session} replaced, on the heap. */
int key_value_text(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, char **ret,
		   struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = key_value_require_type(k, v, JDOC_STRING, f);
	if (r < 0)
		return r;
	text = profile_expand_session(v->string, vars);
	if (!text)
		return no_memory(f);
	if (strlen(text) >= KEY_TEXT_MAX)
		return key_fault_set(f, v, "'%s': the text has %zu bytes, at most %d are allowed", k->path,
				     strlen(text), KEY_TEXT_MAX - 1);
	if (k->shape && !k->shape->is(text))
		return key_fault_set(f, v, "'%s': '%s' is not %s", k->path, text, k->shape->what);
	*ret = TAKE_PTR(text);
	return 0;
}

static int normalize(const struct key_row *k, const struct jdoc *v, const char *path, char **ret,
		     struct fault *f)
{
	int r;

	if (*path != '/')
		return key_fault_set(f, v, "'%s': '%s' is not an absolute path", k->path, path);
	r = path_normalize(path, ret, f);
	if (r < 0)
		return key_fault_at(f, v, fault_wrap(f, r, "'%s': '%s'", k->path, path));
	return 0;
}

int key_value_path(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, char **ret,
		   struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = key_value_text(k, v, vars, &text, f);
	if (r < 0)
		return r;
	return normalize(k, v, text, ret, f);
}

int key_value_bind(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, char **ret,
		   struct fault *f)
{
	_cleanup_free_ char *text = NULL, *source = NULL, *target = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char *colon;
	int r;

	r = key_value_text(k, v, vars, &text, f);
	if (r < 0)
		return r;
	colon = strchr(text, ':');
	if (colon && strchr(colon + 1, ':'))
		return key_fault_set(f, v,
				     "'%s': '%s': write \"SOURCE\" or \"SOURCE:TARGET\"; list the path in "
				     "'ro' or 'rw' to choose its access",
				     k->path, text);
	if (colon)
		*colon = '\0';
	r = normalize(k, v, text, &source, f);
	if (r == 0 && colon)
		r = normalize(k, v, colon + 1, &target, f);
	if (r < 0)
		return r;
	strbuf_puts(&b, source);
	if (target && strcmp(source, target) != 0)
		strbuf_printf(&b, ":%s", target);
	*ret = strbuf_take(&b);
	return *ret ? 0 : no_memory(f);
}

/* The message lists all allowed words: they are few. */
static int unknown_word(const struct key_row *k, const struct jdoc *v, char **words, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int near = str_nearest(v->string, (const char *const *)words);

	strbuf_printf(&b, "'%s': unknown word '%s'", k->path, v->string);
	if (near >= 0)
		strbuf_printf(&b, ": did you mean '%s'?", words[near]);
	strbuf_puts(&b, near >= 0 ? " allowed: " : "; allowed: ");
	for (size_t i = 0; words[i]; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", words[i]);
	return key_fault_set(f, v, "%s", b.broken ? "unknown word" : b.text);
}

int key_value_require_word(const struct key_row *k, const struct jdoc *v, struct fault *f)
{
	_cleanup_strv_ char **words = NULL;
	int r;

	r = key_value_require_type(k, v, JDOC_STRING, f);
	if (r < 0)
		return r;
	r = key_row_vocabulary(k, &words);
	if (r < 0)
		return no_memory(f);
	return strv_has(words, v->string) ? 0 : unknown_word(k, v, words, f);
}

static int set_word(const struct key_row *k, const struct jdoc *v, void *p, struct fault *f)
{
	int r;

	r = key_value_require_word(k, v, f);
	if (r < 0 || !key_row_field(k, p))
		return r;
	for (const struct key_word *w = k->words; w->word; w++)
		if (strcmp(w->word, v->string) == 0)
			*(unsigned int *)key_row_field(k, p) = (unsigned int)w->value;
	return 0;
}

static int text_to_number(const struct key_row *k, const char *text, uint64_t *ret)
{
	char digits[24];
	size_t n = strlen(text);

	switch ((unsigned int)k->kind) {
	case KEY_KIND_SIZE:
	case KEY_KIND_TMPFS:
		return str_to_size(text, ret);
	case KEY_KIND_SECONDS:
		return str_to_seconds(text, ret);
	case KEY_KIND_PERCENT:
		if (n < 2 || n >= sizeof(digits) || text[n - 1] != '%')
			return -EINVAL;
		memcpy(digits, text, n - 1);
		digits[n - 1] = '\0';
		return str_to_u64(digits, ret);
	default:
		return -EINVAL;
	}
}

int key_value_number(const struct key_row *k, const struct jdoc *v, uint64_t *ret, struct fault *f)
{
	uint64_t n = 0;
	int r = 0;

	if (v->type != JDOC_INT && (v->type != JDOC_STRING || (k->kind == KEY_KIND_COUNT && !k->none)))
		return key_value_wrong_type(k, v, f);
	if (v->type == JDOC_STRING && k->none && strcmp(v->string, "none") == 0) {
		*ret = 0;
		return 0;
	}
	if (v->type == JDOC_STRING)
		r = text_to_number(k, v->string, &n);
	else if (v->integer < 0)
		r = -ERANGE;
	else
		n = (uint64_t)v->integer;
	if (r == -EINVAL)
		return key_fault_set(f, v, "'%s': '%s' is not %s", k->path, v->string, expected(k));
	if (r == 0 && k->none && n == 0) {
		*ret = 0;
		return 0;
	}
	if (r < 0 || n < k->min || n > k->max)
		return key_fault_set(f, v, "'%s' is out of range: from %llu to %llu%s", k->path,
				     (unsigned long long)k->min, (unsigned long long)k->max,
				     k->none ? ", or \"none\"" : "");
	*ret = n;
	return 0;
}

static int set_number(const struct key_row *k, const struct jdoc *v, void *p, struct fault *f)
{
	uint64_t n;
	int r;

	r = key_value_number(k, v, &n, f);
	if (r == 0 && key_row_field(k, p))
		*(uint64_t *)key_row_field(k, p) = n;
	return r;
}

static int set_string(const struct key_row *k, char *text, void *p)
{
	char **to = key_row_field(k, p);

	if (to) {
		free(*to);
		*to = text;
	} else {
		free(text);
	}
	return 0;
}

int key_row_set(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, void *p,
		struct fault *f)
{
	char *text = NULL;
	int r;

	switch (k->kind) {
	case KEY_KIND_SECTION:
		r = key_value_require_type(k, v, JDOC_OBJECT, f);
		/* An empty section sets nothing.  Borrowed: the document outlives the struct's use of it. */
		if (r == 0 && key_row_field(k, p) && v->n_members > 0)
			*(const struct jdoc **)key_row_field(k, p) = v;
		return r;
	case KEY_KIND_BOOL:
		r = key_value_require_type(k, v, JDOC_BOOL, f);
		if (r == 0 && key_row_field(k, p))
			*(bool *)key_row_field(k, p) = v->boolean;
		return r;
	case KEY_KIND_WORD:
		return set_word(k, v, p, f);
	case KEY_KIND_TEXT:
		r = key_value_text(k, v, vars, &text, f);
		return r < 0 ? r : set_string(k, text, p);
	case KEY_KIND_PATH:
		r = key_value_path(k, v, vars, &text, f);
		return r < 0 ? r : set_string(k, text, p);
	case KEY_KIND_COUNT:
	case KEY_KIND_SIZE:
	case KEY_KIND_SECONDS:
	case KEY_KIND_PERCENT:
		return set_number(k, v, p, f);
	case KEY_KIND_WORDS:
	case KEY_KIND_TEXTS:
	case KEY_KIND_PATHS:
	case KEY_KIND_BINDS:
	case KEY_KIND_DANGERS:
	case KEY_KIND_ARGV:
		return key_list_set(k, v, vars, p, f);
	case KEY_KIND_OBJECTS:
		return key_list_set_objects(k, v, vars, p, f);
	case KEY_KIND_COUNTS:
		return key_list_set_counts(k, v, f);
	case KEY_KIND_EXTENDS:
		return key_list_set_extends(k, v, vars, f);
	case KEY_KIND_LAYERS:
		return key_list_set_layers(k, v, p, f);
	case KEY_KIND_TMPFS:
		return key_list_set_tmpfs(k, v, vars, p, f);
	case KEY_KIND_ENV:
		return key_list_set_env(k, v, vars, p, f);
	}
	return fault_set(f, EINVAL, "'%s': the row is of unknown kind", k->path);
}
