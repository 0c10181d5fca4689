/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/seccomp/seccomp-describe.h"

#include <errno.h>
#include <seccomp.h>

#include "oci/seccomp/seccomp-table.h"

static struct jdoc *add_group(struct jdoc *calls, const struct seccomp_choice *c, enum seccomp_verdict v)
{
	struct jdoc *group = jdoc_append_object(calls), *names = jdoc_set_array(group, "names");

	if (v == SECCOMP_ALLOW) {
		jdoc_set_string(group, "action", "SCMP_ACT_ALLOW");
	} else if (v == SECCOMP_DENY && c->kill) {
		jdoc_set_string(group, "action", "SCMP_ACT_KILL_PROCESS");
	} else {
		jdoc_set_string(group, "action", "SCMP_ACT_ERRNO");
		jdoc_set_int(group, "errnoRet", v == SECCOMP_DENY ? EPERM : EAFNOSUPPORT);
	}
	return names;
}

/* crun reports names that its libseccomp does not know; names unknown to ours are omitted. */
static void append_name(struct jdoc *names, const char *name)
{
	if (seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR)
		jdoc_append_string(names, name);
}

static bool is_chosen(const struct seccomp_choice *c, const char *name)
{
	return seccomp_choice_lists(c->allow, name) || seccomp_choice_lists(c->deny, name);
}

static void append_names(struct jdoc *names, const struct seccomp_choice *c, const char *const *table)
{
	for (size_t i = 0; table[i]; i++)
		if (!is_chosen(c, table[i]))
			append_name(names, table[i]);
}

static void add_condition(struct jdoc *group, const struct seccomp_rule *rule)
{
	struct jdoc *arg = jdoc_append_object(jdoc_set_array(group, "args"));

	jdoc_set_int(arg, "index", rule->arg);
	switch (rule->op) {
	case SECCOMP_ELSE:
		jdoc_set_int(arg, "value", 0);
		jdoc_set_string(arg, "op", "SCMP_CMP_GE");
		break;
	case SECCOMP_EQ:
		jdoc_set_int(arg, "value", (int64_t)rule->value);
		jdoc_set_string(arg, "op", "SCMP_CMP_EQ");
		break;
	case SECCOMP_MASK:
		jdoc_set_int(arg, "value", (int64_t)rule->mask);
		jdoc_set_int(arg, "valueTwo", (int64_t)rule->value);
		jdoc_set_string(arg, "op", "SCMP_CMP_MASKED_EQ");
		break;
	}
}

static bool is_active(const struct seccomp_choice *c, const struct seccomp_rule *rule)
{
	return !is_chosen(c, rule->name) && (c->no_setid || !rule->no_setid);
}

static void add_allowed(struct jdoc *calls, const struct seccomp_choice *c)
{
	struct jdoc *names = add_group(calls, c, SECCOMP_ALLOW);

	append_names(names, c, seccomp_allowed);
	if (!c->no_setid)
		append_names(names, c, seccomp_unfilterable);
	for (const struct seccomp_rule *rule = seccomp_rules; rule->name; rule++)
		if (rule->op == SECCOMP_ELSE && !is_active(c, rule) && !is_chosen(c, rule->name))
			append_name(names, rule->name);
	for (size_t i = 0; c->allow && c->allow[i]; i++)
		if (!seccomp_choice_lists(c->deny, c->allow[i]))
			append_name(names, c->allow[i]);
}

static void add_denied(struct jdoc *calls, const struct seccomp_choice *c)
{
	struct jdoc *names = add_group(calls, c, SECCOMP_DENY);

	append_names(names, c, seccomp_denied);
	for (size_t i = 0; c->deny && c->deny[i]; i++)
		append_name(names, c->deny[i]);
}

static const char *architecture(uint32_t arch)
{
	switch (arch) {
	case SCMP_ARCH_X86_64:
		return "SCMP_ARCH_X86_64";
	case SCMP_ARCH_AARCH64:
		return "SCMP_ARCH_AARCH64";
	case SCMP_ARCH_PPC64LE:
		return "SCMP_ARCH_PPC64LE";
	case SCMP_ARCH_S390X:
		return "SCMP_ARCH_S390X";
	case SCMP_ARCH_RISCV64:
		return "SCMP_ARCH_RISCV64";
	default:
		return NULL;
	}
}

int seccomp_describe_choice(const struct seccomp_choice *c, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const char *arch = architecture(seccomp_choice_arch(c));
	struct jdoc *calls;

	if (!arch)
		return fault_set(f, ENOTSUP, "no system call table for this architecture");
	d = jdoc_new_object();
	if (!d)
		return fault_errno(f, ENOMEM, "seccomp");
	jdoc_set_string(d, "defaultAction", "SCMP_ACT_ERRNO");
	jdoc_set_int(d, "defaultErrnoRet", ENOSYS);
	jdoc_append_string(jdoc_set_array(d, "architectures"), arch);
	calls = jdoc_set_array(d, "syscalls");
	add_allowed(calls, c);
	add_denied(calls, c);
	for (const struct seccomp_rule *rule = seccomp_rules; rule->name; rule++) {
		struct jdoc *names;

		/* Runtimes resolve names for the machine; a call that it does not have gets no rule. */
		if (!is_active(c, rule) || !seccomp_choice_has_call(c, rule->name))
			continue;
		names = add_group(calls, c, rule->verdict);
		jdoc_append_string(names, rule->name);
		add_condition(calls->items[calls->n_items - 1], rule);
	}
	*ret = TAKE_PTR(d);
	return 0;
}
