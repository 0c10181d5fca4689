/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/exit-status.h"
#include "base/local-time.h"
#include "base/process.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/dispatch.h"
#include "cli/output.h"
#include "credential/credential.h"
#include "ledger/ledger-action.h"
#include "tty/prompt.h"
#include "tty/table.h"

#define PROMPT_SECONDS 300

/* A value is in this process: no dump of it, and no debugger of another process of this user. */
static void protect(void)
{
	process_forbid_core();
	(void)prctl(PR_SET_DUMPABLE, 0);
}

static int record(const struct command_call *c, const char *kind, const struct credential_info *i,
		  struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *hosts;

	jdoc_set_string(d, "name", i->name);
	if (i->kind != CREDENTIAL_NONE) {
		jdoc_set_string(d, "source", credential_kind_name(i->kind));
		hosts = jdoc_set_array(d, "hosts");
		for (char **host = i->hosts; host && *host; host++)
			jdoc_append_string(hosts, *host);
	}
	return ledger_action_append(c->dirs.state, c->dirs.user, kind, NULL, d, f);
}

/* At a terminal without echo, else all of stdin. */
static int read_value(struct secret **ret, struct fault *f)
{
	_cleanup_prompt_ struct prompt tty = PROMPT_NONE;
	_cleanup_secret_ struct secret *s = NULL;
	size_t left;
	char *room;
	int r;

	if (!isatty(STDIN_FILENO)) {
		r = secret_read(STDIN_FILENO, CREDENTIAL_VALUE_MAX + 2, ret, f);
		return r < 0 ? fault_wrap(f, r, "the value from stdin") : 0;
	}
	r = secret_new(PROMPT_LINE_MAX, &s, f);
	if (r == 0)
		r = prompt_open(&tty, f);
	if (r < 0)
		return r;
	room = secret_room(s, &left);
	r = prompt_ask(&tty, "value of the credential: ", false, PROMPT_SECONDS, room, left, f);
	if (r < 0)
		return r;
	secret_grow(s, strlen(room));
	*ret = TAKE_PTR(s);
	return 0;
}

static int fill(const struct command_call *c, struct credential_info *i, struct fault *f)
{
	if (!credential_name_is_valid(c->args[0]))
		return fault_set(f, EINVAL,
				 "name of a credential must be 1 to %d of a-z, 0-9, '.', '_' and '-'",
				 CREDENTIAL_NAME_MAX);
	for (char **host = c->hosts; host && *host; host++)
		if (!credential_host_is_valid(*host))
			return fault_set(f, EINVAL, "--host '%s': use a name, or '*.' and a name", *host);
	if (strv_len(c->hosts) > CREDENTIAL_HOSTS_MAX)
		return fault_set(f, EINVAL, "at most %d hosts", CREDENTIAL_HOSTS_MAX);
	(void)snprintf(i->name, sizeof(i->name), "%s", c->args[0]);
	i->kind = c->from_file	    ? CREDENTIAL_FILE
		  : c->from_systemd ? CREDENTIAL_SYSTEMD
		  : c->from_exec    ? CREDENTIAL_EXEC
				    : CREDENTIAL_VALUE;
	i->source = (char *)(c->from_file ? c->from_file : c->from_systemd ? c->from_systemd : c->from_exec);
	i->hosts = c->hosts;
	return credential_check_source(i, f);
}

int cmd_credential_add(struct command_call *c, struct fault *f)
{
	_cleanup_secret_ struct secret *value = NULL;
	struct credential_info i = { 0 }; /* borrows all from C */
	bool replaced;
	int r = fill(c, &i, f);

	protect();
	if (r == 0 && i.kind == CREDENTIAL_VALUE)
		r = read_value(&value, f);
	if (r == 0 && value) {
		secret_cut_line_end(value);
		r = credential_check_value(secret_bytes(value), secret_len(value), f);
	}
	if (r == 0)
		r = record(c, "credential.add", &i, f);
	if (r == 0)
		r = credential_add(&c->dirs, &i, value, &replaced, f);
	if (r < 0)
		return r;
	printf("%s credential '%s' of lane '%s'\n", replaced ? "replaced" : "added", i.name,
	       lane_name(c->dirs.lane));
	return STATUS_OK;
}

int cmd_credential_rm(struct command_call *c, struct fault *f)
{
	struct credential_info i = { 0 };
	int r;

	if (!credential_name_is_valid(c->args[0]))
		return fault_set(f, EINVAL, "'%s' is no name of a credential", c->args[0]);
	(void)snprintf(i.name, sizeof(i.name), "%s", c->args[0]);
	r = record(c, "credential.rm", &i, f);
	if (r == 0)
		r = credential_remove(&c->dirs, i.name, f);
	if (r < 0)
		return r;
	printf("removed credential '%s' of lane '%s'\n", i.name, lane_name(c->dirs.lane));
	return STATUS_OK;
}

static void set_time(struct jdoc *d, const char *key, uint64_t us)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format(us, text);
	jdoc_set(d, key, us > 0 ? jdoc_new_string(text) : jdoc_new_null());
}

