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

static int execute(const struct broker_server *s, struct broker_client *c, const struct jdoc *params,
		   struct fault *f)
{
	_cleanup_strv_ char **env = make_env(s, c->tool);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	if (!env)
		return fault_set(f, ENOMEM, "out of memory");
	if (!c->tool->program)
		return fault_set(f, EIO, "the tool cannot be started");
	r = jdoc_write(params, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	strbuf_putc(&text, '\n');
	c->params_len = text.len;
	c->params_at = 0;
	c->params = strbuf_take(&text);
	if (!c->params)
		return fault_set(f, ENOMEM, "out of memory");
	if (broker_process_start(c->tool->program, c->tool->declared->exec, env, &c->process, NULL) < 0) {
		broker_tool_forget(c);
		return fault_set(f, EIO, "the tool cannot be started");
	}
	c->failed = NULL;
	c->state = BROKER_RUNNING;
	c->until_ns = clock_boot_ns() + c->tool->declared->timeout_s * 1000 * MS;
	return 1;
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
	case BROKER_EXEC:
		break;
	}
	return execute(s, c, params, f);
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
	const uint64_t max = c->tool->declared->output_max;
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
