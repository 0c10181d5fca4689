/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removed and added files of the same bytes, in two directories b (base) and u (upper). */
#include "review/rename.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "tap.h"

static struct change items[16];
static size_t n_items;

static char *place(const char *root, const char *path)
{
	char *full = NULL;

	return asprintf(&full, "%s/%s", root, path) > 0 ? full : NULL;
}

static void put(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *full = place(root, path);
	_cleanup_close_ int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static struct change *add(enum change_kind kind, const char *path, const char *text)
{
	struct change_side s = { .mode = S_IFREG | 0644, .size = strlen(text) };
	struct change *ch = &items[n_items++];

	put(kind == CHANGE_ADDED ? "u" : "b", path, text);
	*ch = (struct change){ .path = (char *)path, .kind = kind, .picked = true };
	*(kind == CHANGE_ADDED ? &ch->new : &ch->old) = s;
	return ch;
}

static bool pair(uint64_t bytes_max)
{
	_cleanup_close_ int b = open("b", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int u = open("u", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct changes c = { .items = items, .n = n_items };

	n_items = 0;
	return rename_pair(&c, &(struct rename_ask){ .base = b, .upper = u, .bytes_max = bytes_max }, NULL) ==
	       0;
}

static void begin(void)
{
	static char dir[] = "/tmp/test-rename.XXXXXX";

	CHECK(mkdtemp(dir) && chdir(dir) == 0);
	CHECK(mkdir("b", 0755) == 0 && mkdir("u", 0755) == 0 && mkdir("b/d", 0755) == 0 &&
	      mkdir("u/d", 0755) == 0);
}

static void equal_bytes_are_a_rename_and_no_others(void)
{
	struct change *a = add(CHANGE_DELETED, "a", "same bytes"), *b = add(CHANGE_ADDED, "b", "same bytes");
	struct change *c = add(CHANGE_DELETED, "c", "other size!"),
		      *d = add(CHANGE_ADDED, "d1", "same bytez");
	struct change *e = add(CHANGE_DELETED, "e", ""), *g = add(CHANGE_ADDED, "g", "");

	CHECK(pair(0));
	CHECK(a->pair == b && b->pair == a);
	CHECK(!c->pair && !d->pair && !e->pair && !g->pair);
}

static void the_same_last_name_comes_first(void)
{
	struct change *a = add(CHANGE_DELETED, "one", "equal"), *b = add(CHANGE_DELETED, "two", "equal");
	struct change *x = add(CHANGE_ADDED, "another", "equal"), *y = add(CHANGE_ADDED, "d/two", "equal");
	struct change *z = add(CHANGE_ADDED, "zzz", "equal");

	CHECK(pair(0));
	CHECK(b->pair == y && y->pair == b);
	CHECK(a->pair == x && x->pair == a);
	CHECK(!z->pair); /* a copy */
}

static void what_is_refused_or_not_picked_has_no_pair(void)
{
	struct change *a = add(CHANGE_DELETED, "a", "12345"), *b = add(CHANGE_ADDED, "b", "12345");
	struct change *c = add(CHANGE_DELETED, "c", "123456"), *d = add(CHANGE_ADDED, "e", "123456");
	struct change *m = add(CHANGE_MODIFIED, "m", "1234567"), *o = add(CHANGE_ADDED, "o", "1234567");

	b->refused = (char *)"because";
	c->picked = false;
	CHECK(pair(0));
	CHECK(!a->pair && !b->pair && !c->pair && !d->pair && !m->pair && !o->pair);
}

static void beyond_the_limit_and_unreadable_files_stay_alone(void)
{
	struct change *a = add(CHANGE_DELETED, "a", "0123456789"), *b = add(CHANGE_ADDED, "b", "0123456789");

	CHECK(pair(19));
	CHECK(!a->pair && !b->pair);
	a = add(CHANGE_DELETED, "a", "0123456789");
	b = add(CHANGE_ADDED, "b", "0123456789");
	CHECK(pair(20));
	CHECK(a->pair == b);
	a = add(CHANGE_DELETED, "a", "0123456789");
	b = add(CHANGE_ADDED, "gone", "0123456789");
	CHECK(unlink("u/gone") == 0);
	CHECK(pair(0));
	CHECK(!a->pair && !b->pair);
}

/* Links are not followed. */
static void a_link_in_the_place_of_a_file_is_not_read(void)
{
	struct change *a = add(CHANGE_DELETED, "a", "secret"), *b = add(CHANGE_ADDED, "link", "secret");

	CHECK(unlink("u/link") == 0 && symlink("../b/a", "u/link") == 0);
	CHECK(pair(0));
	CHECK(!a->pair && !b->pair);
}

static void end(void)
{
	_cleanup_close_ int tmp = open("..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[4096];

	CHECK(getcwd(path, sizeof(path)) && path_remove_tree(tmp, strrchr(path, '/') + 1, NULL) == 0);
}

TAP_MAIN(T(begin), T(equal_bytes_are_a_rename_and_no_others), T(the_same_last_name_comes_first),
	 T(what_is_refused_or_not_picked_has_no_pair), T(beyond_the_limit_and_unreadable_files_stay_alone),
	 T(a_link_in_the_place_of_a_file_is_not_read), T(end))
