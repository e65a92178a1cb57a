/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the counters of queues: see count.h. */
#include "count.h"

#define TX(field, unit, help) \
	{ \
#field, unit, help, offsetof(struct cnt_tx, field) \
	}
#define RX(field, unit, help) \
	{ \
#field, unit, help, offsetof(struct cnt_rx, field) \
	}

const struct counter cnt_tx_table[] = {
	TX(packets, "frames", "frames that the device accepted"),
	TX(bytes, "bytes", "their bytes with FCS"),
	TX(dropped, "frames",
	   "frames built and thrown away: the tail that the device had not taken at stop or close"),
	TX(stalls, "bursts", "bursts that the device did not take whole"),
	TX(unsent, "frames",
	   "frames that were not sent because they were too late (catchup), or because the time of the run was over"),
	TX(nombuf, "turns", "turns of a worker that found no free buffer"),
	TX(bursts, "bursts", "calls of the driver that took frames"),
	TX(late, "frames", "frames that the device accepted more than 1 ms after their deadline"),
	{NULL},
};

const struct counter cnt_rx_table[] = {
	RX(packets, "frames", "frames that our workers received"),
	RX(bytes, "bytes", "their bytes with FCS"),
	RX(broadcast, "frames", "of these to ff:ff:ff:ff:ff:ff"),
	RX(multicast, "frames", "of these to other group addresses"),
	RX(bursts, "bursts", "calls of the driver that gave frames"),
	RX(full, "bursts", "of these that were full: the queue may hold more"),
	{NULL},
};

const uint8_t cnt_size_classes[1523] = {
	[64] = 1,          [65 ... 127] = 2,   [128 ... 255] = 3,
	[256 ... 511] = 4, [512 ... 1023] = 5, [1024 ... 1522] = 6,
};

#define SIZES(i, name, help) \
	{ \
		name, "frames", "frames " help " with FCS", \
			offsetof(struct cnt_sizes, n) + (i) * sizeof(uint64_t) \
	}

const struct counter cnt_sizes_table[] = {
	SIZES(0, "0-63", "below 64 bytes"),
	SIZES(1, "64", "of 64 bytes"),
	SIZES(2, "65-127", "of 65 to 127 bytes"),
	SIZES(3, "128-255", "of 128 to 255 bytes"),
	SIZES(4, "256-511", "of 256 to 511 bytes"),
	SIZES(5, "512-1023", "of 512 to 1023 bytes"),
	SIZES(6, "1024-1522", "of 1024 to 1522 bytes"),
	SIZES(7, "1523-", "of 1523 bytes and more"),
	{NULL},
};

#define ICMP(field, help) \
	{ \
#field, "frames", help, offsetof(struct cnt_icmp, field) \
	}
const struct counter cnt_icmp_table[] = {
	ICMP(net_unreachable, "nobody knows a route"),
	ICMP(host_unreachable, "the last router does not reach the host"),
	ICMP(protocol_unreachable, "the host does not speak the protocol"),
	ICMP(port_unreachable, "nobody listens on the port"),
	ICMP(prohibited, "a filter or a policy refuses it"),
	ICMP(unreachable, "unreachable for another reason"),
	ICMP(too_big, "too big for a link, and not to be fragmented"),
	ICMP(hop_limit, "the time to live or hop limit ran out"),
	ICMP(reassembly, "fragments were missing"),
	ICMP(other, "a parameter problem, a redirect of IPv4, a source quench"),
	{NULL},
};
