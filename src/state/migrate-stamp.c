/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/migrate-stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "state/state-version.h"

#define DOCUMENT_MAX ((size_t)1024 * 1024)

const char *migrate_prefix(const char *name, bool pointer, enum lane *ret)
{
	for (unsigned int i = 0; i < _LANE_MAX; i++) {
		const char *word = network_class_name(lane_class((enum lane)i));
		size_t n = strlen(word);

		if (strncmp(name, word, n) != 0 || (name[n] != '_' && !(pointer && name[n] == '.')) ||
		    !name[n + 1])
			continue;
		*ret = (enum lane)i;
		return name + n + 1;
	}
	return NULL;
}

/* If both keys exist, they must agree. */
static enum migrate_stamp read_keys(const struct jdoc *d, enum lane *ret)
{
	const struct jdoc *values[] = { jdoc_get(d, "lane"), jdoc_get(d, "network") };
	enum migrate_stamp found = MIGRATE_STAMP_NONE;

	for (size_t i = 0; i < 2; i++) {
		enum lane lane;

		if (!values[i])
			continue;
		if (values[i]->type != JDOC_STRING || !values[i]->string[0] ||
		    lane_parse(values[i]->string, &lane, NULL) < 0 ||
		    (found == MIGRATE_STAMP_FOUND && lane != *ret))
			return MIGRATE_STAMP_ODD;
		*ret = lane;
		found = MIGRATE_STAMP_FOUND;
	}
	return found;
}

static enum migrate_stamp read_document(int dirfd, const char *name, enum lane *ret)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 && errno == ENOENT)
		return MIGRATE_STAMP_NONE;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return MIGRATE_STAMP_ODD;
	if (fd_read_all(fd, DOCUMENT_MAX, &text, &len, NULL) < 0)
		return MIGRATE_STAMP_ODD;
	/* A file that is not JSON has no stamp; its name may name the lane. */
	if (jdoc_parse(text, len, name, NULL, &d, NULL) < 0)
		return MIGRATE_STAMP_NONE;
	return read_keys(d, ret);
}

enum migrate_stamp migrate_read_stamp(int dirfd, const char *name, bool directory, enum lane *ret)
{
	_cleanup_close_ int fd = -EBADF;
	enum lane stamped = LANE_SANDBOX, written = LANE_SANDBOX;
	enum migrate_stamp document;
	int r;

	if (!directory)
		return read_document(dirfd, name, ret);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return MIGRATE_STAMP_ODD;
	r = lane_read_stamp(fd, name, &stamped, NULL);
	document = read_document(fd, "metadata.json", &written);
	if (r < 0 || document == MIGRATE_STAMP_ODD ||
	    (r > 0 && document == MIGRATE_STAMP_FOUND && stamped != written))
		return MIGRATE_STAMP_ODD;
	*ret = r > 0 ? stamped : written;
	return r > 0 ? MIGRATE_STAMP_FOUND : document;
}
