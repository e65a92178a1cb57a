/* SPDX-License-Identifier: BSD-3-Clause */
/* Pktgen's ranges: variations of a stream that are written down (stream_cfg.held, by the index of this table) and in use while
 * stream_cfg.range_on is set. Pure, control thread, no DPDK. */
#pragma once
#include "cfg.h"

enum held_kind {
	HELD_RANGE, /* start, min, max, inc of a field */
	HELD_SIZE,  /* of the frame's size */
	HELD_ONE,   /* one value of a field */
	HELD_NET,   /* network and transport layer: number of a word in held_nets, held_l4s */
	HELD_L4,
};

struct held_word {
	const char *name;      /* the row is "range.NAME" */
	const char *words;     /* as Pktgen writes it: "dst port" */
	enum held_kind kind;
	const char *proto, *field; /* the field, or one with the same values */
	const char *word;      /* NULL: that field of its outermost header; else the outermost header that has this word of the protocol table with
				* the same kind of value */
	/* Defaults, Pktgen's where it has usable ones; NULL start: the port's own address. NULL min: the start. */
	const char *dflt[4];
	const char *help;
};
enum { RANGE_START, RANGE_MIN, RANGE_MAX, RANGE_INC };

extern const struct held_word held_words[];
extern const unsigned held_nwords;
extern const char *const held_nets[], *const held_l4s[]; /* end with NULL */

/* Index of "dst-port", -1: no such word. */
int held_find(const char *name);
/* What a value of the word is made of, for its text; inc: what may be added. */
void held_vspec(const struct held_word *w, bool inc, struct vspec *out);
/* The four values in force: those set, or the defaults of the stream's port. */
void held_values(const struct stream_cfg *cfg, unsigned i, uint8_t v[4][VT_FIELD_BYTES]);
/* Put the held ranges into *spec (a deep copy of cfg->frame) and *sizes (a copy of cfg->sizes), when they are on. Words whose header the frame
 * lacks are passed over. -EINVAL with text, which names the smallest change: a start outside of its limits, limits that cross. */
int held_apply(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes, struct err *e);
/* Words that are set to move but have no header in the frame: "vlan, vni". Number of them. */
unsigned held_unused(const struct stream_cfg *cfg, struct sbuf *out);
/* Can the word do something to a frame of these headers? */
bool held_fits(unsigned i, const struct frame_stack *stack);
/* Number of words that are set. */
unsigned held_count(const struct stream_cfg *cfg);
