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
#define BROKER_ASKED_MAX 16		 /* calls of one session without an approval that have a request */

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
	unsigned int bad;
	uint64_t born_ns;
	uint64_t line_ns;  /* when the line began, 0: none; RUNNING and later: when it was complete */
	uint64_t until_ns; /* RUNNING: the tool's time; HOLDING: the reply's; WRITING: the reader's */
	char *in;	   /* BROKER_LINE_MAX + 1 bytes while a line is read; NULL: none */
	size_t in_len;
	struct strbuf out;
	size_t out_at;
	/* The call that runs. */
	const struct broker_tool *tool;
	uint64_t call;
	struct broker_process process;
	char *params; /* for the tool's stdin */
	size_t params_len, params_at;
	struct strbuf output;
	const char *failed; /* code of its failure; NULL: none */
};

struct broker_server {
	const struct broker_job *job;
	struct broker_values values;
	struct broker_peers peers;
	struct ledger *ledger;
	int link;
	uint64_t calls, refused, unrecorded;
	uint64_t accept_ns; /* no connection is accepted until then; 0: now */
	bool over_budget;   /* has been recorded */
	struct digest asked[BROKER_ASKED_MAX];
	size_t n_asked;
	unsigned int bad_level;
	uint64_t bad_ns;
	struct broker_client clients[BROKER_CLIENTS];
};

_Noreturn void broker_serve(const struct broker_job *job, int link);

/* broker-client.c: one connection. */
void broker_client_open(struct broker_server *s, int fd);
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

/* broker-tool.c: dispatch. */
int broker_tool_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		      struct jdoc **ret_data, struct fault *f) _must_check_; /* 1: it runs; 0: done */
void broker_tool_feed(struct broker_client *c);
void broker_tool_drain(struct broker_client *c);
void broker_tool_forget(struct broker_client *c); /* parameters that were not read, and the output */

/* broker-approve.c */
int broker_approve(void *arg, const struct broker_tool *t, const struct jdoc *params,
		   struct fault *f) _must_check_;

/* broker-record.c: the ledger and the session's own chain. */
int broker_record_intent(struct broker_server *s, const struct broker_tool *t, const struct jdoc *params,
			 struct fault *f) _must_check_;
void broker_record_result(struct broker_server *s, const struct broker_tool *t, uint64_t call,
			  const char *status, uint64_t ms);
void broker_record_refusal(struct broker_server *s, const char *tool, const char *code);
void broker_record_end(struct broker_server *s);
