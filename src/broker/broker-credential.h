/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-tools.h"
#include "state/dirs.h"

/*
 * Credentials of tools, for declared and built-in ones.  docs/design/broker.md, "Credentials".
 *
 * 1. A tool lists what it uses when it is resolved: broker_tool_add_credential().  Its declaration and its digest name them, a
 *    call of it is synced, and the run is refused if one of them cannot be used (broker_credentials_require()).
 * 2. A call executes a program by broker_tool_execute() (broker-impl.h).  For each credential of the tool it asks the process of
 *    that credential, which records the use and then sends the value to the process between broker and program.  The broker has
 *    no value at any time, and waits for none.
 * 3. The program gets each value in a variable, or reads it from descriptor BROKER_CREDENTIAL_FD to its end.  Its output is
 *    searched for the value, and refused if it is in there.
 */
#define BROKER_CREDENTIALS_MAX 8	  /* of one tool */
#define BROKER_CREDENTIALS_SESSION_MAX 16 /* different ones, of one session */
#define BROKER_CREDENTIAL_FD 3		  /* a tool has at most one that it reads there */

/* Codes of a reply, and of `result` in tool.result. */
#define BROKER_CODE_CREDENTIAL "credential"	     /* it could not be used; the program was not started */
#define BROKER_CODE_IN_OUTPUT "credential-in-output" /* the program's output has it, and is not passed on */

/* VARIABLE NULL: by descriptor.  Copies both.  -EINVAL: no name of a credential; -E2BIG. */
int broker_tool_add_credential(struct broker_tool *t, const char *name, const char *variable,
			       struct fault *f) _must_check_;

/*
 * Each credential of each tool exists in the lane of D, has its class, and its file or program is one that may be used and is in none
 * of PLACES, see broker_tools_locate().  No value is loaded.
 */
int broker_credentials_require(const struct broker_tools *t, const struct dirs *d, char *const *places,
			       struct fault *f) _must_check_;

/*
 * Where the values of one call arrive, in the order of the tool's credentials: for the process between broker and program, which
 * waits for them.  One message each; the end without a message: it is refused.
 */
struct broker_credential_fds {
	int fd[BROKER_CREDENTIALS_MAX];
	size_t n;
};
void broker_credential_fds_done(struct broker_credential_fds *v);
#define _cleanup_broker_credential_fds_ _cleanup_(broker_credential_fds_done)
