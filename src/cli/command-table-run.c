/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command-table.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "run/run-limits.h"
#include "state/home-dir.h"

#define MEMORY_MIN (UINT64_C(1) << 20) /* as limits.memory of a profile */

/* Docker's -p is a port, ours is --profile.  A profile's name holds no ':'. */
static int refuse_port(const char *value, struct fault *f)
{
	const char *colon = strrchr(value, ':');

	if (!colon || !isdigit((unsigned char)value[0]) || !isdigit((unsigned char)colon[1]))
		return 0;
	return fault_set(
		f, ENOTSUP,
		"-p is --profile; '%s' looks like a port, and ports are not published: use --network host",
		value);
}

static int check_home(const char *value, struct fault *f)
{
	const char *name;
	int r = home_word_parse(value, &name, f);

	return r < 0 ? r : 0;
}

/* clang-format off */
#define TEXT(name, letter, field, value, text, ...) { name, letter, OPTION_TEXT, AT(run.field), value, .help = text, .flags = OPTION_UTF8, __VA_ARGS__ }
#define LIST(name, letter, field, value, text, ...) { name, letter, OPTION_TEXT, AT(run.field), value, .help = text, .flags = OPTION_UTF8 | OPTION_LIST, __VA_ARGS__ }
#define FLAG(name, letter, field, text, ...)        { name, letter, OPTION_FLAG, AT(run.field), NULL, .help = text, __VA_ARGS__ }
#define REFUSE(name, letter, text)                  { name, letter, OPTION_REFUSED, 0, NULL, .help = text }
#define IGNORE(name, letter, text)                  { name, letter, OPTION_IGNORED, 0, NULL, .help = text, .flags = OPTION_HIDDEN }

/* The subject of the run and its origin: all four commands. */
#define SUBJECT_ROWS \
	TEXT("profile",   'p', profile,  "NAME", "profile that limits the command: a name, or a path that holds a '/' (default: CUSTODY_PROFILE, .custody/profile, custody.json, then offline)", .candidates = CANDIDATES_PROFILE, .check = refuse_port), \
	{ "timeout",       0,  OPTION_DURATION, AT(run.timeout_s),  "TIME", .help = "terminate the command after TIME (90s, 30m, 2h); 0: no limit", .given = AT(run.set_timeout) }, \
	{ "memory",       'm', OPTION_SIZE,     AT(run.memory),     "SIZE", .help = "limit of memory and swap together (512M, 2G); 0: no limit", .given = AT(run.set_memory), .min = MEMORY_MIN }, \
	{ "cpus",          0,  OPTION_PERCENT,  AT(run.cpu_percent), "N",   .help = "CPU limit (0.5, 2); 0: no limit", .given = AT(run.set_cpu) }, \
	{ "pids-limit",    0,  OPTION_NUMBER,   AT(run.pids),       "N",    .help = "limit of processes, init included; 0: no limit", .given = AT(run.set_pids) }, \
	LIST("without",    0,  without,  "memory-limit|pids-limit|cpu-limit", "run without this limit where this user has no cgroup for it; separate several by commas", .candidates = CANDIDATES_WORDS, .check = run_limits_check), \
	{ "network",       0,  OPTION_CHOICE,   AT(run.network),    "none|host", .help = "network mode: loopback only, or the host's network", .candidates = CANDIDATES_WORDS }, \
	LIST("env",       'e', env,      "NAME[=VALUE]", "set a variable, or pass the caller's"), \
	{ "env-file",      0,  OPTION_TEXT,     AT(env_files),      "FILE", .help = "read variables from FILE, one NAME=VALUE or NAME per line; --env overrides it", .flags = OPTION_LIST, .candidates = CANDIDATES_FILE }, \
	LIST("volume",    'v', volumes,  "SOURCE:TARGET[:ro|rw]", "mount a directory or file of the host, read-only unless rw", .candidates = CANDIDATES_FILE), \
	FLAG("tools",      0,  tools,    "show the programs of your PATH that are below the home directory or /opt, read-only"), \
	FLAG("show-secrets", 0, show_secrets, "show files at the top level of the worktree that look like secrets (.env, .ssh, private keys)"), \
	FLAG("here",       0,  here,     "use the current directory alone as worktree, not the git work tree around it"), \
	TEXT("workdir",   'w', workdir,  "DIR",  "start in this directory of the container"), \
	TEXT("hostname",   0,  hostname, "NAME", "host name in the container"), \
	TEXT("name",       0,  name,     "NAME", "name of the session in the result and for show, logs, stop"), \
	TEXT("agent",      0,  agent,    "NAME", "agent that asks for the run, for the result and the ledger"), \
	TEXT("worker",     0,  worker,   "NAME", "worker of the agent, for the result and the ledger"), \
	TEXT("issue",      0,  issue,    "ID",   "issue that the run belongs to, for the result and the ledger"), \
	TEXT("lane",       0,  lane,     "LANE", "lane: sandbox or prod; default: CUSTODY_LANE, then custody.json, then sandbox", .candidates = CANDIDATES_LANE), \
	FLAG("allow-prod", 0,  allow_prod, "first of the two keys of lane prod; CUSTODY_ALLOW_PROD=1 is the other"), \
	LIST("provenance", 0,  provenance, "tool_output|web_content|unknown", "source of the command's words; can only raise the level", .candidates = CANDIDATES_WORDS), \
	FLAG("no-seal",    0,  no_seal,  "do not hash and copy the files that the command names", .group = 1), \
	FLAG("seal-tree",  0,  seal_tree, "hash the whole worktree into the digest that is approved", .group = 1), \
	FLAG("quiet",     'q', quiet,    "suppress custody's own messages, but not the line about limits that are missing"), \
	FLAG("verbose",    0,  verbose,  "print more messages on stderr")

