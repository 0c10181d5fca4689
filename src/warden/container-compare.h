/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "layer/layer.h"
#include "warden/container-facts.h"

/* Compares what a container asked with what the kernel reports.  Pure.  docs/design/layers.md, "Proofs from outside". */

#define CONTAINER_WHY_SIZE 256

struct container_layer {
	bool holds;
	char why[CONTAINER_WHY_SIZE]; /* unless it holds */
};

struct container_compare {
	const struct container_asked *asked;
	const struct container_facts *facts;
	const struct container_outside *outside;
};

/* LAYER_BIT()s that can be proven from outside: before the start, and after it only. */
uint32_t container_provable(void);
uint32_t container_provable_after(void);

struct container_layer container_compare_layer(const struct container_compare *c, enum layer l);

/* Parts, one file each; WHY is set unless they hold. */
bool container_compare_mounts(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);
bool container_compare_root(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);
bool container_compare_masks(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);
bool container_compare_devices(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);
bool container_compare_cwd(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);
bool container_compare_worktree(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);
bool container_compare_process(const struct container_compare *c, char why[CONTAINER_WHY_SIZE]);

bool container_wrong(char why[CONTAINER_WHY_SIZE], const char *fmt, ...) _printf_(2, 3); /* false */
bool container_unread(char why[CONTAINER_WHY_SIZE], const char *name, int err);		 /* false */
