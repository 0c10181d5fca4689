/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-limit.h"

#include <stddef.h>
#include <string.h>

#define END                                                                        \
	{                                                                          \
		NULL, ENGINE_LIMIT_SAME, ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, NULL, \
		{                                                                  \
			NULL                                                       \
		}                                                                  \
	}
#define INF ENGINE_LIMIT_NONE

/*
 * Every member of linux.resources (a test compares it with oci/runtime/runtime-schema.c).  What is missing:
 *
 *	memory.reservation	v1: no soft limit; v2: memory.low is 0, and more of it takes memory from others
 *	cpu.shares		1024; on v2 100 of 10000, which newer libcruns convert to the same
 *	blockIO.weight		100 of bfq; on v2 19, which is 100 of 10000 in io.weight
 */
/* clang-format off */
static const struct engine_limit memory[] = {
	{ "limit",             ENGINE_LIMIT_MORE, ENGINE_ZERO_UNSET,  { INF, INF }, "--memory", NULL, { NULL } },
	{ "swap",              ENGINE_LIMIT_SWAP, ENGINE_ZERO_UNASKED, { INF, INF }, "--memory-swap", NULL, { NULL } },
	{ "reservation",       ENGINE_LIMIT_MORE, ENGINE_ZERO_UNASKED, { INF, 0 },   "--memory-reservation", NULL, { NULL } },
	{ "kernel",            ENGINE_LIMIT_MORE, ENGINE_ZERO_UNASKED, { INF, INF }, "--kernel-memory", NULL, { NULL } },
	{ "kernelTCP",         ENGINE_LIMIT_MORE, ENGINE_ZERO_UNASKED, { INF, INF }, NULL, NULL, { NULL } },
	{ "disableOOMKiller",  ENGINE_LIMIT_TRUE, ENGINE_ZERO_NUMBER, { 0, 0 },     "--oom-kill-disable", NULL, { NULL } },
	{ "swappiness",        ENGINE_LIMIT_SAME, ENGINE_ZERO_NUMBER, { 0, 0 },     "--memory-swappiness", NULL, { NULL } },
	{ "useHierarchy",      ENGINE_LIMIT_SAME, ENGINE_ZERO_NUMBER, { 0, 0 },     NULL, NULL, { NULL } },
	{ "checkBeforeUpdate", ENGINE_LIMIT_FREE, ENGINE_ZERO_NUMBER, { 0, 0 },     NULL, NULL, { NULL } },
	END,
};

static const struct engine_limit cpu[] = {
	{ "shares",          ENGINE_LIMIT_MORE,   ENGINE_ZERO_UNSET,  { 1024, 1024 },     "--cpu-shares", NULL, { NULL } },
	{ "quota",           ENGINE_LIMIT_QUOTA,  ENGINE_ZERO_UNSET,  { INF, INF },       "--cpu-quota", NULL, { NULL } },
	{ "period",          ENGINE_LIMIT_PERIOD, ENGINE_ZERO_UNSET,  { 100000, 100000 }, "--cpu-period", NULL, { NULL } },
	{ "realtimeRuntime", ENGINE_LIMIT_MORE,   ENGINE_ZERO_UNSET,  { 0, 0 },           "--cpu-rt-runtime", NULL, { NULL } },
	{ "realtimePeriod",  ENGINE_LIMIT_SAME,   ENGINE_ZERO_UNSET,  { 0, 0 },           "--cpu-rt-period", NULL, { NULL } },
	{ "cpus",            ENGINE_LIMIT_SET,    ENGINE_ZERO_UNSET,  { 0, 0 },           "--cpuset-cpus", NULL, { NULL } },
	{ "mems",            ENGINE_LIMIT_SET,    ENGINE_ZERO_UNSET,  { 0, 0 },           "--cpuset-mems", NULL, { NULL } },
	{ "idle",            ENGINE_LIMIT_RAISE,  ENGINE_ZERO_NUMBER, { 0, 0 },           NULL, NULL, { NULL } },
	{ "burst",           ENGINE_LIMIT_MORE,   ENGINE_ZERO_NUMBER, { 0, 0 },           NULL, NULL, { NULL } },
	END,
};

static const struct engine_limit pids[] = {
	{ "limit", ENGINE_LIMIT_MORE, ENGINE_ZERO_UNSET, { INF, INF }, "--pids-limit", NULL, { NULL } },
	END,
};

