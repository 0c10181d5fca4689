/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-handover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tap.h"
#include "tree-fixture.h"

struct scene {
	struct tree run;
	int session, door, here;
	struct fault f;
};

static void scene_done(struct scene *s)
{
	/* The search for a door leaves us elsewhere. */
	(void)!fchdir(s->here);
	fd_close(s->here);
	fd_close(s->door);
	fd_close(s->session);
	fault_done(&s->f);
	tree_done(&s->run);
}
#define _cleanup_scene_ _cleanup_(scene_done)
#define SCENE                                                     \
	{                                                         \
		.session = -EBADF, .door = -EBADF, .here = -EBADF \
	}

static bool scene_make(struct scene *s)
{
	s->here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->here < 0 || !tree_make(&s->run) || mkdirat(s->run.fd, "sessions", 0700) < 0 ||
	    mkdirat(s->run.fd, "sessions/one", 0700) < 0 || mkdirat(s->run.fd, "sessions/two", 0700) < 0)
		return false;
	s->session = openat(s->run.fd, "sessions/one", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->door = warden_handover_make(s->session, "c", &s->f);
	return s->door >= 0;
}

static bool is_same(int fd, int dirfd, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dirfd, name, &b, 0) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

static void descriptors_arrive(void)
{
	_cleanup_scene_ struct scene s = SCENE;
	_cleanup_warden_held_ struct warden_held got = WARDEN_HELD_NONE, less = WARDEN_HELD_NONE;
	_cleanup_close_ int to = -EBADF;
	struct warden_held h = WARDEN_HELD_NONE;

	CHECK(scene_make(&s));
	CHECK(warden_handover_receive(s.door, &got, &s.f) == 0 && got.tree < 0);
	to = warden_handover_find(s.run.path, "c", &s.f);
	CHECK(to >= 0);
	h.tree = s.run.fd;
	h.upper = s.session;
	CHECK(warden_handover_send(to, &h, &s.f) == 0);
	h.upper = -EBADF;
	CHECK(warden_handover_send(to, &h, &s.f) == 0);
	CHECK(warden_handover_receive(s.door, &got, &s.f) == 1);
	CHECK(is_same(got.tree, s.run.fd, ".") && is_same(got.upper, s.run.fd, "sessions/one"));
	CHECK(fcntl(got.tree, F_GETFD) & FD_CLOEXEC);
	CHECK(warden_handover_receive(s.door, &less, &s.f) == 1 && less.upper < 0);
	CHECK(is_same(less.tree, s.run.fd, "."));
}

static void the_gate_arrives_with_the_worktree(void)
{
	_cleanup_scene_ struct scene s = SCENE;
	_cleanup_warden_held_ struct warden_held got = WARDEN_HELD_NONE;
	_cleanup_close_ int to = -EBADF, gate = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct warden_held h = WARDEN_HELD_NONE;

	CHECK(scene_make(&s));
	to = warden_handover_find(s.run.path, "c", &s.f);
	CHECK(to >= 0 && gate >= 0);
	h.tree = s.run.fd;
	h.gate = gate;
	h.gate_dir = s.session;
	/* A socket that does not listen can accept no one. */
	CHECK(warden_handover_send(to, &h, &s.f) == 0);
	CHECK(warden_handover_receive(s.door, &got, &s.f) == -EPROTO && got.gate < 0);
	fault_done(&s.f);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/gate", s.session);
	CHECK(bind(gate, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(gate, 1) == 0);
	CHECK(warden_handover_send(to, &h, &s.f) == 0);
	CHECK(warden_handover_receive(s.door, &got, &s.f) == 1);
	CHECK(got.upper < 0);
	CHECK(got.gate >= 0 && is_same(got.gate_dir, s.run.fd, "sessions/one"));
}

static void another_container_finds_no_door(void)
{
	_cleanup_scene_ struct scene s = SCENE;

	CHECK(scene_make(&s));
	CHECK(warden_handover_find(s.run.path, "d", &s.f) == -ENOENT);
	CHECK(warden_handover_find("/nonexistent", "c", &s.f) == -ENOENT);
	/* Nor does one with the same name, after a handover. */
	warden_handover_shut(s.session, "c");
	CHECK(warden_handover_find(s.run.path, "c", &s.f) == -ENOENT);
}

static void two_open_doors_of_one_name_are_refused(void)
{
	_cleanup_scene_ struct scene s = SCENE;
	_cleanup_close_ int two = -EBADF, door = -EBADF;

	CHECK(scene_make(&s));
	two = openat(s.run.fd, "sessions/two", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	door = warden_handover_make(two, "c", &s.f);
	CHECK(door >= 0);
	CHECK(warden_handover_find(s.run.path, "c", &s.f) == -EEXIST);
}

static void no_sender_waits_at_a_closed_socket(void)
{
	_cleanup_scene_ struct scene s = SCENE;
	_cleanup_close_ int two = -EBADF, door = -EBADF, to = -EBADF;

	CHECK(scene_make(&s));
	s.door = fd_close(s.door);
	CHECK(warden_handover_find(s.run.path, "c", &s.f) == -ECONNREFUSED);
	/* The next container of that name is not kept from its own. */
	two = openat(s.run.fd, "sessions/two", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	door = warden_handover_make(two, "c", &s.f);
	to = warden_handover_find(s.run.path, "c", &s.f);
	CHECK(door >= 0 && to >= 0);
}

static void only_directories_are_accepted(void)
{
	_cleanup_scene_ struct scene s = SCENE;
	_cleanup_warden_held_ struct warden_held got = WARDEN_HELD_NONE;
	_cleanup_close_ int to = -EBADF, file = -EBADF;
	struct warden_held h = WARDEN_HELD_NONE;

	CHECK(scene_make(&s));
	CHECK(tree_put(s.run.fd, "file", "x", 0600));
	file = openat(s.run.fd, "file", O_RDONLY | O_CLOEXEC);
	to = warden_handover_find(s.run.path, "c", &s.f);
	h.tree = file;
	CHECK(to >= 0 && warden_handover_send(to, &h, &s.f) == 0);
	CHECK(warden_handover_receive(s.door, &got, &s.f) == -EPROTO && got.tree < 0);
	fault_done(&s.f);
	CHECK(send(to, "w", 1, 0) == 1);
	CHECK(warden_handover_receive(s.door, &got, &s.f) == -EPROTO && got.tree < 0);
	fault_done(&s.f);
	h.tree = s.run.fd;
	h.upper = file;
	CHECK(warden_handover_send(to, &h, &s.f) == 0);
	CHECK(warden_handover_receive(s.door, &got, &s.f) == -EPROTO && got.tree < 0 && got.upper < 0);
}

TAP_MAIN(T(descriptors_arrive), T(the_gate_arrives_with_the_worktree), T(another_container_finds_no_door),
	 T(two_open_doors_of_one_name_are_refused), T(no_sender_waits_at_a_closed_socket),
	 T(only_directories_are_accepted))
