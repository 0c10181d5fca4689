/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A share that passes everything on to DIR.
 *
 *	sharefs DIR CONTROL MOUNTPOINT		for tests, in the foreground: fails as the file CONTROL demands at that moment
 *	sharefs --slow MS DIR MOUNTPOINT	for measurements, in the background: each operation takes MS milliseconds more
 *
 * CONTROL: "OPERATION HOW" in one line.  OPERATION: an operation below, or any.  HOW: a number, the errno; hang: until
 * CONTROL changes; short: a write reports success and writes half; damage: a write changes a byte.
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int root = -1;
static const char *control; /* NULL: --slow */
static struct timespec delay;

/* HOW is "" if the operation should succeed. */
static void read_control(const char *operation, char how[32])
{
	char text[64] = "", word[32] = "";
	int fd = open(control, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	how[0] = '\0';
	if (n > 0 && sscanf(text, "%31s %31s", word, how) == 2 && strcmp(word, operation) != 0 &&
	    strcmp(word, "any") != 0)
		how[0] = '\0';
}

/* 0, or the negative errno that this operation returns. */
static int behave(const char *operation, char how[32])
{
	const struct timespec t = { .tv_nsec = 5000000 };

	how[0] = '\0';
	if (!control) {
		(void)nanosleep(&delay, NULL);
		return 0;
	}
	for (read_control(operation, how); strcmp(how, "hang") == 0; read_control(operation, how))
		(void)nanosleep(&t, NULL);
	return how[0] >= '0' && how[0] <= '9' ? -(int)strtol(how, NULL, 10) : 0;
}
#define BEHAVE(operation)                 \
	char how[32];                     \
	int bad = behave(operation, how); \
	if (bad)                          \
	return bad
#define OUT(call) ((call) < 0 ? -errno : 0)

static const char *at(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int s_getattr(const char *p, struct stat *st, struct fuse_file_info *fi)
{
	BEHAVE("getattr");
	(void)fi;
	return OUT(fstatat(root, at(p), st, AT_SYMLINK_NOFOLLOW));
}
static int s_mkdir(const char *p, mode_t mode)
{
	BEHAVE("mkdir");
	return OUT(mkdirat(root, at(p), mode));
}
static int s_unlink(const char *p)
{
	BEHAVE("unlink");
	return OUT(unlinkat(root, at(p), 0));
}
static int s_rmdir(const char *p)
{
	BEHAVE("rmdir");
	return OUT(unlinkat(root, at(p), AT_REMOVEDIR));
}
static int s_rename(const char *a, const char *b, unsigned int flags)
{
	BEHAVE("rename");
	return flags ? -EINVAL : OUT(renameat(root, at(a), root, at(b)));
}
/* The next four are for --slow only.  Like SMB, the share accepts modes and owners and does not store them. */
static int s_chmod(const char *p, mode_t m, struct fuse_file_info *fi)
{
	BEHAVE("chmod");
	(void)p;
	(void)m;
	(void)fi;
	return 0;
}
static int s_chown(const char *p, uid_t u, gid_t g, struct fuse_file_info *fi)
{
	(void)u;
	(void)g;
	return s_chmod(p, 0, fi);
}
static int s_utimens(const char *p, const struct timespec t[2], struct fuse_file_info *fi)
{
	BEHAVE("utimens");
	(void)fi;
	return OUT(utimensat(root, at(p), t, AT_SYMLINK_NOFOLLOW));
}
static int s_truncate(const char *p, off_t size, struct fuse_file_info *fi)
{
	BEHAVE("truncate");
	(void)p;
	return fi ? OUT(ftruncate((int)fi->fh, size)) : -EINVAL;
}
static int s_create(const char *p, mode_t mode, struct fuse_file_info *fi)
{
	int fd;
	BEHAVE("create");

	fd = openat(root, at(p), (fi->flags & ~O_NOFOLLOW & ~O_ACCMODE) | O_CREAT | O_RDWR, mode);
	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}
static int s_open(const char *p, struct fuse_file_info *fi)
{
	int fd;
	BEHAVE("open");

	fd = openat(root, at(p), fi->flags & ~O_CREAT);
	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}
static int s_read(const char *p, char *buf, size_t n, off_t off, struct fuse_file_info *fi)
{
	ssize_t r;
	BEHAVE("read");

	(void)p;
	r = pread((int)fi->fh, buf, n, off);
	return r < 0 ? -errno : (int)r;
}
static int s_write(const char *p, const char *buf, size_t n, off_t off, struct fuse_file_info *fi)
{
	ssize_t r;
	BEHAVE("write");

	(void)p;
	r = pwrite((int)fi->fh, buf, strcmp(how, "short") == 0 ? n / 2 : n, off);
	if (r > 0 && strcmp(how, "damage") == 0)
		(void)!pwrite((int)fi->fh, "\xff", 1, off);
	return r < 0 ? -errno : (int)n;
}
static int s_release(const char *p, struct fuse_file_info *fi)
{
	(void)p;
	if (!control)
		(void)nanosleep(&delay, NULL);
	return OUT(close((int)fi->fh));
}
static int s_flush(const char *p, struct fuse_file_info *fi)
{
	BEHAVE("close");
	(void)p;
	(void)fi;
	return 0;
}
static int s_fsync(const char *p, int data, struct fuse_file_info *fi)
{
	BEHAVE("fsync");
	(void)p;
	(void)data;
	return OUT(fsync((int)fi->fh));
}
static int s_statfs(const char *p, struct statvfs *st)
{
	BEHAVE("statfs");
	(void)p;
	return OUT(fstatvfs(root, st));
}
static int s_readdir(const char *p, void *buf, fuse_fill_dir_t fill, off_t off, struct fuse_file_info *fi,
		     enum fuse_readdir_flags flags)
{
	const struct dirent *e;
	DIR *d;
	int fd;
	BEHAVE("readdir");

	(void)off;
	(void)fi;
	(void)flags;
	fd = openat(root, at(p), O_RDONLY | O_DIRECTORY);
	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && (e = readdir(d)))
		(void)fill(buf, e->d_name, NULL, 0, 0);
	return d ? closedir(d) : -errno;
}

int main(int argc, char **argv)
{
	struct fuse_operations ops = { .getattr = s_getattr,
				       .mkdir = s_mkdir,
				       .unlink = s_unlink,
				       .rmdir = s_rmdir,
				       .rename = s_rename,
				       .create = s_create,
				       .open = s_open,
				       .read = s_read,
				       .write = s_write,
				       .release = s_release,
				       .flush = s_flush,
				       .fsync = s_fsync,
				       .statfs = s_statfs,
				       .readdir = s_readdir };
	/* The kernel caches nothing: each request reaches the server. */
	char *words[] = { argv[0],	    (char[]){ "-f" },
			  (char[]){ "-o" }, (char[]){ "attr_timeout=0,entry_timeout=0,negative_timeout=0" },
			  argv[3],	    NULL };

	if (argc == 5 && strcmp(argv[1], "--slow") == 0) {
		delay.tv_nsec = strtol(argv[2], NULL, 10) * 1000000;
		ops.chmod = s_chmod;
		ops.chown = s_chown;
		ops.utimens = s_utimens;
		ops.truncate = s_truncate;
		root = open(argv[3], O_RDONLY | O_DIRECTORY);
		return root < 0 ? 1 : fuse_main(2, ((char *[]){ argv[0], argv[4], NULL }), &ops, NULL);
	}
	if (argc != 4)
		return 64;
	root = open(argv[1], O_RDONLY | O_DIRECTORY);
	control = argv[2];
	return root < 0 ? 1 : fuse_main(5, words, &ops, NULL);
}
