/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "layer/layer.h"
#include "subject/placement.h"
#include "subject/subject.h"

/* Between the files that write config.json; nobody else includes this. */

static inline bool bundle_asks(const struct subject *s, enum layer l)
{
	return s->layers & LAYER_BIT(l);
}

/* `mounts`: what the runtime mounts by itself. */
int bundle_add_mounts(struct jdoc *config, const struct subject *s, const struct placement *p,
		      struct fault *f);

/* `process.args`: custody-init and what it has to know, then the command. */
void bundle_add_args(struct jdoc *process, const struct subject *s, const struct placement *p);

/* `hooks`: in portable bundles, what a runtime cannot mount itself. */
int bundle_add_hooks(struct jdoc *config, const struct subject *s, const struct placement *p,
		     struct fault *f);

/* Is mounts[i] left to the hook?  Yes if it is idmapped, or at or below something that the hook mounts. */
bool bundle_is_hooked(const struct subject *s, const struct placement *p, size_t i);
bool bundle_is_worktree_hooked(const struct placement *p);

/* Bytes of a worktree that lives in memory. */
uint64_t bundle_work_size(const struct subject *s);
