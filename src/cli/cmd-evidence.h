/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "core/config.h"
#include "core/dirs.h"
#include "core/evidence.h"

/* One call of `custody evidence VERB`; the table in cmd-evidence.c says which verb takes what. */
struct evidence_call {
	struct dirs dirs; /* of the lane */
	struct config *config;
	char *store;
	bool json, exact, force, dry_run;
	const char *lane, *reason, *sandbox;
	const char *words[2]; /* ID, DIR */
	int n_words;
};

int evidence_cmd_ls(const struct evidence_call *c, struct fault *f);
int evidence_cmd_show(const struct evidence_call *c, struct fault *f);
int evidence_cmd_verify(const struct evidence_call *c, struct fault *f);
int evidence_cmd_restore(const struct evidence_call *c, struct fault *f);
int evidence_cmd_pin(const struct evidence_call *c, struct fault *f);
int evidence_cmd_unpin(const struct evidence_call *c, struct fault *f);
int evidence_cmd_rm(const struct evidence_call *c, struct fault *f);
int evidence_cmd_prune(const struct evidence_call *c, struct fault *f);
