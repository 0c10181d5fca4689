/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/path.h"
#include "engine-fixture.h"
#include "oci/engine/engine-broker.h"
#include "oci/engine/engine-broker-files.h"
#include "oci/engine/engine-mount.h"
#include "tap.h"

/* USER, MOUNTS and more members of `linux`, whose namespaces are PIDS and those of every container. */
#define CONFIG(user, mounts, pids, more)                                                        \
	"{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/\",\"env\":[],\"user\":{" user              \
	"}},\"root\":{\"path\":\"r\"},\"mounts\":[" mounts "],\"linux\":{\"namespaces\":[" pids \
	"{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"}]" more "}}"
#define PID "{\"type\":\"pid\"},"
#define USERNS PID "{\"type\":\"user\"},"
#define PLAIN CONFIG("", "", PID, "")
#define MOUNT(type, source, target, options)                                         \
	"{\"type\":\"" type "\",\"source\":\"" source "\",\"destination\":\"" target \
	"\",\"options\":[" options "]}"
#define MAPS                                                                                      \
	",\"uidMappings\":[{\"containerID\":0,\"hostID\":100000,\"size\":1000},{\"containerID\":" \
	"1000,\"hostID\":5,\"size\":1}],\"gidMappings\":[{\"containerID\":0,\"hostID\":200000,"   \
	"\"size\":1000}]"

#define WITH                                                      \
	_cleanup_engine_fixture_ struct engine_fixture x = { 0 }; \
	_cleanup_jdoc_ struct jdoc *offer = jdoc_new_object();    \
	jdoc_set_string(offer, "marker", "tools");                \
	CHECK(engine_fixture_init(&x) && (x.broker = offer) != NULL)

static bool refuses(struct engine_fixture *x, const char *text, const char *words)
{
	int r = engine_try(x, text);

	if (r < 0 && strstr(fault_text(&x->f), words) && !x->c.merged && !x->c.broker.open)
		return true;
	printf("# %s\n# wanted %s\n", r < 0 ? fault_text(&x->f) : "accepted", words);
	return false;
}

static bool takes(struct engine_fixture *x, const char *text)
{
	if (engine_try(x, text) == 0 && x->c.broker.open)
		return true;
	printf("# %s\n", x->f.code ? fault_text(&x->f) : "no broker");
	return false;
}

/* In the image; a path that ends in "/" is a directory. */
static char *in_image(const struct engine_fixture *x, const char *name, char path[160])
{
	(void)snprintf(path, 160, "%s/%s", x->rootfs, name);
	return path;
}

static void CARD_7_the_directory_is_the_last_mount_and_read_only(void)
{
	const struct jdoc *m, *options;
	WITH;

	CHECK(takes(&x, CONFIG("", MOUNT("tmpfs", "tmpfs", "/tmp", ""), PID, "")));
	CHECK(engine_count(x.c.engine, "mounts") == 1 && engine_count(x.c.merged, "mounts") == 2);
	CHECK(x.c.broker.mount == 1);
	m = engine_item(x.c.merged, "mounts", 1);
	options = jdoc_get(m, "options");
	CHECK(str_eq(engine_text(m, "destination"), "/run/custody"));
	CHECK(str_eq(engine_text(m, "source"), "/run/custody"));
	CHECK(engine_mount_is_bind(m) && engine_mount_is_readonly(m));
	CHECK(engine_list_has(options, "nosuid") && engine_list_has(options, "nodev"));
	CHECK(!engine_list_has(options, "rbind") && strstr(x.c.text, "\"/run/custody\""));
	CHECK(x.c.facts.broker_tool && x.c.facts.n_rw == 1);
	/* Without a broker nothing of it is there. */
	x.broker = NULL;
	CHECK(engine_try(&x, PLAIN) == 0 && !x.c.broker.open && !x.c.facts.broker_tool);
	CHECK(engine_count(x.c.merged, "mounts") == 0 && !jdoc_get(x.c.document, "broker"));
}

