/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command-table.h"

#include "doctor/doctor-engine.h"
#include "session/stop-signal.h"

/* Every command with its options.  docs/design/options.md says how to add one. */

/* clang-format off */
#define FLAG(name, letter, field, text, ...)        { name, letter, OPTION_FLAG, AT(field), NULL, .help = text, __VA_ARGS__ }
#define TEXT(name, letter, field, value, text, ...) { name, letter, OPTION_TEXT, AT(field), value, .help = text, __VA_ARGS__ }
#define LIST(name, letter, field, value, text, ...) { name, letter, OPTION_TEXT, AT(field), value, .help = text, .flags = OPTION_LIST, __VA_ARGS__ }
#define END                                         { 0 }

#define LANE       TEXT("lane", 0, lane, "LANE", "lane: sandbox or prod; default: CUSTODY_LANE, then custody.json", .candidates = CANDIDATES_LANE)
#define JSON       FLAG("json", 0, json, "print a JSON document")
#define ALLOW_PROD FLAG("allow-prod", 0, allow_prod, "first of the two keys of lane prod; CUSTODY_ALLOW_PROD=1 is the other")
#define REASON     TEXT("reason", 0, reason, "TEXT", "reason, kept with the decision and in the ledger")
#define AS         TEXT("as", 0, as, "NAME", "approver that decides; default: your own key", .candidates = CANDIDATES_APPROVER)

static const struct option none[]         = { END };
static const struct option lane_only[]    = { LANE, END };
static const struct option lane_keys[]    = { LANE, ALLOW_PROD, END };
static const struct option json_only[]    = { JSON, END };
static const struct option lane_keys_json[] = { JSON, LANE, ALLOW_PROD, END };
static const struct option lane_json[]    = { JSON, LANE, END };
static const struct option pending[]      = { FLAG("all", 0, all, "include denied requests"), JSON, LANE, END };
static const struct option grants[]       = { FLAG("all", 0, all, "include grants that no longer count, with the reason"), JSON, LANE, END };
static const struct option approve[]      = {
	{ "uses", 0, OPTION_NUMBER,   AT(uses),  "N",    .help = "number of starts that are approved (default: 1; level C: always 1)", .flags = OPTION_NOT_ZERO },
	{ "for",  0, OPTION_DURATION, AT(for_s), "TIME", .help = "time that the grant is valid: 90s, 30m, 2h, 1d (default: 1h)", .flags = OPTION_NOT_ZERO },
	FLAG("always", 0, always, "approve every start of this program with this profile, worktree and network, whatever its arguments, for 30 days or the time of --for; needs the PIN"),
	REASON, AS,
	FLAG("yes", 0, yes, "approve without a question, for scripts; level B only"),
	TEXT("fleet", 0, fleet, "NAME", "the grant counts on each ledger of this fleet of custody.json, with its uses on each; level B only"),
	TEXT("output", 0, output, "FILE", "also write the grant to FILE, which must not exist", .candidates = CANDIDATES_FILE),
	LANE, ALLOW_PROD, END };
static const struct option deny[]         = { FLAG("all", 0, all, "remove all requests of the lane instead of denying one"), REASON, AS, LANE, ALLOW_PROD, END };
static const struct option revoke_grant[] = { REASON, AS, LANE, END };
static const struct option pin_set[]      = {
	FLAG("reset", 0, reset, "do not ask for the old PIN: create a new key with a new PIN"),
	{ "pin-fd", 0, OPTION_FD, AT(pin_fd), "N", .help = "read the old PIN, if one is set, and the new one from descriptor N, one line each" },
	LANE, ALLOW_PROD, END };
static const struct option doctor[]       = {
	JSON,
	TEXT("profile", 0, profile, "PROFILE", "profile whose layers are tested (default: offline)", .group = 1, .candidates = CANDIDATES_PROFILE),
	TEXT("engine", 0, engine, "podman|docker|containerd", "check the registration of custody-runtime with an engine instead", .group = 1, .candidates = CANDIDATES_WORDS, .check = doctor_require_engine),
	TEXT("explain", 0, explain, "ID", "print what the check ID tests and how to fix it"),
	FLAG("config-schema", 0, schema, "print the JSON Schema of custody.json"),
	END };