#define SANDBOX_ROW  TEXT("sandbox", 0, sandbox, "NAME", "work in the sandbox root NAME, which persists; 'default' is the shared one", .candidates = CANDIDATES_SANDBOX), \
	FLAG("disposable", 0, disposable, "create the sandbox root as disposable: its content may be lost, so writing to it needs no approval")
#define CONTINUE_ROWS \
	{ "continue", 0, OPTION_TEXT, AT(run.session), "SESSION", .help = "start on top of the kept changes of SESSION, by default of the newest one in this directory", .flags = OPTION_UTF8 | OPTION_OPTIONAL_VALUE, .given = AT(run.continued), .candidates = CANDIDATES_KEPT, .group = 3 }, \
	FLAG("fresh", 0, fresh, "start on the worktree although workspace.continue of the profile is set", .group = 3), \
	FLAG("restarted", 0, restarted, "with --continue: although the machine was restarted after that session")
#define HOME_ROW     TEXT("home", 0, home, "memory|keep[=NAME]", "home directory inside: empty and in memory, or a private one of the project that stays between runs", .check = check_home)
#define JSON_ROW     FLAG("json", 0, json, "print the result as the last line of stdout; scripts should prefer --result")
#define DRY_RUN_ROW  FLAG("dry-run", 0, dry_run, "print config.json; run nothing, write nothing")
#define APPROVAL_ROWS \
	{ "wait",     0,  OPTION_DURATION, AT(run.wait_s), "TIME", .help = "wait for the approval instead of exiting with 114; without TIME there is no limit", .flags = OPTION_OPTIONAL_VALUE, .given = AT(run.wait) }, \
	LIST("grant", 0,  grants, "FILE", "use an approval that was signed elsewhere", .candidates = CANDIDATES_FILE), \
	FLAG("yes",  'y', yes,    "answer yes to the question of level B on a terminal; never to that of level C")
#define RESULT_ROWS \
	TEXT("result",    0, result, "FILE", "write the result to FILE", .candidates = CANDIDATES_FILE), \
	{ "status-fd",    0, OPTION_FD, AT(run.status_fd), "N", .help = "write events to descriptor N, one line of JSON each" }

/* Names of capabilities that this version lacks: a script written for them must not half work. */
#define LATER_ROWS \
	REFUSE("project", 0, "not in this version of custody"), \
	REFUSE("intent",  0, "not in this version of custody"), \
	REFUSE("task",    0, "not in this version of custody")

