/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-exec.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "subject/subject-build.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"

static int put_variable(struct subject *s, const char *word, char *const *environ, struct fault *f)
{
	const char *equals = strchr(word, '='), *value;
	_cleanup_free_ char *name = equals ? strndup(word, (size_t)(equals - word)) : strdup(word);

	if (!name)
		return fault_errno(f, ENOMEM, "environment");
	if (!*name)
		return fault_set(f, EINVAL, "-e needs NAME or NAME=VALUE");
	/* As with 'custody run': a variable that the caller does not have stays unset. */
	value = equals ? equals + 1 : subject_env_value(environ, name);
	return value ? subject_put_env(s, name, value, f) : 0;
}

static int change_env(struct subject *s, const struct subject_exec *x, struct fault *f)
{
	int r = 0;

	if (x->terminal && !subject_env_value(s->env, "TERM"))
		r = put_variable(s, "TERM", x->environ, f);
	for (char *const *word = x->env; r >= 0 && word && *word; word++)
		r = put_variable(s, *word, x->environ, f);
	return r;
}

static int change_cwd(struct subject *s, const char *workdir, struct fault *f)
{
	_cleanup_free_ char *joined = NULL, *plain = NULL;
	int r;

	if (!workdir)
		return 0;
	joined = workdir[0] == '/' ? strdup(workdir) : path_join(subject_work_target(s), workdir);
	if (!joined)
		return fault_errno(f, ENOMEM, "working directory");
	r = path_normalize(joined, &plain, f);
	if (r < 0)
		return fault_wrap(f, r, "working directory '%s'", workdir);
	free(s->cwd);
	s->cwd = TAKE_PTR(plain);
	return subject_require_cwd(s, f);
}

static int change_argv(struct subject *s, char *const *argv, struct fault *f)
{
	char **copy = strv_copy(argv);

	if (!copy)
		return fault_errno(f, ENOMEM, "command");
	for (char **word = copy; *word; word++)
		if (!str_is_utf8(*word, strlen(*word))) {
			strv_free(copy);
			return fault_set(f, EILSEQ, "a word of the command is not UTF-8");
		}
	strv_free(s->argv);
	strv_free(s->shown);
	s->argv = copy;
	s->shown = NULL;
	return 0;
}

int subject_exec_change(struct subject *s, const struct subject_exec *x, struct fault *f)
{
	int r;

	operand_forget(s);
	s->seal = OPERAND_SEAL_NONE;
	s->in_use = true;
	r = change_argv(s, x->argv, f);
	if (r >= 0)
		r = change_cwd(s, x->workdir, f);
	return r < 0 ? r : change_env(s, x, f);
}

int subject_exec_to_json(const struct subject *s, const struct digest *of, const struct digest_key *key,
			 struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	char text[SUBJECT_DIGEST_SIZE];
	int r = subject_to_json(s, key, &d, f);

	if (r < 0)
		return r;
	subject_digest_to_text(of, text);
	jdoc_set_string(jdoc_set_object(d, "exec"), "subject", text);
	if (d->broken)
		return fault_errno(f, ENOMEM, "subject");
	*ret = TAKE_PTR(d);
	return 0;
}
