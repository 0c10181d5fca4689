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
#include "base/trusted-path.h"
#include "broker/broker-credential.h"
#include "broker/broker-remote.h"
#include "credential/credential.h"
#include "rest/rest-proto.h"

#define SCRIPT_LINE_MAX 255 /* the kernel reads no more of a script */
#define INTERPRETERS_MAX 5

/*
 * What a tool executes, with all rights of the operator, must not be what the command inside, or the author of the worktree, has
 * written.
 */

struct user {
	const char *kind, *name;
	const char *fix; /* what to do about a path that is refused */
};

static int refuse_below(const struct user *u, const char *path, char *const *places, struct fault *f)
{
	for (; places && *places; places++)
		if (path_is_below(path, *places))
			return fault_set(
				f, EPERM,
				"%s '%s': '%s' is in '%s', which the command may change or whose author is "
				"not you: install it elsewhere, and %s",
				u->kind, u->name, path, *places, u->fix);
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

static int check_place(const struct user *u, const char *path, char *const *places, struct fault *f)
{
	_cleanup_free_ char *real = resolve_existing(path);
	int r;

	if (!real)
		return fault_errno(f, errno, "%s '%s': '%s'", u->kind, u->name, path);
	r = refuse_below(u, path, places, f);
	return r < 0 ? r : refuse_below(u, real, places, f);
}

/* The script of an interpreter is as good as a program.  A directory may be given: the tool is to work there. */
static int check_arguments(const struct user *u, const struct broker_tool *t, char *const *places,
			   struct fault *f)
{
	for (char *const *word = t->declared->exec + 1; *word; word++) {
		struct stat st;
		int r;

		if (**word != '/' || (stat(*word, &st) == 0 && S_ISDIR(st.st_mode)))
			continue;
		r = check_place(u, *word, places, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* RET_REAL: to be executed.  -ENOENT without a fault: it is missing. */
static int check_program(const struct user *u, const char *path, char *const *places, char **ret_real,
			 struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r = check_place(u, path, places, f);

	if (r < 0)
		return r;
	r = trusted_path_resolve(path, ret_real, &why);
	return r == 0 || r == -ENOENT ? r
				      : fault_set(f, -r, "%s '%s': %s", u->kind, u->name, fault_text(&why));
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

static int check_interpreters(const struct user *u, const char *program, char *const *places, struct fault *f)
{
	_cleanup_free_ char *at = strdup(program);

	/* As deep as the kernel follows them. */
	for (int n = 0; at && n < INTERPRETERS_MAX; n++) {
		_cleanup_free_ char *next = read_interpreter(at);
		int r;

		free(at);
		at = NULL;
		r = next ? check_program(u, next, places, &at, f) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int locate(struct broker_tool *t, char *const *places, struct fault *f)
{
	const struct user u = { "tool", t->name, "change exec in custody.json" };
	_cleanup_free_ char *real = NULL;
	int r = check_program(&u, t->declared->exec[0], places, &real, f);

	if (r == 0)
		r = check_interpreters(&u, real, places, f);
	/* Its calls fail, also if a program appears there while the session runs: that was not checked. */
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = check_arguments(&u, t, places, f);
	if (r < 0)
		return r;
	free(t->program);
	t->program = TAKE_PTR(real);
	return 0;
}

/* Its certificates say whom the broker talks to, so they are as good as a program. */
static int check_ca(const struct broker_tool *t, char *const *places, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *real = NULL;
	const struct user u = { "tool", t->name, "change rest.ca in custody.json" };
	const char *ca = t->declared->rest.ca;
	int r = ca ? check_place(&u, ca, places, f) : 0;

	if (r < 0 || !ca)
		return r;
	r = trusted_path_resolve(ca, &real, &why);
	if (r < 0)
		return fault_set(f, -r, "tool '%s': rest.ca: %s", t->name, fault_text(&why));
	/* Each call opens it by its name, and a link on the way could be changed until then. */
	return str_eq(real, ca)
		       ? 0
		       : fault_set(
				 f, EPERM,
				 "tool '%s': rest.ca: '%s' has a link on the way: write '%s' in custody.json",
				 t->name, ca, real);
}

static int locate_rest(struct broker_tool *t, const char *libexec, char *const *places, struct fault *f)
{
	_cleanup_free_ char *program = path_join(libexec, REST_PROGRAM);
	int r = check_ca(t, places, f);

	if (r < 0)
		return r;
	if (!program)
		return fault_errno(f, ENOMEM, "tools");
	if (access(program, X_OK) < 0)
		return fault_set(
			f, ENOENT,
			"tool '%s' needs '%s', which this installation was built without: install "
			"libcurl4-gnutls-dev, build and install custody again, or remove the tool from "
			"broker.tools of the profile",
			t->name, program);
	free(t->program);
	t->program = TAKE_PTR(program);
	return 0;
}

/* Where distributions install it: never by PATH. */
static int locate_git(struct broker_tool *t, char *const *places, struct fault *f)
{
	static const char *const paths[] = { "/usr/bin/git", "/usr/local/bin/git" };
	const struct user u = { "tool", t->name,
				"remove the tool from broker.tools of the profile if it cannot be" };
	_cleanup_free_ char *real = NULL;
	int r = -ENOENT;

	for (size_t i = 0; r == -ENOENT && i < ARRAY_SIZE(paths); i++)
		r = check_program(&u, paths[i], places, &real, f);
	if (r == -ENOENT)
		return fault_set(f, ENOENT, "tool '%s' needs git, which is not in /usr/bin: install it",
				 t->name);
	if (r < 0)
		return r;
	free(t->program);
	t->program = TAKE_PTR(real);
	return broker_remotes_require(t, places, f);
}

int broker_tools_locate(struct broker_tools *t, const char *libexec, char *const *places, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		if (t->items[i].builtin == BROKER_REST)
			r = locate_rest(&t->items[i], libexec, places, f);
		else if (t->items[i].declared)
			r = locate(&t->items[i], places, f);
		else if (broker_builtin_is_git(t->items[i].builtin))
			r = locate_git(&t->items[i], places, f);
	}
	return r;
}

/* A file, or a program, that a command inside could write would be a credential, or a program outside, of its choice. */
static int check_source(const struct credential_info *i, char *const *places, struct fault *f)
{
	const struct user u = { "credential", i->name, "add the credential again with its new path" };
	_cleanup_free_ char *real = NULL;
	int r = credential_check_source(i, f);

	if (r < 0)
		return fault_wrap(f, r, "credential '%s'", i->name);
	if (i->kind == CREDENTIAL_FILE)
		return check_place(&u, i->source, places, f);
	if (i->kind != CREDENTIAL_EXEC)
		return 0;
	r = check_program(&u, i->source, places, &real, f);
	if (r == 0)
		r = check_interpreters(&u, real, places, f);
	return r == -ENOENT
		       ? fault_set(f, ENOENT,
				   "credential '%s': its program '%s', or the interpreter of it, is missing",
				   i->name, i->source)
		       : r;
}

static int check_credential(const struct broker_tool *t, const char *name, const struct dirs *d,
			    char *const *places, struct fault *f)
{
	_cleanup_credential_info_ struct credential_info i = { 0 };
	const char *lane = lane_name(d->lane);
	int r = credential_read_info(d, name, &i, f);

	if (r == -ENOENT)
		return fault_set(f, ENOENT,
				 "tool '%s' needs credential '%s', which lane '%s' does not have: add it "
				 "(custody credential add %s --lane %s), or remove the tool from the profile",
				 t->name, name, lane, name, lane);
	if (r == 0)
		r = lane_require_class(d->lane, i.class, name, f);
	if (r == 0)
		r = check_source(&i, places, f);
	return fault_wrap(f, r, "tool '%s'", t->name);
}

/* They are loaded by the process of a call, not by one that the session keeps. */
static int check_remotes(const struct broker_tool *t, const struct dirs *d, char *const *places,
			 struct fault *f)
{
	const char *name;
	size_t at = 0;
	int r = 0;

	while (r == 0 && (name = broker_remotes_credential(t, &at)))
		r = check_credential(t, name, d, places, f);
	return r;
}

int broker_credentials_require(const struct broker_tools *t, const struct dirs *d, char *const *places,
			       struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		r = check_remotes(&t->items[i], d, places, f);
		for (size_t k = 0; r == 0 && k < t->items[i].n_credentials; k++) {
			const char *name = t->items[i].credentials[k].name;

			r = check_credential(&t->items[i], name, d, places, f);
			if (r == 0 && !strv_has(names, name) && strv_append(&names, name) < 0)
				r = fault_errno(f, ENOMEM, "tools");
		}
	}
	if (r == 0 && strv_len(names) > BROKER_CREDENTIALS_SESSION_MAX)
		return fault_set(f, E2BIG, "the tools of the profile have more than %d credentials",
				 BROKER_CREDENTIALS_SESSION_MAX);
	return r;
}
