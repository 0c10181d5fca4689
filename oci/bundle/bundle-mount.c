/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/bundle/bundle-impl.h"

static struct jdoc *add_mount(struct jdoc *mounts, const char *target, const char *type, const char *source)
{
	struct jdoc *m = jdoc_append_object(mounts);

	jdoc_set_string(m, "destination", target);
	jdoc_set_string(m, "type", type);
	jdoc_set_string(m, "source", source);
	return jdoc_set_array(m, "options");
}

static void append_words(struct jdoc *options, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		jdoc_append_string(options, words[i]);
}

static void append_format(struct jdoc *options, const char *fmt, ...) _printf_(2, 3);

static void append_format(struct jdoc *options, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	jdoc_append_string(options, text);
}

/* clang-format off */
static const struct {
	const char *target, *type, *options[7];
} private_mounts[] = {
	{ "/proc",       "proc",   { "nosuid", "nodev", "noexec" } },
	{ "/dev",        "tmpfs",  { "nosuid", "noexec", "strictatime", "mode=755", "size=65536k" } },
	/* No gid: the group of terminals may not be mapped, and mode 0620 without it is stricter. */
	{ "/dev/pts",    "devpts", { "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620" } },
	{ "/dev/shm",    "tmpfs",  { "nosuid", "nodev", "noexec", "mode=1777" } },
	{ "/dev/mqueue", "mqueue", { "nosuid", "nodev", "noexec" } },
};
/* clang-format on */

/* For profiles that switch a layer off: mounts of the host. */
static const char *host_place(const struct subject *s, const char *target)
{
	/* A new proc needs a separate pid namespace; without one only the host's can be bound. */
	if (strcmp(target, "/proc") == 0 && !bundle_asks(s, LAYER_PID_NS))
		return "/proc";
	return strcmp(target, "/dev") == 0 && !bundle_asks(s, LAYER_DEVICES) ? "/dev" : NULL;
}

static bool is_left_out(const struct subject *s, const char *target)
{
	bool mqueue = strcmp(target, "/dev/mqueue") == 0;

	/* Its queues belong to an ipc namespace: without a separate one they would be the host's. */
	if (mqueue && !bundle_asks(s, LAYER_IPC_NS))
		return true;
	/* The host's /dev may lack the directory, and custody must not create it there. */
	return !bundle_asks(s, LAYER_DEVICES) && (mqueue || strcmp(target, "/dev/shm") == 0);
}

static uint64_t shm_size(const struct profile *p)
{
	return p->limit_shm ? p->limit_shm : PROFILE_SHM_DEFAULT;
}

static void add_private(struct jdoc *mounts, const struct subject *s)
{
	static const char *const host_options[] = { "rbind", "nosuid", "noexec", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(private_mounts); i++) {
		const char *target = private_mounts[i].target, *type = private_mounts[i].type;
		const char *host = host_place(s, target);

		struct jdoc *options;

		if (host) {
			append_words(add_mount(mounts, target, "bind", host), host_options);
			continue;
		}
		if (is_left_out(s, target))
			continue;
		options = add_mount(mounts, target, type, type);
		append_words(options, private_mounts[i].options);
		if (strcmp(target, "/dev/shm") == 0)
			append_format(options, "size=%llu", (unsigned long long)shm_size(s->profile));
	}
}

/*
 * libcrun binds without recursion, runc's plain bind fails where the host has mounts below: portable bundles use
 * rbind and the recursive attributes, which both support.  libcrun applies those to directories only, and drops
 * nosuid and nodev of a writable bind unless they are recursive.
 */
static void append_bind_options(struct jdoc *options, const struct placement *p, bool rw, bool is_dir)
{
	static const char *const dir_ro[] = { "bind", "ro", "nosuid", "nodev", NULL };
	static const char *const portable_ro[] = { "rbind", "rro", "rnosuid", "rnodev", NULL };
	static const char *const dir_rw[] = { "bind", "rw", "rnosuid", "rnodev", NULL };
	static const char *const file_rw[] = { "bind", "rw", "nosuid", "nodev", NULL };

	if (rw)
		append_words(options, is_dir ? dir_rw : file_rw);
	else
		append_words(options, p->portable && is_dir ? portable_ro : dir_ro);
}

static void add_tmpfs(struct jdoc *mounts, const struct subject *s, const char *target, uint64_t size,
		      unsigned int mode)
{
	struct jdoc *options = add_mount(mounts, target, "tmpfs", "tmpfs");

	jdoc_append_string(options, "nosuid");
	jdoc_append_string(options, "nodev");
	append_format(options, "size=%llu", (unsigned long long)size);
	append_format(options, "mode=%o", mode);
	if (s->uid != 0)
		append_format(options, "uid=%u", s->uid);
	if (s->gid != 0)
		append_format(options, "gid=%u", s->gid);
}

