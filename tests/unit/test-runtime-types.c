/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-mounts.h"
#include "oci/runtime/runtime-namespace.h"
#include "oci/runtime/runtime-types.h"
#include "oci/runtime/runtime-version.h"
#include "tap.h"

#define V1_8_1 LIBCRUN_NUMBER(1, 8, 1)
#define V1_21 LIBCRUN_NUMBER(1, 21, 0)
#define V1_28 LIBCRUN_NUMBER(1, 28, 0)

static FILE *open_members(void)
{
	const char *srcdir = getenv("SRCDIR");
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tests/data/runtime/members", srcdir ? srcdir : ".");
	return fopen(path, "re");
}

/* The document that has only the member PATH (a.b[].*.c) with VALUE. */
static void build(const char *path, const char *value, struct strbuf *out)
{
	size_t len = strcspn(path, ".[");
	bool array = path[len] == '[';
	const char *rest = path + len + (array ? 2 : 0);

	strbuf_printf(out, "{\"%.*s\":%s", *path == '*' ? 1 : (int)len, *path == '*' ? "k" : path,
		      array ? "[" : "");
	if (*rest == '.')
		build(rest + 1, value, out);
	else
		strbuf_puts(out, value);
	strbuf_puts(out, array ? "]}" : "}");
}

static int check(const char *text, const struct schema_use *use, struct fault *f)
{
	_cleanup_runtime_json_ struct runtime_json j = { 0 };
	char *own = strdup(text);
	int r = own ? runtime_json_parse(own, strlen(own), "test", &j, f) : -ENOMEM;

	return r < 0 ? r : runtime_types_check(j.object, schema_config, use, f);
}

static unsigned int number_of(const char *since)
{
	if (!strcmp(since, "all"))
		return 0;
	return !strcmp(since, "none") ? UINT_MAX : runtime_version_parse(since);
}

static bool follows_list(const char *path, const char *value, unsigned int since, unsigned int libcrun)
{
	const struct schema_use use = { .label = "config.json", .libcrun = libcrun };
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	char top[64];
	int r;

	build(path, value, &text);
	r = check(text.text, &use, &f);
	(void)snprintf(top, sizeof(top), "'%.*s", (int)strcspn(path, ".["), path);
	if (since <= libcrun ? r == 0
			     : r == -ENOTSUP && strstr(fault_text(&f), "is not supported") &&
				       strstr(fault_text(&f), top))
		return true;
	printf("# %s with libcrun %u: %d %s (%s)\n", path, libcrun, r, r < 0 ? fault_text(&f) : "",
	       text.text);
	return false;
}

/* The next line of the list: false at its end. */
static bool read_member(FILE *in, char path[static 256], char value[static 256], char since[static 16])
{
	char line[640];

	while (in && fgets(line, sizeof(line), in))
		if (line[0] != '#')
			return sscanf(line, "%255s %255s %15s", path, value, since) == 3;
	return false;
}

static void PLAT_4_each_member_is_done_or_refused_by_its_name(void)
{
	static const unsigned int versions[] = { V1_8_1, V1_21, V1_28 };
	char path[256], value[256], since[16];
	FILE *in = open_members();
	size_t n = 0;

	CHECK(in);
	while (read_member(in, path, value, since)) {
		n++;
		for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
			CHECK(follows_list(path, value, number_of(since), versions[i]));
	}
	CHECK(n > 180);
	if (in)
		(void)fclose(in);
}

static bool is_listed(const char *name)
{
	char path[256], value[256], since[16];
	FILE *in = open_members();
	bool found = false;

	while (!found && read_member(in, path, value, since))
		found = !strcmp(path, name);
	if (in)
		(void)fclose(in);
	return found;
}

/* Members of LIST that the list of the specification does not have. */
static size_t count_unlisted(const struct schema_member *list, const char *above)
{
	size_t n = 0;

	for (; list->key; list++) {
		char name[512];

		(void)snprintf(name, sizeof(name), "%s%s%s%s", above, *above ? "." : "", list->key,
			       list->type == SCHEMA_ARRAY	     ? "[]"
			       : list->type == SCHEMA_MAP_OF_OBJECTS ? ".*"
								     : "");
		if (list->in)
			n += count_unlisted(list->in, name);
		else if (!is_listed(name) && ++n)
			printf("# not in tests/data/runtime/members: %s\n", name);
	}
	return n;
}

static void PLAT_4_the_table_has_no_member_of_its_own(void)
{
	CHECK(count_unlisted(schema_config, "") == 0);
}

