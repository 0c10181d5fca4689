/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/bundle-subject.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-span.h"
#include "base/path.h"
#include "layer/layer.h"
#include "oci/bundle/bundle-verify-impl.h"
#include "oci/bundle/bundle.h"
#include "oci/bundle/rootfs.h"
#include "oci/seccomp/seccomp.h"
#include "subject/subject-diff.h"
#include "subject/subject-json.h"

#define DIFF_LINES 5
#define HOLE "\n    \"seccomp\": \"\"" /* linux.seccomp when placement.seccomp_apart */

/*
 * The values of config.json that the subject does not determine.  The rest is compared as bytes and not parsed; a value that
 * is read wrongly here makes the comparison fail.
 */
struct config_extra {
	struct jdoc *env, *args, *annotations; /* ARGS: NULL unless the document has redacted words */
	char **words, **arguments;	       /* strings of ENV and ARGS, borrowed */
	bool terminal;
};

static void extra_done(struct config_extra *x)
{
	jdoc_free(x->env);
	jdoc_free(x->args);
	jdoc_free(x->annotations);
	free(x->words);
	free(x->arguments);
}

static int parse_part(struct jspan part, struct jdoc **ret, struct fault *f)
{
	return jdoc_parse(part.at, part.len, "config.json", NULL, ret, f);
}

static int take_words(const struct jdoc *list, const char *name, char ***ret, struct fault *f)
{
	_cleanup_free_ char **words = NULL;

	if (list->type != JDOC_ARRAY)
		return fault_set(f, EPERM, "config.json: process.%s is not a list", name);
	words = calloc(list->n_items + 1, sizeof(*words));
	if (!words)
		return fault_errno(f, ENOMEM, "config.json");
	for (size_t i = 0; i < list->n_items; i++) {
		if (list->items[i]->type != JDOC_STRING)
			return fault_set(f, EPERM, "config.json: process.%s has an item that is not a string",
					 name);
		words[i] = list->items[i]->string;
	}
	*ret = TAKE_PTR(words);
	return 0;
}

/* From the last character of HEAD to the end of the next TAIL. */
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
 * Finds them by the indentation that custody writes.  A text with another layout is parsed instead; one that only looks like
 * custody's fails the comparison.
 */
static bool cut(const struct bundle_files *b, struct jspan part[2], struct jspan member[3])
{
	const struct jspan text = { b->config, b->config_len };

	part[0] = cut_part(text, "\n  \"process\": {", "\n  }");
	part[1] = cut_part(text, "\n  \"annotations\": {", "\n  }");
	if (!part[0].at || !part[1].at)
		return false;
	member[0] = cut_part(part[0], "\n    \"env\": [", "\n    ]");
	member[1] = cut_part(part[0], "\n    \"terminal\": t", "e");
	member[2] = cut_part(part[0], "\n    \"args\": [", "\n    ]");
	return member[0].at && member[2].at;
}

static int parse_extra(struct jspan annotations, const struct jspan member[3], bool redacted,
		       struct config_extra *x, struct fault *f)
{
	int r;

	r = parse_part(member[0], &x->env, f);
	if (r >= 0)
		r = take_words(x->env, "env", &x->words, f);
	if (r >= 0 && redacted)
		r = parse_part(member[2], &x->args, f);
	if (r >= 0 && redacted)
		r = take_words(x->args, "args", &x->arguments, f);
	x->terminal = jspan_is(member[1], 't');
	if (r >= 0 && annotations.at)
		r = parse_part(annotations, &x->annotations, f);
	return r;
}

static int read_extra(const struct bundle_files *b, struct config_extra *x, struct fault *f)
{
	static const char *const parts[] = { "process", "annotations" }, *const members[] = { "env",
											      "terminal",
											      "args" };
	const bool redacted = jdoc_get(b->document, "redacted") != NULL;
	struct jspan root, part[2], member[3];

	if (cut(b, part, member))
		return parse_extra(part[1], member, redacted, x, f);
	if (jspan_check(b->config, b->config_len, JDOC_DEPTH_MAX) < 0 ||
	    jspan_root(b->config, b->config_len, &root) < 0)
		return fault_set(f, EINVAL, "config.json is not valid JSON: " BUNDLE_AGAIN);
	if (jspan_get_each(root, parts, 2, part) < 0 || jspan_get_each(part[0], members, 3, member) < 0 ||
	    !member[0].at || !member[2].at)
		return fault_set(f, EPERM, "config.json: missing process.env or process.args: " BUNDLE_AGAIN);
	return parse_extra(part[1], member, redacted, x, f);
}

static int same_program(const char *a, const char *b, struct fault *f)
{
	struct stat sa, sb;

	if (stat(a, &sa) < 0)
		return fault_errno(f, errno, "'%s'", a);
	if (stat(b, &sb) < 0)
		return fault_errno(f, errno, "'%s'", b);
	if (sa.st_dev != sb.st_dev || sa.st_ino != sb.st_ino)
		return fault_set(f, EPERM,
				 "the bundle calls '%s', which is not this custody-hook: " BUNDLE_AGAIN, a);
	return 0;
}

