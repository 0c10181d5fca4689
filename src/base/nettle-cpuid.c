/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <string.h>

#ifdef HAVE_SYS_PLATFORM_X86_H
#include <sys/platform/x86.h>

/*
 * Nettle runs cpuid before main. In a virtual machine each cpuid traps to the hypervisor, 6 to 70
 * microseconds, and the C library has just run the same ones: in a static program that is started for each
 * container the linker (--wrap) redirects the call to this function, which returns the C library's results.
 *
 * configure passes --wrap only if this nettle calls the function.
 *
 * The vendor name (leaf 0) stays empty. It only selects a variant of memxor, which is not used here.
 */
void __wrap__nettle_cpuid(uint32_t leaf, uint32_t regs[4]);

void __wrap__nettle_cpuid(uint32_t leaf, uint32_t regs[4])
{
	const struct cpuid_feature *known;

	memset(regs, 0, 4 * sizeof(*regs));
	if (leaf != 1 && leaf != 7)
		return;
	known = __x86_get_cpuid_feature_leaf(leaf == 1 ? CPUID_INDEX_1 : CPUID_INDEX_7);
	memcpy(regs, known->cpuid_array, 4 * sizeof(*regs));
}
#endif
