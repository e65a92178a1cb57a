/* SPDX-License-Identifier: BSD-3-Clause */
/* Arming: receivers get tables for the streams that send probes. When tables are made anew, what
 * the old ones have counted is kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe_int.h"
#include "proto_run.h"

#define WINDOW_BYTES (4u << 20) /* the windows of one Rx queue take about so much */
#define BLOCKS_MIN 16           /* blocks of a window, of 64 numbers: 1024 numbers */
#define BLOCKS_MAX (1u << 18)   /* 16 M numbers */
#define CELLS_MIN 16            /* so streams that are added while sending find a place */
#define AWAKE_NS 3000000000ull  /* after the last run, frames may come so late */
#define MB 1000000.0

/* ---- memory ---- */

struct probe_arm *probe_arm_ref(struct probe_arm *a)
{
	if (a != NULL)
		a->refs++;
	return a;
}

void probe_arm_unref(struct probe_arm *a)
{
	if (a == NULL || --a->refs > 0)
		return;
	probe_merge_free(a->merge);
	for (unsigned i = 0; i < a->ntaps; i++)
		pages_free(a->tap[i].prx, a->tap_bytes);
	free(a->tap);
	free(a->latency);
	free(a->quotes);
	free(a->quoted);
	free(a);
}

/* ---- what is asked for ---- */

/* Does the stream send probes when it is enabled? tell_all: a trial wants one in each frame. */
static bool stream_probes_on(const struct ctl_port *cp, const struct stream *s)
{
	return s != NULL && (s->cfg.frame.probe != 0 || (cp->tell_all && s->cfg.enabled));
}

/* Does the port send probes now? It may still send streams that the settings no longer have. */
static bool sends_probes(const struct ctl_port *cp)
{
	EACH_WORK(w, tells)
		if (w->tells(cp))
			return true;
	return false;
}

bool probes_wanted(const struct ctl_port *cp)
{
	if (cp->run.active && !cp->run.armed && sends_probes(cp))
		return true;
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (stream_probes_on(cp, cp->stream[i]) && cp->stream[i]->cfg.enabled)
			return true;
	return false;
}

static uint32_t round_cells(uint32_t n)
{
	uint32_t r = CELLS_MIN;

	while (r < n)
		r *= 2;
	return r < PROBE_STREAMS ? r : PROBE_STREAMS;
}

/* How many cells the tables must have for the port's streams with probes. 0: it has none. */
static uint32_t cells_of(const struct ctl_port *cp)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < cp->nstreams; i++)
		if (stream_probes_on(cp, cp->stream[i]) && cp->stream[i]->cell >= n)
			n = cp->stream[i]->cell + 1;
	return n;
}

/* Are the stream's frames ICMP errors that quote a packet, with the probe in it? */
static bool stream_quotes(const struct stream *s)
{
	static const char *const names[][2] = {{"icmp", "ipv4"}, {"icmpv6", "ipv6"}};
	const struct frame_stack *f = &s->cfg.frame.stack;

	for (unsigned k = 0; k < ARRAY_SIZE(names); k++) {
		const struct proto *error = proto_find(names[k][0]), *ip = proto_find(names[k][1]);
		for (unsigned i = 0; i + 1 < f->n; i++)
			if (f->hdr[i] == error && f->hdr[i + 1] == ip)
				return true;
	}
	return false;
}

/* Notes in `quoted` where the probe of a stream's frames lies when an ICMP error quotes them. It
 * lies further back by the IP and ICMP headers of the error, and devices on the way may add up to
 * two VLAN tags, or take them away. */
static void note_quoted(const struct stream *s, uint64_t *quoted)
{
	static const int error[] = {LEN_IP4 + LEN_ICMP, LEN_IP6 + LEN_ICMP};
	int at = (int)frame_headers_len(&s->cfg.frame);

	for (unsigned i = 0; i < ARRAY_SIZE(error); i++)
		for (int tags = -2 * LEN_VLAN; tags <= 2 * LEN_VLAN; tags += LEN_VLAN) {
			int place = at + error[i] + tags;
			if (place < PRX_PLACES)
				quoted[place / 64] |= 1ull << place % 64;
		}
}