static void GOV_9_what_it_offers_is_in_the_subject(void)
{
	_cleanup_free_ char *before = NULL, *after = NULL, *again = NULL;
	WITH;

	CHECK(takes(&x, PLAIN));
	before = engine_written(x.c.document);
	CHECK(strstr(before, "\"broker\":{\"marker\":\"tools\"}") && strstr(before, "\"(broker)\""));
	CHECK(takes(&x, PLAIN));
	again = engine_written(x.c.document);
	CHECK(str_eq(before, again));
	jdoc_set_string(offer, "marker", "other tools");
	CHECK(takes(&x, PLAIN));
	after = engine_written(x.c.document);
	CHECK(!str_eq(before, after));
}

static void CARD_7_mounts_of_the_engine_at_its_place_are_refused(void)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ CONFIG("", MOUNT("bind", "/srv", "/run/custody", "\"bind\""), PID, ""), "is the broker's" },
		{ CONFIG("", MOUNT("tmpfs", "tmpfs", "/run/custody/x", ""), PID, ""), "is the broker's" },
		{ CONFIG("", MOUNT("tmpfs", "tmpfs", "/var/run/custody", ""), PID, ""), "is the broker's" },
		{ CONFIG("", MOUNT("bind", "/srv", "/run", "\"rbind\""), PID, ""), "'/run'" },
		{ CONFIG("", MOUNT("bind", "/srv", "/run/", "\"bind\",\"ro\""), PID, ""), "'/run'" },
		{ CONFIG("", MOUNT("bind", "/srv", "/var/run", "\"bind\""), PID, ""), "outside" },
		{ CONFIG("", MOUNT("tmpfs", "tmpfs", "/run", "\"ro\""), PID, ""), "read-only" },
		{ CONFIG("", "", PID, ",\"maskedPaths\":[\"/run\"]"), "hides" },
		{ CONFIG("", "", PID, ",\"maskedPaths\":[\"/var/run/custody/token\"]"), "hides" },
		{ CONFIG("", "", PID, ",\"readonlyPaths\":[\"/run/custody\"]"), "hides" },
	};
	WITH;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK(refuses(&x, cases[i].text, cases[i].words));
	CHECK(refuses(&x,
		      "{\"process\":{\"args\":[\"sh\"],\"cwd\":\"/var/run/custody/\"},\"root\":{\"path\":"
		      "\"r\"},\"linux\":{\"namespaces\":[" PID "{\"type\":\"network\"},{\"type\":\"ipc\"},{"
		      "\"type\":\"uts\"},{\"type\":\"mount\"}]}}",
		      "the worktree '/var/run/custody'"));
	CHECK(takes(&x, CONFIG("", MOUNT("tmpfs", "tmpfs", "/run", "\"nosuid\""), PID, "")));
	CHECK(takes(&x, CONFIG("", MOUNT("bind", "/srv", "/runner", "\"bind\""), PID, "")));
	CHECK(takes(&x, CONFIG("", MOUNT("bind", "/srv", "/run/custody2", "\"bind\",\"ro\""), PID, "")));
}

static void CARD_7_an_image_with_another_directory_there_is_refused(void)
{
	char path[160], below[160];
	WITH;

	CHECK(symlink("/tmp", in_image(&x, "run", path)) == 0);
	CHECK(refuses(&x, PLAIN, "'/run' of the image is no directory"));
	/* The image's is not seen below a tmpfs. */
	CHECK(takes(&x, CONFIG("", MOUNT("tmpfs", "tmpfs", "/run", ""), PID, "")));
	CHECK(unlink(path) == 0 && mkdir(path, 0755) == 0 && takes(&x, PLAIN));
	CHECK(symlink("/tmp", in_image(&x, "run/custody", below)) == 0);
	CHECK(refuses(&x, PLAIN, "'/run/custody' of the image is no directory"));
	CHECK(unlink(below) == 0 && mkdir(below, 0700) == 0 && takes(&x, PLAIN));
	CHECK(mkdir(in_image(&x, "run/custody/x", path), 0700) == 0);
	CHECK(refuses(&x, PLAIN, "is not empty"));
	CHECK(rmdir(path) == 0 && rmdir(below) == 0 && rmdir(in_image(&x, "run", path)) == 0);
}

