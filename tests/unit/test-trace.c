/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "tap.h"
#include "trace/trace-advice.h"
#include "trace/trace-call.h"
#include "trace/trace-memory.h"
#include "trace/trace-message.h"
#include "trace/trace-repeat.h"

#define ALL (TRACE_EXEC | TRACE_DENIED | TRACE_WRITE | TRACE_CONNECT)

static enum trace_answer decide(uint32_t words, int nr, const struct trace_call **ret)
{
	*ret = NULL;
	return trace_decide(words, TRACE_ARCH, nr, ret);
}

static void ISO_2_only_rows_of_the_table_continue(void)
{
	const struct trace_call *call;

	for (int nr = -1; nr < 1000; nr++) {
		bool row = false;

		for (size_t i = 0; i < n_trace_calls; i++)
			row |= trace_calls[i].nr == nr;
		CHECK((decide(ALL, nr, &call) == TRACE_CONTINUE) == row);
		CHECK(!call == !row && (!call || call->nr == nr));
		CHECK(decide(0, nr, &call) != TRACE_CONTINUE && !call);
		CHECK(decide(TRACE_DENIED, nr, &call) != TRACE_CONTINUE && !call);
		/* The number of another machine means another call. */
		CHECK(trace_decide(ALL, TRACE_ARCH ^ 1, nr, &call) == TRACE_REFUSE && !call);
	}
}

static void ISO_2_each_word_continues_its_own_calls(void)
{
	/* clang-format off */
	static const struct { uint32_t words; int nr; enum trace_answer answer; } rows[] = {
		{ TRACE_EXEC, SYS_execve, TRACE_CONTINUE },
		{ TRACE_EXEC, SYS_execveat, TRACE_CONTINUE },
		{ TRACE_EXEC, SYS_openat, TRACE_REFUSE },
		{ TRACE_EXEC, SYS_connect, TRACE_REFUSE },
		{ TRACE_WRITE, SYS_openat, TRACE_CONTINUE },
		{ TRACE_WRITE, SYS_openat2, TRACE_CONTINUE },
		{ TRACE_WRITE, SYS_execve, TRACE_REFUSE },
		{ TRACE_CONNECT, SYS_connect, TRACE_CONTINUE },
		{ ALL, SYS_seccomp, TRACE_REFUSE_LISTENER },
		{ ALL, SYS_mount, TRACE_REFUSE },
		{ ALL, SYS_ptrace, TRACE_REFUSE },
		{ ALL, SYS_clone, TRACE_REFUSE },
		{ ALL, SYS_close, TRACE_REFUSE },
	};
	/* clang-format on */
	const struct trace_call *call;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(decide(rows[i].words, rows[i].nr, &call) == rows[i].answer);
	CHECK(trace_answer_errno(TRACE_CONTINUE) == 0);
	CHECK(trace_answer_errno(TRACE_REFUSE) == EPERM);
	CHECK(trace_answer_errno(TRACE_REFUSE_LISTENER) == EBUSY);
	CHECK(TRACE_REFUSE == 0);
}

static void words_are_parsed(void)
{
	char *words[] = { (char *)"exec", (char *)"connect", (char *)"everything", NULL };

	CHECK(trace_words_parse(words) == (TRACE_EXEC | TRACE_CONNECT) && trace_words_parse(NULL) == 0);
	CHECK(trace_word_parse("") == 0 && trace_word_parse("Exec") == 0);
	CHECK(trace_call_is_observed("openat") && trace_call_is_observed("creat"));
	CHECK(!trace_call_is_observed("mount") && !trace_call_is_observed("seccomp"));
}

static void texts_are_read_up_to_unmapped_memory(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static struct trace_texts t;
	const uint64_t pointer = (uint64_t)(uintptr_t) "a";

	CHECK(at != MAP_FAILED && munmap(at + page, page) == 0);
	strcpy(at + page - 5, "last");
	t = (struct trace_texts){ 0 };
	trace_texts_add(&t, getpid(), (uint64_t)(uintptr_t)(at + page - 5), 4096);
	CHECK(t.n == 1 && t.flags == 0 && strcmp(t.bytes, "last") == 0);
	/* Without its end. */
	memcpy(at + page - 4, "lost", 4);
	t = (struct trace_texts){ 0 };
	trace_texts_add(&t, getpid(), (uint64_t)(uintptr_t)(at + page - 4), 4096);
	CHECK(t.n == 1 && (t.flags & TRACE_UNREADABLE) && memcmp(t.bytes, "lost", 5) == 0);
	t = (struct trace_texts){ 0 };
	trace_texts_add(&t, getpid(), 8, 4096);
	CHECK(t.n == 1 && t.flags == TRACE_UNREADABLE && t.bytes[0] == '\0');
	/* A list whose end is not mapped. */
	memcpy(at + page - sizeof(pointer), &pointer, sizeof(pointer));
	t = (struct trace_texts){ 0 };
	trace_texts_add_list(&t, getpid(), (uint64_t)(uintptr_t)(at + page - sizeof(pointer)));
	CHECK(t.n == 1 && t.flags == TRACE_UNREADABLE && strcmp(t.bytes, "a") == 0);
	t = (struct trace_texts){ 0 };
	trace_texts_add_list(&t, getpid(), 0);
	CHECK(t.n == 0 && t.flags == 0);
	(void)munmap(at, page);
}

