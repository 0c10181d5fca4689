/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "layer/layer.h"

enum engine_namespace {
	ENGINE_NS_USER,
	ENGINE_NS_PID,
	ENGINE_NS_MOUNT,
	ENGINE_NS_NETWORK,
	ENGINE_NS_IPC,
	ENGINE_NS_UTS,
	ENGINE_NS_CGROUP,
	ENGINE_NS_TIME,
	_ENGINE_NS_MAX,
};

enum engine_namespace_state {
	ENGINE_NS_HOST,	  /* the runtime's, which is the engine's */
	ENGINE_NS_JOINED, /* named by a path: of another container, or made by the engine */
	ENGINE_NS_OWN,
};

const char *engine_namespace_name(enum engine_namespace n);
enum layer engine_namespace_layer(enum engine_namespace n);
enum engine_namespace_state engine_namespace_state(const struct jdoc *config, enum engine_namespace n);
const char *engine_namespace_state_name(enum engine_namespace_state s);

/* Is the runtime itself called in a user namespace, as rootless engines do? */
bool engine_caller_is_mapped(void);
/* Is root inside another user than the host's root? */
bool engine_has_user_namespace(const struct jdoc *config);
/* Is it certain that nothing is configured in its network namespace? */
struct engine_names;
bool engine_has_no_network(const struct jdoc *config, const struct engine_names *names);