static int require_programs(const struct bundle_header *h, const char *hook, struct fault *f)
{
	const char *slash = strrchr(h->place.hook, '/');
	_cleanup_free_ char *dir = strndup(h->place.hook, (size_t)(slash - h->place.hook)), *init = NULL;

	init = dir ? path_join(dir[0] ? dir : "/", "custody-init") : NULL;
	if (!init)
		return fault_errno(f, ENOMEM, "bundle");
	if (strcmp(init, h->place.init) != 0)
		return fault_set(f, EPERM, "the bundle's custody-init is '%s' instead of '%s': " BUNDLE_AGAIN,
				 h->place.init, init);
	return same_program(h->place.hook, hook, f);
}

/*
 * The ids are not part of the subject: they belong to the host.  But no other user may have them: one of the bundles' blocks,
 * or the one id of the directory's owner.
 */
static int require_ids(const struct bundle_header *h, const struct subject *s, int dirfd, struct fault *f)
{
	uint32_t base = h->place.uid_base, gid = h->place.gid_base, block = base - BUNDLE_ID_FIRST;
	bool ok;
	struct stat st;

	if (fstat(dirfd, &st) < 0)
		return fault_errno(f, errno, "bundle");
	if (h->place.rootless)
		ok = st.st_uid != 0 && base == st.st_uid && gid == st.st_gid && h->place.n_ids == 1 &&
		     (s->layers & LAYER_BIT(LAYER_USER_NS));
	else if (s->layers & LAYER_BIT(LAYER_USER_NS))
		ok = st.st_uid == 0 && base == gid && h->place.n_ids == BUNDLE_ID_BLOCK &&
		     base >= BUNDLE_ID_FIRST && block % BUNDLE_ID_BLOCK == 0 &&
		     block / BUNDLE_ID_BLOCK < BUNDLE_ID_BLOCKS;
	else
		ok = st.st_uid == 0 && base == 0 && gid == 0 && h->place.n_ids == 1;
	if (!ok)
		return fault_set(
			f, EPERM,
			"the bundle's ids (%u:%u, %u of them) are not valid for a bundle in a directory of "
			"uid %u: " BUNDLE_AGAIN,
			base, gid, h->place.n_ids, st.st_uid);
	return 0;
}

static void place(struct bundle_files *b, bool rootless, const struct bundle_header *h)
{
	const struct jdoc *place = jdoc_get(b->file, "placement");

	b->placement = (struct placement){
		.portable = true,
		.rootless = rootless,
		.uid_base = h->place.uid_base,
		.gid_base = h->place.gid_base,
		.n_ids = h->place.n_ids,
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
	return fault_set(f, EPERM, "config.json does not match the subject: %s",
			 lines.len ? lines.text : "same values, other formatting");
}

/* Is the file equal to TEXT with PART as the value of HOLE?  Strings contain no newline, so HOLE occurs at most once. */
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

	/* Most of the text is the list of system calls: take it from the build instead of generating it. */
	place.seccomp_apart = seccomp != NULL;
	r = bundle_config(b->subject, &place, &again, f);
	if (r >= 0)
		r = jdoc_write(again, JDOC_PRETTY, &text, f);
	if (r < 0)
		return r;
	return is_config(b, &text, seccomp) ? 0 : explain_config(b, f);
}

static int require_same_rootfs(const struct bundle_files *b, struct fault *f)
{
	_cleanup_close_ int fd = openat(b->dirfd, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "open the bundle's 'rootfs'");
	return rootfs_require_same(fd, b->subject, b->placement.uid_base, b->placement.gid_base, f);
}

int bundle_verify(struct bundle_files *b, const struct digest_key *key, const char *hook, struct fault *f)
{
	_cleanup_(bundle_header_done) struct bundle_header h = { 0 };
	_cleanup_(extra_done) struct config_extra x = { 0 };
	int r;

	r = bundle_header_read(b, &h, f);
	if (r >= 0)
		r = read_extra(b, &x, f);
	if (r >= 0)
		r = subject_from_json(b->document, x.words, x.arguments, h.time_s, key, &b->subject, f);
	if (r >= 0)
		r = require_ids(&h, b->subject, b->dirfd, f);
	if (r >= 0)
		r = require_programs(&h, hook, f);
	if (r < 0)
		return r;
	place(b, h.place.rootless, &h);
	/* The user who runs the bundle may choose the hook's error file and a terminal. */
	b->placement.console = x.terminal;
	b->placement.hook_stderr = jdoc_get_string(x.annotations, HOOK_STDERR);
	r = require_same_config(b, f);
	b->placement.hook_stderr = NULL; /* belonged to X */
	return r < 0 ? r : require_same_rootfs(b, f);
}
