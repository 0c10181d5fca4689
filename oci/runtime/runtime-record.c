/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"

static struct jdoc *make_record(const char *id, const char *config, struct jdoc *governed)
{
	struct jdoc *d = jdoc_new_object();
	const char *custody_root = getenv("CUSTODY_ROOT");
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_wall_us(), now);
	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_string(d, "version", PACKAGE_VERSION);
	jdoc_set_string(d, "id", id);
	jdoc_set_string(d, "created", now);
	jdoc_set_string(d, "config", config);
	jdoc_set_string(d, "lane", governed ? jdoc_get_string(governed, "lane") : "sandbox");
	if (custody_root && *custody_root)
		jdoc_set_string(d, "custody_root", custody_root);
	if (governed)
		jdoc_set(d, "governed", governed);
	return d;
}

int runtime_record_write(const char *root, const char *id, const char *config, struct jdoc *governed,
			 struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = make_record(id, config, governed);
	_cleanup_free_ char *dir = path_join(root, id);
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_close_ int dirfd = -EBADF, fd = -EBADF;
	int r;

	if (!d || !dir)
		return fault_errno(f, ENOMEM, "record of '%s'", id);
	r = jdoc_write(d, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return fault_wrap(f, r, "record of '%s'", id);
	strbuf_putc(&text, '\n');
	dirfd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dirfd < 0)
		return fault_errno(f, errno, "record of '%s'", id);
	/* Complete or missing; not synced, because it is on a tmpfs and has no meaning after a reboot. */
	fd = openat(dirfd, "custody.json.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "record of '%s'", id);
	r = fd_write_all(fd, text.text, text.len, f);
	if (r < 0)
		return fault_wrap(f, r, "record of '%s'", id);
	if (renameat(dirfd, "custody.json.new", dirfd, "custody.json") < 0)
		return fault_errno(f, errno, "record of '%s'", id);
	return 0;
}
