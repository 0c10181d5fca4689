/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/json-span.h"
#include "oci/libcrun/libcrun-wrap.h"
#include "oci/libcrun/seccomp-cache.h"

/*
 * libcrun compiles a container's seccomp filter at every create; Debian builds it without its cache.  The linker redirects the
 * call to this file (--wrap, see oci/runtime/local.mk).  The result depends only on the bytes of `linux.seccomp`, the versions
 * and the machine, so it is cached by these; everything else is left to libcrun.
 */

/* 1 and the bytes of linux.seccomp.  Invalid text is reported by libcrun. */
static int find_section(const char *config, struct jspan *ret)
{
	struct jspan root, section;

	if (jspan_root(config, strlen(config), &root) < 0 || jspan_get(root, "linux", &section) <= 0)
		return 0;
	return jspan_get(section, "seccomp", ret);
}

static bool make_key(const struct libcrun_seccomp_gen_ctx_s *ctx, struct digest *ret)
{
	const struct scmp_version *v = seccomp_version();
	const char *config = ctx->container->config_file_content;
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct jspan section;
	struct utsname u;

	if (!config || !v || uname(&u) < 0 || find_section(config, &section) <= 0)
		return false;
	/* The output of libseccomp depends on the kernel's features as well. */
	strbuf_printf(&b, "1 " LIBCRUN_VERSION " %u.%u.%u %u %s %s %u\n", v->major, v->minor, v->micro,
		      ctx->options, u.machine, u.release, seccomp_api_get());
	strbuf_add(&b, section.at, section.len);
	if (b.broken)
		return false;
	digest_bytes(b.text, b.len, ret);
	return true;
}

static bool write_cached(const char *root, const struct digest *key, int fd)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len;

	return seccomp_cache_load(root, key, &bytes, &len) == 0 && fd_write_all(fd, bytes, len, NULL) == 0;
}

static void store(const char *root, const struct digest *key, int fd)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > 1 << 20)
		return;
	bytes = malloc((size_t)st.st_size);
	if (bytes && pread(fd, bytes, (size_t)st.st_size, 0) == st.st_size)
		seccomp_cache_store(root, key, bytes, (size_t)st.st_size);
}

int __wrap_libcrun_generate_seccomp(struct libcrun_seccomp_gen_ctx_s *ctx, libcrun_error_t *err)
{
	const char *root =
		ctx->container && ctx->container->context ? ctx->container->context->state_root : NULL;
	struct digest key;
	int r;

	if (!root || ctx->fd < 0 || !make_key(ctx, &key))
		return __real_libcrun_generate_seccomp(ctx, err);
	if (write_cached(root, &key, ctx->fd))
		return 0;
	/* A partly written file would be another filter. */
	if (ftruncate(ctx->fd, 0) < 0 || lseek(ctx->fd, 0, SEEK_SET) < 0)
		return __real_libcrun_generate_seccomp(ctx, err);
	r = __real_libcrun_generate_seccomp(ctx, err);
	if (r >= 0)
		store(root, &key, ctx->fd);
	return r;
}
