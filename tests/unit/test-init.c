/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "layer/layer.h"
#include "tap.h"
#include "init/init-facts.h"
#include "init/init-options.h"
#include "init/init-request.h"

/* What init reads of the kernel, and its command line: texts of many hosts, without any of them. */

static const char status_text[] =
	"Name:\tcustody-init\nState:\tR (running)\nSigQ:\t0/96350\n"
	"SigIgn:\t0000000000001000\nSigCgt:\t0000000000000000\n"
	"CapInh:\t0000000000000001\nCapPrm:\t0000000000000002\nCapEff:\t000001fffeffffff\n"
	"CapBnd:\t0000000000000004\nCapAmb:\t0000000000000008\nNoNewPrivs:\t1\n"
	"Seccomp:\t2\nSeccomp_filters:\t3\nSpeculation_Store_Bypass:\tvulnerable\n";

static void status_is_read(void)
{
	struct facts_status s;

	facts_parse_status(status_text, &s);
	CHECK(s.complete);
	CHECK(s.sig_ign == 0x1000);
	CHECK(s.cap_inh == 1 && s.cap_prm == 2 && s.cap_eff == 0x1fffeffffff && s.cap_bnd == 4 &&
	      s.cap_amb == 8);
	CHECK(s.no_new_privs == 1 && s.seccomp == 2 && s.seccomp_filters == 3);
}

static void status_without_a_field_is_not_complete(void)
{
	static const char *const fields[] = { "SigIgn:", "CapInh:", "CapPrm:",	   "CapEff:",
					      "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:" };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char text[sizeof(status_text)];
		struct facts_status s;

		memcpy(text, status_text, sizeof(text));
		*strstr(text, fields[i]) = 'X';
		facts_parse_status(text, &s);
		CHECK(!s.complete);
	}
	struct facts_status empty;
	facts_parse_status("", &empty);
	CHECK(!empty.complete);
}

static void name_of_the_process_cannot_pose_as_a_field(void)
{
	char text[sizeof(status_text) + 64] = "Name:\tx\\nSeccomp:\t2\n";
	struct facts_status s;

	strcat(text, strstr(status_text, "State"));
	*strstr(strstr(text, "CapAmb"), "Seccomp:\t2") = 'X';
	facts_parse_status(text, &s);
	CHECK(!s.complete);
}

static void id_map_is_read(void)
{
	struct facts_map m;

	CHECK(facts_parse_map("         0 1879048192      65536\n", &m));
	CHECK(m.inside == 0 && m.outside == 1879048192 && m.count == 65536);
	CHECK(!facts_parse_map("", &m));
	CHECK(!facts_parse_map("nothing", &m));
}

static void a_map_must_be_the_requested_one_in_all_extents(void)
{
	static const char two[] = "         0       1000          1\n         1     100000      65535\n";

	CHECK(facts_map_is(two, "0:1000:1,1:100000:65535"));
	CHECK(facts_map_is("0 1879048192 65536\n", "0:1879048192:65536"));
	CHECK(!facts_map_is(two, "0:1000:1"));
	CHECK(!facts_map_is("0 1000 1\n", "0:1000:1,1:100000:65535"));
	CHECK(!facts_map_is(two, "0:1000:1,1:100000:65534"));
	CHECK(!facts_map_is(two, "0:1000:1,1:100001:65535"));
	CHECK(!facts_map_is(two, "1:100000:65535,0:1000:1"));
	CHECK(!facts_map_is(two, "0:1000:1,"));
	CHECK(!facts_map_is(two, "") && !facts_map_is("", "0:1000:1"));
}

static void cgroup_paths_must_all_be_the_root(void)
{
	const char *path;
	size_t len;

	CHECK(facts_cgroup_is_root("0::/\n", &path, &len));
	CHECK(facts_cgroup_is_root("9:name=systemd:/\n4:memory:/\n1:cpu,cpuacct:/\n0::/\n", &path, &len));
	CHECK(!facts_cgroup_is_root("4:memory:/\n0::/user.slice\n", &path, &len));
	CHECK(len == strlen("/user.slice") && strncmp(path, "/user.slice", len) == 0);
	CHECK(!facts_cgroup_is_root("0::/../..\n", &path, &len));
	CHECK(!facts_cgroup_is_root("", &path, &len));
	CHECK(!facts_cgroup_is_root("garbage\n", &path, &len));
}

