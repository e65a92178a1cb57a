/* SPDX-License-Identifier: BSD-3-Clause */
/* What the streams of both sides do for a figure, as commands: whatever the user has set of
 * headers, addresses and hosts stays, and only what the figure is about is set beside it. */
#include "lb.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "set/set.h"

#define DFLT_SPORT "1024..65535"
#define DFLT_DPORT "80"
#define REQUEST 18 /* the payload of the smallest frame of UDP */

const struct lb_about lb_about[LB_FIGURES] = {
	[LB_PPS] = {"pps", "one-way pps", "frames/s", .frames = true, .udp = true, .per = 1},
	[LB_BPS] = {"bps", "bps", "bit/s", .frames = true, .udp = true, .bits = true, .per = 1},
	[LB_ELEPHANT_PPS] = {"elephant-pps", "elephant flow, pps", "frames/s", .frames = true,
			     .udp = true, .per = 1},
	[LB_ELEPHANT_BPS] = {"elephant-bps", "elephant flow, bps", "bit/s", .frames = true,
			     .udp = true, .bits = true, .per = 1},
	/* a request and its response */
	[LB_TWO_WAY] = {"two-way", "two-way pps", "frames/s", .udp = true, .climbs = true,
			.per = 2},
	[LB_CPS] = {"cps", "CPS", "connections/s", .climbs = true, .per = 1},
	[LB_CC] = {"cc", "CC", "connections", .per = 1},
};

/* ---- what the user has set ---- */

/* The value of a setting of stream 0, if somebody has set it. */
static void setting_text(const struct app *app, unsigned port, const char *name, struct sbuf *out)
{
	const struct setting *row = cmd_setting_find(app->cmd, name, NULL);
	struct set_obj obj;

	sbuf_reset(out);
	if (row == NULL || !cmd_object(app->cmd, row->scope, port, 0, &obj))
		return;
	if (row->resolve != NULL)
		row = row->resolve(row, &obj, NULL);
	if (row == NULL || row->v.type == NULL)
		return;
	if (!cmd_value_text(row, &obj, out))
		sbuf_reset(out);
}

/* The stack with another innermost header: of "eth/ipv4/tcp", "eth/ipv4/udp". */
static int stack_read(const struct app *app, unsigned port, struct lb_side *out, struct err *e)
{
	const struct setting *row = cmd_setting_find(app->cmd, "frame", NULL);
	struct sbuf text = {0};
	struct set_obj obj;

	if (row == NULL || !cmd_object(app->cmd, row->scope, port, 0, &obj))
		return err_set(e, EINVAL, "port %u has no stream 0; `reset %u` makes one", port,
			       port);
	cmd_value_text(row, &obj, &text);
	const char *all = sbuf_str(&text), *last = strrchr(all, '/');
	bool fits = last != NULL && (strcmp(last, "/tcp") == 0 || strcmp(last, "/udp") == 0);
	for (unsigned i = 0; fits && i < 2; i++)
		sbuf_addf(&out->stack[i], "%.*s/%s", (int)(last - all), all,
			  i == 0 ? "udp" : "tcp");
	int rc =
		fits ? 0
		     : err_set(e, EINVAL,
			       "the frame of stream %u/0 is %s, and connections need tcp or udp at its end: `set %u frame eth/ipv4/tcp`",
			       port, all, port);
	sbuf_free(&text);
	return rc;
}

int lb_side_read(struct app *app, unsigned port, bool client, struct lb_side *out, struct err *e)
{
	*out = (struct lb_side){.port = port};
	for (unsigned i = 0; i < ctl_nstreams(app->ctl, port); i++) {
		const struct stream_cfg *s = ctl_stream_cfg(app->ctl, port, i);
		if (s != NULL && s->enabled && i > 0)
			return err_set(
				e, EINVAL,
				"lb uses stream 0 of a port alone, and stream %u/%u is enabled, too: `set %u/%u enabled off`",
				port, i, port, i);
	}
	int rc = stack_read(app, port, out, e);
	if (rc < 0)
		return rc;
	setting_text(app, port, "flow.src", &out->src);
	setting_text(app, port, "flow.sport", &out->sport);
	if (client) {
		setting_text(app, port, "flow.dst", &out->dst);
		setting_text(app, port, "flow.dport", &out->dport);
	}
	if (out->sport.len == 0)
		sbuf_add(&out->sport, client ? DFLT_SPORT : DFLT_DPORT);
	if (client && out->dport.len == 0)
		sbuf_add(&out->dport, DFLT_DPORT);
	struct sbuf nest = {0};
	setting_text(app, port, "nest", &nest);
	out->nested = nest.len > 0 && strcmp(nest.s, "none") != 0;
	sbuf_free(&nest);
	return 0;
}

