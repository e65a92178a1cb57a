/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of iperf3, one thread for each stream: they carry their time and number, which are
 * written when each is sent. */
#pragma once
#include "iperf_int.h"

struct iperf_udp_conf {
	uint64_t rate;  /* bit/s; 0: as fast as the kernel takes them */
	uint32_t burst; /* datagrams between two looks at the clock */
	uint32_t blksize;
	bool wide;
	int64_t *left; /* bytes that all streams together may still send; NULL: without end */
	bool *stop;    /* set by control */
};
struct iperf_udp;
/* Starts a thread that sends or receives on fd, a connected socket, which is its own. NULL with
 * *e. conf must outlive it. */
struct iperf_udp *iperf_udp_start(int fd, bool sends, const struct iperf_udp_conf *conf,
				  struct err *e);
void iperf_udp_look(const struct iperf_udp *, struct iperf_now *);
void iperf_udp_join(struct iperf_udp *); /* *conf->stop is set */
void iperf_udp_free(struct iperf_udp *); /* joined; NULL is allowed */