static void mounts_are_read_with_tags_escapes_and_empty_sources(void)
{
	char text[] = "85 63 254:0 /tmp/root / ro,relatime - ext4 /dev/vda rw,discard\n"
		      "86 85 0:40 / /a\\040b\\134c rw,nosuid shared:7 master:3 - overlay  rw,lowerdir=/x\n"
		      "87 85 0:41 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k";
	struct facts_mount m;
	bool broken = false;
	char *at = text;

	CHECK(facts_next_mount(&at, &m, &broken));
	CHECK(strcmp(m.point, "/") == 0 && strcmp(m.root, "/tmp/root") == 0 && strcmp(m.tags, "") == 0);
	CHECK(strcmp(m.fstype, "ext4") == 0 && strcmp(m.super, "rw,discard") == 0);
	CHECK(facts_has_word(m.flags, "ro") && !facts_has_word(m.flags, "rel") &&
	      !facts_has_word(m.flags, "nosuid"));
	CHECK(facts_next_mount(&at, &m, &broken));
	CHECK(strcmp(m.point, "/a b\\c") == 0);
	CHECK(strncmp(m.tags, "shared:7 master:3", 17) == 0);
	CHECK(strcmp(m.source, "") == 0 && strcmp(m.super, "rw,lowerdir=/x") == 0);
	CHECK(facts_next_mount(&at, &m, &broken));
	CHECK(strcmp(m.fstype, "tmpfs") == 0);
	CHECK(!facts_next_mount(&at, &m, &broken) && !broken);
}

static void mount_line_that_is_cut_off_is_not_passed_over(void)
{
	static const char whole[] = "86 85 0:40 / /proc rw,nosuid - proc proc rw\n";

	/* Anything shorter than up to the last field's first character. */
	for (size_t len = 1; len < sizeof(whole) - 4; len++) {
		char text[sizeof(whole)] = "";
		struct facts_mount m;
		bool broken = false;
		char *at = text;

		memcpy(text, whole, len);
		CHECK(!facts_next_mount(&at, &m, &broken));
		CHECK(broken);
	}
}

static void below_means_whole_names(void)
{
	CHECK(facts_is_below("/proc/sys", "/proc"));
	CHECK(facts_is_below("/proc", "/proc"));
	CHECK(!facts_is_below("/procfs", "/proc"));
	CHECK(facts_is_below("/x", "/"));
}

static void lines_are_cut_never_overrun_and_never_obeyed(void)
{
	char small[8];
	struct line l = LINE(small);
	char number[64];
	struct line n = LINE(number);

	line_put(&l, "abc\033[1mdefghijk");
	CHECK(strcmp(small, "abc?[1m") == 0);
	line_put_num(&n, -120);
	line_put(&n, " ");
	line_put_hex(&n, 0x1f);
	line_put(&n, " ");
	line_put_errno(&n, EROFS);
	line_put(&n, " ");
	line_put_errno(&n, 4000);
	CHECK(strcmp(number, "-120 000000000000001f EROFS errno 4000") == 0);
}

/* Options are parsed in writable memory, as argv is, and borrow from it. */
static int parse(struct init_options *o, char *why, size_t room, const char *const *words)
{
	static char arena[16][64];
	static char *argv[17];
	char *env[] = { NULL };
	struct line w = { .text = why, .room = room };

	why[0] = '\0';
	memset(argv, 0, sizeof(argv));
	for (size_t i = 0; words[i] && i < 16; i++) {
		snprintf(arena[i], sizeof(arena[i]), "%s", words[i]);
		argv[i] = arena[i];
	}
	*o = (struct init_options){ 0 };
	return options_parse(argv, env, o, &w);
}

#define WORDS(...) ((const char *const[]){ "custody-init", __VA_ARGS__, NULL })