static void ISO_8_the_socket_belongs_to_the_user_of_the_process_by_the_map_of_its_namespace(void)
{
	WITH;

	CHECK(takes(&x, CONFIG("\"uid\":7,\"gid\":8", "", PID, "")) && x.c.broker.uid == 7 &&
	      x.c.broker.gid == 8);
	CHECK(takes(&x, CONFIG("\"uid\":7,\"gid\":8", "", USERNS, MAPS)) && x.c.broker.uid == 100007 &&
	      x.c.broker.gid == 200008);
	CHECK(takes(&x, CONFIG("\"uid\":1000,\"gid\":0", "", USERNS, MAPS)) && x.c.broker.uid == 5);
	CHECK(refuses(&x, CONFIG("\"uid\":1000,\"gid\":1000", "", USERNS, MAPS), "has no id outside"));
	CHECK(refuses(&x, CONFIG("\"uid\":1001,\"gid\":0", "", USERNS, MAPS), "has no id outside"));
	CHECK(refuses(&x, CONFIG("\"uid\":0,\"gid\":0", "", USERNS, ""), "has no id outside"));
	CHECK(refuses(&x,
		      CONFIG("\"uid\":0,\"gid\":0", "",
			     PID "{\"type\":\"user\",\"path\":\"/nonexistent/ns\"},", MAPS),
		      "a user namespace that the container joins"));
}

static void ISO_8_a_container_without_a_cgroup_and_a_pid_namespace_is_refused(void)
{
	WITH;

	CHECK(takes(&x, PLAIN) && !x.c.broker.pid_shared && str_eq(x.c.broker.cgroup, "/" ENGINE_ID));
	CHECK(takes(&x, CONFIG("", "", PID, ",\"cgroupsPath\":\"/a/b/\"")) &&
	      str_eq(x.c.broker.cgroup, "/a/b"));
	CHECK(takes(&x, CONFIG("", "", PID, ",\"cgroupsPath\":\"/\"")) &&
	      str_eq(x.c.broker.cgroup, "/" ENGINE_ID));
	CHECK(takes(&x, CONFIG("", "", PID, ",\"cgroupsPath\":\"machine.slice:libpod:1\"")) &&
	      str_eq(x.c.broker.cgroup, "/libpod-1.scope"));
	CHECK(takes(&x, CONFIG("", "", PID, ",\"cgroupsPath\":\"machine.slice::1\"")) &&
	      str_eq(x.c.broker.cgroup, "/1.scope"));
	CHECK(takes(&x, CONFIG("", "", "{\"type\":\"pid\",\"path\":\"/nonexistent/ns\"},", "")) &&
	      x.c.broker.pid_shared);
	x.no_cgroup = true;
	CHECK(takes(&x, PLAIN));
	CHECK(refuses(&x, CONFIG("", "", "{\"type\":\"pid\",\"path\":\"/nonexistent/ns\"},", ""),
		      "neither a cgroup nor a pid namespace"));
}

static void ISO_8_no_tool_may_be_where_the_command_can_write(void)
{
	char place[64] = "/tmp/custody-place-XXXXXX", link[80], text[1024];
	WITH;

	CHECK(mkdtemp(place));
	(void)snprintf(link, sizeof(link), "%s/link", place);
	CHECK(symlink("/tmp", link) == 0);
	(void)snprintf(text, sizeof(text),
		       CONFIG("",
			      MOUNT("bind", "%s", "/a", "\"bind\"") "," MOUNT(
				      "bind", "%s", "/b", "\"bind\",\"ro\"") "," MOUNT("bind", "%s", "/c",
										       "\"bind\""),
			      PID, ""),
		       place, "/srv", link);
	CHECK(takes(&x, text));
	CHECK(strv_has(x.c.broker.places, place) && strv_has(x.c.broker.places, "/tmp"));
	CHECK(strv_has(x.c.broker.places, x.rootfs) && !strv_has(x.c.broker.places, "/srv"));
	CHECK(unlink(link) == 0 && rmdir(place) == 0);
}

