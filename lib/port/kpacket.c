/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of an interface that is used by AF_PACKET. See kpacket.h. */
#include "kpacket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "count.h"
#include "iov_pieces.h"
#include "ksock.h"
#include "virtio_hdr.h"

#define LONGEST 66560u /* frame that Linux makes by default, with its headers */
#define MAX_PIECES 64  /* of a frame */
/* Buffers that a burst takes at most, but for its last frame: super-frames have many each, and an
 * Rx pool has at least so many more than these as one of them needs. */
#define BURST_BUFFERS DP_BURST_MAX
#define AT_ONCE 64u /* frames that one system call sends at most */
#define IOVS 192u   /* pieces of these, virtio-net headers included */
/* Frames that do not fit into the ring wait here: this many bytes of the kernel's memory. */
#define BESIDE_BYTES (64 << 20)
#define ADDRESSES (2 * RTE_ETHER_ADDR_LEN) /* a VLAN tag stands behind them */
#define TAG_BYTES 4u

struct kpacket_rx {
	int fd;
	uint16_t port; /* as received mbufs say it */
	struct rte_mempool *pool;
	uint8_t *ring;
	size_t ring_bytes;
	uint32_t frame_bytes, frames, next; /* next: the frame of the ring that comes next */
	WR_ALIGNED(CACHE_LINE) cell_t nombuf, no_room, cut; /* the worker's */
} WR_ALIGNED(CACHE_LINE);

struct kpacket_tx {
	int fd;
	uint64_t patience_tsc; /* see tx_lost() */
	/* The worker's. tries: how often the next frame was refused, since since_tsc. lost_len: a
	 * frame of this length was given up, and none as long has been taken since; 0: none was. */
	WR_ALIGNED(CACHE_LINE) uint64_t since_tsc;
	uint32_t tries, lost_len;
	cell_t rejected, queued, lost;
} WR_ALIGNED(CACHE_LINE);

struct kpacket {
	unsigned nrxq, ntxq;
	struct kpacket_rx *rx;
	struct kpacket_tx *tx;
};

/* ---- receiving ---- */

/* A frame of len bytes without content, in as many buffers as it needs. NULL: there are not
 * enough. */
static struct rte_mbuf *frame_new(struct rte_mempool *pool, uint32_t len)
{
	struct rte_mbuf *first = NULL, *last = NULL;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		if (m == NULL) {
			rte_pktmbuf_free(first);
			return NULL;
		}
		uint32_t n = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(m));
		m->data_len = (uint16_t)n;
		len -= n;
		if (first == NULL) {
			first = m;
			first->pkt_len = n;
		} else {
			last->next = m;
			first->nb_segs++;
			first->pkt_len += n;
		}
		last = m;
	} while (len > 0);
	return first;
}

/* Writes len bytes behind the first `off` bytes of a frame. */
static void frame_put(struct rte_mbuf *m, uint32_t off, const uint8_t *from, uint32_t len)
{
	for (; len > 0; m = m->next, off = 0) {
		uint32_t n = RTE_MIN(len, m->data_len - off);
		memcpy(rte_pktmbuf_mtod_offset(m, void *, off), from, n);
		from += n;
		len -= n;
	}
}

/* The kernel has taken the outer VLAN tag out of a frame: `bytes` of it are to be put back behind
 * the first `before` ones. Both are 0 if there was none. */
struct rx_tag {
	uint32_t before, bytes;
};

static inline struct rx_tag rx_tag(const struct tpacket2_hdr *h, uint32_t status)
{
	if (likely((status & TP_STATUS_VLAN_VALID) == 0) || h->tp_len < ADDRESSES)
		return (struct rx_tag){0};
	return (struct rx_tag){.before = ADDRESSES, .bytes = TAG_BYTES};
}

