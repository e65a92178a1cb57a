/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of lib/proto for workers: the numbers by which headers are told apart, and how long they
 * are. The rows of the table have them from here, and so has whoever reads headers on a worker and
 * cannot ask the table for each frame. Plain constants. */
#pragma once

/* EtherTypes (IANA). */
#define ETYPE_IP4 0x0800
#define ETYPE_ETH 0x6558 /* transparent Ethernet bridging, RFC 1701 */
#define ETYPE_VLAN 0x8100
#define ETYPE_IP6 0x86dd
#define ETYPE_MPLS 0x8847
#define ETYPE_PPPOE 0x8864
#define ETYPE_QINQ 0x88a8
#define ETYPE_MAX_LEN 1500 /* up to here it is a length, and LLC follows: IEEE 802.3 3.2.6 */

/* IP protocol numbers (IANA). */
enum {
	IP_HOPOPT = 0,
	IP_ICMP = 1,
	IP_IP4 = 4,
	IP_TCP = 6,
	IP_UDP = 17,
	IP_IP6 = 41,
	IP_ROUTE = 43,
	IP_FRAG = 44,
	IP_GRE = 47,
	IP_ESP = 50,
	IP_AH = 51,
	IP_ICMP6 = 58,
	IP_DSTOPT = 60,
	IP_SCTP = 132,
	IP_MPLS = 137,
};

/* Protocol numbers of PPP (IANA). */
#define PPP_OF_IP4 0x0021
#define PPP_OF_IP6 0x0057
#define PPP_OF_MPLS 0x0281

/* Destination ports of UDP behind which another header follows. */
#define UDP_OF_GTPU 2152
#define UDP_OF_VXLAN 4789
#define UDP_OF_GENEVE 6081
#define UDP_OF_MPLS 6635

#define LLC_OF_SNAP 0xaa /* both service access points */
#define GTPU_G_PDU 255   /* the message type that carries a packet */

/* The fixed bytes of headers. */
#define LEN_ETH 14
#define LEN_VLAN 4
#define LEN_LLC 3
#define LEN_SNAP 5
#define LEN_PPPOE 8
#define LEN_MPLS 4
#define LEN_IP4 20
#define LEN_IP6 40
#define LEN_UDP 8
#define LEN_TCP 20
#define LEN_SCTP 16
#define LEN_ICMP 8
#define LEN_GRE 4
#define LEN_GTPU 8
#define LEN_GENEVE 8
#define LEN_VXLAN 8
#define LEN_ESP 8
