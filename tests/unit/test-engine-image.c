/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>

#include "base/array.h"
#include "engine-fixture.h"
#include "oci/engine/engine-image.h"
#include "oci/engine/engine-layer.h"
#include "oci/engine/engine-namespace.h"
#include "oci/engine/engine-noise.h"
#include "state/dirs.h"
#include "subject/own-dirs.h"
#include "tap.h"

#define LINE(point, root, rest) "98 92 0:83 " root " " point " rw,relatime - " rest "\n"

static void the_layers_of_the_root_are_found(void)
{
	static const char text[] = LINE("/", "/", "ext4 /dev/sda rw")
		LINE("/c/merged", "/", "overlay overlay rw,lowerdir=/l/B:/l/A,upperdir=/u,workdir=/w")
			LINE("/c/other", "/", "overlay overlay rw,lowerdir=/l/C");
	_cleanup_engine_rootfs_ struct engine_rootfs r = { 0 };

	CHECK(engine_rootfs_find(text, "/c/merged", &r, NULL) == 0 && str_eq(r.type, "overlay"));
	CHECK(strv_len(r.lowers) == 2 && str_eq(r.lowers[0], "/l/B") && str_eq(r.lowers[1], "/l/A"));
	engine_rootfs_done(&r);
	CHECK(engine_rootfs_find(text, "/c", &r, NULL) == 0 && !r.type && !r.lowers);
	engine_rootfs_done(&r);
	CHECK(engine_rootfs_find("98 92 0:83 / /c rw\n", "/c", &r, NULL) == -EINVAL);
}

static void escapes_and_newer_spellings_are_read(void)
{
	/* A blank is \040 for mountinfo; a colon is \: and a backslash \134\134 for overlayfs. */
	static const char text[] =
		LINE("/a\\040b", "/", "overlay overlay rw,lowerdir=/x\\040y:/z\\134:1,upperdir=/u")
			LINE("/n", "/", "overlay overlay ro,lowerdir+=/p,lowerdir+=/q,index=off");
	_cleanup_engine_rootfs_ struct engine_rootfs r = { 0 };

	CHECK(engine_rootfs_find(text, "/a b", &r, NULL) == 0 && strv_len(r.lowers) == 2);
	CHECK(str_eq(r.lowers[0], "/x y") && str_eq(r.lowers[1], "/z:1"));
	engine_rootfs_done(&r);
	CHECK(engine_rootfs_find(text, "/n", &r, NULL) == 0 && strv_len(r.lowers) == 2 &&
	      str_eq(r.lowers[1], "/q"));
}

static void a_mount_over_the_root_or_a_part_of_an_overlay_is_not_the_image(void)
{
	_cleanup_engine_rootfs_ struct engine_rootfs r = { 0 };

	CHECK(engine_rootfs_find(LINE("/c", "/", "overlay overlay rw,lowerdir=/l")
					 LINE("/c", "/", "tmpfs tmpfs rw"),
				 "/c", &r, NULL) == 0);
	CHECK(str_eq(r.type, "tmpfs") && !r.lowers);
	engine_rootfs_done(&r);
	CHECK(engine_rootfs_find(LINE("/c", "/sub", "overlay overlay rw,lowerdir=/l"), "/c", &r, NULL) == 0 &&
	      !r.lowers);
}

/* Below a directory with MODE. */
static const char *make_bundle(const struct engine_fixture *x, char path[PATH_MAX], mode_t mode)
{
	(void)snprintf(path, PATH_MAX, "%s/io.containerd.runtime.v2.task", x->dir);
	(void)mkdir(path, 0755);
	(void)strcat(path, "/k8s.io");
	(void)mkdir(path, mode);
	(void)chmod(path, mode);
	(void)strcat(path, "/" ENGINE_ID);
	(void)mkdir(path, 0755);
	return path;
}

static void GOV_9_an_annotation_alone_identifies_no_image(void)
{
	char bundle[PATH_MAX];
	static const char text[] =
		"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/"
		"\"},\"root\":{\"path\":\"r\"},\"annotations\":{\"io.kubernetes.cri.image-name\":"
		"\"box@sha256:" ENGINE_ID
		"\"},\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":"
		"\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]}}";
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	struct engine_container c = { 0 };
	struct engine_input in = {
		.text = text, .len = strlen(text), .id = ENGINE_ID, .lane = LANE_SANDBOX, .isolate = true
	};

	CHECK(engine_fixture_init(&x));
	in.profile = x.profile;
	in.rootfs = x.rootfs;
	in.bundle = x.dir;
	CHECK(engine_read(&in, &x.key, &c, NULL) == 0 && !c.image);
	engine_container_done(&c);
	/* Nor a bundle in a place of that name, where any user could have put it. */
	in.bundle = make_bundle(&x, bundle, 0777);
	CHECK(engine_read(&in, &x.key, &c, NULL) == 0 && !c.image);
	engine_container_done(&c);
	in.bundle = make_bundle(&x, bundle, 0755);
	CHECK(engine_read(&in, &x.key, &c, NULL) == 0);
	CHECK(geteuid() != 0 || engine_caller_is_mapped() || str_eq(c.image, "sha256:" ENGINE_ID));
	engine_container_done(&c);
	while (strlen(bundle) > strlen(x.dir) && rmdir(bundle) == 0)
		*strrchr(bundle, '/') = '\0';
}

