/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "tap.h"

#include "subject-fixture.h"

/*
 * GOV-9: a change of what runs changes the digest.  One row per field of each struct; together the rows cover the
 * struct byte by byte, so that a new field fails here until a row gives its meaning for the digest.
 */
enum meaning {
	IN_IT,
	NOT_IN_IT,     /* changes nothing that runs, or is memory of ours */
	BY_THE_PROFILE /* its effect is elsewhere in the subject; the profile's own digest has it as well */
};

/* A subject whose every part may be changed. */
struct scene {
	struct subject s;
	struct profile p;
	struct subject_mount mounts[4];
	struct subject_link links[1];
	struct operand operands[2];
	struct operand_link operand_links[1];
};

struct row {
	const char *name;
	size_t offset, size;
	enum meaning meaning;
	void (*change)(struct scene *x);
};

static void scene_init(struct scene *x)
{
	memset(x, 0, sizeof(*x));
	x->p = fixture_profile();
	x->s = fixture_subject(&x->p);
	memcpy(x->mounts, fixture_mounts, sizeof(x->mounts));
	memcpy(x->links, fixture_links, sizeof(x->links));
	memcpy(x->operands, fixture_operands, sizeof(x->operands));
	memcpy(x->operand_links, fixture_operand_links, sizeof(x->operand_links));
	x->s.mounts = x->mounts;
	x->s.links = x->links;
	x->s.operands = x->operands;
	x->s.operand_links = x->operand_links;
}

static char *one_more[] = { S("one"), S("more"), NULL };
static char *other_env[] = { S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter3"),
			     S("TERM=xterm-256color"), NULL };
static char *other_shown[] = { S("./run.sh"), S("--in=data.txt"), S("[redacted 01234567, 9 bytes]"), NULL };
static char *other_argv[] = { S("./run.sh"), S("--in=data.txt"), NULL };
static struct subject_link other_links[] = { { S("/bin"), S("b") } };
static struct operand_link other_operand_links[] = { { S("a"), S("b") } };
static struct profile other_profile;
static struct jdoc *other_document;

/* clang-format off */
#define SUBJECT_ROWS(X) \
	X(profile,         IN_IT,          other_profile = x->p; other_profile.name = S("o"); x->s.profile = &other_profile) \
	X(own_profile,     NOT_IN_IT,      x->s.own_profile = &x->p) \
	X(lane,            IN_IT,          x->s.lane = LANE_PROD) \
	X(argv,            IN_IT,          x->s.argv = other_argv) \
	X(shown,           IN_IT,          x->s.shown = other_shown) \
	X(env,             IN_IT,          x->s.env = other_env) \
	X(cwd,             IN_IT,          x->s.cwd = S("/work/sub")) \
	X(hostname,        IN_IT,          x->s.hostname = S("other")) \
	X(uid,             IN_IT,          x->s.uid++) \
	X(gid,             IN_IT,          x->s.gid++) \
	X(subordinate,     IN_IT,          x->s.subordinate = true) \
	X(worktree,        IN_IT,          x->s.worktree = S("/elsewhere")) \
	X(view,            NOT_IN_IT,      x->s.view = S("/view")) \
	X(continued,       IN_IT,          x->s.continued = true) \
	/* Only of a run that continues another one: below. */ \
	X(base,            NOT_IN_IT,      x->s.base.bytes[3]++) \
	X(target,          IN_IT,          x->s.target = S("/w")) \
	X(disposable,      IN_IT,          x->s.disposable = true) \
	X(holds_home,      IN_IT,          x->s.holds_home = true) \
	X(owner_uid,       IN_IT,          x->s.owner_uid++) \
	X(owner_gid,       IN_IT,          x->s.owner_gid++) \
	/* Only of a worktree that can be written: below. */ \
	X(worktree_file,   NOT_IN_IT,      x->s.worktree_file.inode++) \
	X(home,            IN_IT,          x->s.home = S("/root")) \
	X(mounts,          IN_IT,          x->s.mounts++; x->s.n_mounts--; x->s.worktree_at--) \
	X(n_mounts,        IN_IT,          x->s.n_mounts--) \
	X(worktree_at,     IN_IT,          x->s.worktree_at++) \
	X(links,           IN_IT,          x->s.links = other_links) \
	X(n_links,         IN_IT,          x->s.n_links = 0) \
	X(copies,          IN_IT,          x->s.copies = one_more) \
	X(layers,          IN_IT,          x->s.layers &= ~LAYER_BIT(LAYER_SECCOMP)) \
	/* The worktree's path, mode and inode are; this is what holds them. */ \
	X(sandbox,         NOT_IN_IT,      x->s.sandbox = (struct sandbox_root *)x) \
	X(kept_home,       NOT_IN_IT,      x->s.kept_home = (const struct home_dir *)x) \
	X(seal,            IN_IT,          x->s.seal = OPERAND_SEAL_NONE) \
	X(operands,        IN_IT,          x->s.operands++; x->s.n_operands--) \
	X(n_operands,      IN_IT,          x->s.n_operands--) \
	X(operand_links,   IN_IT,          x->s.operand_links = other_operand_links) \
	X(n_operand_links, IN_IT,          x->s.n_operand_links = 0) \
	X(lower,           NOT_IN_IT,      x->s.lower = (struct operand_lower *)x) \
	/* Only of a tree that is sealed: below. */ \
	X(tree,            NOT_IN_IT,      x->s.tree.bytes[3]++) \
	X(tree_lines,      NOT_IN_IT,      x->s.tree_lines = S("lines")) \
	X(approved_time_s, IN_IT,          x->s.approved_time_s++) \
	X(in_use,          NOT_IN_IT,      x->s.in_use = true) \
	X(secret_patterns, IN_IT,          x->s.secret_patterns = one_more) \
	/* Their patterns are. */ \
	X(secrets,         NOT_IN_IT,      x->s.secrets = one_more) \
	X(remarks,         NOT_IN_IT,      x->s.remarks = one_more)

