/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes ports on an interface of the kernel, and reads or changes their link, counters,
 * MTU and promiscuous mode in the kernel instead of by the driver. */
#include "kport_int.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kpacket.h"
#include "ksock.h"
#include "kxdp.h"
#include "log.h"
#include "port_int.h"
#include "tun.h"
#include "virtio_hdr.h"

static struct kport *kport_new(const char *name, const char *spec, enum how how, struct err *e)
{
	struct kport *kp = xcalloc(1, sizeof(*kp));

	kp->how = how;
	kp->tap = kp->lock = -1;
	if (kern_find(name, &kp->k, spec, e) != 0) {
		free(kp);
		return NULL;
	}
	kp->was_promisc = (kp->k.flags & IFF_PROMISC) != 0;
	return kp;
}

/* Fills in the port after its device was opened, and watches the interface. */
static void kport_ready(struct port *p, struct kport *kp, const char *spec)
{
	p->priv = kp;
	p->node = kern_node(kp->k.name);
	kern_pci(kp->k.name, p->pci, sizeof(p->pci));
	p->dev_mtu = (uint16_t)RTE_MIN(kp->k.mtu, (uint32_t)UINT16_MAX);
	/* a port `if:eth1` has that name whichever way it was opened */
	snprintf(p->name, sizeof(p->name), "%s", spec);
	kern_watch(&kp->k);
	/* Through a tap comes all that the host sends, and the socket would see each frame. */
	if (kp->how != HOW_TAP)
		kp->tap = ksock_tap_open(kp->k.ifindex);
}

/* A device of DPDK that only has the shape, where frames go by functions of ours. */
static int shape_add(uint16_t *dev, const char *spec, struct err *e)
{
	char devname[RTE_ETH_NAME_MAX_LEN];

	port_dev_name(devname, sizeof(devname), "net_null");
	return port_vdev_add(devname, "no-rx=1", dev, spec, e);
}

/* The host's IP stack gets all that AF_PACKET does, looks for an address, finds that it is not its
 * own, and throws it away, on the CPU that has received it. What is for another MAC it throws away
 * at once. So a port on a veth that the host does not use has one of its own: a veth takes any. */
static void packet_mac(struct port *p, struct kport *kp)
{
	memcpy(p->mac.addr_bytes, kp->k.mac, sizeof(kp->k.mac));
	kp->own_mac = strcmp(kp->k.kind, "veth") == 0 && !kern_in_use_beyond_link(&kp->k);
	if (kp->own_mac) /* a local one that the other end of the pair has not either */
		p->mac.addr_bytes[0] = (p->mac.addr_bytes[0] | 2) ^ 4;
}

int kport_open_packet(const char *name, const char *spec, struct port *p, struct err *e)
{
	int before[KSOCK_MAX];
	struct kport *kp = kport_new(name, spec, HOW_PACKET, e);

	if (kp == NULL)
		return -ENODEV;
	struct kpacket_want want = {
		.ifindex = kp->k.ifindex,
		.nrxq = p->nrxq,
		.ntxq = p->ntxq,
		.block_bytes = BLOCK_SIZE,
		.frame_bytes = kport_frame_size(kp->k.mtu),
		.frames = rte_align32pow2(RTE_MAX(p->rxd, RING_FRAMES)),
	};
	if (ksock_packet_fds(kp->k.ifindex, before, KSOCK_MAX) > 0) {
		free(kp);
		return err_set(
			e, EINVAL,
			"port '%s': %s is open as another port already; name each interface once",
			spec, name);
	}
	kp->packet = kpacket_open(&want, spec, e);
	if (kp->packet == NULL || shape_add(&p->dev, spec, e) != 0) {
		if (kp->packet != NULL)
			kpacket_close(kp->packet);
		free(kp);
		return -ENODEV;
	}
	packet_mac(p, kp);
	p->io_offloads = VIRTIO_TX_OFFLOADS;
	kport_ready(p, kp, spec);
	return 0;
}

static int lib_log(int level, const char *fmt, va_list ap)
{
	return rte_vlog(level <= 1 ? RTE_LOG_NOTICE : RTE_LOG_DEBUG, RTE_LOGTYPE_USER1, fmt, ap);
}

/* libxdp and libbpf, which the driver uses, write to stderr by themselves. Their texts belong into
 * the log. */
