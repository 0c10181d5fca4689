/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "warden/container-compare.h"

/* The number outside of INSIDE, as /proc/PID/status shows it to us. */
static bool map_id(const struct container_compare *c, const struct container_map *m, uint64_t inside,
		   uint64_t *ret)
{
	/* In our own namespace the map is shown as seen from the parent. */
	if (c->facts->ns[INIT_NS_USER] == c->outside->ns[INIT_NS_USER]) {
		*ret = inside;
		return true;
	}
	for (size_t i = 0; i < m->n; i++)
		if (inside >= m->at[i].inside && inside - m->at[i].inside < m->at[i].count) {
			*ret = m->at[i].outside + (inside - m->at[i].inside);
			return true;
		}
	return false;
}

static bool check_ids(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;
	uint64_t uid, gid;

	if (x->map_err)
		return container_unread(why, "uid_map", x->map_err);
	if (!map_id(c, &x->uids, c->asked->uid, &uid) || !map_id(c, &x->gids, c->asked->gid, &gid))
		return container_wrong(why, "the asked user has no number outside");
	for (int i = 0; i < 4; i++)
		if (x->status.uid[i] != uid || x->status.gid[i] != gid)
			return container_wrong(why, "its ids are %" PRIu64 ":%" PRIu64 ", asked was %u:%u",
					       x->status.uid[i], x->status.gid[i], c->asked->uid,
					       c->asked->gid);
	return true;
}

static bool is_asked_group(const struct container_compare *c, uint64_t group)
{
	const struct jdoc *list = c->asked->groups;
	uint64_t outside;

	if (map_id(c, &c->facts->gids, c->asked->gid, &outside) && outside == group)
		return true;
	for (size_t i = 0; i < container_list_len(list); i++)
		if (list->items[i]->type == JDOC_INT && list->items[i]->integer >= 0 &&
		    map_id(c, &c->facts->gids, (uint64_t)list->items[i]->integer, &outside) &&
		    outside == group)
			return true;
	return false;
}

/* Where the kernel denies setgroups no process could have dropped them. */
static bool check_groups(const struct container_compare *c, char *why)
{
	const char *at = c->facts->status.groups;

	if (c->facts->setgroups_denied)
		return true;
	for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
		uint64_t group;

		if (str_take_u64(&at, 10, &group) < 0)
			return container_wrong(why, "its groups cannot be read: '%s'", at);
		if (!is_asked_group(c, group))
			return container_wrong(why, "it is in group %" PRIu64 ", which was not asked", group);
	}
	return true;
}

struct rlimit_name {
	const char *name, *line; /* in config.json, in /proc/PID/limits */
};

/* clang-format off */
static const struct rlimit_name rlimit_names[] = {
	{ "RLIMIT_AS",         "Max address space" },
	{ "RLIMIT_CORE",       "Max core file size" },
	{ "RLIMIT_CPU",        "Max cpu time" },
	{ "RLIMIT_DATA",       "Max data size" },
	{ "RLIMIT_FSIZE",      "Max file size" },
	{ "RLIMIT_LOCKS",      "Max file locks" },
	{ "RLIMIT_MEMLOCK",    "Max locked memory" },
	{ "RLIMIT_MSGQUEUE",   "Max msgqueue size" },
	{ "RLIMIT_NICE",       "Max nice priority" },
	{ "RLIMIT_NOFILE",     "Max open files" },
	{ "RLIMIT_NPROC",      "Max processes" },
	{ "RLIMIT_RSS",        "Max resident set" },
	{ "RLIMIT_RTPRIO",     "Max realtime priority" },
	{ "RLIMIT_RTTIME",     "Max realtime timeout" },
	{ "RLIMIT_SIGPENDING", "Max pending signals" },
	{ "RLIMIT_STACK",      "Max stack size" },
};
/* clang-format on */