#define PROFILE_ROWS(X) \
	X(name,              IN_IT,          x->p.name = S("other")) \
	X(description,       NOT_IN_IT,      x->p.description = S("other")) \
	X(path,              NOT_IN_IT,      x->p.path = S("/other")) \
	X(digest,            IN_IT,          x->p.digest.bytes[31]++) \
	X(root,              IN_IT,          x->p.root = PROFILE_ROOT_DIR) \
	X(root_path,         IN_IT,          x->p.root_path = S("/root")) \
	X(root_host_paths,   BY_THE_PROFILE, x->p.root_host_paths = one_more) \
	X(workspace,         IN_IT,          x->p.workspace = PROFILE_WORKSPACE_RO) \
	X(workspace_overlay, IN_IT,          x->p.workspace_overlay = PROFILE_OVERLAY_FUSE) \
	X(workspace_source,  BY_THE_PROFILE, x->p.workspace_source = S("/x")) \
	X(workspace_target,  BY_THE_PROFILE, x->p.workspace_target = S("/w")) \
	X(workspace_sandbox, BY_THE_PROFILE, x->p.workspace_sandbox = S("s")) \
	X(workspace_protect, BY_THE_PROFILE, x->p.workspace_protect = one_more) \
	X(workspace_ask,     BY_THE_PROFILE, x->p.workspace_ask = one_more) \
	X(workspace_allow,   BY_THE_PROFILE, x->p.workspace_allow = one_more) \
	X(workspace_ask_deletions, BY_THE_PROFILE, x->p.workspace_ask_deletions++) \
	/* The patterns of the subject are. */ \
	X(workspace_show_secrets, BY_THE_PROFILE, x->p.workspace_show_secrets = true) \
	X(workspace_keep,    BY_THE_PROFILE, x->p.workspace_keep = !x->p.workspace_keep) \
	X(workspace_continue, BY_THE_PROFILE, x->p.workspace_continue = true) \
	X(fs_ro,             BY_THE_PROFILE, x->p.fs_ro = one_more) \
	X(fs_rw,             BY_THE_PROFILE, x->p.fs_rw = one_more) \
	X(fs_hide,           IN_IT,          x->p.fs_hide = NULL) \
	/* Its mounts and variables are. */ \
	X(fs_tools,          BY_THE_PROFILE, x->p.fs_tools = true) \
	X(fs_channels,       BY_THE_PROFILE, x->p.fs_channels = one_more) \
	X(fs_tmpfs,          BY_THE_PROFILE, x->p.fs_tmpfs = NULL) \
	X(n_fs_tmpfs,        BY_THE_PROFILE, x->p.n_fs_tmpfs++) \
	X(env_pass,          BY_THE_PROFILE, x->p.env_pass = one_more) \
	X(env_set,           BY_THE_PROFILE, x->p.env_set = NULL) \
	X(n_env_set,         BY_THE_PROFILE, x->p.n_env_set++) \
	X(process_init,      IN_IT,          x->p.process_init = false) \
	X(process_hostname,  BY_THE_PROFILE, x->p.process_hostname = S("h")) \
	X(process_user,      BY_THE_PROFILE, x->p.process_user = S("7")) \
	X(process_cwd,       BY_THE_PROFILE, x->p.process_cwd = S("/c")) \
	X(process_home,      BY_THE_PROFILE, x->p.process_home = S("keep")) \
	X(network,           IN_IT,          x->p.network = PROFILE_NETWORK_HOST) \
	X(network_class,     BY_THE_PROFILE, x->p.network_class = NETWORK_CLASS_PROD) \
	/* Those of mode allow are: test-subject-json.c. */ \
	X(network_hosts,     BY_THE_PROFILE, x->p.network_hosts = NULL) \
	X(n_network_hosts,   BY_THE_PROFILE, x->p.n_network_hosts++) \
	X(limit_memory,      IN_IT,          x->p.limit_memory++) \
	X(limit_pids,        IN_IT,          x->p.limit_pids++) \
	X(limit_cpu_percent, IN_IT,          x->p.limit_cpu_percent++) \
	X(limit_disk,        IN_IT,          x->p.limit_disk++) \
	/* The run's own; approved_time_s is what counts. */ \
	X(limit_time_s,      NOT_IN_IT,      x->p.limit_time_s--) \
	X(limit_grace_s,     IN_IT,          x->p.limit_grace_s++) \
	X(limit_files,       IN_IT,          x->p.limit_files++) \
	X(limit_tmp,         IN_IT,          x->p.limit_tmp++) \
	X(limit_shm,         IN_IT,          x->p.limit_shm++) \
	X(seccomp_violation, IN_IT,          x->p.seccomp_violation = PROFILE_SECCOMP_KILL) \
	X(seccomp_allow,     IN_IT,          x->p.seccomp_allow = one_more) \
	X(seccomp_deny,      IN_IT,          x->p.seccomp_deny = NULL) \
	X(audit_trace,       IN_IT,          x->p.audit_trace = NULL) \
	/* Of containers of an engine: own runs ignore them. */ \
	X(container_capabilities, NOT_IN_IT, x->p.container_capabilities = one_more) \
	X(container_sysctls, NOT_IN_IT,      x->p.container_sysctls = one_more) \
	X(container_user_namespace, NOT_IN_IT, x->p.container_user_namespace = PROFILE_CONTAINER_USER_REQUIRE) \
	X(container_network, NOT_IN_IT,      x->p.container_network = PROFILE_CONTAINER_NETWORK_ENGINE) \
	X(optional,          IN_IT,          x->p.optional |= LAYER_BIT(LAYER_SECCOMP)) \
	X(layers,            BY_THE_PROFILE, x->p.layers = 0) \
	X(dangerous,         IN_IT,          x->p.dangerous = NULL) \
	X(sections,          IN_IT,          x->p.sections[PROFILE_SECTION_BROKER] = other_document) \
	X(document,          NOT_IN_IT,      x->p.document = other_document) \
	X(origins,           NOT_IN_IT,      x->p.origins = one_more)

