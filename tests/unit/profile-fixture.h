/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "profile/profile.h"

static const struct profile_vars vars = { .cwd = "/srv/project",
					  .home = "/home/ann",
					  .user = "ann",
					  .session = "20261116T031500Z-1a2b3c4d",
					  .uid = 1000 };

#define HEAD "{\"schema\":1,\"name\":\"t\""

static inline int parse(const char *text, struct profile **ret, struct fault *f)
{
	return profile_parse(text, strlen(text), "t.json", &vars, ret, f);
}

/* Is TEXT refused with a message that contains WORDS?  Otherwise prints the result. */
static inline bool is_refused(const char *text, const char *words)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	int r = parse(text, &p, &f);

	if (r < 0 && f.text && strstr(f.text, words))
		return true;
	printf("# %s\n#   %s\n#   wanted: %s\n", text, r < 0 ? fault_text(&f) : "accepted", words);
	return false;
}

static inline bool is_accepted(const char *text)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (parse(text, &p, &f) == 0)
		return true;
	printf("# %s\n#   %s\n", text, fault_text(&f));
	return false;
}

/* A directory of its own with admin/, tree/.custody/profiles/ and etc/; removed by place_done. */
struct place {
	char dir[64], admin[96], tree[96], own[128], trust[96];
	const char *dirs[2];
	struct profile_sources src;
};

static inline void place_init(struct place *p)
{
	_cleanup_close_ int fd = -EBADF;

	snprintf(p->dir, sizeof(p->dir), "/tmp/test-profile-XXXXXX");
	if (!mkdtemp(p->dir))
		abort();
	snprintf(p->admin, sizeof(p->admin), "%s/admin", p->dir);
	snprintf(p->tree, sizeof(p->tree), "%s/tree", p->dir);
	snprintf(p->own, sizeof(p->own), "%s/.custody/profiles", p->tree);
	snprintf(p->trust, sizeof(p->trust), "%s/etc/trust.json", p->dir);
	fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)!fd_close(path_make_dirs(fd, "admin", 0755, NULL));
	(void)!fd_close(path_make_dirs(fd, "tree/.custody/profiles", 0755, NULL));
	p->dirs[0] = p->admin;
	p->dirs[1] = NULL;
	p->src = (struct profile_sources){ .dirs = p->dirs, .worktree = p->tree, .trust_file = p->trust };
}

static inline void place_done(struct place *p)
{
	_cleanup_close_ int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)!path_remove_tree(fd, p->dir + strlen("/tmp/"), NULL);
}
#define _cleanup_place_ _cleanup_(place_done)

static inline void put(const char *dir, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(dir, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text), NULL) < 0)
		abort();
}

/* BODY follows the name: ",\"extends\":..." or "". */
static inline void put_profile(const char *dir, const char *name, const char *body)
{
	char file[96], text[4096];

	snprintf(file, sizeof(file), "%s.json", name);
	snprintf(text, sizeof(text), "{\"schema\":1,\"name\":\"%s\"%s}", name, body);
	put(dir, file, text);
}

static inline bool load_refused(const struct place *p, const char *name, const char *words)
{
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	int r = profile_load(name, &p->src, &vars, &profile, &f);

	if (r < 0 && f.text && strstr(f.text, words))
		return true;
	printf("# %s: %s\n#   wanted: %s\n", name, r < 0 ? fault_text(&f) : "accepted", words);
	return false;
}

static inline struct profile *load_ok(const struct place *p, const char *name)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct profile *profile = NULL;

	if (profile_load(name, &p->src, &vars, &profile, &f) < 0)
		printf("# %s: %s\n", name, fault_text(&f));
	return profile;
}
