/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "doctor/doctor-host.h"
#include "approval/approval-lane.h"
#include "approval/approver.h"

#define TIOCSTI_SWITCH "/proc/sys/dev/tty/legacy_tiocsti"

static const char same_uid[] = "give agents a uid of their own, list the approvers' keys in custody.json "
			       "and set allow_self to false (THREATS.md)";

/* Names of the approvers whose signatures count; HERE: only those whose private key is on this host. */
static void list_names(const struct approver_list *l, bool here, struct strbuf *out)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].counts && (!here || l->items[i].has_secret))
			strbuf_printf(out, "%s'%s'", out->len ? ", " : "", l->items[i].name);
}

/* Could a process of the caller's uid approve?  The set-ups of THREATS.md, "Same uid". */
static void judge_approvers(struct doctor_report *r, const struct approval_lane *d,
			    const struct approver_list *l)
{
	static const char id[] = "APPROVAL-APPROVERS";
	_cleanup_strbuf_ struct strbuf all = { 0 }, here = { 0 };
	unsigned int uid = geteuid();

	list_names(l, false, &all);
	list_names(l, true, &here);
	if (!d->rules.configured)
		doctor_add(r, id, DOCTOR_LIMITED, DOCTOR_INFO, same_uid,
			   "local keys count%s%s: every process of uid %u outside a sandbox can sign level B",
			   all.len ? ", of " : "", all.len ? all.text : "", uid);
	else if (!all.len)
		doctor_add(r, id, DOCTOR_MISSING, DOCTOR_WARN,
			   "add the output of 'custody key show' to `approvers` in custody.json",
			   "custody.json names no approver for this lane: only level A can run");
	else if (here.len)
		doctor_add(r, id, DOCTOR_LIMITED, DOCTOR_INFO, same_uid,
			   "signatures of %s count; uid %u has the key of %s: its processes can sign level B",
			   all.text, uid, here.text);
	else if (d->rules.allow_self)
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO,
			   "if approvers start runs themselves: set allow_self to false in custody.json",
			   "signatures of %s count, and none of their keys is on this host", all.text);
	else
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL,
			   "signatures of %s count, none of their keys is on this host, and no approver "
			   "can approve their own requests",
			   all.text);
}

static void judge_pin(struct doctor_report *r, const struct approver_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->items[i].counts && l->items[i].has_pin_key;
	if (n)
		doctor_add(r, "APPROVAL-PIN", DOCTOR_OK, DOCTOR_INFO, NULL, "%zu %s can approve level C", n,
			   n == 1 ? "approver" : "approvers");
	else
		doctor_add(r, "APPROVAL-PIN", DOCTOR_UNUSED, DOCTOR_INFO, "custody pin set",
			   "no approver has a PIN: level C cannot be approved");
}

/* TIOCSTI lets any process of a session type into its terminal; the sandbox's filter refuses it. */
static void check_typing(struct doctor_report *r)
{
	static const char id[] = "APPROVAL-TERMINAL";
	_cleanup_close_ int fd = open(TIOCSTI_SWITCH, O_RDONLY | O_CLOEXEC);
	char value = '1';

	if (fd >= 0 && read(fd, &value, 1) == 1 && value == '0')
		doctor_add(r, id, DOCTOR_OK, DOCTOR_INFO, NULL,
			   "no process can type into a terminal (dev.tty.legacy_tiocsti=0)");
	else
		doctor_add(r, id, DOCTOR_LIMITED, DOCTOR_INFO,
			   fd >= 0 ? "sysctl dev.tty.legacy_tiocsti=0"
				   : "update to Linux 6.2, which can switch it off",
			   "a process outside a sandbox can type an answer into its own terminal (TIOCSTI)");
}

void doctor_check_approval(struct doctor_report *r, const struct dirs *d)
{
	_cleanup_config_ struct config *config = NULL;
	_cleanup_approval_lane_ struct approval_lane approval = APPROVAL_LANE_NONE;
	_cleanup_approvers_ struct approver_list l = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int e = config_load(d, &config, &f);

	/* Opening the store would create the directory; doctor changes nothing. */
	if (e == 0 && access(d->state, F_OK) == 0) {
		e = approval_lane_open(d, config, NULL, &approval, &f);
		if (e == 0)
			e = approver_list(&approval.store, &l, &f);
	}
	if (e < 0) {
		doctor_add(r, "APPROVAL-APPROVERS", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL, "%s", fault_text(&f));
	} else if (approval.store.dirfd < 0) {
		doctor_add(r, "APPROVAL-APPROVERS", DOCTOR_UNUSED, DOCTOR_INFO, NULL,
			   "no approver yet: this lane has no runs");
	} else {
		judge_approvers(r, &approval, &l);
		judge_pin(r, &l);
	}
	check_typing(r);
}