#define IN_PROFILE(key) "set " key " in a profile, then use --profile"
#define NO_PORTS   "ports are not published: use --network host"
#define NO_IMAGES  "custody has no images: the root is the host's, read-only, or root.path of a profile"
#define NO_NETWORK "custody has two networks only: use --network none or --network host"
/* Options of `docker run` that people type by habit. */
#define DOCKER_ROWS \
	IGNORE("rm",           0,  "accepted: the container is always removed"), \
	IGNORE("interactive", 'i', "accepted: stdin is always passed on"), \
	IGNORE("init",         0,  "accepted: custody-init is always the first process"), \
	REFUSE("entrypoint",   0,  "there is no image with an entry point: name the program itself: custody run -- PROGRAM ARGUMENTS"), \
	REFUSE("publish",      0,  NO_PORTS), \
	REFUSE("publish-all", 'P', NO_PORTS), \
	REFUSE("expose",       0,  NO_PORTS), \
	REFUSE("user",        'u', IN_PROFILE("process.user")), \
	REFUSE("group-add",    0,  IN_PROFILE("process.user (UID:GID)")), \
	REFUSE("gpus",         0,  "devices of the host are not passed on"), \
	REFUSE("device",       0,  "devices of the host are not passed on"), \
	REFUSE("privileged",   0,  "not supported: loosen single layers with 'dangerous' in a profile, then use --profile"), \
	REFUSE("cap-add",      0,  "capabilities cannot be added: the command has none"), \
	REFUSE("cap-drop",     0,  "all capabilities are dropped already"), \
	REFUSE("security-opt", 0,  IN_PROFILE("seccomp or dangerous")), \
	REFUSE("read-only",    0,  "the root is read-only already, unless a profile changes it"), \
	REFUSE("mount",        0,  "use --volume SOURCE:TARGET[:ro|rw]"), \
	REFUSE("tmpfs",        0,  IN_PROFILE("filesystem.tmpfs")), \
	REFUSE("shm-size",     0,  "use --memory: it limits shared memory too"), \
	REFUSE("ulimit",       0,  IN_PROFILE("limits")), \
	REFUSE("memory-swap",  0,  "use --memory: it limits memory and swap together"), \
	REFUSE("cpu-shares",  'c', "use --cpus"), \
	REFUSE("cpuset-cpus",  0,  "use --cpus"), \
	REFUSE("platform",     0,  NO_IMAGES), \
	REFUSE("pull",         0,  NO_IMAGES), \
	REFUSE("restart",      0,  "not supported: let a service manager start custody again (systemd: Restart=)"), \
	REFUSE("net",          0,  "use --network none or --network host"), \
	REFUSE("dns",          0,  NO_NETWORK), \
	REFUSE("add-host",     0,  NO_NETWORK), \
	REFUSE("ip",           0,  NO_NETWORK), \
	REFUSE("link",         0,  NO_NETWORK), \
	REFUSE("pid",          0,  "namespaces of the host are not shared"), \
	REFUSE("ipc",          0,  "namespaces of the host are not shared"), \
	REFUSE("userns",       0,  "namespaces of the host are not shared"), \
	REFUSE("label",       'l', "use --name, --agent, --worker or --issue"), \
	REFUSE("cidfile",      0,  "use --result FILE; it holds the session's id"), \
	REFUSE("log-driver",   0,  "the output of a detached run is in 'custody logs SESSION'"), \
	REFUSE("attach",      'a', "stdin, stdout and stderr are always attached; use --detach to run in the background"), \
	REFUSE("stop-timeout", 0,  "use custody stop --time, or limits.grace of a profile"), \
	REFUSE("stop-signal",  0,  "the signal is always TERM, then KILL after limits.grace of the profile")

const struct option run_table[] = {
	SUBJECT_ROWS,
	SANDBOX_ROW,
	CONTINUE_ROWS,
	HOME_ROW,
	FLAG("detach", 'd', detach, "print the session's id and run in the background; see 'custody logs', 'custody stop'", .group = 2),
	FLAG("tty", 't', terminal, "give the command a terminal of its own even if stdio is not a terminal", .group = 2),
	APPROVAL_ROWS,
	DRY_RUN_ROW,
	JSON_ROW,
	RESULT_ROWS,
	LATER_ROWS,
	DOCKER_ROWS,
	{ 0 },
};

const struct option shell_table[] = {
	SUBJECT_ROWS,
	SANDBOX_ROW,
	CONTINUE_ROWS,
	HOME_ROW,
	{ "tty", 't', OPTION_IGNORED, 0, NULL, .help = "accepted: a shell always has a terminal", .flags = OPTION_HIDDEN },
	APPROVAL_ROWS,
	DRY_RUN_ROW,
	JSON_ROW,
	RESULT_ROWS,
	REFUSE("detach", 'd', "'custody shell' is interactive: -d is not supported"),
	LATER_ROWS,
	DOCKER_ROWS,
	{ 0 },
};

