/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "approval/approver-impl.h"

void approver_list_done(struct approver_list *l)
{
	free(l->items);
	*l = (struct approver_list){ 0 };
}

static int add(struct approver_list *l, const struct approver *a, struct fault *f)
{
	struct approver *grown = reallocarray(l->items, l->n + 1, sizeof(*grown));

	if (!grown)
		return fault_errno(f, ENOMEM, "approvers");
	grown[l->n++] = *a;
	l->items = grown;
	return 0;
}

static struct approver *find(struct approver_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->items[i].name, name))
			return &l->items[i];
	return NULL;
}

static bool same(const struct sign_public *a, const struct sign_public *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static int take_entry(const struct approval_store *d, const struct approver_entry *e, struct approver *a,
		      struct fault *f)
{
	int r = approver_require_name(e->name, f);

	if (r < 0)
		return r;
	*a = (struct approver){ .uid = e->uid, .has_key = e->key != NULL, .has_pin_key = e->pin_key != NULL };
	memcpy(a->name, e->name, strlen(e->name) + 1);
	if (e->lane && strlen(e->lane) >= sizeof(a->lane))
		return fault_set(f, EINVAL, "'%s' is not a lane", e->lane);
	if (e->lane)
		memcpy(a->lane, e->lane, strlen(e->lane) + 1);
	if (e->key) {
		r = approver_key_parse(e->key, &a->key, f);
		if (r < 0)
			return r;
		approver_key_id(&a->key, a->key_id);
	}
	if (e->pin_key) {
		r = approver_key_parse(e->pin_key, &a->pin_key, f);
		if (r < 0)
			return r;
		approver_key_id(&a->pin_key, a->pin_key_id);
	}
	a->own_uid = e->uid != APPROVER_NO_UID;
	a->counts = !e->lane || str_eq(e->lane, d->lane);
	return 0;
}

static int add_configured(const struct approval_store *d, struct approver_list *l, struct fault *f)
{
	for (size_t i = 0; i < d->rules->n_approvers; i++) {
		struct approver a;
		int r;

		r = take_entry(d, &d->rules->approvers[i], &a, f);
		if (r == 0 && find(l, a.name))
			r = fault_set(f, EINVAL, "'%s' is listed twice", a.name);
		if (r == 0)
			r = add(l, &a, f);
		if (r < 0)
			return fault_wrap(f, r, "custody.json: approvers");
	}
	return 0;
}

/* A file of this lane counts unless the configuration has its own list. */
static int add_local(const struct approval_store *d, int dirfd, struct approver_list *l, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	int r;

	r = approval_store_names(dirfd, ".json", &names, f);
	for (char **n = names; r == 0 && *n; n++) {
		struct approver a, *listed;

		(*n)[strlen(*n) - strlen(".json")] = '\0';
		r = approver_require_name(*n, f);
		if (r == 0)
			r = approver_read_public(dirfd, *n, &a, f);
		if (r < 0)
			break;
		a.counts = !d->rules->configured && str_eq(a.lane, d->lane);
		a.own_uid = true;
		listed = find(l, a.name);
		if (!listed)
			r = add(l, &a, f);
		else if (listed->uid == APPROVER_NO_UID && same(&listed->key, &a.key))
			listed->uid = a.uid; /* the admin's entry, with a key of ours */
	}
	return r;
}

/* A plain key that is also a key behind a PIN would sign level C without one. */
static int require_apart(const struct approver_list *l, struct fault *f)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->n; k++)
			if (l->items[i].has_pin_key && l->items[k].has_key &&
			    same(&l->items[i].pin_key, &l->items[k].key))
				return fault_set(f, EINVAL,
						 "pin_key of approver '%s' is the plain key of '%s': level C "
						 "would need no PIN",
						 l->items[i].name, l->items[k].name);
	return 0;
}

int approver_list_public(const struct approval_store *d, struct approver_list *ret, struct fault *f)
{
	_cleanup_approvers_ struct approver_list l = { 0 };
	_cleanup_close_ int dirfd = -EBADF;
	int r;

	dirfd = approval_store_open_dir(d, APPROVAL_STORE_APPROVERS, false, f);
	if (dirfd < 0 && dirfd != -ENOENT)
		return dirfd;
	r = d->rules->configured ? add_configured(d, &l, f) : 0;
	if (r == 0)
		r = add_local(d, dirfd, &l, f);
	if (r == 0)
		r = require_apart(&l, f);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct approver_list){ 0 };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct approver *)a)->name, ((const struct approver *)b)->name);
}

