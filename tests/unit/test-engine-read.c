/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine-fixture.h"
#include "layer/layer.h"
#include "oci/engine/engine-mount.h"
#include "oci/engine/engine-namespace.h"
#include "oci/engine/engine-size.h"
#include "tap.h"

/* A configuration with one part replaced, by sprintf: PLAIN has none of them. */
#define NAMESPACES                                                                                          \
	"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{" \
	"\"type\":\"mount\"}]"
#define ENV "\"env\":[\"PATH=/bin\",\"SECRET=x\"]"
#define CONFIG(args, env, mounts, annotations, linux_part)                                    \
	"{\"process\":{\"args\":" args ",\"cwd\":\"/\"," env                                  \
	"},\"root\":{\"path\":\"rootfs\"},\"mounts\":" mounts ",\"annotations\":" annotations \
	",\"linux\":{" NAMESPACES linux_part "}}"
#define PLAIN CONFIG("[\"sh\"]", ENV, "[]", "{}", "")
#define LINUX(part) CONFIG("[\"sh\"]", ENV, "[]", "{}", part)
#define MOUNTS(list) CONFIG("[\"sh\"]", ENV, list, "{}", "")
#define ANNOTATED(object) CONFIG("[\"sh\"]", ENV, "[]", object, "")
#define BIND(source, target, options)                                                                       \
	"{\"type\":\"bind\",\"source\":\"" source "\",\"destination\":\"" target "\",\"options\":[" options \
	"]}"

#define READONLY(mounts, linux_part)                          \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/w\"," ENV \
	"},\"root\":{\"path\":\"r\",\"readonly\":true},\"mounts\":" mounts ",\"linux\":{" linux_part "}}"
#define JOINED                                                                            \
	"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/run/netns/" \
	"x\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{"                                    \
	"\"type\":\"mount\"}]"

#define WITH                                                      \
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 }; \
	CHECK(engine_fixture_init(&x))

/* Refused with WORDS, and nothing is left that could be started? */
static bool refuses(struct engine_fixture *x, const char *text, const char *words)
{
	int r = engine_try(x, text);

	if (r == -EPERM && strstr(fault_text(&x->f), words) && !x->c.merged && !x->c.text && !x->c.document)
		return true;
	printf("# %s\n# wanted %s\n", r < 0 ? fault_text(&x->f) : "accepted", words);
	return false;
}

static bool use_profile(struct engine_fixture *x, const char *body)
{
	char text[1024];

	profile_free(x->profile);
	(void)snprintf(text, sizeof(text), "{\"schema\":1,\"name\":\"t\",\"network\":{\"class\":\"any\"}%s}",
		       body);
	x->profile = engine_profile(text);
	return x->profile;
}

static char *digest_of(struct engine_fixture *x, const char *text, const char *id, bool isolate)
{
	if (engine_try_as(x, text, id, isolate) < 0) {
		printf("# %s\n", fault_text(&x->f));
		return NULL;
	}
	return engine_written(x->c.document);
}

/* --- the merge ---------------------------------------------------------------------------------------------------- */

static void CARD_7_a_plain_configuration_is_tightened(void)
{
	const struct jdoc *m;
	WITH;

	CHECK(engine_try(&x, PLAIN) == 0);
	m = x.c.merged;
	CHECK(engine_at(m, "process.noNewPrivileges")->boolean);
	CHECK(engine_count(m, "process.capabilities.bounding") == 0);
	CHECK(engine_at(m, "linux.seccomp.syscalls"));
	CHECK(engine_list_has(engine_at(m, "linux.maskedPaths"), "/proc/kcore"));
	CHECK(str_eq(engine_text(engine_item(m, "process.rlimits", 0), "type"), "RLIMIT_CORE"));
	CHECK(x.c.document && x.c.changes && x.c.changes->n_items > 0 && !x.c.image && !x.c.pause);
	CHECK(str_eq(x.c.argv[0], "sh") && !x.c.argv[1] && str_eq(x.c.worktree, "/"));
	CHECK(x.c.layers & LAYER_BIT(LAYER_SECCOMP) && x.c.layers & LAYER_BIT(LAYER_NET_NS));
}

static void CARD_7_namespaces_of_the_host_are_refused_by_name(void)
{
	static const struct {
		const char *type, *word;
	} rows[] = {
		{ "pid", "no-pid-namespace" },	   { "network", "host-network" },
		{ "ipc", "no-ipc-namespace" },	   { "uts", "no-uts-namespace" },
		{ "mount", "no-mount-namespace" },
	};
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *d = NULL;
		_cleanup_free_ char *absent = NULL, *joined = NULL;
		char body[160], own[64];
		struct jdoc *list;

		CHECK(jdoc_parse(PLAIN, strlen(PLAIN), "p", NULL, &d, NULL) == 0);
		list = engine_at(d, "linux.namespaces");
		for (size_t k = list->n_items; k-- > 0;)
			if (str_eq(engine_text(list->items[k], "type"), rows[i].type))
				(void)jdoc_remove_item(list, k);
		absent = engine_written(d);
		/* The same by a path that leads to it. */
		(void)snprintf(own, sizeof(own), "/proc/self/ns/%s",
			       str_eq(rows[i].type, "network") ? "net"
			       : str_eq(rows[i].type, "mount") ? "mnt"
							       : rows[i].type);
		jdoc_set_string(jdoc_append_object(list), "type", rows[i].type);
		jdoc_set_string(list->items[list->n_items - 1], "path", own);
		joined = engine_written(d);
		CHECK(refuses(&x, absent, rows[i].type) && strstr(fault_text(&x.f), rows[i].word));
		CHECK(refuses(&x, joined, rows[i].type));
		if (str_eq(rows[i].type, "mount"))
			continue;
		(void)snprintf(body, sizeof(body),
			       ",\"dangerous\":[\"%s\"],\"container\":{\"network\":\"engine\"}",
			       rows[i].word);
		CHECK(use_profile(&x, body) && engine_try(&x, absent) == 0);
		CHECK(use_profile(&x, ",\"container\":{\"network\":\"engine\"}"));
	}
}

