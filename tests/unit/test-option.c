/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <unistd.h>

#include "base/option.h"
#include "base/str.h"

#include "tap.h"

struct values {
	bool flag, other, third, given_size, given_wait;
	const char *text, *choice;
	char **list;
	uint64_t number, size, duration, percent, wait;
	int fd;
};

static int refuse_x(const char *value, struct fault *f)
{
	return str_eq(value, "x") ? fault_set(f, EPERM, "not this one") : 0;
}

#define AT(field) offsetof(struct values, field)
/* clang-format off */
static const struct option table[] = {
	{ "flag",     'f', OPTION_FLAG,     AT(flag),     NULL,   .help = "a flag" },
	{ "other",    'o', OPTION_FLAG,     AT(other),    NULL,   .help = "a flag of a group", .group = 1 },
	{ "third",     0,  OPTION_FLAG,     AT(third),    NULL,   .help = "a flag of a group", .group = 1 },
	{ "text",     't', OPTION_TEXT,     AT(text),     "TEXT", .help = "a text", .check = refuse_x, .flags = OPTION_UTF8 },
	{ "choice",    0,  OPTION_CHOICE,   AT(choice),   "none|host|bridge", .help = "a choice" },
	{ "list",     'l', OPTION_TEXT,     AT(list),     "ITEM", .help = "a list", .flags = OPTION_LIST },
	{ "number",   'n', OPTION_NUMBER,   AT(number),   "N",    .help = "a number", .flags = OPTION_NOT_ZERO, .max = 100 },
	{ "size",     's', OPTION_SIZE,     AT(size),     "SIZE", .help = "a size", .given = AT(given_size), .min = 1024 },
	{ "duration",  0,  OPTION_DURATION, AT(duration), "TIME", .help = "a time" },
	{ "percent",   0,  OPTION_PERCENT,  AT(percent),  "N",    .help = "a decimal" },
	{ "wait",     'w', OPTION_DURATION, AT(wait),     "TIME", .help = "a time or none", .flags = OPTION_OPTIONAL_VALUE, .given = AT(given_wait) },
	{ "fd",        0,  OPTION_FD,       AT(fd),       "N",    .help = "a descriptor" },
	{ "quiet",    'q', OPTION_IGNORED,  0,            NULL,   .help = "ignored" },
	{ "gone",     'g', OPTION_REFUSED,  0,            NULL,   .help = "use --flag" },
	{ "hidden",    0,  OPTION_FLAG,     AT(flag),     NULL,   .help = "not listed", .flags = OPTION_HIDDEN },
	{ 0 },
};
static const struct option required[] = {
	{ "text", 't', OPTION_TEXT, AT(text), "DIR", .help = "a text", .flags = OPTION_REQUIRED },
	{ 0 },
};
/* clang-format on */

static struct fault fault;
static struct values v;
static char **args;

static int parse(const struct option *options, bool first, const char *const *words)
{
	const struct option_set set = { .options = options,
					.help = "tool help",
					.end_at_first_argument = first };

	strv_free(v.list);
	v = (struct values){ .fd = -1 };
	free(args);
	args = NULL;
	fault_done(&fault);
	return option_parse(&set, (char *const *)words, &v, &args, &fault);
}
#define PARSE(...) parse(table, false, (const char *const[]){ __VA_ARGS__, NULL })
#define PARSE_FIRST(...) parse(table, true, (const char *const[]){ __VA_ARGS__, NULL })

static bool reports(const char *text)
{
	if (fault.text && strstr(fault.text, text))
		return true;
	printf("# %s\n", fault.text ? fault.text : "(no message)");
	return false;
}

static void every_kind_is_converted(void)
{
	CHECK(PARSE("--flag", "--text", "a", "--choice", "host", "--list", "1", "--list", "2", "--number",
		    "7", "--size", "2k", "--duration", "3m", "--percent", "1.5", "--fd", "1",
		    "--quiet") == 0);
	CHECK(v.flag && str_eq(v.text, "a") && str_eq(v.choice, "host"));
	CHECK(strv_len(v.list) == 2 && str_eq(v.list[1], "2"));
	CHECK(v.number == 7 && v.size == 2048 && v.duration == 180 && v.percent == 150 && v.fd == 1);
	CHECK(v.given_size && !v.given_wait && args[0] == NULL);
}

