/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <poll.h>

#include "broker/broker-peer.h"
#include "broker/broker-process.h"
#include "broker/broker-request.h"
#include "broker/broker.h"
#include "ledger/ledger.h"

/* Private to the process of the broker. */
#define BROKER_CLIENTS 32
#define BROKER_REQUEST_MS \
	UINT64_C(10000) /* from the first byte of a line to its LF; for the reader of a reply, too */
#define BROKER_READY_MS 20000
#define BROKER_END_MS 5000	   /* that the supervisor waits for the last records */
#define BROKER_BAD_MS UINT64_C(50) /* the first back-off after a bad token, doubled up to: */
#define BROKER_BAD_LEVELS 6
#define BROKER_BAD_MAX 8		 /* bad tokens of one connection */
#define BROKER_REFUSALS_RECORDED 256	 /* of one session; the others are counted */
#define BROKER_REFUSED_MS UINT64_C(1000) /* the reply of a refusal beyond them is held back */
#define BROKER_LISTS_MAX 256   /* lists of tools of one session; further replies are held back as well */
#define BROKER_PENDING_MAX 128 /* records that are written together */
#define BROKER_REPLIES_MAX ((size_t)16384) /* bytes of replies that are sent together */
#define BROKER_ASKED_MAX 16		   /* calls of one session without an approval that have a request */

enum { BROKER_POLL_SOCKET, BROKER_POLL_END, BROKER_POLL_IN, BROKER_POLL_OUT, BROKER_POLLS };

enum broker_client_state {
	BROKER_FREE,
	BROKER_READING,
	BROKER_RUNNING, /* a tool */
	BROKER_HOLDING, /* a reply, until its time */
	BROKER_WRITING,
};

struct broker_client {
	enum broker_client_state state;
	int fd;
	bool peer, known; /* KNOWN: it has shown the token */
	bool last;	  /* closed after this reply */
	bool at_end;	  /* it sends no more */
	bool unwritten;	  /* records of calls that its reply tells of are pending */
	unsigned int bad;
	uint64_t born_ns;
	uint64_t line_ns;     /* when the line began, 0: none; RUNNING and later: when it was complete */
	uint64_t until_ns;    /* RUNNING: the tool's time; HOLDING: the reply's; WRITING: the reader's */
	char *in;	      /* BROKER_LINE_MAX + 1 bytes while a line is read; NULL: none */
	size_t in_at, in_len; /* the next line begins at IN_AT */
	struct strbuf out;
	size_t out_at;
	/* The call that runs. */
	const struct broker_tool *tool;
	uint64_t call;
	struct broker_process process;
	char *params; /* for the tool's stdin */
	size_t params_len, params_at;
	struct strbuf output;
	uint64_t output_max;
	const char *failed; /* code of its failure; NULL: none */
	bool preparing;	    /* RUNNING: before the decision about it, and without a record */
};

struct broker_pending {
	const char *kind, *status;
	struct jdoc *d;
};

struct broker_credential_process {
	const char *name;
	pid_t pid;
	int link;
};

struct broker_server {
	const struct broker_job *job;
	struct broker_values values;
	struct broker_peers peers;
	struct ledger *ledger;
	int link;
	uint64_t calls, refused, unrecorded, lists;
	uint64_t accept_ns;	     /* no connection is accepted until then; 0: now */
	bool over_budget, inspected; /* a refusal for that reason has been recorded */
	struct jdoc *found;	     /* by inspection: for the next record; NULL: nothing */
	struct broker_pending pending[BROKER_PENDING_MAX];
	struct broker_pending written[BROKER_PENDING_MAX]; /* in the ledger, not yet in the session's chain */
	size_t n_pending, n_written;
	struct digest asked[BROKER_ASKED_MAX];
	size_t n_asked;
	unsigned int bad_level;
	uint64_t bad_ns;
	struct broker_credential_process credentials[BROKER_CREDENTIALS_SESSION_MAX];
	size_t n_credentials;
	struct broker_client clients[BROKER_CLIENTS];
};

_Noreturn void broker_serve(const struct broker_job *job, int link);

/* broker-client.c: one connection. */
void broker_client_open(struct broker_server *s, int fd); /* and reads the first bytes */
void broker_client_close(struct broker_client *c);
void broker_client_poll(const struct broker_client *c, struct pollfd p[BROKER_POLLS]);
void broker_client_step(struct broker_server *s, struct broker_client *c,
			const struct pollfd p[BROKER_POLLS]);
