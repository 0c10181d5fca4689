/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/* Programs with subcommands. The row "*" of a program is for subcommands that it does not list. */
enum sub_kind {
	SUB_READ,
	SUB_RUNS,	 /* runs commands of the project */
	SUB_INSTALLS,	 /* downloads code and runs parts of it */
	SUB_CHANGES,	 /* this machine: soft */
	SUB_DELETES,	 /* its own named objects: soft */
	SUB_SYSTEM,	 /* the system: soft */
	SUB_SYSTEM_ENDS, /* the system: irreversible */
	SUB_PACKAGES,	 /* the system's packages */
	SUB_PUBLISHES,	 /* a remote system, irreversible */
	SUB_ASKS_REMOTE, /* reads from a remote system */
};

/* clang-format off */
static const struct sub_row {
	const char *program, *subs; /* words with blanks around each */
	enum sub_kind kind;
} rows[] = {
	{ "docker", " ps images inspect logs version info top port history events stats diff ", SUB_READ },
	{ "docker", "*", SUB_SYSTEM_ENDS },
	{ "podman", " ps images inspect logs version info top port history events stats diff ", SUB_READ },
	{ "podman", "*", SUB_RUNS },
	{ "kubectl", " get describe logs version explain top api-resources api-versions cluster-info ", SUB_ASKS_REMOTE },
	{ "kubectl", "*", SUB_PUBLISHES },
	{ "helm", " list status history get search show version template lint ", SUB_ASKS_REMOTE },
	{ "helm", "*", SUB_PUBLISHES },
	{ "terraform", " fmt validate version show output graph providers ", SUB_RUNS },
	{ "terraform", " plan init refresh ", SUB_INSTALLS },
	{ "terraform", "*", SUB_PUBLISHES },
	{ "systemctl", " status show list-units list-unit-files list-timers list-sockets list-jobs is-active is-enabled "
		       "is-failed is-system-running cat get-default help ", SUB_READ },
	{ "systemctl", " poweroff reboot halt kexec rescue emergency isolate switch-root ", SUB_SYSTEM_ENDS },
	{ "systemctl", "*", SUB_SYSTEM },
	{ "loginctl", " list-sessions list-users session-status user-status show-session show-user ", SUB_READ },
	{ "loginctl", "*", SUB_SYSTEM },
	{ "apt", " list show search policy depends rdepends changelog ", SUB_READ },
	{ "apt", "*", SUB_PACKAGES },
	{ "apt-cache", "*", SUB_READ },
	{ "dnf", " list info search repolist repoquery check-update provides ", SUB_READ },
	{ "dnf", "*", SUB_PACKAGES },
	{ "apk", " info list search policy version stats ", SUB_READ },
	{ "apk", "*", SUB_PACKAGES },
	{ "snap", " list info find version ", SUB_READ },
	{ "snap", "*", SUB_PACKAGES },
	{ "brew", " list info search deps outdated config doctor ", SUB_READ },
	{ "brew", "*", SUB_PACKAGES },
	{ "pip", " list show freeze check inspect ", SUB_READ },
	{ "pip", " uninstall cache ", SUB_DELETES },
	{ "pip", "*", SUB_INSTALLS },
	{ "uv", " run tool ", SUB_INSTALLS },
	{ "uv", "*", SUB_INSTALLS },
	{ "poetry", " run build check show ", SUB_RUNS },
	{ "poetry", " publish ", SUB_PUBLISHES },
	{ "poetry", "*", SUB_INSTALLS },
	{ "conda", " list info search ", SUB_READ },
	{ "conda", "*", SUB_INSTALLS },
	{ "npm", " ls list ll root prefix bin explain fund ", SUB_READ },
	{ "npm", " run run-script test t start stop build rebuild prune pack ", SUB_RUNS },
	{ "npm", " publish unpublish deprecate owner access token login logout adduser dist-tag ", SUB_PUBLISHES },
	{ "npm", " view info search outdated audit ping whoami ", SUB_ASKS_REMOTE },
	{ "npm", "*", SUB_INSTALLS },
	{ "yarn", " list why run test build ", SUB_RUNS },
	{ "yarn", " publish ", SUB_PUBLISHES },
	{ "yarn", "*", SUB_INSTALLS },
	{ "pnpm", " ls list why run test build ", SUB_RUNS },
	{ "pnpm", " publish ", SUB_PUBLISHES },
	{ "pnpm", "*", SUB_INSTALLS },
	{ "cargo", " build b check c test t run r bench clippy doc fmt fix expand nextest tree metadata ", SUB_RUNS },
	{ "cargo", " clean ", SUB_DELETES },
	{ "cargo", " publish yank owner login logout ", SUB_PUBLISHES },
	{ "cargo", "*", SUB_INSTALLS },
	{ "go", " version doc help ", SUB_READ },
	{ "go", " build test run vet generate fmt list env tool fix clean ", SUB_RUNS },
	{ "go", "*", SUB_INSTALLS },
	{ "gem", " list contents environment which specification ", SUB_READ },
	{ "gem", " push yank owner signin ", SUB_PUBLISHES },
	{ "gem", "*", SUB_INSTALLS },
	{ "bundle", " exec check list show info ", SUB_RUNS },
	{ "bundle", "*", SUB_INSTALLS },
	{ "composer", " show validate ", SUB_RUNS },
	{ "composer", "*", SUB_INSTALLS },
	{ "mvn", " deploy ", SUB_PUBLISHES },
	{ "mvn", "*", SUB_RUNS },
	{ "gh", "*", SUB_PUBLISHES },
	{ "cloud", "*", SUB_PUBLISHES },
	{ "svn", " status st log info diff list ls cat blame ", SUB_ASKS_REMOTE },
	{ "svn", "*", SUB_PUBLISHES },
	{ "hg", " status st log diff summary branches heads parents id annotate cat ", SUB_READ },
	{ "hg", " push outgoing ", SUB_PUBLISHES },
	{ "hg", "*", SUB_RUNS },
	{ "zfs", " list get version ", SUB_READ },
	{ "zfs", "*", SUB_SYSTEM_ENDS },
	{ "btrfs", "*", SUB_SYSTEM_ENDS },
	{ "crontab", " -l ", SUB_READ },
	{ "crontab", " -r ", SUB_SYSTEM_ENDS },
	{ "crontab", "*", SUB_SYSTEM },
	{ "getent", " hosts ahosts ahostsv4 ahostsv6 networks ", SUB_ASKS_REMOTE },
	{ "getent", "*", SUB_READ },
	{ "ufw", " status version ", SUB_READ },
	{ "ufw", "*", SUB_SYSTEM },
	{ NULL, NULL, SUB_RUNS },
};
/* clang-format on */

