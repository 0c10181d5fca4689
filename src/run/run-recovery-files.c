/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "run/run-recovery-files.h"
#include "run/run-impl.h"
#include "evidence/evidence-config.h"

static int write_file(const struct session *s, const char *name, const struct strbuf *text, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(s->run_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return fault_errno(f, errno, "create '%s/%s'", s->run, name);
	return fault_wrap(f, fd_write_all(fd, text->text, text->len, f), "'%s/%s'", s->run, name);
}

int run_recovery_files_begin(const struct run *run, const struct session *s, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf subject = { 0 };
	int r = jdoc_write(run->plan.document, JDOC_CANONICAL, &subject, f);

	if (r == 0)
		r = write_file(s, RECOVERY_SUBJECT, &subject, f);
	return r < 0 ? r : run_keep_upper_announce(run, s->run_fd, f);
}

/* Without secrets: this directory may be on a disk. */
int run_recovery_files_config(const struct run *run, const struct session_config *c, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf config = { 0 };
	int r = c->len ? evidence_config_write(c->text, c->len, run->plan.document, &config, f) : 0;

	return r < 0 || !c->len ? r : write_file(&run->session, RECOVERY_CONFIG, &config, f);
}
