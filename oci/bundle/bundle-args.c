/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "oci/bundle/bundle-impl.h"
#include "subject/subject-trace.h"

/* Init cannot see these: the supervisor reads the cgroup; another runtime is trusted to set them. */
#define OUTSIDE_LAYERS                                                                              \
	(LAYER_BIT(LAYER_MEMORY_LIMIT) | LAYER_BIT(LAYER_PIDS_LIMIT) | LAYER_BIT(LAYER_CPU_LIMIT) | \
	 LAYER_BIT(LAYER_DISK_LIMIT) | LAYER_BIT(LAYER_TIME_LIMIT))

static void append_text(struct jdoc *args, struct strbuf *text)
{
	jdoc_append_string(args, text->broken ? NULL : text->text);
	strbuf_done(text);
	*text = (struct strbuf){ 0 };
}

static void append_require(struct jdoc *args, const struct subject *s)
{
	uint32_t required = s->layers & ~OUTSIDE_LAYERS & ~s->profile->optional;
	_cleanup_strbuf_ struct strbuf t = { 0 };
	const char *comma = "";

	strbuf_puts(&t, "--require=");
	for (int l = 0; l < _LAYER_MAX; l++) {
		if (!(required & LAYER_BIT(l)))
			continue;
		strbuf_printf(&t, "%s%s", comma, layer_info((enum layer)l)->name);
		comma = ",";
	}
	append_text(args, &t);
}

static void append_hidden(struct jdoc *args, char *const *paths)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	for (; paths && *paths; paths++) {
		strbuf_printf(&t, "--hide=%s", *paths);
		append_text(args, &t);
	}
}

static void append_mounts(struct jdoc *args, const struct subject *s)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_printf(&t, "--work=%s:%s", subject_work_target(s), profile_worktree_word(s->profile));
	append_text(args, &t);
	for (size_t i = 0; i < s->n_mounts; i++) {
		const struct subject_mount *m = &s->mounts[i];

		/* Both: it must be an overlay, and may be written. */
		if (subject_mount_is_tree(s, m) || m->kind == SUBJECT_MOUNT_OVERLAY) {
			strbuf_printf(&t, "--tree=%s", m->target);
			append_text(args, &t);
		}
		if (!m->rw)
			continue;
		strbuf_printf(&t, "--%s=%s", m->kind == SUBJECT_MOUNT_TMPFS ? "tmpfs" : "rw", m->target);
		append_text(args, &t);
	}
	append_hidden(args, s->profile->fs_hide);
	append_hidden(args, s->secrets);
}

static void append_cwd(struct jdoc *args, const struct subject *s)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_printf(&t, "--cwd=%s", s->cwd);
	append_text(args, &t);
}

static void append_env(struct jdoc *args, const struct subject *s)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_puts(&t, "--env=");
	for (size_t i = 0; s->env && s->env[i]; i++) {
		if (i)
			strbuf_putc(&t, ',');
		strbuf_add(&t, s->env[i], strcspn(s->env[i], "="));
	}
	append_text(args, &t);
}

/* Under another runtime the numbers outside are those of a namespace that custody does not know. */
static void append_ids(struct jdoc *args, const struct subject *s, const struct placement *p)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	const struct id_map m = bundle_ids(s, p);

	if (p->report_fd < 0 || !bundle_asks(s, LAYER_USER_NS))
		return;
	strbuf_puts(&t, "--uid-map=");
	id_extents_write(&m.uid, &t);
	append_text(args, &t);
	strbuf_puts(&t, "--gid-map=");
	id_extents_write(&m.gid, &t);
	append_text(args, &t);
}

/* As add_process() of bundle.c sets them. */
static void append_limits(struct jdoc *args, const struct subject *s)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	if (s->profile->limit_files) {
		strbuf_printf(&t, "--files=%llu", (unsigned long long)s->profile->limit_files);
		append_text(args, &t);
	}
	if (bundle_asks(s, LAYER_DISK_LIMIT)) {
		strbuf_printf(&t, "--file-size=%llu", (unsigned long long)s->profile->limit_disk);
		append_text(args, &t);
	}
}

static void append_time(struct jdoc *args, const struct subject *s)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };

	strbuf_printf(&t, "--time=%llu:%llu", (unsigned long long)s->profile->limit_time_s,
		      (unsigned long long)s->profile->limit_grace_s);
	append_text(args, &t);
}

/* Without `approve` no warden exists that could answer. */
bool bundle_has_gate(const struct subject *s, const struct placement *p)
{
	return p->portable && p->approve && s->profile->process_init;
}

int bundle_require_gate(const struct subject *s, const struct placement *p, struct fault *f)
{
	static const char *const needed[] = { "socket", "connect", "setsockopt", "read", "write" };

	for (size_t i = 0; bundle_has_gate(s, p) && i < ARRAY_SIZE(needed); i++)
		if (strv_has(s->profile->seccomp_deny, needed[i]))
			return fault_set(
				f, ENOTSUP,
				"seccomp.deny has '%s', which custody-init needs in a bundle to wait for its "
				"approval: remove it there, or use 'custody run'",
				needed[i]);
	return 0;
}

static void append_tty(struct jdoc *args, unsigned int descriptors)
{
	char option[] = "--tty=\0\0\0", *end = strchr(option, '\0');

	for (unsigned int fd = 0; fd <= 2; fd++)
		if (descriptors & 1U << fd)
			*end++ = (char)('0' + fd);
	jdoc_append_string(args, option);
}

static void append_report(struct jdoc *args, const struct subject *s)
{
	jdoc_append_string(args, "--report");
	if (subject_traces(s))
		jdoc_append_string(args, "--trace");
	if (s->profile->network == PROFILE_NETWORK_ALLOW)
		jdoc_append_string(args, "--egress");
}

void bundle_add_args(struct jdoc *process, const struct subject *s, const struct placement *p)
{
	struct jdoc *args = jdoc_set_array(process, "args");

	if (s->profile->process_init) {
		jdoc_append_string(args, INIT_PATH);
		if (p->report_fd >= 0)
			append_report(args, s);
		else
			append_require(args, s);
		if (bundle_has_gate(s, p))
			jdoc_append_string(args, "--gate");
		if (p->terminal)
			append_tty(args, p->terminal);
		if (!bundle_remounts_root(s, p) && !bundle_keeps_root_flags(s, p))
			jdoc_append_string(args, "--plain-root");
		if (bundle_asks(s, LAYER_SECCOMP) && s->profile->seccomp_violation == PROFILE_SECCOMP_KILL)
			jdoc_append_string(args, "--seccomp-kills");
		append_mounts(args, s);
		append_cwd(args, s);
		append_env(args, s);
		append_limits(args, s);
		append_ids(args, s, p);
		if (p->portable && bundle_asks(s, LAYER_TIME_LIMIT))
			append_time(args, s);
		jdoc_append_string(args, "--");
	}
	for (size_t i = 0; s->argv[i]; i++) {
		_cleanup_free_ char *word = operand_word(s, i);

		jdoc_append_string(args, word);
	}
}
