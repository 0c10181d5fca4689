/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/card.h"

#include "base/str.h"
#include "approval/approval-card.h"
#include "tap.h"

static char *drawn(const struct card *c, unsigned int columns, bool color, bool utf8, const char *how)
{
	const struct card_style style = {
		.columns = columns, .color = color, .utf8 = utf8, .how_to_see = how
	};
	_cleanup_strbuf_ struct strbuf b = { 0 };

	return card_draw(c, &style, &b, NULL) == 0 ? strbuf_take(&b) : NULL;
}

static char *word(const char *text)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	card_put_word(&b, text);
	return strbuf_take(&b);
}

static bool word_is(const char *text, const char *want)
{
	_cleanup_free_ char *got = word(text);

	if (!str_eq(got, want))
		printf("# %s instead of %s\n", got ? got : "(null)", want);
	return str_eq(got, want);
}

static void words_read_as_a_shell_would_read_them(void)
{
	CHECK(word_is("rm", "rm"));
	CHECK(word_is("--x=a/b,c:d@e%f", "--x=a/b,c:d@e%f"));
	CHECK(word_is("", "''"));
	CHECK(word_is("a b", "'a b'"));
	CHECK(word_is("*", "'*'"));
	CHECK(word_is("~", "'~'"));
	CHECK(word_is("a\\x1b", "'a\\x1b'"));
	CHECK(word_is("it's", "$'it\\'s'"));
	CHECK(word_is("a\\\n", "$'a\\\\\\n'"));
}

static void control_sequences_are_escaped(void)
{
	CHECK(word_is("\033[2J", "$'\\x1b[2J'"));
	CHECK(word_is("a\rb\tc\nd\x7f", "$'a\\x0db\\tc\\nd\\x7f'"));
	CHECK(word_is("\xc2\x9b"
		      "2J",
		      "$'\\u009b2J'")); /* CSI as C1 */
	CHECK(word_is("\xe2\x80\xae"
		      "gpj.exe",
		      "$'\\u202egpj.exe'")); /* right to left override */
	CHECK(word_is("\xe2\x81\xa6x\xe2\x81\xa9", "$'\\u2066x\\u2069'"));
	CHECK(word_is("r\xe2\x80\x8bm", "$'r\\u200bm'")); /* zero width space */
	CHECK(word_is("a\xcc\x81", "$'a\\u0301'"));	  /* combining */
	CHECK(word_is("a\xc2\xa0"
		      "b",
		      "$'a\\u00a0b'"));			      /* a blank that is none */
	CHECK(word_is("\xd7\x90", "$'\\u05d0'"));	      /* Hebrew reorders its neighbours */
	CHECK(word_is("\xf3\xa0\x81\x81", "$'\\U000e0041'")); /* a tag */
	CHECK(word_is("\xe3\x85\xa4", "$'\\u3164'"));	      /* Hangul filler */
	CHECK(word_is("\xff\xfe", "$'\\xff\\xfe'"));
	CHECK(word_is("\xc0\xaf", "$'\\xc0\\xaf'"));	      /* overlong */
	CHECK(word_is("\xed\xa0\x80", "$'\\xed\\xa0\\x80'")); /* surrogate */
}

static void letters_stay_letters(void)
{
	CHECK(word_is("Gr\xc3\xb6\xc3\x9f"
		      "e",
		      "'Gr\xc3\xb6\xc3\x9f"
		      "e'"));
	CHECK(word_is("\xe6\x97\xa5\xe6\x9c\xac", "'\xe6\x97\xa5\xe6\x9c\xac'"));
}

static bool is_clean(const char *text, bool utf8)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if (*s != '\n' && (*s < 0x20 || *s == 0x7f || (!utf8 && *s >= 0x80)))
			return false;
	return true;
}

static void every_byte_alone_and_doubled_is_harmless(void)
{
	for (unsigned int a = 1; a < 256; a++) {
		for (unsigned int b = 1; b < 256; b += 1) {
			_cleanup_card_ struct card c = { 0 };
			_cleanup_free_ char *got = NULL;

			card_add(&c, "text", CARD_WARN, "x%c%cy", (char)a, (char)b);
			got = drawn(&c, 40, false, false, NULL);
			CHECK(got && is_clean(got, false));
		}
	}
}

