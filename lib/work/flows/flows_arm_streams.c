/* SPDX-License-Identifier: BSD-3-Clause */
/* The arm `port`: the streams that carry its connections, and their settings. */
#include "cmd/verb_lines.h"
#include "flows_arm_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

static void set_line(struct sbuf *lines, const struct port_arm *a, unsigned stream,
		     const char *what, const char *value)
{
	sbuf_addf(lines, "set %u/%u %s %s\n", a->ask.port, stream, what, value);
}

static void set_ports(struct sbuf *lines, const struct port_arm *a, unsigned stream,
		      const char *what, unsigned from, unsigned n)
{
	char text[32];

	snprintf(text, sizeof(text), n > 1 ? "%u..%u" : "%u", from, from + n - 1);
	set_line(lines, a, stream, what, text);
}

/* Programs have no option for the least time before a segment is sent again: it is that of the
 * port's first stream. */
static void set_rto(struct sbuf *lines, const struct port_arm *a, unsigned stream)
{
	const struct stream_cfg *first = ctl_stream_cfg(a->ctl, a->ask.port, 0);
	char text[32];

	if (first == NULL)
		return;
	snprintf(text, sizeof(text), "%lluns", (unsigned long long)flows_rto_ns(first));
	set_line(lines, a, stream, "flow.rto", text);
}

static void set_flow(struct sbuf *lines, const struct port_arm *a, unsigned stream, bool client,
		     bool udp)
{
	char text[INET6_ADDRSTRLEN] = "";
	const struct sock_addr *at = client ? &a->to : &a->own;
	bool is6 = at->sa.any.sa_family == AF_INET6;
	const void *ip =
		is6 ? (const void *)&at->sa.v6.sin6_addr : (const void *)&at->sa.v4.sin_addr;

	inet_ntop(at->sa.any.sa_family, ip, text, sizeof(text));
	set_line(lines, a, stream, "frame",
		 is6   ? udp ? "eth/ipv6/udp" : "eth/ipv6/tcp"
		 : udp ? "eth/ipv4/udp"
		       : "eth/ipv4/tcp");
	set_line(lines, a, stream, "flow", client ? "client" : "server");
	set_line(lines, a, stream, client ? "flow.dst" : "flow.src", text);
	if (client)
		set_line(lines, a, stream, "cps", "max");
	if (!udp)
		set_rto(lines, a, stream);
}

static void set_number(struct sbuf *lines, const struct port_arm *a, unsigned stream,
		       const char *what, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	set_line(lines, a, stream, what, text);
}

static void set_congestion(struct sbuf *lines, const struct port_arm *a, unsigned stream,
			   const struct sock_tune *tune)
{
	if (tune->congestion != NULL)
		set_line(lines, a, stream, "flow.congestion",
			 strcmp(tune->congestion, "reno") == 0 ? "newreno" : tune->congestion);
}

/* The addresses that a client connects from, where it is told. */
static void set_local(struct sbuf *lines, const struct port_arm *a, const struct arm_conf *c)
{
	char ip[INET6_ADDRSTRLEN];
	struct sbuf list = {0};

	for (unsigned i = 0; i < c->nlocal; i++) {
		const struct sock_addr *at = &c->local[i];
		bool is6 = at->sa.any.sa_family == AF_INET6;
		inet_ntop(at->sa.any.sa_family,
			  is6 ? (const void *)&at->sa.v6.sin6_addr
			      : (const void *)&at->sa.v4.sin_addr,
			  ip, sizeof(ip));
		sbuf_addf(&list, "%s%s", i == 0 ? (c->nlocal > 1 ? "list " : "") : ",", ip);
		if (i == 0)
			set_line(lines, a, a->chan_stream, "flow.src", ip);
	}
	if (c->nlocal > 0)
		set_line(lines, a, a->data_stream, "flow.src", list.s);
	sbuf_free(&list);
}

/* What sockets would be told. */
static void set_tune(struct sbuf *lines, const struct port_arm *a, unsigned stream,
		     const struct sock_tune *tune)
{
	bool is6 = port_at(a)->sa.any.sa_family == AF_INET6;

	set_congestion(lines, a, stream, tune);
	if (tune->mss != 0)
		set_number(lines, a, stream, "flow.mss", (uint64_t)tune->mss);
	if (tune->recv_buf != 0)
		set_number(lines, a, stream, "flow.window", (uint64_t)tune->recv_buf);
	if (tune->tos != 0)
		set_number(lines, a, stream, is6 ? "ipv6.tc" : "ipv4.tos", (uint64_t)tune->tos);
	if (tune->flow_label != 0 && is6)
		set_number(lines, a, stream, "ipv6.flow", (uint64_t)tune->flow_label);
}

static void set_or_auto(struct sbuf *lines, const struct port_arm *a, unsigned stream,
			const char *what, int value)
{
	if (value != 0)
		set_number(lines, a, stream, what, (uint64_t)value);
	else
		set_line(lines, a, stream, what, "auto");
}

