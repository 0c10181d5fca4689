/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/id-map.h"

#include <errno.h>

#include "tap.h"

static const struct id_map sample = {
	.uid = { .at = { { 0, 1000, 1 }, { 1, 100000, 65535 } }, .n = 2 },
	.gid = { .at = { { 0, 100, 1 }, { 1, 200000, 10 }, { 11, 300000, 5 } }, .n = 3 },
};

static void an_id_inside_has_one_outside(void)
{
	uint32_t id = 7;

	CHECK(id_extents_find(&sample.uid, 0, &id) && id == 1000);
	CHECK(id_extents_find(&sample.uid, 1, &id) && id == 100000);
	CHECK(id_extents_find(&sample.uid, 65535, &id) && id == 165534);
	CHECK(id_extents_find(&sample.gid, 11, &id) && id == 300000);
	id = 7;
	CHECK(!id_extents_find(&sample.uid, 65536, &id) && id == 7);
	CHECK(!id_extents_find(&sample.gid, 16, &id) && id == 7);
	CHECK(id_extents_count(&sample.uid) == 65536 && id_extents_count(&sample.gid) == 16);
}

static void a_map_is_read_as_it_was_written(void)
{
	_cleanup_free_ char *text = id_map_to_text(&sample), *again = NULL;
	struct id_map m = { 0 };

	CHECK(str_eq(text, "uid 0:1000:1,1:100000:65535\ngid 0:100:1,1:200000:10,11:300000:5\n"));
	CHECK(id_map_parse(text, &m, NULL) == 0 && id_map_is_set(&m));
	again = id_map_to_text(&m);
	CHECK(str_eq(text, again));
}

static void the_identity_keeps_the_ids_and_renames_none(void)
{
	const struct id_map m = id_map_identity(&sample);
	uint32_t id;

	CHECK(id_extents_find(&m.uid, 1000, &id) && id == 1000);
	CHECK(id_extents_find(&m.uid, 165534, &id) && id == 165534);
	CHECK(!id_extents_find(&m.uid, 0, &id) && !id_extents_find(&m.uid, 1, &id));
	CHECK(!id_extents_find(&m.uid, 165535, &id));
}

static void other_text_is_no_map(void)
{
	static const char *const bad[] = {
		"",
		"uid \ngid \n",
		"uid 0:1000:1\n",
		"uid 0:1000:1\ngid 0:100:1",
		"uid 0:1000:1\ngid 0:100:1\nmore",
		"uid 0:1000:0\ngid 0:100:1\n",
		"uid 0:1000\ngid 0:100:1\n",
		"uid 0:-1:1\ngid 0:100:1\n",
		"uid 0:4294967296:1\ngid 0:100:1\n",
		"gid 0:100:1\nuid 0:1000:1\n",
		"uid 0:1:1,1:2:1,2:3:1,3:4:1,4:5:1,5:6:1\ngid 0:100:1\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct id_map m = { 0 };

		CHECK(id_map_parse(bad[i], &m, NULL) == -EBADMSG && !id_map_is_set(&m));
	}
}

TAP_MAIN(T(an_id_inside_has_one_outside), T(a_map_is_read_as_it_was_written),
	 T(the_identity_keeps_the_ids_and_renames_none), T(other_text_is_no_map))
