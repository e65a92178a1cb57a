/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a device. Received frames get time stamps by this clock, and the device can send
 * frames at times by it. Both are offloads, which are asked for when the device is set up. Again
 * and again, control reads the device's clock between two readings of our cycle counter, and tells
 * the workers how cycles follow from the device's clock. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_mbuf_dyn.h>

#include "ctl_int.h"

#define ROUNDS 5
#define PATIENCE_NS 20000000ull /* the longest wait of a start for the devices' clocks */
#define RETRY_NS 250000000ull   /* between readings of a clock that cannot be read */

#define RX_STAMPS RTE_ETH_RX_OFFLOAD_TIMESTAMP
#define TX_STAMPS RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP

/* Returns the clock by which the device's time stamps are. DPDK's libpcap driver puts the time of
 * capture into each frame. Before DPDK 26.07 that is the system's clock in us, and the driver does
 * not say that it gives time stamps; since then it offers them, and its clock can be read. In
 * frames from a file the time is that at which somebody recorded them. It is of no use, and *why
 * says so. */
static enum stamp_clock clock_of(const struct ctl_port *cp, const struct rte_eth_dev_info *info,
				 const char **why)
{
	*why = NULL;
	if (strcmp(info->driver_name, "net_pcap") != 0)
		return (info->rx_offload_capa & RX_STAMPS) != 0 ||
				       (info->tx_offload_capa & TX_STAMPS) != 0
			       ? STAMPS_DEVICE
			       : STAMPS_NONE;
	if (strstr(cp->p.spec_text, "iface=") != NULL)
		return (info->rx_offload_capa & RX_STAMPS) != 0 ? STAMPS_SYSTEM : STAMPS_SYSTEM_US;
	*why = "those of a file say when it was recorded";
	return STAMPS_NONE;
}

static void rx_ask(struct ctl_port *cp, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &cp->stamps;

	s->rx_offered = s->clock == STAMPS_SYSTEM_US ||
			(s->clock != STAMPS_NONE && (s->rx_capa & RX_STAMPS) != 0);
	if (!s->rx_offered || cp->p.cfg.timestamps == TIMESTAMPS_SOFTWARE)
		return;
	if (rte_mbuf_dyn_rx_timestamp_register(&s->rx.offset, &s->rx.flag) < 0) {
		s->why = "buffers have no room for them";
		return;
	}
	conf->rxmode.offloads |= s->rx_capa & RX_STAMPS;
	s->rx_on = true;
}

static void tx_ask(struct ctl_port *cp, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &cp->stamps;

	if ((s->tx_capa & TX_STAMPS) == 0 || cp->p.cfg.pacing != PACING_TIMESTAMP)
		return;
	if (rte_mbuf_dyn_tx_timestamp_register(&s->tx.offset, &s->tx.flag) < 0)
		return;
	conf->txmode.offloads |= TX_STAMPS;
	cp->tx_offloads |= TX_STAMPS;
	s->tx_on = true;
}

void stamps_ask(struct ctl_port *cp, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &cp->stamps;

	s->rx_capa = info->rx_offload_capa;
	s->tx_capa = info->tx_offload_capa;
	s->rx_on = s->tx_on = s->lost = false;
	s->rc = 0;
	s->clock = clock_of(cp, info, &s->why);
	clock_dev_begin(&s->cal, clock_hz());
	dp_clock_set(&s->rx, &(struct dp_clock_view){.slack = DP_CLOCK_UNKNOWN});
	dp_clock_set(&s->tx, &(struct dp_clock_view){.slack = DP_CLOCK_UNKNOWN});
	rx_ask(cp, conf);
	tx_ask(cp, conf);
}

bool stamps_without(struct ctl_port *cp, int rc, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &cp->stamps;

	if (!s->rx_on && !s->tx_on)
		return false;
	s->why = "the device offers them and does not start with them";
	s->rx_on = s->tx_on = false;
	s->rc = rc;
	conf->rxmode.offloads &= ~RX_STAMPS;
	conf->txmode.offloads &= ~TX_STAMPS;
	cp->tx_offloads &= ~TX_STAMPS;
	return true;
}

