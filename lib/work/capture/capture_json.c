/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of captures, and the document of `show capture`. */
#include "capture_ctl.h"

#include <string.h>

#include "clock.h"

/* What sources have counted is added up from their cells while they are there. */
static void count_sources(const struct capture *k, int iface, struct capture_count *n)
{
	for (unsigned i = 0; i < k->nsources; i++) {
		const struct capture_source *s = k->source[i];
		if (iface >= 0 && k->iface[i] != (unsigned)iface)
			continue;
		n->seen += cell_get(&s->seen);
		n->accepted += cell_get(&s->accepted);
		n->no_block += cell_get(&s->no_block);
	}
}

static void count_kept(const struct capture *k, int iface, struct capture_count *n)
{
	for (unsigned i = 0; i < k->nifaces; i++) {
		if (iface >= 0 && i != (unsigned)iface)
			continue;
		n->seen += k->kept[i].seen;
		n->accepted += k->kept[i].accepted;
		n->no_block += k->kept[i].no_block;
	}
}

void capture_count_of(const struct capture *k, int iface, struct capture_count *n)
{
	*n = (struct capture_count){0};
	/* The fates of frames are read before their number, so that no frame has a fate and is not
	 * there yet. */
	for (unsigned i = 0; i < k->nifaces; i++) {
		const struct capture_fates *f = capture_out_fates(k->out, i);
		if (iface >= 0 && i != (unsigned)iface)
			continue;
		n->rotated_out += cell_get(&f->rotated_out);
		n->bytes -= cell_get(&f->rotated_bytes);
		n->frames += cell_get(&f->written);
		n->bytes += cell_get(&f->bytes);
		n->write_failed += cell_get(&f->write_failed);
		n->beyond_limit += cell_get(&f->beyond_limit);
	}
	n->frames -= n->rotated_out;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (k->kept != NULL)
		count_kept(k, iface, n);
	else
		count_sources(k, iface, n);
	n->dropped = n->no_block + n->write_failed + n->beyond_limit + n->rotated_out;
}

void capture_count_keep(struct capture *k)
{
	struct capture_count *kept = xcalloc(k->nifaces, sizeof(*kept));

	for (unsigned i = 0; i < k->nifaces; i++)
		count_sources(k, (int)i, &kept[i]);
	k->kept = kept;
}

void capture_why_text(const struct capture *k, struct sbuf *out)
{
	static const char *const text[] = {[CAPTURE_BY_STOP] = "stopped",
					   [CAPTURE_BY_TIME] = "its time is over",
					   [CAPTURE_BY_OUT] = "ended",
					   [CAPTURE_BY_QUIT] = "ended with the program"};

	switch (capture_out_why(k->out)) {
	case CAPTURE_LIMIT_FRAMES:
		sbuf_add(out, "its frames are complete");
		break;
	case CAPTURE_LIMIT_SIZE:
		sbuf_add(out, "the file has its size");
		break;
	case CAPTURE_FAILED:
		sbuf_addf(out, "the file takes no more: %s", strerror(capture_out_error(k->out)));
		break;
	case CAPTURE_LEFT:
		sbuf_add(out, "its reader is gone");
		break;
	case CAPTURE_GOES_ON:
		sbuf_add(out, text[k->why]);
		break;
	}
}

static const char *capture_state_word(const struct capture *k)
{
	if (k->stage == CAPTURE_ARMED)
		return "capturing";
	if (k->stage != CAPTURE_ENDED)
		return "ending";
	return capture_out_why(k->out) == CAPTURE_FAILED ? "failed" : "done";
}

static uint64_t capture_since(const struct capture *k)
{
	uint64_t end = k->stage == CAPTURE_ARMED ? clock_tsc() : k->ended_tsc;

	return clock_ns(RTE_MIN(end, k->end_tsc) - k->begin_tsc);
}

uint64_t capture_frames(const struct ctl *c, unsigned port, uint64_t *since_ns)
{
	const struct capture *k = capture_of_port(c->port[port])->now;
	struct capture_count n;

	*since_ns = 0;
	if (k == NULL)
		return 0;
	capture_count_of(k, -1, &n);
	*since_ns = capture_since(k);
	return n.frames + n.rotated_out;
}

static json_t *capture_port_json(const struct ctl_port *cp, const struct capture *k, unsigned iface)
{
	struct capture_count n;
	struct sbuf why = {0};
	bool armed = k->stage == CAPTURE_ARMED;

	capture_count_of(k, (int)iface, &n);
	if (!armed)
		capture_why_text(k, &why);
	uint64_t gone = n.frames + n.dropped;
	json_t *o = json_pack(
		"{s:i,s:s,s:s,s:I,s:s,s:s,s:s,s:s?,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}",
		"port", (int)cp->p.id, "name", cp->p.name, "file", k->spec.path, "files",
		(json_int_t)capture_out_files(k->out), "state", capture_state_word(k), "why",
		sbuf_str(&why), "direction",
		k->spec.rx && k->spec.tx ? "both"
		: k->spec.rx             ? "rx"
					 : "tx",
		"filter", k->spec.filter, "snap", (json_int_t)k->spec.snap, "seen",
		(json_int_t)n.seen, "accepted", (json_int_t)n.accepted, "frames",
		(json_int_t)n.frames, "bytes", (json_int_t)n.bytes, "dropped",
		(json_int_t)n.dropped, "no_block", (json_int_t)n.no_block, "write_failed",
		(json_int_t)n.write_failed, "beyond_limit", (json_int_t)n.beyond_limit,
		"rotated_out", (json_int_t)n.rotated_out, "waiting",
		(json_int_t)(n.accepted > gone ? n.accepted - gone : 0), "file_bytes",
		(json_int_t)capture_out_bytes(k->out), "memory_bytes",
		(json_int_t)(k->stage == CAPTURE_ENDED ? 0 : k->memory_bytes), "duration_ns",
		(json_int_t)capture_since(k));
	sbuf_free(&why);
	return o;
}

json_t *capture_json(struct ctl *c, const struct portset *ports)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct capture *k = capture_of_port(c->port[i])->now;
		unsigned iface = 0;
		if (!portset_has(ports, i) || k == NULL)
			continue;
		for (unsigned p = 0; p < i; p++)
			iface += portset_has(&k->spec.ports, p);
		json_array_append_new(list, capture_port_json(c->port[i], k, iface));
	}
	return json_pack("{s:s,s:o}", "show", "capture", "ports", list);
}
