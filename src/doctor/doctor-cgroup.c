/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "doctor/doctor-host.h"
#include "cgroup/cgroup-host.h"

#define DELEGATE "systemd-run --user --scope -p Delegate=yes -- custody run ..."

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

static void check_controller(struct doctor_report *r, const struct cgroup_host *h, enum cgroup_controller c)
{
	const char *name = cgroup_controller_name(c);
	char id[48];

	(void)snprintf(id, sizeof(id), "HOST-CGROUP-%s", name);
	for (char *p = id; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	if (h->v1[c]) {
		if (access(h->v1[c], W_OK) == 0)
			doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL, "cgroup v1, '%s' is writable",
				   h->v1[c]);
		else
			doctor_add(r, id, DOCTOR_MISSING, DOCTOR_WARN,
				   "as root create a cgroup for this user; 'custody run' prints the commands",
				   "cgroup v1, '%s' is not writable for this user", h->v1[c]);
		return;
	}
	if (!h->v2) {
		doctor_add(r, id, DOCTOR_MISSING, DOCTOR_WARN,
			   "as root: mount -t cgroup2 none /sys/fs/cgroup",
			   "no cgroup file system is mounted");
		return;
	}
	if (geteuid() == 0 ? !file_has(h->v2_root, "cgroup.controllers", name)
			   : !file_has(h->v2, "cgroup.controllers", name))
		doctor_add(r, id, DOCTOR_MISSING, DOCTOR_WARN,
			   geteuid() == 0 ? "boot with cgroup v2 controllers enabled" : DELEGATE,
			   "cgroup v2, but the controller '%s' is missing", name);
	else if (geteuid() != 0 && access(h->v2, W_OK) < 0)
		doctor_add(r, id, DOCTOR_MISSING, DOCTOR_WARN, DELEGATE,
			   "cgroup v2, '%s' is not delegated to this user", h->v2);
	else
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL, "cgroup v2, controller '%s'", name);
}

void doctor_check_cgroups(struct doctor_report *r)
{
	_cleanup_cgroup_host_ struct cgroup_host h = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	if (cgroup_host_load(&h, &f) < 0) {
		doctor_add(r, "HOST-CGROUP-MEMORY", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "%s", fault_text(&f));
		return;
	}
	for (unsigned int c = 0; c < _CGROUP_CONTROLLER_MAX; c++)
		check_controller(r, &h, (enum cgroup_controller)c);
}
