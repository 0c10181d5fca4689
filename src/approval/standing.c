/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/standing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "policy/command-class.h"
#include "subject/subject-program.h"

#define PROGRAM_MAX ((off_t)1 << 30) /* read at each start that asks */
#define DOMAIN "custody.standing/1\n"

/* Parts of the subject that vary from start to start, or that are parts of their own here. */
static const char *const left_out[] = { "copies", "lane", "links", "network", "profile", "schema", NULL };
/* The command: what it does is in them where the program is a shell, an interpreter or a wrapper. */
static const char *const command[] = { "argv", "cwd", "operands", NULL };
/* Of the worktree: its identity is a part of its own, its place among the mounts is no setting. */
static const char *const left_out_worktree[] = { "before", "device", "inode", "source", "type", NULL };

/* Variables of language and terminal: they differ between a terminal, an editor and CI. */
static bool is_local(const char *name)
{
	static const char *const names[] = { "LANG", "LANGUAGE", "TZ", "NO_COLOR", "COLORTERM", NULL };

	for (size_t i = 0; names[i]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return str_starts(name, "LC_");
}

static bool is_in(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

static struct jdoc *without(const struct jdoc *object, const char *const *list)
{
	struct jdoc *d = jdoc_copy(object);

	for (; d && *list; list++)
		(void)jdoc_remove(d, *list);
	return d;
}

static struct jdoc *without_local(const struct jdoc *env)
{
	struct jdoc *d = jdoc_new_object();

	for (size_t i = 0; env->type == JDOC_OBJECT && i < env->n_members; i++)
		if (!is_local(env->members[i].key))
			jdoc_set(d, env->members[i].key, jdoc_copy(env->members[i].value));
	return d;
}

static int hash(const struct jdoc *d, char hex[DIGEST_HEX_SIZE], struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct digest digest;
	int r = d ? jdoc_write(d, JDOC_CANONICAL, &b, f) : fault_errno(f, ENOMEM, "standing approval");

	if (r < 0)
		return r;
	digest_bytes(b.text, b.len, &digest);
	digest_to_hex(&digest, hex);
	return 0;
}

static int put_setting(struct jdoc *settings, const char *key, const struct jdoc *value, struct fault *f)
{
	char hex[DIGEST_HEX_SIZE];
	int r = hash(value, hex, f);

	if (r == 0)
		jdoc_set_string(settings, key, hex);
	return r;
}

/* The name that the program was called by: one file may be several programs (busybox), and links are resolved here. */
static int put_name(struct jdoc *settings, const char *word, struct fault *f)
{
	const char *slash = strrchr(word, '/');
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_string(slash ? slash + 1 : word);

	return put_setting(settings, "name", d, f);
}

/* Each key of the subject by itself, so that a refusal can name it.  A key of a later version is one more. */
static int put_settings(struct jdoc *settings, const struct jdoc *document, bool with_command,
			struct fault *f)
{
	const struct jdoc *seal = jdoc_get(jdoc_get(document, "operands"), "seal");
	int r = put_setting(settings, "seal", seal, f);

	for (size_t i = 0; r == 0 && i < document->n_members; i++) {
		const struct jdoc_member *m = &document->members[i];
		_cleanup_jdoc_ struct jdoc *made = NULL;

		if (is_in(m->key, left_out) || (!with_command && is_in(m->key, command)))
			continue;
		if (strcmp(m->key, "worktree") == 0)
			made = without(m->value, left_out_worktree);
		else if (strcmp(m->key, "env") == 0)
			made = without_local(m->value);
		else
			made = jdoc_copy(m->value);
		r = put_setting(settings, m->key, made, f);
	}
	return r;
}

/* The bytes that will run: of a program in the worktree the sealed copy, else the file of the host. */
static int hash_program(const struct subject *s, const char *host, struct digest *ret)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	for (size_t i = 0; i < s->n_operands; i++)
		if (s->operands[i].arg == 0 && s->operands[i].use == OPERAND_RUNS) {
			*ret = s->operands[i].sha256;
			return 0;
		}
	fd = open(host, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_size <= PROGRAM_MAX ? digest_fd(fd, ret, NULL) : -EINVAL;
}

/* A file of the merged tree of a continued run is named as the worktree's: the tree is a descriptor in /proc. */
static char *name_program(const struct subject *s, const char *host)
{
	const char *tree = subject_tree_path(s);

	if (!s->continued || !path_is_below(host, tree))
		return strdup(host);
	return path_join(s->worktree, host + strlen(tree) + (host[strlen(tree)] == '/'));
}

static int put_program(const struct subject *s, struct jdoc *d, const char **ret_why)
{
	_cleanup_free_ char *name = NULL;
	char host[PATH_MAX], hex[DIGEST_HEX_SIZE];
	struct digest digest;

	*ret_why = "its program is not a file of this host that can be read";
	if (!subject_find_program(s, s->argv[0], host) || !*host || !str_is_utf8(host, strlen(host)) ||
	    hash_program(s, host, &digest) < 0)
		return 0;
	name = name_program(s, host);
	if (!name)
		return -ENOMEM;
	digest_to_hex(&digest, hex);
	jdoc_set_string(d, "program", name);
	jdoc_set_string(d, "program_sha256", hex);
	return 1;
}

/* By the name that was called or by that of the file: either may be a link or a copy. */
static bool runs_arguments(const struct subject *s, const struct jdoc *d)
{
	return command_runs_arguments(s->argv[0]) || command_runs_arguments(jdoc_get_string(d, "program"));
}

/* Its files are no part of the subject, and runs that no person approved write them: settings of programs, and programs. */
static bool has_disposable(const struct subject *s)
{
	bool found = s->disposable;

	for (size_t i = 0; i < s->n_mounts; i++)
		found = found || (s->mounts[i].rw && s->mounts[i].disposable);
	return found;
}

int standing_bind(const struct subject *s, const struct jdoc *document, struct jdoc **ret,
		  const char **ret_why, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	const char *profile = jdoc_get_string(jdoc_get(document, "profile"), "digest");
	const char *egress = jdoc_get_string(document, "network");
	const char *worktree = jdoc_get_string(jdoc_get(document, "worktree"), "source");
	struct jdoc *settings;
	char id[64];
	int r;

	*ret_why = "runs without an approval write to its kept home or disposable root, so it is approved "
		   "for one start "
		   "at a time";
	if (has_disposable(s))
		return 0;
	*ret_why = "its worktree is in memory, or its profile has no digest";
	if (!profile || !egress || !worktree)
		return 0;
	r = put_program(s, d, ret_why);
	if (r <= 0)
		return r < 0 ? fault_errno(f, -r, "standing approval") : 0;
	(void)snprintf(id, sizeof(id), "%llu:%llu", (unsigned long long)s->worktree_file.device,
		       (unsigned long long)s->worktree_file.inode);
	jdoc_set_string(d, "egress", egress);
	jdoc_set_string(d, "profile", profile);
	jdoc_set_int(d, "uid", geteuid());
	jdoc_set_string(d, "worktree", worktree);
	jdoc_set_string(d, "worktree_id", id);
	settings = jdoc_set_object(d, "settings");
	r = put_name(settings, s->argv[0], f);
	if (r == 0)
		r = put_settings(settings, document, runs_arguments(s, d), f);
	if (r < 0)
		return r;
	if (d->broken)
		return fault_errno(f, ENOMEM, "standing approval");
	*ret = TAKE_PTR(d);
	return 1;
}

static bool is_hex(const char *text)
{
	struct digest d;

	return text && digest_from_hex(text, &d) == 0;
}

int standing_require(const struct jdoc *d, const char *label, struct fault *f)
{
	const struct jdoc *settings = jdoc_get(d, "settings"), *uid = jdoc_get(d, "uid");
	const char *program = jdoc_get_string(d, "program"), *worktree = jdoc_get_string(d, "worktree");
	bool ok = d && d->type == JDOC_OBJECT && d->n_members == 8 && settings &&
		  settings->type == JDOC_OBJECT && uid && uid->type == JDOC_INT && uid->integer >= 0 &&
		  jdoc_get_string(d, "egress") && jdoc_get_string(d, "worktree_id") &&
		  is_hex(jdoc_get_string(d, "profile")) && is_hex(jdoc_get_string(d, "program_sha256")) &&
		  program && *program == '/' && worktree && *worktree == '/';

	for (size_t i = 0; ok && i < settings->n_members; i++)
		ok = settings->members[i].value->type == JDOC_STRING &&
		     is_hex(settings->members[i].value->string);
	return ok ? 0 : fault_set(f, EINVAL, "%s: 'standing' does not have the parts of a run", label);
}

int standing_digest(const struct jdoc *d, struct digest *ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	int r;

	strbuf_puts(&b, DOMAIN);
	r = jdoc_write(d, JDOC_CANONICAL, &b, f);
	if (r == 0)
		digest_bytes(b.text, b.len, ret);
	return r;
}

static void put_keys(const struct jdoc *a, const struct jdoc *b, const char *prefix, struct strbuf *out)
{
	for (size_t i = 0; i < a->n_members; i++) {
		const char *key = a->members[i].key;
		const struct jdoc *other = jdoc_get(b, key);

		if (strcmp(key, "settings") == 0 && other && other->type == JDOC_OBJECT)
			put_keys(a->members[i].value, other, "settings.", out);
		else if (!other || !jdoc_equal(a->members[i].value, other))
			strbuf_printf(out, "%s%s%s", out->len ? ", " : "", prefix, key);
	}
	for (size_t i = 0; i < b->n_members; i++)
		if (!jdoc_get(a, b->members[i].key))
			strbuf_printf(out, "%s%s%s", out->len ? ", " : "", prefix, b->members[i].key);
}

void standing_put_difference(const struct jdoc *a, const struct jdoc *b, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf parts = { 0 };

	put_keys(a, b, "", &parts);
	if (parts.text)
		strbuf_puts(out, parts.text);
	out->broken |= parts.broken;
}

static bool has_same(const struct jdoc *a, const struct jdoc *b, const char *key)
{
	return str_eq(jdoc_get_string(a, key), jdoc_get_string(b, key));
}

enum standing_near standing_is_near(const struct jdoc *a, const struct jdoc *b)
{
	if (has_same(a, b, "program"))
		return STANDING_SAME_PROGRAM;
	return has_same(a, b, "worktree") ? STANDING_SAME_WORKTREE : STANDING_FAR;
}
