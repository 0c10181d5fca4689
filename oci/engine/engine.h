/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "ledger/ledger-redact.h"
#include "oci/engine/engine-broker.h"
#include "oci/engine/engine-pin.h"
#include "policy/policy.h"
#include "profile/profile.h"
#include "state/digest-key.h"
#include "state/lane.h"

struct own_dirs;

/*
 * A container that an engine starts: its config.json merged with a profile, the subject that is judged and approved, and the
 * facts for policy.  Nothing here starts or writes anything.  docs/design/engine.md.
 *
 * The engine's text is never loosened and its file never written: libcrun gets MERGED, and ENGINE is kept to show the difference.
 */
struct engine_input {
	const char *text; /* config.json as the engine wrote it, already checked by runtime_config_require */
	size_t len;
	const char *id;	    /* of the container */
	const char *bundle; /* absolute */
	const char *rootfs; /* root.path, absolute */
	enum lane lane;
	const struct profile *
		profile; /* loaded with vars.workspace, so that its worktree is not judged: a container has none */
	const char *home;     /* of the caller, on the host: writing there needs "rw-home"; NULL: not known */
	struct own_dirs *own; /* custody's directories: never writable, never visible; NULL: not compared */
	const struct redact *redact; /* what else is a secret in a command; NULL: the built-in lists */
	unsigned int
		preserved; /* descriptors of the caller that the container gets: --preserve-fds, LISTEN_FDS */
	bool no_cgroup;	   /* --cgroup-manager disabled: neither limits nor rules for devices */
	const struct jdoc *broker; /* what it offers, for the subject; NULL: none.  Only with ISOLATE */
	const char *broker_source; /* directory on which libcrun's mount namespace has the broker's tmpfs */
	bool isolate; /* sandbox.enabled: the profile tightens the configuration; else only annotations and fields are judged */
};

#define ENGINE_WAIT_MAX_S 3600u /* engines give up earlier */

struct engine_container {
	struct jdoc *engine; /* config.json of the engine */
	struct jdoc *merged; /* as libcrun gets it */
	char *text;	     /* of MERGED */
	size_t len;
	struct jdoc *document; /* the subject, without values of the environment; hashed in canonical form */
	char **argv;	       /* borrowed words of MERGED, NULL-terminated array on the heap */
	char *worktree;	       /* inside: annotation custody.worktree, else process.cwd */
	char *image; /* for records and people; NULL: not identified, so at least level B and a single use */
	bool worktree_made; /* it lies on a volume without a name, which the engine makes and removes with the container */
	bool changed; /* the container's own layer has more than an engine puts there: not only the image runs */
	struct engine_broker broker;
	struct engine_pins pins; /* files by which it is judged */
	uint32_t layers;	 /* LAYER_BIT()s that the warden proves */
	bool pause;		 /* the pod's own container: confined and recorded, never asked */
	char *grant;		 /* annotation custody.grant; NULL: none */
	uint64_t wait_s;	 /* annotation custody.wait, at most ENGINE_WAIT_MAX_S; 0: not */
	struct jdoc *
		changes; /* of the merge, for people: as subject_diff writes them, filter and lists in short */
	struct jdoc *probes;	  /* commands that exec runs without a question: list of argv; NULL: none */
	struct jdoc *healthcheck; /* argv of docker's, in the subject; NULL: none */
	struct policy_facts
		facts; /* without provenance, security profile and rules; borrows from this struct */

	/* Owned, for FACTS. */
	char **env;
	char *rootfs; /* the caller's may be gone when FACTS are read */
	struct policy_mount *rw;
};

/* Refused by the name of the member: -EPERM if the merge refuses it, -EINVAL if the text cannot be read. */
int engine_read(const struct engine_input *in, const struct digest_key *key, struct engine_container *ret,
		struct fault *f) _must_check_;
void engine_container_done(struct engine_container *c);
#define _cleanup_engine_container_ _cleanup_(engine_container_done)

/* Where the name of the profile comes from, in this order; each NULL if it is not given. */
struct engine_profile_choice {
	const char *annotation; /* custody.profile of config.json */
	const char *option;	/* custody-runtime --profile NAME */
	const char *alias;	/* custody-runtime@NAME as argv[0] */
	const char *configured; /* sandbox.profile of custody.json, default "container" */
};
/* The name that applies.  An annotation may only choose a profile that is as tight as the one that applies without it. */
const char *engine_profile_name(const struct engine_profile_choice *c);
/* The same without the annotation. */
const char *engine_profile_base(const struct engine_profile_choice *c);
#define ENGINE_PROFILE_DEFAULT "container"
/* CHOSEN by an annotation, BASE without it: -EPERM with the first key in which CHOSEN is looser. */
int engine_profile_require(const struct profile *base, const struct profile *chosen,
			   struct fault *f) _must_check_;
