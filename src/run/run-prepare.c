/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/userns.h"
#include "worktree/overlay-server.h"
#include "worktree/worktree.h"
#include "oci/bundle/bundle-operands.h"
#include "oci/bundle/bundle.h"
#include "oci/bundle/rootfs.h"
#include "oci/seccomp/seccomp.h"
#include "warden/creator.h"
#include "layer/init-proto.h"
#include "warden/warden.h"

/* May somebody who owns nothing here walk to PATH? */
static bool is_reachable(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return false;
	for (char *slash = copy; *slash;) {
		slash += strcspn(slash + 1, "/") + 1;
		char kept = *slash;

		*slash = '\0';
		if (stat(copy, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
		*slash = kept;
	}
	return true;
}

/* Would covering DIR hide something that the runtime is going to bind? */
static bool hides_source(const struct subject *s, const char *dir)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].source && path_is_below(s->mounts[i].source, dir))
			return true;
	return false;
}

/*
 * The ids of the container walk to the tmpfs by its path.  CUSTODY_ROOT may lie below a private directory; then any
 * ordinary directory serves, for it is covered in the creator's mount namespace only.
 */
static int find_mount_point(const struct session *s, const struct subject *subject, char **ret,
			    struct fault *f)
{
	static const char *const others[] = { "/mnt", "/media", "/srv", "/opt", "/home", "/tmp" };
	const char *found = is_reachable(s->mount_point) ? s->mount_point : NULL;
	struct stat st;

	for (size_t i = 0; !found && i < ARRAY_SIZE(others); i++)
		if (is_reachable(others[i]) && stat(others[i], &st) == 0 && S_ISDIR(st.st_mode) &&
		    !hides_source(subject, others[i]))
			found = others[i];
	if (!found)
		return fault_set(f, EACCES,
				 "'%s' cannot be reached by the ids of a container: chmod o+x its parents",
				 s->mount_point);
	*ret = strdup(found);
	return *ret ? 0 : fault_errno(f, ENOMEM, "session");
}

int run_prepare_init(struct run_prepare *p, const struct dirs *d, struct session *s,
		     const struct subject *subject, bool terminal, struct fault *f)
{
	int r = 0;

	*p = (struct run_prepare){ .dirs = d, .session = s, .subject = subject, .terminal = terminal };
	/* Pages that nobody touches cost nothing.  No descriptor: the creator closes what it does not know. */
	p->config = mmap(NULL, sizeof(*p->config), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->config == MAP_FAILED) {
		p->config = NULL;
		return fault_errno(f, errno, "config.json");
	}
	if (!s->rootless)
		r = find_mount_point(s, subject, &p->mount_point, f);
	if (r == 0 && subject->profile->workspace == PROFILE_WORKSPACE_OVERLAY) {
		r = session_make_state(s, d, f);
		if (r == 0)
			p->upper = path_join(s->state, "u");
		if (r == 0)
			p->work = path_join(s->state, "w");
		if (r == 0 && (!p->upper || !p->work))
			r = fault_errno(f, ENOMEM, "session");
	}
	return r;
}

void run_prepare_done(struct run_prepare *p)
{
	free(p->mount_point);
	free(p->upper);
	free(p->work);
	if (p->config)
		(void)munmap(p->config, sizeof(*p->config));
	*p = (struct run_prepare){ 0 };
}

