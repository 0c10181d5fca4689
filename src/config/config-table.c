/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <strings.h>

#include "config/config-impl.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-peer.h"
#include "policy/policy.h"

#define FIELD(name) offsetof(struct config, name)
#define APPROVER(name) offsetof(struct config_approver, name)
#define FLEET(name) offsetof(struct config_fleet, name)
#define PROVENANCE(name) offsetof(struct config_provenance, name)
#define RULE(name) offsetof(struct config_rule, name)
#define PEER(name) offsetof(struct config_peer, name)
#define NOWHERE KEY_NO_FIELD

#define MIB (UINT64_C(1) << 20)
#define SIZE_LIMIT (UINT64_C(1) << 50)
#define DAY_S (UINT64_C(24) * 3600)
#define ID_MAX UINT64_C(4294967294)
#define HEX "0123456789abcdef"
#define HOST_SET "abcdefghijklmnopqrstuvwxyz0123456789.-"

/* A list of objects: its count follows its pointer. */
#define COUNTED(list, n) _Static_assert(FIELD(n) == FIELD(list) + sizeof(void *), "count follows its list")
COUNTED(approvers, n_approvers);
COUNTED(fleets, n_fleets);
COUNTED(provenance, n_provenance);
COUNTED(rules, n_rules);
COUNTED(audit_peers, n_audit_peers);
COUNTED(tools, n_tools);
COUNTED(remotes, n_remotes);

static bool is_hex_key(const char *t)
{
	return strlen(t) == 64 && key_text_has_only(t, HEX, 64);
}

static bool is_public_key(const char *t)
{
	return str_starts(t, "ed25519:") && is_hex_key(t + strlen("ed25519:"));
}

static bool is_ledger_key(const char *t)
{
	_cleanup_free_ char *text = NULL;
	struct checkpoint_key key;

	if (checkpoint_key_parse(t, &key, NULL) < 0)
		return false;
	/* One spelling: keys are compared as text. */
	text = checkpoint_key_text(&key);
	return text && strcmp(text, t) == 0;
}

bool config_is_profile(const char *text)
{
	return *text == '/' || key_shape_name.is(text);
}

static bool is_network(const char *t)
{
	return strcmp(t, "none") == 0 || strcmp(t, "allow") == 0 || strcmp(t, "host") == 0;
}

static bool is_host(const char *t)
{
	return key_text_has_only(t, HOST_SET, 253) && *t != '.' && *t != '-';
}

static bool is_peer_name(const char *t)
{
	return key_text_has_only(t, "abcdefghijklmnopqrstuvwxyz0123456789-", 32);
}

static bool is_range(const char *t)
{
	size_t n = strspn(t, "0123456789");

	return n > 0 && n <= 10 && t[n] == '-' && key_text_has_only(t + n + 1, "0123456789", 10);
}

static bool is_flag(const char *t)
{
	return *t == '-' && t[1] && !strpbrk(t, " \t=");
}

