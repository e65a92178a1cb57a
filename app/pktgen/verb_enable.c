/* SPDX-License-Identifier: BSD-3-Clause */
/* Pktgen's `enable` and `disable`. Most features are settings that are turned on or off; for the
 * others there is an answer that says why there is none. */
#include "cmd/verbs.h"
#include "each_port.h"
#include "pktgen.h"

#include <errno.h>
#include <string.h>

#define LATER CMD_LATER

/* A word of `enable` and `disable`. */
struct feature {
	const char *word, *about;
	const char *row; /* the setting that is turned on or off; NULL: there is none */
	/* row NULL: what the refusal says, with its error code (ENOTSUP, EINVAL) */
	const char *why;
	int code;
	/* a port that is named without streams means all its streams, because Pktgen has tags per
	 * port */
	bool all_streams;
	bool screen; /* turns redraws of the page on or off; row is NULL */
	/* in Pktgen this feature changes the single packet, so `enable` ends a sequence */
	bool single;
	bool moot; /* row is NULL: `disable` does nothing, as there is nothing to turn off */
	/* Turns it on or off by itself; row is NULL. Ports are given unless it is `everywhere`. */
	pktgen_enable_fn *run;
	bool everywhere;
};

static const struct feature features[] = {
	{"vlan", "a VLAN tag in the frames", .row = "with.vlan", .all_streams = true},
	{"qinq", "a service tag and a VLAN tag", .row = "with.qinq", .all_streams = true},
	{"mpls", "an MPLS label", .row = "with.mpls", .all_streams = true},
	{"gre", "a GRE tunnel with IP inside", .row = "with.gre", .all_streams = true},
	{"gre_eth", "a GRE tunnel with Ethernet inside", .row = "with.gre_eth",
	 .all_streams = true},
	{"vxlan", "a VXLAN tunnel", .row = "with.vxlan", .all_streams = true},
	{"random", "random bits: `set <ports> rnd ...`", .row = "random", .single = true},
	{"range", "the ranges of `range <ports> ...`", .row = "ranges", .single = true},
	{"rnd_s_ip", "random source addresses", .row = "rnd_s_ip"},
	{"rnd_s_pt", "random source ports", .row = "rnd_s_pt"},
	{"process", "answers to ARP and neighbour discovery, of ports with an address",
	 .run = pktgen_enable_process},
	{"icmp", "answers to pings, of ports with an address", .run = pktgen_enable_ping},
	{"icmp.echo", "answers to pings, of ports with an address", .run = pktgen_enable_ping},
	{"arp", "answers to ARP, of ports with an address", .run = pktgen_enable_arp},
	{"garp", "what gratuitous ARP tells",
	 .why = "a port with an address follows gratuitous ARP by itself; `garp <ports>` sends it",
	 .code = EINVAL, .moot = true},
	{"capture", "a capture of received frames, pktgen-DATE-TIME-PORT.pcapng",
	 .run = pktgen_enable_capture},
	{"pcap", LATER, .why = LATER, .code = ENOTSUP},
	{"latency", "probes in the frames: loss and latency", .row = "probe", .all_streams = true},
	{"lat", "probes in the frames: loss and latency", .row = "probe", .all_streams = true},
	{"bonding", "bonded devices",
	 .why = "a bonded device is a port like any other; give it at start, as in -p vdev:net_bonding0,...",
	 .code = EINVAL},
	{"blink", LATER, .why = LATER "; `ethtool -p` lets the LED of a Linux interface blink",
	 .code = ENOTSUP},
	{"rate", "rates",
	 .why = "a port always has a rate; `set <ports> rate 10%` changes it, max is as fast as the device takes frames",
	 .code = EINVAL},
	{"mac_from_arp", "destination MAC addresses that a port with an address asks for",
	 .run = pktgen_enable_auto, .everywhere = true},
	{"clock_gettime", "the clock",
	 .why = "the best clock is chosen at start; `show clock` tells which", .code = EINVAL},
	{"screen", "redraws of the screen's page, as `on` and `off`", .screen = true},
	{"jumbo", "an MTU of 9000", .row = "jumbo"},
};

