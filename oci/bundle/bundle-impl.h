/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/id-map.h"
#include "base/json.h"
#include "layer/layer.h"
#include "subject/placement.h"
#include "subject/subject.h"

/* Private to the files that write config.json. */

static inline bool bundle_asks(const struct subject *s, enum layer l)
{
	return s->layers & LAYER_BIT(l);
}

/* `mounts`: mounts of the runtime itself. */
int bundle_add_mounts(struct jdoc *config, const struct subject *s, const struct placement *p,
		      struct fault *f);

/* Ids of the user namespace. */
struct id_map bundle_ids(const struct subject *s, const struct placement *p);

/* `process.args`: custody-init and its arguments, then the command. */
void bundle_add_args(struct jdoc *process, const struct subject *s, const struct placement *p);

/* `hooks`: in portable bundles, mounts that a runtime cannot do itself. */
int bundle_add_hooks(struct jdoc *config, const struct subject *s, const struct placement *p,
		     struct fault *f);

/* Does the hook mount mounts[i]?  Yes if it is idmapped, or at or below a mount of the hook. */
bool bundle_is_hooked(const struct subject *s, const struct placement *p, size_t i);
bool bundle_is_worktree_hooked(const struct placement *p);

/* Does init wait for custody-warden's word (layer/init-proto.h)?  Then it needs some system calls. */
bool bundle_has_gate(const struct subject *s, const struct placement *p);
int bundle_require_gate(const struct subject *s, const struct placement *p, struct fault *f);

/*
 * Does a mount of its own give "/" its flags?  libcrun binds the root and sets none but read-only, which is enough only where
 * the creator's tmpfs has the others, and a user namespace keeps them.
 */
bool bundle_remounts_root(const struct subject *s, const struct placement *p);
bool bundle_keeps_root_flags(const struct subject *s, const struct placement *p); /* without such a mount */

/* Size in bytes of a worktree in memory. */
uint64_t bundle_work_size(const struct subject *s);
