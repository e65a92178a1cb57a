/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring driver sends each Tx queue into one ring. An end with RSS has the sender's burst
 * function replaced by one that looks at each frame. Only the function is exchanged, by one store,
 * so that a worker may be sending meanwhile; the queue that the function gets is the driver's, and
 * a small table says to which end it belongs. Each Tx queue belongs to one worker. */
#include "wire_rss.h"

#include <stdlib.h>
#include <string.h>

#define WIRE_KEY 40
#define WIRE_ENTRIES 128
/* Tx queues of all wires. The ring driver takes 16 for each device. */
#define WIRE_SENDERS (16 * RTE_MAX_ETHPORTS)

struct wire_rss {
	struct rte_ring *const *ring;
	unsigned nrings;
	struct rss_setup now;  /* control's; workers have copies */
	eth_tx_burst_t driver; /* the sender's own function */
};

/* Setups on their way from control to the one worker that serves a Tx queue. Each of both has one
 * of three, and one is in the middle: control fills its own and exchanges it for that one, and the
 * worker does so with its own when it sees that the one in the middle is newer. So nobody waits,
 * nobody writes what another one reads, and there are never more than three, also where a queue
 * sends nothing. */
#define NEWER 4u /* in `middle`, beside the number: the worker has not had it */
struct setup_mail {
	struct rss_setup setup[3];
	unsigned control, middle, worker;
};

static void mail_post(struct setup_mail *m, const struct rss_setup *s)
{
	m->setup[m->control] = *s;
	m->control = __atomic_exchange_n(&m->middle, m->control | NEWER, __ATOMIC_ACQ_REL) & ~NEWER;
}

/* Runs on the worker. What it returns is the worker's until the next call. */
static inline const struct rss_setup *mail_look(struct setup_mail *m)
{
	if (unlikely((__atomic_load_n(&m->middle, __ATOMIC_RELAXED) & NEWER) != 0))
		m->worker = __atomic_exchange_n(&m->middle, m->worker, __ATOMIC_ACQ_REL) & ~NEWER;
	return &m->setup[m->worker];
}

/* Entries are written before a function is exchanged, and stay when it is put back. */
static struct {
	const void *txq; /* the driver's own queue */
	struct wire_rss *to;
	struct setup_mail *mail;
} sender[WIRE_SENDERS];
static unsigned nsenders;

/* Runs on workers. A frame whose ring is full ends the burst, as with a device that is full. */
static uint16_t wire_rss_send(void *txq, struct rte_mbuf **m, uint16_t n)
{
	const struct wire_rss *to;
	unsigned i = 0, sent = 0;

	while (__atomic_load_n(&sender[i].txq, __ATOMIC_ACQUIRE) != txq)
		i++;
	to = sender[i].to;
	const struct rss_setup *setup = mail_look(sender[i].mail);
	for (; sent < n; sent++) {
		struct rss_tuple t;
		rss_tuple_read(rte_pktmbuf_mtod(m[sent], const uint8_t *), m[sent]->data_len, &t,
			       NULL);
		/* Several Tx queues may send into one ring, whatever it was made for. */
		if (rte_ring_mp_enqueue(to->ring[rss_queue(setup, &t, NULL)], m[sent]) != 0)
			break;
	}
	return (uint16_t)sent;
}

struct wire_rss *wire_rss_new(struct rte_ring *const *ring, unsigned n)
{
	static const uint8_t key[WIRE_KEY] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
					      0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
					      0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
					      0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
					      0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
	struct wire_rss *w = xcalloc(1, sizeof(*w));

	w->ring = ring;
	w->nrings = n;
	w->now.key_len = WIRE_KEY;
	w->now.entries = WIRE_ENTRIES;
	memcpy(w->now.key, key, sizeof(key));
	for (unsigned i = 0; i < WIRE_ENTRIES; i++)
		w->now.table[i] = (uint16_t)(i % n);
	return w;
}

void wire_rss_free(struct wire_rss *w)
{
	if (w == NULL)
		return;
	for (unsigned i = 0; i < nsenders; i++)
		if (sender[i].txq != NULL && sender[i].to == w) {
			sender[i].txq = NULL;
			free(sender[i].mail);
		}
	free(w);
}

const struct rss_setup *wire_rss_now(const struct wire_rss *w)
{
	return &w->now;
}

/* Tells the worker of a Tx queue what the end works by now. */
static void sender_tell(const void *txq, struct wire_rss *to)
{
	unsigned i = 0;

	while (i < nsenders && (sender[i].txq != txq || sender[i].to != to))
		i++;
	for (unsigned k = 0; i == nsenders && k < nsenders; k++)
		if (sender[k].txq == NULL) {
			i = k;
			break;
		}
	if (i == WIRE_SENDERS) /* never: there are no more queues */
		return;
	if (i < nsenders && sender[i].txq != NULL) {
		mail_post(sender[i].mail, &to->now);
		return;
	}
	sender[i].to = to;
	sender[i].mail = xcalloc(1, sizeof(*sender[i].mail));
	sender[i].mail->middle = 1;
	sender[i].mail->worker = 2;
	mail_post(sender[i].mail, &to->now);
	__atomic_store_n(&sender[i].txq, txq, __ATOMIC_RELEASE);
	if (i == nsenders)
		nsenders++;
}

void wire_rss_started(struct wire_rss *w, uint16_t dev, unsigned ntxq)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[dev];

	if (ops->tx_pkt_burst != wire_rss_send)
		w->driver = ops->tx_pkt_burst;
	if (w->now.hf == 0) {
		__atomic_store_n(&ops->tx_pkt_burst, w->driver, __ATOMIC_RELEASE);
		return;
	}
	for (unsigned q = 0; q < ntxq; q++)
		sender_tell(ops->txq.data[q], w);
	__atomic_store_n(&ops->tx_pkt_burst, wire_rss_send, __ATOMIC_RELEASE);
}

void wire_rss_set(struct wire_rss *w, const struct rss_setup *to, uint16_t dev, unsigned ntxq)
{
	w->now = *to;
	wire_rss_started(w, dev, ntxq);
}

void wire_rss_caps(struct rss_caps *out)
{
	*out = (struct rss_caps){.hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP |
				       RTE_ETH_RSS_SCTP,
				 .key_len = WIRE_KEY,
				 .entries = WIRE_ENTRIES,
				 .toeplitz = true,
				 .sort = true};
}
