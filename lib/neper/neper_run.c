/* SPDX-License-Identifier: BSD-3-Clause */
/* A run as control sees it: the control connection, the times, the end. */
#include "neper_int.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STALL_NS (10 * SECOND) /* without any transaction, of a run that counts them */
#define LAST_NS (SECOND / 2)   /* so long a client that ends at once waits for its server */
#define SAMPLES_LEAST 5
#define SAMPLE_NS 200000000ull

/* ---- ends ---- */

void neper_end_run(struct neper *n, enum neper_end how)
{
	if (n->end == NEPER_RUNNING)
		n->end = how;
	n->arm->ops->stop(n->data);
}

void neper_fail(struct neper *n, const struct err *e)
{
	if (n->end != NEPER_RUNNING)
		return;
	n->err = *e;
	neper_end_run(n, NEPER_PEER);
}

void neper_failed(struct neper *n, const char *fmt, ...)
{
	struct err e = {.col = -1};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	neper_fail(n, &e);
}

void neper_timer_stop(struct neper *n, int *timer)
{
	if (*timer >= 0)
		loop_timer_del(n->loop, *timer);
	*timer = -1;
}

void neper_timer_set(struct neper *n, int *timer, uint64_t ns, loop_fn *fn, void *arg)
{
	neper_timer_stop(n, timer);
	*timer = loop_timer(n->loop, ns, 0, fn, arg);
}

/* The threads have stopped: what was measured is printed. */
bool neper_tell(struct neper *n, uint64_t *rate)
{
	struct err e;

	if (neper_report(n, rate, &e) == 0)
		return true;
	neper_fail(n, &e);
	return false;
}

bool neper_tell_excess(struct neper *n)
{
	uint64_t bytes = neper_excess(n);

	if (bytes == 0)
		return false;
	neper_failed(
		n,
		"the server sent %llu bytes that nobody had asked for; give both ends the same "
		"-Q and -R",
		(unsigned long long)bytes);
	return true;
}

/* Lines have stopped. An arm may know better than we when they began, and when that was. */
void neper_ended(struct neper *n)
{
	uint64_t began = n->arm->ops->began_ns(n->data), ended = n->arm->ops->ended_ns(n->data);

	if (began != 0)
		n->begin_ns = began;
	n->end_ns = ended != 0 ? ended : sock_now_ns();
}

/* ---- the client's run ---- */

void neper_unanswered(void *arg)
{
	struct neper *n = arg;

	n->timer = -1;
	neper_failed(n, "the server has not answered for %llu s",
		     (unsigned long long)(ANSWER_NS / SECOND));
}

static void client_finish(struct neper *n)
{
	struct neper_peer *p = n->peers;
	uint64_t rate;

	if (!n->running || n->end != NEPER_RUNNING)
		return;
	n->running = false;
	n->arm->ops->stop(n->data);
	neper_ended(n);
	neper_moment_now(n, &n->after);
	neper_timer_stop(n, &n->iostat);
	if (n->opts->iostat_ms > 0)
		neper_data_iostat(n);
	neper_timer_set(n, &n->timer, ANSWER_NS, neper_unanswered, n);
	if (!neper_tell(n, &rate))
		return;
	n->reported = true;
	n->rate = rate;
	neper_talk_done(&p->talk);
	neper_say(p, NEPER_DONE, rate);
	chan_half_close(p->chan);
}

static void client_time(void *arg)
{
	struct neper *n = arg;

	n->timer = -1;
	client_finish(n);
}

/* A run that counts transactions ends by them; if there are none any more it would never end. */
static void client_watch(void *arg)
{
	struct neper *n = arg;
	uint64_t done = neper_data_done(n);

	n->timer = -1;
	if (done != n->stalled_done)
		n->stalled_at = loop_now_ns();
	n->stalled_done = done;
	if (loop_now_ns() - n->stalled_at > STALL_NS)
		neper_failed(
			n,
			"no transaction was done for %llu s: the server does not answer any more",
			(unsigned long long)(STALL_NS / SECOND));
	else
		neper_timer_set(n, &n->timer, SECOND, client_watch, n);
}

