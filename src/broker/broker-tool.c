/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "broker/broker-impl.h"
#include "session/session-note.h"

#define MS UINT64_C(1000000)
#define PATH_DEFAULT "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int write_note(const struct broker_server *s, const char *text, struct fault *f)
{
	_cleanup_close_ int fd = openat(s->job->state_fd, SESSION_NOTES,
					O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf line = { 0 };
	char at[CLOCK_TEXT_SIZE];
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_set(f, EIO, "the note cannot be written");
	clock_format(clock_wall_us(), at);
	jdoc_set_string(d, "t", at);
	jdoc_set_string(d, "text", text);
	r = jdoc_write(d, JDOC_CANONICAL, &line, f);
	if (r < 0)
		return r;
	strbuf_putc(&line, '\n');
	if ((uint64_t)st.st_size + line.len > BROKER_NOTES_MAX)
		return fault_set(f, EDQUOT, "the session's notes are full");
	return line.broken || fd_write_all(fd, line.text, line.len, NULL) < 0
		       ? fault_set(f, EIO, "the note cannot be written")
		       : 0;
}

static int note_write(const struct broker_server *s, const struct jdoc *params, struct jdoc **ret,
		      struct fault *f)
{
	const char *text = jdoc_get_string(params, "text");
	int r;

	if (!text || params->n_members != 1)
		return fault_set(f, EINVAL, "note.write has one parameter, 'text', a string");
	if (strlen(text) > BROKER_NOTE_MAX)
		return fault_set(f, E2BIG, "a note has at most %zu bytes", BROKER_NOTE_MAX);
	r = write_note(s, text, f);
	if (r == 0)
		*ret = jdoc_new_object();
	return r;
}

/* Names that custody.json lists, with the values of the supervisor's environment; they were there at the start. */
static char **make_env(const struct broker_server *s, const struct broker_tool *t)
{
	_cleanup_strv_ char **env = NULL;
	int r = strv_append(&env, PATH_DEFAULT);

	if (r == 0)
		r = strv_appendf(&env, "CUSTODY_SESSION=%s", s->values.session);
	if (r == 0)
		r = strv_appendf(&env, "CUSTODY_TOOL=%s", t->name);
	for (char *const *name = t->declared->env; r == 0 && name && *name; name++)
		r = strv_appendf(&env, "%s=%s", *name, getenv(*name) ? getenv(*name) : "");
	return r < 0 ? NULL : TAKE_PTR(env);
}

static int take_params(struct broker_client *c, const struct jdoc *params, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r = jdoc_write(params, JDOC_CANONICAL, &text, f);

	if (r < 0)
		return r;
	strbuf_putc(&text, '\n');
	c->params_len = text.len;
	c->params_at = 0;
	c->params = strbuf_take(&text);
	return c->params ? 0 : fault_set(f, ENOMEM, "out of memory");
}

int broker_tool_execute(struct broker_server *s, struct broker_client *c, const struct broker_execution *x,
			const struct jdoc *params, struct fault *f)
{
	_cleanup_broker_credential_fds_ struct broker_credential_fds fds = { 0 };
	const struct broker_program program = { .path = x->path,
						.argv = x->argv,
						.env = x->env,
						.credentials = c->tool->credentials,
						.fds = &fds,
						.output_max = x->output_max,
						.says_why = c->tool->builtin == BROKER_REST };
	int r = take_params(c, params, f);

	if (r == 0)
		r = broker_credentials_ask(s, c, x, &fds, f);
	if (r == 0 && broker_process_start(&program, &c->process, NULL) < 0)
		r = fault_set(f, EIO, "the tool cannot be started");
	if (r < 0) {
		broker_tool_forget(c);
		return r;
	}
	c->failed = NULL;
	c->output_max = x->output_max;
	c->state = BROKER_RUNNING;
	c->until_ns = clock_boot_ns() + x->timeout_s * 1000 * MS;
	return 1;
}

static int execute_declared(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
			    struct fault *f)
{
	const struct config_tool *t = c->tool->declared;
	_cleanup_strv_ char **env = make_env(s, c->tool);
	const struct broker_execution x = { .path = c->tool->program,
					    .argv = t->exec,
					    .env = env,
					    .timeout_s = t->timeout_s,
					    .output_max = t->output_max,
					    .to = c->tool->program };

	if (!env)
		return fault_set(f, ENOMEM, "out of memory");
	if (!x.path)
		return fault_set(f, EIO, "the tool cannot be started");
	return broker_tool_execute(s, c, &x, params, f);
}

const char *broker_tool_take_verdict(struct broker_client *c)
{
	struct strbuf *o = &c->output;
	const char verdict = o->len ? o->text[0] : '\0';

	if (!c->process.judged)
		return NULL;
	if (o->len) {
		memmove(o->text, o->text + 1, o->len);
		o->len--;
	}
	switch (verdict) {
	case BROKER_VERDICT_OUTPUT:
		return NULL;
	case BROKER_VERDICT_REFUSED:
		return BROKER_CODE_CREDENTIAL;
	case BROKER_VERDICT_FOUND:
		return BROKER_CODE_IN_OUTPUT;
	case BROKER_VERDICT_TOO_MUCH:
		return "output";
	default:
		return "tool-failed";
	}
}

int broker_tool_begin(struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		      struct jdoc **ret_data, struct fault *f)
{
	switch (c->tool->builtin) {
	case BROKER_PING:
		*ret_data = jdoc_new_string("pong");
		return 0;
	case BROKER_NOTE_WRITE:
		return note_write(s, params, ret_data, f);
	case BROKER_REST:
		return broker_rest_begin(s, c, params, f);
	case BROKER_GIT_DIFF:
	case BROKER_GIT_FETCH:
	case BROKER_GIT_PUSH:
		return broker_git_begin(s, c, params, f);
	case BROKER_EXEC:
		break;
	}
	return execute_declared(s, c, params, f);
}

/* A tool that does not read its parameters may close its stdin. */
void broker_tool_feed(struct broker_client *c)
{
	ssize_t n = write(c->process.in, c->params + c->params_at, c->params_len - c->params_at);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->params_at += (size_t)n;
	if (n > 0 && c->params_at < c->params_len)
		return;
	c->process.in = fd_close(c->process.in);
}

void broker_tool_forget(struct broker_client *c)
{
	if (c->params)
		explicit_bzero(c->params, c->params_len);
	free(c->params);
	c->params = NULL;
	strbuf_done(&c->output);
}

void broker_tool_drain(struct broker_client *c)
{
	const uint64_t max = c->output_max + c->process.judged;
	char part[16384];

	while (c->process.out >= 0) {
		ssize_t n = read(c->process.out, part, sizeof(part));

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			c->process.out = fd_close(c->process.out);
			return;
		}
		strbuf_add(&c->output, part, (size_t)n);
		if (c->output.len <= max && !c->output.broken)
			continue;
		c->failed = "output";
		c->process.out = fd_close(c->process.out);
		broker_process_kill(&c->process);
	}
}
