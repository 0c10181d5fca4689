/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/str.h"

/*
 * One change of the host.  Each can be made and undone any number of times: an interrupted setup or removal is repeated.
 * Files appear and disappear whole.
 */
enum setup_kind {
	SETUP_DIRECTORY, /* PATH */
	SETUP_FILE,	 /* PATH with the content TEXT */
	SETUP_LINE,	 /* a line TEXT in PATH, which other programs write too; BEFORE: setup_subid_state */
	SETUP_SYSCTL,	 /* PATH below /proc/sys has the value TEXT; it had BEFORE */
	SETUP_CGROUP, /* PATH, a directory of the user; TEXT: controllers of v2 separated by blanks, or "v1" */
	_SETUP_KIND_MAX,
};

struct setup_change {
	enum setup_kind kind;
	char *path, *text, *before; /* TEXT, BEFORE: "" for none */
	bool done;		    /* it is in place already */
};

struct setup_list {
	struct setup_change *items;
	size_t n;
};

struct setup_user {
	char *name; /* as in /etc/passwd, or the number */
	uid_t uid;
	gid_t gid;
};

const char *setup_kind_name(enum setup_kind k);
int setup_kind_from_name(const char *name); /* -1: unknown */

int setup_list_add(struct setup_list *l, const struct setup_change *c,
		   struct fault *f) _must_check_; /* copies */
/* The entry with the kind, path and text of C: a line is another entry than another line of the same file. */
struct setup_change *setup_list_find(const struct setup_list *l, const struct setup_change *c);
bool setup_list_has_path(const struct setup_list *l, const char *path);
void setup_list_done(struct setup_list *l);
#define _cleanup_setup_list_ _cleanup_(setup_list_done)

int setup_change_is_made(const struct setup_change *c, const struct setup_user *u,
			 struct fault *f) _must_check_;
int setup_change_make(const struct setup_change *c, const struct setup_user *u, struct fault *f) _must_check_;
/* -EBUSY, -ESTALE: it stays, and F says why; everything that is gone already is success. */
int setup_change_undo(const struct setup_change *c, const struct setup_user *u, struct fault *f) _must_check_;
/* Lines for people, what making or undoing it does. */
void setup_change_describe(const struct setup_change *c, bool undo, struct strbuf *out);
