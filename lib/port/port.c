/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a port: how it is made from the text of a -p, opened with the other ports of that -p,
 * and freed; its queues' objects; its link and the numbers of its device. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "port_int.h"

#define DEFAULT_SPEED_BPS 10000000000ull

void port_note(struct port *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->note != NULL)
		p->note(p->note_arg, p->id, text);
}

/* ---- the text of a -p ---- */

/* Opens one of the devices that the user has named with EAL's own options. arg is its number among
 * those that EAL has found and that no -p has named: EAL knows in which order they come, and those
 * of ports that were opened before are not among them. */
static int eal_spec_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t dev, seen = 0;

	(void)n;
	RTE_ETH_FOREACH_DEV(dev) {
		if (!eal_found(dev))
			continue;
		if (rte_eth_dev_get_name_by_port(dev, name) != 0)
			snprintf(name, sizeof(name), "eal%s", arg);
		if (port_pci_named(name) || seen++ != (uint16_t)atoi(arg))
			continue;
		p[0]->dev = dev;
		snprintf(p[0]->name, sizeof(p[0]->name), "%s", name);
		return 0;
	}
	return err_set(e, ENODEV, "EAL's device options name more devices than EAL found (%u)%s",
		       seen, eal_log_hint());
}

static const struct port_spec spec_eal = {.prefix = "eal",
					  .syntax = "(EAL -a, --vdev)",
					  .open = eal_spec_open};

static const struct port_need need_default = {.nports = 1,
					      .max_rxq = PORT_MAX_QUEUES,
					      .max_txq = PORT_MAX_QUEUES,
					      .node = -1};

int port_parse(const char *text, bool take, const struct port_spec **spec, struct port_need *need,
	       struct err *e)
{
	const char *arg;

	*need = need_default;
	*spec = port_spec_find(text, &arg, e);
	return *spec != NULL ? (*spec)->parse(arg, take, need, e) : -EINVAL;
}

void port_parse_eal(unsigned number, char *text, size_t size, const struct port_spec **spec,
		    struct port_need *need)
{
	*need = need_default;
	need->rx_pool = true;
	*spec = &spec_eal;
	snprintf(text, size, "eal:%u", number);
}

/* ---- opening and closing ---- */

void port_init(struct port *p, const struct port_cfg *cfg)
{
	p->cfg = cfg;
}

void port_from_spec(struct port *p, unsigned id, unsigned first, const char *text,
		    const struct port_spec *spec, const struct port_need *need)
{
	p->id = id;
	p->first = first;
	p->spec = spec;
	p->need = *need;
	p->node = need->node;
	p->spec_text = xstrdup(text);
	snprintf(p->name, sizeof(p->name), "%s", text);
}

void port_listen(struct port *p, port_note_fn *note, void *arg)
{
	p->note = note;
	p->note_arg = arg;
}

void port_use(struct port *p, uint16_t nrxq, uint16_t ntxq)
{
	p->nrxq = nrxq;
	p->ntxq = ntxq;
	p->nqueues = RTE_MAX(nrxq, ntxq);
	p->used = p->nqueues > 0;
	p->rxd = (unsigned)RTE_MAX(p->cfg->rxd, p->need.min_rxd);
	p->txd = (unsigned)RTE_MAX(p->cfg->txd, p->need.min_txd);
	p->tx = xcalloc(ntxq + 1u, sizeof(*p->tx));
	p->rxq = xcalloc(nrxq + 1u, sizeof(*p->rxq));
}

/* Fills in p->pci if the spec has not done so and the device is on a PCI bus. */
static void find_bus(struct port *p)
{
	struct rte_eth_dev_info info = {0};
	unsigned domain, bus, slot, fn;
	int end = -1;

	if (p->pci[0] != '\0' || rte_eth_dev_info_get(p->dev, &info) != 0 || info.device == NULL)
		return;
	const char *name = rte_dev_name(info.device);
	if (sscanf(name, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &fn, &end) == 4 &&
	    name[end] == '\0')
		snprintf(p->pci, sizeof(p->pci), "%s", name);
}

int port_open(struct port *const *p, unsigned n, struct err *e)
{
	const char *arg = strchr(p[0]->spec_text, ':');
	bool used = false;

	for (unsigned i = 0; i < n; i++)
		used |= p[i]->used;
	if (!used)
		return 0;
	int rc = p[0]->spec->open(arg != NULL ? arg + 1 : "", p, n, e);
	eal_log_drain();
	for (unsigned i = 0; i < n && rc == 0; i++) {
		p[i]->opened = true;
		find_bus(p[i]);
	}
	return rc;
}

int port_rxq_new(struct port *p, unsigned queue, int node, struct err *e)
{
	struct dp_rxq *q = p->rxq[queue] = state_new(sizeof(*q), node);

	if (q == NULL)
		return err_set(e, ENODEV, "no memory for Rx queue %u of port %u", queue, p->id);
	q->port = (uint16_t)p->id;
	q->dev = p->dev;
	q->queue = (uint16_t)queue;
	return 0;
}

int port_txq_new(struct port *p, unsigned queue, int node, struct err *e)
{
	return tx_share(p, queue, node, false) != NULL
		       ? 0
		       : err_set(e, ENODEV, "no memory for Tx queue %u of port %u", queue, p->id);
}

void port_detach(struct port *p)
{
	if (!p->opened || !p->need.root)
		return;
	if (p->spec->close != NULL)
		p->spec->close(p);
	if (p->spec->closed != NULL) /* removes what the driver would have removed */
		p->spec->closed(p);
}

void port_free(struct port *p)
{
	free((char *)p->spec_text);
	free(p->tx);
	free(p->rxq);
	free(p->rx_pool);
	free(p->rss_state);
}

