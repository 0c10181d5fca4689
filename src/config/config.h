/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "rest/rest-declaration.h"
#include "state/dirs.h"

/*
 * custody.json: settings for all runs.  The admin's file and, unless root, the user's file over it; a user's
 * file may add and tighten, loosening is refused with the key's name.  Environment variables are applied
 * last.  No file: the defaults.  One table (config-table.c) drives parser, JSON Schema, doctor and the list
 * in custody.json(5).
 */
#define CONFIG_PROFILE_ENV "CUSTODY_PROFILE"
#define CONFIG_SIZE_MAX ((size_t)256 * 1024)

/* Source of a value: a later one overrides an earlier one, if both are allowed. */
enum config_tier {
	CONFIG_DEFAULT,
	CONFIG_USER,
	CONFIG_ADMIN,
	CONFIG_ENV,
};

struct config_approver {
	char *name;
	char *key;	    /* Ed25519 public key, "ed25519:" and 64 hex digits */
	char *pin_key;	    /* its private half is wrapped with the PIN; NULL: cannot approve level C */
	unsigned int lanes; /* enum network_class: where the signature counts */
	uint64_t uid;	    /* owner on this host, for allow_self; CONFIG_NO_UID: unknown */
};
#define CONFIG_NO_UID UINT64_MAX
#define CONFIG_FLEET_MAX 64 /* ledgers of a fleet: a grant names them all */

/* Ledgers on which one grant of level B counts. */
struct config_fleet {
	char *name;
	char **ledgers; /* public keys, as `custody ledger show --key` prints them */
};

/* Exactly one of UID (not CONFIG_NO_UID) and CGROUP (leading components of a cgroup's path). */
struct config_provenance {
	uint64_t uid;
	char *cgroup;
	unsigned int intention; /* enum intention */
};

/* All given conditions must hold; a rule without any is refused. */
struct config_rule {
	unsigned int effect; /* enum policy_effect */
	unsigned int tier;   /* enum config_tier: user or admin; the same numbers as enum policy_tier */
	char **argv;	     /* words that the command begins with */
	char *profile;	     /* name */
	char *network;	     /* "none", "allow", "host" */
	char *mount;	     /* a writable mount at or below this path */
	char *why;	     /* for the card and the refusal; may be NULL */
	char *origin;	     /* "FILE:LINE", for reasons */
};

struct config_peer {
	char *name, *path;
	unsigned int type;    /* enum peer_type */
	unsigned int records; /* 1: all records, 0: checkpoints */
};

/* A parameter of a declared tool.  A tool with PARAMS takes no other ones. */
struct config_param {
	char *name;
	unsigned int type; /* enum config_param_type */
	char *description;
	char **values;	     /* of a string: the only ones; NULL: any */
	uint64_t length_max; /* characters of a string; 0: any number */
	bool required;
};
enum config_param_type {
	CONFIG_PARAM_STRING,
	CONFIG_PARAM_INTEGER,
	CONFIG_PARAM_BOOLEAN,
};
const char *config_param_type_name(unsigned int type);

/* A tool that the broker executes: `broker.tools`, docs/design/broker.md. */
struct config_tool {
	char *name;
	char **exec;	      /* argv; the program is absolute; NULL: a request, in REST */
	char **env;	      /* names of variables of the supervisor's environment */
	char **credentials;   /* "VARIABLE=NAME": the value of that credential of the lane */
	char **scope;	      /* "PARAM=VALUE": the parameter must be equal to that value of the session */
	unsigned int level;   /* 0, 1, 2: A, B, C */
	unsigned int network; /* enum network_class: test or prod */
	uint64_t timeout_s, output_max;
	char **inspect_allow; /* rules of inspection that its calls may break: inspect/inspect-rule.h */
	bool read;	      /* changes nothing outside */
	bool export;	      /* sends data of the worktree out */
	char *description;    /* for clients inside; NULL: none */
	bool has_params;      /* PARAMS is the whole list; else the tool checks its own */
	struct config_param *params;
	size_t n_params;
	struct rest_declaration rest; /* its url is NULL: a program, in EXEC */
};
char config_tool_level(const struct config_tool *t);

