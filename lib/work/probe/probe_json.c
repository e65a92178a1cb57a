/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of probes for `show`, pages and files: counts, histograms and the document of
 * `show latency`. A number that cannot be known is null. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist_json.h"
#include "hist_log.h"
#include "probe_int.h"

/* ---- counts ---- */

/* Is no port sending? Then probes that were sent and have not come in are lost or late, as soon as
 * nothing is on its way any more. */
static bool probes_settled(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->run.active)
			return false;
	return true;
}

bool probes_verify(const struct ctl *c)
{
	return probes_of(c)->now != NULL && probes_of(c)->now->spec.verify;
}

const char *probe_why(const struct flow_live *l)
{
	if (l->sum.missed > 0)
		return "windows of several Rx queues could not be compared in time: copies on different queues may be missing";
	return l->unsure
		       ? "frames came in on several receivers and on others: copies between two of these receivers may be missing"
		       : NULL;
}

static void counts_of(const struct ctl *c, unsigned port, uint64_t sent, const struct flow_live *l,
		      struct probe_counts *out)
{
	const struct flow_sum *s = &l->sum;
	uint64_t copies = s->duplicate + s->crossed, known = s->reordered - s->extent_unknown;

	*out = (struct probe_counts){.sent = sent,
				     .duplicated = copies,
				     .reordered = s->reordered,
				     .late = s->late,
				     .corrupted = s->corrupted,
				     .extent_max = l->extent_max,
				     .extent_unknown = s->extent_unknown,
				     .extent_mean = (double)NAN,
				     .jitter_ns = l->jitter_cycles * 1e9 / clock_hz(),
				     .nrxq = l->nrxq,
				     .why = probes_of(c)->doubt[port].text};
	out->received = s->received > copies ? s->received - copies : 0;
	uint64_t came = out->received + s->corrupted + s->late;
	if (came == 0) /* jitter goes on over a `clear`, and says nothing about what is shown */
		out->jitter_ns = (double)NAN;
	out->lost = sent > came ? sent - came : 0;
	if (known > 0 && known <= s->reordered)
		out->extent_mean = (double)s->extent_sum / (double)known;
	if (out->why == NULL)
		out->why = probe_why(l);
	out->inexact = out->why != NULL;
}

static int cell_of(struct ctl *c, unsigned port, int stream)
{
	const struct stream *s = stream >= 0 ? stream_at(c->port[port], (unsigned)stream) : NULL;

	return s != NULL ? (int)s->cell : -1;
}

bool probe_counts(struct ctl *c, unsigned port, int stream, const struct portset *receivers,
		  struct probe_counts *out)
{
	struct flow_live l;

	*out = (struct probe_counts){.extent_mean = (double)NAN, .jitter_ns = (double)NAN};
	if (port >= c->nports || port >= PROBE_PORTS || !c->port[port]->p.used)
		return false;
	int cell = cell_of(c, port, stream);
	if (stream >= 0 && cell < 0)
		return false;
	/* what came is read before what was sent, so it is never more */
	bool known = probe_total(c, port, cell, receivers, &l);
	if (receivers != NULL && probe_several(c, receivers))
		probe_cross(&l);
	counts_of(c, port, probe_sent(c, port, cell), &l, out);
	return known || out->sent > 0;
}

/* The sum over receivers of one member of struct rx_sum; `what` is its offset. */
static uint64_t rx_sum_of(struct ctl *c, const struct portset *receivers, size_t what)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		struct rx_sum s;
		if (receivers != NULL && !portset_has(receivers, i))
			continue;
		probe_rx_total(c, i, &s);
		sum += *(const uint64_t *)(const void *)((const char *)&s + what);
	}
	return sum;
}

uint64_t probe_damaged(struct ctl *c, const struct portset *receivers)
{
	return rx_sum_of(c, receivers, offsetof(struct rx_sum, damaged));
}

uint64_t probe_plain(struct ctl *c, const struct portset *receivers)
{
	return rx_sum_of(c, receivers, offsetof(struct rx_sum, plain));
}

