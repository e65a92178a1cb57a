/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"
#include "app.h"
#include "face.h"
#include "pieces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct app *bound;

void set_bind(const struct app *app)
{
	bound = app;
}

struct ctl *set_ctl(void)
{
	return bound != NULL ? bound->ctl : NULL;
}

bool set_find_port(const void *port_cfg, unsigned *port)
{
	if (bound == NULL || bound->ctl == NULL)
		return false;
	for (unsigned p = 0; p < ctl_nports(bound->ctl); p++) {
		if (ctl_port_cfg(bound->ctl, p) == port_cfg) {
			*port = p;
			return true;
		}
	}
	return false;
}

bool set_find_stream(const void *stream_cfg, unsigned *port, unsigned *stream)
{
	const struct stream_cfg *c = stream_cfg;

	/* an object of no port says that it is stream 0 of port 0 */
	if (bound == NULL || bound->ctl == NULL || c->port >= ctl_nports(bound->ctl) || ctl_stream_cfg(bound->ctl, c->port, c->id) != c)
		return false;
	*port = c->port;
	*stream = c->id;
	return true;
}

/* Too large for the stack of a function that is called row by row. */
static struct frame scratch;

/* ctl_frame() names the port or the stream, and so does whoever prints a warning of `set`. */
static bool frame_ok(unsigned port, unsigned stream, struct err *warn)
{
	char prefix[2][32];

	if (ctl_frame(bound->ctl, port, stream, &scratch, warn) == 0)
		return true;
	snprintf(prefix[0], sizeof(prefix[0]), "port %u: ", port);
	snprintf(prefix[1], sizeof(prefix[1]), "stream %u/%u: ", port, stream);
	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(prefix[i]);
		if (strncmp(warn->text, prefix[i], n) == 0)
			memmove(warn->text, warn->text + n, strlen(warn->text + n) + 1);
	}
	return false;
}

/* The header that a value is for, is it in the stack? */
static bool has_header(const struct frame_stack *s, const struct frame_val *v)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < s->n; i++)
		seen += s->hdr[i] == v->proto;
	return seen >= v->nth;
}

bool set_check_whole(const struct stream_cfg *cfg, struct err *warn)
{
	unsigned port, stream;

	warn->text[0] = '\0';
	for (unsigned i = 0; i < cfg->frame.vals.n; i++) {
		const struct frame_val *v = &cfg->frame.vals.val[i];
		struct sbuf name = {0};
		if (has_header(&cfg->frame.stack, v))
			continue;
		sbuf_addf(&name, "%s[%u].%s", v->proto->name, v->nth, v->field->name);
		const struct setting *row = set_row_named(name.s);
		sbuf_free(&name);
		if (row != NULL && row->check != NULL)
			row->check(row, cfg, warn);
		if (warn->text[0] != '\0')
			return false;
	}
	return !set_find_stream(cfg, &port, &stream) || frame_ok(port, stream, warn);
}

bool set_check_stream(const struct setting *row, const void *stream_cfg, struct err *warn)
{
	unsigned port, stream;

	(void)row;
	return !set_find_stream(stream_cfg, &port, &stream) || frame_ok(port, stream, warn);
}

bool set_check_port(const struct setting *row, const void *port_cfg, struct err *warn)
{
	unsigned port;

	(void)row;
	if (!set_find_port(port_cfg, &port))
		return true;
	for (unsigned s = 0; s < ctl_nstreams(bound->ctl, port); s++)
		if (ctl_stream_cfg(bound->ctl, port, s) != NULL && !frame_ok(port, s, warn))
			return false;
	return true;
}

bool set_check_per_start(const struct setting *row, const void *port_cfg, struct err *warn)
{
	unsigned port;

	if (!set_find_port(port_cfg, &port) || !ctl_sending(bound->ctl, port))
		return true;
	err_set(warn, EBUSY, "it is sending; the new %s is that of the next start", row->name);
	return false;
}

bool set_check_arrival(const struct setting *row, const void *port_cfg, struct err *warn)
{
	const struct port_cfg *cfg = port_cfg;

	(void)row;
	if (cfg->rate.kind != RATE_MAX || cfg->arrival.kind == ARRIVAL_CONSTANT)
		return true;
	err_set(warn, EINVAL, "frames that leave as fast as possible have no times at which they arrive; a start needs a rate, or `arrival "
			      "constant`");
	return false;
}

bool set_check_pacing(const struct setting *row, const void *port_cfg, struct err *warn)
{
	unsigned port;

	(void)row;
	return !set_find_port(port_cfg, &port) || ctl_pacing(bound->ctl, port, warn) == 0;
}

bool set_check_timestamps(const struct setting *row, const void *port_cfg, struct err *warn)
{
	unsigned port;

	(void)row;
	return !set_find_port(port_cfg, &port) || ctl_timestamps(bound->ctl, port, warn) == 0;
}

