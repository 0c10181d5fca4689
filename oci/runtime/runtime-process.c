/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-process.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>

#include "base/array.h"
#include "base/json.h"

static void add_key(struct strbuf *out, const char *key)
{
	/* The first member follows the opening bracket, the others a comma. */
	strbuf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", key);
}

static void add_string(struct strbuf *out, const char *key, const char *value)
{
	add_key(out, key);
	jdoc_quote(out, value);
}

/* WAS with MORE appended. */
static void add_array(struct strbuf *out, const char *key, struct jspan was, const struct runtime_list *more)
{
	bool any = jspan_is(was, '[') && memchr(was.at, '"', was.len);

	add_key(out, key);
	strbuf_putc(out, '[');
	if (any)
		strbuf_add(out, was.at + 1, was.len - 2);
	for (size_t i = 0; i < more->n; i++) {
		if (any || i > 0)
			strbuf_putc(out, ',');
		jdoc_quote(out, more->items[i]);
	}
	strbuf_putc(out, ']');
}

/* libcrun ignores a name that it does not know, and the program would run without the capability. */
static int require_capabilities(const struct runtime_list *caps, struct fault *f)
{
	cap_value_t value;

	for (size_t i = 0; i < caps->n; i++)
		if (strncasecmp(caps->items[i], "CAP_", 4) != 0 || cap_from_name(caps->items[i], &value) < 0)
			return fault_set(
				f, EINVAL,
				"--cap: unknown capability '%s'; custody-runtime features lists them",
				caps->items[i]);
	return 0;
}

static int add_capabilities(struct strbuf *out, struct jspan process, const struct runtime_list *caps,
			    struct fault *f)
{
	static const struct {
		const char *name;
		bool added;
	} sets[] = {
		{ "bounding", true },
		{ "effective", true },
		{ "permitted", true },
		/* From these programs would hand them on, and get them without being root (CVE-2022-27650). */
		{ "inheritable", false },
		{ "ambient", false }
	};
	static const struct runtime_list none = { 0 };
	_cleanup_strbuf_ struct strbuf object = { 0 };
	struct jspan was = { 0 };

	if (jspan_get(process, "capabilities", &was) < 0)
		return fault_set(f, EINVAL, "config.json: more than one 'capabilities'");
	strbuf_putc(&object, '{');
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		struct jspan set = { 0 };

		if (jspan_get(was, sets[i].name, &set) < 0)
			return fault_set(f, EINVAL, "config.json: more than one '%s'", sets[i].name);
		add_array(&object, sets[i].name, set, sets[i].added ? caps : &none);
	}
	strbuf_putc(&object, '}');
	add_key(out, "capabilities");
	strbuf_add(out, object.text, object.len);
	out->broken |= object.broken;
	return 0;
}

static int parse_ids(const char *text, uint64_t *uid, uint64_t *gid, struct fault *f)
{
	const char *colon = strchr(text, ':');
	_cleanup_free_ char *head = colon ? strndup(text, (size_t)(colon - text)) : strdup(text);

	if (!head)
		return fault_errno(f, ENOMEM, "--user");
	*gid = 0;
	if (str_to_u64(head, uid) < 0 || (colon && str_to_u64(colon + 1, gid) < 0) || *uid >= UINT32_MAX ||
	    *gid >= UINT32_MAX)
		return fault_set(f, EINVAL, "--user takes UID or UID:GID in numbers, not '%s'", text);
	return 0;
}

static int add_gids(struct strbuf *out, bool first, const struct runtime_list *gids, struct fault *f)
{
	uint64_t gid;

	for (size_t i = 0; i < gids->n; i++, first = false) {
		if (str_to_u64(gids->items[i], &gid) < 0 || gid >= UINT32_MAX)
			return fault_set(f, EINVAL, "--additional-gids takes a number, not '%s'",
					 gids->items[i]);
		strbuf_printf(out, "%s%llu", first ? "" : ",", (unsigned long long)gid);
	}
	strbuf_puts(out, "]}");
	return 0;
}

static int add_user(struct strbuf *out, const struct runtime_options *o, struct fault *f)
{
	uint64_t uid, gid;
	int r = parse_ids(o->user, &uid, &gid, f);

	if (r < 0)
		return r;
	add_key(out, "user");
	strbuf_printf(out, "{\"uid\":%llu,\"gid\":%llu,\"additionalGids\":[", (unsigned long long)uid,
		      (unsigned long long)gid);
	return add_gids(out, true, &o->gids, f);
}

