/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said about frames and files, in comments of pcapng. */
#include <inttypes.h>

#include "recorder_ctl.h"

/* Appends a time with three digits: "14.2 us". */
static void put_time(const struct recorder_file *f, uint64_t cycles, struct sbuf *out)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};
	double t = (double)cycles * f->ns_of_cycle;
	unsigned i = 0;

	for (; t >= 999.5 && i + 1 < ARRAY_SIZE(unit); i++)
		t /= 1000;
	sbuf_addf(out, "%.3g %s", t, unit[i]);
}

/* "stream 0/3" of port 0, and the Tx queue where its port has several, as each numbers its own
 * frames. */
static void put_stream(const struct recorder_file *f, const struct recorder_fault *x,
		       struct sbuf *out)
{
	const struct recorder_names *n = x->port < f->nnames ? &f->names[x->port] : NULL;

	if (n != NULL && x->stream < n->ncells && n->id[x->stream] != UINT16_MAX)
		sbuf_addf(out, "stream %u/%u", x->port, n->id[x->stream]);
	else
		sbuf_addf(out, "a deleted stream of port %u", x->port);
	if (n != NULL && n->nqueues > 1)
		sbuf_addf(out, " queue %u", x->txq);
}

static void put_missing(const struct recorder_fault *x, struct sbuf *out)
{
	if (x->missing == 1)
		sbuf_addf(out, " seq %" PRIu32 " expected here", x->expected);
	else
		sbuf_addf(out, " seq %" PRIu32 " to %" PRIu32 " (%" PRIu32 " frames) expected here",
			  x->expected, x->expected + x->missing - 1, x->missing);
}

/* What came before the frame behind missing numbers. */
static void put_before(const struct recorder_file *f, const struct recorder_fault *x,
		       uint64_t before, struct sbuf *out)
{
	uint64_t cycles = before != RECORDER_UNKNOWN ? before : x->since;

	if (before != RECORDER_UNKNOWN)
		sbuf_addf(out, "; %" PRIu32 " came ", x->expected - 1);
	else
		sbuf_add(out, "; its last frame came ");
	if (cycles == 0) {
		sbuf_add(out, "in the same burst");
		return;
	}
	put_time(f, cycles, out);
	sbuf_add(out, " before");
}

void recorder_comment_rx(const struct recorder_file *f, const struct recorder_fault *x,
			 uint64_t before, struct sbuf *out)
{
	if (!x->known) {
		sbuf_add(
			out,
			"damaged: this frame had a probe that cannot be read, so nobody knows which one it is");
		return;
	}
	put_stream(f, x, out);
	switch ((enum dp_fault_kind)x->kind) {
	case DP_FAULT_LOSS:
		put_missing(x, out);
		put_before(f, x, before, out);
		break;
	case DP_FAULT_DUPLICATE:
		sbuf_addf(out, " seq %" PRIu32 " is a duplicate: it came before", x->seq);
		break;
	case DP_FAULT_REORDER:
		sbuf_addf(out, " seq %" PRIu32 " came out of order: %" PRIu32 " had come before",
			  x->seq, x->expected - 1);
		break;
	case DP_FAULT_CORRUPT:
		sbuf_addf(out,
			  " seq %" PRIu32
			  " is corrupt: a checksum is wrong, or a header contradicts itself",
			  x->seq);
		break;
	case DP_FAULT_LATENCY:
		sbuf_addf(out, " seq %" PRIu32 " took ", x->seq);
		put_time(f, x->transit, out);
		break;
	case DP_FAULTS:
		break;
	}
}

void recorder_comment_tx(const struct recorder_file *f, const struct recorder_fault *x,
			 uint32_t seq, struct sbuf *out)
{
	static const char *const became[] = {
		[DP_FAULT_LOSS] = "did not come within the window",
		[DP_FAULT_DUPLICATE] = "came more than once",
		[DP_FAULT_REORDER] = "came out of order",
		[DP_FAULT_CORRUPT] = "came corrupt",
		[DP_FAULT_LATENCY] = "took ",
	};

	put_stream(f, x, out);
	sbuf_addf(out, " seq %" PRIu32 " was sent here and %s", seq, became[x->kind]);
	if (x->kind == DP_FAULT_LATENCY)
		put_time(f, x->transit, out);
}

/* The fault that came first. NULL: there is none. */
static const struct recorder_fault *first_fault(const struct recorder_file *f, unsigned *feed)
{
	const struct recorder_fault *first = NULL;

	for (unsigned i = 0; i < f->nfeeds; i++) {
		const struct recorder_ring *r = f->feed[i].ring;
		if (r->nfaults == 0 || (first != NULL && r->fault[0].tsc >= first->tsc))
			continue;
		first = &r->fault[0];
		*feed = i;
	}
	return first;
}

unsigned recorder_file_port(const struct recorder_file *f)
{
	unsigned feed = 0;

	return first_fault(f, &feed) != NULL ? f->feed[feed].port : f->iface[0].port;
}

uint64_t recorder_file_faults(const struct recorder_file *f)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < f->nfeeds; i++)
		n += f->feed[i].ring->nfaults;
	return n;
}

void recorder_comment_file(const struct recorder_file *f, struct sbuf *out)
{
	unsigned feed = 0, n[DP_FAULTS] = {0};
	const struct recorder_fault *first = first_fault(f, &feed);
	const char *before = ": ";

	if (first == NULL) {
		sbuf_add(out, f->dump ? "recorder: written by the command dump, without a fault"
				      : "recorder: without a fault");
		return;
	}
	sbuf_addf(out, "recorder: %s%s on port %u queue %u: ", f->dump ? "dump after " : "",
		  recorder_kinds[first->kind], f->feed[feed].port, f->feed[feed].queue);
	recorder_comment_rx(f, first, RECORDER_UNKNOWN, out);
	for (unsigned i = 0; i < f->nfeeds; i++)
		for (unsigned k = 0; k < f->feed[i].ring->nfaults; k++)
			n[f->feed[i].ring->fault[k].kind]++;
	sbuf_addf(out, "; faults in this file");
	for (unsigned k = 0; k < DP_FAULTS; k++) {
		if (n[k] == 0)
			continue;
		sbuf_addf(out, "%s%s %u", before, recorder_kinds[k], n[k]);
		before = ", ";
	}
}
