/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One exchange with the user's systemd, which `contrib/bench/start --login` compares with custody's: connects to its socket, has
 * itself moved into a transient scope, and exits when systemd reports that the scope's job is done.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../src/cgroup/sd-bus.h"

#define MANAGER "org.freedesktop.systemd1.Manager"

static sd_bus *open_bus(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	sd_bus *bus = NULL;

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "/run/user/%u/systemd/private",
		       (unsigned int)getuid());
	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || sd_bus_new(&bus) < 0 ||
	    sd_bus_set_fd(bus, fd, fd) < 0 || sd_bus_start(bus) < 0)
		return NULL;
	return bus;
}

static int request(sd_bus *bus, sd_bus_message **ret_reply)
{
	sd_bus_error error = { 0 };
	sd_bus_message *m = NULL;
	char unit[64];

	(void)snprintf(unit, sizeof(unit), "bench-%d.scope", (int)getpid());
	if (sd_bus_message_new_method_call(bus, &m, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
					   MANAGER, "StartTransientUnit") < 0 ||
	    sd_bus_message_append(m, "ssa(sv)a(sa(sv))", unit, "fail", 3, "Delegate", "b", 1, "CollectMode",
				  "s", "inactive-or-failed", "PIDs", "au", 1, (uint32_t)getpid(), 0) < 0)
		return -1;
	return sd_bus_call(bus, m, 0, &error, ret_reply);
}

int main(void)
{
	sd_bus *bus = open_bus();
	sd_bus_message *reply = NULL;
	const char *job, *path, *unit, *result;
	uint32_t id;

	if (!bus || request(bus, &reply) < 0 || sd_bus_message_read(reply, "o", &job) < 0)
		return 1;
	for (;;) {
		sd_bus_message *m = NULL;
		int r = sd_bus_process(bus, &m);

		if (r > 0 && m && sd_bus_message_is_signal(m, MANAGER, "JobRemoved") > 0 &&
		    sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) > 0 && strcmp(path, job) == 0)
			return strcmp(result, "done") != 0;
		sd_bus_message_unref(m);
		if (r < 0 || (r == 0 && sd_bus_wait(bus, UINT64_MAX) < 0))
			return 1;
	}
}
