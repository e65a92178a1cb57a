/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share. Here are Pktgen's spellings of what the program says in
 * words of its own. Nothing outside names them: they reach the program by face_pktgen alone. */
#pragma once
#include "part/part.h"
#include "set/set.h"

/* Each ends with a row without a name. */
extern const struct setting pktgen_edit_rows[], pktgen_seq_rows[], pktgen_later_rows[];
/* Append rows that are made once: the words of header fields ("dport"), from the protocol table, and
 * the ranges, from the table held_words. */
void pktgen_word_rows(const struct setting ***rows, unsigned *n);
void pktgen_range_rows(const struct setting ***rows, unsigned *n);
/* Returns whether the row is that of a range which the stream was not given. */
bool pktgen_idle(const struct setting *row, const struct set_obj *obj);

/* Makes a new slot of the sequence: a stream that has the defaults and the tags and tunnels of
 * stream 0, and is not enabled. Returns 0 or -errno with *e. */
int pktgen_slot_make(struct ctl *ctl, unsigned port, unsigned stream, struct err *e);

extern const struct verb verb_str, verb_stp, verb_clr, verb_rst, verb_delay, verb_enable,
	verb_disable, verb_range, verb_sequence, verb_latency, verb_ping4, verb_ping6;
/* What `start <ports> arp` does; it gets <ports> and a word of start_arp_words. */
extern const struct verb pktgen_start_arp;
extern const struct verb pktgen_later_verbs[]; /* are refused; ends with a verb without a name */
/* Makes the choices of `enable` and `disable`. */
void pktgen_features_make(void);

/* enable_host.c: words of `enable` and `disable` about ports that are hosts. */
typedef int pktgen_enable_fn(struct cmd_run *r, const struct arg_val *ports, bool on,
			     struct err *e);
pktgen_enable_fn pktgen_enable_ping, pktgen_enable_arp, pktgen_enable_process, pktgen_enable_auto;
pktgen_enable_fn pktgen_enable_capture; /* enable_capture.c */
/* Whether the port can be a host: 0, or -errno with *e. */
int pktgen_may_host(struct cmd_run *r, unsigned port, struct err *e);
/* Whether it has an address of its own. */
bool pktgen_is_host(struct cmd_run *r, unsigned port);

extern const struct snap_part part_slots, part_ranges;
