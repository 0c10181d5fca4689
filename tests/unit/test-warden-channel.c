/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tap.h"

struct scene {
	int hook, warden; /* the two ends */
	int here[WARDEN_FDS_MAX], got[WARDEN_FDS_MAX];
	struct warden_request order;
	struct fault f;
};

static void close_all(int fds[WARDEN_FDS_MAX])
{
	for (int i = 0; i < WARDEN_FDS_MAX; i++)
		fds[i] = fd_close(fds[i]);
}

static void scene_done(struct scene *s)
{
	fd_close(s->hook);
	fd_close(s->warden);
	close_all(s->here);
	close_all(s->got);
	warden_request_done(&s->order);
	fault_done(&s->f);
}
#define _cleanup_scene_ _cleanup_(scene_done)

static bool scene_make(struct scene *s)
{
	int line[2];

	*s = (struct scene){ .hook = -EBADF, .warden = -EBADF };
	for (int i = 0; i < WARDEN_FDS_MAX; i++)
		s->here[i] = s->got[i] = -EBADF;
	if (warden_channel_make(line, &s->f) < 0)
		return false;
	s->hook = line[0];
	s->warden = line[1];
	for (int i = 0; i < WARDEN_FDS_MAX; i++)
		s->here[i] = open(i % 2 ? "/dev/null" : "/", O_RDONLY | O_CLOEXEC);
	return s->here[WARDEN_FDS_MAX - 1] >= 0;
}

static struct warden_request some_order(void)
{
	static char container[] = "box", user[] = "ann", profile[] = "offline";

	return (struct warden_request){ .session = "20261116T031500Z-1a2b3c4d",
					.container = container,
					.level = 'B',
					.user = user,
					.profile = profile,
					.pid = 4711 };
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return a != b && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

/* N of the descriptors, with TEXT. */
static bool send_raw(const struct scene *s, const char *text, size_t len, size_t n)
{
	union {
		char room[CMSG_SPACE((WARDEN_FDS_MAX + 1) * sizeof(int))];
		struct cmsghdr align;
	} u = { 0 };
	struct iovec io = { (char *)text, len };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room };
	struct cmsghdr *c;

	m.msg_controllen = CMSG_SPACE(n * sizeof(int));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), s->here, (n > WARDEN_FDS_MAX ? WARDEN_FDS_MAX : n) * sizeof(int));
	if (n > WARDEN_FDS_MAX)
		memcpy(CMSG_DATA(c) + WARDEN_FDS_MAX * sizeof(int), s->here, sizeof(int));
	return sendmsg(s->hook, &m, 0) == (ssize_t)len;
}

static void an_order_comes_with_its_descriptors(void)
{
	_cleanup_scene_ struct scene s;
	const struct warden_request o = some_order();

	CHECK(scene_make(&s));
	CHECK(warden_channel_send_ready(s.warden, &s.f) == 0);
	CHECK(warden_channel_wait_ready(s.hook, 0, &s.f) == 0);
	CHECK(warden_channel_send(s.hook, &o, s.here, &s.f) == 0);
	/* Even if the hook dies then, the request has arrived. */
	s.hook = fd_close(s.hook);
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == 1);
	CHECK(strcmp(s.order.session, o.session) == 0 && s.order.level == 'B' && s.order.pid == 4711);
	for (int i = 0; i < WARDEN_FDS; i++) {
		CHECK(is_same(s.got[i], s.here[i]));
		CHECK(fcntl(s.got[i], F_GETFD) & FD_CLOEXEC);
	}
}

/* Each of the two may be missing. */
static void an_order_of_an_engine_brings_its_worktree(void)
{
	for (size_t n = 0; n < 3; n++) {
		_cleanup_scene_ struct scene s;
		struct warden_request o = some_order();

		o.kind = WARDEN_ENGINE;
		o.tree = n > 0;
		o.upper = n > 1;
		o.layers = 0xffff;
		CHECK(scene_make(&s));
		CHECK(warden_channel_send(s.hook, &o, s.here, &s.f) == 0);
		CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == 1);
		CHECK(s.order.kind == WARDEN_ENGINE && s.order.layers == 0xffff && s.order.tree == o.tree);
		CHECK(s.got[WARDEN_FDS + n - 1] >= 0 && (n == 2 || s.got[WARDEN_FDS + n] < 0));
	}
}

