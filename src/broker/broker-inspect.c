/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-inspect.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger-redact-word.h"

/* Else the supervisor would not learn of the refusal. */
static_assert(INSPECT_JSON_MAX + 512 < BROKER_RECORD_MAX, "findings fit into a record");

#define VALUE_MIN 8 /* a shorter value is a part of other words */

static void add_secret(struct broker_inspection *i, const char *at, size_t len)
{
	/* Tools may share a variable. */
	for (size_t k = 0; k < i->options.n_secrets; k++)
		if (i->secrets[k].at == at)
			return;
	if (len >= VALUE_MIN && i->options.n_secrets < BROKER_SECRETS_MAX)
		i->secrets[i->options.n_secrets++] = (struct redact_secret){ at, len };
}

void broker_inspection_init(const struct broker_server *s, const struct broker_tool *t,
			    struct broker_inspection *ret)
{
	const struct redact *rules = s->job->run->redact;
	const struct broker_tools *tools = s->job->tools;

	*ret = (struct broker_inspection){ .options = { .allow = t->inspect_allow,
							.secrets = ret->secrets } };
	for (size_t i = 0; rules && i < rules->n_secrets; i++)
		add_secret(ret, rules->secrets[i].at, rules->secrets[i].len);
	for (size_t i = 0; i < tools->n; i++) {
		const struct config_tool *d = tools->items[i].declared;

		for (char *const *name = d ? d->env : NULL; name && *name; name++)
			if (redact_name_is_secret(*name, strlen(*name)) && getenv(*name))
				add_secret(ret, getenv(*name), strlen(getenv(*name)));
	}
}

int broker_inspection_require(struct broker_server *s, const struct inspect_found *found, struct fault *f)
{
	_cleanup_free_ char *text = NULL;

	if (found->total == 0)
		return 0;
	text = inspect_found_describe(found);
	jdoc_free(s->found);
	s->found = inspect_found_to_json(found);
	return fault_set(f, EPERM, "inspection found %s: nothing was sent", text ? text : "something");
}

int broker_inspect(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	struct broker_server *s = arg;
	_cleanup_inspect_found_ struct inspect_found found = { 0 };
	struct broker_inspection i;

	if (!t->declared && t->read)
		return 0;
	broker_inspection_init(s, t, &i);
	found.options = &i.options;
	inspect_params(params, &found);
	return broker_inspection_require(s, &found, f);
}
