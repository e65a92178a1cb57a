/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits of a frame's headers as Pktgen's words name them: a tag or a tunnel goes in or out, a layer is exchanged for another. Values, variations
 * and nesting follow their headers; those of a header that is taken out, or that the header in its place has no field for, go with it. Control
 * side, any thread; on failure (-EINVAL with text) nothing has changed. */
#pragma once
#include "frame.h"

enum frame_part { PART_VLAN, PART_QINQ, PART_MPLS, PART_GRE, PART_GRE_ETH, PART_VXLAN, PART_GTPU };

bool frame_has_header(const struct frame_stack *s, const char *name);
bool frame_has(const struct frame_stack *s, enum frame_part part);
/* gone (may be NULL) gets the names of the values that went, after what is in it: "udp.src, udp.dst".
 * Nothing is done where the frame has (lacks) the part already. Where they go:
 * VLAN    behind eth and an outer tag
 * QINQ    the pair qinq/vlan behind eth; a vlan that is there becomes the inner tag. Goes out as the pair
 * MPLS    behind eth and the tags
 * GRE     behind the outermost IP header, with an inner IP header of the same version: ipv4/gre/ipv4/..
 * GRE_ETH the same with Ethernet inside: ipv4/gre/eth/ipv4/..
 * VXLAN   the same with udp/vxlan: ipv4/udp/vxlan/eth/ipv4/..
 * GTPU    behind the innermost udp
 * So the outer eth and IP headers of a tunnel are those that the frame had, with their values, and the inner ones are new; what followed the IP
 * header is inside. The inner headers go out with their values. */
int frame_add(struct frame_spec *spec, enum frame_part part, struct sbuf *gone, struct err *e);
int frame_drop(struct frame_spec *spec, enum frame_part part, struct sbuf *gone, struct err *e);
/* The outermost network layer: "ipv4", "ipv6", "arp". A frame without IP gets IP and tcp; arp ends the frame. */
int frame_set_net(struct frame_spec *spec, const char *name, struct sbuf *gone, struct err *e);
/* The innermost transport layer: "tcp", "udp", "icmp" (icmpv6 on ipv6). A frame of arp has none and stays as it is. */
int frame_set_l4(struct frame_spec *spec, const char *name, struct sbuf *gone, struct err *e);
/* A value that waits for its header without being a mistake: what the parts above hold, and words of Pktgen that one header alone has and
 * that its files always set (tcp flags). */
bool frame_val_waits(const struct frame_val *v);
/* Field of p that has this word among its Pktgen words, or NULL. */
const struct field *frame_word_field(const struct proto *p, const char *word, size_t len);
