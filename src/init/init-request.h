/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "layer/init-proto.h"

/* A parsed struct init_exec_request; borrows from its text and words. */
struct request {
	unsigned int tty;
	char *cwd, *names;
	char **args, **env; /* NULL-terminated */
};

/*
 * TEXT is the whole file, LEN bytes; WORDS has room for ROOM pointers.  False if the file is malformed or has more words than
 * fit.  Uses no library.
 */
bool request_parse(char *text, size_t len, char **words, size_t room, struct request *ret);
