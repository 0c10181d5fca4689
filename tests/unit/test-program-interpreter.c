/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "subject/program-interpreter.h"
#include "openat2.h"
#include "tap.h"

static bool parse(const char *text, size_t len, char *ret, size_t size)
{
	/* Of exactly LEN bytes, so that a sanitizer sees a read behind them. */
	char *copy = malloc(len ? len : 1);
	bool found;

	memcpy(copy, text, len);
	found = interpreter_parse(copy, len, ret, size);
	free(copy);
	return found;
}

static void a_script_names_its_interpreter_in_the_first_line(void)
{
	static const struct {
		const char *text, *want; /* NULL: none */
	} rows[] = {
		{ "#!/bin/sh\n", "/bin/sh" },
		{ "#! \t/bin/sh -e\n", "/bin/sh" },
		{ "#!/bin/sh", "/bin/sh" },
		{ "#!/bin/sh\r\n", "/bin/sh\r" },
		{ "#!bin/x\n/bin/sh", "bin/x" },
		{ "#!", NULL },
		{ "#!\n/bin/sh", NULL },
		{ "#!   ", NULL },
		{ "#", NULL },
		{ "", NULL },
		{ "echo x\n#!/bin/sh\n", NULL },
		{ " #!/bin/sh\n", NULL },
	};
	char ret[64];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool found = parse(rows[i].text, strlen(rows[i].text), ret, sizeof(ret));

		CHECK(found == !!rows[i].want);
		CHECK(!found || strcmp(ret, rows[i].want) == 0);
	}
}

static void a_line_that_the_kernel_reads_in_part_names_none(void)
{
	char text[1024], ret[2048];

	memset(text, 'x', sizeof(text));
	memcpy(text, "#!/", 3);
	CHECK(!parse(text, sizeof(text), ret, sizeof(ret)));
	text[200] = '\n';
	CHECK(parse(text, sizeof(text), ret, sizeof(ret)) && strlen(ret) == 198);
	CHECK(!parse(text, sizeof(text), ret, 198));
}

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr entries[2];
	char name[16];
};

static struct image image(void)
{
	struct image i = {
		.header = { .e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 },
		.entries = { { .p_type = PT_LOAD },
			     { .p_type = PT_INTERP,
			       .p_offset = offsetof(struct image, name),
			       .p_filesz = sizeof(i.name) } },
		.name = "/lib/ld-x.so"
	};

	memcpy(i.header.e_ident, ELFMAG, SELFMAG);
	i.header.e_ident[EI_CLASS] = ELFCLASS64;
	return i;
}

static bool parse_image(const struct image *i, size_t len, char *ret, size_t size)
{
	return parse((const char *)i, len, ret, size);
}

static void an_elf_file_names_its_interpreter(void)
{
	struct image i = image();
	char ret[64] = "";

	CHECK(parse_image(&i, sizeof(i), ret, sizeof(ret)) && strcmp(ret, "/lib/ld-x.so") == 0);
	/* Every shorter file is read within its bounds; none of them has a complete name. */
	for (size_t len = 0; len < sizeof(i); len++)
		CHECK(!parse_image(&i, len, ret, sizeof(ret)));
}

static void an_elf_file_with_wrong_numbers_names_none(void)
{
	char ret[64];
	struct image i;

	for (int row = 0; row < 8; row++) {
		i = image();
		if (row == 0)
			i.header.e_phoff = UINT64_MAX;
		else if (row == 1)
			i.header.e_phnum = 65535;
		else if (row == 2)
			i.header.e_phentsize = 1;
		else if (row == 3)
			i.entries[1].p_offset = UINT64_MAX - 4;
		else if (row == 4)
			i.entries[1].p_filesz = UINT64_MAX;
		else if (row == 5)
			i.entries[1].p_filesz = 0;
		else if (row == 6)
			i.entries[1].p_type = PT_NULL;
		else
			i.header.e_ident[EI_CLASS] = 7;
		CHECK(!parse_image(&i, sizeof(i), ret, sizeof(ret)));
	}
}

static void links_and_special_files_are_not_read(void)
{
	char dir[] = "/tmp/test-interpreter.XXXXXX", ret[64];
	FILE *file;

	CHECK(mkdtemp(dir) && chdir(dir) == 0);
	file = fopen("script", "we");
	CHECK(file && fputs("#!/bin/sh\n", file) >= 0 && fclose(file) == 0);
	CHECK(symlink("script", "link") == 0 && mkfifo("fifo", 0600) == 0);
	CHECK(mkdir("real", 0700) == 0 && link("script", "real/script") == 0 && symlink("real", "dir") == 0);
	if (has_openat2()) {
		CHECK(interpreter_read("script", ret, sizeof(ret)) && strcmp(ret, "/bin/sh") == 0);
		CHECK(interpreter_read("real/script", ret, sizeof(ret)));
	}
	CHECK(!interpreter_read("link", ret, sizeof(ret)));
	CHECK(!interpreter_read("dir/script", ret, sizeof(ret)));
	CHECK(!interpreter_read("fifo", ret, sizeof(ret)));
	CHECK(!interpreter_read("real", ret, sizeof(ret)));
	CHECK(!interpreter_read("none", ret, sizeof(ret)));
	CHECK(unlink("script") == 0 && unlink("link") == 0 && unlink("fifo") == 0 && unlink("dir") == 0);
	CHECK(unlink("real/script") == 0 && rmdir("real") == 0 && rmdir(dir) == 0);
}

TAP_MAIN(T(a_script_names_its_interpreter_in_the_first_line),
	 T(a_line_that_the_kernel_reads_in_part_names_none), T(an_elf_file_names_its_interpreter),
	 T(an_elf_file_with_wrong_numbers_names_none), T(links_and_special_files_are_not_read))
