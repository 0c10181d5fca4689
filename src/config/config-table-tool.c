/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "config/config-impl.h"
#include "base/net-address.h"

#define TOOL(name) offsetof(struct config_tool, name)
#define REST(name) offsetof(struct config_tool, rest.name)
#define PARAM(name) offsetof(struct config_param, name)
#define NOWHERE KEY_NO_FIELD
#define LABEL "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"

#define MIB (UINT64_C(1) << 20)

static bool is_variable(const char *t)
{
	return !strchr("0123456789", *t) &&
	       key_text_has_only(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", 255);
}

/* PARAM=VALUE. */
static bool is_scope(const char *t)
{
	static const char *const values[] = { "session", "agent", "worker", "issue", "lane", NULL };
	const char *equals = strchr(t, '=');
	_cleanup_free_ char *name = equals ? strndup(t, (size_t)(equals - t)) : NULL;

	if (!name || !is_variable(name))
		return false;
	for (size_t i = 0; values[i]; i++)
		if (strcmp(equals + 1, values[i]) == 0)
			return true;
	return false;
}

/* VARIABLE=NAME of a credential. */
static bool is_credential(const char *t)
{
	const char *equals = strchr(t, '=');
	_cleanup_free_ char *name = equals ? strndup(t, (size_t)(equals - t)) : NULL;

	return name && is_variable(name) && !strchr(".-", equals[1]) &&
	       key_text_has_only(equals + 1, "abcdefghijklmnopqrstuvwxyz0123456789._-", 64);
}

/* clang-format off */
static const struct key_shape variable_shape = { "a variable's name", "^[A-Za-z_][A-Za-z0-9_]{0,254}$", is_variable };
static const struct key_shape scope_shape = {
	"PARAM=VALUE, where VALUE is session, agent, worker, issue or lane", "^[A-Za-z_][A-Za-z0-9_]{0,254}=(session|agent|worker|issue|lane)$", is_scope };

static const struct key_shape credential_shape = {
	"VARIABLE=NAME, where NAME is a credential's", "^[A-Za-z_][A-Za-z0-9_]{0,254}=[a-z0-9_][a-z0-9._-]{0,63}$", is_credential };
static const struct key_shape url_shape = {
	"https://HOST[:PORT][/PREFIX], or http", "^https?://(\\{[A-Za-z_][A-Za-z0-9_]{0,63}\\}|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/.*)?$", rest_is_url };
static const struct key_shape method_shape = { "GET, POST, PUT, PATCH or DELETE", "^(GET|POST|PUT|PATCH|DELETE)$", rest_is_method };
static const struct key_shape path_shape = {
	"a path of characters that need no encoding, with parameters as {NAME}", "^/[A-Za-z0-9._~!$&'()*+,;=:@/{}-]*$", rest_is_path };
static const struct key_shape field_shape = {
	"NAME, NAME? or NAME=TEXT", "^[A-Za-z_][A-Za-z0-9_]{0,63}(\\?|=.*)?$", rest_is_field };
static const struct key_shape header_line_shape = {
	"NAME: VALUE of a header that custody does not set itself", "^[A-Za-z0-9_-]+: [ -~]+$", rest_is_header };
static const struct key_shape reply_header_shape = { "a header's name in lower case", "^[a-z0-9-]{1,64}$", rest_is_reply_header };
static const struct key_shape rest_host_shape = {
	"a host's name, or \"*.\" and one", "^(\\*\\.)?" LABEL "(\\." LABEL ")*$", rest_is_host };
static const struct key_shape address_shape = {
	"public, private, link-local or loopback", "^(public|private|link-local|loopback)$", net_address_is_name };
static const struct key_shape credential_name_shape = {
	"a credential's name", "^[a-z0-9_][a-z0-9._-]{0,63}$", rest_is_credential };
static const struct key_shape scheme_shape = { "a word such as Bearer, or nothing", "^[A-Za-z0-9_-]{0,32}$", rest_is_scheme };

const struct key_word config_level_words[] = { { "A", 0, 0 }, { "B", 1, 0 }, { "C", 2, 0 }, { 0 } };
const struct key_word config_class_words[] = {
	{ "test", NETWORK_CLASS_TEST, 0 }, { "prod", NETWORK_CLASS_PROD, 0 }, { 0 } };

static const struct key_word type_words[] = {
	{ "string", CONFIG_PARAM_STRING, 0 }, { "integer", CONFIG_PARAM_INTEGER, 0 }, { "boolean", CONFIG_PARAM_BOOLEAN, 0 }, { 0 } };

const struct key_row config_param_rows[] = {
	{ "name", KEY_KIND_TEXT, .offset = PARAM(name), .shape = &variable_shape, .required = true,
	  .help = "Name of the parameter." },
	{ "type", KEY_KIND_WORD, .offset = PARAM(type), .words = type_words, .required = true,
	  .help = "Type of its value: string, integer, boolean." },
	{ "required", KEY_KIND_BOOL, .offset = PARAM(required), .fallback = "false",
	  .help = "Whether a call without it is refused." },
	{ "enum", KEY_KIND_TEXTS, .offset = PARAM(values),
	  .help = "Values that a string may have; others are refused." },
	{ "max_length", KEY_KIND_COUNT, .offset = PARAM(length_max), .min = 1, .max = MIB,
	  .help = "Characters that a string may have; longer ones are refused." },
	{ "description", KEY_KIND_TEXT, .offset = PARAM(description),
	  .help = "What it means, for the program that calls the tool." },
	{ 0 },
};

const struct key_row config_tool_rows[] = {
	{ "name", KEY_KIND_TEXT, .offset = TOOL(name), .shape = &key_shape_name, .required = true,
	  .help = "Name of the tool." },
	{ "exec", KEY_KIND_ARGV, .offset = TOOL(exec),
	  .help = "Program, by its absolute path, and arguments; it reads the parameters as JSON." },
	{ "level", KEY_KIND_WORD, .offset = TOOL(level), .words = config_level_words, .required = true,
	  .help = "Approval of each call: A none, B a person, C a person with a PIN." },
	{ "network", KEY_KIND_WORD, .offset = TOOL(network), .words = config_class_words, .required = true,
	  .help = "Network class of its effects: test in lane sandbox, prod in lane prod." },
	{ "scope", KEY_KIND_TEXTS, .offset = TOOL(scope), .shape = &scope_shape,
	  .help = "Parameters that must be equal to a value of the session, such as issue_number=issue." },
	{ "env", KEY_KIND_TEXTS, .offset = TOOL(env), .shape = &variable_shape,
	  .help = "Variables of the environment of custody that it gets." },
	{ "credentials", KEY_KIND_TEXTS, .offset = TOOL(credentials), .shape = &credential_shape,
	  .help = "Variables that get the value of a credential of the lane, such as API_TOKEN=github." },
	{ "timeout", KEY_KIND_SECONDS, .offset = TOOL(timeout_s), .fallback = "30", .min = 1, .max = 3600,
	  .help = "Time after which it is killed." },
	{ "output_max", KEY_KIND_SIZE, .offset = TOOL(output_max), .fallback = "64K", .min = 1, .max = MIB,
	  .help = "Maximum size of its output; more is a failure." },
	{ "read", KEY_KIND_BOOL, .offset = TOOL(read), .fallback = "false",
	  .help = "Whether it changes nothing outside: its calls are not synced to the disk first, unless it has credentials." },
	{ "inspect_allow", KEY_KIND_TEXTS, .offset = TOOL(inspect_allow),
	  .help = "Rules of inspection that do not refuse its calls, such as mode.executable." },
	{ "export", KEY_KIND_BOOL, .offset = TOOL(export), .fallback = "false",
	  .help = "Whether it sends data of the worktree out; not implemented: a run with such a tool is refused." },
	{ "description", KEY_KIND_TEXT, .offset = TOOL(description),
	  .help = "What the tool does, for the program that calls it." },
	{ "params", KEY_KIND_OBJECTS, .offset = TOOL(params), .rows = config_param_rows, .row_size = sizeof(struct config_param),
	  .help = "Parameters of a call; others are refused. Without it the tool checks its own." },
	{ "rest", KEY_KIND_SECTION, .offset = NOWHERE,
	  .help = "In place of exec: one request over HTTPS that the tool makes." },
	{ "rest.url", KEY_KIND_TEXT, .offset = REST(url), .shape = &url_shape,
	  .help = "Server, and prefix of its paths. The host may be a parameter. http is for loopback alone." },
	{ "rest.method", KEY_KIND_TEXT, .offset = REST(method), .fallback = "GET", .shape = &method_shape,
	  .help = "Method of the request." },
	{ "rest.path", KEY_KIND_TEXT, .offset = REST(path), .shape = &path_shape,
	  .help = "Path behind the URL, with parameters, such as /repos/o/r/issues/{issue_number}." },
	{ "rest.query", KEY_KIND_TEXTS, .offset = REST(query), .shape = &field_shape,
	  .help = "Query: NAME of a parameter, NAME? if it may be missing, NAME=TEXT for a constant." },
	{ "rest.body", KEY_KIND_TEXTS, .offset = REST(body), .shape = &field_shape,
	  .help = "Members of the JSON object that is sent, in the same form." },
	{ "rest.headers", KEY_KIND_TEXTS, .offset = REST(headers), .shape = &header_line_shape,
	  .help = "Constant headers of the request." },
	{ "rest.reply_headers", KEY_KIND_TEXTS, .offset = REST(reply_headers), .fallback = "content-type", .shape = &reply_header_shape,
	  .help = "Headers of the reply that the caller gets." },
	{ "rest.hosts", KEY_KIND_TEXTS, .offset = REST(hosts), .shape = &rest_host_shape,
	  .help = "Hosts that may be called, by whole labels. Default: the host of rest.url." },
	{ "rest.addresses", KEY_KIND_TEXTS, .offset = REST(addresses), .fallback = "public", .shape = &address_shape,
	  .help = "Kinds of addresses that the host may have: public, private, link-local, loopback." },
	{ "rest.ca", KEY_KIND_PATH, .offset = REST(ca),
	  .help = "File of certificates to trust in place of the system's." },
	{ "rest.credential", KEY_KIND_TEXT, .offset = REST(credential), .shape = &credential_name_shape,
	  .help = "Name of the lane's credential that the request carries." },
	{ "rest.header", KEY_KIND_TEXT, .offset = REST(header), .fallback = "Authorization", .shape = &config_shape_header,
	  .help = "Header of the request that the credential goes into." },
	{ "rest.scheme", KEY_KIND_TEXT, .offset = REST(scheme), .fallback = "Bearer", .shape = &scheme_shape,
	  .help = "Word before the credential in that header; may be empty." },
	{ 0 },
};
/* clang-format on */

_Static_assert(TOOL(n_params) == TOOL(params) + sizeof(void *), "count follows its list");

const char *config_param_type_name(unsigned int type)
{
	return type_words[type].word;
}
