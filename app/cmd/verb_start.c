/* SPDX-License-Identifier: BSD-3-Clause */
/* start: starts ports, and tells what each of them sends. */
#include "out.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Refuses a start without a bound when the command is the only one that the program runs: the
 * program would end at once, before the ports have sent what the user wants. */
static int check_bound(const struct cmd_run *r, const struct portset *ports, struct err *e)
{
	struct app *app = app_of(r);

	if (!r->batch || !app->oneshot)
		return 0;
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p) && ctl_port_cfg(app->ctl, p)->count == 0)
			return err_set(
				e, EINVAL,
				"port %u would send without a bound, and the program ends with this command; "
				"say how long, `start %u for 10s`, or how many before it, -e 'set %u count 1000'",
				p, p, p);
	return 0;
}

/* Ports that were started with the same load and bounds. One line tells of all of them. */
struct alike {
	struct portset ports;
	unsigned nports;
	bool endless;
	struct sbuf text;
};

/* Says what a port was started with: "1.488Mpps = 10% = ... of 64-byte frames, for 10s". Returns
 * false when there is nothing to say. */
static bool load_of(const struct app *app, unsigned port, uint64_t duration_ns, struct alike *out)
{
	uint64_t count = ctl_port_cfg(app->ctl, port)->count;
	struct sbuf *text = &out->text;

	*out = (struct alike){.nports = 1, .endless = duration_ns == 0 && count == 0};
	portset_add(&out->ports, port);
	if (!app_load_text(app, port, text)) {
		sbuf_free(text);
		return false;
	}
	if (duration_ns != 0) {
		sbuf_add(text, ", for ");
		out_duration(duration_ns, text);
	}
	if (count != 0)
		sbuf_addf(text, ", %s%" PRIu64 " frame%s", duration_ns != 0 ? "at most " : "",
			  count, count == 1 ? "" : "s");
	return true;
}

/* Tells what was started, with one line for ports that are alike: "ports 0-7: ..., until `stop
 * 0-7`". */
static void start_tell(const struct app *app, const struct portset *ports, uint64_t duration_ns,
		       struct sbuf *note)
{
	struct alike *all = xcalloc(ctl_nports(app->ctl), sizeof(*all)), one;
	unsigned n = 0, i;

	for (unsigned p = 0; p < ctl_nports(app->ctl); p++) {
		if (!portset_has(ports, p) || !load_of(app, p, duration_ns, &one))
			continue;
		for (i = 0; i < n && strcmp(sbuf_str(&all[i].text), sbuf_str(&one.text)) != 0; i++)
			;
		if (i < n) {
			portset_add(&all[i].ports, p);
			all[i].nports++;
			sbuf_free(&one.text);
		} else {
			all[n++] = one;
		}
	}
	for (i = 0; i < n; i++) {
		sbuf_add(note, all[i].nports == 1 ? "port " : "ports ");
		ports_short(&all[i].ports, note);
		sbuf_addf(note, ": %s", sbuf_str(&all[i].text));
		if (all[i].endless) {
			sbuf_add(note, ", until `stop ");
			ports_short(&all[i].ports, note);
			sbuf_addc(note, '`');
		}
		sbuf_addc(note, '\n');
		sbuf_free(&all[i].text);
	}
	free(all);
}

/* A start that waits until works have found what it needs. */
struct starting {
	struct portset ports;
	uint64_t duration_ns;
};
_Static_assert(sizeof(struct starting) <= VERB_STATE_BYTES, "state of a verb");

static int start_now(struct cmd_run *r, const struct portset *ports, uint64_t duration_ns,
		     struct err *e)
{
	struct app *app = app_of(r);
	int rc = ctl_start(app->ctl, ports, duration_ns, e);
	if (rc == 0)
		app_tell_reach(app, ports, r->note);
	if (rc == 0 && !r->batch)
		start_tell(app, ports, duration_ns, r->note);
	return rc;
}