static const struct option sessions[]     = { FLAG("all", 0, all, "include all ended sessions"), JSON, LANE, END };
static const struct option logs[]         = {
	FLAG("follow", 'f', follow, "continue until the session exits"),
	FLAG("raw", 0, raw, "do not escape control characters on a terminal"),
	LANE, END };
static const struct option stop[]         = {
	{ "time", 0, OPTION_DURATION, AT(grace_s), "TIME", .help = "time between TERM and KILL (10, 90s, 5m; 0: KILL at once); default: limits.grace of the profile", .given = AT(set_grace), .max = STOP_GRACE_MAX },
	JSON, LANE, END };
static const struct option diff[]         = {
	FLAG("stat", 0, stat, "print the number of changed lines per file; of more than 10000 changes the sizes", .group = 1),
	FLAG("lines", 0, count_lines, "with --stat: count the lines of more than 10000 changes, too"),
	FLAG("json", 0, json, "print a JSON document with everything but the lines", .group = 1),
	FLAG("git-objects", 0, git_objects, "list objects, refs and logs in .git too, instead of a line per commit"),
	{ "color", 0, OPTION_CHOICE, AT(color), "auto|always|never", .help = "colours; auto: on a terminal, without NO_COLOR (default)", .candidates = CANDIDATES_WORDS },
	FLAG("no-pager", 0, no_pager, "no pager on a terminal (default: CUSTODY_PAGER, GIT_PAGER, PAGER, then less)"),
	LANE, END };
static const struct option apply[]        = {
	FLAG("dry-run", 0, dry_run, "print what would be applied; write nothing"),
	FLAG("skip-refused", 0, skip_refused, "apply the other paths even if some are refused"),
	FLAG("yes", 0, yes, "do not ask on a terminal: only --deletions, --allow and the profile answer"),
	{ "deletions", 0, OPTION_NUMBER, AT(deletions), "N", .help = "allow the removal of at most N files and directories (default: workspace.ask_deletions of the profile)", .max = 500000 },
	LIST("allow", 0, allow, "PATH", "allow the change of PATH and everything below it, for which apply would ask", .candidates = CANDIDATES_FILE),
	FLAG("restarted", 0, restarted, "apply although the machine was restarted after the session: after a crash files may be empty"),
	LANE, ALLOW_PROD, END };
#define OLDER      { "older", 0, OPTION_DURATION, AT(older_s), "TIME", .help = "only entries older than TIME: 90s, 30m, 2h, 7d", .given = AT(set_older) }
#define YES        FLAG("yes", 0, yes, "do not ask on a terminal")
static const struct option discard[]      = {
	FLAG("all", 0, all, "every session of the lane with kept changes, of any directory"),
	OLDER,
	FLAG("dry-run", 0, dry_run, "print what would be discarded; remove nothing"),
	YES, LANE, ALLOW_PROD, END };
static const struct option prune[]        = {
	OLDER,
	FLAG("all", 0, all, "everything but pinned evidence and homes in use"),
	FLAG("dry-run", 0, dry_run, "print what would be removed; remove nothing"),
	YES, JSON, LANE, ALLOW_PROD, END };

static const struct option evidence_diff[]    = { TEXT("tree", 0, tree, "DIR", "compare with DIR instead of the worktree", .candidates = CANDIDATES_DIRECTORY), JSON, LANE, END };
static const struct option evidence_restore[] = {
	FLAG("exact", 0, exact, "also restore owners, set-id bits, devices and attributes (root only)"),
	TEXT("sandbox", 0, sandbox, "NAME", "restore into the workspace of the sandbox root NAME; DIR is relative to it", .candidates = CANDIDATES_SANDBOX),
	LANE, END };
