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
#include "core/capture-file.h"

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
	int manifestfd;
	pthread_t threads[CAPTURE_THREADS_MAX];
	unsigned int n_threads;
	size_t batch_max; /* each holds a descriptor */

	pthread_mutex_t lock;
	pthread_cond_t room, work;
	struct batch queue[QUEUE];
	size_t first, n;
	bool closing;
	struct batch next; /* the walker's own */

	struct news news; /* of all; lines that are not written yet */
	struct capture_target target;
};

static void batch_done(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		capture_job_done(b->jobs + i);
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

uint64_t capture_pool_claim(struct capture_pool *p, uint64_t bytes)
{
	return capture_target_claim(&p->target, bytes);
}

bool capture_pool_has_room(struct capture_pool *p)
{
	return capture_target_has_room(&p->target);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void work_on(struct capture_pool *p, struct news *n, struct capture_job *j,
		    struct capture_tools *tools)
{
	n->stats.bytes += capture_file(&p->target, j, tools, &n->failed);
	note(n, &j->entry);
	capture_job_done(j);
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
	_cleanup_capture_tools_ struct capture_tools tools = { .buffer = malloc(CAPTURE_BUFFER) };
	struct news news = { .failed = b && tools.buffer ? 0 : ENOMEM };

	(void)pthread_mutex_lock(&p->lock);
	while (!news.failed && take_batch_locked(p, b)) {
		(void)pthread_mutex_unlock(&p->lock);
		for (size_t i = 0; i < b->n; i++)
			work_on(p, &news, b->jobs + i, &tools);
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
	capture_target_done(&p->target);
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
	*p = (struct capture_pool){ .o = o, .manifestfd = -EBADF };
	capture_target_init(&p->target, outfd, o);
	p->batch_max = choose_batch();
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->room, NULL);
	(void)pthread_cond_init(&p->work, NULL);
	p->manifestfd =
		openat(outfd, MANIFEST_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->manifestfd < 0)
		return fault_errno(f, errno, "create " MANIFEST_NAME);
	r = start_threads(p, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
