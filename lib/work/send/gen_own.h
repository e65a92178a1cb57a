/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside kind "gen": what a queue's worker keeps of its groups while a run goes on. gen.c sends with it, gen_adopt.c leads it from plan to
 * plan and from phase to phase. Worker only. */
#pragma once
#include "send_run.h"
#include "txq.h"

#define GEN_FCS RTE_ETHER_CRC_LEN

/* Rates, probes, values that vary, several groups: whether a plan may have them. The bench builds the sender without, to compare with. */
#ifndef GEN_EXTRAS
#define GEN_EXTRAS true
#endif

enum gen_has_probes {
	GEN_NO_PROBES,
	GEN_PROBES,           /* some frames have room for one */
	GEN_PROBES_FUSED,     /* of a simple group: they are put in while frames are filled */
};

/* A group: the schedule of the port, or a stream of its own rate. Own frame i, counted from the start of the run, is frame
 * k = queue + i x nqueues. */
struct gen_grp {
	/* for each burst: two cache lines, and a third for the image of a small frame: those of many programs lie on few cache sets */
	uint64_t i;           /* own frames that were built */
	uint64_t end_i;       /* where the phase or the run ends */
	struct pace pace;     /* over frames, or bytes where the rate is one of bits */
	uint64_t unit;        /* of the next frame */
	uint64_t step;        /* units from one own frame to the next; 0: sizes differ */
	const struct frun *prog;
	void *state;
	const uint8_t *image; /* of class 0 */
	uint64_t ol_flags, tx_offload;
	uint32_t tag;
	int32_t stream;
	uint16_t len;         /* without FCS of every own frame; 0: they differ */
	uint16_t port_len;    /* the same of all queues' frames */
	uint16_t image_len;
	uint16_t nclasses;
	bool plain;           /* one class, and its mark is the queue's */
	bool fixed;
	bool bytes : 1, l2 : 1;
	bool chases;          /* behind a stall: the pace is faster than the one asked for, which lies in the group's gen_arr */
	bool mends;           /* the driver writes into headers although marks and shapes stay */
	uint8_t dst;          /* DP_DST_* of class 0, without DP_DST_SHIFT */
	uint8_t probes;       /* enum gen_has_probes */
	bool simple;          /* the port's only group, plain, of one length, without prepare */
	WR_ALIGNED(CACHE_LINE) uint8_t small[CACHE_LINE];
	/* at the end of a phase, and for a new plan */
	const struct gen_group *group;
	const struct gen_phase *phase;
	uint64_t limit_i;
	struct gen_arr *arr;  /* NULL: constant arrivals at a steady rate */
	uint64_t epoch_i;     /* own frame that the schedule began with */
	uint64_t prog_i;      /* own frame 0 of prog */
	uint64_t off;         /* bytes: units before the phase's first frame, mod 2^64 */
} WR_ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct gen_grp) == 4 * CACHE_LINE, "thousands of groups are to lie in few lines");

/* What a group with a shape keeps. Its gen_grp.pace says of the next frame alone when it may leave, by whatever the shape makes of it. Of a group
 * without one: t0 and unit0 of its pace, while it chases. */
struct gen_arr {
	uint64_t t0, unit0, k0; /* where the pattern began: cycles, units, frames of all queues */
	uint64_t due;         /* of the next frame: its deadline, which a lag does not change */
	pace_pos x;           /* POISSON: frames of all queues before own frame x_i, as the gaps say */
	uint64_t x_i, seed;
	bool chasing;         /* OVERSPEED: the frame due at chase_due might have gone at chase_tsc, those behind follow as fast as is allowed */
	uint64_t chase_tsc, chase_due;
};

/* A group that is not over, in a heap of four branches: the one that is due first is slot 0. The children of a slot share a cache line. */
struct gen_slot { uint64_t due; uint32_t grp; };
#define GEN_SLOT_OFF (CACHE_LINE - sizeof(struct gen_slot))

/* Frames of one group in the queue's burst, own frame i and those after it; done of them are accepted. */
struct gen_run { uint64_t i; uint32_t grp; uint16_t n, done; };

/* What is left over at the end of a run, while it is counted (gen_rest.c). */
struct gen_rest {
	bool on;
	uint32_t grp;         /* the next one; */
	uint64_t done, sum;   /* of its frames, of all */
	struct gen_arr arr;
};

