/* SPDX-License-Identifier: BSD-3-Clause */
/* A test as both roles have it: clocks, lines, results, and the end of all. */
#include "iperf_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userfile.h"

#define SECOND 1000000000ull

double iperf_since(const struct iperf *t, uint64_t ns)
{
	return ns <= t->begin_ns ? 0 : (double)(ns - t->begin_ns) / 1e9;
}

void iperf_host(const struct sock_addr *a, char *out, size_t n)
{
	const void *ip = a->sa.any.sa_family == AF_INET6 ? (const void *)&a->sa.v6.sin6_addr
							 : (const void *)&a->sa.v4.sin_addr;
	bool mapped = a->sa.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->sa.v6.sin6_addr);

	out[0] = '\0';
	if (mapped)
		inet_ntop(AF_INET, (const char *)ip + 12, out, (socklen_t)n);
	else if (a->len > 0)
		inet_ntop(a->sa.any.sa_family, ip, out, (socklen_t)n);
}

void iperf_out(struct iperf *t, const char *text)
{
	if (text[0] == '\0')
		return;
	if (t->o.server && t->p.get_output && !t->o.json && !t->o.json_stream)
		sbuf_add(&t->output, text);
	if (t->log != NULL) {
		fputs(text, t->log);
		fflush(t->log);
	} else {
		t->print(t->arg, false, text);
	}
}

void iperf_timer_end(struct iperf *t, int *timer)
{
	if (*timer >= 0)
		loop_timer_del(t->loop, *timer);
	*timer = -1;
}

static void on_silence(void *arg)
{
	struct iperf *t = arg;

	t->wait_timer = -1;
	iperf_fail(t, IPERF_PEER, "%s", t->silence);
}

void iperf_wait(struct iperf *t, uint64_t ns, const char *text)
{
	iperf_timer_end(t, &t->wait_timer);
	snprintf(t->silence, sizeof(t->silence), "%s", text);
	if (ns > 0)
		t->wait_timer = loop_timer(t->loop, ns, 0, on_silence, t);
}

/* ---- streams ---- */

struct iperf_stream *iperf_stream_new(struct iperf *t, int socket, bool sends)
{
	struct iperf_stream *s = &t->stream[t->n];

	memset(s, 0, sizeof(*s));
	s->id = iperf_stream_id(t->n++);
	s->fd = -1;
	s->socket = socket;
	s->sends = sends;
	return s;
}

struct iperf_stream *iperf_stream_add(struct iperf *t, int fd, bool sends)
{
	struct iperf_stream *s = iperf_stream_new(t, fd, sends);

	s->fd = fd;
	sock_ends(fd, &s->own, &s->peer);
	if (!t->p.udp && t->congestion[0] == '\0') {
		socklen_t n = sizeof(t->congestion) - 1;
		if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, t->congestion, &n) != 0)
			t->congestion[0] = '\0';
	}
	iperf_json_connected(t, s);
	return s;
}

static void carrier_said(void *arg, const char *key, const char *value, bool number)
{
	struct iperf *t = arg;

	json_object_set_new(t->carrier, key, number ? json_real(atof(value)) : json_string(value));
	if (strcmp(key, "congestion") == 0)
		snprintf(t->congestion, sizeof(t->congestion), "%s", value);
}

void iperf_carrier(struct iperf *t, struct arm_data *data)
{
	json_decref(t->carrier);
	t->carrier = json_object();
	t->arm->ops->say(data, carrier_said, t);
}

void iperf_tune(const struct iperf *t, struct sock_tune *tune)
{
	*tune = (struct sock_tune){.udp = t->p.udp,
				   .no_delay = t->p.nodelay,
				   .reuse_addr = true,
				   .mss = (int)t->p.mss,
				   .send_buf = (int)t->p.window,
				   .recv_buf = (int)t->p.window,
				   .tos = (int)t->p.tos,
				   .flow_label = (int)t->p.flowlabel,
				   .pacing = t->p.fq_rate / 8,
				   .congestion =
					   t->p.congestion[0] != '\0' ? t->p.congestion : NULL,
				   .device = t->o.device};
}

