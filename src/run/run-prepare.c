/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/run-prepare-impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "session/session-owners.h"
#include "session/session-process.h"
#include "session/session-upper.h"
#include "worktree/overlay-server.h"
#include "worktree/worktree.h"
#include "oci/bundle/bundle-operands.h"
#include "oci/bundle/bundle.h"
#include "oci/bundle/rootfs.h"
#include "oci/seccomp/seccomp.h"
#include "warden/creator.h"
#include "layer/init-proto.h"
#include "warden/warden.h"

/* The directory of a second upper, for the repository beside the worktree. */
static int make_repository(struct run_prepare *p, const struct session *s, struct fault *f)
{
	p->repository = path_join(s->state, SESSION_REPOSITORY);
	p->repository_upper = path_join(s->state, SESSION_REPOSITORY "/" SESSION_UPPER_DIR);
	p->repository_work = path_join(s->state, SESSION_REPOSITORY "/w");
	if (!p->repository || !p->repository_upper || !p->repository_work)
		return fault_errno(f, ENOMEM, "session");
	return mkdir(p->repository, 0700) < 0 ? fault_errno(f, errno, "make '%s'", p->repository) : 0;
}

/* Before the first file of another id exists. */
static int note_ids(const struct session *s, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;

	if (!id_map_is_set(&s->ids))
		return 0;
	dir = open(s->state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 ? fault_errno(f, errno, "open '%s'", s->state) : session_owners_note(dir, &s->ids, f);
}

int run_prepare_init(struct run_prepare *p, const struct dirs *d, struct session *s,
		     const struct subject *subject, unsigned int terminal, struct fault *f)
{
	int r = 0;

	*p = (struct run_prepare){ .dirs = d, .session = s, .subject = subject, .terminal = terminal };
	/* Untouched pages cost nothing. No descriptor: the creator closes unknown ones. */
	p->config = mmap(NULL, sizeof(*p->config), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->config == MAP_FAILED) {
		p->config = NULL;
		return fault_errno(f, errno, "config.json");
	}
	if (s->rootless)
		r = run_prepare_find_user_point(p, &p->mount_point, f);
	else
		r = run_prepare_find_point(s, subject, &p->mount_point, f);
	if (r == 0 && subject->profile->workspace == PROFILE_WORKSPACE_OVERLAY) {
		r = session_make_state(s, d, f);
		if (r == 0)
			r = note_ids(s, f);
		if (r == 0)
			p->upper = path_join(s->state, "u");
		if (r == 0)
			p->work = path_join(s->state, "w");
		if (r == 0 && (!p->upper || !p->work))
			r = fault_errno(f, ENOMEM, "session");
		if (r == 0 && subject_find_overlay(subject))
			r = make_repository(p, s, f);
	}
	return r;
}

void run_prepare_done(struct run_prepare *p)
{
	free(p->mount_point);
	free(p->upper);
	free(p->work);
	free(p->repository);
	free(p->repository_upper);
	free(p->repository_work);
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

/* The merged root takes its mode from the upper: of a continued run it is the mode that the base left. */
static int copy_mode(const struct run_layer *base, const char *upper, struct fault *f)
{
	struct stat st;

	if (!base->open)
		return 0;
	if (stat(base->path, &st) < 0)
		return fault_errno(f, errno, "'%s'", base->path);
	return chmod(upper, st.st_mode & 0777) < 0 ? fault_errno(f, errno, "'%s'", upper) : 0;
}

int run_prepare_upper(const struct run_prepare *p, uid_t uid, gid_t gid, struct fault *f)
{
	int r = worktree_make_upper(p->session->state, p->subject->worktree, uid, gid, f);

	return r < 0 || !p->base ? r : copy_mode(&p->base->tree, p->upper, f);
}

int run_prepare_repository(const struct run_prepare *p, uid_t uid, gid_t gid, struct fault *f)
{
	int r = worktree_make_upper(p->repository, subject_find_overlay(p->subject)->source, uid, gid, f);

	return r < 0 || !p->base ? r : copy_mode(&p->base->repository, p->repository_upper, f);
}

/* Sealed copies, in the creator's private directory PARENT. */
int run_prepare_sealed(int dirfd, const char *parent, const struct subject *s, struct placement *pl,
		       struct fault *f)
{
	int r = bundle_write_operands(dirfd, "sealed", s, pl, f);

	if (r < 0 || !operand_needs_lower(s))
		return r;
	pl->sealed = path_join(parent, "sealed");
	return pl->sealed ? 0 : fault_errno(f, ENOMEM, "session");
}

int run_prepare_rootfs(int dirfd, const char *parent, const struct subject *s, struct placement *pl,
		       struct fault *f)
{
	_cleanup_close_ int root = -EBADF;
	struct statvfs fs;

	if (mkdirat(dirfd, "root", 0755) < 0)
		return fault_errno(f, errno, "create the container's root");
	if (fchownat(dirfd, "root", pl->uid_base, pl->gid_base, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "chown the container's root to %u", (unsigned int)pl->uid_base);
	root = openat(dirfd, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return fault_errno(f, errno, "open the container's root");
	pl->rootfs = path_join(parent, "root");
	if (!pl->rootfs)
		return fault_errno(f, ENOMEM, "session");
	if (pl->rootless && fstatvfs(root, &fs) == 0)
		pl->root_noexec = fs.f_flag & ST_NOEXEC;
	return rootfs_build(root, s, pl->uid_base, pl->gid_base, false, f);
}

static int finish_root(const struct run_prepare *p, const struct placement *pl, struct fault *f)
{
	_cleanup_close_ int root = -EBADF;

	if (!p->token)
		return 0;
	root = open(pl->rootfs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return root < 0 ? fault_errno(f, errno, "open the container's root")
			: run_prepare_broker(p, root, pl, f);
}

/* LAYERS: directory of u and w.  PARENT, whose descriptor is DIRFD, gets the mount point. */
int run_prepare_overlay(int dirfd, const char *parent, const char *layers, const struct subject *s,
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
		return fault_errno(f, errno, "create the overlay's mount point");
	ask.point = pl->served = path_join(parent, RUN_PREPARE_SERVED);
	if (!ask.point)
		return fault_errno(f, ENOMEM, "session");
	r = overlay_server_mount(CREATOR_KEEP_FD, &ask, f);
	/* The monitor exits when the supervisor closes its copy. */
	(void)fd_close(CREATOR_KEEP_FD);
	return r;
}

/* A longer one is listed as absent in the evidence: no reason to refuse the run. */
static void keep_config(struct session_config *c, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(c->text))
		return;
	memcpy(c->text, text, len);
	c->len = len;
}

/* Paths of the host that the runtime mounts by name.  They were resolved: a link in one of them is a replacement. */
static int list_sources(const struct subject *s, const struct placement *pl, struct runtime_request *rq,
			struct fault *f)
{
	const char **paths = calloc(s->n_mounts + 2, sizeof(*paths));
	size_t n = 0;

	if (!paths)
		return fault_errno(f, ENOMEM, "session");
	if (s->worktree && pl->rootless)
		paths[n++] = s->worktree;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind != SUBJECT_MOUNT_TMPFS && !(pl->sources && pl->sources[i]))
			paths[n++] = s->mounts[i].source;
	rq->sources = paths;
	return 0;
}

int run_prepare_container(void *arg, struct runtime_request *rq, struct fault *f)
{
	const struct run_prepare *p = arg;
	struct placement pl = {
		.rootless = p->session->rootless,
		.uid_base = p->session->uid_base,
		.gid_base = p->session->gid_base,
		.n_ids = p->session->n_ids,
		.ids = id_map_is_set(&p->session->ids) ? &p->session->ids : NULL,
		.report_fd = INIT_FD,
		.terminal = p->terminal,
	};
	char *config = NULL;
	int r;

	if (!run_prepare_is_mapped(p->subject))
		pl.uid_base = pl.gid_base = 0;
	/* As late as possible, but before a mount of ours may cover the tree. */
	r = subject_require_sources(p->subject, f);
	/* Of a continued run the supervisor did: this process has no descriptor of its view. */
	if (r == 0 && !p->base)
		r = operand_require_same(p->subject, f);
	if (r < 0)
		return r;
	r = pl.rootless ? run_prepare_as_user(p, &pl, f) : run_prepare_as_root(p, &pl, f);
	if (r == 0)
		r = finish_root(p, &pl, f);
	seam("root-made");
	if (r == 0)
		r = run_prepare_config(p->subject, &pl, false, &config, f);
	if (r == 0)
		r = list_sources(p->subject, &pl, rq, f);
	if (r < 0)
		return r;
	keep_config(p->config, config);
	/* With a small pids limit the helper processes must not count. Else the supervisor reaps them later. */
	if (p->subject->profile->limit_pids && p->subject->profile->limit_pids < WARDEN_FEW_PIDS)
		worktree_finish();
	rq->config = config;
	rq->bundle = p->mount_point ? p->mount_point : p->session->run;
	/* On the private tmpfs, if there is one: the runtime's state vanishes with the mount namespace, even after a kill. */
	rq->state_root = path_join(rq->bundle, RUN_PREPARE_STATE);
	/* As root the cgroup lists the container's processes. */
	if (pl.rootless && p->mount_point)
		rq->process_file = path_join(p->session->run, SESSION_PROCESS);
	return rq->state_root && (rq->process_file || !pl.rootless || !p->mount_point)
		       ? 0
		       : fault_errno(f, ENOMEM, "session");
}
