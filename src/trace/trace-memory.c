/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace-memory.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#define PAGE 4096u /* no page of a supported machine is smaller */

bool trace_memory_copy(pid_t pid, uint64_t address, void *ret, size_t len)
{
	struct iovec here = { ret, len }, there = { (void *)(uintptr_t)address, len };

	return len > 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

/* Up to the end of the page: the next one may not be mapped, and then nothing of it counts. */
static size_t piece(uint64_t address, size_t room)
{
	const size_t left = PAGE - (size_t)(address & (PAGE - 1));

	return left < room ? left : room;
}

/* Ends a text at T->len with a NUL, for which room was kept. */
static void close_text(struct trace_texts *t)
{
	t->bytes[t->len++] = '\0';
	t->n++;
}

void trace_texts_put(struct trace_texts *t, const char *text)
{
	size_t len = strlen(text);

	if (t->len == sizeof(t->bytes) || t->n >= TRACE_ARGS_MAX) {
		t->flags |= TRACE_CUT;
		return;
	}
	if (len > sizeof(t->bytes) - t->len - 1) {
		len = sizeof(t->bytes) - t->len - 1;
		t->flags |= TRACE_CUT;
	}
	memcpy(t->bytes + t->len, text, len);
	t->len += len;
	close_text(t);
}

static bool add(struct trace_texts *t, pid_t pid, uint64_t address, size_t max, int *reads)
{
	size_t left = sizeof(t->bytes) - t->len;

	if (left == 0 || t->n >= TRACE_ARGS_MAX) {
		t->flags |= TRACE_CUT;
		return false;
	}
	left = --left < max ? left : max;
	while (left > 0 && ++*reads <= TRACE_READS_MAX) {
		const size_t n = piece(address, left);
		char *at = t->bytes + t->len, *nul;

		if (!trace_memory_copy(pid, address, at, n)) {
			t->flags |= TRACE_UNREADABLE;
			close_text(t);
			return false;
		}
		nul = memchr(at, '\0', n);
		t->len += nul ? (size_t)(nul - at) : n;
		if (nul) {
			close_text(t);
			return true;
		}
		address += n;
		left -= n;
	}
	t->flags |= TRACE_CUT;
	close_text(t);
	return false;
}

void trace_texts_add(struct trace_texts *t, pid_t pid, uint64_t address, size_t max)
{
	int reads = 0;

	(void)add(t, pid, address, max, &reads);
}

void trace_texts_add_list(struct trace_texts *t, pid_t pid, uint64_t address)
{
	uint64_t pointers[32];
	int reads = 0;

	while (address && ++reads <= TRACE_READS_MAX) {
		const size_t bytes = piece(address, sizeof(pointers)), n = bytes / sizeof(pointers[0]);

		/* A list that is not aligned may cross the page within a pointer. */
		if (n == 0 || !trace_memory_copy(pid, address, pointers, n * sizeof(pointers[0]))) {
			t->flags |= TRACE_UNREADABLE;
			return;
		}
		for (size_t i = 0; i < n; i++) {
			if (!pointers[i])
				return;
			if (!add(t, pid, pointers[i], sizeof(t->bytes), &reads))
				return;
		}
		address += n * sizeof(pointers[0]);
	}
	if (address)
		t->flags |= TRACE_CUT;
}

static void put_unix(const void *address, size_t len, char text[TRACE_ADDRESS_SIZE])
{
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1] = "";

	if (len > head)
		memcpy(path, (const char *)address + head,
		       len - head < sizeof(path) ? len - head : sizeof(path) - 1);
	(void)snprintf(text, TRACE_ADDRESS_SIZE, "unix:%s%s", path[0] ? "" : "@", path[0] ? path : path + 1);
}

void trace_address_text(const void *address, size_t len, char text[TRACE_ADDRESS_SIZE])
{
	char host[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in6 in6;
	struct sockaddr_in in;
	sa_family_t family;

	if (len < sizeof(family)) {
		(void)snprintf(text, TRACE_ADDRESS_SIZE, "?");
		return;
	}
	memcpy(&family, address, sizeof(family));
	if (family == AF_UNIX) {
		put_unix(address, len, text);
	} else if (family == AF_INET && len >= sizeof(in)) {
		memcpy(&in, address, sizeof(in));
		(void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		(void)snprintf(text, TRACE_ADDRESS_SIZE, "inet:%s:%u", host, ntohs(in.sin_port));
	} else if (family == AF_INET6 && len >= sizeof(in6)) {
		memcpy(&in6, address, sizeof(in6));
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		(void)snprintf(text, TRACE_ADDRESS_SIZE, "inet6:[%s]:%u", host, ntohs(in6.sin6_port));
	} else {
		(void)snprintf(text, TRACE_ADDRESS_SIZE, "family %u", family);
	}
}

pid_t trace_inner_pid(const char *status)
{
	/* A name of a process cannot forge the line: the kernel escapes a newline in it. */
	const char *line = strstr(status, "\nNStgid:");
	unsigned long id = 0, last = 0;

	for (const char *c = line ? line + strlen("\nNStgid:") : ""; *c && *c != '\n'; c++) {
		if (*c < '0' || *c > '9') {
			id = 0;
			continue;
		}
		id = id < 100000000 ? id * 10 + (unsigned long)(*c - '0') : id;
		last = id;
	}
	return (pid_t)last;
}
