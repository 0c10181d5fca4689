/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>

/*
 * libcrun.a was built with systemd; custody is linked statically and there is no static libsystemd.  These are the
 * symbols it refers to.  Own runs never ask for systemd's cgroups or notification; whoever does gets ENOSYS.
 */
#define NOT_HERE(name)          \
	int name(void);         \
	int name(void)          \
	{                       \
		return -ENOSYS; \
	}

NOT_HERE(sd_bus_call)
NOT_HERE(sd_bus_default_system)
NOT_HERE(sd_bus_default_user)
NOT_HERE(sd_bus_match_signal_async)
NOT_HERE(sd_bus_message_append)
NOT_HERE(sd_bus_message_append_strv)
NOT_HERE(sd_bus_message_close_container)
NOT_HERE(sd_bus_message_new_method_call)
NOT_HERE(sd_bus_message_open_container)
NOT_HERE(sd_bus_message_read)
NOT_HERE(sd_bus_process)
NOT_HERE(sd_bus_wait)
NOT_HERE(sd_journal_send_with_location)

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