static void the_path_of_a_root_without_image_has_no_ids(void)
{
	struct engine_input in = { .id = "web", .rootfs = "/s/vfs/dir/" ENGINE_ID };
	_cleanup_free_ char *vfs = engine_noise_rootfs(&in), *given = NULL, *native = NULL;

	in.rootfs = "/srv/web/rootfs";
	given = engine_noise_rootfs(&in);
	in.rootfs = "/run/containerd/io.containerd.runtime.v2.task/default/web/rootfs";
	native = engine_noise_rootfs(&in);
	CHECK(str_eq(vfs, "/s/vfs/dir/(layer)") && str_eq(given, "/srv/web/rootfs"));
	CHECK(str_ends(native, "/default/(container)/rootfs"));
}

/* A layer of podman's storage, with its short name: overlay/ID/diff and overlay/l/SHORT. */
static void make_storage(const char *dir)
{
	static const char *const below[] = { "",     "/l",	 "/" ENGINE_ID, "/" ENGINE_ID "/diff",
					     "/own", "/own/diff" };
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		(void)snprintf(path, sizeof(path), "%s/overlay%s", dir, below[i]);
		(void)mkdir(path, 0755);
	}
	(void)snprintf(path, sizeof(path), "%s/overlay/l/SHORT", dir);
	CHECK(symlink("../" ENGINE_ID "/diff", path) == 0);
}

/* The storage's list of the layers below `own`. */
static void write_list(const char *dir, const char *text, mode_t mode)
{
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/overlay/own/lower", dir);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
	(void)close(fd);
}

static void remove_storage(const char *dir)
{
	static const char *const below[] = { "/own/diff",   "/own", "/" ENGINE_ID "/diff",
					     "/" ENGINE_ID, "/l",   "" };
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/overlay/l/SHORT", dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/overlay/own/lower", dir);
	(void)unlink(path);
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		(void)snprintf(path, sizeof(path), "%s/overlay%s", dir, below[i]);
		(void)rmdir(path);
	}
}

/* Of the storage in DIR: the name of the root at ROOTFS, with the paths LOWER and UPPER in the storage.  NULL: not identified. */
static char *name_of(const char *dir, const char *rootfs, const char *lower, const char *upper)
{
	_cleanup_engine_rootfs_ struct engine_rootfs found = { .type = strdup("overlay") };
	char path[PATH_MAX], *name = NULL;

	(void)snprintf(path, sizeof(path), "%s/overlay/%s", dir, lower);
	if (strv_append(&found.lowers, path) < 0 ||
	    (upper && asprintf(&found.upper, "%s/overlay/%s", dir, upper) < 0) ||
	    engine_layer_name(rootfs, &found, &name, NULL) < 0)
		return strdup("error");
	return name;
}

static void GOV_9_layers_with_mapped_ids_are_those_of_the_image(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	_cleanup_free_ char *plain = NULL, *podman4 = NULL, *podman5 = NULL, *other = NULL, *gone = NULL;
	char merged[PATH_MAX];

	CHECK(engine_fixture_init(&x));
	make_storage(x.dir);
	(void)snprintf(merged, sizeof(merged), "%s/overlay/own/merged", x.dir);
	plain = name_of(x.dir, merged, "l/SHORT", "own/diff");
	podman4 = name_of(x.dir, merged, "own/mapped/0/l/SHORT", NULL);
	/* The mount is cloned to another place. */
	podman5 = name_of(x.dir, "/run/intermediate-mountpoint-0.0", "own/mapped/0/l/SHORT", "own/diff");
	CHECK(plain && str_eq(plain, podman4) && str_eq(plain, podman5));
	/* A clone in another container's directory, and a layer that is not in the storage. */
	other = name_of(x.dir, "/run/intermediate-mountpoint-0.0", "other/mapped/0/l/SHORT", "own/diff");
	gone = name_of(x.dir, "/run/intermediate-mountpoint-0.0", "own/mapped/0/l/GONE", "own/diff");
	CHECK(!other && !gone);
	remove_storage(x.dir);
}

