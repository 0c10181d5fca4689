/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures a tree as `custody run` does, without the run: evidence-driver mirror|archive TREE OUT [THREADS].  Creates OUT.
 * Prints the seconds before syncfs, the seconds including it, and the peak memory in KB.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "capture/capture.h"
#include "evidence/evidence-probe.h"
#include "capture/pack.h"

static int take(int tree, int out, bool archive, unsigned int threads, struct fault *f)
{
	struct capture_options o = { .threads = threads };
	struct capture_stats s = { 0 };
	_cleanup_pack_ struct pack *pack = NULL;
	struct evidence_probe probe;
	uint64_t start = clock_boot_ns(), took;
	struct rusage used;
	int r;

	r = evidence_probe(out, &probe, f);
	if (r < 0)
		return r;
	o.any_names = probe.any_names;
	o.sync_each = !probe.local;
	r = archive ? pack_create(out, 0, &pack, f) : 0;
	if (r < 0)
		return r;
	o.pack = pack;
	r = capture_tree(tree, out, &o, &s, f);
	if (r < 0)
		return r;
	took = clock_boot_ns() - start;
	if (syncfs(out) < 0)
		return fault_errno(f, errno, "sync");
	(void)getrusage(RUSAGE_SELF, &used);
	printf("%.3f %.3f %ld\n", (double)took / 1e9, (double)(clock_boot_ns() - start) / 1e9,
	       used.ru_maxrss);
	return s.missing || s.cut_short
		       ? fault_set(f, EIO, "%llu entries were not captured", (unsigned long long)s.missing)
		       : 0;
}

int main(int argc, char **argv)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_close_ int tree = -EBADF, out = -EBADF;

	if (argc < 4) {
		fprintf(stderr, "usage: evidence-driver mirror|archive TREE OUT [THREADS]\n");
		return 64;
	}
	tree = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mkdir(argv[3], 0700) == 0)
		out = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree < 0 || out < 0) {
		perror("evidence-driver");
		return 1;
	}
	if (take(tree, out, strcmp(argv[1], "archive") == 0,
		 argc > 4 ? (unsigned int)strtoul(argv[4], NULL, 10) : 0, &f) == 0)
		return 0;
	fprintf(stderr, "evidence-driver: %s\n", fault_text(&f));
	return 1;
}
