/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "broker/broker-credential.h"
#include "broker/broker-impl.h"
#include "rest/rest-proto.h"
#include "rest/rest-request.h"

#define FAILURE_MAX 512

_Static_assert(REST_CREDENTIAL_FD == BROKER_CREDENTIAL_FD, "custody-rest reads it there");

int broker_rest_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		      struct fault *f)
{
	static char *const argv[] = { (char *)REST_PROGRAM, NULL }, *const env[] = { NULL };
	const struct config_tool *t = c->tool->declared;
	_cleanup_rest_request_ struct rest_request q = { 0 };
	_cleanup_jdoc_ struct jdoc *input = NULL;
	_cleanup_strbuf_ struct strbuf to = { 0 };
	struct broker_execution x = { .path = c->tool->program,
				      .argv = argv,
				      .env = env,
				      .timeout_s = t->timeout_s,
				      .output_max = t->output_max };
	int r = rest_request_make(&t->rest, params, &q, f);

	if (r < 0)
		return r;
	strbuf_printf(&to, "%s:%" PRIu64, q.host, q.port);
	input = rest_request_describe(&t->rest, &q, t->output_max);
	if (to.broken || !input)
		return fault_set(f, ENOMEM, "out of memory");
	x.to = to.text;
	x.host = q.host;
	return broker_tool_execute(s, c, &x, input, f);
}

/* custody-rest's sentences have nothing of a reply. */
char *broker_rest_failure(const struct strbuf *output)
{
	if (output->broken || output->len == 0 || output->len > FAILURE_MAX ||
	    memchr(output->text, '\0', output->len))
		return NULL;
	return str_escape(output->text);
}
