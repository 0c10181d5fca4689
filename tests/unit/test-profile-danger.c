/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "layer/layer.h"
#include "profile-fixture.h"
#include "tap.h"

static bool is_word(const char *path, bool rw, const char *word)
{
	const char *found = profile_path_danger(path, rw, "/home/ann");

	if (str_eq(found, word))
		return true;
	printf("# %s %s: %s, wanted %s\n", rw ? "rw" : "ro", path, found ? found : "nothing",
	       word ? word : "nothing");
	return false;
}

static void the_system_is_not_written(void)
{
	CHECK(is_word("/", true, "rw-root"));
	CHECK(is_word("/etc", true, "rw-root") && is_word("/etc/cron.d", true, "rw-root"));
	CHECK(is_word("/usr/bin", true, "rw-root") && is_word("/var", true, "rw-root"));
	CHECK(is_word("/etc", false, NULL) && is_word("/usr", false, NULL));
	CHECK(is_word("/var/lib/app", true, NULL) && is_word("/opt/app", true, NULL) &&
	      is_word("/srv", true, NULL));
	CHECK(is_word("/etcetera", true, NULL));
}

static void a_home_is_not_written(void)
{
	CHECK(is_word("/home/ann", true, "rw-home") && is_word("/home", true, "rw-home"));
	CHECK(is_word("/home/ann/.ssh", true, "rw-home") && is_word("/home/ann/.ssh/id", true, "rw-home"));
	CHECK(is_word("/home/ann/.config", true, "rw-home") && is_word("/home/ann/.bashrc", true, "rw-home"));
	CHECK(is_word("/home/ann/.config/custody/profiles", true, "rw-home"));
	CHECK(is_word("/home/ann/src", true, NULL) && is_word("/home/ann/.config/app", true, NULL));
	CHECK(is_word("/home/bob", true, "rw-home") && is_word("/root", true, "rw-home"));
	CHECK(is_word("/home/bob/src", true, NULL) && is_word("/home/ann", false, NULL));
}

static void engine_sockets_are_not_reached_even_read_only(void)
{
	static const char *const paths[] = {
		"/run/docker.sock",
		"/var/run/docker.sock",
		"/run",
		"/var/run",
		"/",
		"/run/podman/podman.sock",
		"/run/containerd",
		"/run/containerd/s/1",
		"/run/crio/crio.sock",
		"/run/buildkit/buildkitd.sock",
		"/run/user",
		"/run/user/1000",
		"/run/user/1000/podman/podman.sock",
		"/run/user/1000/bus",
		"/var/run/user/7/docker.sock",
		"/var/run/podman",
		"/var/run/podman/podman.sock",
		"/var/run/containerd",
		"/var/run/containerd/containerd.sock.ttrpc",
		"/var/run/containerd/s/1",
		"/var/run/dbus/system_bus_socket",
		"/var/run/systemd/private",
		"/var/run/user/7/bus",
		"/var/run/user/7/podman",
		"/srv/x/docker.sock",
		"/run/dbus/system_bus_socket",
		"/var",
		"/home/ann/.docker/run/docker.sock",
		"/home/ann/.docker",
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		CHECK(is_word(paths[i], false, "engine-socket"));
	CHECK(is_word("/var/run/app", false, NULL) && is_word("/var/runner/podman", false, NULL));
	CHECK(is_word("/run/app", false, NULL) && is_word("/run/user/1000/app", false, NULL));
	CHECK(is_word("/srv/docker.socket", false, NULL) && is_word("/runner", false, NULL));
}

static void refusals_name_the_word_and_its_meaning(void)
{
	/* The host's root, or its group, by number. */
	static const char *const zero_users[] = { "root", "0", "00", "0:0", "0:7", "7:0" };

	CHECK(is_refused(HEAD ",\"filesystem\":{\"rw\":[\"/\"],\"ro\":[]},\"workspace\":{\"target\":\"/w\"}}",
			 ""));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"rw\":[\"/:/host\"]}}", "add \"rw-root\" to 'dangerous'"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"rw\":[\"${home}\"]}}", "add \"rw-home\" to 'dangerous'"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"rw\":[\"${home}\"]}}", "shell start-up"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/run/docker.sock\"]}}", "add \"engine-socket\""));
	CHECK(is_refused(HEAD ",\"network\":{\"mode\":\"host\"}}", "add \"host-network\""));
	CHECK(is_refused(HEAD ",\"network\":{\"hosts\":[{\"host\":\"*\"}]}}", "add \"any-host\""));
	CHECK(is_refused(HEAD ",\"network\":{\"hosts\":[{\"host\":\"**.com\"}]}}", "add \"any-host\""));
	CHECK(is_refused(HEAD ",\"dangerous\":[\"no-user-namespace\"]}", "add \"host-root\""));
	for (size_t i = 0; i < ARRAY_SIZE(zero_users); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 HEAD ",\"dangerous\":[\"no-user-namespace\"],\"process\":{\"user\":\"%s\"}}",
			 zero_users[i]);
		CHECK(is_refused(text, "add \"host-root\""));
	}
}