static void client_iostat(void *arg)
{
	neper_data_iostat(arg);
}

static void client_go(struct neper *n)
{
	const struct neper_opts *o = n->opts;

	neper_moment_now(n, &n->before);
	n->begin_ns = n->io.at_ns = n->stalled_at = sock_now_ns();
	n->arm->ops->go(n->data);
	n->running = true;
	if (o->test_length > 0)
		neper_timer_set(n, &n->timer, (uint64_t)o->test_length * SECOND, client_time, n);
	else
		neper_timer_set(n, &n->timer, SECOND, client_watch, n);
	if (o->iostat_ms > 0 && o->test_length > 0)
		n->iostat = loop_timer(n->loop, (uint64_t)o->iostat_ms * 1000000,
				       (uint64_t)o->iostat_ms * 1000000, client_iostat, n);
}

static void run_event(void *arg, short revents)
{
	struct neper *n = arg;
	unsigned events = n->arm->ops->events(n->data);
	struct err e;

	(void)revents;
	if (n->end != NEPER_RUNNING)
		return;
	if ((events & SOCK_ACCEPTED) && n->before.used.ru_maxrss == 0)
		neper_moment_now(n, &n->before);
	if ((events & SOCK_FAILED) && n->arm->ops->error(n->data, &e)) {
		neper_fail(n, &e);
		return;
	}
	if (!n->opts->client)
		return;
	if ((events & SOCK_CONNECTED) && !n->running && !n->reported)
		client_go(n);
	if (events & SOCK_SPENT)
		client_finish(n);
	if ((events & SOCK_ENDED) && n->running && n->arm->ops->alive(n->data) == 0)
		neper_failed(n, "the server has closed all connections of data before the run was "
				"over");
}

void neper_client_data(void *arg)
{
	struct neper *n = arg;
	struct err e;

	n->timer = -1;
	if (neper_data_client(n, &e) != 0)
		neper_fail(n, &e);
}

/* ---- begin and end ---- */

static int run_family(const struct neper_opts *o)
{
	if (o->ipv4 == o->ipv6)
		return AF_UNSPEC;
	return o->ipv4 ? AF_INET : AF_INET6;
}

/* What is asked for: the server, and the addresses of --local-hosts. */
struct client_names {
	struct sock_question q[1 + NEPER_HOSTS];
	unsigned n;
	bool names; /* of some the name service has to be asked */
	char *text;
};

static int client_names(const struct neper *n, struct client_names *c, struct err *e)
{
	const struct neper_opts *o = n->opts;
	int family = run_family(o), rc = 0;
	char *save = NULL;

	*c = (struct client_names){.n = 1, .text = xstrdup(o->local_hosts)};
	c->q[0] = (struct sock_question){.host = o->host,
					 .port = (unsigned)o->control_port,
					 .most = ARRAY_SIZE(n->addr),
					 .family = family};
	for (char *w = strtok_r(c->text, ",", &save); w != NULL && rc == 0;
	     w = strtok_r(NULL, ",", &save)) {
		if (c->n > NEPER_HOSTS)
			rc = err_set(e, EINVAL, "--local-hosts: at most %d addresses", NEPER_HOSTS);
		else
			c->q[c->n++] =
				(struct sock_question){.host = w, .most = 1, .family = family};
	}
	for (unsigned i = 0; i < c->n; i++)
		c->names |= sock_is_name(c->q[i].host);
	if (rc == 0 && c->n - 1 > (unsigned)o->num_flows)
		rc = err_set(e, EINVAL, "%lld flows are fewer than %u addresses of --local-hosts",
			     (long long)o->num_flows, c->n - 1);
	return rc;
}

