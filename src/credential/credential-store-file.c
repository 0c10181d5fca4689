/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "credential/credential-impl.h"

/*
 * One credential is one file: a line of JSON without the value, then the value's bytes.  So it is replaced in one rename,
 * and only its first line passes through memory that may be swapped out.
 */
#define FORMAT 1
#define HEADER_MAX 16384

void credential_file_name(const char *name, const char *suffix, char file[CREDENTIAL_FILE_SIZE])
{
	(void)snprintf(file, CREDENTIAL_FILE_SIZE, "%s%s", name, suffix);
}

static int put_header(const struct credential_info *i, size_t bytes, struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jdoc *hosts = jdoc_set_array(d, "hosts");
	int r;

	for (char **host = i->hosts; host && *host; host++)
		jdoc_append_string(hosts, *host);
	jdoc_set_int(d, "version", FORMAT);
	jdoc_set_string(d, "name", i->name);
	jdoc_set_string(d, "kind", credential_kind_name(i->kind));
	jdoc_set_string(d, "lane", lane_name(i->lane));
	jdoc_set_string(d, "class", network_class_name(i->class));
	if (i->source)
		jdoc_set_string(d, "source", i->source);
	jdoc_set_int(d, "created", (int64_t)i->created_us);
	jdoc_set_int(d, "bytes", (int64_t)bytes);
	r = jdoc_write(d, JDOC_CANONICAL, out, f);
	if (r == 0)
		strbuf_putc(out, '\n');
	return r == 0 && out->broken ? fault_errno(f, ENOMEM, "credential '%s'", i->name) : r;
}

int credential_file_write(int dirfd, const struct credential_info *i, const struct secret *value,
			  struct fault *f)
{
	_cleanup_strbuf_ struct strbuf header = { 0 };
	_cleanup_secret_ struct secret *all = NULL;
	size_t bytes = value ? secret_len(value) : 0;
	char file[CREDENTIAL_FILE_SIZE];
	int r = put_header(i, bytes, &header, f);

	if (r == 0 && header.len > HEADER_MAX)
		r = fault_set(f, EMSGSIZE, "credential '%s': its hosts are too long", i->name);
	if (r == 0)
		r = secret_new(header.len + bytes, &all, f);
	if (r == 0)
		r = secret_add(all, header.text, header.len, f);
	if (r == 0 && value)
		r = secret_add(all, secret_bytes(value), bytes, f);
	credential_file_name(i->name, CREDENTIAL_SUFFIX, file);
	return r < 0 ? r : fd_replace_file(dirfd, file, secret_bytes(all), secret_len(all), 0600, f);
}

/* Only its owner could have written it, or can read it. */
static int require_private(int fd, const char *name, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "credential '%s'", name);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return fault_set(f, EINVAL, "credential '%s' is not a regular file with one name: remove it",
				 name);
	if (st.st_uid != geteuid())
		return fault_set(f, EPERM, "credential '%s' belongs to uid %u, not to you", name,
				 (unsigned int)st.st_uid);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fault_set(
			f, EPERM,
			"credential '%s' can be read or written by others: replace the value where it is "
			"accepted, then add it again",
			name);
	if (st.st_size > HEADER_MAX + CREDENTIAL_VALUE_MAX)
		return fault_set(f, EFBIG, "credential '%s' is too large", name);
	return 0;
}

static enum credential_kind kind_of(const char *name)
{
	for (int k = CREDENTIAL_NONE + 1; k < _CREDENTIAL_KIND_MAX; k++)
		if (str_eq(name, credential_kind_name((enum credential_kind)k)))
			return (enum credential_kind)k;
	return CREDENTIAL_NONE;
}

static uint64_t get_u64(const struct jdoc *d, const char *key)
{
	const struct jdoc *v = jdoc_get(d, key);

	return v && v->type == JDOC_INT && v->integer > 0 ? (uint64_t)v->integer : 0;
}

static int take_hosts(const struct jdoc *d, struct credential_info *i)
{
	const struct jdoc *list = jdoc_get(d, "hosts");

	if (!list || list->type != JDOC_ARRAY || list->n_items > CREDENTIAL_HOSTS_MAX)
		return -EINVAL;
	for (size_t k = 0; k < list->n_items; k++)
		if (list->items[k]->type != JDOC_STRING || !credential_host_is_valid(list->items[k]->string))
			return -EINVAL;
		else if (strv_append(&i->hosts, list->items[k]->string) < 0)
			return -ENOMEM;
	return 0;
}

