/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>

#include "base/clock.h"
#include "warden/creator.h"
#include "warden/disk-watch.h"
#include "warden/full-watch.h"
#include "layer/layer-proof.h"
#include "warden/stdio-relay.h"
#include "tty/interrupt-keys.h"
#include "tty/terminal.h"
#include "warden/warden-join.h"
#include "warden/warden.h"

/* Private to warden*.c: one run under supervision. */
enum warden_phase {
	WARDEN_CREATING, /* until init reports */
	WARDEN_RELEASED, /* GO was sent */
	WARDEN_RUNNING,	 /* the payload was executed */
	WARDEN_OVER,
};

#define WARDEN_EXECS 16

/* One client of the session's exec socket. */
struct warden_client {
	int fd; /* -EBADF: free */
	bool began;
	char id[SESSION_ID_SIZE];
};

struct warden {
	const struct warden_job *job;
	const struct warden_join
		*join;	  /* a further command in another supervisor's session; NULL: an own run */
	int join_signal;  /* for the command, once it is executed; 0: none */
	bool join_over;	  /* that session is over, or its supervisor is */
	bool join_ended;  /* the child inside was told to kill the command */
	bool join_killed; /* the command ended in one of these ways */
	struct run_result *ret;
	enum warden_phase phase;
	struct creator creator;
	bool created;  /* the creator has exited */
	bool released; /* GO was sent: from here on the payload may have been executed */
	pid_t init;
	int init_pidfd; /* -EBADF before it was created and after it was reaped */
	int init_fd;
	int signal_fd;
	sigset_t old_mask;
	struct sigaction old_pipe;
	bool masked;
	bool skip_output; /* signalled while the last output waits for its reader */
	struct stdio io;
	struct terminal tty;
	struct interrupt_keys keys; /* typed at the payload's terminal */
	unsigned int keys_seen;
	struct disk_watch disk;
	struct full_watch full;
	struct warden_client clients[WARDEN_EXECS];
	uint64_t init_ns[_INIT_NS_MAX]; /* as init reported */
	int filter_log;			/* -EBADF: the filter kills no process, or the log cannot be read */
	/* Boot clock, ns; 0: not armed. */
	uint64_t setup_at, time_at, kill_at, disk_at, tick_at, keys_at, quiet_at;
	uint64_t start_ns;
	uint64_t host_ns[_INIT_NS_MAX];
	uint32_t limits; /* LAYER_BIT()s of limits that were read back */
	struct exit_facts facts;
	bool side_over[WARDEN_SIDES]; /* the job's side is gone */
	bool networked;
	bool listens;	    /* the filter of the job is installed */
	struct fault fault; /* why the set-up failed */
};

/* warden.c */
static inline void warden_arm(uint64_t *at, uint64_t ms)
{
	*at = clock_boot_ns() + ms * UINT64_C(1000000);
}
void warden_tick(struct warden *w); /* the job's periodic work */
void warden_on_time(struct warden *w);
int warden_next_timeout(const struct warden *w); /* ms, as poll() takes it */
void warden_drain(struct warden *w);		 /* the payload's last output */
void warden_done(struct warden *w);
void warden_released(struct warden *w);	  /* the payload was executed: clocks start */
void warden_expect_end(struct warden *w); /* the payload exited: init must follow soon */

/* warden-stop.c: stopping a run from outside. */
void warden_kill(struct warden *w);  /* every process of the container, now */
void warden_abort(struct warden *w); /* the same before the release: init executes nothing */
void warden_terminate(struct warden *w, int sig, uint64_t grace_s); /* SIG, then KILL after GRACE_S */
void warden_on_signal(struct warden *w);			    /* reads the signals of this process */

/* warden-terminal.c: the caller's terminal, which other programs may use at the same time. */
void warden_follow_terminal(struct warden *w); /* raw mode or not, and whether keys are read now */
void warden_on_terminal(struct warden *w, struct pollfd *polled); /* before the pumps use POLLED */
void warden_on_keys(struct warden *w); /* ends a command that ignores INTERRUPT_KEYS_END typed interrupts */

/* warden-signals.c: they are read from a descriptor while the run lasts. */
int warden_block_signals(struct warden *w, struct fault *f) _must_check_;
void warden_unblock_signals(struct warden *w);

/* warden-init.c: one message of init, or the end of its socket. */
void warden_read_init(struct warden *w);
int warden_send_filter(const struct warden *w,
		       struct fault *f) _must_check_; /* before init exists: it reads it first */
void warden_prove_limits(struct warden *w); /* reads back the limits of cgroup and rlimits of init's pid */

/* warden-exec.c: further commands.  N descriptors are polled: the socket and its clients. */
#define WARDEN_EXEC_POLLS (1 + WARDEN_EXECS)
void warden_exec_init(struct warden *w);
void warden_exec_poll(const struct warden *w, struct pollfd *polled);
void warden_exec_step(struct warden *w, const struct pollfd *polled);
void warden_exec_over(struct warden *w); /* the container has ended: clients are told */

/* warden-join.c */
int warden_join_prove(const struct warden *w, const struct init_msg *report, struct fault *f) _must_check_;
void warden_join_kill(struct warden *w);

/* warden-side.c */
void warden_side_poll(const struct warden *w, struct pollfd polled[WARDEN_SIDES]);
void warden_side_step(struct warden *w, const struct pollfd polled[WARDEN_SIDES]);
void warden_side_drain(struct warden *w); /* the container has ended: messages that are queued */

/* warden-end.c: events for --status-fd, the result. */
void warden_send_created(const struct warden *w);
void warden_send_started(const struct warden *w);
int warden_conclude(struct warden *w, struct fault *f) _must_check_;
