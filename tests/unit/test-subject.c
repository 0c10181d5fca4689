/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "state/dirs.h"
#include "subject/own-dirs.h"
#include "subject/subject.h"
#include "tap.h"

static char tree[] = "/tmp/custody-test-subject.XXXXXX"; /* resolved: /tmp is no link where tests run */
static char *argv_true[] = { (char *)"true", NULL };
static char *no_env[] = { NULL };

static struct profile plain(void)
{
	return (struct profile){
		.name = (char *)"test",
		.workspace_source = tree,
		.workspace_target = (char *)"/work",
		.process_init = true,
		.layers = LAYER_BIT(_LAYER_MAX) - 1,
	};
}

static struct subject_request request(void)
{
	return (struct subject_request){ .argv = argv_true, .environ = no_env };
}

static int build(const struct profile *p, const struct subject_request *rq, struct subject **ret,
		 struct fault *f)
{
	return subject_build(p, rq, ret, f);
}

#define SETUP                                       \
	_cleanup_fault_ struct fault f = { 0 };     \
	_cleanup_subject_ struct subject *s = NULL; \
	struct profile p = plain();                 \
	struct subject_request rq = request()

#define REFUSED(code, words)                                   \
	do {                                                   \
		CHECK(build(&p, &rq, &s, &f) == -(code));      \
		CHECK(s == NULL);                              \
		if (!strstr(fault_text(&f), words))            \
			printf("# got: %s\n", fault_text(&f)); \
		CHECK(strstr(fault_text(&f), words));          \
	} while (0)

static const struct subject_mount *find(const struct subject *s, const char *target)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (strcmp(s->mounts[i].target, target) == 0)
			return &s->mounts[i];
	return NULL;
}

static const char *var(const struct subject *s, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; s->env[i]; i++)
		if (strncmp(s->env[i], name, len) == 0 && s->env[i][len] == '=')
			return s->env[i] + len + 1;
	return NULL;
}

static void a_plain_profile_shows_programs_and_nothing_of_homes(void)
{
	SETUP;

	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(find(s, "/usr") && !find(s, "/usr")->rw && find(s, "/usr")->is_dir);
	CHECK(find(s, "/tmp") && find(s, "/tmp")->kind == SUBJECT_MOUNT_TMPFS &&
	      find(s, "/tmp")->mode == 01777);
	for (size_t i = 0; i < s->n_mounts; i++) {
		const char *source = s->mounts[i].source;

		CHECK(!source || (!path_is_below(source, "/home") && !path_is_below(source, "/root") &&
				  !path_is_below(source, "/var") && strcmp(source, "/") != 0 &&
				  strcmp(source, "/etc") != 0));
		CHECK(!source || !s->mounts[i].rw);
	}
	CHECK(strcmp(s->worktree, tree) == 0);
	CHECK(s->owner_uid == geteuid());
	CHECK(strcmp(s->cwd, "/work") == 0);
	CHECK(!subject_writes_host(s));
}

static void merged_usr_links_stay_links(void)
{
	char text[64];
	ssize_t n = readlink("/bin", text, sizeof(text) - 1);

	SETUP;
	CHECK(build(&p, &rq, &s, &f) == 0);
	if (n <= 0) {
		CHECK(find(s, "/bin"));
		return;
	}
	text[n] = '\0';
	CHECK(!find(s, "/bin"));
	for (size_t i = 0; i < s->n_links; i++)
		if (strcmp(s->links[i].target, "/bin") == 0) {
			CHECK(strcmp(s->links[i].text, text) == 0);
			return;
		}
	CHECK(!"no link /bin");
}

