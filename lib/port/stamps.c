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

#include "port_int.h"

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
static enum stamp_clock clock_of(const struct port *p, const struct rte_eth_dev_info *info,
				 const char **why)
{
	*why = NULL;
	if (strcmp(info->driver_name, "net_pcap") != 0)
		return (info->rx_offload_capa & RX_STAMPS) != 0 ||
				       (info->tx_offload_capa & TX_STAMPS) != 0
			       ? STAMPS_DEVICE
			       : STAMPS_NONE;
	if (strstr(p->spec_text, "iface=") != NULL)
		return (info->rx_offload_capa & RX_STAMPS) != 0 ? STAMPS_SYSTEM : STAMPS_SYSTEM_US;
	*why = "those of a file say when it was recorded";
	return STAMPS_NONE;
}

static void rx_ask(struct port *p, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &p->stamps;

	s->rx_offered = s->clock == STAMPS_SYSTEM_US ||
			(s->clock != STAMPS_NONE && (s->rx_capa & RX_STAMPS) != 0);
	if (!s->rx_offered || p->cfg->timestamps == TIMESTAMPS_SOFTWARE)
		return;
	if (rte_mbuf_dyn_rx_timestamp_register(&s->rx.offset, &s->rx.flag) < 0) {
		s->why = "buffers have no room for them";
		return;
	}
	conf->rxmode.offloads |= s->rx_capa & RX_STAMPS;
	s->rx_on = true;
}

static void tx_ask(struct port *p, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &p->stamps;

	if ((s->tx_capa & TX_STAMPS) == 0 || p->cfg->pacing != PACING_TIMESTAMP)
		return;
	if (rte_mbuf_dyn_tx_timestamp_register(&s->tx.offset, &s->tx.flag) < 0)
		return;
	conf->txmode.offloads |= TX_STAMPS;
	p->tx_offloads |= TX_STAMPS;
	s->tx_on = true;
}

void stamps_ask(struct port *p, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &p->stamps;

	s->rx_capa = info->rx_offload_capa;
	s->tx_capa = info->tx_offload_capa;
	s->rx_on = s->tx_on = s->lost = false;
	s->rc = 0;
	s->clock = clock_of(p, info, &s->why);
	clock_dev_begin(&s->cal, clock_hz());
	dp_clock_set(&s->rx, &(struct dp_clock_view){.slack = DP_CLOCK_UNKNOWN});
	dp_clock_set(&s->tx, &(struct dp_clock_view){.slack = DP_CLOCK_UNKNOWN});
	rx_ask(p, conf);
	tx_ask(p, conf);
}

bool stamps_without(struct port *p, int rc, struct rte_eth_conf *conf)
{
	struct port_stamps *s = &p->stamps;

	if (!s->rx_on && !s->tx_on)
		return false;
	s->why = "the device offers them and does not start with them";
	s->rx_on = s->tx_on = false;
	s->rc = rc;
	conf->rxmode.offloads &= ~RX_STAMPS;
	conf->txmode.offloads &= ~TX_STAMPS;
	p->tx_offloads &= ~TX_STAMPS;
	return true;
}

bool stamps_pending(const struct port *p)
{
	const struct port_stamps *s = &p->stamps;
	const struct port_cfg *a = p->cfg, *b = &p->applied;
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

static uint64_t miss_now(const struct port *p, unsigned i)
{
	uint64_t v = 0;

	return rte_eth_xstats_get_by_id(p->dev, &p->stamps.miss[i].id, &v, 1) == 1 ? v : 0;
}

static void find_misses(struct port *p)
{
	struct port_stamps *s = &p->stamps;
	int n = s->tx_on ? rte_eth_xstats_get_names(p->dev, NULL, 0) : 0;
	struct rte_eth_xstat_name *name = xcalloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*name));

	s->nmisses = 0;
	if (n > 0 && rte_eth_xstats_get_names(p->dev, name, (unsigned)n) != n)
		n = 0;
	for (int i = 0; i < n && s->nmisses < STAMPS_MISSES; i++)
		if (tells_misses(name[i].name)) {
			s->miss[s->nmisses].id = (uint64_t)i;
			memcpy(s->miss[s->nmisses].name, name[i].name, sizeof(name[i].name));
			s->nmisses++;
		}
	free(name);
}

