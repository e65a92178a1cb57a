/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of a tap interface. See tun.h. */
#include "tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "count.h"
#include "iov_pieces.h"
#include "tun_join.h"
#include "tun_way.h"
#include "virtio_hdr.h"

#define REST_BYTES 66560u /* the longest frame that Linux makes by default, with its headers */
#define WAY_MS 10         /* a window of a way: some hundred joined frames */
#define MAX_PIECES 128    /* of a frame to be sent */
/* Buffers that a burst takes at most, but for its last frame: super-frames have many each, and an
 * Rx pool has at least so many more than these as one of them needs. */
#define BURST_BUFFERS DP_BURST_MAX

struct tun_queue {
	int fd;
	int bulk;                 /* -1, or a second way for joined frames: see bulk_open() */
	uint16_t port;            /* as received mbufs say it */
	struct rte_mempool *pool; /* NULL: it receives nothing */
	struct rte_mbuf *ready;   /* for the next frame */
	uint8_t *rest;            /* REST_BYTES: what does not fit into one buffer */
	bool join;                /* super-frames; the Tx worker's, and so is way */
	struct tun_way way;       /* of joined frames, where there are two */
	WR_ALIGNED(CACHE_LINE) cell_t nombuf, cut;                    /* the Rx worker's */
	WR_ALIGNED(CACHE_LINE) cell_t rejected, joined, joined_bytes; /* the Tx worker's */
} WR_ALIGNED(CACHE_LINE);

struct tun {
	char name[IF_NAMESIZE];
	unsigned n;
	unsigned offload;     /* TUN_F_* that the kernel was told */
	bool started, was_up; /* was_up: before it was started */
	struct tun_queue q[];
};

/* ---- bursts ---- */

/* Puts len bytes that found no room in the first buffer behind it, in further ones. false: there
 * are not enough of them. */
static bool queue_chain(struct tun_queue *q, struct rte_mbuf *m, uint32_t len)
{
	const uint8_t *from = q->rest;
	struct rte_mbuf *last = m;

	while (len > 0) {
		struct rte_mbuf *next = rte_pktmbuf_alloc(q->pool);
		if (next == NULL)
			return false;
		uint32_t n = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(next));
		memcpy(rte_pktmbuf_mtod(next, void *), from, n);
		next->data_len = (uint16_t)n;
		last->next = next;
		last = next;
		m->nb_segs++;
		m->pkt_len += n;
		from += n;
		len -= n;
	}
	return true;
}

/* Reads one frame into the buffer that is ready. 1: it is there; 0: none waits; -1: it is lost. */
static int read_one(struct tun_queue *q)
{
	struct rte_mbuf *m = q->ready;
	struct virtio_net_hdr h;
	uint32_t room = rte_pktmbuf_tailroom(m);
	struct iovec iov[] = {{&h, sizeof(h)},
			      {rte_pktmbuf_mtod(m, void *), room},
			      {q->rest, REST_BYTES}};
	ssize_t got = readv(q->fd, iov, ARRAY_SIZE(iov));

	if (got <= (ssize_t)sizeof(h))
		return 0;
	uint32_t len = (uint32_t)got - (uint32_t)sizeof(h);
	m->port = q->port;
	m->data_len = (uint16_t)RTE_MIN(len, room);
	m->pkt_len = m->data_len;
	q->ready = NULL;
	virtio_hdr_undone(m, &h);
	/* A frame that fills all room may have been longer. */
	if (unlikely(len > room) && (len >= room + REST_BYTES || !queue_chain(q, m, len - room))) {
		rte_pktmbuf_free(m);
		cell_add(len >= room + REST_BYTES ? &q->cut : &q->nombuf, 1);
		return -1;
	}
	return 1;
}

static uint16_t tun_rx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct tun_queue *q = queue;
	uint16_t got = 0;
	unsigned buffers = 0;

	while (got < n && buffers < BURST_BUFFERS) {
		if (q->ready == NULL && (q->ready = rte_pktmbuf_alloc(q->pool)) == NULL) {
			cell_add(&q->nombuf, 1);
			break;
		}
		struct rte_mbuf *into = q->ready;
		int rc = read_one(q);
		if (rc == 0)
			break;
		if (rc < 0)
			continue;
		buffers += into->nb_segs;
		m[got++] = into;
	}
	return got;
}

