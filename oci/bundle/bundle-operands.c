/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/bundle-operands.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "layer/layer.h"
#include "subject/operand.h"

int bundle_write_operands(int dirfd, const char *name, const struct subject *s, const struct placement *p,
			  struct fault *f)
{
	const struct operand_ids ids = { .from_uid = s->owner_uid,
					 .to_uid = p->uid_base + s->uid,
					 .from_gid = s->owner_gid,
					 .to_gid = p->gid_base + s->gid,
					 .identity = !(s->layers & LAYER_BIT(LAYER_USER_NS)),
					 .rootless = p->rootless };
	_cleanup_close_ int fd = -EBADF;

	if (!operand_needs_lower(s))
		return 0;
	if (mkdirat(dirfd, name, 0700) < 0)
		return fault_errno(f, errno, "create '%s' for the sealed operands", name);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s' for the sealed operands", name);
	return operand_lower_write(s, fd, &ids, f);
}
