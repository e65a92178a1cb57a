/* SPDX-License-Identifier: BSD-3-Clause */
/* What settings of a stream come to as a flow: tuples, headers, workload, and what is refused. No
 * devices. */
#include "cmocka_names.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"
#include "flows_ctl.h"
#include "port_int.h"

static const struct port_spec plain = {.prefix = "plain"};
static struct ctl *c;

static int begin(void **state)
{
	(void)state;
	c = ctl_new();
	struct ctl_port *cp = c->port[c->nports++] = ctl_port_new();
	cp->p.spec = &plain;
	cp->p.used = true;
	frame_vals_parse(&cp->dflt, "eth.src", "02:00:00:00:00:01", NULL);
	frame_vals_parse(&cp->dflt, "ipv4.src", "192.168.0.1", NULL);
	frame_vals_parse(&cp->dflt, "ipv4.dst", "192.168.1.1", NULL);
	ctl_reset(c, 0);
	cp->p.applied = cp->cfg;
	cp->restart = false;
	return 0;
}

static int end(void **state)
{
	(void)state;
	streams_free(c->port[0]);
	frame_vals_free(&c->port[0]->dflt);
	ctl_port_free(c->port[0]);
	ctl_free(c);
	return 0;
}

static struct flows_cfg *flow(enum flows_role role)
{
	struct flows_cfg *f = work_stream_cfg_own(ctl_stream_cfg(c, 0, 0), &work_flows);

	f->role = role;
	ctl_stream_frame_follow(ctl_stream_cfg(c, 0, 0));
	return f;
}

static void frame(const char *stack)
{
	assert_int_equal(frame_stack_parse(stack, &ctl_stream_cfg(c, 0, 0)->frame.stack, NULL), 0);
	ctl_stream_cfg(c, 0, 0)->frame_set = true;
}

static void value(const char *field, const char *text)
{
	assert_int_equal(frame_vals_parse(&ctl_stream_cfg(c, 0, 0)->frame.vals, field, text, NULL),
			 0);
}

static struct flows_design *design(void)
{
	struct flows_design *d;
	struct err e = {.text = ""};

	if (flows_design_new(c, c->port[0], c->port[0]->stream[0], &d, &e) < 0)
		fail_msg("%s", e.text);
	return d;
}

static void refused(const char *word, const char *help)
{
	struct flows_design *d;
	struct err e = {.text = ""};
	int rc = flows_design_new(c, c->port[0], c->port[0]->stream[0], &d, &e);

	if (rc != -EINVAL || strstr(e.text, word) == NULL || strstr(e.text, help) == NULL)
		fail_msg("%d '%s'; wanted '%s' and '%s'", rc, e.text, word, help);
	assert_null(d);
}

/* Tuple i of a design, as text. */
static const char *tuple(const struct flows_design *d, uint64_t i)
{
	static char text[64];
	const struct flow_tuples_conf conf = {.remote = &d->remote,
					      .remote_port = &d->remote_port,
					      .local = &d->local,
					      .local_port = &d->local_port,
					      .nest = {d->nest[0], d->nest[1], d->nest[2],
						       d->nest[3]}};
	struct flow_tuples *t;
	struct flow_tuple x;

	assert_int_equal(flow_tuples_new(&t, &conf, NULL), 0);
	assert_true(flow_tuples_count(t) == d->ntuples);
	flow_tuples_at(t, i, &x);
	snprintf(text, sizeof(text), "%08x:%u-%08x:%u", x.local.v4, x.local_port, x.remote.v4,
		 x.remote_port);
	flow_tuples_free(t);
	return text;
}