static bool has_mode(int dir, const char *name, mode_t mode, uid_t uid)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mode == mode && st.st_uid == uid;
}

static bool put_program(const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);
	_cleanup_close_ int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755) : -1;

	return fd >= 0 && write(fd, name, strlen(name)) > 0;
}

static bool remove_programs(const char *dir)
{
	_cleanup_free_ char *call = path_join(dir, "custody-call"), *mcp = path_join(dir, "custody-mcp");

	return call && mcp && unlink(call) == 0 && unlink(mcp) == 0 && rmdir(dir) == 0;
}

static void ISO_8_the_files_have_their_modes_and_owner_and_are_mounted_nowhere(void)
{
	const struct engine_broker b = { .open = true, .uid = 7, .gid = 8 };
	struct engine_broker_files files = ENGINE_BROKER_FILES_NONE;
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_close_ int fd = -EBADF;
	char libexec[] = "/tmp/custody-engine-XXXXXX";
	struct digest digest;
	char token[128];
	ssize_t n;
	int r;

	CHECK(engine_broker_files_make(&b, "/nonexistent", &files, &f) < 0 && files.mount < 0);
	fault_done(&f);
	f = (struct fault){ 0 };
	CHECK(mkdtemp(libexec));
	CHECK(put_program(libexec, "custody-call"));
	if (geteuid() == 0)
		CHECK(engine_broker_files_make(&b, libexec, &files, &f) < 0 && files.mount < 0);
	fault_done(&f);
	f = (struct fault){ 0 };
	CHECK(put_program(libexec, "custody-mcp"));
	r = engine_broker_files_make(&b, libexec, &files, &f);
	CHECK(remove_programs(libexec));
	/* A user, valgrind, a user namespace without these ids. */
	if (r == -EPERM || r == -ENOSYS || r == -EINVAL) {
		printf("# %s\n", fault_text(&f));
		return;
	}
	CHECK(r == 0 && files.socket >= 0);
	CHECK(has_mode(files.mount, ".", S_IFDIR | 0700, 7));
	CHECK(has_mode(files.mount, "broker.sock", S_IFSOCK | 0600, 7));
	CHECK(has_mode(files.mount, "token", S_IFREG | 0400, 7));
	CHECK(has_mode(files.mount, "custody-call", S_IFREG | 0555, geteuid()));
	CHECK(has_mode(files.mount, "custody-mcp", S_IFREG | 0555, geteuid()));
	fd = openat(files.mount, "token", O_RDONLY | O_CLOEXEC);
	n = read(fd, token, sizeof(token));
	CHECK(n == 64);
	digest_bytes(token, (size_t)n, &digest);
	CHECK(digest_equal(&digest, &files.token));
	engine_broker_files_done(&files);
	CHECK(files.mount < 0 && files.socket < 0);
}

TAP_MAIN(T(CARD_7_the_directory_is_the_last_mount_and_read_only), T(GOV_9_what_it_offers_is_in_the_subject),
	 T(CARD_7_mounts_of_the_engine_at_its_place_are_refused),
	 T(CARD_7_an_image_with_another_directory_there_is_refused),
	 T(ISO_8_the_socket_belongs_to_the_user_of_the_process_by_the_map_of_its_namespace),
	 T(ISO_8_a_container_without_a_cgroup_and_a_pid_namespace_is_refused),
	 T(ISO_8_no_tool_may_be_where_the_command_can_write),
	 T(ISO_8_the_files_have_their_modes_and_owner_and_are_mounted_nowhere))