struct hist *probe_hist(struct ctl *c, const struct portset *receivers, enum probe_latency which)
{
	static const enum prx_hist of[] = {[PROBE_ACTUAL] = PRX_ACTUAL,
					   [PROBE_INTENDED] = PRX_INTENDED,
					   [PROBE_GAP] = PRX_GAP};
	struct hist *sum = NULL;

	for (unsigned i = 0; i < c->nports; i++) {
		if (receivers != NULL && !portset_has(receivers, i))
			continue;
		struct hist *h = probe_port_hist(c, i, of[which]);
		if (sum == NULL) {
			sum = h;
		} else if (h != NULL) {
			hist_merge(sum, h);
			free(h);
		}
	}
	return sum;
}

/* sole: all that these probes' sender sent was meant for this receiver. If not, nobody can say here
 * what was sent to it and what was lost. */
static json_t *counts_json(const struct probe_counts *n, bool sole)
{
	json_t *o = json_pack(
		"{s:o, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:i, s:b}", "sent",
		sole ? whole_json(n->sent) : json_null(), "received", (json_int_t)n->received,
		"lost", sole ? whole_json(n->lost) : json_null(), "loss",
		sole && n->sent > 0 ? json_real((double)n->lost / (double)n->sent) : json_null(),
		"duplicated", (json_int_t)n->duplicated, "reordered", (json_int_t)n->reordered,
		"late", (json_int_t)n->late, "corrupted", (json_int_t)n->corrupted, "extent_max",
		whole_json(n->extent_max), "extent_mean", real_json(n->extent_mean),
		"extent_unknown", (json_int_t)n->extent_unknown, "jitter_ns",
		real_json(n->jitter_ns), "rx_queues", (int)n->nrxq, "exact", (int)!n->inexact);

	if (n->why != NULL)
		json_object_set_new(o, "why", json_string(n->why));
	return o;
}

/* ---- histograms ---- */

static const char *const near_names[PRX_NEARS] = {"64", "128", "256", "512"};
static const char *const scale_names[PRX_SCALES] = {"1us", "10us", "100us", "1ms"};

/* The index of dispersion: the variance of the frames in a window divided by their mean. It is 1
 * for Poisson arrivals and 0 for even ones. */
static double probe_json_dispersion(const struct rx_sum *s, unsigned scale)
{
	double n = (double)s->scale[scale].windows, sum = (double)s->scale[scale].sum;
	double sq = (double)s->scale[scale].sum_sq, mean = sum / n;

	return n >= 2 && sum > 0 ? fmax((sq - sum * mean) / (n - 1), 0) / mean : (double)NAN;
}

/* The gap in ns that frames of this port are to have; 0: none. */
static double target_of(const struct ctl *c, unsigned rx)
{
	const struct probe_arm *a = probes_of(c)->now;

	for (unsigned t = 0; a != NULL && t < a->ntaps; t++)
		if (a->tap[t].port == rx)
			return a->tap[t].target_ns;
	return 0;
}

static json_t *gap_json(struct ctl *c, unsigned rx, const struct rx_sum *s)
{
	struct hist *h = probe_port_hist(c, rx, PRX_GAP);
	json_t *o = hist_json(h, 0), *near = json_object(), *disp = json_object();
	double target = target_of(c, rx);
	uint64_t n = h != NULL ? hist_count(h) : 0;

	json_object_set_new(o, "target_ns",
			    target > 0 && s->gaps > 0 ? json_real(target) : json_null());
	for (unsigned i = 0; i < PRX_NEARS; i++)
		json_object_set_new(near, near_names[i],
				    target > 0 && s->near_of > 0
					    ? json_real((double)s->near[i] / (double)s->near_of)
					    : json_null());
	json_object_set_new(o, "near", near);
	json_object_set_new(o, "cv", n > 1 ? real_json(hist_stdev(h) / hist_mean(h)) : json_null());
	for (unsigned i = 0; i < PRX_SCALES; i++)
		json_object_set_new(disp, scale_names[i], real_json(probe_json_dispersion(s, i)));
	json_object_set_new(o, "dispersion", disp);
	free(h);
	return o;
}

