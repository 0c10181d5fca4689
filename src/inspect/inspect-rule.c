/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspect/inspect-rule.h"

#include <assert.h>
#include <errno.h>

#include "base/array.h"
#include "base/str.h"

/* clang-format off */
static const struct rule {
	const char *name;
	bool fixed;
	const char *text;
} rules[] = {
	[INSPECT_SECRET_KNOWN] =       { "secret.known",             true,  "a secret that custody itself has loaded, plain or encoded" },
	[INSPECT_SECRET_PEM] =         { "secret.pem",               false, "a private key in PEM, OpenSSH's or PGP's armor" },
	[INSPECT_SECRET_KEY_FILE] =    { "secret.key-file",          false, "a private key of PuTTY or age" },
	[INSPECT_SECRET_ANTHROPIC] =   { "secret.token.anthropic",   false, "a key of Anthropic" },
	[INSPECT_SECRET_AWS] =         { "secret.aws-key",           false, "an access key of AWS" },
	[INSPECT_SECRET_AZURE] =       { "secret.azure",             false, "a storage or shared access key, a signature, or a client secret of Azure" },
	[INSPECT_SECRET_CLOUD] =       { "secret.token.cloud",       false, "a token of DigitalOcean, Fly, Cloudflare, Heroku, Databricks or Terraform Cloud" },
	[INSPECT_SECRET_GITHUB] =      { "secret.token.github",      false, "a token of GitHub" },
	[INSPECT_SECRET_GITLAB] =      { "secret.token.gitlab",      false, "a token of GitLab" },
	[INSPECT_SECRET_GOOGLE] =      { "secret.token.google",      false, "an API key, client secret or token of Google" },
	[INSPECT_SECRET_HUGGINGFACE] = { "secret.token.huggingface", false, "a token of Hugging Face" },
	[INSPECT_SECRET_JWT] =         { "secret.token.jwt",         false, "a signed JSON web token" },
	[INSPECT_SECRET_NPM] =         { "secret.token.npm",         false, "a token of npm" },
	[INSPECT_SECRET_OPENAI] =      { "secret.token.openai",      false, "a key of OpenAI" },
	[INSPECT_SECRET_PYPI] =        { "secret.token.pypi",        false, "a token of PyPI" },
	[INSPECT_SECRET_SERVICE] =     { "secret.token.service",     false, "a token of another service with a known prefix" },
	[INSPECT_SECRET_SLACK] =       { "secret.token.slack",       false, "a token or webhook of Slack" },
	[INSPECT_SECRET_STRIPE] =      { "secret.token.stripe",      false, "a secret key of Stripe" },
	[INSPECT_SECRET_VAULT] =       { "secret.token.vault",       false, "a token of HashiCorp Vault" },
	[INSPECT_SECRET_URL] =         { "secret.url-password",      false, "a password in a URL" },
	[INSPECT_SECRET_HEADER] =      { "secret.header",            false, "Bearer or Basic, and a value as it stands in a header Authorization" },
	[INSPECT_SECRET_ENTROPY] =     { "secret.high-entropy",      false, "a random value whose name says that it is a secret" },
	[INSPECT_PROC_ENVIRON] =       { "proc.environ",             false, "an environment as /proc/N/environ has it: NAME=VALUE between NULs" },
	[INSPECT_PROC_PATH] =          { "proc.path",                false, "a path to the environment or memory of a process below /proc" },
	[INSPECT_LINE_LONG] =          { "line.long",                false, "a line of text longer than a person reads" },
	[INSPECT_TEXT_LARGE] =         { "text.large",               false, "content above the size that is inspected" },
	[INSPECT_PATH_FORM] =          { "path.form",                false, "a path that is absolute, empty, has '..', control or reordering characters" },
	[INSPECT_PATH_GIT] =           { "path.git",                 false, "a path in .git, in any spelling that a file system takes for it" },
	[INSPECT_PATH_GIT_HOOK] =      { "path.git-hook",            false, "a hook of git, or of a program that installs hooks" },
	[INSPECT_PATH_SSH] =           { "path.ssh",                 false, "a file of .ssh, or named like a private key of ssh" },
	[INSPECT_PATH_ENV] =           { "path.env",                 false, "a file .env, or .env.* but examples" },
	[INSPECT_PATH_CREDENTIALS] =   { "path.credentials",         false, "a file where a program keeps its credentials" },
	[INSPECT_PATH_KEY] =           { "path.key-store",           false, "a key store by its name" },
	[INSPECT_PATH_CUSTODY] =       { "path.custody",             false, "state or token of custody" },
	[INSPECT_PATH_CI] =            { "path.ci",                  false, "a file that a forge executes with the project's credentials" },
	[INSPECT_MODE_SYMLINK] =       { "mode.symlink",             false, "a symbolic link" },
	[INSPECT_MODE_SYMLINK_OUTSIDE] = { "mode.symlink-outside",   false, "a symbolic link that leaves the repository" },
	[INSPECT_MODE_EXECUTABLE] =    { "mode.executable",          false, "a file that becomes executable" },
	[INSPECT_MODE_SET_ID] =        { "mode.set-id",              false, "a set-user-id, set-group-id or sticky bit" },
	[INSPECT_MODE_UNKNOWN] =       { "mode.unknown",             false, "a mode that git does not write" },
	[INSPECT_CHANGE_SUBMODULE] =   { "change.submodule",         false, "a submodule or .gitmodules" },
	[INSPECT_CHANGE_GITATTRIBUTES] = { "change.gitattributes-filter", false, "attributes that run a filter, diff or merge driver, or change the encoding" },
	[INSPECT_CHANGE_UNKNOWN] =     { "change.unknown",           true,  "a kind of change that is not known, and so not inspected" },
};
/* clang-format on */

static_assert(ARRAY_SIZE(rules) == _INSPECT_RULE_MAX, "a rule without a row");
static_assert(_INSPECT_RULE_MAX <= 64, "a set has 64 bits");

const char *inspect_rule_name(enum inspect_rule r)
{
	return rules[r].name;
}

const char *inspect_rule_text(enum inspect_rule r)
{
	return rules[r].text;
}

bool inspect_rule_is_fixed(enum inspect_rule r)
{
	return rules[r].fixed;
}

static int find(const char *name, enum inspect_rule *ret, struct fault *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (str_eq(rules[i].name, name)) {
			*ret = (enum inspect_rule)i;
			return rules[i].fixed
				       ? fault_set(f, EINVAL, "inspection rule '%s' cannot be allowed", name)
				       : 0;
		}
	return fault_set(f, EINVAL, "unknown inspection rule '%s': docs/design/inspection.md lists the rules",
			 name);
}

int inspect_rules_parse(char *const *names, uint64_t *ret, struct fault *f)
{
	uint64_t set = 0;
	enum inspect_rule r = INSPECT_SECRET_KNOWN;
	int e = 0;

	for (; e == 0 && names && *names; names++) {
		e = find(*names, &r, f);
		if (e == 0)
			set |= UINT64_C(1) << r;
	}
	if (e == 0)
		*ret = set;
	return e;
}
