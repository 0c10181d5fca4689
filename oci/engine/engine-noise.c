/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-noise.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "oci/engine/engine-made.h"
#include "oci/engine/engine-mount.h"
#include "oci/engine/engine-pod.h"

/* Engines draw 64 hexadecimal digits.  A name that a person chose is no noise: it could be anything. */
static bool is_drawn(const char *id)
{
	return id && strlen(id) == 64 && strspn(id, "0123456789abcdef") == 64;
}

static const char *annotation(const struct engine_work *w, const char *name)
{
	return jdoc_get_string(jdoc_get(w->config, "annotations"), name);
}

static const char *first(const char *a, const char *b)
{
	return a ? a : b;
}

void engine_noise_names(struct engine_work *w)
{
	const char *hostname = engine_text(w->config, "hostname"), *sandbox;
	struct engine_names *n = &w->names;

	sandbox = first(annotation(w, "io.kubernetes.cri.sandbox-id"),
			annotation(w, "io.kubernetes.cri-o.SandboxID"));
	n->id = is_drawn(w->in->id) ? w->in->id : NULL;
	n->sandbox = is_drawn(sandbox) ? sandbox : NULL;
	n->pod_name = annotation(w, "io.kubernetes.cri.sandbox-name");
	n->pod_uid = annotation(w, "io.kubernetes.cri.sandbox-uid");
	engine_made_since(w->config, n);
	if (!hostname || !*hostname)
		return;
	n->hostname_is_noise = (n->id && strlen(hostname) == 12 && str_starts(n->id, hostname)) ||
			       (n->sandbox && n->pod_name && strcmp(hostname, n->pod_name) == 0);
}

/* --- hooks ------------------------------------------------------------------------------------------------------ */

static bool is_process_link(const char *path)
{
	size_t n;

	if (!str_starts(path, "/proc/"))
		return false;
	path += strlen("/proc/");
	n = strspn(path, "0123456789");
	return (n > 0 && strcmp(path + n, "/exe") == 0) || strcmp(path, "self/exe") == 0;
}

static int resolve_program(struct engine_work *w, struct jdoc *hook)
{
	const char *path = engine_text(hook, "path");
	char target[PATH_MAX];
	ssize_t n;

	if (!path || !is_process_link(path))
		return 0;
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return fault_errno(w->f, errno, "config.json: program of a hook, '%.64s'", path);
	target[n] = '\0';
	/* Replaced while it runs, by an update of the package. */
	if (str_ends(target, " (deleted)"))
		target[(size_t)n - strlen(" (deleted)")] = '\0';
	jdoc_set_string(hook, "path", target);
	return 0;
}

static bool is_hex(const char *t)
{
	return *t && !t[strspn(t, "0123456789abcdef")];
}

/* docker: libnetwork-setkey -exec-root=DIR CONTAINER CONTROLLER; the last one is drawn when dockerd starts. */
static const char *noise_of(const struct engine_work *w, const struct jdoc *args, size_t i)
{
	const char *word = args->items[i]->string, *name = args->items[0]->string;

	if (w->names.id && strcmp(word, w->names.id) == 0)
		return "(container)";
	if (w->names.sandbox && strcmp(word, w->names.sandbox) == 0)
		return "(pod)";
	if (i > 0 && i + 1 == args->n_items && strcmp(name, "libnetwork-setkey") == 0 && strlen(word) == 12 &&
	    is_hex(word))
		return "(controller)";
	return NULL;
}

int engine_noise_hook(struct engine_work *w, struct jdoc *hook)
{
	struct jdoc *args = jdoc_get(hook, "args");
	int r = resolve_program(w, hook);

	for (size_t i = 0; r == 0 && engine_is(args, JDOC_ARRAY) && i < args->n_items; i++) {
		const char *word = args->items[i]->type == JDOC_STRING && args->items[0]->type == JDOC_STRING
					   ? noise_of(w, args, i)
					   : NULL;
		struct jdoc *text = word ? jdoc_new_string(word) : NULL;

		if (!word)
			continue;
		if (!text)
			return fault_errno(w->f, ENOMEM, "config.json");
		jdoc_free(args->items[i]);
		args->items[i] = text;
	}
	return r;
}

/* --- the root ------------------------------------------------------------------------------------------------- */

char *engine_noise_rootfs(const struct engine_input *in)
{
	_cleanup_strbuf_ struct strbuf t = { 0 };
	bool containerd = strstr(in->rootfs, "/io.containerd.runtime.v2.task/");

	for (const char *path = in->rootfs; *path;) {
		size_t len = strcspn(path, "/");

		if (len == 64 && strspn(path, "0123456789abcdef") == 64)
			strbuf_puts(&t, "(layer)");
		else if (containerd && len > 0 && len == strlen(in->id) && memcmp(path, in->id, len) == 0)
			strbuf_puts(&t, "(container)");
		else
			strbuf_add(&t, path, len);
		path += len;
		if (*path)
			strbuf_putc(&t, *path++);
	}
	return strbuf_take(&t);
}

