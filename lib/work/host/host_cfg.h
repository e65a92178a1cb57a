/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a port that is a host. All bytes 0, but for `answer`, is a port that is none. */
#pragma once
#include "neigh.h"

#define HOST_IP_MAX 32
#define HOST_GATEWAY_MAX 2 /* one of each family */
#define HOST_DFLT_ANSWER "arp,nd,ping"

/* Addresses with the lengths of their prefixes; those of gateways have none. */
struct host_addrs {
	uint8_t n;
	struct neigh_prefix at[HOST_IP_MAX];
};

struct host_statics {
	uint8_t n;
	struct neigh_static at[NEIGH_STATIC_MAX];
};

struct host_cfg {
	struct host_addrs ip, gateway, proxy;
	struct host_statics neighbours;
	uint64_t vlan;
	uint64_t wait_ns;   /* so long a start asks a next hop; 0: three times */
	uint8_t answer[16]; /* as vt_fflags: the last byte has the bits of enum neigh_answers */
};
