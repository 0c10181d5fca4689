/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/warden-protect.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define SCORE_MIN (-1000)
#define SCORE_STEP 100

static int64_t read_score(int fd)
{
	char text[16];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int64_t score = 0;

	if (n <= 0)
		return SCORE_MIN;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return str_to_i64(text, &score) == 0 ? score : SCORE_MIN;
}

/* The kernel takes no lower score than the lowest that a privileged process has set: the first that it takes is that one. */
static void lower_score(void)
{
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char text[16];

	for (int64_t score = SCORE_MIN, now = fd < 0 ? SCORE_MIN : read_score(fd); score < now;
	     score += SCORE_STEP) {
		int n = snprintf(text, sizeof(text), "%d", (int)score);

		if (pwrite(fd, text, (size_t)n, 0) == n)
			return;
	}
}

void warden_protect(void)
{
	lower_score();
	(void)signal(SIGHUP, SIG_IGN);
}