static void PLAT_4_a_value_that_is_not_set_is_no_reason_to_refuse(void)
{
	static const char *const nothing[] = {
		"{\"vm\":null}",
		"{\"vm\":{}}",
		"{\"linux\":{\"timeOffsets\":{}}}",
		"{\"linux\":{\"timeOffsets\":{\"boottime\":{\"secs\":0,\"nanosecs\":0}}}}",
		"{\"linux\":{\"intelRdt\":{\"enableMonitoring\":false,\"closID\":\"\"}}}",
		"{\"linux\":{\"resources\":{\"cpu\":{\"burst\":0},\"rdma\":{}}}}",
		"{\"linux\":{\"personality\":{\"domain\":\"LINUX\",\"flags\":[]}}}",
		"{\"process\":{\"user\":{\"username\":\"\"}}}",
	};
	const struct schema_use use = { .label = "config.json", .libcrun = V1_8_1 };

	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		CHECK(check(nothing[i], &use, NULL) == 0);
	/* One whose name cannot be compared may ask for anything. */
	CHECK(check("{\"process\":{\"ioPriority\":{\"cl\\u0061ss\":\"IOPRIO_CLASS_IDLE\"}}}", &use, NULL) <
	      0);
	CHECK(check("{\"linux\":{\"timeOffsets\":{\"boottime\":{\"s\\u0065cs\":1}}}}", &use, NULL) < 0);
	/* A name in a map asks for a device, whatever is behind it. */
	CHECK(check("{\"linux\":{\"netDevices\":{\"eth0\":{}}}}", &use, NULL) == -ENOTSUP);
	CHECK(check("{\"linux\":{\"memoryPolicy\":{\"flags\":[\"\"]}}}", &use, NULL) == -ENOTSUP);
}

static void PLAT_4_a_refusal_names_the_place(void)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "{\"mounts\":[{},{\"uidMappings\":[{\"size\":\"1\"}]}]}",
		  "'mounts[1].uidMappings[0].size' must be" },
		{ "{\"linux\":{\"resources\":{\"rdma\":{\"mlx5\":{\"hcaHandles\":1}}}}}",
		  "'linux.resources.rdma' is not" },
		{ "{\"linux\":{\"seccomp\":{\"sysalls\":[]}}}", "'linux.seccomp.sysalls' is in no" },
		{ "{\"linux\":{\"Seccomp\":{}}}", "'linux.Seccomp' is not how" },
		{ "{\"Linux\":{}}", "'Linux' is not how" },
		{ "{\"root\":{\"path\":\"a\",\"path\":\"b\"}}", "'root.path' is repeated" },
		{ "{\"r\\u006fot\":{}}", "escapes" },
		{ "{\"linux\":{\"sysctl\":{\"a\":1}}}", "'linux.sysctl' must be an object of strings" },
		{ "{\"linux\":{\"rootfsPropagation\":\"rprivat\"}}",
		  "'linux.rootfsPropagation' must be one of" },
		{ "{\"hooks\":{\"createTeardown\":[]}}", "'hooks.createTeardown' is in no" },
	};
	const struct schema_use use = { .label = "config.json", .libcrun = V1_8_1 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_fault_ struct fault f = { 0 };
		int r = check(cases[i].text, &use, &f);

		if (r >= 0 || !strstr(fault_text(&f), cases[i].name))
			printf("# %s: %d %s\n", cases[i].text, r, r < 0 ? fault_text(&f) : "");
		CHECK(r < 0 && strstr(fault_text(&f), cases[i].name));
	}
}

static void PLAT_4_an_unknown_member_of_the_root_is_reported_unless_it_may_be_newer(void)
{
	_cleanup_strbuf_ struct strbuf ignored = { 0 };
	struct schema_use use = { .label = "config.json", .libcrun = V1_28, .ignored = &ignored };
	const char *text = "{\"x-own\":{\"a\":1},\"root\":{\"path\":\"r\"},\"y\":2}";

	CHECK(check(text, &use, NULL) == 0);
	CHECK(ignored.text && !strcmp(ignored.text, "'x-own', 'y'"));
	use.later = true;
	CHECK(check(text, &use, NULL) == -ENOTSUP);
	use = (struct schema_use){ .label = "config.json", .libcrun = V1_28 };
	CHECK(check(text, &use, NULL) == -ENOTSUP);
}

static int version(const char *text, bool *ret_later)
{
	struct jspan root = { .at = text, .len = strlen(text) };

	return runtime_version_require(root, ret_later, NULL);
}

