/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the limit of a point, from what was counted, and computes the cores that the link needs.
 * The order of the questions matters: a cause that is sure comes before one that is only likely. */
#include "capacity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_LINK 0.99  /* of the link's speed: the link is full */
#define OVER_LINK 1.005 /* more than a link carries: that speed is not the link's */
#define FULL_PCIE 0.9   /* what a slot carries is only estimated */
#define BUSY 0.95       /* a worker that has work for so much of its time has no time left */
#define STALLS 0.1      /* so many bursts refused: the device, and not the worker, is slower */
#define STARVED 0.1
#define MUCH_ROOM 0.01 /* a share of the rate that is too much to be wrong by */

/* The bytes of PCIe: a payload of at most 256 bytes has a header of about 24, and the frame has a
 * descriptor of 16, with a header of its own. */
#define PCIE_PAYLOAD 256
#define PCIE_HEADER 24
#define PCIE_DESCRIPTOR (16 + PCIE_HEADER)
#define FCS 4

double capacity_pcie_bytes(unsigned size)
{
	unsigned len = size > FCS ? size - FCS : 0;

	return len + PCIE_HEADER * ceil((double)len / PCIE_PAYLOAD) + PCIE_DESCRIPTOR;
}

static void limit_say(struct capacity_point *p, enum capacity_limit l, const char *fmt, ...)
	WR_PRINTF(3, 4);
static void limit_say(struct capacity_point *p, enum capacity_limit l, const char *fmt, ...)
{
	va_list ap;

	p->limit = l;
	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
}

static bool point_sends(const struct capacity_point *p, enum capacity_who who)
{
	return p->direction != (who == CAPACITY_OWN ? CAPACITY_RECEIVE : CAPACITY_SEND);
}

/* The sender of the frames that the port sends, or of those that it receives. */
static const struct capacity_side *sender_of(const struct capacity_reading *r, unsigned side)
{
	return &r->side[side == CAPACITY_TX ? CAPACITY_OWN : CAPACITY_PARTNER][CAPACITY_TX];
}

/* The port uses this way, and so much of what is counted there may not have left. */
static bool room_matters(const struct capacity_point *p, unsigned side)
{
	const struct capacity_side *tx = sender_of(&p->at, side);

	return (p->direction == CAPACITY_BOTH || p->direction == (enum capacity_direction)side) &&
	       tx->stall_share >= STALLS && tx->room > MUCH_ROOM * tx->pps;
}

bool capacity_in_queues(const struct capacity_point *p, double *share)
{
	*share = 0;
	for (unsigned i = 0; i < CAPACITY_SIDES; i++)
		if (room_matters(p, i))
			*share = fmax(*share,
				      sender_of(&p->at, i)->room / sender_of(&p->at, i)->pps);
	return *share > 0;
}

/* Frames/s that were counted are those of a full link: without those that only lay in queues they
 * are not more than it carries, and, if there may be many of them, not much less. */
static bool link_full(const struct capacity_port *port, const struct capacity_point *p,
		      unsigned side)
{
	const struct capacity_side *own = &p->at.side[CAPACITY_OWN][side];
	double l1 = capacity_l1_bps(own->pps, p->size),
	       left = l1 - capacity_l1_bps(sender_of(&p->at, side)->room, p->size);

	return l1 >= FULL_LINK * port->link_bps && left <= OVER_LINK * port->link_bps &&
	       (!room_matters(p, side) || left >= FULL_LINK * port->link_bps);
}

/* The link of the port is full, each way in which it is used. */
static bool limit_link(const struct capacity_ask *ask, struct capacity_point *p)
{
	const struct capacity_port *port = &ask->port[CAPACITY_OWN];

	if (!port->link_told)
		return false;
	for (unsigned i = 0; i < CAPACITY_SIDES; i++)
		if ((p->direction == CAPACITY_BOTH || p->direction == (enum capacity_direction)i) &&
		    !link_full(port, p, i))
			return false;
	/* what is above it has not left yet */
	p->l1_bps = fmin(p->l1_bps, port->link_bps);
	for (unsigned i = 0; i < CAPACITY_SIDES; i++) {
		double *pps = &p->at.side[CAPACITY_OWN][i].pps;
		*pps = fmin(*pps, capacity_link_pps(port->link_bps, p->size));
	}
	limit_say(p, CAPACITY_LINK, "the link of port %u is full: %.4g of %.4g Gbit/s", port->port,
		  p->l1_bps / 1e9, port->link_bps / 1e9);
	return true;
}

/* The device of the port is the limit; maybe because its slot is full, of which there is only an
 * estimate. */
