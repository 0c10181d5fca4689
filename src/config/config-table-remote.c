/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "config/config-impl.h"

#define REMOTE(name) offsetof(struct config_remote, name)

/* No name or password of a user. */
static bool is_git_url(const char *t)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._~%+-";

	return (strncmp(t, "https://", 8) == 0 || strncmp(t, "git://", 6) == 0 ||
		strncmp(t, "file:///", 8) == 0) &&
	       key_text_has_only(t, set, 1024);
}

/* A branch, or all below a prefix. */
static bool is_branches(const char *t)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
	const size_t len = strlen(t), all = len > 2 && strcmp(t + len - 2, "/*") == 0 ? len - 1 : len;

	return *t != '/' && *t != '-' && strspn(t, set) == all && all > 0 && len <= 200 && !strstr(t, "..") &&
	       !strstr(t, "//");
}

/* clang-format off */
static const struct key_shape url_shape = {
	"a URL that begins with https://, git:// or file:///, without a user", "^(https://|git://|file:///)[A-Za-z0-9:/._~%+-]*$", is_git_url };
static const struct key_shape branches_shape = {
	"a branch's name, or a prefix and /*, such as agent/*", "^[A-Za-z0-9._][A-Za-z0-9._/-]{0,197}(/\\*)?$", is_branches };

const struct key_row config_remote_rows[] = {
	{ "name", KEY_KIND_TEXT, .offset = REMOTE(name), .shape = &key_shape_name, .required = true,
	  .help = "Name of the remote, which calls of git.fetch and git.push give." },
	{ "url", KEY_KIND_TEXT, .offset = REMOTE(url), .shape = &url_shape, .required = true,
	  .help = "URL of the repository." },
	{ "network", KEY_KIND_WORD, .offset = REMOTE(network), .words = config_class_words, .required = true,
	  .help = "Network class: test in lane sandbox, prod in lane prod." },
	{ "branches", KEY_KIND_TEXTS, .offset = REMOTE(branches), .shape = &branches_shape,
	  .help = "Branches that git.push may create and move, such as agent/*; without it none." },
	{ "level", KEY_KIND_WORD, .offset = REMOTE(level), .words = config_level_words, .fallback = "B",
	  .help = "Approval of each push: A none, B a person, C a person with a PIN." },
	{ "force", KEY_KIND_BOOL, .offset = REMOTE(force), .fallback = "false",
	  .help = "Whether git.push may take commits away from a branch." },
	{ "inspect_allow", KEY_KIND_TEXTS, .offset = REMOTE(inspect_allow),
	  .help = "Rules of inspection that do not refuse a push, such as mode.executable." },
	{ "credential", KEY_KIND_TEXT, .offset = REMOTE(credential), .shape = &key_shape_name,
	  .help = "Credential of the lane that is the password for its server; with https alone." },
	{ "user", KEY_KIND_TEXT, .offset = REMOTE(user), .shape = &key_shape_name, .fallback = "git",
	  .help = "User name that goes with the credential." },
	{ "ca", KEY_KIND_PATH, .offset = REMOTE(ca),
	  .help = "File with the certificates that sign the server's; default: the system's." },
	{ 0 },
};