#define EXEC_OF_SESSION "it is the session's: start another session with 'custody run'"
const struct option exec_table[] = {
	FLAG("tty", 't', terminal, "give the command a terminal of its own even if stdio is not a terminal"),
	IGNORE("interactive", 'i', "accepted: stdin is always attached"),
	LIST("env", 'e', env, "NAME[=VALUE]", "set a variable, or pass the caller's, over those of the session"),
	{ "env-file", 0, OPTION_TEXT, AT(env_files), "FILE", .help = "read variables from FILE, one NAME=VALUE or NAME per line; --env overrides it", .flags = OPTION_LIST, .candidates = CANDIDATES_FILE },
	TEXT("workdir", 'w', workdir, "DIR", "start in this directory of the container (default: that of the session)"),
	TEXT("agent", 0, agent, "NAME", "agent that asks for the command, for the ledger"),
	TEXT("worker", 0, worker, "NAME", "worker of the agent, for the ledger"),
	TEXT("issue", 0, issue, "ID", "issue that the command belongs to, for the ledger"),
	LIST("provenance", 0, provenance, "tool_output|web_content|unknown", "source of the command's words; can only raise the level", .candidates = CANDIDATES_WORDS),
	APPROVAL_ROWS,
	FLAG("quiet", 'q', quiet, "suppress custody's own messages"),
	FLAG("verbose", 0, verbose, "print more messages on stderr"),
	{ "lane", 0, OPTION_TEXT, AT(lane), "LANE", .help = "lane: sandbox or prod; default: CUSTODY_LANE, then custody.json", .candidates = CANDIDATES_LANE },
	{ "allow-prod", 0, OPTION_FLAG, AT(allow_prod), NULL, .help = "first of the two keys of lane prod; CUSTODY_ALLOW_PROD=1 is the other" },
	REFUSE("detach", 'd', "a command of 'custody exec' ends with its caller: use 'custody run -d'"),
	REFUSE("user", 'u', EXEC_OF_SESSION),
	REFUSE("privileged", 0, EXEC_OF_SESSION),
	REFUSE("profile", 'p', EXEC_OF_SESSION),
	{ 0 },
};

#define CHECK_RUNS_NOTHING "'custody check' runs nothing: use it with 'custody run'"
#define CHECK_NO_APPROVAL  "'custody check' asks for no approval: use it with 'custody run'"
const struct option check_table[] = {
	{ "explain", 0, OPTION_FLAG, AT(explained), NULL, .help = "print the result of each step of the decision" },
	FLAG("json", 0, json, "print digest, subject, verdict and lane gate as one line of JSON"),
	SUBJECT_ROWS,
	SANDBOX_ROW,
	CONTINUE_ROWS,
	HOME_ROW,
	REFUSE("result",    0,  CHECK_RUNS_NOTHING),
	REFUSE("status-fd", 0,  CHECK_RUNS_NOTHING),
	REFUSE("dry-run",   0,  CHECK_RUNS_NOTHING),
	REFUSE("tty",      't', CHECK_RUNS_NOTHING),
	REFUSE("detach",   'd', CHECK_RUNS_NOTHING),
	REFUSE("wait",      0,  CHECK_NO_APPROVAL),
	REFUSE("grant",     0,  CHECK_NO_APPROVAL),
	REFUSE("yes",      'y', CHECK_NO_APPROVAL),
	LATER_ROWS,
	DOCKER_ROWS,
	{ 0 },
};

#define BUNDLE_NO_RESULT "a bundle has no result until it runs"
#define BUNDLE_APPROVAL  "a bundle is approved when it is started"
const struct option bundle_table[] = {
	{ "output", 'o', OPTION_TEXT, AT(output), "DIR", .help = "directory of the bundle; created if it is missing", .flags = OPTION_REQUIRED, .candidates = CANDIDATES_DIRECTORY },
	{ "force",   0,  OPTION_FLAG, AT(force),  NULL,  .help = "replace a bundle of custody in DIR" },
	SUBJECT_ROWS,
	REFUSE("dry-run",   0,  "use 'custody run --dry-run' to print config.json"),
	REFUSE("detach",   'd', "the runtime that starts the bundle decides whether to wait for it"),
	REFUSE("tty",      't', "the runtime that starts the bundle decides about its terminal"),
	REFUSE("json",      0,  BUNDLE_NO_RESULT),
	REFUSE("result",    0,  BUNDLE_NO_RESULT),
	REFUSE("status-fd", 0,  BUNDLE_NO_RESULT),
	REFUSE("sandbox",   0,  "a sandbox root is locked by 'custody run' while it is used; a bundle has no process that would lock it"),
	REFUSE("disposable", 0, "a bundle cannot use a sandbox root"),
	REFUSE("continue",  0,  "a bundle is started on its worktree: use 'custody run --continue'"),
	REFUSE("home",      0,  "a home that stays is locked by 'custody run' while it is used; a bundle has no process that would lock it"),
	REFUSE("wait",      0,  BUNDLE_APPROVAL),
	REFUSE("grant",     0,  BUNDLE_APPROVAL),
	REFUSE("yes",      'y', BUNDLE_APPROVAL),
	LATER_ROWS,
	DOCKER_ROWS,
	{ 0 },
};
/* clang-format on */