static void long_lists_are_cut(void)
{
	static char *list[1000], *few[] = { (char *)"x", NULL, NULL };
	static char big[100000];
	static struct trace_texts t;

	for (size_t i = 0; i < 999; i++)
		list[i] = (char *)"word";
	t = (struct trace_texts){ 0 };
	trace_texts_add_list(&t, getpid(), (uint64_t)(uintptr_t)list);
	CHECK(t.n == TRACE_ARGS_MAX && t.flags == TRACE_CUT && t.len == TRACE_ARGS_MAX * 5);
	memset(big, 'a', sizeof(big) - 1);
	few[1] = big;
	t = (struct trace_texts){ 0 };
	trace_texts_add_list(&t, getpid(), (uint64_t)(uintptr_t)few);
	CHECK(t.n == 2 && t.flags == TRACE_CUT && t.len == sizeof(t.bytes) && t.bytes[t.len - 1] == '\0');
	trace_texts_put(&t, "more");
	CHECK(t.n == 2 && t.len == sizeof(t.bytes));
	t = (struct trace_texts){ 0 };
	trace_texts_add(&t, getpid(), (uint64_t)(uintptr_t)big, 10);
	CHECK(t.n == 1 && t.len == 11 && t.flags == TRACE_CUT);
}

static void addresses_have_a_text(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(443) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
				    .sin6_port = htons(53),
				    .sin6_addr = in6addr_loopback };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
	struct sockaddr other = { .sa_family = AF_NETLINK };
	char text[TRACE_ADDRESS_SIZE];

	(void)inet_pton(AF_INET, "10.1.2.3", &in.sin_addr);
	trace_address_text(&in, sizeof(in), text);
	CHECK(strcmp(text, "inet:10.1.2.3:443") == 0);
	trace_address_text(&in, sizeof(in) - 1, text);
	CHECK(strcmp(text, "family 2") == 0);
	trace_address_text(&in6, sizeof(in6), text);
	CHECK(strcmp(text, "inet6:[::1]:53") == 0);
	trace_address_text(&un, sizeof(un), text);
	CHECK(strcmp(text, "unix:/run/x") == 0);
	memset(un.sun_path, 'p', sizeof(un.sun_path));
	trace_address_text(&un, sizeof(un), text);
	CHECK(strlen(text) == strlen("unix:") + sizeof(un.sun_path));
	memcpy(un.sun_path, "\0abstract", 10);
	trace_address_text(&un, 11, text);
	CHECK(strcmp(text, "unix:@abstract") == 0);
	trace_address_text(&un, 2, text);
	CHECK(strcmp(text, "unix:@") == 0);
	trace_address_text(&other, sizeof(other), text);
	CHECK(strcmp(text, "family 16") == 0);
	trace_address_text("", 1, text);
	CHECK(strcmp(text, "?") == 0);
}

static void the_pid_inside_is_the_last_one(void)
{
	CHECK(trace_inner_pid("Name:\tx\nNStgid:\t123\t7\nNSpid:\t124\t8\n") == 7);
	CHECK(trace_inner_pid("Name:\tx\nNStgid:\t123\n") == 123);
	CHECK(trace_inner_pid("Name:\tNStgid: 5\nPid:\t9\n") == 0);
	CHECK(trace_inner_pid("\nNStgid:\t99999999999999999999\n") >= 0 && trace_inner_pid("") == 0);
}