bool stamps_pending(const struct ctl_port *cp)
{
	const struct port_stamps *s = &cp->stamps;
	const struct port_cfg *a = &cp->p.cfg, *b = &cp->applied;
	bool rx = (a->timestamps == TIMESTAMPS_SOFTWARE) != (b->timestamps == TIMESTAMPS_SOFTWARE);
	bool tx = (a->pacing == PACING_TIMESTAMP) != (b->pacing == PACING_TIMESTAMP);

	return (rx && s->rx_offered) || (tx && (s->tx_capa & TX_STAMPS) != 0);
}

/* ---- misses ---- */

/* Does this xstat count failures to send frames at their times? Only those of mlx5 are known:
 * tx_pp_*_errors, such as tx_pp_timestamp_past_errors, and tx_pp_sync_lost. */
static bool tells_misses(const char *name)
{
	size_t n = strlen(name);

	return strncmp(name, "tx_pp_", 6) == 0 &&
	       ((n > 7 && strcmp(name + n - 7, "_errors") == 0) ||
		strcmp(name, "tx_pp_sync_lost") == 0);
}

static uint64_t miss_now(const struct ctl_port *cp, unsigned i)
{
	uint64_t v = 0;

	return rte_eth_xstats_get_by_id(cp->p.dev, &cp->stamps.miss[i].id, &v, 1) == 1 ? v : 0;
}

static void find_misses(struct ctl_port *cp)
{
	struct port_stamps *s = &cp->stamps;
	int n = s->tx_on ? rte_eth_xstats_get_names(cp->p.dev, NULL, 0) : 0;
	struct rte_eth_xstat_name *name = xcalloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*name));

	s->nmisses = 0;
	if (n > 0 && rte_eth_xstats_get_names(cp->p.dev, name, (unsigned)n) != n)
		n = 0;
	for (int i = 0; i < n && s->nmisses < STAMPS_MISSES; i++)
		if (tells_misses(name[i].name)) {
			s->miss[s->nmisses].id = (uint64_t)i;
			memcpy(s->miss[s->nmisses].name, name[i].name, sizeof(name[i].name));
			s->nmisses++;
		}
	free(name);
}

void stamps_missed(const struct ctl_port *cp, struct sbuf *out)
{
	const struct port_stamps *s = &cp->stamps;
	bool any = false;

	for (unsigned i = 0; i < s->nmisses; i++) {
		uint64_t n = miss_now(cp, i) - s->miss[i].base;
		if (n == 0)
			continue;
		sbuf_addf(out, "%s%s %llu", any ? ", " : "; it missed some: ", s->miss[i].name,
			  (unsigned long long)n);
		any = true;
	}
	if (s->nmisses == 0)
		sbuf_add(out, "; it does not count what it misses");
	else if (!any)
		sbuf_add(out, "; it counts no misses");
}

/* ---- the clock ---- */

static int read_clock(const struct ctl_port *cp, uint64_t *ticks)
{
	if (cp->stamps.clock != STAMPS_SYSTEM_US)
		return rte_eth_read_clock(cp->p.dev, ticks);
	*ticks = clock_wall_ns() / 1000;
	return 0;
}

/* Reads the device's clock between two readings of our counter. Losing the CPU in between makes
 * this bracket wide, so the narrowest of a few brackets is used. */
static int stamps_take(const struct ctl_port *cp, struct clock_dev_reading *best)
{
	*best = (struct clock_dev_reading){.width = UINT64_MAX};
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t ticks = 0, a = clock_tsc();
		int rc = read_clock(cp, &ticks);
		uint64_t b = clock_tsc();
		if (rc < 0)
			return rc;
		if (b - a < best->width)
			*best = (struct clock_dev_reading){.tsc = a + (b - a) / 2,
							   .ticks = ticks,
							   .width = b - a};
	}
	return 0;
}

static bool in_use(const struct ctl_port *cp)
{
	return cp->used && cp->started && (cp->stamps.rx_on || cp->stamps.tx_on);
}

/* Returns the cycle count at which the clock is to be read again. UINT64_MAX: never, since it is
 * not in use or the driver cannot read it. */
static uint64_t next_look(const struct ctl_port *cp)
{
	const struct port_stamps *s = &cp->stamps;

	if (!in_use(cp) || s->rc == -ENOTSUP)
		return UINT64_MAX;
	return s->rc < 0 ? s->retry_tsc : clock_dev_next(&s->cal);
}

static void stamps_tell(struct port_stamps *s, const struct dp_clock_view *v)
{
	dp_clock_set(&s->rx, v);
	dp_clock_set(&s->tx, v);
}

