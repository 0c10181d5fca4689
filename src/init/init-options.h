/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "init/init-rt.h"

#define INIT_WRITABLE_MAX 256

enum init_work {
	INIT_WORK_NONE,
	INIT_WORK_OVERLAY,
	INIT_WORK_RO,
	INIT_WORK_RW,
	INIT_WORK_TMPFS,
	INIT_WORK_FUSE, /* an overlay mounted by fuse-overlayfs */
};

/* The command line of init-proto.h.  Strings are borrowed from argv. */
struct init_options {
	bool report, gate, plain_root, seccomp_kills, trace, egress;
	bool exec;	  /* set by init itself, in a child for a further command */
	unsigned int tty; /* bit N: descriptor N is the pty; 0: no pty */
	int gate_fd;	  /* set by init itself, with GATE */
	uint32_t require; /* LAYER_BIT()s */
	enum init_work work;
	const char *work_path;
	const char *cwd; /* NULL: option missing */
	const char *tmpfs[INIT_WRITABLE_MAX], *rw[INIT_WRITABLE_MAX], *hide[INIT_WRITABLE_MAX],
		*tree[INIT_WRITABLE_MAX];
	unsigned int n_tmpfs, n_rw, n_hide, n_tree;
	const char *env;	       /* NULL: option missing */
	const char *uid_map, *gid_map; /* "0:1000:1,1:100000:65535"; NULL: any */
	uint64_t time_ms, grace_ms;    /* 0: no limit */
	uint64_t files, file_size;     /* required RLIMIT_NOFILE and RLIMIT_FSIZE; 0: any */
	char **command;
	char **environment;
};

/* 0, or negative errno with the reason in WHY. Modifies the strings of ARGV. */
int options_parse(char **argv, char **envp, struct init_options *ret, struct line *why);
