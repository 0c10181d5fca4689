/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/process.h"
#include "cli/cmd-run.h"
#include "cli/dispatch.h"
#include "base/exit-status.h"

static int cmd_help(int argc, char **argv, struct fault *f);
static int cmd_version(int argc, char **argv, struct fault *f);

/* An entry appears here together with its cmd-<verb>.c. */
/* clang-format off */
static const struct command commands[] = {
	{ "run",     "[OPTIONS] [--] COMMAND [ARGUMENTS]", "run a command in a sandbox", 0, -1, cmd_run, true, true },
	{ "shell",   "[OPTIONS]", "run a shell in a sandbox", 0, -1, cmd_shell, true, true },
	{ "check",   "[--explain] [OPTIONS] -- COMMAND...", "say what policy decides; run nothing", 0, -1, cmd_check, false, true },
	{ "bundle",  "-o DIR [OPTIONS] -- COMMAND...", "write an OCI bundle for other runtimes", 0, -1, cmd_bundle, true, true },
	{ "pending", "[ID] [--json] [--all] [--lane LANE]", "list what waits for an approval, or show it", 0, -1, cmd_pending, false, false },
	{ "approve", "ID|FILE [--uses N] [--for TIME] [--reason TEXT] [--as NAME] [--yes] [--output FILE] [--lane LANE]", "look at a request and say yes", 1, -1, cmd_approve, true, false },
	{ "deny",    "ID [--reason TEXT] [--as NAME] [--lane LANE] | --all [--lane LANE]", "refuse a request", 1, -1, cmd_deny, true, false },
	{ "grants",  "[--json] [--all] [--lane LANE]", "list approvals", 0, -1, cmd_grants, false, false },
	{ "revoke",  "ID [--reason TEXT] [--as NAME] [--lane LANE]", "take an approval back", 1, -1, cmd_revoke, true, false },
	{ "key",     "new [NAME] | ls [--json] | show [NAME] [--json], each with [--lane LANE]", "look at the keys of approvers, make one", 1, -1, cmd_key, true, false },
	{ "pin",     "set [NAME] [--reset] [--pin-fd N] [--lane LANE]", "set an approver's PIN", 1, -1, cmd_pin, true, false },
	{ "doctor",  "[--json] [--explain ID] [--config-schema] [--profile PROFILE | --engine ENGINE]", "say what this host can enforce", 0, -1, cmd_doctor, false, false },
	{ "sessions", "[--all] [--json] [--lane LANE]", "list what runs, and with --all what ran", 0, -1, cmd_sessions, false, false },
	{ "show",    "SESSION [--json] [--lane LANE]", "say what a session was, what is recorded of it", 1, -1, cmd_show, false, false },
	{ "logs",    "[-f] [--raw] SESSION [--lane LANE]", "print what a detached run wrote", 1, -1, cmd_logs, false, false },
	{ "stop",    "SESSION [--time SECONDS] [--json] [--lane LANE]", "end a session", 1, -1, cmd_stop, true, false },
	{ "diff",    "SESSION [--stat | --json] [--lane LANE] [PATH...]", "show what a run changed in its copy", 1, -1, cmd_diff, false, false },
	{ "apply",   "SESSION [--dry-run] [--skip-refused] [--restarted] [--lane LANE] [--allow-prod] [PATH...]", "bring what a run changed into the worktree", 1, -1, cmd_apply, true, false },
	{ "discard", "SESSION [--lane LANE] [--allow-prod]", "throw away what a run changed", 1, -1, cmd_discard, true, false },
	{ "evidence", "ls|show|verify|diff|restore|deliver|pin|unpin|rm|prune ...", "look at what is kept of abnormal ends", 1, -1, cmd_evidence, false, true },
	{ "help",    "[COMMAND]", "list the commands, or a command's options", 0, 1, cmd_help, false, false },
	{ "ledger",  "init|show|tail|verify|export|repair|checkpoint ...", "look at the record of what ran, verify it", 1, -1, cmd_ledger, false, true },
	{ "migrate", "[--dry-run | --apply] [--json] [DIR]", "move state without lanes into lanes", 0, -1, cmd_migrate, true, false },
	{ "profile", "ls|show|check|diff|schema|trust ...", "look at profiles, check and trust them", 1, -1, cmd_profile, false, true },
	{ "recover", "[--lane LANE]", "keep and clean up what dead supervisors left", 0, -1, cmd_recover, true, false },
	{ "reset",   "[--sandbox NAME] [--logs] [--dry-run] [--json] [--lane LANE] [--allow-prod] [--agent NAME] [--worker NAME]", "empty a sandbox root", 0, -1, cmd_reset, true, false },
	{ "version", "", "say which version this is",   0, 0, cmd_version, false, false },
	{ 0 },
};
/* clang-format on */

static int cmd_help(int argc, char **argv, struct fault *f)
{
	(void)f;
	if (argc == 1) {
		command_print_help(commands, stdout);
		return STATUS_OK;
	}
	return command_help(commands, argv[1], stdout, stderr);
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
	process_init_signals();
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