/* The addresses are known. */
static int client_known(struct neper *n, struct err *e)
{
	int rc = n->arm->ops->reach(n->arm, n->addr, n->naddrs, e);

	n->naddrs = rc > 0 ? (unsigned)rc : 0;
	rc = rc < 0 ? rc : neper_data_new(n, e);
	if (rc < 0)
		return rc;
	n->arm->ops->watch(n->data, run_event, n);
	n->peers = xcalloc(1, sizeof(*n->peers));
	n->peers->run = n;
	n->peers->timer = -1;
	n->timer = loop_timer(n->loop, 0, 0, neper_peer_connect, n);
	return 0;
}

static void client_answered(void *arg, const struct sock_answer *a, const struct err *e)
{
	struct neper *n = arg;
	struct err why;

	n->ask = NULL;
	if (a == NULL) {
		neper_fail(n, e);
		return;
	}
	n->naddrs = a[0].n;
	memcpy(n->addr, a[0].addr, a[0].n * sizeof(*n->addr));
	for (unsigned i = 0; i < n->nlocal; i++)
		n->local[i] = a[1 + i].addr[0];
	if (client_known(n, &why) < 0)
		neper_fail(n, &why);
}

static int begin_client(struct neper *n, struct err *e)
{
	struct client_names c;
	int rc = client_names(n, &c, e);

	n->retries = n->opts->connect_retries;
	n->nlocal = c.n - 1;
	if (rc == 0 && c.names) {
		n->ask = sock_ask(n->loop, c.q, c.n, client_answered, n, e);
		rc = n->ask == NULL ? -EAGAIN : 0;
	} else if (rc == 0) {
		rc = sock_resolve(c.q[0].host, c.q[0].port, c.q[0].family, n->addr, c.q[0].most, e);
		n->naddrs = rc > 0 ? (unsigned)rc : 0;
		for (unsigned i = 0; i < n->nlocal && rc > 0; i++)
			rc = sock_resolve(c.q[1 + i].host, 0, c.q[1 + i].family, &n->local[i], 1,
					  e);
		if (rc > 0)
			rc = client_known(n, e);
	}
	free(c.text);
	return rc < 0 ? rc : 0;
}

static int server_address(struct neper *n, struct err *e)
{
	const struct neper_opts *o = n->opts;
	return n->arm->ops->server_at(n->arm, o->host, (unsigned)o->control_port, run_family(o),
				      &n->addr[0], e);
}

static int begin_server(struct neper *n, struct err *e)
{
	struct sock_tune tune = {.reuse_addr = true,
				 .backlog = (int)n->opts->listen_backlog,
				 .freebind = n->opts->freebind};
	int rc = server_address(n, e);

	tune.v6_only = n->opts->ipv6 && !n->opts->ipv4;
	rc = rc != 0 ? rc : neper_data_new(n, e);
	if (rc == 0) {
		n->listener =
			n->arm->ops->listen(n->arm, &n->addr[0], &tune, neper_peer_accept, n, e);
		rc = n->listener == NULL ? -EADDRINUSE : neper_data_server(n, e);
	}
	if (rc == 0)
		n->arm->ops->watch(n->data, run_event, n);
	return rc;
}

static void run_suicide(void *arg)
{
	struct neper *n = arg;

	n->suicide = -1;
	err_set(&n->err, ETIME, "the time of --suicide-length, %lld s, has passed",
		(long long)n->opts->suicide_length);
	neper_end_run(n, NEPER_TIMEOUT);
}

static uint64_t run_interval(const struct neper_opts *o)
{
	uint64_t ns = (uint64_t)(o->interval * 1e9);

	if (o->test_length < 0 || (double)o->test_length / o->interval < SAMPLES_LEAST)
		return ns < SAMPLE_NS ? ns : SAMPLE_NS;
	return ns;
}

