/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "bpf-judge.h"
#include "layer/layer.h"
#include "oci/seccomp/seccomp-program.h"
#include "oci/seccomp/seccomp-trace.h"
#include "oci/seccomp/seccomp.h"
#include "subject/subject-trace.h"
#include "tap.h"
#include "trace/trace-advice.h"

#define S(text) ((char *)(text))

/* Both filters of a run: the runtime's, and the one that asks, which is newer. */
struct both {
	struct profile profile;
	struct subject subject;
	struct program first, second, plain;
	char *words[5];
};

static bool prepare(struct both *b, bool rw, const char *const *words)
{
	_cleanup_seccomp_trace_ struct seccomp_trace t = { 0 };
	_cleanup_free_ char *text = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	*b = (struct both){ .profile = { .process_init = true,
					 .workspace =
						 rw ? PROFILE_WORKSPACE_RW : PROFILE_WORKSPACE_OVERLAY } };
	for (size_t i = 0; words[i]; i++)
		b->words[i] = S(words[i]);
	b->profile.audit_trace = b->words;
	b->profile.layers = LAYER_BIT(_LAYER_MAX) - 1;
	b->subject = (struct subject){ .profile = &b->profile, .layers = b->profile.layers };
	if (seccomp_encode(&b->subject, &text, &f) < 0 || seccomp_trace_program(&b->subject, &t, &f) < 0)
		return false;
	decode(text, &b->first);
	decode(seccomp_programs[rw ? 1 : 0], &b->plain);
	if (t.n > INSNS_MAX)
		return false;
	memcpy(b->second.insns, t.insns, t.n * sizeof(*t.insns));
	b->second.len = (unsigned short)t.n;
	return true;
}

/* The kernel takes the answer that restricts most. */
static uint32_t answer(const struct both *b, int nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct seccomp_data d = { .nr = nr,
					.arch = seccomp_arch_native(),
					.args = { a0, a1, a2, a3, 0, 0 } };
	const uint32_t one = judge(&b->first, &d), two = judge(&b->second, &d);

	return (int32_t)(one & SECCOMP_RET_ACTION_FULL) < (int32_t)(two & SECCOMP_RET_ACTION_FULL) ? one
												   : two;
}

static uint32_t before(const struct both *b, int nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct seccomp_data d = { .nr = nr,
					.arch = seccomp_arch_native(),
					.args = { a0, a1, a2, a3, 0, 0 } };

	return judge(&b->plain, &d);
}

static const struct {
	int nr;
	uint64_t a[4];
} tries[] = {
	{ SYS_clone, { CLONE_NEWUSER | 17 } },
	{ SYS_clone, { 17 } },
	{ SYS_ioctl, { 0, TIOCSTI } },
	{ SYS_ioctl, { 0, TCGETS } },
	{ SYS_openat, { 0, 0, O_RDONLY } },
	{ SYS_openat, { 0, 0, O_WRONLY } },
	{ SYS_openat, { 0, 0, O_WRONLY | O_CREAT, 0644 } },
	{ SYS_openat, { 0, 0, O_WRONLY | O_CREAT, S_ISUID | 0755 } },
	{ SYS_fchmodat, { 0, 0, S_ISGID } },
	{ SYS_socket, { 38 } },
	{ SYS_socket, { 1 } },
	{ SYS_seccomp, { 1, 0 } },
	{ SYS_personality, { 0x40000 } },
};

static const char *const all[] = { "exec", "denied", "write", "connect", NULL };
static const char *const usual[] = { "exec", "denied", NULL };
static const char *const only_exec[] = { "exec", NULL };

static bool is_new_listener(int nr, uint64_t a1)
{
	return nr == SYS_seccomp && a1 & 8;
}

/* A call that passed passes or is observed, a refused one is refused or asked for, and nothing else changes. */
static bool is_right(const struct both *b, int nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const uint32_t words = subject_traces(&b->subject), is = answer(b, nr, a0, a1, a2, a3),
		       was = before(b, nr, a0, a1, a2, a3);
	const struct trace_call *call = NULL;
	const bool observed = trace_decide(words, TRACE_ARCH, nr, &call) == TRACE_CONTINUE;

	if (is == was)
		return !is_new_listener(nr, a1);
	if (is != SECCOMP_RET_USER_NOTIF)
		return false;
	/* The answer is the observer's: it must be the one that was. */
	if (was == SECCOMP_RET_ALLOW)
		return observed || is_new_listener(nr, a1);
	return was == ERRNO(EPERM) && !observed && words & TRACE_DENIED;
}