/* MISSING is the weight of the whole container: engine-limit-clamp.c. */
static const struct engine_limit weight[] = {
	{ "weight",     ENGINE_LIMIT_MORE, ENGINE_ZERO_UNSET,  { 0, 0 }, "--blkio-weight-device", NULL, { NULL } },
	{ "leafWeight", ENGINE_LIMIT_SAME, ENGINE_ZERO_UNSET,  { 0, 0 }, NULL, NULL, { NULL } },
	END,
};

#define RATE(option)                                                                                \
	{ { "rate", ENGINE_LIMIT_MORE, ENGINE_ZERO_NONE, { INF, INF }, option, NULL, { NULL } }, END }
static const struct engine_limit read_bps[] = RATE("--device-read-bps");
static const struct engine_limit write_bps[] = RATE("--device-write-bps");
static const struct engine_limit read_iops[] = RATE("--device-read-iops");
static const struct engine_limit write_iops[] = RATE("--device-write-iops");

#define DEVICE(name, in) \
	{ name, ENGINE_LIMIT_LIST, ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, in, { "major", "minor", NULL } }
static const struct engine_limit block_io[] = {
	{ "weight",     ENGINE_LIMIT_MORE, ENGINE_ZERO_UNSET, { 100, 19 },  "--blkio-weight", NULL, { NULL } },
	{ "leafWeight", ENGINE_LIMIT_MORE, ENGINE_ZERO_UNSET, { 100, 100 }, NULL, NULL, { NULL } },
	DEVICE("weightDevice", weight),
	DEVICE("throttleReadBpsDevice", read_bps),
	DEVICE("throttleWriteBpsDevice", write_bps),
	DEVICE("throttleReadIOPSDevice", read_iops),
	DEVICE("throttleWriteIOPSDevice", write_iops),
	END,
};

static const struct engine_limit priority[] = {
	{ "priority", ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, NULL, { NULL } },
	END,
};

static const struct engine_limit network[] = {
	{ "classID",    ENGINE_LIMIT_SAME, ENGINE_ZERO_UNSET,  { 0, 0 }, NULL, NULL, { NULL } },
	{ "priorities", ENGINE_LIMIT_LIST, ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, priority, { "name", NULL } },
	END,
};

static const struct engine_limit huge_page[] = {
	{ "limit", ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { INF, INF }, NULL, NULL, { NULL } },
	END,
};

#define OBJECT(name, in) \
	{ name, ENGINE_LIMIT_OBJECT, ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, in, { NULL } }
const struct engine_limit engine_limits[] = {
	/* On v1 a list is added to the rules, on v2 it replaces them. */
	{ "devices",        ENGINE_LIMIT_SAME,  ENGINE_ZERO_NUMBER, { 0, 0 }, "--device", NULL, { NULL } },
	OBJECT("memory", memory),
	OBJECT("cpu", cpu),
	OBJECT("pids", pids),
	OBJECT("blockIO", block_io),
	{ "unified",        ENGINE_LIMIT_FILES, ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, NULL, { NULL } },
	OBJECT("network", network),
	/* No libcrun sets it, so it is never approved. */
	{ "rdma",           ENGINE_LIMIT_SAME,  ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, NULL, { NULL } },
	{ "hugepageLimits", ENGINE_LIMIT_LIST,  ENGINE_ZERO_NUMBER, { 0, 0 }, NULL, huge_page, { "pageSize", NULL } },
	END,
};

/* Of v2, one number each or "max".  A file that is not listed may only have the approved text. */
const struct engine_limit engine_limit_files[] = {
	{ "memory.high",      ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { INF, INF }, NULL, NULL, { NULL } },
	{ "memory.min",       ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { 0, 0 },     NULL, NULL, { NULL } },
	{ "memory.swap.high", ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { INF, INF }, NULL, NULL, { NULL } },
	{ "memory.swap.max",  ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { INF, INF }, NULL, NULL, { NULL } },
	{ "memory.zswap.max", ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { INF, INF }, NULL, NULL, { NULL } },
	{ "cpu.weight",       ENGINE_LIMIT_MORE, ENGINE_ZERO_NUMBER, { 100, 100 }, NULL, NULL, { NULL } },
	END,
};
/* clang-format on */

const struct engine_limit *engine_limit_find(const struct engine_limit *table, const char *name)
{
	for (; table && table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}
