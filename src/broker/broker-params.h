/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-tools.h"

/*
 * What a client is told about the tools, and what the broker holds it to: the parameters that a declared tool lists, with their
 * types and limits.  A tool without such a list, and one that is built in, checks its own.
 */
int broker_params_check(const struct broker_tool *t, const struct jdoc *params, struct fault *f) _must_check_;

/* An object of JSON Schema that the parameters must fit. */
struct jdoc *broker_params_schema(const struct broker_tool *t);

/* Each tool of T with `name`, `mcp`, `description`, `read`, and `params`, its schema. */
struct jdoc *broker_tools_list(const struct broker_tools *t);

/* The name that clients of MCP use, which allow no '.' in it: tools that differ in nothing else must not be in one profile. */
#define BROKER_MCP_NAME_SIZE 65
void broker_tool_mcp_name(const char *name, char ret[BROKER_MCP_NAME_SIZE]);
