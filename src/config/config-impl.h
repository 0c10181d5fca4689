/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "profile/key-table.h"

/*
 * The rows of custody.json: those of a profile's table, filling struct config.  `order` says what a user's file may do
 * with a key that the admin's file has: stay as tight.  Two values mean something else here:
 *	KEY_ORDER_NEVER	only the admin's file may have it
 *	KEY_ORDER_SUPERSET	a list: the user's items are added to the admin's
 */
const struct key_row *config_keys(void); /* ended by a NULL path */

/* A second spelling: PATH is read as CANONICAL.  Ended by a NULL path. */
struct config_alias {
	const char *path, *canonical;
};
const struct config_alias *config_aliases(void);

/* A variable that overrides PATH.  TO_JSON: its text as the file would say it, NULL: does not fit. */
struct config_env {
	const char *name, *path;
	struct jdoc *(*to_json)(const char *text);
	const char *what; /* may stand there */
};
const struct config_env *config_envs(void);

/* One file, read and checked: an object whose values are labelled with PATH.  No file: *RET NULL. */
int config_file_read(const char *path, char **ret_text, size_t *ret_len, struct fault *f) _must_check_;
/* USER over ADMIN, both may be NULL. */
int config_merge(const struct jdoc *admin, const struct jdoc *user, struct jdoc **ret,
		 struct fault *f) _must_check_;

/* Set the value of row PATH; owns V. */
void config_document_set(struct jdoc *doc, const char *path, struct jdoc *v);
const struct jdoc *config_document_get(const struct jdoc *doc, const char *path);

/* Frees what rows of TABLE filled in *P. */
void config_fields_free(const struct key_row *table, void *p);
/* Rules that span keys, and what rows cannot fill. */
int config_finish(struct config *c, const char *admin_label, struct fault *f) _must_check_;
