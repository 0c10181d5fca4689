/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-hidden.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

int subject_hidden_list(const struct subject *s, char *const *hide, char ***ret, struct fault *f)
{
	const char *work = subject_work_target(s);
	const size_t len = strlen(work);

	for (; hide && *hide; hide++)
		if (path_is_below(*hide, work) && strlen(*hide) > len &&
		    strv_append(ret, *hide + len + (work[1] != '\0')) < 0)
			return fault_errno(f, ENOMEM, "hidden paths");
	return 0;
}