/* Writes one frame. 0 or -errno. */
static int write_one(const struct tun_queue *q, const struct rte_mbuf *m)
{
	struct virtio_net_hdr h;
	/* not filled with zeros for each frame */
	struct iovec iov[1 + MAX_PIECES + SAME_PIECES];
	unsigned n = pieces_of(m, iov + 1, ARRAY_SIZE(iov) - 1);

	if (n == 0)
		return -EINVAL;
	virtio_hdr_of(&h, m);
	iov[0] = (struct iovec){&h, sizeof(h)};
	return writev(q->fd, iov, (int)n + 1) < 0 ? -errno : 0;
}

/* Writes k frames as one. 0 or -errno; -EINVAL: they are to be written one by one. */
static int write_joined(struct tun_queue *q, int fd, struct rte_mbuf *const *m, unsigned k)
{
	struct virtio_net_hdr h;
	uint8_t head[JOIN_HEAD];
	struct iovec iov[2 + MAX_PIECES];
	unsigned n = 2, len = join_heads(m, k, head);

	virtio_hdr_of(&h, m[0]);
	iov[0] = (struct iovec){&h, sizeof(h)};
	iov[1] = (struct iovec){head, len};
	for (unsigned i = 0; i < k && n > 0; i++)
		n = pieces_add(m[i], len, iov, n, ARRAY_SIZE(iov));
	if (n == 0)
		return -EINVAL;
	if (writev(fd, iov, (int)n) < 0)
		return -errno;
	cell_add(&q->joined, k - 1);
	cell_add(&q->joined_bytes, (uint64_t)(k - 1) * len);
	return 0;
}

/* The same by the better way; *k: how many can be one, and then how many went. */
static int send_joined(struct tun_queue *q, struct rte_mbuf *const *m, unsigned *k)
{
	int fd = __atomic_load_n(&q->bulk, __ATOMIC_ACQUIRE), rc;

	if (fd >= 0 && way_now(&q->way, rte_rdtsc())) {
		rc = write_joined(q, fd, m, *k);
	} else {
		*k = RTE_MIN(*k, (unsigned)JOIN_FRAMES);
		rc = write_joined(q, q->fd, m, *k);
	}
	for (unsigned i = 0; rc == 0 && fd >= 0 && i < *k; i++)
		way_sent(&q->way, m[i]->pkt_len);
	return rc;
}

static uint16_t tun_tx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct tun_queue *q = queue;
	uint16_t sent = 0;

	while (sent < n) {
		int rc = -EMSGSIZE;
		unsigned k = q->join ? join_count(m + sent, n - sent, JOIN_BULK) : 1;
		if (k > 1)
			rc = send_joined(q, m + sent, &k);
		if (rc == -EINVAL && k > 1) {
			q->join = false;
			continue;
		}
		/* the kernel may have no room for much at once that it has for less */
		if (rc == -EMSGSIZE || rc == -ENOBUFS || rc == -ENOMEM) {
			k = 1;
			rc = write_one(q, m[sent]);
		}
		if (rc == -EINVAL) /* of this frame alone: if it waited, so would all others */
			cell_add(&q->rejected, 1);
		else if (rc != 0)
			break;
		sent += (uint16_t)k;
	}
	rte_pktmbuf_free_bulk(m, sent);
	return sent;
}

const struct dp_io tun_io = {.rx = tun_rx, .tx = tun_tx};

void *tun_queue(struct tun *t, unsigned queue)
{
	return &t->q[queue];
}

/* ---- opening and closing ---- */

/* Opens a queue more of the interface. more: IFF_MULTI_QUEUE, IFF_NAPI. Its descriptor, or -errno.
 */
