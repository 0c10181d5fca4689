/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/delivery.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "evidence/evidence-store.h"
#include "evidence/mount-type.h"

#define STATE_FILE ".note"
#define STATE_MAX ((size_t)16 * 1024)

void delivery_place_done(struct delivery_place *p)
{
	free(p->store);
	free(p->staging);
	free(p->type);
	*p = (struct delivery_place){ 0 };
}

void delivery_state_done(struct delivery_state *n)
{
	free(n->store);
	free(n->share);
	free(n->error);
	*n = (struct delivery_state){ 0 };
}

static char *copy_text(const struct jdoc *o, const char *key)
{
	const char *text = jdoc_get_string(o, key);

	return text ? strdup(text) : NULL;
}

static uint64_t read_number(const struct jdoc *o, const char *key)
{
	const struct jdoc *v = jdoc_get(o, key);

	return v && v->type == JDOC_INT && v->integer > 0 ? (uint64_t)v->integer : 0;
}

void delivery_state_load(const char *staging, struct delivery_state *ret)
{
	_cleanup_free_ char *path = path_join(staging, STATE_FILE), *text = NULL;
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -EBADF;
	_cleanup_jdoc_ struct jdoc *o = NULL;
	size_t len;

	*ret = (struct delivery_state){ 0 };
	if (fd < 0 || fd_require_private(fd, geteuid(), NULL) < 0 ||
	    fd_read_all(fd, STATE_MAX, &text, &len, NULL) < 0 ||
	    jdoc_parse(text, len, STATE_FILE, NULL, &o, NULL) < 0)
		return;
	*ret = (struct delivery_state){ .store = copy_text(o, "store"),
					.share = copy_text(o, "share"),
					.error = copy_text(o, "error"),
					.tries = read_number(o, "tries"),
					.failed_us = read_number(o, "failed_us") };
}

static void set_text(struct jdoc *o, const char *key, const char *text)
{
	if (text && str_is_utf8(text, strlen(text)))
		jdoc_set_string(o, key, text);
}

int delivery_state_save(int staging, const struct delivery_state *n, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *o = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	set_text(o, "store", n->store);
	set_text(o, "share", n->share);
	set_text(o, "error", n->error);
	jdoc_set_int(o, "tries", (int64_t)n->tries);
	jdoc_set_int(o, "failed_us", (int64_t)n->failed_us);
	r = jdoc_write(o, JDOC_PRETTY, &text, f);
	return r < 0 ? r : fd_replace_file(staging, STATE_FILE, text.text, text.len, 0600, f);
}

int delivery_place(const struct dirs *d, const struct config *c, struct delivery_place *ret, struct fault *f)
{
	_cleanup_delivery_place_ struct delivery_place p = { .store = evidence_store_path(d, c),
							     .staging = path_join(d->state, DELIVERY_DIR) };
	_cleanup_delivery_state_ struct delivery_state note = { 0 };
	int r;

	if (!p.store || !p.staging)
		return fault_errno(f, ENOMEM, "evidence");
	r = mount_type_is_local(p.store, d->state, &p.type, f);
	if (r < 0)
		return r;
	p.direct = r > 0;
	/* A store that was a share and is a local directory now: the share is not mounted. */
	if (p.direct) {
		delivery_state_load(p.staging, &note);
		p.away = note.share && str_eq(note.store, p.store);
		p.direct = !p.away;
		if (p.away)
			p.type = TAKE_PTR(note.share);
	}
	*ret = p;
	p = (struct delivery_place){ 0 };
	return 0;
}
