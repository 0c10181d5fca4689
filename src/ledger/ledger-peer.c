/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process-detach.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-impl.h"
#include "ledger/ledger-peer-sink.h"
#include "ledger/ledger-reader.h"

#define BATCH ((size_t)4 * LEDGER_LINE_MAX)
#define CURSOR_MAX 4096
#define CURSOR_NAME_SIZE 64
#define PUSH_ALL_S 60 /* lifetime of the pushing process, even if a peer hangs */

/*
 * Position up to which a peer has received everything: an offset in a segment, or in the file of checkpoints.
 */
struct peer_cursor {
	uint64_t segment, offset, sent, lost;
	char error[160];
};

static int open_ledger_dir(const char *state, struct fault *f)
{
	_cleanup_free_ char *dir = path_join(state, LEDGER_DIR);
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return fd < 0 ? fault_errno(f, dir ? errno : ENOMEM, "open the ledger in '%s'", state) : fd;
}

static void cursor_name(const struct peer *p, char name[CURSOR_NAME_SIZE])
{
	(void)snprintf(name, CURSOR_NAME_SIZE, "peer-%.32s.json", p->name);
}

static uint64_t get_u64(const struct jdoc *d, const char *key)
{
	const struct jdoc *v = jdoc_get(d, key);

	return v && v->type == JDOC_INT && v->integer > 0 ? (uint64_t)v->integer : 0;
}

/* An unreadable cursor means the beginning: sending twice is better than losing. */
static void load_cursor(int dirfd, const struct peer *p, struct peer_cursor *ret)
{
	char name[CURSOR_NAME_SIZE];
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	_cleanup_jdoc_ struct jdoc *d = NULL;
	size_t len;

	*ret = (struct peer_cursor){ 0 };
	cursor_name(p, name);
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, CURSOR_MAX, &text, &len, NULL) < 0 ||
	    jdoc_parse(text, len, name, NULL, &d, NULL) < 0)
		return;
	/* The peer's `send` was changed: start from the beginning. */
	if (!str_eq(jdoc_get_string(d, "send"), p->records ? "records" : "checkpoints"))
		return;
	ret->segment = get_u64(d, "segment");
	ret->offset = get_u64(d, "offset");
	ret->sent = get_u64(d, "sent");
	ret->lost = get_u64(d, "lost");
	if (jdoc_get_string(d, "error"))
		(void)snprintf(ret->error, sizeof(ret->error), "%s", jdoc_get_string(d, "error"));
}

static int save_cursor(int dirfd, const struct peer *p, const struct peer_cursor *c, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char name[CURSOR_NAME_SIZE];
	int r;

	cursor_name(p, name);
	jdoc_set_int(d, "segment", (int64_t)c->segment);
	jdoc_set_int(d, "offset", (int64_t)c->offset);
	jdoc_set_int(d, "sent", (int64_t)c->sent);
	jdoc_set_int(d, "lost", (int64_t)c->lost);
	jdoc_set_string(d, "send", p->records ? "records" : "checkpoints");
	jdoc_set_string(d, "error", str_is_utf8(c->error, strlen(c->error)) ? c->error : "?");
	r = jdoc_write(d, JDOC_CANONICAL, &b, f);
	return r < 0 ? r : fd_replace_file(dirfd, name, b.text, b.len, 0600, f);
}

/* Length of one complete item at TEXT, and the number of records that it covers; 0 if it is incomplete. */
static size_t item_at(const struct peer *p, const char *text, size_t len, uint64_t *ret_sent)
{
	const char *end, *why;
	struct record r;
	struct checkpoint n;
	size_t used;

	if (p->records) {
		end = memchr(text, '\n', len);
		if (!end)
			return 0;
		if (record_parse(text, (size_t)(end + 1 - text), &r, &why) == 0)
			*ret_sent = r.seq + 1;
		return (size_t)(end + 1 - text);
	}
	if (checkpoint_parse(text, len, &n, &used) == 0) {
		*ret_sent = n.mark.size;
		return used < len && text[used] == '\n' ? used + 1 : used;
	}
	/* Not a checkpoint (a partial one, after a full disk): continue with the next candidate. */
	end = memmem(text, len, "\n" ORIGIN_PREFIX, sizeof("\n" ORIGIN_PREFIX) - 1);
	return end ? (size_t)(end + 1 - text) : 0;
}

