/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-layer.h"
#include "oci/engine/engine-namespace.h"
#include "oci/engine/engine-place.h"
#include "oci/engine/engine-upper.h"

#define LAYERS_MAX 512

void engine_rootfs_done(struct engine_rootfs *r)
{
	free(r->type);
	free(r->upper);
	strv_free(r->lowers);
	*r = (struct engine_rootfs){ 0 };
}

/* The N-th field of a line of mountinfo, separated by one blank; heap. */
static char *field(const char *line, size_t len, unsigned int n)
{
	const char *end = line + len;

	for (; n > 0 && line < end; n--) {
		const char *blank = memchr(line, ' ', (size_t)(end - line));

		line = blank ? blank + 1 : end;
	}
	if (line >= end)
		return strdup("");
	return strndup(line, strcspn(line, " \n"));
}

/* "lowerdir=A:B" or, of newer kernels, "lowerdir+=A,lowerdir+=B"; a '\' escapes ':' and ','. */
static int add_lowers(char ***v, const char *value, size_t len)
{
	char name[PATH_MAX];
	size_t n = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && value[i] == '\\' && i + 1 < len) {
			i++;
		} else if (i == len || value[i] == ':') {
			name[n] = '\0';
			if (n > 0 && (strv_len(*v) >= LAYERS_MAX || strv_append(v, name) < 0))
				return -ENOMEM;
			n = 0;
			continue;
		}
		if (n + 1 >= sizeof(name))
			return -ENAMETOOLONG;
		name[n++] = value[i];
	}
	return 0;
}

static int read_options(const char *options, struct engine_rootfs *found)
{
	char ***ret = &found->lowers, **upper = NULL;
	int r = 0;

	while (*options && r == 0) {
		size_t len = 0;

		while (options[len] && options[len] != ',')
			len += options[len] == '\\' && options[len + 1] ? 2 : 1;
		if (str_starts(options, "lowerdir="))
			r = add_lowers(ret, options + strlen("lowerdir="), len - strlen("lowerdir="));
		else if (str_starts(options, "lowerdir+="))
			r = add_lowers(ret, options + strlen("lowerdir+="), len - strlen("lowerdir+="));
		else if (str_starts(options, "upperdir="))
			r = add_lowers(&upper, options + strlen("upperdir="), len - strlen("upperdir="));
		options += len + (options[len] == ',');
	}
	/* A ':' in it is escaped or, by an engine, not there. */
	if (strv_len(upper) == 1)
		found->upper = TAKE_PTR(upper[0]);
	strv_free(upper);
	return r;
}

/* Fields: id parent device root point options [optional ...] - type source options. */
static int read_line(const char *line, size_t len, struct engine_rootfs *ret, struct fault *f)
{
	const char *dash = memmem(line, len, " - ", 3);
	_cleanup_free_ char *id = field(line, len, 0), *type = NULL, *options = NULL;
	size_t rest;
	int r;

	if (!dash)
		return fault_set(f, EINVAL, "mountinfo has a line that cannot be read");
	dash += 3;
	rest = len - (size_t)(dash - line);
	type = field(dash, rest, 0);
	options = field(dash, rest, 2);
	if (!id || !type || !options)
		return fault_errno(f, ENOMEM, "mountinfo");
	engine_rootfs_done(ret);
	if (str_eq(type, "overlay")) {
		str_unoctal(options);
		r = read_options(options, ret);
		if (r < 0)
			return fault_errno(f, -r, "mountinfo");
	}
	ret->type = TAKE_PTR(type);
	(void)str_to_u64(id, &ret->id);
	return 0;
}

int engine_rootfs_find(const char *text, const char *rootfs, struct engine_rootfs *ret, struct fault *f)
{
	_cleanup_engine_rootfs_ struct engine_rootfs found = { 0 };
	int r = 0;

	for (const char *line = text, *end; r == 0 && *line; line = *end ? end + 1 : end) {
		_cleanup_free_ char *point = NULL, *root = NULL;

		end = strchrnul(line, '\n');
		point = field(line, (size_t)(end - line), 4);
		root = field(line, (size_t)(end - line), 3);
		if (!point || !root)
			return fault_errno(f, ENOMEM, "mountinfo");
		str_unoctal(point);
		/* The last one covers the others.  A part of a file system is not the overlay's root. */
		if (strcmp(point, rootfs) == 0)
			r = read_line(line, (size_t)(end - line), &found, f);
		if (r == 0 && strcmp(point, rootfs) == 0 && strcmp(root, "/") != 0) {
			strv_free(TAKE_PTR(found.lowers));
		}
	}
	if (r < 0)
		return r;
	*ret = found;
	found = (struct engine_rootfs){ 0 };
	return 0;
}

