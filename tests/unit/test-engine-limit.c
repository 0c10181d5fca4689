/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "oci/engine/engine-limit.h"
#include "oci/runtime/runtime-schema.h"
#include "tap.h"

/* ASKED of a container that was created with APPROVED and has CURRENT; LOOSER: members that are reported. */
struct limit_case {
	const char *approved, *asked, *set, *looser;
	const char *current; /* NULL: APPROVED */
	const char *engine;  /* before the merge; NULL: APPROVED */
};

#define MEMORY "{\"memory\":{\"limit\":100,\"swap\":200}}"
#define CPU "{\"cpu\":{\"quota\":50000,\"period\":100000}}"

/* clang-format off */
static const struct limit_case each_version[] = {
	/* limits: none is the loosest */
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":100}}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":99}}", "{\"memory\":{\"limit\":99}}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":101}}", "{\"memory\":{\"limit\":100}}", "memory.limit", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":-1}}", "{\"memory\":{\"limit\":100}}", "memory.limit", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":18446744073709551615}}", "{\"memory\":{\"limit\":100}}", "memory.limit", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":0}}", "{}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":100}}", "", "{\"memory\":{\"limit\":50}}", NULL },
	{ "{}", "{\"memory\":{\"limit\":-1}}", "{\"memory\":{\"limit\":-1}}", "", NULL, NULL },
	{ "{}", "{\"memory\":{\"limit\":9223372036854771712}}", "{\"memory\":{\"limit\":9223372036854771712}}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":0}}", "{\"memory\":{\"limit\":7}}", "{\"memory\":{\"limit\":7}}", "", NULL, NULL },
	{ "{\"pids\":{\"limit\":10}}", "{\"pids\":{\"limit\":10}}", "{\"pids\":{\"limit\":10}}", "", NULL, NULL },
	{ "{\"pids\":{\"limit\":10}}", "{\"pids\":{\"limit\":9}}", "{\"pids\":{\"limit\":9}}", "", NULL, NULL },
	{ "{\"pids\":{\"limit\":10}}", "{\"pids\":{\"limit\":11}}", "{\"pids\":{\"limit\":10}}", "pids.limit", NULL, NULL },
	{ "{\"pids\":{\"limit\":10}}", "{\"pids\":{\"limit\":-1}}", "{\"pids\":{\"limit\":10}}", "pids.limit", NULL, NULL },
	{ "{\"pids\":{\"limit\":10}}", "{\"pids\":{\"limit\":0}}", "{}", "", NULL, NULL },
	{ "{}", "{\"pids\":{\"limit\":11}}", "{\"pids\":{\"limit\":11}}", "", NULL, NULL },
	{ "{\"memory\":{\"kernel\":9}}", "{\"memory\":{\"kernel\":10}}", "{\"memory\":{\"kernel\":9}}", "memory.kernel", NULL, NULL },
	{ "{\"memory\":{\"kernel\":9}}", "{\"memory\":{\"kernel\":8}}", "{\"memory\":{\"kernel\":8}}", "", NULL, NULL },
	{ "{\"memory\":{\"kernelTCP\":9}}", "{\"memory\":{\"kernelTCP\":-1}}", "{\"memory\":{\"kernelTCP\":9}}", "memory.kernelTCP", NULL, NULL },
	{ "{\"memory\":{\"kernel\":0}}", "{\"memory\":{\"kernel\":1}}", "{}", "memory.kernel", NULL, NULL },
	/* memory and swap together */
	{ MEMORY, "{\"memory\":{\"limit\":100,\"swap\":201}}", MEMORY, "memory.swap", NULL, NULL },
	{ MEMORY, "{\"memory\":{\"limit\":100,\"swap\":-1}}", MEMORY, "memory.swap", NULL, NULL },
	{ MEMORY, "{\"memory\":{\"limit\":101,\"swap\":201}}", MEMORY, "memory.limit memory.swap", NULL, NULL },
	{ MEMORY, "{\"memory\":{\"limit\":50,\"swap\":200}}", "{\"memory\":{\"limit\":50,\"swap\":200}}", "", NULL, NULL },
	{ MEMORY, "{\"memory\":{\"limit\":0,\"swap\":0}}", "{}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":100,\"swap\":-1}}", "{\"memory\":{\"limit\":100,\"swap\":-1}}", "{\"memory\":{\"limit\":100,\"swap\":-1}}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"memory\":{\"limit\":100,\"swap\":-1}}", "{\"memory\":{\"limit\":100,\"swap\":-1}}", "", NULL, NULL },
	/* quota per period, and both are sent */
	{ CPU, "{\"cpu\":{\"quota\":50000}}", CPU, "", NULL, NULL },
	{ CPU, "{\"cpu\":{\"quota\":50001}}", CPU, "cpu.quota", NULL, NULL },
	{ CPU, "{\"cpu\":{\"quota\":-1}}", CPU, "cpu.quota", NULL, NULL },
	{ CPU, "{\"cpu\":{\"quota\":0,\"period\":0}}", "{}", "", NULL, NULL },
	{ CPU, "{\"cpu\":{\"quota\":5000,\"period\":10000}}", "{\"cpu\":{\"period\":10000,\"quota\":5000}}", "", NULL, NULL },
	{ CPU, "{\"cpu\":{\"quota\":5001,\"period\":10000}}", CPU, "cpu.quota", NULL, NULL },
	{ CPU, "{\"cpu\":{\"period\":200000}}", "{\"cpu\":{\"period\":200000,\"quota\":50000}}", "", NULL, NULL },
	{ CPU, "{\"cpu\":{\"period\":50000}}", CPU, "cpu.period", NULL, NULL },
	/* the quota of now with a period of now: the approved quota would be too much */
	{ CPU, "{\"cpu\":{\"quota\":50000}}", CPU, "cpu.quota", "{\"cpu\":{\"quota\":10000,\"period\":20000}}", NULL },
	{ CPU, "{\"cpu\":{\"quota\":9000}}", "{\"cpu\":{\"period\":20000,\"quota\":9000}}", "", "{\"cpu\":{\"quota\":10000,\"period\":20000}}", NULL },
	{ "{}", "{\"cpu\":{\"quota\":-1}}", "{\"cpu\":{\"period\":100000,\"quota\":-1}}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"quota\":5}}", "{\"cpu\":{\"period\":100000,\"quota\":5}}", "", NULL, NULL },
	{ "{\"cpu\":{\"quota\":9223372036854775807,\"period\":1}}", "{\"cpu\":{\"quota\":9223372036854775807,\"period\":2}}", "{\"cpu\":{\"period\":2,\"quota\":9223372036854775807}}", "", NULL, NULL },
	{ "{\"cpu\":{\"quota\":50000}}", "{\"cpu\":{\"quota\":60000}}", CPU, "cpu.quota", NULL, NULL },
	/* shares and weights: the default where nothing was set */
	{ "{\"cpu\":{\"shares\":512}}", "{\"cpu\":{\"shares\":512}}", "{\"cpu\":{\"shares\":512}}", "", NULL, NULL },
	{ "{\"cpu\":{\"shares\":512}}", "{\"cpu\":{\"shares\":513}}", "{\"cpu\":{\"shares\":512}}", "cpu.shares", NULL, NULL },
	{ "{\"cpu\":{\"shares\":512}}", "{\"cpu\":{\"shares\":0}}", "{}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"shares\":1024}}", "{\"cpu\":{\"shares\":1024}}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"shares\":1025}}", "{}", "cpu.shares", NULL, NULL },
	{ "{\"blockIO\":{\"weight\":300}}", "{\"blockIO\":{\"weight\":300}}", "{\"blockIO\":{\"weight\":300}}", "", NULL, NULL },
	{ "{\"blockIO\":{\"weight\":300}}", "{\"blockIO\":{\"weight\":301}}", "{\"blockIO\":{\"weight\":300}}", "blockIO.weight", NULL, NULL },
	{ "{}", "{\"blockIO\":{\"weight\":500}}", "{}", "blockIO.weight", NULL, NULL },
	{ "{\"blockIO\":{\"leafWeight\":300}}", "{\"blockIO\":{\"leafWeight\":301}}", "{\"blockIO\":{\"leafWeight\":300}}", "blockIO.leafWeight", NULL, NULL },
	/* sets */
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"3,1\"}}", "{\"cpu\":{\"cpus\":\"3,1\"}}", "", NULL, NULL },
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"0-3\"}}", "", "{\"cpu\":{\"cpus\":\"1\"}}", NULL },
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"2-4\"}}", "{\"cpu\":{\"cpus\":\"0-3\"}}", "cpu.cpus", NULL, NULL },
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"\",\"mems\":\"\"}}", "{}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"cpus\":\"0-1\"}}", "{\"cpu\":{\"cpus\":\"0-1\"}}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"cpus\":\"all\"}}", "{}", "cpu.cpus", NULL, NULL },
	{ "{\"cpu\":{\"mems\":\"0\"}}", "{\"cpu\":{\"mems\":\"0-1\"}}", "{\"cpu\":{\"mems\":\"0\"}}", "cpu.mems", NULL, NULL },
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"3-1\"}}", "{\"cpu\":{\"cpus\":\"0-3\"}}", "cpu.cpus", NULL, NULL },
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"cpu\":{\"cpus\":\"0-99999\"}}", "{\"cpu\":{\"cpus\":\"0-3\"}}", "cpu.cpus", NULL, NULL },
	/* the rest of cpu and memory */
	{ "{}", "{\"cpu\":{\"realtimeRuntime\":1}}", "{}", "cpu.realtimeRuntime", NULL, NULL },
	{ "{}", "{\"cpu\":{\"realtimePeriod\":1}}", "{}", "cpu.realtimePeriod", NULL, NULL },
	{ "{}", "{\"cpu\":{\"realtimeRuntime\":0,\"realtimePeriod\":0}}", "{}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"idle\":1}}", "{\"cpu\":{\"idle\":1}}", "", NULL, NULL },
	{ "{}", "{\"cpu\":{\"idle\":0}}", "{}", "cpu.idle", "{\"cpu\":{\"idle\":1}}", NULL },
	{ "{\"cpu\":{\"idle\":1}}", "{\"cpu\":{\"idle\":0}}", "{}", "cpu.idle", NULL, NULL },
	{ "{\"cpu\":{\"burst\":10}}", "{\"cpu\":{\"burst\":0}}", "{\"cpu\":{\"burst\":0}}", "", NULL, NULL },
	{ "{\"cpu\":{\"burst\":10}}", "{\"cpu\":{\"burst\":11}}", "{\"cpu\":{\"burst\":10}}", "cpu.burst", NULL, NULL },
	{ "{}", "{\"cpu\":{\"burst\":1}}", "{}", "cpu.burst", NULL, NULL },
	{ "{\"memory\":{\"swappiness\":10}}", "{\"memory\":{\"swappiness\":10}}", "{\"memory\":{\"swappiness\":10}}", "", NULL, NULL },
	{ "{\"memory\":{\"swappiness\":10}}", "{\"memory\":{\"swappiness\":9}}", "{\"memory\":{\"swappiness\":10}}", "memory.swappiness", NULL, NULL },
	{ "{}", "{\"memory\":{\"swappiness\":0}}", "{}", "memory.swappiness", NULL, NULL },
	{ "{}", "{\"memory\":{\"disableOOMKiller\":true}}", "{}", "memory.disableOOMKiller", NULL, NULL },
	{ "{\"memory\":{\"disableOOMKiller\":true}}", "{\"memory\":{\"disableOOMKiller\":true}}", "{\"memory\":{\"disableOOMKiller\":true}}", "", NULL, NULL },
	{ "{\"memory\":{\"disableOOMKiller\":true}}", "{\"memory\":{\"disableOOMKiller\":false}}", "{\"memory\":{\"disableOOMKiller\":false}}", "", NULL, NULL },
	{ "{}", "{\"memory\":{\"useHierarchy\":false}}", "{}", "memory.useHierarchy", NULL, NULL },
	{ "{}", "{\"memory\":{\"checkBeforeUpdate\":true}}", "{\"memory\":{\"checkBeforeUpdate\":true}}", "", NULL, NULL },
	/* lists by device, page size, interface */
	{ "{\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":100}]}}",
	  "{\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":100},{\"major\":8,\"minor\":1,\"rate\":900}]}}",
	  "{\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":100},{\"major\":8,\"minor\":1,\"rate\":900}]}}", "", NULL, NULL },
	{ "{\"blockIO\":{\"throttleWriteBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":100}]}}",
	  "{\"blockIO\":{\"throttleWriteBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":101},{\"major\":8,\"minor\":1,\"rate\":9}]}}",
	  "{\"blockIO\":{\"throttleWriteBpsDevice\":[{\"major\":8,\"minor\":1,\"rate\":9}]}}", "blockIO.throttleWriteBpsDevice[8:0].rate", NULL, NULL },
	{ "{\"blockIO\":{\"throttleReadIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":100}]}}",
	  "{\"blockIO\":{\"throttleReadIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":0}]}}", "{}", "blockIO.throttleReadIOPSDevice[8:0].rate", NULL, NULL },
	{ "{\"blockIO\":{\"throttleReadIOPSDevice\":[{\"major\":4294967304,\"rate\":100}]}}",
	  "{\"blockIO\":{\"throttleReadIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":900}]}}", "{}", "blockIO.throttleReadIOPSDevice[8:0].rate", NULL, NULL },
	{ "{}", "{\"blockIO\":{\"throttleWriteIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":0}]}}",
	  "{\"blockIO\":{\"throttleWriteIOPSDevice\":[{\"major\":8,\"minor\":0,\"rate\":0}]}}", "", NULL, NULL },
	{ "{\"blockIO\":{\"weight\":300}}", "{\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0,\"weight\":301}]}}", "{}", "blockIO.weightDevice[8:0].weight", NULL, NULL },
	{ "{\"blockIO\":{\"weight\":300}}", "{\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0,\"weight\":300}]}}",
	  "{\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0,\"weight\":300}]}}", "", NULL, NULL },
	{ "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":4}]}", "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":0}]}",
	  "{\"hugepageLimits\":[{\"limit\":0,\"pageSize\":\"2MB\"}]}", "", NULL, NULL },
	{ "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":4}]}", "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":5}]}", "{}", "hugepageLimits[2MB].limit", NULL, NULL },
	{ "{}", "{\"hugepageLimits\":[{\"pageSize\":\"1GB\",\"limit\":18446744073709551615}]}",
	  "{\"hugepageLimits\":[{\"limit\":18446744073709551615,\"pageSize\":\"1GB\"}]}", "", NULL, NULL },
	{ "{\"network\":{\"priorities\":[{\"name\":\"eth0\",\"priority\":5}]}}", "{\"network\":{\"priorities\":[{\"name\":\"eth0\",\"priority\":6}]}}", "{}", "network.priorities[eth0].priority", NULL, NULL },
	{ "{\"network\":{\"priorities\":[{\"name\":\"eth0\",\"priority\":5}]}}", "{\"network\":{\"priorities\":[{\"name\":\"eth0\",\"priority\":4}]}}",
	  "{\"network\":{\"priorities\":[{\"name\":\"eth0\",\"priority\":4}]}}", "", NULL, NULL },
	{ "{}", "{\"network\":{\"classID\":7}}", "{}", "network.classID", NULL, NULL },
	{ "{\"network\":{\"classID\":7}}", "{\"network\":{\"classID\":7}}", "{\"network\":{\"classID\":7}}", "", NULL, NULL },
	{ "{}", "{\"rdma\":{\"mlx5\":{\"hcaHandles\":3}}}", "{}", "rdma", NULL, NULL },
	/* device rules: those of create, and they are there */
	{ "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}", "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}", "{}", "", NULL, NULL },
	{ "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}", "{\"devices\":[{\"allow\":true,\"access\":\"rwm\"}]}", "{}", "devices", NULL, NULL },
	{ "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}", "{\"devices\":[]}", "{}", "", NULL, NULL },
	/* podman 5 repeats its own values, which the profile lowered; others are a person's */
	{ "{\"pids\":{\"limit\":40}}", "{\"pids\":{\"limit\":2048}}", "{\"pids\":{\"limit\":40}}", "", NULL, "{\"pids\":{\"limit\":2048}}" },
	{ "{\"pids\":{\"limit\":40}}", "{\"pids\":{\"limit\":2047}}", "{\"pids\":{\"limit\":40}}", "pids.limit", NULL, "{\"pids\":{\"limit\":2048}}" },
	{ CPU, "{\"cpu\":{\"quota\":200000,\"period\":100000}}", CPU, "", NULL, "{\"cpu\":{\"quota\":200000,\"period\":100000}}" },
	{ CPU, "{\"cpu\":{\"quota\":200000,\"period\":90000}}", CPU, "cpu.quota", NULL, "{\"cpu\":{\"quota\":200000,\"period\":100000}}" },
	{ "{\"devices\":[]}", "{\"devices\":[{\"allow\":true}]}", "{}", "", NULL, "{\"devices\":[{\"allow\":true}]}" },
	/* what engines send for nothing */
	{ MEMORY, "{\"memory\":{},\"cpu\":null,\"pids\":{\"limit\":0},\"blockIO\":{\"weight\":0,\"weightDevice\":[]}}", "{}", "", NULL, NULL },
};