/* overlayfs splits options at ',' and lowers at ':'; a backslash escapes both. */
static void put_layer(struct strbuf *text, const char *path, const char *special)
{
	for (const char *c = path; *c; c++) {
		if (strchr(special, *c))
			strbuf_putc(text, '\\');
		strbuf_putc(text, *c);
	}
}

static void append_layer(struct jdoc *options, const char *name, const char *path)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_printf(&text, "%s=", name);
	put_layer(&text, path, "\\,");
	jdoc_append_string(options, text.broken ? NULL : text.text);
}

static void append_lower(struct jdoc *options, const struct placement *p)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_puts(&text, "lowerdir=");
	if (p->sealed) {
		put_layer(&text, p->sealed, "\\,:");
		strbuf_putc(&text, ':');
	}
	if (p->base) {
		put_layer(&text, p->base, "\\,:");
		strbuf_putc(&text, ':');
	}
	put_layer(&text, p->worktree, "\\,:");
	jdoc_append_string(options, text.broken ? NULL : text.text);
}

/* All but the lowers. */
static void append_overlay(struct jdoc *options, const struct subject *s, const char *upper, const char *work)
{
	append_layer(options, "upperdir", upper);
	append_layer(options, "workdir", work);
	/* In a user namespace overlayfs can store its attributes only as user.*. */
	if (bundle_asks(s, LAYER_USER_NS)) {
		jdoc_append_string(options, "userxattr");
	} else {
		/* As with userxattr: an upper without redirects and metacopy can be applied in parts, and again. */
		jdoc_append_string(options, "redirect_dir=off");
		jdoc_append_string(options, "metacopy=off");
	}
	/* No sync at unmount: a process that keeps the upper syncs it. */
	jdoc_append_string(options, "volatile");
	jdoc_append_string(options, "nosuid");
	jdoc_append_string(options, "nodev");
}

static void add_overlay(struct jdoc *mounts, const struct subject *s, const struct placement *p,
			const char *target)
{
	struct jdoc *options = add_mount(mounts, target, "overlay", "overlay");

	append_lower(options, p);
	append_overlay(options, s, p->upper, p->work);
}

/* The repository beside the worktree, with its own upper. */
static void add_repository(struct jdoc *mounts, const struct subject *s, const struct placement *p,
			   const char *target, const char *source)
{
	struct jdoc *options = add_mount(mounts, target, "overlay", "overlay");
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_puts(&text, "lowerdir=");
	if (p->repository_base) {
		put_layer(&text, p->repository_base, "\\,:");
		strbuf_putc(&text, ':');
	}
	put_layer(&text, source, "\\,:");
	jdoc_append_string(options, text.broken ? NULL : text.text);
	append_overlay(options, s, p->repository_upper, p->repository_work);
}

/* The tree with the sealed files on top, read-only: overlayfs without an upper is always read-only. */
static void add_sealed_tree(struct jdoc *mounts, const struct subject *s, const struct placement *p,
			    const char *target)
{
	struct jdoc *options = add_mount(mounts, target, "overlay", "overlay");

	append_lower(options, p);
	if (bundle_asks(s, LAYER_USER_NS))
		jdoc_append_string(options, "userxattr");
	jdoc_append_string(options, "ro");
	jdoc_append_string(options, "nosuid");
	jdoc_append_string(options, "nodev");
}

/*
 * SOURCE alone, read-only.  An overlay has inodes of its own, so that no socket or FIFO of the host is reached through it;
 * without an upper it needs two lowers, of which the upper one gives the root its attributes.  No userxattr: what
 * SOURCE holds is data, and no instruction to overlayfs.
 */
static void add_tree(struct jdoc *mounts, const struct placement *p, const char *target, const char *source)
{
	static const char *const words[] = { "ro", "nosuid", "nodev", NULL };
	struct jdoc *options = add_mount(mounts, target, "overlay", "overlay");
	_cleanup_strbuf_ struct strbuf text = { 0 };

	strbuf_puts(&text, "lowerdir=");
	put_layer(&text, source, "\\,:");
	strbuf_putc(&text, ':');
	put_layer(&text, p->rootfs, "\\,:");
	strbuf_puts(&text, EMPTY_DIR);
	jdoc_append_string(options, text.broken ? NULL : text.text);
	append_words(options, words);
}

/* A file system of its own: a directory of the session may lie below a source, and overlayfs refuses lowers that overlap. */
static void add_empty(struct jdoc *mounts)
{
	static const char *const words[] = { "ro", "nosuid", "nodev", "noexec", "mode=755", "size=4k", NULL };

	append_words(add_mount(mounts, EMPTY_DIR, "tmpfs", "tmpfs"), words);
}

