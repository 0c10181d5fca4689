/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-process.h"

/*
 * config.json as custody-runtime reads it.  What our strict parser takes for one object must also be one for the
 * finder, with the same member behind a key; and the process made from it must be JSON again.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_against_parser(const struct runtime_json *j, const char *text, size_t size)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct jspan v;

	if (jdoc_parse(text, size, "fuzz", NULL, &d, NULL) < 0 || d->type != JDOC_OBJECT)
		return;
	for (size_t i = 0; i < d->n_members; i++) {
		int r = jspan_get(j->object, d->members[i].key, &v);

		/* Escaped keys are refused, never misread. */
		if (r == 0 && !strchr(text, '\\'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_runtime_json_ struct runtime_json j = { 0 };
	_cleanup_strbuf_ struct strbuf process = { 0 };
	char *args[] = { (char *)"id", (char *)"ls", NULL };
	const char *env[] = { "B=2" };
	struct runtime_options o = { .args = args,
				     .n_args = 2,
				     .env = { .items = env, .n = 1 },
				     .caps = { .items = env, .n = 1 },
				     .user = "1:2" };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (runtime_json_parse(text, size, "fuzz", &j, NULL) < 0)
		return 0;
	check_against_parser(&j, j.text, size);
	(void)!runtime_config_require(&j, "/nonexistent", NULL, NULL, NULL);
	if (runtime_process_make(j.object, &o, &process, NULL) == 0 &&
	    jspan_check(process.text, process.len, RUNTIME_CONFIG_DEPTH + 8) < 0)
		abort();
	return 0;
}
