/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor-canary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "doctor/doctor-decoy.h"
#include "profile/profile-open.h"
#include "run/run.h"
#include "oci/libcrun/libcrun-adapter.h"
#include "layer/layer-proof.h"

#define OUTPUT_MAX ((size_t)1024 * 1024)
#define CANARY_PATH "/run/custody-canary" /* inside */
#define CANARY_TREE "/run/custody-tree"	  /* inside */

static int make_command(const struct profile *p, const struct decoy *b, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **v = NULL;
	uint64_t ns[_INIT_NS_MAX];
	int r;

	r = proof_host_namespaces(ns, f);
	if (r < 0)
		return r;
	r = strv_append(&v, CANARY_PATH);
	if (r == 0)
		r = strv_appendf(&v, "--pid=%d", (int)getpid());
	if (r == 0)
		r = strv_appendf(&v, "--shm=%d", b->shm);
	if (r == 0)
		r = strv_appendf(&v, "--port=%u", b->port);
	if (r == 0)
		r = strv_appendf(&v, "--socket=%s", b->socket);
	if (r == 0)
		r = strv_appendf(&v, "--hostname=%s", b->hostname);
	if (r == 0)
		r = strv_appendf(&v, "--secret=%s", b->secret);
	if (r == 0)
		r = strv_appendf(&v, "--work=%s",
				 p->workspace_target ? p->workspace_target : PROFILE_TARGET_FIXED);
	if (r == 0)
		r = strv_appendf(&v, "--work-mode=%s", profile_workspace_name(p->workspace));
	if (r == 0)
		r = strv_append(&v, "--tree=" CANARY_TREE);
	if (r == 0)
		r = strv_appendf(&v, "--ns=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0,0,0,0,%" PRIu64,
				 ns[INIT_NS_USER], ns[INIT_NS_PID], ns[INIT_NS_MNT], ns[INIT_NS_TIME]);
	if (r < 0)
		return fault_errno(f, -r, "canary");
	*ret = TAKE_PTR(v);
	return 0;
}

/* Not a quota of the kernel: docs/design/run.md. */
static const char *disk_keeper(enum profile_workspace mode)
{
	switch (mode) {
	case PROFILE_WORKSPACE_OVERLAY:
		return "checking the size of the upper four times a second, and by RLIMIT_FSIZE for a single "
		       "file";
	case PROFILE_WORKSPACE_TMPFS:
		return "the size of the tmpfs";
	case PROFILE_WORKSPACE_RO:
	case PROFILE_WORKSPACE_RW:
		break;
	}
	return "RLIMIT_FSIZE, for a single file only";
}

/* A limit that the profile does not set is not one of its layers. */
static uint32_t unset_limits(const struct profile *p)
{
	return (p->limit_memory ? 0 : LAYER_BIT(LAYER_MEMORY_LIMIT)) |
	       (p->limit_pids ? 0 : LAYER_BIT(LAYER_PIDS_LIMIT)) |
	       (p->limit_cpu_percent ? 0 : LAYER_BIT(LAYER_CPU_LIMIT)) |
	       (p->limit_disk ? 0 : LAYER_BIT(LAYER_DISK_LIMIT)) |
	       (p->limit_time_s ? 0 : LAYER_BIT(LAYER_TIME_LIMIT));
}

/* Did a host check already find that limits cannot be enforced, and does P have any of them? */
static bool limits_are_missing(const struct doctor_report *r, const struct profile *p)
{
	const struct doctor_check *c = doctor_find(r, "HOST-CGROUP");

	return c && c->state != DOCTOR_OK && (p->limit_memory || p->limit_pids || p->limit_cpu_percent);
}

/* The canary wrote into its worktree: check whether the file exists in the original. */
static void judge_worktree(struct doctor_report *r, const struct profile *p, const struct decoy *b)
{
	bool arrived = access(b->trace, F_OK) == 0;

	if (p->workspace == PROFILE_WORKSPACE_OVERLAY || p->workspace == PROFILE_WORKSPACE_TMPFS)
		doctor_add_try(r, LAYER_WORKTREE, "write to the original worktree", !arrived,
			       arrived ? NULL : profile_workspace_name(p->workspace));
}

