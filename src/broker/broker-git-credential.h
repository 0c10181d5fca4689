/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-impl.h"

/*
 * The credential of a remote, for a git that the process of a git tool starts.  The value is loaded there, in locked memory, is
 * recorded before it is used, and goes to git's credential helper through a pipe: no argument, variable or file has it.
 */
struct broker_git_credential {
	const struct broker_server *server;
	const struct broker_tool *tool;
	const struct config_remote *remote;
};

/* ARG is a struct broker_git_credential.  The end of a pipe that has what a credential helper prints. */
int broker_git_credential_open(void *arg, struct fault *f) _must_check_;
