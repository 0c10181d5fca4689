/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oci/runtime/runtime-schema.h"

/* libcrun up to this version refuses an ociVersion that does not contain 1.0. */
#define COMPARES LIBCRUN_NUMBER(1, 8, 1)

unsigned int runtime_version_parse(const char *libcrun)
{
	unsigned int part[3] = { 0 };

	if (sscanf(libcrun, "%3u.%2u.%2u", &part[0], &part[1], &part[2]) < 2)
		return 0;
	return LIBCRUN_NUMBER(part[0], part[1], part[2]);
}

unsigned int runtime_libcrun(void)
{
	return runtime_version_parse(LIBCRUN_VERSION);
}

/* MAJOR.MINOR and anything after it that a version may have. */
static int parse(const char *text, unsigned int *major, unsigned int *minor)
{
	int used = 0;

	if (strspn(text, "0123456789.") == 0 || sscanf(text, "%3u.%3u%n", major, minor, &used) != 2)
		return -EINVAL;
	text += used;
	return text[strspn(text, "0123456789.-+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")]
		       ? -EINVAL
		       : 0;
}

int runtime_version_require(struct jspan config, bool *ret_later, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	unsigned int major, minor;
	struct jspan value;
	int r = jspan_get(config, "ociVersion", &value);

	*ret_later = false;
	if (r == 0 || (r > 0 && value.len == strlen("null") && !memcmp(value.at, "null", value.len)))
		return 0;
	text = r > 0 ? jspan_string(value) : NULL;
	if (!text)
		return fault_set(f, EINVAL, "config.json: 'ociVersion' must be one string");
	if (parse(text, &major, &minor) < 0)
		return fault_set(f, EINVAL, "config.json: 'ociVersion' is '%s', not a version", text);
	if (major != 1)
		return fault_set(f, ENOTSUP,
				 "config.json is written for OCI runtime specification '%s'; "
				 "custody-runtime implements 1.0 to " RUNTIME_SPEC_MAX,
				 text);
	*ret_later = minor > RUNTIME_SPEC_MAX_MINOR;
	return 0;
}

void runtime_version_adapt(struct runtime_json *config, unsigned int libcrun)
{
	static const char accepted[] = "\"1.0\"";
	struct jspan value;
	char *at;

	if (libcrun > COMPARES || jspan_get(config->object, "ociVersion", &value) <= 0 ||
	    !jspan_is(value, '"') || value.len < strlen(accepted) ||
	    memmem(value.at, value.len, "1.0", strlen("1.0")))
		return;
	at = config->text + (value.at - config->text);
	memset(at, ' ', value.len);
	memcpy(at, accepted, strlen(accepted));
}