static void both_spellings_of_a_value_are_the_same(void)
{
	CHECK(PARSE("--text=a", "--list=1", "--number=7", "--size=2048", "--percent=0.25") == 0);
	CHECK(str_eq(v.text, "a") && strv_len(v.list) == 1 && v.number == 7 && v.size == 2048 &&
	      v.percent == 25);
	CHECK(PARSE("--text=", "--list==") == 0);
	CHECK(str_eq(v.text, "") && str_eq(v.list[0], "="));
}

static void letters_are_bundled_and_take_attached_values(void)
{
	CHECK(PARSE("-foq", "-ta", "-n", "7", "-l1", "-fl2") == 0);
	CHECK(v.flag && v.other && str_eq(v.text, "a") && v.number == 7);
	CHECK(strv_len(v.list) == 2 && str_eq(v.list[1], "2"));
}

static void an_optional_value_stands_behind_an_equals_sign_only(void)
{
	CHECK(PARSE("--wait", "5m") == 0);
	CHECK(v.given_wait && v.wait == 0 && str_eq(args[0], "5m"));
	CHECK(PARSE("--wait=5m") == 0 && v.wait == 300);
	CHECK(PARSE("-w", "x") == 0 && v.given_wait && str_eq(args[0], "x"));
}

static void options_and_arguments_mix_until_two_dashes(void)
{
	CHECK(PARSE("a", "--flag", "-", "", "--", "--other", "--") == 0);
	CHECK(v.flag && !v.other);
	CHECK(strv_len(args) == 5 && str_eq(args[0], "a") && str_eq(args[1], "-") && str_eq(args[2], ""));
	CHECK(str_eq(args[3], "--other") && str_eq(args[4], "--"));
}

static void a_payload_keeps_its_own_options(void)
{
	CHECK(PARSE_FIRST("--flag", "ls", "--other", "--", "-h") == 0);
	CHECK(v.flag && !v.other && strv_len(args) == 4 && str_eq(args[2], "--"));
	CHECK(PARSE_FIRST("--", "--flag") == 0);
	CHECK(!v.flag && str_eq(args[0], "--flag"));
}

static void help_is_found_in_every_spelling(void)
{
	CHECK(PARSE("--help") == OPTION_HELP);
	CHECK(PARSE("-h") == OPTION_HELP);
	CHECK(PARSE("a", "-fh") == OPTION_HELP);
	CHECK(PARSE("--text", "--help") == 0 && str_eq(v.text, "--help"));
	CHECK(PARSE("--", "--help") == 0 && str_eq(args[0], "--help"));
	CHECK(PARSE("--help=me") == -EINVAL);
}

static void an_unknown_option_names_the_nearest_and_the_help(void)
{
	CHECK(PARSE("--numbr=7") == -EINVAL);
	CHECK(reports("unknown option '--numbr=7'; did you mean '--number'? (see: tool help)"));
	CHECK(PARSE("-list") == -EINVAL || str_eq(v.list[0], "ist"));
	CHECK(PARSE("-duration") == -EINVAL && reports("did you mean '--duration'?"));
	CHECK(PARSE("-Z") == -EINVAL && reports("unknown option '-Z' (see: tool help)"));
	CHECK(PARSE("-fZ") == -EINVAL && reports("'-fZ'"));
	CHECK(PARSE("--zzzzzzzzzzzz") == -EINVAL && !strstr(fault.text, "did you mean"));
	/* Names that are not listed are not suggested. */
	CHECK(PARSE("--hiddn") == -EINVAL && !strstr(fault.text, "--hidden"));
	CHECK(PARSE("--hidden") == 0 && v.flag);
}

static void a_missing_or_superfluous_value_is_refused(void)
{
	CHECK(PARSE("--text") == -EINVAL && reports("--text needs a value: TEXT"));
	CHECK(PARSE("-n") == -EINVAL && reports("-n needs a value: N"));
	CHECK(PARSE("--flag=yes") == -EINVAL && reports("--flag takes no value"));
	CHECK(PARSE("--quiet=yes") == -EINVAL && reports("--quiet takes no value"));
}

