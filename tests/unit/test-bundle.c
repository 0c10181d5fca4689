/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "layer/layer.h"
#include "oci/bundle/bundle.h"
#include "oci/bundle/rootfs.h"
#include "subject-fixture.h"
#include "tap.h"

static struct placement own_run(void)
{
	struct placement pl = fixture_own_run();

	pl.seccomp_bpf = "AAAA";
	return pl;
}

#define SETUP(where)                                  \
	_cleanup_fault_ struct fault f = { 0 };       \
	_cleanup_jdoc_ struct jdoc *c = NULL;         \
	struct profile p = fixture_plain_profile();   \
	struct subject s = fixture_plain_subject(&p); \
	struct placement pl = where

/* PATH is "a/b/0/c"; places below ten. */
static const struct jdoc *at(const struct jdoc *d, const char *path)
{
	char copy[128], *save = NULL;

	(void)snprintf(copy, sizeof(copy), "%s", path);
	for (char *w = strtok_r(copy, "/", &save); d && w; w = strtok_r(NULL, "/", &save)) {
		if (d->type == JDOC_ARRAY) {
			size_t i = (size_t)(w[0] - '0');

			d = i < d->n_items ? d->items[i] : NULL;
		} else {
			d = jdoc_get(d, w);
		}
	}
	return d;
}

static bool has(const struct jdoc *array, const char *word)
{
	for (size_t i = 0; array && array->type == JDOC_ARRAY && i < array->n_items; i++)
		if (array->items[i]->type == JDOC_STRING && strcmp(array->items[i]->string, word) == 0)
			return true;
	return false;
}

static const struct jdoc *mount_at(const struct jdoc *c, const char *target)
{
	const struct jdoc *list = jdoc_get(c, "mounts");

	for (size_t i = 0; i < list->n_items; i++)
		if (strcmp(jdoc_get_string(list->items[i], "destination"), target) == 0)
			return list->items[i];
	return NULL;
}

static bool has_option(const struct jdoc *c, const char *target, const char *option)
{
	return has(jdoc_get(mount_at(c, target), "options"), option);
}

static bool has_namespace(const struct jdoc *c, const char *type)
{
	const struct jdoc *list = at(c, "linux/namespaces");

	for (size_t i = 0; i < list->n_items; i++)
		if (strcmp(jdoc_get_string(list->items[i], "type"), type) == 0)
			return true;
	return false;
}

static void an_own_run_has_every_layer(void)
{
	static const char *const types[] = { "user", "pid", "mount", "network", "ipc", "uts", "cgroup" };
	static const char *const sets[] = { "bounding", "effective", "permitted", "inheritable", "ambient" };
	SETUP(own_run());

	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	for (size_t i = 0; i < 7; i++)
		CHECK(has_namespace(c, types[i]));
	for (size_t i = 0; i < 5; i++) {
		const struct jdoc *set = jdoc_get(at(c, "process/capabilities"), sets[i]);

		CHECK(set && set->type == JDOC_ARRAY && set->n_items == 0);
	}
	CHECK(at(c, "process/noNewPrivileges")->boolean && at(c, "root/readonly")->boolean);
	CHECK(has(at(c, "linux/maskedPaths"), "/proc/kcore") &&
	      has(at(c, "linux/readonlyPaths"), "/proc/sys"));
	CHECK(at(c, "linux/uidMappings/0/hostID")->integer == 2000000);
	CHECK(at(c, "linux/gidMappings/0/hostID")->integer == 3000000);
	CHECK(at(c, "linux/uidMappings/0/size")->integer == 65536);
	CHECK(strcmp(jdoc_get_string(jdoc_get(c, "annotations"), "run.oci.seccomp_bpf_data"), "AAAA") == 0);
	CHECK(!at(c, "linux/seccomp") && !at(c, "linux/resources") && !jdoc_get(c, "hooks"));
	CHECK(!mount_at(c, "/sys"));
	CHECK(strcmp(jdoc_get_string(c, "ociVersion"), "1.0.2") == 0);
	CHECK(has_option(c, "/dev/pts", "newinstance") && !has_option(c, "/dev/pts", "gid=5"));
}