/* The next bytes for the peer; *RET_LEN 0 if it has received all. */
static int read_batch(int dirfd, const struct peer *p, struct peer_cursor *c, char *room, size_t *ret_len,
		      struct fault *f)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n = 0;
	int r;

	if (p->records) {
		r = segment_list(dirfd, &list, &n, f);
		if (r < 0)
			return r;
	}
	for (size_t i = 0;; i++) {
		char name[SEGMENT_NAME_SIZE] = LEDGER_CHECKPOINTS;
		_cleanup_close_ int fd = -EBADF;
		ssize_t got;

		while (i < n && list[i] < c->segment)
			i++;
		if (p->records) {
			if (i >= n)
				break;
			/*
			 * Older segments may have been removed; the cursor continues with the existing ones.
			 */
			c->offset = list[i] == c->segment ? c->offset : 0;
			c->segment = list[i];
			segment_name(c->segment, name);
		} else if (i > 0) {
			break;
		}
		fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			break;
		if (fd < 0)
			return fault_errno(f, errno, "open '%s'", name);
		got = pread(fd, room, BATCH, (off_t)c->offset);
		if (got < 0)
			return fault_errno(f, errno, "read '%s'", name);
		if (got > 0) {
			*ret_len = (size_t)got;
			return 0;
		}
	}
	*ret_len = 0;
	return 0;
}

/* Sends one item of N bytes, which moves C behind it.  Records between the last one and this one are lost. */
static int send_item(const struct peer *p, int fd, struct peer_cursor *c, uint64_t sent, const char *text,
		     size_t n, uint64_t deadline_ns, struct fault *f)
{
	const struct sink_ops *sink = sink_of(p->type);
	_cleanup_strbuf_ struct strbuf frame = { 0 };
	struct record r;
	const char *why;

	if (p->records && sent > c->sent + 1)
		c->lost += sent - c->sent - 1;
	c->sent = sent;
	if (!sink->frame)
		return sink->send(fd, text, n, deadline_ns, f);
	/* A damaged line has no meaning to convert; the seq of the next record shows the loss. */
	if (record_parse(text, n, &r, &why) < 0)
		return 0;
	sink->frame(p, &r, &frame);
	return frame.broken ? fault_errno(f, ENOMEM, "peer '%s'", p->name)
			    : sink->send(fd, frame.text, frame.len, deadline_ns, f);
}

/* Sends all complete items of a batch; C advances once the peer has received them. 1: there may be more. */
static int push_batch(int dirfd, const struct peer *p, int fd, struct peer_cursor *c, char *room,
		      uint64_t deadline_ns, struct fault *f)
{
	const struct sink_ops *sink = sink_of(p->type);
	size_t len = 0, used = 0;
	struct peer_cursor next;
	int r;

	r = read_batch(dirfd, p, c, room, &len, f);
	if (r < 0)
		return r;
	next = *c;
	while (used < len) {
		uint64_t sent = next.sent;
		size_t n = item_at(p, room + used, len - used, &sent);

		if (n == 0)
			break;
		r = send_item(p, fd, &next, sent, room + used, n, deadline_ns, f);
		if (r < 0)
			return r;
		used += n;
	}
	if (used == 0)
		return 0;
	r = sink->confirm(fd, deadline_ns, f);
	if (r < 0)
		return r;
	next.offset += used;
	*c = next;
	return 1;
}

