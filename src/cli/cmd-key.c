/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "approval/approval-lane.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "approval/approver.h"
#include "base/exit-status.h"

static void set_key(struct jdoc *d, const char *key, bool has, const struct sign_public *public)
{
	char text[APPROVER_KEY_SIZE];

	approver_key_text(public, text);
	jdoc_set(d, key, has ? jdoc_new_string(text) : jdoc_new_null());
}

static struct jdoc *describe(const struct approver *a)
{
	struct jdoc *d = jdoc_new_object();

	jdoc_set_string(d, "name", a->name);
	set_key(d, "key", a->has_key, &a->key);
	set_key(d, "pin_key", a->has_pin_key, &a->pin_key);
	jdoc_set_bool(d, "local", a->has_secret);
	jdoc_set_bool(d, "pin", a->has_pin_secret);
	jdoc_set_bool(d, "counts", a->counts);
	jdoc_set(d, "lane", a->lane[0] ? jdoc_new_string(a->lane) : jdoc_new_null());
	return d;
}

/* The entry for `approvers` of custody.json. */
static void print_entry(const struct approver *a, const char *lane)
{
	char key[APPROVER_KEY_SIZE];

	approver_key_text(&a->key, key);
	printf("{ \"name\": \"%s\"", a->name);
	if (a->has_key)
		printf(", \"key\": \"%s\"", key);
	approver_key_text(&a->pin_key, key);
	if (a->has_pin_key)
		printf(", \"pin_key\": \"%s\"", key);
	printf(", \"lane\": \"%s\" }\n", a->lane[0] ? a->lane : lane);
}

int cmd_key_new(struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *ledger = NULL;
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	struct approver a;
	int r = approval_lane_open_to_write(&c->dirs, c->config, &ledger, &d, f);

	if (r == 0)
		r = approver_new(&d.store, c->args[0] ? c->args[0] : c->dirs.user, &a, f);
	if (r < 0)
		return r;
	print_entry(&a, d.store.lane);
	if (d.rules.configured)
		fprintf(stderr, "add this entry to `approvers` in '%s' to activate the key\n",
			c->dirs.config_admin);
	return STATUS_OK;
}

int cmd_key_ls(struct command_call *c, struct fault *f)
{
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_approvers_ struct approver_list l = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	struct jdoc *list;
	int r = approval_lane_open(&c->dirs, c->config, NULL, &d, f);

	if (r == 0)
		r = approver_list(&d.store, &l, f);
	if (r < 0)
		return r;
	if (c->json) {
		doc = jdoc_new_object();
		jdoc_set_int(doc, "schema_version", 1);
		list = jdoc_set_array(doc, "keys");
		for (size_t i = 0; i < l.n; i++)
			jdoc_append(list, describe(&l.items[i]));
		return output_print(doc, f);
	}
	if (l.n == 0)
		printf("no approver in lane '%s'; the first one is created when it is needed, or by "
		       "'custody key new'\n",
		       d.store.lane);
	for (size_t i = 0; i < l.n; i++)
		printf("%-16s  %-10s  %-8s  %s\n", l.items[i].name,
		       l.items[i].has_secret ? "local" : "elsewhere",
		       l.items[i].has_pin_key ? "with PIN" : "no PIN",
		       l.items[i].counts ? "valid" : "not valid: not in custody.json");
	return STATUS_OK;
}

int cmd_key_show(struct command_call *c, struct fault *f)
{
	_cleanup_approval_lane_ struct approval_lane d = APPROVAL_LANE_NONE;
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	struct approver a;
	int r = approval_lane_open(&c->dirs, c->config, NULL, &d, f);

	if (r == 0)
		r = approver_find_own(&d.store, c->args[0], c->dirs.user, &a, f);
	if (r < 0)
		return r;
	if (!c->json) {
		print_entry(&a, d.store.lane);
		return STATUS_OK;
	}
	doc = describe(&a);
	jdoc_set_int(doc, "schema_version", 1);
	return output_print(doc, f);
}