static void options_are_read(void)
{
	struct init_options o;
	char why[256];

	CHECK(parse(&o, why, sizeof(why),
		    WORDS("--report", "--tty=02", "--plain-root", "--work=/a:b:overlay", "--tmpfs=/tmp",
			  "--rw=/data", "--env=PATH,HOME", "--time=90:5", "--", "cmd", "--report")) == 0);
	CHECK(o.report && o.tty == 5 && o.plain_root && o.work == INIT_WORK_OVERLAY &&
	      strcmp(o.work_path, "/a:b") == 0);
	CHECK(o.n_tmpfs == 1 && strcmp(o.tmpfs[0], "/tmp") == 0 && o.n_rw == 1 &&
	      strcmp(o.rw[0], "/data") == 0);
	CHECK(strcmp(o.env, "PATH,HOME") == 0 && o.time_ms == 90000 && o.grace_ms == 5000);
	CHECK(strcmp(o.command[0], "cmd") == 0 && strcmp(o.command[1], "--report") == 0 && !o.command[2]);
	CHECK(parse(&o, why, sizeof(why), WORDS("--require=seccomp,user-namespace", "--", "x")) == 0);
	CHECK(o.require == (LAYER_BIT(LAYER_SECCOMP) | LAYER_BIT(LAYER_USER_NS)));
}

#define FIB_LO                                                                                \
	"  +-- 0.0.0.0/0 2 0 2\n     +-- 127.0.0.0/8 2 0 2\n        +-- 127.0.0.0/31 1 0 0\n" \
	"           |-- 127.0.0.0\n              /8 host LOCAL\n           |-- 127.0.0.1\n"   \
	"              /32 host LOCAL\n        |-- 127.255.255.255\n           /32 link BROADCAST\n"
#define FIB_OWN "     |-- 198.18.0.0\n        /15 host LOCAL\n"

static bool own_routes(const char *text)
{
	const char *bad;
	size_t len;

	return facts_has_only_own_routes(text, &bad, &len);
}

static void DOOR_3_any_other_device_or_route_is_seen(void)
{
	static const char head[] = "Inter-|   Receive\n face |bytes    packets errs\n";
	char dev[512];

	CHECK(own_routes("Main:\n" FIB_LO FIB_OWN "Local:\n" FIB_LO FIB_OWN));
	CHECK(!own_routes("Main:\n" FIB_LO "Local:\n" FIB_LO));
	CHECK(!own_routes(FIB_LO FIB_OWN "     |-- 0.0.0.0\n        /0 universe UNICAST\n"));
	CHECK(!own_routes(FIB_LO FIB_OWN "     |-- 10.0.0.2\n        /32 host LOCAL\n"));
	CHECK(!own_routes(FIB_LO "     |-- 198.18.0.0\n        /15 link UNICAST\n"));
	CHECK(!own_routes(FIB_LO FIB_OWN "        /15 universe UNICAST\n"));
	CHECK(!own_routes(FIB_LO "     |-- 198.18.0.0\n        /14 host LOCAL\n"));
	CHECK(!own_routes(""));
	(void)snprintf(dev, sizeof(dev), "%s    lo:       0       0\n", head);
	CHECK(facts_has_only_loopback(dev));
	(void)snprintf(dev, sizeof(dev), "%s    lo:       0       0\n  eth0:     0\n", head);
	CHECK(!facts_has_only_loopback(dev));
	(void)snprintf(dev, sizeof(dev), "%s  lo0:     0\n", head);
	CHECK(!facts_has_only_loopback(dev));
	CHECK(!facts_has_only_loopback(head));
	CHECK(facts_has_no_ipv6_route(
		"00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
		"00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n"
		"00000000000000000000000000000001 80 00000000000000000000000000000000 00 "
		"00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo\n"));
	CHECK(facts_has_no_ipv6_route(""));
	CHECK(!facts_has_no_ipv6_route(
		"00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
		"00000000000000000000000000000000 00000400 00000001 00000000 00000001       lo\n"));
	CHECK(!facts_has_no_ipv6_route(
		"00000000000000000000000000000001 80 00000000000000000000000000000000 00 "
		"00000000000000000000000000000000 00000000 00000002 00000000 80200001     eth0\n"));
}

static void options_that_are_not_understood_are_refused_by_name(void)
{
	static const struct {
		const char *word, *says;
	} bad[] = {
		{ "--reportx", "unknown option" },
		{ "--require=seccom", "seccom" },
		{ "--require=memory-limit", "inside" },
		{ "--work=/x", "PATH:MODE" },
		{ "--work=x:ro", "PATH:MODE" },
		{ "--work=/x:ephemeral", "ephemeral" },
		{ "--tmpfs=tmp", "absolute" },
		{ "--rw=", "absolute" },
		{ "--time=5", "SECONDS" },
		{ "--time=5:x", "SECONDS" },
		{ "--time=:5", "SECONDS" },
		{ "--egress", "--report" },
		{ "-x", "unknown option" },
		{ "--tty=012", "--report" },
		{ "--tty", "unknown option" },
		{ "--tty=", "descriptor" },
		{ "--tty=3", "descriptors 0 to 2" },
		{ "--tty=0,1", "descriptors 0 to 2" },
	};
	struct init_options o;
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK(parse(&o, why, sizeof(why), WORDS(bad[i].word, "--", "cmd")) == -EINVAL);
		CHECK(strstr(why, bad[i].says));
	}
	CHECK(parse(&o, why, sizeof(why), WORDS("--report")) == -EINVAL);
	CHECK(parse(&o, why, sizeof(why), WORDS("--report", "--")) == -EINVAL);
	CHECK(parse(&o, why, sizeof(why), (const char *const[]){ "custody-init", NULL }) == -EINVAL);
}

