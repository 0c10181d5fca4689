/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/*
 * Programs that delete as a side effect: archivers that remove what they pack, copies that remove what the
 * source lacks, mounts and links that make a name lead elsewhere. As in command-start.c only an unbounded
 * delete counts.
 */

static bool has_word(const struct shell_word *w, size_t n, const char *prefix, size_t least)
{
	for (size_t i = 1; i < n; i++)
		if (strlen(w[i].text) >= least && strncmp(w[i].text, prefix, strlen(w[i].text)) == 0)
			return true;
	return false;
}

static void remove_word(struct classifier *k, const char *program, const char *text)
{
	k->probing++;
	classifier_add_delete(k, program, text[0] == '@' ? "\x01" : text);
	k->probing--;
}

/* The operands from number SKIP on. */
static size_t remove_operands(struct classifier *k, const struct shell_word *w, size_t n, const char *args,
			      size_t skip)
{
	const struct command_row row = { .name = "", .args = args };
	struct option_iter o;
	struct option_word at;
	size_t operands = 0;

	option_iter_init(&o, &(struct simple_command){ &row, w, n }, false);
	while (option_iter_next(&o, &at))
		if (option_word_is_operand(&at) && operands++ >= skip)
			remove_word(k, w[0].text, at.word);
	return operands;
}

static void judge_zip(struct classifier *k, const struct shell_word *w, size_t n)
{
	bool moves = has_word(w, n, "--move", 4), names = false;

	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		moves = moves || (t[0] == '-' && t[1] != '-' && strchr(t, 'm'));
		names = names || str_eq(t, "-@") || (t[0] == '-' && t[1] != '-' && strchr(t, '@'));
	}
	if (!moves)
		return;
	if (names)
		remove_word(k, w[0].text, "\x01");
	(void)remove_operands(k, w, n, "bntOPxi", 1);
}

/* 7z a -sdel ARCHIVE [NAMES], rar m ARCHIVE [NAMES], rar a -df ARCHIVE [NAMES]: no names mean all. */
static void judge_7z(struct classifier *k, const struct shell_word *w, size_t n)
{
	bool moves = has_word(w, n, "-sdel", 5) || has_word(w, n, "-df", 3) || has_word(w, n, "-dw", 3) ||
		     has_word(w, n, "-dr", 3);

	moves = moves || (n > 1 && (str_eq(w[1].text, "m") || str_eq(w[1].text, "mf")));
	if (moves && remove_operands(k, w, n, NULL, 2) <= 2)
		remove_word(k, w[0].text, "*");
}

static void judge_tar(struct classifier *k, const struct shell_word *w, size_t n)
{
	static const char args[] = "fCXTbIFgLKNVH file,directory,exclude-from,files-from,exclude,transform,"
				   "use-compress-program,newer,owner,group,mode,mtime,blocking-factor";
	const struct classifier_cwds cwds = k->shell.cwds;
	const struct command_row row = { .name = "", .args = args };
	struct option_iter o;
	struct option_word at;
	size_t skip = 0;

	if (!has_word(w, n, "--remove-files", 5))
		return;
	/* "tar cfC a.tar / x": the letters of a first word without a dash take the words after it. */
	if (w[1].text[0] != '-')
		for (const char *p = w[1].text; *p; p++)
			skip += strchr("fCXTbIFgLKNVH", *p) != NULL;
	option_iter_init(&o, &(struct simple_command){ &row, w, n }, false);
	while (option_iter_next(&o, &at)) {
		if (option_word_is(&at, "C directory") && at.value)
			classifier_chdir(k, at.value);
		if (option_word_is(&at, "T files-from"))
			remove_word(k, w[0].text, "\x01");
		if (!option_word_is_operand(&at) || at.at == 1)
			continue;
		if (w[1].text[0] != '-' && skip > 0) {
			skip--;
			if (strchr(w[1].text, 'C'))
				classifier_chdir(k, at.word);
			continue;
		}
		remove_word(k, "tar --remove-files", at.word);
	}
	k->shell.cwds = cwds;
}

static void judge_rsync(struct classifier *k, const struct shell_word *w, size_t n)
{
	static const char args[] =
		"efBTM rsh,exclude,include,exclude-from,include-from,files-from,filter,"
		"rsync-path,chmod,chown,backup-dir,suffix,log-file,partial-dir,compare-dest,"
		"copy-dest,link-dest,port,password-file,bwlimit,timeout,max-size,min-size";
	const struct command_row row = { .name = "", .args = args };
	const char *last = NULL;
	bool deletes = false, moves = false;
	struct option_iter o;
	struct option_word at;

	for (size_t i = 1; i < n; i++) {
		deletes = deletes || str_starts(w[i].text, "--del");
		moves = moves || str_starts(w[i].text, "--remove-s");
	}
	option_iter_init(&o, &(struct simple_command){ &row, w, n }, false);
	while ((deletes || moves) && option_iter_next(&o, &at)) {
		if (!option_word_is_operand(&at))
			continue;
		if (moves && last)
			remove_word(k, w[0].text, last);
		last = at.word;
	}
	if (deletes && last && !strchr(last, ':'))
		remove_word(k, w[0].text, last);
}

/* A name may lead to a root from here on. */
static void judge_link(struct classifier *k, const struct shell_word *w, size_t n)
{
	const char *why;

	for (size_t i = 1; i < n; i++) {
		const char *equals = strchr(w[i].text, '=');

		if (w[i].text[0] != '-' && classifier_path_reach(k, w[i].text, &why) != REACH_NAMED)
			k->links = true;
		if (equals && classifier_path_reach(k, equals + 1, &why) != REACH_NAMED)
			k->links = true;
	}
}

static bool is_one_of(const char *name, const char *list)
{
	size_t len = strlen(name);

	for (const char *p = len ? strstr(list, name) : NULL; p; p = strstr(p + 1, name))
		if (p > list && p[-1] == ' ' && p[len] == ' ')
			return true;
	return false;
}

void classifier_probe_removals(struct classifier *k, const char *name, const struct shell_word *w, size_t n)
{
	if (n < 2)
		return;
	if (str_eq(name, "zip"))
		judge_zip(k, w, n);
	else if (is_one_of(name, " 7z 7za 7zr 7zz p7zip rar "))
		judge_7z(k, w, n);
	else if (is_one_of(name, " tar gtar bsdtar star "))
		judge_tar(k, w, n);
	else if (str_eq(name, "rsync"))
		judge_rsync(k, w, n);
	else if (is_one_of(name, " tmpreaper tmpwatch "))
		(void)remove_operands(k, w, n, "mMT protect", 1);
	else if (is_one_of(name, " bfs gfind "))
		command_judge_find(&(struct classifier){ .arena = k->arena,
							 .place = k->place,
							 .class = k->class,
							 .shell = k->shell,
							 .text = k->text,
							 .fuel = k->fuel,
							 .probing = 1 },
				   &(struct simple_command){ NULL, w, n });
	else if (str_eq(name, "ln") ||
		 (str_eq(name, "cp") && (has_word(w, n, "--symbolic-link", 4) || has_word(w, n, "-s", 2))))
		judge_link(k, w, n);
	else if (is_one_of(name, " mount bindfs systemd-mount sshfs overlayfs fuse-overlayfs unionfs ") ||
		 str_starts(name, "mount."))
		k->links = k->mounts = true;
}
