/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/output.h"
#include "cli/cmd-ledger.h"
#include "base/exit-status.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-peer.h"
#include "ledger/ledger.h"

/* Opened before the ledger is created: a key that cannot be saved must not be created. */
static int open_k0_file(const char *path, struct fault *f)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? fault_errno(f, errno, "make '%s'", path) : fd;
}

static int keep_k0(int fd, const char *path, const struct ledger_birth *birth, struct fault *f)
{
	int r = fd_write_all(fd, birth->k0, strlen(birth->k0), f);

	if (r == 0)
		r = fd_write_all(fd, "\n", 1, f);
	if (r == 0 && fsync(fd) < 0)
		r = fault_errno(f, errno, "sync");
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : 0;
}

static int print_birth(const struct command_call *c, const struct ledger_birth *birth, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	int r;

	r = ledger_reader_open_live(c->dirs.state, &s, f);
	if (r < 0)
		return r;
	if (c->json) {
		d = jdoc_new_object();
		jdoc_set_int(d, "schema_version", 1);
		jdoc_set_string(d, "public", s.public);
		if (!c->k0_file)
			jdoc_set_string(d, "k0", birth->k0);
		return output_print(d, f);
	}
	printf("public key:      %s\n", s.public ? s.public : "?");
	if (c->k0_file)
		printf("first seal key:  in %s\n", c->k0_file);
	else
		printf("first seal key:  %s\n", birth->k0);
	printf("\nKeep both away from this machine. The seal key is shown this once: with it 'custody ledger "
	       "verify --k0'\n"
	       "finds every changed record; with it and the ledger's files records can be changed "
	       "undetected.\n");
	return 0;
}

int ledger_cmd_init(const struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct ledger_birth birth;
	int r;

	if (c->k0_file) {
		fd = open_k0_file(c->k0_file, f);
		if (fd < 0)
			return fd;
	}
	r = ledger_open(c->dirs.state, &(struct ledger_options){ .create = true, .take_k0 = true }, &l,
			&birth, f);
	if (r == 0 && birth.made && fd >= 0)
		r = keep_k0(fd, c->k0_file, &birth, f);
	if ((r < 0 || !birth.made) && fd >= 0)
		(void)unlink(c->k0_file);
	if (r < 0)
		return r;
	if (!birth.made) {
		fprintf(stderr,
			PACKAGE_NAME
			" ledger init: a ledger exists in '%s'; its first seal key was printed when it was "
			"created, or is in '%s/ledger-keys/" LEDGER_FIRST_KEY "'\n",
			c->dirs.state, c->dirs.state);
		return STATUS_NO;
	}
	r = print_birth(c, &birth, f);
	explicit_bzero(&birth, sizeof(birth));
	return r < 0 ? r : STATUS_OK;
}

static int print_repair(const struct command_call *c, const struct ledger_mark *before,
			const struct ledger_mark *after, const struct ledger_birth *birth, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (c->json) {
		d = jdoc_new_object();
		jdoc_set_int(d, "schema_version", 1);
		jdoc_set_int(d, "sealed_before", (int64_t)before->size);
		jdoc_set_int(d, "records", (int64_t)after->size);
		if (birth->made)
			jdoc_set_string(d, "k0", birth->k0);
		return output_print(d, f);
	}
	if (!c->new_seal && before->size == after->size && digest_equal(&before->head, &after->head))
		printf("nothing to repair: %" PRIu64 " records\n", after->size);
	else
		printf("%" PRIu64 " records; 'custody ledger tail' shows the record of the repair\n",
		       after->size);
	if (birth->made)
		printf("seal key from here on, shown this once: %s\n", birth->k0);
	return 0;
}

int ledger_cmd_repair(const struct command_call *c, struct fault *f)
{
	enum ledger_repair what = c->accept_loss ? LEDGER_REPAIR_ACCEPT_LOSS
				  : c->new_seal	 ? LEDGER_REPAIR_NEW_SEAL
				  : c->new_key	 ? LEDGER_REPAIR_NEW_KEY
						 : LEDGER_REPAIR_TAIL;
	struct ledger_mark before, after;
	struct ledger_birth birth;
	int r;

	r = ledger_repair(c->dirs.state, NULL, what, &before, &after, &birth, f);
	if (r == 0)
		r = print_repair(c, &before, &after, &birth, f);
	explicit_bzero(&birth, sizeof(birth));
	return r < 0 ? r : STATUS_OK;
}

static int print_checkpoint(const struct command_call *c, const char *checkpoint,
			    const struct ledger_mark *mark, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	char head[DIGEST_HEX_SIZE];

	if (!c->json) {
		fputs(checkpoint, stdout);
		return ledger_print_peers(c, stderr, f);
	}
	d = jdoc_new_object();
	digest_to_hex(&mark->head, head);
	jdoc_set_int(d, "schema_version", 1);
	jdoc_set_int(d, "records", (int64_t)mark->size);
	jdoc_set_string(d, "head", head);
	jdoc_set_string(d, "note", checkpoint);
	return output_print(d, f);
}

int ledger_cmd_checkpoint(const struct command_call *c, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	_cleanup_peers_ struct peers p = { 0 };
	_cleanup_free_ char *checkpoint = NULL;
	struct ledger_mark mark;
	int r;

	r = ledger_open(c->dirs.state, NULL, &l, NULL, f);
	if (r == 0)
		r = ledger_checkpoint(l, &checkpoint, &mark, f);
	if (r == 0)
		r = peer_load(c->dirs.state, &p, f);
	if (r == 0 && p.n > 0)
		r = peer_push(c->dirs.state, &p, f);
	if (r == 0)
		r = print_checkpoint(c, checkpoint, &mark, f);
	return r < 0 ? r : STATUS_OK;
}
