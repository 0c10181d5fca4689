/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/process.h"
#include "cli/cmd-run.h"
#include "cli/command.h"
#include "core/exit-status.h"

static int cmd_help(int argc, char **argv, struct fault *f);
static int cmd_version(int argc, char **argv, struct fault *f);

/* An entry appears here together with its cmd-<verb>.c. */
/* clang-format off */
static const struct command commands[] = {
	{ "run",     "[OPTIONS] -- COMMAND...", "run a command in a sandbox", 0, -1, cmd_run, true },
	{ "shell",   "[OPTIONS]", "run a shell in a sandbox", 0, -1, cmd_shell, true },
	{ "check",   "[--explain] [OPTIONS] -- COMMAND...", "say what policy decides; run nothing", 0, -1, cmd_check, false },
	{ "bundle",  "-o DIR [OPTIONS] -- COMMAND...", "write an OCI bundle for other runtimes", 0, -1, cmd_bundle, true },
	{ "pending", "[ID] [--json] [--all]", "list what waits for an approval, or show it", 0, -1, cmd_pending, false },
	{ "approve", "ID|FILE [--uses N] [--for TIME] [--reason TEXT] [--as NAME] [--yes]", "look at a request and say yes", 1, -1, cmd_approve, true },
	{ "deny",    "ID [--reason TEXT] | --all", "refuse a request", 1, -1, cmd_deny, true },
	{ "grants",  "[--json] [--all]", "list approvals", 0, -1, cmd_grants, false },
	{ "revoke",  "ID [--reason TEXT]", "take an approval back", 1, -1, cmd_revoke, true },
	{ "key",     "new|ls|show [NAME]", "look at the keys of approvers, make one", 1, -1, cmd_key, true },
	{ "pin",     "set [NAME]", "set an approver's PIN", 1, -1, cmd_pin, true },
	{ "doctor",  "[--json] [--explain ID] [--config-schema] [--profile PROFILE | --engine ENGINE]", "say what this host can enforce", 0, -1, cmd_doctor, false },
	{ "sessions", "[--all] [--json]", "list what runs, and with --all what ran", 0, -1, cmd_sessions, false },
	{ "show",    "SESSION [--json]", "say what a session was, what is recorded of it", 1, -1, cmd_show, false },
	{ "logs",    "[-f] [--raw] SESSION", "print what a detached run wrote", 1, -1, cmd_logs, false },
	{ "stop",    "SESSION [--time SECONDS]", "end a session", 1, -1, cmd_stop, true },
	{ "diff",    "SESSION [--stat | --json] [PATH...]", "show what a run changed in its copy", 1, -1, cmd_diff, false },
	{ "apply",   "SESSION [--dry-run] [--skip-refused] [PATH...]", "bring what a run changed into the worktree", 1, -1, cmd_apply, true },
	{ "discard", "SESSION", "throw away what a run changed", 1, -1, cmd_discard, true },
	{ "evidence", "ls|show|verify|diff|restore|deliver|pin|unpin|rm|prune ...", "look at what is kept of abnormal ends", 1, -1, cmd_evidence, false },
	{ "help",    "[COMMAND]", "list the commands, or a command's options", 0, 1, cmd_help, false },
	{ "ledger",  "init|show|tail|verify|export|repair|checkpoint ...", "look at the record of what ran, verify it", 1, -1, cmd_ledger, false },
	{ "migrate", "[--dry-run | --apply] [--json] [DIR]", "move state without lanes into lanes", 0, -1, cmd_migrate, true },
	{ "profile", "ls|show|check|diff|schema|trust ...", "look at profiles, check and trust them", 1, -1, cmd_profile, false },
	{ "recover", "[--lane LANE]", "keep and clean up what dead supervisors left", 0, 2, cmd_recover, true },
	{ "reset",   "[--sandbox NAME] [--logs] [--dry-run] ...", "empty a sandbox root", 0, -1, cmd_reset, true },
	{ "version", "", "say which version this is",   0, 0, cmd_version, false },
	{ 0 },
};
/* clang-format on */

static int cmd_help(int argc, char **argv, struct fault *f)
{
	if (argc == 1) {
		command_print_help(commands, stdout);
		return STATUS_OK;
	}
	for (const struct command *c = commands; c->name; c++) {
		if (strcmp(c->name, argv[1]) != 0)
			continue;
		if (c->run == cmd_run || c->run == cmd_shell)
			return run_print_help(c->name, c->args);
		printf("usage: " PACKAGE_NAME " %s %s\n\n%s\n", c->name, c->args, c->help);
		return STATUS_OK;
	}
	return fault_set(f, EINVAL, "no command '%s'", argv[1]);
}

static int cmd_version(int argc, char **argv, struct fault *f)
{
	(void)argc, (void)argv, (void)f;
	printf(PACKAGE_NAME " " PACKAGE_VERSION "\nlibcrun " LIBCRUN_VERSION "\n");
	return STATUS_OK;
}

/* A closed stdout must not become the descriptor of a file that custody opens and then prints into. */
static int prepare(void)
{
	_cleanup_fault_ struct fault f = { 0 };

	if (fd_sanitize(&f) < 0) {
		fprintf(stderr, PACKAGE_NAME ": %s\n", fault_text(&f));
		return STATUS_FAILED;
	}
	umask(022);
	process_adopt_signals();
	return STATUS_OK;
}

/* What was printed has to arrive: a full disk or a closed pipe is a failure, not a short list. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, PACKAGE_NAME ": cannot write to stdout: %s\n", strerror(errno));
	return status == STATUS_OK ? STATUS_FAILED : status;
}

int main(int argc, char **argv)
{
	int status = prepare();

	if (status != STATUS_OK)
		return status;
	return finish(command_run(commands, argc, argv, stderr));
}
