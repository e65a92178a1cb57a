/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of all arms in turn. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "stacks_run.h"

enum { EXIT_LACKING = 3, EXIT_PEER = 5 };
#define MOVES_NS 30000000000ull
#define TRIES 3 /* to begin a run */

/* ---- what is said to the ends ---- */

static struct stacks_order run_order(const struct stacks *s, bool client)
{
	const struct stacks_opts *o = s->o;
	struct stacks_order order = {.kind = s->kind,
				     .client = client,
				     .down = o->down,
				     .verify = o->verify,
				     .skip = o->skip,
				     .port = stacks_run_port(s->o),
				     .flows = o->flows != 0 ? o->flows : s->kind->flows,
				     .mss = o->mss,
				     .cpu = o->cpu[client]};
	const char *host = o->peer != NULL ? o->peer : STACKS_PEER_IP;

	snprintf(order.host, sizeof(order.host), "%s", client ? host : "");
	return order;
}

/* What a flow has of a workload, the same as stacks_bytes() and its like give a record on sockets.
 */
static void run_flow_settings(const struct stacks *s, const char *ports, struct sbuf *out)
{
	const struct stacks_opts *o = s->o;
	const struct stacks_kind *k = s->kind;

	sbuf_addf(out, "set %s frame eth/ipv4/%s; set %s app %s; ", ports, k->udp ? "udp" : "tcp",
		  ports, k->stream ? "stream" : "bytes");
	if (k->stream)
		sbuf_addf(out, "set %s direction %s; ", ports, o->down ? "down" : "up");
	if (k->bytes != 0)
		sbuf_addf(out, "set %s request %u; set %s response %u; ", ports, k->bytes, ports,
			  k->bytes);
	if (k->gap_us != 0)
		sbuf_addf(out, "set %s think %uus; ", ports, k->gap_us);
	if (!k->stream && !k->closes)
		sbuf_addf(out, "set %s transactions forever; ", ports);
	if (k->closes)
		sbuf_addf(out, "set %s close fin server; ", ports);
	if (o->verify)
		sbuf_addf(out, "set %s flow.verify on; ", ports);
	if (o->mss != 0 && !k->udp)
		sbuf_addf(out, "set %s flow.mss %u; ", ports, o->mss);
	sbuf_addf(out, "set %s flow.congestion " STACKS_CONGESTION "; set %s flow.rto %dms", ports,
		  ports, STACKS_RTO_MS);
}

static void run_flow_client(const struct stacks *s, const char *host, struct sbuf *out)
{
	const struct stacks_kind *k = s->kind;
	unsigned flows = s->o->flows != 0 ? s->o->flows : k->flows;

	sbuf_addf(out,
		  "set 0 flow client; set 0 flow.dst %s; set 0 flow.dport %u; set 0 connections "
		  "%u; set 0 cps %s",
		  host, stacks_run_port(s->o), flows, k->closes ? "max" : "1k");
}

/* ---- beginning the ends ---- */

static int begin_kernel_server(struct stacks *s, struct err *e)
{
	const struct stacks_order order = run_order(s, false);

	if (s->o->peer != NULL)
		return stacks_end_remote(&s->serves, s->o->peer, s->o->port, &order, e);
	if (s->kind->iperf)
		return stacks_iperf_serve(&s->serves, s->net.peer, s->o->cpu[0],
					  stacks_run_port(s->o), e);
	return stacks_end_role(&s->serves, s->net.peer, &order, e);
}

static int begin_kernel_client(struct stacks *s, struct err *e)
{
	const struct stacks_order order = run_order(s, true);
	bool loopback = s->o->loopback;
	int ns = loopback ? s->net.peer : s->net.own, rc = 0;

	snprintf(s->device, sizeof(s->device), "%s",
		 s->o->peer != NULL ? "sockets"
		 : loopback         ? "loopback"
				    : "veth");
	if (s->o->peer == NULL && !loopback)
		rc = stacks_net_address(s->net.own, STACKS_VETH, STACKS_OWN_IP, e);
	if (rc == 0 && s->kind->iperf)
		return stacks_iperf_ask(s, ns, order.host, e);
	return rc < 0 ? rc : stacks_end_role(&s->asks, ns, &order, e);
}

