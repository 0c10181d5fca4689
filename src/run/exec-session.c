/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/exec-session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-map.h"
#include "base/str.h"
#include "session/exec-socket.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"

#define ANSWER_MS 30000

void exec_session_done(struct exec_session *s)
{
	s->pidfd = fd_close(s->pidfd);
	s->client = fd_close(s->client);
	subject_free(s->subject);
	jdoc_free(s->description);
	s->subject = NULL;
	s->description = NULL;
}

static int connect_supervisor(const struct dirs *d, const struct session_note *n, struct exec_session *s,
			      struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;
	_cleanup_free_ char *path = NULL;

	s->pidfd = session_note_watch(d, n, f);
	if (s->pidfd < 0)
		return s->pidfd;
	if (asprintf(&path, "%s/sessions/%s", d->run, n->session) < 0) {
		path = NULL;
		return fault_errno(f, ENOMEM, "session");
	}
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "open '%s'", path);
	s->client = exec_socket_connect(dir, n->pid, f);
	return s->client < 0 ? s->client : 0;
}

/* Its socket may be held open by a process that it left: its exit counts. */
static int await_answer(const struct exec_session *s, struct fault *f)
{
	struct pollfd p[] = { { .fd = s->client, .events = POLLIN }, { .fd = s->pidfd, .events = POLLIN } };
	int n;

	do
		n = poll(p, 2, ANSWER_MS);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "wait for the supervisor");
	if (p[0].revents)
		return 0;
	if (p[1].revents)
		return fault_set(f, ESRCH, "the supervisor has exited");
	return fault_set(f, ETIMEDOUT, "the supervisor does not answer (is it stopped?)");
}

static int ask(const struct exec_session *s, int *ret_fd, struct fault *f)
{
	struct exec_msg m = { 0 };
	int fds[INIT_EXEC_FDS], r;
	size_t n = 0;

	r = exec_msg_send(s->client, &m, EXEC_MSG_HELLO, NULL, 0);
	/* A supervisor that refused at once has closed its end; its answer is queued. */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		return fault_errno(f, -r, "ask the supervisor");
	r = await_answer(s, f);
	if (r < 0)
		return r;
	r = exec_msg_receive(s->client, &m, fds, &n);
	if (r == 1 && m.type == EXEC_MSG_SESSION && n == 1) {
		*ret_fd = fds[0];
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	if (r == 1 && m.type == EXEC_MSG_REFUSED)
		return fault_set(f, EBUSY, "%s", m.text);
	if (r == -EPROTO)
		return fault_set(f, EPROTO,
				 "the session was started by another version of custody: use that version");
	return fault_set(f, ESRCH, "the session is ending");
}

static int read_description(const struct exec_session *s, struct jdoc **ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = ask(s, &fd, f);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = fault_errno(f, errno, "description of the session");
	if (r == 0)
		r = fd_read_all(fd, EXEC_DESCRIPTION_MAX, &text, &len, f);
	return r < 0 ? r : jdoc_parse(text, len, "description of the session", NULL, ret, f);
}

struct parts {
	uint64_t version, time_s;
	unsigned int init, limits;
	char *session;
	char **env, **args;
	const struct jdoc *subject, *governance, *audit, *ns;
};

static void parts_done(struct parts *p)
{
	free(p->session);
	strv_free(p->env);
	strv_free(p->args);
}

static const struct jdoc *take_section(struct jmap *m, const char *key)
{
	char *nothing = NULL;

	if (!jmap_is_null(m, key))
		return jmap_value(m, key, JDOC_OBJECT);
	jmap_string_or_null(m, key, &nothing);
	return NULL;
}

static int read_parts(const struct jdoc *d, struct parts *p, struct fault *f)
{
	struct jmap m;

	jmap_init_read(&m, d, "description of the session", f);
	jmap_u64(&m, "schema_version", &p->version);
	jmap_string(&m, "session", &p->session);
	p->subject = jmap_value(&m, "subject", JDOC_OBJECT);
	jmap_strv(&m, "env", &p->env);
	jmap_strv(&m, "args", &p->args);
	jmap_u64(&m, "time_s", &p->time_s);
	p->governance = take_section(&m, "governance");
	p->audit = take_section(&m, "audit");
	jmap_uint(&m, "init", &p->init, INT32_MAX);
	p->ns = jmap_value(&m, "ns", JDOC_ARRAY);
	jmap_uint(&m, "limits", &p->limits, UINT32_MAX);
	return jmap_end(&m);
}

static int take_namespaces(const struct jdoc *list, uint64_t ret[_INIT_NS_MAX], struct fault *f)
{
	if (list->n_items != _INIT_NS_MAX)
		return fault_set(f, EPROTO, "description of the session: wrong number of namespaces");
	for (unsigned int i = 0; i < _INIT_NS_MAX; i++) {
		if (list->items[i]->type != JDOC_INT || list->items[i]->integer < 0)
			return fault_set(f, EPROTO, "description of the session: not a namespace");
		ret[i] = (uint64_t)list->items[i]->integer;
	}
	return 0;
}

/* Sections of the session's profile that the document of a subject does not have. */
static int take_sections(struct profile *profile, const struct parts *p, struct fault *f)
{
	if (!profile->document)
		profile->document = jdoc_new_object();
	if (p->governance)
		jdoc_set(profile->document, "governance", jdoc_copy(p->governance));
	if (p->audit)
		jdoc_set(profile->document, "audit", jdoc_copy(p->audit));
	if (!profile->document || profile->document->broken)
		return fault_errno(f, ENOMEM, "profile of the session");
	profile->sections[PROFILE_SECTION_GOVERNANCE] = jdoc_get(profile->document, "governance");
	profile->sections[PROFILE_SECTION_AUDIT] = jdoc_get(profile->document, "audit");
	profile->sections[PROFILE_SECTION_BROKER] = jdoc_get(profile->document, "broker");
	return 0;
}

static int take_subject(const struct parts *p, const struct session_note *n, const struct digest_key *key,
			struct exec_session *s, struct fault *f)
{
	struct digest noted;
	int r;

	r = subject_digest(p->subject, &s->digest, f);
	if (r < 0)
		return r;
	if (!n->digest || subject_digest_from_text(n->digest, &noted) < 0 ||
	    !digest_equal(&noted, &s->digest))
		return fault_set(f, EPERM, "the supervisor describes another subject than session.json");
	r = subject_from_session(p->subject, p->env, p->args, p->time_s, key, &s->subject, f);
	return r < 0 ? r : take_sections(s->subject->own_profile, p, f);
}

static int take_parts(const struct session_note *n, const struct digest_key *key, struct exec_session *s,
		      struct fault *f)
{
	__attribute__((cleanup(parts_done))) struct parts p = { 0 };
	int r = read_parts(s->description, &p, f);

	if (r == 0 && (p.version != EXEC_SESSION_VERSION || !str_eq(p.session, n->session)))
		r = fault_set(f, EPROTO, "the supervisor describes another session");
	if (r == 0)
		r = take_namespaces(p.ns, s->ns, f);
	if (r < 0)
		return r;
	s->init = (pid_t)p.init;
	s->limits = p.limits;
	return take_subject(&p, n, key, s, f);
}

int exec_session_open(const struct dirs *d, const struct session_note *n, const struct digest_key *key,
		      struct exec_session *ret, struct fault *f)
{
	int r = connect_supervisor(d, n, ret, f);

	if (r == 0)
		r = read_description(ret, &ret->description, f);
	if (r == 0)
		r = take_parts(n, key, ret, f);
	return r < 0 ? fault_wrap(f, r, "session '%s'", n->session) : 0;
}
