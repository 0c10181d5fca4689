/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/bundle/hook-args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* The variables that state/dirs.c reads. */
static const char *const env_names[] = { "CUSTODY_ROOT",    "CUSTODY_LIBEXEC", "CUSTODY_DATADIR", "HOME",
					 "XDG_CONFIG_HOME", "XDG_STATE_HOME",  "XDG_RUNTIME_DIR", NULL };

void hook_args_done(struct hook_args *t)
{
	strv_free(t->taints);
	strv_free(t->redact);
	jdoc_free(t->governance);
	jdoc_free(t->forensics);
	strv_free(t->env);
	*t = (struct hook_args){ 0 };
}

int hook_args_take_env(struct hook_args *t, struct fault *f)
{
	for (const char *const *name = env_names; *name; name++) {
		const char *value = getenv(*name);

		/* Relative paths are ignored by state/dirs.c. */
		if (!value || value[0] != '/')
			continue;
		if (!str_is_utf8(value, strlen(value)))
			return fault_set(f, EILSEQ, "%s is not UTF-8: it cannot be stored in a bundle",
					 *name);
		if (strv_appendf(&t->env, "%s=%s", *name, value) < 0)
			return fault_errno(f, ENOMEM, "bundle");
	}
	return 0;
}

static int write_section(char ***args, const char *option, const struct jdoc *section)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	if (!section)
		return 0;
	r = jdoc_write(section, JDOC_CANONICAL, &text, NULL);
	return r < 0 ? r : strv_appendf(args, "%s=%s", option, text.text);
}

int hook_args_write(const struct hook_args *t, char ***ret, struct fault *f)
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
	for (char **flag = t->redact; r >= 0 && flag && *flag; flag++)
		r = strv_appendf(&args, "--redact=%s", *flag);
	if (r >= 0)
		r = write_section(&args, "--governance", t->governance);
	if (r >= 0)
		r = write_section(&args, "--forensics", t->forensics);
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

/* Exactly as hook_args_write writes it: no alias, no blank. */
static int set_lane(struct hook_args *t, const char *name)
{
	for (int l = 0; l < _LANE_MAX; l++)
		if (strcmp(lane_name((enum lane)l), name) == 0) {
			t->lane = (enum lane)l;
			return 0;
		}
	return -EINVAL;
}

static int set_section(struct jdoc **section, const char *option, const char *text, struct fault *f)
{
	int r = jdoc_parse(text, strlen(text), option, NULL, section, f);

	if (r >= 0 && (*section)->type != JDOC_OBJECT)
		r = fault_set(f, EINVAL, "approve: %s is not a JSON object", option);
	return r;
}

/* Arguments that may occur once. */
enum seen {
	SEEN_LANE = 1,
	SEEN_SECURITY = 2,
	SEEN_ALLOW = 4,
	SEEN_GOVERNANCE = 8,
	SEEN_FORENSICS = 16,
};

static unsigned int bit_of(const char *arg)
{
	if (value_of(arg, "--lane"))
		return SEEN_LANE;
	if (value_of(arg, "--security"))
		return SEEN_SECURITY;
	if (value_of(arg, "--governance"))
		return SEEN_GOVERNANCE;
	if (value_of(arg, "--forensics"))
		return SEEN_FORENSICS;
	return strcmp(arg, "--allow-prod") == 0 ? SEEN_ALLOW : 0;
}

/* -EINVAL without a fault: unknown argument. */
static int set_arg(const char *arg, unsigned int bit, struct hook_args *t, struct fault *f)
{
	const char *value = strchr(arg, '=');

	value = value ? value + 1 : "";
	switch (bit) {
	case SEEN_LANE:
		return set_lane(t, value);
	case SEEN_SECURITY:
		return security_profile_parse(value, &t->security);
	case SEEN_GOVERNANCE:
		return set_section(&t->governance, "--governance", value, f);
	case SEEN_FORENSICS:
		return set_section(&t->forensics, "--forensics", value, f);
	case SEEN_ALLOW:
		t->allow_prod = true;
		return 0;
	default:
		break;
	}
	if (value_of(arg, "--provenance"))
		return strv_append(&t->taints, value);
	if (value_of(arg, "--redact"))
		return strv_append(&t->redact, value);
	if (value_of(arg, "--env") && is_env_known(value))
		return strv_append(&t->env, value);
	return -EINVAL;
}

static int read_arg(const char *arg, struct hook_args *t, unsigned int *seen, struct fault *f)
{
	unsigned int bit = bit_of(arg);
	int r;

	if (*seen & bit)
		return fault_set(f, EINVAL, "approve: repeated argument '%s'", arg);
	*seen |= bit;
	r = set_arg(arg, bit, t, f);
	if (r < 0 && (!f || !f->code))
		return fault_set(f, -r, "approve: unexpected argument '%s'", arg);
	return r;
}

int hook_args_parse(char *const *args, struct hook_args *ret, struct fault *f)
{
	_cleanup_hook_args_ struct hook_args t = { 0 };
	unsigned int seen = 0;
	int r = 0;

	for (; r >= 0 && *args; args++)
		r = read_arg(*args, &t, &seen, f);
	if (r < 0)
		return r;
	if (!(seen & SEEN_LANE) || !(seen & SEEN_SECURITY))
		return fault_set(f, EINVAL, "approve: missing --lane or --security");
	*ret = t;
	t = (struct hook_args){ 0 };
	return 0;
}

char **hook_args_for_audit(char *const *args)
{
	char **some = calloc(strv_len(args) + 1, sizeof(*some));
	size_t n = 0;

	for (; some && *args; args++)
		if (value_of(*args, "--lane") || value_of(*args, "--security") || value_of(*args, "--env"))
			some[n++] = *args;
	return some;
}

int hook_args_use_env(const struct hook_args *t, struct fault *f)
{
	if (clearenv() != 0)
		return fault_errno(f, ENOMEM, "environment");
	for (char **env = t->env; env && *env; env++)
		if (putenv(*env) != 0)
			return fault_errno(f, ENOMEM, "environment");
	return 0;
}