uint64_t broker_client_due(const struct broker_client *c); /* ns; 0: none */
void broker_client_on_time(struct broker_server *s, struct broker_client *c);
/* The reply is in C->out: sent no earlier than the floor and BACKOFF_MS after the request. */
void broker_client_reply(const struct broker_server *s, struct broker_client *c, uint64_t backoff_ms);

/* broker-call.c: one request. */
void broker_call(struct broker_server *s, struct broker_client *c, char *line, size_t len); /* clears LINE */
void broker_refuse_peer(struct broker_server *s, struct broker_client *c, const char *code, const char *text);
/* The end of the tool of C: the reply, and the record. */
void broker_call_end(struct broker_server *s, struct broker_client *c);

/* What a call executes: for declared and built-in tools. */
struct broker_execution {
	const char *path;
	char *const *argv, *const *env;
	uint64_t timeout_s, output_max;
	/* For the tool's credentials. */
	const char *to;	  /* where their values go, for the record: "api.example.org:443" */
	const char *host; /* each of them must be for it; NULL: the operator bound them to the tool by name */
};

/* broker-tool.c: dispatch. */
/* Starts X for the call of C, with PARAMS as a line of its stdin and with the credentials of C's tool.  1; negative: failed. */
int broker_tool_execute(struct broker_server *s, struct broker_client *c, const struct broker_execution *x,
			const struct jdoc *params, struct fault *f) _must_check_;
/* The program has ended.  Code of a failure that the process between reports; NULL: none, and C->output is the output. */
const char *broker_tool_take_verdict(struct broker_client *c);
int broker_tool_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		      struct jdoc **ret_data, struct fault *f) _must_check_; /* 1: it runs; 0: done */
void broker_tool_feed(struct broker_client *c);
void broker_tool_drain(struct broker_client *c);
void broker_tool_forget(struct broker_client *c); /* parameters that were not read, and the output */

/* broker-credential.c: the process of each credential that the session's tools have. */
int broker_credentials_start(struct broker_server *s, struct fault *f) _must_check_;
void broker_credentials_end(struct broker_server *s);
/* For the call of C.  The values are recorded and sent, or refused and recorded, by other processes. */
int broker_credentials_ask(struct broker_server *s, const struct broker_client *c,
			   const struct broker_execution *x, struct broker_credential_fds *ret,
			   struct fault *f) _must_check_;

/* broker-rest.c: executes custody-rest; the sentence that it ended with, heap, NULL: none. */
int broker_rest_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		      struct fault *f) _must_check_;
char *broker_rest_failure(const struct strbuf *output);

/* broker-git.c: tools that are functions of custody, in a process of their own. */
#define BROKER_GIT_MS UINT64_C(300000)
#define BROKER_GIT_OUTPUT_MAX ((uint64_t)4 << 20)
int broker_git_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		     struct fault *f) _must_check_;
/* The first step of a call that can be decided only when it is known what it would send. */
int broker_git_prepare(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		       struct fault *f) _must_check_;
void broker_git_drop(const struct broker_server *s); /* what it made, if it is not to be sent */
/* Of the process that has ended: its data, or -EREMOTEIO and the reason. */
int broker_git_read(const struct broker_client *c, struct jdoc **ret_data, struct jdoc **ret_found,
		    struct fault *f)
	_must_check_; /* RET_FOUND: what inspection found, for the record; or NULL */

/* broker-approve.c */
int broker_approve(void *arg, const struct broker_tool *t, const struct jdoc *params,
		   struct fault *f) _must_check_;

/* broker-pending.c: takes D.  A record of another class than LEDGER_OBSERVED is written at once. */
int broker_pending_add(struct broker_server *s, const char *kind, const char *status, struct jdoc *d,
		       enum ledger_class class, struct fault *f) _must_check_;
/* Before a reply is sent.  Negative: replies that tell of pending calls were replaced by a refusal. */
int broker_pending_write(struct broker_server *s, enum ledger_class class, struct fault *f) _must_check_;
/* For the session's own chain; behind the replies, which need not wait for the supervisor. */
void broker_pending_send(struct broker_server *s);

/* broker-record.c: the ledger and the session's own chain. */
int broker_record_intent(struct broker_server *s, const struct broker_tool *t, uint64_t call,
			 const struct jdoc *params, struct fault *f) _must_check_;
void broker_record_result(struct broker_server *s, const struct broker_tool *t, uint64_t call,
			  const char *status, uint64_t ms);
void broker_record_refusal(struct broker_server *s, const char *tool, const char *code);
void broker_record_end(struct broker_server *s);
/* For the session's own chain; takes D. */
void broker_record_send(int link, const char *kind, const char *status, struct jdoc *d);
