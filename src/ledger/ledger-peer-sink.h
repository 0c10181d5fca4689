/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger-peer.h"

/*
 * Operations of one type of peer: open, send one item, confirm its delivery. All of them fail at DEADLINE_NS
 * (CLOCK_BOOTTIME) with -ETIMEDOUT.
 */
struct sink_ops {
	int (*open)(const char *path, struct fault *f);
	int (*send)(int fd, const char *bytes, size_t len, uint64_t deadline_ns, struct fault *f);
	int (*confirm)(int fd, uint64_t deadline_ns, struct fault *f);
	const char *name;
};

const struct sink_ops *sink_of(enum peer_type type);
enum peer_type sink_type(const char *name); /* PEER_NONE: unknown name */
