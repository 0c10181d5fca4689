/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shared by evidence-diff.c (two evidences) and evidence-diff-tree.c (a tree and evidence); included there only. */
#include "evidence/evidence-diff.h"

struct diff_list {
	struct manifest_entry *items; /* by path */
	size_t n, room;
	struct manifest_entry **ids; /* hard-linked files, by id */
	size_t n_ids;
};

struct diff_found {
	unsigned int what;
	struct manifest_entry *old, *new; /* items of a list */
};

/* Both sides stay in memory: FOUND points into them. */
struct diff {
	struct diff_list a, b; /* evidence; the other evidence, or entries of the tree that differ */
	bool *seen;	       /* per item of A */
	struct diff_found *found;
	size_t n, room;
	void *buffer;
};

void diff_done(struct diff *d);
#define _cleanup_diff_ _cleanup_(diff_done)

/* Takes over E, also when it fails. */
int diff_list_add(struct diff_list *l, struct manifest_entry *e, struct fault *f) _must_check_;
/* The manifest of EVIDENCE, sorted. */
int diff_list_load(int evidence, struct diff_list *l, struct fault *f) _must_check_;
struct manifest_entry *diff_list_find(const struct diff_list *l, const char *path); /* NULL: none */
/* The entry with the contents of E, which may be another name of the same file. */
const struct manifest_entry *diff_list_content(const struct diff_list *l, const struct manifest_entry *e);

/* Everything but the contents of files. */
unsigned int diff_compare_metadata(const struct manifest_entry *a, const struct manifest_entry *b);
bool diff_exists(const struct manifest_entry *e); /* false: NULL, or removed */

int diff_add(struct diff *d, unsigned int what, struct manifest_entry *old, struct manifest_entry *new,
	     struct fault *f) _must_check_;
int diff_report(struct diff *d, evidence_diff_told *told, void *arg);