/* ---- lines ---- */

static int64_t delta_of(uint64_t now, uint64_t then)
{
	return (int64_t)(now - then);
}

static void note_info(struct iperf_stream *s)
{
	const struct iperf_now *now = &s->now;

	if (now->cwnd > s->max_cwnd)
		s->max_cwnd = now->cwnd;
	if (now->snd_wnd > s->max_wnd)
		s->max_wnd = now->snd_wnd;
	if (now->rtt_us > s->max_rtt)
		s->max_rtt = now->rtt_us;
	if (s->nrtt == 0 || now->rtt_us < s->min_rtt)
		s->min_rtt = now->rtt_us;
	s->sum_rtt += now->rtt_us;
	s->nrtt++;
}

static struct iperf_part part_of(const struct iperf *t, struct iperf_stream *s, double end_s)
{
	const struct iperf_now *now = &s->now, *last = &s->last;

	return (struct iperf_part){.start_s = s->last_s,
				   .end_s = end_s,
				   .bytes = now->bytes - last->bytes,
				   .packets = now->packets - last->packets,
				   .lost = now->lost - last->lost,
				   .unordered = now->unordered - last->unordered,
				   .jitter_s = now->jitter_s,
				   .retransmits =
					   s->sends && !t->p.udp
						   ? delta_of(now->retransmits, last->retransmits)
						   : -1,
				   .sends = s->sends,
				   .omitted = t->omitting,
				   .s = s};
}

/* A line of what has happened since the last one. */
static void take_line(struct iperf *t, uint64_t now_ns)
{
	struct iperf_part part[IPERF_ALL];
	double end_s = iperf_since(t, now_ns);

	for (unsigned i = 0; i < t->n; i++) {
		struct iperf_stream *s = &t->stream[i];
		note_info(s);
		part[i] = part_of(t, s, end_s);
		s->last = s->now;
		s->last_s = end_s;
	}
	t->line_ns = now_ns;
	if (t->o.json || t->o.json_stream)
		iperf_json_parts(t, part, t->n);
	else
		iperf_text_parts(t, part, t->n);
}

static uint64_t interval_ns(const struct iperf *t)
{
	return (uint64_t)(t->o.interval_s * 1e9);
}

/* Whether what comes at `then` makes a line of its own, so that none is needed shortly before. */
static bool line_soon(const struct iperf *t, uint64_t now, uint64_t then)
{
	return then != 0 && then < now + interval_ns(t) / 10;
}

static void on_line(void *arg)
{
	struct iperf *t = arg;
	uint64_t now = loop_now_ns();

	if (line_soon(t, now, t->omitting ? t->begin_ns + t->p.omit_s * SECOND : t->end_ns))
		return;
	iperf_data_look(t);
	take_line(t, now);
}

static void start_lines(struct iperf *t)
{
	iperf_timer_end(t, &t->line_timer);
	if (t->o.interval_s > 0)
		t->line_timer = loop_timer(t->loop, interval_ns(t), interval_ns(t), on_line, t);
}

static void on_end(void *arg)
{
	struct iperf *t = arg;

	t->end_timer = -1;
	iperf_client_end(t);
}

/* What is counted begins now. */
static void start_clock(struct iperf *t, uint64_t now)
{
	t->begin_ns = t->line_ns = now;
	t->moved_ns = 0;
	t->end_ns = 0;
	t->usage_ns = now;
	getrusage(RUSAGE_SELF, &t->usage);
	for (unsigned i = 0; i < t->n; i++) {
		struct iperf_stream *s = &t->stream[i];
		s->base = s->last = s->now;
		s->omitted_lost = s->now.lost;
		s->omitted_packets = s->now.packets;
		s->last_s = 0;
		s->nrtt = 0;
		s->sum_rtt = s->max_rtt = s->max_cwnd = s->max_wnd = 0;
	}
	start_lines(t);
	if (t->p.time_s != 0 && !t->omitting && t->p.bytes == 0 && t->p.blocks == 0)
		t->end_ns = now + t->p.time_s * SECOND;
	if (!t->o.server && t->end_ns != 0)
		t->end_timer = loop_timer(t->loop, t->p.time_s * SECOND, 0, on_end, t);
}

