/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/* Memory of mcp-buffer.c, which the fuzzer takes from the library that checks it.  OLD may be NULL.  NULL: no memory. */
char *mcp_memory_resize(char *old, size_t old_size, size_t size);
void mcp_memory_free(char *old, size_t size);