static void ISO_2_no_refused_call_is_one_that_the_observer_continues(void)
{
	static const char *const *const lists[] = { all, usual, only_exec };
	static struct both b;

	for (size_t l = 0; l < 2 * ARRAY_SIZE(lists); l++) {
		CHECK(prepare(&b, l % 2, lists[l / 2]));
		for (int nr = 0; nr < 1000; nr++)
			for (uint64_t a = 0; a < 16; a++)
				CHECK(is_right(&b, nr, a, a, a, a));
		for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
			CHECK(is_right(&b, tries[i].nr, tries[i].a[0], tries[i].a[1], tries[i].a[2],
				       tries[i].a[3]));
	}
}

static void ISO_2_a_profile_that_denies_an_observed_call_is_not_asked_about_it(void)
{
	static struct both b;
	char *deny[] = { S("connect"), S("execveat"), S("openat"), NULL };
	_cleanup_seccomp_trace_ struct seccomp_trace t = { 0 };
	_cleanup_free_ char *text = NULL;

	CHECK(prepare(&b, false, all));
	b.profile.seccomp_deny = deny;
	CHECK(seccomp_encode(&b.subject, &text, NULL) == 0 &&
	      seccomp_trace_program(&b.subject, &t, NULL) == 0);
	decode(text, &b.first);
	memcpy(b.second.insns, t.insns, t.n * sizeof(*t.insns));
	b.second.len = (unsigned short)t.n;
	CHECK(answer(&b, SYS_connect, 0, 0, 0, 0) == ERRNO(EPERM));
	CHECK(answer(&b, SYS_execveat, 0, 0, 0, 0) == ERRNO(EPERM));
	CHECK(answer(&b, SYS_openat, 0, 0, O_WRONLY, 0) == ERRNO(EPERM));
}

