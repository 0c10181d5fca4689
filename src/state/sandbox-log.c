/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/sandbox-log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "state/sandbox-root.h"

#define FIELD_MAX 4096

/* One field: no tab, no newline, no control characters, bounded length. */
static void put_field(struct strbuf *b, const char *text)
{
	_cleanup_free_ char *clean = NULL;
	size_t n;

	if (!text || !*text)
		text = "-";
	clean = str_escape(text);
	if (!clean) {
		b->broken = true;
		return;
	}
	n = strlen(clean);
	if (n <= FIELD_MAX) {
		strbuf_puts(b, clean);
		return;
	}
	for (n = FIELD_MAX; n > 0 && ((unsigned char)clean[n] & 0xc0) == 0x80; n--)
		;
	strbuf_add(b, clean, n);
	strbuf_puts(b, "...");
}

static void put_what(struct strbuf *b, const struct sandbox_line *l)
{
	_cleanup_strbuf_ struct strbuf words = { 0 };
	_cleanup_strv_ char **argv = NULL;

	if (!l->command) {
		put_field(b, l->path);
		return;
	}
	argv = redact_argv(l->command, l->redact);
	for (size_t i = 0; argv && argv[i]; i++) {
		strbuf_puts(&words, i ? " " : "");
		strbuf_put_word(&words, argv[i]);
	}
	/* No line if redaction failed: it could hold secrets. */
	if (!argv || words.broken)
		b->broken = true;
	else
		put_field(b, words.text);
}

char *sandbox_log_line_text(const struct sandbox_line *l)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	put_field(&b, l->agent);
	strbuf_putc(&b, '\t');
	put_field(&b, l->worker);
	strbuf_putc(&b, '\t');
	put_field(&b, l->operation);
	strbuf_putc(&b, '\t');
	put_what(&b, l);
	strbuf_putc(&b, '\t');
	put_field(&b, l->status);
	return strbuf_take(&b);
}

static int require_plain(int fd, struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '" SANDBOX_LOG "'");
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return fault_set(f, EPERM,
				 "'" SANDBOX_LOG
				 "' is not a regular file with one link, owned by you: move it away");
	return 0;
}

/* Opened for each line: log rotation by rename needs no signal. */
static int write_line(int logs_fd, const char *text, size_t len, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;
	int r;

	fd = openat(logs_fd, SANDBOX_LOG,
		    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 && errno == ELOOP)
		return fault_set(f, ELOOP,
				 "'" SANDBOX_LOG "' is a symbolic link, which is not followed: rm it");
	if (fd < 0)
		return fault_errno(f, errno, "open '" SANDBOX_LOG "'");
	r = require_plain(fd, f);
	if (r < 0)
		return r;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_errno(f, errno, "write '" SANDBOX_LOG "'");
	return (size_t)n == len ? 0 : fault_set(f, ENOSPC, "write '" SANDBOX_LOG "': short write");
}

int sandbox_log_write(int logs_fd, const struct sandbox_line *l, struct fault *f)
{
	_cleanup_free_ char *text = sandbox_log_line_text(l);
	_cleanup_strbuf_ struct strbuf b = { 0 };
	char at[CLOCK_TEXT_SIZE];

	clock_format(clock_wall_us(), at);
	strbuf_printf(&b, "%s\t%s\n", at, text ? text : "");
	if (!text || b.broken)
		return fault_errno(f, ENOMEM, "'" SANDBOX_LOG "'");
	return write_line(logs_fd, b.text, b.len, f);
}

int sandbox_log_write_worktree(const struct dirs *d, const char *worktree, const struct sandbox_line *l,
			       struct fault *f)
{
	_cleanup_sandbox_root_ struct sandbox_root *root = NULL;
	_cleanup_free_ char *name = NULL;
	int r;

	r = sandbox_name_of(d, worktree, &name, f);
	if (r <= 0)
		return r;
	r = sandbox_root_open(d, name, SANDBOX_LOOK, &root, f);
	if (r == 0)
		r = sandbox_log_write(root->logs_fd, l, f);
	return r < 0 ? fault_wrap(f, r, "log of sandbox root '%s'", name) : 0;
}
