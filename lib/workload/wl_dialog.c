/* SPDX-License-Identifier: BSD-3-Clause */
/* Dialogs: steps of a text, which one end does as they are written and the other one mirrored. */
#include "workload.h"

/* What a connection waits for. */
enum dialog_state {
	DIALOG_STEP, /* nothing: its step can be done */
	DIALOG_SENDING,
	DIALOG_RECEIVING,
	DIALOG_THINKING,
	DIALOG_CALL, /* go() */
	DIALOG_OVER,
};
struct dialog_conn {
	uint64_t left; /* bytes of this step that are still to come */
	uint64_t began_ns;
	uint32_t pass, all; /* passes of this run, and of all runs, that are done */
	uint8_t step, state;
	bool open;  /* a transaction is */
	bool first; /* its first byte came */
};
_Static_assert(sizeof(struct dialog_conn) <= WL_CELL, "the state fits into a cell");

static const struct wl_dialog_conf *dialog_conf(const struct wl_turn *t)
{
	return t->flow->conf;
}

/* The cell of the connection. NULL: there is none for it. */
static struct dialog_conn *dialog_at(struct wl_turn *t)
{
	return wl_cell(t, &t->mem[0]);
}

static void dialog_over(struct wl_turn *t, struct dialog_conn *c)
{
	c->state = DIALOG_OVER;
	if (!t->closing)
		c->began_ns = t->now_ns; /* of the close, from now on */
	t->timer_ns = WL_NO_TIMER;
	if (!t->flow->client)
		return;
	t->close = (uint8_t)dialog_conf(t)->close;
	if (t->close == WL_CLOSE_NOT && t->flow->draining)
		t->close = WL_CLOSE_FIN;
}

static void dialog_begin(struct wl_turn *t, struct dialog_conn *c)
{
	if (c->open)
		return;
	c->open = true;
	c->first = false;
	c->began_ns = t->now_ns;
	wl_started(t);
}

static void dialog_done(struct wl_turn *t, struct dialog_conn *c)
{
	uint64_t ns = t->now_ns - c->began_ns;

	c->open = false;
	wl_done(t);
	if (!t->flow->client)
		return;
	wl_timing_add(&t->flow->whole, ns);
	wl_timing_add(&t->flow->since_due, ns + t->late_ns);
}

/* Before a pass of a run; opened: it is the first one of the connection. */
static void dialog_boundary(struct wl_turn *t, struct dialog_conn *c, const struct wl_dialog_run *r,
			    bool opened)
{
	c->state = DIALOG_STEP;
	if (!t->flow->client)
		return;
	t->on_time = !t->flow->on_call;
	if (t->flow->draining && (!opened || t->flow->on_call)) {
		dialog_over(t, c);
	} else if (t->flow->on_call && r->transaction) {
		c->state = DIALOG_CALL;
		t->ready = true;
	}
}

/* This step is done: on to the next. */
static void dialog_advance(struct wl_turn *t, struct dialog_conn *c)
{
	const struct wl_dialog_conf *conf = dialog_conf(t);
	const struct wl_dialog_step *s = &conf->step[c->step];
	unsigned run = s->run;

	c->state = DIALOG_STEP;
	if (s->done)
		dialog_done(t, c);
	if (!s->last) {
		c->step++;
		return;
	}
	if (conf->run[run].times > 1 && ++c->pass < conf->run[run].times) {
		c->step = conf->run[run].first;
	} else if (run + 1 < conf->nrun) {
		c->pass = 0;
		c->step = conf->run[++run].first;
	} else if (conf->times > 1 && ++c->all < conf->times) {
		c->pass = 0;
		c->step = 0;
		run = 0;
	} else {
		dialog_over(t, c);
		return;
	}
	dialog_boundary(t, c, &conf->run[run], false);
}

/* Whether this pause is the server's. */
static bool dialog_server_thinks(const struct wl_dialog_conf *conf, const struct dialog_conn *c,
				 const struct wl_dialog_step *s)
{
	unsigned then = WL_DIALOG_END;

	if (conf->run[s->run].times > 1 && c->pass + 1 < conf->run[s->run].times)
		then = WL_DIALOG_AGAIN;
	else if (conf->times > 1 && c->all + 1 < conf->times)
		then = WL_DIALOG_ON;
	return (s->server & then) != 0;
}

static void dialog_one(struct wl_turn *t, struct dialog_conn *c)
{
	const struct wl_dialog_conf *conf = dialog_conf(t);
	const struct wl_dialog_step *s = &conf->step[c->step];
	bool client = t->flow->client;

	switch (s->kind) {
	case WL_DIALOG_THINK:
		if (dialog_server_thinks(conf, c, s) ==
		    client) { /* it is the other end that waits */
			dialog_advance(t, c);
			return;
		}
		c->state = DIALOG_THINKING;
		t->timer_ns = s->n;
		return;
	case WL_DIALOG_CLOSE:
		dialog_over(t, c);
		if (client && t->close == WL_CLOSE_NOT)
			t->close = WL_CLOSE_FIN;
		return;
	default:
		break;
	}
	if ((s->kind == WL_DIALOG_SEND) == client) {
		dialog_begin(t, c);
		c->state = DIALOG_SENDING;
		wl_send(t, conf->content, s->n);
		return;
	}
	if (client) /* for a server it begins with the first byte */
		dialog_begin(t, c);
	c->state = DIALOG_RECEIVING;
	c->left = s->n;
}