static void quiet_libraries(void)
{
	static const char *const lib[][2] = {{"libxdp.so.1", "libxdp_set_print"},
					     {"libbpf.so.1", "libbpf_set_print"}};

	for (size_t i = 0; i < ARRAY_SIZE(lib); i++) {
		void *h = dlopen(lib[i][0], RTLD_LAZY | RTLD_NOLOAD);
		void *(*set)(int (*)(int, const char *, va_list)) = NULL;
		if (h == NULL)
			continue;
		*(void **)&set = dlsym(h, lib[i][1]);
		if (set != NULL)
			set(lib_log);
		dlclose(h);
	}
}

int kport_open_xdp(const char *name, const char *spec, struct port *p, struct err *e)
{
	char devname[RTE_ETH_NAME_MAX_LEN], args[128];
	struct kport *kp = kport_new(name, spec, HOW_XDP, e);

	if (kp == NULL)
		return -ENODEV;
	unsigned queues = RTE_MAX(RTE_MAX(p->nrxq, p->ntxq), 1);
	kp->lock = kxdp_lock(&kp->k);
	if (kp->lock == -EBUSY) {
		free(kp);
		return err_set(
			e, ENODEV,
			"port '%s': another wirerate uses %s through AF_XDP; stop it, or use another interface",
			spec, name);
	}
	quiet_libraries();
	port_dev_name(devname, sizeof(devname), "net_af_xdp");
	snprintf(args, sizeof(args), "iface=%s,start_queue=0,queue_count=%u", name, queues);
	int rc = port_vdev_add(devname, args, &p->dev, spec, e);
	if (rc != 0) {
		kxdp_unlock(kp->lock, &kp->k);
		free(kp);
		return rc;
	}
	kport_ready(p, kp, spec);
	return 0;
}

int kport_open_tap(const char *name, const char *spec, struct port *p, struct err *e)
{
	struct tun *tun = tun_open(name, RTE_MAX(RTE_MAX(p->nrxq, p->ntxq), 1), spec, e);
	struct kport *kp = tun != NULL ? kport_new(name, spec, HOW_TAP, e) : NULL;

	if (kp == NULL || shape_add(&p->dev, spec, e) != 0) {
		free(kp);
		if (tun != NULL)
			tun_close(tun);
		return -ENODEV;
	}
	/* The frames that the host sends wait for our workers in this queue of the interface. */
	kern_set_txqlen(name, RING_FRAMES);
	/* Not the interface's own MAC: the host drops frames that seem to come from itself. */
	port_own_mac(p);
	kp->tun = tun;
	kport_ready(p, kp, spec);
	return 0;
}

const char *kport_driver(const struct port *p)
{
	static const char *const name[] = {
		[HOW_PACKET] = "af_packet", [HOW_XDP] = NULL, [HOW_TAP] = "tap"};

	return name[((const struct kport *)p->priv)->how];
}

struct tun *kport_tun(const struct port *p)
{
	return ((const struct kport *)p->priv)->tun;
}

void kport_because(struct port *p, const char *why)
{
	struct kport *kp = p->priv;

	snprintf(kp->why, sizeof(kp->why), "%s", why);
}

bool kport_is_xdp(const struct port *p)
{
	return ((const struct kport *)p->priv)->how == HOW_XDP;
}

/* Throws away the frames that wait in our rings, and returns how many there were. */
static uint64_t kport_drain(const struct port *p)
{
	struct rte_mbuf *m[64];
	uint64_t total = 0;

	for (uint16_t q = 0; q < p->nrxq; q++) {
		/* The number of turns is bounded, since in a flood the ring never runs empty. */
		for (unsigned turn = 0; turn < 4096 / ARRAY_SIZE(m); turn++) {
			uint16_t n = dp_rx_burst(p->rxq[q], m, ARRAY_SIZE(m));
			if (n == 0)
				break;
			rte_pktmbuf_free_bulk(m, n);
			total += n;
		}
	}
	return total;
}

static void read_drops(const struct port *p, struct kport *kp)
{
	uint64_t v, sum = 0;

	if (kp->how == HOW_PACKET)
		kp->drops += kpacket_drops(kp->packet);
	for (unsigned i = 0; i < kp->nfds; i++)
		if (i < p->nrxq && ksock_xdp_drops(kp->fds[i], &v))
			sum += v - kp->drops_base[i];
	if (kp->how == HOW_XDP && sum > kp->drops)
		kp->drops = sum;
}

