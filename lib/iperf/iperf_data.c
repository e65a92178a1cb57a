/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a test: of TCP by a record on an arm (arm.h), of UDP by threads of their own. */
#include "iperf_udp.h"
#include "iperf_wl.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct iperf_data {
	struct iperf *t;
	bool stop;
	int64_t left;
	bool limited, stopped;
	/* TCP */
	struct arm_data *tcp;
	struct wl_content content;
	struct iperf_wl_conf conf[2]; /* [sends] */
	struct sock_spec spec[2];
	struct sock_line *line[IPERF_ALL];
	int fd[IPERF_ALL];
	/* UDP */
	struct iperf_udp_conf udp_conf;
	struct iperf_udp *udp[IPERF_ALL];
	/* without a count that is reached: has anything come lately? */
	uint64_t seen_bytes, seen_ns;
};

/* ---- TCP ---- */

/* On the thread: tells lines apart by their sockets. */
static bool tcp_opens(struct sock_line *l, void *arg)
{
	struct iperf_data *d = arg;

	for (unsigned i = 0; i < d->t->n; i++)
		if (d->fd[i] == l->fd)
			__atomic_store_n(&d->line[i], l, __ATOMIC_RELEASE);
	return true;
}

static void tcp_spec(struct iperf_data *d, bool sends)
{
	const struct iperf_params *p = &d->t->p;
	struct sock_spec *s = &d->spec[sends];

	d->conf[sends] = (struct iperf_wl_conf){.sends = sends,
						.blksize = p->blksize,
						.burst = p->burst != 0 ? p->burst : 1,
						.ns_byte = p->rate != 0 ? 8e9 / (double)p->rate : 0,
						.left = d->limited ? &d->left : NULL};
	*s = (struct sock_spec){.flow = {.wl = &iperf_wl_blocks,
					 .conf = &d->conf[sends],
					 .content = &d->content,
					 .ncontent = 1},
				.buffer = p->blksize,
				.skip_receive = p->skip_copy,
				.keep = true,
				.opens = tcp_opens,
				.arg = d};
}

/* As many as have a CPU each: two on one do nothing but take turns. */
static unsigned tcp_threads(const struct iperf *t)
{
	cpu_set_t set;
	unsigned cpus = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		cpus = (unsigned)CPU_COUNT(&set);
	return cpus < t->n ? cpus : t->n;
}

static int tcp_start(struct iperf_data *d, struct err *e)
{
	struct iperf *t = d->t;
	unsigned threads = tcp_threads(t);
	const struct arm_conf conf = {.sock = {.threads = threads, .spins = true}};

	/* the filling that is the shortest in memory, and so stays in the nearest cache */
	wl_content_init(&d->content, NULL, 0, WL_FILL_X);
	tcp_spec(d, false);
	tcp_spec(d, true);
	d->tcp = t->arm->ops->data(t->arm, &conf, e);
	if (d->tcp == NULL)
		return -EAGAIN;
	for (unsigned i = 0; i < t->n; i++) {
		d->fd[i] = t->stream[i].fd;
		t->arm->ops->adopt(d->tcp, i % threads, &d->spec[t->stream[i].sends], d->fd[i]);
		t->stream[i].fd = -1;
	}
	return t->arm->ops->start(d->tcp, e);
}

void iperf_data_info(struct iperf_now *now, const struct sock_info *info)
{
	now->retransmits = info->retransmits;
	now->cwnd = info->cwnd_bytes;
	now->snd_wnd = info->snd_wnd;
	now->rtt_us = info->rtt_us;
	now->rttvar_us = info->rttvar_us;
	now->pmtu = info->pmtu;
	now->reorder = info->reordering;
	now->unacked = info->unacked;
}

static void tcp_look(void *arg, struct sock_line *l)
{
	struct iperf_data *d = arg;
	struct sock_info info;

	for (unsigned i = 0; i < d->t->n; i++) {
		struct iperf_now *now = &d->t->stream[i].now;
		if (__atomic_load_n(&d->line[i], __ATOMIC_ACQUIRE) != l)
			continue;
		now->bytes = cell_get(d->t->stream[i].sends ? &l->n.tx_bytes : &l->n.rx_bytes);
		if (d->t->arm->ops->info(d->tcp, l, &info))
			iperf_data_info(now, &info);
	}
}

/* ---- both ---- */

static int udp_start(struct iperf_data *d, struct err *e)
{
	struct iperf *t = d->t;

	d->udp_conf = (struct iperf_udp_conf){.rate = t->p.rate,
					      .burst = t->p.burst,
					      .blksize = t->p.blksize,
					      .wide = t->p.udp64,
					      .left = d->limited ? &d->left : NULL,
					      .stop = &d->stop};
	for (unsigned i = 0; i < t->n; i++) {
		d->udp[i] = iperf_udp_start(t->stream[i].fd, t->stream[i].sends, &d->udp_conf, e);
		if (d->udp[i] == NULL)
			return -EAGAIN;
		t->stream[i].fd = -1;
	}
	return 0;
}

