/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "doctor/doctor-host.h"
#include "cgroup/cgroup-place.h"
#include "cgroup/scope.h"
#include "run/run-limits.h"

/* Is NAME a word of DIR/FILE? */
static bool file_has(const char *dir, const char *file, const char *name)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	char *save = NULL;
	size_t len;

	if (asprintf(&path, "%s/%s", dir, file) < 0) {
		path = NULL;
		return false;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, 4096, &text, &len, NULL) < 0)
		return false;
	for (char *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save))
		if (strcmp(word, name) == 0)
			return true;
	return false;
}

/* May this user create a cgroup with C?  -ENOMEM; *RET false where not. */
static int find_place(const struct cgroup_host *h, enum cgroup_controller c, bool *ret, struct fault *f)
{
	const char *name = cgroup_controller_name(c);
	_cleanup_free_ char *parent = NULL;
	int r = 0;

	*ret = false;
	if (h->v1[c]) {
		r = cgroup_host_v1_parent(h, c, &parent, f);
		*ret = parent != NULL;
	} else if (h->v2 && geteuid() == 0) {
		*ret = file_has(h->v2_root, "cgroup.controllers", name);
	} else if (h->v2) {
		*ret = file_has(h->v2, "cgroup.controllers", name) && access(h->v2, W_OK) == 0;
	}
	return r;
}

/* One finding about all three, because their cause and remedies are the same. */
static void add_missing(struct doctor_report *r, const struct cgroup *c)
{
	static char *const words[] = { (char *)"run", (char *)"--", (char *)"COMMAND", NULL };
	const uint32_t limits = run_limits_missing(c);
	_cleanup_free_ char *setup = run_limits_setup_line(c->setup_helps),
			    *without = run_limits_without_line(limits, words);
	_cleanup_strbuf_ struct strbuf names = { 0 }, remedy = { 0 };

	run_limits_put_names(&names, limits, ", ");
	if (setup && *setup)
		strbuf_printf(&remedy, "%s\n", setup);
	strbuf_puts(&remedy, without ? without : "");
	r->broken |= names.broken || remedy.broken || !setup || !without;
	doctor_add(r, "HOST-CGROUP", DOCTOR_MISSING, DOCTOR_WARN, remedy.text, "cannot enforce %s: %s",
		   names.text ? names.text : "limits", c->why);
}

/* 1: the missing controllers come from the user's systemd, as `custody run` does it; 0 and C->why: it does not. */
static int ask_systemd(const struct cgroup_host *h, struct cgroup *c, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_close_ int fd = -EBADF;
	unsigned int all = 0, v1 = 0;
	int r = cgroup_explain_missing(c, h, f);

	for (unsigned int i = 0; i < _CGROUP_CONTROLLER_MAX; i++) {
		all |= CGROUP_BIT(i);
		v1 |= h->v1[i] ? CGROUP_BIT(i) : 0;
	}
	if (r < 0 || geteuid() == 0 || v1 || !h->v2_root)
		return r;
	return scope_connect(all, &fd, &why) == 0 ? 1 : cgroup_blame_scope(c, fault_text(&why), f);
}

void doctor_check_cgroups(struct doctor_report *r)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	_cleanup_cgroup_ struct cgroup c = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int e = cgroup_host_load(&h, &f);

	for (unsigned int i = 0; e == 0 && i < _CGROUP_CONTROLLER_MAX; i++) {
		bool found;

		e = find_place(&h, (enum cgroup_controller)i, &found, &f);
		c.missing |= e == 0 && !found ? CGROUP_BIT(i) : 0;
	}
	if (e == 0 && c.missing)
		e = ask_systemd(&h, &c, &f);
	if (e > 0)
		doctor_add(
			r, "HOST-CGROUP", DOCTOR_OK, DOCTOR_INFO, NULL,
			"memory, pids and cpu can be limited: cgroup v2, in a scope from the user's systemd");
	else if (e < 0)
		doctor_add(r, "HOST-CGROUP", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "%s", fault_text(&f));
	else if (c.missing)
		add_missing(r, &c);
	else
		doctor_add(r, "HOST-CGROUP", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "memory, pids and cpu can be limited: cgroup %s",
			   h.v1[CGROUP_MEMORY] ? "v1" : "v2");
}