static void test_defaults(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	struct flows_design *d = design();
	assert_true(d->client && !d->udp && !d->is6);
	assert_true(d->ntuples == 64512 && d->most == 64512);
	assert_string_equal(tuple(d, 0), "c0a80001:1024-c0a80101:80");
	assert_string_equal(tuple(d, 64511), "c0a80001:65535-c0a80101:80");
	assert_int_equal(d->npath, 1);
	assert_int_equal(d->mss, 1460);
	assert_int_equal(d->path[0].l3, 14);
	assert_int_equal(d->path[0].l4, 34);
	assert_ptr_equal(d->load.wl, &wl_http);
	flows_design_free(d);
	flow(FLOWS_SERVER);
	d = design();
	assert_false(d->client);
	assert_int_equal(d->local_port.count, 1);
	assert_int_equal(d->local_port.base, 80);
	flows_design_free(d);
}

static void test_order(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	value("ipv4.dst", "10.0.0.0/31");
	value("ipv4.src", "10.1.0.1..10.1.0.3 step 2 from 10.1.0.3");
	value("tcp.dst", "80,81,80");
	value("tcp.src", "7..6");
	struct flows_design *d = design();
	assert_true(d->ntuples == 2 * 2 * 2 * 2);
	assert_true(d->start == 4); /* the second client */
	assert_string_equal(tuple(d, 0), "0a010001:7-0a000000:80");
	assert_string_equal(tuple(d, 1), "0a010001:7-0a000001:80");
	assert_string_equal(tuple(d, 2), "0a010001:7-0a000000:81");
	assert_string_equal(tuple(d, 4), "0a010003:7-0a000000:80");
	assert_string_equal(tuple(d, 8), "0a010001:6-0a000000:80");
	flows_design_free(d);
}

static void test_servers_have_no_order(void **state)
{
	(void)state;
	flow(FLOWS_SERVER);
	value("tcp.src", "9..2 step 3");
	value("ipv4.src", "10.255.255.255..10.0.0.0");
	struct flows_design *d = design();
	assert_true(d->local_port.list == NULL && d->local.list == NULL);
	assert_true(d->local_port.base == 3 && d->local_port.step == 3 && d->local_port.count == 3);
	assert_true(d->local.base == 0x0a000000 && d->local.count == 1u << 24);
	assert_true(d->start == 0);
	flows_design_free(d);
	value("tcp.src", "9..2 step 3 from 8");
	refused("begins at a value that it does not come back to", "set 0 flow.sport");
}

