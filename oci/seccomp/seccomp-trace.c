/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/seccomp/seccomp-trace.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/seccomp/seccomp-table.h"
#include "oci/seccomp/seccomp.h"
#include "subject/subject-trace.h"

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

#define HEAD_MAX 80 /* instructions in front of the denials; also the longest jump over them */

#define LOAD(offset) ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset))
#define ANSWER(action) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action))
#define IF_NOT(op, value, skip) ((struct sock_filter)BPF_JUMP(BPF_JMP | (op) | BPF_K, value, 0, skip))

/* The lower half of an argument: flags are ints. */
static uint32_t low_half(int arg)
{
	const uint32_t at = (uint32_t)(offsetof(struct seccomp_data, args) + (size_t)arg * sizeof(uint64_t));

	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? at : at + 4;
}

/* The accumulator holds the number, before and after. */
static void ask(struct seccomp_trace *t, int nr, int arg, uint32_t flags)
{
	if (arg < 0) {
		t->insns[t->n++] = IF_NOT(BPF_JEQ, (uint32_t)nr, 1);
		t->insns[t->n++] = ANSWER(SECCOMP_RET_USER_NOTIF);
		return;
	}
	t->insns[t->n++] = IF_NOT(BPF_JEQ, (uint32_t)nr, 4);
	t->insns[t->n++] = LOAD(low_half(arg));
	t->insns[t->n++] = IF_NOT(BPF_JSET, flags, 1);
	t->insns[t->n++] = ANSWER(SECCOMP_RET_USER_NOTIF);
	t->insns[t->n++] = LOAD(offsetof(struct seccomp_data, nr));
}

/* Calls that are observed, and the payload's own listener; behind it the accumulator holds anything. */
static void put_head(struct seccomp_trace *t, uint32_t words)
{
	size_t jump;

	t->insns[t->n++] = LOAD(offsetof(struct seccomp_data, arch));
	jump = t->n;
	t->insns[t->n++] = IF_NOT(BPF_JEQ, TRACE_ARCH, 0);
	t->insns[t->n++] = LOAD(offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n_trace_calls; i++)
		if (trace_calls[i].word & words)
			ask(t, trace_calls[i].nr, trace_calls[i].flags, trace_write_flags);
	ask(t, SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	t->insns[jump].jf = (unsigned char)(t->n - jump - 1);
}

/* Appends the program whose base64 is TEXT. */
static int append(struct seccomp_trace *t, const char *text, struct fault *f)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t room = strlen(text) / 4 * 3;
	struct sock_filter *all = realloc(t->insns, t->n * sizeof(*all) + room);
	unsigned int bits = 0, n = 0;
	unsigned char *out;

	if (!all)
		return fault_errno(f, ENOMEM, "seccomp program");
	t->insns = all;
	out = (unsigned char *)(all + t->n);
	for (; *text && *text != '='; text++) {
		bits = bits << 6 | (unsigned int)(strchr(digits, *text) - digits);
		n += 6;
		if (n >= 8) {
			n -= 8;
			*out++ = (unsigned char)(bits >> n);
		}
	}
	t->n = (size_t)(out - (unsigned char *)all) / sizeof(*all);
	return t->n <= BPF_MAXINSNS ? 0 : fault_set(f, E2BIG, "the seccomp program is too long");
}

int seccomp_trace_program(const struct subject *s, struct seccomp_trace *ret, struct fault *f)
{
	_cleanup_seccomp_trace_ struct seccomp_trace t = { 0 };
	const uint32_t words = subject_traces(s);
	int r = 0;

	*ret = t;
	if (!words)
		return 0;
	t.insns = calloc(HEAD_MAX, sizeof(*t.insns));
	if (!t.insns)
		return fault_errno(f, ENOMEM, "seccomp program");
	put_head(&t, words);
	if (words & TRACE_DENIED) {
		_cleanup_free_ char *text = NULL;

		r = seccomp_encode(s, &text, f);
		if (r == 0)
			r = append(&t, text, f);
	} else {
		t.insns[t.n++] = ANSWER(SECCOMP_RET_ALLOW);
	}
	if (r < 0)
		return r;
	*ret = t;
	t = (struct seccomp_trace){ 0 };
	return 0;
}

void seccomp_trace_done(struct seccomp_trace *t)
{
	free(t->insns);
	*t = (struct seccomp_trace){ 0 };
}

/* Does any filter let it pass, at least with some arguments? */
static bool passes(const char *name)
{
	for (const char *const *n = seccomp_allowed; *n; n++)
		if (strcmp(*n, name) == 0)
			return true;
	for (const char *const *n = seccomp_unfilterable; *n; n++)
		if (strcmp(*n, name) == 0)
			return true;
	for (const struct seccomp_rule *r = seccomp_rules; r->name; r++)
		if (strcmp(r->name, name) == 0)
			return true;
	return false;
}

enum trace_list seccomp_trace_list(const struct subject *s, const char *name)
{
	if (!s->profile->seccomp_deny || !strv_has(s->profile->seccomp_deny, name))
		return TRACE_LIST_NONE;
	return passes(name) ? TRACE_LIST_DENY : TRACE_LIST_DENY_ALSO;
}

char *seccomp_call_name(int nr)
{
	char *name = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), nr);

	if (!name && asprintf(&name, "#%d", nr) < 0)
		return NULL;
	return name;
}