static void on_omitted(void *arg)
{
	struct iperf *t = arg;
	uint64_t now = loop_now_ns();

	t->omit_timer = -1;
	iperf_data_look(t);
	if (t->o.interval_s > 0)
		take_line(t, now);
	t->omitting = false;
	start_clock(t, now);
}

void iperf_begin(struct iperf *t)
{
	struct err e;

	t->data = iperf_data_start(t, &e);
	if (t->data == NULL) {
		iperf_fail(t, IPERF_LACKS, "%s", e.text);
		return;
	}
	t->running = true;
	t->omitting = t->p.omit_s > 0;
	start_clock(t, loop_now_ns());
	if (t->omitting)
		t->omit_timer = loop_timer(t->loop, t->p.omit_s * SECOND, 0, on_omitted, t);
}

/* Whether something is left for a last line. */
static bool last_line(const struct iperf *t, uint64_t now)
{
	if (t->o.interval_s == 0)
		return t->o.json || t->o.json_stream;
	if (now > t->line_ns + interval_ns(t) / 10 || t->line_ns == t->begin_ns)
		return true;
	for (unsigned i = 0; i < t->n; i++)
		if (t->stream[i].now.bytes != t->stream[i].last.bytes)
			return true;
	return false;
}

void iperf_stop(struct iperf *t)
{
	uint64_t now;

	if (!t->running)
		return;
	t->running = false;
	iperf_timer_end(t, &t->line_timer);
	iperf_timer_end(t, &t->omit_timer);
	iperf_timer_end(t, &t->end_timer);
	iperf_timer_end(t, &t->wait_timer);
	iperf_data_stop(t->data);
	now = t->moved_ns != 0 ? t->moved_ns : loop_now_ns();
	getrusage(RUSAGE_SELF, &t->usage_end);
	t->usage_end_ns = now;
	iperf_data_look(t);
	if (last_line(t, now))
		take_line(t, now);
	else
		for (unsigned i = 0; i < t->n; i++)
			note_info(&t->stream[i]);
	t->end_ns = now;
}

/* ---- results ---- */

static double cpu_share(struct timeval a, struct timeval b, double wall_s)
{
	double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_usec - a.tv_usec) / 1e6;

	return wall_s > 0 ? 100 * s / wall_s : 0;
}

void iperf_cpu(const struct iperf *t, double cpu[3])
{
	double wall = (double)(t->usage_end_ns - t->usage_ns) / 1e9;

	cpu[1] = cpu_share(t->usage.ru_utime, t->usage_end.ru_utime, wall);
	cpu[2] = cpu_share(t->usage.ru_stime, t->usage_end.ru_stime, wall);
	cpu[0] = cpu[1] + cpu[2];
}

static struct iperf_result result_of(const struct iperf *t, const struct iperf_stream *s)
{
	bool tcp_sender = !t->p.udp && s->sends;

	return (struct iperf_result){.id = s->id,
				     .bytes = s->now.bytes - s->base.bytes,
				     .retransmits = tcp_sender ? delta_of(s->now.retransmits,
									  s->base.retransmits)
							       : -1,
				     .jitter_s = s->now.jitter_s,
				     .errors = s->now.lost,
				     .omitted_errors = s->omitted_lost,
				     .packets = (int64_t)s->now.packets,
				     .omitted_packets = (int64_t)s->omitted_packets,
				     .end_s = iperf_since(t, t->end_ns)};
}

void iperf_results_make(struct iperf *t, struct iperf_results *r)
{
	bool sends = false;

	memset(r, 0, sizeof(*r));
	iperf_cpu(t, r->cpu);
	for (unsigned i = 0; i < t->n; i++) {
		r->stream[r->n++] = result_of(t, &t->stream[i]);
		sends |= t->stream[i].sends;
	}
	r->has_retransmits = !sends ? -1 : !t->p.udp;
	memcpy(r->congestion, t->congestion, sizeof(r->congestion));
}