struct gen_own {
	struct gen_grp first; /* group 0 lies in the state itself: one load less for the port that sends one schedule */
	uint16_t ngroups, nlive;
	bool one_mark;        /* all frames of the plan carry the same one */
	bool detour;          /* several groups, frames that are given up when they are late, or what is left is being counted */
	uint8_t gave;         /* turns in a row that have gone into giving frames up */
	bool chased;          /* the last burst has frames of a group that catches up */
	uint64_t behind_cycles; /* a group that is later catches up from then on; without GEN_OVERSPEED beyond all times */
	uint64_t gone_i;      /* own frames of the port's schedule when the plan lost it */
	/* in the plan's memory; where there is one group, none of it */
	struct gen_slot *slot; /* nlive of them */
	struct gen_grp *more;  /* groups 1, 2, ... */
	struct gen_arr *arr;   /* of each group */
	struct gen_run *run;   /* what the last burst was made of */
	uint16_t nruns, run_at;
	/* which probe of its program's is that of own frame probe_i of it, NULL: not known */
	const struct frun *probe_prog;
	uint64_t probe_i;
	uint32_t probe_at;
	struct gen_rest rest;
	uint64_t over_tsc, over_cycles; /* behind the end of the run's time: when that was looked at last, and how long it went on for */
};

static inline struct gen_own *gen_own(struct gen_state *g) { return (struct gen_own *)(void *)g->own; }

static inline struct gen_grp *gen_grp(struct gen_own *o, unsigned n) { return n == 0 ? &o->first : &o->more[n - 1]; }

/* The group that is due first; one that has reached the end of a phase stays there until all its frames are gone. */
static inline struct gen_grp *gen_top(struct gen_own *o) { return o->ngroups == 1 ? &o->first : gen_grp(o, o->slot[0].grp); }

/* The plan's memory: slots, runs, groups behind the first, shapes. */
#define GEN_SLOT_BYTES(ngroups) RTE_ALIGN_CEIL(GEN_SLOT_OFF + (size_t)(ngroups) * sizeof(struct gen_slot), CACHE_LINE)
#define GEN_RUN_BYTES RTE_ALIGN_CEIL(DP_BURST_MAX * sizeof(struct gen_run), CACHE_LINE)
#define GEN_MORE_BYTES(ngroups) (((ngroups) > 1 ? (ngroups)-1u : 0u) * sizeof(struct gen_grp))

/* Where the group keeps its shape; any copy of the group will do. */
static inline struct gen_arr *gen_arr_at(const struct gen_job *j, const struct gen_grp *gr)
{
	char *arr = (char *)j->mem + GEN_SLOT_BYTES(j->ngroups) + GEN_RUN_BYTES + GEN_MORE_BYTES(j->ngroups);

	return (struct gen_arr *)(void *)arr + (gr->group - j->group);
}

static inline uint64_t gen_own_before(const struct gen_job *j, uint64_t k) { return gen_own_frames(j->queue, j->nqueues, k); }

/* Number of the group's next frame within its phase, all queues. */
static inline uint64_t gen_phase_k(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	return j->queue + (i - gr->epoch_i) * j->nqueues - gr->phase->k0;
}

/* Bytes of the first k frames of the phase, on the wire or with FCS. */
static inline uint64_t gen_phase_bytes(const struct gen_grp *gr, uint64_t k)
{
	if (gr->port_len != 0)
		return k * (gr->port_len + GEN_FCS + (gr->l2 ? 0u : PACE_WIRE_OVERHEAD));
	return gr->l2 ? frun_l2(gr->prog, k) : frun_wire(gr->prog, k);
}

/* The unit at which own frame i of this phase begins. */
static inline uint64_t gen_unit(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	return gr->bytes ? gr->off + gen_phase_bytes(gr, gen_phase_k(j, gr, i)) : j->queue + i * j->nqueues;
}

/* When the group wants to be served next. One without pace is served when those that are due have been, in turn with others of its kind. */
static inline uint64_t gen_due(const struct gen_grp *gr, uint64_t now)
{
	return pace_is_max(&gr->pace) ? now : pace_due(&gr->pace, gr->unit);
}

/* What all frames of the class are addressed to, as the queue's device sends them. */
static inline uint8_t gen_dst(const struct dp_txq *q, const struct frun_class *c)
{
	static const uint32_t bits[] = {0, DP_DST_KNOWN, DP_DST_KNOWN | DP_DST_GROUP, DP_DST_ALL};

	return q->edits == DP_EDITS_ALL ? 0 : (uint8_t)(bits[c->dst] >> DP_DST_SHIFT);
}

