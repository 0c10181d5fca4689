/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "approval/approval-card.h"
#include "base/str.h"

/* Private to the files of the card. */

/* A row whose text is built in pieces: untrusted text is added by card_put_word only.  Empties B. */
void approval_card_add_built(struct card *c, const char *label, enum card_tone tone, struct strbuf *b);
/* A string as a word, anything else as JSON. */
void approval_card_put_json(struct strbuf *b, const struct jdoc *v);

/* A warning with the letters of TEXT that are not ASCII, if there are any. */
void approval_card_add_letters(struct card *c, const char *text);

/* Is the subject one call of a tool, broker/broker-approve.c? */
bool approval_card_is_tool(const struct approval_card_facts *k);
void approval_card_add_tool(struct card *c, const struct approval_card_facts *k);
/* The tools of a subject, section `broker`. */
void approval_card_add_tools(struct card *c, const struct jdoc *broker);

/* Is the subject a container of an engine, oci/engine/engine-document.h? */
bool approval_card_is_engine(const struct approval_card_facts *k);
/* Its rows between the profile and what changed.  Returns whether any file of this machine is writable. */
bool approval_card_add_engine(struct card *c, const struct approval_card_facts *k);
