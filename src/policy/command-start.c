/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/*
 * Programs that start the words that they are given. Whatever a row of the table says about such a program,
 * the words behind it are searched for an unbounded delete, in each directory in which it may start them:
 * this can raise a level, never lower one, so options are read generously and not exactly.
 */
enum starter_kind {
	STARTS_WORDS, /* the rest of its words */
	STARTS_TEXT,  /* a word, or the value of an option, is shell text */
	STARTS_INPUT, /* its words with names that it reads or finds */
	STARTS_FD,
	STARTS_GIT,
};

static const struct starter {
	const char *name;
	enum starter_kind kind;
	const char *dirs;  /* options with the directory in which it starts: "ab long,other" */
	const char *other; /* options that start elsewhere: a home, a new root */
	bool root;	   /* starts in "/" unless told */
} starters[] = {
	/* clang-format off */
	{ "sudo", STARTS_WORDS, "D chdir", "iR login,chroot", false },
	{ "doas", STARTS_WORDS, NULL, NULL, false },
	{ "env", STARTS_WORDS, "C chdir", NULL, false },
	{ "chroot", STARTS_WORDS, NULL, NULL, true },
	{ "nsenter", STARTS_WORDS, "wW wd,wdns", NULL, true },
	{ "unshare", STARTS_WORDS, "w wd", "R root", false },
	{ "systemd-run", STARTS_WORDS, " working-directory", NULL, true },
	{ "systemd-nspawn", STARTS_WORDS, "D directory,chdir", NULL, true },
	{ "machinectl", STARTS_WORDS, NULL, NULL, true },
	{ "pkexec", STARTS_WORDS, NULL, NULL, true },
	{ "runuser", STARTS_WORDS, NULL, "l login", false },
	{ "su", STARTS_WORDS, NULL, "l login", false },
	{ "setpriv", STARTS_WORDS, NULL, NULL, false },
	{ "capsh", STARTS_WORDS, NULL, " chroot", false },
	{ "bwrap", STARTS_WORDS, " chdir", " bind,dev-bind,bind-try,overlay", false },
	{ "firejail", STARTS_WORDS, NULL, " chroot", false },
	{ "proot", STARTS_WORDS, "wW pwd,cwd", "rR rootfs,root-id", false },
	{ "schroot", STARTS_WORDS, "d directory", NULL, true },
	{ "start-stop-daemon", STARTS_WORDS, "d chdir", "r chroot", true },
	{ "daemonize", STARTS_WORDS, "c", NULL, true },
	{ "gdb", STARTS_WORDS, " cd", NULL, false },
	{ "lldb", STARTS_WORDS, NULL, NULL, false },
	{ "gdbserver", STARTS_WORDS, NULL, NULL, false },
	{ "rr", STARTS_WORDS, NULL, NULL, false },
	{ "ip", STARTS_WORDS, NULL, NULL, false },
	{ "docker", STARTS_WORDS, "w workdir", NULL, false },
	{ "podman", STARTS_WORDS, "w workdir", NULL, false },
	{ "crun", STARTS_WORDS, " cwd", NULL, false },
	{ "runc", STARTS_WORDS, " cwd", NULL, false },
	{ "kubectl", STARTS_WORDS, NULL, NULL, false },
	{ "tar", STARTS_TEXT, NULL, NULL, false },
	{ "split", STARTS_TEXT, NULL, NULL, false },
	{ "socat", STARTS_TEXT, NULL, NULL, false },
	{ "nc", STARTS_TEXT, NULL, NULL, false },
	{ "ncat", STARTS_TEXT, NULL, NULL, false },
	{ "netcat", STARTS_TEXT, NULL, NULL, false },
	{ "ssh", STARTS_TEXT, NULL, NULL, false },
	{ "scp", STARTS_TEXT, NULL, NULL, false },
	{ "sftp", STARTS_TEXT, NULL, NULL, false },
	{ "rsync", STARTS_TEXT, NULL, NULL, false },
	{ "zip", STARTS_TEXT, NULL, NULL, false },
	{ "man", STARTS_TEXT, NULL, NULL, false },
	{ "dpkg", STARTS_TEXT, NULL, NULL, false },
	{ "apt", STARTS_TEXT, NULL, NULL, false },
	{ "apt-get", STARTS_TEXT, NULL, NULL, false },
	{ "rpm", STARTS_TEXT, NULL, NULL, false },
	{ "flock", STARTS_TEXT, NULL, NULL, false },
	{ "sg", STARTS_TEXT, NULL, NULL, false },
	{ "newgrp", STARTS_TEXT, NULL, NULL, false },
	{ "xterm", STARTS_TEXT, NULL, NULL, false },
	{ "rg", STARTS_TEXT, NULL, NULL, false },
	{ "crontab", STARTS_TEXT, NULL, NULL, false },
	{ "parallel", STARTS_INPUT, " workdir,wd", NULL, false },
	{ "rush", STARTS_INPUT, NULL, NULL, false },
	{ "fd", STARTS_FD, "C base-directory", NULL, false },
	{ "fdfind", STARTS_FD, "C base-directory", NULL, false },
	{ "git", STARTS_GIT, NULL, NULL, false },
	{ NULL, STARTS_WORDS, NULL, NULL, false },
	/* clang-format on */
};

