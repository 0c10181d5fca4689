/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/dispatch.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cmd-ledger.h"
#include "cli/ledger-verify-print.h"
#include "base/exit-status.h"

#define STEP ((size_t)256 * 1024)
#define CHECKPOINTS_FILE_MAX ((size_t)1 << 28)
#define K0_FILE_MAX 4096
#define K0_MAX 16
#define PROGRESS_MIN ((uint64_t)32 << 20)

/* Keys, checkpoints and seal that the ledger is verified against, with their memory. */
struct against {
	struct ledger_verify_options o;
	struct digest k0[K0_MAX];
	struct checkpoint *checkpoints;
	size_t n_checkpoints, room;
	char **texts;
	struct checkpoint_key pin, current;
	struct ledger_mark anchor;
	struct seal seal;
};

static void against_done(struct against *a)
{
	explicit_bzero(a->k0, sizeof(a->k0));
	seal_done(&a->seal);
	strv_free(a->texts);
	free(a->checkpoints);
}

static int read_file(const char *path, size_t max, char **ret, size_t *ret_len, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	r = fd_read_all(fd, max, ret, ret_len, f);
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : 0;
}

static int load_k0(struct against *a, const char *path, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = read_file(path, K0_FILE_MAX, &text, &len, f);
	if (r < 0)
		return r;
	for (char *p = text + strspn(text, " \t\r\n"); *p && r == 0; p += strspn(p, " \t\r\n")) {
		size_t n = strcspn(p, " \t\r\n");
		char end = p[n];

		p[n] = '\0';
		if (a->o.n_k0 == K0_MAX || digest_from_hex(p, &a->k0[a->o.n_k0]) < 0)
			r = fault_set(
				f, EINVAL,
				"'%s' is not a seal key (64 hex digits, as 'custody ledger init' printed)",
				path);
		else
			a->o.n_k0++;
		p[n] = end;
		p += n;
	}
	explicit_bzero(text, len);
	if (r == 0 && a->o.n_k0 == 0)
		r = fault_set(f, EINVAL, "'%s' holds no seal key", path);
	return r;
}

static int grow(struct against *a, struct fault *f)
{
	size_t room = a->room ? a->room * 2 : 64;
	struct checkpoint *grown;

	if (a->n_checkpoints < a->room)
		return 0;
	grown = reallocarray(a->checkpoints, room, sizeof(*grown));
	if (!grown)
		return fault_errno(f, ENOMEM, "checkpoints");
	a->checkpoints = grown;
	a->room = room;
	return 0;
}

/* All checkpoints of TEXT, which must stay allocated; incomplete ones are skipped.  Returns whether it has one. */
static int add_checkpoints(struct against *a, const char *text, size_t len, struct fault *f)
{
	size_t used, before = a->n_checkpoints;

	for (const char *p = text;
	     (p = memmem(p, len - (size_t)(p - text), ORIGIN_PREFIX, sizeof(ORIGIN_PREFIX) - 1));) {
		int r = grow(a, f);

		if (r < 0)
			return r;
		if ((p == text || p[-1] == '\n') &&
		    checkpoint_parse(p, len - (size_t)(p - text), &a->checkpoints[a->n_checkpoints], &used) ==
			    0) {
			a->n_checkpoints++;
			p += used;
		} else {
			p++;
		}
	}
	return a->n_checkpoints > before;
}

static int load_checkpoints(struct against *a, const char *path, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = read_file(path, CHECKPOINTS_FILE_MAX, &text, &len, f);
	if (r < 0)
		return r;
	if (strv_append(&a->texts, text) < 0)
		return fault_errno(f, ENOMEM, "checkpoints");
	r = add_checkpoints(a, a->texts[strv_len(a->texts) - 1], strlen(text), f);
	return r == 0 ? fault_set(f, EINVAL, "'%s' holds no checkpoint", path) : r;
}

static int load_pin(struct against *a, const char *pin, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = 0;

	if (!str_starts(pin, ORIGIN_PREFIX)) {
		r = read_file(pin, K0_FILE_MAX, &text, &len, f);
		if (r < 0)
			return r;
	}
	r = checkpoint_key_parse(text ? text : pin, &a->pin, f);
	a->o.key = &a->pin;
	return r;
}

/* RECORDS:HEAD, from `audit` in session.end of the session. */
static int load_anchor(struct against *a, const char *text, struct fault *f)
{
	const char *colon = strchr(text, ':');
	char number[24];

	if (!colon || colon - text >= (ptrdiff_t)sizeof(number) ||
	    digest_from_hex(colon + 1, &a->anchor.head) < 0)
		return fault_set(f, EINVAL, "--anchor: not RECORDS:HEAD, from `audit` in session.end");
	memcpy(number, text, (size_t)(colon - text));
	number[colon - text] = '\0';
	a->o.anchor = &a->anchor;
	if (str_to_u64(number, &a->anchor.size) < 0)
		return fault_set(f, EINVAL, "--anchor '%s': invalid number of records", text);
	return 0;
}

static int gather(const struct command_call *c, const struct ledger_reader *s, struct against *a,
		  struct fault *f)
{
	size_t given;
	int r = 0;