/* CPUs that the threads may have, as in "0-3,8". */
static void run_cpus(struct neper *n)
{
	cpu_set_t set;
	struct sbuf text = {0};
	char count[16];

	if (!n->opts->pin_cpu || sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	snprintf(count, sizeof(count), "%d", CPU_COUNT(&set));
	n->out.emit(n->out.arg, "allowed_core_num", count, true);
	for (int i = 0, end; i < CPU_SETSIZE; i = end) {
		for (end = i; end < CPU_SETSIZE && CPU_ISSET(end, &set);)
			end++;
		if (end == i) {
			end++;
			continue;
		}
		sbuf_addf(&text, end - i > 1 ? "%s%d-%d" : "%s%d", text.len > 0 ? "," : "", i,
			  end - 1);
	}
	n->out.emit(n->out.arg, "allowed_cores", sbuf_str(&text), false);
	sbuf_free(&text);
}

struct neper *neper_begin(struct loop *loop, struct arm *arm, const struct neper_opts *o,
			  const struct neper_out *out, struct err *e)
{
	struct neper *n = xcalloc(1, sizeof(*n));
	int rc;

	n->loop = loop;
	n->arm = arm;
	n->opts = o;
	n->out = *out;
	n->timer = n->suicide = n->iostat = -1;
	n->tick_ns = run_interval(o);
	neper_opts_echo(o, out->emit, out->arg);
	if (o->dry_run) {
		n->end = NEPER_GOOD;
		return n;
	}
	run_cpus(n);
	if (o->stime_use_proc) {
		neper_moment_now(n, &n->before);
		n->machine_stime = n->before.stime;
		n->before = (struct neper_moment){0};
	}
	rc = neper_files_check(n, e);
	if (rc == 0)
		rc = o->client ? begin_client(n, e) : begin_server(n, e);
	if (rc != 0) {
		neper_free(n);
		return NULL;
	}
	if (o->suicide_length > 0)
		n->suicide =
			loop_timer(loop, (uint64_t)o->suicide_length * SECOND, 0, run_suicide, n);
	return n;
}

enum neper_end neper_state(const struct neper *n, struct err *e)
{
	if (n->end == NEPER_PEER || n->end == NEPER_TIMEOUT)
		*e = n->err;
	return n->end;
}

void neper_interrupt(struct neper *n)
{
	if (n->opts->client && n->running)
		client_finish(n);
	else
		neper_failed(n, "interrupted");
}

static bool run_is_over(const void *arg)
{
	return ((const struct neper *)arg)->end != NEPER_RUNNING;
}

bool neper_cut(struct neper *n)
{
	if (!n->opts->client || !n->running)
		return false;
	client_finish(n);
	if (n->arm->ops->wait != NULL)
		n->arm->ops->wait(n->arm, run_is_over, n, LAST_NS);
	if (n->end == NEPER_RUNNING)
		neper_report_end(n, n->rate);
	return true;
}

static void run_memory_free(void *arg)
{
	struct neper *n = arg;

	for (int64_t i = 0; n->thread != NULL && i < n->threads; i++) {
		free(n->thread[i].tick);
		free(n->thread[i].sample);
	}
	free(n->thread);
	free(n->cpu);
	free(n);
}

void neper_free(struct neper *n)
{
	if (n == NULL)
		return;
	neper_timer_stop(n, &n->timer);
	neper_timer_stop(n, &n->suicide);
	neper_timer_stop(n, &n->iostat);
	sock_ask_end(n->ask);
	n->arm->ops->unlisten(n->arm, n->listener);
	for (struct neper_peer *p = n->peers, *next; p != NULL; p = next) {
		next = p->next;
		neper_peer_gone(p);
		sbuf_free(&p->name);
		free(p);
	}
	if (n->data != NULL)
		n->arm->ops->watch(n->data, NULL, NULL);
	n->arm->ops->free(n->data);
	n->arm->ops->later(n->arm, run_memory_free, n);
}