static int queue_open(const char *name, int more)
{
	struct ifreq r = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | more)};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), rc = 0,
	    len = sizeof(struct virtio_net_hdr);

	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	/* A tap that somebody has made before may have offloads on. */
	if (ioctl(fd, TUNSETIFF, &r) != 0 || ioctl(fd, TUNSETVNETHDRSZ, &len) != 0 ||
	    ioctl(fd, TUNSETOFFLOAD, 0) != 0)
		rc = -errno;
	if (rc != 0) {
		close(fd);
		return rc;
	}
	return fd;
}

/* Whether a tap that was there before is somebody's who has it open: else it would be gone. One
 * that was made to stay may be nobody's. */
static bool tap_held(int fd)
{
	struct ifreq r = {0};

	return ioctl(fd, TUNGETIFF, &r) == 0 && (r.ifr_flags & IFF_PERSIST) == 0;
}

static void open_failed(const char *name, unsigned queue, const char *spec, int rc, struct err *e)
{
	if (rc == -EBUSY && queue == 0)
		err_set(e, ENODEV,
			"port '%s': %s is open already, as another port or by another program; name each interface once",
			spec, name);
	else if (rc == -EBUSY)
		err_set(e, ENODEV,
			"port '%s': %s was made for one queue; give the port one worker, or remove it: ip link delete %s",
			spec, name, name);
	else if (rc == -EINVAL && queue == 0 && if_nametoindex(name) != 0)
		err_set(e, ENODEV,
			"port '%s': interface %s is there already and is a tun, which has no Ethernet; choose another name, or remove it: "
			"ip link delete %s",
			spec, name, name);
	else
		err_set(e, ENODEV, "port '%s': cannot open queue %u of %s: %s", spec, queue, name,
			strerror(-rc));
}

/* Sets the interface up, or down. 0 or -errno. *was: whether it was up. */
static int set_up(const char *name, bool up, bool *was)
{
	struct ifreq r = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;

	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &r) != 0) {
		rc = -errno;
	} else {
		*was = (r.ifr_flags & IFF_UP) != 0;
		r.ifr_flags = (short)(up ? r.ifr_flags | IFF_UP : r.ifr_flags & ~IFF_UP);
		if (*was != up && ioctl(fd, SIOCSIFFLAGS, &r) != 0)
			rc = -errno;
	}
	close(fd);
	return rc;
}

struct tun *tun_open(const char *name, unsigned queues, const char *spec, struct err *e)
{
	size_t size = sizeof(struct tun) + queues * sizeof(struct tun_queue);
	struct tun *t = aligned_alloc(CACHE_LINE, size + CACHE_LINE - size % CACHE_LINE);
	bool many = true, there = if_nametoindex(name) != 0;

	if (t == NULL) {
		err_set(e, ENODEV, "port '%s': no memory", spec);
		return NULL;
	}
	memset(t, 0, size);
	snprintf(t->name, sizeof(t->name), "%s", name);
	for (; t->n < queues; t->n++) {
		struct tun_queue *q = &t->q[t->n];
		int fd = queue_open(name, many ? IFF_MULTI_QUEUE : 0);
		if (fd == -EINVAL && t->n == 0) {
			/* It is there already, with one queue. */
			many = false;
			fd = queue_open(name, 0);
		}
		if (fd >= 0 && t->n == 0 && there && tap_held(fd)) {
			close(fd);
			fd = -EBUSY;
		}
		if (fd < 0) {
			open_failed(name, t->n, spec, fd, e);
			tun_close(t);
			return NULL;
		}
		q->fd = fd;
		q->bulk = -1;
		q->rest = xcalloc(1, REST_BYTES);
	}
	return t;
}

/* Whether the kernel takes IPv4 of more than 64 KB: it does from 6.3 on. */
static bool kernel_joins(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 3));
}

