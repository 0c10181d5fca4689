/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/approval-card-impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "tty/card-text.h"
#include "subject/subject-diff.h"

#define LETTERS_SHOWN 8

/* A row whose text is built in pieces: untrusted text is added by card_put_word only. */
void approval_card_add_built(struct card *c, const char *label, enum card_tone tone, struct strbuf *b)
{
	_cleanup_free_ char *text = strbuf_take(b);

	if (text)
		card_add(c, label, tone, "%s", text);
	else
		c->broken = true;
}

void approval_card_put_json(struct strbuf *b, const struct jdoc *v)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };

	if (v && v->type == JDOC_STRING)
		card_put_word(b, v->string);
	else if (v && jdoc_write(v, JDOC_CANONICAL, &text, NULL) == 0)
		strbuf_puts(b, text.text);
	else
		strbuf_puts(b, "?");
}

static void put_json_words(struct strbuf *b, const struct jdoc *array, const char *between)
{
	for (size_t i = 0; array && array->type == JDOC_ARRAY && i < array->n_items; i++) {
		if (i)
			strbuf_puts(b, between);
		approval_card_put_json(b, array->items[i]);
	}
}

static bool has_items(const struct jdoc *array)
{
	return array && array->type == JDOC_ARRAY && array->n_items > 0;
}

static bool is_true(const struct jdoc *object, const char *key)
{
	const struct jdoc *v = jdoc_get(object, key);

	return v && v->type == JDOC_BOOL && v->boolean;
}

/* Cyrillic letters that look like Latin ones are shown unescaped, but with a warning. */
void approval_card_add_letters(struct card *c, const char *text)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	size_t len = strlen(text), n = 0;

	while (len > 0) {
		struct card_char ch = card_char_at(text, len);

		if (ch.code >= 0x80 && ch.width > 0 && ++n <= LETTERS_SHOWN)
			strbuf_printf(&b, " U+%04X", ch.code);
		text += ch.step;
		len -= ch.step;
	}
	if (n > 0)
		card_add(c, "", CARD_WARN, "%zu letters outside ASCII, which may look like others:%s%s", n,
			 b.text ? b.text : "", n > LETTERS_SHOWN ? " ..." : "");
}

static void add_command(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *argv = jdoc_get(k->subject, "argv");
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *text = NULL;

	if (has_items(argv))
		put_json_words(&b, argv, " ");
	else if (k->command)
		card_put_word(&b, k->command);
	else
		strbuf_puts(&b, "(unknown)");
	text = strbuf_take(&b);
	if (!text) {
		c->broken = true;
		return;
	}
	card_add(c, "command", CARD_STRONG, "%s", text);
	approval_card_add_letters(c, text);
	if (!jdoc_get_string(k->subject, "cwd"))
		return;
	card_put_word(&b, jdoc_get_string(k->subject, "cwd"));
	approval_card_add_built(c, "in", CARD_PLAIN, &b);
}

/* The directory of the host that the command sees, which may be larger than the one it starts in. */
static void add_worktree(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *tree = jdoc_get(k->subject, "worktree");
	const char *source = jdoc_get_string(tree, "source"), *target = jdoc_get_string(tree, "target");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!source)
		return;
	card_put_word(&b, source);
	if (target && !str_eq(source, target)) {
		strbuf_puts(&b, ", as ");
		card_put_word(&b, target);
	}
	approval_card_add_built(c, "worktree", is_true(tree, "home") ? CARD_WARN : CARD_PLAIN, &b);
	if (jdoc_get_string(tree, "base"))
		card_add(c, "continues", CARD_PLAIN,
			 "the kept changes of an earlier session, sha256:%s: custody diff shows them",
			 jdoc_get_string(tree, "base"));
}

