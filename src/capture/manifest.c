/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* In the order of enum manifest_type. */
static const char *const types[_MANIFEST_TYPE_MAX] = {
	[MANIFEST_FILE] = "f",	[MANIFEST_DIR] = "d",	  [MANIFEST_LINK] = "l",
	[MANIFEST_FIFO] = "p",	[MANIFEST_SOCKET] = "s",  [MANIFEST_CHAR] = "c",
	[MANIFEST_BLOCK] = "b", [MANIFEST_GONE] = "gone", [MANIFEST_UNKNOWN] = "unknown",
};

enum manifest_type manifest_type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return MANIFEST_FILE;
	case S_IFDIR:
		return MANIFEST_DIR;
	case S_IFLNK:
		return MANIFEST_LINK;
	case S_IFIFO:
		return MANIFEST_FIFO;
	case S_IFSOCK:
		return MANIFEST_SOCKET;
	case S_IFCHR:
		return MANIFEST_CHAR;
	case S_IFBLK:
		return MANIFEST_BLOCK;
	default:
		return MANIFEST_NONE;
	}
}

void manifest_entry_done(struct manifest_entry *e)
{
	free(e->path);
	free(e->link);
	for (size_t i = 0; i < e->n_xattrs; i++) {
		free(e->xattrs[i].name);
		free(e->xattrs[i].value);
	}
	free(e->xattrs);
	free(e->extents);
	free(e->at);
	free(e->why);
	*e = (struct manifest_entry){ 0 };
}

static void put_base64(struct strbuf *out, const void *bytes, size_t len)
{
	_cleanup_free_ char *text = calloc(1, BASE64_ENCODE_RAW_LENGTH(len) + 1);

	if (!text) {
		out->broken = true;
		return;
	}
	base64_encode_raw(text, len, bytes);
	strbuf_puts(out, "{\"b64\":\"");
	strbuf_puts(out, text);
	strbuf_puts(out, "\"}");
}

static void put_text(struct strbuf *out, const char *text)
{
	size_t len = strlen(text);

	if (str_is_utf8(text, len))
		jdoc_quote(out, text);
	else
		put_base64(out, text, len);
}

static void put_extents(struct strbuf *out, const struct manifest_entry *e)
{
	strbuf_puts(out, ",\"extents\":[");
	for (size_t i = 0; i < e->n_extents; i++)
		strbuf_printf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", e->extents[i].offset,
			      e->extents[i].len);
	strbuf_putc(out, ']');
}

static void put_xattrs(struct strbuf *out, const struct manifest_entry *e)
{
	strbuf_puts(out, ",\"xattrs\":[");
	for (size_t i = 0; i < e->n_xattrs; i++) {
		strbuf_puts(out, i ? ",[" : "[");
		put_text(out, e->xattrs[i].name);
		strbuf_putc(out, ',');
		put_base64(out, e->xattrs[i].value, e->xattrs[i].len);
		strbuf_putc(out, ']');
	}
	strbuf_putc(out, ']');
}

static void put_named(struct strbuf *out, const char *key, const char *text)
{
	if (!text)
		return;
	strbuf_puts(out, key);
	put_text(out, text);
}

static void put_count(struct strbuf *out, const char *key, uint64_t n)
{
	strbuf_puts(out, key);
	strbuf_number(out, n);
}

static void put_mode(struct strbuf *out, unsigned int mode)
{
	char digits[] = { (char)('0' + (mode >> 9 & 7)), (char)('0' + (mode >> 6 & 7)),
			  (char)('0' + (mode >> 3 & 7)), (char)('0' + (mode & 7)) };

	strbuf_puts(out, ",\"mode\":\"");
	strbuf_add(out, digits, sizeof(digits));
}

