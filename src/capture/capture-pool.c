/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digest-two.h"
#include "base/fd.h"
#include "base/str.h"
#include "capture/capture-copy.h"
#include "capture/capture-file.h"
#include "capture/capture-open.h"
#include "capture/capture-sync.h"

#define QUEUE ((size_t)4)		   /* batches that the walker may be ahead */
#define ROOM (QUEUE + CAPTURE_THREADS_MAX) /* each thread may return one */
/* A larger file keeps its thread busy: other threads take the rest of its batch. */
#define SMALL_MAX ((uint64_t)64 * 1024)
#define MANIFEST_AHEAD ((size_t)512 * 1024)
#define STACK_SIZE ((size_t)256 * 1024)

/* Results of one thread, merged into the total once per batch under the lock. */
struct batch_stats {
	struct strbuf lines;
	struct capture_stats counts;
	uint64_t cached; /* bytes that went through the page cache */
	int failed;
};

/* A thread and its open files: two where hashing two at once is faster. */
#define SLOTS 2
struct worker {
	struct capture_batch batch;
	struct slot {
		struct capture_job job;
		struct capture_tools tools;
		bool is_busy;
	} slots[SLOTS];
	unsigned int n_busy;
	struct batch_stats done;
};

struct capture_pool {
	const struct capture_options *o;
	int manifestfd;
	pthread_t threads[CAPTURE_THREADS_MAX];
	unsigned int n_threads, n_slots;

	pthread_mutex_t lock;
	pthread_cond_t room, work;
	struct capture_batch queue[ROOM];
	size_t first, n;
	size_t waiting; /* idle threads */
	size_t holding; /* threads with a batch, of which they may return a part */
	bool closing;

	struct batch_stats total; /* with lines that are not written yet */
	struct capture_target target;
	struct capture_sync *sync; /* may be NULL */
};

/* --- the manifest --------------------------------------------------------------------------------------------- */

static void flush_locked(struct capture_pool *p)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct batch_stats *n = &p->total;

	if (n->lines.broken || fd_write_all(p->manifestfd, n->lines.text, n->lines.len, &f) < 0)
		n->failed = n->failed ? n->failed : f.code ? f.code : ENOMEM;
	n->lines.len = 0;
}

static void add_entry(struct batch_stats *n, const struct manifest_entry *e)
{
	size_t before = n->lines.len;

	if (manifest_write(e, &n->lines, NULL) < 0)
		n->failed = n->failed ? n->failed : ENOMEM;
	n->counts.manifest_bytes += n->lines.len - before;
	n->counts.entries++;
	n->counts.files += e->type == MANIFEST_FILE;
	n->counts.missing += e->why != NULL;
	n->counts.unstable += e->unstable;
}

static void merge_locked(struct capture_pool *p, struct batch_stats *n)
{
	struct batch_stats *all = &p->total;

	capture_sync_add(p->sync, n->counts.files, n->cached);
	strbuf_add(&all->lines, n->lines.text, n->lines.len);
	all->counts.manifest_bytes += n->counts.manifest_bytes;
	all->counts.entries += n->counts.entries;
	all->counts.files += n->counts.files;
	all->counts.bytes += n->counts.bytes;
	all->counts.shared += n->counts.shared;
	all->counts.missing += n->counts.missing;
	all->counts.unstable += n->counts.unstable;
	all->failed = all->failed ? all->failed : n->failed ? n->failed : n->lines.broken ? ENOMEM : 0;
	n->lines.len = 0;
	n->counts = (struct capture_stats){ 0 };
	n->cached = 0;
	if (all->lines.len >= MANIFEST_AHEAD)
		flush_locked(p);
	if (p->o->progress)
		p->o->progress(p->o->arg, all->counts.entries, all->counts.bytes);
}

static int failure(const struct capture_pool *p, struct fault *f)
{
	return p->total.failed ? fault_errno(f, p->total.failed,
					     p->o->pack ? "write " PACK_NAME : "write " MANIFEST_NAME)
			       : 0;
}

int capture_pool_add_entry(struct capture_pool *p, const struct manifest_entry *e, struct fault *f)
{
	int r;

	(void)pthread_mutex_lock(&p->lock);
	add_entry(&p->total, e);
	if (p->total.lines.len >= MANIFEST_AHEAD)
		flush_locked(p);
	r = failure(p, f);
	(void)pthread_mutex_unlock(&p->lock);
	return r;
}

