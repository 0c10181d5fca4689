/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "init/init-dir.h"
#include "init/init-prove.h"

/* Result of one pass over mountinfo. A proof's detail is written once: the first violation. */
struct mounts {
	struct prove *p;
	unsigned int n;
	bool root_seen, root_bad, shared;
	bool work_seen, work_bad;
	bool dev_seen;
};

static bool in_list(const char *const *list, unsigned int n, const char *path)
{
	for (unsigned int i = 0; i < n; i++)
		if (strcmp(list[i], path) == 0)
			return true;
	return false;
}

static bool is_read_only(const struct facts_mount *m)
{
	return facts_has_word(m->flags, "ro") || facts_has_word(m->super, "ro");
}

static bool is_quiet(const struct facts_mount *m) /* neither set-id programs nor device nodes work there */
{
	return facts_has_word(m->flags, "nosuid") && facts_has_word(m->flags, "nodev");
}

static void say_mount(struct mounts *s, enum layer l, bool *bad, const struct facts_mount *m,
		      const char *what)
{
	struct line d = proof_line(s->p, l);

	if (*bad)
		return;
	*bad = true;
	line_put(&d, m->point);
	line_put(&d, " ");
	line_put(&d, what);
	line_put(&d, ": ");
	line_put(&d, m->fstype);
	line_put(&d, " ");
	line_put(&d, m->flags);
}

