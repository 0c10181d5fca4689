/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/runtime-call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json-span.h"
#include "base/path.h"
#include "base/str.h"
#include "oci/libcrun/libcrun-confine.h"
#include "oci/libcrun/libcrun-target.h"
#include "oci/libcrun/libcrun.h"
#include "oci/libcrun/unified-dir.h"

/*
 * The rules of libcrun-adapter.c apply: container definitions are not accessed, results are tested with `!= 0`, and a failure
 * may have no error object.
 */

/* One use of libcrun: its context, and the last error that it printed instead of returning it. */
struct use {
	const struct runtime_call *call;
	struct libcrun_context_s ctx;
	char *printed;
};

static void use_done(struct use *u)
{
	free(u->printed);
	u->ctx.fifo_exec_wait_fd = fd_close(u->ctx.fifo_exec_wait_fd);
}
#define _cleanup_use_ _cleanup_(use_done)

static void on_output(int err, const char *msg, libcrun_level level, void *arg)
{
	struct use *u = arg;

	if (level == 0) {
		free(u->printed);
		u->printed = strdup(msg);
	}
	u->call->report(u->call->report_arg, err, msg, level != 0);
}

/* The rest of a terminal's output after its process has exited: raw bytes, not a message. */
static void pass_terminal(int err, const char *bytes, libcrun_level level, void *arg)
{
	(void)err;
	(void)level;
	(void)arg;
	(void)!write(STDERR_FILENO, bytes, strlen(bytes));
}

static void use_init(struct use *u, const struct runtime_call *c)
{
	*u = (struct use){
		.call = c,
		.ctx = {
			.state_root = c->state_root,
			.id = c->id,
			.bundle = c->bundle ? c->bundle : ".",
			.console_socket = c->console_socket,
			.pid_file = c->pid_file,
			.notify_socket = c->notify_socket,
			.preserve_fds = c->preserve_fds,
			.listen_fds = c->listen_fds,
			.fifo_exec_wait_fd = -1,
			.systemd_cgroup = c->systemd_cgroup,
			.force_no_cgroup = c->no_cgroup,
			.detach = c->detach,
			.no_new_keyring = c->no_new_keyring,
			.no_pivot = c->no_pivot,
			/* Its argument must stay NULL: elsewhere libcrun uses it as a stdio stream. */
			.output_handler = pass_terminal,
		},
	};
	libcrun_set_verbosity(c->warnings ? 1 : 0);
	target_watch();
	crun_set_output_handler(OUTPUT_ARGUMENTS(on_output, u));
}

static bool has_status(const struct runtime_call *c)
{
	_cleanup_free_ char *path = NULL;

	return asprintf(&path, "%s/%s/status", c->state_root, c->id) >= 0 && access(path, F_OK) == 0;
}

/* libcrun 1.21 and later report EPERM where execve(2) fails with EACCES; docker derives the status 126 from the text of EACCES. */
static int errno_of(const libcrun_error_t err)
{
	if (err->status == EPERM && err->msg && str_ends(err->msg, "exists but it is not executable"))
		return EACCES;
	return err->status;
}

static int report(const struct use *u, const libcrun_error_t err, const char *verb, struct fault *f)
{
	if (err && err->status > 0)
		return fault_errno(f, errno_of(err), "%s", err->msg);
	if (err)
		return fault_set(f, EIO, "%s", err->msg);
	if (u->printed)
		return fault_set(f, EIO, "%s", u->printed);
	return fault_set(f, EIO, "%s failed and libcrun reported no error; --debug may show more", verb);
}

/* For verbs on an existing container.  Engines parse this text to tell a missing container from a failure. */
static int report_of(const struct use *u, const libcrun_error_t err, const char *verb, struct fault *f)
{
	if (err && err->status == ENOENT && !has_status(u->call))
		return fault_set(f, ENOENT, "container '%s' does not exist", u->call->id);
	return report(u, err, verb, f);
}

static int load(const struct use *u, const char *config, struct libcrun_container_s **ret, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;

	*ret = libcrun_container_load_from_memory(config, &err);
	return *ret ? 0 : report(u, err, "reading config.json", f);
}