/* The same for all streams of the port with probes. */
static void note_port_quoted(const struct ctl_port *cp, uint64_t *quoted)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (stream_probes_on(cp, cp->stream[i]))
			note_quoted(cp->stream[i], quoted);
}

/* Do the tables of this arm have room for what the port's streams send? */
static bool probe_covers(const struct probe_arm *a, const struct ctl_port *cp)
{
	uint64_t quoted[PRX_PLACES / 64] = {0};
	unsigned p = cp->p.id;

	if (a == NULL || p >= a->spec.nports || a->spec.of[p].nqueues != cp->p.ntxq ||
	    a->spec.of[p].nstreams < cells_of(cp))
		return false;
	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		if (!stream_probes_on(cp, s))
			continue;
		if ((s->cfg.latency && a->latency[a->first[p] + s->cell] == 0) ||
		    a->quotes[a->first[p] + s->cell] != stream_quotes(s))
			return false;
	}
	note_port_quoted(cp, quoted);
	for (unsigned i = 0; i < ARRAY_SIZE(quoted); i++)
		if ((quoted[i] & ~a->quoted[i]) != 0)
			return false;
	return true;
}

static bool verify_wanted(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used && probe_cfg_of(c->port[i])->verify)
			return true;
	return false;
}

/* Returns the gap in cycles, rounded, that the frames of a port's only Rx queue are to have by the
 * rate of their sender; *ns is the same gap as it was asked for. The sender is taken to be the
 * port's partner (0 and 1, 2 and 3, ..), or the port itself if that cannot send. 0: there is no
 * such gap, because the port has several queues, or the sender sends as fast as it can or at a rate
 * that moves to another. */
static uint64_t target_gap(struct ctl *c, const struct ctl_port *cp, double *ns)
{
	unsigned from = cp->p.id ^ 1;
	struct ctl_load load;

	*ns = 0;
	if (from >= c->nports || !c->port[from]->p.used || c->port[from]->p.ntxq == 0)
		from = cp->p.id;
	if (cp->p.nrxq != 1 || ctl_load(c, from, &load, NULL) < 0 || load.is_max ||
	    !(load.pps > 0) || c->port[from]->cfg.rate.over_ns != 0)
		return 0;
	*ns = 1e9 / load.pps;
	return (uint64_t)(clock_hz() / load.pps + 0.5);
}

/* Notes which streams of the port get histograms of their own, and what says whether a probe was
 * quoted. */
static void set_streams(struct probe_arm *a, const struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		if (!stream_probes_on(cp, s) || s->cell >= a->spec.of[cp->p.id].nstreams)
			continue;
		uint32_t at = a->first[cp->p.id] + s->cell;
		a->latency[at] |= s->cfg.latency;
		a->quotes[at] = stream_quotes(s);
	}
	note_port_quoted(cp, a->quoted);
}

/* Works out the spec of an arm. It has room for all streams with probes, whether they are being
 * sent or not, so that tables are seldom made anew. What the arm `was` has room for (NULL: nothing)
 * has room in the new one too. */
