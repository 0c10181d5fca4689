/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-update.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "container/container-info.h"
#include "oci/engine/engine-impl.h"

#define STATE "update"
#define LOCK "update.lock"
#define STATE_MAX ((size_t)4 * 1024 * 1024)
#define SEEN_MAX 64

static const struct jdoc_limits limits = { .wide = true };

/* Annotations that the CRI plug-in of containerd and CRI-O write into each configuration. */
static bool is_cri(const struct jdoc *config)
{
	const struct jdoc *a = jdoc_get(config, "annotations");

	return jdoc_get(a, "io.kubernetes.cri.container-type") ||
	       jdoc_get(a, "io.kubernetes.cri-o.ContainerType");
}

static int open_session(struct engine_update *u, struct fault *f)
{
	u->session = open(u->record.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u->session < 0 && errno == ENOENT)
		return fault_set(f, ESRCH, "the container has ended");
	if (u->session < 0)
		return fault_errno(f, errno, "open '%s'", u->record.path);
	return dirs_require_own(u->session, u->record.path, f);
}

static int take_lock(struct engine_update *u, struct fault *f)
{
	int r;

	u->lock = openat(u->session, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (u->lock < 0)
		return fault_errno(f, errno, "open '%s/" LOCK "'", u->record.path);
	do
		r = flock(u->lock, LOCK_EX);
	while (r < 0 && errno == EINTR);
	return r < 0 ? fault_errno(f, errno, "lock '%s/" LOCK "'", u->record.path) : 0;
}

/* The merged configuration, which the warden's data has: no engine writes there. */
static int read_approved(struct engine_update *u, struct fault *f)
{
	_cleanup_container_info_ struct container_info info = { 0 };
	_cleanup_jdoc_ struct jdoc *config = NULL;
	const struct jdoc *resources;
	int r = container_info_read(u->session, &info, f);

	if (r >= 0)
		r = jdoc_parse(info.config, info.config_len, "config.json", &limits, &config, f);
	if (r < 0)
		return r;
	if (!str_eq(info.container, u->container))
		return fault_set(f, EPERM, "its session is that of container '%s'", info.container);
	u->cri = is_cri(config);
	resources = engine_at(config, "linux.resources");
	/* Owned by the record. */
	u->limits.engine = u->record.resources;
	u->limits.approved = engine_is(resources, JDOC_OBJECT) ? jdoc_copy(resources) : jdoc_new_object();
	return u->limits.approved ? 0 : fault_errno(f, ENOMEM, "limits");
}

/* Between libcrun's create and the record: the FIFO is there until the start, which needs the record. */
static bool is_being_created(const char *dir)
{
	_cleanup_free_ char *path = NULL;

	return asprintf(&path, "%s/exec.fifo", dir) < 0 || access(path, F_OK) == 0;
}

int engine_update_open(const char *dir, const char *container, bool v2, struct engine_update *ret,
		       struct fault *f)
{
	_cleanup_engine_update_ struct engine_update u = ENGINE_UPDATE_NONE;
	int r = engine_record_read(dir, &u.record, f);

	/* `run` without --detach writes none; every governed container has one once it is created. */
	if (r == -ENOENT && is_being_created(dir))
		return fault_wrap(f, r, "not updated: the container is being created; repeat the command");
	if (r == -ENOENT) {
		if (f)
			fault_done(f);
		*ret = ENGINE_UPDATE_NONE;
		return 0;
	}
	u.container = container;
	u.limits.v2 = v2;
	if (r >= 0 && u.record.governed) {
		r = open_session(&u, f);
		if (r >= 0)
			r = take_lock(&u, f);
		if (r >= 0)
			r = read_approved(&u, f);
		if (r >= 0)
			r = engine_record_dirs(&u.record, &u.dirs, f);
		if (r >= 0)
			r = ledger_open(u.dirs.state, NULL, &u.ledger, NULL, f);
	}
	if (r < 0)
		return fault_wrap(f, r, "not updated");
	*ret = u;
	u = ENGINE_UPDATE_NONE;
	return 0;
}

/* Missing: nothing was set since create. */
static int read_state(struct engine_update *u, struct fault *f)
{
	_cleanup_close_ int fd = openat(u->session, STATE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = 0;

	if (fd < 0 && errno != ENOENT)
		return fault_errno(f, errno, "open '%s/" STATE "'", u->record.path);
	if (fd >= 0)
		r = fd_require_private(fd, geteuid(), f);
	if (fd >= 0 && r >= 0)
		r = fd_read_all(fd, STATE_MAX, &text, &len, f);
	if (fd >= 0 && r >= 0)
		r = jdoc_parse(text, len, STATE, &limits, &d, f);
	if (r < 0)
		return r;
	if (d &&
	    (!engine_is(jdoc_get(d, "current"), JDOC_OBJECT) || !engine_is(jdoc_get(d, "seen"), JDOC_ARRAY)))
		return fault_set(f, EINVAL, "'%s/" STATE "' is not a record of updates", u->record.path);
	u->limits.current = jdoc_copy(d ? jdoc_get(d, "current") : u->limits.approved);
	u->seen = d ? jdoc_copy(jdoc_get(d, "seen")) : jdoc_new_array();
	return u->limits.current && u->seen ? 0 : fault_errno(f, ENOMEM, "limits");
}

static int write_state(const struct engine_update *u, const struct jdoc *current, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	jdoc_set(d, "current", jdoc_copy(current));
	jdoc_set(d, "seen", jdoc_copy(u->seen));
	r = d ? jdoc_write(d, JDOC_CANONICAL, &text, f) : fault_errno(f, ENOMEM, "limits");
	return r < 0 ? r : fd_replace_file(u->session, STATE, text.text, text.len, 0600, f);
}

static int record(struct engine_update *u, const char *status, const char *why, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const struct ledger_event e = {
		.kind = "container.update", .session = u->record.session, .status = status, .d = d
	};

	jdoc_set_string(d, "container", u->container);
	jdoc_set(d, "by", ledger_text(u->dirs.user));
	if (u->result.looser->n_items > 0)
		jdoc_set(d, "looser", jdoc_copy(u->result.looser));
	if (why)
		jdoc_set(d, "why", ledger_text(why));
	if (!str_eq(status, "denied"))
		jdoc_set(d, "set", jdoc_copy(u->asked));
	return ledger_append(u->ledger, &e, 1, LEDGER_DECIDED, NULL, f);
}

static int refuse(struct engine_update *u, struct fault *f)
{
	const struct jdoc *first = u->result.looser->items[0];
	const char *option = u->result.option;
	const size_t more = u->result.looser->n_items - 1;
	int r = record(u, "denied", NULL, f);

	if (r < 0)
		return fault_wrap(f, r, "not updated, and not recorded");
	return fault_set(
		f, EPERM,
		"not updated: '%.200s' was approved as %.200s, and %.200s is looser%s; nothing was changed; "
		"create the container again with %s%s%.200s",
		jdoc_get_string(first, "member"), jdoc_get_string(first, "approved"),
		jdoc_get_string(first, "asked"), more ? ", like others of this call" : "",
		option ? option : "the new value", option ? " " : "",
		option ? jdoc_get_string(first, "asked") : "");
}

/* ASKED before it is clamped, and what it became: a kubelet repeats both. */
static int hash_call(struct engine_update *u, const char *text, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf all = { 0 };
	struct digest d;
	int r;

	strbuf_printf(&all, "%s\n", text);
	r = jdoc_write(u->asked, JDOC_CANONICAL, &all, f);
	if (r < 0)
		return r;
	digest_bytes(all.text, all.len, &d);
	digest_to_hex(&d, u->digest);
	u->repeated = u->cri && engine_list_has(u->seen, u->digest);
	return 0;
}

static int clamp(struct engine_update *u, const char *text, struct fault *f)
{
	int r = jdoc_parse(text, strlen(text), "resources", &limits, &u->asked, f);

	if (r >= 0 && u->asked->type != JDOC_OBJECT)
		r = fault_set(f, EINVAL, "not updated: the resources are not an object");
	if (r >= 0)
		r = engine_limits_normalize(&u->limits, u->asked, f);
	if (r >= 0)
		r = read_state(u, f);
	return r < 0 ? r : engine_limits_clamp(&u->limits, u->asked, &u->result, f);
}

/*
 * Once it has fallen to 0 the kernel has forgotten the weight.  So a rise is kept before libcrun is called, and not set back:
 * neither a failure nor a kill leaves a state from which it could fall.
 */
static int keep_idle(struct engine_update *u, struct fault *f)
{
	const struct jdoc *idle = engine_at(u->asked, "cpu.idle");

	if (!engine_is(idle, JDOC_INT) || idle->integer == 0)
		return 0;
	jdoc_set_int(engine_make(u->limits.current, "cpu", JDOC_OBJECT), "idle", 1);
	return u->limits.current->broken ? fault_errno(f, ENOMEM, "limits")
					 : write_state(u, u->limits.current, f);
}

int engine_update_decide(struct engine_update *u, const char *text, char **ret_set, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf set = { 0 };
	int r = clamp(u, text, f);

	if (r < 0)
		return r;
	*ret_set = NULL;
	if (u->result.looser->n_items > 0 && !u->cri)
		return refuse(u, f);
	/* Every member was "not set". */
	u->repeated = u->asked->n_members == 0 && u->result.looser->n_items == 0;
	if (!u->repeated)
		r = hash_call(u, text, f);
	if (r >= 0 && !u->repeated)
		r = record(u, u->result.looser->n_items > 0 ? "clamped" : "ok", NULL, f);
	if (r < 0)
		return fault_wrap(f, r, "not updated");
	u->next = jdoc_copy(u->limits.current);
	if (u->next)
		engine_limits_overlay(u->next, u->asked);
	if (!u->next || u->next->broken)
		return fault_errno(f, ENOMEM, "not updated");
	if (u->asked->n_members == 0)
		return 0;
	r = keep_idle(u, f);
	if (r < 0)
		return fault_wrap(f, r, "not updated");
	r = jdoc_write(u->asked, JDOC_CANONICAL, &set, f);
	if (r >= 0)
		*ret_set = strbuf_take(&set);
	return r;
}

/* Members of SHAPE, with the values of FROM. */
static void project(struct jdoc *to, const struct jdoc *shape, const struct jdoc *from)
{
	for (size_t i = 0; i < shape->n_members; i++) {
		const char *key = shape->members[i].key;
		const struct jdoc *was = jdoc_get(from, key);

		if (engine_is(was, JDOC_OBJECT) && shape->members[i].value->type == JDOC_OBJECT)
			project(jdoc_set_object(to, key), shape->members[i].value, was);
		else if (was)
			jdoc_set(to, key, jdoc_copy(was));
	}
}

char *engine_update_undo(const struct engine_update *u)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };

	if (!d)
		return NULL;
	project(d, u->asked, u->limits.current);
	if (jdoc_get(d, "cpu"))
		(void)jdoc_remove(jdoc_get(d, "cpu"), "idle");
	return jdoc_write(d, JDOC_CANONICAL, &text, NULL) < 0 ? NULL : strbuf_take(&text);
}

