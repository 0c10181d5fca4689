/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "oci/runtime/runtime-verbs.h"
#include "oci/runtime/runtime-version.h"

/* Output that could not be written is an error. */
static int flush(struct fault *f)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return fault_errno(f, errno ? errno : EIO, "write to standard output");
	return 0;
}

static int choose_format(const struct runtime_options *o, bool *ret_json, struct fault *f)
{
	*ret_json = str_eq(o->format, "json");
	if (!o->format || *ret_json || str_eq(o->format, "table"))
		return 0;
	return fault_set(f, EINVAL, "unknown --format '%s'; table or json", o->format);
}

int runtime_verb_state(struct runtime_job *job, struct fault *f)
{
	int r = runtime_state(&job->call, stdout, f);

	return r < 0 ? r : flush(f);
}

int runtime_verb_ps(struct runtime_job *job, struct fault *f)
{
	_cleanup_free_ pid_t *pids = NULL;
	bool json;
	int r;

	r = choose_format(job->options, &json, f);
	if (r == 0)
		r = runtime_pids(&job->call, &pids, f);
	if (r < 0)
		return r;
	(void)puts(json ? "[" : "PID");
	for (size_t i = 0; pids && pids[i]; i++)
		(void)printf(json ? "  %d%s\n" : "%d\n", (int)pids[i], pids[i + 1] ? "," : "");
	if (json)
		(void)puts("]");
	return flush(f);
}

static int print_json(const char *id, const struct runtime_entry *e, bool first, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	jdoc_set_string(d, "ociVersion", "1.0.0");
	jdoc_set_string(d, "id", id);
	jdoc_set_int(d, "pid", e->pid);
	jdoc_set_string(d, "status", e->status);
	jdoc_set_string(d, "bundle", e->bundle);
	jdoc_set_string(d, "rootfs", e->rootfs);
	jdoc_set_string(d, "created", e->created);
	jdoc_set_string(d, "owner", e->owner ? e->owner : "");
	r = d ? jdoc_write(d, JDOC_CANONICAL, &text, f) : fault_errno(f, ENOMEM, "list");
	if (r == 0)
		(void)printf("%s\n%s", first ? "" : ",", text.text);
	return r;
}

static void print_row(const char *id, const struct runtime_entry *e, int width)
{
	(void)printf("%-*s %-9d %-8s %-39s %-30s %s\n", width, id, (int)e->pid, e->status, e->bundle,
		     e->created, e->owner ? e->owner : "");
}

static int widest(char *const *ids)
{
	size_t w = strlen("ID");

	for (size_t i = 0; ids && ids[i]; i++)
		w = strlen(ids[i]) > w ? strlen(ids[i]) : w;
	return (int)w;
}

int runtime_verb_list(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;
	struct runtime_call c = job->call;
	_cleanup_strv_ char **ids = NULL;
	bool json, first = true;
	int r;

	r = choose_format(o, &json, f);
	if (r == 0)
		r = runtime_ids(&c, &ids, f);
	if (r < 0)
		return r;
	if (json)
		(void)putchar('[');
	else if (!o->quiet)
		(void)printf("%-*s %-9s %-8s %-39s %-30s %s\n", widest(ids), "ID", "PID", "STATUS", "BUNDLE",
			     "CREATED", "OWNER");
	for (size_t i = 0; ids && ids[i]; i++) {
		_cleanup_fault_ struct fault one = { 0 };
		_cleanup_entry_ struct runtime_entry e = { 0 };

		c.id = ids[i];
		/* A container that is deleted concurrently or is damaged does not hide the others. */
		if (runtime_entry_load(&c, &e, &one) < 0) {
			if (one.code != ENOENT)
				runtime_log_fault(job->log, &one);
			continue;
		}
		if (json && !o->quiet)
			r = print_json(ids[i], &e, first, f);
		else if (o->quiet)
			(void)puts(ids[i]);
		else
			print_row(ids[i], &e, widest(ids));
		if (r < 0)
			return r;
		first = false;
	}
	if (json)
		(void)puts(first ? "]" : "\n]");
	return flush(f);
}

int runtime_verb_spec(struct runtime_job *job, struct fault *f)
{
	const struct runtime_options *o = job->options;
	const char *name = o->config ? o->config : "config.json";
	_cleanup_close_ int fd = -EBADF;
	FILE *out;
	int r;

	if (o->bundle && chdir(o->bundle) < 0)
		return fault_errno(f, errno, "change to bundle '%s'", o->bundle);
	/* Do not overwrite an existing file. */
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", name);
	out = fdopen(fd, "w");
	if (!out)
		return fault_errno(f, errno, "create '%s'", name);
	(void)TAKE_FD(fd);
	r = runtime_spec(!o->rootless, out, f);
	if (fclose(out) != 0 && r == 0)
		r = fault_errno(f, errno, "write '%s'", name);
	if (r < 0)
		(void)unlink(name);
	return r;
}

void runtime_print_version(FILE *out)
{
	(void)fprintf(out,
		      "custody-runtime version " PACKAGE_VERSION "\n"
		      "commit: libcrun-" LIBCRUN_VERSION "\n"
		      "spec: " RUNTIME_SPEC_MAX ".0\n"
		      "%s+SELINUX +APPARMOR +CAP +SECCOMP +EBPF +YAJL\n",
		      runtime_systemd_available() ? "+SYSTEMD " : "");
}