/* ---- ports ---- */

static bool has_rx(const struct ctl *c, unsigned port)
{
	return port < c->nports && c->port[port]->p.used && c->port[port]->p.nrxq > 0;
}

/* The ports on which probes of port tx come in: those on which some did, and as long as none did,
 * its partner (0 and 1, 2 and 3, ..), or tx itself if that cannot receive. Returns how many ports
 * these are. */
static unsigned receivers_of(struct ctl *c, unsigned tx, struct portset *out)
{
	unsigned n = 0;

	*out = (struct portset){0};
	for (unsigned rx = 0; rx < c->nports; rx++) {
		struct portset one = {0};
		struct flow_live l;
		portset_add(&one, rx);
		if (!has_rx(c, rx) || !probe_total(c, tx, -1, &one, &l) ||
		    l.sum.received + l.sum.late + l.sum.corrupted == 0)
			continue;
		portset_add(out, rx);
		n++;
	}
	if (n > 0)
		return n;
	portset_add(out, has_rx(c, tx ^ 1) ? tx ^ 1 : tx);
	return 1;
}

struct pairs {
	struct portset to[PROBE_PORTS]; /* the receivers of each sender */
	unsigned n[PROBE_PORTS];        /* how many they are; 0: the port sends no probes */
};

static void find_pairs(struct ctl *c, struct pairs *p)
{
	struct probe_counts n;

	*p = (struct pairs){0};
	for (unsigned tx = 0; tx < c->nports && tx < PROBE_PORTS; tx++)
		if (probe_counts(c, tx, -1, NULL, &n) &&
		    (n.sent > 0 || n.received > 0 || probes_wanted(c->port[tx])))
			p->n[tx] = receivers_of(c, tx, &p->to[tx]);
}

static void add_counts(struct probe_counts *to, const struct probe_counts *n)
{
	double extents = (double)(to->reordered - to->extent_unknown),
	       more = (double)(n->reordered - n->extent_unknown);

	if (isfinite(n->extent_mean))
		to->extent_mean = isfinite(to->extent_mean)
					  ? (to->extent_mean * extents + n->extent_mean * more) /
						    (extents + more)
					  : n->extent_mean;
	to->sent += n->sent;
	to->received += n->received;
	to->lost += n->lost;
	to->duplicated += n->duplicated;
	to->reordered += n->reordered;
	to->late += n->late;
	to->corrupted += n->corrupted;
	to->extent_unknown += n->extent_unknown;
	to->extent_max = n->extent_max > to->extent_max ? n->extent_max : to->extent_max;
	if (!(to->jitter_ns >= n->jitter_ns) && isfinite(n->jitter_ns))
		to->jitter_ns = n->jitter_ns;
	to->nrxq = n->nrxq > to->nrxq ? n->nrxq : to->nrxq;
	to->inexact |= n->inexact;
	to->why = to->why != NULL ? to->why : n->why;
}

/* What became of the probes that were sent to this port. What was sent and lost is null if the
 * probes of one of its senders come in on other ports too. *from gets the counts of each sender. */
static json_t *port_counts(struct ctl *c, unsigned rx, const struct pairs *p, json_t *from)
{
	struct probe_counts sum = {.extent_mean = (double)NAN, .jitter_ns = (double)NAN}, n;
	struct portset only = {0};
	bool sole = true, any = false;

	portset_add(&only, rx);
	for (unsigned tx = 0; tx < c->nports && tx < PROBE_PORTS; tx++) {
		if (p->n[tx] == 0 || !portset_has(&p->to[tx], rx))
			continue;
		probe_counts(c, tx, -1, &only, &n);
		json_t *o = counts_json(&n, p->n[tx] == 1);
		json_object_set_new(o, "port", json_integer(tx));
		json_array_append_new(from, o);
		add_counts(&sum, &n);
		sole &= p->n[tx] == 1;
		any = true;
	}
	return counts_json(&sum, sole && any);
}