static bool limit_slot(const struct capacity_ask *ask, struct capacity_point *p)
{
	const struct capacity_port *port = &ask->port[CAPACITY_OWN];
	const struct capacity_side *own = p->at.side[CAPACITY_OWN];
	double slot = 0;

	/* a slot carries as much each way; what is read is sent, what is written is received */
	for (unsigned i = 0; i < CAPACITY_SIDES; i++)
		if (p->direction == CAPACITY_BOTH || p->direction == (enum capacity_direction)i)
			slot = fmax(slot, own[i].pps * 8 * capacity_pcie_bytes(p->size));
	if (port->pcie_bps <= 0 || slot < FULL_PCIE * port->pcie_bps)
		return false;
	limit_say(
		p, CAPACITY_PCIE,
		"the slot of port %u is full: with headers and descriptors about %.4g of %.4g Gbit/s",
		port->port, slot / 1e9, port->pcie_bps / 1e9);
	return true;
}

/* Frames for the port were lost: who did that is counted. */
static bool limit_loss(const struct capacity_ask *ask, struct capacity_point *p)
{
	const struct capacity_reading *r = &p->above;
	const struct capacity_side *rx = &r->side[CAPACITY_OWN][CAPACITY_RX];
	unsigned port = ask->port[CAPACITY_OWN].port;

	if (p->direction == CAPACITY_SEND || p->search.high_by != RATE_FAILED ||
	    isinf(p->search.high))
		return false;
	if (r->nobuffer > 0 && r->nobuffer >= r->missed && r->nobuffer >= r->lost)
		limit_say(p, CAPACITY_MEMORY,
			  "port %u had no free buffer for %" PRIu64
			  " frames; `set %u mbufs` gives it more",
			  port, r->nobuffer, port);
	else if (rx->busy >= BUSY)
		/* whether the device counts what it misses, or not */
		limit_say(
			p, CAPACITY_CORE,
			"above this rate port %u loses frames while worker %u, which receives, is busy %.0f%% of the time",
			port, rx->busiest, 100 * rx->busy);
	else if (r->missed >= r->lost && r->missed > 0 && limit_slot(ask, p))
		return true;
	else if (r->missed >= r->lost && r->missed > 0)
		limit_say(
			p, CAPACITY_DEVICE,
			"above this rate the device of port %u loses frames while no worker that receives is busy more than %.0f%% of the time",
			port, 100 * rx->busy);
	else
		limit_say(p, CAPACITY_DEVICE,
			  "above this rate %" PRIu64 " of %" PRIu64
			  " frames are lost that no queue has counted: on the wire, or in a device",
			  r->lost, r->sent_for);
	return true;
}

/* A sender had no buffers, or its device did not take more. */
static bool limit_sender(const struct capacity_ask *ask, struct capacity_point *p,
			 const struct capacity_reading *r, enum capacity_who who)
{
	const struct capacity_side *tx = &r->side[who][CAPACITY_TX],
				   *taker = &r->side[!who][CAPACITY_RX];
	unsigned port = ask->port[who].port;
	bool own = who == CAPACITY_OWN;

	if (tx->starved_share >= STARVED) {
		limit_say(
			p, own ? CAPACITY_MEMORY : CAPACITY_TESTER,
			"port %u had no free buffer to send in %.0f of 100 turns; `set %u mbufs` gives it more",
			port, fmin(100, 100 * tx->starved_share), port);
		return true;
	}
	if (tx->stall_share < STALLS)
		return false;
	if (ask->port[who].waits && taker->busy >= BUSY)
		/* the workers that take the frames belong to the other port */
		limit_say(
			p, !own ? CAPACITY_CORE : CAPACITY_TESTER,
			"port %u waits for worker %u, which receives on port %u and is busy %.0f%% of the time",
			port, taker->busiest, ask->port[!who].port, 100 * taker->busy);
	else if (!own || !limit_slot(ask, p))
		limit_say(p, own ? CAPACITY_DEVICE : CAPACITY_TESTER,
			  "the device of port %u did not take all frames in %.0f of 100 calls",
			  port, fmin(100, 100 * tx->stall_share));
	return true;
}

/* A worker of that side had no time left. */
static bool limit_worker(const struct capacity_ask *ask, struct capacity_point *p,
			 const struct capacity_reading *r, enum capacity_who who,
			 enum capacity_side_of i)
{
	static const char *const does[] = {"sends", "receives"};
	const struct capacity_side *s = &r->side[who][i];

	if (s->busy < BUSY)
		return false;
	limit_say(p, who == CAPACITY_OWN ? CAPACITY_CORE : CAPACITY_TESTER,
		  "worker %u, which %s on port %u%s, is busy %.0f%% of the time", s->busiest,
		  does[i], ask->port[who].port, s->shared ? " and serves another port as well" : "",
		  100 * s->busy);
	return true;
}

static bool limit_core(const struct capacity_ask *ask, struct capacity_point *p,
		       const struct capacity_reading *r)
{
	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		for (unsigned i = 0; i < CAPACITY_SIDES; i++) {
			bool in = i == CAPACITY_TX ? point_sends(p, (enum capacity_who)who)
						   : point_sends(p, (enum capacity_who) !who);
			/* without our own wire nobody waits for the partner's receivers */
			if (who == CAPACITY_PARTNER && i == CAPACITY_RX &&
			    !ask->port[CAPACITY_OWN].waits)
				in = false;
			if (in && limit_worker(ask, p, r, (enum capacity_who)who,
					       (enum capacity_side_of)i))
				return true;
		}
	return false;
}

