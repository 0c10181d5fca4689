/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-layers.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "container/container-info.h"

static int load(struct container_layers *l, const struct warden_request *rq, struct fault *f)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	const struct jdoc_limits limits = { .wide = true };
	int r = container_info_read(WARDEN_SESSION, &d, f);

	if (r >= 0)
		r = jdoc_parse(d.config, d.config_len, "config.json", &limits, &l->config, f);
	if (r < 0)
		return r;
	l->work = strdup(d.work);
	if (!l->work)
		return fault_errno(f, ENOMEM, "layers");
	l->procfd = container_procfd_open(WARDEN_PIDFD, rq->pid, f);
	if (l->procfd < 0)
		return l->procfd;
	l->proof = (struct container_proof){ .procfd = l->procfd,
					     .pidfd = WARDEN_PIDFD,
					     .phase = CONTAINER_BEFORE_START,
					     .layers = rq->layers,
					     .optional = rq->optional,
					     .config = l->config,
					     .worktree = l->work,
					     .preserved = rq->preserved };
	return 0;
}

/* Those that wait are recorded as they will be: else the container is killed. */
static int list(const struct container_layers *l, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **words = NULL;
	int r = 0;

	for (char **word = l->proven.words; r >= 0 && word && *word; word++)
		r = strv_append(&words, *word);
	for (unsigned int i = 0; r >= 0 && i < _LAYER_MAX; i++)
		if (l->proven.waiting & LAYER_BIT(i))
			r = strv_appendf(&words, "%s=%s", layer_info((enum layer)i)->name,
					 layer_state_name(LAYER_STATE_PROVEN_AFTER_START));
	if (r < 0)
		return fault_errno(f, ENOMEM, "layers");
	*ret = TAKE_PTR(words);
	return 0;
}

static void forget(struct container_layers *l)
{
	container_layers_done(l);
	/* A parsed configuration is as large as all other memory of the warden. */
	(void)malloc_trim(0);
}

int container_layers_prove(struct container_layers *l, const struct warden_request *rq, char ***ret_words,
			   struct fault *f)
{
	int r;

	*ret_words = NULL;
	if (!rq->isolate || rq->layers == 0)
		return 0;
	r = load(l, rq, f);
	if (r >= 0)
		r = container_prove(&l->proof, &l->proven, f);
	if (r >= 0)
		r = list(l, ret_words, f);
	l->pending = r >= 0 && l->proven.waiting;
	l->proof.phase = CONTAINER_AFTER_START;
	if (!l->pending)
		forget(l);
	return r;
}

/* A process that ended before it could be read has no layers any more. */
static int settle(struct container_layers *l, int r)
{
	if (r == -EAGAIN) {
		l->tries++;
		return r;
	}
	forget(l);
	return r == -ESRCH ? 0 : r;
}

int container_layers_look(struct container_layers *l, struct fault *f)
{
	return l->pending ? settle(l, container_prove(&l->proof, &l->proven, f)) : 0;
}

int container_layers_wait(struct container_layers *l, struct fault *f)
{
	return l->pending ? settle(l, container_prove_wait(&l->proof, &l->proven, f)) : 0;
}

int container_layers_due_ms(const struct container_layers *l)
{
	return l->pending ? container_prove_pause_ms(l->tries) : -1;
}

void container_layers_done(struct container_layers *l)
{
	jdoc_free(l->config);
	free(l->work);
	l->procfd = fd_close(l->procfd);
	container_proven_done(&l->proven);
	*l = CONTAINER_LAYERS_NONE;
}