static void CARD_7_a_profile_may_require_a_user_namespace_and_no_network(void)
{
	WITH;

	CHECK(use_profile(&x, ""));
	/* A namespace that the engine made may have any network. */
	CHECK(engine_try(&x, PLAIN) == 0 && x.c.facts.network == POLICY_NETWORK_NONE);
	CHECK(refuses(&x, READONLY("[]", JOINED), "allows no network"));
	if (geteuid() != 0)
		return;
	CHECK(use_profile(&x, ",\"container\":{\"user_namespace\":\"require\"}"));
	if (engine_try(&x, PLAIN) == 0) /* the test itself runs in a user namespace */
		return;
	CHECK(refuses(&x, PLAIN, "requires a user namespace"));
	CHECK(refuses(&x, LINUX(",\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":65536}]"),
		      "requires a user namespace"));
}

static void CARD_7_devices_and_sysctls_of_the_host_are_refused_by_name(void)
{
	WITH;

	CHECK(refuses(&x,
		      LINUX(",\"devices\":[{\"path\":\"/dev/sda\",\"type\":\"b\",\"major\":8,\"minor\":0}]"),
		      "/dev/sda"));
	CHECK(refuses(&x, LINUX(",\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"rwm\"}]}"),
		      "every device"));
	CHECK(engine_try(&x, LINUX(",\"devices\":[{\"path\":\"/dev/"
				   "zero\",\"type\":\"c\",\"major\":1,\"minor\":5}]")) == 0);
	/* One device among those of every container: taken away. */
	CHECK(engine_try(&x, LINUX(",\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":10,"
				   "\"minor\":200,"
				   "\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":"
				   "3,\"access\":\"rwm\"}]}")) == 0);
	CHECK(engine_count(x.c.merged, "linux.resources.devices") == 2);
	CHECK(!jdoc_get(engine_item(x.c.merged, "linux.resources.devices", 0), "allow")->boolean);
	CHECK(refuses(&x, LINUX(",\"sysctl\":{\"kernel.core_pattern\":\"|/x\"}"), "kernel.core_pattern"));
	CHECK(refuses(&x, LINUX(",\"sysctl\":{\"net.core.somaxconn\":\"1\"}"), "container.sysctls"));
	CHECK(engine_try(&x, LINUX(",\"sysctl\":{\"net.ipv4.ping_group_range\":\"0 0\"}")) == 0);
	CHECK(use_profile(&x,
			  ",\"container\":{\"network\":\"engine\",\"sysctls\":[\"net.core.somaxconn\"]}"));
	CHECK(engine_try(&x, LINUX(",\"sysctl\":{\"net.core.somaxconn\":\"1\"}")) == 0);
}

static void CARD_7_binds_of_the_hosts_system_need_the_word_of_custody_run(void)
{
	WITH;

	CHECK(refuses(&x, MOUNTS("[" BIND("/etc", "/x", "\"rbind\"") "]"), "rw-root"));
	CHECK(refuses(&x, MOUNTS("[" BIND("/var/run/docker.sock", "/x", "\"bind\",\"ro\"") "]"),
		      "engine-socket"));
	CHECK(refuses(&x, MOUNTS("[" BIND("/home/ann/.ssh", "/x", "\"bind\"") "]"), "rw-home"));
	CHECK(refuses(&x, MOUNTS("[" BIND("/", "/host", "\"bind\",\"rw\",\"ro\",\"rw\"") "]"),
		      "'mounts[0]'"));
	CHECK(engine_try(&x, MOUNTS("[" BIND("/srv/data", "/x", "\"rbind\"") "]")) == 0);
	CHECK(engine_try(&x, MOUNTS("[" BIND("/etc/hostname", "/x", "\"bind\",\"ro\"") "]")) == 0);
	CHECK(engine_try(&x, MOUNTS("[" BIND("/etc", "/x", "\"rbind\",\"rro\"") "]")) == 0);
	CHECK(refuses(&x, MOUNTS("[" BIND("/etc", "/x", "\"rbind\",\"rro\",\"rw\"") "]"), "rw-root"));
	CHECK(refuses(&x, MOUNTS("[" BIND("/etc", "/x", "\"rbind\",\"rrw\",\"ro\"") "]"), "rw-root"));
	/* Options of a bind decide, whatever the type is called. */
	CHECK(refuses(&x,
		      MOUNTS("[{\"type\":\"none\",\"source\":\"/etc\",\"destination\":\"/"
			     "x\",\"options\":[\"rbind\"]}]"),
		      "rw-root"));
}

#define MOUNT(type, target, options) \
	"{\"type\":\"" type "\",\"source\":\"none\",\"destination\":\"" target "\",\"options\":[" options "]}"

