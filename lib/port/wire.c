/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p wire` makes two ports that are connected to each other inside the process. Frames of Tx queue
 * i of one end go into Rx ring i mod n of the other end, which has n Rx queues. An end without Rx
 * queues takes one ring full of frames and then no more. An end may be told to choose its rings by
 * a hash of each frame instead (wire_rss.h). */
#include "wire_rss.h"

#include <rte_eth_ring.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIRE_QUEUES 16 /* most that the ring driver takes */

struct wire_end {
	struct rte_ring *ring[WIRE_QUEUES]; /* from which this end receives */
	unsigned nrings;
	struct port *port; /* NULL: this end is closed */
	struct wire_end *peer;
	struct wire_rss *rss; /* how this end receives */
};

static int wire_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	(void)take;
	if (*arg != '\0')
		return err_set(
			e, EINVAL,
			"port 'wire:%s': wire takes no argument; write wire (two ports, connected to each other)",
			arg);
	need->nports = 2;
	need->max_rxq = need->max_txq = WIRE_QUEUES;
	return 0;
}

static void end_free(struct wire_end *end)
{
	for (unsigned i = 0; i < end->nrings; i++) {
		void *m;
		while (rte_ring_sc_dequeue(end->ring[i], &m) == 0)
			rte_pktmbuf_free(m);
		rte_ring_free(end->ring[i]);
	}
	wire_rss_free(end->rss);
	free(end);
}

/* Makes the end of port `to`, and the rings into which `from` sends and `to` receives from. */
static struct wire_end *end_new(struct port *to, const struct port *from, struct err *e)
{
	struct wire_end *end = xcalloc(1, sizeof(*end));
	unsigned want = RTE_MAX(to->nrxq, 1); /* the driver makes no device without queues */
	unsigned size = rte_align32pow2(to->rxd > 0 ? to->rxd : 1024);

	end->port = to;
	for (unsigned i = 0; i < want; i++) {
		char rname[RTE_RING_NAMESIZE];
		unsigned writers = from->ntxq / want + (i < from->ntxq % want);

		snprintf(rname, sizeof(rname), "%.16s_rx%u", to->name, i);
		/* A receiver with RSS lets every queue of the sender write into every ring, also
		 * while others still write as before (wire_rss.c). So where there are several of
		 * both, no ring may count on a single writer. */
		bool single = writers <= 1 && (want == 1 || from->ntxq <= 1);
		/* Exactly `size` frames fit into a ring, as a number of descriptors promises. */
		end->ring[i] = rte_ring_create(rname, size, to->node,
					       RING_F_SC_DEQ | RING_F_EXACT_SZ |
						       (single ? RING_F_SP_ENQ : 0));
		if (end->ring[i] == NULL) {
			err_set(e, ENODEV,
				"port 'wire': no memory for a ring of %u frames: %s; give more memory (EAL -m) or set "
				"fewer descriptors",
				size, rte_strerror(rte_errno));
			end_free(end);
			return NULL;
		}
		end->nrings++;
	}
	end->rss = wire_rss_new(end->ring, end->nrings);
	return end;
}

#define DRIVER "net_ring_" /* the ring driver puts this before a name */

/* Makes the device of an end. The rings of its peer must be there already. */
static int end_open(struct wire_end *end, struct err *e)
{
	struct port *p = end->port;
	struct rte_ring *tx[WIRE_QUEUES];

	unsigned ntx = RTE_MAX(p->ntxq, 1);
	for (unsigned i = 0; i < ntx; i++)
		tx[i] = end->peer->ring[i % end->peer->nrings];
	int dev = rte_eth_from_rings(p->name, end->ring, end->nrings, tx, ntx, (unsigned)p->node);
	if (dev < 0)
		return err_set(e, ENODEV,
			       "port 'wire': DPDK's ring driver refused %u Rx and %u Tx queues: %s",
			       p->nrxq, p->ntxq, rte_strerror(rte_errno));
	p->dev = (uint16_t)dev;
	p->priv = end;
	port_own_mac(p);
	return 0;
}

static int wire_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	struct wire_end *end[2] = {NULL, NULL};

	(void)arg;
	(void)n;
	for (unsigned i = 0; i < 2; i++) {
		if (p[i]->nrxq > WIRE_QUEUES || p[i]->ntxq > WIRE_QUEUES)
			return err_set(
				e, EINVAL,
				"port %u (wire): %u Rx and %u Tx queues; a wire has at most %u of each",
				p[i]->id, p[i]->nrxq, p[i]->ntxq, WIRE_QUEUES);
	}
	for (unsigned i = 0; i < 2; i++) {
		char devname[RTE_ETH_NAME_MAX_LEN];
		port_dev_name(devname, sizeof(devname), DRIVER "wire");
		snprintf(p[i]->name, sizeof(p[i]->name), "%s", devname + strlen(DRIVER));
		end[i] = end_new(p[i], p[!i], e);
		if (end[i] == NULL)
			goto fail;
	}
	end[0]->peer = end[1];
	end[1]->peer = end[0];
	for (unsigned i = 0; i < 2; i++) {
		if (end_open(end[i], e) != 0) {
			char devname[RTE_ETH_NAME_MAX_LEN];
			snprintf(devname, sizeof(devname), DRIVER "%.16s", p[0]->name);
			if (i == 1)
				port_vdev_remove(devname);
			goto fail;
		}
	}
	return 0;
fail:
	for (unsigned i = 0; i < 2; i++) {
		p[i]->priv = NULL;
		if (end[i] != NULL)
			end_free(end[i]);
	}
	return -ENODEV;
}

static void wire_link(struct port *p, enum snap_link *link, uint64_t *speed_mbps)
{
	*link = p->link_down ? LINK_DOWN : LINK_UP;
	*speed_mbps = p->cfg->speed_bps > 0 ? p->cfg->speed_bps / 1000000 : 10000;
}

/* The ring driver counts no bytes, and a restart sets its counts of frames to 0. What our queues
 * have counted are the same frames, so their counters stand for the device's. */
static void wire_stats(struct port *p, struct snap_port *s)
{
	(void)p;
	s->nic.source = "software";
	s->nic.tx_packets = s->tx.packets;
	s->nic.tx_bytes = s->tx.bytes;
	s->nic.rx_packets = s->rx.packets;
	s->nic.rx_bytes = s->rx.bytes;
	s->nic.has_tx_packets = s->nic.has_tx_bytes = s->nic.has_rx_packets = s->nic.has_rx_bytes =
		true;
}

static int wire_set_mtu(struct port *p, uint16_t mtu, struct err *e)
{
	(void)p;
	(void)mtu;
	(void)e;
	return 0;
}

/* Frees the frames in the rings of both ends. They lie in buffers of their sender's pool, and the
 * pools of either end may be about to be freed. */
static void wire_drain(struct port *p)
{
	struct wire_end *end[2] = {p->priv, ((struct wire_end *)p->priv)->peer};

	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; end[k] != NULL && i < end[k]->nrings; i++) {
			void *m;
			while (rte_ring_sc_dequeue(end[k]->ring[i], &m) == 0)
				rte_pktmbuf_free(m);
		}
	}
}

/* Closes this end. The device of the other end still sends into our rings, so the rings of both
 * ends are freed when the second end is closed. */
static void wire_close(struct port *p)
{
	struct wire_end *end = p->priv;

	if (end == NULL)
		return;
	wire_drain(p);
	p->priv = NULL;
	end->port = NULL;
	if (end->peer == NULL || end->peer->port != NULL)
		return;
	end_free(end->peer);
	end_free(end);
}

static void wire_notes(struct port *p, json_t *array)
{
	const struct wire_end *end = p->priv;

	if (end->peer != NULL && end->peer->port != NULL && end->peer->port->nrxq == 0 &&
	    p->ntxq > 0)
		json_array_append_new(
			array,
			json_string(
				"nobody receives at the other end: one ring of frames is accepted, then none"));
}

static struct port *wire_peer(const struct port *p)
{
	const struct wire_end *end = p->priv;

	return end != NULL && end->peer != NULL ? end->peer->port : NULL;
}

static unsigned wire_rings(const struct port *p, struct rte_ring **ring)
{
	const struct wire_end *end = p->priv;

	memcpy(ring, end->ring, end->nrings * sizeof(*ring));
	return end->nrings;
}

static int wire_caps(const struct port *p, struct rss_caps *out)
{
	(void)p;
	wire_rss_caps(out);
	return 0;
}

static int wire_get_rss(const struct port *p, struct rss_setup *out)
{
	*out = *wire_rss_now(((const struct wire_end *)p->priv)->rss);
	return 0;
}

static int wire_set_table(struct port *p, const struct rss_setup *to)
{
	struct wire_end *end = p->priv;
	const struct port *from = end->peer->port;

	if (from == NULL || !from->started)
		return -ENOLINK;
	wire_rss_set(end->rss, to, from->dev, from->ntxq);
	return 0;
}

static int wire_set_hash(struct port *p, const struct rss_setup *to, bool key)
{
	(void)key;
	return wire_set_table(p, to);
}

static const struct rss_ops wire_rss_ops = {wire_caps, wire_get_rss, wire_set_hash, wire_set_table};

/* The device has its own function to send again: what the other end receives by goes on. */
static void wire_started(struct port *p)
{
	struct wire_end *end = p->priv;

	wire_rss_started(end->peer->rss, p->dev, p->ntxq);
}

const struct port_spec port_spec_wire = {
	.prefix = "wire",
	.syntax = "wire",
	.help = "two ports connected to each other inside the process; no rights, no NIC, no hugepages needed",
	.parse = wire_parse,
	.open = wire_open,
	.started = wire_started,
	.link = wire_link,
	.stats = wire_stats,
	.set_mtu = wire_set_mtu,
	.drain = wire_drain,
	.close = wire_close,
	.notes = wire_notes,
	.peer = wire_peer,
	.rings = wire_rings,
	.rss = &wire_rss_ops,
	.virtual_speed = true,
	.unaddressed = true,
};
