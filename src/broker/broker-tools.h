/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "profile/profile.h"
#include "state/lane.h"

/*
 * The tools of one run: those that the profile names, as custody.json declares them or as custody has them built in.
 * docs/design/broker.md.
 */
enum broker_builtin {
	BROKER_EXEC, /* declared in custody.json */
	BROKER_PING,
	BROKER_NOTE_WRITE,
	BROKER_REST, /* declared in custody.json as a request */
	BROKER_GIT_DIFF,
	BROKER_GIT_FETCH,
	BROKER_GIT_PUSH,
};

struct broker_credential {
	char *name;
	char *variable; /* of the program's environment; NULL: it reads a descriptor */
};
bool broker_builtin_is_git(enum broker_builtin b);

struct broker_tool {
	const char *name;
	enum broker_builtin builtin;
	const struct config_tool *declared; /* BROKER_EXEC, BROKER_REST: borrowed; else NULL */
	char *const *scope;		    /* NULL: none */
	char level;			    /* 'A', 'B', 'C' */
	bool read;
	struct broker_credential *credentials; /* broker-credential.h */
	size_t n_credentials;
	uint64_t inspect_allow; /* rules of inspection that do not count */
	char *program; /* its path, or that of git, without links, after broker_tools_locate(); NULL: missing, or none */
	const struct config *config; /* of a tool with remotes, which are those of LANE; else NULL */
	enum lane lane;
	struct digest digest; /* of the declaration with its defaults: a changed one is another subject */
};

struct broker_tools {
	bool open; /* the profile has a broker */
	struct broker_tool *items;
	size_t n;
	uint64_t calls_max, delay_ms;
	struct jdoc *section; /* for the subject */
};

/* -ENOTSUP, -ENOENT, -LANE_REFUSED: a tool is not implemented, not declared, of the other lane.  RET borrows from C. */
int broker_tools_resolve(const struct config *c, const struct profile *p, enum lane lane,
			 struct broker_tools *ret, struct fault *f) _must_check_;
/*
 * Finds the programs; that of BROKER_REST in LIBEXEC, or -ENOENT.  -EPERM: another user than root and the caller could change
 * one, or its certificates, or it, or a file among its arguments, is in one of PLACES: resolved directories of the host that a
 * command inside can change, or whose content is not the operator's.
 */
int broker_tools_locate(struct broker_tools *t, const char *libexec, char *const *places,
			struct fault *f) _must_check_;
void broker_tool_done(struct broker_tool *t);
void broker_tools_done(struct broker_tools *t);
#define _cleanup_broker_tools_ _cleanup_(broker_tools_done)

/* Sets `credentials` of D, the names; nothing if T has none. */
void broker_tool_put_credentials(struct jdoc *d, const struct broker_tool *t);
/* Is a call of T on the disk before it is made? */
bool broker_tool_is_synced(const struct broker_tool *t);
const struct broker_tool *broker_tools_find(const struct broker_tools *t, const char *name); /* NULL: none */