static void probe_shape(struct ctl *c, const struct probe_arm *was, struct probe_arm *a)
{
	struct prx_spec *s = &a->spec;
	uint32_t total = 0;
	uint64_t flows = 0, blocks;

	for (unsigned p = 0; p < c->nports && p < PROBE_PORTS; p++) {
		const struct ctl_port *cp = c->port[p];
		uint32_t n = cp->p.used ? cells_of(cp) : 0;
		if (n > 0)
			n = round_cells(n);
		if (was != NULL && p < was->spec.nports && was->spec.of[p].nstreams > n)
			n = was->spec.of[p].nstreams;
		if (n == 0)
			continue;
		s->nports = (uint8_t)(p + 1);
		s->of[p].nstreams = (uint16_t)n;
		s->of[p].nqueues = cp->p.ntxq;
		a->first[p] = total;
		total += n;
		flows += (uint64_t)n * cp->p.ntxq;
	}
	for (unsigned p = 0, at = 0; p < s->nports; at += s->of[p++].nstreams)
		a->first[p] = at;
	a->latency = xcalloc(total + 1, 1);
	a->quotes = xcalloc(total + 1, 1);
	a->quoted = xcalloc(PRX_PLACES / 64, sizeof(*a->quoted));
	for (unsigned p = 0; was != NULL && p < was->spec.nports; p++) {
		uint32_t n = was->spec.of[p].nstreams;
		memcpy(a->latency + a->first[p], was->latency + was->first[p], n);
		memcpy(a->quotes + a->first[p], was->quotes + was->first[p], n);
	}
	if (was != NULL)
		memcpy(a->quoted, was->quoted, PRX_PLACES / 8);
	for (unsigned p = 0; p < s->nports; p++)
		set_streams(a, c->port[p]);
	blocks = BLOCKS_MAX;
	while (blocks > BLOCKS_MIN && blocks * flows * sizeof(struct prx_block) > WINDOW_BYTES)
		blocks /= 2;
	s->latency = a->latency;
	s->quotes = a->quotes;
	s->quoted = a->quoted;
	s->window_blocks = (uint32_t)blocks;
	s->holes = flows <= 1024 ? 64 : 8;
	s->hz = (uint64_t)clock_hz();
	s->ns_mult = (uint64_t)(1e9 / clock_hz() * 0x1p32);
	s->verify = verify_wanted(c);
}

static unsigned rx_queues(const struct ctl *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->nports; i++)
		n += c->port[i]->p.used ? c->port[i]->p.nrxq : 0;
	return n;
}

/* ---- an arm ---- */

static int too_much(const struct ctl *c, const struct probe_arm *a, double bytes, struct err *e)
{
	uint64_t streams = 0;

	for (unsigned p = 0; p < a->spec.nports; p++)
		streams += a->spec.of[p].nstreams;
	return err_set(
		e, ENOMEM,
		"receiving the probes of %llu streams on %u Rx queues takes %.0f MB (%.0f MB of it where streams come in on several of them) "
		"and `probes.memory` allows %.0f MB: `set probes.memory %.0f` allows it, fewer streams with `latency on` or fewer with "
		"probes need less",
		(unsigned long long)streams, rx_queues(c), bytes / MB, (double)a->merge_most / MB,
		(double)probes_of(c)->limit_bytes / MB, bytes / MB + 1);
}

/* Makes the taps of an arm, one for each Rx queue. */
static int probe_fill(struct ctl *c, struct probe_arm *a, size_t size)
{
	a->tap = xcalloc(rx_queues(c) + 1, sizeof(*a->tap));
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		for (unsigned q = 0; cp->p.used && q < cp->p.nrxq; q++) {
			struct prx *prx = pages_new(size, c->worker[cp->rx_worker[q]].node);
			if (prx == NULL)
				return -ENOMEM;
			double gap_ns;
			a->spec.target_gap_cycles = target_gap(c, cp, &gap_ns);
			prx_init(prx, &a->spec);
			prx_set_watcher(prx, ctl_faults_watcher(cp, q));
			a->tap[a->ntaps++] =
				(struct probe_tap){.port = (uint16_t)i,
						   .queue = (uint16_t)q,
						   .prx = prx,
						   .target_cycles = a->spec.target_gap_cycles,
						   .target_ns = gap_ns};
		}
	}
	return 0;
}

