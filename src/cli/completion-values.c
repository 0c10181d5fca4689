/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "approval/approval-lane.h"
#include "approval/grant.h"
#include "approval/request.h"
#include "base/array.h"
#include "cli/cmd-profile.h"
#include "cli/command-help.h"
#include "cli/completion.h"
#include "credential/credential.h"
#include "evidence/delivery.h"
#include "evidence/evidence-store.h"
#include "profile/profile-file.h"
#include "session/session-note.h"
#include "state/sandbox-root.h"

struct lane_state {
	struct dirs dirs;
	struct config *config;
	FILE *out;
};

/*
 * Shells expand the words of a completion (bash's compgen -W runs $(...)), and a payload's agent chooses names: only names
 * without a character that a shell interprets are offered.
 */
static void put(const struct lane_state *l, const char *name)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+@%,";

	if (name && name[0] && name[0] != '-' && strspn(name, safe) == strlen(name))
		fprintf(l->out, "%s\n", name);
}

static bool is_any(const struct session_note *n)
{
	return n->session[0] != '\0';
}

static bool is_kept(const struct session_note *n)
{
	return n->kept;
}

static bool is_running(const struct session_note *n)
{
	return n->state == SESSION_RUNNING;
}

/* Every word that session_pick takes: `last`, the id, its digits, the name. */
static void put_sessions_of(const struct lane_state *l, bool (*is_wanted)(const struct session_note *n))
{
	_cleanup_session_notes_ struct session_note_list list = { 0 };
	bool any = false;

	if (session_note_list(&l->dirs, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n; i++) {
		const struct session_note *n = &list.items[i];
		const char *digits = strrchr(n->session, '-');

		if (!is_wanted(n))
			continue;
		if (!any)
			put(l, "last");
		any = true;
		put(l, n->session);
		put(l, digits ? digits + 1 : NULL);
		put(l, n->name);
	}
}

static void put_sessions(const struct lane_state *l)
{
	put_sessions_of(l, is_any);
}

static void put_ids(const struct lane_state *l)
{
	_cleanup_session_notes_ struct session_note_list list = { 0 };

	if (session_note_list(&l->dirs, &list, NULL) == 0)
		for (size_t i = 0; i < list.n; i++)
			put(l, list.items[i].session);
}

static void put_kept(const struct lane_state *l)
{
	put_sessions_of(l, is_kept);
}

static void put_running(const struct lane_state *l)
{
	put_sessions_of(l, is_running);
}

static void put_profiles(const struct lane_state *l)
{
	_cleanup_profile_place_ struct profile_place place = { 0 };
	_cleanup_free_ char *own = NULL;

	if (profile_place_init(&place, NULL) < 0)
		return;
	own = profile_worktree_dir(place.cwd);
	for (size_t i = 0; i < 4; i++) {
		_cleanup_strv_ char **names = NULL;
		const char *dir = place.search[i] ? place.search[i] : own;

		if (dir && profile_dir_list(dir, &names, NULL) == 0)
			for (char **name = names; name && *name; name++)
				put(l, *name);
		if (!place.search[i])
			break;
	}
}

static void put_lanes(const struct lane_state *l)
{
	for (int lane = 0; lane < _LANE_MAX; lane++)
		put(l, lane_name((enum lane)lane));
}

/* Opening the store creates the lane's directory; a completion creates nothing. */
static int open_approval(const struct lane_state *l, struct approval_lane *ret)
{
	return access(l->dirs.state, F_OK) < 0 ? -ENOENT
					       : approval_lane_open(&l->dirs, l->config, NULL, ret, NULL);
}

static void put_requests(const struct lane_state *l)
{
	_cleanup_approval_lane_ struct approval_lane a = APPROVAL_LANE_NONE;
	_cleanup_requests_ struct request_list list = { 0 };

	if (open_approval(l, &a) < 0 || request_list(&a.store, true, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n; i++)
		put(l, list.items[i].id);
}

static void put_grants(const struct lane_state *l)
{
	_cleanup_approval_lane_ struct approval_lane a = APPROVAL_LANE_NONE;
	_cleanup_grants_ struct grant_set set = { 0 };

	if (open_approval(l, &a) < 0 || grant_list(&a.store, &set, NULL) < 0)
		return;
	for (size_t i = 0; i < set.n; i++)
		put(l, set.items[i].grant.id);
}

static void put_approvers(const struct lane_state *l)
{
	_cleanup_approval_lane_ struct approval_lane a = APPROVAL_LANE_NONE;
	_cleanup_approvers_ struct approver_list list = { 0 };

	if (open_approval(l, &a) < 0 || approver_list(&a.store, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n; i++)
		put(l, list.items[i].name);
}

static void put_evidence_of(const struct lane_state *l, const char *store)
{
	_cleanup_evidence_ struct evidence_list list = { 0 };

	if (evidence_list(store, l->dirs.lane, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n; i++)
		put(l, list.items[i].name);
}

/* A store on a network share is not read: it may not respond, and a completion must. */
static void put_evidence(const struct lane_state *l)
{
	_cleanup_delivery_place_ struct delivery_place place = { 0 };

	if (delivery_place(&l->dirs, l->config, &place, NULL) < 0)
		return;
	put_evidence_of(l, place.staging);
	if (place.direct)
		put_evidence_of(l, place.store);
}

static void put_sandboxes(const struct lane_state *l)
{
	DIR *dir = opendir(l->dirs.sandboxes);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (sandbox_name_is_valid(e->d_name))
			put(l, e->d_name);
	if (dir)
		(void)closedir(dir);
}

static void put_credentials(const struct lane_state *l)
{
	_cleanup_credential_list_ struct credential_list list = { 0 };

	if (credential_load_list(&l->dirs, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n; i++)
		put(l, list.items[i].name);
}

static void put_topics(const struct lane_state *l)
{
	for (const struct command *c = commands; c->name; c++)
		put(l, c->name);
}

/* clang-format off */
static const struct {
	enum candidates kind;
	void (*print)(const struct lane_state *l);
} kinds[] = {
	{ CANDIDATES_SESSION,  put_sessions },
	{ CANDIDATES_SESSION_ID, put_ids },
	{ CANDIDATES_KEPT,     put_kept },
	{ CANDIDATES_RUNNING,  put_running },
	{ CANDIDATES_PROFILE,  put_profiles },
	{ CANDIDATES_LANE,     put_lanes },
	{ CANDIDATES_REQUEST,  put_requests },
	{ CANDIDATES_GRANT,    put_grants },
	{ CANDIDATES_APPROVER, put_approvers },
	{ CANDIDATES_EVIDENCE, put_evidence },
	{ CANDIDATES_SANDBOX,  put_sandboxes },
	{ CANDIDATES_CREDENTIAL, put_credentials },
	{ CANDIDATES_TOPIC,    put_topics },
};
/* clang-format on */

void completion_print_values(const char *kind, const char *lane, FILE *out)
{
	struct lane_state l = { .out = out };
	bool opened = config_open(lane, &l.dirs, &l.config, NULL) == 0;

	/* While a lane is typed it is no valid one yet. */
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((opened || kinds[i].kind == CANDIDATES_LANE) &&
		    strcmp(command_candidates_name(kinds[i].kind), kind) == 0)
			kinds[i].print(&l);
	config_free(l.config);
	dirs_done(&l.dirs);
}

void completion_print_words(const char *words, FILE *out)
{
	for (; *words; words++)
		fputc(*words == '|' ? ' ' : *words, out);
}