static void GOV_9_layers_that_were_cloned_one_by_one_are_those_of_the_storages_list(void)
{
	static const char root[] = "/run/intermediate-mountpoint-0.0";
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	_cleanup_free_ char *plain = NULL, *clone = NULL, *none = NULL, *more = NULL, *gone = NULL,
			    *open_to_all = NULL;

	CHECK(engine_fixture_init(&x));
	make_storage(x.dir);
	plain = name_of(x.dir, root, "l/SHORT", "own/diff");
	none = name_of(x.dir, root, "own/mapped/0/diff", "own/diff");
	write_list(x.dir, "l/SHORT", 0644);
	clone = name_of(x.dir, root, "own/mapped/0/diff", "own/diff");
	CHECK(plain && str_eq(plain, clone) && !none);
	/* A list of another length, of a layer that is not there, or that every user could have written. */
	write_list(x.dir, "l/SHORT:l/SHORT", 0644);
	more = name_of(x.dir, root, "own/mapped/0/diff", "own/diff");
	write_list(x.dir, "l/GONE", 0644);
	gone = name_of(x.dir, root, "own/mapped/0/diff", "own/diff");
	write_list(x.dir, "l/SHORT", 0666);
	open_to_all = name_of(x.dir, root, "own/mapped/0/diff", "own/diff");
	CHECK(!more && !gone && !open_to_all);
	remove_storage(x.dir);
}

#define BEFORE                                        \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/" \
	"\"},\"root\":{\"path\":\"r\"},\"mounts\":[{\"type\":\"bind\",\"source\":\""
#define AFTER                                                                                             \
	"\"]}],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},{" \
	"\"type\":\"uts\"},{"                                                                             \
	"\"type\":\"mount\"}]}}"

/* A bind of BELOW in the fixture's directory. */
static int try_own(struct engine_fixture *x, struct own_dirs *own, const char *below, const char *option)
{
	char text[2048];
	struct engine_input in = { .id = ENGINE_ID, .lane = LANE_SANDBOX, .isolate = true, .own = own };

	(void)snprintf(text, sizeof(text), BEFORE "%s%s\",\"destination\":\"/m\",\"options\":[\"%s" AFTER,
		       x->dir, below, option);
	in.text = text;
	in.len = strlen(text);
	in.profile = x->profile;
	in.rootfs = x->rootfs;
	in.bundle = x->dir;
	engine_container_done(&x->c);
	fault_done(&x->f);
	x->f = (struct fault){ 0 };
	return engine_read(&in, &x->key, &x->c, &x->f);
}

static void GOV_13_no_container_sees_or_writes_the_directories_of_custody(void)
{
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };
	_cleanup_own_dirs_ struct own_dirs own = { 0 };
	_cleanup_dirs_ struct dirs dirs = { 0 };
	_cleanup_free_ char *hidden = NULL;
	char root[96];

	CHECK(engine_fixture_init(&x));
	(void)snprintf(root, sizeof(root), "%s/state", x.dir);
	CHECK(mkdir(root, 0700) == 0 && setenv("CUSTODY_ROOT", root, 1) == 0);
	CHECK(dirs_load_lane(LANE_SANDBOX, &dirs, &x.f) == 0);
	own_dirs_init(&own, &dirs);
	CHECK(try_own(&x, &own, "", "rw") == -EPERM && strstr(fault_text(&x.f), "custody's own"));
	CHECK(try_own(&x, &own, "/state/sandbox", "ro") == -EPERM &&
	      strstr(fault_text(&x.f), "no sandbox may see"));
	/* Above them, read-only: they are hidden. */
	CHECK(try_own(&x, &own, "", "ro") == 0);
	CHECK(engine_list_has(engine_at(x.c.merged, "linux.maskedPaths"), "/m/state/sandbox"));
	(void)unsetenv("CUSTODY_ROOT");
	(void)rmdir(root);
}

TAP_MAIN(T(the_layers_of_the_root_are_found), T(escapes_and_newer_spellings_are_read),
	 T(a_mount_over_the_root_or_a_part_of_an_overlay_is_not_the_image),
	 T(GOV_9_an_annotation_alone_identifies_no_image), T(the_path_of_a_root_without_image_has_no_ids),
	 T(GOV_9_layers_with_mapped_ids_are_those_of_the_image),
	 T(GOV_9_layers_that_were_cloned_one_by_one_are_those_of_the_storages_list),
	 T(GOV_13_no_container_sees_or_writes_the_directories_of_custody))
