/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-request.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/json-map.h"

#define LABEL "warden request"

static void map_session(struct jmap *m, struct warden_request *o)
{
	_cleanup_free_ char *text = NULL;
	char *p = o->session;

	jmap_string(m, "session", m->reading ? &text : &p);
	if (m->r < 0 || !m->reading)
		return;
	if (strlen(text) >= sizeof(o->session) || strchr(text, '/') || text[0] == '.')
		(void)jmap_fail(m, EINVAL, "'session' is not a session id");
	else
		memcpy(o->session, text, strlen(text) + 1);
}

static void map_digest(struct jmap *m, struct warden_request *o)
{
	_cleanup_free_ char *text = NULL;
	char hex[DIGEST_HEX_SIZE], *p = hex;

	digest_to_hex(&o->digest, hex);
	jmap_string(m, "digest", m->reading ? &text : &p);
	if (m->r == 0 && m->reading && digest_from_hex(text, &o->digest) < 0)
		(void)jmap_fail(m, EINVAL, "'digest' is not a SHA-256 digest");
}

static void map_governance(struct jmap *m, struct warden_request *o)
{
	struct jdoc *section;

	if (!m->reading) {
		jdoc_set(m->d, "governance", o->governance ? jdoc_copy(o->governance) : jdoc_new_null());
		return;
	}
	if (jmap_is_null(m, "governance")) {
		char *nothing = NULL;

		jmap_string_or_null(m, "governance", &nothing);
		return;
	}
	section = jmap_value(m, "governance", JDOC_OBJECT);
	o->governance = section ? jdoc_copy(section) : NULL;
	if (m->r == 0 && !o->governance)
		(void)jmap_fail(m, ENOMEM, "out of memory");
}

static void map_order(struct jmap *m, struct warden_request *o)
{
	static const char *const levels[] = { "A", "B", "C", NULL };
	static const char *const kinds[] = { "bundle", "engine", NULL };
	const char *const lanes[] = { lane_name(LANE_SANDBOX), lane_name(LANE_PROD), NULL };
	unsigned int lane = o->lane, level = (unsigned int)(o->level - 'A'), pid = (unsigned int)o->pid;
	unsigned int kind = o->kind;

	jmap_word(m, "kind", kinds, &kind);
	map_session(m, o);
	jmap_word(m, "lane", lanes, &lane);
	jmap_string(m, "container", &o->container);
	jmap_word(m, "level", levels, &level);
	jmap_bool(m, "reserved", &o->reserved);
	map_digest(m, o);
	jmap_uint(m, "uid", &o->uid, UINT32_MAX - 1);
	jmap_string(m, "user", &o->user);
	jmap_uint(m, "pid", &pid, INT_MAX);
	jmap_bool(m, "init", &o->init);
	jmap_string(m, "profile", &o->profile);
	map_governance(m, o);
	jmap_bool(m, "tree", &o->tree);
	jmap_bool(m, "upper", &o->upper);
	jmap_bool(m, "broker", &o->broker);
	jmap_bool(m, "parent", &o->parent);
	jmap_bool(m, "once", &o->once);
	jmap_bool(m, "isolate", &o->isolate);
	jmap_uint(m, "layers", &o->layers, UINT32_MAX);
	jmap_uint(m, "optional", &o->optional, UINT32_MAX);
	jmap_uint(m, "preserved", &o->preserved, INT_MAX);
	jmap_u64(m, "exe_dev", &o->exe_dev);
	jmap_u64(m, "exe_ino", &o->exe_ino);
	if (m->r < 0 || !m->reading)
		return;
	o->kind = (enum warden_kind)kind;
	o->lane = (enum lane)lane;
	o->level = (char)('A' + (char)level);
	o->pid = (pid_t)pid;
}

size_t warden_request_fds(const struct warden_request *o)
{
	return WARDEN_FDS + (size_t)o->tree + (size_t)o->upper + (size_t)o->broker + (size_t)o->parent;
}

int warden_request_broker(const struct warden_request *o)
{
	return o->broker ? WARDEN_TREE + (int)o->tree + (int)o->upper : -EBADF;
}

int warden_request_parent(const struct warden_request *o)
{
	return o->parent ? WARDEN_TREE + (int)o->tree + (int)o->upper + (int)o->broker : -EBADF;
}

int warden_request_write(const struct warden_request *o, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jmap m;
	int r;

	if (!d)
		return fault_errno(f, ENOMEM, LABEL);
	jmap_init_write(&m, d, LABEL, f);
	/* The cast is safe: only a reading map assigns. */
	map_order(&m, (struct warden_request *)o);
	r = jmap_end(&m);
	return r < 0 ? r : jdoc_write(d, JDOC_CANONICAL, out, f);
}

int warden_request_parse(const char *text, struct warden_request *ret, struct fault *f)
{
	_cleanup_warden_request_ struct warden_request o = { .level = 'A' };
	const struct jdoc_limits limits = { .size_max = WARDEN_REQUEST_MAX };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct jmap m;
	int r;

	r = jdoc_parse(text, strlen(text), LABEL, &limits, &d, f);
	if (r < 0)
		return r;
	jmap_init_read(&m, d, LABEL, f);
	map_order(&m, &o);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	*ret = o;
	o = (struct warden_request){ 0 };
	return 0;
}

void warden_request_done(struct warden_request *o)
{
	free(o->container);
	free(o->user);
	free(o->profile);
	jdoc_free(o->governance);
	*o = (struct warden_request){ 0 };
}