/* Pktgen's jitter: how many latencies differed from the one before by more than a threshold. */
static json_t *jitter_json(const struct ctl *c, unsigned rx)
{
	uint64_t limit_us = probe_cfg_of(c->port[rx])->jitter_us, compared, above;

	if (limit_us == 0)
		return json_null();
	probe_jitter(c, rx, &compared, &above);
	return json_pack("{s:I, s:I, s:I, s:o}", "limit_ns", (json_int_t)(1000 * limit_us),
			 "compared", (json_int_t)compared, "above", (json_int_t)above, "share",
			 compared > 0 ? json_real((double)above / (double)compared) : json_null());
}

const char *probe_clock_word(enum probe_clock clock)
{
	return clock == PROBE_CLOCKS ? "both" : clock == PROBE_NIC ? "nic" : "software";
}

static struct probe_timed probe_json_timed(const struct rx_sum *s)
{
	uint64_t all = s->probes + s->plain + s->damaged + s->foreign;

	return (struct probe_timed){
		.frames = {[PROBE_NIC] = s->stamped,
			   [PROBE_SOFTWARE] = all > s->stamped ? all - s->stamped : 0}};
}

struct probe_timed probe_timed(struct ctl *c, unsigned port)
{
	struct rx_sum s;

	probe_rx_total(c, port, &s);
	return probe_json_timed(&s);
}

/* Which clock timed the frames that came in on the port; if none came, the one that is going to. */
static enum probe_clock clock_of(const struct ctl_port *cp, const struct probe_timed *t)
{
	if (t->frames[PROBE_NIC] > 0)
		return t->frames[PROBE_SOFTWARE] > 0 ? PROBE_CLOCKS : PROBE_NIC;
	return t->frames[PROBE_SOFTWARE] == 0 && stamps_rx(&cp->p) != NULL ? PROBE_NIC
									   : PROBE_SOFTWARE;
}

/* The own share from port tx (-1: any) to port rx, by the clock that timed what came in there. */
static struct probe_bias bias_of(struct ctl *c, int tx, unsigned rx)
{
	struct probe_timed t = probe_timed(c, rx);

	return probe_bias(c, tx, rx, clock_of(c->port[rx], &t));
}

static json_t *stamps_json(const struct ctl_port *cp, const struct rx_sum *s)
{
	struct probe_timed t = probe_json_timed(s);
	bool told = stamps_rx(&cp->p) != NULL || s->stamped > 0;
	struct sbuf text = {0};

	stamps_text(&cp->p, &text);
	json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:s}", "source",
			      probe_clock_word(clock_of(cp, &t)), "nic", (json_int_t)s->stamped,
			      "software", (json_int_t)t.frames[PROBE_SOFTWARE], "unstamped",
			      (json_int_t)s->unstamped, "odd", (json_int_t)s->odd, "error_ns",
			      told ? real_json(stamps_error_ns(&cp->p)) : json_null(), "text",
			      sbuf_str(&text));
	sbuf_free(&text);
	return o;
}

static void set_bias(json_t *o, const struct ctl *c, unsigned rx, const struct probe_bias *bias)
{
	bool other = probe_bias(c, -1, rx, PROBE_SOFTWARE).known ||
		     probe_bias(c, -1, rx, PROBE_NIC).known;

	json_object_set_new(o, "bias_ns", bias->known ? whole_json(bias->median_ns) : json_null());
	json_object_set_new(o, "bias_clock",
			    bias->known ? json_string(probe_clock_word(bias->clock)) : json_null());
	json_object_set_new(o, "bias_other", json_boolean(!bias->known && other));
}

