/* SPDX-License-Identifier: BSD-3-Clause */
/* Pktgen's spellings as the program sees them. */
#include "face.h"
#include "pktgen.h"

static const struct set_chunk rows[] = {
	{1100, .add = pktgen_word_rows}, {1200, .add = pktgen_range_rows}, {1300, pktgen_edit_rows},
	{1500, pktgen_seq_rows},         {1600, pktgen_later_rows},        {0},
};

static const struct verb_row verbs[] = {
	{110, &verb_delay},
	{130, &verb_str},
	{130, &verb_stp},
	{130, &verb_clr},
	{130, &verb_rst},
	{210, &verb_range},
	{210, &verb_sequence},
	{220, &verb_latency},
	{235, &verb_ping4},
	{235, &verb_ping6},
	{290, &verb_enable},
	{290, &verb_disable},
	{700, .list = pktgen_later_verbs},
	{0},
};

static const struct part_row parts[] = {{500, &part_slots}, {500, &part_ranges}, {0}};

const struct face face_pktgen = {
	.rows = rows,
	.verbs = verbs,
	.parts = parts,
	.idle_row = pktgen_idle,
	.make = pktgen_features_make,
	.starts = &pktgen_start_arp,
};
