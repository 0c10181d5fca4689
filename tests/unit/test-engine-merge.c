/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "engine-tight.h"
#include "tap.h"

static const char *const recordings[] = { "cri", "docker", "pod", "podman", "podman-volume", "crun" };

#define STRICT                                                                                           \
	"{\"schema\":1,\"name\":\"strict\",\"limits\":{\"memory\":\"64M\",\"pids\":64,\"cpu\":\"50%\","  \
	"\"files\":512},"                                                                                \
	"\"seccomp\":{\"deny\":[\"ptrace\",\"symlink\"],\"violation\":\"kill\"},\"network\":{\"class\":" \
	"\"any\"},\"container\":{"                                                                       \
	"\"network\":\"engine\",\"capabilities\":[\"CAP_CHOWN\",\"CAP_KILL\"]}}"

static struct jdoc *record(const char *name)
{
	_cleanup_free_ char *text = engine_recording(name);
	struct jdoc *d = NULL;

	if (!text ||
	    jdoc_parse(text, strlen(text), name, &(struct jdoc_limits){ .wide = true }, &d, NULL) < 0)
		printf("# %s\n", name);
	return d;
}

static bool is_tight(struct engine_fixture *x, const struct jdoc *config)
{
	const struct seccomp_choice choice = { .allow = x->profile->seccomp_allow,
					       .deny = x->profile->seccomp_deny };
	_cleanup_engine_calls_ struct engine_calls calls = { 0 };
	_cleanup_free_ char *text = engine_written(config);
	const char *what;

	/* A refusal is tight. */
	if (engine_try(x, text) < 0) {
		if (x->f.code != EPERM && x->f.code != EINVAL)
			printf("# %s\n", fault_text(&x->f));
		return x->f.code == EPERM || x->f.code == EINVAL;
	}
	if (engine_calls_init(&calls, &choice, NULL) < 0)
		return false;
	what = tight_check(x->c.engine, x->c.merged, x->profile, &calls);
	if (what)
		printf("# looser: %s\n# %s\n# %s\n", what, text, x->c.text);
	return !what;
}

static void CARD_7_recordings_of_engines_are_accepted_and_only_tightened(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };

	CHECK(engine_fixture_init(&x));
	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++) {
		_cleanup_jdoc_ struct jdoc *d = record(recordings[i]);

		CHECK(d && is_tight(&x, d));
		if (!x.c.merged)
			printf("# %s: %s\n", recordings[i], fault_text(&x.f));
		CHECK(x.c.merged);
	}
}

/* --- changes at random -------------------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static struct jdoc *random_leaf(uint64_t *seed)
{
	static const char *const words[] = { "CAP_SYS_ADMIN",
					     "rshared",
					     "rw",
					     "SCMP_ACT_ALLOW",
					     "SCMP_ACT_ERRNO",
					     "socket",
					     "mount",
					     "clone",
					     "/proc",
					     "bind",
					     "/srv/x",
					     "RLIMIT_CORE",
					     "max",
					     "SCMP_CMP_NE",
					     "",
					     "ptrace",
					     "c",
					     "SCMP_ACT_LOG",
					     "rwm",
					     "user",
					     "SCMP_CMP_GE" };
	static const int64_t numbers[] = { 0, -1, 1, 9, 16, 4096, INT64_MAX, 0x7e020000, 0xffffffff, 100000 };

	switch (next(seed) % 4) {
	case 0:
		return jdoc_new_bool(next(seed) % 2);
	case 1:
		return jdoc_new_int(numbers[next(seed) % ARRAY_SIZE(numbers)]);
	case 2:
		return jdoc_new_null();
	default:
		return jdoc_new_string(words[next(seed) % ARRAY_SIZE(words)]);
	}
}

/* Replaces, removes or doubles one value somewhere below D. */
static void change(struct jdoc *d, uint64_t *seed)
{
	size_t n = d->type == JDOC_OBJECT ? d->n_members : d->type == JDOC_ARRAY ? d->n_items : 0, i;
	struct jdoc *child;

	if (n == 0)
		return;
	i = next(seed) % n;
	child = d->type == JDOC_OBJECT ? d->members[i].value : d->items[i];
	if ((child->type == JDOC_OBJECT || child->type == JDOC_ARRAY) && next(seed) % 8 != 0) {
		change(child, seed);
	} else if (d->type == JDOC_OBJECT) {
		if (next(seed) % 3 == 0)
			(void)jdoc_remove(d, d->members[i].key);
		else
			jdoc_set(d, d->members[i].key, random_leaf(seed));
	} else if (next(seed) % 3 == 0) {
		(void)jdoc_remove_item(d, i);
	} else {
		jdoc_append(d, next(seed) % 2 ? jdoc_copy(child) : random_leaf(seed));
	}
}

static void CARD_7_no_change_at_random_makes_the_merge_looser(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	uint64_t seed = 88172645463325252u;
	size_t accepted = 0, rounds = tap_is_full() ? 20000 : 600;
	struct profile *strict = engine_profile(STRICT), *container;

	CHECK(engine_fixture_init(&x) && strict);
	container = x.profile;
	for (size_t i = 0; i < rounds; i += tap_stride()) {
		_cleanup_jdoc_ struct jdoc *d = record(recordings[next(&seed) % ARRAY_SIZE(recordings)]);

		x.profile = next(&seed) % 2 ? strict : container;
		for (uint64_t k = next(&seed) % 4; d && k < 4; k++)
			change(d, &seed);
		CHECK(d && is_tight(&x, d));
		accepted += x.c.merged != NULL;
	}
	x.profile = container;
	profile_free(strict);
	printf("# %zu of %zu accepted\n", accepted, rounds);
	CHECK(accepted > 0);
}