static void CARD_7_file_systems_of_the_host_are_refused_by_their_type(void)
{
	static const char *const types[] = { "ext4", "overlay",	   "debugfs",  "tracefs",
					     "bpf",  "securityfs", "devtmpfs", "binfmt_misc",
					     "9p",   "fuse.sshfs", "none",     "" };
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), MOUNTS("[" MOUNT("%s", "/x", "") "]"), types[i]);
		CHECK(refuses(&x, text, "rw-root"));
	}
	CHECK(refuses(&x, MOUNTS("[{\"source\":\"none\",\"destination\":\"/x\"}]"), "rw-root"));
	CHECK(use_profile(&x, ",\"dangerous\":[\"rw-root\"],\"container\":{\"network\":\"engine\"}"));
	CHECK(engine_try(&x, MOUNTS("[" MOUNT("ext4", "/x", "") "]")) == 0);
}

static void CARD_7_proc_and_sysfs_are_where_they_are_masked(void)
{
	WITH;

	CHECK(refuses(&x, MOUNTS("[" MOUNT("proc", "/p", "") "]"), "no-masked-paths"));
	CHECK(refuses(&x, MOUNTS("[" MOUNT("proc", "/proc/x", "") "]"), "no-masked-paths"));
	CHECK(refuses(&x, MOUNTS("[" MOUNT("sysfs", "/s", "\"ro\"") "]"), "no-masked-paths"));
	CHECK(engine_try(&x, MOUNTS("[" MOUNT("proc", "/proc", "") "," MOUNT("proc", "proc/", "") "]")) == 0);
	/* A writable /sys is the owner's to write, without any capability. */
	CHECK(engine_try(&x, MOUNTS("[" MOUNT("sysfs", "/sys", "\"ro\",\"rw\"") "]")) == 0);
	CHECK(engine_mount_is_readonly(engine_item(x.c.merged, "mounts", 0)));
	CHECK(use_profile(&x, ",\"limits\":{\"pids\":9},\"container\":{\"network\":\"engine\"}"));
	CHECK(engine_try(&x, MOUNTS("[" MOUNT("cgroup", "/sys/fs/cgroup", "") "]")) == 0);
	CHECK(engine_mount_is_readonly(engine_item(x.c.merged, "mounts", 0)));
}

static void CARD_7_a_bind_is_judged_by_the_path_that_libcrun_takes(void)
{
	WITH;

	/* From the bundle, two levels below the root. */
	CHECK(refuses(&x, MOUNTS("[" BIND("../../etc", "/x", "\"bind\"") "]"), "rw-root"));
	CHECK(refuses(&x, MOUNTS("[" BIND("../../../../..", "/x", "\"rbind\"") "]"), "rw-root"));
	CHECK(refuses(&x, MOUNTS("[" BIND("", "/x", "\"rbind\"") "]"), "without a source"));
	CHECK(refuses(&x, MOUNTS("[{\"type\":\"bind\",\"destination\":\"/x\"}]"), "without a source"));
	CHECK(engine_try(&x, MOUNTS("[" BIND("rootfs/bin", "/x", "\"bind\"") "]")) == 0);
	CHECK(*engine_text(engine_item(x.c.merged, "mounts", 0), "source") == '/');
	CHECK(refuses(&x, MOUNTS("[" BIND("/srv", "/", "\"bind\"") "]"), "not the root"));
	CHECK(refuses(&x, MOUNTS("[" BIND("/srv", "/x/../bin", "\"bind\"") "]"), "'..'"));
}

static void CARD_7_propagation_is_never_shared(void)
{
	WITH;

	CHECK(engine_try(&x, CONFIG("[\"sh\"]", ENV, "[" BIND("/srv", "/x", "\"rbind\",\"rshared\"") "]",
				    "{}", ",\"rootfsPropagation\":\"shared\"")) == 0);
	CHECK(str_eq(engine_text(x.c.merged, "linux.rootfsPropagation"), "slave"));
	CHECK(engine_list_has(jdoc_get(engine_item(x.c.merged, "mounts", 0), "options"), "rslave"));
	CHECK(!strstr(x.c.text, "shared"));
}

static void CARD_7_hooks_of_the_engine_stay_and_are_in_the_subject(void)
{
	static const char text[] = "{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/"
				   "\"},\"root\":{\"path\":\"r\"},\"hooks\":{\"prestart\":[{\"path\":"
				   "\"/usr/bin/"
				   "nvidia\",\"args\":[\"nvidia\",\"prestart\",\"%s\"],\"env\":[\"TOKEN="
				   "geheim\"]}]},\"linux\":{" NAMESPACES "}}";
	_cleanup_free_ char *own = NULL, *other = NULL, *a = NULL, *b = NULL;
	WITH;

	CHECK(asprintf(&own, text, ENGINE_ID) > 0 && asprintf(&other, text, "all") > 0);
	a = digest_of(&x, own, ENGINE_ID, true);
	CHECK(a && strstr(x.c.text, "/usr/bin/nvidia") && strstr(x.c.text, ENGINE_ID));
	CHECK(strstr(a, "/usr/bin/nvidia") && strstr(a, "(container)") && !strstr(a, ENGINE_ID) &&
	      !strstr(a, "geheim"));
	b = digest_of(&x, other, ENGINE_ID, true);
	CHECK(b && !str_eq(a, b));
}

#define HOOK(list, path)                                                                             \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/"                                                \
	"\"},\"root\":{\"path\":\"r\",\"readonly\":true},\"hooks\":{\"" list "\":[{\"path\":\"" path \
	"\",\"args\":[\"libnetwork-setkey\"]}]},\"linux\":{" NAMESPACES "}}"