	a->o.k0 = a->k0;
	for (char **p = c->k0; p && *p && r >= 0; p++)
		r = load_k0(a, *p, f);
	for (char **p = c->from_checkpoint; p && *p && r >= 0; p++)
		r = load_checkpoints(a, *p, f);
	given = a->n_checkpoints;
	if (r >= 0 && s->checkpoints)
		r = add_checkpoints(a, s->checkpoints, s->checkpoints_len, f);
	a->o.n_local = a->n_checkpoints - given;
	if (r >= 0 && c->key)
		r = load_pin(a, c->key, f);
	if (r >= 0 && !c->args[0] && s->public && checkpoint_key_parse(s->public, &a->current, NULL) == 0)
		a->o.current = &a->current;
	if (r >= 0 && c->anchor)
		r = load_anchor(a, c->anchor, f);
	if (r >= 0 && c->seal) {
		r = ledger_reader_load_seal(c->seal, &a->seal, f);
		a->o.seal = &a->seal;
		a->o.seal_is_of_this_boot = true; /* a copy: no tolerance for a seal of an earlier boot */
	} else if (s->has_seal) {
		a->o.seal = &s->seal;
		a->o.seal_is_of_this_boot = s->same_boot;
	}
	a->o.checkpoints = a->checkpoints;
	a->o.n_checkpoints = a->n_checkpoints;
	a->o.from_checkpoint = c->from_checkpoint != NULL;
	return r < 0 ? r : 0;
}

/*
 * The number of records that the oldest checkpoint covers: reading begins there.  A later beginning would pass over notes of
 * a history that was removed.
 */
static uint64_t oldest(const struct against *a)
{
	uint64_t size = UINT64_MAX;

	for (size_t i = 0; i < a->n_checkpoints; i++)
		size = a->checkpoints[i].mark.size < size ? a->checkpoints[i].mark.size : size;
	return size == UINT64_MAX ? 0 : size;
}

struct verify_progress {
	uint64_t total, done, begin_ns;
	unsigned int shown;
	bool on;
};

static void show_progress(struct verify_progress *p, size_t len)
{
	unsigned int percent;
	uint64_t ms;

	p->done += len;
	if (!p->on)
		return;
	percent = (unsigned int)(p->done * 100 / p->total);
	if (percent == p->shown)
		return;
	p->shown = percent;
	ms = (clock_boot_ns() - p->begin_ns) / 1000000 + 1;
	fprintf(stderr, "\rverify: %3u%% [%-50.*s] %" PRIu64 " MB/s\033[K", percent, (int)(percent / 2),
		"##################################################", p->done / 1000 / ms);
}

static int read_through(struct ledger_reader *s, struct ledger_verify *v, struct fault *f)
{
	_cleanup_free_ char *room = malloc(STEP);
	struct verify_progress p = { .total = s->total,
				     .begin_ns = clock_boot_ns(),
				     .on = s->total >= PROGRESS_MIN && isatty(STDERR_FILENO) };
	uint64_t first;
	size_t len;
	int r = 0;

	if (!room)
		return fault_errno(f, ENOMEM, "read buffer");
	do {
		r = ledger_reader_read(s, room, STEP, &len, &first, f);
		if (r < 0)
			break;
		if (first != UINT64_MAX)
			ledger_verify_segment(v, first);
		show_progress(&p, len);
	} while (ledger_verify_feed(v, room, len) && len > 0);
	if (p.on)
		fputs("\r\033[K", stderr);
	return r;
}

/*
 * In place a ledger has its seal and both halves of its key.  Without one of them an intact chain is no answer: the
 * file was removed or replaced.  Writes the reason to RESULT.
 */
static void require_files(const struct command_call *c, const struct ledger_reader *s,
			  struct ledger_verify_result *result)
{
	_cleanup_close_ int state = -EBADF;
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_free_ char *key = NULL;

	if (c->args[0] || (result->status != VERIFY_OK && result->status != VERIFY_BARE))
		return;
	if (s->has_seal) {
		state = open(c->dirs.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (state >= 0 && checkpoint_identity(state, &key, &why) == 0)
			return;
	}
	(void)snprintf(
		result->why, sizeof(result->why), "%s",
		s->has_seal ? fault_text(&why)
			    : "the seal is missing: restore it, or run 'custody ledger repair --new-seal'");
	result->beside = true;
	result->bad_seq = result->next;
	result->bad_segment = UINT64_MAX;
	if (result->status == VERIFY_OK)
		result->status = VERIFY_TAMPERED;
}

static int verify(const struct command_call *c, struct against *a, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_ledger_verify_ struct ledger_verify *v = NULL;
	struct ledger_verify_result result;
	int r;

	r = ledger_open_reader(c, &s, f);
	if (r == 0)
		r = gather(c, &s, a, f);
	if (r < 0)
		return r;
	/* Seal keys are derived from the first record on: with a seal key no record can be skipped. */
	if (c->from_checkpoint && a->o.n_k0 == 0 && oldest(a) > 0)
		ledger_reader_skip_to(&s, oldest(a) - 1);
	v = ledger_verify_new(&a->o);
	if (!v)
		return fault_errno(f, ENOMEM, "verify");
	r = read_through(&s, v, f);
	if (r < 0)
		return r;
	ledger_verify_end(v, &result);
	require_files(c, &s, &result);
	/* Independent of the records: explains why new records cannot be written. */
	if (!c->args[0] && !s.has_seal)
		fprintf(stderr, PACKAGE_NAME
			" ledger verify: the seal is missing, so nothing can be recorded: restore it, or "
			"run 'custody ledger repair --new-seal'\n");
	r = c->json ? ledger_verify_print_json(&result, &a->o, f) : ledger_verify_print(&result, &a->o);
	return r < 0 ? r : (int)result.status;
}

int ledger_cmd_verify(const struct command_call *c, struct fault *f)
{
	struct against a = { 0 };
	int r = verify(c, &a, f);

	against_done(&a);
	/* Invalid options are a usage error, not a result of the verification. */
	if (r == -EINVAL)
		return dispatch_usage(c, "%s", fault_text(f));
	return r;
}
