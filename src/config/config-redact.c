/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/config-redact.h"

#include <errno.h>

#include "base/array.h"
#include "base/str.h"

#define LABEL "redaction rules"

int config_redact_set(struct config_redact *r, const struct config *c, char *const *more, struct fault *f)
{
	char *const *lists[] = { c ? c->redact_flags : NULL, more };
	_cleanup_strv_ char **all = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (char *const *flag = lists[i]; flag && *flag; flag++)
			if (strv_append(&all, *flag) < 0)
				return fault_errno(f, ENOMEM, LABEL);
	strv_free(r->flags);
	r->flags = TAKE_PTR(all);
	r->rules = (struct redact){ .flags = r->flags, .headers = c ? c->redact_headers : NULL };
	return 0;
}

void config_redact_done(struct config_redact *r)
{
	strv_free(r->flags);
	*r = (struct config_redact){ 0 };
}

int config_redact_flags(const struct profile *p, char ***ret, struct fault *f)
{
	const struct jdoc *list = p ? jdoc_get(p->sections[PROFILE_SECTION_AUDIT], "redact") : NULL;
	_cleanup_strv_ char **flags = NULL;

	for (size_t i = 0; list && list->type == JDOC_ARRAY && i < list->n_items; i++)
		if (strv_append(&flags, list->items[i]->string) < 0)
			return fault_errno(f, ENOMEM, LABEL);
	*ret = TAKE_PTR(flags);
	return 0;
}