static void frame_tag(struct rte_mbuf *m, const struct tpacket2_hdr *h, struct rx_tag t)
{
	uint16_t tpid =
		(h->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? h->tp_vlan_tpid : ETH_P_8021Q;
	uint16_t tag[2] = {htons(tpid), htons(h->tp_vlan_tci)};

	memcpy(rte_pktmbuf_mtod_offset(m, void *, t.before), tag, sizeof(tag));
}

/* Takes a frame that was too long for the ring: all of it waits beside the ring. */
static __rte_noinline bool rx_beside(struct kpacket_rx *q, const struct tpacket2_hdr *h,
				     struct rte_mbuf *m, struct rx_tag t)
{
	struct virtio_net_hdr v;
	struct iovec iov[MAX_PIECES + 2];
	uint32_t skip = t.before + t.bytes;
	int n = 0;

	iov[n++] = (struct iovec){&v, sizeof(v)};
	iov[n++] = (struct iovec){rte_pktmbuf_mtod(m, void *), t.before};
	for (struct rte_mbuf *s = m; s != NULL && n < MAX_PIECES + 2; s = s->next, skip = 0)
		iov[n++] = (struct iovec){rte_pktmbuf_mtod_offset(s, void *, skip),
					  s->data_len - skip};
	if (readv(q->fd, iov, n) != (ssize_t)(sizeof(v) + h->tp_len))
		return false;
	virtio_hdr_undone(m, &v);
	return true;
}

/* Takes a frame that has come into the ring. NULL: there was no buffer (*later), or it is lost. */
static struct rte_mbuf *rx_one(struct kpacket_rx *q, const struct tpacket2_hdr *h, uint32_t status,
			       bool *later)
{
	const uint8_t *from = (const uint8_t *)h + h->tp_mac;
	bool beside = (status & TP_STATUS_COPY) != 0;
	struct rx_tag t = rx_tag(h, status);

	if (unlikely(h->tp_len > LONGEST || (h->tp_snaplen < h->tp_len && !beside))) {
		uint8_t none;
		if (beside && read(q->fd, &none, 1) < 0)
			beside = false;
		cell_add(h->tp_len > LONGEST ? &q->cut : &q->no_room, 1);
		return NULL;
	}
	struct rte_mbuf *m = frame_new(q->pool, h->tp_len + t.bytes);
	*later = m == NULL;
	if (m == NULL) {
		cell_add(&q->nombuf, 1);
		return NULL;
	}
	m->port = q->port;
	if (unlikely(beside)) {
		if (!rx_beside(q, h, m, t)) {
			cell_add(&q->no_room, 1);
			rte_pktmbuf_free(m);
			return NULL;
		}
	} else {
		struct virtio_net_hdr v;
		memcpy(&v, from - sizeof(v), sizeof(v));
		virtio_hdr_undone(m, &v);
		frame_put(m, 0, from, t.before);
		frame_put(m, t.before + t.bytes, from + t.before, h->tp_len - t.before);
	}
	if (unlikely(t.bytes != 0))
		frame_tag(m, h, t);
	return m;
}

static uint16_t kpacket_rx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct kpacket_rx *q = queue;
	uint16_t got = 0;
	unsigned buffers = 0;
	bool later = false;

	while (got < n && buffers < BURST_BUFFERS) {
		struct tpacket2_hdr *h =
			(struct tpacket2_hdr *)(q->ring + (size_t)q->next * q->frame_bytes);
		uint32_t status = __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);
		if ((status & TP_STATUS_USER) == 0)
			break;
		struct rte_mbuf *one = rx_one(q, h, status, &later);
		if (later)
			break;
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		if (++q->next == q->frames)
			q->next = 0;
		if (one == NULL)
			continue;
		buffers += one->nb_segs;
		m[got++] = one;
	}
	return got;
}

/* ---- sending ---- */

static const struct virtio_net_hdr complete;

/* The pieces of a frame, its header first. Returns their number; 0: they have no room in n. */
static unsigned tx_pieces(const struct rte_mbuf *m, struct virtio_net_hdr *h, struct iovec *iov,
			  unsigned n)
{
	unsigned k = n > 1 ? pieces_of(m, iov + 1, n - 1) : 0;

	if (k == 0)
		return 0;
	if (likely((m->ol_flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)) == 0)) {
		iov[0] = (struct iovec){(void *)(uintptr_t)&complete, sizeof(complete)};
	} else {
		virtio_hdr_of(h, m);
		iov[0] = (struct iovec){h, sizeof(*h)};
	}
	return k + 1;
}

/* Gives the kernel up to n frames. Returns how many it has taken, or -errno of the first one. */
static int tx_some(const struct kpacket_tx *q, struct rte_mbuf *const *m, unsigned n)
{
	struct virtio_net_hdr h[AT_ONCE];
	struct iovec iov[IOVS];
	struct mmsghdr msg[AT_ONCE];
	unsigned k = 0, used = 0;

	for (; k < n && k < AT_ONCE; k++) {
		unsigned pieces = tx_pieces(m[k], &h[k], iov + used, IOVS - used);
		if (pieces == 0)
			break;
		msg[k] = (struct mmsghdr){.msg_hdr = {.msg_iov = iov + used, .msg_iovlen = pieces}};
		used += pieces;
	}
	if (k == 0) /* more pieces than any frame of ours has */
		return -EINVAL;
	int sent = sendmmsg(q->fd, msg, k, MSG_DONTWAIT | MSG_NOSIGNAL);
	return sent < 0 ? -errno : sent;
}

/* A frame was not taken although the interface is there: if it is a super-frame, the interface may
 * not take any, and without a queueing discipline nobody cuts it. From now on all frames of this
 * queue go by the discipline, so that they keep their order. true: they did not so far. */
