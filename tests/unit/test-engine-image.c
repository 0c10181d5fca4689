/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>

#include "engine-fixture.h"
#include "oci/engine/engine-image.h"
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
	 T(GOV_13_no_container_sees_or_writes_the_directories_of_custody))
