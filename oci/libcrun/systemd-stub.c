/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>

/*
 * libcrun.a was built with systemd; custody is linked statically, and no static libsystemd exists.  These are the symbols that
 * libcrun refers to.  Own runs never use systemd's cgroups or bus; a caller that does gets ENOSYS.
 */
#define MISSING(name)           \
	int name(void);         \
	int name(void)          \
	{                       \
		return -ENOSYS; \
	}

MISSING(sd_bus_call)
MISSING(sd_bus_default_system)
MISSING(sd_bus_default_user)
MISSING(sd_bus_match_signal_async)
MISSING(sd_bus_message_append)
MISSING(sd_bus_message_append_array)
MISSING(sd_bus_message_append_basic)
MISSING(sd_bus_message_append_strv)
MISSING(sd_bus_message_close_container)
MISSING(sd_bus_message_new_method_call)
MISSING(sd_bus_message_open_container)
MISSING(sd_bus_message_read)
MISSING(sd_bus_process)
MISSING(sd_bus_wait)
MISSING(sd_journal_send_with_location)

void sd_bus_error_free(void *error);
int sd_bus_error_get_errno(const void *error);
void *sd_bus_message_unref(void *message);
void *sd_bus_unref(void *bus);

void sd_bus_error_free(void *error)
{
	(void)error;
}

int sd_bus_error_get_errno(const void *error)
{
	(void)error;
	return ENOSYS;
}

void *sd_bus_message_unref(void *message)
{
	(void)message;
	return NULL;
}

void *sd_bus_unref(void *bus)
{
	(void)bus;
	return NULL;
}
