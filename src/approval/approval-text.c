/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approval-text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/lane.h"
#include "tty/card.h"

static void put_variable(struct strbuf *out, const char *name)
{
	const char *value = getenv(name);

	if (!value || !*value)
		return;
	strbuf_printf(out, "%s=", name);
	card_put_word(out, value);
	strbuf_putc(out, ' ');
}

static bool is_this_program(const struct stat *self, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == self->st_dev && st.st_ino == self->st_ino;
}

/* The name alone suffices if PATH leads to this program. */
static bool is_in_path(const struct stat *self)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		_cleanup_strbuf_ struct strbuf file = { 0 };

		strbuf_add(&file, path, len);
		strbuf_puts(&file, "/" PACKAGE_NAME);
		/* The first match decides, ours or not. */
		if (!file.broken && access(file.text, X_OK) == 0)
			return is_this_program(self, file.text);
		path += len + (path[len] == ':');
	}
	return false;
}

static void put_program(struct strbuf *out)
{
	char path[4096];
	struct stat self;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	if (stat("/proc/self/exe", &self) == 0 && !is_in_path(&self) && is_this_program(&self, path))
		card_put_word(out, path);
	else
		strbuf_puts(out, PACKAGE_NAME);
}

void approval_text_put_command(struct strbuf *out, const struct approval_store *d, const char *verb,
			       const char *word)
{
	const char *root = getenv("CUSTODY_ROOT");
	/* Everything but a denial changes prod: the line that is printed works as it is. */
	bool keys = strcmp(d->lane, "prod") == 0 && strcmp(verb, "deny") != 0;

	if (keys)
		strbuf_puts(out, LANE_ALLOW_ENV "=1 ");
	if (root && *root)
		put_variable(out, "CUSTODY_ROOT");
	else if (geteuid() != 0)
		put_variable(out, "XDG_STATE_HOME");
	put_program(out);
	strbuf_printf(out, " %s", verb);
	if (word) {
		strbuf_putc(out, ' ');
		card_put_word(out, word);
	}
	/* The other terminal may have another default lane. */
	if (strcmp(d->lane, "sandbox") != 0 || getenv("CUSTODY_LANE"))
		strbuf_printf(out, " --lane %s", d->lane);
	if (keys)
		strbuf_puts(out, " --allow-prod");
}
