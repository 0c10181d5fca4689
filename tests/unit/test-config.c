/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/path.h"
#include "config/config-impl.h"
#include "policy/policy.h"

#include "tap.h"

#define LEDGER            \
	"custody/ledger/" \
	"00000000000000000000000000000001+8e492578+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"

#define K1 "ed25519:1111111111111111111111111111111111111111111111111111111111111111"
#define K2 "ed25519:2222222222222222222222222222222222222222222222222222222222222222"
#define K3 "ed25519:3333333333333333333333333333333333333333333333333333333333333333"

static const char *const *variables; /* NAME, VALUE, ... NULL */

static const char *get(const char *name)
{
	for (const char *const *v = variables; v && *v; v += 2)
		if (strcmp(*v, name) == 0)
			return v[1];
	return NULL;
}

static int parse(const char *admin, const char *user, struct config **ret, struct fault *f)
{
	const struct config_texts t = { .admin = admin,
					.admin_len = admin ? strlen(admin) : 0,
					.user = user,
					.user_len = user ? strlen(user) : 0,
					.getenv = get };

	return config_parse(&t, ret, f);
}

static bool is_refused(const char *admin, const char *user, const char *part)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	bool refused = parse(admin, user, &c, &f) < 0 && f.text && strstr(f.text, part);

	if (!refused)
		printf("# admin %s\n# user %s\n# wanted '%s', got %s\n", admin ? admin : "-",
		       user ? user : "-", part, c ? "acceptance" : fault_text(&f));
	return refused;
}

static bool is_accepted(const char *admin, const char *user)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	if (parse(admin, user, &c, &f) == 0)
		return true;
	printf("# admin %s\n# user %s\n# %s\n", admin ? admin : "-", user ? user : "-", fault_text(&f));
	return false;
}

static void no_file_means_defaults(void)
{
	_cleanup_config_ struct config *c = NULL;

	variables = NULL;
	CHECK(parse(NULL, NULL, &c, NULL) == 0);
	CHECK(c->lane == LANE_SANDBOX && !c->digest_key && !c->n_approvers && !c->has_approvers);
	CHECK(c->min_approvals == 1 && c->allow_self && !c->on_request);
	CHECK(c->request_expiry_s == 86400 && c->grant_max_uses == 1000 && c->grant_max_s == 30 * 86400);
	CHECK(c->run_security == SECURITY_BALANCED && c->engine_security == SECURITY_OFF);
	/* ISO-14, GOV-8: installed but not configured: no effect. */
	CHECK(!c->sandbox.enabled && c->sandbox.max_tool_calls == 500 &&
	      c->sandbox.timing_min_delay_ms == 50);
	CHECK(!c->forensics.path && c->forensics.retention_days == 1 &&
	      c->forensics.quota == UINT64_C(10) << 30 && c->forensics.item_max == 0);
	CHECK(c->id_first == 1879048192 && c->id_last == 2147483647);
	CHECK(strcmp(config_find(c, "min_approvals")->source, "default") == 0);
	CHECK(!config_find(c, "min_approvals")->replaced);
}

