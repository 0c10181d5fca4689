/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/rootfs-impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define COPY_MAX ((size_t)256 * 1024)

/* The host's network needs the host's name resolution. */
static const char *const network_files[] = { "/etc/hosts", "/etc/resolv.conf", NULL };

/* Is PATH free: no mount on or above it, no link? */
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

/* PATH is absolute.  Omits a file that was removed, changed its type or is not public any more since the subject was built. */
static int copy_file(const struct rootfs *r, const struct subject *s, const char *path, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	ssize_t len;

	if (!is_free(s, path + 1))
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IROTH) || (size_t)st.st_size > COPY_MAX)
		return 0;
	if (r->list)
		return rootfs_list_add_copy(r->list, path + 1, TAKE_FD(fd), (size_t)st.st_size, f);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return fault_errno(f, ENOMEM, "copy '%s'", path);
	/* One read: it returns a regular file completely, and a file that shrinks concurrently at its new size. */
	len = read(fd, text, (size_t)st.st_size);
	if (len < 0)
		return fault_errno(f, errno, "read '%s'", path);
	return rootfs_make_file(r, path + 1, text, (size_t)len, f);
}

/* A profile that mounts the host's file uses that one. */
static bool is_copied(const struct subject *s, const char *path)
{
	for (size_t i = 0; s->copies && s->copies[i]; i++)
		if (strcmp(s->copies[i] + 1, path) == 0)
			return true;
	return false;
}

static int write_file(const struct rootfs *r, const struct subject *s, const char *path, struct strbuf *text,
		      struct fault *f)
{
	int ret = 0;

	if (text->broken)
		ret = fault_errno(f, ENOMEM, "/%s", path);
	else if (is_free(s, path) && !is_copied(s, path))
		ret = rootfs_make_file(r, path, text->text, text->len, f);
	strbuf_done(text);
	*text = (struct strbuf){ 0 };
	return ret;
}

static int write_accounts(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	/* A ':' or a newline in HOME would be read as further fields. */
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
	strbuf_printf(&t, "127.0.0.1\tlocalhost %s\n::1\tlocalhost ip6-localhost ip6-loopback\n",
		      s->hostname);
	ret = write_file(r, s, "etc/hosts", &t, f);
	if (ret < 0)
		return ret;
	/* Of custody-egress.  It knows the allowed hosts only. */
	strbuf_puts(&t, s->profile->network == PROFILE_NETWORK_ALLOW ? "nameserver 127.0.0.1\n"
								     : "# no network\n");
	return write_file(r, s, "etc/resolv.conf", &t, f);
}

int rootfs_make_etc(const struct rootfs *r, const struct subject *s, struct fault *f)
{
	int ret;

	if (s->profile->root != PROFILE_ROOT_HOST_RO || rootfs_is_covered(s, "/etc", true))
		return 0;
	ret = write_accounts(r, s, f);
	if (ret >= 0)
		ret = write_names(r, s, f);
	for (size_t i = 0; ret >= 0 && s->copies && s->copies[i]; i++)
		ret = copy_file(r, s, s->copies[i], f);
	for (size_t i = 0; ret >= 0 && s->profile->network == PROFILE_NETWORK_HOST && network_files[i]; i++)
		ret = copy_file(r, s, network_files[i], f);
	return ret;
}