static void switching_a_layer_off_leaves_out_exactly_that(void)
{
	static const struct {
		enum layer layer;
		const char *type;
	} off[] = { { LAYER_PID_NS, "pid" }, { LAYER_NET_NS, "network" },   { LAYER_IPC_NS, "ipc" },
		    { LAYER_UTS_NS, "uts" }, { LAYER_CGROUP_NS, "cgroup" }, { LAYER_USER_NS, "user" } };

	for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
		SETUP(own_run());

		s.layers &= ~LAYER_BIT(off[i].layer);
		CHECK(bundle_config(&s, &pl, &c, &f) == 0);
		for (size_t k = 0; k < ARRAY_SIZE(off); k++)
			CHECK(has_namespace(c, off[k].type) == (i != k));
		CHECK(!at(c, "linux/uidMappings") == (off[i].layer == LAYER_USER_NS));
		CHECK(!jdoc_get(c, "hostname") == (off[i].layer == LAYER_UTS_NS));
		CHECK(!mount_at(c, "/dev/mqueue") == (off[i].layer == LAYER_IPC_NS));
		CHECK(has_option(c, "/proc", "rbind") == (off[i].layer == LAYER_PID_NS));
	}
}

static void other_layers_can_be_switched_off_one_by_one(void)
{
	SETUP(own_run());

	s.layers &= ~(LAYER_BIT(LAYER_ROOT) | LAYER_BIT(LAYER_MASKS) | LAYER_BIT(LAYER_CAPABILITIES) |
		      LAYER_BIT(LAYER_NO_NEW_PRIVS) | LAYER_BIT(LAYER_SECCOMP) | LAYER_BIT(LAYER_DEVICES));
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(!at(c, "root/readonly")->boolean);
	CHECK(at(c, "linux/maskedPaths")->n_items == 0 && at(c, "linux/readonlyPaths")->n_items == 0);
	CHECK(has(at(c, "process/capabilities/effective"), "CAP_CHOWN"));
	CHECK(at(c, "process/capabilities/ambient")->n_items == 0);
	CHECK(!at(c, "process/noNewPrivileges")->boolean);
	CHECK(!jdoc_get(c, "annotations") && !at(c, "linux/seccomp"));
	CHECK(strcmp(jdoc_get_string(mount_at(c, "/dev"), "type"), "bind") == 0);
}

static void hidden_paths_are_masked_whatever_else_is_off(void)
{
	char *hide[] = { (char *)"/work/.env", NULL };
	SETUP(own_run());

	p.fs_hide = hide;
	s.layers &= ~LAYER_BIT(LAYER_MASKS);
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(at(c, "linux/maskedPaths")->n_items == 1 && has(at(c, "linux/maskedPaths"), "/work/.env"));
	CHECK(has(at(c, "process/args"), "--hide=/work/.env"));
}

static void an_overlay_names_its_layers_with_special_characters_escaped(void)
{
	SETUP(own_run());

	pl.worktree = "/a:b,c\\d";
	pl.upper = "/u,1";
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(strcmp(jdoc_get_string(mount_at(c, "/work"), "type"), "overlay") == 0);
	CHECK(has_option(c, "/work", "lowerdir=/a\\:b\\,c\\\\d"));
	CHECK(has_option(c, "/work", "upperdir=/u\\,1") && has_option(c, "/work", "workdir=/s/l/w"));
	CHECK(has_option(c, "/work", "userxattr") && has_option(c, "/work", "volatile") &&
	      has_option(c, "/work", "nosuid"));
}

