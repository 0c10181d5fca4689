/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/policy-input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "subject/subject-facts.h"

#define CGROUP_MAX ((size_t)64 * 1024)

void policy_input_done(struct policy_input *x)
{
	if (!x->borrowed)
		subject_facts_done(&x->policy);
	free(x->rules);
	*x = (struct policy_input){ 0 };
}

/* A profile may raise the configured level, never lower it. */
static enum security_profile stricter(enum security_profile s, const struct jdoc *governance)
{
	const char *word = jdoc_get_string(governance, "security_profile");
	enum security_profile asked;

	if (!word)
		return s;
	if (security_profile_parse(word, &asked) < 0)
		return SECURITY_STRICT;
	return asked < s ? asked : s;
}

/* Is any of our cgroups (TEXT: /proc/self/cgroup) at or below PATH? */
static bool is_in_cgroup(const char *text, const char *path)
{
	const char *line = text;

	while (line && *line) {
		const char *colon = strchr(line, ':'), *end = strchrnul(line, '\n');
		_cleanup_free_ char *own = NULL;

		colon = colon && colon < end ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
		own = colon ? strndup(colon + 1, (size_t)(end - colon - 1)) : NULL;
		if (own && path_is_below(own, path))
			return true;
		line = *end ? end + 1 : end;
	}
	return false;
}

static int read_cgroups(char **ret, struct fault *f)
{
	_cleanup_close_ int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	size_t len;

	if (fd < 0)
		return fault_errno(f, errno, "open '/proc/self/cgroup'");
	return fault_wrap(f, fd_read_all(fd, CGROUP_MAX, ret, &len, f), "read '/proc/self/cgroup'");
}

static bool has_terminal(void)
{
	_cleanup_close_ int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0;
}

/* An admin's mapping of an agent's uid overrides its terminal, which the agent may have created itself. */
static int find_intention(const struct config *c, enum intention *ret, struct fault *f)
{
	_cleanup_free_ char *cgroups = NULL;
	int r;

	for (size_t i = 0; i < c->n_provenance; i++) {
		const struct config_provenance *p = &c->provenance[i];
		bool hit = p->uid != CONFIG_NO_UID && p->uid == geteuid();

		if (p->cgroup && !cgroups) {
			r = read_cgroups(&cgroups, f);
			if (r < 0)
				return r;
		}
		if (hit || (p->cgroup && is_in_cgroup(cgroups, p->cgroup))) {
			*ret = (enum intention)p->intention;
			return 0;
		}
	}
	*ret = has_terminal() ? INTENTION_EXPLICIT : INTENTION_AUTONOMOUS;
	return 0;
}

static int read_taints(char *const *words, unsigned int *ret, struct fault *f)
{
	/* clang-format off */
	static const struct { const char *name; unsigned int taint; } taints[] = {
		{ "tool_output", TAINT_TOOL_OUTPUT }, { "web_content", TAINT_WEB_CONTENT }, { "unknown", TAINT_UNKNOWN },
	};
	/* clang-format on */

	*ret = 0;
	for (size_t i = 0; words && words[i]; i++) {
		size_t k = 0;

		while (k < 3 && strcmp(words[i], taints[k].name) != 0)
			k++;
		if (k == 3)
			return fault_set(f, EINVAL,
					 "--provenance '%s': write tool_output, web_content or unknown",
					 words[i]);
		*ret |= taints[k].taint;
	}
	return 0;
}

static struct policy_rule rule_of(const struct config_rule *r)
{
	_Static_assert((int)CONFIG_USER == POLICY_TIER_USER && (int)CONFIG_ADMIN == POLICY_TIER_ADMIN,
		       "same order");

	return (struct policy_rule){
		.tier = (enum policy_tier)r->tier,
		.effect = (enum policy_effect)r->effect,
		.argv = r->argv && r->argv[0] ? r->argv : NULL,
		.profile = r->profile,
		.network = !r->network			      ? POLICY_RULE_NETWORK_ANY
			   : strcmp(r->network, "none") == 0  ? POLICY_RULE_NETWORK_NONE
			   : strcmp(r->network, "allow") == 0 ? POLICY_RULE_NETWORK_ALLOW
							      : POLICY_RULE_NETWORK_HOST,
		.mount = r->mount,
		.where = r->origin,
	};
}

static int fill_facts(const struct policy_source *of, const struct config *c, struct policy_input *x,
		      struct fault *f)
{
	int r;

	if (!of->subject) {
		x->borrowed = true;
		x->policy = *of->facts;
		x->policy.security = stricter(of->security, of->governance);
		return 0;
	}
	r = subject_facts_fill(of->subject, &x->policy, f);
	x->policy.security = stricter((enum security_profile)c->run_security,
				      of->subject->profile->sections[PROFILE_SECTION_GOVERNANCE]);
	return r;
}

int policy_input_build(const struct policy_source *of, const struct config *c, char *const *provenance,
		       struct policy_input *ret, struct fault *f)
{
	_cleanup_policy_input_ struct policy_input x = { 0 };
	int r;

	r = fill_facts(of, c, &x, f);
	if (r >= 0)
		r = find_intention(c, &x.policy.intention, f);
	if (r >= 0)
		r = read_taints(provenance, &x.policy.taints, f);
	if (r < 0)
		return r;
	x.rules = calloc(c->n_rules + 1, sizeof(*x.rules));
	if (!x.rules)
		return fault_errno(f, ENOMEM, "rules");
	for (size_t i = 0; i < c->n_rules; i++)
		x.rules[i] = rule_of(&c->rules[i]);
	x.policy.rules = x.rules;
	x.policy.n_rules = c->n_rules;
	x.policy.trusted_hosts = c->trusted_hosts;
	*ret = x;
	x = (struct policy_input){ 0 };
	return 0;
}