/* --- lists ------------------------------------------------------------------------------------------------------ */

static const char *key_of(const struct jdoc *d, const char *key)
{
	const char *text = d->type == JDOC_OBJECT ? jdoc_get_string(d, key) : NULL;

	return text ? text : "";
}

/* Stable: equal keys keep their order, which may matter. */
void engine_noise_sort_by(struct jdoc *array, const char *key)
{
	for (size_t i = 1; engine_is(array, JDOC_ARRAY) && i < array->n_items; i++) {
		struct jdoc *item = array->items[i];
		size_t k = i;

		for (; k > 0 && strcmp(key_of(array->items[k - 1], key), key_of(item, key)) > 0; k--)
			array->items[k] = array->items[k - 1];
		array->items[k] = item;
	}
}

void engine_noise_label(struct jdoc *object, const char *key)
{
	const char *label = jdoc_get_string(object, key), *at = label;
	_cleanup_free_ char *text = NULL;
	unsigned int a, b;
	char end;

	for (unsigned int colons = 0; at && *at; at++)
		if (*at == ':' && ++colons == 4)
			break;
	/* As engines draw them.  A range of categories, or all of them, is access to other containers. */
	if (!at || sscanf(at, ":c%u,c%u%c", &a, &b, &end) != 2)
		return;
	text = strndup(label, (size_t)(at - label));
	jdoc_set_string(object, key, text);
}

/* --- mounts ----------------------------------------------------------------------------------------------------- */

static bool depends(const char *a, const char *b)
{
	_cleanup_free_ char *x = NULL, *y = NULL;

	/* Names that are not plain may meet anywhere. */
	if (path_normalize(a, &x, NULL) < 0 || path_normalize(b, &y, NULL) < 0)
		return true;
	return path_is_below(x, y) || path_is_below(y, x);
}

/* The one to write next: the first by its name of those that no earlier one, which is not written yet, could hide. */
static size_t choose(const struct jdoc *mounts, const bool *written)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < mounts->n_items; i++) {
		bool ready = !written[i];

		if (ready && best != SIZE_MAX &&
		    strcmp(key_of(mounts->items[i], "destination"),
			   key_of(mounts->items[best], "destination")) >= 0)
			continue;
		for (size_t k = 0; ready && k < i; k++)
			ready = written[k] || !depends(key_of(mounts->items[k], "destination"),
						       key_of(mounts->items[i], "destination"));
		if (ready)
			best = i;
	}
	return best;
}

#define MOUNTS_MAX 512

static int sort_mounts(struct engine_work *w, struct jdoc *mounts)
{
	_cleanup_free_ bool *written = NULL;
	_cleanup_free_ struct jdoc **sorted = NULL;
	size_t n = mounts->n_items;

	if (n > MOUNTS_MAX)
		return fault_set(w->f, EPERM, "config.json: more than %d mounts", MOUNTS_MAX);
	if (n == 0)
		return 0;
	written = calloc(n, sizeof(*written));
	sorted = calloc(n, sizeof(struct jdoc *));
	if (!written || !sorted)
		return fault_errno(w->f, ENOMEM, "config.json");
	for (size_t k = 0; k < n; k++) {
		size_t i = choose(mounts, written);

		written[i] = true;
		sorted[k] = mounts->items[i];
	}
	memcpy(mounts->items, sorted, n * sizeof(struct jdoc *));
	return 0;
}

static void replace_source(const struct engine_work *w, struct jdoc *mount)
{
	const char *source = engine_text(mount, "source");
	_cleanup_free_ char *name = source ? engine_pod_name(source, &w->names) : NULL;
	bool made = engine_mount_kind(mount, &w->names) == ENGINE_MOUNT_ENGINE;

	/* Which volume of the pod it is counts: its containers share them. */
	if (name && !str_ends(name, "/etc-hosts"))
		jdoc_set_string(mount, "source", name);
	else if (made)
		jdoc_set_string(mount, "source", "(engine)");
}

int engine_noise_mounts(struct engine_work *w, struct jdoc *mounts)
{
	if (!engine_is(mounts, JDOC_ARRAY))
		return 0;
	for (size_t i = 0; i < mounts->n_items; i++)
		replace_source(w, mounts->items[i]);
	if (w->c->broker.open)
		jdoc_set_string(mounts->items[w->c->broker.mount], "source", "(broker)");
	return sort_mounts(w, mounts);
}
