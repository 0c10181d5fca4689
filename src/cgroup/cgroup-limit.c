/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup.h"

#define CPU_PERIOD_US 100000

static const struct cgroup_node *find(const struct cgroup *c, enum cgroup_controller what)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i].controllers & CGROUP_BIT(what))
			return &c->nodes[i];
	return NULL;
}

static int write_number(const struct cgroup_node *n, const char *file, uint64_t value, struct fault *f)
{
	char text[32];
	int r;

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	r = cgroup_file_write(n->fd, file, text);
	return r < 0 ? fault_errno(f, -r, "write %s to '%s/%s'", text, n->dir, file) : 0;
}

/*
 * The limit holds for memory and swap together: otherwise a payload over its limit would swap and slow down
 * the host. Without swap accounting (ENOENT) nothing is set.
 */
static int limit_memory(const struct cgroup_node *n, uint64_t bytes, struct fault *f)
{
	int r;

	r = write_number(n, n->v2 ? "memory.max" : "memory.limit_in_bytes", bytes, f);
	if (r == -EBUSY)
		return fault_set(f, EBUSY,
				 "%" PRIu64
				 " bytes are less than an empty container needs: raise --memory or "
				 "limits.memory of the profile",
				 bytes);
	if (r < 0)
		return r;
	r = write_number(n, n->v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes", n->v2 ? 0 : bytes,
			 NULL);
	if (r < 0 && r != -ENOENT && r != -EOPNOTSUPP)
		return fault_errno(f, -r, "limit swap in '%s'", n->dir);
	return 0;
}

static void format_cpu(uint64_t percent, char text[48])
{
	(void)snprintf(text, 48, "%" PRIu64 " %d", percent * (CPU_PERIOD_US / 100), CPU_PERIOD_US);
}

static int limit_cpu(const struct cgroup_node *n, uint64_t percent, struct fault *f)
{
	char text[48];
	int r;

	if (!n->v2)
		return write_number(n, "cpu.cfs_quota_us", percent * (CPU_PERIOD_US / 100), f);
	format_cpu(percent, text);
	r = cgroup_file_write(n->fd, "cpu.max", text);
	return r < 0 ? fault_errno(f, -r, "write '%s' to '%s/cpu.max'", text, n->dir) : 0;
}

int cgroup_limit(const struct cgroup *c, const struct cgroup_limits *want, struct fault *f)
{
	const struct cgroup_node *memory = find(c, CGROUP_MEMORY), *pids = find(c, CGROUP_PIDS),
				 *cpu = find(c, CGROUP_CPU);
	int r = 0;

	if (want->memory && memory)
		r = limit_memory(memory, want->memory, f);
	if (r == 0 && want->pids && pids)
		r = write_number(pids, "pids.max", want->pids, f);
	if (r == 0 && want->cpu_percent && cpu)
		r = limit_cpu(cpu, want->cpu_percent, f);
	return r;
}

/* Fails unless FILE starts with exactly TEXT and a line end. */
static int require_text(const struct cgroup_node *n, const char *file, const char *want, struct fault *f)
{
	char text[CGROUP_TEXT_MAX];
	int r = cgroup_file_read(n->fd, file, text);

	if (r < 0)
		return fault_errno(f, -r, "read '%s/%s'", n->dir, file);
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, want) != 0)
		return fault_set(f, ESTALE, "%s is '%s', not '%s'", file, text, want);
	return 0;
}

static int require_number(const struct cgroup_node *n, const char *file, uint64_t want, struct fault *f)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, want);
	return require_text(n, file, text, f);
}

/* Every hierarchy's line of /proc/PID/cgroup ends in the name of the session's directory. */
static int require_member(const struct cgroup *c, pid_t pid, struct fault *f)
{
	char path[32], text[CGROUP_TEXT_MAX];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	r = cgroup_file_read(AT_FDCWD, path, text);
	if (r < 0)
		return fault_errno(f, -r, "read '%s'", path);
	for (size_t i = 0; i < c->n_nodes; i++) {
		const struct cgroup_node *n = &c->nodes[i];
		const char *name = strrchr(n->dir, '/');
		bool member = false;

		for (char *line = text, *next; *line && !member; line = next) {
			size_t len = strcspn(line, "\n");
			const char *colon = memchr(line, ':', len);
			const char *list = colon ? colon + 1 : line;
			size_t list_len = strcspn(list, ":\n");

			next = line + len + (line[len] == '\n');
			if (n->v2 != (list_len == 0) || len < strlen(name) ||
			    memcmp(line + len - strlen(name), name, strlen(name)) != 0)
				continue;
			member = n->v2;
			for (unsigned int k = 0; k < _CGROUP_CONTROLLER_MAX; k++)
				if ((n->controllers & CGROUP_BIT(k)) &&
				    memmem(list, list_len, cgroup_controller_name(k),
					   strlen(cgroup_controller_name(k))))
					member = true;
		}
		if (!member)
			return fault_set(f, ESTALE, "process %d is not in '%s'", (int)pid, n->dir);
	}
	return 0;
}

int cgroup_prove(const struct cgroup *c, const struct cgroup_limits *want, pid_t pid, struct fault *f)
{
	const struct cgroup_node *memory = find(c, CGROUP_MEMORY), *pids = find(c, CGROUP_PIDS),
				 *cpu = find(c, CGROUP_CPU);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[48];
	int r;

	r = require_member(c, pid, f);
	if (r == 0 && want->memory && memory)
		r = require_number(memory, memory->v2 ? "memory.max" : "memory.limit_in_bytes",
				   want->memory / page * page, f);
	if (r == 0 && want->pids && pids)
		r = require_number(pids, "pids.max", want->pids, f);
	if (r == 0 && want->cpu_percent && cpu) {
		format_cpu(want->cpu_percent, text);
		r = cpu->v2 ? require_text(cpu, "cpu.max", text, f)
			    : require_number(cpu, "cpu.cfs_quota_us",
					     want->cpu_percent * (CPU_PERIOD_US / 100), f);
	}
	return r;
}

int cgroup_count(const struct cgroup *c, struct cgroup_counters *ret, struct fault *f)
{
	const struct cgroup_node *memory = find(c, CGROUP_MEMORY), *pids = find(c, CGROUP_PIDS);
	struct cgroup_counters n = { 0 };
	char text[CGROUP_TEXT_MAX];
	int r;

	if (memory) {
		r = cgroup_file_read(memory->fd, memory->v2 ? "memory.events" : "memory.oom_control", text);
		if (r == 0)
			r = cgroup_text_key(text, "oom_kill", &n.oom_kills);
		if (r < 0)
			return fault_errno(f, -r, "count oom kills in '%s'", memory->dir);
	}
	if (pids) {
		r = cgroup_file_read(pids->fd, "pids.events", text);
		if (r == 0)
			r = cgroup_text_key(text, "max", &n.pids_refused);
		if (r < 0)
			return fault_errno(f, -r, "count refused forks in '%s'", pids->dir);
	}
	*ret = n;
	return 0;
}
