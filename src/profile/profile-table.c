/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile-impl.h"

#include <ctype.h>
#include <string.h>

#include "layer/layer.h"
#include "policy/policy.h"
#include "state/home-dir.h"
#include "state/sandbox-root.h"
#include "trace/trace-call.h"

#define FIELD(name) offsetof(struct profile, name)
#define HOST(name) offsetof(struct host_rule, name)
#define NOWHERE KEY_NO_FIELD

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define SIZE_LIMIT (UINT64_C(1) << 50)
#define YEAR_S (UINT64_C(366) * 24 * 3600)

#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool is_name(const char *t)
{
	return key_text_has_only(t, LOWER DIGITS "._-", 64) && strchr(LOWER DIGITS, *t);
}

static bool is_env_name(const char *t)
{
	return key_text_has_only(t, LOWER UPPER DIGITS "_", 256) && !isdigit((unsigned char)*t);
}

/* "*" alone would pass the whole environment: require at least two characters before it. */
static bool is_env_pattern(const char *t)
{
	char stem[257];
	size_t n = strlen(t);

	if (n == 0 || n > 256)
		return false;
	if (t[n - 1] != '*')
		return is_env_name(t);
	if (n < 3)
		return false;
	memcpy(stem, t, n - 1);
	stem[n - 1] = '\0';
	return is_env_name(stem);
}

static bool is_syscall(const char *t)
{
	return key_text_has_only(t, LOWER DIGITS "_", 64) && !isdigit((unsigned char)*t);
}

static bool is_capability(const char *t)
{
	return key_text_has_only(t, UPPER DIGITS "_", 64) && strncmp(t, "CAP_", 4) == 0 && t[4];
}

/* A '/' would be a second spelling of a '.'. */
static bool is_sysctl(const char *t)
{
	return key_text_has_only(t, LOWER DIGITS "_.-", 128) && strchr(LOWER, *t) && strchr(t, '.') &&
	       !strstr(t, "..");
}

static bool is_hostname(const char *t)
{
	return key_text_has_only(t, LOWER UPPER DIGITS ".-", 63) && strchr(LOWER UPPER DIGITS, *t);
}

