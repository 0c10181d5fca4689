/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Operations that the kernel permits this caller, tested in a short-lived child with its own namespaces.  Values are 0 or the
 * errno of the first failure; -1: not tested, because an earlier step failed.
 */
struct doctor_probe {
	int userns;  /* create a user namespace and map one id */
	int proc;    /* mount /proc there */
	int overlay; /* mount an overlay there */
};

void doctor_probe(struct doctor_probe *ret);
