/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-tools.h"
#include "config/config.h"
#include "container/container-tree.h"
#include "container/warden-start.h"
#include "decision/decision.h"
#include "oci/engine/engine-broker-files.h"
#include "oci/engine/engine-gate.h"
#include "oci/engine/engine.h"
#include "profile/profile.h"
#include "session/session.h"
#include "state/digest-key.h"

/* Private to the files of the gate. */
struct engine_gate {
	const struct engine_call *call; /* borrowed until engine_gate_open returns */
	char *container, *bundle;	/* copies of the call's */
	unsigned int preserved;
	struct dirs dirs;
	struct config *config;
	struct profile *profile;
	struct broker_tools tools; /* of PROFILE */
	struct engine_broker_files broker;
	struct digest_key key;
	struct engine_container engine;
	char *document; /* of ENGINE, canonical */
	struct digest digest;
	struct decision decision;
	struct session session;
	struct warden_start warden;
	bool handed_over; /* session, claim and every further record are the warden's */
	char id[SESSION_ID_SIZE];
};

/* The profile that applies. */
int engine_gate_load_profile(struct engine_gate *g, struct fault *f) _must_check_;

/* engine-gate-broker.c: nothing, if the profile has no broker. */
int engine_gate_resolve_tools(struct engine_gate *g, struct fault *f) _must_check_;
int engine_gate_locate_tools(struct engine_gate *g, struct fault *f) _must_check_; /* after the merge */
int engine_gate_make_broker(struct engine_gate *g, struct fault *f) _must_check_;  /* socket and token */
struct jdoc *
engine_gate_describe_broker(const struct engine_gate *g); /* for container_info.broker; NULL: none */
