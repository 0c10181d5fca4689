/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/bundle-subject.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-map.h"
#include "base/path.h"
#include "state/dirs.h"
#include "layer/layer.h"
#include "subject/subject-diff.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"
#include "oci/bundle/bundle.h"
#include "base/json-span.h"
#include "oci/bundle/rootfs.h"
#include "oci/seccomp/seccomp.h"

#define FILE_VERSION 1
#define SIZE_MAX_FILE ((size_t)4 * 1024 * 1024)
#define DIFF_LINES 5
#define HOLE "\n    \"seccomp\": \"\"" /* linux.seccomp when placement.seccomp_apart */
#define ANEW "write the bundle anew: custody bundle --force"

/* What stands beside the subject's document, both ways. */
struct beside {
	uint64_t version, time_s;
	char *digest;
	struct {
		bool rootless;
		unsigned int uid_base, gid_base, n_ids;
		char *init, *hook;
	} place;
};

static void beside_done(struct beside *b)
{
	free(b->digest);
	free(b->place.init);
	free(b->place.hook);
}

static void map_beside(struct jmap *m, struct beside *b)
{
	struct jmap child;

	jmap_u64(m, "schema_version", &b->version);
	jmap_string(m, "digest", &b->digest);
	jmap_enter(m, "run", &child);
	jmap_u64(&child, "time_s", &b->time_s);
	jmap_leave(m, &child);
	jmap_enter(m, "placement", &child);
	jmap_bool(&child, "rootless", &b->place.rootless);
	jmap_uint(&child, "uid_base", &b->place.uid_base, UINT32_MAX - 1);
	jmap_uint(&child, "gid_base", &b->place.gid_base, UINT32_MAX - 1);
	jmap_uint(&child, "n_ids", &b->place.n_ids, BUNDLE_ID_BLOCK);
	jmap_path(&child, "init", &b->place.init);
	jmap_path(&child, "hook", &b->place.hook);
	jmap_leave(m, &child);
}

int bundle_subject_write(const struct subject *s, const struct placement *p, const struct digest_key *key,
			 struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *file = jdoc_new_object(), *document = NULL;
	char text[SUBJECT_DIGEST_SIZE];
	struct digest digest;
	struct beside b = {
		.version = FILE_VERSION,
		.time_s = s->layers & LAYER_BIT(LAYER_TIME_LIMIT) ? s->profile->limit_time_s : 0,
		.digest = text,
		.place = { .rootless = p->rootless,
			   .uid_base = p->uid_base,
			   .gid_base = p->gid_base,
			   .n_ids = p->n_ids,
			   .init = (char *)p->init,
			   .hook = (char *)p->hook },
	};
	struct jmap m;
	int r;

	if (!file)
		return fault_errno(f, ENOMEM, BUNDLE_SUBJECT);
	r = subject_to_json(s, key, &document, f);
	if (r >= 0)
		r = subject_digest(document, &digest, f);
	if (r < 0)
		return r;
	subject_digest_to_text(&digest, text);
	jmap_init_write(&m, file, BUNDLE_SUBJECT, f);
	map_beside(&m, &b);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	jdoc_set(file, "subject", TAKE_PTR(document));
	return jdoc_write(file, JDOC_PRETTY, out, f);
}

void bundle_files_done(struct bundle_files *b)
{
	fd_close(b->dirfd);
	jdoc_free(b->file);
	free(b->config);
	free(b->text);
	subject_free(b->subject);
	*b = (struct bundle_files)BUNDLE_FILES_EMPTY;
}

static int read_file(int dirfd, const char *name, char **ret, size_t *ret_len, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return fault_set(f, ENOENT, "the bundle has no '%s': " ANEW, name);
	if (fd < 0)
		return fault_errno(f, errno, "bundle's '%s'", name);
	r = fd_require_private(fd, geteuid(), f);
	if (r >= 0)
		r = fd_read_all(fd, SIZE_MAX_FILE, ret, ret_len, f);
	return r < 0 ? fault_wrap(f, r, "bundle's '%s'", name) : 0;
}

/* Before anything else is known: it says whose key and whose grants are asked for. */
static int find_lane(const struct jdoc *document, enum lane *ret, struct fault *f)
{
	const char *name = jdoc_get_string(document, "lane");

	for (int l = 0; name && l < _LANE_MAX; l++)
		if (strcmp(name, lane_name((enum lane)l)) == 0) {
			*ret = (enum lane)l;
			return 0;
		}
	return fault_set(f, EINVAL, BUNDLE_SUBJECT " names no lane: " ANEW);
}