static __rte_noinline bool tx_queued(struct kpacket_tx *q, const struct rte_mbuf *m)
{
	int off = 0;

	if ((m->ol_flags & RTE_MBUF_F_TX_TCP_SEG) == 0 || cell_get(&q->queued) != 0)
		return false;
	cell_add(&q->queued, 1);
	ksock_mark(q->fd);
	return setsockopt(q->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &off, sizeof(off)) == 0;
}

/* The interface has not taken a frame. The kernel does not say whether it has no room, so that it
 * takes the frame later, or has thrown it away, as a veth does whose other end is down or has a
 * smaller MTU: then the frame would hold up all others for ever. So it is given up when the
 * interface has taken nothing for PATIENCE_MS, and the next ones, if they are as long, at once.
 * true: the frame counts as sent, and the kernel will not confirm it. */
#define PATIENCE_MS 20u
#define PATIENCE_TRIES 64u /* the worker may have stood still, too */
static __rte_noinline bool tx_lost(struct kpacket_tx *q, const struct rte_mbuf *m)
{
	uint64_t now = rte_rdtsc();

	if (q->lost_len == 0 || m->pkt_len < q->lost_len) {
		if (q->tries++ == 0)
			q->since_tsc = now;
		if (q->tries < PATIENCE_TRIES || now - q->since_tsc < q->patience_tsc)
			return false;
		q->lost_len = RTE_MAX(m->pkt_len, 1u);
	}
	cell_add(&q->lost, 1);
	return true;
}

/* n frames were taken. */
static inline void tx_taken(struct kpacket_tx *q, struct rte_mbuf *const *m, unsigned n)
{
	q->tries = 0;
	for (unsigned i = 0; unlikely(q->lost_len != 0) && i < n; i++)
		if (m[i]->pkt_len >= q->lost_len)
			q->lost_len = 0;
}

static uint16_t kpacket_tx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct kpacket_tx *q = queue;
	uint16_t sent = 0;

	while (sent < n) {
		/* those that are given up at once go one by one */
		bool alone = unlikely(q->lost_len != 0) && m[sent]->pkt_len >= q->lost_len;
		int rc = tx_some(q, m + sent, alone ? 1u : (unsigned)(n - sent));
		if (rc > 0) {
			tx_taken(q, m + sent, (unsigned)rc);
			sent = (uint16_t)(sent + rc);
		} else if (rc == -EINVAL || rc == -EMSGSIZE) {
			/* of this frame alone: if it waited, so would all others */
			cell_add(&q->rejected, 1);
			sent++;
		} else if (rc == -ENOBUFS && tx_queued(q, m[sent])) {
			continue;
		} else if (rc == -ENOBUFS && tx_lost(q, m[sent])) {
			sent++;
		} else {
			break;
		}
	}
	rte_pktmbuf_free_bulk(m, sent);
	return sent;
}

const struct dp_io kpacket_io = {.rx = kpacket_rx, .tx = kpacket_tx};

void *kpacket_rxq(struct kpacket *k, unsigned queue)
{
	return &k->rx[queue];
}

void *kpacket_txq(struct kpacket *k, unsigned queue)
{
	return &k->tx[queue];
}

/* ---- opening and closing ---- */

static int packet_set(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

static int packet_bind(int fd, int ifindex, uint16_t protocol)
{
	struct sockaddr_ll sa = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(protocol),
				 .sll_ifindex = ifindex};

	return bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 ? 0 : -errno;
}

