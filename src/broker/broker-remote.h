/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-tools.h"

/* The remotes of git.fetch and git.push: those that custody.json declares for the lane. */

/* Sets config, lane and level of T, if it has remotes.  -ENOENT: it needs one, and the lane has none. */
int broker_remotes_resolve(struct broker_tool *t, const struct config *c, enum lane lane,
			   struct fault *f) _must_check_;
void broker_remotes_describe(const struct broker_tool *t, struct jdoc *d); /* for the tool's digest */
/* -EPERM: a file of one of them is in one of PLACES, see broker_tools_locate(), or another user could change it. */
int broker_remotes_require(const struct broker_tool *t, char *const *places, struct fault *f) _must_check_;
/* The next credential of T's remotes from *AT on, first 0; NULL: no further one. */
const char *broker_remotes_credential(const struct broker_tool *t, size_t *at);
const struct config_remote *broker_remote_find(const struct broker_tool *t,
					       const char *name); /* NULL: none */