static void ISO_2_what_is_asked_for_is_what_the_words_say(void)
{
	static struct both b;

	CHECK(prepare(&b, false, usual));
	CHECK(answer(&b, SYS_execve, 0, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_execveat, 0, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_mount, 0, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_clone, CLONE_NEWUSER, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_connect, 0, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(answer(&b, SYS_openat, 0, 0, O_WRONLY, 0) == SECCOMP_RET_ALLOW);
	CHECK(answer(&b, SYS_close, 0, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(answer(&b, SYS_clone, 17, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(answer(&b, SYS_clone3, 0, 0, 0, 0) == ERRNO(ENOSYS));
	CHECK(answer(&b, SYS_seccomp, 1, 8, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_seccomp, 1, 0xffffffff00000008, 0, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_seccomp, 1, 0, 0, 0) == SECCOMP_RET_ALLOW);
	CHECK(prepare(&b, false, only_exec));
	CHECK(answer(&b, SYS_mount, 0, 0, 0, 0) == ERRNO(EPERM) && b.second.len < 80);
	CHECK(prepare(&b, true, all));
	CHECK(answer(&b, SYS_openat, 0, 0, O_WRONLY, 0) == SECCOMP_RET_USER_NOTIF);
	CHECK(answer(&b, SYS_openat, 0, 0, O_RDONLY, 0) == SECCOMP_RET_ALLOW);
	CHECK(answer(&b, SYS_openat, 0, 0, O_CREAT | O_WRONLY, S_ISUID) == ERRNO(EPERM));
	CHECK(answer(&b, SYS_connect, 0, 0, 0, 0) == SECCOMP_RET_USER_NOTIF);
}

/* The filters of B with these lists of its profile. */
static bool choose(struct both *b, bool rw, const char *allow, const char *deny)
{
	static char *allowed[2], *denied[2];
	_cleanup_seccomp_trace_ struct seccomp_trace t = { 0 };
	_cleanup_free_ char *text = NULL;

	if (!prepare(b, rw, usual))
		return false;
	allowed[0] = S(allow);
	denied[0] = S(deny);
	b->profile.seccomp_allow = allow ? allowed : NULL;
	b->profile.seccomp_deny = deny ? denied : NULL;
	if (seccomp_encode(&b->subject, &text, NULL) < 0 ||
	    seccomp_trace_program(&b->subject, &t, NULL) < 0 || t.n > INSNS_MAX)
		return false;
	decode(text, &b->first);
	memcpy(b->second.insns, t.insns, t.n * sizeof(*t.insns));
	b->second.len = (unsigned short)t.n;
	return true;
}

/* Is the call, which is refused with this list, made if the profile is changed as the advice says? */
static bool helps(bool rw, int nr, const uint64_t a[4], const char *deny)
{
	static struct both b;
	_cleanup_free_ char *name = seccomp_call_name(nr), *advice = NULL;
	uint32_t is, was;
	bool allows;

	if (!name || !choose(&b, rw, NULL, deny))
		return false;
	advice = trace_advise(name, EPERM, seccomp_trace_list(&b.subject, name), true);
	allows = advice && (strstr(advice, "\"allow\": [\"") || strstr(advice, "to seccomp.allow"));
	if (!advice || (deny != NULL) != (strstr(advice, " from seccomp.deny") != NULL) ||
	    !choose(&b, rw, allows ? name : NULL, NULL))
		return false;
	is = answer(&b, nr, a[0], a[1], a[2], a[3]);
	was = before(&b, nr, a[0], a[1], a[2], a[3]);
	/* Without the list, some arguments may still be refused: then the next advice says so. */
	if (is == SECCOMP_RET_ALLOW || (!allows && was == ERRNO(EAFNOSUPPORT)))
		return true;
	if (!allows && was == ERRNO(EPERM))
		return helps(rw, nr, a, NULL);
	printf("# %s: %s: still %#x\n", name, advice, is);
	return false;
}

static void ISO_2_the_advice_about_each_refused_call_allows_it(void)
{
	static struct both b;
	const uint64_t none[4] = { 0 };
	size_t refused = 0;
	bool ok = true;

	for (int rw = 0; rw < 2; rw++) {
		CHECK(prepare(&b, rw, usual));
		for (int nr = 0; nr < 500; nr++)
			if (nr != SYS_seccomp && answer(&b, nr, 0, 0, 0, 0) == SECCOMP_RET_USER_NOTIF &&
			    nr != SYS_execve && nr != SYS_execveat) {
				ok = helps(rw, nr, none, NULL) && ok;
				refused++;
			}
		for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
			if (before(&b, tries[i].nr, tries[i].a[0], tries[i].a[1], tries[i].a[2],
				   tries[i].a[3]) == ERRNO(EPERM)) {
				ok = helps(rw, tries[i].nr, tries[i].a, NULL) && ok;
				refused++;
			}
	}
	CHECK(ok && refused > 100);
}

static void ISO_2_the_advice_about_each_call_of_the_list_deny_allows_it(void)
{
	const uint64_t none[4] = { 0 };
	static struct both b;
	bool ok = true;

	for (int nr = 0; nr < 460; nr++) {
		_cleanup_free_ char *name = seccomp_call_name(nr);

		if (!name || name[0] == '#' || trace_call_is_observed(name) || nr == SYS_seccomp)
			continue;
		CHECK(choose(&b, false, NULL, name));
		if (answer(&b, nr, 0, 0, 0, 0) == SECCOMP_RET_USER_NOTIF)
			ok = helps(false, nr, none, name) && ok;
	}
	CHECK(ok);
}

static void another_architecture_dies_as_before(void)
{
	static struct both b;
	const struct seccomp_data d = { .nr = SYS_execve, .arch = SCMP_ARCH_X86 };

	CHECK(prepare(&b, false, all));
	CHECK(judge(&b.second, &d) == SECCOMP_RET_KILL_PROCESS);
	CHECK(prepare(&b, false, only_exec));
	CHECK(judge(&b.first, &d) == SECCOMP_RET_KILL_PROCESS && judge(&b.second, &d) == SECCOMP_RET_ALLOW);
}

static void nothing_is_observed_where_init_cannot_install_the_filter(void)
{
	static struct both b;
	char *deny[] = { S("seccomp"), NULL };

	CHECK(prepare(&b, false, usual) && subject_traces(&b.subject));
	b.profile.process_init = false;
	CHECK(!subject_traces(&b.subject));
	b.profile.process_init = true;
	b.subject.layers &= ~LAYER_BIT(LAYER_NO_NEW_PRIVS);
	CHECK(!subject_traces(&b.subject));
	b.subject.layers = b.profile.layers & ~LAYER_BIT(LAYER_SECCOMP);
	CHECK(!subject_traces(&b.subject));
	b.subject.layers = b.profile.layers;
	b.profile.seccomp_deny = deny;
	CHECK(!subject_traces(&b.subject));
}

static void numbers_have_names(void)
{
	_cleanup_free_ char *known = seccomp_call_name(SYS_mount), *unknown = seccomp_call_name(99999);

	CHECK(known && strcmp(known, "mount") == 0 && unknown && strcmp(unknown, "#99999") == 0);
}

TAP_MAIN(T(ISO_2_no_refused_call_is_one_that_the_observer_continues),
	 T(ISO_2_a_profile_that_denies_an_observed_call_is_not_asked_about_it),
	 T(ISO_2_what_is_asked_for_is_what_the_words_say),
	 T(ISO_2_the_advice_about_each_refused_call_allows_it),
	 T(ISO_2_the_advice_about_each_call_of_the_list_deny_allows_it),
	 T(another_architecture_dies_as_before), T(nothing_is_observed_where_init_cannot_install_the_filter),
	 T(numbers_have_names))