/* -g without -u: the container's own user, in more groups. */
static int add_groups(struct strbuf *out, struct jspan process, const struct runtime_options *o,
		      struct fault *f)
{
	struct jspan user = { 0 }, key, value, was = { 0 };
	const char *at = NULL;
	bool first = true;
	int r = jspan_get(process, "user", &user);

	add_key(out, "user");
	strbuf_putc(out, '{');
	while (r > 0 && (r = jspan_next_member(user, &at, &key, &value)) > 0) {
		if (jspan_key_is(key, "additionalGids")) {
			was = value;
			continue;
		}
		strbuf_add(out, key.at, key.len);
		strbuf_putc(out, ':');
		strbuf_add(out, value.at, value.len);
		strbuf_putc(out, ',');
	}
	if (r < 0)
		return fault_set(f, EINVAL, "config.json: 'process.user' cannot be read");
	strbuf_puts(out, "\"additionalGids\":[");
	for (at = NULL; jspan_is(was, '[') && jspan_next_item(was, &at, &value) > 0; first = false) {
		strbuf_puts(out, first ? "" : ",");
		strbuf_add(out, value.at, value.len);
	}
	return add_gids(out, first, &o->gids, f);
}

static bool is_replaced(struct jspan key, const struct runtime_options *o)
{
	const struct {
		const char *key;
		bool replaced;
	} members[] = {
		{ "args", true },
		{ "commandLine", true },
		{ "terminal", true },
		{ "consoleSize", true },
		{ "cwd", o->cwd },
		{ "env", o->env.n > 0 },
		{ "user", o->user || o->gids.n > 0 },
		{ "capabilities", o->caps.n > 0 },
		{ "noNewPrivileges", o->no_new_privs },
		{ "selinuxLabel", o->process_label },
		{ "apparmorProfile", o->apparmor },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (jspan_key_is(key, members[i].key))
			return members[i].replaced;
	return false;
}

/* The unchanged members, byte for byte. */
static int copy_rest(struct jspan process, const struct runtime_options *o, struct strbuf *out,
		     struct fault *f)
{
	struct jspan key, value;
	const char *at = NULL;
	bool cwd = o->cwd;
	int r;

	while ((r = jspan_next_member(process, &at, &key, &value)) > 0) {
		cwd |= jspan_key_is(key, "cwd");
		if (is_replaced(key, o))
			continue;
		if (out->len > 1)
			strbuf_putc(out, ',');
		strbuf_add(out, key.at, key.len);
		strbuf_putc(out, ':');
		strbuf_add(out, value.at, value.len);
	}
	if (!cwd)
		add_string(out, "cwd", "/");
	return r < 0 ? fault_set(f, EINVAL, "config.json: 'process' cannot be read") : 0;
}

static int add_changes(struct jspan process, const struct runtime_options *o, struct strbuf *out,
		       struct fault *f)
{
	const struct runtime_list args = { .items = (const char **)(o->args + 1), .n = o->n_args - 1 };
	struct jspan env = { 0 };
	int r = 0;

	add_array(out, "args", (struct jspan){ 0 }, &args);
	add_key(out, "terminal");
	strbuf_puts(out, o->tty ? "true" : "false");
	if (o->cwd)
		add_string(out, "cwd", o->cwd);
	if (o->env.n > 0 && jspan_get(process, "env", &env) < 0)
		return fault_set(f, EINVAL, "config.json: more than one 'env'");
	if (o->env.n > 0)
		add_array(out, "env", env, &o->env);
	if (o->no_new_privs) {
		add_key(out, "noNewPrivileges");
		strbuf_puts(out, "true");
	}
	if (o->process_label)
		add_string(out, "selinuxLabel", o->process_label);
	if (o->apparmor)
		add_string(out, "apparmorProfile", o->apparmor);
	if (o->user)
		r = add_user(out, o, f);
	else if (o->gids.n > 0)
		r = add_groups(out, process, o, f);
	if (r == 0)
		r = require_capabilities(&o->caps, f);
	if (r == 0 && o->caps.n > 0)
		r = add_capabilities(out, process, &o->caps, f);
	return r;
}

int runtime_process_make(struct jspan config, const struct runtime_options *o, struct strbuf *out,
			 struct fault *f)
{
	struct jspan process = { 0 };
	int r;

	if (jspan_get(config, "process", &process) < 0)
		return fault_set(f, EINVAL, "config.json: more than one 'process'");
	strbuf_putc(out, '{');
	r = add_changes(process, o, out, f);
	if (r == 0)
		r = copy_rest(process, o, out, f);
	if (r < 0)
		return r;
	strbuf_putc(out, '}');
	return out->broken ? fault_errno(f, ENOMEM, "exec") : 0;
}