static int arm_make(struct ctl *c, const struct probe_arm *was, struct probe_arm **out,
		    struct err *e)
{
	if (clock_hz() < CLOCK_HZ_MIN)
		return err_set(
			e, ENODEV,
			"this machine's counter of time runs at %.3g MHz and probes need %.3g MHz: frames can be sent and counted, "
			"not timed",
			clock_hz() / 1e6, CLOCK_HZ_MIN / 1e6);
	struct probe_arm *a = xcalloc(1, sizeof(*a));

	a->refs = 1;
	probe_shape(c, was, a);
	size_t size = prx_size(&a->spec);
	a->merge_most = probe_merge_most(c, &a->spec);
	a->bytes = size * rx_queues(c) + a->merge_most;
	/* copies of histograms that are kept at a clear, and when tables are made anew, are not in
	 * this sum */
	if (size == 0 || a->bytes > probes_of(c)->limit_bytes) {
		int rc = too_much(c, a, size == 0 ? 0x1p40 : (double)a->bytes, e);
		probe_arm_unref(a);
		return rc;
	}
	a->tap_bytes = size;
	if (probe_fill(c, a, size) < 0) {
		probe_arm_unref(a);
		return err_set(
			e, ENOMEM,
			"no memory for receiving probes: %.0f MB are needed; fewer streams with `latency on` or with "
			"probes need less",
			(double)(size * rx_queues(c)) / MB);
	}
	if (a->ntaps > 1)
		a->merge = probe_merge_new(a, c->nports);
	*out = a;
	return 0;
}

/* All workers that receive get new plans. */
static void dirty_receivers(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned q = 0; c->port[i]->p.used && q < c->port[i]->p.nrxq; q++)
			ctl_replan(c, c->port[i]->rx_worker[q]);
}

/* The arm in use becomes an old one: from the next plans on its tables are not used. */
static void probe_retire(struct ctl *c)
{
	struct probes *p = probes_of(c);

	if (p->now == NULL)
		return;
	if (p->nold == p->cap_old) {
		p->cap_old = p->cap_old ? 2 * p->cap_old : 4;
		p->old = xrealloc(p->old, p->cap_old * sizeof(*p->old));
	}
	p->old[p->nold++] = p->now;
	p->now = NULL;
	dirty_receivers(c);
}

void probe_inexact(struct probes *p, unsigned tx, const char *why)
{
	p->doubt[tx].text = why;
	p->doubt[tx].times++;
}

static bool anyone_sends(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used && c->port[i]->run.active && probes_wanted(c->port[i]))
			return true;
	return false;
}

/* Makes taps use the time stamps of devices where that is possible now, also taps of old arms. */
static void clocks_follow(struct ctl *c)
{
	struct probes *p = probes_of(c);

	for (unsigned i = 0; i <= p->nold; i++) {
		struct probe_arm *a = i < p->nold ? p->old[i] : p->now;
		for (unsigned t = 0; a != NULL && t < a->ntaps; t++) {
			const struct dp_clock *clock = stamps_rx(&c->port[a->tap[t].port]->p);
			if (clock == a->tap[t].clock)
				continue;
			prx_set_clock(a->tap[t].prx, clock);
			a->tap[t].clock = clock;
		}
	}
}

void probes_faults_to(struct ctl *c, unsigned port, unsigned queue, const struct dp_watcher *w)
{
	const struct probes *p = probes_of(c);

	for (unsigned i = 0; i <= p->nold; i++) {
		const struct probe_arm *a = i < p->nold ? p->old[i] : p->now;
		for (unsigned t = 0; a != NULL && t < a->ntaps; t++)
			if (a->tap[t].port == port && a->tap[t].queue == queue)
				prx_set_watcher(a->tap[t].prx, w);
	}
}

bool probes_faults_told(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used && probes_wanted(c->port[i]))
			return true;
	return false;
}