void stamps_missed(const struct port *p, struct sbuf *out)
{
	const struct port_stamps *s = &p->stamps;
	bool any = false;

	for (unsigned i = 0; i < s->nmisses; i++) {
		uint64_t n = miss_now(p, i) - s->miss[i].base;
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

static int read_clock(const struct port *p, uint64_t *ticks)
{
	if (p->stamps.clock != STAMPS_SYSTEM_US)
		return rte_eth_read_clock(p->dev, ticks);
	*ticks = clock_wall_ns() / 1000;
	return 0;
}

/* Reads the device's clock between two readings of our counter. Losing the CPU in between makes
 * this bracket wide, so the narrowest of a few brackets is used. */
static int stamps_take(const struct port *p, struct clock_dev_reading *best)
{
	*best = (struct clock_dev_reading){.width = UINT64_MAX};
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t ticks = 0, a = clock_tsc();
		int rc = read_clock(p, &ticks);
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

static bool in_use(const struct port *p)
{
	return p->used && p->started && (p->stamps.rx_on || p->stamps.tx_on);
}

/* Returns the cycle count at which the clock is to be read again. UINT64_MAX: never, since it is
 * not in use or the driver cannot read it. */
static uint64_t next_look(const struct port *p)
{
	const struct port_stamps *s = &p->stamps;

	if (!in_use(p) || s->rc == -ENOTSUP)
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
static void stamps_look(struct port *p)
{
	struct port_stamps *s = &p->stamps;
	struct clock_dev_reading r;
	uint64_t steps = s->cal.steps;
	int was = s->rc;

	s->rc = stamps_take(p, &r);
	if (s->rc < 0) {
		s->lost = true;
		clock_dev_lost(&s->cal);
		s->retry_tsc = clock_tsc() + clock_cycles(RETRY_NS);
		stamps_tell(s, &(struct dp_clock_view){.slack = DP_CLOCK_UNKNOWN});
		if (was == 0)
			port_note(
				p,
				"port %u (%s): the device's clock cannot be read (%s): its time stamps are not used%s",
				p->id, p->name, rte_strerror(-s->rc),
				s->rc == -ENOTSUP ? "" : " until it can");
		return;
	}
	if (clock_dev_add(&s->cal, r) && clock_dev_known(&s->cal)) {
		stamps_publish(s);
		if (s->lost)
			port_note(
				p,
				"port %u (%s): the device's clock can be read again and was measured anew: its time stamps are used",
				p->id, p->name);
		s->lost = false;
	}
	if (s->cal.steps != steps)
		port_note(
			p,
			"port %u (%s): somebody has set the device's clock: times by its stamps since the last look at it may "
			"be off by %.3g us",
			p->id, p->name, s->cal.missed / s->cal.hz * 1e6);
}

void stamps_started(struct port *p)
{
	if (!in_use(p))
		return;
	find_misses(p);
	stamps_clear(p);
	stamps_look(p);
}

void stamps_turn(struct port *p)
{
	if (clock_tsc() >= next_look(p))
		stamps_look(p);
}

uint64_t stamps_next_ns(const struct port *p)
{
	uint64_t now = clock_tsc(), next = next_look(p);

	if (next == UINT64_MAX)
		return UINT64_MAX;
	return next > now ? clock_ns(next - now) : 0;
}

/* Whether some clock that is to be used is not known yet. */
static bool stamps_wait(struct port *const *ports, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (in_use(ports[i]) && ports[i]->stamps.rc == 0 &&
		    !clock_dev_known(&ports[i]->stamps.cal))
			return true;
	return false;
}

void stamps_ready(struct port *const *ports, unsigned n)
{
	uint64_t until = clock_raw_ns() + PATIENCE_NS;

	for (;;) {
		for (unsigned i = 0; i < n; i++)
			stamps_turn(ports[i]);
		if (!stamps_wait(ports, n) || clock_raw_ns() >= until)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

void stamps_clear(struct port *p)
{
	p->stamps.cal.missed = 0;
	for (unsigned i = 0; i < p->stamps.nmisses; i++)
		p->stamps.miss[i].base = miss_now(p, i);
}

const struct dp_clock *stamps_rx(const struct port *p)
{
	const struct port_stamps *s = &p->stamps;

	return in_use(p) && s->rx_on && p->cfg->timestamps != TIMESTAMPS_SOFTWARE &&
			       clock_dev_known(&s->cal)
		       ? &s->rx
		       : NULL;
}

const struct dp_clock *stamps_tx(const struct port *p)
{
	return p->started && p->stamps.tx_on ? &p->stamps.tx : NULL;
}

int stamps_tx_state(const struct port *p)
{
	const struct port_stamps *s = &p->stamps;

	if ((s->tx_capa & TX_STAMPS) == 0)
		return -ENOTSUP;
	return s->tx_on || s->rc < 0 ? s->rc : -EAGAIN;
}

double stamps_error_ns(const struct port *p)
{
	return clock_dev_error(&p->stamps.cal, clock_tsc()) / p->stamps.cal.hz * 1e9;
}

/* ---- words ---- */

static void why_not(const struct port *p, struct sbuf *out)
{
	const struct port_stamps *s = &p->stamps;

	if (s->clock == STAMPS_NONE && s->why == NULL)
		sbuf_add(out, "the device offers none");
	else if (s->why != NULL)
		sbuf_addf(out, "%s%s%s", s->why, s->rc < 0 ? ": " : "",
			  s->rc < 0 ? rte_strerror(-s->rc) : "");
	else if (!s->rx_offered)
		sbuf_add(out, "the device offers none");
	else if (p->cfg->timestamps == TIMESTAMPS_SOFTWARE)
		sbuf_add(out, "as it was set");
	else if (!s->rx_on)
		sbuf_add(out, "the device gives them after its next start");
	else if (s->rc < 0)
		sbuf_addf(out, "its clock cannot be read: %s", rte_strerror(-s->rc));
	else
		sbuf_add(out, s->lost ? "its clock could not be read and is measured anew"
				      : "its clock is not known yet");
}

void stamps_text(const struct port *p, struct sbuf *out)
{
	if (stamps_rx(p) != NULL) {
		sbuf_addf(out, "by %s time stamps, known to %.0f ns",
			  p->stamps.clock == STAMPS_DEVICE ? "the device's" : "the kernel's",
			  ceil(stamps_error_ns(p)));
		return;
	}
	sbuf_add(out, "by our clock (");
	why_not(p, out);
	sbuf_addc(out, ')');
}

int stamps_rx_state(const struct port *p, struct err *e)
{
	struct sbuf text = {0};
	int rc = 0;

	if (p->cfg->timestamps == TIMESTAMPS_NIC && p->used && p->started &&
	    (!p->stamps.rx_offered || p->stamps.rc < 0)) {
		why_not(p, &text);
		rc = err_set(e, ENOTSUP, "arrivals are timed by our clock: %s", sbuf_str(&text));
	}
	sbuf_free(&text);
	return rc;
}

/* Returns why the device's clock is not known now, as JSON; null: it is known. */
static json_t *stamps_trouble(const struct port *p)
{
	const struct port_stamps *s = &p->stamps;

	if (s->rc < 0)
		return json_sprintf("it cannot be read: %s", rte_strerror(-s->rc));
	if (!clock_dev_known(&s->cal))
		return json_string(s->lost ? "it could not be read and is measured anew"
					   : "it is being measured");
	return json_null();
}

json_t *stamps_clock_json(const struct port *p)
{
	if (!in_use(p))
		return NULL;
	const struct clock_dev *d = &p->stamps.cal;
	bool known = clock_dev_known(d);
	json_t *o = json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:b, s:b}", "port", (int)p->id,
			      "name", p->name, "readings", (json_int_t)d->readings, "rejected",
			      (json_int_t)d->rejected, "steps", (json_int_t)d->steps, "failed",
			      (json_int_t)d->failed, "rx", (int)(stamps_rx(p) != NULL), "tx",
			      (int)(p->stamps.tx_on && known));

	json_object_set_new(o, "hz", known ? json_real(d->hz / d->cycles_per_tick) : json_null());
	json_object_set_new(o, "uncertainty_ppm",
			    known ? json_real(d->slope_error * 1e6) : json_null());
	json_object_set_new(o, "error_ns", known ? json_real(stamps_error_ns(p)) : json_null());
	json_object_set_new(o, "trouble", stamps_trouble(p));
	json_object_set_new(o, "span_ns",
			    json_real(d->n > 0 ? (double)(clock_dev_last(d)->tsc - d->at[0].tsc) /
							 d->hz * 1e9
					       : 0));
	return o;
}
