/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/home-list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "tap.h"

struct place {
	char path[sizeof("/tmp/custody-test-home.XXXXXX")];
	struct dirs dirs;
};

static void place_done(struct place *p)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dirs_done(&p->dirs);
	(void)!path_remove_tree(tmp, p->path + strlen("/tmp/"), NULL);
}

static bool place_make(struct place *p, enum lane lane)
{
	memcpy(p->path, "/tmp/custody-test-home.XXXXXX", sizeof(p->path));
	return mkdtemp(p->path) && setenv("CUSTODY_ROOT", p->path, 1) == 0 &&
	       dirs_load_lane(lane, &p->dirs, NULL) == 0;
}

#define WITH_PLACE(lane)                              \
	_cleanup_(place_done) struct place p = { 0 }; \
	_cleanup_fault_ struct fault f = { 0 };       \
	CHECK(place_make(&p, lane))

#define ID "0123456789abcdef-default"

static bool says(const struct fault *f, const char *text)
{
	if (strstr(fault_text(f), text))
		return true;
	printf("# '%s' lacks '%s'\n", fault_text(f), text);
	return false;
}

static void words_of_the_option(void)
{
	static const char *const wrong[] = { "",       "kept",	 "keep=",  "keep:x", "KEEP",
					     "keep=.", "keep=/", "keep=A", "memory=" };
	_cleanup_fault_ struct fault f = { 0 };
	const char *name = NULL;

	CHECK(home_word_parse("memory", &name, &f) == 0 && !name);
	CHECK(home_word_parse("keep", &name, &f) == 1 && str_eq(name, HOME_DEFAULT));
	CHECK(home_word_parse("keep=agent", &name, &f) == 1 && str_eq(name, "agent"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(home_word_parse(wrong[i], &name, NULL) == -EINVAL && !home_word_is_valid(wrong[i]));
	/* Else a name could be another home's ID. */
	CHECK(!home_name_is_valid(ID) && home_id_is_valid(ID) && !home_id_is_valid("default"));
	CHECK(!home_id_is_valid("0123456789abcdef-") && !home_id_is_valid(".gone-" ID));
}

static void a_project_has_one_id(void)
{
	WITH_PLACE(LANE_SANDBOX);
	char a[HOME_ID_SIZE], b[HOME_ID_SIZE], other[HOME_ID_SIZE];

	CHECK(home_dir_name(p.path, "x", a, &f) == 0 && home_dir_name(p.path, "x", b, &f) == 0);
	CHECK(str_eq(a, b) && home_id_is_valid(a));
	CHECK(home_dir_name("/tmp", "x", other, &f) == 0 && strncmp(a, other, HOME_KEY_LEN) != 0);
	CHECK(home_dir_name("/nowhere", "x", other, &f) == -ENOENT);
}

static void made_once_and_found_again(void)
{
	WITH_PLACE(LANE_SANDBOX);
	_cleanup_home_dir_ struct home_dir *h = NULL, *again = NULL;
	_cleanup_free_ char *worktree = NULL;
	struct stat st, second;

	CHECK(home_dir_open(&p.dirs, ID, NULL, HOME_LOOK, &h, &f) == -ENOENT);
	CHECK(says(&f, "does not exist"));
	CHECK(home_dir_open(&p.dirs, ID, "/some/project", HOME_RUN, &h, &f) == 0);
	CHECK(h->disposable && fstat(h->home_fd, &st) == 0 && (st.st_mode & 07777) == 0700);
	CHECK(home_dir_used_us(h, &worktree) > 0 && str_eq(worktree, "/some/project"));
	CHECK(home_dir_is_visible(h, h->home) && !home_dir_is_visible(h, h->path));
	/* Shared with another run; its mode is set again. */
	CHECK(chmod(h->home, 0) == 0);
	CHECK(home_dir_open(&p.dirs, ID, "/some/project", HOME_RUN, &again, &f) == 0);
	CHECK(fstat(again->home_fd, &second) == 0 && second.st_ino == st.st_ino);
	CHECK((second.st_mode & 07777) == 0700);
}

static void not_removed_while_it_is_used(void)
{
	WITH_PLACE(LANE_SANDBOX);
	_cleanup_home_dir_ struct home_dir *h = NULL, *clear = NULL, *late = NULL;
	_cleanup_strv_ char **ids = NULL;

	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &h, &f) == 0);
	CHECK(home_dir_open(&p.dirs, ID, NULL, HOME_CLEAR, &clear, &f) == -EBUSY);
	CHECK(says(&f, "a session uses home"));
	home_dir_free(h);
	h = NULL;
	CHECK(home_dir_open(&p.dirs, ID, NULL, HOME_CLEAR, &clear, &f) == 0);
	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &late, &f) == -EBUSY);
	CHECK(says(&f, "is being emptied"));
	CHECK(home_list(&p.dirs, &ids, &f) == 0 && strv_len(ids) == 1);
	CHECK(home_dir_remove(&p.dirs, clear, &f) == 0);
	CHECK(access(clear->path, F_OK) < 0);
	/* The lock is on the directory that is gone: the next run makes another. */
	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &late, &f) == 0 && late->disposable);
}

static void other_types_and_lanes_are_refused(void)
{
	WITH_PLACE(LANE_SANDBOX);
	_cleanup_home_dir_ struct home_dir *h = NULL, *again = NULL;
	_cleanup_dirs_ struct dirs prod = { 0 };

	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &h, &f) == 0);
	CHECK(rmdir(h->home) == 0 && symlink("/tmp", h->home) == 0);
	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &again, &f) == -ENOTDIR);
	CHECK(unlink(h->home) == 0 && mkfifo(h->home, 0700) == 0);
	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &again, &f) == -ENOTDIR);
	CHECK(unlink(h->home) == 0 && mkdir(h->home, 0700) == 0);
	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &again, &f) < 0);
	CHECK(says(&f, "written for another directory"));
	/* Without the stamp it is an ordinary directory. */
	CHECK(unlinkat(h->fd, "disposable", 0) == 0);
	CHECK(home_dir_open(&p.dirs, ID, "/x", HOME_RUN, &again, &f) == 0 && !again->disposable);
	CHECK(dirs_load_lane(LANE_PROD, &prod, &f) == 0);
	home_dir_free(again);
	again = NULL;
	CHECK(home_dir_open(&prod, ID, "/x", HOME_RUN, &again, &f) == -LANE_REFUSED);
	CHECK(access(prod.homes, F_OK) < 0);
}

TAP_MAIN(T(words_of_the_option), T(a_project_has_one_id), T(made_once_and_found_again),
	 T(not_removed_while_it_is_used), T(other_types_and_lanes_are_refused))