static int probe_arm_port(struct ctl *c, struct err *e)
{
	struct probes *p = probes_of(c);
	struct probe_arm *a = NULL;
	bool sending = anyone_sends(c);
	int rc = arm_make(c, sending ? p->now : NULL, &a, e);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; sending && p->now != NULL && i < c->nports && i < PROBE_PORTS; i++)
		probe_inexact(
			p, i,
			"tables of the receivers were made anew while probes were sent: copies and order across that moment are not "
			"told");
	probe_retire(c);
	if (p->since_ns == 0)
		p->since_ns = clock_wall_ns();
	p->now = a;
	a->seq = c->plan_seq;
	probe_extras_follow(c);
	clocks_follow(c);
	dirty_receivers(c);
	return 0;
}

/* Do the tables in use check what the settings ask for? A gap that has changed needs no new
 * tables. */
static bool as_asked(const struct ctl *c)
{
	return probes_of(c)->now != NULL && probes_of(c)->now->spec.verify == verify_wanted(c);
}

int probes_arm(struct ctl *c, const struct portset *starting, struct err *e)
{
	struct probes *p = probes_of(c);
	bool wanted = false, fits = as_asked(c);

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->p.used || !(portset_has(starting, i) || cp->run.active) ||
		    !probes_wanted(cp))
			continue;
		wanted = true;
		probe_cells_begin(c, cp);
		fits &= probe_covers(p->now, cp);
	}
	if (!wanted) {
		probe_retire(c); /* no port sends probes, so no receiver has to look for them */
		return 0;
	}
	fits &= p->now == NULL || p->now->bytes <= p->limit_bytes;
	int rc = fits ? 0 : probe_arm_port(c, e);
	if (rc == 0 && !p->awake)
		dirty_receivers(c);
	return rc;
}

/* Have all workers that receive acknowledged plans with the arm in use? */
static bool all_have(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned q = 0;
		     c->port[i]->p.used && ctl_port_runs(c->port[i]) && q < c->port[i]->p.nrxq;
		     q++) {
			const struct ctl_worker *cw = &c->worker[c->port[i]->rx_worker[q]];
			if (cw->launched &&
			    __atomic_load_n(&cw->w->cells.acked, __ATOMIC_ACQUIRE) <=
				    probes_of(c)->now->seq)
				return false;
		}
	return true;
}

bool probes_hold(const struct ctl *c)
{
	bool any = false;

	for (unsigned i = 0; i < c->nports && !any; i++)
		any = c->port[i]->p.used && c->port[i]->run.active && c->port[i]->run.armed &&
		      probes_wanted(c->port[i]);
	return any && probes_of(c)->now != NULL && !all_have(c);
}

bool probes_wait(struct ctl *c, struct ctl_port *cp)
{
	struct probes *p = probes_of(c);
	struct err e;

	if (!cp->run.active || cp->run.stop || cp->run.armed || !probes_wanted(cp))
		return false;
	probe_cells_begin(c, cp);
	if (!probe_covers(p->now, cp)) {
		if (probe_arm_port(c, &e) < 0) {
			probe_inexact(p, cp->p.id,
				      "the receivers had no memory for the probes of all streams");
			if (strcmp(p->said, e.text) != 0)
				ctl_note(
					c, cp->p.id,
					"port %u: %s; until then these streams' probes are not received",
					cp->p.id, e.text);
			snprintf(p->said, sizeof(p->said), "%s", e.text);
			return false;
		}
		p->said[0] = '\0';
	}
	return !all_have(c);
}

void probes_targets(struct ctl *c)
{
	struct probe_arm *a = probes_of(c)->now;

	for (unsigned i = 0; a != NULL && i < a->ntaps; i++) {
		uint64_t target = target_gap(c, c->port[a->tap[i].port], &a->tap[i].target_ns);
		if (target == a->tap[i].target_cycles)
			continue;
		a->tap[i].target_cycles = target;
		prx_set_target(a->tap[i].prx, target);
		probe_target_begins(c, a->tap[i].port);
	}
	probe_extras_follow(c);
}