static void put_mtime(struct strbuf *out, const struct manifest_entry *e)
{
	bool before_1970 = e->mtime_s < 0;

	put_count(out, before_1970 ? "\",\"mtime\":[-" : "\",\"mtime\":[",
		  before_1970 ? -(uint64_t)e->mtime_s : (uint64_t)e->mtime_s);
	put_count(out, ",", e->mtime_ns);
}

static void put_digest(struct strbuf *out, const struct digest *d)
{
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(d, hex);
	strbuf_puts(out, ",\"sha256\":\"");
	strbuf_add(out, hex, DIGEST_HEX_SIZE - 1);
	strbuf_putc(out, '"');
}

/* Keys sorted, no spaces.  Not through jdoc: a capture may write a hundred thousand lines. */
int manifest_write(const struct manifest_entry *e, struct strbuf *out, struct fault *f)
{
	put_count(out, "{\"alloc\":", e->alloc);
	put_named(out, ",\"at\":", e->at);
	if (e->sparse)
		put_extents(out, e);
	put_count(out, ",\"gid\":", e->gid);
	if (e->id)
		put_count(out, ",\"id\":", e->id);
	put_named(out, ",\"link\":", e->link);
	put_mode(out, e->mode);
	put_mtime(out, e);
	put_named(out, "],\"p\":", e->path);
	if (e->type == MANIFEST_CHAR || e->type == MANIFEST_BLOCK)
		strbuf_printf(out, ",\"rdev\":[%" PRIu32 ",%" PRIu32 "]", e->rdev_major, e->rdev_minor);
	if (e->same)
		put_count(out, ",\"same\":", e->same);
	if (e->has_digest)
		put_digest(out, &e->digest);
	put_count(out, ",\"size\":", e->size);
	strbuf_puts(out, ",\"t\":\"");
	strbuf_puts(out, types[e->type]);
	put_count(out, "\",\"uid\":", e->uid);
	if (e->unstable)
		strbuf_puts(out, ",\"unstable\":true");
	put_named(out, ",\"why\":", e->why);
	if (e->n_xattrs)
		put_xattrs(out, e);
	strbuf_puts(out, "}\n");
	return out->broken ? fault_errno(f, ENOMEM, "manifest") : 0;
}

/* --- reading ------------------------------------------------------------------------------------------------- */

struct reading {
	const struct jdoc *doc;
	struct manifest_entry *e;
	const char *bad; /* key with an invalid value */
};

static const struct jdoc *want(struct reading *r, const char *key, enum jdoc_type type, bool needed)
{
	const struct jdoc *v = jdoc_get(r->doc, key);

	if (v ? v->type != type : needed)
		r->bad = key;
	return v && v->type == type ? v : NULL;
}

static uint64_t read_count(struct reading *r, const char *key, bool needed)
{
	const struct jdoc *v = want(r, key, JDOC_INT, needed);

	if (v && v->integer < 0)
		r->bad = key;
	return v && v->integer > 0 ? (uint64_t)v->integer : 0;
}

/* Bytes of {"b64":...}, NUL-terminated; NULL: not such an object. */
static void *decode(const struct jdoc *v, size_t *ret_len)
{
	const char *text = v->type == JDOC_OBJECT && v->n_members == 1 ? jdoc_get_string(v, "b64") : NULL;
	struct base64_decode_ctx ctx;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return NULL;
	bytes = malloc(BASE64_DECODE_LENGTH(len) + 1);
	base64_decode_init(&ctx);
	if (!bytes || !base64_decode_update(&ctx, ret_len, bytes, len, text) || !base64_decode_final(&ctx))
		return NULL;
	bytes[*ret_len] = '\0';
	return TAKE_PTR(bytes);
}

/* A string, or base64 bytes without NUL.  NULL: neither. */
static char *text_of(const struct jdoc *v)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len = 0;

	if (v->type == JDOC_STRING)
		return strdup(v->string);
	bytes = decode(v, &len);
	if (!bytes || strlen(bytes) != len || str_is_utf8(bytes, len))
		return NULL;
	return TAKE_PTR(bytes);
}