int run_prepare_config(const struct subject *s, struct placement *pl, bool pretty, char **ret,
		       struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_free_ char *bpf = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	r = seccomp_encode(s, &bpf, f);
	if (r < 0)
		return r;
	pl->seccomp_bpf = bpf;
	r = bundle_config(s, pl, &doc, f);
	pl->seccomp_bpf = NULL;
	if (r < 0)
		return r;
	r = jdoc_write(doc, pretty ? JDOC_PRETTY : JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	*ret = strbuf_take(&text);
	return *ret ? 0 : fault_errno(f, ENOMEM, "config.json");
}

static bool is_mapped(const struct subject *s)
{
	return s->layers & LAYER_BIT(LAYER_USER_NS);
}

/* Trees of one run before they have a place.  Nothing is freed: the creator ends soon. */
struct trees {
	int worktree, layers, init;
	int *mounts; /* one per subject mount, -EBADF: bound by its path */
};

/*
 * A file system that cannot map owners still works when the worktree's owner is not root: container root is then
 * that owner itself, and nobody else exists inside.
 */
static int clone_worktree(const struct run_prepare *p, struct placement *pl, int *ret, struct fault *f)
{
	const struct subject *s = p->subject;
	bool rw = s->profile->workspace == PROFILE_WORKSPACE_RW;
	struct worktree_ids ids = { .from_uid = s->owner_uid,
				    .to_uid = pl->uid_base + s->uid,
				    .from_gid = s->owner_gid,
				    .to_gid = pl->gid_base + s->gid };
	int r;

	/* Without a user namespace container root is the host's, and everybody keeps their own id. */
	r = worktree_clone(s->worktree, rw, is_mapped(s) ? &ids : NULL, ret, f);
	if (r != -EOPNOTSUPP || s->owner_uid == 0 || s->owner_gid == 0)
		return r;
	if (f)
		fault_done(f);
	pl->uid_base = s->owner_uid;
	pl->gid_base = s->owner_gid;
	pl->n_ids = 1;
	return worktree_clone(s->worktree, rw, NULL, ret, f);
}

static int clone_mounts(const struct run_prepare *p, const struct placement *pl, struct trees *t,
			struct fault *f)
{
	const struct subject *s = p->subject;

	t->mounts = calloc(s->n_mounts + 1, sizeof(*t->mounts));
	if (!t->mounts)
		return fault_errno(f, ENOMEM, "mounts");
	for (size_t i = 0; i < s->n_mounts; i++) {
		const struct subject_mount *m = &s->mounts[i];
		struct worktree_ids ids = { .from_uid = m->owner_uid,
					    .to_uid = pl->uid_base + s->uid,
					    .from_gid = m->owner_gid,
					    .to_gid = pl->gid_base + s->gid };
		int r;

		t->mounts[i] = -EBADF;
		if (m->kind != SUBJECT_MOUNT_BIND || !m->idmap)
			continue;
		r = worktree_clone(m->source, m->rw, is_mapped(s) ? &ids : NULL, &t->mounts[i], f);
		if (r >= 0 && m->rw)
			r = subject_require_file(&m->file, t->mounts[i], m->source, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Of custody's own directories, whose paths are as somebody wrote them. */
static int clone_own(const char *dir, const char *name, bool rw, int *ret, struct fault *f)
{
	_cleanup_free_ char *path = path_join(dir, name), *real = path ? realpath(path, NULL) : NULL;

	if (!path)
		return fault_errno(f, ENOMEM, "session");
	if (!real)
		return fault_errno(f, errno, "'%s'", path);
	return worktree_clone(real, rw, NULL, ret, f);
}

/*
 * fuse-overlayfs sees the directory of its layers as well, and what else is in it is not its business: as root that stays
 * root's, and can be passed through.
 */
static int shut_state(const struct run_prepare *p, struct fault *f)
{
	_cleanup_close_ int fd = open(p->session->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fchown(fd, geteuid(), getegid()) < 0 || fchmod(fd, 0711) < 0)
		return fault_errno(f, errno, "'%s'", p->session->state);
	return 0;
}

static int clone_trees(const struct run_prepare *p, struct placement *pl, struct trees *t, struct fault *f)
{
	int r = 0;

	*t = (struct trees){ .worktree = -EBADF, .layers = -EBADF, .init = -EBADF };
	if (p->subject->worktree)
		r = clone_worktree(p, pl, &t->worktree, f);
	if (r == 0 && p->subject->profile->workspace == PROFILE_WORKSPACE_RW)
		r = subject_require_file(&p->subject->worktree_file, t->worktree, p->subject->worktree, f);
	if (r == 0 && p->upper)
		r = worktree_make_upper(p->session->state, p->subject->worktree,
					pl->uid_base + p->subject->uid, pl->gid_base + p->subject->gid, f);
	if (r == 0 && profile_is_fuse(p->subject->profile))
		r = shut_state(p, f);
	if (r == 0 && p->upper)
		r = clone_own(p->session->state, ".", true, &t->layers, f);
	if (r == 0)
		r = clone_own(p->dirs->libexec, "custody-init", false, &t->init, f);
	return r < 0 ? r : clone_mounts(p, pl, t, f);
}

static int place(int tree, int dirfd, const char *point, const char *name, const char **ret, struct fault *f)
{
	int r;

	if (tree < 0)
		return 0;
	r = worktree_place(tree, dirfd, name, f);
	if (r < 0)
		return r;
	*ret = path_join(point, name);
	return *ret ? 0 : fault_errno(f, ENOMEM, "session");
}

static int place_trees(const struct run_prepare *p, int dirfd, const struct trees *t, struct placement *pl,
		       struct fault *f)
{
	const char *layers = NULL;
	const char **sources = calloc(p->subject->n_mounts + 1, sizeof(*sources));
	int r;

	if (!sources)
		return fault_errno(f, ENOMEM, "session");
	pl->sources = sources;
	r = place(t->worktree, dirfd, p->mount_point, "tree", &pl->worktree, f);
	if (r == 0)
		r = place(t->layers, dirfd, p->mount_point, "l", &layers, f);
	if (r == 0)
		r = place(t->init, dirfd, p->mount_point, "init", &pl->init, f);
	for (size_t i = 0; r == 0 && i < p->subject->n_mounts; i++) {
		char name[24];

		(void)snprintf(name, sizeof(name), "b%zu", i);
		r = place(t->mounts[i], dirfd, p->mount_point, name, &sources[i], f);
	}
	if (r == 0 && layers) {
		pl->upper = path_join(layers, "u");
		pl->work = path_join(layers, "w");
		if (!pl->upper || !pl->work)
			r = fault_errno(f, ENOMEM, "session");
	}
	return r;
}

/* Sealed copies, in the creator's private directory PARENT. */
static int make_sealed(int dirfd, const char *parent, const struct subject *s, struct placement *pl,
		       struct fault *f)
{
	int r = bundle_write_operands(dirfd, "sealed", s, pl, f);

	if (r < 0 || !operand_needs_lower(s))
		return r;
	pl->sealed = path_join(parent, "sealed");
	return pl->sealed ? 0 : fault_errno(f, ENOMEM, "session");
}

static int make_root(int dirfd, const char *parent, const struct subject *s, struct placement *pl,
		     struct fault *f)
{
	_cleanup_close_ int root = -EBADF;

	if (mkdirat(dirfd, "root", 0755) < 0)
		return fault_errno(f, errno, "make the container's root");
	if (fchownat(dirfd, "root", pl->uid_base, pl->gid_base, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "give the container's root to %u", (unsigned int)pl->uid_base);
	root = openat(dirfd, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return fault_errno(f, errno, "open the container's root");
	pl->rootfs = path_join(parent, "root");
	if (!pl->rootfs)
		return fault_errno(f, ENOMEM, "session");
	return rootfs_build(root, s, pl->uid_base, pl->gid_base, f);
}

/* LAYERS: directory of u and w.  PARENT, whose descriptor is DIRFD, gets the mount point. */
static int serve_overlay(int dirfd, const char *parent, const char *layers, const struct subject *s,
			 struct placement *pl, struct fault *f)
{
	struct overlay_server_mount_args ask = { .lower = pl->worktree,
						 .sealed = pl->sealed,
						 .layers = layers,
						 .uid = pl->uid_base + s->uid,
						 .gid = pl->gid_base + s->gid,
						 .rootless = pl->rootless };
	int r;

	if (mkdirat(dirfd, RUN_PREPARE_SERVED, 0755) < 0)
		return fault_errno(f, errno, "make the overlay's mount point");
	ask.point = pl->served = path_join(parent, RUN_PREPARE_SERVED);
	if (!ask.point)
		return fault_errno(f, ENOMEM, "session");
	r = overlay_server_mount(CREATOR_KEEP_FD, &ask, f);
	/* The keeper ends with the supervisor's copy. */
	(void)fd_close(CREATOR_KEEP_FD);
	return r;
}

static int serve_as_root(const struct run_prepare *p, int dirfd, struct placement *pl, struct fault *f)
{
	_cleanup_free_ char *layers = path_join(p->mount_point, "l");

	if (!profile_is_fuse(p->subject->profile))
		return 0;
	return layers ? serve_overlay(dirfd, p->mount_point, layers, p->subject, pl, f)
		      : fault_errno(f, ENOMEM, "session");
}

static int prepare_root(const struct run_prepare *p, struct placement *pl, struct fault *f)
{
	_cleanup_close_ int dirfd = -EBADF;
	struct trees t;
	int r;

	r = worktree_leave_host(f);
	seam("host-left");
	if (r == 0)
		r = clone_trees(p, pl, &t, f);
	seam("trees-cloned");
	if (r == 0)
		r = worktree_mount_tmpfs(p->mount_point, &dirfd, f);
	seam("tmpfs-mounted");
	if (r == 0)
		r = place_trees(p, dirfd, &t, pl, f);
	seam("worktree-mounted");
	if (r == 0)
		r = make_sealed(dirfd, p->mount_point, p->subject, pl, f);
	if (r == 0)
		r = serve_as_root(p, dirfd, pl, f);
	return r < 0 ? r : make_root(dirfd, p->mount_point, p->subject, pl, f);
}

/* A user can mount nothing yet: the container's user namespace will, from these very paths. */
static int prepare_user(const struct run_prepare *p, struct placement *pl, struct fault *f)
{
	_cleanup_close_ int dirfd = open(p->session->run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dirfd < 0)
		return fault_errno(f, errno, "open '%s'", p->session->run);
	pl->worktree = p->subject->worktree;
	pl->init = path_join(p->dirs->libexec, "custody-init");
	if (p->upper) {
		r = worktree_make_upper(p->session->state, p->subject->worktree, pl->uid_base, pl->gid_base,
					f);
		if (r < 0)
			return r;
		pl->upper = p->upper;
		pl->work = p->work;
	}
	if (!pl->init)
		return fault_errno(f, ENOMEM, "session");
	r = make_sealed(dirfd, p->session->run, p->subject, pl, f);
	/* A user namespace around the container's, for somebody must mount what the container will see. */
	if (r == 0 && profile_is_fuse(p->subject->profile)) {
		r = userns_enter(f);
		if (r == 0)
			r = worktree_leave_host(f);
		if (r == 0)
			r = serve_overlay(dirfd, p->session->run, p->session->state, p->subject, pl, f);
	}
	if (r < 0)
		return r;
	return make_root(dirfd, p->session->run, p->subject, pl, f);
}

/* One that is longer is named absent in the evidence: no reason to refuse the run. */
static void keep_config(struct session_config *c, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(c->text))
		return;
	memcpy(c->text, text, len);
	c->len = len;
}

int run_prepare_prepare(void *arg, struct runtime_request *rq, struct fault *f)
{
	const struct run_prepare *p = arg;
	struct placement pl = {
		.rootless = p->session->rootless,
		.uid_base = p->session->uid_base,
		.gid_base = p->session->gid_base,
		.n_ids = p->session->n_ids,
		.report_fd = INIT_FD,
		.terminal = p->terminal,
	};
	char *config = NULL;
	int r;

	if (!is_mapped(p->subject))
		pl.uid_base = pl.gid_base = 0;
	/* As late as can be, but before a mount of ours may hide the tree. */
	r = subject_require_sources(p->subject, f);
	if (r == 0)
		r = operand_require_same(p->subject, f);
	if (r < 0)
		return r;
	r = pl.rootless ? prepare_user(p, &pl, f) : prepare_root(p, &pl, f);
	seam("root-made");
	if (r == 0)
		r = run_prepare_config(p->subject, &pl, false, &config, f);
	if (r < 0)
		return r;
	keep_config(p->config, config);
	/* Where every process counts, these do not.  Otherwise the supervisor collects them when there is time. */
	if (p->subject->profile->limit_pids && p->subject->profile->limit_pids < WARDEN_FEW_PIDS)
		worktree_finish();
	rq->config = config;
	rq->bundle = pl.rootless ? p->session->run : p->mount_point;
	/* As root on the private tmpfs: the runtime's own state ends with the container, whoever ends it. */
	rq->state_root = path_join(rq->bundle, RUN_PREPARE_STATE);
	return rq->state_root ? 0 : fault_errno(f, ENOMEM, "session");
}