int runtime_create(const struct runtime_call *c, const char *config, struct fault *f)
{
	_cleanup_container_ struct libcrun_container_s *container = NULL;
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };
	int r;

	use_init(&u, c);
	r = confine_descriptors(3 + c->preserve_fds, f);
	if (r == 0)
		r = load(&u, config, &container, f);
	if (r < 0)
		return r;
	target_begin();
	r = libcrun_container_create(&u.ctx, container, 0, &err);
	target_end();
	return r != 0 ? report(&u, err, "create", f) : 0;
}

/* Of a container that libcrun has removed already: where its configuration puts it.  Heap, NULL: none. */
static char *find_unified_of_config(const struct runtime_call *c, const char *config)
{
	_cleanup_free_ char *path = NULL;
	struct jspan root, section, value;

	if (c->systemd_cgroup || c->no_cgroup || jspan_root(config, strlen(config), &root) < 0)
		return NULL;
	if (jspan_get(root, "linux", &section) == 1 && jspan_get(section, "cgroupsPath", &value) == 1)
		path = jspan_string(value);
	if (!path)
		path = path_join("/", c->id);
	return unified_dir_find(path);
}

int runtime_run(const struct runtime_call *c, const char *config, int *ret_status, struct fault *f)
{
	_cleanup_container_ struct libcrun_container_s *container = NULL;
	_cleanup_free_ char *unified = NULL;
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };
	int r;

	use_init(&u, c);
	r = confine_descriptors(3 + c->preserve_fds, f);
	if (r == 0)
		r = load(&u, config, &container, f);
	if (r < 0)
		return r;
	target_begin();
	r = libcrun_container_run(&u.ctx, container, 0, &err);
	target_end();
	unified = find_unified_of_config(c, config);
	if (unified)
		unified_dir_remove(unified);
	if (r < 0)
		return report(&u, err, "run", f);
	*ret_status = r;
	return 0;
}

int runtime_start(const struct runtime_call *c, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	use_init(&u, c);
	if (libcrun_container_start(&u.ctx, c->id, &err) != 0)
		return report_of(&u, err, "start", f);
	return 0;
}

int runtime_exec(const struct runtime_call *c, const char *process, const char *cgroup, int *ret_status,
		 struct fault *f)
{
	struct libcrun_container_exec_options_s how = {
		.struct_size = sizeof(how),
		.path = process,
		.cgroup = cgroup,
	};
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };
	int r;

	use_init(&u, c);
	r = confine_descriptors(3 + c->preserve_fds, f);
	if (r < 0)
		return r;
	if (c->ignore_paused)
		libcrun_ignore_paused();
	r = libcrun_container_exec_with_options(&u.ctx, c->id, &how, &err);
	if (r < 0 && err)
		return report_of(&u, err, "exec", f);
	/* Without an error object the joined process failed to execute its program and has printed the reason. */
	*ret_status = r < 0 ? 255 : r;
	return 0;
}

int runtime_kill(const struct runtime_call *c, const char *signal, bool all, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };
	int r;

	use_init(&u, c);
	if (all)
		r = libcrun_container_killall(&u.ctx, c->id, signal, &err);
	else
		r = libcrun_container_kill(&u.ctx, c->id, signal, &err);
	return r != 0 ? report_of(&u, err, "kill", f) : 0;
}

/* Heap, NULL: none.  Scopes are systemd's to remove. */
static char *find_unified(const struct runtime_call *c)
{
	_cleanup_(libcrun_free_container_status) struct libcrun_container_status_s status = { 0 };
	_cleanup_error_ libcrun_error_t err = NULL;

	if (libcrun_read_container_status(&status, c->state_root, c->id, &err) != 0 || status.systemd_cgroup)
		return NULL;
	return unified_dir_find(status.cgroup_path);
}

