/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oci/hook/hook-plan.h"
#include "oci/hook/hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_state(const uint8_t *data, size_t size)
{
	_cleanup_hook_state_ struct hook_state s = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int fd = memfd_create("state", MFD_CLOEXEC), r;

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	r = hook_state_read(fd, &s, &f);
	close(fd);
	require(r == 0 || f.code == -r);
	require(r < 0 || (s.id && s.id[0] && s.bundle && s.bundle[0] == '/' && s.pid >= 0));
}

/* Nothing passes that would make container root the host's, or name a place that is none. */
static void read_plan(const char *text)
{
	_cleanup_hook_plan_ struct hook_plan p = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int r = hook_plan_parse(text, &p, &f);

	require(r == 0 || (f.code == -r && !p.mounts));
	if (r < 0)
		return;
	require(!p.userns || (p.uid_base && p.gid_base));
	for (size_t i = 0; i < p.n_mounts; i++)
		require(p.mounts[i].target[0] == '/' &&
			(!p.mounts[i].source || p.mounts[i].source[0] == '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	require(text);
	read_state(data, size);
	read_plan(text);
	free(text);
	return 0;
}