/* Bytes of a frame that a driver may write into while it prepares it, and that nobody writes anew. */
static inline unsigned gen_mended(const struct frun_class *c)
{
	return c->offload && c->from == 0 ? c->l2_len + c->l3_len + c->l4_len : 0;
}

static inline bool gen_sooner(const struct gen_slot *a, const struct gen_slot *b) { return (int64_t)(a->due - b->due) < 0; }

/* Slot `at` holds s now, or one of those below it that is sooner. */
static inline void gen_sift(struct gen_own *o, unsigned at, struct gen_slot s)
{
	struct gen_slot *slot = o->slot;
	unsigned n = o->nlive;

	for (;;) {
		unsigned c = 4 * at + 1;
		if (likely(c + 3 < n)) { /* without branches: which of them is as good as random */
			unsigned a = c + gen_sooner(&slot[c + 1], &slot[c]), b = c + 2 + gen_sooner(&slot[c + 3], &slot[c + 2]);
			c = gen_sooner(&slot[b], &slot[a]) ? b : a;
		} else if (c < n) {
			for (unsigned k = c + 1; k < n; k++)
				c = gen_sooner(&slot[k], &slot[c]) ? k : c;
		} else {
			break;
		}
		if (!gen_sooner(&slot[c], &s))
			break;
		slot[at] = slot[c];
		at = c;
	}
	slot[at] = s;
}

/* ---- taking ---- */

/* The slow halves, in gen.c: search where sizes differ; images into buffers that do not have them. */
unsigned gen_ready_mixed(const struct gen_job *j, const struct gen_grp *gr, unsigned most, uint64_t now);
/* In gen_shape.c. No frame may leave: because the next one is due behind the end? */
bool gen_over(const struct gen_job *j, const struct gen_grp *gr);
void gen_clean(struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf **m, unsigned n);
void gen_sort_out(const struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf **m, unsigned n);

/* A buffer gets the image of the group's one class, and its mark. */
static inline void gen_stamp(const struct gen_grp *gr, struct rte_mbuf *m)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->nb_segs = 1;
	rte_mbuf_refcnt_set(m, 1);
	m->next = NULL;
	m->ol_flags = gr->ol_flags;
	m->tx_offload = gr->tx_offload;
	m->data_len = gr->image_len;
	m->pkt_len = gr->image_len;
	m->packet_type = (uint32_t)gr->dst << DP_DST_SHIFT;
	m->hash.usr = gr->tag;
	memcpy(rte_pktmbuf_mtod(m, void *), gr->image, gr->image_len);
}

/* A buffer as gen_stamp() leaves it, as far as three words of the mbuf's first line tell. A chain shows in pkt_len when it has been freed. */
#define GEN_SHAPE_OFF offsetof(struct rte_mbuf, data_off)
#define GEN_TYPE_OFF offsetof(struct rte_mbuf, packet_type)
#define GEN_MARK_OFF offsetof(struct rte_mbuf, data_len)
struct gen_look { struct gen_words { uint64_t shape, type, mark; } want, mask; };
_Static_assert(GEN_SHAPE_OFF % 8 == 0 && GEN_TYPE_OFF % 8 == 0 && GEN_MARK_OFF % 8 == 0, "words of eight bytes");
_Static_assert(offsetof(struct rte_mbuf, pkt_len) - GEN_TYPE_OFF == 4 && offsetof(struct rte_mbuf, hash.usr) - GEN_MARK_OFF == 4, "in their words");

static inline uint64_t gen_word16(size_t at, uint16_t v) /* at: bytes into the word */
{
	uint64_t w = 0;

	memcpy((uint8_t *)&w + at, &v, sizeof(v));
	return w;
}

static inline uint64_t gen_word32(size_t at, uint32_t v)
{
	uint64_t w = 0;

	memcpy((uint8_t *)&w + at, &v, sizeof(v));
	return w;
}

static inline struct gen_words gen_words(uint16_t data_off, uint16_t ones, uint32_t pkt_len, uint16_t data_len, uint32_t tag)
{
	return (struct gen_words){
		.shape = gen_word16(0, data_off) | gen_word16(offsetof(struct rte_mbuf, refcnt) - GEN_SHAPE_OFF, ones) |
			 gen_word16(offsetof(struct rte_mbuf, nb_segs) - GEN_SHAPE_OFF, ones),
		.type = gen_word32(4, pkt_len),
		.mark = gen_word16(0, data_len) | gen_word32(4, tag),
	};
}

