/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Texts of /proc as values. Pure: the caller passes the texts, so that a unit test can pass those of any
 * host.
 */

struct facts_status {
	bool complete; /* all fields below were found */
	int seccomp, seccomp_filters, no_new_privs;
	uint64_t cap_inh, cap_prm, cap_eff, cap_bnd, cap_amb;
	uint64_t sig_ign;
};

void facts_parse_status(const char *text, struct facts_status *ret);

/* First line of a uid_map or gid_map; false if the file is empty (nothing mapped yet). */
struct facts_map {
	uint64_t inside, outside, count;
};
bool facts_parse_map(const char *text, struct facts_map *ret);
/* Is all of TEXT the map ASKED, "INSIDE:OUTSIDE:COUNT,...", in this order? */
bool facts_map_is(const char *text, const char *asked);

/* Are all paths of /proc/self/cgroup "/"?  RET_PATH: the first that is not. */
bool facts_cgroup_is_root(const char *text, const char **ret_path, size_t *ret_len);

/* One line of mountinfo.  Fields point into the text, which is cut into strings by the call. */
struct facts_mount {
	uint64_t id;
	char *root;  /* within its file system */
	char *point; /* octal escapes replaced */
	char *flags; /* "ro,nosuid,nodev" of this mount */
	char *tags;  /* "shared:1 master:2", may be empty */
	char *fstype, *source;
	char *super; /* options of the file system */
};

/* False at the end; a malformed line sets *BROKEN. */
bool facts_next_mount(char **at, struct facts_mount *ret, bool *broken);
/*
 * The namespace of a session with allowed hosts: in /proc/net/dev no device but lo; in fib_trie the routes of 127.0.0.0/8 and
 * 198.18.0.0/15 to this machine, and nothing else (RET_BAD: the first that is); in ipv6_route at most ::1.
 */
bool facts_has_only_loopback(const char *dev);
bool facts_has_only_own_routes(const char *fib, const char **ret_bad, size_t *ret_len);
bool facts_has_no_ipv6_route(const char *routes);

bool facts_has_word(const char *list, const char *word);   /* in "a,b,c" */
bool facts_is_below(const char *path, const char *parent); /* equal or below */