/* mounts[2] is a bind that can be written, mounts[0] a tmpfs. */
#define MOUNT_ROWS(X) \
	X(source,    IN_IT, x->mounts[2].source = S("/o")) \
	X(target,    IN_IT, x->mounts[2].target = S("/o")) \
	X(size,      IN_IT, x->mounts[0].size++) \
	X(kind,      IN_IT, x->mounts[2].kind = SUBJECT_MOUNT_TMPFS; x->mounts[2].source = NULL; x->mounts[2].idmap = false) \
	X(owner_uid, IN_IT, x->mounts[2].owner_uid++) \
	X(owner_gid, IN_IT, x->mounts[2].owner_gid++) \
	X(mode,      IN_IT, x->mounts[0].mode = 0700) \
	X(rw,        IN_IT, x->mounts[1].rw = true; x->mounts[1].file.type = S_IFDIR) \
	X(is_dir,    IN_IT, x->mounts[2].is_dir = false) \
	X(disposable, IN_IT, x->mounts[2].disposable = true) \
	X(exact,     NOT_IN_IT, x->mounts[2].exact = true) \
	X(idmap,     IN_IT, x->mounts[2].idmap = false) \
	X(file,      IN_IT, x->mounts[2].file.inode++) \
	X(view,      NOT_IN_IT, x->mounts[2].view = S("/view")) \
	/* Only of the repository beside a worktree: below. */ \
	X(continued, NOT_IN_IT, x->mounts[2].continued = true) \
	X(base,      NOT_IN_IT, x->mounts[2].base.bytes[3]++)

