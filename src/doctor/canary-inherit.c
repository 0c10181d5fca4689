/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/canary.h"
#include "layer/inherit-table.h"
#include "layer/init-proto.h"

/* One try per row of the table that process-state proves, in the process of the command itself. */
bool canary_inherits(unsigned int i, struct canary_try *ret, char *what, size_t room)
{
	const struct inherit_info *info = inherit_info((enum inherit)i);

	if (info->layer != LAYER_PROCESS)
		return false;
	(void)snprintf(what, room, "inherit: %s", info->name);
	*ret = (struct canary_try){ .what = what, .layer = LAYER_PROCESS };
	return true;
}

static int compare_clocks(const struct canary_facts *f)
{
	struct stat st;
	uint64_t own = stat("/proc/self/ns/time", &st) == 0 ? st.st_ino : 0;

	return own == f->ns[INIT_NS_TIME] ? TRY_HIDDEN : 0;
}

int canary_inherit(unsigned int i, const struct canary_facts *f)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const struct inherit_asked asked = { .dumpable = 1 };
	char status[4096];
	long long value;
	ssize_t n;

	n = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return TRY_NONE;
	status[n] = '\0';
	if (i == INHERIT_TIME_NS)
		return compare_clocks(f);
	return inherit_check((enum inherit)i, status, &asked, &value) ? 0 : TRY_HIDDEN;
}
