/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "inspect/inspect-impl.h"

/*
 * Paths by their components, in every spelling that a file system takes for the same name: case, the characters that HFS+
 * ignores, blanks and dots at the end and streams behind a colon as on NTFS.  A pattern has at most one star, first or last.
 */
#define COMPONENT_MAX 256

/* clang-format off */
/* PARENT: the component before it; NULL: any.  BUT: names that the pattern does not mean. */
static const struct name {
	enum inspect_rule rule;
	const char *parent, *pattern;
	const char *const *but;
} names[] = {
	{ INSPECT_PATH_GIT_HOOK, NULL,        ".githooks", NULL },
	{ INSPECT_PATH_GIT_HOOK, NULL,        ".husky", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "pre-*", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "post-*", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "commit-msg", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "prepare-commit-msg", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "applypatch-msg", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "fsmonitor-*", NULL },
	{ INSPECT_PATH_GIT_HOOK, "hooks",     "update", NULL },
	{ INSPECT_PATH_GIT,      NULL,        ".git", NULL },
	{ INSPECT_PATH_GIT,      NULL,        "git~*", NULL },
	{ INSPECT_PATH_SSH,      NULL,        ".ssh", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "id_rsa", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "id_dsa", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "id_ecdsa", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "id_ecdsa_sk", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "id_ed25519", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "id_ed25519_sk", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "*.ppk", NULL },
	{ INSPECT_PATH_SSH,      NULL,        "ssh_host_*", (const char *const[]){ "*.pub", NULL } },
	{ INSPECT_PATH_ENV,      NULL,        ".env", NULL },
	{ INSPECT_PATH_ENV,      NULL,        ".envrc", NULL },
	{ INSPECT_PATH_ENV,      NULL,        ".env.*", (const char *const[]){ "*.example", "*.sample", "*.template", "*.dist", NULL } },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".aws", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".azure", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".boto", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".kube", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     "kubeconfig", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".config", "gcloud", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".config", "gh", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".docker", "config.json", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".cargo", "credentials", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".cargo", "credentials.toml", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".gem",   "credentials", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".claude", ".credentials.json", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".codex", "auth.json", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".composer", "auth.json", NULL },
	{ INSPECT_PATH_CREDENTIALS, ".m2",    "settings.xml", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".netrc", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     "_netrc", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".git-credentials", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".gnupg", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".password-store", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".pgpass", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".my.cnf", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".pypirc", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".htpasswd", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".vault-token", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".terraformrc", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     ".terraform.d", NULL },
	{ INSPECT_PATH_CREDENTIALS, NULL,     "*.tfstate", NULL },
	{ INSPECT_PATH_CREDENTIALS, "etc",    "shadow", NULL },
	{ INSPECT_PATH_CREDENTIALS, "etc",    "gshadow", NULL },
	{ INSPECT_PATH_CREDENTIALS, "share",  "keyrings", NULL },
	{ INSPECT_PATH_KEY,      NULL,        "*.p12", NULL },
	{ INSPECT_PATH_KEY,      NULL,        "*.pfx", NULL },
	{ INSPECT_PATH_KEY,      NULL,        "*.jks", NULL },
	{ INSPECT_PATH_KEY,      NULL,        "*.keystore", NULL },
	{ INSPECT_PATH_KEY,      NULL,        "*.kdbx", NULL },
	{ INSPECT_PATH_KEY,      NULL,        "*.keytab", NULL },
	{ INSPECT_PATH_CUSTODY,  "run",       "custody", NULL },
	{ INSPECT_PATH_CUSTODY,  "lib",       "custody", NULL },
	{ INSPECT_PATH_CUSTODY,  "state",     "custody", NULL },
	{ INSPECT_PATH_CUSTODY,  ".config",   "custody", NULL },
	{ INSPECT_PATH_CUSTODY,  NULL,        "digest.key", NULL },
	{ INSPECT_PATH_CI,       ".github",   "workflows", NULL },
	{ INSPECT_PATH_CI,       ".github",   "actions", NULL },
	{ INSPECT_PATH_CI,       ".gitea",    "workflows", NULL },
	{ INSPECT_PATH_CI,       ".forgejo",  "workflows", NULL },
	{ INSPECT_PATH_CI,       NULL,        ".gitlab-ci.yml", NULL },
	{ INSPECT_PATH_CI,       NULL,        ".circleci", NULL },
	{ INSPECT_PATH_CI,       NULL,        ".travis.yml", NULL },
	{ INSPECT_PATH_CI,       NULL,        ".woodpecker", NULL },
	{ INSPECT_PATH_CI,       NULL,        "jenkinsfile", NULL },
	{ INSPECT_PATH_CI,       NULL,        "azure-pipelines.yml", NULL },
};
/* clang-format on */