/* The file of EXEC: two words and one variable. */
static size_t make_request(char *out, uint32_t n_args, uint32_t n_env)
{
	static const char strings[] = "/work\0A,B\0echo\0hi\0A=1";
	const struct init_exec_request head = {
		.magic = INIT_PROTO_MAGIC, .tty = 5, .n_args = n_args, .n_env = n_env
	};

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), strings, sizeof(strings));
	return sizeof(head) + sizeof(strings);
}

/* In memory of exactly its size: a read behind its end is found by the sanitizer. */
static bool request_is_read(const char *bytes, size_t len, size_t room)
{
	char *text = malloc(len ? len : 1), **words = calloc(room ? room : 1, sizeof(*words));
	struct request r = { 0 };
	bool read;

	memcpy(text, bytes, len);
	read = request_parse(text, len, words, room, &r);
	/* A request that is read is the one that was written. */
	read = read && strcmp(r.cwd, "/work") == 0 && strcmp(r.names, "A,B") == 0 && r.tty == 5 &&
	       strcmp(r.args[0], "echo") == 0 && strcmp(r.args[1], "hi") == 0 && !r.args[2] &&
	       strcmp(r.env[0], "A=1") == 0 && !r.env[1];
	free(text);
	free(words);
	return read;
}

static void a_request_is_read_whole_or_not_at_all(void)
{
	char bytes[128];
	size_t len = make_request(bytes, 2, 1);

	CHECK(request_is_read(bytes, len, 5));
	CHECK(!request_is_read(bytes, len, 4));
	for (size_t cut = 0; cut < len; cut++)
		CHECK(!request_is_read(bytes, cut, 64));
	bytes[len] = '\0';
	CHECK(!request_is_read(bytes, len + 1, 64));
}

static void a_request_with_wrong_counts_is_refused(void)
{
	static const uint32_t counts[][2] = {
		{ 0, 3 },
		{ 1, 1 },
		{ 3, 1 },
		{ 2, 2 },
		{ UINT32_MAX, 1 },
		{ 2, UINT32_MAX },
		{ UINT32_MAX, UINT32_MAX },
		{ INIT_EXEC_WORDS_MAX, 1 },
	};
	char bytes[128];
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		len = make_request(bytes, counts[i][0], counts[i][1]);
		CHECK(!request_is_read(bytes, len, 64));
	}
	len = make_request(bytes, 2, 1);
	bytes[0] ^= 1; /* magic */
	CHECK(!request_is_read(bytes, len, 64));
	len = make_request(bytes, 2, 1);
	bytes[4] = 8; /* descriptor 3 */
	CHECK(!request_is_read(bytes, len, 64));
	len = make_request(bytes, 2, 1);
	bytes[sizeof(struct init_exec_request)] = 'x'; /* a relative directory */
	CHECK(!request_is_read(bytes, len, 64));
}

TAP_MAIN(T(status_is_read), T(status_without_a_field_is_not_complete),
	 T(name_of_the_process_cannot_pose_as_a_field), T(id_map_is_read),
	 T(a_map_must_be_the_requested_one_in_all_extents), T(cgroup_paths_must_all_be_the_root),
	 T(mounts_are_read_with_tags_escapes_and_empty_sources),
	 T(mount_line_that_is_cut_off_is_not_passed_over), T(below_means_whole_names),
	 T(lines_are_cut_never_overrun_and_never_obeyed), T(options_are_read),
	 T(DOOR_3_any_other_device_or_route_is_seen), T(options_that_are_not_understood_are_refused_by_name),
	 T(a_request_is_read_whole_or_not_at_all), T(a_request_with_wrong_counts_is_refused))
