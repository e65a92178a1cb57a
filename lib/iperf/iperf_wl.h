/* SPDX-License-Identifier: BSD-3-Clause */
/* What the connections of a test do, as records of lib/workload. On the kernel's sockets TCP is
 * iperf_wl_blocks, whose connections have said their cookie already, and UDP has threads of its own
 * (iperf_udp.h). On a port each connection is a line (arm_conf.each), which says who it is, is
 * ready by its first transaction, and begins by go(). */
#pragma once
#include "iperf_int.h"
#include "workload.h"

/* What lines of one kind are. */
struct iperf_wl_conf {
	bool sends, wide; /* wide: numbers of datagrams have 64 bits */
	uint32_t blksize, burst;
	double ns_byte; /* of -b: what a byte takes; 0: as fast as it goes */
	int64_t *left;  /* bytes that all lines together may still send; NULL: without end */
	/* On a port, of this line alone: what it says first, and what it sends. The head of a
	 * datagram is written anew for each, by the worker, as nobody else has this content. */
	struct wl_content *content;
	uint8_t *head;
	uint16_t number; /* of content[IPERF_WL_DATA] among those of its flow */
};
enum { IPERF_WL_DATA, IPERF_WL_HELLO, IPERF_WL_CONTENTS };
/* The two contents of a line on a port. hello: 37 bytes of a cookie, or the 4 of UDP; head:
 * IPERF_UDP_HEAD64 bytes. */
void iperf_wl_contents(struct wl_content *content, const char *hello, unsigned n, uint8_t *head);

/* When blocks are due. What is late is made up for, so that the mean is the rate. */
struct iperf_pace {
	uint64_t begin_ns, sent, blocks;
};
/* A line on a port. Cells are read by control. */
struct iperf_wl_line {
	struct iperf_pace pace;
	bool ready, going;
	bool waits; /* a datagram has not gone yet */
	unsigned hellos;
	cell_t tx_bytes; /* of blocks that were begun */
	cell_t rx_bytes;
	cell_t packets, lost, unordered, jitter; /* jitter: the bits of a double */
	struct iperf_seq seq;
	int64_t wall_us; /* what is to be added to the worker's time for that of the day */
};
extern const struct workload iperf_wl_blocks, iperf_wl_stream, iperf_wl_datagrams;

/* ---- lines of a server on a port (iperf_wl_served.c) ---- */

/* What a test's connections are, of both records. Who connects says who it is, and is a line of the
 * test, or is told that the server is busy. */
struct iperf_served {
	/* Control's: another number for each test; 0: there is none, and nobody reads the rest when
	 * the connections of before are no more. */
	cell_t test;
	uint32_t want; /* lines */
	char cookie[IPERF_COOKIE];
	struct iperf_wl_conf line[IPERF_ALL];
};
/* What has come of it. The worker writes, but before a test. */
struct iperf_served_line {
	struct iperf_wl_line wl;
	uint64_t identity; /* wl_identity() */
};
struct iperf_served_lines {
	cell_t n; /* that are there, in the order in which they came */
	struct iperf_served_line line[IPERF_ALL];
};
/* Contents: what is said to who comes, that is the byte of ACCESS_DENIED, or the answer to a
 * greeting; and what each line sends, whose heads are `head`, of datagrams. */
#define IPERF_SERVED_CONTENTS (1 + IPERF_ALL)
void iperf_served_contents(struct wl_content *content, bool udp, uint8_t (*head)[IPERF_UDP_HEAD64]);
extern const struct workload iperf_wl_served, iperf_wl_served_datagrams;

/* ---- what lines of both ends do (iperf_wl.c) ---- */
/* Control: what is known of it now. */
void iperf_line_look(const struct iperf_wl_line *, bool sends, struct iperf_now *);
void iperf_line_blocks(struct wl_turn *, const struct iperf_wl_conf *, struct iperf_wl_line *);
void iperf_line_datagrams(struct wl_turn *, const struct iperf_wl_conf *, struct iperf_wl_line *);
void iperf_line_count(struct wl_turn *, const struct iperf_wl_conf *, struct iperf_wl_line *,
		      const uint8_t *data, uint32_t n);          /* a datagram that came */
void iperf_line_clock(struct wl_turn *, struct iperf_wl_line *); /* the time of the day */

/* Takes up to n of what is left; 0: nothing is. */
uint32_t iperf_take_left(int64_t *left, uint32_t n);
