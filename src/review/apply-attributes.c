/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "review/apply-impl.h"
#include "review/attributes.h"

int apply_attributes(struct apply *a, const struct change *ch, int in, int to, struct fault *f)
{
	_cleanup_attributes_ struct attributes wanted = { 0 };
	_cleanup_close_ int fd = tree_at_entry(&a->upper, ch->path);
	int r;

	if ((fd == -ENOENT || fd == -ENOTDIR) && ch->data) {
		/* Not through a->base: its open directory is in use. */
		struct tree_at base = { .root = a->base.root, .mount = a->base.mount, .fd = -EBADF };

		fd = in >= 0 ? fcntl(in, F_DUPFD_CLOEXEC, 3) : tree_at_entry(&base, ch->data);
		tree_at_done(&base);
	}
	if (fd < 0)
		return fault_errno(f, -fd, "open the new entry for its attributes");
	r = attributes_read(fd, &wanted);
	if (r < 0)
		return fault_errno(f, -r, "read extended attributes");
	return attributes_set(to, &wanted, f);
}
