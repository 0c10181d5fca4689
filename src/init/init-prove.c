/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-prove.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

struct line proof_line(struct prove *p, enum layer l)
{
	struct init_proof *proof = &p->report->proof[l];

	return (struct line){ .text = proof->detail, .room = sizeof(proof->detail) };
}

/* TRIED: errno of the forbidden call, 0 if none was made. */
void proof_set(struct prove *p, enum layer l, bool holds, long tried)
{
	p->report->proof[l].holds = holds;
	p->report->proof[l].err = tried < 0 ? (int32_t)-tried : 0;
}

/* All proofs read /proc: verify that it is a procfs. */
static long read_status(struct prove *p)
{
	struct statfs fs;
	long r;

	r = SYS(statfs, "/proc/self/status", &fs);
	if (r < 0)
		return r;
	if (fs.f_type != PROC_SUPER_MAGIC)
		return -ENOTDIR;
	r = rt_read_file("/proc/self/status", p->status_text, sizeof(p->status_text));
	if (r < 0)
		return r;
	facts_parse_status(p->status_text, &p->status);
	return p->status.complete ? 0 : -ENOMSG;
}

void init_prove(const struct init_options *o, struct init_msg *report)
{
	struct prove p = { .options = o, .report = report };
	long r;

	r = read_status(&p);
	if (r < 0) {
		/* No layer is proven: each reports why. */
		for (unsigned int l = 0; l < LAYER_MEMORY_LIMIT; l++) {
			struct line d = proof_line(&p, (enum layer)l);

			line_put(&d, "/proc/self/status cannot be read: ");
			line_put_errno(&d, (int)-r);
		}
		return;
	}
	prove_namespaces(&p);
	prove_process(&p);
	prove_inherited(&p);
	cwd_enter(&p);
	prove_mounts(&p);
	prove_cwd(&p);
}