/* len: of all frames, 0: it is written anew in each. */
static inline struct gen_look gen_look(uint32_t tag, uint16_t len)
{
	bool fixed = len != 0;

	return (struct gen_look){
		.want = gen_words(RTE_PKTMBUF_HEADROOM, 1, len, len, tag),
		.mask = gen_words(UINT16_MAX, UINT16_MAX, fixed ? UINT32_MAX : 0, fixed ? UINT16_MAX : 0, UINT32_MAX),
	};
}

static inline uint64_t gen_load(const struct rte_mbuf *m, size_t at)
{
	uint64_t w;

	memcpy(&w, (const uint8_t *)m + at, sizeof(w));
	return w;
}

/* The mark is there, and the mbuf's shape is that of a frame that carries it. */
static __rte_always_inline bool gen_holds(const struct rte_mbuf *m, const struct gen_look *l)
{
	return (((gen_load(m, GEN_SHAPE_OFF) ^ l->want.shape) & l->mask.shape) | ((gen_load(m, GEN_TYPE_OFF) ^ l->want.type) & l->mask.type) |
		((gen_load(m, GEN_MARK_OFF) ^ l->want.mark) & l->mask.mark)) == 0;
}

/* Whether all of m[0..n) carry the mark. A branch each, unrolled: cheaper than any way to join the tests. */
static __rte_always_inline bool gen_marked(struct rte_mbuf *const *m, uint32_t tag, unsigned n)
{
#pragma GCC unroll 16
	for (unsigned i = 0; i < n; i++)
		if (unlikely(m[i]->hash.usr != tag))
			return false;
	return true;
}

/* Take n buffers that hold the images of the group's next frames into m. */
static __rte_always_inline bool gen_take(struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf **m, unsigned n, bool plain)
{
	if (unlikely(txq_take(q, m, n) < 0)) {
		cell_add(&q->cnt.nombuf, 1);
		return false;
	}
	if (!plain)
		gen_sort_out(q, gr, m, n);
	else if (unlikely(q->stale > 0))
		gen_clean(q, gr, m, n);
	else if (unlikely(q->written) && (q->edits != DP_EDITS_NOTHING || !gen_marked(m, gr->tag, n)))
		gen_clean(q, gr, m, n);
	return true;
}

/* Frames due behind the end are not asked for. Of a group that chases this is looked at where its real deadlines are. */
static inline uint64_t gen_until(const struct gen_job *j, const struct gen_grp *gr, uint64_t now)
{
	return now >= j->end_tsc && !gr->chases ? j->end_tsc - 1 : now;
}

static __rte_always_inline bool gen_paced(const struct gen_grp *gr) { return GEN_EXTRAS && !pace_is_max(&gr->pace); }

/* Frames of the group that may leave now: due, inside the phase and the run's bounds, at most so many. *over: no more will come. */
static __rte_always_inline unsigned gen_ready(const struct gen_job *j, const struct gen_grp *gr, unsigned max, uint64_t now, bool *over)
{
	uint64_t left = gr->end_i - gr->i;
	unsigned most = left < max ? (unsigned)left : max, n;

	*over = left == 0;
	if (!gen_paced(gr)) {
		if (unlikely((int64_t)(now - j->start_tsc) < 0))
			return 0;
		if (unlikely(now >= j->end_tsc)) {
			*over = true;
			return 0;
		}
		return most;
	}
	if (likely(gr->step != 0))
		n = pace_ready(&gr->pace, gr->unit, gr->step, most, unlikely(now >= j->end_tsc) ? gen_until(j, gr, now) : now);
	else
		n = gen_ready_mixed(j, gr, most, now);
	if (unlikely(n == 0 && now >= j->end_tsc))
		*over |= gen_over(j, gr);
	return n;
}

/* Sizes of own frames i .. i + n - 1 of the group. */
static inline void gen_count_sizes(struct gen_state *g, const struct gen_grp *gr, uint64_t i, unsigned n)
{
	struct cnt_sizes some = {0};

	if (likely(gr->len != 0)) {
		cell_add(&g->sizes.n[cnt_size_class(gr->len + GEN_FCS)], n);
		return;
	}
	frun_sizes(gr->prog, i - gr->prog_i, n, some.n);
	for (unsigned s = 0; s < CNT_NSIZES; s++)
		cell_add(&g->sizes.n[s], some.n[s]);
}