#define FILE_ROWS(X) \
	X(device, IN_IT, x->mounts[2].file.device = makedev(7, 7)) \
	X(inode,  IN_IT, x->mounts[2].file.inode++) \
	X(type,   IN_IT, x->mounts[2].file.type = S_IFREG)

#define LINK_ROWS(X) \
	X(target, IN_IT, x->links[0].target = S("/sbin")) \
	X(text,   IN_IT, x->links[0].text = S("usr/sbin"))

#define OPERAND_ROWS(X) \
	X(arg,    IN_IT, x->operands[1].arg = 0) \
	X(at,     IN_IT, x->operands[1].at = 0) \
	X(path,   IN_IT, x->operands[1].path = S("other")) \
	X(sha256, IN_IT, x->operands[1].sha256.bytes[9]++) \
	X(size,   IN_IT, x->operands[1].size++) \
	X(mode,   IN_IT, x->operands[1].mode = 0600) \
	X(use,    IN_IT, x->operands[1].use = OPERAND_RUNS) \
	X(again,  IN_IT, x->operands[1].again = true) \
	X(searched, IN_IT, x->operands[1].searched = true)

#define OPERAND_LINK_ROWS(X) \
	X(path, IN_IT, x->operand_links[0].path = S("other")) \
	X(text, IN_IT, x->operand_links[0].text = S("other"))

