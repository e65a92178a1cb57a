/* SPDX-License-Identifier: BSD-3-Clause */
/* calibrate: what a latency holds of the tester itself, measured over ports that are looped: by a cable, or by a wire of this process. One port
 * after the other sends a few frames at a low rate; settings are as before when it is over. */
#include "bias.h"
#include "out.h"
#include "probe.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_PPS 2000
#define FRAMES 1000
#define TRIES 3
#define WAITED_SHARE 0.05 /* of the time; a worker that waited longer for a CPU spoils what is measured */
#define STALL_NS 10000000ull

struct calibrating {
	struct portset ports;      /* still to be measured, the first of them now */
	unsigned tries;            /* of this port */
	struct ctl_saved *saved;
	struct hist *before;       /* of the receiver */
	struct probe_counts counts;
	struct snap *at_start;
	unsigned tx, rx;
	json_t *done;
};
_Static_assert(sizeof(struct calibrating) <= VERB_STATE_BYTES, "state of a verb");

static struct calibrating *state(struct cmd_run *r)
{
	return (struct calibrating *)r->state;
}

static unsigned partner(struct ctl *ctl, unsigned port)
{
	return (port ^ 1) < ctl_nports(ctl) ? port ^ 1 : port;
}

static struct portset one(unsigned port)
{
	struct portset s = {0};

	portset_add(&s, port);
	return s;
}

static void put_back(struct cmd_run *r)
{
	struct calibrating *x = state(r);

	ctl_restore(app_of(r)->ctl, x->saved);
	ctl_saved_free(x->saved);
	x->saved = NULL;
	free(x->before);
	x->before = NULL;
	if (x->at_start != NULL)
		snap_free(x->at_start);
	free(x->at_start);
	x->at_start = NULL;
}

/* Nothing but one plain stream with probes, slow. */
static int set_up(struct ctl *ctl, unsigned port, struct err *e)
{
	struct port_cfg *cfg = ctl_port_cfg(ctl, port);
	int id;

	for (unsigned s = 0; s < ctl_nstreams(ctl, port); s++)
		if (ctl_stream_cfg(ctl, port, s) != NULL)
			ctl_stream_cfg(ctl, port, s)->enabled = false;
	id = ctl_stream_add(ctl, port, -1, 1, -1, e);
	if (id < 0)
		return id;
	struct stream_cfg *s = ctl_stream_cfg(ctl, port, (unsigned)id);
	frame_stack_parse("eth/ipv4/udp", &s->frame.stack, NULL);
	s->frame.probe = 1;
	ctl_touch_stream(ctl, port, -1);
	cfg->rate = (struct rate){.kind = RATE_PPS, .value = PROBE_PPS};
	cfg->count = FRAMES;
	ctl_touch(ctl, port, false);
	return 0;
}

static int begin(struct cmd_run *r, struct err *e)
{
	struct calibrating *x = state(r);
	struct ctl *ctl = app_of(r)->ctl;

	while (!portset_has(&x->ports, x->tx))
		x->tx++;
	x->rx = partner(ctl, x->tx);
	x->saved = ctl_save(ctl);
	struct portset tx = one(x->tx), rx = one(x->rx);
	int rc = set_up(ctl, x->tx, e);
	if (rc == 0)
		rc = ctl_start(ctl, &tx, 0, e);
	if (rc < 0) {
		put_back(r);
		return rc;
	}
	x->before = ctl_probe_hist(ctl, &rx, PROBE_ACTUAL); /* the start may have made tables anew, and what they held is kept */
	ctl_probe_counts(ctl, x->tx, -1, &rx, &x->counts);
	x->at_start = ctl_snapshot(ctl);
	return 0;
}

