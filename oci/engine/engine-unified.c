/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-limit.h"

/*
 * Files of cgroup v2 that libcrun writes for a member: one limit is then compared once, whichever way it was set.  The file wins
 * over the member, because libcrun writes it last.
 */
/* clang-format off */
static const struct {
	const char *file, *section, *member;
	bool text;
} places[] = {
	{ "memory.max",    "memory", "limit",       false },
	{ "memory.low",    "memory", "reservation", false },
	{ "pids.max",      "pids",   "limit",       false },
	{ "cpu.idle",      "cpu",    "idle",        false },
	{ "cpu.max.burst", "cpu",    "burst",       false },
	{ "cpuset.cpus",   "cpu",    "cpus",        true },
	{ "cpuset.mems",   "cpu",    "mems",        true },
};
/* clang-format on */

/* The kernel reads "0777" as octal: less than it looks like. */
bool engine_unified_number(const char *text, uint64_t *ret)
{
	return (text[0] != '0' || !text[1]) && str_to_size(text, ret) == 0;
}

static bool read_number(const char *text, int64_t *ret)
{
	uint64_t n;

	if (str_eq(text, "max"))
		*ret = -1;
	else if (!engine_unified_number(text, &n))
		return false;
	else
		*ret = n > INT64_MAX ? -1 : (int64_t)n;
	return true;
}

static int refuse(const char *file, const char *text, struct fault *f)
{
	return fault_set(f, EINVAL, "'unified.%.100s' '%.32s' is not a number or \"max\"", file, text);
}

static int put_number(struct jdoc *resources, size_t place, const char *text, bool approved, struct fault *f)
{
	struct jdoc *section = engine_make(resources, places[place].section, JDOC_OBJECT);
	int64_t n;

	if (!read_number(text, &n)) {
		if (!approved)
			return refuse(places[place].file, text, f);
		n = 1;
	}
	/* 0 is no limit in the members for memory and pids, and the tightest in their files. */
	jdoc_set_int(section, places[place].member, n == 0 && str_eq(places[place].member, "limit") ? 1 : n);
	return 0;
}

/* In this file the kernel skips a unit: "50K" is 50. */
static bool read_time(const char *text, int64_t *ret)
{
	return (str_eq(text, "max") || !text[strspn(text, "0123456789")]) && read_number(text, ret);
}

/* "QUOTA PERIOD", "max PERIOD", or one word. */
static int put_cpu_max(struct jdoc *resources, const char *text, bool approved, struct fault *f)
{
	struct jdoc *cpu = engine_make(resources, "cpu", JDOC_OBJECT);
	size_t len = strcspn(text, " ");
	int64_t quota = 1, period = 1000000;
	char word[32];

	(void)snprintf(word, sizeof(word), "%.*s", (int)len, text);
	if (len >= sizeof(word) || !read_time(word, &quota) || quota == 0 ||
	    (text[len] == ' ' && (!read_time(text + len + 1, &period) || period <= 0))) {
		if (!approved)
			return refuse("cpu.max", text, f);
		quota = 1;
		period = 1000000;
		len = 0;
	}
	jdoc_set_int(cpu, "quota", quota);
	if (len == 0 || text[len] == ' ')
		jdoc_set_int(cpu, "period", period);
	return 0;
}

/* "hugetlb.2MB.max" */
static int put_huge_pages(struct jdoc *resources, const char *file, const char *text, bool approved,
			  struct fault *f)
{
	struct jdoc *list = engine_make(resources, "hugepageLimits", JDOC_ARRAY), *item;
	const char *size = file + strlen("hugetlb.");
	char name[32];
	int64_t n = 0;

	if (!read_number(text, &n) && !approved)
		return refuse(file, text, f);
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(size, "."), size);
	for (size_t i = list->n_items; i > 0; i--)
		if (str_eq(jdoc_get_string(list->items[i - 1], "pageSize"), name))
			(void)jdoc_remove_item(list, i - 1);
	item = jdoc_append_object(list);
	jdoc_set_string(item, "pageSize", name);
	jdoc_set_int(item, "limit", n < 0 ? INT64_MAX : n);
	return 0;
}

static bool is_huge_pages(const char *file)
{
	const char *size = file + strlen("hugetlb.");

	return str_starts(file, "hugetlb.") && str_eq(size + strcspn(size, "."), ".max");
}

/* 1: translated. */
static int translate(struct jdoc *resources, const char *file, const char *text, bool approved,
		     struct fault *f)
{
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (!str_eq(places[i].file, file))
			continue;
		if (places[i].text)
			jdoc_set_string(engine_make(resources, places[i].section, JDOC_OBJECT),
					places[i].member, text);
		r = places[i].text ? 0 : put_number(resources, i, text, approved, f);
		return r < 0 ? r : 1;
	}
	if (str_eq(file, "cpu.max"))
		r = put_cpu_max(resources, text, approved, f);
	else if (is_huge_pages(file))
		r = put_huge_pages(resources, file, text, approved, f);
	else
		return 0;
	return r < 0 ? r : 1;
}

int engine_unified_translate(struct jdoc *resources, bool approved, struct fault *f)
{
	struct jdoc *unified = jdoc_get(resources, "unified");

	for (size_t i = engine_is(unified, JDOC_OBJECT) ? unified->n_members : 0; i > 0; i--) {
		const char *file = unified->members[i - 1].key;
		_cleanup_free_ char *text = NULL, *name = strdup(file);
		int r;

		/* libcrun skips an empty text. */
		if (!jdoc_get_string(unified, file) || !*jdoc_get_string(unified, file))
			continue;
		text = strdup(jdoc_get_string(unified, file));
		if (!text || !name)
			return fault_errno(f, ENOMEM, "limits");
		if (text[strlen(text) - 1] == '\n')
			text[strlen(text) - 1] = '\0';
		r = translate(resources, name, text, approved, f);
		if (r < 0)
			return r;
		/* RESOURCES may have moved its members. */
		unified = jdoc_get(resources, "unified");
		if (r > 0)
			(void)jdoc_remove(unified, name);
	}
	return 0;
}