/* What the peer has said, which is in the machine's json. */
void iperf_results_take(struct iperf *t)
{
	struct err e;

	if (iperf_results_read(t->ctl.json.s, t->ctl.json.len, &t->there, &e) < 0) {
		iperf_fail(t, IPERF_PEER, "%s", e.text);
		return;
	}
	for (unsigned i = 0; i < t->there.n; i++) {
		const struct iperf_result *r = &t->there.stream[i];
		struct iperf_stream *s = NULL;
		for (unsigned k = 0; k < t->n; k++)
			if (t->stream[k].id == r->id)
				s = &t->stream[k];
		if (s == NULL) {
			iperf_fail(
				t, IPERF_PEER,
				"the peer's results are of a stream %d, which this test does not have",
				r->id);
			return;
		}
		s->there = *r;
		s->heard = true;
	}
	t->has_there = true;
}

static struct iperf_part total_there(const struct iperf *t, const struct iperf_stream *s)
{
	const struct iperf_result *r = &s->there;
	double end_s = r->end_s > r->start_s ? r->end_s - r->start_s : iperf_since(t, t->end_ns);

	return (struct iperf_part){.end_s = end_s,
				   .bytes = r->bytes,
				   .packets = (uint64_t)(r->packets - r->omitted_packets),
				   .lost = s->sends ? r->errors - r->omitted_errors : 0,
				   .jitter_s = s->sends ? r->jitter_s : 0,
				   .retransmits = r->retransmits};
}

struct iperf_part iperf_total(const struct iperf *t, const struct iperf_stream *s, bool sender)
{
	struct iperf_part p;

	if (s->sends != sender && s->heard) {
		p = total_there(t, s);
	} else if (s->sends != sender) {
		p = (struct iperf_part){.end_s = iperf_since(t, t->end_ns)};
	} else {
		struct iperf_stream whole = *s;
		whole.last = s->base;
		whole.last_s = 0;
		p = part_of(t, &whole, iperf_since(t, t->end_ns));
		p.omitted = false;
	}
	if (sender) {
		p.jitter_s = 0;
		p.lost = 0;
		p.unordered = 0;
	}
	p.s = s;
	p.sends = s->sends;
	return p;
}

/* ---- the end ---- */

void iperf_flush(struct iperf *t)
{
	int rc = 0;

	if (t->chan != NULL && t->ctl.out.len > 0)
		rc = chan_put(t->chan, t->ctl.out.s, t->ctl.out.len);
	sbuf_reset(&t->ctl.out);
	/* that it has gone is told by the channel, too */
	if (rc == -ENOBUFS)
		iperf_fail(t, IPERF_PEER, "the peer takes nothing from the control connection");
}

/* The test is over for a reason. A client ends by it, a server goes on. */
void iperf_fail(struct iperf *t, enum iperf_end end, const char *fmt, ...)
{
	va_list ap;
	struct sbuf b = {0};

	if (t->over || t->why.text[0] != '\0')
		return;
	va_start(ap, fmt);
	sbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	err_set(&t->why, EIO, "%s", sbuf_str(&b));
	t->end = end;
	iperf_stop(t);
	iperf_ctl_terminate(&t->ctl);
	if (t->chan != NULL && t->ctl.out.len > 0)
		(void)chan_put(t->chan, t->ctl.out.s, t->ctl.out.len);
	sbuf_reset(&t->ctl.out);
	if (t->o.json || t->o.json_stream)
		iperf_json_print(t);
	sbuf_free(&b);
	if (t->o.server)
		iperf_server_next(t);
	else
		t->over = true;
}

