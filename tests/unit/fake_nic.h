/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake NIC with time stamps, made of the devices of a wire and of functions of DPDK that the test
 * has in the place of the library's own. Its clock runs at a frequency of its own, drifts and can
 * be set. It notes each frame that it gets. It delivers a frame fake.delay cycles after the time
 * that the frame's probe says, and stamps it with that time on its own clock. */
#pragma once
#include <dlfcn.h>

#include <rte_mbuf_dyn.h>

#include "ctl_live.h"
#include "frame_probe.h"

#define FAKE_MAX 100000
#define FAKE_HELD 4096

struct fake_sent {
	uint64_t flagged, stamp, tsc;
};

static struct {
	uint64_t rx_capa, tx_capa;
	int clock_rc;     /* what reading the clock returns; not 0: it fails */
	int configure_rc; /* below 0: a device cannot be set up with time stamps */
	/* The clock's ticks at `since` (offset), ticks per second at that time (hz), and how these
	 * change per second, as a share of hz (drift). */
	double hz, drift, offset;
	uint64_t since;
	double set;          /* ticks by which somebody has set the clock */
	uint64_t delay;      /* cycles */
	unsigned every;      /* one frame in so many has no stamp; 0: all have one */
	unsigned wrong;      /* the stamp of one frame in so many is an hour off; 0: none */
	unsigned configured; /* how often a device was set up */
	/* Offloads that were asked for, for each device of the wire; the last element is for other
	 * devices. */
	uint64_t rx_offloads[3], tx_offloads[3];
	int offset_of;
	uint64_t rx_flag, tx_flag;
	uint16_t dev[2];
	eth_tx_burst_t tx;
	eth_rx_burst_t rx;
	struct rte_mbuf *held[FAKE_HELD];
	unsigned nheld;
	uint64_t frames;
	struct fake_sent sent[FAKE_MAX];
	uint64_t missed; /* deadlines missed, a counter of its xstats */
} fake = {.hz = 156.25e6 * (1 + 40e-6), .drift = 0.05e-6, .offset = 123456789012.0};

/* Returns the NIC's time at a time of the TSC. As on real devices it is in whole ticks. */
static uint64_t fake_ticks(uint64_t tsc)
{
	long double t = (long double)(int64_t)(tsc - fake.since) / (long double)clock_hz();

	t += (long double)fake.drift * t * t / 2;
	return (uint64_t)(int64_t)floorl((long double)fake.offset + (long double)fake.set +
					 (long double)fake.hz * t);
}

/* Returns the library's own function. */
static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	assert_non_null(f);
	return f;
}

#define REAL(name) ((__typeof__(&name))real(#name))

int rte_eth_read_clock(uint16_t port_id, uint64_t *clock)
{
	(void)port_id;
	if (fake.clock_rc == 0)
		*clock = fake_ticks(clock_tsc());
	return fake.clock_rc;
}

int rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = REAL(rte_eth_dev_info_get)(port_id, info);

	if (info->driver_name != NULL && strcmp(info->driver_name, "net_ring") == 0) {
		info->rx_offload_capa |= fake.rx_capa;
		info->tx_offload_capa |= fake.tx_capa;
	}
	return rc;
}

static unsigned which(uint16_t dev)
{
	return fake.configured == 0 || dev == fake.dev[0] ? 0 : dev == fake.dev[1] ? 1 : 2;
}

int rte_eth_dev_configure(uint16_t port_id, uint16_t nrxq, uint16_t ntxq,
			  const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;

	rte_mbuf_dyn_rx_timestamp_register(&fake.offset_of, &fake.rx_flag);
	rte_mbuf_dyn_tx_timestamp_register(&fake.offset_of, &fake.tx_flag);
	if (fake.configured < 2)
		fake.dev[fake.configured] = port_id;
	unsigned i = which(port_id);
	fake.configured++;
	fake.rx_offloads[i] = conf->rxmode.offloads;
	fake.tx_offloads[i] = conf->txmode.offloads;
	plain.rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	plain.txmode.offloads &= ~RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	if (fake.configure_rc < 0 && plain.rxmode.offloads != conf->rxmode.offloads)
		return fake.configure_rc;
	return REAL(rte_eth_dev_configure)(port_id, nrxq, ntxq, &plain);
}

int rte_eth_tx_queue_setup(uint16_t port_id, uint16_t queue, uint16_t nb, unsigned socket,
			   const struct rte_eth_txconf *conf)
{
	struct rte_eth_txconf plain = *conf;

	plain.offloads &= ~RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	return REAL(rte_eth_tx_queue_setup)(port_id, queue, nb, socket, &plain);
}

