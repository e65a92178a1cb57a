/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of recorders. */
#include <stdlib.h>

#include "recorder_ctl.h"

static size_t ring_bytes(uint32_t frames, uint32_t snap)
{
	return (size_t)frames * (RTE_ALIGN_CEIL(snap, RECORDER_LINE) + sizeof(struct recorder_run));
}

struct recorder_ring *recorder_ring_new(uint32_t frames, uint32_t snap, int node)
{
	struct recorder_ring *r = xcalloc_lines(sizeof(*r));

	r->frames = frames;
	r->snap = snap;
	r->stride = RTE_ALIGN_CEIL(snap, RECORDER_LINE);
	r->data = pages_new(ring_bytes(frames, snap), node);
	if (r->data == NULL) {
		free(r);
		return NULL;
	}
	r->run = (struct recorder_run *)(void *)(r->data + (size_t)frames * r->stride);
	return r;
}

void recorder_ring_free(struct recorder_ring *r)
{
	if (r == NULL)
		return;
	pages_free(r->data, ring_bytes(r->frames, r->snap));
	free(r);
}

size_t recorder_queue_bytes(uint32_t frames, uint32_t snap)
{
	return sizeof(struct recorder_queue) +
	       2 * (sizeof(struct recorder_ring) + ring_bytes(frames, snap));
}

struct recorder_queue *recorder_queue_new(uint32_t frames, uint32_t snap, int node)
{
	struct recorder_queue *q = xcalloc_lines(sizeof(*q));

	q->ring = recorder_ring_new(frames, snap, node);
	q->spare = recorder_ring_new(frames, snap, node);
	if (q->ring != NULL && q->spare != NULL)
		return q;
	recorder_queue_free(q);
	return NULL;
}

void recorder_queue_free(struct recorder_queue *q)
{
	if (q == NULL)
		return;
	recorder_ring_free(q->ring);
	recorder_ring_free(q->spare);
	recorder_ring_free(q->frozen);
	free(q);
}
