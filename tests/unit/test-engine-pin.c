/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "oci/engine/engine-pin.h"
#include "tap.h"

/* This process is the container: its root is the host's, and a bind is at the place that it shows. */
#define CONFIG                                                                                               \
	"{\"process\":{\"args\":[\"%s\"],\"cwd\":\"%s\",\"env\":[\"PATH=/nowhere\",\"PATH=%s\"]},\"root\":{" \
	"\"path\":\"r\"},\"mounts\":[{\"type\":\"bind\",\"source\":\"%s\",\"destination\":\"%s\","           \
	"\"options\":["                                                                                      \
	"\"bind\",\"ro\"]}],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":" \
	"\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]}}"

static int try(struct engine_fixture *x, const char *program, const char *path, const char *source,
	       const char *target)
{
	char text[2048];
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	(void)snprintf(text, sizeof(text), CONFIG, program, x->dir, path, source, target);
	r = engine_try(x, text);
	if (r == 0)
		engine_pin_root(&x->c.pins, root);
	return r == 0 ? engine_pins_require(&x->c.pins, x->c.merged, getpid(), &x->f) : r;
}

/* valgrind 3.19 has no openat2, with which files are looked up in a root. */
#define WITH                                                                                  \
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 };                             \
	char bin[128];                                                                        \
	CHECK(engine_fixture_init(&x) && snprintf(bin, sizeof(bin), "%s/bin", x.rootfs) > 0); \
	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))                                            \
	return

static void the_same_files_are_accepted(void)
{
	WITH;

	CHECK(try(&x, "sh", bin, bin, bin) == 0 && x.c.pins.program.exists);
	/* By the working directory, as libcrun looks for it. */
	CHECK(try(&x, "sh", "rootfs/bin", bin, bin) == 0 && x.c.pins.program.exists);
	CHECK(try(&x, "rootfs/bin/sh", "", bin, bin) == 0 && x.c.pins.program.exists);
}

static void CARD_7_a_source_that_was_exchanged_is_refused(void)
{
	WITH;

	CHECK(try(&x, "sh", "/x", x.rootfs, bin) == -EPERM && strstr(fault_text(&x.f), "mounts[0]"));
	/* It did not exist when it was judged. */
	CHECK(try(&x, "sh", "/x", "/nonexistent/x", bin) == -EPERM && strstr(fault_text(&x.f), "exchanged"));
	CHECK(try(&x, "sh", "/x", x.rootfs, "/nonexistent") == -ENOENT);
}

static void CARD_7_a_root_that_was_exchanged_is_refused(void)
{
	WITH;

	CHECK(try(&x, "sh", "/x", bin, bin) == 0);
	x.c.pins.root.ino++;
	CHECK(engine_pins_require(&x.c.pins, x.c.merged, getpid(), &x.f) == -EPERM &&
	      strstr(fault_text(&x.f), "root.path"));
}

static void GOV_9_a_program_that_is_another_one_inside_is_refused(void)
{
	char other[160], name[160];
	int fd;
	WITH;

	CHECK(try(&x, "sh", bin, bin, bin) == 0);
	(void)snprintf(name, sizeof(name), "%s/sh", bin);
	(void)snprintf(other, sizeof(other), "%s/new", bin);
	fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	CHECK(fd >= 0 && close(fd) == 0 && rename(other, name) == 0);
	CHECK(engine_pins_require(&x.c.pins, x.c.merged, getpid(), &x.f) == -EPERM &&
	      strstr(fault_text(&x.f), "args[0]"));
}

static void a_mount_that_another_one_covers_is_not_compared(void)
{
	char text[2048];
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	WITH;

	(void)snprintf(
		text, sizeof(text),
		"{\"process\":{\"args\":[\"x\"],\"cwd\":\"/"
		"\"},\"root\":{\"path\":\"r\"},\"mounts\":[{\"type\":"
		"\"bind\",\"source\":\"%s\",\"destination\":\"%s\",\"options\":[\"ro\"]},{\"type\":\"tmpfs\","
		"\"destination\":\"%s\"}],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":"
		"\"network\"},"
		"{\"type\":\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]}}",
		x.dir, bin, x.rootfs);
	CHECK(engine_try(&x, text) == 0);
	engine_pin_root(&x.c.pins, root);
	CHECK(engine_pins_require(&x.c.pins, x.c.merged, getpid(), &x.f) == 0);
}

TAP_MAIN(T(the_same_files_are_accepted), T(CARD_7_a_source_that_was_exchanged_is_refused),
	 T(CARD_7_a_root_that_was_exchanged_is_refused),
	 T(GOV_9_a_program_that_is_another_one_inside_is_refused),
	 T(a_mount_that_another_one_covers_is_not_compared))