#define QUIET READONLY("[]", NAMESPACES)

static bool is_without_effect(const struct engine_fixture *x)
{
	return x->c.facts.n_rw == 0 && x->c.facts.network == POLICY_NETWORK_NONE;
}

static void GOV_8_what_reaches_the_host_without_a_mount_is_a_fact(void)
{
	static const char *const hooks[] = {
		HOOK("createContainer", "/x"), HOOK("startContainer", "/x"),
		HOOK("poststart", "/x"),       HOOK("poststop", "/x"),
		HOOK("prestart", "/x"),	       HOOK("prestart", "/proc/self/exe")
	};
	WITH;

	CHECK(engine_try(&x, QUIET) == 0 && is_without_effect(&x));
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		CHECK(engine_try(&x, hooks[i]) == 0 && x.c.facts.n_rw == 1 &&
		      x.c.facts.network == POLICY_NETWORK_HOST);
	x.preserved = 1;
	CHECK(engine_try(&x, QUIET) == 0 && x.c.facts.n_rw == 1);
	CHECK(jdoc_get(x.c.document, "descriptors"));
	x.preserved = 0;
	x.no_cgroup = true;
	CHECK(engine_try(&x, QUIET) == 0);
	CHECK(engine_caller_is_mapped() || x.c.facts.n_rw == 1);
	CHECK(jdoc_get(x.c.document, "cgroup"));
}

static void GOV_8_the_processes_of_another_container_are_within_reach(void)
{
	static const char *const joined[] = {
		READONLY("[]", "\"namespaces\":[{\"type\":\"pid\",\"path\":\"/n/"
			       "x\"},{\"type\":\"network\"},{\"type\":"
			       "\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]"),
		READONLY("[]", "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\","
			       "\"path\":"
			       "\"/n/x\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]"),
	};
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(joined); i++)
		CHECK(engine_try(&x, joined[i]) == 0 && x.c.facts.network == POLICY_NETWORK_HOST);
}

static void GOV_8_a_socket_is_written_through_a_read_only_bind(void)
{
	char text[1024], path[128];
	WITH;

	(void)snprintf(path, sizeof(path), "%s/fifo", x.dir);
	CHECK(mkfifo(path, 0600) == 0);
	(void)snprintf(
		text, sizeof(text),
		"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/w\"},\"root\":{\"path\":\"r\",\"readonly\":true},"
		"\"mounts\":[{\"type\":\"bind\",\"source\":\"%s\",\"destination\":\"/"
		"x\",\"options\":[\"bind\",\"ro\"]}],\"linux\":{" NAMESPACES "}}",
		path);
	CHECK(engine_try(&x, text) == 0 && x.c.facts.n_rw == 1);
	CHECK(unlink(path) == 0);
}

static bool denies_first(const struct engine_fixture *x)
{
	const struct jdoc *rule = engine_count(x->c.merged, "linux.resources.devices") > 0
					  ? engine_item(x->c.merged, "linux.resources.devices", 0)
					  : NULL;

	return rule && !jdoc_get(rule, "allow")->boolean && !jdoc_get(rule, "type") &&
	       str_eq(jdoc_get_string(rule, "access"), "rwm");
}

static void CARD_7_devices_are_denied_first_whatever_the_engine_denies(void)
{
	static const char *const rules[] = { "{\"allow\":false,\"type\":\"b\",\"access\":\"rwm\"}",
					     "{\"allow\":false,\"access\":\"m\"}",
					     "{\"allow\":false,\"minor\":5,\"access\":\"rwm\"}",
					     "{\"allow\":false}",
					     "{\"allow\":false,\"type\":\"u\",\"access\":\"rwm\"}" };
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), LINUX(",\"resources\":{\"devices\":[%s]}"), rules[i]);
		CHECK(engine_try(&x, text) == 0 && denies_first(&x));
	}
	/* An image may have a node of any device. */
	CHECK(engine_try(&x, PLAIN) == 0 && (engine_caller_is_mapped() || denies_first(&x)));
	CHECK(engine_try(&x, LINUX(",\"resources\":{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}")) ==
	      0);
	CHECK(engine_count(x.c.merged, "linux.resources.devices") == 1);
}

/* TEXT with N more environment variables. */
static char *with_variables(size_t n)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_puts(&t, "{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/\",\"env\":[");
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&t, "%s\"A%zu=\"", i ? "," : "", i);
	strbuf_puts(&t, "]},\"root\":{\"path\":\"r\"},\"linux\":{" NAMESPACES "}}");
	return strbuf_take(&t);
}

static void CARD_7_lists_have_a_largest_size(void)
{
	_cleanup_free_ char *most = with_variables(ENGINE_ENV_MAX),
			    *more = with_variables(ENGINE_ENV_MAX + 1);
	WITH;

	CHECK(most && engine_try(&x, most) == 0);
	CHECK(more && refuses(&x, more, "'env' has 8193 entries"));
	CHECK(engine_try_as(&x, more, ENGINE_ID, false) == -EPERM);
}

/* --- annotations ---------------------------------------------------------------------------------------------------- */

