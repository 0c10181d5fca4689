/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-prove.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/layer-proof.h"
#include "warden/container-compare.h"

#define PAUSE_FIRST_MS 1
#define PAUSE_MAX_MS 100

int container_procfd_open(int pidfd, pid_t pid, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Alive after the directory was opened: so it is that process's. */
	if (fd < 0 || syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		return fault_set(f, ESRCH, "the first process of the container exited");
	return TAKE_FD(fd);
}

uint32_t container_prove_layers(void)
{
	return container_provable();
}

void container_proven_done(struct container_proven *p)
{
	strv_free(p->words);
	*p = CONTAINER_PROVEN_NONE;
}

static bool has_exited(const struct container_proof *p, const struct container_facts *x)
{
	struct pollfd pfd = { .fd = p->pidfd, .events = POLLIN };
	int r;

	do
		r = poll(&pfd, 1, 0);
	while (r < 0 && errno == EINTR);
	return r != 0 || x->status.ended || x->status.err == ESRCH || x->status.err == ENOENT;
}

static int exited(struct fault *f)
{
	return fault_set(f, ESRCH, "the first process of the container exited before its layers were read");
}

static int add_word(struct container_proven *n, enum layer l, const char *why)
{
	const char *name = layer_info(l)->name;

	if (n->states[l] == LAYER_STATE_REFUSED)
		return strv_appendf(&n->words, "%s=missing: %s", name, why);
	return strv_appendf(&n->words, "%s=%s", name, layer_state_name(n->states[l]));
}

static void put_missing(struct strbuf *b, enum layer l, const char *why)
{
	char id[PROOF_ID_SIZE];

	proof_doctor_id(l, id);
	strbuf_printf(b, "%slayer '%s' is missing: %s (needs %s; custody doctor --explain %s)",
		      b->len > 0 ? "\n" : "", layer_info(l)->name, why, layer_info(l)->needs, id);
}

/* One layer in STATES, WORDS and, if it is missing, MISSING. */
static int decide(const struct container_proof *p, const struct container_compare *c, enum layer l,
		  struct container_proven *n, struct strbuf *missing)
{
	const uint32_t bit = LAYER_BIT(l);
	struct container_layer r = { .holds = true };

	if (!(p->own & bit))
		r = container_compare_layer(c, l);
	/* A filter that is installed before the start is proven then; else it holds later. */
	if (!r.holds && p->phase == CONTAINER_BEFORE_START && (container_provable_after() & bit)) {
		n->waiting |= bit;
		return 0;
	}
	if (r.holds)
		n->states[l] = p->phase == CONTAINER_AFTER_START ? LAYER_STATE_PROVEN_AFTER_START
								 : LAYER_STATE_PROVEN;
	else
		n->states[l] = p->optional & bit ? LAYER_STATE_OPTIONAL_MISSING : LAYER_STATE_REFUSED;
	if (n->states[l] == LAYER_STATE_REFUSED)
		put_missing(missing, l, r.why);
	return add_word(n, l, r.why);
}

static int decide_all(const struct container_proof *p, const struct container_compare *c, uint32_t layers,
		      struct container_proven *n, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf missing = { 0 };

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		if ((layers & LAYER_BIT(l)) && decide(p, c, (enum layer)l, n, &missing) < 0)
			return fault_errno(f, ENOMEM, "layers");
	if (missing.broken)
		return fault_errno(f, ENOMEM, "layers");
	return missing.len > 0 ? fault_set(f, EPERM, "%s", missing.text) : 0;
}

static void forget(struct container_proven *n)
{
	container_proven_done(n);
	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		n->states[l] = LAYER_STATE_NOT_ASKED;
}

static int prove_before(const struct container_proof *p, struct container_proven *n, struct fault *f)
{
	_cleanup_container_facts_ struct container_facts x = { 0 };
	struct container_outside outside;
	struct container_asked asked;
	const struct container_compare c = { .asked = &asked, .facts = &x, .outside = &outside };
	int r;

	forget(n);
	r = container_asked_read(p->config, &asked, f);
	if (r == 0)
		r = container_outside_read(&outside, f);
	if (r < 0)
		return r;
	asked.worktree = p->worktree;
	asked.preserved = p->preserved;
	r = container_facts_read(p->procfd, &asked, &x, f);
	/* Again: a part that could not be read may be that of a process that was exiting. */
	if (r == 0)
		r = container_facts_read_start(p->procfd, &x, f);
	if (r < 0)
		return r;
	if (has_exited(p, &x))
		return exited(f);
	n->exe_seen = x.exe_seen;
	n->exe_dev = x.exe_dev;
	n->exe_ino = x.exe_ino;
	(void)snprintf(n->name, sizeof(n->name), "%s", x.status.name);
	return decide_all(p, &c, p->layers, n, f);
}

/*
 * The link exe of another user's process that is not dumpable cannot be read: then its name tells, which only the runtime could
 * have set.
 */
static bool has_executed(const struct container_proven *n, const struct container_facts *x)
{
	if (n->exe_seen && x->exe_seen)
		return x->exe_dev != n->exe_dev || x->exe_ino != n->exe_ino;
	return x->exe_seen || strcmp(x->status.name, n->name) != 0;
}

/* NoNewPrivs again: the runtime could have set it after the filter. */
static int prove_after(const struct container_proof *p, struct container_proven *n, struct fault *f)
{
	_cleanup_container_facts_ struct container_facts x = { 0 };
	const struct container_compare c = { .facts = &x };
	uint32_t layers = n->waiting;
	int r = container_facts_read_start(p->procfd, &x, f);

	if (r < 0)
		return r;
	if (has_exited(p, &x))
		return exited(f);
	if (!has_executed(n, &x))
		return fault_set(f, EAGAIN, "the container has not executed its program yet");
	if ((p->layers & LAYER_BIT(LAYER_NO_NEW_PRIVS)) && !x.status.err && x.status.no_new_privs != 1)
		return fault_set(f, EPERM,
				 "layer 'no-new-privs' is missing: NoNewPrivs is 0 after the start");
	r = decide_all(p, &c, layers, n, f);
	n->waiting = 0;
	return r;
}

int container_prove(const struct container_proof *p, struct container_proven *ret, struct fault *f)
{
	return p->phase == CONTAINER_BEFORE_START ? prove_before(p, ret, f) : prove_after(p, ret, f);
}

int container_prove_pause_ms(unsigned int tries)
{
	int ms = PAUSE_FIRST_MS;

	while (tries-- > 0 && ms < PAUSE_MAX_MS)
		ms *= 2;
	return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

int container_prove_wait(const struct container_proof *p, struct container_proven *ret, struct fault *f)
{
	for (unsigned int tries = 0;; tries++) {
		struct pollfd pfd = { .fd = p->pidfd, .events = POLLIN };
		struct fault why = { 0 };
		int r = container_prove(p, ret, &why);

		if (r != -EAGAIN) {
			if (r < 0 && f)
				*f = why;
			else
				fault_done(&why);
			return r;
		}
		fault_done(&why);
		if (poll(&pfd, 1, container_prove_pause_ms(tries)) < 0 && errno != EINTR)
			return fault_errno(f, errno, "wait for the start of the container");
	}
}