#define CHANGE(type, field, code) static void type##_##field(struct scene *x) { code; }
#define ROW(type, field, meaning) \
	{ #type "." #field, offsetof(struct type, field), sizeof(((struct type *)0)->field), meaning, type##_##field },

#define SUBJECT_CHANGE(field, meaning, code) CHANGE(subject, field, code)
#define SUBJECT_ROW(field, meaning, code) ROW(subject, field, meaning)
#define PROFILE_CHANGE(field, meaning, code) CHANGE(profile, field, code)
#define PROFILE_ROW(field, meaning, code) ROW(profile, field, meaning)
#define MOUNT_CHANGE(field, meaning, code) CHANGE(subject_mount, field, code)
#define MOUNT_ROW(field, meaning, code) ROW(subject_mount, field, meaning)
#define FILE_CHANGE(field, meaning, code) CHANGE(subject_file, field, code)
#define FILE_ROW(field, meaning, code) ROW(subject_file, field, meaning)
#define LINK_CHANGE(field, meaning, code) CHANGE(subject_link, field, code)
#define LINK_ROW(field, meaning, code) ROW(subject_link, field, meaning)
#define OPERAND_CHANGE(field, meaning, code) CHANGE(operand, field, code)
#define OPERAND_ROW(field, meaning, code) ROW(operand, field, meaning)
#define OPERAND_LINK_CHANGE(field, meaning, code) CHANGE(operand_link, field, code)
#define OPERAND_LINK_ROW(field, meaning, code) ROW(operand_link, field, meaning)

SUBJECT_ROWS(SUBJECT_CHANGE)
PROFILE_ROWS(PROFILE_CHANGE)
MOUNT_ROWS(MOUNT_CHANGE)
FILE_ROWS(FILE_CHANGE)
LINK_ROWS(LINK_CHANGE)
OPERAND_ROWS(OPERAND_CHANGE)
OPERAND_LINK_ROWS(OPERAND_LINK_CHANGE)

static const struct row subject_rows[] = { SUBJECT_ROWS(SUBJECT_ROW) };
static const struct row profile_rows[] = { PROFILE_ROWS(PROFILE_ROW) };
static const struct row mount_rows[] = { MOUNT_ROWS(MOUNT_ROW) };
static const struct row file_rows[] = { FILE_ROWS(FILE_ROW) };
static const struct row link_rows[] = { LINK_ROWS(LINK_ROW) };
static const struct row operand_rows[] = { OPERAND_ROWS(OPERAND_ROW) };
static const struct row operand_link_rows[] = { OPERAND_LINK_ROWS(OPERAND_LINK_ROW) };

#define TABLE(rows, type) { rows, ARRAY_SIZE(rows), sizeof(struct type), _Alignof(struct type), #type }
static const struct {
	const struct row *rows;
	size_t n, size, align;
	const char *name;
} tables[] = {
	TABLE(subject_rows, subject),
	TABLE(profile_rows, profile),
	TABLE(mount_rows, subject_mount),
	TABLE(file_rows, subject_file),
	TABLE(link_rows, subject_link),
	TABLE(operand_rows, operand),
	TABLE(operand_link_rows, operand_link),
};
/* clang-format on */
#define N_TABLES ARRAY_SIZE(tables)

static void every_field_has_a_row(void)
{
	for (size_t t = 0; t < N_TABLES; t++) {
		size_t at = 0;

		/*
		 * The rows are in the order of the fields.  A hole that a field fits into is a field without a row:
		 * say in the table above what it means for the digest, and put it into subject-fields*.c if it is IN_IT.
		 */
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct row *r = &tables[t].rows[i];

			if (r->offset < at || r->offset - at >= 8 || (r->offset - at >= 4 && r->size < 8))
				printf("# struct %s: no row for the field before '%s'\n", tables[t].name,
				       r->name);
			CHECK(r->offset >= at && r->offset - at < 8 && (r->offset - at < 4 || r->size >= 8));
			at = r->offset + r->size;
		}
		if (tables[t].size - at >= 8)
			printf("# struct %s: no row for its last field\n", tables[t].name);
		CHECK(tables[t].size - at < 8);
	}
}

/* How many members struct NAME has in the header's TEXT; comments do not count. */
static size_t count_members(const char *text, const char *name)
{
	char head[64];
	size_t n = 0;

	(void)snprintf(head, sizeof(head), "\nstruct %s {", name);
	text = strstr(text, head);
	for (text = text ? text + strlen(head) : ""; *text && *text != '}'; text++) {
		if (strncmp(text, "/*", 2) == 0)
			text = strstr(text, "*/") + 1;
		else if (*text == ';' || *text == ',')
			n++;
	}
	return n;
}

/* A bool fits into the padding behind another one: then only the source shows it. */
static void each_header_has_as_many_fields_as_rows(void)
{
	static const char *const headers[] = { "subject/subject", "profile/profile", "subject/operand" };
	const char *dir = getenv("SRCDIR");
	_cleanup_strbuf_ struct strbuf all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		_cleanup_free_ char *text = NULL;
		char path[4096];
		size_t len;
		int fd;

		(void)snprintf(path, sizeof(path), "%s/src/%s.h", dir ? dir : ".", headers[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		CHECK(fd >= 0 && fd_read_all(fd, 1 << 20, &text, &len, NULL) == 0);
		(void)fd_close(fd);
		strbuf_puts(&all, text);
	}
	for (size_t t = 0; t < N_TABLES; t++) {
		size_t n = count_members(all.text, tables[t].name);

		if (n != tables[t].n)
			printf("# struct %s has %zu members, %zu rows\n", tables[t].name, n, tables[t].n);
		CHECK(n == tables[t].n);
	}
}

static void each_field_counts_as_its_row_says(void)
{
	struct digest was, is;
	static struct scene x;

	other_document = jdoc_new_object();
	scene_init(&x);
	CHECK(fixture_digest(&x.s, &was));
	for (size_t t = 0; t < N_TABLES; t++)
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct row *r = &tables[t].rows[i];
			bool same;

			scene_init(&x);
			r->change(&x);
			CHECK(fixture_digest(&x.s, &is));
			same = digest_equal(&was, &is);
			if (same != (r->meaning != IN_IT))
				printf("# %s\n", r->name);
			CHECK(same == (r->meaning != IN_IT));
		}
	jdoc_free(other_document);
}