bool port_restart_pending(const struct port *p)
{
	const struct port_cfg *a = p->cfg, *b = &p->applied;

	return a->mtu != b->mtu || a->txd != b->txd || a->rxd != b->rxd || a->mbufs != b->mbufs ||
	       stamps_pending(p);
}

/* ---- what the device says ---- */

bool port_link(struct port *p)
{
	enum snap_link was = p->link;
	uint64_t was_mbps = p->link_mbps;

	setup_read_link(p);
	bool changed = p->link != was || p->link_mbps != was_mbps;
	p->link_seq += changed;
	return changed;
}

void port_set_link_down(struct port *p, bool down)
{
	p->link_down = down;
}

uint64_t port_speed(const struct port *p)
{
	if (p->cfg->speed_bps != 0)
		return p->cfg->speed_bps;
	if (!p->spec->virtual_speed && p->link_mbps != 0)
		return p->link_mbps * 1000000;
	return DEFAULT_SPEED_BPS;
}

bool port_speed_told(const struct port *p)
{
	return !p->spec->virtual_speed && p->link_mbps != 0 &&
	       (p->cfg->speed_bps == 0 || p->cfg->speed_bps == p->link_mbps * 1000000);
}

uint64_t port_speed_mbps(const struct port *p)
{
	return (port_speed(p) + 500000) / 1000000;
}

void port_stats(struct port *p, struct snap_port *out)
{
	struct rte_eth_stats st = {0};

	if (rte_eth_stats_get(p->dev, &st) == 0) {
		out->tx_errors = st.oerrors;
		out->rx_missed = st.imissed;
		out->rx_nombuf = st.rx_nombuf;
		out->rx_errors = st.ierrors;
		out->nic.source = "device";
		out->nic.tx_packets = st.opackets;
		out->nic.rx_packets = st.ipackets;
		out->nic.tx_bytes = st.obytes;
		out->nic.rx_bytes = st.ibytes;
		out->nic.has_tx_packets = out->nic.has_rx_packets = true;
		out->nic.has_tx_bytes = st.obytes != 0 || st.opackets == 0;
		out->nic.has_rx_bytes = st.ibytes != 0 || st.ipackets == 0;
		out->nic.tx_errors = st.oerrors;
		out->nic.rx_errors = st.ierrors;
	}
	if (p->spec->stats != NULL)
		p->spec->stats(p, out);
}

bool port_deaf(const struct port *p)
{
	return p->spec->deaf;
}

bool port_kernel_has(const struct port *p, const uint8_t ip[16])
{
	return p->priv != NULL && p->spec->carries != NULL && p->spec->carries(p, ip);
}

bool port_kernel_forwards(const struct port *p, bool six)
{
	return p->priv != NULL && p->spec->forwards != NULL && p->spec->forwards(p, six);
}

bool port_unaddressed(const struct port *p)
{
	return p->spec->unaddressed;
}

bool port_no_restart(const struct port *p)
{
	return p->spec->no_restart;
}

void port_notes(struct port *p, json_t *array)
{
	if (p->spec->notes != NULL)
		p->spec->notes(p, array);
}

void port_undone(struct port *p, bool sums, bool super)
{
	if (p->started && p->spec->undone != NULL)
		p->spec->undone(p, sums, super);
}

/* Whether a counter of bytes is 0 although frames were counted. Some virtual drivers do not count
 * bytes, and to say 0 would be wrong. */
static bool not_counted(const struct rte_eth_stats *st, const char *name, uint64_t value)
{
	const char *end = strrchr(name, '_');

	if (value != 0 || end == NULL || strcmp(end, "_bytes") != 0)
		return false;
	return (name[0] == 't' && st->opackets != 0 && st->obytes == 0) ||
	       (name[0] == 'r' && st->ipackets != 0 && st->ibytes == 0);
}

static void dev_xstats(const struct port *p, json_t *o)
{
	struct rte_eth_stats st = {0};
	int n = rte_eth_xstats_get_names(p->dev, NULL, 0);

	if (n <= 0)
		return;
	struct rte_eth_xstat_name *name = xcalloc((size_t)n, sizeof(*name));
	struct rte_eth_xstat *val = xcalloc((size_t)n, sizeof(*val));
	if (rte_eth_stats_get(p->dev, &st) != 0)
		st = (struct rte_eth_stats){0};
	if (rte_eth_xstats_get_names(p->dev, name, (unsigned)n) == n &&
	    rte_eth_xstats_get(p->dev, val, (unsigned)n) == n)
		for (int i = 0; i < n; i++)
			if (val[i].id < (uint64_t)n)
				json_object_set_new(
					o, name[val[i].id].name,
					not_counted(&st, name[val[i].id].name, val[i].value)
						? json_null()
						: json_integer((json_int_t)val[i].value));
	free(name);
	free(val);
}

void port_xstats(struct port *p, json_t *o)
{
	if (p->spec->xstats == NULL || !p->spec->xstats(p, o))
		dev_xstats(p, o);
}

const char *port_driver(const struct port *p)
{
	struct rte_eth_dev_info info = {0};
	const char *name = p->spec->driver != NULL ? p->spec->driver(p) : NULL;

	if (name != NULL)
		return name;
	return rte_eth_dev_info_get(p->dev, &info) == 0 ? info.driver_name : NULL;
}

bool port_may_peer(const struct port *p)
{
	return p->spec->peer != NULL;
}

struct port *port_peer(const struct port *p)
{
	return p->spec->peer != NULL ? p->spec->peer(p) : NULL;
}

unsigned port_rings(const struct port *p, struct rte_ring **ring)
{
	return p->spec->rings(p, ring);
}