static void test_headers_step_with_clients(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/vlan/ipv4/tcp");
	value("vlan.vid", "5..7");
	struct flows_design *d = design();
	assert_int_equal(d->npath, 3); /* of one client they step with its ports */
	flows_design_free(d);
	value("tcp.src", "1024");
	refused("vlan.vid", "set 0 flow.src A..B");
	value("tcp.src", "1024..65535");
	value("ipv4.src", "10.0.0.1..10.0.0.9");
	d = design();
	assert_int_equal(d->npath, 3);
	assert_int_equal(d->nshapes, 1);
	assert_int_equal(d->idents->n, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(get_be16(d->path[i].bytes + 14), 5 + i);
	assert_int_equal(d->shape[0].l3, 18);
	flows_design_free(d);
	flow(FLOWS_SERVER);
	d = design();
	assert_int_equal(d->npath, 3);
	assert_int_equal(d->idents->n, 3);
	flows_design_free(d);
	/* two answers to the same network */
	value("vlan.pcp", "1..2");
	refused("varies, but not with a VLAN id", "default");
	value("vlan.pcp", "list 4,5,6");
	d = design();
	assert_int_equal(d->npath, 3);
	flows_design_free(d);
	value("vlan.vid", "random");
	refused("is a server, and its vlan", "more than 65535 different headers");
}

/* What new connections are like is in the key, and how many there are is not. */
static void test_key(void **state)
{
	(void)state;
	struct flows_cfg *f = flow(FLOWS_SERVER);
	struct flows_design *a = design(), *b;

	f->cps = (struct rate){.kind = RATE_MAX};
	f->connections = 5;
	f->drain_ns = 1;
	b = design();
	assert_true(a->key == b->key);
	flows_design_free(b);
	strcpy(f->response, "200");
	b = design();
	assert_true(a->key != b->key && a->tuples_key == b->tuples_key);
	flows_design_free(b);
	value("tcp.src", "81");
	b = design();
	assert_true(a->tuples_key != b->tuples_key);
	flows_design_free(b);
	flows_design_free(a);
}

static void test_workloads(void **state)
{
	(void)state;
	struct flows_cfg *f = flow(FLOWS_CLIENT);
	struct flows_design *d;

	frame("eth/ipv6/udp");
	d = design();
	assert_ptr_equal(d->load.wl, &wl_bytes);
	assert_true(d->load.bytes.request.least == 64 && d->is6);
	flows_design_free(d);
	/* several requests at a time need more memory, and a server knows nothing of them */
	f->bytes_pipeline = 100;
	d = design();
	assert_ptr_equal(d->load.wl, &wl_bytes);
	assert_int_equal(flows_records(d, 2), 0);
	flows_design_free(d);
	f->transactions = 200;
	f->connections = 500;
	d = design();
	assert_ptr_equal(d->load.wl, &wl_bytes_pipelined);
	assert_int_equal(flows_records(d, 2), 251 * 28);
	flows_design_free(d);
	f->role = FLOWS_SERVER;
	d = design();
	assert_ptr_equal(d->load.wl, &wl_bytes);
	assert_int_equal(flows_records(d, 2), 0);
	flows_design_free(d);
	f->role = FLOWS_CLIENT;
	f->app.kind = FLOWS_BYTES;
	frame("eth/ipv6/tcp");
	refused("bytes.pipeline 100", "set 0 frame eth/ipv6/udp");
	frame("eth/ipv6/udp");
	strcpy(f->request, "2000");
	refused("2000 bytes", "set 0 request 1452");
	f->app.kind = FLOWS_DIALOG;
	strcpy(f->app.text, "send 1");
	refused("a dialog runs on TCP", "eth/ipv6/tcp");
	frame("eth/ipv4/tcp");
	d = design();
	assert_ptr_equal(d->load.wl, &wl_dialog);
	flows_design_free(d);
}

/* Bit DF of the first path. */
static bool has_df(void)
{
	struct flows_design *d = design();
	bool df = (d->path[0].bytes[14 + 6] & 0x40) != 0;

	flows_design_free(d);
	return df;
}

static void test_df(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	assert_true(has_df()); /* the path's MTU is to be found out */
	value("ipv4.flags", "0");
	assert_false(has_df());
	frame("eth/ipv4/udp");
	assert_false(has_df());
	value("ipv4.flags", "df");
	assert_true(has_df());
	value("ipv4.flags", "mf");
	refused("ipv4.flags", "set 0 ipv4.flags default");
}

static void test_refusals(void **state)
{
	(void)state;
	struct flows_cfg *f = flow(FLOWS_CLIENT);

	frame("eth/ipv4/icmp");
	refused("does not end in TCP or UDP", "set 0 frame eth/ipv4/tcp");
	frame("eth/ipv4/icmp/ipv4/tcp");
	refused("icmp carries no connections: it quotes a packet", "set 0 frame eth/ipv4/tcp");
	frame("eth/ipv6/ah/tcp");
	refused("the header ah", "set 0 frame eth/ipv6/tcp");
	frame("eth/ipv4/tcp");
	f->connections = 64513;
	refused("64513 connections", "set 0 connections 64512");
	f->connections = 0;
	f->mss = 1461;
	refused("1461 bytes", "set 0 flow.mss 1460");
	f->mss = 0;
	value("ipv4.dst", "random");
	refused("flow.dst is random", "set 0 flow.dst ...");
	value("ipv4.dst", "10.0.0.1");
	value("tcp.seq", "5");
	refused("tcp.seq", "set 0 tcp.seq default");
}

/* ---- headers outside of the innermost one ---- */

static void fix_is(const struct flow_fix *x, enum flow_fix_kind kind, unsigned at, unsigned from,
		   unsigned sum)
{
	assert_int_equal(x->kind, kind);
	assert_int_equal(x->at, at);
	assert_int_equal(x->from, from);
	assert_int_equal(x->sum, sum);
}

/* Which bits of a shape count, of the 2 bytes there. */
static unsigned mask_of(const struct flows_shape *x, unsigned at)
{
	uint64_t mask[FLOWS_SHAPE_WORDS];

	memcpy(mask, x->mask, sizeof(mask));
	for (unsigned i = 0; i < x->nids; i++)
		mask[x->id_at[i]] |= x->id[i];
	return get_be16((const uint8_t *)mask + at);
}

static void test_vxlan(void **state)
{
	(void)state;
	flow(FLOWS_SERVER);
	frame("eth/ipv4/udp/vxlan/eth/ipv4/tcp");
	value("vxlan.vni", "7");
	struct flows_design *d = design();
	const struct flow_path *p = &d->path[0];
	const struct flows_shape *x = &d->shape[0];
	assert_int_equal(p->l3, 64);
	assert_int_equal(p->l4, 84);
	assert_int_equal(d->mss, 1500 - 20 - 8 - 8 - 14 - 20 - 20);
	assert_int_equal(p->nfix, 3);
	fix_is(&p->fix[0], FLOW_FIX_IP4, 16, 14, 24);
	fix_is(&p->fix[1], FLOW_FIX_LENGTH, 38, 34, 0);
	fix_is(&p->fix[2], FLOW_FIX_UDP, 40, 34, 14);
	assert_int_equal(d->nshapes, 1);
	assert_true(x->tunnel);
	assert_int_equal(x->words, 8);
	assert_int_equal(mask_of(x, 12), 0xffff); /* the EtherType */
	assert_int_equal(mask_of(x, 14), 0xff00); /* version and length, no TOS */
	assert_int_equal(mask_of(x, 16), 0);
	assert_int_equal(mask_of(x, 20), 0x3fff); /* no fragments */
	assert_int_equal(mask_of(x, 22), 0x00ff); /* UDP, no TTL */
	assert_int_equal(mask_of(x, 34), 0);
	assert_int_equal(mask_of(x, 36), 0xffff); /* to port 4789 */
	assert_int_equal(mask_of(x, 38), 0);
	assert_int_equal(mask_of(x, 46), 0xffff); /* the VNI */
	assert_int_equal(mask_of(x, 48), 0xff00);
	assert_int_equal(mask_of(x, 62), 0xffff);
	/* Ethernet, IP, Ethernet: both addresses each */
	assert_int_equal(d->back.n, 6);
	assert_int_equal(d->back.span[2].from, 26);
	assert_int_equal(d->back.span[2].to, 30);
	assert_int_equal(d->back.span[2].len, 4);
	flows_design_free(d);
	value("udp.cksum", "0");
	d = design();
	assert_int_equal(d->path[0].nfix, 2);
	flows_design_free(d);
	value("udp.cksum", "5");
	refused("udp.cksum", "set 0 udp.cksum default");
}

/* What lengths there are, and in which order, follows from the table alone. */
static void test_lengths(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/pppoe/ipv6/udp");
	struct flows_design *d = design();
	assert_int_equal(d->path[0].nfix, 1);
	fix_is(&d->path[0].fix[0], FLOW_FIX_LENGTH, 18, 20, 0);
	assert_int_equal(d->mss, 1500 - 8 - 40 - 8);
	flows_design_free(d);
	frame("eth/llc/snap/ipv4/tcp");
	d = design();
	assert_int_equal(d->path[0].nfix, 1);
	fix_is(&d->path[0].fix[0], FLOW_FIX_LENGTH, 12, 14, 0);
	assert_int_equal(mask_of(&d->shape[0], 12), 0);
	flows_design_free(d);
	frame("eth/ipv6/udp/gtpu/ipv4/gre/ipv4/tcp");
	value("gre.c", "1");
	d = design();
	assert_int_equal(d->path[0].nfix, 6);
	fix_is(&d->path[0].fix[0], FLOW_FIX_LENGTH, 18, 54, 0); /* ipv6 */
	fix_is(&d->path[0].fix[1], FLOW_FIX_LENGTH, 58, 54, 0); /* udp */
	fix_is(&d->path[0].fix[2], FLOW_FIX_LENGTH, 64, 70, 0); /* gtpu */
	fix_is(&d->path[0].fix[3], FLOW_FIX_IP4, 72, 70, 80);   /* ipv4 */
	fix_is(&d->path[0].fix[4], FLOW_FIX_SUM, 94, 90, 0);    /* gre, inside of udp */
	fix_is(&d->path[0].fix[5], FLOW_FIX_UDP, 60, 54, 14);
	flows_design_free(d);
}

static void no_value(const char *proto, const char *field)
{
	const struct proto *p = proto_find(proto);

	assert_true(frame_vals_unset(&ctl_stream_cfg(c, 0, 0)->frame.vals, p, 1,
				     proto_field(p, field)));
}

static void test_extensions(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/ipv6/ipv6hbh/ipv6dst/tcp");
	struct flows_design *d = design();
	assert_int_equal(d->path[0].l3, 14);
	assert_int_equal(d->path[0].l4, 70);
	assert_int_equal(d->path[0].nfix, 0);
	assert_int_equal(d->mss, 1500 - 56 - 20);
	assert_int_equal(d->shape[0].words, 2);
	flows_design_free(d);
	frame("eth/ipv6/ipv6rt/tcp");
	d = design();
	flows_design_free(d);
	value("ipv6rt.segleft", "1");
	refused("in an extension header", "set 0 ipv6rt.segleft 0");
	no_value("ipv6rt", "segleft");
	frame("eth/ipv6/ipv6frag/tcp");
	value("ipv6frag.m", "1");
	refused("ipv6frag.m", "set 0 ipv6frag.m default");
}

static void test_outer_refusals(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/ipv4/udp/geneve/eth/ipv4/tcp");
	value("udp.len", "100");
	refused("udp.len", "set 0 udp.len default");
	value("udp.len", "0..5");
	refused("udp.len", "set 0 udp.len default");
	no_value("udp", "len");
	frame("eth/ipv4/ipv4/tcp");
	value("ipv4.frag", "5");
	refused("ipv4.frag", "set 0 ipv4.frag default");
	value("ipv4.frag", "0");
	value("ipv4.id", "5"); /* of the outer one anybody may say it */
	value("ipv4[2].id", "5");
	refused("ipv4[2].id", "set 0 ipv4[2].id default");
	frame_vals_free(&ctl_stream_cfg(c, 0, 0)->frame.vals);
	frame("eth/ipv6/udp/vxlan/eth/ipv6/ipv6hbh/tcp");
	refused("132 bytes of headers", "at most 128");
}

/* A path's 4 bytes from there on, and those that a shape wants. */
static uint32_t bytes_of(const void *p, unsigned at)
{
	return get_be16((const uint8_t *)p + at) << 16 | get_be16((const uint8_t *)p + at + 2);
}

/* What is wanted there of frames that come back on a path. */
static uint32_t wanted_of(const struct flows_design *d, unsigned path, unsigned at)
{
	const struct flows_key *k = &d->idents->key[d->path_ident[path]];
	const struct flows_shape *x = &d->shape[k->shape];
	uint64_t value[FLOWS_SHAPE_WORDS];

	memcpy(value, x->value, sizeof(value));
	for (unsigned i = 0; i < x->nids; i++)
		value[x->id_at[i]] |= k->value[i];
	return bytes_of(value, at);
}

/* Values are of frames to the server, and `reply.` ones of frames to the client, at both ends. */
static void test_reply(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		flow(i == 0 ? FLOWS_CLIENT : FLOWS_SERVER);
		frame("eth/ipv4/udp/gtpu/ipv4/gre/ipv4/tcp");
		value("gtpu.teid", "5");
		value("reply.gtpu.teid", "6");
		value("reply.gre.key", "7"); /* only answers have one, so they are longer */
		struct flows_design *d = design();
		const struct flow_path *p = &d->path[0];
		const struct flows_shape *x = &d->shape[0];
		assert_int_equal(bytes_of(p->bytes, 46), i == 0 ? 5 : 6);
		assert_int_equal(wanted_of(d, 0, 46), i == 0 ? 6 : 5);
		assert_int_equal(mask_of(x, 46), 0xffff);
		assert_int_equal(mask_of(x, 48), 0xffff);
		assert_int_equal(p->l3, i == 0 ? 74 : 78);
		assert_int_equal(x->l3, i == 0 ? 78 : 74);
		if (i == 0)
			assert_int_equal(wanted_of(d, 0, 74), 7);
		else
			assert_int_equal(bytes_of(p->bytes, 74), 7);
		flows_design_free(d);
		frame_vals_free(&ctl_stream_cfg(c, 0, 0)->frame.vals);
	}
}

