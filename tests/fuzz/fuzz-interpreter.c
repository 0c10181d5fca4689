/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "subject/program-interpreter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The name is a part of the file, and as long as it says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[64];
	size_t len;

	if (!interpreter_parse((const char *)data, size, name, sizeof(name)))
		return 0;
	len = strnlen(name, sizeof(name));
	if (len == 0 || len == sizeof(name) || !memmem(data, size, name, len))
		abort();
	return 0;
}