static void PLAT_4_every_version_1_is_accepted(void)
{
	static const char *const good[] = { "1.0.0", "1.0.2-dev", "1.1.0", "1.2.0",
					    "1.2.1", "1.3.0+dev", "1.0",   "1.0.0-rc5" };
	static const char *const bad[] = { "2.0.0", "0.9.0", "10.0.0", "1",	  "1.",	   "x",
					   "",	    "-1.0",  "1.2.0 ", "1.2.0/x", " 1.2.0" };
	char text[128];
	bool later;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		(void)snprintf(text, sizeof(text), "{\"ociVersion\":\"%s\"}", good[i]);
		CHECK(version(text, &later) == 0 && !later);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void)snprintf(text, sizeof(text), "{\"ociVersion\":\"%s\"}", bad[i]);
		CHECK(version(text, &later) < 0);
	}
	CHECK(version("{}", &later) == 0 && !later);
	CHECK(version("{\"ociVersion\":1.0}", &later) == -EINVAL);
	CHECK(version("{\"ociVersion\":\"1.0.0\",\"ociVersion\":\"1.2.0\"}", &later) == -EINVAL);
	CHECK(version("{\"ociVersion\":\"1.4.0\"}", &later) == 0 && later);
}

static void PLAT_4_only_the_version_is_changed_for_libcrun(void)
{
	static const struct {
		unsigned int libcrun;
		const char *before, *after;
	} cases[] = {
		{ V1_8_1, "{\"ociVersion\":\"1.2.0\",\"a\":\"1.2.0\"}",
		  "{\"ociVersion\":\"1.0\"  ,\"a\":\"1.2.0\"}" },
		{ V1_8_1, "{\"a\":{\"ociVersion\":\"1.3.0\"},\"ociVersion\" : \"1.3\"}",
		  "{\"a\":{\"ociVersion\":\"1.3.0\"},\"ociVersion\" : \"1.0\"}" },
		{ V1_8_1, "{\"a\":1}", "{\"a\":1}" },
		{ V1_8_1, "{\"ociVersion\":\"1.0.2-dev\"}", "{\"ociVersion\":\"1.0.2-dev\"}" },
		{ V1_21, "{\"ociVersion\":\"1.2.0\"}", "{\"ociVersion\":\"1.2.0\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_runtime_json_ struct runtime_json j = { 0 };
		char *text = strdup(cases[i].before);

		CHECK(text && runtime_json_parse(text, strlen(text), "test", &j, NULL) == 0);
		runtime_version_adapt(&j, cases[i].libcrun);
		CHECK(j.text && !strcmp(j.text, cases[i].after));
	}
}

static void versions_of_libcrun_are_compared_as_numbers(void)
{
	CHECK(runtime_version_parse("1.8.1") == V1_8_1);
	CHECK(runtime_version_parse("1.21") == V1_21);
	CHECK(runtime_version_parse("1.28") > runtime_version_parse("1.21.9"));
	CHECK(runtime_version_parse("unknown") == 0);
	CHECK(runtime_libcrun() >= V1_8_1);
}

static int mounts(const char *mount, unsigned int libcrun)
{
	char text[512];
	struct jspan root;

	(void)snprintf(text, sizeof(text), "{\"mounts\":[{\"destination\":\"/ok\",\"type\":\"tmpfs\"},%s]}",
		       mount);
	root = (struct jspan){ .at = text, .len = strlen(text) };
	return runtime_mounts_require(root, libcrun, NULL);
}

static void PLAT_4_mount_options_that_would_be_ignored_are_refused(void)
{
	static const struct {
		const char *mount;
		bool old, newer;
	} cases[] = {
		{ "{\"options\":[\"bin\\u0064\",\"noexce\"]}", false, false },
		{ "{\"type\":\"b\\u0069nd\",\"options\":[\"noexce\"]}", false, false },
		{ "{\"options\":[\"bin\\u0064\",\"noex\\u0065c\"]}", true, true },
		{ "{\"type\":\"bind\",\"options\":[\"rbind\",\"rro\",\"nosuid\",\"rprivate\"]}", true, true },
		{ "{\"type\":\"none\",\"options\":[\"bind\",\"nosymfollow\"]}", false, false },
		{ "{\"type\":\"none\",\"options\":[\"bind\",\"size=5\"]}", false, false },
		{ "{\"type\":\"bind\",\"options\":[\"size=5\"]}", false, false },
		{ "{\"type\":\"cgroup\",\"options\":[\"noexec\",\"nosuch\"]}", false, false },
		{ "{\"type\":\"tmpfs\",\"options\":[\"size=5\",\"mode=755\",\"tmpcopyup\"]}", true, true },
		{ "{\"type\":\"tmpfs\",\"options\":[\"lazytime\"]}", false, false },
		{ "{\"options\":[\"rbind\",\"rrelatime\"]}", false, false },
		{ "{\"options\":[\"rbind\",\"rsync\"]}", false, false },
		{ "{\"options\":[\"rbind\",\"ridmap\"]}", false, true },
		{ "{\"options\":[\"bind\",\"idmap=uids=0-1-10;gids=0-1-10\"]}", true, true },
		{ "{\"options\":[\"bind\",\"copy-symlink\"]}", false, true },
		{ "{\"options\":[\"bind\",\"dest-nofollow\",\"src-nofollow\"]}", false, true },
		{ "{\"options\":[\"bind\",\"src-nofollow\"]}", false, false },
		{ "{\"options\":[\"bind\"],\"uidMappings\":[{\"size\":1}],\"gidMappings\":[{\"size\":1}]}",
		  true, true },
		{ "{\"options\":[\"bind\"],\"uidMappings\":[{\"size\":1}]}", false, false },
		{ "{\"options\":[\"bind\"],\"uidMappings\":[],\"gidMappings\":[{\"size\":1}]}", false,
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int old = mounts(cases[i].mount, V1_8_1), newer = mounts(cases[i].mount, V1_28);

		if ((old == 0) != cases[i].old || (newer == 0) != cases[i].newer)
			printf("# %s: %d %d\n", cases[i].mount, old, newer);
		CHECK((old == 0) == cases[i].old && (newer == 0) == cases[i].newer);
	}
}

static void PLAT_4_options_that_features_promises_are_those_that_are_accepted(void)
{
	const char *name, *before = "";
	size_t n;

	for (n = 0; (name = runtime_mounts_option(n, V1_8_1)); n++) {
		char mount[128];

		CHECK(strcmp(before, name) < 0);
		before = name;
		(void)snprintf(mount, sizeof(mount), "{\"options\":[\"bind\",\"%s\"]}", name);
		CHECK(mounts(mount, V1_8_1) == 0);
	}
	CHECK(n > 40);
}

static void a_number_is_an_integer_that_fits(void)
{
	static const struct {
		const char *number;
		bool taken;
	} rows[] = {
		{ "0", true },	    { "1000", true },	    { "-1", true },
		{ "1.5", false },   { "1e9", false },	    { "18446744073709551615", true },
		{ "\"1\"", false }, { "-infinity", false }, { "18446744073709551616", false },
		{ "--1", false },   { "1-2", false },	    { "-9223372036854775808", true },
		{ "-", false },	    { "true", false },	    { "-9223372036854775809", false },
		{ "+1", false },    { "{}", false },	    { "nan", false },
	};
	const struct schema_use use = { .label = "config.json", .libcrun = V1_8_1 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[128];
		int r;

		(void)snprintf(text, sizeof(text), "{\"linux\":{\"resources\":{\"memory\":{\"limit\":%s}}}}",
			       rows[i].number);
		r = check(text, &use, NULL);
		if ((r == 0) != rows[i].taken)
			printf("# %s: %d\n", rows[i].number, r);
		CHECK((r == 0) == rows[i].taken);
	}
}

static int namespaces(const char *list)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "{\"linux\":{\"namespaces\":[{\"type\":\"mount\"}%s]}}", list);
	return runtime_namespace_require((struct jspan){ .at = text, .len = strlen(text) }, NULL);
}