bool iperf_cpu_there(uint32_t cpu, struct err *e)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && !CPU_ISSET(cpu - 1, &set)) {
		err_set(e, EINVAL,
			"option -A, --affinity: this process may not use CPU %u; `taskset -pc $$` "
			"lists those that it may",
			cpu - 1);
		return false;
	}
	return true;
}

/* Threads have the CPU of whoever makes them. Returns whether `before` is to be set again. */
static bool data_pin(const struct iperf *t, cpu_set_t *before)
{
	uint32_t cpu = t->o.server && t->p.cpu != 0 ? t->p.cpu : t->o.cpu;
	cpu_set_t one;

	if (cpu == 0 || sched_getaffinity(0, sizeof(*before), before) != 0)
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu - 1, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

struct iperf_data *iperf_data_start(struct iperf *t, struct err *e)
{
	struct iperf_data *d = xcalloc(1, sizeof(*d));
	const struct iperf_params *p = &t->p;
	cpu_set_t before;

	d->t = t;
	d->left = (int64_t)(p->blocks != 0 ? p->blocks * p->blksize : p->bytes);
	d->limited = d->left > 0;
	if (t->port != NULL || t->serving != NULL) {
		t->port != NULL ? iperf_port_go(t) : iperf_serving_go(t);
		return d;
	}
	bool pinned = data_pin(t, &before);
	int rc = p->udp ? udp_start(d, e) : tcp_start(d, e);
	if (pinned)
		(void)sched_setaffinity(0, sizeof(before), &before);
	if (rc == 0)
		return d;
	iperf_data_free(d);
	return NULL;
}

void iperf_data_look(struct iperf *t)
{
	struct iperf_data *d = t->data;

	if (t->port != NULL)
		iperf_port_look(t);
	if (t->serving != NULL)
		iperf_serving_look(t);
	if (d->tcp != NULL)
		t->arm->ops->each(d->tcp, tcp_look, d);
	for (unsigned i = 0; i < t->n; i++)
		if (d->udp[i] != NULL)
			iperf_udp_look(d->udp[i], &t->stream[i].now);
}

void iperf_data_stop(struct iperf_data *d)
{
	if (d == NULL || d->stopped)
		return;
	d->stopped = true;
	__atomic_store_n(&d->stop, true, __ATOMIC_RELEASE);
	if (d->tcp != NULL) {
		iperf_carrier(d->t, d->tcp);
		d->t->arm->ops->stop(d->tcp);
	}
	iperf_port_stop(d->t);
	iperf_serving_stop(d->t);
	for (unsigned i = 0; i < IPERF_ALL; i++)
		if (d->udp[i] != NULL)
			iperf_udp_join(d->udp[i]);
}

void iperf_data_free(struct iperf_data *d)
{
	if (d == NULL)
		return;
	iperf_data_stop(d);
	if (d->tcp != NULL)
		d->t->arm->ops->free(d->tcp);
	iperf_serving_shut(d->t);
	for (unsigned i = 0; i < IPERF_ALL; i++)
		iperf_udp_free(d->udp[i]);
	free(d);
}

/* Who receives knows by what has come; of datagrams some may never come, and then it is over when
 * nothing has come for a while. */
#define QUIET_NS 1000000000ull
static bool all_came(struct iperf_data *d, uint64_t wanted)
{
	uint64_t came = 0, now = loop_now_ns();

	for (unsigned i = 0; i < d->t->n; i++)
		came += d->t->stream[i].sends ? 0 : d->t->stream[i].now.bytes;
	if (came != d->seen_bytes) {
		d->seen_bytes = came;
		d->seen_ns = now;
	}
	return came >= wanted || (d->t->p.udp && came > 0 && now - d->seen_ns > QUIET_NS);
}

bool iperf_data_spent(struct iperf *t)
{
	struct iperf_data *d = t->data;
	const struct iperf_params *p = &t->p;
	uint64_t wanted = p->blocks != 0 ? p->blocks * p->blksize : p->bytes, sent = 0;

	if (!d->limited)
		return false;
	iperf_data_look(t);
	if (p->reverse)
		return all_came(d, wanted);
	if (t->port != NULL)
		sent = iperf_port_handed(t);
	for (unsigned i = 0; i < t->n && t->port == NULL; i++)
		sent += t->stream[i].sends ? t->stream[i].now.bytes : 0;
	return sent >= wanted;
}

uint64_t iperf_data_unacked(struct iperf *t)
{
	uint64_t sum = 0;

	iperf_data_look(t);
	for (unsigned i = 0; i < t->n; i++)
		sum += t->stream[i].sends ? t->stream[i].now.unacked : 0;
	return sum;
}