int start_ports(struct cmd_run *r, const struct portset *ports, uint64_t duration_ns, struct err *e)
{
	struct starting *s = (struct starting *)r->state;
	int rc = duration_ns == 0 ? check_bound(r, ports, e) : 0;

	if (rc < 0)
		return rc;
	rc = ctl_start_ready(app_of(r)->ctl, ports, false, e);
	if (rc != 0)
		return rc < 0 ? rc : start_now(r, ports, duration_ns, e);
	*s = (struct starting){*ports, duration_ns};
	return VERB_PENDING;
}

int start_poll(struct cmd_run *r, struct err *e)
{
	const struct starting *s = (const struct starting *)r->state;
	int rc = ctl_start_ready(app_of(r)->ctl, &s->ports, true, e);

	if (rc == 0)
		return VERB_PENDING;
	return rc < 0 ? rc : start_now(r, &s->ports, s->duration_ns, e);
}

/* Nothing was started. */
void start_cancel(struct cmd_run *r)
{
	(void)r;
}

bool start_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	(void)r;
	snprintf(out->text, sizeof(out->text), "asking where frames go; Ctrl-C starts nothing");
	return true;
}

const char *const start_arp_words[] = {
	[START_ARP_REQUEST] = "request", [START_ARP_GRATUITOUS] = "gratuitous", NULL};
static const char *const about_arp[] = {"ask for the destination of stream 0, as `arping` does",
					"tell the port's own addresses, as `garp` does"};

static const struct arg_spec args_start[] = {
	{ARG_TARGETS, "ports", ARG_ALL},
	{ARG_WORD, "for", ARG_OPT},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_WORD, "latsampler", ARG_OPT},
	{ARG_WORD, "arp", ARG_OPT},
	{ARG_CHOICE, "what", ARG_OPT, {.choices = start_arp_words}, about_arp},
	{ARG_END},
};

static int start_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, &args[0], &ports, e);

	if (rc < 0)
		return rc;
	if (args[3].given && args[1].given)
		return err_at(
			e, EINVAL, args[3].col,
			"the sampler goes on until `stop <ports> latsampler`; leave out `for`");
	if (args[4].given && (args[1].given || args[3].given))
		return err_at(
			e, EINVAL, args[4].col,
			"`start <ports> arp %s` sends one frame from each port and stands alone; leave out the other word",
			start_arp_words[args[5].choice]);
	if (args[4].given) {
		const struct arg_val other[] = {args[0], args[5]};
		return verb_start_other(r, args_start[4].name, other, e);
	}
	if (args[3].given)
		return verb_turn(r, args_start[3].name, &ports, true, e);
	if (args[2].given && args[2].v.u == 0)
		return err_at(
			e, EINVAL, args[2].col,
			"a run of no time sends nothing; allowed are durations above 0, like 10s or 1.5ms");
	return start_ports(r, &ports, args[2].given ? args[2].v.u : 0, e);
}

const struct verb verb_start = {
	.name = "start",
	.args = args_start,
	.run = start_run,
	.flags = VERB_NO_LOAD,
	.poll = start_poll,
	.cancel = start_cancel,
	.progress = start_progress,
	.help = "Start sending, all ports at the same time.\n"
		"With `for` exactly the frames whose time lies within the duration are sent, and the run ends then: what has\n"
		"not gone 100 ms later is told, and counts as unsent. Else `set <ports> count` bounds the run, or it goes on\n"
		"until `stop`. latsampler starts no frames but Pktgen's sampler: `set <ports> latsampler` says how many\n"
		"latencies of received probes it takes, `stop <ports> latsampler` writes them. arp starts nothing either: from a port\n"
		"that has an address, request asks once for ipv4.dst of stream 0 (`arping`), gratuitous tells its addresses (`garp`).\n"
		"Where eth.dst is auto, the next hops of the streams are asked for first. One that does not answer refuses the start.",
};
