/* SPDX-License-Identifier: BSD-3-Clause */
/* Pktgen's `enable` and `disable`: each feature is a row of the setting table that is turned on or off, or a word about why not. */
#include "verbs.h"

#include <errno.h>
#include <string.h>

struct feature {
	const char *row;  /* NULL: there is none, and why not */
	const char *why;
	bool all_streams; /* a bare port means all its streams, as Pktgen's tags are of the port */
	bool screen;      /* no row: redraws of the page */
	bool single;      /* Pktgen sends the single packet with it: a sequence ends */
	int code;
};

#define LATER CMD_LATER

static const char *const words[] = {
	"vlan", "qinq", "mpls", "gre", "gre_eth", "vxlan", "random", "range", "rnd_s_ip", "rnd_s_pt", "process", "icmp", "capture", "pcap",
	"latency", "lat", "bonding", "blink", "rate", "mac_from_arp", "clock_gettime", "screen", "jumbo", NULL,
};
static const struct feature features[] = {
	{.row = "with.vlan", .all_streams = true},
	{.row = "with.qinq", .all_streams = true},
	{.row = "with.mpls", .all_streams = true},
	{.row = "with.gre", .all_streams = true},
	{.row = "with.gre_eth", .all_streams = true},
	{.row = "with.vxlan", .all_streams = true},
	{.row = "random", .single = true},
	{.row = "ranges", .single = true},
	{.row = "rnd_s_ip"},
	{.row = "rnd_s_pt"},
	{.why = LATER "; received frames are counted and not answered", .code = ENOTSUP},
	{.why = LATER "; received frames are counted and not answered", .code = ENOTSUP},
	{.why = LATER, .code = ENOTSUP},
	{.why = LATER, .code = ENOTSUP},
	{.row = "probe", .all_streams = true},
	{.row = "probe", .all_streams = true},
	{.why = "a bonded device is a port like any other; give it at start, as in -p vdev:net_bonding0,...", .code = EINVAL},
	{.why = LATER "; `ethtool -p` lets the LED of a Linux interface blink", .code = ENOTSUP},
	{.why = "a port always has a rate; `set <ports> rate 10%` changes it, max is as fast as the device takes frames", .code = EINVAL},
	{.why = LATER "; `set <ports> dst mac` says where frames go", .code = ENOTSUP},
	{.why = "the best clock is chosen at start; `show clock` tells which", .code = EINVAL},
	{.screen = true},
	{.row = "jumbo"},
};
static const char *const about[] = {
	"a VLAN tag in the frames", "a service tag and a VLAN tag", "an MPLS label", "a GRE tunnel with IP inside",
	"a GRE tunnel with Ethernet inside", "a VXLAN tunnel", "random bits: `set <ports> rnd ...`", "the ranges of `range <ports> ...`",
	"random source addresses", "random source ports", LATER, LATER, LATER, LATER, "probes in the frames: loss and latency",
	"probes in the frames: loss and latency", "bonded devices", LATER, "rates", LATER,
	"the clock", "redraws of the screen's page, as `on` and `off`", "an MTU of 9000",
};
_Static_assert(ARRAY_SIZE(words) == ARRAY_SIZE(features) + 1 && ARRAY_SIZE(about) == ARRAY_SIZE(features), "one row for each word");

enum { PORTS, WORD };

/* A sequence in use ends, on the ports of the list that are named without streams. */
static int to_single(struct cmd_run *r, const struct target *t, struct err *e)
{
	const struct setting *row = cmd_setting_find(r->cmd, "seq_cnt", e);
	struct target bare = {0}, one = {.n = 1};
	struct portset ports;

	for (unsigned i = 0; i < t->n; i++)
		if (!t->item[i].has_streams)
			bare.item[bare.n++] = t->item[i];
	if (row == NULL || cmd_target_ports(r->cmd, &bare, &ports, e) < 0)
		return -EINVAL;
	for (unsigned p = 0; p < PORTSET_MAX; p++) {
		struct sbuf now = {0};
		if (!portset_has(&ports, p))
			continue;
		cmd_setting_text(r->cmd, row, p, 0, &now);
		bool on = strcmp(sbuf_str(&now), "0") != 0;
		sbuf_free(&now);
		one.item[0].p0 = one.item[0].p1 = p;
		if (on && cmd_set(r->cmd, &one, row, "0", r->note, e) < 0)
			return -EINVAL;
	}
	return 0;
}

int feature_set(struct cmd_run *r, const struct arg_val *args, bool on, struct err *e)
{
	const struct feature *f = &features[args[WORD].choice];
	struct target t = args[PORTS].target;
	struct err own = {.col = -1};

	if (f->screen && args[PORTS].given)
		return err_at(e, EINVAL, args[PORTS].col, "the screen belongs to no port; write: %s screen", on ? "enable" : "disable");
	if (f->screen) {
		view_freeze(r, !on);
		return 0;
	}
	/* what does not exist is off already: Pktgen's files say so of each feature */
	if (f->row == NULL && f->code == ENOTSUP && !on)
		return 0;
	if (f->row == NULL)
		return err_at(e, f->code, args[WORD].col, "%s: %s", words[args[WORD].choice], f->why);
	if (!args[PORTS].given)
		return err_at(e, EINVAL, args[WORD].col, "%s belongs to ports; write: %s <ports> %s", words[args[WORD].choice],
			      on ? "enable" : "disable", words[args[WORD].choice]);
	for (unsigned i = 0; i < t.n && f->all_streams; i++) {
		if (t.item[i].has_streams)
			continue;
		t.item[i].s0 = 0;
		t.item[i].s1 = UINT32_MAX;
		t.item[i].has_streams = true;
	}
	const struct setting *row = cmd_setting_find(r->cmd, f->row, &own);
	int rc = row == NULL ? -EINVAL : cmd_set(r->cmd, &t, row, on ? "on" : "off", r->note, &own);
	if (rc == 0 && on && f->single)
		rc = to_single(r, &t, &own);
	if (rc < 0 && e != NULL) {
		*e = own;
		e->col = args[PORTS].col;
	}
	return rc;
}

static int run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return feature_set(r, args, true, e);
}

const struct arg_spec feature_args[] = {
	[PORTS] = {ARG_TARGETS, "ports", ARG_OPT},
	[WORD] = {ARG_CHOICE, "feature", 0, {.choices = words}, about},
	{ARG_END},
};

const struct verb verb_enable = {
	.name = "enable", .args = feature_args, .run = run,
	.help = "Turn a feature of ports on, in Pktgen's words.\n"
		"Tags and tunnels go into the frames of all streams of the ports, or of the streams that are named: enable 0/3 vlan.\n"
		"They combine. A tunnel goes behind the IP header: addresses that were set are the outer ones, ipv4[2].dst and\n"
		"eth[2].dst are inside, and what followed the IP header is inside too. `set <ports> frame ...` writes any stack of headers.\n"
		"range and random send stream 0, as Pktgen does: they end a sequence.",
};