static int damaged(const char *name, struct fault *f)
{
	return fault_set(f, EBADMSG, "credential '%s' is damaged: add it again", name);
}

/* NAME and the stamp come from inside of the file: one that was renamed or copied from another lane is refused. */
static int take_header(const struct jdoc *d, const char *name, enum lane lane, struct credential_info *i,
		       struct fault *f)
{
	const char *source = jdoc_get_string(d, "source"), *class = jdoc_get_string(d, "class");
	char what[CREDENTIAL_NAME_MAX + 16];
	int r;

	(void)snprintf(what, sizeof(what), "credential '%s'", name);
	r = lane_require_name(lane, jdoc_get_string(d, "lane"), what, f);
	if (r == 0)
		r = lane_require_class(lane,
				       str_eq(class, network_class_name(lane_class(lane)))
					       ? lane_class(lane)
					       : NETWORK_CLASS_UNKNOWN,
				       what, f);
	if (r < 0)
		return r;
	i->kind = kind_of(jdoc_get_string(d, "kind"));
	if (get_u64(d, "version") != FORMAT || !str_eq(jdoc_get_string(d, "name"), name) ||
	    i->kind == CREDENTIAL_NONE || (i->kind == CREDENTIAL_VALUE) != !source)
		return damaged(name, f);
	(void)snprintf(i->name, sizeof(i->name), "%s", name);
	i->lane = lane;
	i->class = lane_class(lane);
	i->created_us = get_u64(d, "created");
	i->source = source ? strdup(source) : NULL;
	if (source && !i->source)
		return fault_errno(f, ENOMEM, "%s", what);
	r = take_hosts(d, i);
	return r == -ENOMEM ? fault_errno(f, ENOMEM, "%s", what) : r < 0 ? damaged(name, f) : 0;
}

int credential_file_read(int dirfd, const char *name, enum lane lane, struct credential_info *ret,
			 struct secret **value, struct fault *f)
{
	_cleanup_credential_info_ struct credential_info i = { 0 };
	_cleanup_secret_ struct secret *all = NULL;
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_close_ int fd = -EBADF;
	char file[CREDENTIAL_FILE_SIZE];
	const char *lf;
	size_t len;
	int r;

	credential_file_name(name, CREDENTIAL_SUFFIX, file);
	fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return fault_set(f, ENOENT,
				 "no credential '%s' in lane '%s': custody credential add %s --lane %s", name,
				 lane_name(lane), name, lane_name(lane));
	if (fd < 0)
		return fault_errno(f, errno, "credential '%s'", name);
	r = require_private(fd, name, f);
	if (r == 0)
		r = secret_read(fd, HEADER_MAX + CREDENTIAL_VALUE_MAX, &all, f);
	if (r < 0)
		return r;
	lf = memchr(secret_bytes(all), '\n', secret_len(all));
	len = lf ? (size_t)(lf - secret_bytes(all)) : 0;
	if (!lf || jdoc_parse(secret_bytes(all), len, file, NULL, &d, NULL) < 0)
		return damaged(name, f);
	r = take_header(d, name, lane, &i, f);
	if (r < 0)
		return r;
	if (get_u64(d, "bytes") != secret_len(all) - len - 1)
		return damaged(name, f);
	if (value && i.kind == CREDENTIAL_VALUE) {
		secret_cut(all, len + 1, secret_len(all) - len - 1);
		*value = TAKE_PTR(all);
	}
	*ret = i;
	i = (struct credential_info){ 0 };
	return 0;
}

void credential_note_use(int dirfd, const char *name, uint64_t expires_us)
{
	char file[CREDENTIAL_FILE_SIZE], text[32];
	_cleanup_close_ int fd = -EBADF;
	int len;

	credential_file_name(name, CREDENTIAL_USE_SUFFIX, file);
	fd = openat(dirfd, file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)expires_us);
	if (fd >= 0)
		(void)!write(fd, text, (size_t)len);
}

void credential_read_use(int dirfd, struct credential_info *i)
{
	char file[CREDENTIAL_FILE_SIZE], text[32] = "";
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	uint64_t expires;
	ssize_t n;

	credential_file_name(i->name, CREDENTIAL_USE_SUFFIX, file);
	fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	i->used_us = (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (str_to_u64(text, &expires) == 0)
		i->expires_us = expires;
}