static void test_reply_refusals(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/ipv4/udp/gtpu/ipv4/tcp");
	value("reply.ipv4.src", "1.2.3.4");
	refused("reply.ipv4.src", "set 0 reply.ipv4.src default");
	frame_vals_free(&ctl_stream_cfg(c, 0, 0)->frame.vals);
	value("reply.udp.len", "7");
	refused("reply.udp.len", "set 0 reply.udp.len default");
	frame_vals_free(&ctl_stream_cfg(c, 0, 0)->frame.vals);
	value("reply.pppoe.sid", "7");
	refused("reply.pppoe.sid is set, but the frame is", "reply.pppoe.sid default");
}

/* Each client has its own tunnel, both ways. */
static void test_reply_varies(void **state)
{
	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/ipv4/udp/gtpu/ipv4/tcp");
	value("ipv4[2].src", "10.0.0.1..10.0.0.6");
	value("gtpu.teid", "1..2");
	value("reply.gtpu.teid", "11..13");
	struct flows_design *d = design();
	assert_int_equal(d->npath, 6);
	assert_int_equal(d->nshapes, 1);
	assert_int_equal(d->idents->n, 3);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(bytes_of(d->path[i].bytes, 46), 1 + i % 2);
		assert_int_equal(wanted_of(d, i, 46), 11 + i % 3);
	}
	flows_design_free(d);
}