static const struct limit_case v1[] = {
	/* the soft limit is missing: none */
	{ "{}", "{\"memory\":{\"reservation\":100}}", "{\"memory\":{\"reservation\":100}}", "", NULL, NULL },
	{ "{\"memory\":{\"reservation\":100}}", "{\"memory\":{\"reservation\":-1}}", "{\"memory\":{\"reservation\":100}}", "memory.reservation", NULL, NULL },
	{ MEMORY, "{\"memory\":{\"limit\":50}}", "{\"memory\":{\"limit\":50}}", "", NULL, NULL },
	{ "{}", "{\"blockIO\":{\"weight\":100}}", "{\"blockIO\":{\"weight\":100}}", "", NULL, NULL },
	/* no files of v2 */
	{ "{}", "{\"unified\":{\"memory.max\":\"100\"}}", "{}", "unified.memory.max", NULL, NULL },
};

static const struct limit_case v2[] = {
	/* memory.low protects: less is tighter */
	{ "{}", "{\"memory\":{\"reservation\":100}}", "{}", "memory.reservation", NULL, NULL },
	{ "{\"memory\":{\"reservation\":100}}", "{\"memory\":{\"reservation\":-1}}", "{\"memory\":{\"reservation\":100}}", "memory.reservation", NULL, NULL },
	{ "{\"memory\":{\"reservation\":100}}", "{\"memory\":{\"reservation\":50}}", "{\"memory\":{\"reservation\":50}}", "", NULL, NULL },
	/* swap has a file of its own */
	{ MEMORY, "{\"memory\":{\"limit\":50}}", "{\"memory\":{\"limit\":50,\"swap\":150}}", "", NULL, NULL },
	{ MEMORY, "{\"memory\":{\"limit\":100}}", MEMORY, "", "{\"memory\":{\"limit\":50,\"swap\":200}}", NULL },
	{ MEMORY, "{\"memory\":{\"swap\":150}}", "{\"memory\":{\"limit\":100,\"swap\":150}}", "", NULL, NULL },
	{ "{\"memory\":{\"limit\":100,\"swap\":0}}", "{\"memory\":{\"limit\":100,\"swap\":101}}", "{\"memory\":{\"limit\":100}}", "memory.swap", NULL, NULL },
	{ "{\"memory\":{\"limit\":100,\"swap\":0}}", "{\"memory\":{\"limit\":100,\"swap\":100}}", "{\"memory\":{\"limit\":100,\"swap\":100}}", "", NULL, NULL },
	{ "{}", "{\"blockIO\":{\"weight\":20}}", "{}", "blockIO.weight", NULL, NULL },
	/* a limit is one, whichever way it was set */
	{ "{\"memory\":{\"limit\":100}}", "{\"unified\":{\"memory.max\":\"max\"}}", "{\"memory\":{\"limit\":100}}", "memory.limit", NULL, NULL },
	{ "{\"memory\":{\"limit\":100}}", "{\"unified\":{\"memory.max\":\"50\"}}", "{\"memory\":{\"limit\":50}}", "", NULL, NULL },
	{ "{\"unified\":{\"memory.max\":\"100\"}}", "{\"memory\":{\"limit\":101}}", "{\"memory\":{\"limit\":100}}", "memory.limit", NULL, NULL },
	{ "{\"unified\":{\"memory.max\":\"what\"}}", "{\"memory\":{\"limit\":2}}", "{\"memory\":{\"limit\":1}}", "memory.limit", NULL, NULL },
	{ "{\"unified\":{\"memory.max\":\"1K\\n\"}}", "{\"memory\":{\"limit\":1025}}", "{\"memory\":{\"limit\":1024}}", "memory.limit", NULL, NULL },
	{ "{\"unified\":{\"pids.max\":\"10\"}}", "{\"pids\":{\"limit\":11}}", "{\"pids\":{\"limit\":10}}", "pids.limit", NULL, NULL },
	{ CPU, "{\"unified\":{\"cpu.max\":\"max 100000\"}}", CPU, "cpu.quota", NULL, NULL },
	{ CPU, "{\"unified\":{\"cpu.max\":\"5000 10000\"}}", "{\"cpu\":{\"period\":10000,\"quota\":5000}}", "", NULL, NULL },
	{ CPU, "{\"unified\":{\"cpu.max\":\"max\"}}", CPU, "cpu.quota", NULL, NULL },
	{ "{\"unified\":{\"cpu.max\":\"50000\"}}", "{\"cpu\":{\"period\":50000}}", CPU, "cpu.period", NULL, NULL },
	{ "{\"cpu\":{\"cpus\":\"0-3\"}}", "{\"unified\":{\"cpuset.cpus\":\"0-4\"}}", "{\"cpu\":{\"cpus\":\"0-3\"}}", "cpu.cpus", NULL, NULL },
	{ "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":4}]}", "{\"unified\":{\"hugetlb.2MB.max\":\"max\"}}", "{}", "hugepageLimits[2MB].limit", NULL, NULL },
	{ "{\"unified\":{\"memory.high\":\"100\"}}", "{\"unified\":{\"memory.high\":\"101\"}}", "{\"unified\":{\"memory.high\":\"100\"}}", "unified.memory.high", NULL, NULL },
	{ "{\"unified\":{\"memory.high\":\"100\"}}", "{\"unified\":{\"memory.high\":\"99\"}}", "{\"unified\":{\"memory.high\":\"99\"}}", "", NULL, NULL },
	{ "{}", "{\"unified\":{\"memory.min\":\"1\"}}", "{}", "unified.memory.min", NULL, NULL },
	{ "{}", "{\"unified\":{\"cpu.weight\":\"100\"}}", "{\"unified\":{\"cpu.weight\":\"100\"}}", "", NULL, NULL },
	{ "{}", "{\"unified\":{\"cpu.weight\":\"101\"}}", "{}", "unified.cpu.weight", NULL, NULL },
	{ "{\"cpu\":{\"shares\":2}}", "{\"unified\":{\"cpu.weight\":\"2\"}}", "{}", "unified.cpu.weight", NULL, NULL },
	{ "{\"unified\":{\"cpu.weight\":\"1\"}}", "{\"cpu\":{\"shares\":1024}}", "{}", "cpu.shares", NULL, NULL },
	{ "{\"unified\":{\"io.max\":\"8:0 rbps=1\"}}", "{\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":9}]}}", "{}", "blockIO.throttleReadBpsDevice", NULL, NULL },
	{ "{\"unified\":{\"io.max\":\"8:0 rbps=1\"}}", "{\"unified\":{\"io.max\":\"8:0 rbps=max\"}}", "{\"unified\":{\"io.max\":\"8:0 rbps=1\"}}", "unified.io.max", NULL, NULL },
	{ "{\"memory\":{\"limit\":9,\"swap\":9}}", "{\"unified\":{\"memory.swap.max\":\"1\"}}", "{}", "unified.memory.swap.max", NULL, NULL },
	{ "{\"unified\":{\"memory.swap.max\":\"1\"}}", "{\"memory\":{\"limit\":5,\"swap\":9}}", "{\"memory\":{\"limit\":5}}", "memory.swap", NULL, NULL },
	/* the kernel reads less than it looks like: octal numbers, and no unit in cpu.max */
	{ "{\"unified\":{\"memory.max\":\"0400\"}}", "{\"memory\":{\"limit\":300}}", "{\"memory\":{\"limit\":1}}", "memory.limit", NULL, NULL },
	{ "{\"unified\":{\"memory.high\":\"0400\"}}", "{\"unified\":{\"memory.high\":\"300\"}}", "{\"unified\":{\"memory.high\":\"0400\"}}", "unified.memory.high", NULL, NULL },
	{ "{\"unified\":{\"cpu.max\":\"50000K 100000\"}}", "{\"cpu\":{\"quota\":60000}}", "{\"cpu\":{\"period\":1000000,\"quota\":1}}", "cpu.quota", NULL, NULL },
	{ "{}", "{\"unified\":{\"cgroup.freeze\":\"0\"}}", "{}", "unified.cgroup.freeze", NULL, NULL },
	{ "{}", "{\"unified\":{\"memory.oom.group\":\"0\"}}", "{}", "unified.memory.oom.group", NULL, NULL },
	{ "{\"unified\":{\"memory.oom.group\":\"1\"}}", "{\"unified\":{\"memory.oom.group\":\"1\"}}", "{\"unified\":{\"memory.oom.group\":\"1\"}}", "", NULL, NULL },
};
/* clang-format on */

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (jdoc_parse(text, strlen(text), "case", &(struct jdoc_limits){ .wide = true }, &d, &f) < 0)
		printf("# %s: %s\n", text, fault_text(&f));
	return d;
}