static void every_key_is_read(void)
{
	static const char text[] =
		"{ // a comment\n\"lane\": \"production\", \"digest_key\": "
		"\"00000000000000000000000000000000000000000000000000000000000000ff\",\n"
		"\"approvers\": [{\"name\": \"ann\", \"key\": \"" K1 "\", \"pin_key\": \"" K2
		"\", \"lane\": \"any\", \"uid\": 0}, {\"name\": \"bob\", \"key\": \"" K3 "\"}],\n"
		"\"min_approvals\": 2, \"allow_self\": false, \"on_request\": [\"notify\", \"-u\", \"-u\", "
		"\"\"],\n"
		"\"request_expiry\": \"2h\", \"grant_max\": {\"uses\": 3, \"time\": \"1h\"}, "
		"\"prompt_rate\": 2,\n"
		"\"provenance\": [{\"uid\": 0, \"intention\": \"task\"}, {\"cgroup\": \"/ci/\", "
		"\"intention\": \"autonomous\"}],\n"
		"\"rules\": [{\"effect\": \"deny\", \"argv\": [\"git\", \"push\"], \"why\": \"by hand\"},\n"
		"{\"effect\": \"ask\", \"network\": \"host\", \"profile\": \"build\", \"mount\": "
		"\"/srv\"}],\n"
		"\"trusted_hosts\": [\"example.org\"], \"governance\": {\"security_profile\": \"strict\"},\n"
		"\"security_profile\": \"minimal\", \"sandbox\": {\"enabled\": true, \"retention_path\": "
		"\"/ev/x/\"},\n"
		"\"forensics\": {\"quota\": \"1G\", \"retention_days\": 7, \"keep_free\": \"2G\", "
		"\"item_max\": \"3M\"},\n"
		"\"redact\": {\"flags\": [\"--secret\"], \"headers\": [\"X-Site\"]},\n"
		"\"audit_peer\": [{\"name\": \"far\", \"type\": \"file\", \"path\": \"/mnt/far\"}],\n"
		"\"id_range\": \"100000-300000\", \"x-note\": 1}\n";
	_cleanup_config_ struct config *c = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	variables = NULL;
	CHECK(parse(text, NULL, &c, &f) == 0);
	CHECK(c->lane == LANE_PROD && c->digest_key[63] == 'f' && c->n_approvers == 2 && c->has_approvers);
	CHECK(strcmp(c->approvers[0].name, "ann") == 0 && strcmp(c->approvers[0].pin_key, K2) == 0);
	CHECK(c->approvers[0].lanes == NETWORK_CLASS_ANY && c->approvers[0].uid == 0);
	CHECK(!c->approvers[1].pin_key && c->approvers[1].lanes == NETWORK_CLASS_TEST);
	CHECK(c->approvers[1].uid == CONFIG_NO_UID);
	CHECK(c->min_approvals == 2 && !c->allow_self && strv_len(c->on_request) == 4);
	CHECK(c->request_expiry_s == 7200 && c->grant_max_uses == 3 && c->grant_max_s == 3600 &&
	      c->prompt_rate == 2);
	CHECK(c->n_provenance == 2 && c->provenance[0].uid == 0 &&
	      c->provenance[0].intention == INTENTION_TASK);
	CHECK(c->provenance[1].uid == CONFIG_NO_UID && strcmp(c->provenance[1].cgroup, "/ci") == 0);
	CHECK(c->n_rules == 2 && c->rules[0].effect == POLICY_EFFECT_DENY &&
	      c->rules[0].tier == CONFIG_ADMIN);
	CHECK(strcmp(c->rules[0].argv[1], "push") == 0 && strcmp(c->rules[0].origin, "admin:7") == 0);
	CHECK(strcmp(c->rules[1].network, "host") == 0 && strcmp(c->rules[1].mount, "/srv") == 0);
	CHECK(c->run_security == SECURITY_STRICT && c->engine_security == SECURITY_MINIMAL &&
	      c->sandbox.enabled);
	CHECK(strcmp(c->forensics.path, "/ev/x") == 0 && c->forensics.quota == UINT64_C(1) << 30);
	CHECK(c->forensics.retention_days == 7 && c->forensics.keep_free == UINT64_C(2) << 30 &&
	      c->forensics.item_max == 3 * 1024 * 1024);
	CHECK(strcmp(c->redact_flags[0], "--secret") == 0 && c->n_audit_peers == 1 && c->id_last == 300000);
	CHECK(strcmp(config_find(c, "min_approvals")->source, "admin:4") == 0);
}

