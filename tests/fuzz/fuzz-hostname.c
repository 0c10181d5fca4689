/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostname.h"
#include "base/str.h"

/* A name that is accepted is its own canonical spelling, and neither libc nor a URL parser takes it for an address. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[HOSTNAME_SIZE], again[HOSTNAME_SIZE];
	_cleanup_fault_ struct fault f = { 0 };
	struct in6_addr v6;
	struct in_addr v4;
	int r = hostname_parse((const char *)data, size, name, &f);

	if ((r < 0) != (f.code != 0))
		abort();
	if (r < 0)
		return 0;
	if (strlen(name) != size - (data[size - 1] == '.') ||
	    hostname_parse(name, strlen(name), again, NULL) < 0 || !str_eq(name, again))
		abort();
	if (inet_aton(name, &v4) || inet_pton(AF_INET, name, &v4) == 1 ||
	    inet_pton(AF_INET6, name, &v6) == 1 || str_ascii_len(name, strlen(name)) != strlen(name))
		abort();
	return 0;
}