static bool partner_is_slower(const struct capacity_point *p, const struct capacity_reading *r)
{
	return p->direction == CAPACITY_BOTH &&
	       r->side[CAPACITY_PARTNER][CAPACITY_TX].pps <
		       FULL_LINK * r->side[CAPACITY_OWN][CAPACITY_TX].pps;
}

static void capacity_name(const struct capacity_ask *ask, struct capacity_point *p)
{
	/* what could not go faster is seen at the rate above; without one, nothing was lost */
	const struct capacity_reading *r =
		!isinf(p->search.high) && p->search.high_by == RATE_SHORT ? &p->above : &p->at;

	if (limit_link(ask, p) || limit_loss(ask, p))
		return;
	/* what holds the slower of two senders back is the limit of both */
	if (partner_is_slower(p, r) && (limit_sender(ask, p, r, CAPACITY_PARTNER) ||
					limit_worker(ask, p, r, CAPACITY_PARTNER, CAPACITY_TX)))
		return;
	for (unsigned i = 0; i < CAPACITY_PORTS; i++) {
		enum capacity_who who = p->direction == CAPACITY_BOTH ? (enum capacity_who) !i
								      : (enum capacity_who)i;
		if (point_sends(p, who) && limit_sender(ask, p, r, who))
			return;
	}
	if (limit_core(ask, p, r))
		return;
	if (!isinf(p->search.high) && p->search.high_by == RATE_UNTOLD)
		limit_say(p, CAPACITY_UNKNOWN, "no trial above this rate was valid: %s",
			  p->above.why);
	else
		limit_say(p, CAPACITY_UNKNOWN, "nothing that is counted was at its limit");
}

/* Appends a rate of bits as people say it: "100G", "2.5G". */
static void speed_text(double bps, char *out, size_t size)
{
	snprintf(out, size, bps >= 1e9 ? "%gG" : "%gM", bps >= 1e9 ? bps / 1e9 : bps / 1e6);
}

/* How many cores one way of the link needs, as a fraction; 0: not known. *cycles: what a frame
 * costs. */
static double cores_of(const struct capacity_ask *ask, const struct capacity_point *p,
		       enum capacity_side_of i, double *cycles)
{
	const struct capacity_reading *r =
		p->state != CAPACITY_NONE && p->search.low > 0 ? &p->at : &p->above;
	const struct capacity_side *s = &r->side[CAPACITY_OWN][i];
	double want = capacity_link_pps(ask->port[CAPACITY_OWN].link_bps, p->size);

	*cycles = s->cycles;
	if (!(s->cycles > 0) || !(r->hz > 0) || !(want > 0) || s->stall_share >= STALLS)
		return 0;
	return want * s->cycles / r->hz;
}

/* Appends cycles as people say them, "4.25" or "4250". */
static void cycles_text(double cycles, char *out, size_t size)
{
	snprintf(out, size, cycles < 1000 ? "%.3g" : "%.0f", cycles);
}

static void capacity_need(const struct capacity_ask *ask, struct capacity_point *p)
{
	const struct capacity_port *port = &ask->port[CAPACITY_OWN];
	static const char *const to[] = {"to send", "to receive", "to send and to receive"};
	char speed[32], cost[96], text[CAPACITY_SIDES][16];
	double c[CAPACITY_SIDES];
	double sum = 0;

	for (unsigned i = 0; i < CAPACITY_SIDES; i++) {
		if (p->direction != CAPACITY_BOTH && p->direction != (enum capacity_direction)i)
			continue;
		double one = cores_of(ask, p, (enum capacity_side_of)i, &c[i]);
		if (!(one > 0))
			return;
		sum += one;
		cycles_text(c[i], text[i], sizeof(text[i]));
	}
	/* what a hair above a whole number comes to is the noise of the measurement */
	unsigned n = p->cores = sum < 1 ? 1 : (unsigned)ceil(sum - 0.005);
	speed_text(port->link_bps, speed, sizeof(speed));
	if (p->direction == CAPACITY_BOTH)
		snprintf(cost, sizeof(cost), "%s cycles for a frame to send, %s to receive",
			 text[CAPACITY_TX], text[CAPACITY_RX]);
	else
		snprintf(cost, sizeof(cost), "%s cycles per frame", text[p->direction]);
	snprintf(p->need, sizeof(p->need),
		 "port %u needs %u core%s %s %s at %u bytes: %s, %.4g GHz", port->port, n,
		 n == 1 ? "" : "s", to[p->direction], speed, p->size, cost,
		 (p->search.low > 0 ? p->at.hz : p->above.hz) / 1e9);
}

void capacity_judge(const struct capacity_ask *ask, struct capacity_point *p)
{
	capacity_name(ask, p);
	capacity_need(ask, p);
}