static void wrong_files_are_refused_with_their_place(void)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{ "", "admin" },
		{ "[]", "admin:1:1: custody.json must be an object" },
		{ "{\"min_aprovals\": 1}",
		  "admin:1:2: unknown key 'min_aprovals': did you mean 'min_approvals'?" },
		{ "{\"sandbox\": {\"enable\": true}}",
		  "admin:1:14: unknown key 'sandbox.enable': did you mean 'enabled'?" },
		{ "{\"sandbox\": true}", "'sandbox' must be an object" },
		{ "{\"sandbox\": {\"enabled\": 1}}", "'sandbox.enabled' must be true or false" },
		{ "{\"min_approvals\": 0}", "out of range" },
		{ "{\"min_approvals\": 1, \"min_approvals\": 1}", "admin:1:" },
		{ "{\"lane\": \"staging\"}", "unknown word 'staging'" },
		{ "{\"digest_key\": \"00\"}", "64 hex digits" },
		{ "{\"approvers\": [{\"name\": \"a\"}]}", "each entry needs 'key'" },
		{ "{\"approvers\": [{\"name\": \"a\", \"key\": \"" K1 "\", \"kee\": 1}]}",
		  "unknown key 'kee'" },
		{ "{\"approvers\": [{\"name\": \"a\", \"key\": \"" K1 "\", \"pin_key\": \"" K1 "\"}]}",
		  "must differ" },
		{ "{\"approvers\": [{\"name\": \"a\", \"key\": \"" K1 "\"}, {\"name\": \"b\", \"key\": \"" K1
		  "\"}]}",
		  "share a name or a key" },
		{ "{\"approvers\": [{\"name\": \"a\", \"key\": \"" K1 "\", \"pin_key\": \"" K3
		  "\"}, {\"name\": \"b\", \"key\": \"" K2 "\", \"pin_key\": \"" K3 "\"}]}",
		  "share a name or a key" },
		{ "{\"approvers\": [], \"min_approvals\": 1}", "no request could be approved" },
		{ "{\"approvers\": [7]}", "'approvers' must be an array of objects" },
		{ "{\"rules\": [{\"effect\": \"deny\"}]}", "needs argv, profile, network or mount" },
		{ "{\"rules\": [{\"argv\": [\"x\"]}]}", "each entry needs 'effect'" },
		{ "{\"rules\": [{\"effect\": \"deny\", \"argv\": []}]}", "must not be empty" },
		{ "{\"on_request\": []}", "must not be empty" },
		{ "{\"on_request\": \"x\"}", "an array of strings" },
		{ "{\"fleets\": [{\"name\": \"web\", \"ledgers\": []}]}", "must have 1 to 64 ledgers" },
		{ "{\"fleets\": [{\"name\": \"web\", \"ledgers\": [\"x\"]}]}", "ledger show --key" },
		{ "{\"fleets\": [{\"name\": \"web\", \"ledgers\": [\"" LEDGER "\\n\"]}]}",
		  "ledger show --key" },
		{ "{\"fleets\": [{\"name\": \"a\", \"ledgers\": [\"" LEDGER
		  "\"]}, {\"name\": \"a\", \"ledgers\": [\"" LEDGER "\"]}]}",
		  "two fleets are called 'a'" },
		{ "{\"provenance\": [{\"intention\": \"task\"}]}", "either uid or cgroup" },
		{ "{\"provenance\": [{\"uid\": 1, \"cgroup\": \"/x\", \"intention\": \"task\"}]}",
		  "either uid or cgroup" },
		{ "{\"provenance\": [{\"uid\": -1, \"intention\": \"task\"}]}", "out of range" },
		{ "{\"sandbox\": {\"retention_path\": \"ev\"}}", "not an absolute path" },
		{ "{\"sandbox\": {\"forensic_quota\": \"1G\"}, \"forensics\": {\"quota\": \"1G\"}}",
		  "'forensics.quota' and 'sandbox.forensic_quota' are the same key" },
		{ "{\"profile\": \"./x.json\"}", "a profile's name or an absolute path" },
		{ "{\"profile\": \"\"}", "a profile's name or an absolute path" },
		{ "{\"id_range\": \"0-65535\"}", "must be between" },
		{ "{\"id_range\": \"100000-100001\"}", "must be between" },
		{ "{\"trusted_hosts\": [\"a b\"]}", "a host's name" },
		{ "{} {}", "admin:1:" },
	};

	variables = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(is_refused(rows[i].text, NULL, rows[i].part));
	CHECK(is_accepted("{}", NULL));
}

