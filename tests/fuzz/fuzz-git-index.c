/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gitwork/git-index.h"
#include "gitwork/git-list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The index of a hostile repository, its trees, and lines of changes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_git_index_ struct git_index x = { 0 };
	_cleanup_strbuf_ struct strbuf text = { 0 };
	/* A copy of exactly SIZE bytes, so that a read behind them is found. */
	_cleanup_free_ char *bytes = malloc(size ? size : 1);
	struct git_tree_entry e;
	struct git_change c;
	size_t at = 0, tree_at = 0;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (git_index_parse(bytes, size, &x, NULL) == 0)
		for (size_t i = 0; i < x.n; i++)
			if (!*(x.names.text + x.list[i].at))
				abort();
	strbuf_add(&text, bytes, size);
	while (git_change_next(&text, &at, &c, NULL) > 0)
		if (at > size || !c.path)
			abort();
	while (git_tree_next(bytes, size, &tree_at, &e, NULL) > 0)
		if (tree_at > size || e.name < bytes || e.name + e.len >= bytes + size)
			abort();
	return 0;
}