static void ISO_12_only_listed_variables_enter(void)
{
	char *env[] = { (char *)"AWS_SECRET_ACCESS_KEY=x",
			(char *)"LC_ALL=C",
			(char *)"LC_TIME=de",
			(char *)"XLC_=1",
			(char *)"TERM=xterm",
			(char *)"broken",
			(char *)"=weird",
			NULL };
	char *pass[] = { (char *)"LC_*", (char *)"TERM", NULL };
	struct profile_env_var set[] = { { (char *)"TERM", (char *)"dumb" }, { (char *)"A", (char *)"1" } };
	char *more[] = { (char *)"A=2", (char *)"LC_TIME=fr", (char *)"UNSET_ANYWHERE",
			 (char *)"AWS_SECRET_ACCESS_KEY", NULL };

	SETUP;
	p.env_pass = pass;
	p.env_set = set;
	p.n_env_set = 2;
	rq.environ = env;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(!var(s, "AWS_SECRET_ACCESS_KEY") && !var(s, "XLC_"));
	CHECK(strcmp(var(s, "LC_ALL"), "C") == 0 && strcmp(var(s, "TERM"), "dumb") == 0);
	CHECK(var(s, "PATH") && strcmp(var(s, "HOME"), "/home/sandbox") == 0);
	CHECK(strv_len(s->env) == 6); /* A HOME LC_ALL LC_TIME PATH TERM */
	for (size_t i = 0; s->env[i + 1]; i++)
		CHECK(strcmp(s->env[i], s->env[i + 1]) < 0);
	subject_free(TAKE_PTR(s));
	rq.env = more;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(strcmp(var(s, "A"), "2") == 0 && strcmp(var(s, "LC_TIME"), "fr") == 0);
	CHECK(strcmp(var(s, "AWS_SECRET_ACCESS_KEY"), "x") == 0); /* asked for by name */
	CHECK(!var(s, "UNSET_ANYWHERE"));
}

static void a_variable_that_is_not_utf8_is_refused_by_name(void)
{
	char *env[] = { (char *)"LC_ALL=\xff", NULL }, *pass[] = { (char *)"LC_*", NULL };

	SETUP;
	p.env_pass = pass;
	rq.environ = env;
	REFUSED(EILSEQ, "'LC_ALL'");
}

static void the_whole_environment_enters_only_when_the_layer_is_off(void)
{
	char *env[] = { (char *)"SECRET=x", NULL };

	SETUP;
	p.layers &= ~LAYER_BIT(LAYER_ENVIRONMENT);
	rq.environ = env;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(strcmp(var(s, "SECRET"), "x") == 0);
}

static void a_missing_worktree_is_refused_with_the_command_that_makes_it(void)
{
	SETUP;
	p.workspace_source = (char *)"/nonexistent/tree";
	REFUSED(ENOENT, "mkdir -p '/nonexistent/tree'");
}

static void a_worktree_that_is_a_file_is_refused(void)
{
	SETUP;
	p.workspace_source = (char *)"/proc/self/status";
	REFUSED(ENOTDIR, "worktree");
}

static void a_vanished_current_directory_is_refused(void)
{
	char dir[] = "/tmp/custody-test-gone.XXXXXX";
	int old = open(".", O_PATH | O_CLOEXEC);

	SETUP;
	p.workspace_source = NULL;
	CHECK(old >= 0 && mkdtemp(dir) && chdir(dir) == 0 && rmdir(dir) == 0);
	int r = build(&p, &rq, &s, &f);
	CHECK(fchdir(old) == 0 && close(old) == 0);
	CHECK(r == -ENOENT && s == NULL);
	CHECK(strstr(fault_text(&f), "current directory"));
}

static void the_root_directory_is_no_worktree(void)
{
	SETUP;
	p.workspace_source = (char *)"/";
	REFUSED(EPERM, "'/'");
}

static void a_home_is_not_writable_unless_the_profile_allows_it(void)
{
	char *dangerous[] = { (char *)"rw-home", NULL };

	SETUP;
	p.workspace = PROFILE_WORKSPACE_RW;
	rq.home = tree;
	REFUSED(EPERM, "rw-home");
	fault_done(&f);
	p.dangerous = dangerous;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(subject_writes_host(s));
}