void iperf_test_end(struct iperf *t)
{
	iperf_timer_end(t, &t->line_timer);
	iperf_timer_end(t, &t->omit_timer);
	iperf_timer_end(t, &t->end_timer);
	iperf_timer_end(t, &t->wait_timer);
	iperf_timer_end(t, &t->hello_timer);
	iperf_timer_end(t, &t->retry_timer);
	sock_ask_end(t->ask);
	t->ask = NULL;
	iperf_data_free(t->data);
	t->data = NULL;
	iperf_port_end(t);
	if (t->connecting_fd >= 0) {
		loop_fd(t->loop, t->connecting_fd, 0, NULL, NULL);
		close(t->connecting_fd);
		t->connecting_fd = -1;
	}
	for (unsigned i = 0; i < t->n; i++)
		if (t->stream[i].fd >= 0)
			close(t->stream[i].fd);
	t->n = 0;
	iperf_serving_over(t);
	chan_free(t->chan);
	t->chan = NULL;
	iperf_ctl_free(&t->ctl);
	iperf_results_free(&t->there);
	memset(&t->there, 0, sizeof(t->there));
	t->has_there = t->header = t->running = t->omitting = false;
	t->congestion[0] = '\0';
	sbuf_free(&t->output);
	json_decref(t->start);
	json_decref(t->intervals);
	json_decref(t->finish);
	json_decref(t->connected);
	json_decref(t->carrier);
	t->start = t->intervals = t->finish = t->connected = t->carrier = NULL;
}

bool iperf_over(const struct iperf *t, enum iperf_end *end)
{
	*end = t->end;
	return t->over;
}

const char *iperf_why(const struct iperf *t)
{
	return t->why.text;
}

void iperf_interrupt(struct iperf *t)
{
	if (t->over)
		return;
	if (t->running) {
		iperf_stop(t);
		if (t->o.json || t->o.json_stream)
			iperf_json_end(t);
		else
			iperf_text_end(t);
	}
	t->interrupted = true;
	iperf_fail(t, IPERF_INTERRUPTED, "interrupted: the %s has terminated",
		   t->o.server ? "server" : "client");
	t->over = true;
}

bool iperf_gone(const struct iperf *t, double *gone_s, double *all_s)
{
	if (!t->running || t->p.time_s == 0)
		return false;
	*all_s = (double)(t->p.time_s + t->p.omit_s);
	*gone_s = iperf_since(t, loop_now_ns()) + (t->omitting ? 0 : (double)t->p.omit_s);
	return true;
}

void iperf_json_new(struct iperf *t)
{
	t->start = json_object();
	t->intervals = json_array();
	t->finish = json_object();
	t->connected = json_array();
}

static int logfile_open(struct iperf *t, struct err *e)
{
	const char *why;
	int fd = userfile_open(t->o.logfile, O_WRONLY | O_APPEND | O_CREAT, 0666, &why);

	if (fd < 0)
		return err_set(e, EIO, "cannot write to the log file '%s': %s", t->o.logfile, why);
	t->log = fdopen(fd, "a");
	return 0;
}

struct iperf *iperf_start(struct loop *loop, struct arm *arm, const struct iperf_opts *o,
			  iperf_print_fn *print, void *arg, enum iperf_end *end, struct err *e)
{
	struct iperf *t = xcalloc(1, sizeof(*t));

	*end = IPERF_LACKS;
	t->loop = loop;
	t->arm = arm;
	t->print = print;
	t->arg = arg;
	t->o = *o;
	t->o.host = o->host != NULL ? xstrdup(o->host) : NULL;
	t->o.bind = o->bind != NULL ? xstrdup(o->bind) : NULL;
	t->o.device = o->device != NULL ? xstrdup(o->device) : NULL;
	t->o.logfile = o->logfile != NULL ? xstrdup(o->logfile) : NULL;
	t->o.pid_file = NULL;
	t->connecting_fd = -1;
	t->line_timer = t->omit_timer = t->end_timer = t->wait_timer = -1;
	t->hello_timer = t->retry_timer = -1;
	iperf_json_new(t);
	if ((o->cpu != 0 && !iperf_cpu_there(o->cpu, e)) ||
	    (o->logfile != NULL && logfile_open(t, e) < 0)) {
		iperf_free(t);
		return NULL;
	}
	if ((o->server ? iperf_server_start(t, end, e) : iperf_client_start(t, end, e)) < 0) {
		iperf_free(t);
		return NULL;
	}
	return t;
}

void iperf_free(struct iperf *t)
{
	if (t == NULL)
		return;
	iperf_test_end(t);
	iperf_server_free(t);
	iperf_opts_free(&t->o);
	if (t->log != NULL)
		fclose(t->log);
	free(t);
}