static void add_askers(struct card *c, const struct approval_card_facts *k)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!k->agent && !(k->askers && k->askers[0]) && k->count < 2)
		return;
	if (k->agent) {
		strbuf_puts(&b, "agent ");
		card_put_word(&b, k->agent);
	}
	for (size_t i = 0; k->askers && k->askers[i]; i++) {
		strbuf_puts(&b, b.len ? ", user " : "user ");
		card_put_word(&b, k->askers[i]);
	}
	if (k->count > 1)
		strbuf_printf(&b, "%s%" PRIu64 " times", b.len ? ", " : "", k->count);
	approval_card_add_built(c, "asked by", CARD_PLAIN, &b);
}

static void add_denial(struct card *c, const struct approval_card_facts *k)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!k->denied_by)
		return;
	strbuf_puts(&b, "before, by ");
	card_put_word(&b, k->denied_by);
	if (k->denied_reason && *k->denied_reason) {
		strbuf_puts(&b, ": ");
		card_put_word(&b, k->denied_reason);
	}
	approval_card_add_built(c, "denied", CARD_WARN, &b);
}

static void add_verdict(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *axes = jdoc_get(k->verdict, "axes"), *reasons = jdoc_get(k->verdict, "reasons");
	const char *raw = jdoc_get_string(axes, "raw_outcome"), *outcome = jdoc_get_string(axes, "outcome");

	card_add(c, "level", k->level == 'C' ? CARD_WARN : CARD_STRONG, "%s",
		 k->level == 'C' ? "C: a person confirms with a PIN" : "B: a person confirms");
	if (!has_items(reasons))
		card_add(c, "because", CARD_PLAIN, "(no reason was given)");
	for (size_t i = 0; has_items(reasons) && i < reasons->n_items; i++) {
		const char *text = jdoc_get_string(reasons->items[i], "text");
		const char *id = jdoc_get_string(reasons->items[i], "id");

		card_add(c, i ? "" : "because", CARD_PLAIN, "%s [%s]", text ? text : "?", id ? id : "?");
	}
	if (!outcome)
		return;
	card_add(c, "judged", CARD_PLAIN, "%s%s%s%s, %s, %s (%s)", outcome,
		 raw && !str_eq(raw, outcome) ? " (" : "", raw && !str_eq(raw, outcome) ? raw : "",
		 raw && !str_eq(raw, outcome) ? " without the sandbox)" : "",
		 jdoc_get_string(axes, "intention") ?: "?", jdoc_get_string(axes, "domain") ?: "?",
		 jdoc_get_string(axes, "profile") ?: "?");
}

static void add_profile(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *p = jdoc_get(k->subject, "profile"),
			  *dangerous = jdoc_get(k->subject, "dangerous");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (jdoc_get_string(p, "name")) {
		card_put_word(&b, jdoc_get_string(p, "name"));
		if (jdoc_get_string(p, "digest"))
			strbuf_printf(&b, " (%.12s)", jdoc_get_string(p, "digest"));
		approval_card_add_built(c, "profile", CARD_PLAIN, &b);
	}
	card_add(c, "lane", str_eq(k->lane, "prod") ? CARD_WARN : CARD_PLAIN, "%s", k->lane);
	if (!has_items(dangerous))
		return;
	put_json_words(&b, dangerous, ", ");
	approval_card_add_built(c, "dangerous", CARD_WARN, &b);
}

/* Layers that hold only where the host can provide them. */
static void add_optional(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *optional = jdoc_get(k->subject, "optional");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	if (!has_items(optional))
		return;
	put_json_words(&b, optional, ", ");
	approval_card_add_built(c, "may lack", CARD_WARN, &b);
}

/* A socket or FIFO of the host: the process at its other end is outside. */
static bool is_channel(const struct jdoc *mount)
{
	const char *type = jdoc_get_string(mount, "type");

	return str_eq(type, "socket") || str_eq(type, "fifo");
}

static void put_disposable(struct strbuf *b, const struct jdoc *mount)
{
	if (is_true(mount, "disposable"))
		strbuf_puts(b, " (disposable: made by custody for content that may be lost)");
}

