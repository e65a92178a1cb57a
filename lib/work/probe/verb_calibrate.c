/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb calibrate: it measures the tester's own share of a latency, over ports that are looped
 * by a cable or by a wire of this process. One port after the other sends a few frames at a low
 * rate, as a trial. The settings are as before when it is over. */
#include "cmd/verbs.h"
#include "out.h"
#include "probe.h"
#include "probe_app.h"
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_PPS 2000
#define DURATION_NS 500000000ull /* time for 1000 frames */
#define TRIES 3

struct calibrating {
	struct portset ports;      /* all that are measured, one after the other */
	unsigned tries;            /* trials of port tx that other work disturbed */
	struct ctl_saved *saved;   /* the settings as they were before */
	struct trial *trial;       /* of port tx */
	unsigned tx, rx;           /* the port that is measured now, and its partner */
	struct probe_timed before; /* frames that had come in on rx before the trial */
	json_t *done;              /* results */
};
_Static_assert(sizeof(struct calibrating) <= VERB_STATE_BYTES, "state of a verb");

static struct calibrating *calibrate_state(struct cmd_run *r)
{
	return (struct calibrating *)r->state;
}

static unsigned calibrate_partner(struct ctl *ctl, unsigned port)
{
	return (port ^ 1) < ctl_nports(ctl) ? port ^ 1 : port;
}

static struct portset calibrate_one(unsigned port)
{
	struct portset s = {0};

	portset_add(&s, port);
	return s;
}

/* Ends the trial and puts the settings back. */
static void put_back(struct cmd_run *r)
{
	struct calibrating *x = calibrate_state(r);

	trial_free(x->trial);
	x->trial = NULL;
	ctl_restore(app_of(r)->ctl, x->saved);
	ctl_saved_free(x->saved);
	x->saved = NULL;
}

/* Makes the port send nothing but one plain stream with probes, at even times. */
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
	ctl_touch_stream(ctl, port, -1, WHY_ALL);
	cfg->arrival = (struct arrival){.kind = ARRIVAL_CONSTANT};
	cfg->catchup = (struct catchup){.kind = CATCHUP_KEEP};
	ctl_touch(ctl, port, WHY_ALL);
	return 0;
}

/* Begins with the next port: from x->tx on, the first that is to be measured. */
static int calibrate_begin(struct cmd_run *r, struct err *e)
{
	struct calibrating *x = calibrate_state(r);
	struct ctl *ctl = app_of(r)->ctl;

	while (!portset_has(&x->ports, x->tx))
		x->tx++;
	x->rx = calibrate_partner(ctl, x->tx);
	x->before = probe_timed(ctl, x->rx);
	x->saved = ctl_save(ctl);
	struct trial_spec spec = {.tx = calibrate_one(x->tx),
				  .rx = calibrate_one(x->rx),
				  .rate = {.kind = RATE_PPS, .value = PROBE_PPS},
				  .duration_ns = DURATION_NS};
	trial_cfg_init(&spec.cfg);
	spec.cfg.overtime_ns = DURATION_NS; /* all frames are sent, even beside other work */
	int rc = set_up(ctl, x->tx, e);
	if (rc == 0)
		rc = trial_start(ctl, &spec, &x->trial, e);
	if (rc < 0)
		put_back(r);
	return rc;
}

/* Can a bias be taken from this trial? Returns 0 or -errno, and *e says why. A frame that was not
 * sent, or was sent late, says nothing about the latency of the others and is no reason against it;
 * a frame that was lost, or came from somebody else, is one. */
static int calibrate_judge(const struct calibrating *x, const struct trial_result *res,
			   struct err *e)
{
	const struct trial_fates *f = &res->sum;
	const struct hist *h = res->latency[LATENCY_SENT];