static const char *choices[ARRAY_SIZE(features) + 1], *about[ARRAY_SIZE(features)];

enum { PORTS, WORD };

/* Ends a sequence that is in use (seq_cnt above 0) on those ports of the list that are named
 * without streams. */
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

static int feature_set(struct cmd_run *r, const struct arg_val *args, bool on, struct err *e)
{
	const struct feature *f = &features[args[WORD].choice];
	struct target t = args[PORTS].target;
	struct err own = {.col = -1};

	if (f->screen && args[PORTS].given)
		return err_at(e, EINVAL, args[PORTS].col,
			      "the screen belongs to no port; write: %s screen",
			      on ? "enable" : "disable");
	if (f->screen) {
		view_freeze(r, !on);
		return 0;
	}
	/* A feature that does not exist is off already. Pktgen's files turn off every feature. */
	if (f->row == NULL && (f->code == ENOTSUP || f->moot) && !on)
		return 0;
	if (f->row == NULL && f->run == NULL)
		return err_at(e, f->code, args[WORD].col, "%s: %s", f->word, f->why);
	if (!args[PORTS].given && !f->everywhere)
		return err_at(e, EINVAL, args[WORD].col,
			      "%s belongs to ports; write: %s <ports> %s", f->word,
			      on ? "enable" : "disable", f->word);
	if (f->run != NULL) {
		int host = f->run(r, &args[PORTS], on, &own);
		if (host < 0 && e != NULL) {
			*e = own;
			e->col = args[args[PORTS].given ? PORTS : WORD].col;
		}
		return host;
	}
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

static int enable_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return feature_set(r, args, true, e);
}

static int disable_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return feature_set(r, args, false, e);
}

static const struct arg_spec feature_args[] = {
	[PORTS] = {ARG_TARGETS, "ports", ARG_OPT},
	[WORD] = {ARG_CHOICE, "feature", 0, {.choices = choices}, about},
	{ARG_END},
};

void pktgen_features_make(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(features); i++) {
		choices[i] = features[i].word;
		about[i] = features[i].about;
	}
}

const struct verb verb_enable = {
	.name = "enable",
	.args = feature_args,
	.run = enable_run,
	.flags = VERB_SCREEN_HERE,
	.poll = each_port_poll,
	.cancel = each_port_cancel,
	.progress = each_port_progress,
	.help = "Turn a feature of ports on, in Pktgen's words.\n"
		"Tags and tunnels go into the frames of all streams of the ports, or of the streams that are named: enable 0/3 vlan.\n"
		"They combine. A tunnel goes behind the IP header: addresses that were set are the outer ones, ipv4[2].dst and\n"
		"eth[2].dst are inside, and what followed the IP header is inside too. `set <ports> frame ...` writes any stack of headers.\n"
		"range and random send stream 0, as Pktgen does: they end a sequence.\n"
		"What a port with an address answers is the setting `answer`. icmp and icmp.echo are its word ping, arp is arp, and\n"
		"capture writes what comes in to pktgen-DATE-TIME-PORT.pcapng in the current folder, until `disable <ports> capture`.\n"
		"process is arp and nd. mac_from_arp sets eth.dst of all streams to auto, on all ports that can have an address where\n"
		"none is named. Off, it takes auto back, and another eth.dst stays.",
};

const struct verb verb_disable = {
	.name = "disable",
	.args = feature_args,
	.run = disable_run,
	.flags = VERB_SCREEN_HERE,
	.poll = each_port_poll,
	.cancel = each_port_cancel,
	.progress = each_port_progress,
	.help = "Turn a feature of ports off, in Pktgen's words; `help enable` tells more.",
};