static void a_retry_has_the_same_digest(void)
{
	static struct scene x, y;
	struct digest a, b;

	scene_init(&x);
	scene_init(&y);
	y.s.env = (char *[]){ S("COLUMNS=132"),	  S("HOME=/home/sandbox"), S("LINES=9"),
			      S("PATH=/usr/bin"), S("SECRET=hunter2"),	   NULL };
	y.p.limit_time_s = 1;
	CHECK(fixture_digest(&x.s, &a) && fixture_digest(&y.s, &b));
	CHECK(digest_equal(&a, &b));
}

static void a_terminal_that_is_no_plain_word_counts(void)
{
	static const char *const odd[] = { "TERM=../../x", "TERM=a b", "TERM=x\nY=z", "COLUMNS=80x",
					   "LINES=-1" };
	static struct scene x;
	struct digest a, b;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		scene_init(&x);
		x.s.env = (char *[]){ S("TERM=xterm"), NULL };
		CHECK(fixture_digest(&x.s, &a));
		x.s.env = (char *[]){ S(odd[i]), NULL };
		CHECK(fixture_digest(&x.s, &b));
		CHECK(!digest_equal(&a, &b));
	}
}

static void a_shorter_time_is_the_same_and_a_longer_one_is_not(void)
{
	struct profile base = { .limit_time_s = 60, .layers = LAYER_BIT(LAYER_TIME_LIMIT) }, asked = base;
	struct profile none = { .layers = LAYER_BIT(LAYER_TIME_LIMIT) };
	static char *argv_true[] = { S("/bin/true"), NULL };
	struct subject_request rq = { .argv = argv_true, .base = &base };
	/* clang-format off */
	const struct { const struct profile *base; uint64_t asked, approved; } rows[] = {
		{ &base, 60, 60 }, { &base, 5, 60 }, { &base, 61, 61 }, { &base, 0, 0 },
		{ &none, 5, 0 }, { &none, 0, 0 }, { NULL, 5, 5 },
	};
	/* clang-format on */

	base.workspace = asked.workspace = none.workspace = PROFILE_WORKSPACE_TMPFS;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_fault_ struct fault f = { 0 };
		_cleanup_subject_ struct subject *s = NULL;

		rq.base = rows[i].base;
		asked.limit_time_s = rows[i].asked;
		CHECK(subject_build(&asked, &rq, &s, &f) == 0);
		CHECK(s->approved_time_s == rows[i].approved);
	}
}

/* rw: the source is identified by device and inode, and not by its name alone. */
static void a_writable_worktree_is_the_file_and_not_its_name(void)
{
	static struct scene x;
	struct digest a, b, c;

	scene_init(&x);
	x.p.workspace = PROFILE_WORKSPACE_RW;
	CHECK(fixture_digest(&x.s, &a));
	x.s.worktree_file.inode++;
	CHECK(fixture_digest(&x.s, &b));
	x.s.worktree_file.inode--;
	x.s.worktree_file.device++;
	CHECK(fixture_digest(&x.s, &c));
	CHECK(!digest_equal(&a, &b) && !digest_equal(&a, &c) && !digest_equal(&b, &c));
}

static void a_sealed_tree_counts(void)
{
	static struct scene x;
	struct digest a, b;

	scene_init(&x);
	x.s.seal = OPERAND_SEAL_TREE;
	CHECK(fixture_digest(&x.s, &a));
	x.s.tree.bytes[0]++;
	CHECK(fixture_digest(&x.s, &b));
	CHECK(!digest_equal(&a, &b));
}

static void GOV_9_the_changes_that_a_run_continues_are_in_its_digest(void)
{
	struct scene x;
	struct digest a, b;

	scene_init(&x);
	x.s.continued = true;
	CHECK(fixture_digest(&x.s, &a));
	x.s.base.bytes[0]++;
	CHECK(fixture_digest(&x.s, &b));
	CHECK(!digest_equal(&a, &b));
}

