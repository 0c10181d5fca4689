/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/stat.h>

#include "layer/layer.h"
#include "oci/engine/engine.h"

/* Shared by the files of this room only. */

/* Words of an engine that stand for the container in its own configuration. */
struct engine_names {
	const char *id;	     /* of the container */
	const char *sandbox; /* CRI: id of the pod's container; podman: the pod's; NULL: none */
	const char *pod_name, *pod_uid;
	struct statx_timestamp made; /* when the engine made the container's directory */
	bool has_made;
	bool hostname_is_noise; /* it is made from the id, or the pod's name */
};

struct engine_work {
	const struct engine_input *in;
	const struct digest_key *key;
	struct engine_container *c;
	struct engine_names names;
	struct jdoc *config; /* borrowed: the merged one, while it is changed */
	struct fault *f;
};

/* Is D, which may be NULL, of this type?  Every accessor of the room goes through one of these. */
bool engine_is(const struct jdoc *d, enum jdoc_type type);
/* The value at "linux.resources.memory", or NULL. */
struct jdoc *engine_at(const struct jdoc *d, const char *path);
const char *engine_text(const struct jdoc *d, const char *path); /* NULL unless a string */
/* Every object in the array at PATH; use with engine_item.  0 unless an array. */
size_t engine_count(const struct jdoc *d, const char *path);
struct jdoc *engine_item(const struct jdoc *d, const char *path, size_t i);
/* The member KEY of OBJECT as a TYPE: an existing one of another type is replaced. */
struct jdoc *engine_make(struct jdoc *object, const char *key, enum jdoc_type type);
bool engine_list_has(const struct jdoc *array, const char *text);
/* Order of two strings of an array, for sorting; any value of another type comes first. */
void engine_list_sort(struct jdoc *array);

/* "'linux.devices[0]': WHAT; to allow it ..., add WORD to `dangerous`": 0 if the profile has that word.  -EPERM. */
int engine_require_danger(const struct engine_work *w, const char *word, const char *what, ...)
	_printf_(3, 4) _must_check_;
bool engine_asks(const struct engine_work *w, enum layer l); /* the profile does not switch the layer off */

/* What neither a container nor a command in one may ask for: real-time scheduling; two limits of one type.  -EPERM. */
int engine_schedule_require(const struct jdoc *process, struct fault *f) _must_check_;
int engine_rlimits_require(const struct jdoc *process, struct fault *f) _must_check_;

/* The steps of engine_read, in this order.  Each is -EPERM with the member's name, or 0. */
int engine_annotations_read(struct engine_work *w) _must_check_;
int engine_merge_process(struct engine_work *w) _must_check_;
int engine_merge_namespaces(struct engine_work *w) _must_check_;
int engine_merge_mounts(struct engine_work *w) _must_check_;
int engine_merge_own_dirs(struct engine_work *w) _must_check_;
int engine_merge_devices(struct engine_work *w) _must_check_;
int engine_merge_resources(struct engine_work *w) _must_check_;
int engine_merge_sysctls(struct engine_work *w) _must_check_;
int engine_merge_seccomp(struct engine_work *w) _must_check_;