void set_echo_load(const struct setting *row, const void *port_cfg, struct sbuf *note)
{
	struct sbuf text = {0};
	unsigned port;

	(void)row;
	if (set_find_port(port_cfg, &port) && app_rate_text(bound, port, -1, &text))
		sbuf_addf(note, "port %u: %s\n", port, sbuf_str(&text));
	sbuf_free(&text);
}

/* What the device refuses was told as a warning. */
void set_echo_pacing(const struct setting *row, const void *port_cfg, struct sbuf *note)
{
	struct sbuf text = {0};
	struct err e;
	unsigned port;

	if (set_find_port(port_cfg, &port) && ctl_pacing(bound->ctl, port, &e) == 0 && app_pacing_text(bound, port, row->name, &text))
		sbuf_addf(note, "port %u: %s\n", port, sbuf_str(&text));
	sbuf_free(&text);
}

/* Of the stream, and what the port asks for with it where that is more than the link carries. */
void set_echo_stream_load(const struct setting *row, const void *stream_cfg, struct sbuf *note)
{
	struct sbuf text = {0};
	unsigned port, stream;
	struct ctl_load l;

	(void)row;
	if (!set_find_stream(stream_cfg, &port, &stream))
		return;
	if (app_rate_text(bound, port, (int)stream, &text))
		sbuf_addf(note, "stream %u/%u: %s\n", port, stream, sbuf_str(&text));
	if (ctl_load(bound->ctl, port, &l, NULL) == 0 && !l.is_max && l.l1_bps > l.link_bps * 1.00001) {
		sbuf_reset(&text);
		if (app_rate_text(bound, port, -1, &text))
			sbuf_addf(note, "port %u, all streams: %s\n", port, sbuf_str(&text));
	}
	sbuf_free(&text);
}

static struct {
	bool on;
	const void *cfg;              /* whose frame it is, NULL: nobody's */
	const struct frame *frame;
} held;
static struct frame now;

void set_hold(bool on)
{
	held.on = on;
	held.cfg = NULL;
}

const struct frame *set_frame_now(const void *stream_cfg)
{
	unsigned port, stream;

	if (held.on && held.cfg == stream_cfg)
		return held.frame;
	bool ok = set_find_stream(stream_cfg, &port, &stream) && ctl_frame(bound->ctl, port, stream, &now, NULL) == 0;
	held.cfg = stream_cfg;
	held.frame = ok ? &now : NULL;
	return held.frame;
}

void set_add_row(const struct setting ***rows, unsigned *n, const struct setting *row)
{
	*rows = xrealloc(*rows, (*n + 1) * sizeof(**rows));
	(*rows)[(*n)++] = row;
}

/* In the order of the table. */
static const struct set_chunk own_chunks[] = {
	{100, set_view_rows},
	{200, set_tester_rows},
	{300, set_trial_rows},
	{400, set_port_rows},
	{700, set_stream_rows},
	{780, set_arrival_rows},
	{800, set_nest_rows},
	{900, set_payload_rows},
	{1000, .add = set_rnd_rows},
	{1100, .add = set_field_rows},
	{1300, set_pktgen_rows},
	{1400, set_habit_rows},
	{1600, set_later_rows},
	{0},
};

static const void *chunks_of(const struct face *f)
{
	return f->rows;
}

static void add_chunk(const struct setting ***rows, unsigned *n, const struct set_chunk *chunk)
{
	for (const struct setting *row = chunk->row; row != NULL && row->name != NULL; row++)
		set_add_row(rows, n, row);
	if (chunk->add != NULL)
		chunk->add(rows, n);
}

const struct setting *const *set_extra_rows(unsigned *n)
{
	static const struct set_chunk extra[] = {{.row = set_nest_rows}, {.row = set_payload_rows}, {.add = set_rnd_rows}};
	static const struct setting **rows;
	static unsigned nrows;

	if (rows == NULL)
		for (unsigned i = 0; i < ARRAY_SIZE(extra); i++)
			add_chunk(&rows, &nrows, &extra[i]);
	*n = nrows;
	return rows;
}

const struct setting *const *set_rows(unsigned *n)
{
	static const struct setting **rows;
	static unsigned nrows;
	const struct setting *const *more;
	unsigned nmore = set_more_rows(&more);

	if (rows == NULL) {
		unsigned nchunks;
		const void **chunks = pieces(own_chunks, chunks_of, sizeof(own_chunks[0]), &nchunks);
		for (unsigned i = 0; i < nchunks; i++)
			add_chunk(&rows, &nrows, chunks[i]);
		free(chunks);
	}
	rows = xrealloc(rows, (nrows + nmore) * sizeof(*rows));
	for (unsigned i = 0; i < nmore; i++)
		rows[nrows + i] = more[i];
	*n = nrows + nmore;
	return rows;
}