/* Finds out which of them can sign here. */
static int look_for_secrets(const struct approval_store *d, struct approver_list *l, struct fault *f)
{
	_cleanup_close_ int keysfd = approval_store_open_dir(d, APPROVAL_STORE_KEYS, false, f);

	if (keysfd < 0)
		return keysfd == -ENOENT ? 0 : keysfd;
	for (size_t i = 0; i < l->n; i++) {
		_cleanup_approver_file_ struct approver_file k = { 0 };
		struct approver *a = &l->items[i];
		int r = approver_file_read(keysfd, d, a->name, &k, f);

		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		a->has_secret = a->has_key && same(&a->key, &k.public.key);
		a->has_pin_secret = a->has_pin_key && k.has_box && same(&a->pin_key, &k.public.pin_key);
		if (a->uid == APPROVER_NO_UID && (a->has_secret || a->has_pin_secret))
			a->uid = k.public.uid;
	}
	return 0;
}

int approver_list(const struct approval_store *d, struct approver_list *ret, struct fault *f)
{
	_cleanup_approvers_ struct approver_list l = { 0 };
	int r;

	r = approver_list_public(d, &l, f);
	if (r == 0)
		r = look_for_secrets(d, &l, f);
	if (r < 0)
		return r;
	if (l.n > 0)
		qsort(l.items, l.n, sizeof(*l.items), by_name);
	*ret = l;
	l = (struct approver_list){ 0 };
	return 0;
}

static char *join_names(const struct approver_list *l)
{
	struct strbuf b = { 0 };

	for (size_t i = 0; i < l->n; i++)
		strbuf_printf(&b, "%s'%s'", i ? ", " : "", l->items[i].name);
	return strbuf_take(&b);
}

int approver_find(const struct approval_store *d, const char *name, struct approver *ret, struct fault *f)
{
	_cleanup_approvers_ struct approver_list l = { 0 };
	_cleanup_free_ char *names = NULL;
	const struct approver *a;
	int r;

	r = approver_list(d, &l, f);
	if (r < 0)
		return r;
	a = find(&l, name);
	if (a) {
		*ret = *a;
		return 0;
	}
	names = join_names(&l);
	return fault_set(f, ENOENT,
			 "no approver '%s' in lane '%s'; known: %s: run 'custody key new %s' to create it",
			 name, d->lane, names && *names ? names : "none", name);
}

static int record_key(const struct approval_store *d, const struct approver *a, struct fault *f)
{
	struct jdoc *details = jdoc_new_object();
	char hex[APPROVER_KEY_SIZE];

	approver_key_text(&a->key, hex);
	jdoc_set_string(details, "approver", a->name);
	jdoc_set_string(details, "key", hex);
	jdoc_set_string(details, "key_id", a->key_id);
	jdoc_set_string(details, "lane", a->lane);
	jdoc_set_int(details, "uid", a->uid);
	jdoc_set_bool(details, "counts", a->counts);
	return approval_store_record(d, "key.new", NULL, NULL, NULL, details, LEDGER_DECIDED, NULL, f);
}

static int make_key(const struct approval_store *d, int keysfd, const char *name, struct approver_file *k,
		    struct fault *f)
{
	struct moment now;
	int r;

	r = approval_store_now(d, &now, f);
	if (r == 0)
		r = sign_new(&k->secret, f);
	if (r < 0)
		return r;
	k->public = (struct approver){
		.uid = geteuid(),
		.created_us = now.wall_us,
		.has_key = true,
		.key = k->secret.public,
	};
	memcpy(k->public.name, name, strlen(name) + 1);
	memcpy(k->public.lane, d->lane, strlen(d->lane) + 1);
	approver_key_id(&k->public.key, k->public.key_id);
	return approver_file_write(keysfd, d, k, f);
}

/* Under the lock of the keys. */
static int make_approver(const struct approval_store *d, int keysfd, const char *name, struct approver *ret,
			 struct fault *f)
{
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_close_ int dirfd = approval_store_open_dir(d, APPROVAL_STORE_APPROVERS, true, f);
	char file[APPROVER_FILE_SIZE];
	int r;

