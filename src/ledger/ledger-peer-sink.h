/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ledger/ledger-peer.h"

/*
 * Operations of one type of peer: open, send one item, confirm its delivery. All of them fail at DEADLINE_NS
 * (CLOCK_BOOTTIME) with -ETIMEDOUT.
 */
struct sink_ops {
	int (*open)(const struct peer *p, struct fault *f);
	int (*send)(int fd, const char *bytes, size_t len, uint64_t deadline_ns, struct fault *f);
	int (*confirm)(int fd, uint64_t deadline_ns, struct fault *f);
	const char *name;
	/* One record as the peer wants it; NULL: bytes as in the files. */
	void (*frame)(const struct peer *p, const struct record *r, struct strbuf *out);
};

/* ledger-peer-syslog.c: "192.0.2.1:601", "[2001:db8::1]:601"; no names, which need a resolver. */
int syslog_address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len) _must_check_;
int syslog_open(const struct peer *p, struct fault *f) _must_check_;
void syslog_frame(const struct peer *p, const struct record *r, struct strbuf *out);

/* ledger-peer-remote.c */
int remote_open(const struct peer *p, struct fault *f) _must_check_;
int remote_confirm(int fd, uint64_t deadline_ns, struct fault *f) _must_check_;
void remote_frame(const struct peer *p, const struct record *r, struct strbuf *out);

int sink_send_socket(int fd, const char *bytes, size_t len, uint64_t deadline_ns,
		     struct fault *f) _must_check_;
const struct sink_ops *sink_of(enum peer_type type);
enum peer_type sink_type(const char *name); /* PEER_NONE: unknown name */