/* Files that may be changed or deleted.  Returns whether any file of this machine is writable. */
static bool add_writes(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *tree = jdoc_get(k->subject, "worktree"), *mounts = jdoc_get(k->subject, "mounts");
	const char *mode = jdoc_get_string(tree, "mode");
	_cleanup_strbuf_ struct strbuf b = { 0 };
	bool rw = str_eq(mode, "rw");

	if (!mode) {
		card_add(c, "writes", CARD_WARN, "(unknown)");
		return true;
	}
	if (rw)
		strbuf_puts(&b, "may change or delete everything under ");
	else if (str_eq(mode, "overlay"))
		strbuf_puts(&b, "only a copy of ");
	else if (str_eq(mode, "overlay-fuse"))
		strbuf_puts(&b, "only a copy, served by fuse-overlayfs, of ");
	else if (str_eq(mode, "ro"))
		strbuf_puts(&b, "nothing; reads ");
	else
		strbuf_puts(&b, "only memory, discarded afterwards");
	if (jdoc_get(tree, "source"))
		approval_card_put_json(&b, jdoc_get(tree, "source"));
	put_disposable(&b, tree);
	approval_card_add_built(c, "writes", rw && !is_true(tree, "disposable") ? CARD_WARN : CARD_PLAIN, &b);
	for (size_t i = 0; has_items(mounts) && i < mounts->n_items; i++) {
		const struct jdoc *m = mounts->items[i];

		if (str_eq(jdoc_get_string(m, "kind"), "overlay")) {
			strbuf_puts(&b, "only a copy of the repository ");
			approval_card_put_json(&b, jdoc_get(m, "source"));
			if (jdoc_get_string(m, "base"))
				strbuf_printf(&b, ", on the kept changes sha256:%s of it",
					      jdoc_get_string(m, "base"));
			approval_card_add_built(c, "", CARD_PLAIN, &b);
		}
		if (!str_eq(jdoc_get_string(m, "kind"), "bind") || !is_true(m, "rw"))
			continue;
		strbuf_puts(&b, is_channel(m) ? "may send and receive through "
					      : "may change or delete everything under ");
		approval_card_put_json(&b, jdoc_get(m, "source"));
		strbuf_puts(&b, ", as ");
		approval_card_put_json(&b, jdoc_get(m, "target"));
		put_disposable(&b, m);
		approval_card_add_built(c, "", is_true(m, "disposable") ? CARD_PLAIN : CARD_WARN, &b);
		rw = true;
	}
	return rw;
}

/* A part of the host's own programs and settings, which the profile's root shows. */
static bool is_of_system(const char *path)
{
	static const char *const dirs[] = { "/usr",   "/bin",	 "/sbin", "/lib", "/lib32",
					    "/lib64", "/libx32", "/etc",  NULL };

	for (size_t i = 0; dirs[i]; i++)
		if (path_is_below(path, dirs[i]))
			return true;
	return false;
}

/* Files of the host that can be read, besides its programs: -v, filesystem.ro, --tools. */
static void add_reads(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *mounts = jdoc_get(k->subject, "mounts");
	const char *label = "reads";

	for (size_t i = 0; has_items(mounts) && i < mounts->n_items; i++) {
		const struct jdoc *m = mounts->items[i];
		const char *source = jdoc_get_string(m, "source"), *target = jdoc_get_string(m, "target");
		_cleanup_strbuf_ struct strbuf b = { 0 };

		if (!source || !target || is_true(m, "rw") || str_eq(jdoc_get_string(m, "kind"), "overlay") ||
		    (is_of_system(source) && str_eq(source, target)))
			continue;
		card_put_word(&b, source);
		if (!str_eq(source, target)) {
			strbuf_puts(&b, ", as ");
			card_put_word(&b, target);
		}
		approval_card_add_built(c, label, CARD_PLAIN, &b);
		label = "";
	}
}

