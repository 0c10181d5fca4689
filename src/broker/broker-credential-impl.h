/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker.h"

/* Between the broker and the process of a credential: one request, with the descriptor that the value is sent to. */
#define BROKER_CREDENTIAL_TO_MAX 512

struct broker_credential_request {
	uint64_t asked_ns; /* CLOCK_BOOTTIME */
	char tool[256];
	char to[BROKER_CREDENTIAL_TO_MAX]; /* a longer one is cut */
	char host[256];			   /* "": not checked */
};

/* The process of credential NAME, until the other end of LINK is closed.  RECORDS: for the session's own chain. */
_Noreturn void broker_credential_serve(const struct broker_job *job, const char *name, int link, int records);
