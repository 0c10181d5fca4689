/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of a manifest.  A parsed line is written and parsed again, and is the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 }, again = { 0 };
	_cleanup_strbuf_ struct strbuf once = { 0 }, twice = { 0 };

	if (manifest_read((const char *)data, size, &e, NULL) < 0)
		return 0;
	if (manifest_write(&e, &once, NULL) < 0 || manifest_read(once.text, once.len - 1, &again, NULL) < 0 ||
	    manifest_write(&again, &twice, NULL) < 0 || once.len != twice.len ||
	    memcmp(once.text, twice.text, once.len) != 0)
		abort();
	return 0;
}