static void worktrees_are_mounted_as_the_profile_says(void)
{
	SETUP(own_run());

	p.workspace = PROFILE_WORKSPACE_RO;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	/* An overlay: in a bind the sockets and FIFOs of the host would work. */
	CHECK(has_option(c, "/work", "ro") && has_option(c, "/work", "nosuid") &&
	      has_option(c, "/work", "nodev"));
	CHECK(strcmp(jdoc_get_string(mount_at(c, "/work"), "type"), "overlay") == 0);
	CHECK(has_option(c, EMPTY_DIR, "ro"));
	jdoc_free(TAKE_PTR(c));
	p.workspace = PROFILE_WORKSPACE_RW;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	/* Plain nosuid and nodev are dropped by libcrun on a writable bind. */
	CHECK(has_option(c, "/work", "rw") && has_option(c, "/work", "rnosuid") &&
	      has_option(c, "/work", "rnodev"));
	jdoc_free(TAKE_PTR(c));
	p.workspace = PROFILE_WORKSPACE_TMPFS;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(has_option(c, "/work", "size=65536") && has_option(c, "/work", "nodev"));
}

static void parents_are_mounted_before_children(void)
{
	SETUP(own_run());

	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	const struct jdoc *list = jdoc_get(c, "mounts");

	for (size_t i = 0; i < list->n_items; i++)
		for (size_t k = i + 1; k < list->n_items; k++)
			CHECK(!path_is_below(jdoc_get_string(list->items[i], "destination"),
					     jdoc_get_string(list->items[k], "destination")));
}

static void prepared_clones_are_bound_instead_of_their_sources(void)
{
	const char *sources[] = { NULL, NULL, "/s/b2", "/s/b3" };
	SETUP(own_run());

	pl.sources = sources;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(strcmp(jdoc_get_string(mount_at(c, "/work/data"), "source"), "/s/b2") == 0);
	CHECK(strcmp(jdoc_get_string(mount_at(c, "/x"), "source"), "/s/b3") == 0);
	CHECK(strcmp(jdoc_get_string(mount_at(c, "/usr"), "source"), "/usr") == 0);
}

static void init_gets_the_layers_to_prove(void)
{
	SETUP(own_run());

	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	const struct jdoc *args = at(c, "process/args");

	CHECK(strcmp(args->items[0]->string, INIT_PATH) == 0);
	CHECK(has(args, "--report") && has(args, "--work=/work:overlay") && has(args, "--tmpfs=/tmp"));
	CHECK(has(args, "--rw=/work/data") && !has(args, "--rw=/usr") && has(args, "--env=HOME,PATH"));
	CHECK(!has(args, "--plain-root") && !has(args, "--time=90:5"));
	CHECK(strcmp(args->items[args->n_items - 3]->string, "--") == 0);
	CHECK(strcmp(args->items[args->n_items - 1]->string, "-l") == 0);
	CHECK(has_option(c, INIT_PATH, "ro"));
	jdoc_free(TAKE_PTR(c));
	p.process_init = false;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(at(c, "process/args")->n_items == 2 && !mount_at(c, INIT_PATH));
}

static const struct jdoc *find_prefix(const struct jdoc *array, const char *prefix)
{
	for (size_t i = 0; i < array->n_items; i++)
		if (str_starts(array->items[i]->string, prefix))
			return array->items[i];
	return NULL;
}

static void CARD_2_a_portable_bundle_carries_limits_names_and_a_hook(void)
{
	SETUP(fixture_portable());

	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(!mount_at(c, "/work") && !mount_at(c, "/work/data") && !mount_at(c, "/x"));
	CHECK(mount_at(c, "/usr") && mount_at(c, "/tmp"));
	CHECK(at(c, "linux/resources/memory/limit")->integer == 1 << 20);
	CHECK(at(c, "linux/resources/memory/swap")->integer == 1 << 20);
	CHECK(at(c, "linux/resources/pids/limit")->integer == 7);
	CHECK(at(c, "linux/resources/cpu/quota")->integer == 150000);
	CHECK(at(c, "linux/seccomp/defaultErrnoRet")->integer == ENOSYS);
	CHECK(jdoc_get(jdoc_get(c, "annotations"), BUNDLE_MARK));
	CHECK(!jdoc_get(jdoc_get(c, "annotations"), "run.oci.seccomp_bpf_data"));
	CHECK(strcmp(jdoc_get_string(at(c, "hooks/createRuntime/0"), "path"), "/lib/custody-hook") == 0);
	CHECK(at(c, "hooks/createRuntime/0/env")->n_items > 0);
	const struct jdoc *args = at(c, "process/args"), *require = find_prefix(args, "--require=");

	CHECK(require && strstr(require->string, "seccomp") && !strstr(require->string, "limit"));
	CHECK(has(args, "--plain-root") && has(args, "--time=90:5") && !has(args, "--report"));
}

