/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile-impl.h"

/*
 * Checks one value against one row: scalars in key-value.c, lists and maps in key-list.c.  Functions with `ret` return
 * the value, _set functions fill the row's field of P when both exist.  Used by these two files and key_row_set only.
 */
void *key_row_field(const struct key_row *k, void *p); /* NULL: nothing to fill */
int key_value_wrong_type(const struct key_row *k, const struct jdoc *v, struct fault *f);
int key_value_require_type(const struct key_row *k, const struct jdoc *v, enum jdoc_type type,
			   struct fault *f);
int key_value_require_word(const struct key_row *k, const struct jdoc *v, struct fault *f);
int key_value_number(const struct key_row *k, const struct jdoc *v, uint64_t *ret, struct fault *f);
int key_value_text(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, char **ret,
		   struct fault *f);
int key_value_path(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, char **ret,
		   struct fault *f);
int key_value_bind(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, char **ret,
		   struct fault *f);

int key_list_set(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars, void *p,
		 struct fault *f);
int key_list_set_objects(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
			 void *p, struct fault *f);
int key_list_set_extends(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
			 struct fault *f);
int key_list_set_counts(const struct key_row *k, const struct jdoc *v, struct fault *f);
int key_list_set_layers(const struct key_row *k, const struct jdoc *v, void *p, struct fault *f);
int key_list_set_tmpfs(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		       struct profile *p, struct fault *f);
int key_list_set_env(const struct key_row *k, const struct jdoc *v, const struct profile_vars *vars,
		     struct profile *p, struct fault *f);
