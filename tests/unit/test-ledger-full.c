/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A disk that is full: a small tmpfs in a mount namespace of the test's own. */
#include "ledger/ledger.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

#include "ledger/ledger-session.h"
#include "ledger-fixture.h"
#include "child.h"
#include "tap.h"

static struct place disk;

static bool hog(void)
{
	_cleanup_free_ char *zero = calloc(1, 4096);
	char path[256];
	_cleanup_close_ int fd = -EBADF;

	if (!zero || !place_path(&disk, "hog", path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	while (fd >= 0 && write(fd, zero, 4096) == 4096)
		;
	return fd >= 0 && errno == ENOSPC;
}

static bool release(void)
{
	char path[256];

	return place_path(&disk, "hog", path) && unlink(path) == 0;
}

static struct ledger *l;
static struct digest k0;

static struct ledger_verify_result check(void)
{
	_cleanup_free_ char *text = NULL;
	struct seal s = { 0 };
	size_t len = 0;

	text = slurp(&disk, FIRST_SEGMENT, &len);
	(void)load_seal(&disk, &s);
	return judge(text, text ? len : 0,
		     &(struct ledger_verify_options){
			     .k0 = &k0, .n_k0 = 1, .seal = &s, .seal_is_of_this_boot = true });
}

static const struct ledger_run run = { .action = "run", .session = "s" };

static void a_small_disk_can_be_had(void)
{
	struct ledger_birth birth;

	CHECK(place_make(&disk) && child_own_mounts());
	CHECK(mount("custody-test", disk.state, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=700") == 0);
	CHECK(ledger_open(disk.state, &(struct ledger_options){ .create = true }, &l, &birth, NULL) == 0);
	CHECK(digest_from_hex(birth.k0, &k0) == 0);
}

static uint64_t recorded;

static void on_a_full_disk_nothing_is_half_written(void)
{
	const struct ledger_event e = { .kind = "test.event", .session = "s" };
	_cleanup_fault_ struct fault f = { 0 };
	int r;

	CHECK(hog());
	do
		r = ledger_append(l, &e, 1, LEDGER_OBSERVED, NULL, &f);
	while (r == 0);
	CHECK(r == -ENOSPC && strstr(fault_text(&f), "disk is full"));
	recorded = check().next;
	CHECK(check().status == VERIFY_OK && recorded > 1);
}

static void TRUST_9_on_a_full_disk_no_run_is_allowed(void)
{
	CHECK(ledger_intent(l, &run, NULL) == -ENOSPC && check().next == recorded);
}

static void on_a_full_disk_an_end_is_still_recorded(void)
{
	const struct ledger_end end = { .reason = "exited", .source = "init" };
	_cleanup_fault_ struct fault f = { 0 };
	char path[256];
	int r = ledger_end(l, disk.state, &run, &end, &f);

	if (r < 0)
		printf("# %s\n", fault_text(&f));
	CHECK(r == 0 && check().status == VERIFY_OK && check().next == recorded + 1);
	CHECK(place_path(&disk, "ledger/reserve", path) && access(path, F_OK) < 0);
}

static void without_the_reserve_no_run_is_allowed(void)
{
	_cleanup_fault_ struct fault f = { 0 };

	/* The end has freed more than it used, so a record would fit: but not how it ends. */
	CHECK(hog() && ledger_intent(l, &run, &f) == -ENOSPC &&
	      strstr(fault_text(&f), "no space to record the end of a run"));
}

static void with_room_again_it_goes_on(void)
{
	char path[256];

	CHECK(release() && ledger_intent(l, &run, NULL) == 0 && check().status == VERIFY_OK);
	CHECK(check().next == recorded + 2 && check().sealed == recorded + 2 && check().gaps == 0);
	CHECK(place_path(&disk, "ledger/reserve", path) && access(path, F_OK) == 0);
}

static void the_disk_goes_away(void)
{
	ledger_free(l);
	CHECK(umount2(disk.state, MNT_DETACH) == 0 && rmdir(disk.state) == 0);
}

TAP_MAIN(T(a_small_disk_can_be_had), T(on_a_full_disk_nothing_is_half_written),
	 T(TRUST_9_on_a_full_disk_no_run_is_allowed), T(on_a_full_disk_an_end_is_still_recorded),
	 T(without_the_reserve_no_run_is_allowed), T(with_room_again_it_goes_on), T(the_disk_goes_away))
