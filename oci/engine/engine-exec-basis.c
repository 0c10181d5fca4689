/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-exec-basis.h"

#include <errno.h>
#include <stdlib.h>

#include "oci/engine/engine-impl.h"

static void put_facts(struct jdoc *d, const struct policy_facts *facts)
{
	struct jdoc *list = jdoc_set_array(d, "rw");

	jdoc_set_string(d, "worktree", facts->worktree);
	jdoc_set_bool(d, "home_is_apart", facts->home_is_apart);
	jdoc_set_bool(d, "isolated", facts->isolated);
	jdoc_set_bool(d, "image_unknown", facts->image_unknown);
	jdoc_set_bool(d, "ephemeral", facts->worktree_mode == POLICY_WORKTREE_EPHEMERAL);
	jdoc_set_bool(d, "broker", facts->broker_tool);
	jdoc_set_bool(d, "no_network", facts->network == POLICY_NETWORK_NONE);
	for (size_t i = 0; i < facts->n_rw; i++) {
		struct jdoc *item = jdoc_append_object(list);

		jdoc_set_string(item, "target", facts->rw[i].target);
		jdoc_set_string(item, "source", facts->rw[i].source);
	}
}

struct jdoc *engine_exec_basis_make(const struct engine_container *c, const struct profile *profile)
{
	const struct jdoc *governance = profile->sections[PROFILE_SECTION_GOVERNANCE];
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *allow = jdoc_set_array(d, "allow");

	if (governance)
		jdoc_set(d, "governance", jdoc_copy(governance));
	for (size_t i = 0; c->probes && i < c->probes->n_items; i++)
		jdoc_append(allow, jdoc_copy(c->probes->items[i]));
	if (c->healthcheck)
		jdoc_append(allow, jdoc_copy(c->healthcheck));
	jdoc_set_int(d, "layers", c->layers);
	put_facts(jdoc_set_object(d, "facts"), &c->facts);
	return d && !d->broken ? TAKE_PTR(d) : NULL;
}

/* Missing counts as false: in every fact that is the worse value, but in image_unknown; a container that has no "broker" has none. */
static bool is_true(const struct jdoc *d, const char *key, bool missing)
{
	const struct jdoc *v = jdoc_get(d, key);

	return engine_is(v, JDOC_BOOL) ? v->boolean : missing;
}

static int take_facts(struct engine_exec_basis *b)
{
	const struct jdoc *d = jdoc_get(b->document, "facts");
	const size_t n = engine_count(d, "rw");

	/* One more: engine_exec_basis_add_host. */
	b->rw = calloc(n + 1, sizeof(*b->rw));
	if (!b->rw)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct jdoc *item = engine_item(d, "rw", i);

		b->rw[i] = (struct policy_mount){ engine_text(item, "target"), engine_text(item, "source") };
		if (!b->rw[i].target || !b->rw[i].source)
			return -EINVAL;
	}
	b->facts = (struct policy_facts){
		.worktree = engine_text(d, "worktree"),
		.home_is_apart = is_true(d, "home_is_apart", false),
		.isolated = is_true(d, "isolated", false),
		.image_unknown = is_true(d, "image_unknown", true),
		.worktree_mode =
			is_true(d, "ephemeral", false) ? POLICY_WORKTREE_EPHEMERAL : POLICY_WORKTREE_RW,
		.broker_tool = is_true(d, "broker", false),
		.network = is_true(d, "no_network", false) ? POLICY_NETWORK_NONE : POLICY_NETWORK_HOST,
		.rw = b->rw,
		.n_rw = n,
		.replaced = "image",
	};
	return b->facts.worktree ? 0 : -EINVAL;
}

int engine_exec_basis_read(const struct jdoc *d, struct engine_exec_basis *ret, struct fault *f)
{
	_cleanup_engine_exec_basis_ struct engine_exec_basis b = { 0 };
	int r;

	if (!d)
		return fault_set(
			f, EINVAL,
			"the container was created by another version of custody-runtime; create it again");
	b.document = jdoc_copy(d);
	if (!b.document || b.document->broken)
		return fault_errno(f, ENOMEM, "exec");
	b.governance = jdoc_get(b.document, "governance");
	b.allow = jdoc_get(b.document, "allow");
	b.layers = engine_is(jdoc_get(b.document, "layers"), JDOC_INT)
			   ? (uint32_t)jdoc_get(b.document, "layers")->integer
			   : 0;
	r = engine_is(b.document, JDOC_OBJECT) ? take_facts(&b) : -EINVAL;
	if (r < 0)
		return fault_errno(f, -r, "the container info has no valid facts for exec");
	*ret = b;
	b = (struct engine_exec_basis){ 0 };
	return 0;
}

void engine_exec_basis_add_host(struct engine_exec_basis *b)
{
	b->rw[b->facts.n_rw++] = (struct policy_mount){ "(descriptor)", "/" };
}

void engine_exec_basis_done(struct engine_exec_basis *b)
{
	jdoc_free(b->document);
	free(b->rw);
	*b = (struct engine_exec_basis){ 0 };
}
