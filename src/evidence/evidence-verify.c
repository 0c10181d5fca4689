/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "base/walk.h"
#include "capture/capture-copy.h"
#include "evidence/evidence-verify.h"
#include "evidence/evidence.h"
#include "capture/manifest-file.h"
#include "capture/pack.h"

#define SUMS_MAX ((size_t)64 * 1024)

void evidence_check_done(struct evidence_check *c)
{
	free(c->first);
	*c = (struct evidence_check){ 0 };
}

static int blame(struct evidence_check *c, uint64_t *counter, const char *path, const char *what,
		 struct fault *f)
{
	(*counter)++;
	if (c->first)
		return 0;
	if (asprintf(&c->first, "%s: %s", path, what) < 0) {
		c->first = NULL;
		return fault_errno(f, ENOMEM, "verify");
	}
	return 0;
}

/* 1: it has this digest; 0: it has another one or is missing. */
static int compare(int evidence, const char *path, const struct digest *want, struct fault *f)
{
	_cleanup_close_ int fd =
		path_open_beneath(evidence, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, NULL);
	struct digest is;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r = digest_fd(fd, &is, f);
	return r < 0 ? r : digest_equal(&is, want);
}

static int check_one(int evidence, const char *path, const struct digest *want, struct evidence_check *c,
		     struct fault *f)
{
	int r = compare(evidence, path, want, f);

	if (r < 0)
		return r;
	c->files++;
	return r ? 0 : blame(c, &c->damaged, path, "does not match its digest", f);
}

/* "<64 hex>  NAME\n"; the names are custody's. */
static int check_sums(int evidence, struct evidence_check *c, uint64_t *ret_listed, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(evidence, EVIDENCE_SUMS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return blame(c, &c->damaged, EVIDENCE_SUMS, "is missing", f);
	r = fd_read_all(fd, SUMS_MAX, &text, &len, f);
	for (char *line = text, *next; r == 0 && *line; line = next) {
		struct digest d;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (strlen(line) < 67 || line[64] != ' ' || line[65] != ' ' || strchr(line + 66, '/'))
			return blame(c, &c->damaged, EVIDENCE_SUMS, "has an invalid line", f);
		line[64] = '\0';
		if (digest_from_hex(line, &d) < 0)
			return blame(c, &c->damaged, EVIDENCE_SUMS, "has an invalid line", f);
		if (str_eq(line + 66, EVIDENCE_METADATA))
			c->metadata = d;
		(*ret_listed)++;
		r = check_one(evidence, line + 66, &d, c, f);
	}
	return r;
}

/* The archive is opened for the first file in it; the manifest has the same order. */
static int check_packed(int evidence, struct pack **pack, const struct manifest_entry *e,
			struct evidence_check *c, struct fault *f)
{
	_cleanup_free_ void *buffer = malloc(CAPTURE_BUFFER);
	struct capture_copy copy = { .in = -EBADF, .out = -EBADF, .buffer = buffer };
	_cleanup_fault_ struct fault why = { 0 };
	int r = *pack ? 0 : pack_open(evidence, pack, &why);

	if (!buffer)
		return fault_errno(f, ENOMEM, "verify");
	if (r < 0)
		return blame(c, &c->damaged, e->at, fault_text(&why), f);
	r = pack_find(*pack, e->at + sizeof(PACK_AT) - 1, &copy.size, f);
	if (r < 0)
		return r;
	copy.from_pack = *pack;
	c->files++;
	if (r == 0 || capture_copy(&copy, NULL) < 0 || copy.copied < copy.size ||
	    !digest_equal(&copy.digest, &e->digest))
		return blame(c, &c->damaged, e->at, "does not match its digest", f);
	return 0;
}

/* Files in the archive that the manifest does not list, and the end of the stream. */
static int check_rest(struct pack *pack, struct evidence_check *c, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	uint64_t strange = 0;

	if (!pack)
		return 0;
	if (pack_rest(pack, &strange, &why) < 0)
		return blame(c, &c->damaged, PACK_NAME, fault_text(&why), f);
	if (strange == 0)
		return 0;
	c->strange += strange - 1;
	return blame(c, &c->strange, PACK_NAME, "has files that the manifest does not list", f);
}

static int check_manifest(int evidence, struct evidence_check *c, uint64_t *ret_kept, struct fault *f)
{
	_cleanup_manifest_ struct manifest_file *m = NULL;
	_cleanup_pack_ struct pack *pack = NULL;
	int r = manifest_open(evidence, &m, NULL);

	if (r < 0)
		return 0; /* no tree was captured, or SHA256SUMS reported it missing */
	for (;;) {
		_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
		_cleanup_fault_ struct fault why = { 0 };

		r = manifest_next(m, &e, NULL, &why);
		if (r < 0)
			return blame(c, &c->damaged, MANIFEST_NAME, fault_text(&why), f);
		if (r == 0)
			return check_rest(pack, c, f);
		if (e.type != MANIFEST_FILE || !e.at)
			continue;
		*ret_kept += !str_starts(e.at, PACK_AT);
		if (e.has_digest && str_starts(e.at, PACK_AT))
			r = check_packed(evidence, &pack, &e, c, f);
		else if (e.has_digest)
			r = check_one(evidence, e.at, &e.digest, c, f);
		else
			r = blame(c, &c->damaged, e.at, "has no digest", f);
		if (r < 0)
			return r;
	}
}

/* Every file but SHA256SUMS and the pin. */
static int count_files(int evidence, uint64_t *ret, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r;

	r = walk_new(evidence, 0, &w, f);
	if (r < 0)
		return r;
	while ((r = walk_next(w, &e, f)) > 0)
		*ret += (r == WALK_ENTRY || r == WALK_ERROR) && !str_eq(e.path, EVIDENCE_PIN) &&
			!str_eq(e.path, EVIDENCE_SUMS);
	return r;
}

int evidence_verify(int evidence, struct evidence_check *ret, struct fault *f)
{
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	uint64_t told = 0, there = 0;
	int r;

	r = check_sums(evidence, &c, &told, f);
	if (r == 0)
		r = check_manifest(evidence, &c, &told, f);
	if (r == 0)
		r = count_files(evidence, &there, f);
	if (r == 0 && there > told) {
		c.strange += there - told - 1;
		r = blame(&c, &c.strange, "worktree", "has files that the manifest does not list", f);
	}
	if (r < 0)
		return r;
	*ret = c;
	c = (struct evidence_check){ 0 };
	return 0;
}
