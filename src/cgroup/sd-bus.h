/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * The functions of libsystemd.so.0 that custody-scope calls, as in its public header, which Debian ships in a development
 * package.  Their symbol version is LIBSYSTEMD_221: the interface of that library is stable.
 */
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct {
	const char *name;
	const char *message;
	int need_free;
} sd_bus_error;

int sd_bus_new(sd_bus **ret);
int sd_bus_set_fd(sd_bus *bus, int input_fd, int output_fd);
int sd_bus_start(sd_bus *bus);
sd_bus *sd_bus_unref(sd_bus *bus);
int sd_bus_process(sd_bus *bus, sd_bus_message **ret);
int sd_bus_wait(sd_bus *bus, uint64_t timeout_usec);
int sd_bus_call(sd_bus *bus, sd_bus_message *m, uint64_t usec, sd_bus_error *ret_error, sd_bus_message **ret);
int sd_bus_message_new_method_call(sd_bus *bus, sd_bus_message **m, const char *destination, const char *path,
				   const char *interface, const char *member);
int sd_bus_message_append(sd_bus_message *m, const char *types, ...);
int sd_bus_message_read(sd_bus_message *m, const char *types, ...);
int sd_bus_message_is_signal(sd_bus_message *m, const char *interface, const char *member);
sd_bus_message *sd_bus_message_unref(sd_bus_message *m);