static json_t *port_json(struct ctl *c, unsigned rx, const struct pairs *p, unsigned flags)
{
	const struct ctl_port *cp = c->port[rx];
	struct probe_bias bias = bias_of(c, -1, rx);
	uint64_t off = flags & LATENCY_CORRECTED && bias.known ? bias.median_ns : 0;
	json_t *from = json_array(), *o = json_object();
	struct hist *actual = probe_port_hist(c, rx, PRX_ACTUAL),
		    *intended = probe_port_hist(c, rx, PRX_INTENDED);
	struct rx_sum s;

	probe_rx_total(c, rx, &s);
	json_object_set_new(o, "port", json_integer(rx));
	json_object_set_new(o, "name", json_string(cp->p.name));
	json_object_set_new(o, "queues", json_integer(cp->p.nrxq));
	json_object_set_new(o, "probes", json_integer((json_int_t)s.probes));
	json_object_set_new(o, "plain", json_integer((json_int_t)s.plain));
	json_object_set_new(o, "damaged", json_integer((json_int_t)s.damaged));
	json_object_set_new(o, "early", json_integer((json_int_t)s.early));
	json_object_set_new(o, "foreign", json_integer((json_int_t)s.foreign));
	json_object_set_new(o, "verify", json_boolean(probes_verify(c)));
	json_object_set_new(o, "counts", port_counts(c, rx, p, from));
	json_object_set_new(o, "from", from);
	json_object_set_new(o, "latency",
			    json_pack("{s:o, s:o}", "actual", hist_json(actual, off), "intended",
				      hist_json(intended, off)));
	if (flags & LATENCY_BINS)
		json_object_set_new(json_object_get(json_object_get(o, "latency"), "actual"),
				    "bins", hist_bins_json(actual));
	json_object_set_new(o, "gap", gap_json(c, rx, &s));
	json_object_set_new(o, "jitter", jitter_json(c, rx));
	json_object_set_new(o, "timestamps", stamps_json(cp, &s));
	set_bias(o, c, rx, &bias);
	json_object_set_new(o, "corrected", json_boolean(off != 0));
	free(actual);
	free(intended);
	return o;
}

/* ---- streams ---- */

static json_t *stream_json(struct ctl *c, unsigned tx, const struct stream *s, unsigned flags)
{
	struct probe_counts n;
	json_t *to = json_array();
	uint64_t off = 0;

	for (unsigned rx = 0; rx < c->nports; rx++) {
		struct portset one = {0};
		struct flow_live l;
		portset_add(&one, rx);
		if (!has_rx(c, rx) || !probe_total(c, tx, (int)s->cell, &one, &l) ||
		    l.sum.received + l.sum.late + l.sum.corrupted == 0)
			continue;
		json_array_append_new(to, json_integer(rx));
		struct probe_bias bias = bias_of(c, (int)tx, rx);
		off = flags & LATENCY_CORRECTED && bias.known && json_array_size(to) == 1
			      ? bias.median_ns
			      : 0;
	}
	probe_counts(c, tx, (int)s->cfg.id, NULL, &n);
	json_t *o = counts_json(&n, true);
	json_object_set_new(o, "port", json_integer(tx));
	json_object_set_new(o, "stream", json_integer(s->cfg.id));
	json_object_set_new(o, "receivers", to);
	for (unsigned w = PRX_ACTUAL; w <= PRX_INTENDED; w++) {
		struct hist *h = s->cfg.latency
					 ? probe_cell_hist(c, tx, s->cell, (enum prx_hist)w, NULL)
					 : NULL;
		json_object_set_new(o, w == PRX_ACTUAL ? "latency" : "intended",
				    h != NULL ? hist_json(h, off) : json_null());
		free(h);
	}
	json_object_set_new(o, "corrected", json_boolean(off != 0));
	return o;
}

/* own: only streams with `latency on`. */
static json_t *streams_json(struct ctl *c, const struct portset *ports, unsigned flags, bool own)
{
	json_t *list = json_array();

	for (unsigned tx = 0; tx < c->nports && tx < PROBE_PORTS; tx++)
		for (unsigned i = 0; portset_has(ports, tx) && i < c->port[tx]->nstreams; i++) {
			const struct stream *s = c->port[tx]->stream[i];
			if (s != NULL && s->cfg.frame.probe != 0 && (s->cfg.latency || !own))
				json_array_append_new(list, stream_json(c, tx, s, flags));
		}
	return list;
}

json_t *probe_streams_json(struct ctl *c, unsigned port)
{
	struct portset one = {0};

	portset_add(&one, port);
	return streams_json(c, &one, 0, true);
}

