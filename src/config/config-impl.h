/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "profile/key-table.h"

/*
 * Inside the config room only: the rows of custody.json, filling struct config.  `order` is the rule for a
 * key of the user's file that the admin's file also has: the value must be as tight.  Two values have another
 * meaning here: KEY_ORDER_NEVER: only the admin's file may have the key.  KEY_ORDER_SUPERSET: the user's
 * items are appended to the admin's list.
 */
const struct key_row *config_keys(void); /* terminated by a NULL path */
extern const struct key_row config_tool_rows[], config_remote_rows[];
extern const struct key_word config_level_words[], config_class_words[];
/* Can a call of T be made whose parameters are as T declares them? */
int config_params_check(const struct config_tool *t, struct fault *f) _must_check_;
extern const struct key_shape config_shape_header;

/* A second spelling: PATH is read as CANONICAL.  Terminated by a NULL path. */
struct config_alias {
	const char *path, *canonical;
};
const struct config_alias *config_aliases(void);

/* An environment variable that overrides PATH.  TO_JSON converts its text; NULL: invalid. */
struct config_env {
	const char *name, *path;
	struct jdoc *(*to_json)(const char *text);
	const char *what; /* allowed values, for messages */
};
const struct config_env *config_envs(void);

/* Reads and checks one file: an object whose values are labelled with PATH.  No file: *RET NULL. */
int config_file_read(const char *path, char **ret_text, size_t *ret_len, struct fault *f) _must_check_;
/* USER over ADMIN, both may be NULL. */
int config_merge(const struct jdoc *admin, const struct jdoc *user, struct jdoc **ret,
		 struct fault *f) _must_check_;

/* Sets the value of row PATH; takes ownership of V. */
void config_document_set(struct jdoc *doc, const char *path, struct jdoc *v);
const struct jdoc *config_document_get(const struct jdoc *doc, const char *path);

/* Frees the fields of *P that rows of TABLE filled. */
void config_fields_free(const struct key_row *table, void *p);
/* Rules that span keys, and fields that rows cannot fill. */
int config_finish(struct config *c, const char *admin_label, struct fault *f) _must_check_;

bool config_is_profile(const char *text); /* a profile's name, or an absolute path */