/* ---- commands ---- */

static void put_field(unsigned port, const char *name, const struct sbuf *text, bool one,
		      struct sbuf *out)
{
	if (text->len == 0)
		return;
	sbuf_addf(out, "set %u flow.%s ", port, name);
	if (one)
		lb_first_value(text->s, out);
	else
		sbuf_add(out, text->s);
	sbuf_addc(out, '\n');
}

/* Streams of frames have no more tuples than the device has room for: with more it forgets each one
 * before it comes again. Where that is to be seen, the last addresses are left out. */
static void put_sources(const struct lb_side *s, double room, struct sbuf *out)
{
	uint64_t all = lb_tuples(s), addresses = lb_values(s->src.s != NULL ? s->src.s : "");
	bool range = s->src.len > 0 && strstr(s->src.s, "..") != NULL &&
		     strpbrk(s->src.s, ", /") == NULL;
	double few = floor(room / ((double)all / (double)addresses));
	struct sbuf last = {0};

	if (range && few >= 1 && few < (double)addresses &&
	    lb_nth_value(s->src.s, (unsigned)few - 1, &last)) {
		sbuf_addf(out, "set %u flow.src ", s->port);
		lb_first_value(s->src.s, out);
		if (few > 1)
			sbuf_addf(out, "..%s", sbuf_str(&last));
		sbuf_addc(out, '\n');
	} else {
		put_field(s->port, "src", &s->src, false, out);
	}
	sbuf_free(&last);
}

static void plan_frames(const struct lb_side *s, const struct lb_load *l, struct sbuf *out)
{
	if (l->size > 0)
		sbuf_addf(out, "set %u size %u\n", s->port, l->size);
	else
		sbuf_addf(out, "set %u size auto\n", s->port);
}

static void plan_calls(const struct lb_side *s, bool client, const struct lb_load *l,
		       struct sbuf *out)
{
	unsigned p = s->port;
	bool holds = l->tps > 0;

	sbuf_addf(out, "set %u size default\n", p);
	sbuf_addf(out, "set %u app bytes\nset %u request %d\nset %u response %d\n", p, p, REQUEST,
		  p, REQUEST);
	if (!client)
		return;
	if (l->connections > 0)
		sbuf_addf(out, "set %u connections %" PRIu64 "\n", p, l->connections);
	else
		sbuf_addf(out, "set %u connections default\n", p);
	sbuf_addf(out, "set %u think 0s\nset %u close fin client\nset %u cps %.0f\n", p, p, p,
		  ceil(fmax(l->cps, 1)));
	if (holds)
		sbuf_addf(out, "set %u transactions forever\nset %u tps %.0f\n", p, p,
			  ceil(fmax(l->tps, 1)));
	else
		sbuf_addf(out, "set %u transactions 1\nset %u tps off\n", p, p);
	if (l->timeout_ns > 0)
		sbuf_addf(out, "set %u flow.timewait %" PRIu64 "ms\n", p,
			  l->timeout_ns / 1000000 + 1);
}

void lb_plan(const struct lb_side *s, bool client, const struct lb_load *l, struct sbuf *out)
{
	const struct lb_about *f = &lb_about[l->figure];
	bool one = l->figure == LB_ELEPHANT_PPS || l->figure == LB_ELEPHANT_BPS;
	unsigned p = s->port;

	sbuf_addf(out, "set %u flow %s\n", p, f->frames ? "off" : client ? "client" : "server");
	/* ports are fields of the header that may be replaced */
	sbuf_addf(out, "set %u flow.sport default\nset %u flow.dport default\nset %u frame %s\n", p,
		  p, p, sbuf_str(&s->stack[l->tcp]));
	if (client && f->frames && !one)
		put_sources(s, l->room, out);
	else
		put_field(p, "src", &s->src, client && one, out);
	put_field(p, "sport", &s->sport, client && one, out);
	if (client && l->from > 0)
		sbuf_addf(out, "set %u flow.sport %s from %" PRIu64 "\n", p, sbuf_str(&s->sport),
			  l->from);
	if (client) {
		put_field(p, "dst", &s->dst, one, out);
		put_field(p, "dport", &s->dport, one, out);
		sbuf_addf(
			out,
			"set %u count 0\nset %u/0 count 0\nset %u/0 rate none\nset %u arrival constant\n"
			"set %u/0 enabled on\n",
			p, p, p, p, p);
	}
	if (!f->frames)
		plan_calls(s, client, l, out);
	else if (client)
		plan_frames(s, l, out);
}
