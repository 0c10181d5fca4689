/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "evidence/evidence.h"

struct jdoc *evidence_metadata_read(int dir)
{
	_cleanup_close_ int fd =
		openat(dir, EVIDENCE_METADATA, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct jdoc *doc = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    fd_read_all(fd, EVIDENCE_METADATA_MAX, &text, &len, NULL) < 0 ||
	    jdoc_parse(text, len, EVIDENCE_METADATA, NULL, &doc, NULL) < 0)
		return NULL;
	return doc;
}