static int open_own(const char *dir, int *ret, struct fault *f)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return fault_set(f, ELOOP, "bundle '%s' is a symbolic link: name the directory itself", dir);
	if (fd < 0)
		return fault_errno(f, errno, "bundle '%s'", dir);
	r = dirs_require_own(fd, dir, f);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	return 0;
}

int bundle_read(const char *dir, struct bundle_files *ret, struct fault *f)
{
	_cleanup_bundle_files_ struct bundle_files b = BUNDLE_FILES_EMPTY;
	int r;

	r = open_own(dir, &b.dirfd, f);
	if (r >= 0)
		r = read_file(b.dirfd, BUNDLE_SUBJECT, &b.text, &b.text_len, f);
	if (r >= 0)
		r = jdoc_parse(b.text, b.text_len, BUNDLE_SUBJECT, NULL, &b.file, f);
	if (r >= 0)
		r = read_file(b.dirfd, "config.json", &b.config, &b.config_len, f);
	if (r < 0)
		return r;
	b.document = jdoc_get(b.file, "subject");
	if (!b.document)
		return fault_set(f, EINVAL, BUNDLE_SUBJECT " has no 'subject': " ANEW);
	r = subject_digest(b.document, &b.digest, f);
	if (r >= 0)
		r = find_lane(b.document, &b.lane, f);
	if (r < 0)
		return r;
	*ret = b;
	b = (struct bundle_files)BUNDLE_FILES_EMPTY;
	return 0;
}

/*
 * The little of config.json that is not made again from the subject.  All else is compared as bytes, so it need not be
 * taken apart, and whatever is misread here shows in the comparison.
 */
struct given {
	struct jdoc *env, *annotations;
	char **words; /* of ENV, borrowed texts */
	bool terminal;
};

static void given_done(struct given *g)
{
	jdoc_free(g->env);
	jdoc_free(g->annotations);
	free(g->words);
}

static int parse_part(struct jspan part, struct jdoc **ret, struct fault *f)
{
	return jdoc_parse(part.at, part.len, "config.json", NULL, ret, f);
}

static int take_words(struct given *g, struct fault *f)
{
	if (g->env->type != JDOC_ARRAY)
		return fault_set(f, EPERM, "config.json: process.env is no list");
	g->words = calloc(g->env->n_items + 1, sizeof(*g->words));
	if (!g->words)
		return fault_errno(f, ENOMEM, "config.json");
	for (size_t i = 0; i < g->env->n_items; i++) {
		if (g->env->items[i]->type != JDOC_STRING)
			return fault_set(f, EPERM,
					 "config.json: process.env holds something that is no text");
		g->words[i] = g->env->items[i]->string;
	}
	return 0;
}

/* The lines from the one that begins with HEAD, from its bracket on, to the first that is TAIL. */
static struct jspan cut_part(struct jspan text, const char *head, const char *tail)
{
	const char *at = memmem(text.at, text.len, head, strlen(head)), *end;

	if (!at)
		return (struct jspan){ 0 };
	at += strlen(head) - 1;
	end = memmem(at, (size_t)(text.at + text.len - at), tail, strlen(tail));
	return (struct jspan){ .at = end ? at : NULL, .len = end ? (size_t)(end - at) + strlen(tail) : 0 };
}

/*
 * Where they are in what custody writes, found by the indentation.  A text that is laid out in another way is taken apart
 * instead; one that only looks like ours is refused by the comparison.
 */
static bool cut(const struct bundle_files *b, struct jspan part[2], struct jspan member[2])
{
	const struct jspan text = { b->config, b->config_len };

	part[0] = cut_part(text, "\n  \"process\": {", "\n  }");
	part[1] = cut_part(text, "\n  \"annotations\": {", "\n  }");
	if (!part[0].at || !part[1].at)
		return false;
	member[0] = cut_part(part[0], "\n    \"env\": [", "\n    ]");
	member[1] = cut_part(part[0], "\n    \"terminal\": t", "e");
	return member[0].at != NULL;
}

static int take_given(struct jspan annotations, const struct jspan member[2], struct given *g,
		      struct fault *f)
{
	int r;

	r = parse_part(member[0], &g->env, f);
	if (r >= 0)
		r = take_words(g, f);
	g->terminal = jspan_is(member[1], 't');
	if (r >= 0 && annotations.at)
		r = parse_part(annotations, &g->annotations, f);
	return r;
}