/* Tells the workers how cycles follow from the device's clock, by what is known now. */
static void stamps_publish(struct port_stamps *s)
{
	const struct clock_dev_reading *last = clock_dev_last(&s->cal);
	struct dp_clock_view v = {.at = last->ticks,
				  .tsc = last->tsc,
				  .mult = (uint64_t)(s->cal.cycles_per_tick * 0x1p40),
				  .inverse = (uint64_t)(0x1p40 / s->cal.cycles_per_tick),
				  .slack = (uint64_t)clock_dev_slack(&s->cal) + 1};
	_Static_assert(DP_CLOCK_SHIFT == 40, "the factors above");

	stamps_tell(s, &v);
}

/* Reads the clock once. A note says when it cannot be read, can be read again, or was set by
 * somebody. */
static void stamps_look(struct ctl *c, struct ctl_port *cp)
{
	struct port_stamps *s = &cp->stamps;
	struct clock_dev_reading r;
	uint64_t steps = s->cal.steps;
	int was = s->rc;

	s->rc = stamps_take(cp, &r);
	if (s->rc < 0) {
		s->lost = true;
		clock_dev_lost(&s->cal);
		s->retry_tsc = clock_tsc() + clock_cycles(RETRY_NS);
		stamps_tell(s, &(struct dp_clock_view){.slack = DP_CLOCK_UNKNOWN});
		if (was == 0)
			ctl_note(
				c, cp->p.id,
				"port %u (%s): the device's clock cannot be read (%s): its time stamps are not used%s",
				cp->p.id, cp->p.name, rte_strerror(-s->rc),
				s->rc == -ENOTSUP ? "" : " until it can");
		return;
	}
	if (clock_dev_add(&s->cal, r) && clock_dev_known(&s->cal)) {
		stamps_publish(s);
		if (s->lost)
			ctl_note(
				c, cp->p.id,
				"port %u (%s): the device's clock can be read again and was measured anew: its time stamps are used",
				cp->p.id, cp->p.name);
		s->lost = false;
	}
	if (s->cal.steps != steps)
		ctl_note(
			c, cp->p.id,
			"port %u (%s): somebody has set the device's clock: times by its stamps since the last look at it may "
			"be off by %.3g us",
			cp->p.id, cp->p.name, s->cal.missed / s->cal.hz * 1e6);
}

void stamps_started(struct ctl *c, struct ctl_port *cp)
{
	if (!in_use(cp))
		return;
	find_misses(cp);
	stamps_clear(cp);
	stamps_look(c, cp);
}

void stamps_turn(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (clock_tsc() >= next_look(c->port[i]))
			stamps_look(c, c->port[i]);
}

uint64_t stamps_next_ns(const struct ctl *c)
{
	uint64_t now = clock_tsc(), least = UINT64_MAX;

	for (unsigned i = 0; i < c->nports; i++) {
		uint64_t next = next_look(c->port[i]);
		if (next == UINT64_MAX)
			continue;
		uint64_t ns = next > now ? clock_ns(next - now) : 0;
		least = ns < least ? ns : least;
	}
	return least;
}

static bool stamps_waits(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (in_use(c->port[i]) && c->port[i]->stamps.rc == 0 &&
		    !clock_dev_known(&c->port[i]->stamps.cal))
			return true;
	return false;
}

void stamps_ready(struct ctl *c)
{
	uint64_t until = clock_raw_ns() + PATIENCE_NS;

	stamps_turn(c);
	while (stamps_waits(c) && clock_raw_ns() < until) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		stamps_turn(c);
	}
}

void stamps_clear(struct ctl_port *cp)
{
	cp->stamps.cal.missed = 0;
	for (unsigned i = 0; i < cp->stamps.nmisses; i++)
		cp->stamps.miss[i].base = miss_now(cp, i);
}

const struct dp_clock *stamps_rx(const struct ctl_port *cp)
{
	const struct port_stamps *s = &cp->stamps;

	return in_use(cp) && s->rx_on && cp->p.cfg.timestamps != TIMESTAMPS_SOFTWARE &&
			       clock_dev_known(&s->cal)
		       ? &s->rx
		       : NULL;
}

const struct dp_clock *stamps_tx(const struct ctl_port *cp)
{
	return cp->started && cp->stamps.tx_on ? &cp->stamps.tx : NULL;
}

