/* SPDX-License-Identifier: BSD-3-Clause */
/* What recorders have done, as JSON. */
#include "recorder_ctl.h"

static const char *const recorder_whys[RECORDER_WHYS] = {
	[RECORDER_BUSY] = "busy",     [RECORDER_RATE] = "rate", [RECORDER_LIMIT] = "limit",
	[RECORDER_FAILED] = "failed", [RECORDER_FULL] = "full",
};

void recorder_count_of(const struct recorder *r, unsigned queue, struct recorder_count *out)
{
	if (r->kept != NULL && queue < r->nkept) {
		*out = r->kept[queue];
		return;
	}
	const struct recorder_queue *q = r->queue[queue];
	*out = (struct recorder_count){.kept = cell_get(&q->seen_frames),
				       .spread = cell_get(&q->spread)};
	/* What was told is counted before it is unwritten, and so read behind it. */
	for (unsigned i = 0; i < RECORDER_WHYS; i++)
		out->unwritten[i] = cell_get(&q->unwritten[i]);
	for (unsigned i = 0; i < DP_FAULTS; i++)
		out->told[i] = cell_get(&q->told[i]);
}

/* The sum of all queues, and of what control has counted. */
static void recorder_sum(const struct recorder *r, struct recorder_count *sum)
{
	unsigned n = r->kept != NULL ? r->nkept : r->nqueues;

	*sum = (struct recorder_count){0};
	for (unsigned i = 0; i < RECORDER_WHYS; i++)
		sum->unwritten[i] = r->unwritten[i];
	for (unsigned q = 0; q < n; q++) {
		struct recorder_count one;
		recorder_count_of(r, q, &one);
		sum->kept += one.kept;
		sum->spread += one.spread;
		for (unsigned i = 0; i < RECORDER_WHYS; i++)
			sum->unwritten[i] += one.unwritten[i];
		for (unsigned i = 0; i < DP_FAULTS; i++)
			sum->told[i] += one.told[i];
	}
}

static json_t *numbers_json(const char *const *name, const uint64_t *v, unsigned n)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < n; i++)
		json_object_set_new(o, name[i], json_integer((json_int_t)v[i]));
	return o;
}

static json_t *recorder_one(const struct recorder *r, unsigned nports)
{
	static const char *const state[] = {
		[RECORDER_ON] = "recording", [RECORDER_ENDING] = "ending", [RECORDER_OFF] = "off"};
	json_t *ports = json_array(), *kinds = json_array();
	struct recorder_count n;
	uint64_t faults = 0, gone = r->in_files;

	recorder_sum(r, &n);
	for (unsigned i = 0; i < DP_FAULTS; i++)
		faults += n.told[i];
	for (unsigned i = 0; i < RECORDER_WHYS; i++)
		gone += n.unwritten[i];
	for (unsigned i = 0; i < nports; i++)
		if (portset_has(&r->spec.ports, i))
			json_array_append_new(ports, json_integer(i));
	for (unsigned i = 0; i < DP_FAULTS; i++)
		if ((r->spec.what.kinds >> i & 1) != 0)
			json_array_append_new(kinds, json_string(recorder_kinds[i]));
	return json_pack(
		"{s:o,s:s,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:o,s:I,s:I,s:I,s:s?,s:s?}",
		"ports", ports, "state", state[r->stage], "kinds", kinds, "latency_ns",
		(json_int_t)r->spec.what.latency_ns, "frames", (json_int_t)r->spec.frames, "snap",
		(json_int_t)r->spec.snap, "memory_bytes",
		(json_int_t)(r->stage == RECORDER_OFF ? 0 : r->memory_bytes), "kept",
		(json_int_t)n.kept, "faults", (json_int_t)faults, "told",
		numbers_json(recorder_kinds, n.told, DP_FAULTS), "in_files",
		(json_int_t)r->in_files, "waiting", (json_int_t)(faults > gone ? faults - gone : 0),
		"unwritten", numbers_json(recorder_whys, n.unwritten, RECORDER_WHYS), "spread",
		(json_int_t)n.spread, "files", (json_int_t)r->nfiles, "failed",
		(json_int_t)r->nfailed, "file", r->last[0] != '\0' ? r->last : NULL, "why",
		r->why[0] != '\0' ? r->why : NULL);
}

json_t *recorder_json(const struct ctl *c, const struct portset *ports)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct recorder *r = recorder_of_port(c->port[i])->now;
		bool shown = r == NULL || !portset_has(ports, i);
		for (unsigned k = 0; k < i && !shown; k++)
			shown = portset_has(ports, k) && recorder_of_port(c->port[k])->now == r;
		if (!shown)
			json_array_append_new(list, recorder_one(r, c->nports));
	}
	return json_pack("{s:s,s:I,s:i,s:o}", "show", "recorder", "files",
			 (json_int_t)recorders_of(c)->files, "files_most", RECORDER_FILES_MOST,
			 "recorders", list);
}