static int try(const struct limit_case *c, bool is_v2, struct jdoc *asked, struct engine_limits_result *ret,
	       struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *approved = parse(c->approved), *current = NULL,
				   *engine = c->engine ? parse(c->engine) : NULL;
	struct engine_limits l = { .approved = approved, .engine = engine, .v2 = is_v2 };
	int r = engine_limits_normalize(&l, asked, f);

	current = c->current ? parse(c->current) : jdoc_copy(approved);
	l.current = current;
	return r < 0 ? r : engine_limits_clamp(&l, asked, ret, f);
}

static bool has_members(const struct jdoc *looser, const char *want)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	for (size_t i = 0; i < looser->n_items; i++)
		strbuf_printf(&t, "%s%s", i ? " " : "", jdoc_get_string(looser->items[i], "member"));
	if (!str_eq(t.text ? t.text : "", want))
		printf("# looser: '%s', not '%s'\n", t.text ? t.text : "", want);
	return str_eq(t.text ? t.text : "", want);
}

static bool holds(const struct limit_case *c, bool is_v2)
{
	_cleanup_limits_result_ struct engine_limits_result res = { 0 };
	_cleanup_jdoc_ struct jdoc *asked = parse(c->asked), *want = parse(c->set);
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *set = NULL;
	int r = try(c, is_v2, asked, &res, &f);
	bool ok = r == 0 && has_members(res.looser, c->looser) && jdoc_equal(asked, want);

	if (!ok) {
		set = engine_written(asked);
		printf("# v%d %s asked %s: %s, not %s %s\n", is_v2 ? 2 : 1, c->approved, c->asked, set,
		       c->set, r < 0 ? fault_text(&f) : "");
	}
	return ok;
}