int flows_arm_retune(struct arm *arm, unsigned which, const struct sock_tune *tune, struct err *e)
{
	struct port_arm *a = port_of(arm);
	unsigned stream = a->data_stream + which;
	const struct sock_tune congestion = {
		.congestion = tune->congestion != NULL ? tune->congestion : "cubic"};
	struct sbuf lines = {0}, *before = &a->tuned[which];
	int rc = 0;

	if (!tune->udp) {
		set_congestion(&lines, a, stream, &congestion);
		set_or_auto(&lines, a, stream, "flow.mss", tune->mss);
		set_or_auto(&lines, a, stream, "flow.window", tune->recv_buf);
	}
	set_number(&lines, a, stream,
		   port_at(a)->sa.any.sa_family == AF_INET6 ? "ipv6.tc" : "ipv4.tos",
		   (uint64_t)tune->tos);
	if (strcmp(sbuf_str(&lines), sbuf_str(before)) != 0)
		rc = verb_lines(a->r, sbuf_str(&lines), NULL, e);
	sbuf_free(before);
	*before = lines;
	if (rc != 0)
		sbuf_free(before);
	return rc;
}

/* Source ports: of the control connection some, and of each line one, all of this start alone. */
#define EACH_CHANS 8
#define EACH_FROM 20000
#define EACH_PORTS 40000
static void set_each(struct sbuf *lines, const struct port_arm *a, const struct arm_conf *c,
		     unsigned *source)
{
	unsigned chan = EACH_FROM + (unsigned)(sock_now_ns() / 1000 % EACH_PORTS);
	unsigned data = c->source_port != 0 ? c->source_port : chan + EACH_CHANS;

	if (data < chan + EACH_CHANS && chan < data + c->flows)
		chan = data >= EACH_FROM + EACH_CHANS ? data - EACH_CHANS : data + c->flows;
	*source = data;
	if (!c->spec->flow.client) {
		for (unsigned i = 0; i < c->flows; i++) {
			set_flow(lines, a, a->data_stream + i, false, c->each[i].tune.udp);
			set_ports(lines, a, a->data_stream + i, "flow.sport", c->port, 1);
		}
		return;
	}
	set_number(lines, a, a->chan_stream, "connections", EACH_CHANS);
	set_ports(lines, a, a->chan_stream, "flow.sport", chan, EACH_CHANS);
	for (unsigned i = 0; i < c->flows; i++) {
		const struct sock_tune *tune = &c->each[i].tune;
		unsigned stream = a->data_stream + i;
		set_flow(lines, a, stream, true, tune->udp);
		set_ports(lines, a, stream, "flow.dport", c->port, 1);
		set_ports(lines, a, stream, "flow.sport", data + i, 1);
		set_number(lines, a, stream, "connections", 1);
		set_number(lines, a, stream, "count", 1);
		set_tune(lines, a, stream, tune);
	}
}

int flows_arm_set_streams(struct port_arm *a, const struct arm_conf *c, unsigned *source,
			  struct err *e)
{
	bool client = c->spec->flow.client, udp = c->spec->tune.udp;
	const char *end = client ? "flow.dport" : "flow.sport";
	struct sbuf lines = {0};
	/* each queue opens its own, and has to have room for one */
	unsigned queues = flows_queues(a->ctl, a->ask.port);
	int rc;

	if (client && c->each == NULL && c->source_port != 0 && queues > 1)
		return err_set(
			e, ENOTSUP,
			"port %u: which of its %u queues has a connection follows from its ports, "
			"so that flows cannot have just these source ports; give the port one "
			"queue, as -m \"1.%u\" does",
			a->ask.port, queues, a->ask.port);
	set_flow(&lines, a, a->chan_stream, client, false);
	set_ports(&lines, a, a->chan_stream, end, a->ask.control_port, 1);
	if (c->each != NULL) {
		set_each(&lines, a, c, source);
		rc = verb_lines(a->r, sbuf_str(&lines), NULL, e);
		sbuf_free(&lines);
		return rc;
	}
	set_flow(&lines, a, a->data_stream, client, udp);
	set_ports(&lines, a, a->data_stream, end, c->port, udp ? 1 : c->ports);
	if (client) {
		set_number(&lines, a, a->chan_stream, "connections", queues > 8 ? queues : 8);
		set_number(&lines, a, a->data_stream, "connections",
			   queues > c->flows ? queues : c->flows);
		if (!c->spec->again)
			set_number(&lines, a, a->data_stream, "count", c->flows);
		if (c->source_port != 0)
			set_ports(&lines, a, a->data_stream, "flow.sport", c->source_port,
				  c->flows);
		set_local(&lines, a, c);
	}
	set_congestion(&lines, a, a->data_stream, &c->spec->tune);
	rc = verb_lines(a->r, sbuf_str(&lines), NULL, e);
	sbuf_free(&lines);
	return rc;
}

int flows_arm_take_streams(struct port_arm *a, unsigned data, struct err *e)
{
	unsigned n = ctl_nstreams(a->ctl, a->ask.port);
	int id;

	a->saved = ctl_save(a->ctl);
	for (unsigned i = 0; i < n; i++) {
		struct stream_cfg *s = ctl_stream_cfg(a->ctl, a->ask.port, i);
		if (s == NULL)
			continue;
		s->enabled = false;
		ctl_touch_stream(a->ctl, a->ask.port, (int)i, WHY_ALL);
	}
	ctl_port_cfg(a->ctl, a->ask.port)->count = 0;
	id = ctl_stream_add(a->ctl, a->ask.port, -1, 1 + data, -1, e);
	if (id < 0)
		return id;
	a->chan_stream = (unsigned)id;
	a->data_stream = (unsigned)id + 1;
	return 0;
}

void flows_arm_give_streams(struct port_arm *a)
{
	if (a->saved != NULL)
		ctl_restore(a->ctl, a->saved);
	ctl_saved_free(a->saved);
	a->saved = NULL;
}
