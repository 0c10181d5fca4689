/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "evidence/delivery.h"

#include "evidence/delivery-copy.h"
#include "evidence/evidence-ledger.h"
#include "evidence/evidence-verify.h"
#include "ledger/ledger.h"
#include "capture/manifest.h"
#include "evidence/mount-type.h"
#include "tap.h"
#include "tree-fixture.h"

#define SESSION "20261116T031500Z-1a2b3c4d"

static void the_mount_table_shows_which_paths_are_local(void)
{
	static const char table[] = "1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
				    "2 1 0:5 / /mnt/share rw - fuse.sshfs host:/x rw\n"
				    "3 1 0:6 / /mnt/with\\040blank rw shared:2 master:1 - cifs //host/y rw\n"
				    "4 2 8:2 / /mnt/share/local rw - ext4 /dev/sdb1 rw\n"
				    "5 1 0:7 / /auto rw - autofs systemd-1 rw\n"
				    "6 1 0:8 / /home rw - nfs4 host:/home rw\n";
	/* clang-format off */
	static const struct {
		const char *path, *beside, *type;
	} rows[] = {
		{ "/var/lib/custody/forensics", "/var/lib/custody/sandbox", NULL },
		{ "/mnt/share", "/var", "fuse.sshfs" },
		{ "/mnt/share/a/b", "/var", "fuse.sshfs" },
		{ "/mnt/shared", "/var", NULL },
		{ "/mnt/with blank/e", "/var", "cifs" },
		/* A parent directory is on the share. */
		{ "/mnt/share/local/e", "/var", "fuse.sshfs" },
		{ "/auto/e", "/var", "autofs" },
		{ "/home/u/e", "/var", "nfs4" },
		/* State on the share itself: deliveries there are local. */
		{ "/home/u/e", "/home/u/.local/state", NULL },
		{ "/mnt/share/e", "/home/u/.local/state", "fuse.sshfs" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = strdup(table), *type = NULL;
		int r = mount_type_decide(text, rows[i].path, rows[i].beside, &type, NULL);

		if (r != (rows[i].type == NULL) || !str_eq(type, rows[i].type)) {
			printf("# %s: %d %s\n", rows[i].path, r, type ? type : "-");
			CHECK(false);
		}
	}
	CHECK(mount_type_decide((char[]){ "not a mount\n" }, "/x", NULL, NULL, NULL) == -EBADMSG);
	CHECK(mount_type_is_local("/", NULL, NULL, NULL) >= 0);
}

struct scene {
	struct tree tree, staging, store;
	struct evidence_taken taken;
	struct delivery_copied copied;
	struct fault f;
	int staged;
	uint64_t alive;
};

static void scene_done(struct scene *s)
{
	evidence_taken_done(&s->taken);
	free(s->copied.name);
	fault_done(&s->f);
	fd_close(s->staged);
	tree_done(&s->tree);
	tree_done(&s->staging);
	tree_done(&s->store);
}
#define _cleanup_scene_ _cleanup_(scene_done)
#define SCENE                                                                                     \
	{                                                                                         \
		.tree = { .fd = -EBADF }, .staging = { .fd = -EBADF }, .store = { .fd = -EBADF }, \
		.staged = -EBADF                                                                  \
	}

static bool stage(struct scene *s, const char *agent)
{
	_cleanup_jdoc_ struct jdoc *metadata = jdoc_new_object();

	jdoc_set_string(metadata, "lane", "sandbox");
	jdoc_set_string(metadata, "agent", agent);
	evidence_taken_done(&s->taken);
	s->staged = fd_close(s->staged);
	if (evidence_write(&(struct evidence_request){ .store = s->staging.path,
						       .session = SESSION,
						       .tree = s->tree.fd,
						       .metadata = metadata,
						       .form = EVIDENCE_MIRROR },
			   &s->taken, &s->f) < 0)
		return false;
	s->staged = open(s->taken.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->staged >= 0;
}

static bool scene_make(struct scene *s)
{
	return tree_make(&s->tree) && tree_make(&s->staging) && tree_make(&s->store) &&
	       mkdirat(s->tree.fd, "d", 0700) == 0 && mkdirat(s->tree.fd, "d/e", 0700) == 0 &&
	       tree_put(s->tree.fd, "d/e/a", "aaa", 0644) && tree_put(s->tree.fd, "b", "bbb", 0644) &&
	       tree_put_sparse(s->tree.fd, "sparse", 1024 * 1024) && stage(s, "x");
}

static void count(void *arg)
{
	(*(uint64_t *)arg)++;
}

static int copy(struct scene *s)
{
	free(s->copied.name);
	s->copied = (struct delivery_copied){ 0 };
	fault_done(&s->f);
	return delivery_copy(&(struct delivery_copy){ .staged = s->staged,
						      .session = SESSION,
						      .store = s->store.path,
						      .alive = count,
						      .arg = &s->alive },
			     &s->copied, &s->f);
}

static bool is_whole(const struct scene *s, const char *name)
{
	_cleanup_evidence_check_ struct evidence_check c = { 0 };
	_cleanup_close_ int dir = openat(s->store.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir >= 0 && evidence_verify(dir, &c, NULL) == 0 && !c.damaged && !c.strange &&
	       digest_equal(&c.metadata, &s->copied.metadata);
}

static void ISO_5_a_delivery_is_whole_and_is_made_once(void)
{
	_cleanup_scene_ struct scene s = SCENE;

	CHECK(scene_make(&s) && copy(&s) == 0 && s.alive > 5);
	CHECK(str_eq(s.copied.name, SESSION) && !s.copied.was_there && is_whole(&s, SESSION));
	CHECK(digest_equal(&s.copied.metadata, &s.taken.metadata));
	CHECK(faccessat(s.store.fd, SESSION EVIDENCE_PARTIAL, F_OK, 0) < 0);
	/* Again: it exists already. */
	CHECK(copy(&s) == 0 && s.copied.was_there && str_eq(s.copied.name, SESSION));
}

static void ISO_5_another_file_of_the_same_name_stays(void)
{
	static const char *const damages[] = { "worktree/b", "worktree/d/e/a", EVIDENCE_METADATA,
					       MANIFEST_NAME };

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		_cleanup_scene_ struct scene s = SCENE;
		_cleanup_close_ int dir = -EBADF;

		CHECK(scene_make(&s) && copy(&s) == 0);
		dir = openat(s.store.fd, SESSION, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(tree_put(dir, damages[i], "bbc", 0600));
		CHECK(copy(&s) == 0 && !s.copied.was_there && str_eq(s.copied.name, SESSION "-2"));
		CHECK(is_whole(&s, SESSION "-2") && !is_whole(&s, SESSION));
	}
}

static void ISO_5_a_half_that_was_left_goes_and_a_link_is_not_followed(void)
{
	_cleanup_scene_ struct scene s = SCENE;
	_cleanup_tree_ struct tree away = { .fd = -EBADF };

	CHECK(scene_make(&s) && tree_make(&away) && mkdirat(s.store.fd, SESSION EVIDENCE_PARTIAL, 0700) == 0);
	CHECK(tree_put(s.store.fd, SESSION EVIDENCE_PARTIAL "/half", "half", 0600));
	CHECK(symlinkat(away.path, s.store.fd, SESSION) == 0);
	CHECK(copy(&s) == 0 && str_eq(s.copied.name, SESSION "-2") && is_whole(&s, SESSION "-2"));
	CHECK(faccessat(away.fd, EVIDENCE_METADATA, F_OK, 0) < 0);
}

static void only_regular_files_are_delivered(void)
{
	_cleanup_scene_ struct scene s = SCENE;

	CHECK(scene_make(&s) && mkfifoat(s.staged, "pipe", 0600) == 0 && copy(&s) == -EINVAL);
	CHECK(faccessat(s.store.fd, SESSION, F_OK, 0) < 0 &&
	      faccessat(s.store.fd, SESSION EVIDENCE_PARTIAL, F_OK, 0) < 0);
}

static void a_note_comes_back_and_a_strange_one_is_none(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_delivery_state_ struct delivery_state n = { 0 };
	const struct delivery_state was = { .store = (char[]){ "/s" },
					    .share = (char[]){ "cifs" },
					    .error = (char[]){ "away" },
					    .tries = 3,
					    .failed_us = 5 };
	static const char *const bad[] = { "", "[]", "{\"store\":1,\"tries\":-1}", "{" };

	CHECK(tree_make(&t) && delivery_state_save(t.fd, &was, NULL) == 0);
	delivery_state_load(t.path, &n);
	CHECK(str_eq(n.store, "/s") && str_eq(n.share, "cifs") && str_eq(n.error, "away") && n.tries == 3 &&
	      n.failed_us == 5);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		delivery_state_done(&n);
		CHECK(tree_put(t.fd, ".note", bad[i], 0600));
		delivery_state_load(t.path, &n);
		CHECK(!n.store && !n.share && n.tries == 0);
	}
	delivery_state_done(&n);
	CHECK(tree_put(t.fd, ".note", "{\"store\":\"/s\"}", 0666));
	delivery_state_load(t.path, &n);
	CHECK(!n.store);
}

static bool tell(struct ledger *l, const char *kind, const char *session, const struct digest *d)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	const struct ledger_event e = { .kind = kind, .session = session, .d = doc };
	char hex[DIGEST_HEX_SIZE];

	digest_to_hex(d, hex);
	jdoc_set_string(doc, "evidence_sha256", hex);
	return ledger_append(l, &e, 1, LEDGER_DECIDED, NULL, NULL) == 0;
}

static void ISO_5_the_ledger_is_asked_for_the_digest(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct digest a, b, c;
	struct evidence_ledger_found told;

	digest_bytes("a", 1, &a);
	digest_bytes("b", 1, &b);
	digest_bytes("c", 1, &c);
	CHECK(tree_make(&t) && evidence_ledger_find(t.path, SESSION, &a, &told, NULL) == 0 && !told.named);
	CHECK(ledger_open(t.path, &(struct ledger_options){ .create = true }, &l, NULL, NULL) == 0);
	CHECK(tell(l, "session.end", SESSION, &a) && tell(l, "evidence.deliver", SESSION, &b) &&
	      tell(l, "session.start", SESSION, &c) && tell(l, "session.end", SESSION "-2", &c));
	CHECK(evidence_ledger_find(t.path, SESSION, &a, &told, NULL) == 0 && told.named && !told.delivered &&
	      told.other);
	CHECK(evidence_ledger_find(t.path, SESSION, &b, &told, NULL) == 0 && told.named && told.delivered);
	CHECK(evidence_ledger_find(t.path, SESSION, &c, &told, NULL) == 0 && !told.named && told.other);
	CHECK(evidence_ledger_find(t.path, "20261116T031500Z-1a2b3c4", &a, &told, NULL) == 0 && !told.named &&
	      !told.other);
	CHECK(evidence_ledger_find(t.path, "\"", &a, &told, NULL) == 0 && !told.named && !told.other);
}

TAP_MAIN(T(the_mount_table_shows_which_paths_are_local), T(ISO_5_a_delivery_is_whole_and_is_made_once),
	 T(ISO_5_another_file_of_the_same_name_stays),
	 T(ISO_5_a_half_that_was_left_goes_and_a_link_is_not_followed), T(only_regular_files_are_delivered),
	 T(a_note_comes_back_and_a_strange_one_is_none), T(ISO_5_the_ledger_is_asked_for_the_digest))
