/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/run-call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define ENV_FILE_MAX (1 << 20)

static int add_line(char ***env, const char *path, unsigned int number, const char *line, struct fault *f)
{
	if (line[0] == '\0' || line[0] == '#')
		return 0;
	if (line[0] == '=' || strcspn(line, " \t") < strcspn(line, "="))
		return fault_set(f, EINVAL, "--env-file '%s', line %u: not NAME or NAME=VALUE", path, number);
	if (!str_is_utf8(line, strlen(line)))
		return fault_set(f, EILSEQ, "--env-file '%s', line %u: not UTF-8", path, number);
	return strv_append(env, line) < 0 ? fault_errno(f, ENOMEM, "--env-file") : 0;
}

/* As Docker reads it: values are taken as they are, without quotes or expansion. */
static int read_env_file(const char *path, char ***env, struct fault *f)
{
	/* O_NONBLOCK: a FIFO without a writer must not block the start. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	unsigned int number = 0;
	char *rest, *line;
	size_t len = 0;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "--env-file '%s'", path);
	r = fd_read_all(fd, ENV_FILE_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "--env-file '%s'", path);
	if (memchr(text, 0, len))
		return fault_set(f, EINVAL, "--env-file '%s' holds a NUL byte", path);
	rest = text;
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = add_line(env, path, ++number, line, f);
	return r;
}

/* The files first: --env overrides them. */
static int read_env_files(struct command_call *c, struct fault *f)
{
	_cleanup_strv_ char **env = NULL;
	int r = 0;

	if (!c->env_files)
		return 0;
	for (char **file = c->env_files; r == 0 && *file; file++)
		r = read_env_file(*file, &env, f);
	for (char **var = c->run.env; r == 0 && var && *var; var++)
		if (strv_append(&env, *var) < 0)
			r = fault_errno(f, ENOMEM, "--env-file");
	if (r < 0)
		return r;
	strv_free(c->run.env);
	c->run.env = TAKE_PTR(env);
	return 0;
}

int run_call_finish(struct command_call *c, struct fault *f)
{
	c->run.words = c->words;
	c->run.argv = c->n_args ? c->args : NULL;
	/* Even a grant that turns out not to be needed must be readable: the caller named it. */
	for (char **file = c->run.grants; file && *file; file++)
		if (access(*file, R_OK) < 0)
			return fault_errno(f, errno, "--grant '%s'", *file);
	return read_env_files(c, f);
}
