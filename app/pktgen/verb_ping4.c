/* SPDX-License-Identifier: BSD-3-Clause */
/* ping4, ping6 and `start <ports> arp`: a port that is a host sends one frame to the destination of
 * its stream 0, or tells of its own address. */
#include "cmd/verbs.h"
#include "each_port.h"
#include "frame_edit.h"
#include "pktgen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* Appends the destination address of stream 0 in its outermost header of this kind. `instead` is
 * the verb that takes any address. */
static int dst_of(struct cmd_run *r, unsigned port, const char *ip, const char *instead,
		  struct sbuf *line, struct err *e)
{
	const struct stream_cfg *cfg = ctl_stream_cfg(app_of(r)->ctl, port, 0);
	bool four = strcmp(ip, "ipv4") == 0;
	struct sbuf text = {0};
	uint8_t raw[16];
	int rc = 0;

	if (cfg == NULL)
		return err_set(
			e, EINVAL,
			"port %u has no stream 0, whose destination is asked; `%s %u ADDRESS` asks any",
			port, instead, port);
	if (!frame_has_header(&cfg->frame.stack, ip)) {
		frame_stack_print(&cfg->frame.stack, &text);
		rc = err_set(
			e, EINVAL,
			"the frame %s of stream %u/0 has no %s header with a destination to ask; `%s %u ADDRESS` asks any",
			sbuf_str(&text), port, ip, instead, port);
		sbuf_free(&text);
		return rc;
	}
	const struct setting *row = cmd_setting_find(r->cmd, four ? "ipv4.dst" : "ipv6.dst", e);
	if (row == NULL)
		return -EINVAL;
	cmd_setting_text(r->cmd, row, port, 0, &text);
	if (inet_pton(four ? AF_INET : AF_INET6, sbuf_str(&text), raw) == 1)
		sbuf_add(line, sbuf_str(&text));
	else
		rc = err_set(
			e, EINVAL,
			"%s of stream %u/0 is %s, and not one address; `%s %u ADDRESS` asks one",
			row->name, port, sbuf_str(&text), instead, port);
	sbuf_free(&text);
	return rc;
}

static int ping4_line(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e)
{
	sbuf_addf(line, "ping %u ", port);
	int rc = dst_of(r, port, "ipv4", "ping", line, e);
	sbuf_add(line, " count 1");
	return rc;
}

static int ping6_line(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e)
{
	sbuf_addf(line, "ping %u ", port);
	int rc = dst_of(r, port, "ipv6", "ping", line, e);
	sbuf_add(line, " count 1");
	return rc;
}

static int request_line(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e)
{
	sbuf_addf(line, "arping %u ", port);
	int rc = dst_of(r, port, "ipv4", "arping", line, e);
	sbuf_add(line, " count 1");
	return rc;
}

/* `garp` says nothing of a port that is no host if others are, so each one is looked at first. */
static int gratuitous_line(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e)
{
	int rc = pktgen_may_host(r, port, e);

	if (rc == 0 && !pktgen_is_host(r, port))
		rc = err_set(
			e, EINVAL,
			"port %u has no address to tell of: `set %u ip 10.0.0.1/24` gives it one",
			port, port);
	sbuf_addf(line, "garp %u", port);
	return rc;
}

static int ask_run(struct cmd_run *r, const struct arg_val *args, each_port_fn *fn, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, &args[0], &ports, e);

	if (rc < 0)
		return rc;
	rc = each_port_begin(r, &ports, fn, e);
	if (rc < 0)
		e->col = args[0].col;
	return rc;
}

static int ping4_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return ask_run(r, args, ping4_line, e);
}

static int ping6_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return ask_run(r, args, ping6_line, e);
}

static int arp_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return ask_run(r, args,
		       args[1].choice == START_ARP_REQUEST ? request_line : gratuitous_line, e);
}

static const struct arg_spec args_ask[] = {{ARG_TARGETS, "ports"}, {ARG_END}};

const struct verb verb_ping4 = {
	.name = "ping4",
	.args = args_ask,
	.run = ping4_run,
	.flags = VERB_NO_LOAD,
	.poll = each_port_poll,
	.cancel = each_port_cancel,
	.progress = each_port_progress,
	.help = "Ask the IPv4 destination of stream 0 for an echo, from ports that have an address.\n"
		"It is `ping <port> ADDRESS count 1` for each port, all at the same time, where ADDRESS is the port's ipv4.dst.\n"
		"Exit code 1: a port got no answer.",
};

const struct verb verb_ping6 = {
	.name = "ping6",
	.args = args_ask,
	.run = ping6_run,
	.flags = VERB_NO_LOAD,
	.poll = each_port_poll,
	.cancel = each_port_cancel,
	.progress = each_port_progress,
	.help = "Ask the IPv6 destination of stream 0 for an echo, from ports that have an address.\n"
		"It is `ping <port> ADDRESS count 1` for each port, all at the same time, where ADDRESS is the port's ipv6.dst.\n"
		"Exit code 1: a port got no answer.",
};

const struct verb pktgen_start_arp = {
	.name = "arp",
	.run = arp_run,
	.poll = each_port_poll,
	.cancel = each_port_cancel,
	.progress = each_port_progress,
};