/* Further programs that start words or shell text, read like STARTS_TEXT.  Any program that is in no table keeps its words. */
static const char *const further[] = {
	/* clang-format off */
	"aa-exec", "ansible", "asdf", "aws-vault", "bear", "bpftrace", "bunx", "caffeinate", "callgrind",
	"catchsegv", "ccache", "cgexec", "chamber", "chpst", "chrt", "cmd", "concurrently", "coreutils",
	"cpulimit", "crash", "custody", "dbus-launch", "dbus-run-session", "direnv", "distcc", "distrobox",
	"dlx", "doppler", "dotenv", "dotenvx", "dumb-init", "eatmydata", "elvish", "entr", "envdir",
	"envuidgid", "execlineb", "expect", "fab", "fakechroot", "fakeroot", "faketime", "flatpak", "fly",
	"fnm", "foreman", "genv", "gnice", "gosu", "gtime", "gtimeout", "guix", "hatch", "heaptrack",
	"heroku", "hyperfine", "i386", "ifne", "ionice", "jenv", "ld-linux-aarch64.so.1",
	"ld-linux-x86-64.so.2", "ld.so", "lerna", "linux32", "linux64", "lockfile-run", "logsave", "ltrace",
	"lxc", "lxc-attach", "mise", "mispipe", "mosh", "multipass", "newrole", "nix", "nix-shell", "nodemon",
	"nodenv", "npm-run-all", "nu", "numactl", "nvm", "nx", "oc", "op", "osh", "parallel-ssh", "pdm",
	"pdsh", "pee", "perf", "pipenv", "pixi", "pnpx", "powershell", "prlimit", "proxychains",
	"proxychains4", "psexec", "pssh", "pv", "pwsh", "pyenv", "rbenv", "rc", "reptyr", "rlwrap", "run-one",
	"run-parts", "run0", "runcon", "runsv", "rustup", "rye", "s6-setuidgid", "salt", "scan-build",
	"sccache", "screen", "script", "sdk", "sem", "setarch", "setlock", "setuidgid", "snap", "softlimit",
	"sops", "spack", "ssh-agent", "sshpass", "stap", "startx", "strace", "su-exec", "systemd-cat",
	"systemd-inhibit", "taskset", "tini", "tmux", "toolbox", "torify", "torsocks", "trickle", "tsocks",
	"turbo", "unbuffer", "uvx", "vagrant", "valgrind", "volta", "watch", "watchexec", "with-lock-ex",
	"wsl", "x86_64", "xinit", "xonsh", "xvfb-run", "yash", NULL,
	/* clang-format on */
};

static const struct starter *find_starter(const char *name)
{
	static const struct starter any = { "", STARTS_TEXT, NULL, NULL, false };
	const struct starter *s = starters;

	while (s->name && !str_eq(s->name, name))
		s++;
	if (s->name)
		return s;
	for (size_t i = 0; further[i]; i++)
		if (str_eq(further[i], name))
			return &any;
	return NULL;
}

/* --- options, read generously -------------------------------------------------------------------------------- */