/* Per row: the admin's value, a user's value that is as tight, one that is not. */
static void user_may_tighten_and_never_loosen(void)
{
#define RULE(e) "{\"rules\": [{\"effect\": \"" e "\", \"argv\": [\"x\"]}]}"
#define TOOL(name) \
	"{\"name\": \"" name "\", \"exec\": [\"/bin/true\"], \"level\": \"A\", \"network\": \"test\"}"
#define REMOTE(name) "{\"name\": \"" name "\", \"url\": \"https://example.org/a.git\", \"network\": \"test\"}"
#define APPROVER(n, k) "{\"name\": \"" n "\", \"key\": \"" k "\"}"
	static const struct {
		const char *key, *admin, *tight, *loose;
	} rows[] = {
		{ "lane", "{\"lane\": \"sandbox\"}", "{\"lane\": \"test\"}", "{\"lane\": \"prod\"}" },
		/* Every caller may name a profile. */
		{ "sandbox.profile", "{\"sandbox\": {\"profile\": \"container\"}}",
		  "{\"sandbox\": {\"profile\": \"offline\"}}", NULL },
		{ "profile", "{\"profile\": \"offline\"}", "{\"profile\": \"build\"}", NULL },
		{ "min_approvals", "{\"min_approvals\": 2}", "{\"min_approvals\": 3}",
		  "{\"min_approvals\": 1}" },
		{ "allow_self", "{\"allow_self\": false}", "{\"allow_self\": false}",
		  "{\"allow_self\": true}" },
		{ "allow_self", "{\"allow_self\": true}", "{\"allow_self\": false}", NULL },
		{ "approvers", "{\"approvers\": [" APPROVER("a", K1) "," APPROVER("b", K2) "]}",
		  "{\"approvers\": [" APPROVER("b", K2) "]}", "{\"approvers\": [" APPROVER("a", K3) "]}" },
		/* The admin decides who the approvers are: then a user's configuration cannot approve. */
		{ "rules", "{\"approvers\": [" APPROVER("a", K1) "]}", RULE("ask"), RULE("allow") },
		{ "governance.security_profile", "{\"approvers\": [" APPROVER("a", K1) "]}",
		  "{\"governance\": {\"security_profile\": \"strict\"}}",
		  "{\"governance\": {\"security_profile\": \"off\"}}" },
		{ "trusted_hosts", "{\"approvers\": [" APPROVER("a", K1) "]}", "{\"trusted_hosts\": []}",
		  "{\"trusted_hosts\": [\"evil.org\"]}" },
		{ "digest_key",
		  "{\"digest_key\": \"0000000000000000000000000000000000000000000000000000000000000000\"}",
		  "{\"digest_key\": \"0000000000000000000000000000000000000000000000000000000000000000\"}",
		  "{\"digest_key\": \"0000000000000000000000000000000000000000000000000000000000000001\"}" },
		{ "on_request", "{\"on_request\": [\"n\", \"n\"]}", "{\"on_request\": [\"n\", \"n\"]}",
		  "{\"on_request\": [\"n\"]}" },
		{ "request_expiry", "{\"request_expiry\": \"1h\"}", "{\"request_expiry\": 60}",
		  "{\"request_expiry\": \"2h\"}" },
		{ "grant_max.uses", "{\"grant_max\": {\"uses\": 2}}", "{\"grant_max\": {\"uses\": 1}}",
		  "{\"grant_max\": {\"uses\": 3}}" },
		{ "grant_max.time", "{\"grant_max\": {\"time\": 600}}", "{\"grant_max\": {\"time\": 60}}",
		  "{\"grant_max\": {\"time\": \"1h\"}}" },
		{ "prompt_rate", "{\"prompt_rate\": 5}", "{\"prompt_rate\": 5}", "{\"prompt_rate\": 6}" },
		{ "trusted_hosts", "{\"trusted_hosts\": [\"a.org\", \"b.org\"]}",
		  "{\"trusted_hosts\": [\"a.org\"]}", "{\"trusted_hosts\": [\"c.org\"]}" },
		{ "governance.security_profile", "{\"governance\": {\"security_profile\": \"balanced\"}}",
		  "{\"governance\": {\"security_profile\": \"strict\"}}",
		  "{\"governance\": {\"security_profile\": \"minimal\"}}" },
		{ "exec", "{\"exec\": \"ask\"}", "{\"exec\": \"deny\"}", "{\"exec\": \"allow\"}" },
		{ "exec", "{\"approvers\": [" APPROVER("a", K1) "]}", "{\"exec\": \"ask\"}",
		  "{\"exec\": \"allow\"}" },
		{ "security_profile", "{\"security_profile\": \"minimal\"}",
		  "{\"security_profile\": \"balanced\"}", "{\"security_profile\": \"off\"}" },
		{ "sandbox.enabled", "{\"sandbox\": {\"enabled\": true}}",
		  "{\"sandbox\": {\"enabled\": true}}", "{\"sandbox\": {\"enabled\": false}}" },
		{ "sandbox.max_tool_calls_per_session", "{\"sandbox\": {\"max_tool_calls_per_session\": 5}}",
		  "{\"sandbox\": {\"max_tool_calls_per_session\": 4}}",
		  "{\"sandbox\": {\"max_tool_calls_per_session\": 6}}" },
		{ "sandbox.timing_min_delay_ms", "{\"sandbox\": {\"timing_min_delay_ms\": 5}}",
		  "{\"sandbox\": {\"timing_min_delay_ms\": 6}}",
		  "{\"sandbox\": {\"timing_min_delay_ms\": 4}}" },
		{ "sandbox.retention_path", "{\"sandbox\": {\"retention_path\": \"/e\"}}",
		  "{\"forensics\": {\"retention_path\": \"/e\"}}",
		  "{\"forensics\": {\"retention_path\": \"/f\"}}" },
		{ "sandbox.forensic_retention_days", "{\"forensics\": {\"retention_days\": 7}}",
		  "{\"sandbox\": {\"forensic_retention_days\": 8}}",
		  "{\"sandbox\": {\"forensic_retention_days\": 6}}" },
		{ "sandbox.forensic_quota", "{\"forensics\": {\"quota\": \"2G\"}}",
		  "{\"forensics\": {\"quota\": \"3G\"}}", "{\"forensics\": {\"quota\": \"1G\"}}" },
		{ "sandbox.forensic_item_max", "{\"forensics\": {\"item_max\": \"2G\"}}",
		  "{\"sandbox\": {\"forensic_item_max\": \"3G\"}}",
		  "{\"forensics\": {\"item_max\": \"1G\"}}" },
		{ "forensics.keep_free", "{\"forensics\": {\"keep_free\": \"2G\"}}",
		  "{\"forensics\": {\"keep_free\": \"3G\"}}", "{\"forensics\": {\"keep_free\": \"1G\"}}" },
		{ "broker.tools", "{\"broker\": {\"tools\": [" TOOL("a") "," TOOL("b") "]}}",
		  "{\"broker\": {\"tools\": [" TOOL("b") "]}}",
		  "{\"broker\": {\"tools\": [" TOOL("c") "]}}" },
		{ "broker.remotes", "{\"broker\": {\"remotes\": [" REMOTE("a") "," REMOTE("b") "]}}",
		  "{\"broker\": {\"remotes\": [" REMOTE("b") "]}}",
		  "{\"broker\": {\"remotes\": [" REMOTE("c") "]}}" },
		{ "review.keep_days", "{\"review\": {\"keep_days\": 7}}", "{\"review\": {\"keep_days\": 8}}",
		  "{\"review\": {\"keep_days\": 6}}" },
		{ "review.quota", "{\"review\": {\"quota\": \"2G\"}}", "{\"review\": {\"quota\": \"3G\"}}",
		  "{\"review\": {\"quota\": \"1G\"}}" },
		{ "rules", RULE("deny"), RULE("allow"), NULL },
		{ "redact.flags", "{\"redact\": {\"flags\": [\"--a\"]}}", "{\"redact\": {\"flags\": []}}",
		  NULL },
		{ "redact.headers", "{\"redact\": {\"headers\": [\"A\"]}}",
		  "{\"redact\": {\"headers\": [\"B\"]}}", NULL },
		{ "audit_peer", "{\"audit_peer\": [{\"name\": \"a\", \"type\": \"file\", \"path\": \"/a\"}]}",
		  "{\"audit_peer\": []}", NULL },
		{ "fleets", "{}", NULL,
		  "{\"fleets\": [{\"name\": \"web\", \"ledgers\": [\"" LEDGER "\"]}]}" },
		{ "provenance", "{}", NULL, "{\"provenance\": [{\"uid\": 1, \"intention\": \"explicit\"}]}" },
		{ "id_range", "{}", NULL, "{\"id_range\": \"100000-300000\"}" },
	};
	size_t named = 0;

	variables = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char part[96];

		(void)snprintf(part, sizeof(part), "'%s' ", rows[i].key);
		CHECK(!rows[i].tight || is_accepted(rows[i].admin, rows[i].tight));
		CHECK(!rows[i].loose || is_refused(rows[i].admin, rows[i].loose, part));
		/* A key that the admin does not set is the user's. */
		CHECK(!rows[i].tight || !rows[i].loose || is_accepted("{}", rows[i].loose));
	}
	/* No row of the table may be forgotten here. */
	for (const struct key_row *k = config_keys(); k->path; k++) {
		bool found = k->kind == KEY_KIND_SECTION || str_starts(k->help, "The same as ");

		for (size_t i = 0; !found && i < ARRAY_SIZE(rows); i++)
			found = strcmp(rows[i].key, k->path) == 0;
		if (!found)
			printf("# '%s' has no test of what a user may do with it\n", k->path);
		named += !found;
	}
	CHECK(named == 0);
}