static void GOV_15_each_member_equal_tighter_looser_unlimited_0_or_missing(void)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(each_version); i++)
		for (int v = 0; v < 2; v++)
			ok = holds(&each_version[i], v) && ok;
	CHECK(ok);
}

static void GOV_15_on_v1(void)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(v1); i++)
		ok = holds(&v1[i], false) && ok;
	CHECK(ok);
}

static void GOV_15_on_v2_a_limit_is_one_whether_member_or_file(void)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(v2); i++)
		ok = holds(&v2[i], true) && ok;
	CHECK(ok);
}

static bool refused(const char *asked_text, int code, const char *word)
{
	const struct limit_case c = { .approved = "{}" };
	_cleanup_limits_result_ struct engine_limits_result res = { 0 };
	_cleanup_jdoc_ struct jdoc *asked = parse(asked_text);
	_cleanup_fault_ struct fault f = { 0 };
	int r = try(&c, true, asked, &res, &f);

	if (r != -code || !strstr(fault_text(&f), word))
		printf("# %s: %d %s\n", asked_text, r, fault_text(&f));
	return r == -code && strstr(fault_text(&f), word);
}

static void GOV_15_a_member_that_is_not_listed_is_refused_by_name(void)
{
	CHECK(refused("{\"shiny\":1}", EPERM, "'resources.shiny'"));
	CHECK(refused("{\"memory\":{\"shiny\":1}}", EPERM, "'resources.memory.shiny'"));
	CHECK(refused("{\"memory\":7}", EINVAL, "'resources.memory'"));
	CHECK(refused("{\"hugepageLimits\":{\"a\":1}}", EINVAL, "'resources.hugepageLimits'"));
	CHECK(refused("{\"unified\":{\"memory.max\":\"lots\"}}", EINVAL, "'unified.memory.max'"));
	CHECK(refused("{\"unified\":{\"cpu.max\":\"1 2 3\"}}", EINVAL, "'unified.cpu.max'"));
}