static bool holds_home(const struct profile *p, const struct subject_request *rq)
{
	_cleanup_subject_ struct subject *s = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	return build(p, rq, &s, &f) == 0 && s->holds_home;
}

static void a_worktree_that_shows_a_home_is_marked(void)
{
	char inner[128];

	SETUP;
	CHECK(!holds_home(&p, &rq));
	rq.home = tree;
	CHECK(holds_home(&p, &rq));
	(void)snprintf(inner, sizeof(inner), "%s/a", tree);
	rq.home = inner;
	CHECK(holds_home(&p, &rq));
	/* Through a link, and of another directory. */
	(void)snprintf(inner, sizeof(inner), "%s/a/.", tree);
	CHECK(holds_home(&p, &rq));
	rq.home = "/tmp";
	CHECK(!holds_home(&p, &rq));
	rq.home = "/nonexistent";
	CHECK(!holds_home(&p, &rq));
	rq.home = tree;
	p.workspace = PROFILE_WORKSPACE_TMPFS;
	CHECK(!holds_home(&p, &rq));
}

static void an_engines_socket_is_not_shown_even_through_a_link(void)
{
	char link[128], volume[256], *volumes[2] = { volume, NULL };

	SETUP;
	snprintf(link, sizeof(link), "%s-run", tree);
	snprintf(volume, sizeof(volume), "%s:/mnt", link);
	CHECK(symlink("/run", link) == 0);
	rq.volumes = volumes;
	CHECK(build(&p, &rq, &s, &f) == -EPERM && s == NULL);
	CHECK(strstr(fault_text(&f), "engine-socket"));
	CHECK(unlink(link) == 0);
}

static void a_link_of_the_worktree_does_not_lead_a_volume_out(void)
{
	char volume[256], *volumes[2] = { volume, NULL };

	SETUP;
	snprintf(volume, sizeof(volume), "%s/run:/mnt", tree);
	rq.volumes = volumes;
	CHECK(build(&p, &rq, &s, &f) == -EPERM && s == NULL);
	CHECK(strstr(fault_text(&f), "a symbolic link leads out of it"));
}

static void a_volume_is_read_only_unless_it_says_rw(void)
{
	char *volumes[3] = { NULL, NULL, NULL };

	SETUP;
	CHECK(asprintf(&volumes[0], "%s/a:/data/a", tree) > 0 &&
	      asprintf(&volumes[1], "%s/file:/data/f:rw", tree) > 0);
	rq.volumes = volumes;
	int r = build(&p, &rq, &s, &f);
	free(volumes[0]);
	free(volumes[1]);
	CHECK(r == 0);
	CHECK(find(s, "/data/a") && !find(s, "/data/a")->rw && find(s, "/data/a")->is_dir);
	CHECK(find(s, "/data/f") && find(s, "/data/f")->rw && !find(s, "/data/f")->is_dir &&
	      find(s, "/data/f")->idmap);
	CHECK(subject_writes_host(s));
}