/* --- limits -------------------------------------------------------------------------------------------------------- */

static void limits_are_the_smaller_ones(void)
{
	static const struct {
		const char *resources, *path;
		int64_t is;
	} rows[] = {
		{ "{}", "linux.resources.memory.limit", 64 << 20 },
		{ "{\"memory\":{\"limit\":1048576}}", "linux.resources.memory.limit", 1048576 },
		{ "{\"memory\":{\"limit\":-1}}", "linux.resources.memory.limit", 64 << 20 },
		{ "{\"memory\":{\"limit\":999999999999,\"swap\":-1}}", "linux.resources.memory.swap",
		  64 << 20 },
		{ "{\"memory\":{\"limit\":1048576,\"swap\":2097152}}", "linux.resources.memory.swap",
		  2097152 },
		{ "{\"pids\":{\"limit\":0}}", "linux.resources.pids.limit", 64 },
		{ "{\"pids\":{\"limit\":3}}", "linux.resources.pids.limit", 3 },
		{ "{\"cpu\":{\"quota\":90000,\"period\":100000}}", "linux.resources.cpu.quota", 50000 },
		{ "{\"cpu\":{\"quota\":1000,\"period\":50000}}", "linux.resources.cpu.quota", 1000 },
		{ "{\"cpu\":{\"quota\":-1,\"period\":50000}}", "linux.resources.cpu.quota", 25000 },
	};
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };

	CHECK(engine_fixture_init(&x));
	profile_free(x.profile);
	x.profile = engine_profile(STRICT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *d = record("crun"), *resources = NULL;
		_cleanup_free_ char *text = NULL;

		CHECK(jdoc_parse(rows[i].resources, strlen(rows[i].resources), "r", NULL, &resources, NULL) ==
		      0);
		jdoc_set(jdoc_get(d, "linux"), "resources", TAKE_PTR(resources));
		text = engine_written(d);
		CHECK(engine_try(&x, text) == 0);
		if (tight_number(x.c.merged, rows[i].path, -7) != rows[i].is)
			printf("# %s: %lld\n", rows[i].resources,
			       (long long)tight_number(x.c.merged, rows[i].path, -7));
		CHECK(tight_number(x.c.merged, rows[i].path, -7) == rows[i].is);
	}
}

/* --- the filter ----------------------------------------------------------------------------------------------------- */

static bool merged_allows(const struct engine_fixture *x, const char *name, uint64_t a, uint64_t b,
			  uint64_t c)
{
	const uint64_t args[6] = { a, b, c };

	return tight_allows(engine_at(x->c.merged, "linux.seccomp"), name, args);
}

static void CARD_7_a_call_needs_both_filters(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	_cleanup_jdoc_ struct jdoc *d = record("podman");
	_cleanup_free_ char *text = engine_written(d);

	CHECK(engine_fixture_init(&x) && engine_try(&x, text) == 0);
	CHECK(merged_allows(&x, "read", 0, 0, 0) && merged_allows(&x, "prlimit64", 1, 0, 1));
	CHECK(merged_allows(&x, "chroot", 0, 0, 0));
	/* Of podman's list, and not of custody's. */
	CHECK(!merged_allows(&x, "ptrace", 0, 0, 0) && !merged_allows(&x, "clone3", 0, 0, 0));
	/* Both have conditions: podman's about an audit socket, custody's about families. */
	CHECK(merged_allows(&x, "socket", 2, 1, 0) && merged_allows(&x, "socket", 16, 3, 0));
	CHECK(!merged_allows(&x, "socket", 16, 3, 9) && !merged_allows(&x, "socket", 40, 1, 0));
	CHECK(!merged_allows(&x, "clone", 0x10000000, 0, 0) && merged_allows(&x, "clone", 17, 0, 0));
	CHECK(engine_count(x.c.merged, "linux.seccomp.architectures") == 1);
}

static void CARD_7_without_a_filter_of_the_engine_custodys_own_applies(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	_cleanup_jdoc_ struct jdoc *d = record("crun");
	_cleanup_free_ char *text = engine_written(d);

	CHECK(engine_fixture_init(&x) && engine_try(&x, text) == 0);
	CHECK(merged_allows(&x, "read", 0, 0, 0) && !merged_allows(&x, "mount", 0, 0, 0));
	CHECK(merged_allows(&x, "sched_setaffinity", 1, 0, 0) && merged_allows(&x, "setpriority", 0, 1, 0));
	CHECK(!merged_allows(&x, "ioctl", 0, 0x5412, 0) && merged_allows(&x, "ioctl", 0, 0x5401, 0));
}

TAP_MAIN(T(CARD_7_recordings_of_engines_are_accepted_and_only_tightened),
	 T(CARD_7_no_change_at_random_makes_the_merge_looser), T(limits_are_the_smaller_ones),
	 T(CARD_7_a_call_needs_both_filters), T(CARD_7_without_a_filter_of_the_engine_custodys_own_applies))