static void GOV_9_the_changes_of_a_repository_that_a_run_continues_are_in_its_digest(void)
{
	struct scene x;
	struct digest a, b, c;

	scene_init(&x);
	x.mounts[2].kind = SUBJECT_MOUNT_OVERLAY;
	CHECK(fixture_digest(&x.s, &a));
	x.mounts[2].continued = true;
	CHECK(fixture_digest(&x.s, &b));
	x.mounts[2].base.bytes[0]++;
	CHECK(fixture_digest(&x.s, &c));
	CHECK(!digest_equal(&a, &b) && !digest_equal(&b, &c));
}

static void only_the_profile_itself_is_in_its_digest(void)
{
	/* clang-format off */
	static const char *const texts[] = {
		"{\"schema\":1,\"name\":\"x\"}",
		"{\"schema\":1,\"name\":\"x\",\"root\":{\"type\":\"host-ro\",\"paths\":[\"/usr\"]}}",
		"{\"schema\":1,\"name\":\"x\",\"workspace\":{\"source\":\"/srv\"}}",
		"{\"schema\":1,\"name\":\"x\",\"filesystem\":{\"ro\":[\"/srv\"]}}",
		"{\"schema\":1,\"name\":\"x\",\"filesystem\":{\"rw\":[\"/srv\"]}}",
		"{\"schema\":1,\"name\":\"x\",\"filesystem\":{\"tmpfs\":[{\"path\":\"/srv\",\"size\":\"1M\"}]}}",
		"{\"schema\":1,\"name\":\"x\",\"env\":{\"pass\":[\"A\"]}}",
		"{\"schema\":1,\"name\":\"x\",\"env\":{\"set\":{\"A\":\"b\"}}}",
		"{\"schema\":1,\"name\":\"x\",\"process\":{\"hostname\":\"h\"}}",
		"{\"schema\":1,\"name\":\"x\",\"process\":{\"user\":\"7\"}}",
		"{\"schema\":1,\"name\":\"x\",\"process\":{\"cwd\":\"/c\"}}",
		"{\"schema\":1,\"name\":\"x\",\"network\":{\"class\":\"prod\"}}",
		"{\"schema\":1,\"name\":\"x\",\"dangerous\":[\"no-seccomp\"]}",
	};
	/* clang-format on */
	enum { N = ARRAY_SIZE(texts) };
	struct profile_vars vars = { .cwd = "/w", .home = "/h", .user = "u", .session = "s" };
	struct digest seen[N];

	for (size_t i = 0; i < N; i++) {
		_cleanup_fault_ struct fault f = { 0 };
		_cleanup_profile_ struct profile *p = NULL;
		int r = profile_parse(texts[i], strlen(texts[i]), "x", &vars, &p, &f);

		if (r < 0)
			printf("# %s\n", fault_text(&f));
		CHECK(r == 0);
		seen[i] = p->digest;
		for (size_t k = 0; k < i; k++)
			CHECK(!digest_equal(&seen[i], &seen[k]));
	}
}

static void its_text_can_be_read_again_in_one_way(void)
{
	struct digest d = { { 0xab, 1 } }, back;
	char text[SUBJECT_DIGEST_SIZE];

	subject_digest_to_text(&d, text);
	CHECK(strncmp(text, "sha256:ab01", 11) == 0 && strlen(text) == 71);
	CHECK(subject_digest_from_text(text, &back) == 0 && digest_equal(&d, &back));
	CHECK(subject_digest_from_text(text + 7, &back) < 0);
	CHECK(subject_digest_from_text("", &back) < 0);
	text[10] = 'A';
	CHECK(subject_digest_from_text(text, &back) < 0);
}

TAP_MAIN(T(every_field_has_a_row), T(each_header_has_as_many_fields_as_rows),
	 T(each_field_counts_as_its_row_says), T(a_retry_has_the_same_digest),
	 T(a_terminal_that_is_no_plain_word_counts), T(a_shorter_time_is_the_same_and_a_longer_one_is_not),
	 T(a_writable_worktree_is_the_file_and_not_its_name), T(a_sealed_tree_counts),
	 T(GOV_9_the_changes_that_a_run_continues_are_in_its_digest),
	 T(GOV_9_the_changes_of_a_repository_that_a_run_continues_are_in_its_digest),
	 T(only_the_profile_itself_is_in_its_digest), T(its_text_can_be_read_again_in_one_way))