/* How long a worker waited for a CPU, and its longest stall of those that came since. */
static bool preempted(const struct snap *was, const struct snap *now, struct err *e)
{
	double took = (double)(now->time_ns - was->time_ns);

	for (unsigned w = 0; w < now->nworkers && w < was->nworkers; w++) {
		const struct snap_worker *a = &was->worker[w], *b = &now->worker[w];
		struct sbuf t = {0};
		uint64_t waited = b->waited_ns - a->waited_ns;
		bool waits = b->waited_ns >= a->waited_ns && (double)waited > WAITED_SHARE * took;
		bool stalls = b->stall.longest_ns > a->stall.longest_ns && b->stall.longest_ns > STALL_NS;
		if (!waits && !stalls)
			continue;
		out_duration(waits ? waited : b->stall.longest_ns, &t);
		err_set(e, EBUSY, "the worker on lcore %u %s %s: other work disturbs it", b->lcore,
			waits ? "waited for a CPU for" : "stood still for", sbuf_str(&t));
		sbuf_free(&t);
		return true;
	}
	return false;
}

static int judge(struct cmd_run *r, const struct probe_counts *n, const struct hist *h, struct err *e)
{
	struct calibrating *x = state(r);
	struct snap *now = ctl_snapshot(app_of(r)->ctl);
	uint64_t sent = n->sent - x->counts.sent, received = n->received - x->counts.received;
	int rc = 0;

	if (received == 0)
		rc = err_set(e, ENOLINK, "nothing of %" PRIu64 " frames came from port %u to port %u: they must be looped, by a cable or a wire",
			     sent, x->tx, x->rx);
	else if (received != sent || n->corrupted != x->counts.corrupted || n->late != x->counts.late)
		rc = err_set(e, EIO, "%" PRIu64 " frames went from port %u to port %u and %" PRIu64 " came whole: a bias can be measured where "
			     "none is lost", sent, x->tx, x->rx, received);
	else if (n->duplicated != x->counts.duplicated || h == NULL || hist_count(h) != received)
		rc = err_set(e, EIO, "other frames with probes came to port %u, or some came twice: nothing else may send to it", x->rx);
	else if (preempted(x->at_start, now, e))
		rc = -EBUSY;
	snap_free(now);
	free(now);
	return rc;
}

/* The port's frames have arrived. */
static int measured(struct cmd_run *r, struct err *e)
{
	struct calibrating *x = state(r);
	struct ctl *ctl = app_of(r)->ctl;
	struct portset rx = one(x->rx);
	struct hist *h = ctl_probe_hist(ctl, &rx, PROBE_ACTUAL);
	struct probe_counts n;

	ctl_probe_counts(ctl, x->tx, -1, &rx, &n);
	if (h != NULL && x->before != NULL)
		hist_subtract(h, x->before);
	int rc = judge(r, &n, h, e);
	if (rc == 0) {
		struct snap *now = ctl_snapshot(ctl);
		struct probe_bias b = {.known = true, .median_ns = hist_percentile(h, 50), .min_ns = hist_min(h), .frames = hist_count(h),
				       .wall_ns = now->wall_ns};
		ctl_bias_set(ctl, x->tx, x->rx, &b);
		json_array_append_new(x->done, json_pack("{s:i, s:s, s:i, s:s, s:I, s:I, s:I, s:I}", "tx", (int)x->tx, "tx_name",
							 ctl_port_name(ctl, x->tx), "rx", (int)x->rx, "rx_name", ctl_port_name(ctl, x->rx),
							 "median_ns", (json_int_t)b.median_ns, "min_ns", (json_int_t)b.min_ns, "frames",
							 (json_int_t)b.frames, "wall_ns", (json_int_t)b.wall_ns));
		snap_free(now);
		free(now);
	}
	free(h);
	put_back(r);
	return rc;
}

static const struct out_col cols[] = {
	{"tx", "from port", OF_COUNT}, {"tx_name", "name", OF_STR}, {"rx", "to port", OF_COUNT}, {"rx_name", "name", OF_STR},
	{"frames", "frames", OF_COUNT}, {"min_ns", "min", OF_NS}, {"median_ns", "median", OF_NS},
};
static const struct out_view view = {.rows = "calibrations", .cols = cols, .ncols = ARRAY_SIZE(cols)};