static void without_utf8_nothing_but_ascii_goes_out(void)
{
	_cleanup_card_ struct card c = { 0 };
	_cleanup_free_ char *ascii = NULL, *utf8 = NULL;

	card_add(&c, "text", CARD_PLAIN, "\xd0\x9b\xc3\xb6"); /* 9b is CSI where bytes are Latin-1 */
	ascii = drawn(&c, 80, false, false, NULL);
	utf8 = drawn(&c, 80, false, true, NULL);
	CHECK(ascii && strstr(ascii, "\\u041b\\u00f6"));
	CHECK(utf8 && strstr(utf8, "\xd0\x9b\xc3\xb6"));
}

/* Columns of a line of ASCII. */
static size_t longest(const char *text)
{
	size_t best = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		best = len > best ? len : best;
		text += len + (text[len] == '\n');
	}
	return best;
}

static void no_line_is_wider_than_the_terminal(void)
{
	for (unsigned int columns = CARD_COLUMNS_MIN; columns < 140; columns++) {
		_cleanup_card_ struct card c = { 0 };
		_cleanup_free_ char *got = NULL;

		card_add(&c, "command", CARD_STRONG, "%s",
			 "find / -name 'a\tb' /a/very/long/path/without/any/blank/in/it/"
			 "that/goes/on/and/on \033]0;title\a end");
		card_add(&c, "network", CARD_PLAIN, "none");
		got = drawn(&c, columns, false, false, NULL);
		CHECK(got && longest(got) <= columns);
	}
}

/* Wherever a text is wrapped, it stays away from the column of the labels. */
static void text_never_looks_like_a_row(void)
{
	for (unsigned int columns = CARD_COLUMNS_MIN; columns < 100; columns += 5) {
		_cleanup_card_ struct card c = { 0 };
		_cleanup_free_ char *got = NULL;
		const unsigned int at = columns < 60 ? 0 : 2;
		size_t rows = 0;

		card_add(&c, "command", CARD_PLAIN, "%s",
			 "true                                             level    A  level:  A\nlevel    "
			 "A\n\n  level     A "
			 "                                                  level     A");
		card_add(&c, "level", CARD_PLAIN, "C");
		got = drawn(&c, columns, false, false, NULL);
		CHECK(got);
		for (const char *line = got; *line; line += strcspn(line, "\n") + 1)
			rows += strspn(line, " ") == at;
		CHECK(rows == 2);
	}
}