	if (dirfd < 0)
		return dirfd;
	(void)snprintf(file, sizeof(file), "%s.json", name);
	if (faccessat(dirfd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return fault_set(f, EEXIST, "approver '%s' already has a key: see 'custody key show %s'",
				 name, name);
	/* A private half without a public one was never published: its writer was killed in between. */
	r = approver_file_read(keysfd, d, name, &k, f);
	if (r == -ENOENT)
		r = make_key(d, keysfd, name, &k, f);
	if (r < 0)
		return r;
	k.public.counts = !d->rules->configured;
	k.public.has_secret = true;
	r = record_key(d, &k.public, f);
	if (r == 0)
		r = approver_publish(d, &k.public, f);
	if (r == 0)
		*ret = k.public;
	return r;
}

int approver_new(const struct approval_store *d, const char *name, struct approver *ret, struct fault *f)
{
	_cleanup_close_ int keysfd = -EBADF, lock = -EBADF;
	int r;

	r = approver_require_name(name, f);
	if (r < 0)
		return r;
	r = approval_store_open_locked(d, APPROVAL_STORE_KEYS, true, &keysfd, &lock, f);
	if (r < 0)
		return r;
	approval_store_remove_temps(keysfd);
	return make_approver(d, keysfd, name, ret, f);
}

/* Two concurrent first approvals: the second one finds the key of the first. */
static int make_first(const struct approval_store *d, const char *user, struct approver *ret, struct fault *f)
{
	const char *name = user && approver_require_name(user, NULL) == 0 ? user : "local";
	int r = approver_new(d, name, ret, f);

	if (r != -EEXIST)
		return r;
	if (f)
		fault_done(f);
	return approver_find(d, name, ret, f);
}

/*
 * The approver in L that the caller signs as: the one named USER, else the first with a private key here;
 * *RET_N counts them.
 */
static const struct approver *choose_own(const struct approver_list *l, const char *user, size_t *ret_n)
{
	const struct approver *own = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (!l->items[i].has_secret)
			continue;
		if ((*ret_n)++ == 0 || str_eq(l->items[i].name, user))
			own = &l->items[i];
	}
	return own;
}

int approver_own(const struct approval_store *d, const char *name, const char *user, struct approver *ret,
		 struct fault *f)
{
	_cleanup_approvers_ struct approver_list l = { 0 };
	const struct approver *own;
	size_t n;
	int r;

	if (name)
		return approver_find(d, name, ret, f);
	r = approver_list(d, &l, f);
	if (r < 0)
		return r;
	own = choose_own(&l, user, &n);
	if (n == 0 && !d->rules->configured)
		return make_first(d, user, ret, f);
	if (n == 0)
		return fault_set(
			f, ENOKEY,
			"no private key of an approver in lane '%s': run 'custody key new NAME' and have the "
			"admin add the entry that it prints to `approvers` in custody.json",
			d->lane);
	if (n > 1 && !str_eq(own->name, user))
		return fault_set(f, EINVAL, "%zu approvers have keys here: choose one with --as NAME", n);
	*ret = *own;
	return 0;
}

int approver_find_own(const struct approval_store *d, const char *name, const char *user,
		      struct approver *ret, struct fault *f)
{
	_cleanup_approvers_ struct approver_list l = { 0 };
	const struct approver *own;
	size_t n;
	int r;

	r = name ? 0 : approver_list(d, &l, f);
	if (r < 0)
		return r;
	own = choose_own(&l, user, &n);
	return approver_find(d, name ? name : n == 1 ? own->name : user, ret, f);
}

int approver_unlock(const struct approval_store *d, const char *name, struct sign_secret *ret,
		    struct fault *f)
{
	_cleanup_approver_file_ struct approver_file k = { 0 };
	_cleanup_close_ int keysfd = -EBADF;
	int r;

	r = approver_require_name(name, f);
	if (r < 0)
		return r;
	keysfd = approval_store_open_dir(d, APPROVAL_STORE_KEYS, false, f);
	r = keysfd < 0 ? keysfd : approver_file_read(keysfd, d, name, &k, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "no private key of '%s' in lane '%s': run 'custody key new %s'",
				 name, d->lane, name);
	if (r == 0)
		*ret = k.secret;
	return r;
}
