/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/str.h"
#include "inspect/inspect.h"

/* Private to this room. */
#define INSPECT_VIEWS_MAX 3    /* encodings in each other that are decoded */
#define INSPECT_LINE_MAX 20000 /* bytes: docs/design/inspection.md has the measurement */
#define INSPECT_PLACE_MAX 128
#define INSPECT_NAME_MAX 40 /* of a member, as it is in a place */

struct inspect_state {
	size_t n_tokens;
	uint32_t bytes[3][256]; /* inspect-trigger.c: of all that has a beginning, the first three bytes */
	size_t at, line;	/* of the last report */
};
void inspect_state_init(struct inspect_state *s);

/* One text, and the texts that are encoded in it: its views. */
struct inspect_scan {
	struct inspect_found *found;
	const char *place;
	bool lines;	  /* the place gets ":LINE" */
	const char *name; /* of the member whose value it is; NULL: none */
	const char *top;  /* the text itself */
	size_t at;	  /* where in it the view begins */
	unsigned int depth;
	struct inspect_state *state;
};

void inspect_add(struct inspect_found *found, enum inspect_rule rule, const char *place);
void inspect_broken(struct inspect_found *found); /* out of memory: nothing is known */
/* At byte AT of the text or view. */
void inspect_report(const struct inspect_scan *s, enum inspect_rule rule, size_t at);
/* All rules that hold for a view as well. */
void inspect_scan_bytes(const struct inspect_scan *s, const char *p, size_t len);
/* inspect_text() with the name of the member, and a choice of lines. */
void inspect_value(const struct inspect_scan *s, const char *p, size_t len);

void inspect_triggers(const struct inspect_scan *s, const char *p, size_t len);

/* inspect-token.c: row I of the table of shapes; NULL: there are no more. */
const char *inspect_token_prefix(size_t i);
bool inspect_token(const struct inspect_scan *s, size_t i, const char *p, size_t at, size_t len);

/* Of these, the trigger's text is at AT. */
void inspect_jwt(const struct inspect_scan *s, const char *p, size_t at, size_t len);
void inspect_basic(const struct inspect_scan *s, const char *p, size_t at, size_t len);
/* inspect-secret.c */
void inspect_pem(const struct inspect_scan *s, const char *p, size_t at, size_t len);
void inspect_putty(const struct inspect_scan *s, const char *p, size_t at, size_t len);
void inspect_url(const struct inspect_scan *s, const char *p, size_t at, size_t len);
/* inspect-middle.c */
void inspect_azure_client(const struct inspect_scan *s, const char *p, size_t at, size_t len);
void inspect_azure_signature(const struct inspect_scan *s, const char *p, size_t at, size_t len);
void inspect_telegram(const struct inspect_scan *s, const char *p, size_t at, size_t len);
void inspect_terraform(const struct inspect_scan *s, const char *p, size_t at, size_t len);

/* inspect-run.c: long runs of the characters of base64. */
void inspect_runs(const struct inspect_scan *s, const char *p, size_t len);

/* inspect-view.c: encoded texts. */
/* VIEW is what the text from AT on means. */
void inspect_view(const struct inspect_scan *s, const char *view, size_t len, size_t at);
/* From AT to END; bytes that are no digits do not count. */
void inspect_view_base64(const struct inspect_scan *s, const char *p, size_t at, size_t end);
size_t inspect_view_percent(const char *p, size_t len, char *ret); /* decoded into as many bytes of RET */
bool inspect_view_is_login(const char *p, size_t len);		   /* is it base64 of NAME:PASSWORD? */
/* Lines with escapes: \\n, \\u0041, %41. */
void inspect_view_lines(const struct inspect_scan *s, const char *p, size_t len);

/* inspect-wide.c: characters with NULs between them, and pairs of hexadecimal digits. */
void inspect_wide(const struct inspect_scan *s, const char *p, size_t len);
void inspect_hex(const struct inspect_scan *s, const char *p, size_t len);
int inspect_hex_of(char c); /* -1: no digit */

/* inspect-known.c */
void inspect_known(const struct inspect_scan *s, const char *p, size_t len);

/* inspect-environ.c */
void inspect_environ(const struct inspect_scan *s, const char *p, size_t len);
bool inspect_has_proc_path(const char *p, size_t len);

/* inspect-name.c: one path.  Does it say no more than its form if FORM_ONLY. */
#define INSPECT_NO_RULE _INSPECT_RULE_MAX
enum inspect_rule inspect_name_rule(const char *path, size_t len); /* of path.*, or INSPECT_NO_RULE */
bool inspect_name_is_formed(const char *path, size_t len);
bool inspect_name_is(const char *path, size_t len,
		     const char *last); /* is LAST its last component, in any spelling? */

/* inspect-class.c: kinds of bytes. */
enum inspect_class {
	INSPECT_UPPER = 1,
	INSPECT_LOWER = 2,
	INSPECT_DIGIT = 4,
	INSPECT_HEX = 8,     /* letters in one of both cases */
	INSPECT_BASE64 = 16, /* both alphabets, without '=' */
	INSPECT_VALUE = 32,  /* of RFC 6750: also . ~ */
	INSPECT_BLANK = 64,
	INSPECT_ALNUM = INSPECT_UPPER | INSPECT_LOWER | INSPECT_DIGIT,
};
extern const uint8_t inspect_class[256];
static inline bool inspect_is(char c, unsigned int classes)
{
	return inspect_class[(uint8_t)c] & classes;
}
/* Does it look random: many different characters, and changes between cases and digits all over? */
bool inspect_is_random(const char *p, size_t len);
size_t inspect_distinct(const char *p, size_t len); /* different bytes */
