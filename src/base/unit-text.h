/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* Sizes and times for people, with two or three digits: "812 B", "1.9 GB" (1024 bytes are 1 KB), "45s", "3h", "12d". */
#define UNIT_TEXT_SIZE 32

const char *unit_text_bytes(uint64_t bytes, char text[UNIT_TEXT_SIZE]);
const char *unit_text_seconds(uint64_t seconds, char text[UNIT_TEXT_SIZE]);