/* Does steps until one must be waited for. */
static void dialog_go_on(struct wl_turn *t, struct dialog_conn *c)
{
	while (c->state == DIALOG_STEP)
		dialog_one(t, c);
}

static void dialog_opened(struct wl_turn *t)
{
	struct dialog_conn *c = dialog_at(t);

	if (c == NULL) {
		t->close = WL_CLOSE_RST;
		return;
	}
	dialog_boundary(t, c, &dialog_conf(t)->run[0], true);
	dialog_go_on(t, c);
}

static void dialog_go(struct wl_turn *t)
{
	struct dialog_conn *c = dialog_at(t);

	if (c == NULL || c->state != DIALOG_CALL)
		return;
	c->state = DIALOG_STEP;
	dialog_go_on(t, c);
}

static void dialog_may_send(struct wl_turn *t)
{
	struct dialog_conn *c = dialog_at(t);

	if (c == NULL || c->state != DIALOG_SENDING)
		return;
	dialog_advance(t, c);
	dialog_go_on(t, c);
}

static void dialog_timer(struct wl_turn *t)
{
	struct dialog_conn *c = dialog_at(t);

	if (c == NULL || c->state != DIALOG_THINKING)
		return;
	if (t->flow->draining && t->flow->client && !c->open)
		dialog_over(t, c);
	else
		dialog_advance(t, c);
	dialog_go_on(t, c);
}

static void dialog_check(struct wl_turn *t, uint64_t at, const uint8_t *data, uint32_t n)
{
	if (t->flow->verify && data != NULL &&
	    !wl_content_same(&t->flow->content[dialog_conf(t)->content], at, data, n))
		cell_add(&t->flow->counts->mismatched, n);
}

static uint32_t dialog_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	struct dialog_conn *c = dialog_at(t);
	uint32_t take;

	if (c == NULL)
		return n;
	/* Who answers has all that was sent to it: this end has only not been told yet that it is
	 * with the network. */
	if (c->state == DIALOG_SENDING) {
		dialog_advance(t, c);
		dialog_go_on(t, c);
	}
	if (c->state != DIALOG_RECEIVING) { /* more than was to come */
		cell_add(&t->flow->counts->mismatched, n);
		return n;
	}
	take = n < c->left ? n : (uint32_t)c->left;
	dialog_check(t, dialog_conf(t)->step[c->step].n - c->left, data, take);
	dialog_begin(t, c);
	if (!c->first && t->flow->client)
		wl_timing_add(&t->flow->first, t->now_ns - c->began_ns);
	c->first = true;
	c->left -= take;
	if (c->left == 0)
		dialog_advance(t, c);
	dialog_go_on(t, c);
	return take;
}

static bool dialog_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, uint32_t n)
{
	struct dialog_conn *c = dialog_at(t);

	if (!t->flow->verify)
		return true;
	if (c == NULL || c->state != DIALOG_RECEIVING || n > c->left || distance > c->left - n)
		return false;
	dialog_check(t, dialog_conf(t)->step[c->step].n - c->left + distance, data, n);
	return true;
}

static void dialog_ended(struct wl_turn *t)
{
	struct dialog_conn *c = dialog_at(t);

	t->close = WL_CLOSE_FIN;
	t->timer_ns = WL_NO_TIMER;
	if (c == NULL)
		return;
	/* what was to be sent is: only what was to come will not */
	if (c->state == DIALOG_SENDING && dialog_conf(t)->step[c->step].done)
		dialog_done(t, c);
	if (!t->closing)
		c->began_ns = t->now_ns;
	c->state = DIALOG_OVER;
}

static void dialog_drain(struct wl_turn *t)
{
	struct dialog_conn *c = dialog_at(t);

	if (c == NULL || c->open || !t->flow->client)
		return;
	dialog_over(t, c);
	if (t->closing)
		t->close = WL_CLOSE_FIN;
}

static void dialog_closed(struct wl_turn *t, enum wl_end why)
{
	struct dialog_conn *c;

	if (t->mem[0] == 0)
		return;
	c = dialog_at(t);
	if (c->open)
		wl_failed(t, 1);
	if (wl_times_close(t, why))
		wl_timing_add(&t->flow->close, t->now_ns - c->began_ns);
	wl_free_cell(t, &t->mem[0]);
}

static unsigned dialog_cells(const struct wl_flow *f, bool udp)
{
	(void)f;
	(void)udp;
	return 1;
}

const struct workload wl_dialog = {
	.name = "dialog",
	.help = "steps of a text: send, recv, think, close",
	.tcp = true,
	.cells = dialog_cells,
	.opened = dialog_opened,
	.received = dialog_received,
	.ahead = dialog_ahead,
	.may_send = dialog_may_send,
	.ended = dialog_ended,
	.timer = dialog_timer,
	.go = dialog_go,
	.drain = dialog_drain,
	.closed = dialog_closed,
};