static void messages_are_parsed_and_malformed_ones_refused(void)
{
	struct trace_head h = { .kind = TRACE_KIND_CALL, .nr = 59, .texts = 2, .count = 1 };
	char bytes[TRACE_MESSAGE_MAX];
	struct trace_message m;
	size_t len = sizeof(h) + 7;

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), "/a\0b c", 7);
	CHECK(trace_message_parse(bytes, len, &m) && strcmp(m.texts[1], "b c") == 0 && !m.texts[2]);
	CHECK(!trace_message_parse(bytes, len - 1, &m) && !trace_message_parse(bytes, len + 1, &m));
	CHECK(!trace_message_parse(bytes, sizeof(h) - 1, &m) && !trace_message_parse(bytes, 0, &m));
	for (uint32_t texts = 0; texts < 100; texts++) {
		h.texts = texts;
		memcpy(bytes, &h, sizeof(h));
		CHECK(trace_message_parse(bytes, len, &m) == (texts == 2));
	}
	h = (struct trace_head){ .kind = TRACE_KIND_DENIED, .err = EPERM };
	memcpy(bytes, &h, sizeof(h));
	CHECK(trace_message_parse(bytes, sizeof(h), &m) && !m.texts[0]);
	h.err = 0;
	memcpy(bytes, &h, sizeof(h));
	CHECK(!trace_message_parse(bytes, sizeof(h), &m));
	h.kind = 7;
	memcpy(bytes, &h, sizeof(h));
	CHECK(!trace_message_parse(bytes, sizeof(h), &m));
}

static bool count(struct trace_repeats *r, const char *text, struct trace_repeat *before)
{
	struct trace_texts t = { 0 };

	trace_texts_put(&t, text);
	return trace_repeat_count(r, 59, &t, before);
}

static void repetitions_are_counted_and_none_is_dropped(void)
{
	static struct trace_repeats r;
	struct trace_repeat before;
	uint64_t sent = 0, counted = 0;
	char name[16];

	CHECK(!count(&r, "/bin/true", &before) && before.count == 0);
	CHECK(count(&r, "/bin/true", &before) && count(&r, "/bin/true", &before));
	/* Many others: places change hands, and each repetition comes out once. */
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "/bin/%d", i % 100);
		if (!count(&r, name, &before)) {
			sent++;
			counted += before.count;
		}
	}
	for (size_t i = 0; i < TRACE_REPEAT_PLACES; i++)
		counted += r.at[i].count;
	CHECK(sent + counted == 1002);
}

static void incomplete_texts_are_never_taken_for_equal(void)
{
	static struct trace_repeats r;
	static struct trace_texts t;
	struct trace_repeat before;

	trace_texts_put(&t, "/bin/true");
	t.flags = TRACE_CUT;
	CHECK(!trace_repeat_count(&r, 59, &t, &before) && !trace_repeat_count(&r, 59, &t, &before));
	t.flags = 0;
	CHECK(!trace_repeat_count(&r, 59, &t, &before) && trace_repeat_count(&r, 59, &t, &before));
	CHECK(!trace_repeat_count(&r, 322, &t, &before));
}

static bool advises(const char *name, int err, enum trace_list list, bool capable, const char *wanted)
{
	char *text = trace_advise(name, err, list, capable);
	bool ok = text && strstr(text, wanted);

	free(text);
	return ok;
}

static void each_refused_call_has_an_advice(void)
{
	CHECK(advises("ptrace", EPERM, TRACE_LIST_NONE, false, "\"seccomp\": { \"allow\": [\"ptrace\"] }"));
	CHECK(advises("read", EPERM, TRACE_LIST_DENY, false, "remove \"read\" from seccomp.deny"));
	CHECK(advises("ptrace", EPERM, TRACE_LIST_DENY_ALSO, false,
		      "move \"ptrace\" from seccomp.deny to seccomp.allow"));
	CHECK(advises("mount", EPERM, TRACE_LIST_NONE, false, "nothing"));
	CHECK(advises("mount", EPERM, TRACE_LIST_NONE, true, "[\"mount\"]"));
	CHECK(advises("seccomp", EBUSY, TRACE_LIST_NONE, false, "\"audit\": { \"trace\": [] }"));
}

TAP_MAIN(T(ISO_2_only_rows_of_the_table_continue), T(ISO_2_each_word_continues_its_own_calls),
	 T(words_are_parsed), T(texts_are_read_up_to_unmapped_memory), T(long_lists_are_cut),
	 T(addresses_have_a_text), T(the_pid_inside_is_the_last_one),
	 T(messages_are_parsed_and_malformed_ones_refused), T(repetitions_are_counted_and_none_is_dropped),
	 T(incomplete_texts_are_never_taken_for_equal), T(each_refused_call_has_an_advice))
