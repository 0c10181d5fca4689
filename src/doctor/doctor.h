/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/json.h"
#include "layer/layer.h"

/*
 * Report of what a host can enforce: a list of checks with stable ids.  HOST-* are features of the machine, LAYER-* the
 * layers that stopped a canary in a real container.  The caller probes; this collects, evaluates and describes.
 */
enum doctor_state {
	DOCTOR_UNKNOWN, /* the check failed */
	DOCTOR_OK,
	DOCTOR_MISSING,
	DOCTOR_LIMITED, /* available, with a restriction that the text names */
	DOCTOR_UNUSED,	/* not configured, or not used by this caller */
	_DOCTOR_STATE_MAX,
};

enum doctor_severity {
	DOCTOR_ERROR, /* a run with this profile is refused, or its confinement is incomplete */
	DOCTOR_WARN,
	DOCTOR_INFO,
	_DOCTOR_SEVERITY_MAX,
};

struct doctor_check {
	char *id, *text;
	char *remedy; /* a line for each way to repair it; NULL: nothing to do */
	enum doctor_state state;
	enum doctor_severity severity;
};

/* One try of the canary. */
struct doctor_try {
	char *what, *by; /* BY: errno or signal that stopped it; NULL when it got through */
	enum layer layer;
	bool stopped;
};

struct doctor_report {
	struct doctor_check *checks;
	size_t n_checks;
	struct doctor_try *tries;
	size_t n_tries;
	enum doctor_state layers[_LAYER_MAX];
	bool broken; /* an allocation failed: doctor_describe refuses */
};

/* Outcome of the canary's run, complete or not. */
struct doctor_run {
	const char *profile;   /* name */
	uint32_t switched_off; /* LAYER_BIT()s that the profile's `dangerous` switches off */
	uint32_t unset;	       /* limits that the profile does not set */
	bool proven;	       /* STATES were filled by a proof */
	bool tried;	       /* the canary completed its list */
	enum layer_state states[_LAYER_MAX];
	const char *why;     /* error that stopped the run, or NULL */
	const char *disk_by; /* mechanism that enforces the disk limit; NULL: unknown */
	bool no_limits;	     /* HOST-CGROUP failed: the canary ran without limits */
};

void doctor_add(struct doctor_report *r, const char *id, enum doctor_state state,
		enum doctor_severity severity, const char *remedy, const char *fmt, ...) _printf_(6, 7);

/* TEXT: the canary's output, one JSON object per line.  False unless it ends with {"done":true}. */
bool doctor_read_tries(struct doctor_report *r, const char *text);
void doctor_add_try(struct doctor_report *r, enum layer l, const char *what, bool stopped, const char *by);

/* LAYER-* checks from the tries and the proof.  Pure. */
void doctor_judge_layers(struct doctor_report *r, const struct doctor_run *run);

bool doctor_has_errors(const struct doctor_report *r);
const struct doctor_check *doctor_find(const struct doctor_report *r, const char *id);
int doctor_describe(const struct doctor_report *r, struct jdoc **ret, struct fault *f) _must_check_;
void doctor_done(struct doctor_report *r);
#define _cleanup_doctor_ _cleanup_(doctor_done)

const char *doctor_state_name(enum doctor_state s);

/* A paragraph about ID for --explain (heap); -ENOENT: unknown, F names the nearest id. */
int doctor_explain(const char *id, char **ret, struct fault *f) _must_check_;
