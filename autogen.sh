#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Generates configure and Makefile.in; everything it writes is git-ignored.
set -e
cd "$(dirname "$0")"
exec autoreconf -fi
