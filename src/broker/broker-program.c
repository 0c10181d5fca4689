/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/trusted-path.h"
#include "broker/broker-tools.h"

#define SCRIPT_LINE_MAX 255 /* the kernel reads no more of a script */
#define INTERPRETERS_MAX 5

/*
 * What a tool executes, with all rights of the operator, must not be what the command inside, or the author of the worktree, has
 * written.
 */

static int refuse_below(const struct broker_tool *t, const char *path, char *const *places, struct fault *f)
{
	for (; places && *places; places++)
		if (path_is_below(path, *places))
			return fault_set(
				f, EPERM,
				"tool '%s': '%s' is in '%s', which the command may change or whose author is "
				"not you: install it elsewhere, and change exec in custody.json",
				t->name, path, *places);
	return 0;
}

/* PATH, or the deepest directory of it that exists: the command could create the rest.  ENOLINK: a link leads there. */
static char *resolve_existing(const char *path)
{
	_cleanup_free_ char *at = strdup(path);
	char *real = at ? realpath(at, NULL) : NULL;

	while (at && !real && errno != ENOMEM && at[1]) {
		char *slash = strrchr(at, '/');
		struct stat st;

		if (lstat(at, &st) == 0 && S_ISLNK(st.st_mode)) {
			errno = ENOLINK;
			return NULL;
		}
		slash[slash == at] = '\0';
		real = realpath(at, NULL);
	}
	return real;
}

static int check_place(const struct broker_tool *t, const char *path, char *const *places, struct fault *f)
{
	_cleanup_free_ char *real = resolve_existing(path);
	int r;

	if (!real)
		return fault_errno(f, errno, "tool '%s': '%s'", t->name, path);
	r = refuse_below(t, path, places, f);
	return r < 0 ? r : refuse_below(t, real, places, f);
}

/* The script of an interpreter is as good as a program.  A directory may be given: the tool is to work there. */
static int check_arguments(const struct broker_tool *t, char *const *places, struct fault *f)
{
	for (char *const *word = t->declared->exec + 1; *word; word++) {
		struct stat st;
		int r;

		if (**word != '/' || (stat(*word, &st) == 0 && S_ISDIR(st.st_mode)))
			continue;
		r = check_place(t, *word, places, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* RET_REAL: to be executed.  -ENOENT without a fault: it is missing. */
static int check_program(const struct broker_tool *t, const char *path, char *const *places, char **ret_real,
			 struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = check_place(t, path, places, f);

	if (r < 0)
		return r;
	r = trusted_path_resolve(path, ret_real, &why);
	return r == 0 || r == -ENOENT ? r : fault_set(f, -r, "tool '%s': %s", t->name, fault_text(&why));
}

/* The path in the line "#!/PATH ..." that PATH begins with; NULL: none, or it cannot be read, as a script must be. */
static char *read_interpreter(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char line[SCRIPT_LINE_MAX + 1], *at = line + 2;
	ssize_t n = fd < 0 ? -1 : read(fd, line, SCRIPT_LINE_MAX);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = '\0';
	return *at == '/' ? strdup(at) : NULL;
}

static int check_interpreters(const struct broker_tool *t, const char *program, char *const *places,
			      struct fault *f)
{
	_cleanup_free_ char *at = strdup(program);

	/* As deep as the kernel follows them. */
	for (int n = 0; at && n < INTERPRETERS_MAX; n++) {
		_cleanup_free_ char *next = read_interpreter(at);
		int r;

		free(at);
		at = NULL;
		r = next ? check_program(t, next, places, &at, f) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int locate(struct broker_tool *t, char *const *places, struct fault *f)
{
	_cleanup_free_ char *real = NULL;
	int r = check_program(t, t->declared->exec[0], places, &real, f);

	if (r == 0)
		r = check_interpreters(t, real, places, f);
	/* Its calls fail, also if a program appears there while the session runs: that was not checked. */
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = check_arguments(t, places, f);
	if (r < 0)
		return r;
	free(t->program);
	t->program = TAKE_PTR(real);
	return 0;
}

int broker_tools_locate(struct broker_tools *t, char *const *places, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++)
		if (t->items[i].declared)
			r = locate(&t->items[i], places, f);
	return r;
}