/* Frames i .. i + sent - 1, which the device took: the schedule's follow from their number, those of a stream with its own rate are counted
 * here. */
static __rte_always_inline void gen_credit(struct gen_state *g, const struct gen_grp *gr, uint64_t i, unsigned sent, uint64_t bytes)
{
	if (gr->stream < 0) {
		cell_add(&g->accepted, sent);
	} else {
		cell_add(&g->cell[gr->stream].packets, sent);
		cell_add(&g->cell[gr->stream].bytes, bytes);
		gen_count_sizes(g, gr, i, sent);
	}
}

static inline uint64_t gen_bytes(const struct gen_grp *gr, uint64_t i, unsigned n)
{
	return gr->len != 0 ? (uint64_t)n * (gr->len + GEN_FCS) : frun_bytes(gr->prog, i - gr->prog_i, n);
}

/* gen_shape.c */
/* The group's next frame is another one than before: its unit, and of a group with a shape its deadline. */
void gen_place(const struct gen_job *j, struct gen_grp *gr);
/* A pattern begins at t0, behind so many units and frames of all queues. gen_place() comes next. */
void gen_anchor(const struct gen_job *j, struct gen_grp *gr, uint64_t t0, uint64_t unit0, uint64_t k0);
/* Deadline of own frame i of the phase. The group is not one without pace. */
uint64_t gen_due_at(const struct gen_job *j, const struct gen_grp *gr, uint64_t i);
/* Of `most` frames from own frame i on, those that are due before tsc. */
uint64_t gen_due_before(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, uint64_t most, uint64_t tsc);
/* The group is later than is let pass, or catches up already: of its next n frames, those that may leave at `at`. GEN_OVERSPEED; without a shape. */
unsigned gen_chase(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, unsigned n, uint64_t at);
/* From here on it has the rate that is asked for again. */
void gen_chase_end(struct gen_own *o);
unsigned gen_ready_shaped(const struct gen_job *j, const struct gen_grp *gr, unsigned most, uint64_t now);
/* GEN_SKIP: frames that are too late are given up. Without a tail. true: nothing is sent before more of them are. */
bool gen_give_late(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* The tail's frames from own frame i on, so many, left at now. */
void gen_late_tail(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, unsigned sent, uint64_t now);
/* Own frames i .. i + n - 1 left at now, the first of them late by more than is let pass: how many are. */
void gen_count_late(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, uint64_t n, uint64_t now);

/* Behind n frames. */
static inline void gen_advance(const struct gen_job *j, struct gen_grp *gr, unsigned n)
{
	gr->i += n;
	if (likely(gr->step != 0))
		gr->unit += n * gr->step;
	else
		gen_place(j, gr);
}

/* Deadline of the group's next frame. */
static inline uint64_t gen_deadline(const struct gen_job *j, const struct gen_grp *gr)
{
	if (unlikely(gr->chases))
		return gen_due_at(j, gr, gr->i);
	return unlikely(gr->step == 0) && gr->arr != NULL ? gr->arr->due : pace_due(&gr->pace, gr->unit);
}

/* A burst leaves whose first frame is late by so much. */
static inline void gen_note_late(struct dp_txq *q, uint64_t late)
{
	if (unlikely(q->lateness == NULL))
		return;
	hist_add(q->lateness, late, 1);
	if (likely(late >> GEN_LATE_SHAPE.top == 0))
		hist_add_sum(q->lateness, late);
}

/* gen.c */
/* The top group's frames are gone: on to its next phase, or it is over and perhaps the run with it. */
void gen_arrive(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* One burst of frames of one group, any kind. */
unsigned gen_burst(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, unsigned n, uint64_t now);

/* gen_groups.c: a turn where there are none or several. */
unsigned gen_poll_groups(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* The device has not taken the tail: its frames are to be built again. */
void gen_rewind(const struct gen_job *j, struct gen_state *g);
/* The same in the middle of a run, of a device that edits what it refuses. false: the time is over, and what is left is given up. */
bool gen_again(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
void gen_leave(struct gen_own *o);

/* gen_probe.c: own frames i .. i + n - 1 of the group, built in m, are offered to the device now: their probes. They count as sent. fill: they are
 * not built yet, of a group that fuses. */
void gen_probe_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr, uint64_t i, struct rte_mbuf *const *m, unsigned n,
		   bool fill);
/* The device has not taken these, the newest of the group: as if they had not been offered. */
void gen_probe_back(struct gen_state *g, const struct gen_grp *gr, uint64_t i, unsigned n);

/* gen_stamp.c */
/* Frames that are due before this may be handed over now. */
uint64_t gen_ahead_stamped(const struct gen_job *j, struct gen_state *g, uint64_t now);
static inline uint64_t gen_ahead(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr, uint64_t now)
{
	return likely(j->stamp == NULL) || pace_is_max(&gr->pace) ? now : gen_ahead_stamped(j, g, now);
}
/* Own frames i .. i + n - 1 of the group, built in m, get the times at which the device is to send them. Before their probes. m: where they lie in
 * the queue's array. */
void gen_stamp_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr, uint64_t i, struct rte_mbuf *const *m, unsigned n);
/* The tail will not be offered any more as it is: no frame waits for the times in it. */
void gen_stamp_back(const struct gen_job *j, struct gen_state *g);
static inline void gen_drop_tail(const struct gen_job *j, struct gen_state *g)
{
	gen_stamp_back(j, g);
	txq_drop_tail(j->txq);
}
/* When the frame leaves that is offered to the device at tsc. */
uint64_t gen_stamp_sent(const struct gen_job *j, const struct gen_state *g, const struct rte_mbuf *m, uint64_t tsc);
/* By how much one due then is late now; none is that a device holds back. */
static inline uint64_t gen_late(const struct gen_job *j, uint64_t due, uint64_t now)
{
	return unlikely(j->stamp != NULL) && (int64_t)(now - due) < 0 ? 0 : now - due;
}

/* gen_count.c */
/* Cells and program change between these two: control reads between two looks at the epoch. */
void gen_unsettle(struct gen_state *g);
void gen_settle(struct gen_state *g);
/* Own frames 0 .. i - 1 of a program go over into the cells of their streams, once or (mod 2^64) times. */
void gen_fold(struct gen_state *g, const struct frun *f, uint64_t i, uint64_t times);
/* From here on the frames of the schedule follow from prog, so many of them already. */
void gen_publish(struct gen_state *g, const struct frun *prog, uint64_t accepted);
/* No frame follows from a program any more. */
void gen_fold_all(struct gen_state *g);

/* gen_rate.c */
/* Where the group keeps its shape in the new plan, NULL: it has none. */
struct gen_arr *gen_arr_of(struct gen_own *o, const struct gen_grp *gr, const struct gen_group *group);
void gen_set_units(const struct gen_job *j, struct gen_grp *gr);
bool gen_same_rate(const struct gen_grp *gr, const struct gen_group *group);
void gen_set_rate(struct gen_grp *gr, const struct gen_group *group);
/* The group has the rate of its new plan from now on; was: the group as it went until now. */
void gen_change_rate(const struct gen_job *j, const struct gen_grp *was, struct gen_grp *gr, uint64_t now);

/* gen_rest.c */
/* The queue is behind: where the run's time and the grace are over, what is left will not be sent, and the answer is true. */
bool gen_overtime(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* No group has a frame that may still leave: the run is over. */
void gen_run_out(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);
/* From the next turn on what is left is counted. */
void gen_rest_begin(struct gen_own *o);
/* Goes on counting what is left; at its end the run is over. */
void gen_rest_turn(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);

/* gen_adopt.c */
void gen_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now);
void gen_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now);
void gen_set_state(struct gen_state *g, enum gen_state_id id);
/* The run is over: counts are settled, control is told. */
void gen_finish(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);
/* The top group has reached the end of a phase, without a tail: on to the next one; false: it has no more frames and is gone. */
bool gen_next_phase(const struct gen_job *j, struct gen_state *g);
/* The driver refused the top group's next frame, of so many bytes: it counts as through, and not as its stream's. */
void gen_skip(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, uint64_t bytes);
uint64_t gen_offload_flags(const struct frun_class *c);
/* One schedule of frames of one length and class, which the driver takes as they are. */
static inline bool gen_is_simple(const struct gen_job *j, const struct gen_grp *gr)
{
	return j->ngroups == 1 && gr->stream < 0 && gr->plain && gr->port_len != 0 && !j->prepare && gr->arr == NULL && j->stamp == NULL &&
	       j->txq->edits != DP_EDITS_ALL;
}
/* Position of the group's program, which bursts of fixed frames leave behind. */
static inline void gen_seek(const struct gen_grp *gr) { frun_seek(gr->prog, gr->state, gr->i - gr->prog_i); }
