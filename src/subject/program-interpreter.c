/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/program-interpreter.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#define LINE_MAX_KERNEL 256 /* BINPRM_BUF_SIZE */
#define ENTRIES_MAX 64

/* Where the fields are, by the class of the file. */
struct shape {
	size_t phoff, phentsize, phnum; /* in the header */
	size_t offset, filesz;		/* in an entry of the program header table */
	size_t entry, word;		/* sizes */
};

/* clang-format off */
static const struct shape shapes[] = {
	[ELFCLASS32] = { offsetof(Elf32_Ehdr, e_phoff), offsetof(Elf32_Ehdr, e_phentsize), offsetof(Elf32_Ehdr, e_phnum),
			 offsetof(Elf32_Phdr, p_offset), offsetof(Elf32_Phdr, p_filesz), sizeof(Elf32_Phdr), 4 },
	[ELFCLASS64] = { offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_phentsize), offsetof(Elf64_Ehdr, e_phnum),
			 offsetof(Elf64_Phdr, p_offset), offsetof(Elf64_Phdr, p_filesz), sizeof(Elf64_Phdr), 8 },
};
/* clang-format on */

struct head {
	const char *bytes;
	size_t len;
};

/* The number of SIZE bytes at AT, in the order of this machine; UINT64_MAX, which is no valid offset: not in HEAD. */
static uint64_t number_at(const struct head *h, uint64_t at, size_t size)
{
	uint16_t half;
	uint32_t word;
	uint64_t number = UINT64_MAX;

	if (at > h->len || size > h->len - at)
		return number;
	if (size == sizeof(half)) {
		memcpy(&half, h->bytes + at, sizeof(half));
		return half;
	}
	if (size == sizeof(word)) {
		memcpy(&word, h->bytes + at, sizeof(word));
		return word;
	}
	memcpy(&number, h->bytes + at, sizeof(number));
	return number;
}

static bool take(const char *text, size_t len, char *ret, size_t size)
{
	if (len == 0 || len >= size)
		return false;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return true;
}

static bool parse_line(const struct head *h, char *ret, size_t size)
{
	size_t max = h->len < LINE_MAX_KERNEL ? h->len : LINE_MAX_KERNEL, at = 2, end;

	while (at < max && (h->bytes[at] == ' ' || h->bytes[at] == '\t'))
		at++;
	for (end = at; end < max && !memchr(" \t\n", h->bytes[end], sizeof(" \t\n")); end++)
		;
	/* The kernel executes no name that it read in part. */
	if (end == LINE_MAX_KERNEL)
		return false;
	return take(h->bytes + at, end - at, ret, size);
}

static bool parse_elf(const struct head *h, char *ret, size_t size)
{
	unsigned char class = (unsigned char)h->bytes[EI_CLASS];
	const struct shape *s = &shapes[class == ELFCLASS32 ? ELFCLASS32 : ELFCLASS64];
	uint64_t at = number_at(h, s->phoff, s->word), n = number_at(h, s->phnum, 2);

	if ((class != ELFCLASS32 && class != ELFCLASS64) || number_at(h, s->phentsize, 2) != s->entry ||
	    n > ENTRIES_MAX)
		return false;
	for (; n > 0 && at < h->len; n--, at += s->entry) {
		uint64_t from, len;

		if (number_at(h, at, 4) != PT_INTERP)
			continue;
		from = number_at(h, at + s->offset, s->word);
		len = number_at(h, at + s->filesz, s->word);
		if (from > h->len || len > h->len - from)
			return false;
		return take(h->bytes + from, strnlen(h->bytes + from, len), ret, size);
	}
	return false;
}

bool interpreter_parse(const char *head, size_t len, char *ret, size_t size)
{
	const struct head h = { head, len };

	if (len >= 2 && memcmp(head, "#!", 2) == 0)
		return parse_line(&h, ret, size);
	return len > EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0 && parse_elf(&h, ret, size);
}

bool interpreter_read(const char *path, char *ret, size_t size)
{
	/* It may be a FIFO, and it is in a tree that others may write: no link is followed. */
	const struct open_how how = { .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	char head[INTERPRETER_HEAD];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	n = pread(fd, head, sizeof(head), 0);
	return n > 0 && interpreter_parse(head, (size_t)n, ret, size);
}
