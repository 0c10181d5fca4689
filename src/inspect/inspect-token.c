/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/array.h"
#include "inspect/inspect-impl.h"

/*
 * Tokens of services have a prefix so that programs like this one find them.  A row is a fact about a service: the prefix, the
 * characters that follow, and how many.  It begins where no letter or digit stands before it.
 */
enum chars { HEX, ALNUM, WORD, URLSAFE, DOTTED, BASE64 };

#define ANY 0	    /* no upper limit */
#define RUN_MAX 128 /* more than any MIN or MAX */

/* clang-format off */
static const struct shape {
	const char *prefix;
	enum chars chars;
	unsigned short min, max; /* that follow the prefix */
	enum inspect_rule rule;
} shapes[] = {
	{ "sk-ant-",         URLSAFE, 40, ANY, INSPECT_SECRET_ANTHROPIC },
	{ "sk-proj-",        URLSAFE, 40, ANY, INSPECT_SECRET_OPENAI },
	{ "sk-svcacct-",     URLSAFE, 40, ANY, INSPECT_SECRET_OPENAI },
	{ "sk-admin-",       URLSAFE, 40, ANY, INSPECT_SECRET_OPENAI },
	{ "sk-or-v1-",       HEX,     64, 64,  INSPECT_SECRET_SERVICE },
	{ "sk-lf-",          URLSAFE, 36, 36,  INSPECT_SECRET_SERVICE },
	{ "sk-",             ALNUM,   32, 64,  INSPECT_SECRET_OPENAI },
	{ "AKIA",            ALNUM,   16, 16,  INSPECT_SECRET_AWS },
	{ "ASIA",            ALNUM,   16, 16,  INSPECT_SECRET_AWS },
	{ "ABIA",            ALNUM,   16, 16,  INSPECT_SECRET_AWS },
	{ "ACCA",            ALNUM,   16, 16,  INSPECT_SECRET_AWS },
	{ "AccountKey=",     BASE64,  86, 88,  INSPECT_SECRET_AZURE },
	{ "SharedAccessKey=", BASE64, 43, 44,  INSPECT_SECRET_AZURE },
	{ "dop_v1_",         HEX,     64, 64,  INSPECT_SECRET_CLOUD },
	{ "doo_v1_",         HEX,     64, 64,  INSPECT_SECRET_CLOUD },
	{ "dor_v1_",         HEX,     64, 64,  INSPECT_SECRET_CLOUD },
	{ "dapi",            HEX,     32, 32,  INSPECT_SECRET_CLOUD },
	{ "fo1_",            URLSAFE, 43, 43,  INSPECT_SECRET_CLOUD },
	{ "fm2_",            BASE64,  60, ANY, INSPECT_SECRET_CLOUD },
	{ "HRKU-AA",         URLSAFE, 58, 58,  INSPECT_SECRET_CLOUD },
	{ "ghp_",            ALNUM,   36, ANY, INSPECT_SECRET_GITHUB },
	{ "gho_",            ALNUM,   36, ANY, INSPECT_SECRET_GITHUB },
	{ "ghu_",            ALNUM,   36, ANY, INSPECT_SECRET_GITHUB },
	{ "ghs_",            DOTTED,  36, ANY, INSPECT_SECRET_GITHUB },
	{ "ghr_",            ALNUM,   36, ANY, INSPECT_SECRET_GITHUB },
	{ "github_pat_",     WORD,    36, ANY, INSPECT_SECRET_GITHUB },
	{ "glpat-",          DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "gldt-",           DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glrt-",           DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glcbt-",          DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glptt-",          DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glft-",           DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glimt-",          DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glagent-",        DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "gloas-",          DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "glsoat-",         DOTTED,  20, ANY, INSPECT_SECRET_GITLAB },
	{ "AIza",            URLSAFE, 35, 35,  INSPECT_SECRET_GOOGLE },
	{ "GOCSPX-",         URLSAFE, 28, 28,  INSPECT_SECRET_GOOGLE },
	{ "ya29.",           URLSAFE, 40, ANY, INSPECT_SECRET_GOOGLE },
	{ "hf_",             ALNUM,   34, 40,  INSPECT_SECRET_HUGGINGFACE },
	{ "api_org_",        ALNUM,   34, 40,  INSPECT_SECRET_HUGGINGFACE },
	{ "npm_",            ALNUM,   36, 36,  INSPECT_SECRET_NPM },
	{ "pypi-",           URLSAFE, 50, ANY, INSPECT_SECRET_PYPI },
	{ "xoxb-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxp-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxa-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxr-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxs-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxc-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxd-",           BASE64,  20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxe-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xoxe.xoxp-",      URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "xapp-",           URLSAFE, 20, ANY, INSPECT_SECRET_SLACK },
	{ "hooks.slack.com/services/", BASE64, 40, ANY, INSPECT_SECRET_SLACK },
	{ "sk_live_",        ALNUM,   16, ANY, INSPECT_SECRET_STRIPE },
	{ "sk_test_",        ALNUM,   16, ANY, INSPECT_SECRET_STRIPE },
	{ "rk_live_",        ALNUM,   16, ANY, INSPECT_SECRET_STRIPE },
	{ "rk_test_",        ALNUM,   16, ANY, INSPECT_SECRET_STRIPE },
	{ "whsec_",          BASE64,  32, ANY, INSPECT_SECRET_STRIPE },
	{ "hvs.",            URLSAFE, 24, ANY, INSPECT_SECRET_VAULT },
	{ "hvb.",            URLSAFE, 24, ANY, INSPECT_SECRET_VAULT },
	{ "hvr.",            URLSAFE, 24, ANY, INSPECT_SECRET_VAULT },
	{ "SG.",             DOTTED,  60, 70,  INSPECT_SECRET_SERVICE }, /* SendGrid */
	{ "shpat_",          HEX,     32, 32,  INSPECT_SECRET_SERVICE }, /* Shopify */
	{ "shpca_",          HEX,     32, 32,  INSPECT_SECRET_SERVICE },
	{ "shppa_",          HEX,     32, 32,  INSPECT_SECRET_SERVICE },
	{ "shpss_",          HEX,     32, 32,  INSPECT_SECRET_SERVICE },
	{ "sq0atp-",         URLSAFE, 22, 22,  INSPECT_SECRET_SERVICE }, /* Square */
	{ "sq0csp-",         URLSAFE, 43, 43,  INSPECT_SECRET_SERVICE },
	{ "dckr_pat_",       URLSAFE, 27, ANY, INSPECT_SECRET_SERVICE },
	{ "dckr_oat_",       URLSAFE, 27, ANY, INSPECT_SECRET_SERVICE },
	{ "lin_api_",        ALNUM,   40, 40,  INSPECT_SECRET_SERVICE }, /* Linear */
	{ "ntn_",            ALNUM,   40, ANY, INSPECT_SECRET_SERVICE }, /* Notion */
	{ "PMAK-",           URLSAFE, 59, 59,  INSPECT_SECRET_SERVICE }, /* Postman */
	{ "glsa_",           WORD,    41, 41,  INSPECT_SECRET_SERVICE }, /* Grafana */
	{ "glc_",            BASE64,  32, ANY, INSPECT_SECRET_SERVICE },
	{ "dp.pt.",          ALNUM,   40, 44,  INSPECT_SECRET_SERVICE }, /* Doppler */
	{ "NRAK-",           ALNUM,   27, 27,  INSPECT_SECRET_SERVICE }, /* New Relic */
	{ "sntrys_",         BASE64,  60, ANY, INSPECT_SECRET_SERVICE }, /* Sentry */
	{ "sntryu_",         HEX,     64, 64,  INSPECT_SECRET_SERVICE },
	{ "rubygems_",       HEX,     48, 48,  INSPECT_SECRET_SERVICE },
	{ "cio",             ALNUM,   32, 32,  INSPECT_SECRET_SERVICE }, /* crates.io */
	{ "ATATT3",          URLSAFE, 60, ANY, INSPECT_SECRET_SERVICE }, /* Atlassian */
	{ "ATBB",            ALNUM,   32, 32,  INSPECT_SECRET_SERVICE }, /* Bitbucket */
	{ "bkua_",           HEX,     40, 40,  INSPECT_SECRET_SERVICE }, /* Buildkite */
	{ "pul-",            HEX,     40, 40,  INSPECT_SECRET_SERVICE }, /* Pulumi */
	{ "r8_",             ALNUM,   37, 37,  INSPECT_SECRET_SERVICE }, /* Replicate */
	{ "gsk_",            ALNUM,   52, 52,  INSPECT_SECRET_SERVICE }, /* Groq */
	{ "xai-",            ALNUM,   70, ANY, INSPECT_SECRET_SERVICE },
	{ "pplx-",           ALNUM,   48, 56,  INSPECT_SECRET_SERVICE }, /* Perplexity */
	{ "sbp_",            HEX,     40, 40,  INSPECT_SECRET_SERVICE }, /* Supabase */
	{ "pscale_tkn_",     DOTTED,  32, ANY, INSPECT_SECRET_SERVICE }, /* PlanetScale */
	{ "pscale_pw_",      DOTTED,  32, ANY, INSPECT_SECRET_SERVICE },
	{ "tskey-auth-",     URLSAFE, 20, ANY, INSPECT_SECRET_SERVICE }, /* Tailscale */
	{ "tskey-api-",      URLSAFE, 20, ANY, INSPECT_SECRET_SERVICE },
	{ "nfp_",            ALNUM,   36, 40,  INSPECT_SECRET_SERVICE }, /* Netlify */
	{ "figd_",           URLSAFE, 40, 50,  INSPECT_SECRET_SERVICE }, /* Figma */
	{ "SK",              HEX,     32, 32,  INSPECT_SECRET_SERVICE }, /* Twilio */
	{ "AGE-SECRET-KEY-1", ALNUM,  58, 58,  INSPECT_SECRET_KEY_FILE },
	{ "Bearer ",         DOTTED,  20, ANY, INSPECT_SECRET_HEADER },
	{ "bearer ",         DOTTED,  20, ANY, INSPECT_SECRET_HEADER },
};
/* clang-format on */

static const unsigned int classes[] = {
	[HEX] = INSPECT_HEX,	   [ALNUM] = INSPECT_ALNUM,  [WORD] = INSPECT_ALNUM,
	[URLSAFE] = INSPECT_ALNUM, [DOTTED] = INSPECT_VALUE, [BASE64] = INSPECT_BASE64,
};

static bool is_of(char c, enum chars chars)
{
	return inspect_is(c, classes[chars]) || ((chars == WORD || chars == URLSAFE) && c == '_') ||
	       (chars == URLSAFE && c == '-');
}

static size_t run_of(const char *p, size_t len, enum chars chars)
{
	size_t n = 0;

	while (n < len && is_of(p[n], chars))
		n++;
	return n;
}

/* Placeholders: xxxxxxxx, 00000000, and the keys of the manuals of AWS. */
static bool is_example(const struct shape *shape, const char *p, size_t len)
{
	if (inspect_distinct(p, len) < 8)
		return true;
	if (shape->rule == INSPECT_SECRET_AWS)
		return memcmp(p + len - 7, "EXAMPLE", 7) == 0;
	return shape->rule == INSPECT_SECRET_HEADER && !inspect_is_random(p, len);
}

static bool fits(const struct shape *shape, const char *p, size_t len)
{
	const size_t n = strlen(shape->prefix);
	size_t run;

	if (len < n + shape->min || memcmp(p, shape->prefix, n) != 0)
		return false;
	/* Not further: prefixes close to each other must not each read the same text. */
	run = run_of(p + n, len - n < RUN_MAX ? len - n : RUN_MAX, shape->chars);
	return run >= shape->min && (shape->max == ANY || run <= shape->max) &&
	       !is_example(shape, p + n, run);
}

/* Three parts in base64, of which the first and the second begin with {" and the third is a signature. */
static bool is_jwt(const char *p, size_t len)
{
	const char *at = p, *end = p + len;

	for (unsigned int part = 0; part < 3; part++) {
		size_t n = run_of(at, (size_t)(end - at), URLSAFE);

		if (part == 2)
			return n >= 20 && inspect_is_random(at, n);
		if (n < 12 || memcmp(at, "ey", 2) != 0 || at + n == end || at[n] != '.')
			return false;
		at += n + 1;
	}
	return false;
}

/* NAME:PASSWORD in base64 behind "Basic ". */
static bool is_basic(const char *p, size_t len)
{
	size_t n;

	if (len < 18 || (p[0] != 'B' && p[0] != 'b') || memcmp(p + 1, "asic ", 5) != 0)
		return false;
	n = run_of(p + 6, len - 6 < 256 ? len - 6 : 256, BASE64);
	return n >= 12 && inspect_view_is_login(p + 6, n);
}

void inspect_jwt(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	/* Not within another run: each byte is in three parts at most. */
	if ((at == 0 || !is_of(p[at - 1], URLSAFE)) && is_jwt(p + at, len - at))
		inspect_report(s, INSPECT_SECRET_JWT, at);
}

void inspect_basic(const struct inspect_scan *s, const char *p, size_t at, size_t len)
{
	if (is_basic(p + at, len - at))
		inspect_report(s, INSPECT_SECRET_HEADER, at);
}

const char *inspect_token_prefix(size_t i)
{
	return i < ARRAY_SIZE(shapes) ? shapes[i].prefix : NULL;
}

bool inspect_token(const struct inspect_scan *s, size_t i, const char *p, size_t at, size_t len)
{
	if (!fits(&shapes[i], p + at, len - at))
		return false;
	inspect_report(s, shapes[i].rule, at);
	return true;
}
