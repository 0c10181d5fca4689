/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-layer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

bool engine_layer_is_hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]) && (text[i] < 'a' || text[i] > 'f'))
			return false;
	return true;
}

/* ".../overlay2/<64 digits>/diff": an id that no other layer gets. */
static bool has_id(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash - path > 64 && strcmp(slash, "/diff") == 0 && slash[-65] == '/' &&
	       engine_layer_is_hex(slash - 64, 64);
}

/* docker: /etc/hosts and other empty files below a container's own layer ID/diff, made for each container: ID-init/diff. */
static bool is_init_layer(const char *path, const char *upper)
{
	size_t len = upper && str_ends(upper, "/diff") ? strlen(upper) - strlen("/diff") : 0;

	return len > 0 && has_id(upper) && strncmp(path, upper, len) == 0 && str_eq(path + len, "-init/diff");
}

/* Numbers of containerd's snapshots begin again in a new store: the directory itself tells two apart. */
static int add_directory(struct strbuf *b, const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) < 0)
		return -errno;
	strbuf_printf(b, "%llu %lld.%09u\n", (unsigned long long)st.stx_ino,
		      st.stx_mask & STATX_BTIME ? (long long)st.stx_btime.tv_sec : 0,
		      st.stx_mask & STATX_BTIME ? st.stx_btime.tv_nsec : 0);
	return 0;
}

/*
 * The container's directory in podman's storage: UPPER, as the mount has it, is its "diff".  The root is its "merged", but podman 5
 * gives the runtime a clone of that mount, in another place, if ids are mapped.
 */
static char *own_directory(const char *rootfs, const char *upper)
{
	static const char diff[] = "/diff", merged[] = "/merged";

	if (upper && *upper == '/' && str_ends(upper, diff))
		return strndup(upper, strlen(upper) - strlen(diff));
	return str_ends(rootfs, merged) ? strndup(rootfs, strlen(rootfs) - strlen(merged)) : NULL;
}

/*
 * With --uidmap podman mounts ids in a clone of its storage, OWN/mapped/0, and takes the clone away: LOWER as the storage has it.
 */
static char *resolve_lower(const char *own, const char *lower)
{
	static const char clone[] = "/mapped/";
	char *real = realpath(lower, NULL);
	_cleanup_free_ char *storage = NULL, *path = NULL;
	size_t len = own ? strlen(own) : 0;
	const char *rest;

	if (real || len == 0 || strncmp(lower, own, len) != 0 || !str_starts(lower + len, clone))
		return real;
	rest = strchr(lower + len + strlen(clone), '/');
	storage = strdup(own);
	if (!rest || !storage || !strrchr(storage, '/'))
		return NULL;
	*strrchr(storage, '/') = '\0';
	path = path_join(storage, rest + 1);
	return path ? realpath(path, NULL) : NULL;
}

int engine_layer_list(const char *own, char ***ret, struct fault *f)
{
	_cleanup_free_ char *file = path_join(own, "lower"), *storage = strdup(own);
	_cleanup_close_ int fd = -EBADF;
	char part[16384], *save = NULL;
	struct stat st;
	ssize_t n;

	if (!file || !storage)
		return fault_errno(f, ENOMEM, "image");
	if (!strrchr(storage, '/'))
		return 0;
	*strrchr(storage, '/') = '\0';
	fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	/* With mapped ids the directory may belong to the container's root: the file must be the engine's. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 0002)
		return 0;
	n = read(fd, part, sizeof(part) - 1);
	if (n <= 0)
		return 0;
	part[n] = '\0';
	for (char *word = strtok_r(part, ":\n", &save); word; word = strtok_r(NULL, ":\n", &save)) {
		_cleanup_free_ char *path = path_join(storage, word);

		if (!path || strv_append(ret, path) < 0)
			return fault_errno(f, ENOMEM, "image");
	}
	return 0;
}

/*
 * podman 5.8 clones each layer by itself, to OWN/mapped/0, OWN/mapped/1 and so on: the options of the mount do not say which layers
 * they were, but the storage's list has them in the same order.
 */
static bool are_clones(const char *own, char *const *lowers)
{
	char path[PATH_MAX];
	size_t i;

	for (i = 0; own && lowers && lowers[i]; i++) {
		(void)snprintf(path, sizeof(path), "%s/mapped/%zu/diff", own, i);
		if (strcmp(path, lowers[i]) != 0)
			return false;
	}
	return i > 0;
}

/* 1 if the layer counts, 0 if it is noise. */
static int add_layer(struct strbuf *b, const char *own, const char *lower, const char *upper)
{
	_cleanup_free_ char *real = resolve_lower(own, lower);
	int r = 0;

	if (!real)
		return -ENOENT;
	if (is_init_layer(real, upper))
		return 0;
	strbuf_printf(b, "%zu:%s\n", strlen(real), real);
	if (!has_id(real))
		r = add_directory(b, real);
	return r < 0 ? r : 1;
}

int engine_layer_name(const char *rootfs, const struct engine_rootfs *found, char **ret, struct fault *f)
{
	_cleanup_free_ char *upper = found->upper ? realpath(found->upper, NULL) : NULL,
			    *own = own_directory(rootfs, found->upper);
	_cleanup_strv_ char **listed = NULL;
	char *const *lowers = found->lowers;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char hex[DIGEST_HEX_SIZE];
	struct digest d;
	size_t n = 0;

	*ret = NULL;
	if (are_clones(own, lowers)) {
		int r = engine_layer_list(own, &listed, f);

		if (r < 0 || strv_len(listed) != strv_len(lowers))
			return r;
		lowers = listed;
	}
	for (size_t i = 0; lowers && lowers[i]; i++) {
		int r = add_layer(&b, own, lowers[i], upper);

		if (r < 0)
			return 0;
		n += (size_t)r;
	}
	if (b.broken)
		return fault_errno(f, ENOMEM, "image");
	if (n == 0)
		return 0;
	digest_bytes(b.text, b.len, &d);
	digest_to_hex(&d, hex);
	if (asprintf(ret, "%zu layer%s sha256:%s", n, n == 1 ? "" : "s", hex) < 0) {
		*ret = NULL;
		return fault_errno(f, ENOMEM, "image");
	}
	return 0;
}
