/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "state/project.h"
#include "state/sandbox-root.h"
#include "subject/subject-build.h"

#define HOSTNAME_DEFAULT "custody"
#define TMP_SIZE_DEFAULT (UINT64_C(256) * 1024 * 1024)
#define ID_MAX 65535

static int set_text(char **slot, const char *text, struct fault *f)
{
	char *copy = strdup(text);

	if (!copy)
		return fault_errno(f, ENOMEM, "subject");
	free(*slot);
	*slot = copy;
	return 0;
}

static int set_argv(struct subject *s, char *const *argv, struct fault *f)
{
	if (!argv || !argv[0])
		return fault_set(f, EINVAL, "no command given: write it after '--'");
	if (!argv[0][0])
		return fault_set(f, EINVAL, "the command's name is empty");
	for (size_t i = 0; argv[i]; i++)
		if (!str_is_utf8(argv[i], strlen(argv[i])))
			return fault_set(f, EILSEQ,
					 "argument %zu is not UTF-8: pass such bytes through a file or stdin",
					 i);
	s->argv = strv_copy(argv);
	return s->argv ? 0 : fault_errno(f, ENOMEM, "subject");
}

static int parse_id(const char *text, const char *whole, uid_t *ret, struct fault *f)
{
	uint64_t id;

	if (str_to_u64(text, &id) < 0 || id > ID_MAX)
		return fault_set(f, EINVAL,
				 "process.user '%s': write \"root\" or \"UID[:GID]\", each 0 to %d", whole,
				 ID_MAX);
	*ret = (uid_t)id;
	return 0;
}

static int set_user(struct subject *s, const char *user, struct fault *f)
{
	_cleanup_free_ char *uid = NULL;
	char *colon;
	int r;

	if (!user || strcmp(user, "root") == 0)
		return 0;
	uid = strdup(user);
	if (!uid)
		return fault_errno(f, ENOMEM, "subject");
	colon = strchr(uid, ':');
	if (colon)
		*colon++ = '\0';
	r = parse_id(uid, user, &s->uid, f);
	if (r < 0)
		return r;
	return parse_id(colon ? colon : uid, user, &s->gid, f);
}

