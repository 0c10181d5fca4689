/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-note.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/json-map.h"
#include "base/path.h"
#include "base/str.h"

#define NOTE_SCHEMA 1
#define TEMP_NAME SESSION_NOTE ".new"

static const char *const state_names[] = { "lost", "running", "ended", NULL };
static const char *const lane_names[] = { "sandbox", "prod", NULL };
static const char *const workspace_names[] = { "overlay", "ro", "rw", "tmpfs", "overlay-fuse", NULL };

const char *session_state_name(enum session_state s)
{
	return state_names[s];
}

void session_note_done(struct session_note *n)
{
	char *texts[] = { n->name,   n->agent,	   n->worker,  n->issue,    n->profile,
			  n->digest, n->container, n->bundle,  n->worktree, n->workspace,
			  n->reason, n->source,	   n->evidence };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	strv_free(n->argv);
	strv_free(n->chain);
	*n = (struct session_note){ 0 };
}

int session_note_set_argv(struct session_note *n, char *const *argv, struct fault *f)
{
	size_t len = 0;

	for (char *const *a = argv; a && *a; a++) {
		len += strlen(*a) + 1;
		if (len > SESSION_NOTE_ARGV_MAX) {
			n->argv_cut = true;
			break;
		}
		if (strv_append(&n->argv, *a) < 0)
			return fault_errno(f, ENOMEM, "session");
	}
	return 0;
}

int session_note_end(struct session_note *n, const struct ledger_end *end, struct fault *f)
{
	char **const texts[] = { &n->reason, &n->source, &n->evidence };
	const char *const values[] = { end->reason, end->source, end->evidence };

	n->state = SESSION_ENDED;
	n->ended_us = clock_wall_us();
	n->code = end->code;
	n->signal = end->signal;
	n->abnormal = end->abnormal;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		free(*texts[i]);
		*texts[i] = values[i] ? strdup(values[i]) : NULL;
		if (values[i] && !*texts[i])
			return fault_errno(f, ENOMEM, "session");
	}
	return 0;
}

static void map_id(struct jmap *m, const char *key, char *field, size_t size)
{
	_cleanup_free_ char *text = m->reading ? NULL : strdup(field);

	jmap_string(m, key, &text);
	if (!m->reading || !text)
		return;
	if (strlen(text) != size - 1)
		(void)jmap_fail(m, EINVAL, "'%s' has an invalid length", key);
	else
		memcpy(field, text, size);
}

static void map_uint(struct jmap *m, const char *key, unsigned int *field)
{
	jmap_uint(m, key, field, UINT32_MAX);
}

/* Not -1, which chown treats as "leave unchanged". */
static void map_owner(struct jmap *m, const char *key, unsigned int *field)
{
	jmap_uint(m, key, field, UINT32_MAX - 1);
}

static void map_supervisor(struct jmap *m, struct session_note *n)
{
	struct jmap child;
	unsigned int pid = (unsigned int)n->pid;

	jmap_enter(m, "supervisor", &child);
	jmap_uint(&child, "pid", &pid, INT32_MAX);
	jmap_u64(&child, "start", &n->pid_start);
	map_id(&child, "boot", n->boot, sizeof(n->boot));
	jmap_leave(m, &child);
	n->pid = (pid_t)pid;
}

static void map_ids(struct jmap *m, struct session_note *n)
{
	struct jmap child;

	jmap_enter(m, "ids", &child);
	map_owner(&child, "owner_uid", &n->owner_uid);
	map_owner(&child, "owner_gid", &n->owner_gid);
	map_owner(&child, "uid_base", &n->uid_base);
	map_owner(&child, "gid_base", &n->gid_base);
	map_owner(&child, "uid", &n->uid);
	map_owner(&child, "gid", &n->gid);
	jmap_leave(m, &child);
}

static void map_exit(struct jmap *m, struct session_note *n)
{
	unsigned int code = (unsigned int)n->code, sig = (unsigned int)n->signal;
	struct jmap child;

	jmap_enter(m, "exit", &child);
	jmap_string_or_null(&child, "reason", &n->reason);
	jmap_string_or_null(&child, "source", &n->source);
	jmap_uint(&child, "code", &code, 255);
	jmap_uint(&child, "signal", &sig, 127);
	jmap_bool(&child, "abnormal", &n->abnormal);
	jmap_leave(m, &child);
	n->code = (int)code;
	n->signal = (int)sig;
}

static void map_names(struct jmap *m, struct session_note *n)
{
	unsigned int state = n->state, lane = n->lane, schema = NOTE_SCHEMA;

	map_uint(m, "schema_version", &schema);
	if (schema != NOTE_SCHEMA)
		(void)jmap_fail(m, EINVAL, "has schema_version %u, expected %d", schema, NOTE_SCHEMA);
	map_id(m, "session", n->session, sizeof(n->session));
	jmap_word(m, "state", state_names, &state);
	jmap_word(m, "lane", lane_names, &lane);
	n->state = state;
	n->lane = lane;
	jmap_string_or_null(m, "name", &n->name);
	jmap_string_or_null(m, "agent", &n->agent);
	jmap_string_or_null(m, "worker", &n->worker);
	jmap_string_or_null(m, "issue", &n->issue);
	jmap_string(m, "profile", &n->profile);
	jmap_string_or_null(m, "digest", &n->digest);
	/* Notes of older versions, which wrote none for containers, lack both keys. */
	if (m->reading && !jdoc_get(m->d, "container") && !jdoc_get(m->d, "bundle"))
		return;
	jmap_string_or_null(m, "container", &n->container);
	jmap_string_or_null(m, "bundle", &n->bundle);
}

