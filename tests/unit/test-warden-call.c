/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tap.h"

struct scene {
	char dir[64];
	int dirfd, listener, runtime, warden;
	int fds[WARDEN_CALL_FDS];
	struct fault f;
};

static void scene_done(struct scene *s)
{
	fd_close(s->listener);
	fd_close(s->runtime);
	fd_close(s->warden);
	for (int i = 0; i < WARDEN_CALL_FDS; i++)
		fd_close(s->fds[i]);
	(void)unlinkat(s->dirfd, WARDEN_CALL_NAME, 0);
	fd_close(s->dirfd);
	(void)rmdir(s->dir);
	fault_done(&s->f);
}
#define _cleanup_scene_ _cleanup_(scene_done)

static bool scene_make(struct scene *s)
{
	*s = (struct scene){ .dir = "/tmp/custody-call-XXXXXX",
			     .listener = -EBADF,
			     .runtime = -EBADF,
			     .warden = -EBADF,
			     .fds = { -EBADF, -EBADF, -EBADF } };
	if (!mkdtemp(s->dir))
		return false;
	s->dirfd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->listener = warden_call_listen(s->dirfd, &s->f);
	s->runtime = warden_call_connect(s->dir, &s->f);
	s->warden = accept(s->listener, NULL, NULL);
	return s->warden >= 0;
}

static void the_socket_is_the_owners_alone(void)
{
	_cleanup_scene_ struct scene s;
	struct stat st;

	umask(0);
	CHECK(scene_make(&s));
	CHECK(fstatat(s.dirfd, WARDEN_CALL_NAME, &st, 0) == 0 && (st.st_mode & 07777) == 0600);
}

static void an_exec_brings_its_claim_and_process(void)
{
	_cleanup_scene_ struct scene s;
	struct warden_call m = { .type = WARDEN_CALL_EXEC, .exec = "20261116T031500Z-1a2b3c4d", .pid = 7 },
			   got;
	const int fds[WARDEN_CALL_FDS] = { STDIN_FILENO, STDERR_FILENO, -EBADF };

	CHECK(scene_make(&s));
	CHECK(warden_call_send(s.runtime, &m, fds, &s.f) == 0);
	CHECK(warden_call_receive(s.warden, &got, s.fds, &s.f) == 1);
	CHECK(got.type == WARDEN_CALL_EXEC && got.pid == 7 && strcmp(got.exec, m.exec) == 0);
	CHECK(s.fds[0] >= 0 && s.fds[1] >= 0 && fcntl(s.fds[0], F_GETFD) & FD_CLOEXEC);
	CHECK(s.fds[2] == -EBADF);
}

static void an_exec_may_bring_the_socket_of_its_parent(void)
{
	_cleanup_scene_ struct scene s;
	struct warden_call m = { .type = WARDEN_CALL_EXEC, .exec = "20261116T031500Z-1a2b3c4d", .pid = 7 },
			   got;
	const int fds[WARDEN_CALL_FDS] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };

	CHECK(scene_make(&s));
	CHECK(warden_call_send(s.runtime, &m, fds, &s.f) == 0);
	CHECK(warden_call_receive(s.warden, &got, s.fds, &s.f) == 1);
	CHECK(s.fds[2] >= 0 && fcntl(s.fds[2], F_GETFD) & FD_CLOEXEC);
}

static void a_refusal_has_the_wardens_reason(void)
{
	_cleanup_scene_ struct scene s;
	const struct warden_call no = { .type = WARDEN_CALL_REFUSED, .text = "revoked" },
				 yes = { .type = WARDEN_CALL_OK }, ask = { .type = WARDEN_CALL_START };

	CHECK(scene_make(&s));
	CHECK(warden_call_send(s.warden, &no, NULL, &s.f) == 0);
	CHECK(warden_call_ask(s.runtime, &ask, NULL, &s.f) == -EACCES &&
	      strcmp(fault_text(&s.f), "revoked") == 0);
	fault_done(&s.f);
	CHECK(warden_call_send(s.warden, &yes, NULL, &s.f) == 0);
	CHECK(warden_call_ask(s.runtime, &ask, NULL, &s.f) == 0);
}

static void a_warden_that_is_gone_is_no_answer(void)
{
	_cleanup_scene_ struct scene s;
	const struct warden_call ask = { .type = WARDEN_CALL_START };

	CHECK(scene_make(&s));
	s.warden = fd_close(s.warden);
	s.listener = fd_close(s.listener);
	CHECK(warden_call_ask(s.runtime, &ask, NULL, &s.f) < 0);
	fault_done(&s.f);
	CHECK(warden_call_connect(s.dir, &s.f) == -ECONNREFUSED);
}

static void other_bytes_are_no_message(void)
{
	_cleanup_scene_ struct scene s;
	struct warden_call m = { .type = WARDEN_CALL_START }, got;

	CHECK(scene_make(&s));
	CHECK(send(s.runtime, &m, sizeof(m) - 1, 0) > 0);
	CHECK(warden_call_receive(s.warden, &got, s.fds, &s.f) == -EPROTO);
	fault_done(&s.f);
	m.type = (enum warden_call_type)99;
	CHECK(send(s.runtime, &m, sizeof(m), 0) > 0);
	CHECK(warden_call_receive(s.warden, &got, s.fds, &s.f) == -EPROTO);
	fault_done(&s.f);
	m.type = WARDEN_CALL_START;
	memset(m.text, 'x', sizeof(m.text));
	CHECK(send(s.runtime, &m, sizeof(m), 0) > 0);
	CHECK(warden_call_receive(s.warden, &got, s.fds, &s.f) == -EPROTO);
}

TAP_MAIN(T(the_socket_is_the_owners_alone), T(an_exec_brings_its_claim_and_process),
	 T(an_exec_may_bring_the_socket_of_its_parent), T(a_refusal_has_the_wardens_reason),
	 T(a_warden_that_is_gone_is_no_answer), T(other_bytes_are_no_message))