static void reset_drops(struct kport *kp)
{
	if (kp->how == HOW_PACKET)
		kpacket_drops(kp->packet);
	for (unsigned i = 0; i < kp->nfds; i++)
		ksock_xdp_drops(kp->fds[i], &kp->drops_base[i]);
	kp->drops = 0;
	if (kp->tap >= 0)
		ksock_tap_sent(kp->tap);
	kp->host_sent = 0;
}

/* Takes the base of all counters at a moment when nothing waits in our rings, so that from here on
 * received + missed is what the interface has received. If a frame comes between the reading of the
 * counters and the look into the rings, all is done again, up to 100 times. */
static void take_base(struct port *p, struct kport *kp)
{
	for (unsigned i = 0; i < 100; i++) {
		kport_drain(p);
		reset_drops(kp);
		kern_read(&kp->k);
		if (kport_drain(p) == 0)
			break;
	}
	kp->base = kp->k.st;
	kp->based = true;
}

/* The AF_XDP sockets of all ports so far. */
static int xdp_known[KSOCK_MAX];
static unsigned xdp_nknown;

/* Finds the sockets of a new AF_XDP port, queue by queue. The driver has opened them in this order,
 * so they are the first ones that belong to no port yet. */
static void find_xdp_sockets(const struct port *p, struct kport *kp)
{
	int fds[KSOCK_MAX];
	unsigned n = ksock_xdp_fds(fds, KSOCK_MAX), want = RTE_MAX(p->nrxq, p->ntxq);

	for (unsigned i = 0; i < n && kp->nfds < want; i++) {
		bool known = xdp_nknown == KSOCK_MAX;
		for (unsigned j = 0; j < xdp_nknown; j++)
			known |= xdp_known[j] == fds[i];
		if (known)
			continue;
		xdp_known[xdp_nknown++] = fds[i];
		kp->fds[kp->nfds++] = fds[i];
		ksock_no_wait(fds[i]);
	}
}

static void forget_xdp_sockets(const struct kport *kp)
{
	for (unsigned i = 0; i < kp->nfds; i++)
		for (unsigned j = 0; j < xdp_nknown; j++)
			if (xdp_known[j] == kp->fds[i])
				xdp_known[j--] = xdp_known[--xdp_nknown];
}

/* The queues of a port that is used by AF_PACKET get their pools and their worker's functions. */
static void packet_started(struct port *p, struct kport *kp)
{
	kpacket_pools(kp->packet, p->rx_pool, (uint16_t)p->id);
	for (unsigned q = 0; q < p->nrxq; q++)
		port_io_rx(p, q, &kpacket_io, kpacket_rxq(kp->packet, q));
	for (unsigned q = 0; q < p->ntxq; q++)
		port_io_tx(p, q, &kpacket_io, kpacket_txq(kp->packet, q));
}

void kport_started(struct port *p)
{
	struct kport *kp = p->priv;

	if (kp->how == HOW_PACKET)
		packet_started(p, kp);
	/* When a driver starts, it sets or clears the interface's promiscuous flag as it likes. */
	kern_read(&kp->k);
	if (kp->was_promisc && !(kp->k.flags & IFF_PROMISC) &&
	    rte_eth_promiscuous_enable(p->dev) != 0)
		log_msg(LOG_LVL_WARN,
			"port %u (%s): the interface was promiscuous and the driver has ended that",
			p->id, p->name);
	if (kp->based)
		return;
	if (kp->how == HOW_XDP) {
		find_xdp_sockets(p, kp);
		kern_read(&kp->k);
		kxdp_record(kp->lock, &kp->k);
	}
	if (kp->how == HOW_PACKET)
		kpacket_receive(kp->packet);
	take_base(p, kp);
	if (kp->why[0] != '\0')
		port_note(p, "port %u (%s): %s", p->id, p->name, kp->why);
}

