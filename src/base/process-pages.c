/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process-pages.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Segments that nothing can have written: relocations are in the writable one, also those that are read-only afterwards.  The program
 * itself is the first object.
 */
static int release(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)arg;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t begin = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);
		const uintptr_t end = info->dlpi_addr + p->p_vaddr + p->p_memsz;

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			(void)madvise((void *)begin, end - begin,
				      MADV_DONTNEED); /* NOLINT(performance-no-int-to-ptr) */
	}
	return 1;
}

void process_release_pages(void)
{
	(void)malloc_trim(0);
	(void)dl_iterate_phdr(release, NULL);
}