static int see(struct engine_update *u, bool changed, struct fault *f)
{
	if (changed) {
		jdoc_free(u->seen);
		u->seen = jdoc_new_array();
	}
	while (u->seen && u->seen->n_items >= SEEN_MAX)
		(void)jdoc_remove_item(u->seen, 0);
	if (u->seen && u->cri && u->digest[0] && !engine_list_has(u->seen, u->digest))
		jdoc_append_string(u->seen, u->digest);
	return u->seen ? 0 : fault_errno(f, ENOMEM, "limits");
}

int engine_update_end(struct engine_update *u, int r, struct fault *f)
{
	const bool changed = r >= 0 && !jdoc_equal(u->limits.current, u->next);
	_cleanup_fault_ struct fault why = { 0 };
	int e = 0;

	if (r < 0 && !u->repeated)
		e = record(u, "failed", fault_text(f), &why);
	if (e >= 0)
		e = see(u, changed, &why);
	if (e >= 0)
		e = write_state(u, r < 0 ? u->limits.current : u->next, &why);
	if (e < 0 && r >= 0)
		return fault_set(f, -e, "updated, but not kept for the next update: %s", fault_text(&why));
	return r;
}

void engine_update_done(struct engine_update *u)
{
	ledger_free(u->ledger);
	engine_limits_result_done(&u->result);
	jdoc_free(u->limits.approved);
	jdoc_free(u->limits.current);
	jdoc_free(u->asked);
	jdoc_free(u->next);
	jdoc_free(u->seen);
	u->lock = fd_close(u->lock);
	u->session = fd_close(u->session);
	dirs_done(&u->dirs);
	engine_record_done(&u->record);
}