static void malformed_volumes_are_refused(void)
{
	static const struct {
		const char *text, *words;
		int code;
	} bad[] = {
		{ "/usr", "SOURCE:TARGET", EINVAL },
		{ "name:/data", "must start with", EINVAL },
		{ "/usr:data", "target must start", EINVAL },
		{ "/usr:/data:z", "ro or rw", EINVAL },
		{ "/nonexistent:/data", "does not exist", ENOENT },
		{ "/usr:/", "cannot mount on", EINVAL },
		{ "/usr:/proc/x", "custody uses", EINVAL },
		{ "/usr:/dev", "custody uses", EINVAL },
		{ "/usr:/run", "custody uses", EINVAL },
		{ "/usr:/data/../etc", "..", EINVAL },
		{ "/usr:/work", "two mounts", EEXIST },
		{ "/usr/bin:/usr/no-such-place", "create the directory '/usr/no-such-place'", ENOENT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *volumes[] = { (char *)bad[i].text, NULL };

		SETUP;
		rq.volumes = volumes;
		printf("# %s\n", bad[i].text);
		REFUSED(bad[i].code, bad[i].words);
	}
}

static void mounts_are_sorted_with_parents_first_around_the_worktree(void)
{
	char *volumes[4] = { NULL, NULL, NULL, NULL };

	SETUP;
	CHECK(asprintf(&volumes[0], "%s/a:/work/a", tree) > 0);
	CHECK(asprintf(&volumes[1], "%s/a:/work-2", tree) > 0);
	CHECK(asprintf(&volumes[2], "%s/a:/aaa", tree) > 0);
	rq.volumes = volumes;
	int r = build(&p, &rq, &s, &f);
	for (int i = 0; i < 3; i++)
		free(volumes[i]);
	CHECK(r == 0);
	for (size_t i = 0; i < s->n_mounts; i++) {
		for (size_t k = i + 1; k < s->n_mounts; k++)
			CHECK(!path_is_below(s->mounts[i].target, s->mounts[k].target));
		CHECK((strcmp(s->mounts[i].target, "/work/a") != 0) || i >= s->worktree_at);
		CHECK((strcmp(s->mounts[i].target, "/aaa") != 0) || i < s->worktree_at);
	}
}

static void targets_below_a_bind_must_exist_but_an_overlay_creates_them(void)
{
	struct profile_tmpfs tmpfs[] = { { (char *)"/work/cache", 4096 } };

	SETUP;
	p.fs_tmpfs = tmpfs;
	p.n_fs_tmpfs = 1;
	CHECK(build(&p, &rq, &s, &f) == 0);
	subject_free(TAKE_PTR(s));
	p.workspace = PROFILE_WORKSPACE_RW;
	REFUSED(ENOENT, "create the directory");
}

static void a_users_files_are_mapped_and_roots_own_are_not(void)
{
	char *ro[] = { (char *)"/usr/share:/data", NULL };

	SETUP;
	p.fs_ro = ro;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(find(s, "/data") && !find(s, "/data")->idmap);
}

static void a_root_directory_is_shown_entry_by_entry(void)
{
	_cleanup_free_ char *root = path_join(tree, "root");

	SETUP;
	p.root = PROFILE_ROOT_DIR;
	p.root_path = root;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(find(s, "/usr") && strncmp(find(s, "/usr")->source, tree, strlen(tree)) == 0 &&
	      !find(s, "/usr")->rw);
	CHECK(find(s, "/tmp") && find(s, "/tmp")->kind == SUBJECT_MOUNT_TMPFS);
	CHECK(!find(s, "/proc") && !find(s, "/dev"));
	CHECK(s->n_links == 1 && strcmp(s->links[0].target, "/bin") == 0 &&
	      strcmp(s->links[0].text, "usr/bin") == 0);
	subject_free(TAKE_PTR(s));
	p.root_path = tree;
	REFUSED(ENOENT, "neither usr nor bin");
}

static bool builds_at(const struct profile *p, const struct subject_request *rq, const char *target)
{
	_cleanup_subject_ struct subject *s = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (build(p, rq, &s, &f) < 0) {
		printf("# %s\n", fault_text(&f));
		return false;
	}
	return str_eq(subject_work_target(s), target) && str_eq(s->cwd, rq->workdir ? rq->workdir : target);
}

static void a_worktree_has_its_own_path_inside(void)
{
	SETUP;
	p.workspace_target = NULL;
	CHECK(builds_at(&p, &rq, tree));
	p.workspace = PROFILE_WORKSPACE_RW;
	CHECK(builds_at(&p, &rq, tree));
	p.workspace = PROFILE_WORKSPACE_TMPFS;
	CHECK(builds_at(&p, &rq, "/work"));
}

static void a_worktree_in_a_place_of_the_system_is_at_work(void)
{
	static const char *const places[] = { "/usr/share", "/etc", "/boot",   "/run/lock",
					      "/dev/shm",   "/tmp", "/var/tmp" };

	SETUP;
	p.workspace_target = NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct stat st;

		p.workspace_source = (char *)places[i];
		CHECK(stat(places[i], &st) < 0 || builds_at(&p, &rq, "/work"));
	}
	p.workspace_source = (char *)"/opt";
	CHECK(builds_at(&p, &rq, "/opt"));
}

