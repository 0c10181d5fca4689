/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A runtime for tests of oci/engine with real engines: reads the configuration of a container as custody-runtime does, writes down
 * what engine_read() made of it, puts the merged text in place of the engine's, and executes another runtime.
 *
 *	DIR/profile.json   the profile                       DIR/next     link to the runtime that is executed
 *	DIR/ID.subject     the subject document              DIR/ID.digest  its digest
 *	DIR/ID.changes     what the merge changed            DIR/ID.level   level under "balanced", for an explicit request
 *	DIR/ID.config      the engine's text                 DIR/ID.fault   why it was refused
 *
 * DIR is /run/suite/probe.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine.h"
#include "subject/subject-diff.h"

#define DIR "/run/suite/probe"

static const struct profile_vars vars = {
	.cwd = "/", .workspace = "/work", .home = "/root", .user = "root", .session = "s"
};

static char *read_file(const char *path, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;

	return fd >= 0 && fd_read_all(fd, JDOC_SIZE_MAX, &text, ret_len, NULL) == 0 ? text : NULL;
}

static void put(const char *id, const char *kind, const char *text, size_t len)
{
	char path[PATH_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), DIR "/%s.%s", id, kind);
	file = fopen(path, "we");
	if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0)
		perror(path);
}

static void put_document(const char *id, const char *kind, const struct jdoc *d)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	if (d && jdoc_write(d, JDOC_PRETTY, &t, NULL) == 0)
		put(id, kind, t.text, t.len);
}

static void put_level(const char *id, struct policy_facts *facts)
{
	_cleanup_verdict_ struct verdict *v = NULL;

	facts->security = SECURITY_BALANCED;
	facts->intention = INTENTION_EXPLICIT;
	if (policy_decide(facts, &v, NULL) == 0)
		put(id, "level", &v->level, 1);
}

static void put_digest(const char *id, const struct jdoc *document)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	if (jdoc_write(document, JDOC_CANONICAL, &t, NULL) < 0)
		return;
	digest_bytes(t.text, t.len, &d);
	digest_to_hex(&d, hex);
	put(id, "digest", hex, strlen(hex));
}

static void put_changes(const char *id, const struct jdoc *changes)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	if (changes && subject_diff_print(changes, 100, &t, NULL) == 0)
		put(id, "changes", t.text ? t.text : "", t.len);
}

static const char *find_bundle(char **argv)
{
	for (char **a = argv; *a; a++) {
		if (str_starts(*a, "--bundle="))
			return *a + strlen("--bundle=");
		if ((str_eq(*a, "--bundle") || str_eq(*a, "-b")) && a[1])
			return a[1];
	}
	return ".";
}

static int judge(const struct profile *p, const char *id, const char *bundle, const char *config)
{
	const struct digest_key key = { .bytes = { 1, 2, 3 } };
	_cleanup_engine_container_ struct engine_container c = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_free_ char *text = NULL, *rootfs = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct engine_input in = {
		.id = id, .bundle = bundle, .lane = LANE_SANDBOX, .profile = p, .home = "/home/tester"
	};
	const char *root;
	size_t len;
	FILE *file;

	text = read_file(config, &len);
	if (!text || jdoc_parse(text, len, config, &(struct jdoc_limits){ .wide = true }, &d, &f) < 0) {
		fprintf(stderr, "%s: %s\n", config, fault_text(&f));
		return -1;
	}
	put(id, "config", text, len);
	root = jdoc_get_string(jdoc_get(d, "root"), "path");
	rootfs = root && *root == '/' ? strdup(root) : path_join(bundle, root ? root : "");
	in.text = text;
	in.len = len;
	in.rootfs = rootfs;
	in.isolate = access(DIR "/pass-through", F_OK) < 0;
	if (engine_read(&in, &key, &c, &f) < 0) {
		put(id, "fault", fault_text(&f), strlen(fault_text(&f)));
		fprintf(stderr, "%s\n", fault_text(&f));
		return -1;
	}
	put_document(id, "subject", c.document);
	put_changes(id, c.changes);
	put_digest(id, c.document);
	put_level(id, &c.facts);
	put(id, "pause", c.pause ? "1" : "0", 1);
	file = fopen(config, "we");
	return file && fwrite(c.text, 1, c.len, file) == c.len && fclose(file) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *text = NULL;
	char bundle[PATH_MAX], config[PATH_MAX + 16];
	bool creates = false;
	size_t len;

	for (int i = 1; i < argc; i++)
		creates = creates || str_eq(argv[i], "create") || str_eq(argv[i], "run");
	if (creates) {
		text = read_file(DIR "/profile.json", &len);
		if (!text || profile_parse(text, len, "profile.json", &vars, &p, &f) < 0 ||
		    !realpath(find_bundle(argv + 1), bundle)) {
			fprintf(stderr, "engine-probe: %s\n", fault_text(&f));
			return 1;
		}
		(void)snprintf(config, sizeof(config), "%s/config.json", bundle);
		if (judge(p, argv[argc - 1], bundle, config) < 0)
			return 1;
	}
	argv[0] = (char *)DIR "/next";
	(void)execv(argv[0], argv);
	perror(argv[0]);
	return 127;
}