	if (f->sent == f->not_accepted)
		return err_set(e, EIO, "port %u takes no frames", x->tx);
	if (f->received == 0)
		return err_set(
			e, ENOLINK,
			"nothing of %" PRIu64
			" frames came from port %u to port %u: they must be looped, by a cable or a wire",
			f->sent, x->tx, x->rx);
	if (f->received != f->sent)
		return err_set(e, EIO,
			       "%" PRIu64 " frames went from port %u to port %u and %" PRIu64
			       " came whole: a bias can be measured where "
			       "none is lost",
			       f->sent, x->tx, x->rx, f->received);
	if (!f->told || f->duplicated != 0 || h == NULL || hist_count(h) != f->received ||
	    res->is[TRIAL_COUNTERS])
		return err_set(
			e, EIO,
			"other frames with probes came to port %u, or some came twice: nothing else may send to it",
			x->rx);
	if (res->is[TRIAL_PREEMPTED])
		return err_set(e, EBUSY, "%s: other work disturbs it", res->why[TRIAL_PREEMPTED]);
	return 0;
}

/* Says which clock timed the frames that were received. Fails if not one clock timed all of them;
 * other frames may have come in there too. */
static int timed_by(struct ctl *ctl, const struct calibrating *x, uint64_t received,
		    enum probe_clock *clock, struct err *e)
{
	struct probe_timed now = probe_timed(ctl, x->rx);
	uint64_t n[PROBE_CLOCKS];

	for (unsigned i = 0; i < PROBE_CLOCKS; i++)
		n[i] = now.frames[i] - x->before.frames[i];
	*clock = n[PROBE_NIC] < received ? PROBE_SOFTWARE : PROBE_NIC;
	if (n[*clock] >= received && n[PROBE_CLOCKS - 1 - *clock] < received)
		return 0;
	return err_set(e, EIO,
		       "%" PRIu64
		       " frames on port %u were timed by the device's stamps and %" PRIu64
		       " by our clock: a bias is of one "
		       "clock; `set %u timestamps software` does without stamps",
		       n[PROBE_NIC], x->rx, n[PROBE_SOFTWARE], x->rx);
}

/* The trial of a port is over: keeps its result, if it is good, and puts the settings back. */
static int calibrate_measured(struct cmd_run *r, struct err *e)
{
	struct calibrating *x = calibrate_state(r);
	struct ctl *ctl = app_of(r)->ctl;
	const struct trial_result *res = trial_result(x->trial);
	enum probe_clock clock;
	int rc = calibrate_judge(x, res, e);

	if (rc == 0)
		rc = timed_by(ctl, x, res->sum.received, &clock, e);
	if (rc == 0) {
		const struct hist *h = res->latency[LATENCY_SENT];
		struct probe_bias b = {.known = true,
				       .clock = clock,
				       .median_ns = hist_percentile(h, 50),
				       .min_ns = hist_min(h),
				       .frames = hist_count(h),
				       .wall_ns = res->wall_ns};
		probe_bias_set(ctl, x->tx, x->rx, &b);
		json_array_append_new(
			x->done,
			json_pack("{s:i, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I}", "tx", (int)x->tx,
				  "tx_name", ctl_port_name(ctl, x->tx), "rx", (int)x->rx, "rx_name",
				  ctl_port_name(ctl, x->rx), "clock", probe_clock_word(clock),
				  "median_ns", (json_int_t)b.median_ns, "min_ns",
				  (json_int_t)b.min_ns, "frames", (json_int_t)b.frames, "wall_ns",
				  (json_int_t)b.wall_ns));
	}
	put_back(r);
	return rc;
}

static const struct out_col cols[] = {
	{"tx", "from port", OF_COUNT}, {"tx_name", "name", OF_STR},
	{"rx", "to port", OF_COUNT},   {"rx_name", "name", OF_STR},
	{"clock", "timed by", OF_STR}, {"frames", "frames", OF_COUNT},
	{"min_ns", "min", OF_NS},      {"median_ns", "median", OF_NS},
};
static const struct out_view view = {.rows = "calibrations",
				     .cols = cols,
				     .ncols = ARRAY_SIZE(cols)};