static void a_worktree_at_below_or_above_the_home_inside_is_at_work(void)
{
	char inner[128];
	char *at[] = { NULL, NULL };

	SETUP;
	p.workspace_target = NULL;
	rq.env = at;
	(void)snprintf(inner, sizeof(inner), "HOME=%s", tree);
	at[0] = inner;
	CHECK(builds_at(&p, &rq, "/work"));
	(void)snprintf(inner, sizeof(inner), "HOME=%s/a", tree);
	CHECK(builds_at(&p, &rq, "/work"));
	(void)snprintf(inner, sizeof(inner), "HOME=/tmp");
	CHECK(builds_at(&p, &rq, "/work"));
	(void)snprintf(inner, sizeof(inner), "HOME=%s-2", tree);
	CHECK(builds_at(&p, &rq, tree));
}

static void a_worktree_in_custodys_own_directories_is_at_work(void)
{
	struct dirs d = { .base = tree };
	_cleanup_own_dirs_ struct own_dirs own;

	SETUP;
	own_dirs_init(&own, &d);
	p.workspace_target = NULL;
	rq.own = &own;
	CHECK(builds_at(&p, &rq, "/work"));
	own_dirs_done(&own);
	d = (struct dirs){ .run = (char *)"/run/custody" };
	own_dirs_init(&own, &d);
	CHECK(builds_at(&p, &rq, tree));
}

/* Else a profile from before would hide, mount or enter something else. */
static void a_path_below_work_keeps_the_worktree_there(void)
{
	struct profile_tmpfs tmpfs[] = { { (char *)"/work/cache", 4096 } };
	char *hide[] = { (char *)"/work/.env", NULL }, *ro[] = { (char *)"/usr:/work/a", NULL },
	     *beside[] = { (char *)"/usr:/work", (char *)"/usr:/workshop", NULL };

	SETUP;
	p.workspace_target = NULL;
	p.fs_hide = hide;
	CHECK(builds_at(&p, &rq, "/work"));
	p.fs_hide = NULL;
	p.fs_ro = ro;
	CHECK(builds_at(&p, &rq, "/work"));
	p.fs_ro = beside;
	CHECK(builds_at(&p, &rq, tree));
	p.fs_ro = NULL;
	p.fs_tmpfs = tmpfs;
	p.n_fs_tmpfs = 1;
	CHECK(builds_at(&p, &rq, "/work"));
	p.n_fs_tmpfs = 0;
	rq.volumes = ro;
	CHECK(builds_at(&p, &rq, "/work"));
	rq.volumes = NULL;
	rq.workdir = "/work/a";
	CHECK(builds_at(&p, &rq, "/work"));
}

static void a_worktree_beside_entries_of_a_root_directory_is_at_work(void)
{
	char root[128], entry[160];

	SETUP;
	p.workspace_target = NULL;
	p.root = PROFILE_ROOT_DIR;
	p.root_path = root;
	(void)snprintf(root, sizeof(root), "%s/root", tree);
	(void)snprintf(entry, sizeof(entry), "%s/tmp", root);
	CHECK(builds_at(&p, &rq, tree));
	CHECK(mkdir(entry, 0755) == 0);
	CHECK(builds_at(&p, &rq, "/work"));
	CHECK(rmdir(entry) == 0);
}

static void a_worktree_below_var_tmp_lies_in_a_writable_directory(void)
{
	char below[] = "/var/tmp/custody-test-subject.XXXXXX";

	SETUP;
	CHECK(mkdtemp(below));
	p.workspace_target = NULL;
	p.workspace_source = below;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(rmdir(below) == 0);
	CHECK(find(s, "/var/tmp") && find(s, "/var/tmp")->mode == 01777);
	CHECK(find(s, "/var/tmp") && (size_t)(find(s, "/var/tmp") - s->mounts) < s->worktree_at);
}

