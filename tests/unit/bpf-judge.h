/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Answers of a compiled filter without a kernel: decodes the text of a program and interprets the instructions that libseccomp
 * uses.  Any architecture's program can be asked on any machine.
 */
#define INSNS_MAX 4096
#define ERRNO(e) (SECCOMP_RET_ERRNO | (e))

struct program {
	struct sock_filter insns[INSNS_MAX];
	unsigned short len;
};

static inline void decode(const char *text, struct program *p)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char *out = (unsigned char *)p->insns;
	unsigned int bits = 0, n = 0;
	size_t len = 0;

	for (; *text && *text != '='; text++) {
		bits = bits << 6 | (unsigned int)(strchr(digits, *text) - digits);
		n += 6;
		if (n >= 8 && len < sizeof(p->insns)) {
			n -= 8;
			out[len++] = (unsigned char)(bits >> n);
		}
	}
	p->len = (unsigned short)(len / sizeof(p->insns[0]));
}

/* What the kernel would answer; the instructions that libseccomp uses, no others. */
static inline uint32_t judge(const struct program *p, const struct seccomp_data *d)
{
	uint32_t a = 0, k;

	for (unsigned int pc = 0; pc < p->len; pc++) {
		const struct sock_filter *i = &p->insns[pc];

		k = i->k;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)d + k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			break;
		case BPF_JMP | BPF_JA:
			pc += k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += a & k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return k;
		default:
			return 0xdeadbeef;
		}
	}
	return 0xdeadbeef;
}
