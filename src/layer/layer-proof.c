/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layer/layer-proof.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/str.h"

/* clang-format off */
static const struct {
	enum layer layer;
	enum init_ns ns;
} ns_layers[] = {
	{ LAYER_USER_NS, INIT_NS_USER },
	{ LAYER_PID_NS, INIT_NS_PID },
	{ LAYER_MOUNT_NS, INIT_NS_MNT },
	{ LAYER_NET_NS, INIT_NS_NET },
	{ LAYER_IPC_NS, INIT_NS_IPC },
	{ LAYER_UTS_NS, INIT_NS_UTS },
	{ LAYER_CGROUP_NS, INIT_NS_CGROUP },
};
/* clang-format on */

int proof_host_namespaces(uint64_t ret[_INIT_NS_MAX], struct fault *f)
{
	static const char *const names[_INIT_NS_MAX] = { "user", "pid", "mnt",	  "net",
							 "ipc",	 "uts", "cgroup", "time" };
	uint64_t ns[_INIT_NS_MAX] = { 0 };

	for (unsigned int n = 0; n < _INIT_NS_MAX; n++) {
		char path[32];
		struct stat st;

		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", names[n]);
		if (stat(path, &st) == 0)
			ns[n] = st.st_ino;
		else if (n != INIT_NS_TIME) /* since Linux 5.6; not a layer */
			return fault_errno(f, errno, "read own namespace '%s'", path);
	}
	memcpy(ret, ns, sizeof(ns));
	return 0;
}

void proof_doctor_id(enum layer l, char id[PROOF_ID_SIZE])
{
	(void)snprintf(id, PROOF_ID_SIZE, "LAYER-%s", layer_info(l)->name);
	for (char *c = id; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

/*
 * True if the layer is not a namespace, or one different from ours. An inode that init could not read counts
 * as ours.
 */
static bool ns_differs(const struct init_msg *report, enum layer l, const uint64_t *host_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(ns_layers); i++) {
		uint64_t inside = report->ns[ns_layers[i].ns];

		if (ns_layers[i].layer == l)
			return inside != 0 && inside != host_ns[ns_layers[i].ns];
	}
	return true;
}

/* Clocks are not separated.  0: a kernel without time namespaces. */
static bool has_our_clocks(const struct init_msg *report, const uint64_t *host_ns)
{
	return report->ns[INIT_NS_TIME] == host_ns[INIT_NS_TIME];
}

static bool layer_is_limit(enum layer l)
{
	return l >= LAYER_MEMORY_LIMIT;
}

/*
 * One clause about a missing layer. The detail was received from init: bounded, without control characters.
 */
static void put_missing(struct strbuf *b, const struct init_msg *report, enum layer l,
			const uint64_t *host_ns)
{
	const struct init_proof *p = &report->proof[l];
	const struct layer_info *info = layer_info(l);
	char id[PROOF_ID_SIZE];

	proof_doctor_id(l, id);
	strbuf_printf(b, "%slayer '%s' is missing: ", b->len ? "; " : "", info->name);
	if (layer_is_limit(l))
		strbuf_puts(b, "its cgroup files or disk watch do not enforce the limit");
	else if (!ns_differs(report, l, host_ns))
		strbuf_puts(b, "its namespace is the same as the caller's");
	else if (l == LAYER_PROCESS && p->holds && !has_our_clocks(report, host_ns))
		strbuf_puts(b, "its time namespace is not the caller's");
	else
		for (size_t i = 0; i < sizeof(p->detail) && p->detail[i]; i++)
			strbuf_putc(b, isprint((unsigned char)p->detail[i]) ? p->detail[i] : '?');
	strbuf_printf(b, "; it needs %s (custody doctor --explain %s)", info->needs, id);
}

int proof_compare(const struct init_msg *report, uint32_t asked, uint32_t optional, uint32_t limits,
		  const uint64_t host_ns[_INIT_NS_MAX], enum layer_state states[_LAYER_MAX], struct fault *f)
{
	_cleanup_strbuf_ struct strbuf missing = { 0 };
	bool refused = false;

	for (unsigned int l = 0; l < _LAYER_MAX; l++)
		states[l] = asked & LAYER_BIT(l) ? LAYER_STATE_REFUSED : LAYER_STATE_NOT_ASKED;
	if (report->magic != INIT_PROTO_MAGIC || report->type != INIT_MSG_REPORT)
		return fault_set(f, EPROTO, "unexpected message from custody-init instead of its report");

	for (unsigned int i = 0; i < _LAYER_MAX; i++) {
		enum layer l = (enum layer)i;
		bool holds;

		if (states[l] == LAYER_STATE_NOT_ASKED)
			continue;
		holds = layer_is_limit(l) ? (limits & LAYER_BIT(l)) != 0
					  : report->proof[l].holds == 1 && ns_differs(report, l, host_ns) &&
						    (l != LAYER_PROCESS || has_our_clocks(report, host_ns));
		if (holds) {
			states[l] = LAYER_STATE_PROVEN;
		} else if (optional & LAYER_BIT(l)) {
			states[l] = LAYER_STATE_OPTIONAL_MISSING;
		} else {
			refused = true;
			put_missing(&missing, report, l, host_ns);
		}
	}
	if (!refused)
		return 0;
	return fault_set(f, EPERM, "%s", missing.broken ? "a layer is missing" : missing.text);
}
