/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <sys/mman.h>

#include "mcp/mcp-memory.h"

static char *or_null(long r)
{
	return r < 0 && r > -4096 ? NULL : (char *)r;
}

char *mcp_memory_resize(char *old, size_t old_size, size_t size)
{
	if (!old)
		return or_null(
			SYS(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	return or_null(SYS(mremap, old, old_size, size, MREMAP_MAYMOVE));
}

void mcp_memory_free(char *old, size_t size)
{
	(void)SYS(munmap, old, size);
}
