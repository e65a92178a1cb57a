/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port`: connections of data that come to a server when its protocol lets them. */
#include "flows_arm_port.h"

#include <string.h>

void flows_addr_make(struct sock_addr *out, const uint8_t *ip, unsigned n, unsigned port)
{
	*out = (struct sock_addr){.len = 0};
	if (n == 4) {
		out->len = sizeof(out->sa.v4);
		out->sa.v4.sin_family = AF_INET;
		memcpy(&out->sa.v4.sin_addr, ip, 4);
	} else if (n == 16) {
		out->len = sizeof(out->sa.v6);
		out->sa.v6.sin6_family = AF_INET6;
		memcpy(&out->sa.v6.sin6_addr, ip, 16);
	}
	if (out->len != 0)
		sock_addr_set_port(out, port);
}

void flows_served_let(struct arm *arm, enum arm_let let, unsigned which)
{
	static const enum flows_arm_let what[] = {[ARM_LET_NONE] = FLOWS_ARM_NONE,
						  [ARM_LET_COME] = FLOWS_ARM_COME,
						  [ARM_LET_STAY] = FLOWS_ARM_STAY};

	flows_arm_let(port_of(arm)->arm, what[let], which);
}

bool flows_served_let_done(struct arm *arm)
{
	const struct port_arm *a = port_of(arm);

	return a->stage == PORT_RUNS && flows_arm_let_done(a->arm);
}

bool flows_served_peer(struct arm *arm, uint64_t identity, struct sock_info *info,
		       struct sock_addr *own, struct sock_addr *peer)
{
	struct port_arm *a = port_of(arm);
	struct flows_arm_peer_look k;

	if (!flows_arm_peer_look(a->arm, identity, &k))
		return false;
	*info = (struct sock_info){.retransmits = k.resent,
				   .cwnd_bytes = k.cwnd,
				   .snd_wnd = k.window,
				   .rtt_us = (uint32_t)(k.srtt_ns / 1000),
				   .mss = k.mss,
				   .pmtu = k.mss != 0 ? k.mss + port_headers(a) : 0};
	*own = a->own;
	sock_addr_set_port(own, a->ask.control_port);
	flows_addr_make(peer, k.ip, k.ip_len, k.port);
	return true;
}