static enum sub_kind find_kind(const char *program, const char *sub)
{
	size_t len = strlen(sub);

	for (const struct sub_row *r = rows; r->program; r++) {
		if (!str_eq(r->program, program))
			continue;
		if (str_eq(r->subs, "*"))
			return r->kind;
		for (const char *p = strstr(r->subs, sub); len > 0 && p; p = strstr(p + 1, sub))
			if (p[-1 + (p == r->subs)] == ' ' && p[len] == ' ')
				return r->kind;
	}
	return SUB_RUNS;
}

static void judge_installs(struct classifier *k, const char *what)
{
	classifier_add_traits(k, COMMAND_RUNS | COMMAND_NETWORK);
	classifier_add_finding(k, "installs", what, "downloads code and runs parts of it");
	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_UNTRUSTED);
}

static void judge_kind(struct classifier *k, const char *what, enum sub_kind kind)
{
	switch (kind) {
	case SUB_READ:
		break;
	case SUB_RUNS:
		classifier_add_traits(k, COMMAND_RUNS);
		classifier_add_finding(k, "runs-programs", what, "runs other programs");
		classifier_add_change(k, OUTCOME_SOFT, DOMAIN_WORKSPACE);
		break;
	case SUB_INSTALLS:
		judge_installs(k, what);
		break;
	case SUB_CHANGES:
	case SUB_DELETES:
		classifier_add_change(k, OUTCOME_SOFT, DOMAIN_LOCALHOST);
		break;
	case SUB_SYSTEM:
	case SUB_SYSTEM_ENDS:
		classifier_add_finding(k, "system-tool", what, "changes the system");
		if (kind == SUB_SYSTEM_ENDS)
			classifier_add_traits(k, COMMAND_RUNS);
		classifier_add_change(k, kind == SUB_SYSTEM ? OUTCOME_SOFT : OUTCOME_IRREVERSIBLE,
				      DOMAIN_SYSTEM);
		break;
	case SUB_PACKAGES:
		judge_installs(k, what);
		classifier_add_domain(k, DOMAIN_SYSTEM);
		break;
	case SUB_PUBLISHES:
		classifier_add_traits(k, COMMAND_NETWORK | COMMAND_RUNS);
		classifier_add_finding(k, "network", what, "changes a remote system");
		classifier_add_change(k, OUTCOME_IRREVERSIBLE, DOMAIN_UNTRUSTED);
		break;
	case SUB_ASKS_REMOTE:
		classifier_add_traits(k, COMMAND_NETWORK);
		classifier_add_finding(k, "network", what, "uses the network");
		classifier_add_change(k, OUTCOME_REVERSIBLE, DOMAIN_UNTRUSTED);
		break;
	}
}

