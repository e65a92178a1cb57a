/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the table of settings together, and has the checks and echoes that its rows share. */
#include "rows.h"
#include "app.h"
#include "face.h"
#include "pieces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ctl *set_ctl(const struct set_obj *obj)
{
	const struct app *app = obj->host;

	return app != NULL ? app->ctl : NULL;
}

/* A frame that frame_ok() builds and drops. It is too large for the stack. */
static struct frame scratch;

/* Says whether the frame of a stream can be built. ctl_frame() puts the port or stream before its
 * message; that is removed, because `set` puts it before every warning. */
static bool frame_ok(struct ctl *ctl, unsigned port, unsigned stream, struct err *warn)
{
	char prefix[2][32];

	if (ctl_frame(ctl, port, stream, &scratch, warn) == 0)
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

/* Says whether the stack has the header that a value is for. */
static bool has_header(const struct frame_stack *s, const struct frame_val *v)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < s->n; i++)
		seen += s->hdr[i] == v->proto;
	return v->nth > FRAME_REPLY ? seen + FRAME_REPLY >= v->nth : seen >= v->nth;
}

static bool stream_ok(const struct set_obj *obj, struct err *warn)
{
	struct ctl *ctl = set_ctl(obj);

	return ctl == NULL || frame_ok(ctl, obj->port, obj->id, warn);
}

bool set_check_whole(const struct set_obj *stream, struct err *warn)
{
	const struct stream_cfg *cfg = stream->cfg;

	warn->text[0] = '\0';
	for (unsigned i = 0; i < cfg->frame.vals.n; i++) {
		const struct frame_val *v = &cfg->frame.vals.val[i];
		struct sbuf name = {0};
		if (has_header(&cfg->frame.stack, v))
			continue;
		if (v->nth > 1)
			frame_field_name(v->proto, v->nth, v->field, &name);
		else
			sbuf_addf(&name, "%s[1].%s", v->proto->name, v->field->name);
		const struct setting *row = set_row_named(name.s);
		sbuf_free(&name);
		if (row != NULL && row->check != NULL)
			row->check(row, stream, warn);
		if (warn->text[0] != '\0')
			return false;
	}
	return stream_ok(stream, warn);
}

bool set_check_stream(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	(void)row;
	return stream_ok(obj, warn);
}

bool set_check_port(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	struct ctl *ctl = set_ctl(obj);

	(void)row;
	for (unsigned s = 0; ctl != NULL && s < ctl_nstreams(ctl, obj->port); s++)
		if (ctl_stream_cfg(ctl, obj->port, s) != NULL && !frame_ok(ctl, obj->port, s, warn))
			return false;
	return true;
}

bool set_check_per_start(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct ctl *ctl = set_ctl(obj);

	if (ctl == NULL || !ctl_sending(ctl, obj->port))
		return true;
	err_set(warn, EBUSY, "it is sending; the new %s is that of the next start", row->name);
	return false;
}

bool set_check_arrival(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct port_cfg *cfg = obj->cfg;

	(void)row;
	if (cfg->rate.kind != RATE_MAX || cfg->arrival.kind == ARRIVAL_CONSTANT)
		return true;
	err_set(warn, EINVAL,
		"frames that leave as fast as possible have no times at which they arrive; a start needs a rate, or `arrival "
		"constant`");
	return false;
}

bool set_check_pacing(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	struct ctl *ctl = set_ctl(obj);

	(void)row;
	return ctl == NULL || ctl_pacing(ctl, obj->port, warn) == 0;
}

bool set_check_timestamps(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	struct ctl *ctl = set_ctl(obj);

	(void)row;
	return ctl == NULL || ctl_timestamps(ctl, obj->port, warn) == 0;
}

void set_echo_load(const struct setting *row, const struct set_obj *obj, struct sbuf *note)
{
	struct sbuf text = {0};

	(void)row;
	if (set_ctl(obj) != NULL && app_rate_text(obj->host, obj->port, -1, &text))
		sbuf_addf(note, "port %u: %s\n", obj->port, sbuf_str(&text));
	sbuf_free(&text);
}

/* Says nothing about a pacing that the device refuses, because the row's check has warned of it. */
void set_echo_pacing(const struct setting *row, const struct set_obj *obj, struct sbuf *note)
{
	struct sbuf text = {0};
	struct ctl *ctl = set_ctl(obj);
	struct err e;

	if (ctl != NULL && ctl_pacing(ctl, obj->port, &e) == 0 &&
	    app_pacing_text(obj->host, obj->port, row->name, &text))
		sbuf_addf(note, "port %u: %s\n", obj->port, sbuf_str(&text));
	sbuf_free(&text);
}

/* Tells the load of the stream, and that of all streams of the port if this is more than the link
 * carries. */
void set_echo_stream_load(const struct setting *row, const struct set_obj *obj, struct sbuf *note)
{
	struct sbuf text = {0};
	struct ctl *ctl = set_ctl(obj);
	const struct app *app = obj->host;
	struct ctl_load l;

	(void)row;
	if (ctl == NULL)
		return;
	if (app_rate_text(app, obj->port, (int)obj->id, &text))
		sbuf_addf(note, "stream %u/%u: %s\n", obj->port, obj->id, sbuf_str(&text));
	if (ctl_load(ctl, obj->port, &l, NULL) == 0 && !l.is_max &&
	    l.l1_bps > l.link_bps * 1.00001) {
		sbuf_reset(&text);
		if (app_rate_text(app, obj->port, -1, &text))
			sbuf_addf(note, "port %u, all streams: %s\n", obj->port, sbuf_str(&text));
	}
	sbuf_free(&text);
}

static struct {
	bool on;
	/* the settings of the stream whose frame it is, NULL: there is none */
	const void *cfg;
	const struct frame *frame; /* NULL: none can be built */
} held;
static struct frame now;

void set_hold(bool on)
{
	held.on = on;
	held.cfg = NULL;
}

const struct frame *set_frame_now(const struct set_obj *stream)
{
	struct ctl *ctl = set_ctl(stream);

	if (held.on && held.cfg == stream->cfg)
		return held.frame;
	bool ok = ctl != NULL && ctl_frame(ctl, stream->port, stream->id, &now, NULL) == 0;
	held.cfg = stream->cfg;
	held.frame = ok ? &now : NULL;
	return held.frame;
}

void set_add_row(const struct setting ***rows, unsigned *n, const struct setting *row)
{
	*rows = xrealloc(*rows, (*n + 1) * sizeof(**rows));
	(*rows)[(*n)++] = row;
}

/* The program's own rows, in the order of the table. Faces add theirs by their places. */
static const struct set_chunk own_chunks[] = {
	{100, set_view_rows},
	{200, set_tester_rows},
	{300, set_trial_rows},
	{400, set_port_rows},
	{410, set_rss_rows},
	{700, set_stream_rows},
	{780, set_arrival_rows},
	{800, set_nest_rows},
	{900, set_payload_rows},
	{1000, .add = set_rnd_rows},
	{1100, .add = set_field_rows},
	{1400, set_habit_rows},
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
	static const struct set_chunk extra[] = {{.row = set_nest_rows},
						 {.row = set_payload_rows},
						 {.add = set_rnd_rows}};
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
		const void **chunks =
			pieces(own_chunks, chunks_of, sizeof(own_chunks[0]), &nchunks);
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
