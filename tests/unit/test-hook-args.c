/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "container/warden-request.h"
#include "oci/bundle/hook-args.h"
#include "tap.h"

static char *words(const char *text)
{
	return (char *)text;
}

static void terms_come_back_as_they_went(void)
{
	char *taints[] = { words("web_content"), words("unknown"), NULL };
	char *env[] = { words("CUSTODY_ROOT=/a b=c"), words("HOME=/root"), NULL };
	char *redact[] = { words("--site=key"), NULL };
	_cleanup_jdoc_ struct jdoc *governance = jdoc_new_object();
	const struct hook_args t = { .lane = LANE_PROD,
				     .allow_prod = true,
				     .security = SECURITY_MINIMAL,
				     .taints = taints,
				     .redact = redact,
				     .governance = governance,
				     .env = env };
	_cleanup_hook_args_ struct hook_args again = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_strv_ char **args = NULL;

	jdoc_set_int(governance, "min_approvals", 2);
	CHECK(hook_args_write(&t, &args, &f) == 0);
	CHECK(strv_len(args) == 9 && strcmp(args[0], "--lane=prod") == 0);
	CHECK(hook_args_parse(args, &again, &f) == 0);
	CHECK(again.lane == LANE_PROD && again.allow_prod && again.security == SECURITY_MINIMAL);
	CHECK(jdoc_equal(again.governance, governance) && strcmp(again.redact[0], "--site=key") == 0);
	CHECK(strv_len(again.taints) == 2 && strcmp(again.taints[1], "unknown") == 0);
	CHECK(strv_len(again.env) == 2 && strcmp(again.env[0], "CUSTODY_ROOT=/a b=c") == 0);
}

static void terms_that_custody_never_writes_are_refused(void)
{
	static const char *const cases[][5] = {
		{ NULL },
		{ "--lane=sandbox", NULL },
		{ "--security=off", NULL },
		{ "--lane=test", "--security=off", NULL }, /* an alias */
		{ "--lane=sandbox", "--security=none", NULL },
		{ "--lane=sandbox", "--security=off", "--lane=prod", NULL },
		{ "--lane=sandbox", "--security=off", "--security=strict", NULL },
		{ "--lane=sandbox", "--security=off", "--allow-prod", "--allow-prod", NULL },
		{ "--lane=sandbox", "--security=off", "--env=LD_PRELOAD=/x", NULL },
		{ "--lane=sandbox", "--security=off", "--env=CUSTODY_ALLOW_PROD=1", NULL },
		{ "--lane=sandbox", "--security=off", "--env=HOME", NULL },
		{ "--lane=sandbox", "--security=off", "more", NULL },
		{ "--lane=sandbox", "--security=off", "--governance=[]", NULL },
		{ "--lane=sandbox", "--security=off", "--governance={", NULL },
		{ "--lane=sandbox", "--security=off", "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_hook_args_ struct hook_args t = { 0 };
		_cleanup_fault_ struct fault f = { 0 };

		if (hook_args_parse((char *const *)cases[i], &t, &f) != -EINVAL)
			printf("# case %zu was taken\n", i);
		CHECK(f.code == EINVAL);
	}
}

static void only_absolute_directories_travel(void)
{
	_cleanup_hook_args_ struct hook_args t = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(clearenv() == 0);
	CHECK(setenv("CUSTODY_ROOT", "relative", 1) == 0 && setenv("HOME", "/home/x", 1) == 0);
	CHECK(setenv("SECRET", "/x", 1) == 0);
	CHECK(hook_args_take_env(&t, &f) == 0);
	CHECK(strv_len(t.env) == 1 && strcmp(t.env[0], "HOME=/home/x") == 0);
	CHECK(setenv("CUSTODY_ROOT", "/\xff", 1) == 0);
	CHECK(hook_args_take_env(&t, &f) == -EILSEQ);
}

static void an_order_comes_back_as_it_went(void)
{
	const struct warden_request o = { .session = "20261116T031500Z-1a2b3c4d",
					  .lane = LANE_PROD,
					  .container = words("box \"1\""),
					  .level = 'C',
					  .reserved = true,
					  .digest = { { 1, 2, 3 } },
					  .uid = 64321,
					  .user = words("ann"),
					  .pid = 4711,
					  .profile = words("offline"),
					  .init = true };
	_cleanup_warden_request_ struct warden_request again = { 0 };
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(warden_request_write(&o, &text, &f) == 0);
	CHECK(warden_request_parse(text.text, &again, &f) == 0);
	CHECK(strcmp(again.session, o.session) == 0 && again.lane == o.lane && again.level == 'C');
	CHECK(again.reserved && again.init && again.uid == o.uid && again.pid == o.pid);
	CHECK(strcmp(again.container, o.container) == 0 && strcmp(again.user, "ann") == 0);
	CHECK(digest_equal(&again.digest, &o.digest));
}

static void an_odd_order_is_refused(void)
{
	static const char *const cases[] = { "", "{}", "[]", "{\"session\":\"../x\"}" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_warden_request_ struct warden_request o = { 0 };
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(warden_request_parse(cases[i], &o, &f) < 0 && f.code);
	}
}

TAP_MAIN(T(terms_come_back_as_they_went), T(terms_that_custody_never_writes_are_refused),
	 T(only_absolute_directories_travel), T(an_order_comes_back_as_it_went), T(an_odd_order_is_refused))
