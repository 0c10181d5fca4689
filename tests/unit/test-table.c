/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tap.h"
#include "tty/text-width.h"

static const struct table_column columns[] = {
	{ .title = "ID", .width = 4 },
	{ .title = "SIZE", .right = true },
	{ .title = "AGENT", .extra = true },
	{ .title = "NAME", .extra = true },
	{ .title = "COMMAND" },
};
#define N ARRAY_SIZE(columns)

static void fill(struct table *t)
{
	table_put(t, (const char *const[]){ "one", "7", NULL, "", "sh -c 'a b'" });
	table_put(t, (const char *const[]){ "three", "1024", "bob", NULL, "echo \033[31m\xc2\x9b\xff" });
}

static char *to_pipe(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	_cleanup_table_ struct table t;

	table_init(&t, columns, N, out);
	t.terminal = false;
	fill(&t);
	table_end(&t, "+ legend");
	(void)fclose(out);
	return text;
}

/* WIDTH columns; everything that a terminal of that size gets. */
static char *to_terminal(unsigned short width)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -EBADF;
	struct winsize size = { .ws_col = width, .ws_row = 24 };
	struct termios modes;
	static char text[8192];
	_cleanup_table_ struct table t;
	size_t len = 0;
	ssize_t n;
	FILE *out;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
	    (slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		return NULL;
	(void)ioctl(slave, TIOCSWINSZ, &size);
	(void)tcgetattr(slave, &modes);
	modes.c_oflag &= ~(tcflag_t)OPOST;
	(void)tcsetattr(slave, TCSANOW, &modes);
	out = fdopen(slave, "w");
	table_init(&t, columns, N, out);
	fill(&t);
	table_end(&t, "+ explains a sign");
	(void)fclose(out);
	/* A terminal passes the output on in parts; after the last of them read() says EIO. */
	while (len < sizeof(text) - 1 && (n = read(master, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	(void)close(master);
	return text;
}

static void a_pipe_gets_every_column_whole(void)
{
	_cleanup_free_ char *text = to_pipe();

	CHECK(strcmp(text, "ID     SIZE  AGENT  NAME  COMMAND\n"
			   "one       7  -      -     sh -c 'a b'\n"
			   "three  1024  bob    -     echo \\x1B[31m\\xC2\\x9B\\xFF\n") == 0);
}

static void a_wide_terminal_leaves_out_columns_without_text(void)
{
	const char *text = to_terminal(100);

	CHECK(text && strcmp(text, "ID     SIZE  AGENT  COMMAND\n"
				   "one       7  -      sh -c 'a b'\n"
				   "three  1024  bob    echo \\x1B[31m\\xC2\\x9B\\xFF\n"
				   "+ explains a sign\n") == 0);
}

static void a_narrow_terminal_leaves_out_extra_columns_and_cuts(void)
{
	const char *text = to_terminal(35);

	CHECK(text && strcmp(text, "ID     SIZE  COMMAND\n"
				   "one       7  sh -c 'a b'\n"
				   "three  1024  echo \\x1B[31m\\xC2\\x...\n"
				   "+ explains a sign\n") == 0);
}

static void no_line_is_wider_than_the_terminal(void)
{
	for (unsigned short width = 1; width < 60; width++) {
		char *text = to_terminal(width);
		bool ok = text && *text;

		for (char *line = text, *end; line && *line; line = end + 1) {
			end = strchrnul(line, '\n');
			ok = ok && *end;
			*end = '\0';
			ok = ok && text_width(line) <= width;
		}
		CHECK(ok);
	}
}

static void an_unknown_width_cuts_nothing(void)
{
	const char *text = to_terminal(0);

	CHECK(text && strstr(text, "echo \\x1B[31m\\xC2\\x9B\\xFF\n"));
}

static void rows_beyond_a_batch_follow_the_layout(void)
{
	char *text = NULL;
	size_t len, lines = 0;
	FILE *out = open_memstream(&text, &len);
	struct table t;

	table_init(&t, columns, N, out);
	for (size_t i = 0; i < 2 * TABLE_BATCH + 1; i++)
		table_put(&t, (const char *const[]){ "a", "1", "b", "c", "d" });
	CHECK(!table_is_empty(&t));
	table_end(&t, NULL);
	table_done(&t);
	(void)fclose(out);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	CHECK(lines == 2 * TABLE_BATCH + 2);
	CHECK(strstr(text, "\nID") == NULL);
	free(text);
}

static void width_counts_columns_not_bytes(void)
{
	CHECK(text_width("") == 0);
	CHECK(text_width("abc") == 3);
	CHECK(text_width("\xc3\xa4\xc3\xb6") == 2);		   /* a, o with two dots */
	CHECK(text_width("e\xcc\x81") == 1);			   /* combining acute */
	CHECK(text_width("\xe6\x97\xa5\xe6\x9c\xac") == 4);	   /* CJK */
	CHECK(text_width("\xf0\x9f\x98\x80") == 2);		   /* a picture */
	CHECK(text_width_fit("\xe6\x97\xa5\xe6\x9c\xac", 3) == 3); /* half of a wide character is not shown */
	CHECK(text_width_fit("e\xcc\x81x", 1) == 3);		   /* the mark stays with its letter */
	CHECK(text_width_fit("abc", 9) == 3 && text_width_fit("abc", 0) == 0);
}

TAP_MAIN(T(a_pipe_gets_every_column_whole), T(a_wide_terminal_leaves_out_columns_without_text),
	 T(a_narrow_terminal_leaves_out_extra_columns_and_cuts), T(no_line_is_wider_than_the_terminal),
	 T(an_unknown_width_cuts_nothing), T(rows_beyond_a_batch_follow_the_layout),
	 T(width_counts_columns_not_bytes))
