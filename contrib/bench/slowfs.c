/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slow share for benchmarks: mirrors DIR and delays each operation by MS milliseconds.  slowfs DIR MS MOUNTPOINT */
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
static long delay_ns;

static const char *at(const char *path)
{
	const struct timespec t = { .tv_nsec = delay_ns };

	(void)nanosleep(&t, NULL);
	return path[1] ? path + 1 : ".";
}
#define OUT(call) ((call) < 0 ? -errno : 0)

static int s_getattr(const char *p, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	return OUT(fstatat(root, at(p), st, AT_SYMLINK_NOFOLLOW));
}
static int s_mkdir(const char *p, mode_t mode)
{
	return OUT(mkdirat(root, at(p), mode));
}
static int s_unlink(const char *p)
{
	return OUT(unlinkat(root, at(p), 0));
}
static int s_rmdir(const char *p)
{
	return OUT(unlinkat(root, at(p), AT_REMOVEDIR));
}
static int s_rename(const char *a, const char *b, unsigned int flags)
{
	return flags ? -EINVAL : OUT(renameat(root, at(a), root, b + 1));
}
static int s_chmod(const char *p, mode_t m, struct fuse_file_info *fi)
{
	(void)fi;
	(void)m;
	(void)at(p); /* like SMB: accepted and ignored */
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
	(void)fi;
	return OUT(utimensat(root, at(p), t, AT_SYMLINK_NOFOLLOW));
}
static int s_truncate(const char *p, off_t size, struct fuse_file_info *fi)
{
	(void)at(p);
	return fi ? OUT(ftruncate((int)fi->fh, size)) : -EINVAL;
}
static int s_create(const char *p, mode_t mode, struct fuse_file_info *fi)
{
	int fd = openat(root, at(p), (fi->flags & ~O_NOFOLLOW) | O_CREAT, mode);

	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}
static int s_open(const char *p, struct fuse_file_info *fi)
{
	int fd = openat(root, at(p), fi->flags & ~O_CREAT);

	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}
static int s_read(const char *p, char *buf, size_t n, off_t off, struct fuse_file_info *fi)
{
	ssize_t r = pread((int)fi->fh, buf, n, (at(p), off));

	return r < 0 ? -errno : (int)r;
}
static int s_write(const char *p, const char *buf, size_t n, off_t off, struct fuse_file_info *fi)
{
	ssize_t r = pwrite((int)fi->fh, buf, n, (at(p), off));

	return r < 0 ? -errno : (int)r;
}
static int s_release(const char *p, struct fuse_file_info *fi)
{
	(void)at(p);
	return OUT(close((int)fi->fh));
}
static int s_flush(const char *p, struct fuse_file_info *fi)
{
	(void)fi;
	(void)at(p);
	return 0;
}
static int s_fsync(const char *p, int data, struct fuse_file_info *fi)
{
	(void)data;
	(void)at(p);
	return OUT(fsync((int)fi->fh));
}
static int s_statfs(const char *p, struct statvfs *st)
{
	return OUT(fstatvfs((at(p), root), st));
}
static int s_readdir(const char *p, void *buf, fuse_fill_dir_t fill, off_t off, struct fuse_file_info *fi,
		     enum fuse_readdir_flags flags)
{
	int fd = openat(root, at(p), O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	(void)off;
	(void)fi;
	(void)flags;
	while (d && (e = readdir(d)))
		(void)fill(buf, e->d_name, NULL, 0, 0);
	return d ? closedir(d) : -errno;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations ops = { .getattr = s_getattr,
						    .mkdir = s_mkdir,
						    .unlink = s_unlink,
						    .rmdir = s_rmdir,
						    .rename = s_rename,
						    .chmod = s_chmod,
						    .chown = s_chown,
						    .utimens = s_utimens,
						    .truncate = s_truncate,
						    .create = s_create,
						    .open = s_open,
						    .read = s_read,
						    .write = s_write,
						    .release = s_release,
						    .flush = s_flush,
						    .fsync = s_fsync,
						    .statfs = s_statfs,
						    .readdir = s_readdir };

	if (argc != 4)
		return 64;
	root = open(argv[1], O_RDONLY | O_DIRECTORY);
	delay_ns = strtol(argv[2], NULL, 10) * 1000000;
	argv[1] = argv[3];
	argv[2] = NULL;
	return root < 0 ? 1 : fuse_main(2, argv, &ops, NULL);
}
