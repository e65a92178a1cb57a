/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits of a frame's headers, as Pktgen's words name them: a tag or a tunnel is added or dropped, a
 * layer is exchanged for another. Values, variations and nesting move with their headers. They are
 * lost where their header is dropped, or where the header in its place has no such field. Control
 * side, any thread. On failure (-EINVAL with text) nothing has changed. */
#pragma once
#include "frame.h"

enum frame_part { PART_VLAN, PART_QINQ, PART_MPLS, PART_GRE, PART_GRE_ETH, PART_VXLAN, PART_GTPU };

bool frame_has_header(const struct frame_stack *s, const char *name);
bool frame_has(const struct frame_stack *s, enum frame_part part);
/* frame_add() puts a part into the frame, frame_drop() takes it out. Nothing happens where the
 * frame has the part already, or lacks it. The names of values that are lost are appended to gone
 * (may be NULL): "udp.src, udp.dst". Where a part goes:
 * VLAN    behind eth and an outer tag. The inner tag of a pair counts as one, but frame_drop()
 *         leaves it
 * QINQ    the pair qinq/vlan behind eth; a vlan that is there becomes its inner tag. frame_drop()
 *         takes the whole pair
 * MPLS    behind eth and the tags
 * GRE     behind the outermost IP header, followed by a new IP header of the same version:
 *         ipv4/gre/ipv4/..
 * GRE_ETH the same with Ethernet inside: ipv4/gre/eth/ipv4/..
 * VXLAN   the same with udp/vxlan: ipv4/udp/vxlan/eth/ipv4/..
 * GTPU    behind the innermost udp; what followed is lost
 * The outer eth and IP headers of a tunnel are those that the frame had, with their values, and the
 * inner ones are new. What followed the IP header is inside. When a tunnel is dropped, its headers
 * go up to and including the IP header inside, with their values, and what follows that header
 * stays. Of GTPU only the gtpu header goes. */
int frame_add(struct frame_spec *spec, enum frame_part part, struct sbuf *gone, struct err *e);
int frame_drop(struct frame_spec *spec, enum frame_part part, struct sbuf *gone, struct err *e);
/* Exchanges the outermost network layer: "ipv4", "ipv6" or "arp". A frame without IP gets IP and
 * udp first; arp ends the frame. */
int frame_set_net(struct frame_spec *spec, const char *name, struct sbuf *gone, struct err *e);
/* Exchanges the innermost transport layer: "tcp", "udp" or "icmp" (which is icmpv6 on ipv6). If the
 * header behind it cannot follow the new one, it is dropped with all that is behind it. A frame
 * without IP gets ipv4 first, but a frame of arp stays as it is. */
int frame_set_l4(struct frame_spec *spec, const char *name, struct sbuf *gone, struct err *e);
/* True if a value may wait for a header that the frame does not have, without being a mistake:
 * values of the parts above, and those that Pktgen files always set (its words "tcp .."). */
bool frame_val_waits(const struct frame_val *v);
/* The field of p that has this word (len bytes) among its Pktgen words, or NULL. */
const struct field *frame_word_field(const struct proto *p, const char *word, size_t len);