static void CARD_2_the_hook_mounts_the_worktree_and_everything_mapped(void)
{
	SETUP(fixture_portable());
	_cleanup_jdoc_ struct jdoc *plan = NULL;

	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	const char *text = at(c, "hooks/createRuntime/0/args/2")->string;

	CHECK(jdoc_parse(text, strlen(text), "plan", NULL, &plan, &f) == 0);
	CHECK(jdoc_get(plan, "uid_base")->integer == 2000000);
	CHECK(jdoc_get(plan, "mounts")->n_items == 3);
	CHECK(strcmp(at(plan, "mounts/0/kind")->string, "overlay") == 0);
	CHECK(at(plan, "mounts/0/uid")->integer == 1000 && at(plan, "mounts/0/gid")->integer == 100);
	CHECK(strcmp(at(plan, "mounts/1/target")->string, "/work/data") == 0 &&
	      at(plan, "mounts/1/rw")->boolean);
	CHECK(strcmp(at(plan, "mounts/2/target")->string, "/x") == 0 && !at(plan, "mounts/2/rw")->boolean);
}

static void a_hooked_mount_below_a_runtimes_mount_is_refused(void)
{
	struct subject_mount below[] = { fixture_mounts[1], fixture_mounts[3] };
	SETUP(fixture_portable());

	below[1].target = (char *)"/usr/local/x";
	s.mounts = below;
	s.n_mounts = 2;
	CHECK(bundle_config(&s, &pl, &c, &f) == -ENOTSUP && c == NULL);
	CHECK(strstr(fault_text(&f), "'/usr/local/x' lies below the mount '/usr'"));
}

static void a_worktree_below_a_tmpfs_makes_it_the_hooks(void)
{
	_cleanup_jdoc_ struct jdoc *plan = NULL;
	SETUP(fixture_portable());

	s.target = (char *)"/tmp/a/b";
	s.n_mounts = 2;
	CHECK(strcmp(s.mounts[0].target, "/tmp") == 0);
	s.worktree_at = 1;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(!mount_at(c, "/tmp") && !mount_at(c, "/tmp/a/b") && mount_at(c, "/usr"));
	const char *text = at(c, "hooks/createRuntime/0/args/2")->string;

	CHECK(jdoc_parse(text, strlen(text), "plan", NULL, &plan, &f) == 0);
	CHECK(strcmp(at(plan, "mounts/0/target")->string, "/tmp") == 0 &&
	      strcmp(at(plan, "mounts/0/kind")->string, "tmpfs") == 0);
	CHECK(strcmp(at(plan, "mounts/1/target")->string, "/tmp/a/b") == 0);
}

static void an_empty_worktree_is_the_hooks_too_for_it_must_be_held(void)
{
	SETUP(fixture_portable());

	p.workspace = PROFILE_WORKSPACE_TMPFS;
	s.n_mounts = 2;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(!mount_at(c, "/work") && strcmp(at(c, "hooks/createRuntime/0/args/1")->string, "mount") == 0);
	CHECK(strstr(at(c, "hooks/createRuntime/0/args/2")->string, "\"kind\":\"tmpfs\""));
}

