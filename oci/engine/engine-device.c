/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-device.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-namespace.h"

#define ANY (-1)

/* Those that every runtime makes, and terminals of the container's own devpts. */
/* clang-format off */
static const struct {
	int64_t major, minor;
} harmless[] = {
	{ 1, 3 }, { 1, 5 }, { 1, 7 }, { 1, 8 }, { 1, 9 }, /* null zero full random urandom */
	{ 5, 0 }, { 5, 1 }, { 5, 2 }, /* tty console ptmx */
	{ 136, ANY }, { 137, ANY }, { 138, ANY }, { 139, ANY }, { 140, ANY }, { 141, ANY }, { 142, ANY }, { 143, ANY }, /* pts */
};
/* clang-format on */

bool engine_device_is_harmless(int64_t major, int64_t minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (harmless[i].major == major && (harmless[i].minor == ANY || harmless[i].minor == minor))
			return true;
	return false;
}

static int64_t number(const struct jdoc *object, const char *key)
{
	const struct jdoc *v = jdoc_get(object, key);

	return engine_is(v, JDOC_INT) ? v->integer : ANY;
}

static int merge_node(struct engine_work *w, size_t i)
{
	const struct jdoc *device = engine_item(w->config, "linux.devices", i);
	const char *type = engine_text(device, "type"), *path = engine_text(device, "path");

	if (str_eq(type, "p"))
		return 0;
	if ((str_eq(type, "c") || str_eq(type, "u")) &&
	    engine_device_is_harmless(number(device, "major"), number(device, "minor")))
		return 0;
	return engine_require_danger(w, "no-private-devices", "'linux.devices[%zu]': device '%.200s'", i,
				     path ? path : "");
}

/* Of mknod alone: CAP_MKNOD is not among the capabilities of a profile unless it names it. */
static bool only_creates(const struct jdoc *rule)
{
	return str_eq(engine_text(rule, "access"), "m");
}

static bool is_wildcard(const struct jdoc *rule)
{
	return number(rule, "major") < 0 ||
	       !(str_eq(engine_text(rule, "type"), "c") || str_eq(engine_text(rule, "type"), "b"));
}

/* A rule for one device that is not harmless is removed: containerd allows /dev/net/tun to every container. */
static int merge_rule(struct engine_work *w, struct jdoc *rules, size_t i)
{
	const struct jdoc *rule = rules->items[i], *allow = jdoc_get(rule, "allow");
	int64_t major = number(rule, "major"), minor = number(rule, "minor");

	if (!engine_is(allow, JDOC_BOOL) || !allow->boolean || only_creates(rule))
		return 0;
	if (str_eq(engine_text(rule, "type"), "c") && engine_device_is_harmless(major, minor))
		return 0;
	if (strv_has(w->in->profile->dangerous, "no-private-devices"))
		return 0;
	if (is_wildcard(rule))
		return engine_require_danger(w, "no-private-devices",
					     "'linux.resources.devices[%zu]': access to every device", i);
	(void)jdoc_remove_item(rules, i);
	return 0;
}

/* Every device, character and block, for reading, writing and mknod. */
static bool denies_all(const struct jdoc *rule)
{
	const struct jdoc *allow = jdoc_get(rule, "allow");
	const char *type = engine_text(rule, "type"), *access = engine_text(rule, "access");

	return engine_is(allow, JDOC_BOOL) && !allow->boolean && !jdoc_get(rule, "major") &&
	       !jdoc_get(rule, "minor") && (!type || !*type || str_eq(type, "a")) && str_eq(access, "rwm");
}

/* Without it the kernel, or the parent's cgroup, allows the rest: an image may have a node of any device. */
static void deny_first(struct jdoc *rules)
{
	struct jdoc *deny, **items = rules->items;

	if (rules->n_items > 0 && denies_all(items[0]))
		return;
	deny = jdoc_append_object(rules);
	jdoc_set_bool(deny, "allow", false);
	jdoc_set_string(deny, "access", "rwm");
	if (rules->broken)
		return;
	items = rules->items;
	memmove(items + 1, items, (rules->n_items - 1) * sizeof(*items));
	items[0] = deny;
}

static int merge_rules(struct engine_work *w, struct jdoc *rules)
{
	int r = 0;

	for (size_t i = rules->n_items; r == 0 && i-- > 0;)
		r = merge_rule(w, rules, i);
	if (r == 0 && !strv_has(w->in->profile->dangerous, "no-private-devices"))
		deny_first(rules);
	return r;
}

/* Root of a user namespace may not write rules, and opens no device by a node of an image. */
static bool needs_rules(const struct engine_work *w)
{
	return engine_count(w->config, "linux.resources.devices") > 0 ||
	       (!w->in->no_cgroup && !engine_caller_is_mapped());
}

int engine_merge_devices(struct engine_work *w)
{
	int r = 0;

	if (!engine_asks(w, LAYER_DEVICES))
		return 0;
	for (size_t i = 0; r == 0 && i < engine_count(w->config, "linux.devices"); i++)
		r = engine_item(w->config, "linux.devices", i)->type == JDOC_OBJECT ? merge_node(w, i) : 0;
	if (r == 0 && needs_rules(w))
		r = merge_rules(w, engine_make(engine_make(engine_make(w->config, "linux", JDOC_OBJECT),
							   "resources", JDOC_OBJECT),
					       "devices", JDOC_ARRAY));
	return r;
}