static bool has_long(const char *list, const char *name, size_t len)
{
	const char *p = list ? strchr(list, ' ') : NULL;

	for (p = p ? p + 1 : NULL; p && *p && len > 1; p += *p == ',') {
		size_t one = strcspn(p, ",");

		if (len <= one && strncmp(p, name, len) == 0)
			return true;
		p += one;
	}
	return false;
}

/*
 * Is word I one of LIST, also abbreviated or in a cluster? *RET_VALUE is its value, attached or the next word;
 * "" if it has none.
 */
bool command_is_option(const struct shell_word *w, size_t n, size_t i, const char *list,
		       const char **ret_value)
{
	const char *t = w[i].text, *next = i + 1 < n ? w[i + 1].text : "";

	*ret_value = next;
	if (!list || t[0] != '-' || !t[1])
		return false;
	if (t[1] == '-') {
		size_t len = strcspn(t + 2, "=");

		if (t[2 + len] == '=')
			*ret_value = t + 3 + len;
		return has_long(list, t + 2, len);
	}
	for (const char *p = t + 1; *p; p++)
		for (const char *l = list; *l && *l != ' '; l++)
			if (*l == *p) {
				*ret_value = p[1] ? p + 1 : next;
				return true;
			}
	/* Long names with one dash: gdb -cd DIR. */
	return has_long(list, t + 1, strcspn(t + 1, "="));
}

/* --- the kinds ----------------------------------------------------------------------------------------------- */

static void probe_in(struct classifier *k, const char *dir, const struct shell_word *w, size_t n)
{
	const struct classifier_cwds cwds = k->shell.cwds;

	classifier_chdir(k, dir);
	classifier_probe_arguments(k, w, n);
	k->shell.cwds = cwds;
}

static void probe_started(struct classifier *k, const struct starter *s, const struct shell_word *w, size_t n)
{
	const char *value;

	classifier_probe_arguments(k, w, n);
	if (s->root)
		probe_in(k, "/", w, n);
	for (size_t i = 1; i < n; i++) {
		if (command_is_option(w, n, i, s->dirs, &value) && *value)
			probe_in(k, value, w + i, n - i);
		if (command_is_option(w, n, i, s->other, &value))
			probe_in(k, "/", w + i, n - i);
	}
}

static void probe_texts(struct classifier *k, const struct shell_word *w, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text, *equals = strchr(t, '=');

		if (!strpbrk(t, " \t\n"))
			continue;
		classifier_probe_text(k, t);
		if (equals)
			classifier_probe_text(k, equals + 1);
		classifier_probe_raw(k, t);
	}
	for (const struct shell_redirect *d = k->text.redirects; d; d = d->next)
		if (d->kind == SHELL_REDIRECT_HERE)
			classifier_probe_raw(k, d->word.text);
}

/* The template with the input in its place, or behind it; parallel joins the words for a shell. */
static void probe_template(struct classifier *k, const struct shell_word *w, size_t n, const char *input)
{
	const struct shell_word both[2] = { { classifier_join_words(k, w, n) ?: "\x01", 0 }, { input, 0 } };
	const char *text = classifier_replace(k, both[0].text, "{}", input);
	struct shell_word *words = arena_alloc(k->arena, (n + 1) * sizeof(*words));

	if (text == both[0].text)
		text = classifier_join_words(k, both, 2) ?: "\x01";
	classifier_probe_text(k, text);
	for (size_t i = 0; words && i < n; i++)
		words[i] = (struct shell_word){ classifier_replace(k, w[i].text, "{}", input), w[i].flags };
	if (words)
		words[n] = (struct shell_word){ input, 0 };
	if (words)
		classifier_probe_command(k, words, n + 1);
}

/* parallel [options] words ::: inputs; without inputs it reads them. */
static void probe_parallel(struct classifier *k, const struct shell_word *w, size_t n)
{
	size_t inputs = 1, from = 1;

	while (inputs < n && !str_starts(w[inputs].text, ":::"))
		inputs++;
	for (; from <= inputs; from++) {
		if (from < inputs && w[from].text[0] == '-')
			continue;
		if (from < inputs && !command_row_find(command_base(w[from].text, &(bool){ false })) &&
		    !strpbrk(w[from].text, " \t"))
			continue; /* an option's value, or a program that is not known */
		for (size_t i = inputs; i < n; i++)
			if (!str_starts(w[i].text, ":::"))
				probe_template(k, w + from, inputs - from, w[i].text);
		/* From standard input, or from the files after "::::". */
		if (from < inputs && (inputs == n || str_starts(w[inputs].text, "::::"))) {
			probe_template(k, w + from, inputs - from, "\x01");
			classifier_probe_inputs(k, w + from, inputs - from, "{}");
		}
		if (from < inputs)
			break;
	}
}