/* A tap is there when the program has begun. */
static int begin_tap(struct stacks *s, struct err *e)
{
	json_t *doc = s->kind->iperf ? NULL : stacks_end_show(&s->asks, "ports", e);
	int rc = s->kind->iperf ? stacks_iperf_port_there(s, e) : 0;

	if (rc < 0 || (doc == NULL && !s->kind->iperf))
		return stacks_interrupted() ? -EINTR : -EPIPE;
	json_decref(doc);
	return stacks_net_address(s->net.peer, STACKS_TAP, STACKS_TAP_PEER_IP, e);
}

/* AF_XDP, which takes and gives many frames by one call, suits transactions of TCP. A tap takes
 * super-frames with checksums that are left to do, which suits streams; and it costs the peer least
 * per frame, which suits datagrams, of which nothing else costs much. */
static const char *run_device(const struct stacks *s)
{
	bool tap = s->kind->stream || s->kind->udp;

	return s->o->device != NULL ? s->o->device : tap ? "tap" : "xdp";
}

static int begin_port_client(struct stacks *s, struct err *e)
{
	const struct stacks_opts *o = s->o;
	const char *host = o->peer, *device = run_device(s);
	bool spec = o->spec != NULL;
	struct sbuf text = {0};
	int rc;

	s->tap = !spec && strcmp(device, "tap") == 0;
	if (spec)
		snprintf(s->device, sizeof(s->device), "%s", o->spec);
	else
		snprintf(s->device, sizeof(s->device), "%s:%s", device,
			 s->tap ? STACKS_TAP : STACKS_VETH);
	if (!spec)
		host = s->tap ? STACKS_TAP_PEER_IP : STACKS_PEER_IP;
	else if (s->arm == STACKS_PP)
		host = o->port_peer;
	const struct stacks_program p = {.ns = spec     ? -1
					       : s->tap ? s->net.peer
							: s->net.own,
					 .cpu = o->cpu,
					 .spec = s->device,
					 .ip = spec     ? o->ip
					       : s->tap ? STACKS_TAP_OWN_IP "/24"
							: STACKS_OWN_IP "/24",
					 .map = "1.0",
					 .mtu = o->mtu,
					 .nports = 1,
					 .events = s->kind->iperf};
	s->asks.term = s->kind->iperf;
	rc = stacks_end_port(&s->asks, &p, e);
	rc = rc == 0 && s->tap ? begin_tap(s, e) : rc;
	if (s->kind->iperf) {
		if (rc == 0)
			stacks_iperf_ask_port(s, host);
		return rc;
	}
	run_flow_settings(s, "0", &text);
	sbuf_add(&text, "; ");
	run_flow_client(s, host, &text);
	if (!spec && !s->tap)
		sbuf_add(&text, "; set 0 eth.dst " STACKS_PEER_MAC);
	sbuf_add(&text, "; start 0");
	if (rc == 0)
		stacks_end_say(&s->asks, sbuf_str(&text));
	sbuf_free(&text);
	return rc;
}

/* Both ends are ports of one program, on one CPU. */
static int begin_wire(struct stacks *s, struct err *e)
{
	const struct stacks_program p = {.ns = -1,
					 .cpu = s->o->cpu,
					 .spec = "wire",
					 .map = "1.0,1.1",
					 .mtu = s->o->mtu,
					 .nports = 2};
	struct sbuf text = {0};
	int rc = stacks_end_port(&s->asks, &p, e);

	snprintf(s->device, sizeof(s->device), "wire");
	run_flow_settings(s, "0,1", &text);
	sbuf_addf(&text,
		  "; set 1 flow server; set 1 flow.src %s; set 1 flow.sport %u; set 0 flow.src "
		  "%s; ",
		  STACKS_PEER_IP, stacks_run_port(s->o), STACKS_OWN_IP);
	run_flow_client(s, STACKS_PEER_IP, &text);
	sbuf_add(&text, "; start all");
	if (rc == 0)
		stacks_end_say(&s->asks, sbuf_str(&text));
	sbuf_free(&text);
	return rc;
}