static void CARD_7_annotations_that_libcrun_obeys_are_refused(void)
{
	static const char *const names[] = { "run.oci.seccomp_bpf_data",
					     "run.oci.hooks.stdout",
					     "run.oci.handler",
					     "module.wasm.image/variant",
					     "org.systemd.property.DevicePolicy",
					     "custody.proflie" };
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), ANNOTATED("{\"%s\":\"x\"}"), names[i]);
		CHECK(refuses(&x, text, names[i]));
		/* Also where nothing is tightened. */
		CHECK(engine_try_as(&x, text, ENGINE_ID, false) == -EPERM);
	}
	CHECK(refuses(&x, ANNOTATED("{\"custody.proflie\":\"x\"}"), "did you mean 'custody.profile'"));
	CHECK(engine_try(&x,
			 ANNOTATED("{\"run.oci.mount_context_type\":\"context\",\"com.example\":\"x\"}")) ==
	      0);
}

static void annotations_of_custody_are_read(void)
{
	WITH;

	CHECK(engine_try(&x, ANNOTATED("{\"custody.worktree\":\"/data/"
				       "\",\"custody.wait\":\"2m\",\"custody.grant\":\"/g\","
				       "\"custody.profile\":\"p\",\"custody.exec.allow\":\"[[\\\"cat\\\","
				       "\\\"/ok\\\"]]\"}")) == 0);
	CHECK(str_eq(x.c.worktree, "/data") && x.c.wait_s == 120 && str_eq(x.c.grant, "/g"));
	CHECK(x.c.probes && x.c.probes->n_items == 1);
	CHECK(engine_try(&x, ANNOTATED("{\"custody.exec.allow\":\"[\\\"cat\\\"]\"}")) == -EINVAL);
	CHECK(engine_try(&x, ANNOTATED("{\"custody.wait\":\"soon\"}")) == -EINVAL);
	CHECK(engine_try(&x, ANNOTATED("{\"custody.worktree\":\"../x\"}")) == -EINVAL);
}

static void the_names_of_a_profile_have_an_order(void)
{
	struct engine_profile_choice c = { NULL, NULL, NULL, NULL };

	CHECK(str_eq(engine_profile_name(&c), "container"));
	c.configured = "a";
	CHECK(str_eq(engine_profile_name(&c), "a"));
	c.alias = "b";
	CHECK(str_eq(engine_profile_name(&c), "b"));
	c.option = "c";
	CHECK(str_eq(engine_profile_name(&c), "c"));
	c.annotation = "d";
	CHECK(str_eq(engine_profile_name(&c), "d") && str_eq(engine_profile_base(&c), "c"));
}

static void an_annotation_chooses_a_tighter_profile_only(void)
{
	_cleanup_profile_ struct profile *
		loose =
		       engine_profile("{\"schema\":1,\"name\":\"l\",\"container\":{\"network\":\"engine\"}}"),
	       *tight = engine_profile("{\"schema\":1,\"name\":\"t\"}");
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(loose && tight && engine_profile_require(loose, tight, &f) == 0);
	CHECK(engine_profile_require(tight, loose, &f) == -EPERM &&
	      strstr(fault_text(&f), "container.network"));
}

/* --- the switches ------------------------------------------------------------------------------------------------- */

static void GOV_8_without_isolation_nothing_is_tightened(void)
{
	static const char text[] =
		" {\"process\":{\"args\":[\"sh\"], "
		"\"cwd\":\"/\"},\"root\":{\"path\":\"r\"},\"linux\":{\"devices\":[{\"path\":"
		"\"/dev/sda\",\"type\":\"b\",\"major\":8,\"minor\":0}]}}\n";
	WITH;

	CHECK(engine_try_as(&x, text, ENGINE_ID, false) == 0);
	CHECK(str_eq(x.c.text, text) && x.c.len == strlen(text) && jdoc_equal(x.c.engine, x.c.merged));
	CHECK(!x.c.changes && x.c.layers == 0 && !x.c.facts.isolated);
	CHECK(x.c.document && !jdoc_get(x.c.document, "isolate")->boolean);
}

/* --- the subject ----------------------------------------------------------------------------------------------------- */

static void GOV_9_another_command_mount_or_variable_is_another_subject(void)
{
	static const char *const other[] = {
		CONFIG("[\"sh\",\"-c\"]", ENV, "[]", "{}", ""),
		CONFIG("[\"sh\"]", "\"env\":[\"PATH=/bin\",\"SECRET=y\"]", "[]", "{}", ""),
		CONFIG("[\"sh\"]", "\"env\":[\"PATH=/bin\",\"SECRET=x\",\"A\"]", "[]", "{}", ""),
		MOUNTS("[" BIND("/srv", "/x", "\"bind\",\"ro\"") "]"),
		ANNOTATED("{\"custody.worktree\":\"/srv\"}"),
		ANNOTATED("{\"custody.exec.allow\":\"[[\\\"sh\\\"]]\"}"),
		LINUX(",\"resources\":{\"memory\":{\"limit\":9999999}}"),
		LINUX(",\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"}"),
	};
	_cleanup_free_ char *plain = NULL;
	WITH;

	plain = digest_of(&x, PLAIN, ENGINE_ID, true);
	CHECK(plain && !strstr(plain, "\"x\""));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		_cleanup_free_ char *d = digest_of(&x, other[i], ENGINE_ID, true);

		CHECK(d && !str_eq(d, plain));
	}
}