json_t *probe_latency_json(struct ctl *c, const struct portset *ports, unsigned flags)
{
	const struct probe_arm *a = probes_of(c)->now;
	json_t *list = json_array(), *doc;
	struct clock_info clock;
	struct pairs p;

	clock_info(&clock);
	find_pairs(c, &p);
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && has_rx(c, i))
			json_array_append_new(list, port_json(c, i, &p, flags));
	doc = json_pack("{s:s, s:I, s:I, s:b, s:b, s:b, s:{s:f, s:f, s:f}, s:I, s:I, s:o}", "show",
			"latency", "time_ns", (json_int_t)clock_raw_ns(), "wall_ns",
			(json_int_t)clock_wall_ns(), "armed", (int)(a != NULL), "settled",
			(int)probes_settled(c), "corrected", (flags & LATENCY_CORRECTED) != 0,
			"clock", "hz", clock.hz, "uncertainty_ppm", clock.uncertainty_ppm,
			"tick_ns", 1e9 / clock.hz, "memory_bytes",
			(json_int_t)(a != NULL ? a->bytes : 0), "window",
			(json_int_t)(a != NULL ? 64ull * a->spec.window_blocks : 0), "ports", list);
	json_object_set_new(doc, "streams",
			    flags & LATENCY_NO_STREAMS ? json_array()
						       : streams_json(c, ports, flags, false));
	return doc;
}

/* ---- log ---- */

static int log_one(struct hist *h, const char *tag, double from_s, double length_s,
		   struct sbuf *out, unsigned *n)
{
	int rc = h != NULL && hist_count(h) > 0 ? hist_log_line(h, tag, from_s, length_s, 1e6, out)
						: 0;

	*n += h != NULL && hist_count(h) > 0;
	free(h);
	return rc;
}

int probe_latency_log(struct ctl *c, const struct portset *ports, struct sbuf *out, struct err *e)
{
	static const char *const what[] = {
		[PRX_ACTUAL] = "actual", [PRX_INTENDED] = "intended", [PRX_GAP] = "gap"};
	double now_s = (double)clock_wall_ns() / 1e9,
	       begin_s = (double)probes_of(c)->since_ns / 1e9;
	unsigned n = 0;
	char tag[64];
	int rc = 0;

	hist_log_header(
		out, begin_s,
		"latency and gaps in ns; tags: port.N.actual and .intended (against the time of sending, and the time that was "
		"intended), port.N.gap, stream.P/S.actual and .intended");
	for (unsigned i = 0; i < c->nports && rc == 0; i++) {
		if (!portset_has(ports, i) || !has_rx(c, i))
			continue;
		for (unsigned w = 0; w < ARRAY_SIZE(what) && rc == 0; w++) {
			snprintf(tag, sizeof(tag), "port.%u.%s", i, what[w]);
			rc = log_one(probe_port_hist(c, i, (enum prx_hist)w), tag, 0,
				     now_s - begin_s, out, &n);
		}
	}
	for (unsigned tx = 0; tx < c->nports && tx < PROBE_PORTS && rc == 0; tx++)
		for (unsigned i = 0; portset_has(ports, tx) && i < c->port[tx]->nstreams && rc == 0;
		     i++) {
			const struct stream *s = c->port[tx]->stream[i];
			if (s == NULL || !s->cfg.latency)
				continue;
			for (unsigned w = PRX_ACTUAL; w <= PRX_INTENDED && rc == 0; w++) {
				snprintf(tag, sizeof(tag), "stream.%u/%u.%s", tx, i, what[w]);
				rc = log_one(probe_cell_hist(c, tx, s->cell, (enum prx_hist)w,
							     NULL),
					     tag, 0, now_s - begin_s, out, &n);
			}
		}
	if (rc < 0)
		return err_set(e, ENOMEM, "no memory for the log of histograms");
	if (n == 0)
		return err_set(
			e, ENODATA,
			"there is no latency to save: `set <ports> probe on` and `start` measure it");
	return 0;
}
