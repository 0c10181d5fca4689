/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/engine/engine-impl.h"
#include "oci/engine/engine.h"
#include "profile/profile.h"

#define ENGINE_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* One root file system with /bin/true, one profile, one key. */
struct engine_fixture {
	char dir[64], rootfs[80];
	struct profile *profile;
	unsigned int preserved;
	bool no_cgroup;
	const struct jdoc *broker; /* NULL: none */
	struct digest_key key;
	struct fault f;
	struct engine_container c;
};

static const struct profile_vars engine_vars = {
	.cwd = "/srv/project", .home = "/home/ann", .user = "ann", .session = "s", .uid = 1000
};

/*
 * What engines send on this machine.  The recordings were made on x86_64, whose names no other machine accepts: without this their
 * filters would be tested there only.
 */
#define ENGINE_RECORDED_ARCHITECTURES "\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_X86\",\"SCMP_ARCH_X32\""
#ifdef __aarch64__
#define ENGINE_ARCHITECTURES "\"SCMP_ARCH_AARCH64\",\"SCMP_ARCH_ARM\""
#else
#define ENGINE_ARCHITECTURES ENGINE_RECORDED_ARCHITECTURES
#endif

static inline char *engine_file(const char *name, size_t *ret_len)
{
	const char *srcdir = getenv("SRCDIR");
	_cleanup_strbuf_ struct strbuf t = { 0 };
	char path[4096], part[8192];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", srcdir ? srcdir : ".", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, part, sizeof(part))) > 0)
		strbuf_add(&t, part, (size_t)n);
	if (fd >= 0)
		(void)close(fd);
	*ret_len = t.len;
	return fd < 0 ? NULL : strbuf_take(&t);
}

/* A recording of tests/data/engine, as if it was made on this machine. */
static inline char *engine_recording(const char *name)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	_cleanup_free_ char *text = NULL;
	char path[128];
	const char *at;
	size_t len;

	(void)snprintf(path, sizeof(path), "tests/data/engine/%s.json", name);
	text = engine_file(path, &len);
	at = text ? strstr(text, ENGINE_RECORDED_ARCHITECTURES) : NULL;
	if (!at)
		return TAKE_PTR(text);
	strbuf_add(&t, text, (size_t)(at - text));
	strbuf_puts(&t, ENGINE_ARCHITECTURES);
	strbuf_puts(&t, at + strlen(ENGINE_RECORDED_ARCHITECTURES));
	return strbuf_take(&t);
}

static inline struct profile *engine_profile(const char *text)
{
	struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (profile_parse(text, strlen(text), "t.json", &engine_vars, &p, &f) < 0)
		printf("# %s\n", fault_text(&f));
	return p;
}

static inline bool engine_fixture_init(struct engine_fixture *x)
{
	_cleanup_free_ char *text = NULL;
	char path[128];
	size_t len;
	int fd;

	*x = (struct engine_fixture){ .dir = "/tmp/custody-engine-XXXXXX" };
	memset(x->key.bytes, 7, sizeof(x->key.bytes));
	if (!mkdtemp(x->dir))
		return false;
	(void)snprintf(x->rootfs, sizeof(x->rootfs), "%s/rootfs", x->dir);
	(void)mkdir(x->rootfs, 0755);
	(void)snprintf(path, sizeof(path), "%s/bin", x->rootfs);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/bin/sh", x->rootfs);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, "#!\n", 3) != 3)
		return false;
	(void)close(fd);
	text = engine_file("profiles/container.json", &len);
	x->profile = text ? engine_profile(text) : NULL;
	return x->profile;
}

static inline void engine_fixture_done(struct engine_fixture *x)
{
	char command[160];

	engine_container_done(&x->c);
	profile_free(x->profile);
	fault_done(&x->f);
	(void)snprintf(command, sizeof(command), "%s/bin/sh", x->rootfs);
	(void)unlink(command);
	(void)snprintf(command, sizeof(command), "%s/bin", x->rootfs);
	(void)rmdir(command);
	(void)rmdir(x->rootfs);
	(void)rmdir(x->dir);
}
#define _cleanup_engine_fixture_ _cleanup_(engine_fixture_done)

/* Reads TEXT into X->c, whose earlier content is freed; 0 or -errno, with X->f. */
static inline int engine_try_as(struct engine_fixture *x, const char *text, const char *id, bool isolate)
{
	const struct engine_input in = {
		.text = text,
		.len = strlen(text),
		.id = id,
		.bundle = x->dir,
		.rootfs = x->rootfs,
		.lane = LANE_SANDBOX,
		.profile = x->profile,
		.home = "/home/ann",
		.preserved = x->preserved,
		.no_cgroup = x->no_cgroup,
		.broker = x->broker,
		.broker_source = "/run/custody",
		.isolate = isolate,
	};

	engine_container_done(&x->c);
	fault_done(&x->f);
	x->f = (struct fault){ 0 };
	return engine_read(&in, &x->key, &x->c, &x->f);
}

static inline int engine_try(struct engine_fixture *x, const char *text)
{
	return engine_try_as(x, text, ENGINE_ID, true);
}

static inline char *engine_written(const struct jdoc *d)
{
	struct strbuf t = { 0 };

	if (jdoc_write(d, JDOC_CANONICAL, &t, NULL) < 0)
		strbuf_done(&t);
	return t.text ? strbuf_take(&t) : strdup("");
}