static void a_bundle_with_an_approve_hook_has_an_audit_hook(void)
{
	char *words[] = { (char *)"--lane=sandbox", (char *)"--security=off", (char *)"--redact=--key",
			  (char *)"--env=HOME=/root", NULL };
	SETUP(fixture_portable());

	pl.approve = words;
	CHECK(bundle_config(&s, &pl, &c, &f) == -EINVAL); /* no directory for its session */
	fault_done(&f);
	pl.run = "/run/custody";
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(strcmp(at(c, "hooks/poststop/0/args/1")->string, "audit") == 0);
	CHECK(at(c, "hooks/poststop/0/args")->n_items == 5);
	CHECK(strcmp(at(c, "hooks/poststop/0/args/4")->string, "--env=HOME=/root") == 0);
	CHECK(strstr(at(c, "hooks/createRuntime/1/args/2")->string, "\"run\":\"/run/custody\""));
	CHECK(strstr(at(c, "hooks/createRuntime/1/args/2")->string, "\"work\":\"/work\""));
}

static void one_id_is_enough_for_container_root_and_for_no_other_user(void)
{
	SETUP(own_run());

	pl.n_ids = 1;
	pl.uid_base = 1000;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(at(c, "linux/uidMappings/0/size")->integer == 1 &&
	      at(c, "linux/uidMappings/0/containerID")->integer == 0);
	jdoc_free(TAKE_PTR(c));
	s.uid = 5;
	CHECK(bundle_config(&s, &pl, &c, &f) == -EPERM && c == NULL);
}

/* The runtime maps, and init requires, exactly the ids of the placement. */
static void PLAT_3_subordinate_ids_are_mapped_beside_the_caller(void)
{
	const struct id_map ids = { .uid = { .at = { { 0, 1000, 1 }, { 1, 100000, 65535 } }, .n = 2 },
				    .gid = { .at = { { 0, 100, 1 }, { 1, 200000, 7 } }, .n = 2 } };
	_cleanup_strbuf_ struct strbuf args = { 0 };
	SETUP(own_run());

	pl.n_ids = 1;
	pl.uid_base = 1000;
	pl.ids = &ids;
	s.uid = 70;
	CHECK(bundle_config(&s, &pl, &c, &f) == 0);
	CHECK(at(c, "linux/uidMappings")->n_items == 2 && at(c, "linux/gidMappings")->n_items == 2);
	CHECK(at(c, "linux/uidMappings/0/containerID")->integer == 0 &&
	      at(c, "linux/uidMappings/0/hostID")->integer == 1000 &&
	      at(c, "linux/uidMappings/0/size")->integer == 1);
	CHECK(at(c, "linux/uidMappings/1/containerID")->integer == 1 &&
	      at(c, "linux/uidMappings/1/hostID")->integer == 100000 &&
	      at(c, "linux/uidMappings/1/size")->integer == 65535);
	CHECK(at(c, "linux/gidMappings/1/size")->integer == 7);
	CHECK(at(c, "process/user/uid")->integer == 70);
	CHECK(jdoc_write(at(c, "process/args"), JDOC_CANONICAL, &args, &f) == 0);
	CHECK(strstr(args.text, "\"--uid-map=0:1000:1,1:100000:65535\",\"--gid-map=0:100:1,1:200000:7\""));
}

static void the_same_input_gives_the_same_bytes(void)
{
	SETUP(fixture_portable());
	_cleanup_strbuf_ struct strbuf a = { 0 }, b = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;

	CHECK(bundle_config(&s, &pl, &c, &f) == 0 && bundle_config(&s, &pl, &d, &f) == 0);
	CHECK(jdoc_write(c, JDOC_CANONICAL, &a, &f) == 0 && jdoc_write(d, JDOC_CANONICAL, &b, &f) == 0);
	CHECK(strcmp(a.text, b.text) == 0);
}

static bool is_dir(int fd, const char *path)
{
	struct stat st;

	return fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_mode & 0777) == 0755;
}