static void GOV_9_noise_is_not_in_the_subject(void)
{
	static const char *const same[] = {
		CONFIG("[\"sh\"]", "\"terminal\":true,\"env\":[\"SECRET=x\",\"PATH=/bin\"]", "[]", "{}", ""),
		ANNOTATED("{\"io.kubernetes.cri-o.Created\":\"2026-01-01T00:00:00Z\",\"custody.wait\":\"1s\","
			  "\"custody.grant\":\"x\"}"),
		LINUX(",\"cgroupsPath\":\"/a/b\""),
		CONFIG("[\"sh\"]", "\"env\":[\"PATH=/bin\",\"SECRET=x\",\"HOSTNAME=0123456789ab\"]", "[]",
		       "{}", "") "",
	};
	_cleanup_free_ char *plain = NULL, *named = NULL;
	WITH;

	plain = digest_of(&x, PLAIN, ENGINE_ID, true);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(same); i++) {
		_cleanup_free_ char *d = digest_of(&x, same[i], ENGINE_ID, true);

		CHECK(d && str_eq(d, plain));
	}
	/* HOSTNAME is noise only together with that host name. */
	named = digest_of(&x, same[3], ENGINE_ID, true);
	CHECK(named && !str_eq(named, plain));
}

#define ENGINE_FILES(id)                              \
	"[" BIND("/run/e/" id "/hosts", "/etc/hosts", \
		 "\"bind\"") "," BIND("/run/e/" id "/resolv.conf", "/etc/resolv.conf", "\"bind\"") "]"
#define OTHER_ID "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

static void GOV_9_files_that_the_engine_makes_are_noise_and_no_others(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL, *c = NULL;
	WITH;

	a = digest_of(&x, MOUNTS(ENGINE_FILES(ENGINE_ID)), ENGINE_ID, true);
	CHECK(a && x.c.facts.n_rw == 1); /* "/": the fixture's root is no overlay */
	b = digest_of(&x, MOUNTS(ENGINE_FILES(OTHER_ID)), OTHER_ID, true);
	CHECK(b && str_eq(a, b));
	/* The id of another container, or a name that a person chose. */
	c = digest_of(&x, MOUNTS(ENGINE_FILES(OTHER_ID)), ENGINE_ID, true);
	CHECK(c && !str_eq(a, c) && x.c.facts.n_rw == 3);
	free(c);
	c = digest_of(&x, MOUNTS(ENGINE_FILES("web")), "web", true);
	CHECK(c && x.c.facts.n_rw == 3);
	/* Another file below the engine's directory is a mount like any other. */
	free(c);
	c = digest_of(&x, MOUNTS("[" BIND("/run/e/" ENGINE_ID "/hosts", "/etc/passwd", "\"bind\"") "]"),
		      ENGINE_ID, true);
	CHECK(c && x.c.facts.n_rw == 2);
}

/* A mount of SOURCE on /dev/shm, for a container or pod with the id OTHER_ID. */
#define SHM                                                                  \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/"                        \
	"w\"},\"root\":{\"path\":\"r\",\"readonly\":true},\"annotations\":{" \
	"\"io.kubernetes.cri.sandbox-id\":\"" OTHER_ID                       \
	"\"},\"mounts\":[{\"type\":\"bind\",\"source\":\"%s/" OTHER_ID       \
	"/shm\",\"destination\":\"/dev/shm\",\"options\":[\"bind\"]}],\"linux\":{" NAMESPACES "}}"

static void GOV_9_a_file_in_a_place_of_others_is_none_of_the_engine(void)
{
	char text[2048], dir[160], shm[192];
	WITH;

	(void)snprintf(dir, sizeof(dir), "%s/" OTHER_ID, x.dir);
	(void)snprintf(shm, sizeof(shm), "%s/shm", dir);
	(void)snprintf(text, sizeof(text), SHM, x.dir);
	CHECK(mkdir(dir, 0755) == 0 && mkdir(shm, 01777) == 0);
	CHECK(engine_try(&x, text) == 0 && x.c.facts.n_rw == 0);
	CHECK(chmod(x.dir, 0777) == 0 && engine_try(&x, text) == 0);
	CHECK(engine_caller_is_mapped() || x.c.facts.n_rw == 1);
	/* A link would lead anywhere: it is judged like any bind. */
	CHECK(chmod(x.dir, 0700) == 0 && rmdir(shm) == 0 && symlink("/etc", shm) == 0);
	CHECK(refuses(&x, text, "rw-root"));
	CHECK(unlink(shm) == 0 && rmdir(dir) == 0);
}

#define LABEL(text) CONFIG("[\"sh\"]", "\"selinuxLabel\":\"" text "\"," ENV, "[]", "{}", "")

static void GOV_9_drawn_categories_are_noise_and_no_ranges(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	WITH;

	a = digest_of(&x, LABEL("u:r:t:s0:c1,c2"), ENGINE_ID, true);
	b = digest_of(&x, LABEL("u:r:t:s0:c700,c9"), ENGINE_ID, true);
	c = digest_of(&x, LABEL("u:r:t:s0:c0.c1023"), ENGINE_ID, true);
	d = digest_of(&x, LABEL("u:r:t:s0-s0:c0.c1023"), ENGINE_ID, true);
	CHECK(a && b && c && d && str_eq(a, b) && !str_eq(a, c) && !str_eq(a, d));
}

static void GOV_9_mounts_are_sorted_unless_one_hides_another(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	WITH;

	a = digest_of(&x, MOUNTS("[" BIND("/srv/a", "/a", "") "," BIND("/srv/b", "/b", "") "]"), ENGINE_ID,
		      true);
	b = digest_of(&x, MOUNTS("[" BIND("/srv/b", "/b", "") "," BIND("/srv/a", "/a", "") "]"), ENGINE_ID,
		      true);
	CHECK(a && b && str_eq(a, b));
	c = digest_of(&x, MOUNTS("[" BIND("/srv/a", "/a", "") "," BIND("/srv/b", "/a/b", "") "]"), ENGINE_ID,
		      true);
	d = digest_of(&x, MOUNTS("[" BIND("/srv/b", "/a/b", "") "," BIND("/srv/a", "/a", "") "]"), ENGINE_ID,
		      true);
	CHECK(c && d && !str_eq(c, d));
}

