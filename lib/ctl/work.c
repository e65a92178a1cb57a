/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates the memory that works keep for control and for each port, and finds their settings of a
 * port. This file also puts questions to all works together. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

static unsigned place_of(const struct work *of)
{
	unsigned i = 0;

	while (works[i] != NULL && works[i] != of)
		i++;
	assert(i < WORK_MAX && works[i] != NULL);
	return i;
}

void *work_port(const struct ctl_port *cp, const struct work *of)
{
	assert(of->port_bytes > 0);
	return cp->work[place_of(of)];
}

void *work_ctl(const struct ctl *c, const struct work *of)
{
	assert(of->ctl_bytes > 0);
	return c->work[place_of(of)];
}

/* Returns the offset of a work's settings in port_cfg.work. They begin where those of the works
 * before it in the list end. NULL: returns the size of the settings of all works. */
static size_t cfg_at(const struct work *of)
{
	size_t at = 0;

	for (unsigned i = 0; works[i] != NULL && works[i] != of; i++)
		at += RTE_ALIGN_CEIL(works[i]->cfg_bytes, sizeof(uint64_t));
	return at;
}

void *work_cfg(const struct port_cfg *cfg, const struct work *of)
{
	return (uint8_t *)(uintptr_t)cfg->work + cfg_at(of);
}

/* The same for the settings of streams. */
static size_t stream_cfg_at(const struct work *of)
{
	size_t at = 0;

	for (unsigned i = 0; works[i] != NULL && works[i] != of; i++)
		at += RTE_ALIGN_CEIL(works[i]->stream_cfg_bytes, sizeof(uint64_t));
	return at;
}

/* The defaults of all works, made when they are first asked for. */
static const uint8_t *stream_cfg_defaults(void)
{
	static _Alignas(uint64_t) uint8_t defaults[STREAM_WORK_BYTES];
	static bool made;

	if (!made) {
		assert(stream_cfg_at(NULL) <= STREAM_WORK_BYTES);
		EACH_WORK(w, stream_cfg_init)
			w->stream_cfg_init(defaults + stream_cfg_at(w));
		made = true;
	}
	return defaults;
}

const void *work_stream_cfg(const struct stream_cfg *cfg, const struct work *of)
{
	return (cfg->work != NULL ? cfg->work : stream_cfg_defaults()) + stream_cfg_at(of);
}

void *work_stream_cfg_own(struct stream_cfg *cfg, const struct work *of)
{
	if (cfg->work == NULL) {
		cfg->work = xcalloc(1, STREAM_WORK_BYTES);
		memcpy(cfg->work, stream_cfg_defaults(), STREAM_WORK_BYTES);
	}
	return cfg->work + stream_cfg_at(of);
}

const char *ctl_stream_carrier(const struct stream_cfg *cfg)
{
	EACH_WORK(w, carries)
		if (w->carries(cfg))
			return w->name;
	return NULL;
}

bool ctl_stream_carried(const struct stream_cfg *cfg)
{
	return ctl_stream_carrier(cfg) != NULL;
}

static void usual_frame(const struct stream_cfg *cfg, struct frame_stack *out)
{
	const char *text = STREAM_DFLT_FRAME;

	EACH_WORK(w, carries)
		if (w->carried_frame != NULL && w->carries(cfg))
			text = w->carried_frame;
	frame_stack_parse(text, out, NULL);
}

void ctl_stream_frame_follow(struct stream_cfg *cfg)
{
	if (!cfg->frame_set)
		usual_frame(cfg, &cfg->frame.stack);
}

bool ctl_stream_frame_usual(const struct stream_cfg *cfg)
{
	struct frame_stack usual;

	usual_frame(cfg, &usual);
	return usual.n == cfg->frame.stack.n &&
	       memcmp(usual.hdr, cfg->frame.stack.hdr, usual.n * sizeof(usual.hdr[0])) == 0;
}

bool stream_scheduled(const struct stream *s)
{
	return s != NULL && s->cfg.enabled && !ctl_stream_carried(&s->cfg);
}

bool stream_answers(const struct stream *s)
{
	EACH_WORK(w, answers)
		if (w->answers(&s->cfg))
			return true;
	return false;
}

bool port_own_address(const struct ctl_port *cp, bool is6, uint8_t *ip)
{
	EACH_WORK(w, own_address)
		if (w->own_address(cp, is6, ip))
			return true;
	return false;
}

bool streams_carried(const struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL && cp->stream[i]->cfg.enabled &&
		    ctl_stream_carried(&cp->stream[i]->cfg))
			return true;
	return false;
}

void ctl_cfg_init(struct port_cfg *out)
{
	port_cfg_init(out);
	EACH_WORK(w, cfg_init)
		w->cfg_init(work_cfg(out, w));
}

struct ctl *ctl_new(void)
{
	struct ctl *c = xcalloc(1, sizeof(*c));

	assert(cfg_at(NULL) <= PORT_WORK_BYTES);
	for (unsigned i = 0; works[i] != NULL; i++) {
		assert(i < WORK_MAX);
		c->work[i] = xcalloc(1, works[i]->ctl_bytes);
	}
	return c;
}

void ctl_free(struct ctl *c)
{
	for (unsigned i = 0; i < WORK_MAX; i++)
		free(c->work[i]);
	free(c);
}

struct ctl_port *ctl_port_new(void)
{
	struct ctl_port *cp = xcalloc(1, sizeof(*cp));

	port_init(&cp->p, &cp->cfg);
	for (unsigned i = 0; works[i] != NULL; i++)
		cp->work[i] = xcalloc(1, works[i]->port_bytes);
	return cp;
}

void ctl_port_free(struct ctl_port *cp)
{
	for (unsigned i = 0; i < WORK_MAX; i++)
		free(cp->work[i]);
	free(cp->faults_to);
	free(cp);
}

bool ctl_frames_inside(const struct ctl *c)
{
	EACH_WORK(w, holds)
		if (w->holds(c))
			return true;
	return false;
}

bool works_write(const struct ctl *c)
{
	EACH_WORK(w, writes)
		if (w->writes(c))
			return true;
	return false;
}

uint64_t works_inside(const struct ctl *c, const struct portset *from)
{
	uint64_t sum = 0;

	EACH_WORK(w, inside)
		sum += w->inside(c, from);
	return sum;
}

void ctl_faults_to(struct ctl *c, struct ctl_port *cp, unsigned queue, const struct dp_watcher *to)
{
	if (cp->faults_to == NULL)
		cp->faults_to = xcalloc(cp->p.nrxq, sizeof(*cp->faults_to));
	cp->faults_to[queue] = to;
	EACH_WORK(w, faults_to)
		w->faults_to(c, cp->p.id, queue, to);
}

const struct dp_watcher *ctl_faults_watcher(const struct ctl_port *cp, unsigned queue)
{
	return cp->faults_to != NULL ? cp->faults_to[queue] : NULL;
}

bool ctl_faults_told(const struct ctl *c)
{
	EACH_WORK(w, faults_told)
		if (w->faults_told(c))
			return true;
	return false;
}