static int finish(struct cmd_run *r, int rc)
{
	struct calibrating *x = state(r);

	if (json_array_size(x->done) > 0)
		bias_save(app_of(r));
	if (rc == 0) {
		json_t *doc = json_pack("{s:O}", "calibrations", x->done);
		verb_out(r, r->out_mode, doc, &view);
		json_decref(doc);
	}
	json_decref(x->done);
	x->done = NULL;
	return rc;
}

static int poll_calibrate(struct cmd_run *r, struct err *e)
{
	struct calibrating *x = state(r);
	struct ctl *ctl = app_of(r)->ctl;
	struct portset tx = one(x->tx);
	int rc = ctl_settled(ctl, &tx);

	if (rc == 0)
		return VERB_PENDING;
	if (rc < 0) {
		app_tell_stuck(app_of(r), &tx, r->note);
		ctl_stop(ctl, &tx);
		put_back(r);
		return finish(r, err_set(e, EIO, "port %u takes no frames", x->tx));
	}
	rc = measured(r, e);
	if (rc == -EBUSY && ++x->tries < TRIES) {
		rc = begin(r, e);
		return rc < 0 ? finish(r, rc) : VERB_PENDING;
	}
	x->tries = 0;
	if (rc == -EBUSY) { /* not a mistake of the user's: the measurement is not valid */
		sbuf_addf(r->note, "calibrate: port %u to port %u: %s; nothing is kept of it, try again\n", x->tx, x->rx, e->text);
		r->exit_code = 4;
		rc = 0;
	}
	if (rc < 0)
		return finish(r, rc);
	for (x->tx++; x->tx < PORTSET_MAX; x->tx++)
		if (portset_has(&x->ports, x->tx)) {
			rc = begin(r, e);
			return rc < 0 ? finish(r, rc) : VERB_PENDING;
		}
	return finish(r, VERB_DONE);
}

static int run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct calibrating *x = state(r);
	struct ctl *ctl = app_of(r)->ctl;
	int rc = arg_ports_or_all(r, &args[0], &x->ports, e);

	if (rc < 0)
		return rc;
	for (unsigned p = 0; p < ctl_nports(ctl); p++)
		if (ctl_sending(ctl, p))
			return err_set(e, EBUSY, "port %u is sending, and calibrate measures a tester that does nothing else; `stop all` comes "
				       "first", p);
	if (portset_empty(&x->ports))
		return err_set(e, ENODEV, "there is no port to measure");
	x->done = json_array();
	rc = begin(r, e);
	return rc < 0 ? finish(r, rc) : VERB_PENDING;
}

static void cancel(struct cmd_run *r)
{
	struct calibrating *x = state(r);
	struct portset tx = one(x->tx);

	ctl_stop(app_of(r)->ctl, &tx);
	put_back(r);
	finish(r, -ECANCELED);
}

static const struct arg_spec args_calibrate[] = {{ARG_TARGETS, "ports", ARG_OPT}, {ARG_END}};

const struct verb verb_calibrate = {
	.name = "calibrate", .args = args_calibrate, .run = run, .flags = VERB_NO_LOAD, .poll = poll_calibrate, .cancel = cancel,
	.help = "Measure the tester's own share of a latency, over ports that are looped.\n"
		"Each port sends 1000 frames of 64 bytes with probes to its partner (0 to 1, 1 to 0; a port without one to itself), at 2000 a\n"
		"second; the ports must be joined by a cable, or be a wire. What it takes in the median is shown beside results as the own share,\n"
		"and `show latency corrected` subtracts it. It is kept for the next time with the ports' names, in\n"
		"$XDG_STATE_HOME/wirerate/calibration.json. Refused where frames are lost; what was disturbed by other work on the machine is not\n"
		"kept, exit code 4. Settings are as before when it ends.",
};