static void see_work(struct mounts *s, const struct facts_mount *m)
{
	bool overlay = strcmp(m->fstype, "overlay") == 0,
	     fuse = strcmp(m->fstype, "fuse.fuse-overlayfs") == 0;
	bool tmpfs = strcmp(m->fstype, "tmpfs") == 0;
	struct line d = proof_line(s->p, LAYER_WORKTREE);
	const char *wrong = NULL;

	switch (s->p->options->work) {
	case INIT_WORK_NONE:
		break;
	case INIT_WORK_OVERLAY:
		wrong = !overlay ? "is not an overlay" : is_read_only(m) ? "is read-only" : NULL;
		break;
	case INIT_WORK_FUSE:
		wrong = !fuse ? "is not fuse-overlayfs" : is_read_only(m) ? "is read-only" : NULL;
		break;
	case INIT_WORK_RO:
		/* In a bind the host's sockets and FIFOs would work. */
		wrong = !is_read_only(m) ? "is writable" : !overlay ? "is not an overlay" : NULL;
		break;
	case INIT_WORK_RW:
		wrong = is_read_only(m) ? "is read-only" : NULL;
		break;
	case INIT_WORK_TMPFS:
		wrong = !tmpfs ? "is not a tmpfs" : is_read_only(m) ? "is read-only" : NULL;
		break;
	}
	if (!wrong && !is_quiet(m))
		wrong = "is not nosuid,nodev";
	s->work_seen = true;
	s->work_bad = false; /* the last mount at a path is the visible one */
	if (wrong) {
		say_mount(s, LAYER_WORKTREE, &s->work_bad, m, wrong);
		return;
	}
	line_put(&d, m->fstype);
	line_put(&d, " ");
	line_put(&d, m->flags);
}

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* Runtimes mask a file with the host's null device: of a devtmpfs, or of a tmpfs where the host is a container itself. */
static bool is_mask(const struct facts_mount *m)
{
	struct stat st;

	if (strcmp(m->fstype, "devtmpfs") == 0)
		return true;
	if (strcmp(m->fstype, "tmpfs") != 0)
		return false;
	return is_read_only(m) ||
	       (SYS(newfstatat, AT_FDCWD, m->point, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_null_device(&st));
}

static void see_other(struct mounts *s, const struct facts_mount *m)
{
	const struct init_options *o = s->p->options;
	bool root = strcmp(m->point, "/") == 0;
	bool tmpfs = strcmp(m->fstype, "tmpfs") == 0;
	bool mask = in_list(o->hide, o->n_hide, m->point) && is_mask(m);
	bool may_write =
		(tmpfs && in_list(o->tmpfs, o->n_tmpfs, m->point)) || in_list(o->rw, o->n_rw, m->point);

	s->root_seen |= root;
	if (mask) /* the mask itself is tested with the others */
		return;
	if (!is_read_only(m) && !may_write)
		say_mount(s, LAYER_ROOT, &s->root_bad, m, "is writable");
	else if (in_list(o->tree, o->n_tree, m->point) && strcmp(m->fstype, "overlay") != 0)
		say_mount(s, LAYER_ROOT, &s->root_bad, m, "is not an overlay");
	else if (!is_quiet(m) && !(root && o->plain_root))
		say_mount(s, LAYER_ROOT, &s->root_bad, m, "is not nosuid,nodev");
}

static void see_mount(struct mounts *s, const struct facts_mount *m)
{
	const struct init_options *o = s->p->options;

	s->n++;
	s->p->cwd.mounted |= m->id != 0 && m->id == s->p->cwd.mount;
	if (strncmp(m->tags, "shared:", 7) == 0 && !s->shared) {
		s->p->report->proof[LAYER_MOUNT_NS].detail[0] = '\0';
		say_mount(s, LAYER_MOUNT_NS, &s->shared, m, m->tags);
	}
	/* Mounts below /proc and /dev are proven by access tests, below. */
	if (facts_is_below(m->point, "/proc"))
		return;
	if (facts_is_below(m->point, "/dev")) {
		s->dev_seen |= strcmp(m->point, "/dev") == 0 && strcmp(m->fstype, "tmpfs") == 0;
		return;
	}
	if (o->work_path && strcmp(m->point, o->work_path) == 0)
		see_work(s, m);
	else
		see_other(s, m);
}

/*
 * A file without a name: an entry of the tree cannot be in its way, and it leaves none.  The kernel checks for a read-only
 * mount before it asks the file system or looks at permissions.
 */
static long try_create(const char *dir)
{
	long fd;

	fd = SYS(openat, AT_FDCWD, dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	(void)SYS(close, fd);
	return 0;
}

static void prove_root(struct mounts *s)
{
	struct line d = proof_line(s->p, LAYER_ROOT);
	long tried = try_create("/"), usr = try_create("/usr");

	if (s->root_bad) {
		proof_set(s->p, LAYER_ROOT, false, tried);
		return;
	}
	line_put_num(&d, s->n);
	line_put(&d, " mounts; creating in / and /usr: ");
	line_put_errno(&d, (int)-tried);
	line_put(&d, " ");
	line_put_errno(&d, (int)-usr);
	proof_set(s->p, LAYER_ROOT, s->root_seen && tried == -EROFS && (usr == -EROFS || usr == -ENOENT),
		  tried);
}

static void prove_worktree(struct mounts *s)
{
	const struct init_options *o = s->p->options;
	struct line d = proof_line(s->p, LAYER_WORKTREE);
	long tried = 0;

	if (o->work == INIT_WORK_RO && s->work_seen)
		tried = try_create(o->work_path);
	if (!s->work_seen)
		line_put(&d, o->work_path ? "no mount there" : "--work is missing");
	proof_set(s->p, LAYER_WORKTREE,
		  s->work_seen && !s->work_bad && (o->work != INIT_WORK_RO || tried == -EROFS), tried);
}

static bool stop_at_entry(void *arg, const char *name, int dir)
{
	(void)arg;
	(void)name;
	(void)dir;
	return false;
}

/* A path is hidden if it is missing, the null device, or an empty read-only directory. */
static bool is_hidden(const char *path)
{
	struct stat st;
	struct statfs fs;

	if (SYS(newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	if (S_ISCHR(st.st_mode))
		return is_null_device(&st);
	return S_ISDIR(st.st_mode) && SYS(statfs, path, &fs) == 0 && fs.f_type == TMPFS_MAGIC &&
	       (fs.f_flags & ST_RDONLY) && dir_each(path, stop_at_entry, NULL) == 1;
}

/* A masked path is on another file system than /proc; a path missing in this kernel needs no mask. */
static const char *find_unmasked(const struct init_options *o)
{
	static const char *const hidden[] = {
		"/proc/kcore",	     "/proc/keys",	  "/proc/timer_list", "/proc/latency_stats",
		"/proc/sched_debug", "/proc/timer_stats", "/proc/acpi",	      "/proc/scsi",
	};
	static const char *const fixed[] = { "/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
					     "/proc/sysrq-trigger" };
	struct stat proc, st;
	struct statfs fs;

	if (SYS(newfstatat, AT_FDCWD, "/proc", &proc, 0) < 0)
		return "/proc";
	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++)
		if (SYS(newfstatat, AT_FDCWD, hidden[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_dev == proc.st_dev)
			return hidden[i];
	for (unsigned int i = 0; i < o->n_hide; i++)
		if (!is_hidden(o->hide[i]))
			return o->hide[i];
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed); i++)
		if (SYS(statfs, fixed[i], &fs) == 0 && !(fs.f_flags & ST_RDONLY))
			return fixed[i];
	return NULL;
}

static void prove_masks(struct mounts *s)
{
	struct line d = proof_line(s->p, LAYER_MASKS);
	const char *open_door = find_unmasked(s->p->options);
	long tried;

	/*
	 * O_TRUNC: the kernel then reports a read-only mount before it checks the owner. Opening alone
	 * changes nothing.
	 */
	tried = SYS(openat, AT_FDCWD, "/proc/sys/kernel/hostname", O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (tried >= 0)
		(void)SYS(close, tried);
	if (open_door) {
		line_put(&d, open_door);
		line_put(&d, " is the same as on the host");
	} else {
		line_put(&d, "writing to /proc/sys: ");
		line_put_errno(&d, tried < 0 ? (int)-tried : 0);
	}
	proof_set(s->p, LAYER_MASKS, !open_door && tried == -EROFS, tried);
}

static bool is_harmless(const struct stat *st)
{
	unsigned int major = major(st->st_rdev), minor = minor(st->st_rdev);

	if (S_ISBLK(st->st_mode))
		return false;
	if (!S_ISCHR(st->st_mode))
		return true;
	return (major == 1 && (minor == 3 || minor == 5 || minor == 7 || minor == 8 || minor == 9)) ||
	       (major == 5 && (minor == 0 || minor == 2)) || (major >= 136 && major <= 143);
}

static bool check_node(void *arg, const char *name, int dir)
{
	struct line *d = arg;
	struct stat st;

	if (SYS(newfstatat, dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_harmless(&st))
		return true;
	line_put(d, "/dev/");
	line_put(d, name);
	line_put(d, " exists");
	return false;
}

static void prove_devices(struct mounts *s)
{
	struct line d = proof_line(s->p, LAYER_DEVICES);
	long tried, r = dir_each("/dev", check_node, &d);

	tried = SYS(openat, AT_FDCWD, "/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (tried >= 0)
		(void)SYS(close, tried);
	if (r == 1)
		line_put(&d,
			 s->dev_seen ? "a tmpfs with only harmless nodes" : "/dev is not a private tmpfs");
	proof_set(s->p, LAYER_DEVICES, r == 1 && s->dev_seen && tried == -ENOENT, tried);
}

void prove_mounts(struct prove *p)
{
	/* Not on the stack: stack clash protection would touch every page of it. */
	static char text[128 * 1024];
	struct mounts s = { .p = p };
	struct facts_mount m;
	bool broken = false;
	char *at = text;
	long r;

	r = rt_read_file("/proc/self/mountinfo", text, sizeof(text));
	while (r > 0 && facts_next_mount(&at, &m, &broken))
		see_mount(&s, &m);
	prove_masks(&s);
	prove_devices(&s);
	prove_root(&s);
	prove_worktree(&s);
	if (s.shared)
		proof_set(p, LAYER_MOUNT_NS, false, 0);
	if (r <= 0 || broken) {
		struct line d = proof_line(p, LAYER_ROOT);

		line_put(&d, "/proc/self/mountinfo cannot be read: ");
		line_put_errno(&d, r < 0 ? (int)-r : EINVAL);
		proof_set(p, LAYER_ROOT, false, 0);
		proof_set(p, LAYER_WORKTREE, false, 0);
		proof_set(p, LAYER_MOUNT_NS, false, 0);
	}
}
