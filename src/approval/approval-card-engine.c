/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approval-card-impl.h"
#include "tty/card-text.h"

#define SCHEMA "custody.engine/1"

bool approval_card_is_engine(const struct approval_card_facts *k)
{
	return str_eq(jdoc_get_string(k->subject, "schema"), SCHEMA);
}

static const struct jdoc *config_at(const struct approval_card_facts *k, const char *section, const char *key)
{
	return jdoc_get(jdoc_get(jdoc_get(k->subject, "config"), section), key);
}

static void add_word(struct card *c, const char *label, enum card_tone tone, const char *word)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	card_put_word(&b, word);
	approval_card_add_built(c, label, tone, &b);
}

static bool is_exec(const struct approval_card_facts *k)
{
	return jdoc_get(k->subject, "exec");
}

/* A command in a container that runs. */
static void add_exec(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *exec = jdoc_get(k->subject, "exec"), *fds = jdoc_get(exec, "preserve_fds"),
			  *uid = jdoc_get(config_at(k, "process", "user"), "uid");
	const char *subject = jdoc_get_string(exec, "subject");

	card_add(c, "runs in", CARD_WARN, "a running container with the subject %.19s",
		 subject ? subject : "?");
	if (uid && uid->type == JDOC_INT)
		card_add(c, "user", CARD_PLAIN, "%lld inside", (long long)uid->integer);
	card_add(c, "sealed", CARD_WARN,
		 "nothing: the container's processes may change every file until the command runs");
	if (fds)
		card_add(c, "gets", CARD_WARN, "descriptors of the caller (--preserve-fds)");
}

static void add_image(struct card *c, const struct approval_card_facts *k)
{
	const char *image = jdoc_get_string(k->subject, "image");
	const struct jdoc *program = jdoc_get(k->subject, "program");
	const char *path = jdoc_get_string(program, "path"), *sha = jdoc_get_string(program, "sha256");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (image)
		add_word(c, "image", CARD_PLAIN, image);
	else
		card_add(c, "image", CARD_WARN,
			 "cannot be identified: its programs may be any; an approval is for one start");
	/* Where argv[0] is found is not known before the command runs. */
	if (is_exec(k))
		return;
	if (!path) {
		card_add(c, "program", CARD_WARN, "not found in the image");
		return;
	}
	card_put_word(&b, path);
	if (sha)
		strbuf_printf(&b, " (sha256 %.12s)", sha);
	approval_card_add_built(c, "program", CARD_PLAIN, &b);
}

static void add_place(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *cwd = config_at(k, "process", "cwd"), *isolate = jdoc_get(k->subject, "isolate");
	const char *worktree = jdoc_get_string(k->subject, "worktree");

	if (cwd && cwd->type == JDOC_STRING)
		add_word(c, "in", CARD_PLAIN, cwd->string);
	if (worktree)
		add_word(c, "worktree", CARD_PLAIN, worktree);
	if (!isolate || isolate->type != JDOC_BOOL || !isolate->boolean)
		card_add(c, "confined", CARD_WARN,
			 "only as the engine asked: the profile's layers are off (sandbox.enabled)");
}

/* Writable directories of this machine. */
static bool add_sources(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *sources = jdoc_get(k->subject, "sources");
	const char *label = "writes";
	size_t n = sources && sources->type == JDOC_ARRAY ? sources->n_items : 0;

	if (n == 0)
		card_add(c, "writes", CARD_PLAIN, "only the container's own files");
	for (size_t i = 0; i < n; i++) {
		const char *source = jdoc_get_string(sources->items[i], "source");
		const char *target = jdoc_get_string(sources->items[i], "target");
		_cleanup_strbuf_ struct strbuf b = { 0 };

		strbuf_puts(&b, "may change or delete everything under ");
		card_put_word(&b, source ? source : "?");
		strbuf_puts(&b, ", as ");
		card_put_word(&b, target ? target : "?");
		approval_card_add_built(c, label, CARD_WARN, &b);
		label = "";
	}
	return n > 0;
}

/* Namespaces that are not the container's own. */
static void add_namespaces(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *all = config_at(k, "linux", "namespaces");
	const char *network = jdoc_get_string(all, "network");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	card_add(c, "network", str_eq(network, "own") ? CARD_PLAIN : CARD_WARN, "%s",
		 str_eq(network, "own")	     ? "a network of its own, as the engine connects it"
		 : str_eq(network, "joined") ? "that of another container or of the pod"
		 : str_eq(network, "host")   ? "every network that this host can reach"
					     : "(unknown)");
	for (size_t i = 0; all && all->type == JDOC_OBJECT && i < all->n_members; i++) {
		const struct jdoc_member *m = &all->members[i];

		if (m->value->type != JDOC_STRING || !str_eq(m->value->string, "host") ||
		    str_eq(m->key, "network") || str_eq(m->key, "user"))
			continue;
		strbuf_puts(&b, b.len ? ", " : "");
		card_put_word(&b, m->key);
	}
	if (b.len)
		approval_card_add_built(c, "host's", CARD_WARN, &b);
	if (str_eq(jdoc_get_string(all, "user"), "host"))
		card_add(c, "root", CARD_WARN,
			 "host root: no user namespace, root inside is root of this machine");
}

static void add_variables(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *env = jdoc_get(k->subject, "env");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	for (size_t i = 0; env && env->type == JDOC_OBJECT && i < env->n_members; i++) {
		strbuf_puts(&b, i ? ", " : "");
		card_put_word(&b, env->members[i].key);
	}
	if (b.len)
		approval_card_add_built(c, "variables", CARD_PLAIN, &b);
}

bool approval_card_add_engine(struct card *c, const struct approval_card_facts *k)
{
	bool node;

	if (is_exec(k))
		add_exec(c, k);
	add_image(c, k);
	add_place(c, k);
	node = add_sources(c, k);
	add_namespaces(c, k);
	add_variables(c, k);
	return node;
}