static void the_root_has_every_mount_point_and_a_small_etc(void)
{
	char dir[] = "/tmp/custody-test-bundle.XXXXXX", text[64];
	_cleanup_close_ int fd = -EBADF, passwd = -EBADF,
			    tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *content = NULL;
	struct stat st;
	size_t len;
	mode_t mask;
	SETUP(own_run());

	(void)pl;
	CHECK(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mask = umask(0077); /* whatever the caller has */
	CHECK(fd >= 0 && rootfs_build(fd, &s, geteuid(), getegid(), false, &f) == 0);
	CHECK(umask(mask) == 0077);
	CHECK(is_dir(fd, "usr") && is_dir(fd, "tmp") && is_dir(fd, "work") && is_dir(fd, "proc") &&
	      is_dir(fd, "dev"));
	CHECK(fstatat(fd, "x", &st, 0) == 0 && S_ISREG(st.st_mode));
	CHECK(fstatat(fd, &INIT_PATH[1], &st, 0) == 0 && S_ISREG(st.st_mode));
	CHECK(fstatat(fd, "work/data", &st, 0) < 0 && fstatat(fd, "sys", &st, 0) < 0);
	CHECK(readlinkat(fd, "bin", text, sizeof(text)) == 7 && memcmp(text, "usr/bin", 7) == 0);
	passwd = openat(fd, "etc/passwd", O_RDONLY | O_CLOEXEC);
	CHECK(passwd >= 0 && fd_read_all(passwd, 4096, &content, &len, &f) == 0);
	CHECK(str_starts(content, "root:x:0:0:root:/home/sandbox:") && strstr(content, "\nnobody:x:65534:"));
	CHECK(fstatat(fd, "etc/shadow", &st, 0) < 0 && fstatat(fd, "etc/resolv.conf", &st, 0) == 0);
	CHECK(fstatat(fd, "etc/hosts", &st, 0) == 0 && (st.st_mode & 0777) == 0644);
	CHECK(path_remove_tree(tmp, dir + strlen("/tmp/"), &f) == 0);
}

static void a_home_cannot_add_fields_to_passwd(void)
{
	char dir[] = "/tmp/custody-test-bundle.XXXXXX";
	_cleanup_close_ int fd = -EBADF, passwd = -EBADF,
			    tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *content = NULL;
	size_t len;
	SETUP(own_run());

	(void)pl;
	CHECK(mkdtemp(dir));
	s.home = (char *)"/a:b\nevil:x:0:0";
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0 && rootfs_build(fd, &s, geteuid(), getegid(), false, &f) == 0);
	passwd = openat(fd, "etc/passwd", O_RDONLY | O_CLOEXEC);
	CHECK(passwd >= 0 && fd_read_all(passwd, 4096, &content, &len, &f) == 0);
	CHECK(str_starts(content, "root:x:0:0:root:/:/bin/sh\nnobody:"));
	CHECK(path_remove_tree(tmp, dir + strlen("/tmp/"), &f) == 0);
}

TAP_MAIN(T(an_own_run_has_every_layer), T(switching_a_layer_off_leaves_out_exactly_that),
	 T(other_layers_can_be_switched_off_one_by_one), T(hidden_paths_are_masked_whatever_else_is_off),
	 T(an_overlay_names_its_layers_with_special_characters_escaped),
	 T(worktrees_are_mounted_as_the_profile_says), T(parents_are_mounted_before_children),
	 T(prepared_clones_are_bound_instead_of_their_sources), T(init_gets_the_layers_to_prove),
	 T(CARD_2_a_portable_bundle_carries_limits_names_and_a_hook),
	 T(CARD_2_the_hook_mounts_the_worktree_and_everything_mapped),
	 T(a_hooked_mount_below_a_runtimes_mount_is_refused), T(a_worktree_below_a_tmpfs_makes_it_the_hooks),
	 T(an_empty_worktree_is_the_hooks_too_for_it_must_be_held),
	 T(a_bundle_with_an_approve_hook_has_an_audit_hook),
	 T(one_id_is_enough_for_container_root_and_for_no_other_user),
	 T(PLAT_3_subordinate_ids_are_mapped_beside_the_caller), T(the_same_input_gives_the_same_bytes),
	 T(the_root_has_every_mount_point_and_a_small_etc), T(a_home_cannot_add_fields_to_passwd))