static bool is_header(const char *t)
{
	return key_text_has_only(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", 64);
}

/* clang-format off */
static const struct key_shape hex_shape = { "64 hex digits", "^[0-9a-f]{64}$", is_hex_key };
static const struct key_shape profile_shape = {
	"a profile's name or an absolute path", "^([a-z0-9][a-z0-9._-]{0,63}|/.*)$", config_is_profile };
static const struct key_shape key_shape = {
	"a public key as 'custody key show' prints it: ed25519: and 64 hex digits", "^ed25519:[0-9a-f]{64}$", is_public_key };
static const struct key_shape ledger_shape = {
	"a ledger's public key as 'custody ledger show --key' prints it", "^custody/ledger/[0-9a-f]{32}\\+[0-9a-f]{8}\\+[A-Za-z0-9+/]+=*$", is_ledger_key };
static const struct key_shape network_shape = { "none, allow or host", "^(none|allow|host)$", is_network };
static const struct key_shape host_shape = {
	"a host's name in lower case", "^[a-z0-9][a-z0-9.-]{0,252}$", is_host };
static const struct key_shape peer_shape = { "a name of a-z, 0-9 and '-', at most 32", "^[a-z0-9-]{1,32}$", is_peer_name };
static const struct key_shape range_shape = { "a range of ids such as 1879048192-2147483647", "^[0-9]{1,10}-[0-9]{1,10}$", is_range };
static const struct key_shape flag_shape = { "a flag such as --pass-phrase", "^-[^ \\t=]+$", is_flag };
const struct key_shape config_shape_header = { "a header's name", "^[A-Za-z0-9_-]{1,64}$", is_header };
static const struct key_word lane_words[] = {
	{ "sandbox", LANE_SANDBOX, 0 }, { "prod", LANE_PROD, 1 }, { "test", LANE_SANDBOX, 0 },
	{ "production", LANE_PROD, 1 }, { 0 } };
static const struct key_word approver_lane_words[] = {
	{ "sandbox", NETWORK_CLASS_TEST, 0 }, { "prod", NETWORK_CLASS_PROD, 0 }, { "any", NETWORK_CLASS_ANY, 0 }, { 0 } };
static const struct key_word intention_words[] = {
	{ "explicit", INTENTION_EXPLICIT, 0 }, { "task", INTENTION_TASK, 0 },
	{ "autonomous", INTENTION_AUTONOMOUS, 0 }, { 0 } };
static const struct key_word effect_words[] = {
	{ "deny", POLICY_EFFECT_DENY, 0 }, { "ask", POLICY_EFFECT_ASK, 0 }, { "allow", POLICY_EFFECT_ALLOW, 0 }, { 0 } };
static const struct key_word peer_types[] = {
	{ "dgram", PEER_DGRAM, 0 }, { "stream", PEER_STREAM, 0 }, { "file", PEER_APPEND, 0 }, { 0 } };
static const struct key_word peer_sends[] = { { "checkpoints", 0, 0 }, { "records", 1, 0 }, { 0 } };

static const struct key_word exec_words[] = {
	{ "deny", CONFIG_EXEC_DENY, 0 }, { "ask", CONFIG_EXEC_ASK, 1 }, { "allow", CONFIG_EXEC_ALLOW, 2 }, { 0 } };

static const struct key_row approver_rows[] = {
	{ "name", KEY_KIND_TEXT, .offset = APPROVER(name), .shape = &key_shape_name, .required = true,
	  .help = "Name of the approver." },
	{ "key", KEY_KIND_TEXT, .offset = APPROVER(key), .shape = &key_shape, .required = true,
	  .help = "Public key that signs grants of level B." },
	{ "pin_key", KEY_KIND_TEXT, .offset = APPROVER(pin_key), .shape = &key_shape,
	  .help = "Public key that only the PIN unlocks, for level C." },
	{ "lane", KEY_KIND_WORD, .offset = APPROVER(lanes), .fallback = "sandbox", .words = approver_lane_words,
	  .help = "Lane in which the signature counts: sandbox, prod, any." },
	{ "uid", KEY_KIND_COUNT, .offset = APPROVER(uid), .max = ID_MAX,
	  .help = "User of this host whose key it is, for allow_self." },
	{ 0 },
};
static const struct key_row fleet_rows[] = {
	{ "name", KEY_KIND_TEXT, .offset = FLEET(name), .shape = &key_shape_name, .required = true,
	  .help = "Name of the fleet, for 'custody approve --fleet'." },
	{ "ledgers", KEY_KIND_TEXTS, .offset = FLEET(ledgers), .shape = &ledger_shape, .required = true,
	  .help = "Public keys of the ledgers, as 'custody ledger show --key' prints them." },
	{ 0 },
};
static const struct key_row provenance_rows[] = {
	{ "uid", KEY_KIND_COUNT, .offset = PROVENANCE(uid), .max = ID_MAX,
	  .help = "User who starts the run." },
	{ "cgroup", KEY_KIND_PATH, .offset = PROVENANCE(cgroup),
	  .help = "Cgroup, or one above it, that the run is started from." },
	{ "intention", KEY_KIND_WORD, .offset = PROVENANCE(intention), .words = intention_words, .required = true,
	  .help = "Intention of its runs: explicit, task, autonomous." },
	{ 0 },
};
static const struct key_row rule_rows[] = {
	{ "effect", KEY_KIND_WORD, .offset = RULE(effect), .words = effect_words, .required = true,
	  .help = "deny, ask, allow." },
	{ "argv", KEY_KIND_ARGV, .offset = RULE(argv),
	  .help = "Words that a command, or a part of one, begins with." },
	{ "profile", KEY_KIND_TEXT, .offset = RULE(profile), .shape = &key_shape_name,
	  .help = "Profile of the run." },
	{ "network", KEY_KIND_TEXT, .offset = RULE(network), .shape = &network_shape,
	  .help = "Network mode of the run: none; allow: listed hosts; host: any network, also listed hosts." },
	{ "mount", KEY_KIND_PATH, .offset = RULE(mount),
	  .help = "Path at or below which the run can write." },
	{ "why", KEY_KIND_TEXT, .offset = RULE(why),
	  .help = "Reason shown with the decision, one line." },
	{ 0 },
};
static const struct key_row peer_rows[] = {
	{ "name", KEY_KIND_TEXT, .offset = PEER(name), .shape = &peer_shape, .required = true,
	  .help = "Name of the peer." },
	{ "type", KEY_KIND_WORD, .offset = PEER(type), .words = peer_types, .required = true,
	  .help = "dgram, stream, file." },
	{ "path", KEY_KIND_PATH, .offset = PEER(path), .required = true,
	  .help = "Socket or file." },
	{ "send", KEY_KIND_WORD, .offset = PEER(records), .words = peer_sends, .fallback = "checkpoints",
	  .help = "checkpoints or records." },
	{ 0 },
};
static const struct key_row keys[] = {
	{ "lane", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(lane), "sandbox", .words = lane_words,
	  .help = "Lane of a run that names none. prod still needs both of its keys." },

	{ "profile", KEY_KIND_TEXT, KEY_ORDER_FREE, FIELD(profile), "offline", .shape = &profile_shape,
	  .help = "Profile of a run that names none: a name or an absolute path." },

	{ "digest_key", KEY_KIND_TEXT, KEY_ORDER_SAME, FIELD(digest_key), .shape = &hex_shape,
	  .help = "Key of the digests that approvers sign, 64 hex digits; hosts that share it accept the same grants. Default: the lane's own." },
	{ "approvers", KEY_KIND_OBJECTS, KEY_ORDER_SUBSET, FIELD(approvers), .rows = approver_rows,
	  .row_size = sizeof(struct config_approver),
	  .help = "Approvers whose signature counts. If the key is present, local approvers do not count." },
	{ "fleets", KEY_KIND_OBJECTS, KEY_ORDER_NEVER, FIELD(fleets), .rows = fleet_rows,
	  .row_size = sizeof(struct config_fleet),
	  .help = "Named lists of ledgers: a grant of level B for a fleet counts on each of them." },
	{ "min_approvals", KEY_KIND_COUNT, KEY_ORDER_MORE, FIELD(min_approvals), "1", 1, 16,
	  .help = "Number of different approvers who must sign." },
	{ "allow_self", KEY_KIND_BOOL, KEY_ORDER_FALSE, FIELD(allow_self), "true",
	  .help = "Whether the requester may approve." },
	{ "on_request", KEY_KIND_ARGV, KEY_ORDER_SAME, FIELD(on_request),
	  .help = "Program and arguments that are started when a request is filed." },
	{ "request_expiry", KEY_KIND_SECONDS, KEY_ORDER_LESS, FIELD(request_expiry_s), "1d", 60, 366 * DAY_S,
	  .help = "How long a request stays open." },
	{ "grant_max", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Maximum for one grant." },
	{ "grant_max.uses", KEY_KIND_COUNT, KEY_ORDER_LESS, FIELD(grant_max_uses), "1000", 1, 1000000,
	  .help = "Runs." },
	{ "grant_max.time", KEY_KIND_SECONDS, KEY_ORDER_LESS, FIELD(grant_max_s), "30d", 60, 366 * DAY_S,
	  .help = "Time." },
	{ "prompt_rate", KEY_KIND_COUNT, KEY_ORDER_LESS, FIELD(prompt_rate), "10", 1, 600,
	  .help = "Prompts on a terminal per minute; more are refused." },

	{ "provenance", KEY_KIND_OBJECTS, KEY_ORDER_NEVER, FIELD(provenance), .rows = provenance_rows,
	  .row_size = sizeof(struct config_provenance),
	  .help = "Origin of a run, by user or cgroup; overrides a terminal." },
	{ "rules", KEY_KIND_OBJECTS, KEY_ORDER_SUPERSET, FIELD(rules), .rows = rule_rows,
	  .row_size = sizeof(struct config_rule),
	  .help = "Commands that are denied, need approval or are allowed." },
	{ "trusted_hosts", KEY_KIND_TEXTS, KEY_ORDER_SUBSET, FIELD(trusted_hosts), .shape = &host_shape,
	  .help = "Trusted hosts, including their subdomains." },
	{ "governance", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Of `custody run`." },
	{ "governance.security_profile", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(run_security), "balanced",
	  .words = key_words_security, .help = "Approval level: off, minimal, balanced, strict." },

	{ "exec", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(exec), "ask", .words = exec_words,
	  .help = "Commands in running sessions: deny all, ask as for a run, or allow level B without approval." },

	{ "security_profile", KEY_KIND_WORD, KEY_ORDER_RANK, FIELD(engine_security), "off",
	  .words = key_words_security,
	  .help = "The same for containers of an engine; independent of sandbox.enabled." },
	{ "sandbox", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Of containers of an engine." },
	{ "sandbox.enabled", KEY_KIND_BOOL, KEY_ORDER_TRUE, FIELD(sandbox.enabled), "false",
	  .help = "Whether custody-runtime adds isolation." },
	{ "sandbox.profile", KEY_KIND_TEXT, KEY_ORDER_FREE, FIELD(sandbox.profile), "container", .shape = &profile_shape,
	  .help = "Profile of containers that name none: its name, or an absolute path." },
	{ "sandbox.max_tool_calls_per_session", KEY_KIND_COUNT, KEY_ORDER_LESS, FIELD(sandbox.max_tool_calls),
	  "500", 0, 1000000, .help = "Maximum number of calls per session." },
	{ "sandbox.timing_min_delay_ms", KEY_KIND_COUNT, KEY_ORDER_MORE, FIELD(sandbox.timing_min_delay_ms),
	  "50", 0, 60000, .help = "Minimum delay of each answer, in milliseconds." },
	{ "sandbox.retention_path", KEY_KIND_PATH, KEY_ORDER_SAME, FIELD(forensics.path),
	  .help = "Where evidence is kept; default: forensics beside the lanes' state." },
	{ "sandbox.forensic_retention_days", KEY_KIND_COUNT, KEY_ORDER_MORE, FIELD(forensics.retention_days),
	  "1", 0, 36500, .help = "Days that evidence is kept." },
	{ "sandbox.forensic_quota", KEY_KIND_SIZE, KEY_ORDER_MORE, FIELD(forensics.quota), "10G", MIB, SIZE_LIMIT,
	  .help = "Maximum size of all evidence." },
	{ "sandbox.forensic_item_max", KEY_KIND_SIZE, KEY_ORDER_MORE, FIELD(forensics.item_max), .min = MIB,
	  .max = SIZE_LIMIT, .help = "Maximum size of the evidence of one run; default: a quarter of the quota." },
	{ "forensics", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Evidence." },
	{ "forensics.retention_path", KEY_KIND_PATH, KEY_ORDER_SAME, NOWHERE,
	  .help = "The same as sandbox.retention_path." },
	{ "forensics.retention_days", KEY_KIND_COUNT, KEY_ORDER_MORE, NOWHERE, .max = 36500,
	  .help = "The same as sandbox.forensic_retention_days." },
	{ "forensics.quota", KEY_KIND_SIZE, KEY_ORDER_MORE, NOWHERE, .min = MIB, .max = SIZE_LIMIT,
	  .help = "The same as sandbox.forensic_quota." },
	{ "forensics.item_max", KEY_KIND_SIZE, KEY_ORDER_MORE, NOWHERE, .min = MIB, .max = SIZE_LIMIT,
	  .help = "The same as sandbox.forensic_item_max." },
	{ "forensics.keep_free", KEY_KIND_SIZE, KEY_ORDER_MORE, FIELD(forensics.keep_free), "1G", 0, SIZE_LIMIT,
	  .help = "Disk space that evidence leaves free." },

	{ "broker", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Tools outside that may be called from inside." },
	{ "broker.tools", KEY_KIND_OBJECTS, KEY_ORDER_SUBSET, FIELD(tools), .rows = config_tool_rows,
	  .row_size = sizeof(struct config_tool),
	  .help = "Tools that a profile may name in its own broker.tools." },

	{ "broker.remotes", KEY_KIND_OBJECTS, KEY_ORDER_SUBSET, FIELD(remotes), .rows = config_remote_rows,
	  .row_size = sizeof(struct config_remote),
	  .help = "Git repositories that the tools git.fetch and git.push may reach." },

	{ "review", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Changes of overlay runs, until they are applied or discarded." },
	{ "review.keep_days", KEY_KIND_COUNT, KEY_ORDER_MORE, FIELD(review.keep_days), "7", 0, 36500,
	  .help = "Days that unapplied changes are kept." },
	{ "review.quota", KEY_KIND_SIZE, KEY_ORDER_MORE, FIELD(review.quota), "10G", MIB, SIZE_LIMIT,
	  .help = "Maximum size of kept changes; the oldest are removed first." },

	{ "redact", KEY_KIND_SECTION, KEY_ORDER_NEVER, NOWHERE,
	  .help = "Secrets that are redacted in records, in addition to the built-in lists." },
	{ "redact.flags", KEY_KIND_TEXTS, KEY_ORDER_SUPERSET, FIELD(redact_flags), .shape = &flag_shape,
	  .help = "Flags whose value is redacted." },
	{ "redact.headers", KEY_KIND_TEXTS, KEY_ORDER_SUPERSET, FIELD(redact_headers), .shape = &config_shape_header,
	  .help = "Headers whose value is redacted." },
	{ "audit_peer", KEY_KIND_OBJECTS, KEY_ORDER_SUPERSET, FIELD(audit_peers), .rows = peer_rows,
	  .row_size = sizeof(struct config_peer),
	  .help = "Destinations for checkpoints of the ledger." },
	{ "id_range", KEY_KIND_TEXT, KEY_ORDER_NEVER, NOWHERE, "1879048192-2147483647", .shape = &range_shape,
	  .help = "Ids that sessions started by root take their blocks of 65536 from." },
	{ 0 },
};

static const struct config_alias aliases[] = {
	{ "forensics.retention_path", "sandbox.retention_path" },
	{ "forensics.retention_days", "sandbox.forensic_retention_days" },
	{ "forensics.quota", "sandbox.forensic_quota" },
	{ "forensics.item_max", "sandbox.forensic_item_max" },
	{ 0 },
};

static const char *const unused[] = {
	"audit_peer", "id_range", NULL,
};
/* clang-format on */

const struct key_row *config_keys(void)
{
	return keys;
}

const struct config_alias *config_aliases(void)
{
	return aliases;
}

char config_tool_level(const struct config_tool *t)
{
	return (char)('A' + t->level);
}

bool config_key_is_used(const char *path)
{
	for (size_t i = 0; unused[i]; i++)
		if (strcmp(unused[i], path) == 0)
			return false;
	return true;
}

struct jdoc *config_schema(void)
{
	struct jdoc *s = jdoc_new_object();

	jdoc_set_string(s, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jdoc_set_string(s, "title", "custody.json");
	jdoc_set_string(s, "type", "object");
	key_table_schema(s, keys, NULL);
	return s;
}