static int map_workspace(struct jmap *m, struct session_note *n)
{
	unsigned int at = 0;

	while (!m->reading && workspace_names[at] && !str_eq(workspace_names[at], n->workspace))
		at++;
	if (!workspace_names[at])
		return jmap_fail(m, EINVAL, "unknown workspace '%s'", n->workspace ? n->workspace : "");
	jmap_word(m, "workspace", workspace_names, &at);
	if (m->reading && m->r == 0 && !(n->workspace = strdup(workspace_names[at])))
		return jmap_fail(m, ENOMEM, "no memory");
	return m->r;
}

/* Notes of older versions lack both keys. */
static void map_identity(struct jmap *m, struct session_note *n)
{
	if (m->reading && !jdoc_get(m->d, "worktree_device") && !jdoc_get(m->d, "worktree_inode"))
		return;
	jmap_u64(m, "worktree_device", &n->worktree_device);
	jmap_u64(m, "worktree_inode", &n->worktree_inode);
}

static void map_note(struct jmap *m, struct session_note *n)
{
	map_names(m, n);
	jmap_strv(m, "argv", &n->argv);
	jmap_bool(m, "argv_cut", &n->argv_cut);
	jmap_string_or_null(m, "worktree", &n->worktree);
	map_identity(m, n);
	(void)map_workspace(m, n);
	/* Only of a session that continues another one. */
	if (m->reading ? jdoc_get(m->d, "chain") != NULL : n->chain != NULL)
		jmap_strv(m, "chain", &n->chain);
	jmap_bool(m, "rootless", &n->rootless);
	jmap_bool(m, "detached", &n->detached);
	map_supervisor(m, n);
	map_ids(m, n);
	jmap_u64(m, "started_us", &n->started_us);
	jmap_u64(m, "ended_us", &n->ended_us);
	map_exit(m, n);
	jmap_string_or_null(m, "evidence", &n->evidence);
	jmap_bool(m, "changed", &n->changed);
	jmap_bool(m, "kept", &n->kept);
}

int session_note_open_dir(const struct dirs *d, const char *id, struct fault *f)
{
	_cleanup_free_ char *parent = path_join(d->state, "sessions");
	_cleanup_close_ int states = -EBADF;
	int fd;

	if (!parent)
		return fault_errno(f, ENOMEM, "session");
	if (!*id || strchr(id, '/') || id[0] == '.')
		return fault_set(f, ENOENT, "no session has the id '%s'", id);
	states = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	fd = states < 0 ? -1 : openat(states, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "session '%s'", id) : fd;
}

/* No sync: the ledger survives a power failure, and a sweep removes an empty note. */
static int replace(int dirfd, const char *text, size_t len, mode_t mode, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	/* Left by a killed writer; only one process writes at a time. */
	if (unlinkat(dirfd, TEMP_NAME, 0) < 0 && errno != ENOENT)
		return fault_errno(f, errno, "remove '" TEMP_NAME "'");
	fd = openat(dirfd, TEMP_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return fault_errno(f, errno, "create '" TEMP_NAME "'");
	r = fd_write_all(fd, text, len, f);
	if (r == 0 && renameat(dirfd, TEMP_NAME, dirfd, SESSION_NOTE) < 0)
		r = fault_errno(f, errno, "rename '" TEMP_NAME "'");
	if (r < 0)
		(void)unlinkat(dirfd, TEMP_NAME, 0);
	return r;
}

int session_note_write(int dirfd, const struct session_note *n, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *doc = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct session_note borrowed = *n;
	struct jmap m;
	int r;

	jmap_init_write(&m, doc, SESSION_NOTE, f);
	map_note(&m, &borrowed);
	r = jmap_end(&m);
	if (r == 0)
		r = jdoc_write(doc, JDOC_CANONICAL, &text, f);
	if (r < 0)
		return r;
	strbuf_putc(&text, '\n');
	if (text.broken)
		return fault_errno(f, ENOMEM, SESSION_NOTE);
	/* A note too large to be read would be swept, and with it the kept upper. */
	if (text.len > SESSION_NOTE_MAX)
		return fault_set(f, E2BIG,
				 "values of session '%s' are too long (--name, --agent, --worker, --issue)",
				 n->session);
	r = replace(dirfd, text.text, text.len, n->settled ? 0400 : 0600, f);
	return r < 0 ? fault_wrap(f, r, "note of session '%s'", n->session) : 0;
}

/* Only custody writes here; a symlink, a FIFO or another user's file is refused. */
static int read_text(int dirfd, char **ret, size_t *ret_len, bool *ret_settled, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dirfd, SESSION_NOTE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "open '" SESSION_NOTE "'");
	r = fd_require_private(fd, geteuid(), f);
	if (r < 0)
		return fault_wrap(f, r, SESSION_NOTE);
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, SESSION_NOTE);
	*ret_settled = !(st.st_mode & S_IWUSR);
	return fault_wrap(f, fd_read_all(fd, SESSION_NOTE_MAX, ret, ret_len, f), SESSION_NOTE);
}

int session_note_read(int dirfd, struct session_note *ret, struct fault *f)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_free_ char *text = NULL;
	struct jmap m;
	size_t len;
	int r;

	r = read_text(dirfd, &text, &len, &n.settled, f);
	if (r == 0)
		r = jdoc_parse(text, len, SESSION_NOTE, NULL, &doc, f);
	if (r < 0)
		return r;
	jmap_init_read(&m, doc, SESSION_NOTE, f);
	map_note(&m, &n);
	if (m.r == 0 && n.state == SESSION_LOST)
		(void)jmap_fail(&m, EINVAL, "unexpected state 'lost'");
	r = jmap_end(&m);
	if (r < 0)
		return r;
	*ret = n;
	n = (struct session_note){ 0 };
	return 0;
}