/* "HOST:PORT PROTOCOL": one line for each. */
static void add_hosts(struct card *c, const struct jdoc *hosts)
{
	const char *label = "network";

	for (size_t i = 0; hosts && hosts->type == JDOC_ARRAY && i < hosts->n_items; i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		if (hosts->items[i]->type == JDOC_STRING)
			strbuf_puts(&b, hosts->items[i]->string);
		approval_card_add_built(c, label, CARD_WARN, &b);
		label = "";
	}
}

static void add_reach(struct card *c, const struct approval_card_facts *k)
{
	const char *network = jdoc_get_string(k->subject, "network");
	const struct jdoc *env = jdoc_get(k->subject, "env"), *broker = jdoc_get(k->subject, "broker");
	_cleanup_strbuf_ struct strbuf b = { 0 };
	bool none = str_eq(network, "none");

	if (str_eq(network, "allow"))
		add_hosts(c, jdoc_get(k->subject, "hosts"));
	else
		card_add(c, "network", none ? CARD_PLAIN : CARD_WARN, "%s",
			 none			   ? "none"
			 : str_eq(network, "host") ? "every network that this host can reach"
						   : "(unknown)");
	if (broker && broker->type != JDOC_NULL)
		approval_card_add_tools(c, broker);
	for (size_t i = 0; env && env->type == JDOC_OBJECT && i < env->n_members; i++) {
		strbuf_puts(&b, i ? ", " : "");
		card_put_word(&b, env->members[i].key);
	}
	if (b.len)
		approval_card_add_built(c, "variables", CARD_PLAIN, &b);
}

static void add_operands(struct card *c, const struct jdoc *operands)
{
	const char *label = "sealed";

	for (size_t i = 0; i < operands->n_items; i++) {
		const struct jdoc *o = operands->items[i];
		const char *sha = jdoc_get_string(o, "sha256");
		_cleanup_strbuf_ struct strbuf b = { 0 };

		if (is_true(o, "again"))
			continue;
		approval_card_put_json(&b, jdoc_get(o, "path"));
		if (sha)
			strbuf_printf(&b, " (sha256 %.12s)", sha);
		approval_card_add_built(c, label, CARD_PLAIN, &b);
		label = "";
	}
}

/* A command in a running session. */
static void add_exec(struct card *c, const char *subject)
{
	card_add(c, "runs in", CARD_WARN, "a running session with the subject %.19s", subject);
	card_add(c, "sealed", CARD_WARN,
		 "nothing: the session's processes may change every file until the command runs");
}

static void add_seal(struct card *c, const struct approval_card_facts *k)
{
	const struct jdoc *sealed = jdoc_get(k->subject, "operands"), *files = jdoc_get(sealed, "files");
	const char *seal = jdoc_get_string(sealed, "seal"),
		   *running = jdoc_get_string(jdoc_get(k->subject, "exec"), "subject");
	bool any = has_items(files);

	if (running) {
		add_exec(c, running);
		return;
	}
	if (str_eq(jdoc_get_string(jdoc_get(k->subject, "worktree"), "mode"), "tmpfs"))
		return;
	if (any)
		add_operands(c, files);
	if (str_eq(seal, "tree"))
		card_add(c, any ? "" : "sealed", CARD_PLAIN, "the whole tree, as it is now");
	else if (str_eq(seal, "none"))
		card_add(c, "sealed", CARD_WARN,
			 "nothing (--no-seal): files may change until the command runs");
	else
		card_add(c, any ? "" : "sealed", CARD_PLAIN,
			 any ? "tree not sealed: other files in it may change until the command runs"
			     : "no file named; tree not sealed: it may change until the command runs");
}