/* The kernel reads both numbers of a device as 32 bits and puts them together; libcrun writes 0 for a missing one. */
static void GOV_15_another_spelling_of_a_device_or_page_size_is_no_other_limit(void)
{
	static const char *const devices[] = {
		"{\"major\":8,\"rate\":900}",
		"{\"major\":8,\"minor\":null,\"rate\":900}",
		"{\"major\":4294967304,\"minor\":0,\"rate\":900}",
		"{\"major\":8,\"minor\":4294967296,\"rate\":900}",
		"{\"major\":0,\"minor\":8388608,\"rate\":900}",
		"{\"major\":4104,\"minor\":0,\"rate\":900}",
		"{\"major\":-4294967288,\"minor\":0,\"rate\":900}",
		"{\"major\":18446744069414584328,\"minor\":0,\"rate\":900}",
		"{\"minor\":0,\"rate\":900}",
		"7",
	};
	static const char *const sizes[] = { "2MB.rsvd", "x/../memory", "02MB", "2048",
					     "MB",	 "2MB ",	"2mB",	"" };

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		char text[160];

		(void)snprintf(text, sizeof(text), "{\"blockIO\":{\"throttleReadBpsDevice\":[%s]}}",
			       devices[i]);
		CHECK(refused(text, EINVAL,
			      "'resources.blockIO.throttleReadBpsDevice[0]' does not say which device"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char text[160];

		(void)snprintf(text, sizeof(text), "{\"hugepageLimits\":[{\"pageSize\":\"%s\",\"limit\":9}]}",
			       sizes[i]);
		CHECK(refused(text, EINVAL, "'resources.hugepageLimits[0]' does not say which pageSize"));
	}
	CHECK(refused("{\"network\":{\"priorities\":[{\"name\":\"eth0 9\",\"priority\":0}]}}", EINVAL,
		      "'resources.network.priorities[0]' does not say which name"));
}

/* --- the table and the specification ----------------------------------------------------------------------------- */

static bool is_key(const struct engine_limit *row, const char *name)
{
	for (const char *const *key = row->keys; *key; key++)
		if (str_eq(*key, name))
			return true;
	return false;
}

static bool same(const struct schema_member *members, const struct engine_limit *table,
		 const struct engine_limit *list)
{
	bool ok = true;

	for (const struct schema_member *m = members; m->key; m++) {
		const struct engine_limit *row = engine_limit_find(table, m->key);

		if (list && is_key(list, m->key))
			continue;
		if (!row) {
			printf("# '%s' is not in the table\n", m->key);
			ok = false;
		} else if (row->in) {
			ok = same(m->in, row->in, row->kind == ENGINE_LIMIT_LIST ? row : NULL) && ok;
		}
	}
	return ok;
}

static void GOV_15_the_table_has_every_member_of_the_specification(void)
{
	CHECK(same(schema_resources, engine_limits, NULL));
}

/* --- changes at random -------------------------------------------------------------------------------------------- */

static uint64_t dice_state = 88172645463325252U;
static unsigned int dice(unsigned int n)
{
	dice_state ^= dice_state << 13;
	dice_state ^= dice_state >> 7;
	dice_state ^= dice_state << 17;
	return (unsigned int)(dice_state % n);
}

/* The kernel's files, as libcrun writes them on v2.  -1: no limit. */
struct kernel {
	int64_t memory, swap, quota, period, pids;
};

static int64_t at(const struct jdoc *d, const char *path)
{
	const struct jdoc *v = engine_at(d, path);

	return engine_is(v, JDOC_INT) ? v->integer : 0;
}

static void kernel_set(struct kernel *k, const struct jdoc *set)
{
	int64_t quota = at(set, "cpu.quota"), period = at(set, "cpu.period"), swap = at(set, "memory.swap");

	if (at(set, "memory.limit"))
		k->memory = at(set, "memory.limit");
	if (swap)
		k->swap = swap < 0 ? -1 : swap - k->memory;
	if (at(set, "pids.limit"))
		k->pids = at(set, "pids.limit");
	if (quota > 0 || period > 0) {
		k->quota = quota > 0 ? quota : -1;
		k->period = period > 0 ? period : 100000;
	}
}

static bool kernel_is_within(const struct kernel *k, const struct kernel *most)
{
	if (k->pids < 0 || k->pids > most->pids || k->memory < 0 || k->memory > most->memory)
		return false;
	if (k->swap < 0 || k->memory + k->swap > most->memory + most->swap)
		return false;
	return k->quota > 0 && k->quota * most->period <= most->quota * k->period;
}

static int64_t draw(void)
{
	static const int64_t numbers[] = { -1, 0, 1, 10, 50, 90, 100, 110, 150, 199, 200, 201, 400, 1000 };

	return numbers[dice(ARRAY_SIZE(numbers))];
}

static void GOV_15_whatever_the_order_of_updates_the_kernel_is_within_what_was_approved(void)
{
	static const char *const places[][2] = { { "memory", "limit" },
						 { "memory", "swap" },
						 { "cpu", "quota" },
						 { "cpu", "period" },
						 { "pids", "limit" } };
	const struct limit_case c = { .approved = "{\"memory\":{\"limit\":100,\"swap\":200},\"pids\":{"
						  "\"limit\":100},\"cpu\":{\"quota\":100,\"period\":200}}" };
	const struct kernel most = { .memory = 100, .swap = 100, .quota = 100, .period = 200, .pids = 100 };
	_cleanup_jdoc_ struct jdoc *current = parse(c.approved);
	struct kernel k = most;
	bool ok = true;

	for (int i = 0; i < 20000 && ok; i++) {
		_cleanup_limits_result_ struct engine_limits_result res = { 0 };
		_cleanup_jdoc_ struct jdoc *asked = jdoc_new_object(), *approved = parse(c.approved);
		struct engine_limits l = { .approved = approved, .current = current, .v2 = true };

		for (size_t p = 0; p < ARRAY_SIZE(places); p++)
			if (dice(2))
				jdoc_set_int(engine_make(asked, places[p][0], JDOC_OBJECT), places[p][1],
					     draw());
		ok = engine_limits_normalize(&l, asked, NULL) == 0 &&
		     engine_limits_clamp(&l, asked, &res, NULL) == 0;
		/* A person's call that loosens sets nothing. */
		if (!ok || (res.looser->n_items > 0 && dice(2)))
			continue;
		/* libcrun refuses less than the limit of memory. */
		if (at(asked, "memory.swap") > 0 && at(asked, "memory.swap") < at(asked, "memory.limit"))
			continue;
		kernel_set(&k, asked);
		engine_limits_overlay(current, asked);
		ok = kernel_is_within(&k, &most);
	}
	CHECK(ok);
}

TAP_MAIN(T(GOV_15_each_member_equal_tighter_looser_unlimited_0_or_missing), T(GOV_15_on_v1),
	 T(GOV_15_on_v2_a_limit_is_one_whether_member_or_file),
	 T(GOV_15_a_member_that_is_not_listed_is_refused_by_name),
	 T(GOV_15_another_spelling_of_a_device_or_page_size_is_no_other_limit),
	 T(GOV_15_the_table_has_every_member_of_the_specification),
	 T(GOV_15_whatever_the_order_of_updates_the_kernel_is_within_what_was_approved))