static int read_mountinfo(char **ret, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	char part[16384];
	ssize_t n;

	if (fd < 0)
		return fault_errno(f, errno, "/proc/self/mountinfo");
	while ((n = read(fd, part, sizeof(part))) > 0)
		strbuf_add(&b, part, (size_t)n);
	if (n < 0)
		return fault_errno(f, errno, "/proc/self/mountinfo");
	*ret = strbuf_take(&b);
	return *ret ? 0 : fault_errno(f, ENOMEM, "/proc/self/mountinfo");
}

/* fuse-overlayfs does not show its layers; containers/storage keeps the list beside the mount point. */
static int read_lower_file(const char *rootfs, char ***ret, struct fault *f)
{
	_cleanup_free_ char *own = NULL;

	if (!str_ends(rootfs, "/merged"))
		return 0;
	own = strndup(rootfs, strlen(rootfs) - strlen("/merged"));
	return own ? engine_layer_list(own, ret, f) : fault_errno(f, ENOMEM, "image");
}

/* A bundle of containerd's CRI plug-in, which only root could have prepared: any user can make a path of that name. */
static bool is_bundle_of_cri(const char *bundle)
{
	return strstr(bundle, "/io.containerd.runtime.v2.task/k8s.io/") && geteuid() == 0 &&
	       !engine_caller_is_mapped() && engine_place_is_own(bundle);
}

/* fuse-overlayfs does not show it either. */
static char *find_upper(const char *rootfs, const struct engine_rootfs *found)
{
	_cleanup_free_ char *layer = NULL;

	if (found->upper)
		return realpath(found->upper, NULL);
	if (!str_eq(found->type, "fuse.fuse-overlayfs") || !str_ends(rootfs, "/merged"))
		return NULL;
	layer = strndup(rootfs, strlen(rootfs) - strlen("/merged"));
	return layer ? path_join(layer, "diff") : NULL;
}

static void look_at_upper(struct engine_work *w, const char *rootfs, const struct engine_rootfs *found)
{
	_cleanup_free_ char *upper = find_upper(rootfs, found);

	w->c->changed = !upper || !engine_upper_is_pristine(upper, w->config);
}

/*
 * By digest, from containerd: its plug-in names the image in an annotation.  Only where the bundle is containerd's own, because
 * podman passes on any annotation.
 */
static const char *find_digest(const struct engine_work *w)
{
	const char *name =
		jdoc_get_string(jdoc_get(w->config, "annotations"), "io.kubernetes.cri.image-name");
	const char *at = name ? strstr(name, "@sha256:") : NULL;

	if (!at || strlen(at) != strlen("@sha256:") + 64 ||
	    !engine_layer_is_hex(at + strlen("@sha256:"), 64) || !is_bundle_of_cri(w->in->bundle))
		return NULL;
	return at + 1;
}

/* The same mount that was opened: the directory may be exchanged while its name is looked up. */
static void require_same(int fd, struct engine_rootfs *found)
{
	struct statx st = { 0 };

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 || !(st.stx_mask & STATX_MNT_ID) ||
	    st.stx_mnt_id != found->id)
		engine_rootfs_done(found);
}

/* The directory that FD refers to, now; heap. */
static char *path_of(int fd)
{
	char name[64], path[PATH_MAX];
	ssize_t n;

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(name, path, sizeof(path) - 1);
	return n > 0 ? strndup(path, (size_t)n) : NULL;
}

int engine_image_read(struct engine_work *w, bool *ret_overlay)
{
	_cleanup_engine_rootfs_ struct engine_rootfs rootfs = { 0 };
	_cleanup_close_ int fd = open(w->in->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL, *real = path_of(fd);
	const char *digest = find_digest(w);
	int r;

	*ret_overlay = false;
	engine_pin_root(&w->c->pins, fd);
	r = read_mountinfo(&text, w->f);
	if (r == 0)
		r = engine_rootfs_find(text, real ? real : w->in->rootfs, &rootfs, w->f);
	if (r < 0)
		return r;
	require_same(fd, &rootfs);
	*ret_overlay = str_eq(rootfs.type, "overlay") || str_eq(rootfs.type, "fuse.fuse-overlayfs");
	if (str_eq(rootfs.type, "fuse.fuse-overlayfs"))
		r = read_lower_file(real ? real : w->in->rootfs, &rootfs.lowers, w->f);
	if (r == 0 && *ret_overlay)
		look_at_upper(w, real ? real : w->in->rootfs, &rootfs);
	if (r == 0 && digest) {
		w->c->image = strdup(digest);
		return w->c->image ? 0 : fault_errno(w->f, ENOMEM, "image");
	}
	if (r < 0 || !*ret_overlay)
		return r;
	return engine_layer_name(real ? real : w->in->rootfs, &rootfs, &w->c->image, w->f);
}