static void GOV_9_the_program_of_the_image_is_in_the_subject(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	char path[128];
	int fd;
	WITH;

	/* valgrind 3.19 has no openat2, with which files are looked up in a root. */
	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	a = digest_of(&x, PLAIN, ENGINE_ID, true);
	CHECK(a && engine_text(x.c.document, "program.sha256") &&
	      str_eq(engine_text(x.c.document, "program.path"), "/bin/sh"));
	(void)snprintf(path, sizeof(path), "%s/bin/sh", x.rootfs);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "#!x\n", 4) == 4 && close(fd) == 0);
	b = digest_of(&x, PLAIN, ENGINE_ID, true);
	CHECK(b && !str_eq(a, b));
	/* Through PATH of the container only, and never out of its root. */
	CHECK(engine_try(&x, CONFIG("[\"sh\"]", "\"env\":[\"PATH=/nowhere\"]", "[]", "{}", "")) == 0);
	CHECK(jdoc_get(x.c.document, "program")->type == JDOC_NULL);
	CHECK(engine_try(&x, CONFIG("[\"/../../../../../../bin/sh\"]", ENV, "[]", "{}", "")) == 0);
	CHECK(engine_text(x.c.document, "program.sha256"));
}

static void LANE_3_the_lane_and_the_profile_are_in_the_subject(void)
{
	struct engine_container c = { 0 };
	_cleanup_free_ char *sandbox = NULL, *prod = NULL;
	WITH;

	sandbox = digest_of(&x, PLAIN, ENGINE_ID, true);
	{
		const struct engine_input in = { .text = PLAIN,
						 .len = strlen(PLAIN),
						 .id = ENGINE_ID,
						 .bundle = x.dir,
						 .rootfs = x.rootfs,
						 .lane = LANE_PROD,
						 .profile = x.profile,
						 .isolate = true };

		CHECK(engine_read(&in, &x.key, &c, NULL) == 0);
		prod = engine_written(c.document);
		engine_container_done(&c);
	}
	CHECK(sandbox && !str_eq(sandbox, prod));
	CHECK(str_eq(engine_text(x.c.document, "lane"), "sandbox") &&
	      engine_text(x.c.document, "profile.digest"));
}

static void secrets_of_the_command_are_not_in_the_subject(void)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	WITH;

	a = digest_of(&x, CONFIG("[\"sh\",\"--token=abcdefgh12345678\"]", ENV, "[]", "{}", ""), ENGINE_ID,
		      true);
	b = digest_of(&x, CONFIG("[\"sh\",\"--token=zzzzzzzz12345678\"]", ENV, "[]", "{}", ""), ENGINE_ID,
		      true);
	CHECK(a && b && !str_eq(a, b) && !strstr(a, "abcdefgh12345678") && strstr(a, "redacted"));
	CHECK(str_eq(x.c.argv[1], "--token=zzzzzzzz12345678"));
}

/* --- facts ------------------------------------------------------------------------------------------------------------ */

static char level_of(struct engine_fixture *x, const char *text)
{
	_cleanup_verdict_ struct verdict *v = NULL;

	if (engine_try(x, text) < 0)
		return '?';
	x->c.facts.security = SECURITY_BALANCED;
	x->c.facts.intention = INTENTION_EXPLICIT;
	return policy_decide(&x->c.facts, &v, NULL) == 0 ? v->level : '?';
}

static void GOV_16_only_a_container_without_network_and_binds_is_ephemeral(void)
{
	WITH;

	CHECK(level_of(&x, READONLY("[]", NAMESPACES)) == 'A');
	CHECK(x.c.facts.worktree_mode == POLICY_WORKTREE_EPHEMERAL &&
	      x.c.facts.network == POLICY_NETWORK_NONE && x.c.facts.n_rw == 0);
	CHECK(x.c.facts.isolated && x.c.facts.replaced && !x.c.facts.worktree_host);
	CHECK(level_of(&x, READONLY("[{\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"destination\":\"/w\"}]",
				    NAMESPACES)) == 'A');
	CHECK(level_of(&x, READONLY("[" BIND("/srv", "/w", "\"ro\"") "]", NAMESPACES)) == 'A');
	CHECK(level_of(&x, READONLY("[" BIND("/srv", "/w", "") "]", NAMESPACES)) > 'A');
	CHECK(x.c.facts.worktree_mode == POLICY_WORKTREE_RW && str_eq(x.c.facts.rw[0].source, "/srv"));
	CHECK(level_of(&x, READONLY("[" BIND("/srv", "/other", "") "]", NAMESPACES)) > 'A');
	CHECK(x.c.facts.worktree_mode == POLICY_WORKTREE_EPHEMERAL && x.c.facts.n_rw == 1);
	CHECK(level_of(&x, READONLY("[]", JOINED)) > 'A' && x.c.facts.network == POLICY_NETWORK_HOST);
	/* A root that is no overlay belongs to the host. */
	CHECK(level_of(&x, PLAIN) > 'A' && str_eq(x.c.facts.rw[0].target, "/"));
	/* A hook, or a user namespace of its own, may configure a network. */
	CHECK(engine_try(&x, READONLY("[]", NAMESPACES ",\"uidMappings\":[]")) == 0 &&
	      x.c.facts.network == POLICY_NETWORK_NONE);
}

