/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle-approve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* What core/dirs.c reads. */
static const char *const env_names[] = { "CUSTODY_ROOT",    "CUSTODY_LIBEXEC", "CUSTODY_DATADIR", "HOME",
					 "XDG_CONFIG_HOME", "XDG_STATE_HOME",  "XDG_RUNTIME_DIR", NULL };

void approve_terms_done(struct approve_terms *t)
{
	strv_free(t->taints);
	strv_free(t->env);
	*t = (struct approve_terms){ 0 };
}

int approve_terms_take_env(struct approve_terms *t, struct fault *f)
{
	for (const char *const *name = env_names; *name; name++) {
		const char *value = getenv(*name);

		/* Relative ones are not believed anyway. */
		if (!value || value[0] != '/')
			continue;
		if (!str_is_utf8(value, strlen(value)))
			return fault_set(f, EILSEQ, "%s is not UTF-8: a bundle cannot carry it", *name);
		if (strv_appendf(&t->env, "%s=%s", *name, value) < 0)
			return fault_errno(f, ENOMEM, "bundle");
	}
	return 0;
}

int approve_terms_write(const struct approve_terms *t, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **args = NULL;
	int r;

	r = strv_appendf(&args, "--lane=%s", lane_name(t->lane));
	if (r >= 0)
		r = strv_appendf(&args, "--security=%s", security_profile_name(t->security));
	if (r >= 0 && t->allow_prod)
		r = strv_append(&args, "--allow-prod");
	for (char **taint = t->taints; r >= 0 && taint && *taint; taint++)
		r = strv_appendf(&args, "--provenance=%s", *taint);
	for (char **env = t->env; r >= 0 && env && *env; env++)
		r = strv_appendf(&args, "--env=%s", *env);
	if (r < 0)
		return fault_errno(f, ENOMEM, "bundle");
	*ret = TAKE_PTR(args);
	return 0;
}

static const char *value_of(const char *arg, const char *option)
{
	size_t len = strlen(option);

	return strncmp(arg, option, len) == 0 && arg[len] == '=' ? arg + len + 1 : NULL;
}

static bool is_env_known(const char *word)
{
	for (const char *const *name = env_names; *name; name++)
		if (value_of(word, *name))
			return true;
	return false;
}

/* Exactly as approve_terms_write has it: no alias, no blank. */
static int set_lane(struct approve_terms *t, const char *name)
{
	for (int l = 0; l < _LANE_MAX; l++)
		if (strcmp(lane_name((enum lane)l), name) == 0) {
			t->lane = (enum lane)l;
			return 0;
		}
	return -EINVAL;
}

static int read_arg(const char *arg, struct approve_terms *t, unsigned int *seen, struct fault *f)
{
	const char *lane = value_of(arg, "--lane"), *security = value_of(arg, "--security");
	const char *taint = value_of(arg, "--provenance"), *env = value_of(arg, "--env");
	unsigned int bit = lane ? 1 : security ? 2 : strcmp(arg, "--allow-prod") == 0 ? 4 : 0;
	int r = -EINVAL;

	if (*seen & bit)
		return fault_set(f, EINVAL, "approve: '%s' comes twice", arg);
	*seen |= bit;
	if (lane)
		r = set_lane(t, lane);
	else if (security)
		r = security_profile_parse(security, &t->security);
	else if (bit)
		r = 0;
	else if (taint)
		r = strv_append(&t->taints, taint);
	else if (env && is_env_known(env))
		r = strv_append(&t->env, env);
	if (r == -EINVAL)
		return fault_set(f, EINVAL, "approve: '%s' is no argument of a bundle's hook", arg);
	t->allow_prod = *seen & 4;
	return r < 0 ? fault_errno(f, -r, "approve") : 0;
}

int approve_terms_parse(char *const *args, struct approve_terms *ret, struct fault *f)
{
	_cleanup_approve_terms_ struct approve_terms t = { 0 };
	unsigned int seen = 0;
	int r = 0;

	for (; r >= 0 && *args; args++)
		r = read_arg(*args, &t, &seen, f);
	if (r < 0)
		return r;
	if ((seen & 3) != 3)
		return fault_set(f, EINVAL, "approve: --lane and --security must be there");
	*ret = t;
	t = (struct approve_terms){ 0 };
	return 0;
}
