/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/warden-exit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "ledger/ledger.h"
#include "container/warden-request.h"

int warden_exit_write(const struct warden_exit *x, struct fault *f)
{
	const struct ledger_end *e = x->end;
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	jdoc_set_string(d, "reason", e->reason);
	jdoc_set_int(d, "code", e->code);
	jdoc_set_int(d, "signal", e->signal);
	jdoc_set_bool(d, "abnormal", e->abnormal);
	jdoc_set_string(d, "source", e->source);
	jdoc_set(d, "evidence", e->evidence ? ledger_text(e->evidence) : jdoc_new_null());
	if (e->evidence_error)
		jdoc_set(d, "evidence_error", ledger_text(e->evidence_error));
	jdoc_set_string(d, "session", x->session);
	jdoc_set_string(d, "container", x->container);
	r = jdoc_write(d, JDOC_PRETTY, &text, f);
	return r < 0 ? r : fd_replace_file(WARDEN_SESSION, WARDEN_EXIT, text.text, text.len, 0600, f);
}

void warden_exit_clean(const struct dirs *d, const char *session)
{
	_cleanup_free_ char *path = path_join(d->run, "sessions");
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -EBADF;

	if (fd >= 0 && faccessat(WARDEN_SESSION, WARDEN_AUDITED, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		(void)!path_remove_tree(fd, session, NULL);
}