static int read_output(int fd, char **ret, struct fault *f)
{
	size_t len;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "canary");
	return fd_read_all(fd, OUTPUT_MAX, ret, &len, f);
}

static int start(const struct dirs *d, const struct profile *p, const struct decoy *b, bool without_limits,
		 struct doctor_report *r, struct doctor_run *run, char **ret_why, struct fault *f)
{
	_cleanup_strv_ char **command = NULL, **volumes = NULL;
	_cleanup_run_ struct run *session = NULL;
	_cleanup_run_result_ struct run_result res = { 0 };
	_cleanup_fault_ struct fault refusal = { 0 };
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	_cleanup_free_ char *text = NULL;
	struct run_options o;
	int e;

	e = make_command(p, b, &command, f);
	if (e < 0)
		return e;
	if (strv_appendf(&volumes, "%s/custody-canary:" CANARY_PATH, d->libexec) < 0 ||
	    strv_appendf(&volumes, "%s:" CANARY_TREE, b->tree) < 0)
		return fault_errno(f, ENOMEM, "canary");
	in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	out = memfd_create("canary", MFD_CLOEXEC);
	if (in < 0 || out < 0)
		return fault_errno(f, errno, "canary");
	run_options_init(&o);
	o.lane = lane_name(LANE_SANDBOX); /* not the default lane: doctor must not need the keys of prod */
	o.profile = p->path ? p->path : p->name;
	o.argv = command;
	o.canary = true;
	o.volumes = volumes;
	o.stdio[0] = in;
	o.stdio[1] = o.stdio[2] = out;
	/* Limits cannot be enforced: test the other layers without them. */
	o.set_memory = o.set_pids = o.set_cpu = without_limits;
	if (run_session(&o, &res, &session, &refusal) < 0) {
		*ret_why = strdup(fault_text(&refusal));
		return 0;
	}
	run->proven = res.proven;
	memcpy(run->states, res.layers, sizeof(run->states));
	for (unsigned int l = 0; without_limits && l < _LAYER_MAX; l++)
		if (run->states[l] == LAYER_STATE_NOT_ASKED && (p->optional & LAYER_BIT(l)))
			run->states[l] = LAYER_STATE_OPTIONAL_MISSING;
	if (res.detail)
		*ret_why = strdup(res.detail);
	e = read_output(out, &text, f);
	if (e < 0)
		return e;
	run->tried = res.exit.code == 0 && doctor_read_tries(r, text);
	if (run->tried)
		judge_worktree(r, p, b);
	else if (!*ret_why && text[0])
		*ret_why = str_escape(text);
	return 0;
}

int doctor_run_canary(const struct dirs *d, const char *profile, struct doctor_report *r, struct fault *f)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_decoy_ struct decoy b = DECOY_NONE;
	_cleanup_free_ char *why = NULL;
	struct doctor_run run = { 0 };
	int e;

	e = profile_open(d, profile, "doctor", NULL, &p, f);
	if (e < 0)
		return e;
	run.profile = p->name;
	run.unset = unset_limits(p);
	run.disk_by = disk_keeper(p->workspace);
	run.switched_off = ~p->layers & (LAYER_BIT(_LAYER_MAX) - 1);
	/* Without a user namespace a run executes a copy of this program: do that before the decoys exist. */
	if (run.switched_off & LAYER_BIT(LAYER_USER_NS)) {
		e = adapter_ops.guard(f);
		if (e < 0)
			return e;
	}
	e = doctor_decoy_setup(&b, f);
	if (e < 0)
		return e;
	e = start(d, p, &b, false, r, &run, &why, f);
	if (e == 0 && !run.proven && limits_are_missing(r, p)) {
		free(TAKE_PTR(why));
		run.no_limits = true;
		e = start(d, p, &b, true, r, &run, &why, f);
	}
	if (e < 0)
		return e;
	run.why = why;
	doctor_judge_layers(r, &run);
	return 0;
}