/* A git repository that git.fetch and git.push may reach: `broker.remotes`, docs/design/broker-git.md. */
struct config_remote {
	char *name, *url;
	char *ca;	      /* file with certificates for https; NULL: the system's */
	char *credential;     /* of the lane; NULL: none */
	char *user;	      /* name that goes with it */
	char **branches;      /* that git.push may change; NULL: none */
	char **inspect_allow; /* rules of inspection that its changes may break: inspect/inspect-rule.h */
	unsigned int level;   /* 0, 1, 2: A, B, C, of git.push */
	unsigned int network; /* enum network_class: test or prod */
	bool force;	      /* git.push may take commits away from a branch */
};

/* Commands in a running session: `exec`. */
enum config_exec {
	CONFIG_EXEC_DENY,
	CONFIG_EXEC_ASK,   /* as a run: policy decides */
	CONFIG_EXEC_ALLOW, /* the same, and level B needs no approval */
};

struct config {
	unsigned int lane; /* enum lane: default lane; never arms prod */

	char *profile; /* of a run that names none: a name, or an absolute path */

	char *digest_key; /* 64 hex digits; NULL: the lane's own */

	struct config_approver *approvers;
	size_t n_approvers;
	bool has_approvers; /* the key is present, even if empty: local approvers do not count */
	struct config_fleet *fleets;
	size_t n_fleets;
	uint64_t min_approvals;
	bool allow_self;
	char **on_request; /* argv; NULL: nothing */
	uint64_t request_expiry_s;
	uint64_t grant_max_uses, grant_max_s;
	uint64_t prompt_rate; /* prompts per minute */

	struct config_provenance *provenance;
	size_t n_provenance;
	struct config_rule *rules; /* the admin's first */
	size_t n_rules;
	char **trusted_hosts;
	unsigned int run_security; /* enum security_profile: governance.security_profile, of `custody run` */
	unsigned int exec;	   /* enum config_exec: commands in running sessions */
	unsigned int engine_security; /* the same: security_profile, of the engine plug-in */

	struct config_tool *tools;
	size_t n_tools;
	struct config_remote *remotes;
	size_t n_remotes;
	struct {
		bool enabled;
		char *profile; /* of a container that names none: a name, or an absolute path */
		uint64_t max_tool_calls, timing_min_delay_ms;
	} sandbox;
	struct {
		char *path; /* NULL: the default of docs/design/files.md */
		uint64_t retention_days, quota, keep_free;
		uint64_t item_max; /* data of one evidence; 0: a quarter of the quota */
	} forensics;

	struct {
		uint64_t keep_days, quota;
	} review;

	char **redact_flags, **redact_headers;
	struct config_peer *audit_peers;
	size_t n_audit_peers;
	uint64_t id_first, id_last;

	struct jdoc *document; /* merged, each value with its origin and line */
	struct config_value *values;
	size_t n_values;
	char **origins;
};

/* Source of a key's value, for doctor: one entry per row that is not a section. */
struct config_value {
	const char *path; /* "governance.security_profile" */
	enum config_tier tier;
	char *source;	       /* "/etc/custody/custody.json:12", "CUSTODY_SANDBOX_ENABLED", "default" */
	struct jdoc *value;    /* NULL: not set, and no default */
	struct jdoc *replaced; /* the value without this one; NULL unless it overrides a lower source */
	char *replaced_source;
};

/*
 * Reads both files of D and the environment.  -EPERM for a file that other users may write, -EINVAL with
 * FILE:LINE:COLUMN.
 */
int config_load(const struct dirs *d, struct config **ret, struct fault *f) _must_check_;
void config_free(struct config *c);
DEFINE_CLEANUP(struct config, config_free)
#define _cleanup_config_ _cleanup_(config_freep)

/* For tests and fuzzing: texts instead of files, either NULL; GETENV as the function, NULL: no variable is set. */
struct config_texts {
	const char *admin, *user;
	size_t admin_len, user_len;
	const char *(*getenv)(const char *name);
};
int config_parse(const struct config_texts *t, struct config **ret, struct fault *f) _must_check_;

const struct config_value *config_find(const struct config *c, const char *path);

/* Does this version use key PATH?  Keys of later capabilities are checked and have no effect yet. */
bool config_key_is_used(const char *path);

/* JSON Schema of the file, from the table. */
struct jdoc *config_schema(void);

/* TEXT of --lane, else CUSTODY_LANE, else the configuration's.  C may be NULL. */
int config_lane(const struct config *c, const char *text, enum lane *ret, struct fault *f) _must_check_;
/* First step of a command: configuration, then the directories of lane TEXT, or of the configured lane. */
int config_open(const char *lane, struct dirs *ret_dirs, struct config **ret, struct fault *f) _must_check_;