/* --- pause ------------------------------------------------------------------------------------------------------------ */

#define POD "{\"io.kubernetes.cri.container-type\":\"sandbox\",\"custody.worktree\":\"/work\"}"
#define SANDBOX "{\"io.kubernetes.cri.container-type\":\"sandbox\"}"

static void a_pause_container_needs_more_than_the_annotation(void)
{
	static const char joined[] = "{\"process\":{\"args\":[\"/pause\"],\"cwd\":\"/"
				     "\"},\"root\":{\"path\":\"r\"},\"annotations\":" SANDBOX
				     ",\"linux\":{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/n/"
				     "x\"},{\"type\":\"network\"},{\"type\":"
				     "\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]}}";
	WITH;

	CHECK(engine_try(&x, CONFIG("[\"/pause\"]", ENV, "[]", SANDBOX, "")) == 0 && x.c.pause);
	CHECK(engine_at(x.c.merged, "root.readonly")->boolean);
	CHECK(engine_count(x.c.merged, "linux.seccomp.syscalls") == 1);
	CHECK(!engine_list_has(jdoc_get(engine_item(x.c.merged, "linux.seccomp.syscalls", 0), "names"),
			       "socket"));
	CHECK(!engine_list_has(jdoc_get(engine_item(x.c.merged, "linux.seccomp.syscalls", 0), "names"),
			       "clone"));
	CHECK(str_eq(x.c.worktree, "/"));
	CHECK(engine_try(&x, CONFIG("[\"/pause\"]", ENV, "[]", POD, "")) == 0 && x.c.pause &&
	      str_eq(x.c.worktree, "/"));
	CHECK(engine_try(&x, CONFIG("[\"/pause\"]", ENV, "[]", "{}", "")) == 0 && !x.c.pause);
	/* It could write into the memory of another container's processes. */
	CHECK(engine_try(&x, joined) == 0 && !x.c.pause);
	x.preserved = 1;
	CHECK(engine_try(&x, CONFIG("[\"/pause\"]", ENV, "[]", SANDBOX, "")) == 0 && !x.c.pause);
	x.preserved = 0;
	CHECK(engine_try(&x, CONFIG("[\"/pause\"]", ENV, "[" MOUNT("cgroup2", "/c", "") "]", SANDBOX, "")) ==
		      0 &&
	      !x.c.pause);
	CHECK(engine_try(&x, CONFIG("[\"/bin/sh\"]", ENV, "[]", SANDBOX, "")) == 0 && !x.c.pause);
	CHECK(engine_try(&x, CONFIG("[\"/pause\",\"x\"]", ENV, "[]", SANDBOX, "")) == 0 && !x.c.pause);
	CHECK(engine_try(&x, CONFIG("[\"/pause\"]", ENV, "[" BIND("/srv", "/pause", "\"ro\"") "]", SANDBOX,
				    "")) == 0 &&
	      !x.c.pause);
	CHECK(engine_try_as(&x, CONFIG("[\"/pause\"]", ENV, "[]", SANDBOX, ""), ENGINE_ID, false) == 0 &&
	      !x.c.pause);
}

TAP_MAIN(T(CARD_7_a_plain_configuration_is_tightened), T(CARD_7_namespaces_of_the_host_are_refused_by_name),
	 T(CARD_7_a_profile_may_require_a_user_namespace_and_no_network),
	 T(CARD_7_devices_and_sysctls_of_the_host_are_refused_by_name),
	 T(CARD_7_binds_of_the_hosts_system_need_the_word_of_custody_run),
	 T(CARD_7_file_systems_of_the_host_are_refused_by_their_type),
	 T(CARD_7_proc_and_sysfs_are_where_they_are_masked),
	 T(CARD_7_a_bind_is_judged_by_the_path_that_libcrun_takes), T(CARD_7_propagation_is_never_shared),
	 T(CARD_7_hooks_of_the_engine_stay_and_are_in_the_subject),
	 T(CARD_7_annotations_that_libcrun_obeys_are_refused), T(annotations_of_custody_are_read),
	 T(the_names_of_a_profile_have_an_order), T(an_annotation_chooses_a_tighter_profile_only),
	 T(GOV_8_without_isolation_nothing_is_tightened),
	 T(GOV_9_another_command_mount_or_variable_is_another_subject), T(GOV_9_noise_is_not_in_the_subject),
	 T(GOV_9_files_that_the_engine_makes_are_noise_and_no_others),
	 T(GOV_9_a_file_in_a_place_of_others_is_none_of_the_engine),
	 T(GOV_9_drawn_categories_are_noise_and_no_ranges),
	 T(GOV_8_what_reaches_the_host_without_a_mount_is_a_fact),
	 T(GOV_8_the_processes_of_another_container_are_within_reach),
	 T(GOV_8_a_socket_is_written_through_a_read_only_bind),
	 T(CARD_7_devices_are_denied_first_whatever_the_engine_denies), T(CARD_7_lists_have_a_largest_size),
	 T(GOV_9_mounts_are_sorted_unless_one_hides_another),
	 T(GOV_9_the_program_of_the_image_is_in_the_subject),
	 T(LANE_3_the_lane_and_the_profile_are_in_the_subject),
	 T(secrets_of_the_command_are_not_in_the_subject),
	 T(GOV_16_only_a_container_without_network_and_binds_is_ephemeral),
	 T(a_pause_container_needs_more_than_the_annotation))
