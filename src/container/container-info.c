/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-info.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-map.h"

#define LABEL "container info"
#define TEMP_NAME CONTAINER_INFO_NAME ".new"

static void map_digest(struct jmap *m, const char *key, struct digest *d)
{
	_cleanup_free_ char *text = NULL;
	char hex[DIGEST_HEX_SIZE], *p = hex;

	digest_to_hex(d, hex);
	jmap_string(m, key, m->reading ? &text : &p);
	if (m->r == 0 && m->reading && digest_from_hex(text, d) < 0)
		(void)jmap_fail(m, EINVAL, "'%s' is not a SHA-256 digest", key);
}

static void map_document(struct jmap *m, const char *key, struct jdoc **d)
{
	const struct jdoc *found;
	char *nothing = NULL;

	if (!m->reading) {
		jdoc_set(m->d, key, *d ? jdoc_copy(*d) : jdoc_new_null());
		return;
	}
	if (jmap_is_null(m, key)) {
		jmap_string_or_null(m, key, &nothing);
		return;
	}
	found = jmap_value(m, key, JDOC_OBJECT);
	*d = found ? jdoc_copy(found) : NULL;
	if (m->r == 0 && !*d)
		(void)jmap_fail(m, ENOMEM, "out of memory");
}

static void map_ids(struct jmap *m, struct capture_ids *ids)
{
	struct jmap child;

	jmap_enter(m, "ids", &child);
	jmap_bool(&child, "set", &ids->set);
	jmap_uint(&child, "uid_from", &ids->uid_from, UINT32_MAX - 1);
	jmap_uint(&child, "uid_to", &ids->uid_to, UINT32_MAX - 1);
	jmap_uint(&child, "gid_from", &ids->gid_from, UINT32_MAX - 1);
	jmap_uint(&child, "gid_to", &ids->gid_to, UINT32_MAX - 1);
	jmap_leave(m, &child);
}

static void map_info(struct jmap *m, struct container_info *d)
{
	static const char *const modes[] = { [PROFILE_WORKSPACE_OVERLAY] = "overlay",
					     [PROFILE_WORKSPACE_RO] = "ro",
					     [PROFILE_WORKSPACE_RW] = "rw",
					     [PROFILE_WORKSPACE_TMPFS] = "tmpfs",
					     NULL };
	unsigned int workspace = d->workspace, pid = (unsigned int)d->pid;
	uint64_t subject = d->subject_len, config = d->config_len;

	jmap_string(m, "container", &d->container);
	jmap_path(m, "bundle", &d->bundle);
	jmap_uint(m, "pid", &pid, INT_MAX);
	jmap_u64(m, "start", &d->start);
	map_digest(m, "digest", &d->digest);
	jmap_string(m, "profile", &d->profile);
	map_digest(m, "profile_digest", &d->profile_digest);
	jmap_strv(m, "argv", &d->argv);
	/* Missing for a container started by an older version. */
	if (!m->reading || jdoc_get(m->d, "redact"))
		jmap_strv(m, "redact", &d->redact);
	/* The same for these. */
	if (!m->reading || jdoc_get(m->d, "engine")) {
		jmap_bool(m, "engine", &d->engine);
		jmap_string_or_null(m, "image", &d->image);
	}
	if (!m->reading || jdoc_get(m->d, "exec"))
		map_document(m, "exec", &d->exec);
	if (!m->reading || jdoc_get(m->d, "broker"))
		map_document(m, "broker", &d->broker);
	map_document(m, "verdict", &d->verdict);
	map_document(m, "forensics", &d->forensics);
	jmap_word(m, "workspace", modes, &workspace);
	jmap_path(m, "work", &d->work);
	jmap_strv(m, "hide", &d->hide);
	map_ids(m, &d->ids);
	jmap_u64(m, "subject_len", &subject);
	jmap_u64(m, "config_len", &config);
	if (m->r < 0 || !m->reading)
		return;
	d->workspace = (enum profile_workspace)workspace;
	d->pid = (pid_t)pid;
	d->subject_len = subject;
	d->config_len = config;
}