/* What was found for destinations on the link: a list of MAC addresses beside them. */
static void found(unsigned n, const vary_u *mac)
{
	const struct proto *ip = proto_find("ipv4"), *eth = proto_find("eth");
	const struct vary each = {.kind = VARY_LIST, .bits = 48, .div = 1, .n = n, .list = mac};
	const struct frame_lead lead = {ip, proto_field(ip, "dst")};

	frame_vals_beside(&ctl_stream_cfg(c, 0, 0)->dflt, eth, 1, proto_field(eth, "dst"), &each,
			  lead);
}

static const struct flow_path *path_of(const struct flows_design *d, unsigned client,
				       uint32_t destination)
{
	return &d->path[client * d->nto + d->to_path[flow_servers_find(d->to, destination, 0)]];
}

static void test_hops(void **state)
{
	static const vary_u mac[6] = {0xa, 0xb, 0xa, 0xc, 0xb, 0xa};

	(void)state;
	flow(FLOWS_CLIENT);
	value("ipv4.dst", "10.0.0.9,10.0.0.2,10.0.0.4,10.0.0.7");
	found(4, mac);
	struct flows_design *d = design();
	assert_true(d->npath == 3 && d->nto == 3); /* two have one address */
	assert_int_equal(path_of(d, 0, 0x0a000009)->bytes[5], 0xa);
	assert_int_equal(path_of(d, 0, 0x0a000002)->bytes[5], 0xb);
	assert_int_equal(path_of(d, 0, 0x0a000004)->bytes[5], 0xa);
	assert_int_equal(path_of(d, 0, 0x0a000007)->bytes[5], 0xc);
	uint64_t key = d->key;
	flows_design_free(d);
	/* the same addresses, dealt otherwise */
	found(4, (const vary_u[4]){0xa, 0xb, 0xc, 0xa});
	d = design();
	assert_true(d->npath == 3 && d->key != key);
	flows_design_free(d);
	/* weights: values stand in the list more than once, and those of a range from where it
	 * begins */
	value("ipv4.dst", "10.0.0.9:2,10.0.0.2:1");
	found(3, mac);
	d = design();
	assert_int_equal(d->nto, 2);
	flows_design_free(d);
	value("ipv4.dst", "10.0.0.4..10.0.0.2");
	found(3, (const vary_u[3]){1, 2, 3});
	d = design();
	assert_int_equal(path_of(d, 0, 0x0a000004)->bytes[5], 1);
	assert_int_equal(path_of(d, 0, 0x0a000002)->bytes[5], 3);
	flows_design_free(d);
	/* a server's answers go back where its clients are */
	flow(FLOWS_SERVER);
	value("ipv4.dst", "10.0.0.1");
	frame_vals_free(&ctl_stream_cfg(c, 0, 0)->dflt);
	d = design();
	assert_null(d->to);
	flows_design_free(d);
}

