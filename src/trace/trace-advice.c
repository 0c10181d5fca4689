/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace-advice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* The kernel refuses them to a process without capabilities, whatever a filter says. */
static const char *const needs_capability[] = {
	"_sysctl",
	"acct",
	"chroot",
	"clock_settime",
	"create_module",
	"delete_module",
	"fanotify_mark",
	"finit_module",
	"fsconfig",
	"fsmount",
	"fsopen",
	"fspick",
	"init_module",
	"ioperm",
	"iopl",
	"kexec_load",
	"kexec_file_load",
	"mount",
	"mount_setattr",
	"move_mount",
	"open_tree",
	"open_by_handle_at",
	"pivot_root",
	"quotactl",
	"quotactl_fd",
	"reboot",
	"setdomainname",
	"sethostname",
	"setns",
	"settimeofday",
	"stime",
	"swapoff",
	"swapon",
	"umount",
	"umount2",
	"vhangup",
};

char *trace_advise(const char *name, int err, enum trace_list list, bool capable)
{
	char *text = NULL;

	if (strcmp(name, "seccomp") == 0 && err == EBUSY)
		return strdup("\"audit\": { \"trace\": [] } (the calls of a session have one observer)");
	for (size_t i = 0; !capable && i < ARRAY_SIZE(needs_capability); i++)
		if (strcmp(name, needs_capability[i]) == 0)
			return strdup("nothing: it needs a capability, and commands have none");
	switch (list) {
	case TRACE_LIST_NONE:
		return asprintf(&text, "\"seccomp\": { \"allow\": [\"%s\"] }", name) < 0 ? NULL : text;
	case TRACE_LIST_DENY:
		return asprintf(&text, "remove \"%s\" from seccomp.deny", name) < 0 ? NULL : text;
	case TRACE_LIST_DENY_ALSO:
		break;
	}
	return asprintf(&text, "move \"%s\" from seccomp.deny to seccomp.allow", name) < 0 ? NULL : text;
}