int runtime_delete(const struct runtime_call *c, bool force, struct fault *f)
{
	_cleanup_free_ char *unified = find_unified(c);
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	/* Without a PID namespace libcrun kills those in the cgroup only: none, if there is no cgroup either. */
	if (force)
		(void)!runtime_kill(c, "KILL", false, NULL);
	use_init(&u, c);
	if (libcrun_container_delete(&u.ctx, NULL, c->id, force, &err) != 0)
		return report_of(&u, err, "delete", f);
	if (unified)
		unified_dir_remove(unified);
	return 0;
}

int runtime_pause(const struct runtime_call *c, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	use_init(&u, c);
	if (libcrun_container_pause(&u.ctx, c->id, &err) != 0)
		return report_of(&u, err, "pause", f);
	return 0;
}

int runtime_resume(const struct runtime_call *c, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	use_init(&u, c);
	if (libcrun_container_unpause(&u.ctx, c->id, &err) != 0)
		return report_of(&u, err, "resume", f);
	return 0;
}

int runtime_update(const struct runtime_call *c, const char *resources, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	use_init(&u, c);
	if (libcrun_container_update(&u.ctx, c->id, resources, strlen(resources), &err) != 0)
		return report_of(&u, err, "update", f);
	return 0;
}

int runtime_state(const struct runtime_call *c, FILE *out, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	use_init(&u, c);
	if (libcrun_container_state(&u.ctx, c->id, out, &err) != 0)
		return report_of(&u, err, "state", f);
	return 0;
}

int runtime_spec(bool root, FILE *out, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;

	if (libcrun_container_spec(root, out, &err) < 0)
		return fault_set(f, EIO, "spec: %s", err ? err->msg : "libcrun reported no error");
	return 0;
}

int runtime_pids(const struct runtime_call *c, pid_t **ret, struct fault *f)
{
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };

	use_init(&u, c);
	*ret = NULL;
	if (libcrun_container_read_pids(&u.ctx, c->id, true, ret, &err) < 0)
		return report_of(&u, err, "ps", f);
	return 0;
}

int runtime_entry_load(const struct runtime_call *c, struct runtime_entry *ret, struct fault *f)
{
	_cleanup_(libcrun_free_container_status) struct libcrun_container_status_s status = { 0 };
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_use_ struct use u = { 0 };
	const char *state = NULL;
	int running = 0;

	use_init(&u, c);
	if (libcrun_read_container_status(&status, c->state_root, c->id, &err) != 0)
		return report_of(&u, err, "state", f);
	if (libcrun_get_container_state_string(c->id, &status, c->state_root, &state, &running, &err) != 0)
		return report_of(&u, err, "state", f);
	*ret = (struct runtime_entry){
		.bundle = TAKE_PTR(status.bundle),
		.rootfs = TAKE_PTR(status.rootfs),
		.created = TAKE_PTR(status.created),
		.owner = TAKE_PTR(status.owner),
		.status = state,
		.pid = running ? status.pid : 0,
		.systemd_cgroup = status.systemd_cgroup,
	};
	return 0;
}

void runtime_entry_done(struct runtime_entry *e)
{
	free(e->bundle);
	free(e->rootfs);
	free(e->created);
	free(e->owner);
	*e = (struct runtime_entry){ 0 };
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int runtime_ids(const struct runtime_call *c, char ***ret, struct fault *f)
{
	struct libcrun_container_list_s *list = NULL;
	_cleanup_error_ libcrun_error_t err = NULL;
	_cleanup_strv_ char **ids = NULL;
	_cleanup_use_ struct use u = { 0 };
	int r = 0;

	use_init(&u, c);
	/* libcrun would create the state root, but a list must not create anything. */
	if (access(c->state_root, F_OK) == 0 && libcrun_get_containers_list(&list, c->state_root, &err) != 0)
		return report(&u, err, "list", f);
	for (struct libcrun_container_list_s *i = list; i && r == 0; i = i->next)
		r = strv_append(&ids, i->name);
	libcrun_free_containers_list(list);
	if (r < 0)
		return fault_errno(f, ENOMEM, "list");
	if (ids)
		qsort(ids, strv_len(ids), sizeof(*ids), compare_ids);
	*ret = TAKE_PTR(ids);
	return 0;
}
