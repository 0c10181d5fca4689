/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "layer/layer.h"
#include "profile/profile-file.h"
#include "profile-fixture.h"
#include "tap.h"

/* The build may run as another user than the tree's owner: the tests read copies. */
static bool copy_shipped(struct place *s)
{
	_cleanup_strv_ char **names = NULL;
	_cleanup_free_ char *dir = path_join(getenv("SRCDIR") ? getenv("SRCDIR") : ".", "profiles");

	if (profile_dir_list(dir, &names, NULL) < 0 || !names)
		return false;
	for (size_t i = 0; names[i]; i++) {
		_cleanup_free_ char *text = NULL, *path = NULL;
		_cleanup_close_ int fd = -EBADF;
		char file[96];
		size_t len;

		snprintf(file, sizeof(file), "%s.json", names[i]);
		path = path_join(dir, file);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fd_read_all(fd, PROFILE_SIZE_MAX, &text, &len, NULL) < 0 ||
		    !str_starts(text, "/*"))
			return false;
		put(s->admin, file, text);
	}
	return true;
}

#define WITH_SHIPPED                            \
	_cleanup_place_ struct place s = { 0 }; \
	place_init(&s);                         \
	CHECK(copy_shipped(&s))

static void all_load_and_are_supported(void)
{
	static const char *const names[] = { "build", "offline", "review", "scratch" };
	WITH_SHIPPED;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_profile_ struct profile *p = load_ok(&s, names[i]);

		CHECK(p && p->description && profile_require_supported(p, NULL) == 0);
		CHECK(!p->dangerous && p->layers == LAYER_BIT(_LAYER_MAX) - 1 && p->optional == 0);
		CHECK(p->network == PROFILE_NETWORK_NONE && !p->fs_rw && p->process_init);
		CHECK(p->limit_memory && p->limit_pids && p->limit_cpu_percent && p->limit_disk);
	}
}

static void containers_get_a_network_and_few_capabilities(void)
{
	static const char *const never[] = { "CAP_SYS_ADMIN",	"CAP_NET_RAW",	 "CAP_MKNOD",
					     "CAP_AUDIT_WRITE", "CAP_NET_ADMIN", "CAP_SYS_PTRACE" };
	_cleanup_profile_ struct profile *container = NULL, *offline = NULL;
	WITH_SHIPPED;

	container = load_ok(&s, "container");
	offline = load_ok(&s, "offline");
	CHECK(container && offline && container->description && !container->dangerous);
	CHECK(profile_require_supported(container, NULL) == 0 &&
	      container->layers == LAYER_BIT(_LAYER_MAX) - 1);
	CHECK(container->container_network == PROFILE_CONTAINER_NETWORK_ENGINE &&
	      strv_len(container->container_capabilities) == 11);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		CHECK(!strv_has(container->container_capabilities, never[i]));
	/* An annotation may choose it. */
	CHECK(profile_is_tighter_for_containers(container, offline, NULL) &&
	      !profile_is_tighter(offline, container, NULL));
	CHECK(offline->container_network == PROFILE_CONTAINER_NETWORK_NONE &&
	      !offline->container_capabilities);
}

static void the_home_exists_and_can_be_written(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	const char *home = NULL;
	WITH_SHIPPED;

	p = load_ok(&s, "offline");
	CHECK(p);
	for (size_t i = 0; i < p->n_env_set; i++)
		if (str_eq(p->env_set[i].name, "HOME"))
			home = p->env_set[i].value;
	CHECK(home && p->n_fs_tmpfs == 1 && str_eq(home, p->fs_tmpfs[0].path));
}

static void they_do_as_their_names_promise(void)
{
	_cleanup_profile_ struct profile *offline = NULL, *scratch = NULL, *review = NULL, *build = NULL;
	WITH_SHIPPED;

	offline = load_ok(&s, "offline");
	scratch = load_ok(&s, "scratch");
	review = load_ok(&s, "review");
	build = load_ok(&s, "build");
	CHECK(offline && scratch && review && build);
	CHECK(offline->workspace == PROFILE_WORKSPACE_OVERLAY &&
	      build->workspace == PROFILE_WORKSPACE_OVERLAY);
	CHECK(scratch->workspace == PROFILE_WORKSPACE_TMPFS && review->workspace == PROFILE_WORKSPACE_RO);
	CHECK(profile_is_tighter(offline, review, NULL) && profile_is_tighter(offline, scratch, NULL));
	CHECK(!profile_is_tighter(offline, build, NULL));
}

TAP_MAIN(T(containers_get_a_network_and_few_capabilities), T(all_load_and_are_supported),
	 T(the_home_exists_and_can_be_written), T(they_do_as_their_names_promise))
