/* SPDX-License-Identifier: BSD-3-Clause */
/* The window that we offer. It is as large as a flow says, or begins small and grows where that
 * makes its connections faster. A window larger than what is on its way in one round trip makes
 * nothing faster: what is sent beyond waits in a queue, and buffers that wait are not in the cache
 * any more when their turn comes. It never becomes smaller (RFC 9293 3.8.6.2.2). */
#include "flow_int.h"

/* Of windows that take less than WINDOW_LONG (units of 1024 ns) the fastest of WINDOW_SAMPLES
 * counts, as any of them may have been disturbed. As many that take WINDOW_COLLAPSE times as long
 * as the fastest one say that the path is another one by now. */
#define WINDOW_LONG 512
#define WINDOW_SAMPLES 8
#define WINDOW_COLLAPSE 8
/* A connection that has not received a window for so long keeps no other one from being watched. */
#define WINDOW_LOST 1000000

static void window_set(struct flow_ver *f, uint32_t window)
{
	uint32_t w = window >> f->wscale;

	if (w > 65535) /* 2^30 bytes: RFC 7323 2.3 has room for a little less */
		w = 65535;
	f->window = w << f->wscale;
	f->window_field[0] = (uint16_t)(window > 65535 ? 65535 : window);
	f->window_field[1] = (uint16_t)w;
}

void flow_window_begin(struct flow_ver *f, uint32_t window, uint32_t most)
{
	if (most < window)
		most = window;
	for (f->wscale = 0; f->wscale < 14 && most >> f->wscale > 65535;)
		f->wscale++;
	window_set(f, window);
	f->window_most = most >> f->wscale << f->wscale;
	f->watch = (struct flow_watch){.fastest = UINT32_MAX};
}

/* The connection that is watched has received a window, in `took`. Twice the window is worth it if
 * the last time has brought a third more per time. */
static void window_judge(struct flow_ver *f, uint32_t took)
{
	struct flow_watch *w = &f->watch;

	w->slow = took / WINDOW_COLLAPSE > w->fastest ? w->slow + 1 : 0;
	if (w->slow == WINDOW_SAMPLES) {
		w->before = w->slow = w->n = 0;
		w->fastest = UINT32_MAX;
	}
	if (took < w->fastest)
		w->fastest = took;
	if (++w->n < WINDOW_SAMPLES && w->fastest < WINDOW_LONG)
		return;
	w->n = 0;
	if (w->before != 0 && w->fastest > w->before + w->before / 2)
		return;
	w->before = w->fastest != 0 ? w->fastest : 1;
	w->fastest = UINT32_MAX;
	window_set(f, f->window > f->window_most / 2 ? f->window_most : 2 * f->window);
}

/* One connection of a flow is watched at a time. Its cell may be another one's by now: then what is
 * awaited is nowhere near. */
void flow_window_watch(const struct flow_machine *m, struct flow_ver *f, const struct flow_conn *c)
{
	struct flow_watch *w = &f->watch;
	uint32_t at = conn_index(m, c), took = m->now_us - w->since;

	if (at == w->at) {
		if (w->to - c->rcv_nxt - 1 < f->window)
			return;
		if (c->rcv_nxt - w->to < f->window)
			window_judge(f, took);
	} else if (took < WINDOW_LOST && m->conn[w->at].state == FLOW_ESTABLISHED) {
		return;
	}
	w->at = at;
	w->to = c->rcv_nxt + f->window;
	w->since = m->now_us;
}