static char *read_text(struct reading *r, const char *key, bool needed)
{
	const struct jdoc *v = jdoc_get(r->doc, key);
	char *text = v ? text_of(v) : NULL;

	if (v ? !text : needed)
		r->bad = key;
	return text;
}

static bool pair_of(const struct jdoc *v, int64_t ret[2])
{
	if (v->type != JDOC_ARRAY || v->n_items != 2)
		return false;
	for (int i = 0; i < 2; i++) {
		if (v->items[i]->type != JDOC_INT)
			return false;
		ret[i] = v->items[i]->integer;
	}
	return true;
}

static void read_mode(struct reading *r)
{
	const struct jdoc *v = want(r, "mode", JDOC_STRING, true);
	size_t n = v ? strspn(v->string, "01234567") : 0;

	if (!v || n < 4 || n > 5 || v->string[n] != '\0') {
		r->bad = "mode";
		return;
	}
	for (const char *p = v->string; *p; p++)
		r->e->mode = r->e->mode << 3 | (unsigned int)(*p - '0');
	if (r->e->mode > 07777)
		r->bad = "mode";
}

static void read_times(struct reading *r)
{
	const struct jdoc *v = want(r, "mtime", JDOC_ARRAY, true);
	int64_t pair[2];

	if (!v || !pair_of(v, pair) || pair[1] < 0 || pair[1] > 999999999) {
		r->bad = "mtime";
		return;
	}
	r->e->mtime_s = pair[0];
	r->e->mtime_ns = (uint32_t)pair[1];
}

static void read_type(struct reading *r)
{
	const struct jdoc *v = want(r, "t", JDOC_STRING, true);
	const struct jdoc *rdev = want(r, "rdev", JDOC_ARRAY, false);
	int64_t pair[2] = { 0, 0 };
	bool device;

	for (int i = 1; v && i < _MANIFEST_TYPE_MAX; i++)
		if (str_eq(v->string, types[i]))
			r->e->type = (enum manifest_type)i;
	device = r->e->type == MANIFEST_CHAR || r->e->type == MANIFEST_BLOCK;
	if (!r->e->type)
		r->bad = "t";
	if (device != (rdev != NULL) || (rdev && !pair_of(rdev, pair)) || pair[0] < 0 || pair[1] < 0 ||
	    pair[0] > UINT32_MAX || pair[1] > UINT32_MAX)
		r->bad = "rdev";
	r->e->rdev_major = (uint32_t)pair[0];
	r->e->rdev_minor = (uint32_t)pair[1];
}

static void read_digest(struct reading *r)
{
	const struct jdoc *v = want(r, "sha256", JDOC_STRING, false);

	if (!v)
		return;
	r->e->has_digest = digest_from_hex(v->string, &r->e->digest) == 0;
	if (!r->e->has_digest)
		r->bad = "sha256";
}

/* Extents are sorted, do not overlap and are within the file. */
static void read_extents(struct reading *r)
{
	const struct jdoc *v = want(r, "extents", JDOC_ARRAY, false);
	uint64_t end = 0;
	int64_t pair[2];

	if (!v)
		return;
	r->e->sparse = true;
	r->e->extents = calloc(v->n_items + 1, sizeof(*r->e->extents));
	if (!r->e->extents || v->n_items > MANIFEST_EXTENTS_MAX) {
		r->bad = "extents";
		return;
	}
	for (size_t i = 0; i < v->n_items; i++) {
		if (!pair_of(v->items[i], pair) || pair[0] < 0 || pair[1] <= 0 || (uint64_t)pair[0] < end ||
		    (uint64_t)pair[0] + (uint64_t)pair[1] > r->e->size) {
			r->bad = "extents";
			return;
		}
		end = (uint64_t)pair[0] + (uint64_t)pair[1];
		r->e->extents[r->e->n_extents++] =
			(struct manifest_extent){ .offset = (uint64_t)pair[0], .len = (uint64_t)pair[1] };
	}
}

