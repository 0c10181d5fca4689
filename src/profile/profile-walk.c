/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-walk.h"

#include <errno.h>
#include <string.h>

#include "profile/profile-impl.h"

static void add_token(struct strbuf *b, const char *key)
{
	strbuf_putc(b, '/');
	for (; *key; key++) {
		if (*key == '~')
			strbuf_puts(b, "~0");
		else if (*key == '/')
			strbuf_puts(b, "~1");
		else
			strbuf_putc(b, *key);
	}
}

static int walk(struct strbuf *pointer, const struct jdoc *v, profile_visit_fn *visit, void *userdata,
		struct fault *f)
{
	size_t len = pointer->len, n = 0;
	int r = 0;

	if (v->type == JDOC_ARRAY)
		n = v->n_items;
	else if (v->type == JDOC_OBJECT)
		n = v->n_members;
	if (n == 0)
		return visit(pointer->text, v, userdata, f);
	for (size_t i = 0; i < n && r == 0; i++) {
		if (v->type == JDOC_ARRAY)
			strbuf_printf(pointer, "/%zu", i);
		else
			add_token(pointer, v->members[i].key);
		if (pointer->broken)
			return fault_errno(f, ENOMEM, "profile");
		r = walk(pointer, v->type == JDOC_ARRAY ? v->items[i] : v->members[i].value, visit, userdata,
			 f);
		pointer->len = len;
		pointer->text[len] = '\0';
	}
	return r;
}

int profile_walk(const struct profile *p, profile_visit_fn *visit, void *userdata, struct fault *f)
{
	int r = 0;

	for (const struct key_row *k = profile_keys(); k->path && r == 0; k++) {
		_cleanup_strbuf_ struct strbuf pointer = { 0 };
		_cleanup_jdoc_ struct jdoc *fallback = NULL;
		const struct jdoc *v = key_row_value(k, p->document);

		if (k->kind == KEY_KIND_SECTION)
			continue;
		if (!v)
			v = fallback = key_row_default(k);
		if (!v)
			continue;
		strbuf_printf(&pointer, "/%s", k->path);
		if (pointer.broken)
			return fault_errno(f, ENOMEM, "profile");
		for (char *dot = strchr(pointer.text, '.'); dot; dot = strchr(dot, '.'))
			*dot = '/';
		r = walk(&pointer, v, visit, userdata, f);
	}
	return r;
}
