/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/bundle-subject.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-map.h"
#include "state/dirs.h"
#include "layer/layer.h"
#include "oci/bundle/bundle-verify-impl.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"

#define FILE_VERSION 1
#define SIZE_MAX_FILE ((size_t)4 * 1024 * 1024)

void bundle_header_done(struct bundle_header *h)
{
	free(h->digest);
	free(h->place.init);
	free(h->place.hook);
}

static void map_header(struct jmap *m, struct bundle_header *h)
{
	struct jmap child;

	jmap_u64(m, "schema_version", &h->version);
	jmap_string(m, "digest", &h->digest);
	jmap_enter(m, "run", &child);
	jmap_u64(&child, "time_s", &h->time_s);
	jmap_leave(m, &child);
	jmap_enter(m, "placement", &child);
	jmap_bool(&child, "rootless", &h->place.rootless);
	jmap_uint(&child, "uid_base", &h->place.uid_base, UINT32_MAX - 1);
	jmap_uint(&child, "gid_base", &h->place.gid_base, UINT32_MAX - 1);
	jmap_uint(&child, "n_ids", &h->place.n_ids, BUNDLE_ID_BLOCK);
	jmap_path(&child, "init", &h->place.init);
	jmap_path(&child, "hook", &h->place.hook);
	jmap_leave(m, &child);
}

int bundle_subject_write(const struct subject *s, const struct placement *p, const struct digest_key *key,
			 struct strbuf *out, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *file = jdoc_new_object(), *document = NULL;
	char text[SUBJECT_DIGEST_SIZE];
	struct digest digest;
	struct bundle_header h = {
		.version = FILE_VERSION,
		.time_s = s->layers & LAYER_BIT(LAYER_TIME_LIMIT) ? s->profile->limit_time_s : 0,
		.digest = text,
		.place = { .rootless = p->rootless,
			   .uid_base = p->uid_base,
			   .gid_base = p->gid_base,
			   .n_ids = p->n_ids,
			   .init = (char *)p->init,
			   .hook = (char *)p->hook },
	};
	struct jmap m;
	int r;

	if (!file)
		return fault_errno(f, ENOMEM, BUNDLE_SUBJECT);
	r = subject_to_json(s, key, &document, f);
	if (r >= 0)
		r = subject_digest(document, &digest, f);
	if (r < 0)
		return r;
	subject_digest_to_text(&digest, text);
	jmap_init_write(&m, file, BUNDLE_SUBJECT, f);
	map_header(&m, &h);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	jdoc_set(file, "subject", TAKE_PTR(document));
	return jdoc_write(file, JDOC_PRETTY, out, f);
}

void bundle_files_done(struct bundle_files *b)
{
	fd_close(b->dirfd);
	jdoc_free(b->file);
	free(b->config);
	free(b->text);
	subject_free(b->subject);
	*b = (struct bundle_files)BUNDLE_FILES_EMPTY;
}

static int read_file(int dirfd, const char *name, char **ret, size_t *ret_len, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return fault_set(f, ENOENT, "missing '%s' in the bundle: " BUNDLE_AGAIN, name);
	if (fd < 0)
		return fault_errno(f, errno, "bundle's '%s'", name);
	r = fd_require_private(fd, geteuid(), f);
	if (r >= 0)
		r = fd_read_all(fd, SIZE_MAX_FILE, ret, ret_len, f);
	return r < 0 ? fault_wrap(f, r, "bundle's '%s'", name) : 0;
}

/* Read before verification: it selects the lane's key and grants. */
static int find_lane(const struct jdoc *document, enum lane *ret, struct fault *f)
{
	const char *name = jdoc_get_string(document, "lane");

	for (int l = 0; name && l < _LANE_MAX; l++)
		if (strcmp(name, lane_name((enum lane)l)) == 0) {
			*ret = (enum lane)l;
			return 0;
		}
	return fault_set(f, EINVAL, BUNDLE_SUBJECT " has no valid lane: " BUNDLE_AGAIN);
}

static int open_own(const char *dir, int *ret, struct fault *f)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return fault_set(f, ELOOP, "bundle '%s' is a symbolic link: name the directory itself", dir);
	if (fd < 0)
		return fault_errno(f, errno, "bundle '%s'", dir);
	r = dirs_require_own(fd, dir, f);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	return 0;
}

int bundle_read(const char *dir, struct bundle_files *ret, struct fault *f)
{
	_cleanup_bundle_files_ struct bundle_files b = BUNDLE_FILES_EMPTY;
	int r;

	r = open_own(dir, &b.dirfd, f);
	if (r >= 0)
		r = read_file(b.dirfd, BUNDLE_SUBJECT, &b.text, &b.text_len, f);
	if (r >= 0)
		r = jdoc_parse(b.text, b.text_len, BUNDLE_SUBJECT, NULL, &b.file, f);
	if (r >= 0)
		r = read_file(b.dirfd, "config.json", &b.config, &b.config_len, f);
	if (r < 0)
		return r;
	b.document = jdoc_get(b.file, "subject");
	if (!b.document)
		return fault_set(f, EINVAL, BUNDLE_SUBJECT ": missing 'subject': " BUNDLE_AGAIN);
	r = subject_digest(b.document, &b.digest, f);
	if (r >= 0)
		r = find_lane(b.document, &b.lane, f);
	if (r < 0)
		return r;
	*ret = b;
	b = (struct bundle_files)BUNDLE_FILES_EMPTY;
	return 0;
}

static int require_digest(const struct bundle_files *b, const char *stored, struct fault *f)
{
	struct digest d;

	if (subject_digest_from_text(stored, &d) < 0 || !digest_equal(&d, &b->digest))
		return fault_set(f, EPERM,
				 BUNDLE_SUBJECT " was edited: its digest does not match; " BUNDLE_AGAIN);
	return 0;
}

int bundle_header_read(const struct bundle_files *b, struct bundle_header *ret, struct fault *f)
{
	struct jmap m;
	int r;

	jmap_init_read(&m, b->file, BUNDLE_SUBJECT, f);
	map_header(&m, ret);
	(void)jmap_value(&m, "subject", JDOC_OBJECT);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	if (ret->version != FILE_VERSION)
		return fault_set(f, EINVAL, BUNDLE_SUBJECT " has an unsupported version: " BUNDLE_AGAIN);
	return require_digest(b, ret->digest, f);
}