bool probes_awake(const struct ctl *c)
{
	const struct probes *p = probes_of(c);

	return p->now != NULL && (anyone_sends(c) || clock_raw_ns() < p->awake_until_ns);
}

uint64_t probes_next_ns(const struct ctl *c)
{
	/* frames may still come in, and windows move, when no port sends any more */
	if (probes_of(c)->nold > 0 || probes_of(c)->sampling || probes_of(c)->merging)
		return 5000000;
	return probes_of(c)->awake ? 50000000 : UINT64_MAX;
}

void probes_turn(struct ctl *c)
{
	struct probes *p = probes_of(c);
	unsigned kept = 0;

	p->sampling = probes_sample(c);
	clocks_follow(c);
	if (p->now != NULL && anyone_sends(c))
		p->awake_until_ns = clock_raw_ns() + AWAKE_NS;
	bool awake = probes_awake(c);
	if (p->awake != awake)
		dirty_receivers(c);
	p->awake = awake;
	p->merging = awake && probe_merge_turn(p->now);
	for (unsigned i = 0; i < p->nold; i++) {
		struct probe_arm *a = p->old[i];
		if (a->refs > 1) {
			p->old[kept++] = a;
			continue;
		}
		probe_fold(c, a);
		probe_arm_unref(a);
	}
	p->nold = kept;
}

void probes_open(struct ctl *c)
{
	uint64_t mb;

	value_default(&vt_uint, PROBES_DFLT_MEMORY, &mb);
	probes_memory_set(c, mb * 1000000);
}

void probes_close(struct ctl *c)
{
	struct probes *p = probes_of(c);

	probe_arm_unref(p->now);
	for (unsigned i = 0; i < p->nold; i++)
		probe_arm_unref(p->old[i]);
	free(p->old);
	probe_past_free(p);
	probe_extras_free(p);
}

void probes_memory_set(struct ctl *c, uint64_t bytes)
{
	probes_of(c)->limit_bytes = bytes;
}

uint64_t probes_memory_most(const struct ctl *c)
{
	return probes_of(c)->limit_bytes;
}

void probe_bias_set(struct ctl *c, unsigned tx, unsigned rx, const struct probe_bias *b)
{
	if (tx < PROBE_PORTS && rx < CTL_MAX_PORTS && b->clock < PROBE_CLOCKS)
		probes_of(c)->bias[tx][rx][b->clock] = *b;
}

struct probe_bias probe_bias(const struct ctl *c, int tx, unsigned rx, enum probe_clock clock)
{
	const struct probes *p = probes_of(c);
	unsigned partner = rx ^ 1;

	if (rx >= CTL_MAX_PORTS || clock >= PROBE_CLOCKS)
		return (struct probe_bias){0};
	if (tx >= 0)
		return tx < PROBE_PORTS ? p->bias[tx][rx][clock] : (struct probe_bias){0};
	if (partner < PROBE_PORTS && p->bias[partner][rx][clock].known)
		return p->bias[partner][rx][clock];
	for (unsigned i = 0; i < PROBE_PORTS; i++)
		if (p->bias[i][rx][clock].known)
			return p->bias[i][rx][clock];
	return (struct probe_bias){0};
}

/* May probes of this port be on their way? They were sent before a clear and come in after it. */
static bool on_its_way(const struct ctl *c, const struct ctl_port *cp)
{
	return probes_wanted(cp) && (cp->run.active || ctl_frames_inside(c));
}

void probes_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports && i < PROBE_PORTS; i++) {
		if (!portset_has(ports, i) || !c->port[i]->p.used)
			continue;
		probe_sender_begins(c, i);
		probe_receiver_begins(c, i);
		probes_of(c)->doubt[i].text = NULL;
		if (on_its_way(c, c->port[i]))
			probe_inexact(
				probes_of(c), i,
				"cleared while probes were on their way: these were received and not sent");
		probes_of(c)->since_ns = clock_wall_ns();
	}
}