/* dpkg, rpm ...: a word of row->bad changes the system. */
static bool has_bad_word(const struct simple_command *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *t = c->w[i].text, *p;
		size_t len = strcspn(t, "=");

		if (command_text_is_unknown(t))
			return true;
		for (p = strchr(c->row->bad, ' '); len > 0 && p && p[1]; p = strchr(p + 1, ' '))
			if (strncmp(p + 1, t, len) == 0 && p[1 + len] == ' ')
				return true;
	}
	return false;
}

void command_judge_sub(struct classifier *k, const struct simple_command *c)
{
	/* A program that shares another's list names it in `args` after '='. */
	const char *list =
		c->row->args && strchr(c->row->args, '=') ? strchr(c->row->args, '=') + 1 : c->row->name;
	struct command_part *part = classifier_add_part(k, c->w, c->n);
	struct option_iter o;
	struct option_word at;

	if (c->row->bad) {
		/* Packages run their install scripts. */
		if (has_bad_word(c))
			judge_kind(k, c->w[0].text,
				   c->row->traits & COMMAND_RUNS ? SUB_PACKAGES : SUB_SYSTEM);
		classifier_probe_arguments(k, c->w, c->n);
		return;
	}
	option_iter_init(&o, c, true);
	if (str_eq(c->row->name, "crontab")) {
		judge_kind(k, c->w[0].text, find_kind(list, c->n > 1 ? c->w[1].text : ""));
		return;
	}
	while (option_iter_next(&o, &at)) {
		enum sub_kind kind;

		if (!option_word_is_operand(&at))
			continue;
		kind = find_kind(list, at.word);
		/* The word may be the value of an option before it, not the subcommand. */
		if (part)
			part->n_global = at.at - 1;
		if (at.at > 1 && kind == SUB_READ)
			kind = SUB_RUNS;
		judge_kind(k, c->w[0].text, kind);
		/* docker run IMAGE rm -rf /, npm exec -- rm -rf / */
		for (size_t i = at.at + 1; kind != SUB_READ && i < c->n; i++)
			if (command_row_deletes(command_row_find(c->w[i].text))) {
				classifier_probe_command(k, c->w + i, c->n - i);
				break;
			} else if (strpbrk(c->w[i].text, " ;|&")) {
				classifier_probe_text(k, c->w[i].text);
			}
		return;
	}
	if (c->n > 1)
		judge_kind(k, c->w[0].text, find_kind(list, ""));
}