int stamps_tx_state(const struct ctl_port *cp)
{
	const struct port_stamps *s = &cp->stamps;

	if ((s->tx_capa & TX_STAMPS) == 0)
		return -ENOTSUP;
	return s->tx_on || s->rc < 0 ? s->rc : -EAGAIN;
}

double stamps_error_ns(const struct ctl_port *cp)
{
	return clock_dev_error(&cp->stamps.cal, clock_tsc()) / cp->stamps.cal.hz * 1e9;
}

/* ---- words ---- */

static void why_not(const struct ctl_port *cp, struct sbuf *out)
{
	const struct port_stamps *s = &cp->stamps;

	if (s->clock == STAMPS_NONE && s->why == NULL)
		sbuf_add(out, "the device offers none");
	else if (s->why != NULL)
		sbuf_addf(out, "%s%s%s", s->why, s->rc < 0 ? ": " : "",
			  s->rc < 0 ? rte_strerror(-s->rc) : "");
	else if (!s->rx_offered)
		sbuf_add(out, "the device offers none");
	else if (cp->p.cfg.timestamps == TIMESTAMPS_SOFTWARE)
		sbuf_add(out, "as it was set");
	else if (!s->rx_on)
		sbuf_add(out, "the device gives them after its next start");
	else if (s->rc < 0)
		sbuf_addf(out, "its clock cannot be read: %s", rte_strerror(-s->rc));
	else
		sbuf_add(out, s->lost ? "its clock could not be read and is measured anew"
				      : "its clock is not known yet");
}

void stamps_text(const struct ctl_port *cp, struct sbuf *out)
{
	if (stamps_rx(cp) != NULL) {
		sbuf_addf(out, "by %s time stamps, known to %.0f ns",
			  cp->stamps.clock == STAMPS_DEVICE ? "the device's" : "the kernel's",
			  ceil(stamps_error_ns(cp)));
		return;
	}
	sbuf_add(out, "by our clock (");
	why_not(cp, out);
	sbuf_addc(out, ')');
}

int ctl_timestamps(struct ctl *c, unsigned port, struct err *e)
{
	const struct ctl_port *cp = c->port[port];
	struct sbuf text = {0};
	int rc = 0;

	if (cp->p.cfg.timestamps == TIMESTAMPS_NIC && cp->used && cp->started &&
	    (!cp->stamps.rx_offered || cp->stamps.rc < 0)) {
		why_not(cp, &text);
		rc = err_set(e, ENOTSUP, "arrivals are timed by our clock: %s", sbuf_str(&text));
	}
	sbuf_free(&text);
	return rc;
}

/* Returns why the device's clock is not known now, as JSON; null: it is known. */
static json_t *stamps_trouble(const struct ctl_port *cp)
{
	const struct port_stamps *s = &cp->stamps;

	if (s->rc < 0)
		return json_sprintf("it cannot be read: %s", rte_strerror(-s->rc));
	if (!clock_dev_known(&s->cal))
		return json_string(s->lost ? "it could not be read and is measured anew"
					   : "it is being measured");
	return json_null();
}

static json_t *clock_json(const struct ctl_port *cp)
{
	const struct clock_dev *d = &cp->stamps.cal;
	bool known = clock_dev_known(d);
	json_t *o = json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:b, s:b}", "port", (int)cp->p.id,
			      "name", cp->p.name, "readings", (json_int_t)d->readings, "rejected",
			      (json_int_t)d->rejected, "steps", (json_int_t)d->steps, "failed",
			      (json_int_t)d->failed, "rx", (int)(stamps_rx(cp) != NULL), "tx",
			      (int)(cp->stamps.tx_on && known));

	json_object_set_new(o, "hz", known ? json_real(d->hz / d->cycles_per_tick) : json_null());
	json_object_set_new(o, "uncertainty_ppm",
			    known ? json_real(d->slope_error * 1e6) : json_null());
	json_object_set_new(o, "error_ns", known ? json_real(stamps_error_ns(cp)) : json_null());
	json_object_set_new(o, "trouble", stamps_trouble(cp));
	json_object_set_new(o, "span_ns",
			    json_real(d->n > 0 ? (double)(clock_dev_last(d)->tsc - d->at[0].tsc) /
							 d->hz * 1e9
					       : 0));
	return o;
}

json_t *stamps_clocks_json(const struct ctl *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->nports; i++)
		if (in_use(c->port[i]))
			json_array_append_new(list, clock_json(c->port[i]));
	return list;
}