static void read_xattrs(struct reading *r)
{
	const struct jdoc *v = want(r, "xattrs", JDOC_ARRAY, false);

	if (!v)
		return;
	r->e->xattrs = calloc(v->n_items + 1, sizeof(*r->e->xattrs));
	for (size_t i = 0; r->e->xattrs && i < v->n_items; i++) {
		const struct jdoc *pair = v->items[i];
		struct manifest_xattr *x = r->e->xattrs + r->e->n_xattrs;

		if (pair->type != JDOC_ARRAY || pair->n_items != 2)
			break;
		x->name = text_of(pair->items[0]);
		x->value = decode(pair->items[1], &x->len);
		r->e->n_xattrs++;
		if (!x->name || !x->value)
			break;
	}
	if (r->e->n_xattrs != v->n_items || r->e->n_xattrs == 0 || !r->e->xattrs[r->e->n_xattrs - 1].value)
		r->bad = "xattrs";
}

/* A path that cannot escape: relative, without "", "." and "..". */
static bool is_below(const char *path)
{
	for (const char *part = path; *part;) {
		size_t n = strcspn(part, "/");

		if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part += n;
		if (*part == '/' && *++part == '\0')
			return false;
	}
	return true;
}

static void require_known(struct reading *r)
{
	static const char *const keys[] = { "alloc",	"at",	  "extents", "gid", "id",
					    "link",	"mode",	  "mtime",   "p",   "rdev",
					    "same",	"sha256", "size",    "t",   "uid",
					    "unstable", "why",	  "xattrs",  NULL };

	for (size_t i = 0; i < r->doc->n_members; i++) {
		size_t k = 0;

		while (keys[k] && !str_eq(keys[k], r->doc->members[i].key))
			k++;
		if (!keys[k])
			r->bad = "unknown";
	}
}

static void read_entry(struct reading *r)
{
	struct manifest_entry *e = r->e;
	const struct jdoc *unstable;

	require_known(r);
	e->alloc = read_count(r, "alloc", true);
	e->gid = read_count(r, "gid", true);
	e->uid = read_count(r, "uid", true);
	e->size = read_count(r, "size", true);
	e->id = read_count(r, "id", false);
	e->same = read_count(r, "same", false);
	e->at = read_text(r, "at", false);
	e->link = read_text(r, "link", false);
	e->path = read_text(r, "p", true);
	e->why = read_text(r, "why", false);
	unstable = want(r, "unstable", JDOC_BOOL, false);
	e->unstable = unstable && unstable->boolean;
	read_mode(r);
	read_times(r);
	read_type(r);
	read_digest(r);
	read_extents(r);
	read_xattrs(r);
	/* The largest number is no id: chown takes it as "leave it". */
	if (e->uid >= UINT32_MAX || e->gid >= UINT32_MAX)
		r->bad = "owner";
	if (e->path && !is_below(e->path))
		r->bad = "p";
	if (e->at && (!*e->at || !is_below(e->at)))
		r->bad = "at";
	if ((e->type == MANIFEST_LINK) != (e->link != NULL))
		r->bad = "link";
}

int manifest_read(const char *line, size_t len, struct manifest_entry *ret, struct fault *f)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	struct reading reading = { .e = &e };
	int r;

	r = jdoc_parse(line, len, MANIFEST_NAME, NULL, &doc, f);
	if (r < 0)
		return r;
	if (doc->type != JDOC_OBJECT)
		return fault_set(f, EBADMSG, "a line of the manifest is not an object");
	reading.doc = doc;
	read_entry(&reading);
	if (reading.bad)
		return fault_set(f, EBADMSG, "a line of the manifest has an invalid '%s'", reading.bad);
	*ret = e;
	e = (struct manifest_entry){ 0 };
	return 0;
}