void kport_link(struct port *p, enum snap_link *link, uint64_t *speed_mbps)
{
	struct kport *kp = p->priv;

	kern_read(&kp->k);
	*link = kp->k.gone ? LINK_GONE : kern_up(&kp->k) ? LINK_UP : LINK_DOWN;
	p->carrier_changes = kp->k.carrier_changes;
	p->dev_mtu = (uint16_t)RTE_MIN(kp->k.mtu, (uint32_t)UINT16_MAX);
	/* A tap has no speed of its own, although the kernel tells one: the setting holds. */
	if (kp->how == HOW_TAP)
		*speed_mbps = p->cfg->speed_bps > 0 ? p->cfg->speed_bps / 1000000 : 10000;
	else
		*speed_mbps = kp->k.gone ? 0 : kern_speed_mbps(kp->k.name);
}

/* Fills in the port's counters since base, from the numbers that were last read. */
static void kport_count(const struct kport *kp, struct snap_port *s)
{
	struct kern_stats d = {
		.tx_packets = kp->k.st.tx_packets - kp->base.tx_packets,
		.tx_bytes = kp->k.st.tx_bytes - kp->base.tx_bytes,
		.rx_packets = kp->k.st.rx_packets - kp->base.rx_packets,
		.rx_bytes = kp->k.st.rx_bytes - kp->base.rx_bytes,
	};
	uint64_t sent = d.tx_packets - RTE_MIN(kp->host_sent, d.tx_packets);

	s->rx_missed = kp->drops;
	s->tx_errors = kp->k.st.tx_errors - kp->base.tx_errors;
	s->rx_errors = kp->k.st.rx_errors - kp->base.rx_errors;
	if (kp->how == HOW_TAP) {
		/* What we send is what the kernel receives there, and the other way round. */
		struct tun_counts c = tun_counts(kp->tun);
		d = (struct kern_stats){.tx_packets = d.rx_packets + c.joined,
					.tx_bytes = d.rx_bytes + c.joined_bytes,
					.rx_packets = d.tx_packets,
					.rx_bytes = d.tx_bytes};
		sent = d.tx_packets;
		s->rx_missed = kp->k.st.tx_dropped - kp->base.tx_dropped;
		s->tx_errors = kp->k.st.rx_errors - kp->base.rx_errors;
		s->rx_errors = kp->k.st.tx_errors - kp->base.tx_errors;
	}
	s->nic.source = "kernel";
	s->nic.tx_packets = d.tx_packets;
	s->nic.rx_packets = d.rx_packets;
	/* The kernel counts frames without FCS. */
	s->nic.tx_bytes = d.tx_bytes + 4 * d.tx_packets;
	s->nic.rx_bytes = d.rx_bytes + 4 * d.rx_packets;
	s->nic.tx_errors = s->tx_errors;
	s->nic.rx_errors = s->rx_errors;
	s->nic.has_tx_packets = s->nic.has_tx_bytes = s->nic.has_rx_packets = s->nic.has_rx_bytes =
		true;
	/* A veth with XDP counts received bytes without the Ethernet header. */
	if (kp->how == HOW_XDP && strcmp(kp->k.kind, "veth") == 0)
		s->nic.has_tx_bytes = s->nic.has_rx_bytes = false;
	s->nic.unconfirmed = s->tx.packets - RTE_MIN(sent, s->tx.packets);
	s->nic.has_unconfirmed = true;
}

/* What the queues of a port that is used by AF_PACKET have counted themselves. */
static void packet_stats(const struct kport *kp, struct snap_port *s)
{
	struct kpacket_counts c = kpacket_counts(kp->packet);

	s->rx_nombuf = c.nombuf;
	s->rx_missed += c.no_room;
	s->rx_errors += c.cut;
	s->tx_errors += c.rejected;
}

bool kport_xstats(struct port *p, json_t *o)
{
	const struct kport *kp = p->priv;

	if (kp->how != HOW_PACKET)
		return false;
	struct kpacket_counts c = kpacket_counts(kp->packet);
	json_object_set_new(o, "rx_no_buffer", json_integer((json_int_t)c.nombuf));
	json_object_set_new(o, "rx_no_room", json_integer((json_int_t)c.no_room));
	json_object_set_new(o, "rx_too_long", json_integer((json_int_t)c.cut));
	json_object_set_new(o, "tx_rejected", json_integer((json_int_t)c.rejected));
	json_object_set_new(o, "tx_lost", json_integer((json_int_t)c.lost));
	return true;
}