static int set_hostname(struct subject *s, const char *name, struct fault *f)
{
	size_t len = strlen(name);

	if (len == 0 || len > HOST_NAME_MAX || name[0] == '-' ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")])
		return fault_set(f, EINVAL, "hostname '%s': letters, digits, '.' and '-', at most %d", name,
				 HOST_NAME_MAX);
	return set_text(&s->hostname, name, f);
}

const char *subject_work_target(const struct subject *s)
{
	return s->target;
}

const char *subject_tree_path(const struct subject *s)
{
	return s->view ? s->view : s->worktree;
}

bool subject_has_broker(const struct subject *s)
{
	return s->profile->sections[PROFILE_SECTION_BROKER] != NULL;
}

bool subject_is_shared(const struct subject *s, const char *path)
{
	return s->sandbox && sandbox_root_is_visible(s->sandbox, path);
}

int subject_resolve_worktree(const struct profile *p, char **ret, struct fault *f)
{
	const char *source = p->workspace_source;
	_cleanup_free_ char *cwd = NULL;

	if (!source) {
		cwd = getcwd(NULL, 0);
		if (!cwd || cwd[0] != '/')
			return fault_set(f, ENOENT,
					 "the current directory was removed: cd to an existing one");
		source = cwd;
	}
	*ret = realpath(source, NULL);
	if (!*ret && errno == ENOENT)
		return fault_set(f, ENOENT, "worktree '%s' does not exist: mkdir -p '%s', or cd elsewhere",
				 source, source);
	if (!*ret)
		return fault_errno(f, errno, "worktree '%s'", source);
	return 0;
}

static int note_home(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	bool named = rq->home && rq->home[0] == '/';
	_cleanup_free_ char *home = named ? realpath(rq->home, NULL) : NULL;

	if (named && !home && errno == ENOMEM)
		return fault_errno(f, ENOMEM, "home '%s'", rq->home);
	if (s->sandbox)
		return 0;
	s->holds_home = strcmp(s->worktree, "/") == 0 || (home && path_is_below(home, s->worktree)) ||
			/* Root may work for the user of another home. */
			(geteuid() == 0 && project_is_home(s->worktree));
	for (char *const *more = rq->caller_homes; !s->holds_home && more && *more; more++)
		s->holds_home = path_is_below(*more, s->worktree);
	return 0;
}

/* The changes were made to this directory, by its identity: above another one they would show a tree that never was. */
static int set_base(struct subject *s, const struct subject_base *b, struct fault *f)
{
	if (!b)
		return 0;
	if (b->device != s->worktree_file.device || b->inode != s->worktree_file.inode)
		return fault_set(f, ESTALE,
				 "session '%s' cannot be continued here: its worktree is another directory "
				 "than '%s'",
				 b->session, s->worktree);
	if (asprintf(&s->view, "/proc/self/fd/%d", b->view) < 0) {
		s->view = NULL;
		return fault_errno(f, ENOMEM, "subject");
	}
	s->continued = true;
	s->base = b->manifest;
	return 0;
}

static int set_worktree(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const struct profile *p = s->profile;
	bool rw = p->workspace == PROFILE_WORKSPACE_RW;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (p->workspace == PROFILE_WORKSPACE_TMPFS)
		return 0;
	r = subject_resolve_worktree(p, &s->worktree, f);
	if (r < 0)
		return r;
	if (!str_is_utf8(s->worktree, strlen(s->worktree)))
		return fault_set(f, EILSEQ, "the worktree's path is not UTF-8: rename it");
	fd = open(s->worktree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "worktree '%s'", s->worktree);
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", s->worktree);
	s->owner_uid = st.st_uid;
	s->owner_gid = st.st_gid;
	s->worktree_file = subject_file_of(&st);
	r = subject_require_sandbox(s, f);
	if (r >= 0)
		r = set_base(s, rq->continued, f);
	if (r < 0)
		return r;
	/* In every mode: the whole host would be visible, including its shadow file. */
	if (strcmp(s->worktree, "/") == 0 && !strv_has(p->dangerous, "rw-root"))
		return fault_set(f, EPERM, "the worktree would be '/': cd to the directory of the project");
	r = note_home(s, rq, f);
	return r < 0 ? r : subject_require_harmless(s, rq, s->worktree, rw, f);
}

/* Layers of the profile, except limits that it does not set: an absent limit cannot be proven. */
static uint32_t asked_layers(const struct profile *p)
{
	uint32_t layers = p->layers;

	if (!p->limit_memory)
		layers &= ~LAYER_BIT(LAYER_MEMORY_LIMIT);
	if (!p->limit_pids)
		layers &= ~LAYER_BIT(LAYER_PIDS_LIMIT);
	if (!p->limit_cpu_percent)
		layers &= ~LAYER_BIT(LAYER_CPU_LIMIT);
	if (!p->limit_disk)
		layers &= ~LAYER_BIT(LAYER_DISK_LIMIT);
	if (!p->limit_time_s)
		layers &= ~LAYER_BIT(LAYER_TIME_LIMIT);
	if (p->network == PROFILE_NETWORK_HOST)
		layers &= ~LAYER_BIT(LAYER_NET_NS);
	return layers;
}

/* 0: none. */
static uint64_t time_limit(const struct profile *p)
{
	return p->layers & LAYER_BIT(LAYER_TIME_LIMIT) ? p->limit_time_s : 0;
}

static uint64_t approved_time(const struct profile *asked, const struct profile *base)
{
	uint64_t t = time_limit(asked), cap = base ? time_limit(base) : t;

	return t != 0 && (cap == 0 || t < cap) ? cap : t;
}

/* Elsewhere /var/tmp is a link to /tmp; the parents of a worktree below it take its name. */
static int add_var_tmp(struct subject *s, struct fault *f)
{
	const char *work = subject_work_target(s);

	if (!path_is_below(work, "/var/tmp") || strcmp(work, "/var/tmp") == 0 ||
	    subject_find_mount(s, "/var/tmp"))
		return 0;
	return subject_add_tmpfs(s, "/var/tmp", subject_tmp_size(s), 01777, f);
}

static int add_private_places(struct subject *s, bool own_home, struct fault *f)
{
	uint64_t size = subject_tmp_size(s);
	int r;

	r = subject_add_sandbox_tmp(s, f);
	if (r < 0)
		return r;
	if (!subject_find_mount(s, "/tmp") && strcmp(subject_work_target(s), "/tmp") != 0) {
		r = subject_add_tmpfs(s, "/tmp", size, 01777, f);
		if (r < 0)
			return r;
	}
	r = add_var_tmp(s, f);
	if (r < 0)
		return r;
	if (s->kept_home)
		return subject_add_home(s, f);
	if (!own_home || subject_find_mount(s, s->home) || strcmp(subject_work_target(s), s->home) == 0)
		return 0;
	return subject_add_tmpfs(s, s->home, size, 0700, f);
}

static int fill(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const struct profile *p = s->profile;
	bool own_home = false;
	int r;

	r = set_argv(s, rq->argv, f);
	if (r >= 0)
		r = set_user(s, p->process_user, f);
	if (r >= 0)
		r = set_hostname(s,
				 rq->hostname	       ? rq->hostname
				 : p->process_hostname ? p->process_hostname
						       : HOSTNAME_DEFAULT,
				 f);
	if (r >= 0)
		r = subject_build_env(s, rq, &own_home, f);
	if (r >= 0)
		r = set_worktree(s, rq, f);
	if (r >= 0)
		r = subject_set_target(s, rq, f);
	if (r >= 0)
		r = subject_set_cwd(s, rq, f);
	/* Explicit mounts first: a default never hides a requested mount. */
	if (r >= 0)
		r = subject_build_binds(s, rq, f);
	if (r >= 0)
		r = subject_build_repository(s, rq, f);
	if (r >= 0)
		r = subject_build_tools(s, rq, f);
	if (r >= 0)
		r = subject_build_protect(s, f);
	if (r >= 0)
		r = subject_build_hidden(s, f);
	if (r >= 0)
		r = subject_build_secrets(s, f);
	if (r >= 0)
		r = add_private_places(s, own_home, f);
	if (r >= 0)
		r = subject_build_root(s, f);
	if (r >= 0)
		r = subject_finish_mounts(s, rq->own, f);
	if (r >= 0)
		r = subject_require_sandbox_targets(s, f);
	if (r >= 0)
		r = subject_require_home(s, f);
	s->seal = rq->seal;
	return r < 0 ? r : operand_find(s, f);
}

int subject_build(const struct profile *p, const struct subject_request *rq, struct subject **ret,
		  struct fault *f)
{
	_cleanup_subject_ struct subject *s = NULL;
	int r;

	s = calloc(1, sizeof(*s));
	if (!s)
		return fault_errno(f, ENOMEM, "subject");
	s->profile = p;
	s->lane = rq->lane;
	s->sandbox = rq->sandbox;
	s->kept_home = rq->kept_home;
	s->disposable = rq->sandbox && rq->sandbox->disposable && p->workspace == PROFILE_WORKSPACE_RW;
	s->layers = asked_layers(p);
	s->approved_time_s = approved_time(p, rq->base);
	r = fill(s, rq, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

uint64_t subject_tmp_size(const struct subject *s)
{
	return s->profile->limit_tmp ? s->profile->limit_tmp : TMP_SIZE_DEFAULT;
}

bool subject_writes_host(const struct subject *s)
{
	if (s->profile->workspace == PROFILE_WORKSPACE_RW)
		return true;
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			return true;
	return false;
}

void subject_free(struct subject *s)
{
	if (!s)
		return;
	strv_free(s->argv);
	strv_free(s->shown);
	strv_free(s->env);
	free(s->cwd);
	free(s->hostname);
	free(s->worktree);
	free(s->view);
	free(s->target);
	free(s->home);
	for (size_t i = 0; i < s->n_mounts; i++) {
		free(s->mounts[i].source);
		free(s->mounts[i].target);
		free(s->mounts[i].view);
	}
	free(s->mounts);
	for (size_t i = 0; i < s->n_links; i++) {
		free(s->links[i].target);
		free(s->links[i].text);
	}
	free(s->links);
	strv_free(s->copies);
	operand_forget(s);
	free(s->tree_lines);
	strv_free(s->secret_patterns);
	strv_free(s->secrets);
	strv_free(s->remarks);
	profile_free(s->own_profile);
	free(s);
}
