/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/engine/engine-change.h"
#include "oci/engine/engine-docker.h"
#include "oci/engine/engine-document.h"
#include "oci/engine/engine-facts.h"
#include "oci/engine/engine-field.h"
#include "oci/engine/engine-image.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine-namespace.h"
#include "oci/engine/engine-noise.h"
#include "oci/engine/engine-pause.h"
#include "oci/engine/engine-size.h"

static int parse(struct engine_work *w)
{
	static const struct jdoc_limits limits = { .wide = true };
	int r = jdoc_parse(w->in->text, w->in->len, "config.json", &limits, &w->c->engine, w->f);

	if (r < 0)
		return -r == ENOMEM ? r
				    : fault_set(w->f, EINVAL, "%s",
						w->f && w->f->text ? w->f->text : "config.json");
	if (w->c->engine->type != JDOC_OBJECT || !engine_is(jdoc_get(w->c->engine, "process"), JDOC_OBJECT) ||
	    !engine_is(jdoc_get(w->c->engine, "root"), JDOC_OBJECT) ||
	    engine_count(w->c->engine, "process.args") == 0)
		return fault_set(w->f, EINVAL, "config.json: no object with 'process.args' and 'root'");
	w->c->merged = jdoc_copy(w->c->engine);
	if (!w->c->merged || w->c->merged->broken)
		return fault_errno(w->f, ENOMEM, "config.json");
	w->config = w->c->merged;
	return 0;
}

static int read_argv(struct engine_work *w)
{
	size_t n = engine_count(w->config, "process.args");

	w->c->argv = calloc(n + 1, sizeof(*w->c->argv));
	if (!w->c->argv)
		return fault_errno(w->f, ENOMEM, "config.json");
	for (size_t i = 0; i < n; i++) {
		struct jdoc *word = engine_item(w->config, "process.args", i);

		if (word->type != JDOC_STRING)
			return fault_set(w->f, EINVAL, "config.json: 'process.args[%zu]' is no string", i);
		w->c->argv[i] = word->string;
	}
	return 0;
}

static int merge(struct engine_work *w)
{
	int r;

	r = engine_merge_process(w);
	if (r == 0)
		r = engine_merge_namespaces(w);
	if (r == 0)
		r = engine_merge_mounts(w);
	if (r == 0)
		r = engine_merge_own_dirs(w);
	if (r == 0)
		r = engine_merge_devices(w);
	if (r == 0)
		r = engine_merge_resources(w);
	if (r == 0)
		r = engine_merge_sysctls(w);
	if (r == 0)
		r = engine_merge_seccomp(w);
	if (r == 0 && w->c->pause)
		r = engine_pause_confine(w);
	if (r == 0)
		r = engine_merge_broker(w);
	return r;
}

/* The engine's own bytes where nothing is changed. */
static int write_text(struct engine_work *w)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	int r = 0;

	if (w->in->isolate)
		r = jdoc_write(w->config, JDOC_CANONICAL, &t, w->f);
	else
		strbuf_add(&t, w->in->text, w->in->len);
	if (r == 0 && t.broken)
		r = fault_errno(w->f, ENOMEM, "config.json");
	if (r < 0)
		return r;
	w->c->len = t.len;
	w->c->text = strbuf_take(&t);
	return 0;
}

static bool limits(const struct jdoc *config, const char *path)
{
	const struct jdoc *v = engine_at(config, path);

	return engine_is(v, JDOC_INT) && !v->wide && v->integer > 0;
}

/* What the merge made certain, for the warden to prove. */
static uint32_t find_layers(const struct engine_work *w)
{
	static const enum layer always[] = { LAYER_MASKS, LAYER_CAPABILITIES, LAYER_NO_NEW_PRIVS,
					     LAYER_SECCOMP };
	const struct jdoc *config = w->config;
	uint32_t layers = 0;

	if (!w->in->isolate)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		layers |= LAYER_BIT(always[i]);
	for (int n = ENGINE_NS_PID; n <= ENGINE_NS_CGROUP; n++)
		if (engine_namespace_state(config, (enum engine_namespace)n) != ENGINE_NS_HOST)
			layers |= LAYER_BIT(engine_namespace_layer((enum engine_namespace)n));
	if (engine_has_user_namespace(config))
		layers |= LAYER_BIT(LAYER_USER_NS);
	if (limits(config, "linux.resources.memory.limit"))
		layers |= LAYER_BIT(LAYER_MEMORY_LIMIT);
	if (limits(config, "linux.resources.pids.limit"))
		layers |= LAYER_BIT(LAYER_PIDS_LIMIT);
	if (limits(config, "linux.resources.cpu.quota"))
		layers |= LAYER_BIT(LAYER_CPU_LIMIT);
	return layers & w->in->profile->layers;
}

static int finish(struct engine_work *w)
{
	bool overlay;
	int r = read_argv(w);

	if (r == 0)
		r = engine_image_read(w, &overlay);
	if (r == 0)
		r = write_text(w);
	if (r == 0)
		r = engine_document_write(w);
	if (r == 0)
		r = engine_facts_fill(w, overlay);
	if (r == 0)
		r = engine_pin_binds(&w->c->pins, w->config, w->f);
	if (r == 0 && w->in->isolate)
		r = engine_change_list(w->c->engine, w->config, &w->c->changes, w->f);
	w->c->layers = find_layers(w);
	return r;
}

int engine_read(const struct engine_input *in, const struct digest_key *key, struct engine_container *ret,
		struct fault *f)
{
	_cleanup_engine_container_ struct engine_container c = { 0 };
	struct engine_work w = { .in = in, .key = key, .c = &c, .f = f };
	int r;

	r = parse(&w);
	if (r == 0)
		r = engine_size_require(w.config, f);
	if (r == 0)
		r = engine_field_require(w.config, f);
	if (r == 0)
		r = engine_annotations_read(&w);
	if (r < 0)
		return r;
	engine_noise_names(&w);
	c.pause = engine_pause_is(&w);
	c.healthcheck = engine_docker_healthcheck(w.config, &w.names);
	if (in->isolate)
		r = merge(&w);
	if (r == 0 && c.merged->broken)
		r = fault_errno(f, ENOMEM, "config.json");
	if (r == 0)
		r = finish(&w);
	if (r < 0)
		return r;
	*ret = c;
	c = (struct engine_container){ 0 };
	return 0;
}

void engine_container_done(struct engine_container *c)
{
	jdoc_free(c->engine);
	jdoc_free(c->merged);
	jdoc_free(c->document);
	jdoc_free(c->changes);
	jdoc_free(c->probes);
	jdoc_free(c->healthcheck);
	strv_free(c->env);
	free(c->text);
	free(c->argv);
	free(c->worktree);
	free(c->image);
	free(c->grant);
	free(c->rootfs);
	free(c->rw);
	engine_broker_done(&c->broker);
	engine_pins_done(&c->pins);
	*c = (struct engine_container){ 0 };
}
