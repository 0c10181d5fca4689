/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * The policy verdict on a subject, before anything starts. Pure: no file, no clock, no environment is read,
 * so the same facts give the same verdict anywhere. The order of the steps is docs/design/governance.md's.
 *
 * On every axis and in every fact zero is the worst value: a field that a caller forgets raises the level,
 * and an empty verdict denies.
 */
enum outcome {
	OUTCOME_IRREVERSIBLE,
	OUTCOME_SOFT, /* can be restored, with effort */
	OUTCOME_REVERSIBLE,
	_OUTCOME_MAX,
};

enum intention {
	INTENTION_AUTONOMOUS, /* no user is known to have asked for it */
	INTENTION_TASK,	      /* follows from a task that a user gave */
	INTENTION_EXPLICIT,   /* a user typed it at a terminal */
	_INTENTION_MAX,
};

enum domain {
	DOMAIN_SYSTEM, /* privilege tools, writes to system paths */
	DOMAIN_UNTRUSTED,
	DOMAIN_TRUSTED,	  /* hosts of `trusted_hosts` */
	DOMAIN_LOCALHOST, /* loopback, and files of this machine outside the worktree */
	DOMAIN_WORKSPACE,
	_DOMAIN_MAX,
};

/* How much approval is required; independent of the strength of confinement. */
enum security_profile {
	SECURITY_STRICT,
	SECURITY_BALANCED,
	SECURITY_MINIMAL,
	SECURITY_OFF,
	_SECURITY_MAX,
};

/* Result of the table: pin -> level C, confirm -> B, log and pass -> A. */
enum review {
	REVIEW_PIN,
	REVIEW_CONFIRM,
	REVIEW_LOG,
	REVIEW_PASS,
	_REVIEW_MAX,
};

enum policy_decision {
	DECISION_DENY,
	DECISION_ASK,	/* levels B and C */
	DECISION_ALLOW, /* level A */
	_DECISION_MAX,
};

enum policy_worktree {
	POLICY_WORKTREE_RW,
	POLICY_WORKTREE_EPHEMERAL, /* overlay, ro, tmpfs: the original is never written */
};

enum policy_network {
	POLICY_NETWORK_HOST,
	POLICY_NETWORK_NONE,
	POLICY_NETWORK_ALLOW, /* listed hosts; effects leave the sandbox as with the host's */
};

/* Other sources of the words of a command, besides the user: they only ever raise a level. */
enum policy_taint {
	TAINT_TOOL_OUTPUT = 1 << 0,
	TAINT_WEB_CONTENT = 1 << 1,
	TAINT_UNKNOWN = 1 << 2,
};

enum policy_tier {
	POLICY_TIER_DEFAULT,
	POLICY_TIER_USER,
	POLICY_TIER_ADMIN,
	_POLICY_TIER_MAX,
};

enum policy_effect {
	POLICY_EFFECT_DENY,
	POLICY_EFFECT_ASK,
	POLICY_EFFECT_ALLOW,
	_POLICY_EFFECT_MAX,
};

enum policy_rule_network {
	POLICY_RULE_NETWORK_ANY,
	POLICY_RULE_NETWORK_NONE,
	POLICY_RULE_NETWORK_HOST,  /* any network: the host's, or allowed hosts */
	POLICY_RULE_NETWORK_ALLOW, /* allowed hosts only */
};

/*
 * One rule of an operator. It matches if all of its conditions hold; a rule without conditions never matches.
 */
struct policy_rule {
	enum policy_tier tier;
	enum policy_effect effect;
	char *const *argv;   /* whole words that a part of the command begins with; NULL: any command */
	const char *profile; /* name; NULL: any */
	enum policy_rule_network network;
	const char *mount; /* a writable mount at or below this path, inside or on the host; NULL: any */
	const char *where; /* "FILE:LINE", for the reason */
};

struct policy_mount {
	const char *target; /* inside */
	const char *source; /* on the host */
};

struct policy_facts {
	char *const *argv;
	char *const *env;	   /* "NAME=value" of the command; NULL: no variable is known to be set */
	const char *cwd;	   /* inside; NULL: not known */
	const char *home;	   /* inside */
	const char *worktree;	   /* inside */
	const char *worktree_host; /* NULL for tmpfs */
	bool home_is_apart;	   /* the worktree is not the caller's home, nor a parent of it */
	bool isolated;		   /* custody confines it; else it runs on the host unconfined */
	enum policy_worktree worktree_mode;
	const struct policy_mount *rw; /* writable binds, without the worktree */
	size_t n_rw;
	enum policy_network network;
	bool broker_tool;     /* any tool granted */
	const char *replaced; /* a mount over programs or settings of the system, inside; NULL: none */
	bool git_is_plain;    /* no configuration in the worktree names a program that git would run there */
	bool image_unknown; /* an engine's container whose image cannot be identified: its programs may be any */
	/*
	 * An engine's container with security profile off: only an unbounded delete and operator rules need an answer
	 * (docs/design/engine.md).
	 */
	bool unbounded_only;
	enum intention intention;
	unsigned int taints; /* enum policy_taint */
	bool web_requester;
	enum security_profile security;
	const char *profile_name;
	const struct policy_rule *rules;
	size_t n_rules;
	char *const *trusted_hosts; /* "example.org" matches "www.example.org", never "badexample.org" */
};

struct verdict_reason {
	const char *id; /* stable, lower case with dashes; static */
	char *text;
};

#define VERDICT_REASONS_MAX 24

struct verdict {
	enum policy_decision decision;
	char level; /* 'A', 'B', 'C' */
	struct {
		enum outcome raw_outcome; /* before confinement lowers it */
		enum outcome outcome;
		enum intention intention;
		enum domain domain;
		enum security_profile profile;
		enum review review;
	} axes;
	struct verdict_reason reasons[VERDICT_REASONS_MAX]; /* most important first */
	size_t n_reasons;
};

/*
 * A refusal is a result (DECISION_DENY), not an error: only a failure to decide is negative, and callers
 * treat that as a refusal too.
 */
int policy_decide(const struct policy_facts *facts, struct verdict **ret, struct fault *f) _must_check_;
void verdict_free(struct verdict *v);
DEFINE_CLEANUP(struct verdict, verdict_free)
#define _cleanup_verdict_ _cleanup_(verdict_freep)

/* {"axes":{...},"decision":"ask","level":"B","reasons":[{"id":"...","text":"..."}]} */
struct jdoc *verdict_to_json(const struct verdict *v);

/* The table alone, without the invariants. EPHEMERAL: no effect outlives the sandbox. */
enum review policy_table_review(enum security_profile p, enum outcome o, enum intention i, enum domain d,
				bool ephemeral);

const char *outcome_name(enum outcome o);
const char *intention_name(enum intention i);
const char *domain_name(enum domain d);
const char *security_profile_name(enum security_profile p);
const char *review_name(enum review r);
const char *policy_decision_name(enum policy_decision d);
/* -EINVAL unless TEXT is one of the names; for configuration and flags. */
int security_profile_parse(const char *text, enum security_profile *ret);