/* Each destination has an address in each VLAN. */
static void test_hops_in_vlans(void **state)
{
	static const vary_u mac[6] = {1, 2, 3, 4, 5, 6};

	(void)state;
	flow(FLOWS_CLIENT);
	frame("eth/vlan/ipv4/tcp");
	value("vlan.vid", "5..6");
	value("ipv4.src", "10.0.1.1..10.0.1.4");
	value("ipv4.dst", "10.0.0.1..10.0.0.3");
	found(6, mac);
	struct flows_design *d = design();
	assert_int_equal(d->npath, 6);
	for (unsigned i = 0; i < 6; i++) { /* side by side: number i */
		const struct flow_path *p = path_of(d, i % 2, 0x0a000001 + i % 3);
		assert_int_equal(p->bytes[5], mac[i]);
		assert_int_equal(get_be16(p->bytes + 14), 5 + i % 2);
	}
	flows_design_free(d);
	value("ipv4.dst", "10.0.0.1..10.0.0.2");
	refused("is a flow with 2 destinations, which have different MAC addresses on the link, in each of 2 VLANs",
		"set 0 eth.dst MAC");
}

/* Addresses that were found for settings before hold until the next ones are. */
static void test_hops_of_before(void **state)
{
	static const vary_u mac[2] = {1, 2};

	(void)state;
	flow(FLOWS_CLIENT);
	found(2, mac);
	value("ipv4.dst", "10.0.0.1..10.0.0.5");
	struct flows_design *d = design();
	assert_int_equal(path_of(d, 0, 0x0a000005)->bytes[5], 1);
	flows_design_free(d);
	value("ipv4.dst", "10.0.0.1");
	d = design();
	assert_int_equal(d->npath, 1);
	flows_design_free(d);
	value("ipv4.dst", "10.0.0.0/16");
	d = design();
	assert_true(d->npath == 1 && d->to == NULL && d->path[0].bytes[5] == 1);
	flows_design_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_defaults, begin, end),
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_servers_have_no_order, begin, end),
		cmocka_unit_test_setup_teardown(test_headers_step_with_clients, begin, end),
		cmocka_unit_test_setup_teardown(test_key, begin, end),
		cmocka_unit_test_setup_teardown(test_workloads, begin, end),
		cmocka_unit_test_setup_teardown(test_df, begin, end),
		cmocka_unit_test_setup_teardown(test_refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_vxlan, begin, end),
		cmocka_unit_test_setup_teardown(test_lengths, begin, end),
		cmocka_unit_test_setup_teardown(test_extensions, begin, end),
		cmocka_unit_test_setup_teardown(test_outer_refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_reply, begin, end),
		cmocka_unit_test_setup_teardown(test_reply_refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_reply_varies, begin, end),
		cmocka_unit_test_setup_teardown(test_hops, begin, end),
		cmocka_unit_test_setup_teardown(test_hops_in_vlans, begin, end),
		cmocka_unit_test_setup_teardown(test_hops_of_before, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
