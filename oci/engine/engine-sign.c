/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-sign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/str.h"

#define ENV_DOMAIN "custody.engine.env/1"
#define TEXT_DOMAIN "custody.engine.text/1"
#define TEXT_MAX 256

_Static_assert(REDACT_KEY_SIZE == DIGEST_KEY_SIZE, "the key of the lane is the key of placeholders");

static int sign(const struct engine_work *w, const struct strbuf *t, char hex[DIGEST_HEX_SIZE])
{
	struct digest d;

	if (t->broken)
		return fault_errno(w->f, ENOMEM, "config.json");
	digest_hmac(w->key->bytes, sizeof(w->key->bytes), t->text, t->len, &d);
	digest_to_hex(&d, hex);
	return 0;
}

static bool is_named(const struct jdoc *v, const char *name, size_t len)
{
	return v->type == JDOC_STRING && strcspn(v->string, "=") == len && memcmp(v->string, name, len) == 0;
}

/* A value has no NUL, so the encoding is unambiguous; a variable without '=' is told apart from an empty one. */
static int sign_name(const struct engine_work *w, const struct jdoc *env, size_t first, struct jdoc *ret)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	const char *name = env->items[first]->string;
	size_t len = strcspn(name, "=");
	_cleanup_free_ char *key = strndup(name, len);
	char hex[DIGEST_HEX_SIZE];
	int r;

	strbuf_add(&t, ENV_DOMAIN, sizeof(ENV_DOMAIN));
	for (size_t i = first; i < env->n_items; i++)
		if (is_named(env->items[i], name, len))
			strbuf_add(&t, env->items[i]->string, strlen(env->items[i]->string) + 1);
	r = key ? sign(w, &t, hex) : fault_errno(w->f, ENOMEM, "config.json");
	if (r == 0)
		jdoc_set_string(ret, key, hex);
	return r;
}

static bool is_noise(const struct engine_work *w, const char *var, bool without_hostname)
{
	const char *hostname = engine_text(w->config, "hostname");

	return without_hostname && hostname && str_starts(var, "HOSTNAME=") &&
	       str_eq(var + strlen("HOSTNAME="), hostname);
}

int engine_sign_env(const struct engine_work *w, const struct jdoc *env, bool without_hostname,
		    struct jdoc *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && engine_is(env, JDOC_ARRAY) && i < env->n_items; i++) {
		const struct jdoc *v = env->items[i];
		_cleanup_free_ char *name = NULL;

		if (v->type != JDOC_STRING)
			return fault_set(w->f, EINVAL, "config.json: an environment variable is no string");
		if (is_noise(w, v->string, without_hostname))
			continue;
		name = strndup(v->string, strcspn(v->string, "="));
		if (!name)
			return fault_errno(w->f, ENOMEM, "config.json");
		if (!jdoc_get(ret, name))
			r = sign_name(w, env, i, ret);
	}
	return r;
}

static int sign_word(const struct redact *rules, size_t i, const char *word, struct jdoc *list)
{
	struct jdoc *item = jdoc_append_object(list);
	char hex[DIGEST_HEX_SIZE];
	struct digest d;
	int r = redact_sign_word(rules, word, &d);

	if (r < 0)
		return r;
	digest_to_hex(&d, hex);
	jdoc_set_int(item, "arg", (int64_t)i);
	jdoc_set_string(item, "hmac", hex);
	return 0;
}

int engine_sign_argv(struct engine_work *w, struct jdoc *document)
{
	struct redact rules = w->in->redact ? *w->in->redact : (struct redact){ 0 };
	_cleanup_strv_ char **shown = NULL;
	struct jdoc *argv = jdoc_set_array(document, "argv"), *redacted = NULL;
	int r = 0;

	rules.key = w->key->bytes;
	rules.plain = true;
	rules.marked = false;
	rules.is_file = NULL;
	shown = redact_argv(w->c->argv, &rules);
	if (!shown)
		return fault_errno(w->f, ENOMEM, "config.json");
	for (size_t i = 0; r == 0 && w->c->argv[i]; i++) {
		jdoc_append_string(argv, shown[i]);
		if (str_eq(shown[i], w->c->argv[i]))
			continue;
		if (!redacted)
			redacted = jdoc_set_array(document, "redacted");
		r = sign_word(&rules, i, w->c->argv[i], redacted);
	}
	return r < 0 ? fault_errno(w->f, ENOMEM, "config.json") : 0;
}

int engine_sign_text(const struct engine_work *w, const char *text, struct jdoc *object, const char *key)
{
	_cleanup_free_ char *shown = redact_text(text, w->in->redact);
	_cleanup_strbuf_ struct strbuf t = { 0 };
	char hex[DIGEST_HEX_SIZE], value[sizeof("hmac:") + DIGEST_HEX_SIZE];
	int r;

	if (!shown)
		return fault_errno(w->f, ENOMEM, "config.json");
	if (str_eq(shown, text) && strlen(text) <= TEXT_MAX && !str_starts(text, "hmac:")) {
		jdoc_set_string(object, key, text);
		return 0;
	}
	strbuf_add(&t, TEXT_DOMAIN, sizeof(TEXT_DOMAIN));
	strbuf_add(&t, key, strlen(key) + 1);
	strbuf_puts(&t, text);
	r = sign(w, &t, hex);
	if (r < 0)
		return r;
	(void)snprintf(value, sizeof(value), "hmac:%s", hex);
	jdoc_set_string(object, key, value);
	return 0;
}