int tun_start(struct tun *t, struct rte_mempool *const *pool, unsigned nrxq)
{
	bool was, joins = kernel_joins();

	for (unsigned i = 0; i < t->n; i++) {
		struct ifreq r = {.ifr_flags = i < nrxq ? IFF_ATTACH_QUEUE : IFF_DETACH_QUEUE};

		/* It says EINVAL to what is so already, and to a tap with one queue. */
		if (ioctl(t->q[i].fd, TUNSETQUEUE, &r) != 0 && errno != EINVAL)
			return -errno;
		t->q[i].pool = i < nrxq ? pool[i] : NULL;
		t->q[i].join = joins;
	}
	int rc = set_up(t->name, true, &was);
	if (rc == 0 && !t->started) {
		t->was_up = was;
		t->started = true;
	}
	return rc;
}

/* ---- super-frames ---- */

/* Which queue the kernel gives its frames to: -1 is its own choice. 0 or -errno. */
static int bulk_steer(const struct tun *t, int prog)
{
	return ioctl(t->q[0].fd, TUNSETSTEERINGEBPF, &prog) != 0 ? -errno : 0;
}

/* A program that chooses the first queue. Its descriptor, or -1. */
static int bulk_prog(void)
{
	const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					{.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr a = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
			    .insns = (uintptr_t)code,
			    .insn_cnt = ARRAY_SIZE(code),
			    .license = (uintptr_t) "BSD"};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

/* Opens the second way of joined frames, of a port with one queue. The kernel receives them in a
 * poll of its own (IFF_NAPI), which first takes back the buffers of frames that have been read on
 * another CPU. Else they come back in some thirty frames, and the next ones are copied to where no
 * near cache is. Half as much again goes by it to a receiver that throws away or passes on what
 * comes, and a third less to one on another CPU that reads it, as that CPU's cache has the buffers
 * then; frames that are not large would pay more for the poll than it saves. It is never read:
 * nothing is to come there. Where the kernel or our rights do not allow it, there is one way. */
static void bulk_open(struct tun *t)
{
	struct tun_queue *q = &t->q[0];
	int prog, fd;

	if (t->n != 1 || !q->join || q->bulk >= 0 || (prog = bulk_prog()) < 0)
		return;
	if (bulk_steer(t, prog) == 0) {
		fd = queue_open(t->name, IFF_MULTI_QUEUE | IFF_NAPI);
		if (fd >= 0) {
			way_init(&q->way, rte_get_tsc_hz() * WAY_MS / 1000);
			__atomic_store_n(&q->bulk, fd, __ATOMIC_RELEASE);
		} else {
			bulk_steer(t, -1);
		}
	}
	close(prog);
}

static void bulk_close(struct tun *t)
{
	if (t->n != 1 || t->q[0].bulk < 0)
		return;
	close(t->q[0].bulk);
	t->q[0].bulk = -1;
	bulk_steer(t, -1); /* the interface may stay */
}

int tun_offload(struct tun *t, bool sums, bool super)
{
	unsigned offload = (sums ? TUN_F_CSUM : 0) | (super ? TUN_F_TSO4 | TUN_F_TSO6 : 0);

	if (offload == t->offload)
		return 0;
	if (sums)             /* flows run */
		bulk_open(t); /* which turns all of them off */
	if (ioctl(t->q[0].fd, TUNSETOFFLOAD, offload) != 0)
		return -errno;
	t->offload = offload;
	return 0;
}

void tun_stop(struct tun *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		rte_pktmbuf_free(t->q[i].ready);
		t->q[i].ready = NULL;
		t->q[i].pool = NULL;
	}
}

void tun_close(struct tun *t)
{
	bool was;

	tun_stop(t);
	if (t->started && !t->was_up) /* somebody may have made it to stay */
		set_up(t->name, false, &was);
	bulk_close(t);
	for (unsigned i = 0; i < t->n; i++) {
		close(t->q[i].fd);
		free(t->q[i].rest);
	}
	free(t);
}

struct tun_counts tun_counts(const struct tun *t)
{
	struct tun_counts c = {0};

	for (unsigned i = 0; i < t->n; i++) {
		c.nombuf += cell_get(&t->q[i].nombuf);
		c.cut += cell_get(&t->q[i].cut);
		c.rejected += cell_get(&t->q[i].rejected);
		c.joined += cell_get(&t->q[i].joined);
		c.joined_bytes += cell_get(&t->q[i].joined_bytes);
	}
	return c;
}