static void add_change(struct card *c, const char *label, const struct jdoc *item)
{
	const struct jdoc *was = jdoc_get(item, "was"), *is = jdoc_get(item, "is");
	const char *change = jdoc_get_string(item, "change");
	_cleanup_strbuf_ struct strbuf b = { 0 };

	card_put_word(&b, jdoc_get_string(item, "path") ?: "?");
	if (change) {
		strbuf_printf(&b, ": %s", change);
	} else {
		strbuf_puts(&b, was ? ": was " : ": was unset");
		if (was)
			approval_card_put_json(&b, was);
		strbuf_puts(&b, is ? ", is " : ", is unset");
		if (is)
			approval_card_put_json(&b, is);
	}
	approval_card_add_built(c, label, CARD_PLAIN, &b);
}

static void add_changes(struct card *c, const struct approval_card_facts *k)
{
	_cleanup_jdoc_ struct jdoc *diff = NULL;

	if (!k->last || !k->subject)
		return;
	diff = subject_diff(k->last, k->subject);
	if (!diff || diff->broken) {
		c->broken = true;
		return;
	}
	if (diff->n_items == 0)
		card_add(c, "changed", CARD_PLAIN, "nothing since the last approval");
	for (size_t i = 0; i < diff->n_items; i++)
		add_change(c, i ? "" : "changed", diff->items[i]);
}

static void add_standing(struct card *c, const struct approval_card_facts *k)
{
	const char *program = jdoc_get_string(k->standing, "program");
	const char *hash = jdoc_get_string(k->standing, "program_sha256");
	const bool bound = jdoc_get(jdoc_get(k->standing, "settings"), "argv");

	card_add(c, "a yes is", CARD_WARN,
		 "for EVERY start of this %s in this worktree with this profile, %s",
		 bound ? "command" : "program", bound ? "with these arguments" : "whatever its arguments");
	card_add(c, "", CARD_WARN,
		 "for %" PRIu64 " days, also without a terminal; not for unbounded deletes,",
		 (k->for_s + 86399) / 86400);
	card_add(c, "", CARD_WARN, "the system domain, requests from the web and level C");
	card_add(c, "program", CARD_PLAIN, "%s", program ? program : "?");
	card_add(c, "", CARD_PLAIN, "sha256:%s", hash ? hash : "?");
}

static void add_grant(struct card *c, const struct approval_card_facts *k)
{
	if (k->needed > 1)
		card_add(c, "approvals", CARD_PLAIN, "%u of %u so far", k->approvals, k->needed);
	if (k->uses == 0)
		return;
	if (k->standing) {
		add_standing(c, k);
		return;
	}
	card_add(c, "a yes is", CARD_PLAIN, "for %" PRIu64 " %s within %" PRIu64 " %s", k->uses,
		 k->uses == 1 ? "start" : "starts", k->for_s >= 120 ? k->for_s / 60 : k->for_s,
		 k->for_s >= 120 ? "minutes" : "seconds");
	if (k->fleet)
		card_add(c, "", CARD_WARN, "on each of the %zu ledgers of fleet '%s'", k->fleet_size,
			 k->fleet);
}

/* What the command can reach.  Returns whether any file of this machine is writable. */
static bool add_confinement(struct card *c, const struct approval_card_facts *k)
{
	bool node;

	if (approval_card_is_engine(k))
		return approval_card_add_engine(c, k);
	if (approval_card_is_tool(k)) {
		approval_card_add_tool(c, k);
		return false;
	}
	add_optional(c, k);
	node = add_writes(c, k);
	add_reads(c, k);
	add_reach(c, k);
	add_seal(c, k);
	return node;
}

void approval_card_describe(struct card *c, const struct approval_card_facts *k)
{
	bool node;

	add_command(c, k);
	add_worktree(c, k);
	add_askers(c, k);
	add_denial(c, k);
	add_verdict(c, k);
	add_profile(c, k);
	node = add_confinement(c, k);
	add_changes(c, k);
	if (node)
		card_add(c, "node", CARD_PLAIN, "only this machine: writable files are part of the digest");
	add_grant(c, k);
	card_add(c, "digest", CARD_PLAIN, "%s", k->digest);
}
