/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs to look whether received frames are of flows: bursts of frames that are, of frames
 * with the same headers to somebody else, and of another type, in turn. The flow has one stack of
 * headers and one end, as most have, and all frames are in the caches. */
#include <stdlib.h>
#include <string.h>

#include "bench_flow.h"
#include "clock.h"
#include "flows_own.h"

#define BURST 64
#define BURSTS 256 /* in a slice */
#define SLICES 401
#define LEN 60

/* eth/ipv4/tcp from 10.0.0.2:80 to 10.0.0.1:2000 */
static const uint8_t ours[LEN] = {2,          0,          0,    0, 0, 1,  2,  0, 0, 0, 0,   2,
				  8,          0,          0x45, 0, 0, 40, 0,  0, 0, 0, 64,  6,
				  0,          0,          10,   0, 0, 2,  10, 0, 0, 1, 0,   80,
				  2000 / 256, 2000 % 256, 0,    0, 0, 1,  0,  0, 0, 0, 0x50};

static struct flows_shape shape = {.l3 = 14, .words = 2};
static struct flows_idents idents = {.n = 1};
static const struct flows_end end = {.from = 0x0a000001,
				     .to = 0x0a000001,
				     .port_from = 1024,
				     .port_to = 65535};
static const uint64_t ends = 1;
static const struct flows_job job = {.nshapes = 1,
				     .nends = 1,
				     .nidents = 1,
				     .shape = &shape,
				     .idents = &idents,
				     .ends = &ends,
				     .end = &end};

/* A burst of frames of which one byte is another one. Returns its buffers. */
static void burst_new(struct rte_mempool *mp, unsigned at, uint8_t value, struct rte_mbuf **m)
{
	if (rte_pktmbuf_alloc_bulk(mp, m, BURST) != 0)
		die("flow_stray: no buffers");
	for (unsigned i = 0; i < BURST; i++) {
		uint8_t *frame = (uint8_t *)rte_pktmbuf_append(m[i], LEN);

		memcpy(frame, ours, LEN);
		frame[at] = value;
	}
}

/* Cycles of a frame. claimed: how many of a burst are taken. */
static double slice(const struct flows_claim *claim, struct rte_mbuf *const *m, unsigned claimed)
{
	static const struct dp_burst none;
	uint8_t owner[BURST];
	uint64_t began = clock_tsc();

	for (unsigned i = 0; i < BURSTS; i++) {
		memset(owner, 0, sizeof(owner));
		flows_claims(claim, &none, m, BURST, owner, 7);
	}
	double took = (double)(clock_tsc() - began);
	for (unsigned i = 0; i < BURST; i++)
		if (owner[i] != (claimed != 0 ? 7 : 0))
			die("flow_stray: a frame that is taken for what it is not");
	return took / (BURSTS * BURST);
}

void stray_measure(struct rte_mempool *mp, struct stray_cycles *out)
{
	/* the last byte of the address that it is to, and of the type */
	static const struct {
		unsigned at;
		uint8_t value;
	} kind[3] = {{33, 1}, {33, 99}, {13, 6}};
	struct flows_state state = {.mem = zeroed(flows_mem_size())};
	const struct flows_claim claim = {.job = &job, .state = &state};
	static double cycles[3][SLICES];
	struct rte_mbuf *m[3][BURST];

	((uint8_t *)shape.mask)[12] = ((uint8_t *)shape.mask)[13] = 0xff;
	((uint8_t *)shape.value)[12] = 8;
	idents.slot[flows_key_slot(0, NULL, 0)] = 1;
	for (unsigned k = 0; k < 3; k++)
		burst_new(mp, kind[k].at, kind[k].value, m[k]);
	for (unsigned i = 0; i < SLICES; i++)
		for (unsigned k = 0; k < 3; k++)
			cycles[k][i] = slice(&claim, m[k], k == 0);
	*out = (struct stray_cycles){median(cycles[0], SLICES), median(cycles[1], SLICES),
				     median(cycles[2], SLICES)};
	for (unsigned k = 0; k < 3; k++)
		rte_pktmbuf_free_bulk(m[k], BURST);
	free(state.mem);
}