/* UTF-8 of a character that reorders or hides text, or that HFS+ ignores in names. */
static size_t hidden_at(const char *p, size_t len)
{
	const uint8_t *b = (const uint8_t *)p;

	if (len < 3)
		return 0;
	if (b[0] == 0xe2 && b[1] == 0x80)
		return (b[2] >= 0x8b && b[2] <= 0x8f) || (b[2] >= 0xa8 && b[2] <= 0xae) ? 3 : 0;
	if (b[0] == 0xe2 && b[1] == 0x81)
		return b[2] >= 0xa0 && b[2] <= 0xaf ? 3 : 0;
	return b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf ? 3 : 0;
}

/* The component as file systems see it; cut at COMPONENT_MAX - 1, which no pattern reaches. */
static void fold(const char *p, size_t len, char ret[COMPONENT_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < COMPONENT_MAX && p[i] != ':';) {
		const size_t hidden = hidden_at(p + i, len - i);

		if (hidden == 0)
			ret[n++] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
		i += hidden ? hidden : 1;
	}
	while (n > 1 && (ret[n - 1] == ' ' || ret[n - 1] == '.'))
		n--;
	ret[n] = '\0';
}

static bool is_like(const char *name, const char *pattern)
{
	const size_t n = strlen(pattern);

	if (pattern[0] == '*')
		return str_ends(name, pattern + 1);
	return pattern[n - 1] == '*' ? strncmp(name, pattern, n - 1) == 0 : strcmp(name, pattern) == 0;
}

static bool is_excepted(const struct name *n, const char *component)
{
	for (const char *const *but = n->but; but && *but; but++)
		if (is_like(component, *but))
			return true;
	return false;
}

static enum inspect_rule rule_of(const char *parent, const char *component)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_like(component, names[i].pattern) &&
		    (!names[i].parent || strcmp(parent, names[i].parent) == 0) &&
		    !is_excepted(&names[i], component))
			return names[i].rule;
	return INSPECT_NO_RULE;
}

/* The length of the component at P. */
static size_t component_of(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && p[n] != '/' && p[n] != '\\')
		n++;
	return n;
}

static enum inspect_rule rule_as_it_is(const char *path, size_t len)
{
	char parent[COMPONENT_MAX] = "", component[COMPONENT_MAX];
	enum inspect_rule best = INSPECT_NO_RULE;

	for (size_t at = 0; at < len;) {
		const size_t n = component_of(path + at, len - at);
		enum inspect_rule rule;

		fold(path + at, n, component);
		rule = rule_of(parent, component);
		/* .git/hooks/pre-commit is a hook, not only a file of .git. */
		if (rule == INSPECT_PATH_GIT_HOOK || best == INSPECT_NO_RULE)
			best = rule;
		if (best == INSPECT_PATH_GIT_HOOK)
			break;
		memcpy(parent, component, sizeof(parent));
		at += n + 1;
	}
	return best;
}

/* Appends to N bytes of a path without empty components, "." and "..". */
static size_t append(char *to, size_t n, const char *component, size_t len)
{
	if (len == 0 || (len == 1 && component[0] == '.'))
		return n;
	if (len == 2 && component[0] == '.' && component[1] == '.') {
		while (n > 0 && to[n - 1] != '/')
			n--;
		return n > 0 ? n - 1 : 0;
	}
	if (n > 0)
		to[n++] = '/';
	memcpy(to + n, component, len);
	return n + len;
}

/* As it is, and as the kernel resolves it if no component is a link: "a/./b", "a//b" and "a/x/../b" are "a/b". */
enum inspect_rule inspect_name_rule(const char *path, size_t len)
{
	_cleanup_free_ char *resolved = NULL;
	enum inspect_rule rule = rule_as_it_is(path, len);
	size_t to = 0;

	if (rule != INSPECT_NO_RULE || len == 0)
		return rule;
	resolved = malloc(len + 1);
	if (!resolved)
		return INSPECT_PATH_FORM;
	for (size_t at = 0; at < len;) {
		const size_t n = component_of(path + at, len - at);

		to = append(resolved, to, path + at, n);
		at += n + 1;
	}
	return rule_as_it_is(resolved, to);
}

bool inspect_name_is_formed(const char *path, size_t len)
{
	if (len == 0 || len >= PATH_MAX)
		return false;
	for (size_t at = 0; at <= len;) {
		const size_t n = component_of(path + at, len - at);

		if (n == 0 || (n == 1 && path[at] == '.') ||
		    (n == 2 && path[at] == '.' && path[at + 1] == '.') ||
		    (at + n < len && path[at + n] == '\\'))
			return false;
		at += n + 1;
	}
	for (size_t i = 0; i < len; i++) {
		const uint8_t c = (uint8_t)path[i], next = i + 1 < len ? (uint8_t)path[i + 1] : 0;

		if (c < ' ' || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f) ||
		    hidden_at(path + i, len - i))
			return false;
	}
	return true;
}

bool inspect_name_is(const char *path, size_t len, const char *last)
{
	char component[COMPONENT_MAX];
	size_t at = len;

	while (at > 0 && path[at - 1] != '/')
		at--;
	fold(path + at, len - at, component);
	return strcmp(component, last) == 0;
}