static int run_begin(struct stacks *s, struct err *e)
{
	int rc = 0;

	s->asks = s->serves = STACKS_NO_END;
	if (s->arm != STACKS_PP)
		rc = begin_kernel_server(s, e);
	if (rc < 0)
		return rc;
	if (s->arm == STACKS_KK)
		return begin_kernel_client(s, e);
	if (s->arm == STACKS_PP && s->o->spec == NULL)
		return s->kind->iperf ? stacks_iperf_memif(s, e) : begin_wire(s, e);
	return begin_port_client(s, e);
}

static void run_end(struct stacks *s)
{
	struct err e;

	stacks_end_close(&s->asks);
	stacks_end_close(&s->serves);
	if (s->arm == STACKS_KK && s->o->peer == NULL && !s->o->loopback)
		stacks_net_no_address(s->net.own, STACKS_VETH, &e);
}

/* ---- a run ---- */

static int run_sample(struct stacks *s, struct stacks_reading *r, struct err *e)
{
	bool both = s->asks.nports == 2, other = s->serves.to >= 0;
	int rc = stacks_end_sample(&s->asks, &r->asks, both ? &r->serves : NULL, e);

	return rc < 0 || !other ? rc : stacks_end_sample(&s->serves, &r->serves, NULL, e);
}

/* Whether something has come of the connections. */
static bool run_moves(const struct stacks *s, const struct stacks_reading *r)
{
	const struct stacks_sample *to = r->serves.known && !s->o->down ? &r->serves : &r->asks;

	return s->kind->stream ? (r->serves.known || s->o->down ? to->rx : to->tx) > 0
			       : r->asks.done > 0;
}

static int run_until_it_moves(struct stacks *s, struct err *e)
{
	struct stacks_reading r = {0};
	uint64_t end = sock_now_ns() + MOVES_NS;
	int rc = 0;

	while (rc == 0 && !run_moves(s, &r)) {
		rc = stacks_wait_ns(20000000, e);
		rc = rc < 0 ? rc : run_sample(s, &r, e);
		if (rc == 0 && sock_now_ns() > end)
			return err_set(e, ETIMEDOUT,
				       "%s, %s: nothing comes of the connections for 30 s",
				       s->kind->name, stacks_arm_name[s->arm]);
	}
	return rc < 0 ? rc : stacks_wait_ns(s->o->warm_ns, e);
}

static int run_measure(struct stacks *s, struct stacks_reading *first, struct stacks_reading *last,
		       struct err *e)
{
	uint64_t left = s->o->duration_ns;
	int rc = run_sample(s, first, e);

	while (rc == 0 && left > 0) {
		uint64_t step = left < 1500000000 ? left : 1000000000;
		rc = stacks_wait_ns(step, e);
		rc = rc < 0 ? rc : stacks_end_tick(&s->asks, (double)step / 1e9, e);
		left -= step;
	}
	return rc < 0 ? rc : run_sample(s, last, e);
}

static int run_once(struct stacks *s, struct stacks_results *out, unsigned run, struct err *e)
{
	struct stacks_reading first = {0}, last = {0};
	struct stacks_found found;
	bool iperf = s->kind->iperf;
	int rc = -1;

	/* on a machine that is busy with other things somebody may not have answered in time */
	for (unsigned i = 0; i < TRIES && rc < 0 && !stacks_interrupted(); i++) {
		if (i > 0)
			run_end(s);
		rc = run_begin(s, e);
		if (rc == 0)
			rc = iperf ? stacks_iperf_measure(s, &found, e) : run_until_it_moves(s, e);
		if (s->o->peer != NULL)
			break;
	}
	rc = rc < 0 || iperf ? rc : run_measure(s, &first, &last, e);
	run_end(s);
	if (rc == 0 && iperf)
		stacks_result_put(out, s->kind, s->arm, run, s->device, &found);
	else if (rc == 0)
		stacks_result_add(out, s->kind, s->arm, run, s->device, &first, &last);
	return stacks_interrupted() && rc < 0 ? -EINTR : rc;
}

