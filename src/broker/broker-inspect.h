/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-impl.h"
#include "inspect/inspect.h"

/* Inspection of a call: its parameters before the approval, and what a tool is about to send out. */
#define BROKER_SECRETS_MAX 64 /* further ones are not known */

struct broker_inspection {
	struct inspect_options options;
	struct redact_secret secrets[BROKER_SECRETS_MAX];
};

/*
 * The options of tool T: the rules that its declaration allows, and the secrets that this process knows, which are those of the
 * redactor and the variables of all tools whose names are names of secrets.  RET must stay where it is, and borrows.
 */
void broker_inspection_init(const struct broker_server *s, const struct broker_tool *t,
			    struct broker_inspection *ret);

/*
 * Nothing was found: 0.  Else -EPERM, F has rules and places for the caller inside, and the next record of S has them as well.  The
 * code of such a reply is broker_step_name(BROKER_INSPECTION), also where the call has been recorded before.
 */
int broker_inspection_require(struct broker_server *s, const struct inspect_found *found,
			      struct fault *f) _must_check_;

/* The step of broker_decide(): parameters of every tool but the built-in ones that only read. */
int broker_inspect(void *arg, const struct broker_tool *t, const struct jdoc *params,
		   struct fault *f) _must_check_;