static const struct option evidence_pin[]     = { TEXT("reason", 0, reason, "TEXT", "reason, shown by 'custody evidence show'"), LANE, END };
static const struct option evidence_rm[]      = { FLAG("force", 0, force, "remove it even if it is pinned"), LANE, ALLOW_PROD, END };
static const struct option evidence_prune[]   = { FLAG("dry-run", 0, dry_run, "print what would be removed; remove nothing"), JSON, LANE, ALLOW_PROD, END };
static const struct option evidence_deliver[] = {
	{ "timeout", 0, OPTION_DURATION, AT(timeout_s), "TIME", .help = "stop when the store does not respond for TIME (default: 60s, at most 1h)", .flags = OPTION_NOT_ZERO, .max = 3600 },
	FLAG("local", 0, local, "the store was a network share and is now a local directory"),
	JSON, LANE, END };

static const struct option credential_add[] = {
	LIST("host", 0, hosts, "HOST", "host to which the value may go: a name, or *. and a name"),
	TEXT("file", 0, from_file, "PATH", "read the value from this file at each use, instead of storing it", .group = 1, .candidates = CANDIDATES_FILE),
	TEXT("systemd", 0, from_systemd, "NAME", "read it from systemd's credential NAME ($CREDENTIALS_DIRECTORY)", .group = 1),
	TEXT("exec", 0, from_exec, "PATH", "run this program for a token and its expiry", .group = 1, .candidates = CANDIDATES_FILE),
	LANE, ALLOW_PROD, END };

#define FILTERS \
	TEXT("since",   0, since,   "TIME", "only records since TIME: 2026-11-16, 2026-11-16T03:15 (UTC), or 90m for 90 minutes ago"), \
	TEXT("until",   0, until,   "TIME", "only records until TIME"), \
	TEXT("session", 0, session, "ID",   "only records of this session", .candidates = CANDIDATES_SESSION_ID), \
	TEXT("agent",   0, agent,   "NAME", "only records of this agent"), \
	TEXT("kind",    0, kind,    "KIND", "only records of this kind: session.end, 'session.*'"), \
	TEXT("status",  0, status,  "TEXT", "only records with this status")
static const struct option ledger_init[]   = { TEXT("k0-file", 0, k0_file, "FILE", "write the first seal key to FILE, which must not exist, instead of printing it", .candidates = CANDIDATES_FILE), JSON, LANE, ALLOW_PROD, END };
static const struct option ledger_show[]   = {
	FILTERS,
	FLAG("key", 0, show_key, "print the public key of the ledger instead"),
	FLAG("peers", 0, peers, "print how many records each audit peer lacks instead"),
	JSON, LANE, END };
static const struct option ledger_tail[]   = {
	{ "lines", 'n', OPTION_NUMBER, AT(lines), "N", .help = "number of records (default: 10)", .given = AT(set_lines), .max = 100000 },
	FLAG("follow", 'f', follow, "print new records as they are written"),
	FILTERS,
	FLAG("json", 0, json, "print the records as JSON, one per line"),
	LANE, END };
static const struct option ledger_verify[] = {
	LIST("k0", 0, k0, "FILE", "first seal key of the ledger, or of a new seal: 64 hex digits", .candidates = CANDIDATES_FILE),
	LIST("from-checkpoint", 0, from_checkpoint, "FILE", "signed checkpoints from another host; the beginning of the ledger may then be missing", .candidates = CANDIDATES_FILE),
	TEXT("seal", 0, seal, "FILE", "copy of the seal, for a copy of the ledger; copy the seal first", .candidates = CANDIDATES_FILE),
	TEXT("key", 0, key, "KEY", "public key that the ledger must have, or a file with it", .candidates = CANDIDATES_FILE),
	TEXT("anchor", 0, anchor, "N:HEAD", "end of a session's audit.ndjson: records and head of 'audit' in its session.end"),
	JSON, LANE, END };