static void an_order_with_other_descriptors_than_it_says_is_refused(void)
{
	_cleanup_scene_ struct scene s;
	const struct warden_request o = some_order();
	_cleanup_strbuf_ struct strbuf text = { 0 };

	CHECK(scene_make(&s));
	CHECK(warden_request_write(&o, &text, &s.f) == 0);
	CHECK(send_raw(&s, text.text, text.len, WARDEN_FDS + 1));
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == -EPROTO);
}

static void a_warden_that_is_gone_is_not_ready(void)
{
	_cleanup_scene_ struct scene s;
	const struct warden_request o = some_order();

	CHECK(scene_make(&s));
	s.warden = fd_close(s.warden);
	CHECK(warden_channel_wait_ready(s.hook, 10000, &s.f) == -EPIPE);
	fault_done(&s.f);
	CHECK(warden_channel_send(s.hook, &o, s.here, &s.f) == -EPIPE);
}

static void silence_and_other_words_are_not_ready(void)
{
	_cleanup_scene_ struct scene s;

	CHECK(scene_make(&s));
	CHECK(warden_channel_wait_ready(s.hook, 0, &s.f) == -ETIMEDOUT);
	fault_done(&s.f);
	CHECK(send(s.warden, "x", 1, 0) == 1);
	CHECK(warden_channel_wait_ready(s.hook, 0, &s.f) == -EPROTO);
}

static void a_hook_that_is_gone_has_no_order(void)
{
	_cleanup_scene_ struct scene s, t;

	CHECK(scene_make(&s));
	s.hook = fd_close(s.hook);
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == 0 && s.got[0] < 0);
	CHECK(warden_channel_send_ready(s.warden, &s.f) < 0);
	/* It went without having read that we are ready. */
	CHECK(scene_make(&t));
	CHECK(warden_channel_send_ready(t.warden, &t.f) == 0);
	t.hook = fd_close(t.hook);
	CHECK(warden_channel_receive(t.warden, &t.order, t.got, &t.f) == 0 && t.got[0] < 0);
}

/* A receiver that cannot take it can still kill the process of the first descriptor. */
static void an_order_that_cannot_be_taken_leaves_its_descriptors(void)
{
	_cleanup_scene_ struct scene s;
	static const char zeros[WARDEN_REQUEST_MAX + 1];

	CHECK(scene_make(&s));
	CHECK(send_raw(&s, "nonsense", 8, WARDEN_FDS));
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) < 0 && s.f.code);
	CHECK(is_same(s.got[0], s.here[0]));
	close_all(s.got);
	fault_done(&s.f);
	CHECK(send_raw(&s, "{}", 2, 1));
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == -EPROTO);
	CHECK(is_same(s.got[0], s.here[0]) && s.got[1] < 0);
	close_all(s.got);
	fault_done(&s.f);
	CHECK(send_raw(&s, "{}", 2, WARDEN_FDS_MAX + 1));
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == -EPROTO);
	CHECK(is_same(s.got[0], s.here[0]));
	close_all(s.got);
	fault_done(&s.f);
	CHECK(send_raw(&s, zeros, sizeof(zeros), WARDEN_FDS));
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == -EPROTO);
	CHECK(is_same(s.got[0], s.here[0]));
	fault_done(&s.f);
	CHECK(send(s.hook, "{}", 2, 0) == 2);
	close_all(s.got);
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == -EPROTO && s.got[0] < 0);
}

static void an_order_that_is_too_long_is_not_sent(void)
{
	_cleanup_scene_ struct scene s;
	static char container[WARDEN_REQUEST_MAX];
	struct warden_request o = some_order();

	memset(container, 'x', sizeof(container) - 1);
	o.container = container;
	CHECK(scene_make(&s));
	CHECK(warden_channel_send(s.hook, &o, s.here, &s.f) == -E2BIG);
	s.hook = fd_close(s.hook);
	CHECK(warden_channel_receive(s.warden, &s.order, s.got, &s.f) == 0);
}

TAP_MAIN(T(an_order_comes_with_its_descriptors), T(an_order_of_an_engine_brings_its_worktree),
	 T(an_order_with_other_descriptors_than_it_says_is_refused), T(a_warden_that_is_gone_is_not_ready),
	 T(silence_and_other_words_are_not_ready), T(a_hook_that_is_gone_has_no_order),
	 T(an_order_that_cannot_be_taken_leaves_its_descriptors), T(an_order_that_is_too_long_is_not_sent))
