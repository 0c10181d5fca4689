/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/capture-pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/capture-copy.h"
#include "core/capture-entry.h"

#define QUEUE 4
#define BATCH_MAX 64
/* Below this the bytes cost less than waking somebody: such files go to a thread many at once. */
#define SMALL_MAX ((uint64_t)64 * 1024)
#define MANIFEST_AHEAD ((size_t)512 * 1024)
#define STACK_SIZE ((size_t)256 * 1024)

/* Files of one directory, so that two threads seldom make files in the same one. */
struct batch {
	struct capture_job jobs[BATCH_MAX];
	size_t n;
};

/* What a thread has to tell, gathered for one turn at the lock. */
struct news {
	struct strbuf lines;
	struct capture_stats stats;
	int failed;
};

struct capture_pool {
	const struct capture_options *o;
	int outfd, oddfd, manifestfd;
	pthread_t threads[CAPTURE_THREADS_MAX];
	unsigned int n_threads;
	size_t batch_max; /* each holds a descriptor */

	pthread_mutex_t lock;
	pthread_cond_t room, work;
	struct batch queue[QUEUE];
	size_t first, n;
	bool closing;
	struct batch next; /* the walker's own */

	struct news news;	    /* of all; lines that are not written yet */
	uint64_t next_odd, claimed; /* of max_bytes */
	_Atomic bool no_clone;	    /* the target cannot: asked once */
};

struct capture_dir *capture_dir_new(int fd, const char *path)
{
	struct capture_dir *d = calloc(1, sizeof(*d));

	if (d)
		*d = (struct capture_dir){ .fd = fd, .path = strdup(path), .refs = 1 };
	if (d && d->path)
		return d;
	free(d);
	fd_close(fd);
	return NULL;
}

void capture_dir_drop(struct capture_dir *d)
{
	if (!d || --d->refs > 0)
		return;
	fd_close(d->fd);
	free(d->path);
	free(d);
}

static void job_done(struct capture_job *j)
{
	manifest_entry_done(&j->entry);
	fd_close(j->in);
	free(j->name);
	free(j->seen);
	capture_dir_drop(j->dir);
	*j = (struct capture_job){ .in = -EBADF };
}

static void batch_done(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		job_done(b->jobs + i);
	b->n = 0;
}

static void batch_move(struct batch *to, struct batch *from)
{
	memcpy(to->jobs, from->jobs, from->n * sizeof(from->jobs[0]));
	to->n = from->n;
	from->n = 0;
}

/* --- the manifest --------------------------------------------------------------------------------------------- */

static void flush_locked(struct capture_pool *p)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct news *n = &p->news;

	if (n->lines.broken || fd_write_all(p->manifestfd, n->lines.text, n->lines.len, &f) < 0)
		n->failed = n->failed ? n->failed : f.code ? f.code : ENOMEM;
	n->lines.len = 0;
}

static void note(struct news *n, const struct manifest_entry *e)
{
	size_t before = n->lines.len;

	if (manifest_write(e, &n->lines, NULL) < 0)
		n->failed = n->failed ? n->failed : ENOMEM;
	n->stats.manifest_bytes += n->lines.len - before;
	n->stats.entries++;
	n->stats.files += e->type == MANIFEST_FILE;
	n->stats.missing += e->why != NULL;
	n->stats.unstable += e->unstable;
}

static void tell_locked(struct capture_pool *p, struct news *n)
{
	struct news *all = &p->news;

	strbuf_add(&all->lines, n->lines.text, n->lines.len);
	all->stats.manifest_bytes += n->stats.manifest_bytes;
	all->stats.entries += n->stats.entries;
	all->stats.files += n->stats.files;
	all->stats.bytes += n->stats.bytes;
	all->stats.missing += n->stats.missing;
	all->stats.unstable += n->stats.unstable;
	all->failed = all->failed ? all->failed : n->failed ? n->failed : n->lines.broken ? ENOMEM : 0;
	n->lines.len = 0;
	n->stats = (struct capture_stats){ 0 };
	if (all->lines.len >= MANIFEST_AHEAD)
		flush_locked(p);
	if (p->o->progress)
		p->o->progress(p->o->arg, all->stats.entries, all->stats.bytes);
}

