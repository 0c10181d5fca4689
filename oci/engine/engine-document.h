/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

#define ENGINE_DOCUMENT_SCHEMA "custody.engine/1"

/* Fills W->c->document: the text that is judged, approved and hashed.  docs/design/engine.md lists its members. */
int engine_document_write(struct engine_work *w) _must_check_;

/* A copy of `process` as the document has it: without noise and the members of their own, lists sorted. */
void engine_document_process(struct jdoc *process);