/* The command ends with rc: what was measured so far is kept, and printed if rc is 0. */
static int calibrate_finish(struct cmd_run *r, int rc)
{
	struct calibrating *x = calibrate_state(r);

	if (json_array_size(x->done) > 0)
		probe_bias_save(app_of(r));
	if (rc == 0 && json_array_size(x->done) == 0 && r->out_mode == OUT_TEXT) {
		sbuf_add(
			r->out,
			"nothing was measured well enough to be kept; what is known of a bias stays as it was\n");
	} else if (rc == 0) {
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
	struct calibrating *x = calibrate_state(r);
	int rc = trial_poll(x->trial, e);

	if (rc == 0)
		return VERB_PENDING;
	if (rc < 0) {
		put_back(r);
		return calibrate_finish(r, rc);
	}
	rc = calibrate_measured(r, e);
	if (rc == -EBUSY && ++x->tries < TRIES) {
		rc = calibrate_begin(r, e);
		return rc < 0 ? calibrate_finish(r, rc) : VERB_PENDING;
	}
	x->tries = 0;
	if (rc == -EBUSY) { /* the user did nothing wrong, but the measurement is not valid */
		sbuf_addf(r->note,
			  "calibrate: port %u to port %u: %s; nothing is kept of it, try again\n",
			  x->tx, x->rx, e->text);
		r->exit_code = 4;
		rc = 0;
	}
	if (rc < 0)
		return calibrate_finish(r, rc);
	for (x->tx++; x->tx < PORTSET_MAX; x->tx++)
		if (portset_has(&x->ports, x->tx)) {
			rc = calibrate_begin(r, e);
			return rc < 0 ? calibrate_finish(r, rc) : VERB_PENDING;
		}
	return calibrate_finish(r, VERB_DONE);
}

static bool calibrate_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct calibrating *x = (const struct calibrating *)r->state;
	unsigned done = 0, all = 0;
	struct trial_progress p;

	for (unsigned i = 0; i < PORTSET_MAX; i++)
		if (portset_has(&x->ports, i)) {
			all++;
			done += i < x->tx;
		}
	trial_progress(x->trial, &p);
	cmd_progress_time(out, done * p.all_ns + p.gone_ns, all * p.all_ns);
	snprintf(out->text, sizeof(out->text), "calibrate, port %u to port %u, %u of %u", x->tx,
		 x->rx, done + 1, all);
	return true;
}

static int calibrate_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct calibrating *x = calibrate_state(r);
	struct ctl *ctl = app_of(r)->ctl;
	int rc = arg_ports_or_all(r, &args[0], &x->ports, e);

	if (rc < 0)
		return rc;
	for (unsigned p = 0; p < ctl_nports(ctl); p++)
		if (ctl_sending(ctl, p))
			return err_set(
				e, EBUSY,
				"port %u is sending, and calibrate measures a tester that does nothing else; `stop all` comes "
				"first",
				p);
	if (portset_empty(&x->ports))
		return err_set(e, ENODEV, "there is no port to measure");
	x->done = json_array();
	rc = calibrate_begin(r, e);
	return rc < 0 ? calibrate_finish(r, rc) : VERB_PENDING;
}

static void calibrate_cancel(struct cmd_run *r)
{
	put_back(r);
	calibrate_finish(r, -ECANCELED);
}

static const struct arg_spec args_calibrate[] = {{ARG_TARGETS, "ports", ARG_OPT}, {ARG_END}};

const struct verb verb_calibrate = {
	.name = "calibrate",
	.args = args_calibrate,
	.run = calibrate_run,
	.flags = VERB_NO_LOAD,
	.poll = poll_calibrate,
	.cancel = calibrate_cancel,
	.progress = calibrate_progress,
	.help = "Measure the tester's own share of a latency, over ports that are looped.\n"
		"Each port sends 1000 frames of 64 bytes with probes to its partner (0 to 1, 1 to 0; a port without one to\n"
		"itself), at 2000 a second; the ports must be joined by a cable, or be a wire. What it takes in the median is\n"
		"shown beside results as the own share, and `show latency corrected` subtracts it, where the same clock timed\n"
		"the arrivals: the device's time stamps (nic) or our own (software). It is kept for the next time with the\n"
		"ports' names, in $XDG_STATE_HOME/wirerate/calibration.json. Refused where frames are lost; what was disturbed\n"
		"by other work on the machine is not kept, exit code 4. Settings are as before when it ends.",
};