static void lists_of_both_add_up_and_keep_their_tier(void)
{
	_cleanup_config_ struct config *c = NULL;

	variables = NULL;
	CHECK(parse("{\"redact\": {\"flags\": [\"--a\"]},\n\"rules\": [{\"effect\": \"deny\", \"argv\": "
		    "[\"rm\"]}]}",
		    "{\"redact\": {\"flags\": [\"--b\"]},\n\n\"rules\": [{\"effect\": \"allow\", \"argv\": "
		    "[\"rm\"]}]}",
		    &c, NULL) == 0);
	CHECK(c->n_rules == 2 && c->rules[0].tier == CONFIG_ADMIN && c->rules[1].tier == CONFIG_USER);
	CHECK(c->rules[0].effect == POLICY_EFFECT_DENY && strcmp(c->rules[1].origin, "user:3") == 0);
	CHECK((int)CONFIG_USER == (int)POLICY_TIER_USER && (int)CONFIG_ADMIN == (int)POLICY_TIER_ADMIN);
	CHECK(strv_has(c->redact_flags, "--a") && strv_has(c->redact_flags, "--b"));
}

static void ISO_14_variables_override_both_ways_with_their_source(void)
{
	static const char *const on[] = { "CUSTODY_SANDBOX_ENABLED", "1", "CUSTODY_SANDBOX_RETENTION_PATH",
					  "/mnt/e", NULL };
	static const char *const off[] = { "CUSTODY_SANDBOX_ENABLED", "Off", "CUSTODY_SANDBOX_RETENTION_PATH",
					   "", NULL };
	_cleanup_config_ struct config *a = NULL, *b = NULL, *c = NULL;
	const struct config_value *v;

	variables = on;
	CHECK(parse(NULL, NULL, &a, NULL) == 0);
	CHECK(a->sandbox.enabled && strcmp(a->forensics.path, "/mnt/e") == 0);
	v = config_find(a, "sandbox.enabled");
	CHECK(v->tier == CONFIG_ENV && strcmp(v->source, "CUSTODY_SANDBOX_ENABLED") == 0);
	CHECK(v->replaced && !v->replaced->boolean && strcmp(v->replaced_source, "default") == 0);
	v = config_find(a, "sandbox.retention_path");
	CHECK(v->tier == CONFIG_ENV && !v->replaced && strcmp(v->replaced_source, "default") == 0);

	variables = off;
	CHECK(parse("{\n\"sandbox\": {\"enabled\": true, \"retention_path\": \"/a\"}}", NULL, &b, NULL) == 0);
	CHECK(!b->sandbox.enabled && strcmp(b->forensics.path, "/a") == 0);
	v = config_find(b, "sandbox.enabled");
	CHECK(v->tier == CONFIG_ENV && v->replaced->boolean && strcmp(v->replaced_source, "admin:2") == 0);
	v = config_find(b, "sandbox.retention_path");
	CHECK(v->tier == CONFIG_ADMIN && !v->replaced_source && strcmp(v->source, "admin:2") == 0);

	variables = NULL;
	CHECK(parse("{\"min_approvals\": 1}", "{\"min_approvals\": 2}", &c, NULL) == 0);
	v = config_find(c, "min_approvals");
	CHECK(v->tier == CONFIG_USER && v->value->integer == 2 && v->replaced->integer == 1);
	CHECK(strcmp(v->replaced_source, "admin:1") == 0);
}

