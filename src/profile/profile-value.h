/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile-key.h"

/*
 * One value against one row: scalars in profile-value.c, lists and maps in profile-list.c.  _take yields what
 * was read, _set fills the row's field of P when there are both.  Only these two files and profile_value_set
 * use it.
 */
void *profile_field(const struct profile_key *k, void *p); /* NULL: nothing to fill */
int profile_wrong_type(const struct profile_key *k, const struct jdoc *v, struct fault *f);
int profile_type_require(const struct profile_key *k, const struct jdoc *v, enum jdoc_type type,
			 struct fault *f);
int profile_word_require(const struct profile_key *k, const struct jdoc *v, struct fault *f);
int profile_number_take(const struct profile_key *k, const struct jdoc *v, uint64_t *ret, struct fault *f);
int profile_text_take(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		      char **ret, struct fault *f);
int profile_path_take(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		      char **ret, struct fault *f);
int profile_bind_take(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		      char **ret, struct fault *f);

int profile_list_set(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		     void *p, struct fault *f);
int profile_objects_set(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
			void *p, struct fault *f);
int profile_extends_set(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
			struct fault *f);
int profile_counts_set(const struct profile_key *k, const struct jdoc *v, struct fault *f);
int profile_layers_set(const struct profile_key *k, const struct jdoc *v, void *p, struct fault *f);
int profile_tmpfs_set(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		      struct profile *p, struct fault *f);
int profile_env_set(const struct profile_key *k, const struct jdoc *v, const struct profile_vars *vars,
		    struct profile *p, struct fault *f);