static void describe(struct jdoc *list, const struct credential_info *i)
{
	struct jdoc *d = jdoc_append_object(list), *hosts;

	jdoc_set_string(d, "name", i->name);
	jdoc_set_string(d, "kind", credential_kind_name(i->kind));
	jdoc_set(d, "source", i->source ? ledger_text(i->source) : jdoc_new_null());
	jdoc_set_string(d, "lane", lane_name(i->lane));
	jdoc_set_string(d, "class", network_class_name(i->class));
	hosts = jdoc_set_array(d, "hosts");
	for (char **host = i->hosts; host && *host; host++)
		jdoc_append_string(hosts, *host);
	set_time(d, "created", i->created_us);
	set_time(d, "used", i->used_us);
	set_time(d, "expires", i->expires_us);
}

static int print_json(const struct credential_list *l, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *list;

	jdoc_set_int(d, "schema_version", 1);
	list = jdoc_set_array(d, "credentials");
	for (size_t k = 0; k < l->n; k++)
		describe(list, &l->items[k]);
	list = jdoc_set_array(d, "refused");
	for (char **why = l->damaged; why && *why; why++)
		jdoc_append(list, ledger_text(*why));
	return output_print(d, f);
}

static void put_row(struct table *t, const struct credential_info *i)
{
	char used[LOCAL_TIME_SIZE] = "", expires[LOCAL_TIME_SIZE] = "";
	_cleanup_strbuf_ struct strbuf hosts = { 0 };

	if (i->used_us > 0)
		local_time_minute(i->used_us, used);
	if (i->expires_us > 0)
		local_time_minute(i->expires_us, expires);
	for (char **host = i->hosts; host && *host; host++)
		strbuf_printf(&hosts, "%s%s", hosts.len ? " " : "", *host);
	table_put(t, (const char *const[]){ i->name, credential_kind_name(i->kind), lane_name(i->lane),
					    network_class_name(i->class), used, expires, hosts.text });
}

static void print_table(const struct credential_list *l)
{
	static const struct table_column columns[] = {
		{ .title = "NAME" },	 { .title = "KIND" },
		{ .title = "LANE" },	 { .title = "CLASS", .extra = true },
		{ .title = "LAST USE" }, { .title = "EXPIRES", .extra = true },
		{ .title = "HOSTS" },
	};
	_cleanup_table_ struct table t;

	table_init(&t, columns, ARRAY_SIZE(columns), stdout);
	for (size_t k = 0; k < l->n; k++)
		put_row(&t, &l->items[k]);
	table_end(&t, NULL);
}

int cmd_credential_ls(struct command_call *c, struct fault *f)
{
	_cleanup_credential_list_ struct credential_list l = { 0 };
	int r = credential_load_list(&c->dirs, &l, f);

	if (r < 0)
		return r;
	if (c->json) {
		r = print_json(&l, f);
	} else if (l.n > 0) {
		print_table(&l);
	} else if (!l.damaged) {
		printf("no credential in lane '%s'; to add one: custody credential add NAME\n",
		       lane_name(c->dirs.lane));
	}
	for (char **why = l.damaged; why && *why && !c->json; why++) {
		_cleanup_free_ char *shown = str_escape(*why);

		fprintf(stderr, PACKAGE_NAME " credential: refused: %s\n", shown ? shown : "?");
	}
	return r < 0 ? r : l.damaged ? STATUS_NO : STATUS_OK;
}

static int report(const struct command_call *c, const struct credential_info *i, const char *why,
		  struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	char expires[LOCAL_TIME_SIZE];
	int r = 0;

	if (c->json) {
		d = jdoc_new_object();
		jdoc_set_int(d, "schema_version", 1);
		jdoc_set_string(d, "name", c->args[0]);
		jdoc_set_bool(d, "ok", !why);
		jdoc_set(d, "why", why ? ledger_text(why) : jdoc_new_null());
		set_time(d, "expires", why ? 0 : i->expires_us);
		r = output_print(d, f);
	} else if (why) {
		_cleanup_free_ char *shown = str_escape(why);

		fprintf(stderr, PACKAGE_NAME " credential test: %s\n", shown ? shown : "?");
	} else if (i->expires_us > 0) {
		local_time_minute(i->expires_us, expires);
		printf("credential '%s' can be loaded; it expires at %s\n", i->name, expires);
	} else {
		printf("credential '%s' can be loaded\n", i->name);
	}
	return r < 0 ? r : why ? STATUS_NO : STATUS_OK;
}

int cmd_credential_test(struct command_call *c, struct fault *f)
{
	_cleanup_credential_ struct credential *credential = NULL;
	_cleanup_fault_ struct fault why = { 0 };
	struct credential_info i = { 0 };
	const struct secret *value;
	int r;

	protect();
	if (!credential_name_is_valid(c->args[0]))
		return fault_set(f, EINVAL, "'%s' is no name of a credential", c->args[0]);
	(void)snprintf(i.name, sizeof(i.name), "%s", c->args[0]);
	r = record(c, "credential.test", &i, f);
	if (r < 0)
		return r;
	r = credential_open(&c->dirs, i.name, NULL, &credential, &why);
	if (r == -LANE_REFUSED)
		return fault_set(f, LANE_REFUSED, "%s", fault_text(&why));
	if (r == 0)
		r = credential_value(credential, &value, &why);
	return report(c, credential ? credential_info(credential) : &i, r < 0 ? fault_text(&why) : NULL, f);
}