static int read_given(const struct bundle_files *b, struct given *g, struct fault *f)
{
	static const char *const parts[] = { "process", "annotations" }, *const members[] = { "env",
											      "terminal" };
	struct jspan root, part[2], member[2];

	if (cut(b, part, member))
		return take_given(part[1], member, g, f);
	if (jspan_check(b->config, b->config_len, JDOC_DEPTH_MAX) < 0 ||
	    jspan_root(b->config, b->config_len, &root) < 0)
		return fault_set(f, EINVAL, "config.json is no JSON: " ANEW);
	if (jspan_get_each(root, parts, 2, part) < 0 || jspan_get_each(part[0], members, 2, member) < 0 ||
	    !member[0].at)
		return fault_set(f, EPERM, "config.json has no process.env: " ANEW);
	return take_given(part[1], member, g, f);
}

static int same_program(const char *a, const char *b, struct fault *f)
{
	struct stat sa, sb;

	if (stat(a, &sa) < 0)
		return fault_errno(f, errno, "'%s'", a);
	if (stat(b, &sb) < 0)
		return fault_errno(f, errno, "'%s'", b);
	if (sa.st_dev != sb.st_dev || sa.st_ino != sb.st_ino)
		return fault_set(f, EPERM, "the bundle calls '%s', which is not this custody-hook: " ANEW, a);
	return 0;
}

static int require_programs(const struct beside *b, const char *hook, struct fault *f)
{
	const char *slash = strrchr(b->place.hook, '/');
	_cleanup_free_ char *dir = strndup(b->place.hook, (size_t)(slash - b->place.hook)), *init = NULL;

	init = dir ? path_join(dir[0] ? dir : "/", "custody-init") : NULL;
	if (!init)
		return fault_errno(f, ENOMEM, "bundle");
	if (strcmp(init, b->place.init) != 0)
		return fault_set(f, EPERM, "the bundle's custody-init is '%s' and not '%s': " ANEW,
				 b->place.init, init);
	return same_program(b->place.hook, hook, f);
}

/*
 * The ids are not approved, for they are the host's and no matter of what runs.  But they must be ids that nobody else
 * has: one of the bundles' blocks, or the one id of the user whose directory it is.
 */
static int require_ids(const struct beside *b, const struct subject *s, int dirfd, struct fault *f)
{
	uint32_t base = b->place.uid_base, gid = b->place.gid_base, block = base - BUNDLE_ID_FIRST;
	bool ok;
	struct stat st;

	if (fstat(dirfd, &st) < 0)
		return fault_errno(f, errno, "bundle");
	if (b->place.rootless)
		ok = st.st_uid != 0 && base == st.st_uid && gid == st.st_gid && b->place.n_ids == 1 &&
		     (s->layers & LAYER_BIT(LAYER_USER_NS));
	else if (s->layers & LAYER_BIT(LAYER_USER_NS))
		ok = st.st_uid == 0 && base == gid && b->place.n_ids == BUNDLE_ID_BLOCK &&
		     base >= BUNDLE_ID_FIRST && block % BUNDLE_ID_BLOCK == 0 &&
		     block / BUNDLE_ID_BLOCK < BUNDLE_ID_BLOCKS;
	else
		ok = st.st_uid == 0 && base == 0 && gid == 0 && b->place.n_ids == 1;
	if (!ok)
		return fault_set(
			f, EPERM,
			"the bundle's ids (%u:%u, %u of them) are not ids of a bundle in a directory of "
			"uid %u: " ANEW,
			base, gid, b->place.n_ids, st.st_uid);
	return 0;
}

static void place(struct bundle_files *b, bool rootless, const struct beside *x)
{
	const struct jdoc *place = jdoc_get(b->file, "placement");

	b->placement = (struct placement){
		.portable = true,
		.rootless = rootless,
		.uid_base = x->place.uid_base,
		.gid_base = x->place.gid_base,
		.n_ids = x->place.n_ids,
		.rootfs = "rootfs",
		.init = jdoc_get_string(place, "init"),
		.hook = jdoc_get_string(place, "hook"),
		.approve = b->approve,
		.run = b->run,
		.report_fd = -1,
		.limits = true,
	};
}

