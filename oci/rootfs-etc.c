/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/rootfs-etc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"

#define COPY_MAX ((size_t)256 * 1024)
#define COPIES_MAX 64

/* Tables that every user of the host may read.  What is not there, not plain or not public is left out. */
static const char *const copied[] = {
	"etc/debian_version",
	"etc/gai.conf",
	"etc/host.conf",
	"etc/ld.so.conf",
	"etc/mime.types",
	"etc/protocols",
	"etc/services",
	"etc/shells",
	"etc/ssl/openssl.cnf",
	"etc/timezone",
	NULL,
};

/* With the host's network its names are needed too. */
static const char *const copied_net[] = { "etc/hosts", "etc/resolv.conf", NULL };

/* Nobody else puts something at PATH: no mount on or above it, no link. */
static bool is_free(const struct subject *s, const char *path)
{
	_cleanup_strbuf_ struct strbuf target = { 0 };

	strbuf_printf(&target, "/%s", path);
	if (target.broken || rootfs_is_covered(s, target.text, true))
		return false;
	for (size_t i = 0; i < s->n_links; i++)
		if (strcmp(s->links[i].target, target.text) == 0)
			return false;
	return true;
}

static int copy_file(const struct rootfs *r, const struct subject *s, int hostfd, const char *path, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	size_t len;
	int ret;

	if (!is_free(s, path))
		return 0;
	fd = openat(hostfd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH) || (size_t)st.st_size > COPY_MAX)
		return 0;
	ret = fd_read_all(fd, COPY_MAX, &text, &len, f);
	if (ret < 0)
		return fault_wrap(f, ret, "read '/%s'", path);
	return rootfs_make_file(r, path, text, len, f);
}

static int copy_files(const struct rootfs *r, const struct subject *s, int hostfd, const char *const *paths,
		      struct fault *f)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && paths[i]; i++)
		ret = copy_file(r, s, hostfd, paths[i], f);
	return ret;
}

static void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

/* Where the linker looks for libraries: read by ld, not by the loader, which has its cache. */
static int copy_ld_conf(const struct rootfs *r, const struct subject *s, int hostfd, struct fault *f)
{
	static const char dir[] = "etc/ld.so.conf.d";
	_cleanup_(dir_closep) DIR *d = NULL;
	int fd, ret = 0, n = 0;
	struct dirent *e;

	fd = openat(hostfd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		fd_close(fd);
		return 0;
	}
	while (ret >= 0 && n++ < COPIES_MAX && (e = readdir(d))) {
		_cleanup_strbuf_ struct strbuf path = { 0 };

		if (!str_ends(e->d_name, ".conf"))
			continue;
		strbuf_printf(&path, "%s/%s", dir, e->d_name);
		ret = path.broken ? fault_errno(f, ENOMEM, "copy '/%s'", dir) : copy_file(r, s, hostfd, path.text, f);
	}
	return ret;
}

static int write_file(const struct rootfs *r, const struct subject *s, const char *path, struct strbuf *text,
		      struct fault *f)
{
	int ret = 0;

	if (text->broken)
		ret = fault_errno(f, ENOMEM, "/%s", path);
	else if (is_free(s, path))
		ret = rootfs_make_file(r, path, text->text, text->len, f);
	strbuf_done(text);
	*text = (struct strbuf){ 0 };
	return ret;
}

static int write_accounts(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	/* A ':' or a newline in HOME would make other fields out of it. */
	const char *home = s->home[strcspn(s->home, ":\n")] ? "/" : s->home;
	_cleanup_strbuf_ struct strbuf t = { 0 };
	int ret;

	strbuf_printf(&t, "root:x:0:0:root:%s:/bin/sh\n", s->uid == 0 ? home : "/");
	if (s->uid != 0 && s->uid != 65534)
		strbuf_printf(&t, "user:x:%u:%u:user:%s:/bin/sh\n", s->uid, s->gid, home);
	strbuf_puts(&t, "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	ret = write_file(r, s, "etc/passwd", &t, f);
	if (ret < 0)
		return ret;
	strbuf_puts(&t, "root:x:0:\n");
	if (s->gid != 0 && s->gid != 65534)
		strbuf_printf(&t, "user:x:%u:\n", s->gid);
	strbuf_puts(&t, "nogroup:x:65534:\n");
	return write_file(r, s, "etc/group", &t, f);
}

static int write_names(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	int ret;

	strbuf_printf(&t, "%s\n", s->hostname);
	ret = write_file(r, s, "etc/hostname", &t, f);
	if (ret < 0)
		return ret;
	strbuf_puts(&t, "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n");
	ret = write_file(r, s, "etc/nsswitch.conf", &t, f);
	if (ret < 0 || s->profile->network == PROFILE_NETWORK_HOST)
		return ret;
	strbuf_printf(&t, "127.0.0.1\tlocalhost %s\n::1\tlocalhost ip6-localhost ip6-loopback\n", s->hostname);
	ret = write_file(r, s, "etc/hosts", &t, f);
	if (ret < 0)
		return ret;
	strbuf_puts(&t, "# no network\n");
	return write_file(r, s, "etc/resolv.conf", &t, f);
}

int rootfs_make_etc(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	_cleanup_close_ int hostfd = -EBADF;
	int ret;

	if (s->profile->root != PROFILE_ROOT_HOST_RO || rootfs_is_covered(s, "/etc", true))
		return 0;
	hostfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (hostfd < 0)
		return fault_errno(f, errno, "open '/'");
	ret = write_accounts(r, s, f);
	if (ret >= 0)
		ret = write_names(r, s, f);
	if (ret >= 0)
		ret = copy_files(r, s, hostfd, copied, f);
	if (ret >= 0 && s->profile->network == PROFILE_NETWORK_HOST)
		ret = copy_files(r, s, hostfd, copied_net, f);
	if (ret >= 0)
		ret = copy_ld_conf(r, s, hostfd, f);
	return ret;
}