static void a_namespace_is_named_once_however_it_is_written(void)
{
	CHECK(namespaces("") == 0);
	CHECK(namespaces(",{\"type\":\"pid\"},{\"type\":\"\\u0075ts\"}") == 0);
	CHECK(namespaces(",{\"type\":\"mount\",\"path\":\"/proc/1/ns/mnt\"}") == -EINVAL);
	CHECK(namespaces(",{\"type\":\"m\\u006funt\",\"path\":\"/proc/1/ns/mnt\"}") == -EINVAL);
	CHECK(namespaces(",{\"type\":\"mount\\u0000\",\"path\":\"/proc/1/ns/mnt\"}") == -EINVAL);
}

TAP_MAIN(T(a_number_is_an_integer_that_fits), T(a_namespace_is_named_once_however_it_is_written),
	 T(PLAT_4_each_member_is_done_or_refused_by_its_name), T(PLAT_4_the_table_has_no_member_of_its_own),
	 T(PLAT_4_a_value_that_is_not_set_is_no_reason_to_refuse), T(PLAT_4_a_refusal_names_the_place),
	 T(PLAT_4_an_unknown_member_of_the_root_is_reported_unless_it_may_be_newer),
	 T(PLAT_4_every_version_1_is_accepted), T(PLAT_4_only_the_version_is_changed_for_libcrun),
	 T(versions_of_libcrun_are_compared_as_numbers),
	 T(PLAT_4_mount_options_that_would_be_ignored_are_refused),
	 T(PLAT_4_options_that_features_promises_are_those_that_are_accepted))