static int name_difference(const struct jdoc *was, const struct jdoc *is, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *diff = subject_diff(was, is);
	_cleanup_strbuf_ struct strbuf lines = { 0 };
	int r = subject_diff_print(diff, DIFF_LINES, &lines, f);

	if (r < 0)
		return r;
	for (size_t i = 0; i < lines.len; i++)
		if (lines.text[i] == '\n')
			lines.text[i] = i + 1 < lines.len ? ';' : '\0';
	return fault_set(f, EPERM, "config.json is not what the subject says: %s",
			 lines.len ? lines.text : "the same, written in another way");
}

/* TEXT with PART in the place of HOLE's value.  No text in it holds a newline, so HOLE is there once or not at all. */
static bool is_config(const struct bundle_files *b, const struct strbuf *text, const char *part)
{
	const char *at = part ? memmem(text->text, text->len, HOLE, strlen(HOLE)) : NULL;
	size_t before = at ? (size_t)(at - text->text) + strlen(HOLE) - 2 : text->len;
	size_t middle = at ? strlen(part) : 0, after = at ? text->len - before - 2 : 0;

	if (part && !at)
		return false;
	return b->config_len == before + middle + after && memcmp(b->config, text->text, before) == 0 &&
	       (!at || memcmp(b->config + before, part, middle) == 0) &&
	       memcmp(b->config + before + middle, text->text + text->len - after, after) == 0;
}

static int explain_config(const struct bundle_files *b, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *again = NULL, *config = NULL;
	int r;

	r = bundle_config(b->subject, &b->placement, &again, f);
	if (r >= 0)
		r = jdoc_parse(b->config, b->config_len, "config.json", NULL, &config, f);
	return r < 0 ? r : name_difference(again, config, f);
}

static int require_same_config(const struct bundle_files *b, struct fault *f)
{
	const char *seccomp = seccomp_written(b->subject);
	struct placement place = b->placement;
	_cleanup_jdoc_ struct jdoc *again = NULL;
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	/* Most of it are names of system calls, which need not be listed and quoted once more. */
	place.seccomp_apart = seccomp != NULL;
	r = bundle_config(b->subject, &place, &again, f);
	if (r >= 0)
		r = jdoc_write(again, JDOC_PRETTY, &text, f);
	if (r < 0)
		return r;
	return is_config(b, &text, seccomp) ? 0 : explain_config(b, f);
}

static int require_digest(const struct bundle_files *b, const char *said, struct fault *f)
{
	struct digest d;

	if (subject_digest_from_text(said, &d) < 0 || !digest_equal(&d, &b->digest))
		return fault_set(f, EPERM, BUNDLE_SUBJECT " was edited: its digest is another one; " ANEW);
	return 0;
}

static int read_beside(struct bundle_files *b, struct beside *x, struct fault *f)
{
	struct jmap m;
	int r;

	jmap_init_read(&m, b->file, BUNDLE_SUBJECT, f);
	map_beside(&m, x);
	(void)jmap_value(&m, "subject", JDOC_OBJECT);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	if (x->version != FILE_VERSION)
		return fault_set(f, EINVAL, BUNDLE_SUBJECT " is of another version: " ANEW);
	return require_digest(b, x->digest, f);
}

static int require_same_rootfs(const struct bundle_files *b, struct fault *f)
{
	_cleanup_close_ int fd = openat(b->dirfd, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "bundle's 'rootfs'");
	return rootfs_require_same(fd, b->subject, b->placement.uid_base, b->placement.gid_base, f);
}

int bundle_verify(struct bundle_files *b, const struct digest_key *key, const char *hook, struct fault *f)
{
	_cleanup_(beside_done) struct beside x = { 0 };
	_cleanup_(given_done) struct given g = { 0 };
	int r;

	r = read_beside(b, &x, f);
	if (r >= 0)
		r = read_given(b, &g, f);
	if (r >= 0)
		r = subject_from_json(b->document, g.words, x.time_s, key, &b->subject, f);
	if (r >= 0)
		r = require_ids(&x, b->subject, b->dirfd, f);
	if (r >= 0)
		r = require_programs(&x, hook, f);
	if (r < 0)
		return r;
	place(b, x.place.rootless, &x);
	/* Where complaints go, and whether there is a terminal, is up to whoever runs it. */
	b->placement.console = g.terminal;
	b->placement.hook_stderr = jdoc_get_string(g.annotations, HOOK_STDERR);
	r = require_same_config(b, f);
	b->placement.hook_stderr = NULL; /* was G's */
	return r < 0 ? r : require_same_rootfs(b, f);
}