void kport_stats(struct port *p, struct snap_port *s)
{
	struct kport *kp = p->priv;

	for (unsigned turn = 0; turn < 2; turn++) {
		kern_read(&kp->k);
		read_drops(p, kp);
		if (kp->tap >= 0)
			kp->host_sent += ksock_tap_sent(kp->tap);
		kport_count(kp, s);
		if (kp->how == HOW_PACKET)
			packet_stats(kp, s);
		if (s->nic.unconfirmed == 0 || kp->how != HOW_XDP || kp->k.gone)
			break;
		/* Frames may still wait in a Tx ring: the driver makes the kernel send them only
		 * when it sends more. */
		for (unsigned i = 0; i < kp->nfds && i < p->ntxq; i++)
			ksock_kick(kp->fds[i]);
	}
}

int kport_set_mtu(struct port *p, uint16_t mtu, struct err *e)
{
	struct kport *kp = p->priv;

	if (mtu == kp->k.mtu)
		return 0;
	if (kp->how == HOW_XDP && mtu > XDP_ROOM_MAX - 256 - 22)
		return err_set(e, EINVAL,
			       "port %u (%s): MTU %u is too large for AF_XDP; at most %u", p->id,
			       p->name, mtu, XDP_ROOM_MAX - 256 - 22);
	int rc = kern_set_mtu(kp->k.name, mtu);
	if (rc != 0)
		return err_set(e, EINVAL, "port %u (%s): the kernel refuses MTU %u: %s", p->id,
			       p->name, mtu, strerror(-rc));
	if (kp->was_mtu == 0)
		kp->was_mtu = kp->k.mtu;
	kern_read(&kp->k);
	p->dev_mtu = (uint16_t)kp->k.mtu;
	return 0;
}

int kport_set_promisc(struct port *p, bool on, struct err *e)
{
	struct kport *kp = p->priv;

	if (on == kp->promisc || kp->how == HOW_TAP)
		return 0;
	/* Our socket holds the mode, so the mode ends with the process, however that ends. */
	int rc = kp->tap < 0 ? -EBADF : ksock_promisc(kp->tap, kp->k.ifindex, on);
	if (rc != 0)
		return err_set(e, ENODEV, "port %u (%s): cannot switch promiscuous mode: %s", p->id,
			       p->name, strerror(-rc));
	kp->promisc = on;
	return 0;
}

bool kport_carries(const struct port *p, const uint8_t ip[16])
{
	const struct kport *kp = p->priv;

	/* The kernel is at the other end of a tap, and has addresses of its own there. */
	return kp->how != HOW_TAP && kern_has_addr(&kp->k, ip);
}

bool kport_forwards(const struct port *p, bool six)
{
	const struct kport *kp = p->priv;

	/* it does not forward what is for another MAC */
	return kp->how != HOW_TAP && !kp->own_mac && kern_forwards(&kp->k, six);
}

void kport_join(struct port *p, const uint8_t mac[6], bool on)
{
	struct kport *kp = p->priv;
	/* As with the promiscuous mode, the membership ends with our socket. */
	int rc = kp->tap < 0 ? -EBADF : ksock_join(kp->tap, kp->k.ifindex, mac, on);

	if (kp->how == HOW_TAP)
		return;
	if (rc != 0 && on)
		log_msg(LOG_LVL_WARN, "port %u (%s) cannot join a group: %s", p->id, p->name,
			strerror(-rc));
}

void kport_close(struct port *p)
{
	struct kport *kp = p->priv;

	if (kp == NULL)
		return;
	if (kp->was_mtu != 0 && !kp->k.gone)
		kern_set_mtu(kp->k.name, kp->was_mtu);
	if (kp->tap >= 0)
		close(kp->tap);
	kp->tap = -1;
}

void kport_closed(struct port *p)
{
	struct kport *kp = p->priv;

	if (kp == NULL)
		return;
	kport_close(p);
	if (kp->how == HOW_XDP) {
		forget_xdp_sockets(kp);
		kxdp_unlock(kp->lock, &kp->k);
	}
	/* As long as the device has not been stopped, a worker may still use its queues. */
	if (kp->packet != NULL && !p->started)
		kpacket_close(kp->packet);
	kern_unwatch(&kp->k);
	free(kp);
	p->priv = NULL;
}