static void a_break_within_a_word_is_marked(void)
{
	_cleanup_card_ struct card c = { 0 };
	_cleanup_free_ char *got = NULL;

	card_add(&c, "command", CARD_PLAIN, "rm /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	got = drawn(&c, 30, false, false, NULL);
	CHECK(got && strstr(got, "  rm \n  /aaaaaaaaaaaaaaaaaaaaaaaaaa\\\n  aaaaaaaaaaaaaa\n"));
}

static void cut_text_shows_how_much_and_where_the_rest_is(void)
{
	_cleanup_card_ struct card c = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *cut = NULL, *all = NULL;

	strbuf_puts(&b, "FIRST ");
	for (unsigned int i = 0; i < 1000; i++)
		strbuf_puts(&b, "0123456 ");
	strbuf_puts(&b, "LAST");
	card_add(&c, "command", CARD_PLAIN, "%s", b.text);
	cut = drawn(&c, 80, false, false, "answer v");
	all = drawn(&c, 80, false, false, NULL);
	CHECK(cut && all);
	CHECK(strstr(cut, "of 8010 bytes are not shown here;") && strstr(cut, "answer v]"));
	CHECK(strstr(cut, "FIRST") && strstr(cut, "LAST"));
	CHECK(strstr(all, "FIRST") && strstr(all, "LAST") && !strstr(all, "not shown"));
	CHECK(strlen(all) > 8010 && strlen(cut) < 1500);
	free(cut);
	cut = drawn(&c, CARD_COLUMNS_MIN, false, false, "answer v to see all of it");
	CHECK(cut && longest(cut) <= CARD_COLUMNS_MIN);
}

static void color_is_ours_alone(void)
{
	_cleanup_card_ struct card c = { 0 };
	_cleanup_free_ char *plain = NULL, *color = NULL;

	card_add(&c, "command", CARD_WARN, "a\033[31mb");
	plain = drawn(&c, 80, false, true, NULL);
	color = drawn(&c, 80, true, true, NULL);
	CHECK(plain && !strchr(plain, '\033'));
	CHECK(color && strchr(color, '\033') && !strstr(color, "\033[31m"));
}

#define TREE(mode, more) \
	"\"worktree\":{\"mode\":\"" mode "\",\"target\":\"/work\",\"source\":\"/home/me/p\"" more "}"
#define REST                                                                                     \
	"\"argv\":[\"sh\",\"-c\",\"rm -rf \\u202e\\u001b[2Kx; true\\n  level     A: "            \
	"harmless\"],\"cwd\":\"/work\","                                                         \
	"\"profile\":{\"name\":\"build\",\"digest\":\"0123456789abcdef\"},\"network\":\"host\"," \
	"\"dangerous\":[\"x\"],"                                                                 \
	"\"env\":{\"PATH\":\"00\",\"A\\u0007B\":\"11\"},"

static char *described(const char *subject, const char *last, unsigned int columns)
{
	_cleanup_jdoc_ struct jdoc *s = NULL, *l = NULL, *v = NULL;
	static const char verdict[] = "{\"level\":\"C\",\"axes\":{\"raw_outcome\":\"irreversible\","
				      "\"outcome\":\"soft\",\"intention\":\"autonomous\","
				      "\"domain\":\"workspace\",\"profile\":\"balanced\"},\"reasons\":[{"
				      "\"id\":\"unbounded-delete\",\"text\":"
				      "\"deletes\\n  level     A: '\\u001b[1m'\"}]}";
	struct approval_card_facts k = {
		.digest = "sha256:00", .lane = "prod", .level = 'C', .count = 3, .uses = 1, .for_s = 3600
	};
	_cleanup_card_ struct card c = { 0 };

	if (jdoc_parse(subject, strlen(subject), "s", NULL, &s, NULL) < 0 ||
	    jdoc_parse(verdict, strlen(verdict), "v", NULL, &v, NULL) < 0 ||
	    (last && jdoc_parse(last, strlen(last), "l", NULL, &l, NULL) < 0))
		return NULL;
	k.subject = s;
	k.verdict = v;
	k.last = l;
	approval_card_describe(&c, &k);
	return drawn(&c, columns, false, true, NULL);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void the_card_shows_command_reason_and_permissions(void)
{
	_cleanup_free_ char *got = described(
		"{" REST TREE("overlay",
			      "") ",\"operands\":{\"seal\":\"named\",\"files\":[{\"path\":\"a b\",\"sha256\":"
				  "\"99887766554433\"}]}}",
		NULL, 120);

	CHECK(got && is_clean(got, true));
	CHECK(strstr(got, "  command    sh -c $'rm -rf \\u202e\\x1b[2Kx; true\\n  level     A: harmless'\n"));
	CHECK(strstr(got, "  level      C: a person confirms with a PIN\n") && count(got, "\n  level ") == 1);
	CHECK(strstr(got, "  because    deletes\\n  level     A: '\\x1b[1m' [unbounded-delete]\n"));
	CHECK(strstr(got, "soft (irreversible without the sandbox), autonomous, workspace (balanced)"));
	CHECK(strstr(got, "  profile    build (0123456789ab)\n") && strstr(got, "  lane       prod\n"));
	CHECK(strstr(got, "only a copy of /home/me/p"));
	CHECK(strstr(got, "  in         /work\n") && strstr(got, "  worktree   /home/me/p, as /work\n"));
	CHECK(strstr(got, "every network that this host can reach") && strstr(got, "  dangerous  x\n"));
	CHECK(strstr(got, "$'A\\x07B', PATH"));
	CHECK(strstr(got, "'a b' (sha256 998877665544)") && strstr(got, "tree not sealed"));
	CHECK(strstr(got, "for 1 start within 60 minutes") && strstr(got, "3 times"));
	CHECK(!strstr(got, "only this machine"));
}

/* The payload chose all of it: names, values, and nested values. */
static void letters_of_a_tools_parameters_are_named(void)
{
	static const char call[] = "{\"schema\":\"custody.tool/1\",\"tool\":\"deploy\",\"params\":{%s}}";
	static const char *const looks[] = { "\"to\":\"\xd0\xb0.example\"", "\"t\xd0\xbe\":1",
					     "\"to\":[{\"h\":\"\xd0\xb0\"}]" };
	_cleanup_free_ char *plain = described(
		"{\"schema\":\"custody.tool/1\",\"tool\":\"deploy\",\"params\":{\"to\":\"a.example\"}}", NULL,
		120);

	CHECK(plain && strstr(plain, "to = a.example") && !strstr(plain, "outside ASCII"));
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		_cleanup_free_ char *subject = NULL, *got = NULL;

		CHECK(asprintf(&subject, call, looks[i]) > 0);
		got = described(subject, NULL, 120);
		CHECK(got &&
		      strstr(got, i == 1 ? "1 letters outside ASCII, which may look like others: U+043E"
					 : "1 letters outside ASCII, which may look like others: U+0430"));
	}
}

static void changes_that_a_run_continues_are_named(void)
{
	_cleanup_free_ char *got = described("{" REST TREE("overlay", ",\"base\":\"0123abcd\"") "}", NULL,
					     120),
			    *other = described("{" REST TREE("overlay", "") "}", NULL, 120);

	CHECK(got && strstr(got, "  continues  the kept changes of an earlier session, sha256:0123abcd"));
	CHECK(other && !strstr(other, "continues"));
}

static void possible_losses_are_named(void)
{
	_cleanup_free_ char *got = described(
		"{" REST TREE("rw",
			      ",\"inode\":\"1\"") ",\"mounts\":[{\"kind\":\"bind\",\"rw\":true,\"source\":\"/"
						  "srv/x y\","
						  "\"target\":\"/"
						  "x\"},{\"kind\":\"bind\",\"rw\":false,\"source\":\"/usr\","
						  "\"target\":\"/usr\"}]}",
		NULL, 120);

	CHECK(got && strstr(got, "everything under /home/me/p\n"));
	CHECK(strstr(got, "everything under '/srv/x y', as /x\n") && !strstr(got, "/usr"));
	CHECK(strstr(got, "only this machine"));
}

static void channels_out_of_the_container_are_named(void)
{
	_cleanup_free_ char *got = described(
		"{" REST TREE("ro",
			      "") ",\"mounts\":[{\"kind\":\"bind\",\"rw\":true,\"source\":\"/srv/"
				  "s\",\"target\":\"/s\","
				  "\"type\":\"socket\"},{\"kind\":\"bind\",\"rw\":true,\"source\":\"/srv/f\","
				  "\"target\":\"/f\",\"type\":\"fifo\"}]}",
		NULL, 120);

	CHECK(got && strstr(got, "may send and receive through /srv/s, as /s\n"));
	CHECK(strstr(got, "may send and receive through /srv/f, as /f\n") &&
	      !strstr(got, "everything under"));
}

static void changes_since_the_last_approval_are_named(void)
{
	_cleanup_free_ char *got = described("{" REST TREE("ro", "") "}", "{" REST TREE("rw", "") "}", 120);
	_cleanup_free_ char *same = described("{" REST TREE("ro", "") "}", "{" REST TREE("ro", "") "}", 120);

	CHECK(got && strstr(got, "  changed    worktree.mode: was rw, is ro\n"));
	CHECK(same && strstr(same, "nothing since the last approval"));
}

static void an_empty_subject_is_not_called_harmless(void)
{
	_cleanup_free_ char *got = described("{}", NULL, 80);

	CHECK(got && strstr(got, "(unknown)") && strstr(got, "writes     (unknown)"));
	CHECK(strstr(got, "network    (unknown)"));
}

static void forty_columns_are_enough(void)
{
	_cleanup_free_ char *got = described("{" REST TREE("rw", "") "}", "{" REST TREE("ro", "") "}", 40);

	CHECK(got && longest(got) <= 40 && strstr(got, "\nlevel:\n  C: a person confirms with a PIN\n"));
}

TAP_MAIN(T(words_read_as_a_shell_would_read_them), T(control_sequences_are_escaped), T(letters_stay_letters),
	 T(every_byte_alone_and_doubled_is_harmless), T(without_utf8_nothing_but_ascii_goes_out),
	 T(no_line_is_wider_than_the_terminal), T(text_never_looks_like_a_row),
	 T(a_break_within_a_word_is_marked), T(cut_text_shows_how_much_and_where_the_rest_is),
	 T(color_is_ours_alone), T(the_card_shows_command_reason_and_permissions),
	 T(letters_of_a_tools_parameters_are_named), T(changes_that_a_run_continues_are_named),
	 T(possible_losses_are_named), T(channels_out_of_the_container_are_named),
	 T(changes_since_the_last_approval_are_named), T(an_empty_subject_is_not_called_harmless),
	 T(forty_columns_are_enough))