static void put_stamp(struct rte_mbuf *m, uint64_t v)
{
	*RTE_MBUF_DYNFIELD(m, fake.offset_of, uint64_t *) = v;
}

/* Returns when a frame arrives, in cycles. Frames are eth/ipv4/udp. The probe in a frame may say
 * that it is to leave in the future. A frame without a probe arrives at once. */
static uint64_t arrival(const struct rte_mbuf *m, uint64_t now)
{
	uint64_t w[2], ago;

	memcpy(w, rte_pktmbuf_mtod_offset(m, const uint8_t *, 14 + 20 + 8), PROBE_LEN);
	if (!probe_right(rte_be_to_cpu_64(w[0]), rte_be_to_cpu_64(w[1])))
		return now;
	ago = (now - rte_be_to_cpu_64(w[1])) & PROBE_SENT_MASK;
	if (ago > PROBE_SENT_MASK / 2)
		ago -= PROBE_SENT_MASK + 1;
	return now - ago + fake.delay;
}

static uint16_t fake_nic_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	uint64_t now = clock_tsc();

	for (unsigned i = 0; i < n; i++)
		if (fake.frames + i < FAKE_MAX)
			fake.sent[fake.frames + i] =
				(struct fake_sent){.flagged = m[i]->ol_flags & fake.tx_flag,
						   .tsc = now,
						   .stamp = *RTE_MBUF_DYNFIELD(m[i], fake.offset_of,
									       uint64_t *)};
	uint16_t took = fake.tx(q, m, n);
	fake.frames += took;
	return took;
}

/* Hands over frames that have arrived. A stamp says when the frame arrived, however late the
 * receiver asks. */
static uint16_t fake_nic_rx(void *q, struct rte_mbuf **m, uint16_t n)
{
	static uint64_t number;
	uint64_t now = clock_tsc();
	unsigned out = 0;

	if (fake.nheld < FAKE_HELD / 2)
		fake.nheld += fake.rx(q, fake.held + fake.nheld, FAKE_HELD / 2);
	while (out < n && out < fake.nheld && (int64_t)(now - arrival(fake.held[out], now)) >= 0) {
		struct rte_mbuf *b = fake.held[out];
		m[out++] = b;
		number++;
		b->ol_flags &= ~(fake.rx_flag | fake.tx_flag);
		if (fake.every != 0 && number % fake.every == 0)
			continue;
		b->ol_flags |= fake.rx_flag;
		put_stamp(b, fake_ticks(arrival(b, now)));
		if (fake.wrong != 0 && number % fake.wrong == 1)
			put_stamp(b, fake_ticks(now) + (uint64_t)(3600 * fake.hz));
	}
	fake.nheld -= out;
	memmove(fake.held, fake.held + out, fake.nheld * sizeof(fake.held[0]));
	return (uint16_t)out;
}

int rte_eth_dev_start(uint16_t port_id)
{
	int rc = REAL(rte_eth_dev_start)(port_id);
	struct rte_eth_fp_ops *f = &rte_eth_fp_ops[port_id];

	if (rc == 0 && port_id == fake.dev[0]) {
		fake.tx = f->tx_pkt_burst;
		f->tx_pkt_burst = fake_nic_tx;
	} else if (rc == 0 && port_id == fake.dev[1]) {
		fake.rx = f->rx_pkt_burst;
		f->rx_pkt_burst = fake_nic_rx;
	}
	return rc;
}

int rte_eth_xstats_get_by_id(uint16_t port_id, const uint64_t *ids, uint64_t *values, unsigned n)
{
	if (port_id != fake.dev[0])
		return REAL(rte_eth_xstats_get_by_id)(port_id, ids, values, n);
	for (unsigned i = 0; i < n; i++)
		values[i] = ids[i] == 2 ? fake.missed : 7;
	return (int)n;
}

int rte_eth_xstats_get_names(uint16_t port_id, struct rte_eth_xstat_name *names, unsigned size)
{
	static const char *const known[] = {"rx_good_packets", "tx_pp_jitter",
					    "tx_pp_timestamp_past_errors"};

	if (port_id != fake.dev[0])
		return REAL(rte_eth_xstats_get_names)(port_id, names, size);
	for (unsigned i = 0; i < ARRAY_SIZE(known) && i < size && names != NULL; i++)
		snprintf(names[i].name, sizeof(names[i].name), "%s", known[i]);
	return ARRAY_SIZE(known);
}
