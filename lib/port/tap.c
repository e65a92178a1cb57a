/* SPDX-License-Identifier: BSD-3-Clause */
/* `-p tap:NAME` makes a new interface of this host; if there is one with this name, it must be a
 * tap. The host receives there what the port sends, and the other way round. */
#include "kport.h"
#include "log.h"
#include "tun.h"
#include "virtio_hdr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int tap_parse(const char *arg, bool take, struct port_need *need, struct err *e)
{
	struct kern_if k;
	char spec[160];

	(void)take;
	snprintf(spec, sizeof(spec), "tap:%s", arg);
	/* of a name with %d the kernel would make another one */
	if (*arg == '\0' || strlen(arg) >= IF_NAMESIZE || strpbrk(arg, ",/:% \t") != NULL ||
	    strcmp(arg, ".") == 0 || strcmp(arg, "..") == 0)
		return err_set(
			e, EINVAL,
			"port '%s': tap: wants the name of the interface to make, at most %d characters without comma, "
			"slash, colon, percent sign or space: tap:wr0",
			spec, IF_NAMESIZE - 1);
	if (!kern_cap(KERN_CAP_NET_ADMIN))
		return err_set(
			e, ENODEV,
			"port '%s': making an interface needs CAP_NET_ADMIN; run it with sudo",
			spec);
	if (access("/dev/net/tun", R_OK | W_OK) != 0)
		return err_set(e, ENODEV, "port '%s': /dev/net/tun: %s; modprobe tun", spec,
			       strerror(errno));
	if (kern_find(arg, &k, spec, NULL) == 0 && strcmp(k.kind, "tun") != 0)
		return err_set(
			e, ENODEV,
			"port '%s': interface %s is there already and is no tap; choose another name, or use if:%s",
			spec, arg, arg);
	need->nports = 1;
	need->max_rxq = need->max_txq = TUN_QUEUES;
	need->root = need->rx_pool = need->tx_frees_at_once = true;
	need->min_data_room = 2048;
	return 0;
}

static int tap_open(const char *arg, struct port *const *p, unsigned n, struct err *e)
{
	char spec[160];

	(void)n;
	snprintf(spec, sizeof(spec), "tap:%s", arg);
	p[0]->io_offloads = VIRTIO_TX_OFFLOADS;
	return kport_open_tap(arg, spec, p[0], e);
}

static void tap_started(struct port *p)
{
	struct tun *t = kport_tun(p);
	int rc = tun_start(t, p->rx_pool, p->nrxq);

	if (rc != 0)
		log_msg(LOG_LVL_WARN, "port %u (%s) cannot be set up: %s", p->id, p->name,
			strerror(-rc));
	for (unsigned q = 0; q < p->nrxq; q++)
		port_io_rx(p, q, &tun_io, tun_queue(t, q));
	for (unsigned q = 0; q < p->ntxq; q++)
		port_io_tx(p, q, &tun_io, tun_queue(t, q));
	kport_started(p);
}

static void tap_undone(struct port *p, bool sums, bool super)
{
	struct tun *t = kport_tun(p);
	int rc = tun_offload(t, sums, super);

	if (rc != 0) /* a deleted one takes nothing: nor does anything come from it */
		log_msg(LOG_LVL_DEBUG, "port %u (%s): offloads of the tap: %s", p->id, p->name,
			strerror(-rc));
}

static void tap_drain(struct port *p)
{
	tun_stop(kport_tun(p));
}

static void tap_stats(struct port *p, struct snap_port *s)
{
	struct tun_counts c = tun_counts(kport_tun(p));

	kport_stats(p, s);
	if (p->nrxq == 0) /* nobody is to receive anything */
		s->rx_missed = 0;
	s->rx_nombuf = c.nombuf;
	s->rx_errors += c.cut;
	s->tx_errors += c.rejected;
}

static bool tap_xstats(struct port *p, json_t *o)
{
	struct tun_counts c = tun_counts(kport_tun(p));

	json_object_set_new(o, "rx_no_buffer", json_integer((json_int_t)c.nombuf));
	json_object_set_new(o, "rx_too_long", json_integer((json_int_t)c.cut));
	json_object_set_new(o, "tx_rejected", json_integer((json_int_t)c.rejected));
	return true;
}

static void tap_closed(struct port *p)
{
	struct tun *t = p->priv != NULL ? kport_tun(p) : NULL;

	kport_closed(p);
	/* As long as the device has not been stopped, a worker may still use its queues. */
	if (t != NULL && !p->started)
		tun_close(t);
}

const struct port_spec port_spec_tap = {
	.prefix = "tap",
	.syntax = "tap:NAME",
	.help = "makes a network interface of this host; what the port sends, the host receives there",
	.driver = kport_driver,
	.parse = tap_parse,
	.open = tap_open,
	.started = tap_started,
	.link = kport_link,
	.stats = tap_stats,
	.xstats = tap_xstats,
	.undone = tap_undone,
	.set_mtu = kport_set_mtu,
	.set_promisc = kport_set_promisc,
	.join = kport_join,
	.carries = kport_carries,
	.forwards = kport_forwards,
	.drain = tap_drain,
	.close = kport_close,
	.closed = tap_closed,
	.notes = kport_notes,
	.rss = &kport_rss,
	.virtual_speed = true,
};