int container_info_write(int sessionfd, const struct container_info *d, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *head = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct jmap m;
	int r;

	if (!head)
		return fault_errno(f, ENOMEM, LABEL);
	jmap_init_write(&m, head, LABEL, f);
	/* The cast is safe: only a reading map assigns. */
	map_info(&m, (struct container_info *)d);
	r = jmap_end(&m);
	if (r >= 0)
		r = jdoc_write(head, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	strbuf_putc(&text, '\n');
	if (text.broken)
		return fault_errno(f, ENOMEM, LABEL);
	fd = openat(sessionfd, TEMP_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create the " LABEL);
	/* Three writes: the runtime waits for this, and joining the parts costs more than writing them. */
	r = fd_write_all(fd, text.text, text.len, f);
	if (r == 0)
		r = fd_write_all(fd, d->subject, d->subject_len, f);
	if (r == 0)
		r = fd_write_all(fd, d->config, d->config_len, f);
	/* The rename makes the file complete or missing: a partial one would fail every later recovery. */
	if (r == 0 && renameat2(sessionfd, TEMP_NAME, sessionfd, CONTAINER_INFO_NAME, RENAME_NOREPLACE) < 0)
		r = fault_errno(f, errno, "rename '" TEMP_NAME "'");
	if (r < 0)
		(void)unlinkat(sessionfd, TEMP_NAME, 0);
	return fault_wrap(f, r, LABEL);
}

/* The two files after the first line; their lengths must match exactly. */
static int take_files(struct container_info *d, const char *bytes, size_t len, struct fault *f)
{
	if (d->subject_len > len || d->config_len != len - d->subject_len)
		return fault_set(f, EINVAL, LABEL " is not whole");
	d->subject = strndup(bytes, d->subject_len);
	d->config = strndup(bytes + d->subject_len, d->config_len);
	if (!d->subject || !d->config)
		return fault_errno(f, ENOMEM, LABEL);
	if (strlen(d->subject) != d->subject_len || strlen(d->config) != d->config_len)
		return fault_set(f, EINVAL, LABEL " contains a NUL byte");
	return 0;
}

static int parse(char *text, size_t len, struct container_info *d, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *head = NULL;
	char *lf = memchr(text, '\n', len);
	struct jmap m;
	int r;

	if (!lf)
		return fault_set(f, EINVAL, LABEL " is not whole");
	r = jdoc_parse(text, (size_t)(lf - text), LABEL, NULL, &head, f);
	if (r < 0)
		return r;
	jmap_init_read(&m, head, LABEL, f);
	map_info(&m, d);
	r = jmap_end(&m);
	return r < 0 ? r : take_files(d, lf + 1, len - (size_t)(lf + 1 - text), f);
}

int container_info_read(int sessionfd, struct container_info *ret, struct fault *f)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	_cleanup_close_ int fd =
		openat(sessionfd, CONTAINER_INFO_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open the " LABEL);
	r = fd_require_private(fd, geteuid(), f);
	if (r >= 0)
		r = fd_read_all(fd, CONTAINER_INFO_MAX, &text, &len, f);
	if (r < 0)
		return fault_wrap(f, r, LABEL);
	r = parse(text, len, &d, f);
	if (r < 0)
		return r;
	*ret = d;
	d = (struct container_info){ 0 };
	return 0;
}

void container_info_done(struct container_info *d)
{
	free(d->container);
	free(d->bundle);
	free(d->profile);
	strv_free(d->argv);
	strv_free(d->redact);
	jdoc_free(d->verdict);
	jdoc_free(d->forensics);
	jdoc_free(d->exec);
	jdoc_free(d->broker);
	free(d->image);
	free(d->work);
	strv_free(d->hide);
	free(d->subject);
	free(d->config);
	*d = (struct container_info){ 0 };
}