static void bad_values_are_refused_with_the_right_form(void)
{
	CHECK(PARSE("--number=x") == -EINVAL && reports("--number: 'x' is not a number"));
	CHECK(PARSE("--number=-1") == -EINVAL && reports("'-1' is not a number"));
	CHECK(PARSE("--number=0") == -ERANGE && reports("--number: 0 is not allowed"));
	CHECK(PARSE("--number=101") == -ERANGE && reports("at most 100"));
	CHECK(PARSE("--size=2GB") == 0 && v.size == UINT64_C(2) << 30);
	CHECK(PARSE("--size=2gib") == 0 && v.size == UINT64_C(2) << 30);
	CHECK(PARSE("--size=512mb") == 0 && v.size == UINT64_C(512) << 20);
	CHECK(PARSE("--size=4096b") == 0 && v.size == 4096);
	CHECK(PARSE("--size=2GBB") == -EINVAL && PARSE("--size=2BG") == -EINVAL &&
	      PARSE("--size=B") == -EINVAL);
	CHECK(PARSE("--size=2IB") == -EINVAL && PARSE("--size=GB") == -EINVAL &&
	      PARSE("--size=iB") == -EINVAL);
	CHECK(PARSE("--size=lots") == -EINVAL && reports("is not a size (use 512M, 2G, or bytes)"));
	CHECK(PARSE("--size=1023") == -ERANGE && reports("at least 1024, or 0"));
	CHECK(PARSE("--size=0") == 0 && v.given_size && v.size == 0);
	CHECK(PARSE("--duration=5x") == -EINVAL && reports("is not a duration (use 90s"));
	CHECK(PARSE("--wait=soon") == -EINVAL && reports("is not a duration"));
	CHECK(PARSE("--percent=two") == -EINVAL && reports("is not a decimal number"));
	CHECK(PARSE("--percent=0.001") == -EINVAL);
	CHECK(PARSE("--choice=hst") == -EINVAL &&
	      reports("invalid value 'hst'; did you mean 'host'? (use none|host|bridge)"));
	CHECK(PARSE("--choice=zzzzzzzz") == -EINVAL && !strstr(fault.text, "did you mean"));
	CHECK(PARSE("--fd=x") == -EINVAL && reports("--fd: invalid descriptor 'x'"));
	CHECK(PARSE("--fd=999") == -EBADF && reports("--fd: descriptor 999 is not open"));
	CHECK(PARSE("--text=\xff") == -EILSEQ && reports("is not UTF-8"));
	CHECK(PARSE("--text=x") == -EPERM && reports("not this one"));
}

static void options_of_one_group_exclude_each_other(void)
{
	CHECK(PARSE("-o", "--third") == -EINVAL && reports("--other and --third cannot be used together"));
	CHECK(PARSE("-o", "--other") == 0 && v.other);
}

static void a_known_name_that_is_not_supported_gets_its_answer(void)
{
	CHECK(PARSE("--gone") == -ENOTSUP && reports("--gone: use --flag"));
	CHECK(PARSE("--gone=x") == -ENOTSUP);
	CHECK(PARSE("-fg") == -ENOTSUP);
}

static void a_required_option_must_be_given(void)
{
	CHECK(parse(required, false, (const char *const[]){ "a", NULL }) == -EINVAL);
	CHECK(reports("missing option --text DIR (see: tool help)"));
	CHECK(parse(required, false, (const char *const[]){ "-tx", "a", NULL }) == 0);
	CHECK(parse(required, false, (const char *const[]){ "-h", NULL }) == OPTION_HELP);
}

static void no_word_at_all_is_fine(void)
{
	CHECK(parse(table, false, (const char *const[]){ NULL }) == 0 && args && !args[0]);
}

static void every_kind_has_a_name(void)
{
	for (enum option_kind k = OPTION_FLAG; k <= OPTION_FD; k++)
		CHECK(option_kind_name(k));
}

TAP_MAIN(T(every_kind_is_converted), T(both_spellings_of_a_value_are_the_same),
	 T(letters_are_bundled_and_take_attached_values),
	 T(an_optional_value_stands_behind_an_equals_sign_only),
	 T(options_and_arguments_mix_until_two_dashes), T(a_payload_keeps_its_own_options),
	 T(help_is_found_in_every_spelling), T(an_unknown_option_names_the_nearest_and_the_help),
	 T(a_missing_or_superfluous_value_is_refused), T(bad_values_are_refused_with_the_right_form),
	 T(options_of_one_group_exclude_each_other), T(a_known_name_that_is_not_supported_gets_its_answer),
	 T(a_required_option_must_be_given), T(no_word_at_all_is_fine), T(every_kind_has_a_name))