static int failure(const struct capture_pool *p, struct fault *f)
{
	return p->news.failed ? fault_errno(f, p->news.failed,
					    p->o->pack ? "write " PACK_NAME : "write " MANIFEST_NAME)
			      : 0;
}

int capture_pool_tell(struct capture_pool *p, const struct manifest_entry *e, struct fault *f)
{
	int r;

	(void)pthread_mutex_lock(&p->lock);
	note(&p->news, e);
	if (p->news.lines.len >= MANIFEST_AHEAD)
		flush_locked(p);
	r = failure(p, f);
	(void)pthread_mutex_unlock(&p->lock);
	return r;
}

uint64_t capture_pool_told(struct capture_pool *p)
{
	uint64_t bytes;

	(void)pthread_mutex_lock(&p->lock);
	bytes = p->news.stats.manifest_bytes;
	(void)pthread_mutex_unlock(&p->lock);
	return bytes;
}

/* --- room ------------------------------------------------------------------------------------------------------- */

uint64_t capture_pool_claim(struct capture_pool *p, uint64_t bytes)
{
	uint64_t room;

	(void)pthread_mutex_lock(&p->lock);
	room = p->o->max_bytes ? p->o->max_bytes - p->claimed : UINT64_MAX;
	if (bytes > room)
		bytes = room;
	if (p->o->max_bytes)
		p->claimed += bytes;
	(void)pthread_mutex_unlock(&p->lock);
	return bytes;
}

bool capture_pool_has_room(struct capture_pool *p)
{
	bool room;

	(void)pthread_mutex_lock(&p->lock);
	room = !p->o->max_bytes || p->claimed < p->o->max_bytes;
	(void)pthread_mutex_unlock(&p->lock);
	return room;
}

/* --- one file --------------------------------------------------------------------------------------------------- */