static void variables_that_mean_nothing_are_refused(void)
{
	static const char *const odd[][3] = {
		{ "CUSTODY_SANDBOX_ENABLED", "maybe", NULL },
		{ "CUSTODY_SANDBOX_ENABLED", " 1", NULL },
		{ "CUSTODY_SANDBOX_RETENTION_PATH", "mnt", NULL },
		{ "CUSTODY_LANE", "staging", NULL },
		{ "CUSTODY_LANE", "prod\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		variables = odd[i];
		CHECK(is_refused(NULL, NULL, odd[i][0]));
	}
	variables = NULL;
}

static void LANE_1_of_a_run_comes_from_the_flag_then_the_variable_then_the_file(void)
{
	static const char *const test[] = { "CUSTODY_LANE", " Test ", NULL };
	static const char *const prod[] = { "CUSTODY_LANE", "PRODUCTION", NULL };
	_cleanup_config_ struct config *a = NULL, *b = NULL;
	enum lane lane;

	variables = test;
	CHECK(parse("{\"lane\": \"prod\"}", NULL, &a, NULL) == 0);
	CHECK(config_lane(a, NULL, &lane, NULL) == 0 && lane == LANE_SANDBOX);
	CHECK(config_lane(a, "prod", &lane, NULL) == 0 && lane == LANE_PROD);
	variables = prod;
	CHECK(parse(NULL, NULL, &b, NULL) == 0);
	CHECK(config_lane(b, NULL, &lane, NULL) == 0 && lane == LANE_PROD);
	CHECK(config_lane(b, "", &lane, NULL) == 0 && lane == LANE_SANDBOX);
	CHECK(config_lane(b, "staging", &lane, NULL) == -EINVAL);
	variables = NULL;
	CHECK(config_lane(NULL, NULL, &lane, NULL) == 0 && lane == LANE_SANDBOX);
}

static char root[] = "/tmp/custody-config-XXXXXX";

static int load_file(const char *text, mode_t mode, mode_t dir_mode, struct fault *f)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_free_ char *path = path_join(root, "custody.json");
	struct dirs d = { .config_admin = path };
	_cleanup_close_ int fd = -EBADF;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text, strlen(text), NULL) < 0 || fchmod(fd, mode) < 0 ||
	    chmod(root, dir_mode) < 0)
		return -EIO;
	return config_load(&d, &c, f);
}