static const struct option ledger_export[] = {
	TEXT("format", 0, format, "jsonl|ocsf|cef|otlp-json", "format of a security tool; the chain is verified, and --since may be a seq", .candidates = CANDIDATES_WORDS, .check = cmd_ledger_require_format),
	TEXT("output", 'o', output, "FILE", "write to FILE, which must not exist, instead of stdout", .candidates = CANDIDATES_FILE),
	FILTERS, LANE, END };
static const struct option ledger_repair[] = {
	FLAG("accept-loss", 0, accept_loss, "continue after records were removed or changed", .group = 1),
	FLAG("new-seal", 0, new_seal, "continue after the seal was lost", .group = 1),
	FLAG("new-key", 0, new_key, "use a new key for checkpoints", .group = 1),
	JSON, LANE, ALLOW_PROD, END };
static const struct option ledger_checkpoint[] = { JSON, LANE, ALLOW_PROD, END };
static const struct option migrate[]       = {
	FLAG("dry-run", 0, dry_run, "print the plan; write nothing (default)", .group = 1),
	FLAG("apply", 0, apply, "move the entries", .group = 1),
	JSON, ALLOW_PROD, END };
static const struct option profile_show[]  = { FLAG("origin", 0, origin, "print one line per value, with the file and line that set it"), JSON, END };
static const struct option profile_trust[] = { FLAG("rm", 0, rm, "remove the trust in the file"), END };
#define UTF8(name, field, value, text, ...) TEXT(name, 0, field, value, text, .flags = OPTION_UTF8, __VA_ARGS__)
static const struct option reset[]         = {
	UTF8("sandbox", sandbox, "NAME", "sandbox root to empty (default: default, the shared one)", .candidates = CANDIDATES_SANDBOX),
	{ "home", 0, OPTION_TEXT, AT(home), "NAME|ID", .help = "empty the kept home NAME of the project around the current directory (default: default), or the one with the ID of 'custody df', instead of a root", .flags = OPTION_OPTIONAL_VALUE | OPTION_UTF8, .given = AT(set_home) },
	FLAG("logs", 0, logs, "also remove the logs"),
	FLAG("dry-run", 0, dry_run, "print what would be removed; write nothing"),
	JSON,
	UTF8("lane", lane, "LANE", "lane: sandbox or prod; default: CUSTODY_LANE, then custody.json", .candidates = CANDIDATES_LANE),
	ALLOW_PROD,
	UTF8("agent", agent, "NAME", "agent that asks for the reset, for the ledger"),
	UTF8("worker", worker, "NAME", "worker of the agent, for the ledger"),
	END };
static const struct option setup[]         = {
	FLAG("dry-run", 0, dry_run, "print every file and every change; change nothing"),
	FLAG("remove", 0, rm, "undo what setup did for USER"),
	END };
static const struct option help[]          = {
	FLAG("json", 0, json, "print every command and option as a JSON document"),
	{ "section", 0, OPTION_CHOICE, AT(section), "synopsis|options", .help = "print a section of the manual page", .flags = OPTION_HIDDEN },
	END };
static const struct option completion[]    = {
	TEXT("values", 0, values, "KIND", "print candidates of this kind, one per line", .flags = OPTION_HIDDEN),
	{ "lane", 0, OPTION_TEXT, AT(lane), "LANE", .help = "lane of the candidates", .flags = OPTION_HIDDEN },
	END };

