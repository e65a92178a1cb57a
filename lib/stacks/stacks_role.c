/* SPDX-License-Identifier: BSD-3-Clause */
#include "stacks_role.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"

#define ROLE_TIMEOUT_NS 1000000000ull /* of a request over UDP */

/* ---- what it is told ---- */

json_t *stacks_order_json(const struct stacks_order *o)
{
	return json_pack("{s:b,s:s,s:b,s:b,s:b,s:s,s:i,s:i,s:i,s:i}", "client", o->client,
			 "workload", o->kind->name, "down", o->down, "verify", o->verify, "skip",
			 o->skip, "host", o->host, "port", (int)o->port, "flows", (int)o->flows,
			 "mss", (int)o->mss, "cpu", o->cpu);
}

int stacks_order_read(const json_t *doc, struct stacks_order *o, struct err *e)
{
	const char *workload, *host;
	int client, down, verify, skip, port, flows, mss;
	json_error_t why;

	*o = (struct stacks_order){.cpu = -1};
	if (json_unpack_ex((json_t *)doc, &why, 0, "{s:b,s:s,s:b,s:b,s:b,s:s,s:i,s:i,s:i,s:i}",
			   "client", &client, "workload", &workload, "down", &down, "verify",
			   &verify, "skip", &skip, "host", &host, "port", &port, "flows", &flows,
			   "mss", &mss, "cpu", &o->cpu) != 0)
		return err_set(e, EINVAL, "no order: %s", why.text);
	o->kind = stacks_kind_find(workload);
	if (o->kind == NULL || strlen(host) >= sizeof(o->host) || port < 1 || port > 65535 ||
	    flows < 1 || flows > 10000 || mss < 0 || mss > 9000 || o->cpu < -1 || o->cpu > 1023)
		return err_set(e, EINVAL, "an order with values that are not allowed");
	o->client = client;
	o->down = down;
	o->verify = verify;
	o->skip = skip;
	o->port = (unsigned)port;
	o->flows = (unsigned)flows;
	o->mss = (unsigned)mss;
	strcpy(o->host, host);
	return 0;
}

void stacks_bytes(const struct stacks_kind *k, struct wl_bytes_conf *out)
{
	*out = (struct wl_bytes_conf){.transactions = k->closes ? 1 : 0,
				      .timeout_ns = ROLE_TIMEOUT_NS,
				      .server_closes = k->closes,
				      .close = k->closes ? WL_CLOSE_FIN : WL_CLOSE_NOT,
				      .request = WL_FIXED(k->bytes),
				      .response = WL_FIXED(k->bytes)};
}

/* ---- its life ---- */

/* On the thread: a line of a server is over, and its numbers go with it. */
static void role_closes(struct sock_line *l, void *arg)
{
	struct stacks_role *r = arg;

	cell_add(&r->gone_tx, cell_get(&l->n.tx_bytes));
	cell_add(&r->gone_rx, cell_get(&l->n.rx_bytes));
	cell_add(&r->gone_done, cell_get(&l->counts.done));
	cell_add(&r->gone_bad, cell_get(&l->counts.mismatched));
}

/* Segments that the kernel sent again in this network namespace. */
static uint64_t role_retransmitted(void)
{
	FILE *f = fopen("/proc/self/net/snmp", "re");
	char line[1024];
	unsigned long long n = 0;
	int seen = 0;

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Tcp: ", 5) == 0 && seen++ == 1)
			sscanf(line, "Tcp: %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &n);
	fclose(f);
	return n;
}

static void role_spec(struct stacks_role *r)
{
	const struct stacks_order *o = &r->order;
	struct sock_spec *s = &r->spec;

	wl_content_init(&r->content, NULL, 0, o->verify ? WL_FILL_PATTERN : WL_FILL_X);
	stacks_bytes(o->kind, &r->bytes);
	r->stream = (struct wl_stream_conf){.direction = o->down ? WL_DOWN : WL_UP,
					    .datagram = o->kind->bytes,
					    .gap_ns = o->kind->gap_us * 1000ull};
	s->flow = (struct wl_flow){.content = &r->content,
				   .ncontent = 1,
				   .client = o->client,
				   .verify = o->verify};
	s->flow.wl = o->kind->stream ? &wl_stream : &wl_bytes;
	s->flow.conf = o->kind->stream ? (const void *)&r->stream : &r->bytes;
	s->tune = (struct sock_tune){.udp = o->kind->udp,
				     .no_delay = true,
				     .reuse_addr = true,
				     .mss = o->kind->udp ? 0 : (int)o->mss,
				     .backlog = 4096,
				     .congestion = o->kind->udp ? NULL : STACKS_CONGESTION};
	s->skip_receive = o->skip;
	s->again = o->client && o->kind->closes;
	s->closes = role_closes;
	s->arg = r;
}

static int role_sockets(struct stacks_role *r, struct err *e)
{
	const struct stacks_order *o = &r->order;
	struct sock_addr at;
	int fd, rc = sock_resolve(o->client ? o->host : "0.0.0.0", o->port, AF_INET, &at, 1, e);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; o->client && i < o->flows; i++)
		sock_add(r->arm, 0, &r->spec, &at, NULL);
	if (o->client)
		return 0;
	fd = o->kind->udp ? sock_bind(&at, &r->spec.tune, e) : sock_listen(&at, &r->spec.tune, e);
	if (fd < 0)
		return fd;
	sock_serve(r->arm, 0, &r->spec, fd);
	return 0;
}

int stacks_role_begin(struct stacks_role *r, const struct stacks_order *o, struct err *e)
{
	int rc;

	*r = (struct stacks_role){.order = *o};
	role_spec(r);
	r->arm = sock_new(
		&(struct sock_conf){.threads = 1, .cpu = o->cpu >= 0 ? &r->order.cpu : NULL});
	r->retransmitted = role_retransmitted();
	rc = role_sockets(r, e);
	rc = rc < 0 ? rc : sock_start(r->arm, e);
	if (rc < 0)
		stacks_role_end(r);
	return rc;
}

struct role_sum {
	uint64_t tx, rx, done, bad, opened;
};

static void role_add(void *arg, struct sock_line *l)
{
	struct role_sum *s = arg;

	s->tx += cell_get(&l->n.tx_bytes);
	s->rx += cell_get(&l->n.rx_bytes);
	s->done += cell_get(&l->counts.done);
	s->bad += cell_get(&l->counts.mismatched);
	s->opened += cell_get(&l->n.opened);
}

json_t *stacks_role_totals(struct stacks_role *r)
{
	struct role_sum s = {.tx = cell_get(&r->gone_tx),
			     .rx = cell_get(&r->gone_rx),
			     .done = cell_get(&r->gone_done),
			     .bad = cell_get(&r->gone_bad)};
	struct timespec used;
	struct err e;
	json_t *doc;

	sock_each(r->arm, role_add, &s);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	double cpu = (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
	doc = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f}", "tx_bytes", (json_int_t)s.tx,
			"rx_bytes", (json_int_t)s.rx, "done", (json_int_t)s.done, "mismatched",
			(json_int_t)s.bad, "opened", (json_int_t)s.opened, "retransmits",
			(json_int_t)(role_retransmitted() - r->retransmitted), "cpu_ns", cpu,
			"cycles", cpu * clock_hz() / 1e9);
	/* a line that broke while nobody had told it to is an end of the run */
	if (r->order.client && sock_error(r->arm, &e))
		json_object_set_new(doc, "error", json_string(e.text));
	return doc;
}

void stacks_role_end(struct stacks_role *r)
{
	sock_free(r->arm);
	r->arm = NULL;
}
