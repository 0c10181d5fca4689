/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What the kernel lets this caller do, found by doing it in a short-lived child with namespaces of its own.  Values are
 * 0 or the errno of the first thing that failed; -1 where something before it failed.
 */
struct doctor_probe {
	int userns;  /* make a user namespace and map one id */
	int proc;    /* mount /proc there */
	int overlay; /* mount an overlay there */
};

void doctor_probe(struct doctor_probe *ret);