static const struct command key_commands[] = {
	{ "new",  "[NAME]", "create a key pair for an approver",  0, 1, lane_keys, .run = cmd_key_new,  COMMAND_ACTS | COMMAND_LANE | COMMAND_PROD },
	{ "ls",   "",       "list approvers and their keys",      0, 0, lane_json, .run = cmd_key_ls,   COMMAND_ACTS | COMMAND_LANE },
	{ "show", "[NAME]", "print the entry for custody.json",   0, 1, lane_json, .run = cmd_key_show, COMMAND_ACTS | COMMAND_LANE, CANDIDATES_APPROVER },
	{ 0 },
};
static const struct command pin_commands[] = {
	{ "set",  "[NAME]", "set or change the PIN of an approver", 0, 1, pin_set, .run = cmd_pin_set, COMMAND_ACTS | COMMAND_LANE | COMMAND_PROD, CANDIDATES_APPROVER },
	{ 0 },
};
static const struct command evidence_commands[] = {
	{ "ls",      "",         "list evidence, oldest first",                               0, 0, lane_json,        .run = cmd_evidence_ls,      COMMAND_LANE },
	{ "show",    "[ID]",     "show session, exit reason and missing parts",               0, 1, lane_json,        .run = cmd_evidence_show,    COMMAND_LANE, CANDIDATES_EVIDENCE },
	{ "verify",  "ID",       "compare every byte with the manifest and the ledger",       1, 1, lane_json,        .run = cmd_evidence_verify,  COMMAND_LANE, CANDIDATES_EVIDENCE },
	{ "diff",    "ID [ID2]", "compare with the worktree, a directory or other evidence",  1, 2, evidence_diff,    .run = cmd_evidence_diff,    COMMAND_LANE, CANDIDATES_EVIDENCE, CANDIDATES_EVIDENCE },
	{ "restore", "ID DIR",   "restore the worktree into an empty or missing directory",   2, 2, evidence_restore, .run = cmd_evidence_restore, COMMAND_LANE, CANDIDATES_EVIDENCE, CANDIDATES_DIRECTORY },
	{ "deliver", "",         "copy staged evidence to the store now",                     0, 0, evidence_deliver, .run = cmd_evidence_deliver, COMMAND_LANE },
	{ "pin",     "ID",       "keep it regardless of retention",                           1, 1, evidence_pin,     .run = cmd_evidence_pin,     COMMAND_LANE, CANDIDATES_EVIDENCE },
	{ "unpin",   "ID",       "let retention remove it again",                             1, 1, lane_keys,        .run = cmd_evidence_unpin,   COMMAND_LANE | COMMAND_PROD, CANDIDATES_EVIDENCE },
	{ "rm",      "ID",       "remove it",                                                 1, 1, evidence_rm,      .run = cmd_evidence_rm,      COMMAND_LANE | COMMAND_PROD, CANDIDATES_EVIDENCE },
	{ "prune",   "",         "remove evidence that retention does not keep",              0, 0, evidence_prune,   .run = cmd_evidence_prune,   COMMAND_LANE | COMMAND_PROD },
	{ 0 },
};
static const struct command ledger_commands[] = {
	{ "init",       "",         "create the ledger; print its first seal key once",        0, 0, ledger_init,   .run = cmd_ledger_init },
	{ "show",       "[PATH]",   "print records",                                           0, 1, ledger_show,   .run = cmd_ledger_show,   0, CANDIDATES_FILE },
	{ "tail",       "[PATH]",   "print the last records, and new ones with -f",            0, 1, ledger_tail,   .run = cmd_ledger_tail,   0, CANDIDATES_FILE },
	{ "verify",     "[PATH|-]", "check the ledger for changed and missing records",        0, 1, ledger_verify, .run = cmd_ledger_verify, 0, CANDIDATES_FILE },
	{ "export",     "[PATH]",   "copy records unchanged, or convert them with --format",   0, 1, ledger_export, .run = cmd_ledger_export, 0, CANDIDATES_FILE },
	{ "repair",     "",         "remove a torn tail; continue after a loss",               0, 0, ledger_repair, .run = cmd_ledger_repair },
	{ "checkpoint", "",         "sign the current state; send peers the missing records",  0, 0, ledger_checkpoint, .run = cmd_ledger_checkpoint },
	{ 0 },
};
static const struct command credential_commands[] = {
	{ "add",  "NAME", "add a credential, or replace it; its value comes from stdin",  1, 1, credential_add, .run = cmd_credential_add,  COMMAND_LANE | COMMAND_PROD, CANDIDATES_CREDENTIAL },
	{ "ls",   "",     "list credentials, never their values",                         0, 0, lane_json,      .run = cmd_credential_ls,   COMMAND_LANE },
	{ "rm",   "NAME", "remove a credential",                                          1, 1, lane_keys,      .run = cmd_credential_rm,   COMMAND_LANE | COMMAND_PROD, CANDIDATES_CREDENTIAL },
	{ "test", "NAME", "load a credential and say whether that works",                 1, 1, lane_keys_json, .run = cmd_credential_test, COMMAND_LANE | COMMAND_PROD, CANDIDATES_CREDENTIAL },
	{ 0 },
};
static const struct command profile_commands[] = {
	{ "ls",     "",        "list profiles",                                    0,  0, json_only,     .run = cmd_profile_ls },
	{ "show",   "NAME",    "print a profile with its parents merged",          1,  1, profile_show,  .run = cmd_profile_show,   0, CANDIDATES_PROFILE },
	{ "check",  "FILE...", "validate profile files",                           1, -1, json_only,     .run = cmd_profile_check,  0, CANDIDATES_FILE, CANDIDATES_FILE },
	{ "diff",   "A B",     "compare the keys of two profiles",                 2,  2, json_only,     .run = cmd_profile_diff,   0, CANDIDATES_PROFILE, CANDIDATES_PROFILE },
	{ "schema", "",        "print the JSON Schema of profiles",                0,  0, json_only,     .run = cmd_profile_schema },
	{ "trust",  "PATH",    "trust a profile file of a worktree, as it is now", 1,  1, profile_trust, .run = cmd_profile_trust,  0, CANDIDATES_FILE },
	{ 0 },
};