#define OUT_FLAGS (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/* Where a name is taken, too long or impossible, the file gets a number in odd/. */
static int create_odd(struct capture_pool *p, struct capture_job *j)
{
	char name[32];
	int fd;

	(void)pthread_mutex_lock(&p->lock);
	(void)snprintf(name, sizeof(name), "%08llu", (unsigned long long)++p->next_odd);
	if (p->oddfd < 0 && (mkdirat(p->outfd, CAPTURE_ODD, 0700) == 0 || errno == EEXIST))
		p->oddfd = openat(p->outfd, CAPTURE_ODD, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd = openat(p->oddfd, name, OUT_FLAGS, 0600);
	fd = fd < 0 ? -errno : fd;
	(void)pthread_mutex_unlock(&p->lock);
	if (fd < 0)
		return fd;
	free(j->name);
	j->name = strdup(name);
	if (asprintf(&j->entry.at, CAPTURE_ODD "/%s", name) < 0 || !j->name) {
		fd_close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* Never with set-id bits, always readable by its owner. */
static int create_out(struct capture_pool *p, struct capture_job *j)
{
	int fd = -EINVAL;

	/* Packed it is not what its name promises. */
	if (j->dir->fd >= 0 && !j->entry.sparse)
		fd = openat(j->dir->fd, j->name, OUT_FLAGS, (j->entry.mode & 0777) | 0600);
	else
		errno = ENAMETOOLONG;
	if (fd >= 0) {
		if (asprintf(&j->entry.at, "%s/%s", j->dir->path, j->name) >= 0)
			return fd;
		fd_close(fd);
		return -ENOMEM;
	}
	if (errno == EEXIST || errno == ENAMETOOLONG || errno == EINVAL || errno == EILSEQ)
		return create_odd(p, j);
	return -errno;
}

static bool is_changed(const struct capture_job *j)
{
	const struct statx *was = j->seen;
	struct statx is;

	if (statx(j->in, "", AT_EMPTY_PATH, STATX_SIZE | STATX_MTIME | STATX_CTIME, &is) < 0)
		return true;
	return is.stx_size != was->stx_size || is.stx_mtime.tv_sec != was->stx_mtime.tv_sec ||
	       is.stx_mtime.tv_nsec != was->stx_mtime.tv_nsec ||
	       is.stx_ctime.tv_sec != was->stx_ctime.tv_sec || is.stx_ctime.tv_nsec != was->stx_ctime.tv_nsec;
}

/* A share says only here that it was full. */
static int settle(const struct capture_pool *p, int out)
{
	int r = 0;

	if (p->o->sync_each && fsync(out) < 0)
		r = -errno;
	if (close(out) < 0 && r == 0)
		r = -errno;
	return r;
}

static void forget_out(struct capture_pool *p, struct capture_job *j)
{
	if (!j->entry.at)
		return;
	(void)unlinkat(str_starts(j->entry.at, CAPTURE_ODD "/") ? p->oddfd : j->dir->fd, j->name, 0);
	free(j->entry.at);
	j->entry.at = NULL;
}

static void blame(struct news *n, struct manifest_entry *e, int error, const char *why)
{
	if (capture_blame(e, error, why, NULL) < 0)
		n->failed = ENOMEM;
}

static void keep_copy(struct news *n, struct capture_job *j, const struct capture_copy *c)
{
	struct manifest_entry *e = &j->entry;
	uint64_t wanted = capture_copy_wanted(c);

	e->has_digest = true;
	e->digest = c->digest;
	e->unstable = is_changed(j) || c->copied < wanted;
	if (c->copied < wanted)
		blame(n, e, 0, "became shorter while it was read");
	else if (j->size < e->size)
		blame(n, e, 0, "limit: only its beginning was kept");
}

static int copy_into(struct capture_pool *p, struct news *n, struct capture_job *j, struct capture_copy *c)
{
	_cleanup_fault_ struct fault f = { 0 };
	int r = capture_copy(c, &f);

	if (c->clone && c->size >= CAPTURE_BUFFER && !c->sparse && !c->cloned)
		p->no_clone = true;
	if (r < 0) {
		(void)close(c->out);
		blame(n, &j->entry, f.code, c->read_failed ? "cannot be read" : "cannot be written here");
		return r;
	}
	keep_copy(n, j, c);
	r = settle(p, c->out);
	if (r < 0)
		blame(n, &j->entry, -r, "was not kept by the target");
	return r;
}

/*
 * What will be written is not what is allocated: holes beyond the number of extents that are told of are read as zeros,
 * and so is everything where nobody tells of holes.  That has to fit as well.  True: it was cut.
 */
static bool fit(struct capture_pool *p, struct capture_job *j)
{
	struct manifest_entry *e = &j->entry;
	uint64_t wanted = e->sparse ? 0 : j->size, room, left;

	for (size_t i = 0; e->sparse && i < e->n_extents; i++)
		wanted += e->extents[i].len;
	if (wanted <= j->data)
		return false;
	room = j->data + capture_pool_claim(p, wanted - j->data);
	if (room >= wanted)
		return false;
	if (!e->sparse)
		j->size = room;
	left = room;
	for (size_t i = 0; e->sparse && i < e->n_extents; i++) {
		if (e->extents[i].len > left)
			e->extents[i].len = left;
		left -= e->extents[i].len;
		if (left == 0)
			e->n_extents = e->extents[i].len ? i + 1 : i;
	}
	return true;
}

/* Under the name that it would have beside the manifest. */
static char *name_packed(struct capture_pool *p, const struct capture_job *j)
{
	char *at;
	int r;

	if (j->entry.sparse || str_eq(j->dir->path, CAPTURE_ODD))
		r = asprintf(&at, PACK_AT CAPTURE_ODD "/%08llu", (unsigned long long)++p->next_odd);
	else
		r = asprintf(&at, PACK_AT "%s/%s", j->dir->path, j->name);
	return r < 0 ? NULL : at;
}

/* Only the one thread that there is then comes here. */
static void copy_packed(struct capture_pool *p, struct news *n, struct capture_job *j, struct capture_copy *c)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct manifest_entry *e = &j->entry;
	int r = -ENOMEM;

	c->out = -EBADF;
	c->clone = false;
	c->to_pack = p->o->pack;
	e->at = name_packed(p, j);
	if (e->at)
		r = pack_put(c->to_pack, e, e->at + sizeof(PACK_AT) - 1, capture_copy_wanted(c), &f);
	if (r == 0)
		r = capture_copy(c, &f);
	if (r < 0 && !c->read_failed) {
		n->failed = f.code ? f.code : ENOMEM;
		return;
	}
	keep_copy(n, j, c);
	if (r < 0)
		blame(n, e, f.code, "cannot be read: the rest is zeros");
}

static uint64_t copy_file(struct capture_pool *p, struct news *n, struct capture_job *j, void *buffer)
{
	struct manifest_entry *e = &j->entry;
	struct capture_copy c = { .in = j->in, .clone = !p->no_clone, .buffer = buffer };
	bool cut;

	if (e->alloc < e->size &&
	    capture_find_extents(j->in, j->size, &e->extents, &e->n_extents, &e->sparse, NULL) < 0) {
		blame(n, e, ENOMEM, "its holes were not found");
		return 0;
	}
	cut = fit(p, j);
	c.size = j->size;
	c.sparse = e->sparse;
	c.extents = e->extents;
	c.n_extents = e->n_extents;
	if (p->o->pack) {
		copy_packed(p, n, j, &c);
		if (cut && !e->why)
			blame(n, e, 0, "limit: only its beginning was kept");
		return c.copied;
	}
	c.out = create_out(p, j);
	if (c.out < 0) {
		blame(n, e, -c.out, "cannot be written here");
		return 0;
	}
	if (copy_into(p, n, j, &c) < 0) {
		e->has_digest = false;
		forget_out(p, j);
		return 0;
	}
	if (cut && !e->why)
		blame(n, e, 0, "limit: only its beginning was kept");
	return c.copied;
}

static void work_on(struct capture_pool *p, struct news *n, struct capture_job *j, void *buffer)
{
	if (capture_xattrs(j->in, &j->entry, NULL) < 0)
		blame(n, &j->entry, ENOMEM, "extended attributes were not read");
	n->stats.bytes += copy_file(p, n, j, buffer);
	note(n, &j->entry);
	job_done(j);
}

/* False: there is no more to come. */
static bool take_batch_locked(struct capture_pool *p, struct batch *ret)
{
	while (p->n == 0 && !p->closing)
		(void)pthread_cond_wait(&p->work, &p->lock);
	if (p->n == 0)
		return false;
	batch_move(ret, p->queue + p->first);
	p->first = (p->first + 1) % QUEUE;
	p->n--;
	(void)pthread_cond_signal(&p->room);
	return true;
}

static void *work(void *arg)
{
	struct capture_pool *p = arg;
	_cleanup_free_ struct batch *b = calloc(1, sizeof(*b));
	_cleanup_free_ void *buffer = malloc(CAPTURE_BUFFER);
	struct news news = { .failed = b && buffer ? 0 : ENOMEM };

	(void)pthread_mutex_lock(&p->lock);
	while (!news.failed && take_batch_locked(p, b)) {
		(void)pthread_mutex_unlock(&p->lock);
		for (size_t i = 0; i < b->n; i++)
			work_on(p, &news, b->jobs + i, buffer);
		b->n = 0;
		(void)pthread_mutex_lock(&p->lock);
		tell_locked(p, &news);
	}
	tell_locked(p, &news);
	(void)pthread_cond_signal(&p->room); /* whoever waits for one that ended must look */
	(void)pthread_mutex_unlock(&p->lock);
	strbuf_done(&news.lines);
	return NULL;
}

/* --- the queue -------------------------------------------------------------------------------------------------- */

static int hand_over(struct capture_pool *p, struct fault *f)
{
	int r;

	(void)pthread_mutex_lock(&p->lock);
	while (p->n == QUEUE && !p->news.failed)
		(void)pthread_cond_wait(&p->room, &p->lock);
	r = failure(p, f);
	if (r == 0 && p->next.n > 0) {
		batch_move(p->queue + (p->first + p->n) % QUEUE, &p->next);
		p->n++;
		(void)pthread_cond_signal(&p->work);
	}
	(void)pthread_mutex_unlock(&p->lock);
	batch_done(&p->next); /* nobody is there to take it */
	return r;
}

int capture_pool_put(struct capture_pool *p, struct capture_job *job, struct fault *f)
{
	const bool small = !p->o->sync_each && job->size <= SMALL_MAX;
	struct batch *b = &p->next;
	int r = 0;

	job->dir->refs++;
	if (b->n > 0 && (b->n >= p->batch_max || b->jobs[0].dir != job->dir))
		r = hand_over(p, f);
	b->jobs[b->n++] = *job;
	*job = (struct capture_job){ .in = -EBADF };
	if (r == 0 && !small)
		r = hand_over(p, f);
	return r;
}

static void join(struct capture_pool *p)
{
	(void)pthread_mutex_lock(&p->lock);
	p->closing = true;
	(void)pthread_cond_broadcast(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
	for (; p->n_threads > 0; p->n_threads--)
		(void)pthread_join(p->threads[p->n_threads - 1], NULL);
}

int capture_pool_finish(struct capture_pool *p, struct capture_stats *ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = hand_over(p, f);
	join(p);
	flush_locked(p);
	if (r == 0)
		r = failure(p, f);
	if (r < 0)
		return r;
	r = p->o->pack ? pack_finish(p->o->pack, f) : 0;
	if (r < 0)
		return r;
	fd = TAKE_FD(p->manifestfd);
	if (fsync(fd) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "sync " MANIFEST_NAME);
	/* Read back: what the ledger will vouch for is what the disk has. */
	r = digest_fd(fd, &p->news.stats.manifest, f);
	if (r < 0)
		return r;
	*ret = p->news.stats;
	return 0;
}

void capture_pool_free(struct capture_pool *p)
{
	if (!p)
		return;
	join(p);
	for (; p->n > 0; p->n--) {
		batch_done(p->queue + p->first);
		p->first = (p->first + 1) % QUEUE;
	}
	batch_done(&p->next);
	strbuf_done(&p->news.lines);
	fd_close(p->manifestfd);
	fd_close(p->oddfd);
	(void)pthread_cond_destroy(&p->room);
	(void)pthread_cond_destroy(&p->work);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

static unsigned int choose_threads(const struct capture_options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = o->pack ? 1 : o->threads;

	if (n == 0)
		n = cpus < 1 ? 1 : cpus > 4 ? 4 : (unsigned int)cpus;
	return n > CAPTURE_THREADS_MAX ? CAPTURE_THREADS_MAX : n;
}

/* Those that wait, are worked on and are being gathered, with room for everybody else's descriptors. */
static size_t choose_batch(void)
{
	struct rlimit limit;
	size_t n = BATCH_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 16 < BATCH_MAX)
		n = (size_t)limit.rlim_cur / 16;
	return n > 0 ? n : 1;
}

static int start_threads(struct capture_pool *p, struct fault *f)
{
	const unsigned int want = choose_threads(p->o);
	pthread_attr_t attr;
	int r = 0;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (; p->n_threads < want && r == 0; p->n_threads += r == 0)
		r = pthread_create(p->threads + p->n_threads, &attr, work, p);
	(void)pthread_attr_destroy(&attr);
	/* One is enough: a limit on processes must not cost the evidence. */
	return p->n_threads > 0 ? 0 : fault_errno(f, r, "start a thread");
}

int capture_pool_new(int outfd, const struct capture_options *o, struct capture_pool **ret, struct fault *f)
{
	_cleanup_capture_pool_ struct capture_pool *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return fault_errno(f, ENOMEM, "capture");
	*p = (struct capture_pool){ .o = o, .outfd = outfd, .oddfd = -EBADF, .manifestfd = -EBADF };
	p->batch_max = choose_batch();
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->room, NULL);
	(void)pthread_cond_init(&p->work, NULL);
	p->manifestfd = openat(outfd, MANIFEST_NAME, OUT_FLAGS, 0600);
	if (p->manifestfd < 0)
		return fault_errno(f, errno, "create " MANIFEST_NAME);
	r = start_threads(p, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