static void files_hidden_by_their_path_outside_are_hidden_inside(void)
{
	char outside[128];
	char *hide[] = { outside, NULL };
	_cleanup_strv_ char **hidden = NULL;
	struct dirs d = { .base = (char *)"/nowhere" };
	_cleanup_own_dirs_ struct own_dirs own;

	SETUP;
	own_dirs_init(&own, &d);
	(void)snprintf(outside, sizeof(outside), "%s/file", tree);
	p.fs_hide = hide;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(subject_hide_own(s, &own, &hidden, &f) == 0);
	CHECK(strv_has(hidden, outside) && strv_has(hidden, "/work/file"));
}

static void working_directories_resolve_in_the_worktree(void)
{
	SETUP;
	rq.workdir = "a";
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(strcmp(s->cwd, "/work/a") == 0);
	subject_free(TAKE_PTR(s));
	rq.workdir = NULL;
	rq.below = "a";
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(strcmp(s->cwd, "/work/a") == 0);
	subject_free(TAKE_PTR(s));
	p.process_cwd = (char *)"/work";
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(strcmp(s->cwd, "/work") == 0);
	subject_free(TAKE_PTR(s));
	rq.below = NULL;
	rq.workdir = "nowhere";
	REFUSED(ENOENT, "mkdir -p");
	fault_done(&f);
	rq.workdir = "../etc";
	REFUSED(EINVAL, "..");
	fault_done(&f);
	rq.workdir = "file";
	REFUSED(ENOTDIR, "not a directory");
}

static void users_and_hostnames_are_checked(void)
{
	SETUP;
	p.process_user = (char *)"1000:100";
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(s->uid == 1000 && s->gid == 100);
	subject_free(TAKE_PTR(s));
	p.process_user = (char *)"70000";
	REFUSED(EINVAL, "process.user");
	fault_done(&f);
	p.process_user = NULL;
	rq.hostname = "a b";
	REFUSED(EINVAL, "hostname");
}

static void arguments_must_be_text(void)
{
	char *bad[] = { (char *)"echo", (char *)"\xff", NULL }, *none[] = { NULL },
	     *empty[] = { (char *)"", NULL };

	SETUP;
	rq.argv = bad;
	REFUSED(EILSEQ, "argument 1");
	fault_done(&f);
	rq.argv = none;
	REFUSED(EINVAL, "no command");
	fault_done(&f);
	rq.argv = empty;
	REFUSED(EINVAL, "empty");
}

static void a_limit_that_is_not_set_is_no_layer(void)
{
	SETUP;
	p.limit_pids = 5;
	CHECK(build(&p, &rq, &s, &f) == 0);
	CHECK(s->layers & LAYER_BIT(LAYER_PIDS_LIMIT));
	CHECK(!(s->layers &
		(LAYER_BIT(LAYER_MEMORY_LIMIT) | LAYER_BIT(LAYER_TIME_LIMIT) | LAYER_BIT(LAYER_DISK_LIMIT))));
}

/* GOV-9: a writable operand is the very file that was judged, not another one that has its name by now. */
static void a_writable_source_that_was_replaced_is_refused(void)
{
	char dir[64], was[64], volume[160];
	char *volumes[] = { volume, NULL };
	int fd;

	SETUP;
	(void)snprintf(dir, sizeof(dir), "%s/replaced", tree);
	(void)snprintf(was, sizeof(was), "%s/was", tree);
	(void)snprintf(volume, sizeof(volume), "%s:/replaced:rw", dir);
	CHECK(mkdir(dir, 0755) == 0);
	rq.volumes = volumes;
	p.workspace = PROFILE_WORKSPACE_TMPFS;
	CHECK(build(&p, &rq, &s, &f) == 0 && find(s, "/replaced"));
	CHECK(subject_require_sources(s, &f) == 0);
	CHECK(rename(dir, was) == 0);
	CHECK(subject_require_sources(s, NULL) == -ENOENT);
	CHECK(mkdir(dir, 0755) == 0 && subject_require_sources(s, NULL) == -EPERM);
	fd = open(dir, O_PATH | O_CLOEXEC);
	CHECK(fd >= 0 && subject_require_file(&find(s, "/replaced")->file, fd, dir, NULL) == -EPERM);
	(void)close(fd);
	CHECK(rmdir(dir) == 0 && symlink(was, dir) == 0);
	CHECK(subject_require_sources(s, &f) == -ELOOP && strstr(fault_text(&f), "/replaced"));
	CHECK(unlink(dir) == 0 && rename(was, dir) == 0);
	CHECK(subject_require_sources(s, NULL) == 0 && rmdir(dir) == 0);
}

