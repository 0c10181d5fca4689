/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-start.h"

#include <errno.h>

#include "base/fd.h"
#include "container/warden-call.h"

static int connect_warden(const struct engine_record *record, struct fault *f)
{
	_cleanup_fault_ struct fault why = { 0 };
	int fd = warden_call_connect(record->path, &why);

	if (fd >= 0)
		return fd;
	return fault_set(f, EPERM,
			 "not started: the custody-warden of this container is gone (%s); create it again",
			 fault_text(&why));
}

int engine_start_ask(const char *dir, struct engine_start *ret, struct fault *f)
{
	_cleanup_engine_start_ struct engine_start s = ENGINE_START_NONE;
	int r = engine_record_read(dir, &s.record, f);

	if (r < 0)
		return fault_wrap(f, r, "not started");
	if (s.record.governed) {
		r = connect_warden(&s.record, f);
		if (r < 0)
			return r;
		s.call = r;
		r = warden_call_ask(s.call, &(struct warden_call){ .type = WARDEN_CALL_START }, NULL, f);
	}
	if (r < 0)
		return fault_wrap(f, r, "not started");
	*ret = s;
	s = ENGINE_START_NONE;
	return 0;
}

int engine_start_report(struct engine_start *s, struct fault *f)
{
	int r;

	if (s->call < 0)
		return 0;
	r = warden_call_ask(s->call, &(struct warden_call){ .type = WARDEN_CALL_STARTED }, NULL, f);
	return r < 0 ? fault_wrap(f, r, "killed after its start") : 0;
}

void engine_start_done(struct engine_start *s)
{
	engine_record_done(&s->record);
	s->call = fd_close(s->call);
}