/* Arms in turn, so that what changes on the machine meanwhile meets all of them. */
static int run_all(struct stacks *s, struct stacks_results *out, struct err *e)
{
	const struct stacks_opts *o = s->o;
	int rc = 0;

	for (unsigned k = 0; rc == 0 && k < o->kinds; k++)
		for (unsigned run = 1; rc == 0 && run <= o->runs; run++)
			for (unsigned a = 0; rc == 0 && a < STACKS_ARMS; a++) {
				s->kind = o->kind[k];
				s->arm = (enum stacks_arm)a;
				rc = o->arm[a] ? run_once(s, out, run, e) : 0;
			}
	return rc;
}

static void run_announce(const struct stacks_opts *o, void (*note)(const char *text))
{
	unsigned arms = 0;
	double all = 0; /* seconds of a run of each workload */
	struct sbuf text = {0};

	for (unsigned a = 0; a < STACKS_ARMS; a++)
		arms += o->arm[a];
	for (unsigned k = 0; k < o->kinds; k++)
		all += (double)o->duration_ns / 1e9 + (o->kind[k]->iperf
							       ? (double)o->iperf.omit_s + 2
							       : (double)o->warm_ns / 1e9 + 1);
	sbuf_addf(&text,
		  "stacks: %u runs of %u arms and %u workloads, about %.0f s; Ctrl-C tells what "
		  "is there by then\n",
		  o->runs, arms, o->kinds, ceil(all * o->runs * arms));
	if (o->cpu[0] == o->cpu[1] && o->peer == NULL)
		sbuf_addf(&text,
			  "stacks: both ends share CPU %d, so each waits for the other; --cpus "
			  "PEER,OWN gives them two\n",
			  o->cpu[0]);
	note(sbuf_str(&text));
	sbuf_free(&text);
}

/* An end would not begin, and could not say why. That of another machine has its CPUs. */
static int run_cpus(const struct stacks_opts *o, struct err *e)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned i = o->peer != NULL; i < 2; i++)
		if (n > 0 && o->cpu[i] >= n)
			return err_set(
				e, EINVAL,
				"--cpus %d,%d: there is no CPU %d; this machine has 0 to %ld",
				o->cpu[0], o->cpu[1], o->cpu[i], n - 1);
	return 0;
}

json_t *stacks_run(const struct stacks_opts *o, void (*note)(const char *text), int *code,
		   struct err *e)
{
	struct stacks s = {.o = o, .net = {-1, -1}, .asks = STACKS_NO_END, .serves = STACKS_NO_END};
	struct stacks_results *results;
	json_t *doc = NULL;
	int rc = run_cpus(o, e);

	clock_init();
	if (rc == 0 && o->peer == NULL)
		rc = stacks_net_make(&s.net, o->mtu, e);
	*code = rc < 0 ? EXIT_LACKING : 0;
	if (rc < 0)
		return NULL;
	run_announce(o, note);
	results = stacks_results_new(o);
	rc = run_all(&s, results, e);
	stacks_net_free(&s.net);
	if (rc < 0 && rc != -EINTR)
		*code = EXIT_PEER;
	if (rc < 0 && rc != -EINTR && stacks_results_any(results)) {
		struct sbuf text = {0};
		sbuf_addf(&text, "stacks: %s\n", e->text);
		note(sbuf_str(&text));
		sbuf_free(&text);
	}
	if (stacks_results_any(results))
		doc = stacks_results_json(results, rc == 0);
	stacks_results_free(results);
	return doc;
}