static void the_worktrees_place_is_made(void)
{
	char path[128];
	int fd;

	CHECK(mkdtemp(tree));
	(void)snprintf(path, sizeof(path), "%s/a", tree);
	CHECK(mkdir(path, 0755) == 0);
	(void)snprintf(path, sizeof(path), "%s/run", tree);
	CHECK(symlink("/run", path) == 0);
	(void)snprintf(path, sizeof(path), "%s/file", tree);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && close(fd) == 0);
	for (const char *const *d =
		     (const char *const[]){ "root", "root/usr", "root/proc", "root/dev", NULL };
	     *d; d++) {
		(void)snprintf(path, sizeof(path), "%s/%s", tree, *d);
		CHECK(mkdir(path, 0755) == 0);
	}
	(void)snprintf(path, sizeof(path), "%s/root/bin", tree);
	CHECK(symlink("usr/bin", path) == 0);
}

static void the_worktrees_place_is_removed(void)
{
	int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0 && path_remove_tree(fd, tree + strlen("/tmp/"), NULL) == 0 && close(fd) == 0);
}

TAP_MAIN(T(the_worktrees_place_is_made), T(a_writable_source_that_was_replaced_is_refused),
	 T(a_plain_profile_shows_programs_and_nothing_of_homes), T(merged_usr_links_stay_links),
	 T(ISO_12_only_listed_variables_enter), T(a_variable_that_is_not_utf8_is_refused_by_name),
	 T(the_whole_environment_enters_only_when_the_layer_is_off),
	 T(a_missing_worktree_is_refused_with_the_command_that_makes_it),
	 T(a_worktree_that_is_a_file_is_refused), T(a_vanished_current_directory_is_refused),
	 T(the_root_directory_is_no_worktree), T(a_home_is_not_writable_unless_the_profile_allows_it),
	 T(a_worktree_that_shows_a_home_is_marked), T(an_engines_socket_is_not_shown_even_through_a_link),
	 T(a_link_of_the_worktree_does_not_lead_a_volume_out), T(a_volume_is_read_only_unless_it_says_rw),
	 T(malformed_volumes_are_refused), T(mounts_are_sorted_with_parents_first_around_the_worktree),
	 T(targets_below_a_bind_must_exist_but_an_overlay_creates_them),
	 T(a_users_files_are_mapped_and_roots_own_are_not), T(a_root_directory_is_shown_entry_by_entry),
	 T(a_worktree_has_its_own_path_inside), T(a_worktree_in_a_place_of_the_system_is_at_work),
	 T(a_worktree_at_below_or_above_the_home_inside_is_at_work),
	 T(a_worktree_in_custodys_own_directories_is_at_work), T(a_path_below_work_keeps_the_worktree_there),
	 T(a_worktree_beside_entries_of_a_root_directory_is_at_work),
	 T(a_worktree_below_var_tmp_lies_in_a_writable_directory),
	 T(files_hidden_by_their_path_outside_are_hidden_inside),
	 T(working_directories_resolve_in_the_worktree), T(users_and_hostnames_are_checked),
	 T(arguments_must_be_text), T(a_limit_that_is_not_set_is_no_layer), T(the_worktrees_place_is_removed))