static void add_subject_mount(struct jdoc *mounts, const struct subject *s, const struct placement *p,
			      size_t i)
{
	const struct subject_mount *m = &s->mounts[i];
	const char *source;

	if (bundle_is_hooked(s, p, i))
		return;
	if (m->kind == SUBJECT_MOUNT_TMPFS) {
		add_tmpfs(mounts, s, m->target, m->size, m->mode);
		return;
	}
	source = p->sources && p->sources[i] ? p->sources[i] : m->source;
	if (m->kind == SUBJECT_MOUNT_OVERLAY)
		add_repository(mounts, s, p, m->target, source);
	else if (subject_mount_is_tree(s, m))
		add_tree(mounts, p, m->target, source);
	else
		append_bind_options(add_mount(mounts, m->target, "bind", source), p, m->rw, m->is_dir);
}

uint64_t bundle_work_size(const struct subject *s)
{
	return s->profile->limit_disk ? s->profile->limit_disk : subject_tmp_size(s);
}

static int add_worktree(struct jdoc *mounts, const struct subject *s, const struct placement *p,
			struct fault *f)
{
	const char *target = subject_work_target(s);

	if (bundle_is_worktree_hooked(p))
		return 0;
	if (s->profile->workspace != PROFILE_WORKSPACE_TMPFS && !p->worktree)
		return fault_set(f, EINVAL, "placement without a worktree");
	if (s->profile->workspace == PROFILE_WORKSPACE_RO && p->sealed) {
		add_sealed_tree(mounts, s, p, target);
		return 0;
	}
	switch (s->profile->workspace) {
	case PROFILE_WORKSPACE_OVERLAY:
		if (profile_is_fuse(s->profile)) {
			if (!p->served)
				return fault_set(f, EINVAL, "placement without a served overlay");
			append_bind_options(add_mount(mounts, target, "bind", p->served), p, true, true);
			return 0;
		}
		if (!p->upper || !p->work)
			return fault_set(f, EINVAL, "placement without an upper");
		add_overlay(mounts, s, p, target);
		return 0;
	case PROFILE_WORKSPACE_RO:
		add_tree(mounts, p, target, p->worktree);
		return 0;
	case PROFILE_WORKSPACE_RW:
		append_bind_options(add_mount(mounts, target, "bind", p->worktree), p, true, true);
		return 0;
	case PROFILE_WORKSPACE_TMPFS:
		add_tmpfs(mounts, s, target, bundle_work_size(s), 0755);
		return 0;
	}
	return fault_set(f, EINVAL, "unknown mode of the worktree");
}

bool bundle_keeps_root_flags(const struct subject *s, const struct placement *p)
{
	return !p->portable && (!p->rootless || p->root_private) && bundle_asks(s, LAYER_USER_NS);
}

bool bundle_remounts_root(const struct subject *s, const struct placement *p)
{
	/* In the user namespace around a container's own, that fuse-overlayfs needs, libcrun then fails to open /dev/null. */
	return !p->portable && !profile_is_fuse(s->profile) && !bundle_keeps_root_flags(s, p);
}

/* Last: until here mount points may have to be created.  "/." because libcrun makes "" of "/". */
static void add_root_flags(struct jdoc *mounts, const struct subject *s, const struct placement *p)
{
	static const char *const words[] = { "remount", "bind", "nosuid", "nodev", NULL };
	struct jdoc *options = add_mount(mounts, "/.", "bind", p->rootfs);

	append_words(options, words);
	if (bundle_asks(s, LAYER_ROOT))
		jdoc_append_string(options, "ro");
	if (p->root_noexec)
		jdoc_append_string(options, "noexec");
}

int bundle_add_mounts(struct jdoc *config, const struct subject *s, const struct placement *p,
		      struct fault *f)
{
	struct jdoc *mounts = jdoc_set_array(config, "mounts");
	int r = 0;

	add_private(mounts, s);
	if (!p->portable && subject_has_trees(s))
		add_empty(mounts);
	for (size_t i = 0; r >= 0 && i <= s->n_mounts; i++) {
		if (i == s->worktree_at)
			r = add_worktree(mounts, s, p, f);
		if (r >= 0 && i < s->n_mounts)
			add_subject_mount(mounts, s, p, i);
	}
	/* Writes must reach the tree, so sealed operands are mounted at a separate path. */
	if (r >= 0 && p->sealed && s->profile->workspace == PROFILE_WORKSPACE_RW)
		add_sealed_tree(mounts, s, p, OPERAND_DIR);
	if (r >= 0 && s->profile->process_init) {
		if (!p->init)
			return fault_set(f, EINVAL, "placement without custody-init");
		append_bind_options(add_mount(mounts, INIT_PATH, "bind", p->init), p, false, false);
	}
	if (r >= 0 && subject_has_broker(s)) {
		if (!p->call || !p->mcp)
			return fault_set(f, EINVAL, "placement without custody-call and custody-mcp");
		append_bind_options(add_mount(mounts, CALL_PATH, "bind", p->call), p, false, false);
		append_bind_options(add_mount(mounts, MCP_PATH, "bind", p->mcp), p, false, false);
	}
	if (r >= 0 && bundle_remounts_root(s, p))
		add_root_flags(mounts, s, p);
	return r;
}
