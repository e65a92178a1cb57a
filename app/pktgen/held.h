/* SPDX-License-Identifier: BSD-3-Clause */
/* Pktgen's ranges: variations of a stream that are written down by the index of the table
 * held_words. They are an overlay of the stream's settings (cfg.h), in use while
 * stream_cfg.overlay_on is set. */
#pragma once
#include "cfg.h"

/* The values of one word of Pktgen's `range` command. They are only written down until
 * `enable PORTS range` puts them to use. */
#define HELD_MAX 32
struct held_range {
	bool set;                     /* any of the four was given */
	uint8_t v[4][VT_FIELD_BYTES]; /* start, min, max, inc */
};
_Static_assert(HELD_MAX * sizeof(struct held_range) <= CFG_OVERLAY_BYTES,
	       "the settings of the overlay");
/* What is written down for word i. */
static inline struct held_range *held_at(const struct stream_cfg *cfg, unsigned i)
{
	return (struct held_range *)(uintptr_t)cfg->overlay + i;
}

enum held_kind {
	HELD_RANGE, /* start, min, max, inc of a field */
	HELD_SIZE,  /* start, min, max, inc of the frame's size */
	HELD_ONE,   /* one value of a field */
	HELD_NET,   /* the network layer: number of a word in held_nets */
	HELD_L4,    /* the transport layer: number of a word in held_l4s */
};

struct held_word {
	const char *name;  /* the row is "range.NAME" */
	const char *words; /* as Pktgen writes it: "dst port" */
	enum held_kind kind;
	/* The field that the word is about. word NULL: it is that field in the outermost header
	 * of that protocol. Otherwise it is in the outermost header in which the protocol table
	 * has a field with this word and values of the same kind: `dst port` is one of udp, tcp
	 * or sctp. */
	const char *proto, *field;
	const char *word;
	/* Defaults of start, min, max, inc: those of Pktgen where they are usable. start NULL: the
	 * port's own address. min NULL: the same as start. max ".254": start with 254 as its last
	 * byte. */
	const char *dflt[4];
	const char *help;
};
enum { RANGE_START, RANGE_MIN, RANGE_MAX, RANGE_INC };

extern const struct held_word held_words[];
extern const unsigned held_nwords;
extern const char *const held_nets[], *const held_l4s[]; /* end with NULL */

/* The index of the word with this name, for example "dst-port"; -1: there is none. */
int held_find(const char *name);
/* The type that parses and prints values of the word: start, min and max, or, with inc, the
 * increment. */
void held_vspec(const struct held_word *w, bool inc, struct vspec *out);
/* The start, min, max and inc of word i: those that are set, else its defaults on the stream's
 * port. */
void held_values(const struct stream_cfg *cfg, unsigned i, uint8_t v[4][VT_FIELD_BYTES]);
/* If ranges are on, puts those that are set into *spec, a deep copy of cfg->frame, and *sizes, a
 * copy of cfg->sizes. HELD_NET, HELD_L4 and `teid` change the headers of the frame. Other words
 * whose header it does not have are passed over. -EINVAL if a start is outside of its limits, if
 * min is above max, or if the frame cannot have these headers; e names the smallest change that
 * helps. */
int held_apply(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes,
	       struct err *e);
/* Adds the words that are set to move but whose header the frame does not have: "vlan, vni".
 * Returns how many they are. */
unsigned held_unused(const struct stream_cfg *cfg, struct sbuf *out);
/* Can word i do something to a frame with these headers? */
bool held_fits(unsigned i, const struct frame_stack *stack);
/* How many words are set. */
unsigned held_count(const struct stream_cfg *cfg);
extern const struct cfg_overlay held_overlay;