/* 65,536 ids exist inside. */
static bool is_id(const char *t, size_t n)
{
	unsigned long id = 0;

	if (n == 0 || n > 5 || strspn(t, DIGITS) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		id = id * 10 + (unsigned long)(t[i] - '0');
	return id <= 65535;
}

static bool is_user(const char *t)
{
	const char *colon = strchr(t, ':');

	if (strcmp(t, "root") == 0)
		return true;
	if (!colon)
		return is_id(t, strlen(t));
	return is_id(t, (size_t)(colon - t)) && is_id(colon + 1, strlen(colon + 1));
}

bool profile_is_zero_id(const char *text)
{
	return strspn(text, "0") == strcspn(text, ":");
}

static bool is_pointer(const char *t)
{
	for (const char *c = t; *c; c++)
		if (*c == '~' && c[1] != '0' && c[1] != '1')
			return false;
	return *t == '/';
}

static bool is_trace_word(const char *t)
{
	return trace_word_parse(t) != 0;
}

static bool is_file_name(const char *t)
{
	return *t && !strchr(t, '/') && strcmp(t, ".") != 0 && strcmp(t, "..") != 0;
}

/* Plain names separated by single '/'. */
static bool is_below(const char *t)
{
	do {
		size_t n = strcspn(t, "/");

		if (n == 0 || (n <= 2 && memcmp(t, "..", n) == 0))
			return false;
		t += n;
	} while (*t && *++t);
	return t[-1] != '/';
}

/* clang-format off */
const struct key_shape key_shape_name = {
	"a name of a-z, 0-9, '.', '_' and '-', at most 64, beginning with a letter or digit",
	"^[a-z0-9][a-z0-9._-]{0,63}$", is_name };
static const struct key_shape env_name_shape = {
	"a variable's name", "^[A-Za-z_][A-Za-z0-9_]{0,255}$", is_env_name };
static const struct key_shape env_pattern_shape = {
	"a variable's name, or at least two characters of one and a final '*'",
	"^([A-Za-z_][A-Za-z0-9_]{0,255}|[A-Za-z_][A-Za-z0-9_]{1,254}\\*)$", is_env_pattern };
static const struct key_shape syscall_shape = {
	"a system call's name", "^[a-z_][a-z0-9_]{0,63}$", is_syscall };
static const struct key_shape capability_shape = {
	"a capability such as CAP_CHOWN", "^CAP_[A-Z0-9_]{1,60}$", is_capability };
static const struct key_shape sysctl_shape = {
	"a sysctl such as net.core.somaxconn", "^[a-z][a-z0-9_-]*(\\.[a-z0-9_-]+)+$", is_sysctl };
static const struct key_shape trace_shape = {
	"\"exec\", \"denied\", \"write\" or \"connect\"", "^(exec|denied|write|connect)$", is_trace_word };
static const struct key_shape hostname_shape = {
	"a host name of at most 63 letters, digits, '.' and '-'", "^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$", is_hostname };
static const struct key_shape user_shape = {
	"\"root\", \"UID\" or \"UID:GID\" with numbers up to 65535", "^(root|[0-9]{1,5}(:[0-9]{1,5})?)$", is_user };
static const struct key_shape pointer_shape = {
	"a JSON Pointer such as \"/filesystem/ro/0\"", "^(/([^~/]|~[01])*)+$", is_pointer };
static const struct key_shape sandbox_name_shape = {
	"a sandbox root's name: lower case letters, digits, '.', '_' and '-', no dot in front, at most 64",
	"^[a-z0-9_-][a-z0-9._-]{0,63}$", sandbox_name_is_valid };
static const struct key_shape home_shape = {
	"\"memory\", \"keep\" or \"keep=NAME\"", "^(memory|keep(=[a-z0-9_-][a-z0-9._-]{0,63})?)$", home_word_is_valid };
static const struct key_shape below_shape = {
	"a path below the worktree, without '..'", "^[^/]+(/[^/]+)*$", is_below };
static const struct key_shape file_name_shape = {
	"a file's name without '/'", "^[^/]+$", is_file_name };

static const struct key_word root_words[] = {
	{ "host-ro", PROFILE_ROOT_HOST_RO, 0 }, { "dir", PROFILE_ROOT_DIR, 1 }, { 0 } };
/* Ranks: worktree hidden; read-only; copy on write; writable. */
static const struct key_word workspace_words[] = {
	{ "overlay", PROFILE_WORKSPACE_OVERLAY, 2 }, { "ro", PROFILE_WORKSPACE_RO, 1 },
	{ "rw", PROFILE_WORKSPACE_RW, 3 }, { "tmpfs", PROFILE_WORKSPACE_TMPFS, 0 }, { 0 } };
/* A host process that serves the file system is looser than the kernel doing it. */
static const struct key_word overlay_words[] = {
	{ "kernel", PROFILE_OVERLAY_KERNEL, 0 }, { "fuse", PROFILE_OVERLAY_FUSE, 1 }, { 0 } };
static const struct key_word network_words[] = {
	{ "none", PROFILE_NETWORK_NONE, 0 }, { "allow", PROFILE_NETWORK_ALLOW, 1 }, { "host", PROFILE_NETWORK_HOST, 2 }, { 0 } };
static const struct key_word protocol_words[] = {
	{ "tls", HOST_PROTOCOL_TLS, 0 }, { "http", HOST_PROTOCOL_HTTP, 0 }, { "tcp", HOST_PROTOCOL_TCP, 0 }, { 0 } };
static const struct key_word container_network_words[] = {
	{ "none", PROFILE_CONTAINER_NETWORK_NONE, 0 }, { "engine", PROFILE_CONTAINER_NETWORK_ENGINE, 1 }, { 0 } };
static const struct key_word user_namespace_words[] = {
	{ "any", PROFILE_CONTAINER_USER_ANY, 1 }, { "require", PROFILE_CONTAINER_USER_REQUIRE, 0 }, { 0 } };
static const struct key_word class_words[] = {
	{ "test", NETWORK_CLASS_TEST, 0 }, { "prod", NETWORK_CLASS_PROD, 0 }, { "any", NETWORK_CLASS_ANY, 0 }, { 0 } };
static const struct key_word violation_words[] = {
	{ "errno", PROFILE_SECCOMP_ERRNO, 1 }, { "kill", PROFILE_SECCOMP_KILL, 0 }, { 0 } };
const struct key_word key_words_security[] = {
	{ "off", SECURITY_OFF, 3 }, { "minimal", SECURITY_MINIMAL, 2 }, { "balanced", SECURITY_BALANCED, 1 },
	{ "strict", SECURITY_STRICT, 0 }, { 0 } };
static const struct key_word exec_words[] = {
	{ "deny", 0, 0 }, { "ask", 1, 1 }, { "allow", 2, 2 }, { 0 } };
static const struct key_word capture_words[] = {
	{ "changes", 0, 0 }, { "all", 1, 1 }, { 0 } };
static const struct key_word reason_words[] = {
	{ "exited", 0, 0 }, { "signaled", 1, 0 }, { "oom", 2, 0 }, { "timeout", 3, 0 }, { "pids-limit", 4, 0 },
	{ "disk-limit", 5, 0 }, { "seccomp", 6, 0 }, { "violation", 7, 0 }, { "budget", 8, 0 },
	{ "inspection", 9, 0 }, { "cancelled", 10, 0 }, { "operator", 11, 0 }, { "lost", 12, 0 },
	{ "depth-limit", 13, 0 }, { 0 } };

static const struct key_row host_rows[] = {
	{ "host", KEY_KIND_TEXT, .offset = HOST(host), .required = true,
	  .help = "Name of the host; \"*.NAME\": all names below it; \"**.NAME\": NAME too; \"*\": every host (dangerous)." },
	{ "port", KEY_KIND_COUNT, .offset = HOST(port), .min = 1, .max = 65535,
	  .help = "Its port; by default 443 for tls, 80 for http." },
	{ "protocol", KEY_KIND_WORD, .offset = HOST(protocol), .fallback = "tls", .words = protocol_words,
	  .help = "tls: TLS whose server name is the host's; http: plain HTTP; tcp: any bytes." },
	{ "private", KEY_KIND_BOOL, .offset = HOST(is_private), .fallback = "false",
	  .help = "The name may lead to an address of a private network or of this machine." },
	{ 0 },
};

static const struct key_row keys[] = {
	{ "schema", KEY_KIND_COUNT, KEY_ORDER_NEVER, NOWHERE, .min = 1, .max = 1,
	  .help = "Version of this format; must be 1." },
	{ "name", KEY_KIND_TEXT, KEY_ORDER_FREE, FIELD(name), .shape = &key_shape_name,
	  .help = "Name of the profile; the file is called NAME.json." },
	{ "description", KEY_KIND_TEXT, KEY_ORDER_FREE, FIELD(description),
	  .help = "One line for people." },
	{ "extends", KEY_KIND_EXTENDS, KEY_ORDER_NEVER, NOWHERE, .shape = &key_shape_name,
	  .help = "Profile, or list of profiles, that this one is merged onto; at most 8 levels deep." },
	{ "remove", KEY_KIND_TEXTS, KEY_ORDER_NEVER, NOWHERE, .shape = &pointer_shape,
	  .help = "JSON Pointers into the merged parent: values that are not inherited." },
	{ "dangerous", KEY_KIND_DANGERS, KEY_ORDER_SUBSET, FIELD(dangerous),
	  .help = "Names of dangerous settings to allow. \"no-LAYER\" disables that layer." },

	{ "root", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Root file system of the sandbox." },
	{ "root.type", KEY_KIND_WORD, KEY_ORDER_SAME, FIELD(root), "host-ro", .words = root_words,
	  .help = "host-ro: the host's programs, read-only, with a minimal /etc; dir: a directory, read-only." },
	{ "root.path", KEY_KIND_PATH, KEY_ORDER_SAME, FIELD(root_path),
	  .help = "The directory of type dir." },
	{ "root.paths", KEY_KIND_PATHS, KEY_ORDER_SUBSET, FIELD(root_host_paths),
	  "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc/alternatives /etc/ca-certificates/extracted"
	  " /etc/crypto-policies /etc/debian_version /etc/fonts /etc/java-11-openjdk /etc/java-17-openjdk"
	  " /etc/java-21-openjdk /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/localtime /etc/mime.types"
	  " /etc/os-release /etc/pki/ca-trust/extracted /etc/pki/tls/certs /etc/protocols /etc/services"
	  " /etc/ssl/cert.pem /etc/ssl/certs /etc/ssl/openssl.cnf /etc/terminfo",
	  .help = "Paths of the host that type host-ro shows; paths that do not exist are skipped." },

	{ "workspace", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "The worktree." },
	{ "workspace.mode", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(workspace), "overlay",
	  .words = workspace_words,
	  .help = "overlay: a copy is written, the original never; ro; rw; tmpfs: empty and in memory." },
	{ "workspace.overlay", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(workspace_overlay), "kernel",
	  .words = overlay_words,
	  .help = "Implementation of mode overlay. kernel; fuse: fuse-overlayfs, for hosts whose kernel does not support it." },
	{ "workspace.source", KEY_KIND_PATH, KEY_ORDER_BELOW, FIELD(workspace_source), "${cwd}",
	  .help = "Directory of the host; by default the top level of the git work tree around ${cwd}, or ${cwd}." },
	{ "workspace.sandbox", KEY_KIND_TEXT, KEY_ORDER_SAME, FIELD(workspace_sandbox), .shape = &sandbox_name_shape,
	  .help = "Sandbox root whose workspace is the worktree, instead of a source; the default mode is then rw." },
	{ "workspace.target", KEY_KIND_PATH, KEY_ORDER_SAME, FIELD(workspace_target),
	  .help = "Path of the worktree inside; by default the path that it has outside, or /work where that cannot be." },
	{ "workspace.protect", KEY_KIND_TEXTS, KEY_ORDER_SUPERSET, FIELD(workspace_protect), ".git/hooks .git/config",
	  .shape = &below_shape, .help = "Paths in the worktree that are read-only inside in mode rw, and that apply does not change." },
	{ "workspace.ask", KEY_KIND_TEXTS, KEY_ORDER_SUPERSET, FIELD(workspace_ask), .shape = &below_shape,
	  .help = "Names in the worktree for which apply asks, beside CI files and settings of agents and editors: \"Makefile\"." },
	{ "workspace.ask_deletions", KEY_KIND_COUNT, KEY_ORDER_LESS, FIELD(workspace_ask_deletions), "10", .max = 500000,
	  .help = "apply asks before it removes more files and directories than this." },
	{ "workspace.allow", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, FIELD(workspace_allow), .shape = &below_shape,
	  .help = "CI files and settings that apply changes without a question." },
	{ "workspace.show_secrets", KEY_KIND_BOOL, KEY_ORDER_FALSE, FIELD(workspace_show_secrets), "false",
	  .help = "Show files at the top level of the worktree that look like secrets (.env, private keys), hidden otherwise." },
	{ "workspace.keep", KEY_KIND_BOOL, KEY_ORDER_FREE, FIELD(workspace_keep), "true",
	  .help = "Keep the changes of an overlay run, for diff and apply." },

	{ "workspace.continue", KEY_KIND_BOOL, KEY_ORDER_FALSE, FIELD(workspace_continue), "false",
	  .help = "Start each run on the kept changes of the newest session in the directory, until they are applied or discarded: as --continue." },
	{ "filesystem", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Further paths. \"SOURCE\" or \"SOURCE:TARGET\"." },
	{ "filesystem.ro", KEY_KIND_BINDS, KEY_ORDER_READS, FIELD(fs_ro),
	  .help = "Files and directories of the host that can be read." },
	{ "filesystem.rw", KEY_KIND_BINDS, KEY_ORDER_SUBSET, FIELD(fs_rw),
	  .help = "Files and directories of the host that can be written." },
	{ "filesystem.tools", KEY_KIND_BOOL, KEY_ORDER_FALSE, FIELD(fs_tools), "false",
	  .help = "Show directories of the caller's PATH below the home directory and /opt, read-only, and put them into PATH." },
	{ "filesystem.channels", KEY_KIND_PATHS, KEY_ORDER_SUBSET, FIELD(fs_channels),
	  .help = "Sockets and FIFOs of the host that ro, rw or -v may name; refused otherwise, because they lead out." },
	{ "filesystem.hide", KEY_KIND_PATHS, KEY_ORDER_SUPERSET, FIELD(fs_hide),
	  .help = "Paths inside that appear empty." },
	{ "filesystem.tmpfs", KEY_KIND_TMPFS, KEY_ORDER_SUBSET, FIELD(fs_tmpfs), .min = 4 * KIB,
	  .max = SIZE_LIMIT, .help = "Empty directories in memory: objects with path and size." },

	{ "env", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Environment variables; all others are removed." },
	{ "env.pass", KEY_KIND_TEXTS, KEY_ORDER_PATTERNS, FIELD(env_pass), .shape = &env_pattern_shape,
	  .help = "Variables of the caller that are passed; \"LC_*\" matches all that begin with LC_." },
	{ "env.set", KEY_KIND_ENV, KEY_ORDER_SUBSET, FIELD(env_set), .shape = &env_name_shape,
	  .help = "Variables with fixed values." },

	{ "process", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "The started process." },
	{ "process.init", KEY_KIND_BOOL, KEY_ORDER_TRUE, FIELD(process_init), "true",
	  .help = "custody-init as PID 1: reaps, forwards signals, proves the layers." },
	{ "process.hostname", KEY_KIND_TEXT, KEY_ORDER_FREE, FIELD(process_hostname), "sandbox",
	  .shape = &hostname_shape, .help = "Host name inside." },
	{ "process.user", KEY_KIND_TEXT, KEY_ORDER_USER, FIELD(process_user), "root",
	  .shape = &user_shape, .help = "\"root\" of the container, or \"UID\" or \"UID:GID\" inside." },
	{ "process.cwd", KEY_KIND_PATH, KEY_ORDER_CWD, FIELD(process_cwd),
	  .help = "Working directory inside; default: workspace.target." },
	{ "process.home", KEY_KIND_TEXT, KEY_ORDER_SAME, FIELD(process_home), "memory", .shape = &home_shape,
	  .help = "Home directory. memory: empty; keep, keep=NAME: a private one of the project that stays between runs." },

	{ "network", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "The network." },
	{ "network.mode", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(network), "none", .words = network_words,
	  .help = "none: a loopback device of its own; allow: the hosts of network.hosts; host: the host's network (dangerous)." },
	{ "network.hosts", KEY_KIND_OBJECTS, KEY_ORDER_SUBSET, FIELD(network_hosts), .rows = host_rows,
	  .row_size = sizeof(struct host_rule), .help = "Hosts that mode allow reaches: objects with host, port, protocol, private." },
	{ "network.class", KEY_KIND_WORD, KEY_ORDER_BITS, FIELD(network_class), "test", .words = class_words,
	  .help = "Lane of the profile. test: sandbox; prod: prod; any: both, for profiles without a network." },

	{ "limits", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Resource limits." },
	{ "limits.memory", KEY_KIND_SIZE, KEY_ORDER_LIMIT, FIELD(limit_memory), "2G", MIB, SIZE_LIMIT, true,
	  .help = "Memory of all processes together, tmpfs included." },
	{ "limits.pids", KEY_KIND_COUNT, KEY_ORDER_LIMIT, FIELD(limit_pids), "512", 2, 4194304, true,
	  .help = "Processes and threads." },
	{ "limits.cpu", KEY_KIND_PERCENT, KEY_ORDER_LIMIT, FIELD(limit_cpu_percent), "200%", 1, 409600, true,
	  .help = "CPU time; 100% is one core." },
	{ "limits.disk", KEY_KIND_SIZE, KEY_ORDER_LIMIT, FIELD(limit_disk), "8G", 64 * KIB, SIZE_LIMIT, true,
	  .help = "Bytes written to the worktree's upper." },
	{ "limits.time", KEY_KIND_SECONDS, KEY_ORDER_LIMIT, FIELD(limit_time_s), "none", 1, YEAR_S, true,
	  .help = "Time after which all processes are stopped." },
	{ "limits.grace", KEY_KIND_SECONDS, KEY_ORDER_LESS, FIELD(limit_grace_s), "5", 0, 3600,
	  .help = "Time between TERM and KILL." },
	{ "limits.files", KEY_KIND_COUNT, KEY_ORDER_LIMIT, FIELD(limit_files), "none", 16, 1048576, true,
	  .help = "Open files per process; none: the caller's limit." },
	{ "limits.tmp", KEY_KIND_SIZE, KEY_ORDER_LESS, FIELD(limit_tmp), "256M", 4 * KIB, SIZE_LIMIT,
	  .help = "Size of /tmp." },
	{ "limits.shm", KEY_KIND_SIZE, KEY_ORDER_LESS, FIELD(limit_shm), "64M", 4 * KIB, SIZE_LIMIT,
	  .help = "Size of /dev/shm." },

	{ "seccomp", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "System calls: changes to the shipped allow-list." },
	{ "seccomp.violation", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(seccomp_violation), "errno",
	  .words = violation_words, .help = "errno: the call fails; kill: the process dies of SIGSYS." },
	{ "seccomp.allow", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, FIELD(seccomp_allow), .shape = &syscall_shape,
	  .help = "Calls allowed in addition to the list." },
	{ "seccomp.deny", KEY_KIND_TEXTS, KEY_ORDER_SUPERSET, FIELD(seccomp_deny), .shape = &syscall_shape,
	  .help = "Calls removed from the list; overrides allow." },

	{ "container", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Containers that podman, docker or containerd starts; custody run ignores it." },
	{ "container.capabilities", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, FIELD(container_capabilities), .shape = &capability_shape,
	  .help = "Capabilities that a container may keep if the engine gives them; default: none." },
	{ "container.user_namespace", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(container_user_namespace), "any",
	  .words = user_namespace_words, .help = "any: as the engine chooses; require: root inside must not be the host's root." },
	{ "container.network", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(container_network), "none",
	  .words = container_network_words, .help = "none: only containers without a network; engine: the network that the engine configures." },
	{ "container.sysctls", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, FIELD(container_sysctls), .shape = &sysctl_shape,
	  .help = "Sysctls of the container's own namespaces that an engine may set, beside the built-in list." },

	{ "enforce", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Layers that may be missing." },
	{ "enforce.optional", KEY_KIND_LAYERS, KEY_ORDER_SUBSET, FIELD(optional),
	  .help = "Layers that are not required if the host cannot provide them." },

	{ "governance", KEY_KIND_SECTION, KEY_ORDER_SAME, FIELD(sections[PROFILE_SECTION_GOVERNANCE]),
	  .help = "Required approvals." },
	{ "governance.security_profile", KEY_KIND_WORD, KEY_ORDER_RANK, NOWHERE, .words = key_words_security,
	  .help = "Approval level: off, minimal, balanced, strict." },
	{ "governance.approvers", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, NOWHERE,
	  .help = "Names of the approvers whose signature counts." },
	{ "governance.min_approvals", KEY_KIND_COUNT, KEY_ORDER_SAME, NOWHERE, .min = 1, .max = 16,
	  .help = "Number of different approvers who must sign." },
	{ "governance.allow_self", KEY_KIND_BOOL, KEY_ORDER_SAME, NOWHERE,
	  .help = "Whether the requester may approve." },
	{ "governance.restart_window", KEY_KIND_SECONDS, KEY_ORDER_LESS, NOWHERE, .max = YEAR_S,
	  .help = "Reserved for restarts of containers; without effect yet." },
	{ "governance.exec", KEY_KIND_WORD, KEY_ORDER_RANK, NOWHERE, .words = exec_words,
	  .help = "Additional process in a running container: deny, ask, allow." },

	{ "audit", KEY_KIND_SECTION, KEY_ORDER_SAME, FIELD(sections[PROFILE_SECTION_AUDIT]),
	  .help = "Contents of ledger records." },
	{ "audit.redact", KEY_KIND_TEXTS, KEY_ORDER_SUPERSET, NOWHERE,
	  .help = "Words whose following value is redacted in records." },
	/* Compared with the section. */
	{ "audit.trace", KEY_KIND_TEXTS, KEY_ORDER_FREE, FIELD(audit_trace), "exec denied", .shape = &trace_shape,
	  .help = "System calls that are observed and recorded: exec, denied, write, connect." },

	{ "forensics", KEY_KIND_SECTION, KEY_ORDER_SAME, FIELD(sections[PROFILE_SECTION_FORENSICS]),
	  .help = "Evidence of abnormal exits." },
	{ "forensics.on", KEY_KIND_WORDS, KEY_ORDER_SUPERSET, NOWHERE, .words = reason_words,
	  .help = "Exit reasons that trigger a capture of evidence." },
	{ "forensics.expect_exit", KEY_KIND_COUNTS, KEY_ORDER_SUBSET, NOWHERE, .max = 255,
	  .help = "Exit statuses that count as normal." },
	{ "forensics.capture", KEY_KIND_WORD, KEY_ORDER_SAME, NOWHERE, .words = capture_words,
	  .help = "changes: files that differ from the original; all: the whole worktree." },
	{ "forensics.retention", KEY_KIND_SECONDS, KEY_ORDER_SAME, NOWHERE, .max = 100 * YEAR_S,
	  .help = "How long evidence is kept." },

	{ "broker", KEY_KIND_SECTION, KEY_ORDER_SAME, FIELD(sections[PROFILE_SECTION_BROKER]),
	  .help = "Tools outside that may be called from inside." },
	{ "broker.tools", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, NOWHERE, .shape = &key_shape_name,
	  .help = "Names of the tools." },
	{ "broker.max_tool_calls_per_session", KEY_KIND_COUNT, KEY_ORDER_LESS, NOWHERE, .max = 1000000,
	  .help = "Maximum number of calls per session." },
	{ "broker.timing_min_delay_ms", KEY_KIND_COUNT, KEY_ORDER_SAME, NOWHERE, .max = 60000,
	  .help = "Minimum delay of each answer, in milliseconds." },

	{ "trust", KEY_KIND_SECTION, KEY_ORDER_SAME, FIELD(sections[PROFILE_SECTION_TRUST]),
	  .help = "Projects that stay locked until trusted." },
	{ "trust.context_file", KEY_KIND_TEXT, KEY_ORDER_SAME, NOWHERE, .shape = &file_name_shape,
	  .help = "Name of the context file in the worktree." },
	{ 0 },
};
/* clang-format on */

const struct key_row *profile_keys(void)
{
	return keys;
}

const struct key_row *profile_key_find(const char *section, const char *key)
{
	return key_table_find(keys, section, key);
}

struct jdoc *profile_schema(void)
{
	struct jdoc *s = jdoc_new_object(), *required;

	jdoc_set_string(s, "type", "object");
	jdoc_set_string(s, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jdoc_set_string(s, "title", "custody profile, schema 1");
	required = jdoc_set_array(s, "required");
	jdoc_append_string(required, "schema");
	jdoc_append_string(required, "name");
	key_table_schema(s, profile_keys(), NULL);
	return s;
}