static void each_danger_needs_its_own_entry(void)
{
	CHECK(is_refused(HEAD ",\"dangerous\":[\"rw-home\"],\"filesystem\":{\"rw\":[\"/:/host\"]}}",
			 "rw-root"));
	CHECK(is_refused(HEAD ",\"dangerous\":[\"rw-root\"],\"filesystem\":{\"rw\":[\"/:/host\"]}}",
			 "engine-socket"));
	CHECK(is_accepted(HEAD ",\"dangerous\":[\"rw-root\",\"engine-socket\",\"rw-home\"],\"filesystem\":{"
			       "\"rw\":[\"/:/host\"]}}"));
	CHECK(is_accepted(HEAD ",\"dangerous\":[\"rw-home\"],\"filesystem\":{\"rw\":[\"${home}\"]}}"));
	CHECK(is_accepted(HEAD ",\"dangerous\":[\"host-network\"],\"network\":{\"mode\":\"host\"}}"));
	CHECK(is_accepted(HEAD ",\"dangerous\":[\"no-user-namespace\",\"host-root\"]}"));
	CHECK(is_accepted(HEAD
			  ",\"dangerous\":[\"no-user-namespace\"],\"process\":{\"user\":\"1000:1000\"}}"));
}

static void the_worktree_is_judged_like_any_path(void)
{
	struct profile_vars at_home = vars;
	static const char rw[] = HEAD ",\"workspace\":{\"mode\":\"rw\"}}", overlay[] = HEAD "}";
	_cleanup_profile_ struct profile *p = NULL, *q = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	at_home.cwd = at_home.home;
	CHECK(profile_parse(rw, strlen(rw), "t", &at_home, &p, &f) < 0 && strstr(fault_text(&f), "rw-home"));
	CHECK(profile_parse(overlay, strlen(overlay), "t", &at_home, &q, NULL) == 0);
	CHECK(is_refused(HEAD ",\"workspace\":{\"mode\":\"ro\",\"source\":\"/run\"}}", "engine-socket"));
	CHECK(is_accepted(HEAD ",\"workspace\":{\"mode\":\"tmpfs\",\"source\":\"/run\"}}"));
	CHECK(is_refused(HEAD ",\"root\":{\"type\":\"dir\",\"path\":\"/\"}}", "engine-socket"));
	CHECK(is_refused(HEAD ",\"root\":{\"paths\":[\"/run\"]}}", "engine-socket"));
}

static void an_entry_that_is_not_needed_is_accepted(void)
{
	CHECK(is_accepted(HEAD ",\"dangerous\":[\"rw-root\",\"rw-home\",\"engine-socket\",\"host-root\","
			       "\"host-network\"]}"));
}

static void each_layer_can_be_switched_off_by_name_and_only_that(void)
{
	for (int i = 0; i < _LAYER_MAX; i++) {
		_cleanup_profile_ struct profile *p = NULL;
		char text[256];

		snprintf(text, sizeof(text), HEAD ",\"dangerous\":[\"host-root\",\"no-%s\"]}",
			 layer_info((enum layer)i)->name);
		CHECK(parse(text, &p, NULL) == 0);
		CHECK(p->layers == ((LAYER_BIT(_LAYER_MAX) - 1) & ~LAYER_BIT(i)));
	}
}

static void the_host_s_network_is_no_namespace(void)
{
	_cleanup_profile_ struct profile *p = NULL, *q = NULL;

	CHECK(parse(HEAD ",\"dangerous\":[\"host-network\"],\"network\":{\"mode\":\"host\"}}", &p, NULL) ==
	      0);
	CHECK(p->network == PROFILE_NETWORK_HOST && !(p->layers & LAYER_BIT(LAYER_NET_NS)));
	CHECK(parse(HEAD ",\"dangerous\":[\"no-network-namespace\"]}", &q, NULL) == 0);
	CHECK(q->network == PROFILE_NETWORK_HOST);
}

TAP_MAIN(T(the_system_is_not_written), T(a_home_is_not_written),
	 T(engine_sockets_are_not_reached_even_read_only), T(refusals_name_the_word_and_its_meaning),
	 T(each_danger_needs_its_own_entry), T(the_worktree_is_judged_like_any_path),
	 T(an_entry_that_is_not_needed_is_accepted), T(each_layer_can_be_switched_off_by_name_and_only_that),
	 T(the_host_s_network_is_no_namespace))
