/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's connections of data on an arm that opens them itself (arm_conf.each): all that they
 * are is said before the control connection opens, as the arm's port starts with both. */
#include "iperf_wl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UDP_SPARES 12 /* bytes by which its header is shorter than that of TCP */

struct iperf_port {
	struct iperf *t;
	struct arm *arm;
	struct arm_data *data;
	unsigned n;
	int64_t left;
	char cookie[IPERF_COOKIE];
	struct iperf_wl_conf conf[IPERF_ALL];
	struct sock_spec spec[IPERF_ALL];
	struct wl_content content[IPERF_ALL][IPERF_WL_CONTENTS];
	uint8_t head[IPERF_ALL][IPERF_UDP_HEAD64];
	struct sock_line *line[IPERF_ALL];
	bool there; /* all are ready */
};

static bool port_opens(struct sock_line *l, void *arg)
{
	((struct iperf_port *)arg)->line[l->number] = l;
	return true;
}

static void port_line(struct iperf_port *q, unsigned i)
{
	const struct iperf_params *p = &q->t->p;

	q->conf[i] = (struct iperf_wl_conf){.sends = iperf_client_sends(q->t, i),
					    .wide = p->udp64,
					    .blksize = p->blksize,
					    .burst = p->burst != 0 ? p->burst : 1,
					    .ns_byte = p->rate != 0 ? 8e9 / (double)p->rate : 0,
					    .left = q->left > 0 ? &q->left : NULL,
					    .content = q->content[i],
					    .head = q->head[i]};
	iperf_wl_contents(q->content[i], p->udp ? "9876" : q->cookie, p->udp ? 4 : IPERF_COOKIE,
			  q->head[i]);
	q->spec[i] =
		(struct sock_spec){.flow = {.wl = p->udp ? &iperf_wl_datagrams : &iperf_wl_stream,
					    .conf = &q->conf[i],
					    .content = q->content[i],
					    .ncontent = IPERF_WL_CONTENTS,
					    .client = true,
					    .on_call = true},
				   .opens = port_opens,
				   .arg = q};
	iperf_tune(q->t, &q->spec[i].tune);
}

static void port_event(void *arg, short revents)
{
	struct iperf_port *q = arg;
	struct iperf *t = q->t;
	unsigned events = q->arm->ops->events(q->data);
	struct err e;

	(void)revents;
	if (t->over)
		return;
	if ((events & SOCK_FAILED) && q->arm->ops->error(q->data, &e))
		iperf_fail(t, IPERF_PEER, "%s", e.text);
	else if (events & SOCK_CONNECTED)
		iperf_port_there(t);
}

/* Nobody uses it any more. */
static void port_free(void *arg)
{
	free(arg);
}

int iperf_port_new(struct iperf *t, struct err *e)
{
	struct iperf_port *q = xcalloc(1, sizeof(*q));
	const struct iperf_params *p = &t->p;
	struct arm_conf conf = {.spec = &q->spec[0], .each = q->spec, .port = t->o.port};

	*q = (struct iperf_port){.t = t, .arm = t->arm};
	if (p->udp && p->blksize > t->ctl_mss + UDP_SPARES) {
		free(q);
		return err_set(
			e, EINVAL,
			"option -l, --length: datagrams of %u bytes do not fit into packets of the "
			"port, which are not sent in fragments; at most %u do",
			p->blksize, t->ctl_mss + UDP_SPARES);
	}
	q->n = p->parallel * (p->bidir ? 2 : 1);
	q->left = (int64_t)(p->blocks != 0 ? p->blocks * p->blksize : p->bytes);
	memcpy(q->cookie, t->cookie, IPERF_COOKIE);
	for (unsigned i = 0; i < q->n; i++)
		port_line(q, i);
	conf.flows = q->n;
	conf.ports = 1;
	conf.source_port = t->o.cport;
	q->data = t->arm->ops->data(t->arm, &conf, e);
	if (q->data == NULL) {
		free(q);
		return -EIO;
	}
	t->arm->ops->watch(q->data, port_event, q);
	t->port = q;
	iperf_carrier(t, q->data);
	return 0;
}

int iperf_port_open(struct iperf *t, struct err *e)
{
	return t->arm->ops->start(t->port->data, e);
}

/* All of them may be there. The socket numbers of iperf3 begin somewhere, too. */
void iperf_port_there(struct iperf *t)
{
	struct iperf_port *q = t->port;

	if (q->there || (q->arm->ops->alive(q->data) < q->n))
		return;
	q->there = true;
	for (unsigned i = 0; i < q->n; i++) {
		struct iperf_stream *s = iperf_stream_new(t, (int)i + 1, q->conf[i].sends);
		q->arm->ops->ends(q->data, q->line[i], &s->own, &s->peer);
		iperf_json_connected(t, s);
	}
}

void iperf_port_go(struct iperf *t)
{
	t->arm->ops->go(t->port->data);
}

void iperf_port_look(struct iperf *t)
{
	struct iperf_port *q = t->port;
	struct sock_info info;

	for (unsigned i = 0; i < t->n; i++) {
		struct iperf_now *now = &t->stream[i].now;
		iperf_line_look(q->line[i]->flow.own, q->conf[i].sends, now);
		if (q->arm->ops->info(q->data, q->line[i], &info))
			iperf_data_info(now, &info);
	}
}

static void port_handed(void *arg, struct sock_line *l)
{
	*(uint64_t *)arg += cell_get(&l->n.tx_bytes);
}

/* Bytes that went out at least once, without cookies and greetings. */
uint64_t iperf_port_handed(struct iperf *t)
{
	uint64_t sum = 0, hello = t->port->n * (t->p.udp ? 4 : IPERF_COOKIE);

	t->arm->ops->each(t->port->data, port_handed, &sum);
	return sum > hello ? sum - hello : 0;
}

void iperf_port_stop(struct iperf *t)
{
	if (t->port != NULL)
		t->arm->ops->stop(t->port->data);
}

void iperf_port_end(struct iperf *t)
{
	struct iperf_port *q = t->port;

	if (q == NULL)
		return;
	t->port = NULL;
	q->arm->ops->watch(q->data, NULL, NULL);
	q->arm->ops->stop(q->data);
	q->arm->ops->free(q->data);
	q->arm->ops->later(q->arm, port_free, q);
}
