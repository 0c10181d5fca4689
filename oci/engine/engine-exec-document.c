/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-exec-document.h"

#include <errno.h>

#include "oci/engine/engine-document.h"
#include "oci/engine/engine-noise.h"
#include "oci/engine/engine-sign.h"
#include "subject/subject-digest.h"

static void put_exec(const struct engine_exec_subject *s, struct jdoc *d)
{
	const struct jdoc *terminal = jdoc_get(s->process, "terminal");
	struct jdoc *exec = jdoc_set_object(d, "exec");
	char text[SUBJECT_DIGEST_SIZE];

	subject_digest_to_text(s->digest, text);
	jdoc_set_string(exec, "subject", text);
	jdoc_set_bool(exec, "terminal", engine_is(terminal, JDOC_BOOL) && terminal->boolean);
	if (s->cgroup)
		jdoc_set_string(exec, "cgroup", s->cgroup);
	if (s->preserved)
		jdoc_set_int(exec, "preserve_fds", s->preserved);
}

static void put_process(const struct engine_exec_subject *s, struct jdoc *d)
{
	struct jdoc *process = jdoc_copy(s->process);

	engine_document_process(process);
	jdoc_set(engine_make(d, "config", JDOC_OBJECT), "process", process);
	/* Of the container's command. */
	(void)jdoc_remove(d, "program");
	(void)jdoc_remove(d, "redacted");
}

int engine_exec_document(const struct engine_exec_subject *s, const struct digest_key *key, struct jdoc **ret,
			 struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_copy(s->container);
	const struct engine_input in = { .id = s->id, .bundle = s->bundle, .redact = s->redact };
	struct engine_container c = { .argv = (char **)s->argv };
	struct engine_work w = { .in = &in, .key = key, .c = &c, .config = (struct jdoc *)s->config, .f = f };
	int r;

	if (!d)
		return fault_errno(f, ENOMEM, "exec");
	engine_noise_names(&w);
	put_process(s, d);
	r = engine_sign_argv(&w, d);
	if (r == 0)
		r = engine_sign_env(&w, jdoc_get(s->process, "env"), w.names.hostname_is_noise,
				    jdoc_set_object(d, "env"));
	put_exec(s, d);
	if (r == 0 && d->broken)
		r = fault_errno(f, ENOMEM, "exec");
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}