static bool is_broad_regex(const char *text)
{
	size_t letters = 0;

	for (const char *p = text; *p; p++)
		letters += (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
	return letters < 2 || strpbrk(text, "[|(") != NULL;
}

/* fd [pattern] [paths] -x words: a pattern with a name, or -e, bounds it in the worktree. */
static void probe_fd(struct classifier *k, const struct shell_word *w, size_t n)
{
	const char *match = "*", *why, *value;
	size_t at = 1, operands = 0;
	bool named = false;

	while (at < n && !command_is_option(w, n, at, "xX exec,exec-batch", &value)) {
		if (command_is_option(w, n, at, "e extension", &value)) {
			named = true;
			at += value == (at + 1 < n ? w[at + 1].text : NULL);
		} else if (w[at].text[0] != '-' && operands++ == 0) {
			named = named || !is_broad_regex(w[at].text);
		} else if (w[at].text[0] != '-' &&
			   classifier_path_reach(k, w[at].text, &why) == REACH_WHOLE) {
			named = false;
			break;
		}
		at++;
	}
	while (at < n && !command_is_option(w, n, at, "xX exec,exec-batch", &value))
		at++;
	if (at + 1 >= n)
		return;
	if (named)
		match = "./named/found";
	probe_template(k, w + at + 1, n - at - 1, match);
}

static void probe_value(struct classifier *k, const char *text)
{
	const char *equals = strchr(text, '=');

	classifier_probe_text(k, text + strspn(text, "!"));
	if (equals)
		classifier_probe_text(k, equals + 1 + strspn(equals + 1, "!"));
}

/* git bisect run, rebase -x, fetch --upload-pack, -c alias.x='!...', ext:: addresses. */
static void probe_git(struct classifier *k, const struct shell_word *w, size_t n)
{
	static const char options[] =
		"xuOc exec,upload-pack,receive-pack,extcmd,open-files-in-pager,"
		"tree-filter,index-filter,msg-filter,env-filter,parent-filter,commit-filter,"
		"tag-name-filter,setup,config,sendmail-cmd,to-cmd,cc-cmd,header-cmd,"
		"smtp-server,tool,browser,httpd";
	const char *value;

	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;

		if (str_eq(t, "--"))
			break;
		if (command_is_option(w, n, i, options, &value) && *value)
			probe_value(k, value);
		if (str_starts(t, "ext::"))
			classifier_probe_text(k, t + 5);
		if ((str_eq(t, "run") || str_eq(t, "foreach")) && i + 1 < n) {
			classifier_probe_command(k, w + i + 1, n - i - 1);
			classifier_probe_arguments(k, w + i, n - i);
		}
		if (str_starts(t, "alias.") && i + 1 < n)
			probe_value(k, w[i + 1].text);
	}
}

void classifier_probe_started(struct classifier *k, const char *name, const struct shell_word *w, size_t n)
{
	const struct starter *s = find_starter(name);

	if (!s)
		return;
	switch (s->kind) {
	case STARTS_WORDS:
		probe_started(k, s, w, n);
		break;
	case STARTS_TEXT:
		probe_texts(k, w, n);
		classifier_probe_arguments(k, w, n);
		break;
	case STARTS_INPUT:
		probe_parallel(k, w, n);
		probe_started(k, s, w, n);
		break;
	case STARTS_FD:
		probe_fd(k, w, n);
		break;
	case STARTS_GIT:
		probe_git(k, w, n);
		break;
	}
}

bool command_runs_arguments(const char *path)
{
	bool own;
	const char *name = command_base(path, &own);
	const struct command_row *row = command_row_find(name);

	return find_starter(name) || (row && (command_row_runs_arguments(row) || find_starter(row->name)));
}