static bool take_value(const char **at, uint64_t *ret)
{
	*at += strspn(*at, " ");
	if (str_starts(*at, "unlimited")) {
		*at += strlen("unlimited");
		*ret = UINT64_MAX;
		return true;
	}
	return str_take_u64(at, 10, ret) == 0;
}

/* A number above the largest of struct jdoc is written as a negative one, or is not in the list: both mean no limit. */
static uint64_t get_value(const struct jdoc *item, const char *key)
{
	const struct jdoc *d = jdoc_get(item, key);

	return d && d->type == JDOC_INT && d->integer >= 0 ? (uint64_t)d->integer : UINT64_MAX;
}

static bool check_rlimit(const char *text, const struct jdoc *item, char *why)
{
	const char *name = jdoc_get_string(item, "type"), *at = NULL;
	uint64_t soft, hard;

	for (size_t i = 0; name && i < ARRAY_SIZE(rlimit_names); i++)
		if (str_eq(rlimit_names[i].name, name)) {
			at = strstr(text, rlimit_names[i].line);
			at = at ? at + strlen(rlimit_names[i].line) : NULL;
		}
	if (!at || !take_value(&at, &soft) || !take_value(&at, &hard))
		return container_wrong(why, "%s cannot be read", name ? name : "a resource limit");
	if (soft > get_value(item, "soft") || hard > get_value(item, "hard"))
		return container_wrong(why, "%s is %" PRIu64 " and at most %" PRIu64 ", more than asked",
				       name, soft, hard);
	return true;
}

static bool check_rlimits(const struct container_compare *c, char *why)
{
	const struct jdoc *list = c->asked->rlimits;

	if (container_list_len(list) > 0 && !c->facts->rlimits)
		return container_wrong(why, "/proc/PID/limits cannot be read");
	for (size_t i = 0; i < container_list_len(list); i++)
		if (!check_rlimit(c->facts->rlimits, list->items[i], why))
			return false;
	return true;
}

static bool check_priorities(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;

	if (x->stat_err || x->oom_err)
		return container_unread(why, x->stat_err ? "stat" : "oom_score_adj",
					x->stat_err ? x->stat_err : x->oom_err);
	if (x->oom_score_adj < 0 && x->oom_score_adj < c->asked->oom_score_adj)
		return container_wrong(why, "its oom_score_adj is %" PRIi64 ", asked was %" PRIi64,
				       x->oom_score_adj, c->asked->oom_score_adj);
	if (c->asked->scheduler)
		return true;
	if (x->nice < 0)
		return container_wrong(why, "its nice value is %" PRIi64, x->nice);
	if (x->policy != SCHED_OTHER && x->policy != SCHED_BATCH && x->policy != SCHED_IDLE)
		return container_wrong(why, "its scheduling class is real-time (%" PRIi64 ")", x->policy);
	return true;
}

/*
 * The files in /proc of a process that is not dumpable belong to root.  Where the process is that root itself, nothing can be told
 * from them.
 */
static bool check_dumpable(const struct container_compare *c, char *why)
{
	const struct container_facts *x = c->facts;

	if (x->dumpable_err)
		return container_unread(why, "status", x->dumpable_err);
	if (x->status.uid[1] != c->outside->host_uid && x->status.uid[1] != 0 &&
	    x->files_owner == x->status.uid[1])
		return container_wrong(why, "it can be traced before its program is executed");
	return true;
}

bool container_compare_process(const struct container_compare *c, char why[CONTAINER_WHY_SIZE])
{
	const struct container_status *s = &c->facts->status;

	if (s->err)
		return container_unread(why, "status", s->err);
	if (s->umask != c->asked->umask)
		return container_wrong(why, "its umask is %03" PRIo64 ", asked was %03o", s->umask,
				       (unsigned int)c->asked->umask);
	if (s->ignored)
		return container_wrong(why, "it ignores signals: %016" PRIx64, s->ignored);
	return check_ids(c, why) && check_groups(c, why) && check_rlimits(c, why) &&
	       check_priorities(c, why) && check_dumpable(c, why);
}