/* In a directory below one that is writable by all users. */
static int load_below(const char *text, mode_t above)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_free_ char *dir = path_join(root, "etc"), *path = path_join(root, "etc/custody.json");
	struct dirs d = { .config_admin = path };
	_cleanup_close_ int fd = -EBADF;
	int r;

	(void)mkdir(dir, 0700);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text, strlen(text), NULL) < 0 || chmod(root, above) < 0)
		return -EIO;
	r = config_load(&d, &c, NULL);
	return unlink(path) < 0 || rmdir(dir) < 0 || chmod(root, 0700) < 0 ? -EIO : r;
}

static void file_that_others_may_write_is_refused(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *path = path_join(root, "custody.json");
	_cleanup_config_ struct config *c = NULL;
	struct dirs d = { .config_admin = path };

	CHECK(load_file("{}", 0644, 0755, NULL) == 0);
	/* A user's own group may be private: tests/integration/private-group.bats. */
	CHECK(geteuid() != 0 || load_file("{}", 0664, 0755, NULL) == -EPERM);
	CHECK(load_file("{}", 0646, 0755, &f) == -EPERM && strstr(f.text, "chmod go-w"));
	CHECK(load_file("{}", 0600, 0777, NULL) == -EPERM);
	CHECK(load_file("{", 0600, 0700, NULL) == -EINVAL);
	CHECK(load_below("{}", 0755) == 0 && load_below("{}", 0777) == -EPERM &&
	      load_below("{}", 01777) == 0);
	CHECK(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
	CHECK(config_load(&d, &c, NULL) == -ELOOP);
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	CHECK(config_load(&d, &c, NULL) == -EINVAL);
	CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
	CHECK(config_load(&d, &c, NULL) == -EINVAL);
	CHECK(rmdir(path) == 0);
	if (geteuid() == 0) {
		CHECK(load_file("{}", 0600, 0700, NULL) == 0 && chown(path, 12345, 12345) == 0);
		CHECK(config_load(&d, &c, NULL) == -EPERM);
	}
	CHECK(!c);
	(void)unlink(path);
	CHECK(config_load(&d, &c, NULL) == 0);
}

static const struct jdoc *property(const struct jdoc *schema, const char *name)
{
	return jdoc_get(jdoc_get(schema, "properties"), name);
}

/* Of the row with PATH, perhaps in a section. */
static const struct jdoc *row_property(const struct jdoc *schema, const struct key_row *k)
{
	const char *dot = strchr(k->path, '.');
	char section[64];

	if (dot) {
		(void)snprintf(section, sizeof(section), "%.*s", (int)(dot - k->path), k->path);
		schema = property(schema, section);
	}
	return property(schema, key_row_name(k));
}

static void every_key_is_in_the_schema(void)
{
	_cleanup_jdoc_ struct jdoc *schema = config_schema(), *again = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	for (const struct key_row *k = config_keys(); k->path; k++) {
		const struct jdoc *s = row_property(schema, k);

		CHECK(s && str_eq(jdoc_get_string(s, "description"), k->help));
		for (const struct key_row *row = k->rows; row && row->path; row++)
			CHECK(row_property(jdoc_get(s, "items"), row));
	}
	CHECK(jdoc_write(schema, JDOC_PRETTY, &b, NULL) == 0);
	CHECK(jdoc_parse(b.text, b.len, "schema", NULL, &again, NULL) == 0 && jdoc_equal(schema, again));
}

static void check_pattern(const struct key_shape *s)
{
	static const char *const words[] = {
		"a",
		"A",
		"none",
		"host",
		"hosts",
		"a.b",
		"-a",
		"--a",
		"--a=b",
		"- a",
		"1-2",
		"12345678901-2",
		"1-",
		"-2",
		"",
		K1,
		"ed25519:11",
		"x y",
		".a",
		"a-b_c",
		"-",
		"_",
		"0000000000000000000000000000000000000000000000000000000000000000"
	};
	regex_t re;

	if (!s || !s->pattern)
		return;
	CHECK(regcomp(&re, s->pattern, REG_EXTENDED | REG_NOSUB) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if ((regexec(&re, words[i], 0, NULL, 0) == 0) != s->is(words[i])) {
			printf("# '%s' and %s\n", words[i], s->pattern);
			tap_ok = false;
		}
	regfree(&re);
}

static void patterns_and_checks_agree(void)
{
	for (const struct key_row *k = config_keys(); k->path; k++) {
		check_pattern(k->shape);
		for (const struct key_row *row = k->rows; row && row->path; row++)
			check_pattern(row->shape);
	}
}

static void start(void)
{
	CHECK(mkdtemp(root));
}

static void finish(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_remove_tree(tmp, root + strlen("/tmp/"), NULL) == 0);
}

TAP_MAIN(T(start), T(no_file_means_defaults), T(every_key_is_read),
	 T(wrong_files_are_refused_with_their_place), T(user_may_tighten_and_never_loosen),
	 T(lists_of_both_add_up_and_keep_their_tier),
	 T(ISO_14_variables_override_both_ways_with_their_source), T(variables_that_mean_nothing_are_refused),
	 T(LANE_1_of_a_run_comes_from_the_flag_then_the_variable_then_the_file),
	 T(file_that_others_may_write_is_refused), T(every_key_is_in_the_schema),
	 T(patterns_and_checks_agree), T(finish))