#define PAYLOAD "[--] COMMAND [ARGUMENT...]"
const struct command commands[] = {
	{ "run",        PAYLOAD,               "run a command in a sandbox",                     1, -1, run_table,    .run = cmd_run,      COMMAND_ACTS | COMMAND_OPTIONS_FIRST | COMMAND_FAILS_125, CANDIDATES_PROGRAM },
	{ "shell",      "",                    "run a shell in a sandbox",                       0,  0, shell_table,  .run = cmd_shell,    COMMAND_ACTS | COMMAND_OPTIONS_FIRST | COMMAND_FAILS_125 },
	{ "check",      PAYLOAD,               "print the decision of policy; run nothing",      1, -1, check_table,  .run = cmd_check,    COMMAND_OPTIONS_FIRST, CANDIDATES_PROGRAM },
	{ "bundle",     PAYLOAD,               "write an OCI bundle for other runtimes",         1, -1, bundle_table, .run = cmd_bundle,   COMMAND_ACTS | COMMAND_OPTIONS_FIRST, CANDIDATES_PROGRAM },
	{ "pending",    "[ID]",                "list requests for approval, or show one",        0,  1, pending,      .run = cmd_pending,  COMMAND_LANE, CANDIDATES_REQUEST },
	{ "approve",    "ID|FILE",             "approve a request",                              1,  1, approve,      .run = cmd_approve,  COMMAND_ACTS | COMMAND_LANE | COMMAND_PROD, CANDIDATES_REQUEST },
	{ "deny",       "[ID]",                "deny a request",                                 0,  1, deny,         .run = cmd_deny,     COMMAND_ACTS | COMMAND_LANE | COMMAND_PROD_ALL, CANDIDATES_REQUEST },
	{ "grants",     "",                    "list approvals",                                 0,  0, grants,       .run = cmd_grants,   COMMAND_LANE },
	{ "revoke",     "ID",                  "revoke an approval",                             1,  1, revoke_grant, .run = cmd_revoke,   COMMAND_ACTS | COMMAND_LANE, CANDIDATES_GRANT },
	{ "key",        "",                    "create and list the keys of approvers",          0,  0, none, .subs = key_commands },
	{ "pin",        "",                    "set the PIN of an approver",                     0,  0, none, .subs = pin_commands },
	{ "doctor",     "",                    "check what this host can enforce",               0,  0, doctor,       .run = cmd_doctor },
	{ "sessions",   "",                    "list running and kept sessions",                 0,  0, sessions,     .run = cmd_sessions, COMMAND_LANE },
	{ "show",       "[SESSION]",           "show one session and its ledger records",        0,  1, lane_json,    .run = cmd_show,     COMMAND_LANE, CANDIDATES_SESSION },
	{ "logs",       "[SESSION]",           "print the output of a detached run",             0,  1, logs,         .run = cmd_logs,     COMMAND_LANE, CANDIDATES_SESSION },
	{ "why",        "[SESSION]",           "print the system calls that were refused, and what allows them", 0, 1, lane_json, .run = cmd_why, COMMAND_LANE, CANDIDATES_SESSION },
	{ "exec",       "SESSION [--] COMMAND [ARGUMENT...]", "run a command in a running session", 2, -1, exec_table, .run = cmd_exec, COMMAND_ACTS | COMMAND_LANE | COMMAND_OPTIONS_FIRST | COMMAND_FAILS_125, CANDIDATES_RUNNING, CANDIDATES_PROGRAM },
	{ "stop",       "[SESSION]",           "stop a session",                                 0,  1, stop,         .run = cmd_stop,     COMMAND_ACTS | COMMAND_LANE, CANDIDATES_RUNNING },
	{ "diff",       "[SESSION [PATH...]]", "show the changes of a run",                      0, -1, diff,         .run = cmd_diff,     COMMAND_LANE, CANDIDATES_KEPT, CANDIDATES_FILE },
	{ "apply",      "[SESSION [PATH...]]", "apply the changes of a run to the worktree",     0, -1, apply,        .run = cmd_apply,    COMMAND_ACTS | COMMAND_LANE, CANDIDATES_KEPT, CANDIDATES_FILE },
	{ "discard",    "[SESSION...]",        "discard the changes of runs",                    0, -1, discard,      .run = cmd_discard,  COMMAND_ACTS | COMMAND_LANE, CANDIDATES_KEPT, CANDIDATES_KEPT },
	{ "df",         "",                    "print the disk usage of sessions, evidence, roots and homes", 0, 0, lane_json,   .run = cmd_df,       COMMAND_LANE },
	{ "prune",      "",                    "remove expired changes, evidence and homes",           0,  0, prune,        .run = cmd_prune,    COMMAND_ACTS | COMMAND_LANE | COMMAND_PROD },
	{ "evidence",   "",                    "list, verify and restore evidence of abnormal exits", 0, 0, none, .subs = evidence_commands },
	{ "credential", "",                    "secrets for tools outside of sandboxes",         0,  0, none, .subs = credential_commands },
	{ "ledger",     "",                    "show and verify the ledger",                     0,  0, none, .subs = ledger_commands },
	{ "migrate",    "[DIR]",               "move state without lanes into lanes",            0,  1, migrate,      .run = cmd_migrate,  COMMAND_ACTS, CANDIDATES_DIRECTORY },
	{ "profile",    "",                    "list, validate, compare and trust profiles",     0,  0, none, .subs = profile_commands },
	{ "recover",    "",                    "clean up after sessions whose supervisor died",  0,  0, lane_only,    .run = cmd_recover,  COMMAND_ACTS | COMMAND_LANE },
	{ "reset",      "",                    "empty a sandbox root or a kept home",                    0,  0, reset,        .run = cmd_reset,    COMMAND_ACTS },
	{ "setup",      "USER",                "prepare the host for runs of an ordinary user",  1,  1, setup,        .run = cmd_setup,    COMMAND_ACTS },
	{ "completion", "bash|zsh|fish",       "print a completion script for a shell",          0,  1, completion,   .run = cmd_completion, 0, CANDIDATES_WORDS },
	{ "help",       "[COMMAND [SUBCOMMAND]]", "list the commands, or the options of one",    0,  2, help,         .run = cmd_help,     0, CANDIDATES_TOPIC, CANDIDATES_TOPIC },
	{ "version",    "",                    "print the version",                              0,  0, none,         .run = cmd_version },
	{ 0 },
};
/* clang-format on */
