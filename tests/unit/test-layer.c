/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layer/layer.h"

#include <string.h>

#include "tap.h"

static void every_layer_has_a_name_a_need_and_a_purpose(void)
{
	for (int i = 0; i < _LAYER_MAX; i++) {
		const struct layer_info *l = layer_info((enum layer)i);

		CHECK(l->name && *l->name);
		CHECK(l->needs && *l->needs);
		CHECK(l->what && *l->what);
	}
}

static void names_lead_back_to_their_layer(void)
{
	for (int i = 0; i < _LAYER_MAX; i++)
		CHECK(layer_from_name(layer_info((enum layer)i)->name) == i);
}

static void unknown_names_lead_nowhere(void)
{
	CHECK(layer_from_name("") < 0);
	CHECK(layer_from_name("Seccomp") < 0);
	CHECK(layer_from_name("no-seccomp") < 0);
}

static void layers_fit_the_bit_set(void)
{
	CHECK(_LAYER_MAX <= 32);
}

static void states_are_the_words_of_the_result(void)
{
	CHECK(strcmp(layer_state_name(LAYER_STATE_PROVEN), "proven") == 0);
	CHECK(strcmp(layer_state_name(LAYER_STATE_PROVEN_AFTER_START), "proven-after-start") == 0);
	CHECK(strcmp(layer_state_name(LAYER_STATE_OPTIONAL_MISSING), "optional-missing") == 0);
	CHECK(strcmp(layer_state_name(LAYER_STATE_REFUSED), "refused") == 0);
}

static void an_unknown_state_is_no_proof(void)
{
	CHECK(strcmp(layer_state_name((enum layer_state)99), "refused") == 0);
}

TAP_MAIN(T(every_layer_has_a_name_a_need_and_a_purpose), T(names_lead_back_to_their_layer),
	 T(unknown_names_lead_nowhere), T(layers_fit_the_bit_set), T(states_are_the_words_of_the_result),
	 T(an_unknown_state_is_no_proof))