uint64_t capture_pool_manifest_size(struct capture_pool *p)
{
	uint64_t bytes;

	(void)pthread_mutex_lock(&p->lock);
	bytes = p->total.counts.manifest_bytes;
	(void)pthread_mutex_unlock(&p->lock);
	return bytes;
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* Before a large file, so that the files behind it do not wait.  In an archive their order is fixed. */
static void return_rest(struct capture_pool *p, struct capture_batch *b)
{
	_cleanup_capture_batch_ struct capture_batch rest = { .from = -EBADF };

	if (p->o->pack || !capture_batch_split(b, &rest))
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->first = (p->first + ROOM - 1) % ROOM;
	capture_batch_move(p->queue + p->first, &rest);
	p->n++;
	(void)pthread_cond_signal(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
}

/* False: no batch is left, or the caller is busy and an idle thread can take the next one. */
static bool take_batch_locked(struct capture_pool *p, bool is_busy, struct capture_batch *ret)
{
	if (is_busy && p->n <= p->waiting)
		return false;
	while (p->n == 0 && (!p->closing || p->holding > 0)) {
		p->waiting++;
		(void)pthread_cond_wait(&p->work, &p->lock);
		p->waiting--;
	}
	if (p->n == 0)
		return false;
	capture_batch_move(ret, p->queue + p->first);
	p->first = (p->first + 1) % ROOM;
	p->n--;
	p->holding++;
	(void)pthread_cond_signal(&p->room);
	return true;
}

static void drop_batch_locked(struct capture_pool *p, struct capture_batch *b)
{
	if (!b->dir)
		return;
	capture_batch_done(b);
	if (--p->holding == 0 && p->closing)
		(void)pthread_cond_broadcast(&p->work);
}

static const char *next_name(struct capture_pool *p, struct worker *w)
{
	const char *name = capture_batch_next(&w->batch);
	bool more;

	if (name)
		return name;
	(void)pthread_mutex_lock(&p->lock);
	drop_batch_locked(p, &w->batch);
	merge_locked(p, &w->done);
	more = take_batch_locked(p, w->n_busy > 0, &w->batch);
	(void)pthread_mutex_unlock(&p->lock);
	return more ? capture_batch_next(&w->batch) : NULL;
}

/* Opens the next file that has bytes to copy; false: none now. */
static bool next_job(struct capture_pool *p, struct worker *w, struct slot *slot)
{
	struct batch_stats *n = &w->done;
	const char *name;

	while (!n->failed && (name = next_name(p, w))) {
		int r = capture_open(&p->target, &w->batch, name, &slot->job, NULL);

		if (r > 0 && slot->job.size > SMALL_MAX)
			return_rest(p, &w->batch);
		if (r > 0 && capture_file_begin(&p->target, &slot->job, &slot->tools, &n->failed)) {
			slot->is_busy = true;
			w->n_busy++;
			return true;
		}
		if (r >= 0)
			add_entry(n, &slot->job.entry);
		else
			n->failed = -r;
		capture_job_done(&slot->job);
	}
	return false;
}

static void finish_job(struct capture_pool *p, struct worker *w, struct slot *slot)
{
	const uint64_t kept = capture_file_end(&p->target, &slot->job, &w->done.failed);

	w->done.counts.bytes += kept;
	w->done.counts.shared += slot->job.linked ? kept : 0;
	w->done.cached += slot->job.copy.is_direct || slot->job.copy.cloned || slot->job.linked ? 0 : kept;
	add_entry(&w->done, &slot->job.entry);
	capture_job_done(&slot->job);
	slot->is_busy = false;
	w->n_busy--;
}

static bool read_chunk(struct capture_pool *p, struct worker *w, struct slot *slot)
{
	while (slot->is_busy || next_job(p, w, slot)) {
		if (capture_file_read(&slot->job))
			return true;
		finish_job(p, w, slot);
	}
	return false;
}

/* Copies one chunk of each open file; false: no file is open. */
static bool copy_chunks(struct capture_pool *p, struct worker *w)
{
	struct capture_job *with[SLOTS];
	unsigned int n = 0;

	for (unsigned int i = 0; i < p->n_slots; i++)
		if (read_chunk(p, w, w->slots + i))
			with[n++] = &w->slots[i].job;
	if (n == 2)
		capture_copy_hash_two(&with[0]->copy, &with[1]->copy);
	else if (n == 1)
		capture_copy_hash(&with[0]->copy);
	for (unsigned int i = 0; i < n; i++)
		capture_file_write(with[i]);
	return n > 0;
}

static void *work(void *arg)
{
	struct capture_pool *p = arg;
	struct worker w = { .batch.from = -EBADF };

	for (unsigned int i = 0; i < p->n_slots; i++) {
		w.slots[i] = (struct slot){ .job.in = -EBADF, .tools.buffer = malloc(CAPTURE_BUFFER) };
		if (!w.slots[i].tools.buffer)
			w.done.failed = ENOMEM;
	}
	while (copy_chunks(p, &w))
		;
	(void)pthread_mutex_lock(&p->lock);
	drop_batch_locked(p, &w.batch);
	merge_locked(p, &w.done);
	(void)pthread_cond_signal(&p->room); /* wakes the walker: this thread will take no batch */
	(void)pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->n_slots; i++)
		capture_tools_done(&w.slots[i].tools);
	strbuf_done(&w.done.lines);
	return NULL;
}

/* --- the queue -------------------------------------------------------------------------------------------------- */

bool capture_pool_is_full_batch(const struct capture_pool *p, const struct capture_batch *b)
{
	/* On a share a file takes so long that waking a thread for each one costs nothing. */
	return p->o->sync_each || b->n >= CAPTURE_BATCH_MAX || b->names.len >= CAPTURE_BATCH_BYTES;
}

int capture_pool_put(struct capture_pool *p, struct capture_batch *b, struct fault *f)
{
	int r;

	if (b->n == 0)
		return 0;
	(void)pthread_mutex_lock(&p->lock);
	while (p->n >= QUEUE && !p->total.failed)
		(void)pthread_cond_wait(&p->room, &p->lock);
	r = failure(p, f);
	if (r == 0) {
		capture_batch_move(p->queue + (p->first + p->n) % ROOM, b);
		p->n++;
		(void)pthread_cond_signal(&p->work);
	}
	(void)pthread_mutex_unlock(&p->lock);
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

	join(p);
	flush_locked(p);
	r = failure(p, f);
	if (r < 0)
		return r;
	r = p->o->pack ? pack_finish(p->o->pack, f) : 0;
	if (r < 0)
		return r;
	fd = TAKE_FD(p->manifestfd);
	/* On a local target the caller's syncfs reports the same errors with one commit. */
	if ((p->o->sync_each && fsync(fd) < 0) || lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "sync " MANIFEST_NAME);
	/* Read back: the ledger records the digest of the bytes on disk. */
	r = digest_fd(fd, &p->total.counts.manifest, f);
	/* Background syncs finish concurrently with the read; waited for once. */
	capture_sync_free(TAKE_PTR(p->sync));
	if (r < 0)
		return r;
	*ret = p->total.counts;
	return 0;
}

void capture_pool_free(struct capture_pool *p)
{
	if (!p)
		return;
	join(p);
	capture_sync_free(p->sync);
	for (; p->n > 0; p->n--) {
		capture_batch_done(p->queue + p->first);
		p->first = (p->first + 1) % ROOM;
	}
	strbuf_done(&p->total.lines);
	fd_close(p->manifestfd);
	capture_target_done(&p->target);
	(void)pthread_cond_destroy(&p->room);
	(void)pthread_cond_destroy(&p->work);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The order in an archive is fixed; on a share hashing is not the bottleneck. */
static unsigned int choose_slots(const struct capture_options *o)
{
	return !o->pack && !o->sync_each && digest_two_is_supported() ? SLOTS : 1;
}

/* One more than processors: one may wait for locks or the journal of the file system. */
static unsigned int choose_threads(const struct capture_options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = o->pack ? 1 : o->threads;

	if (n == 0)
		n = 1 + (cpus < 1 ? 1 : cpus > 4 ? 4 : (unsigned int)cpus);
	return n > CAPTURE_THREADS_MAX ? CAPTURE_THREADS_MAX : n;
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
	/* One thread is enough: a limit on processes must not prevent the capture. */
	return p->n_threads > 0 ? 0 : fault_errno(f, r, "create a thread");
}

int capture_pool_new(int outfd, const struct capture_options *o, struct capture_pool **ret, struct fault *f)
{
	_cleanup_capture_pool_ struct capture_pool *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return fault_errno(f, ENOMEM, "capture");
	*p = (struct capture_pool){ .o = o, .manifestfd = -EBADF, .n_slots = choose_slots(o) };
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->room, NULL);
	(void)pthread_cond_init(&p->work, NULL);
	r = capture_target_init(&p->target, outfd, o, f);
	if (r < 0)
		return r;
	p->manifestfd =
		openat(outfd, MANIFEST_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->manifestfd < 0)
		return fault_errno(f, errno, "create " MANIFEST_NAME);
	if (!o->sync_each && !o->pack)
		p->sync = capture_sync_new(outfd);
	r = start_threads(p, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}
