/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/seccomp/seccomp-filter.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/seccomp/seccomp-table.h"
#include "trace/trace-call.h"

#define PROGRAM_MAX ((size_t)4096 * 8)

static void filter_release(scmp_filter_ctx *ctx)
{
	if (*ctx)
		seccomp_release(*ctx);
}

/*
 * A call that the observer lets pass under some conditions is refused by the filter itself: an answer to one question must not
 * answer the other.
 */
static uint32_t action_of(const struct seccomp_choice *c, const char *name, enum seccomp_verdict v)
{
	switch (v) {
	case SECCOMP_ALLOW:
		return SCMP_ACT_ALLOW;
	case SECCOMP_NO_FAMILY:
		return SCMP_ACT_ERRNO(EAFNOSUPPORT);
	case SECCOMP_DENY:
		break;
	}
	if (c->kill)
		return SCMP_ACT_KILL_PROCESS;
	return c->notify && !trace_call_is_observed(name) ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM);
}

bool seccomp_choice_lists(char *const *names, const char *name)
{
	return names && strv_has(names, name);
}

uint32_t seccomp_choice_arch(const struct seccomp_choice *c)
{
	return c->arch ? c->arch : seccomp_arch_native();
}

bool seccomp_choice_has_call(const struct seccomp_choice *c, const char *name)
{
	return seccomp_syscall_resolve_name_arch(seccomp_choice_arch(c), name) >= 0;
}

static bool is_chosen(const struct seccomp_choice *c, const char *name)
{
	return seccomp_choice_lists(c->allow, name) || seccomp_choice_lists(c->deny, name);
}

static int add(scmp_filter_ctx ctx, const struct seccomp_choice *c, const char *name, enum seccomp_verdict v,
	       unsigned int n, const struct scmp_arg_cmp *cmp, struct fault *f)
{
	int r;

	/* Missing on that architecture or unknown to this libseccomp: the number is not listed and gets ENOSYS. */
	if (!seccomp_choice_has_call(c, name))
		return 0;
	/* libseccomp translates the number of this machine, which is negative for a call that only the other has. */
	r = seccomp_rule_add_exact_array(ctx, action_of(c, name, v), seccomp_syscall_resolve_name(name), n,
					 cmp);
	return r < 0 && r != -EEXIST ? fault_errno(f, -r, "seccomp rule for '%s'", name) : 0;
}

static int add_names(scmp_filter_ctx ctx, const struct seccomp_choice *c, const char *const *names,
		     enum seccomp_verdict v, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && names[i]; i++)
		if (!is_chosen(c, names[i]))
			r = add(ctx, c, names[i], v, 0, NULL, f);
	return r;
}

static int add_rule(scmp_filter_ctx ctx, const struct seccomp_choice *c, const struct seccomp_rule *rule,
		    struct fault *f)
{
	struct scmp_arg_cmp cmp = { .arg = rule->arg, .op = SCMP_CMP_GE };

	if (is_chosen(c, rule->name))
		return 0;
	if (rule->no_setid && !c->no_setid)
		return rule->op == SECCOMP_ELSE ? add(ctx, c, rule->name, SECCOMP_ALLOW, 0, NULL, f) : 0;
	if (rule->op == SECCOMP_EQ) {
		cmp.op = SCMP_CMP_EQ;
		cmp.datum_a = rule->value;
	} else if (rule->op == SECCOMP_MASK) {
		cmp.op = SCMP_CMP_MASKED_EQ;
		cmp.datum_a = rule->mask;
		cmp.datum_b = rule->value;
	}
	return add(ctx, c, rule->name, rule->verdict, 1, &cmp, f);
}

static int add_chosen(scmp_filter_ctx ctx, const struct seccomp_choice *c, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && c->deny && c->deny[i]; i++)
		r = add(ctx, c, c->deny[i], SECCOMP_DENY, 0, NULL, f);
	for (size_t i = 0; r >= 0 && c->allow && c->allow[i]; i++)
		if (!seccomp_choice_lists(c->deny, c->allow[i]))
			r = add(ctx, c, c->allow[i], SECCOMP_ALLOW, 0, NULL, f);
	return r;
}

static int fill(scmp_filter_ctx ctx, const struct seccomp_choice *c, struct fault *f)
{
	int r;

	r = add_names(ctx, c, seccomp_allowed, SECCOMP_ALLOW, f);
	if (r >= 0)
		r = add_names(ctx, c, seccomp_denied, SECCOMP_DENY, f);
	if (r >= 0 && !c->no_setid)
		r = add_names(ctx, c, seccomp_unfilterable, SECCOMP_ALLOW, f);
	for (const struct seccomp_rule *rule = seccomp_rules; r >= 0 && rule->name; rule++)
		r = add_rule(ctx, c, rule, f);
	if (r >= 0)
		r = add_chosen(ctx, c, f);
	return r;
}

static char *encode(const unsigned char *bytes, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((len + 2) / 3 * 4 + 1), *out = text;

	for (size_t i = 0; text && i < len; i += 3) {
		unsigned int n = (unsigned int)bytes[i] << 16;

		n |= i + 1 < len ? (unsigned int)bytes[i + 1] << 8 : 0;
		n |= i + 2 < len ? bytes[i + 2] : 0;
		*out++ = digits[n >> 18];
		*out++ = digits[n >> 12 & 63];
		*out++ = i + 1 < len ? digits[n >> 6 & 63] : '=';
		*out++ = i + 2 < len ? digits[n & 63] : '=';
	}
	if (text)
		*out = '\0';
	return text;
}

static int export_program(scmp_filter_ctx ctx, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = memfd_create("seccomp", MFD_CLOEXEC);
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "create a memfd for the seccomp program");
	r = seccomp_export_bpf(ctx, fd);
	if (r < 0)
		return fault_errno(f, -r, "compile the seccomp program");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "seccomp program");
	r = fd_read_all(fd, PROGRAM_MAX, &bytes, &len, f);
	if (r < 0)
		return fault_wrap(f, r, "seccomp program");
	*ret = encode((const unsigned char *)bytes, len);
	return *ret ? 0 : fault_errno(f, ENOMEM, "seccomp program");
}

static int set_arch(scmp_filter_ctx ctx, uint32_t arch)
{
	int r;

	if (arch == seccomp_arch_native())
		return 0;
	r = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
	return r < 0 ? r : seccomp_arch_add(ctx, arch);
}

int seccomp_filter_compile(const struct seccomp_choice *c, char **ret, struct fault *f)
{
	_cleanup_(filter_release) scmp_filter_ctx ctx = NULL;
	int r;

	/* Do not probe the running kernel: custody may be built in a sandbox. */
	(void)seccomp_api_set(c->notify ? 5 : 3);
	ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!ctx)
		return fault_errno(f, ENOMEM, "seccomp program");
	r = set_arch(ctx, seccomp_choice_arch(c));
	/* Refuse other architectures, the 32-bit ones of the same processor included: their numbers mean other calls. */
	if (r >= 0)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A binary tree: the kernel walks the program once per call number when it is loaded. */
	if (r >= 0)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r < 0)
		return fault_errno(f, -r, "seccomp program");
	r = fill(ctx, c, f);
	return r < 0 ? r : export_program(ctx, ret, f);
}