static int push_one(int dirfd, const struct peer *p, struct peer_cursor *c, struct fault *f)
{
	_cleanup_free_ char *room = NULL;
	_cleanup_close_ int fd = -EBADF;
	uint64_t deadline_ns = clock_boot_ns() + (uint64_t)PEER_PUSH_MS * 1000000;
	int r;

	fd = sink_of(p->type)->open(p, f);
	if (fd < 0)
		return fd;
	room = malloc(BATCH);
	if (!room)
		return fault_errno(f, ENOMEM, "peer '%s'", p->name);
	do
		r = push_batch(dirfd, p, fd, c, room, deadline_ns, f);
	while (r > 0 && clock_boot_ns() < deadline_ns);
	return r < 0 ? r : 0;
}

int peer_push(const char *state, const struct peers *p, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF, lock = -EBADF;
	int r;

	dirfd = open_ledger_dir(state, f);
	if (dirfd < 0)
		return dirfd;
	/* One pusher at a time, so that a peer receives items in order. */
	lock = openat(dirfd, "lock-peer", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0)
		return fault_errno(f, errno, "open 'lock-peer'");
	while (flock(lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return fault_errno(f, errno, "lock 'lock-peer'");
	for (size_t i = 0; i < p->n; i++) {
		_cleanup_fault_ struct fault why = { 0 };
		struct peer_cursor c, was;

		load_cursor(dirfd, &p->items[i], &c);
		was = c;
		c.error[0] = '\0';
		if (push_one(dirfd, &p->items[i], &c, &why) < 0)
			(void)snprintf(c.error, sizeof(c.error), "%s", fault_text(&why));
		if (memcmp(&c, &was, sizeof(c)) == 0)
			continue;
		r = save_cursor(dirfd, &p->items[i], &c, f);
		if (r < 0)
			return fault_wrap(f, r, "peer '%s'", p->items[i].name);
	}
	return 0;
}

/* Number of records covered by the newest checkpoint or record. */
static int live_size(const char *state, const struct peer *p, uint64_t *ret, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	struct checkpoint n;
	size_t used;
	int r;

	r = ledger_reader_open_live(state, &s, f);
	if (r < 0)
		return r;
	*ret = 0;
	if (p->records && s.has_seal) {
		*ret = s.seal.index;
		return 0;
	}
	for (size_t at = 0; at < s.checkpoints_len; at += used) {
		uint64_t size;

		used = item_at(&(struct peer){ 0 }, s.checkpoints + at, s.checkpoints_len - at, &size);
		if (used == 0)
			break;
		if (checkpoint_parse(s.checkpoints + at, s.checkpoints_len - at, &n, &used) == 0) {
			*ret = n.mark.size;
			used += at + used < s.checkpoints_len && s.checkpoints[at + used] == '\n';
		}
	}
	return 0;
}

int peer_state(const char *state, const struct peer *p, struct peer_state *ret, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF;
	struct peer_cursor c;
	uint64_t size;
	int r;

	r = live_size(state, p, &size, f);
	if (r < 0)
		return r;
	dirfd = open_ledger_dir(state, f);
	if (dirfd < 0)
		return dirfd;
	load_cursor(dirfd, p, &c);
	*ret = (struct peer_state){ .sent = c.sent,
				    .behind = size > c.sent ? size - c.sent : 0,
				    .lost = c.lost };
	memcpy(ret->error, c.error, sizeof(ret->error));
	return 0;
}

static _Noreturn void push_all(const char *state)
{
	_cleanup_peers_ struct peers p = { 0 };

	(void)alarm(PUSH_ALL_S);
	_exit(peer_load(state, &p, NULL) < 0 || peer_push(state, &p, NULL) < 0);
}

void peer_kick(const char *state)
{
	_cleanup_free_ char *path = path_join(state, PEER_FILE);

	if (path && access(path, F_OK) == 0 && process_detach("custody-peer", -EBADF) == 0)
		push_all(state);
}