/* Makes the ring of a socket. 0 or -errno. */
static int rx_ring(struct kpacket_rx *q, const struct kpacket_want *w)
{
	struct tpacket_req r = {.tp_block_size = w->block_bytes,
				.tp_block_nr = w->frames / (w->block_bytes / w->frame_bytes),
				.tp_frame_size = w->frame_bytes,
				.tp_frame_nr = w->frames};

	if (setsockopt(q->fd, SOL_PACKET, PACKET_RX_RING, &r, sizeof(r)) != 0)
		return -errno;
	q->ring_bytes = (size_t)r.tp_block_size * r.tp_block_nr;
	void *map = mmap(NULL, q->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, q->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	q->ring = map;
	q->frame_bytes = w->frame_bytes;
	q->frames = w->frames;
	return 0;
}

/* Opens the socket of an Rx queue. *group: the fan-out group of the interface's queues; < 0: there
 * is none yet. 0 or -errno. */
static int rx_open(struct kpacket_rx *q, const struct kpacket_want *w, int *group)
{
	socklen_t len = sizeof(*group);

	q->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (q->fd < 0)
		return -errno;
	ksock_room(q->fd, BESIDE_BYTES);
	int rc = packet_set(q->fd, PACKET_VERSION, TPACKET_V2);
	if (rc == 0)
		rc = packet_set(q->fd, PACKET_VNET_HDR, 1);
	if (rc == 0)
		rc = packet_set(q->fd, PACKET_COPY_THRESH, 1);
	if (rc == 0) /* until the port is started, nothing is to fill the ring */
		rc = ksock_filter(q->fd, false);
	if (rc == 0)
		rc = rx_ring(q, w);
	if (rc == 0)
		rc = packet_bind(q->fd, w->ifindex, ETH_P_ALL);
	if (rc != 0 || w->nrxq == 1)
		return rc;
	/* The kernel chooses a number for the group that nobody else has. Frames that have no room
	 * in their queue are missed: others would take them for those of a new connection, and out
	 * of order. */
	int how = PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID;
	rc = packet_set(q->fd, PACKET_FANOUT, *group >= 0 ? *group : how << 16);
	if (rc == 0 && *group < 0 && getsockopt(q->fd, SOL_PACKET, PACKET_FANOUT, group, &len) != 0)
		rc = -errno;
	return rc;
}

/* Opens the socket of a Tx queue, which receives nothing. 0 or -errno. */
static int tx_open(struct kpacket_tx *q, const struct kpacket_want *w)
{
	q->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (q->fd < 0)
		return -errno;
	q->patience_tsc = rte_get_tsc_hz() / 1000 * PATIENCE_MS;
	ksock_no_wait(q->fd);
	int rc = packet_set(q->fd, PACKET_VNET_HDR, 1);
	if (rc == 0)
		rc = packet_set(q->fd, PACKET_QDISC_BYPASS, 1);
	return rc == 0 ? packet_bind(q->fd, w->ifindex, 0) : rc;
}

static void *queues_new(unsigned n, size_t size)
{
	void *p = aligned_alloc(CACHE_LINE, RTE_MAX(n, 1u) * size);

	if (p != NULL)
		memset(p, 0, RTE_MAX(n, 1u) * size);
	return p;
}

struct kpacket *kpacket_open(const struct kpacket_want *w, const char *spec, struct err *e)
{
	struct kpacket *k = xcalloc(1, sizeof(*k));
	int rc = 0, group = -1;

	k->rx = queues_new(w->nrxq, sizeof(*k->rx));
	k->tx = queues_new(w->ntxq, sizeof(*k->tx));
	if (k->rx == NULL || k->tx == NULL)
		rc = -ENOMEM;
	while (rc == 0 && k->nrxq < w->nrxq)
		rc = rx_open(&k->rx[k->nrxq++], w, &group);
	while (rc == 0 && k->ntxq < w->ntxq)
		rc = tx_open(&k->tx[k->ntxq++], w);
	if (rc == 0)
		return k;
	err_set(e, ENODEV, "port '%s': cannot open its AF_PACKET sockets: %s", spec, strerror(-rc));
	kpacket_close(k);
	return NULL;
}

void kpacket_pools(struct kpacket *k, struct rte_mempool *const *pool, uint16_t port)
{
	for (unsigned i = 0; i < k->nrxq; i++) {
		k->rx[i].pool = pool[i];
		k->rx[i].port = port;
	}
}

void kpacket_receive(struct kpacket *k)
{
	for (unsigned i = 0; i < k->nrxq; i++)
		ksock_filter(k->rx[i].fd, true);
}

uint64_t kpacket_drops(struct kpacket *k)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < k->nrxq; i++)
		sum += ksock_packet_drops(k->rx[i].fd);
	return sum;
}

bool kpacket_queued(const struct kpacket *k)
{
	for (unsigned i = 0; i < k->ntxq; i++)
		if (cell_get(&k->tx[i].queued) != 0)
			return true;
	return false;
}

void kpacket_close(struct kpacket *k)
{
	for (unsigned i = 0; i < k->nrxq; i++) {
		if (k->rx[i].ring != NULL)
			munmap(k->rx[i].ring, k->rx[i].ring_bytes);
		close(k->rx[i].fd);
	}
	for (unsigned i = 0; i < k->ntxq; i++)
		close(k->tx[i].fd);
	free(k->rx);
	free(k->tx);
	free(k);
}

struct kpacket_counts kpacket_counts(const struct kpacket *k)
{
	struct kpacket_counts c = {0};

	for (unsigned i = 0; i < k->nrxq; i++) {
		c.nombuf += cell_get(&k->rx[i].nombuf);
		c.no_room += cell_get(&k->rx[i].no_room);
		c.cut += cell_get(&k->rx[i].cut);
	}
	for (unsigned i = 0; i < k->ntxq; i++) {
		c.rejected += cell_get(&k->tx[i].rejected);
		c.lost += cell_get(&k->tx[i].lost);
	}
	return c;
}
