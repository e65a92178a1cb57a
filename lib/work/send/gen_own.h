/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the kind "gen": what a task keeps about its groups while a run goes on, and the functions
 * that its files share. gen.c sends by it, gen_adopt.c carries it from plan to plan and from phase
 * to phase. Worker only. j, g, gr in all functions: the job, the state and one of the groups of the
 * task; w: its worker; now: the time of the turn in cycles. */
#pragma once
#include "send_run.h"
#include "txq.h"

#define GEN_FCS RTE_ETHER_CRC_LEN

/* Whether a plan may have rates, probes, values that vary and several groups. The bench also builds
 * a sender without them, to compare with. */
#ifndef GEN_EXTRAS
#define GEN_EXTRAS true
#endif

enum gen_has_probes {
	GEN_NO_PROBES,
	GEN_PROBES,       /* some frames have room for one */
	GEN_PROBES_FUSED, /* the group is simple: probes are put in while frames are filled */
};

/* A group: the schedule of the port, or a stream with a rate of its own. Own frame i, counted from
 * the start of the run, is frame k = queue + i x nqueues. */
struct gen_grp {
	/* What each burst needs: two cache lines, and a third for the image of a small frame. The
	 * images of many fruns would lie in few sets of the cache, so they are copied here. */
	uint64_t i;       /* own frames that were built; the number of the next one */
	uint64_t end_i;   /* own frame at which the phase or the run ends */
	struct pace pace; /* counts frames, or bytes where the rate is one of bits */
	uint64_t unit;    /* the unit at which the next frame begins */
	/* units from one own frame to the next; 0: varies, or it has a shape */
	uint64_t step;
	const struct frun *frun;
	void *state;
	const uint8_t *image; /* of class 0 */
	uint64_t ol_flags, tx_offload;
	uint32_t mark;     /* mark of buffers that hold the image of class 0 */
	int32_t stream;    /* number of the stream; -1: the schedule of the port */
	uint16_t len;      /* length of every own frame without FCS; 0: lengths differ */
	uint16_t port_len; /* the same for the frames of all queues */
	uint16_t image_len;
	uint16_t nclasses;
	bool plain;             /* it has one class, whose mark is the queue's (dp_txq.mark) */
	bool fixed;             /* the image is the whole frame: no frun_fill() */
	bool bytes : 1, l2 : 1; /* pace counts bytes; l2: of frames with FCS, else on the wire */
	/* The group has no shape and catches up after a stall: `pace` is faster than the one that
	 * is asked for, whose begin is kept in the group's gen_arr. */
	bool chases;
	/* The driver may change headers while it prepares frames, which marks do not show: they are
	 * written anew from the image before each use. */
	bool mends;
	uint8_t dst;    /* DP_DST_* of class 0, shifted right by DP_DST_SHIFT */
	uint8_t probes; /* enum gen_has_probes */
	bool simple;    /* gen_is_simple(), and it does not chase */
	WR_ALIGNED(CACHE_LINE) uint8_t small[CACHE_LINE]; /* copy of an image that fits */
	/* What is needed at the end of a phase and for a new plan. */
	const struct gen_group *group;
	const struct gen_phase *phase;
	uint64_t limit_i;    /* own frame at which the group ends; UINT64_MAX: it does not */
	struct gen_arr *arr; /* NULL: it has no shape, or no pace */
	uint64_t epoch_i;    /* own frame with which the present order (epoch) began */
	uint64_t frun_i;     /* own frame that is own frame 0 of frun */
	uint64_t off;        /* bytes: units before the phase's first frame, mod 2^64 */
} WR_ALIGNED(CACHE_LINE);
_Static_assert(sizeof(struct gen_grp) == 4 * CACHE_LINE,
	       "thousands of groups are to lie in few lines");

/* What a group with a shape keeps. The pace of such a group holds for its next frame only: pace.t0
 * is when that frame may leave. A group without a shape uses t0 and unit0 while it chases: they
 * belong to the pace that is asked for. */
struct gen_arr {
	uint64_t t0, unit0, k0; /* where the pattern began: cycles, units, frames of all queues */
	uint64_t due;           /* deadline of the next frame, which catching up does not change */
	/* POISSON: sum of the gaps before own frame x_i; 1 is the mean gap of all queues. */
	pace_pos x;
	uint64_t x_i, seed;
	/* OVERSPEED: the group catches up. The frame that was due at chase_due counts as one that
	 * could leave at chase_tsc, and later frames follow as fast as gen_job.slower allows. */
	bool chasing;
	uint64_t chase_tsc, chase_due;
};

/* A group that still has frames, in a heap in which each place has four children. Place 0 has the
 * group that is due first. The children of a place share a cache line. */
struct gen_live {
	uint64_t due;
	uint32_t grp;
};
#define GEN_LIVE_OFF (CACHE_LINE - sizeof(struct gen_live))

/* Frames of one group in the queue's burst: n frames from own frame i on, of which the device has
 * accepted `done`. */
struct gen_run {
	uint64_t i;
	uint32_t grp;
	uint16_t n, done;
};

/* At the end of a run: how far counting has come of frames that were not sent (gen_rest.c). */
struct gen_rest {
	bool on;
	uint32_t grp;       /* the group that is being counted */
	uint64_t done, sum; /* frames counted, of this group and of all */
	struct gen_arr arr; /* of this group, while the group itself stays as it is */
};

/* gen_state.own: what the worker keeps about a share. */
struct gen_own {
	/* Group 0 lies in the state itself: one load less where it is the only one. */
	struct gen_grp first;
	uint16_t ngroups, nlive; /* nlive: groups that still have frames */
	bool one_mark;           /* all frames of the plan have the same image, and so one mark */
	/* A turn needs more than one burst of one group: there are no groups or several, late
	 * frames are given up, the device sends at time stamps, or the rest is being counted. */
	bool detour;
	uint8_t gave; /* turns in a row that were spent on giving up frames */
	bool chased;  /* the last burst has frames of a group that catches up */
	/* GEN_OVERSPEED: a group that is later begins to catch up. Else INT64_MAX. */
	uint64_t behind_cycles;
	uint64_t gone_i; /* own frames of the port's schedule when a plan dropped it */
	/* In the plan's memory. The sender of a single group needs arr alone. */
	struct gen_live *live;  /* nlive of them */
	struct gen_grp *more;   /* groups 1, 2, ... */
	struct gen_arr *arr;    /* one for each group */
	struct gen_run *run;    /* what the last burst was made of */
	uint16_t nruns, run_at; /* run_at: the first with frames that were not accepted */
	/* Own frame probe_i of probe_frun has its probe number probe_at. NULL: not known. */
	const struct frun *probe_frun;
	uint64_t probe_i;
	uint32_t probe_at;
	struct gen_rest rest;
	/* After the end of the run's time: when gen_overtime() was called last, and for how long
	 * the worker has gone on. */
	uint64_t over_tsc, over_cycles;
};

static inline struct gen_own *gen_own(struct gen_state *g)
{
	return (struct gen_own *)(void *)g->own;
}

static inline struct gen_grp *gen_grp(struct gen_own *o, unsigned n)
{
	return n == 0 ? &o->first : &o->more[n - 1];
}

/* Returns the group that is due first. A group at the end of a phase stays there until all its
 * frames are gone. */
static inline struct gen_grp *gen_top(struct gen_own *o)
{
	return o->ngroups == 1 ? &o->first : gen_grp(o, o->live[0].grp);
}

/* The parts of gen_job.mem: live groups, runs, groups after group 0, and a gen_arr for each
 * group. */
#define GEN_LIVE_BYTES(ngroups) \
	RTE_ALIGN_CEIL(GEN_LIVE_OFF + (size_t)(ngroups) * sizeof(struct gen_live), CACHE_LINE)
#define GEN_RUN_BYTES RTE_ALIGN_CEIL(DP_BURST_MAX * sizeof(struct gen_run), CACHE_LINE)
#define GEN_MORE_BYTES(ngroups) (((ngroups) > 1 ? (ngroups)-1u : 0u) * sizeof(struct gen_grp))

/* Returns the gen_arr of the group. gr may be a copy of the group. */
static inline struct gen_arr *gen_arr_at(const struct gen_job *j, const struct gen_grp *gr)
{
	char *arr = (char *)j->mem + GEN_LIVE_BYTES(j->ngroups) + GEN_RUN_BYTES +
		    GEN_MORE_BYTES(j->ngroups);

	return (struct gen_arr *)(void *)arr + (gr->group - j->group);
}

/* Returns how many of the frames 0 .. k - 1 of a group this queue sends. */
static inline uint64_t gen_own_before(const struct gen_job *j, uint64_t k)
{
	return gen_own_frames(j->queue, j->nqueues, k);
}

/* Returns the number of own frame i among the frames of its phase on all queues. */
static inline uint64_t gen_phase_k(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	return j->queue + (i - gr->epoch_i) * j->nqueues - gr->phase->k0;
}

/* Returns the bytes of the first k frames of the phase, with FCS (l2) or on the wire. */
static inline uint64_t gen_phase_bytes(const struct gen_grp *gr, uint64_t k)
{
	if (gr->port_len != 0)
		return k * (gr->port_len + GEN_FCS + (gr->l2 ? 0u : PACE_WIRE_OVERHEAD));
	return gr->l2 ? frun_l2(gr->frun, k) : frun_wire(gr->frun, k);
}

/* Returns the unit at which own frame i begins, which is in the group's phase. */
static inline uint64_t gen_unit(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	return gr->bytes ? gr->off + gen_phase_bytes(gr, gen_phase_k(j, gr, i))
			 : j->queue + i * j->nqueues;
}

/* Returns when the group wants to send next. A group without pace comes after all groups that are
 * due, and takes turns with others without pace. */
static inline uint64_t gen_due(const struct gen_grp *gr, uint64_t now)
{
	return pace_is_max(&gr->pace) ? now : pace_due(&gr->pace, gr->unit);
}

/* Returns gen_grp.dst of frames of the class; 0 where the device may change frames. */
static inline uint8_t gen_dst(const struct dp_txq *q, const struct frun_class *c)
{
	static const uint32_t bits[] = {0, DP_DST_KNOWN, DP_DST_KNOWN | DP_DST_GROUP, DP_DST_ALL};

	return q->edits == DP_EDITS_ALL ? 0 : (uint8_t)(bits[c->dst] >> DP_DST_SHIFT);
}

/* Returns the length of the headers that a driver may change while it prepares a frame, if
 * frun_fill() does not write them anew for each frame; else 0. */
static inline unsigned gen_mended(const struct frun_class *c)
{
	return c->offload && c->from == 0 ? c->l2_len + c->l3_len + c->l4_len : 0;
}

static inline bool gen_sooner(const struct gen_live *a, const struct gen_live *b)
{
	return (int64_t)(a->due - b->due) < 0;
}

/* Puts s into the heap at place `at`, which is free; those below that are due sooner move up. */
static inline void gen_sift(struct gen_own *o, unsigned at, struct gen_live s)
{
	struct gen_live *live = o->live;
	unsigned n = o->nlive;

	for (;;) {
		unsigned c = 4 * at + 1;
		if (likely(c + 3 < n)) { /* no branches here: they could not be predicted */
			unsigned a = c + gen_sooner(&live[c + 1], &live[c]),
				 b = c + 2 + gen_sooner(&live[c + 3], &live[c + 2]);
			c = gen_sooner(&live[b], &live[a]) ? b : a;
		} else if (c < n) {
			for (unsigned k = c + 1; k < n; k++)
				c = gen_sooner(&live[k], &live[c]) ? k : c;
		} else {
			break;
		}
		if (!gen_sooner(&live[c], &s))
			break;
		live[at] = live[c];
		at = c;
	}
	live[at] = s;
}

/* ---- taking ---- */

/* gen.c: gen_ready() for groups whose units per frame differ, or that have a shape. */
unsigned gen_ready_mixed(const struct gen_job *j, const struct gen_grp *gr, unsigned most,
			 uint64_t now);
/* gen_shape.c: if no frame may leave, returns whether that is because the next one is due after the
 * end of the run. */
bool gen_over(const struct gen_job *j, const struct gen_grp *gr);
/* gen.c: writes the image into those of m[0..n) that do not hold it. gen_clean() is for plain
 * groups, gen_sort_out() for all others. */
void gen_clean(struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf **m, unsigned n);
void gen_sort_out(const struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf **m,
		  unsigned n);

/* Writes the image of the group's class 0 into a buffer, with its mark. */
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
	m->hash.usr = gr->mark;
	memcpy(rte_pktmbuf_mtod(m, void *), gr->image, gr->image_len);
}

/* How three words of a buffer's mbuf look after gen_stamp(). A buffer that was the head of a chain
 * shows it in pkt_len when it has been freed. */
#define GEN_SHAPE_OFF offsetof(struct rte_mbuf, data_off)
#define GEN_TYPE_OFF offsetof(struct rte_mbuf, packet_type)
#define GEN_MARK_OFF offsetof(struct rte_mbuf, data_len)
struct gen_look {
	struct gen_words {
		uint64_t shape, type, mark;
	} want, mask;
};
_Static_assert(GEN_SHAPE_OFF % 8 == 0 && GEN_TYPE_OFF % 8 == 0 && GEN_MARK_OFF % 8 == 0,
	       "words of eight bytes");
_Static_assert(offsetof(struct rte_mbuf, pkt_len) - GEN_TYPE_OFF == 4 &&
		       offsetof(struct rte_mbuf, hash.usr) - GEN_MARK_OFF == 4,
	       "in their words");

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

static inline struct gen_words gen_words(uint16_t data_off, uint16_t ones, uint32_t pkt_len,
					 uint16_t data_len, uint32_t mark)
{
	return (struct gen_words){
		.shape = gen_word16(0, data_off) |
			 gen_word16(offsetof(struct rte_mbuf, refcnt) - GEN_SHAPE_OFF, ones) |
			 gen_word16(offsetof(struct rte_mbuf, nb_segs) - GEN_SHAPE_OFF, ones),
		.type = gen_word32(4, pkt_len),
		.mark = gen_word16(0, data_len) | gen_word32(4, mark),
	};
}

/* Returns what to compare buffers with. len: the length of all frames; 0: each frame gets its own
 * length anyway, and lengths are not compared. */
static inline struct gen_look gen_look(uint32_t mark, uint16_t len)
{
	bool fixed = len != 0;

	return (struct gen_look){
		.want = gen_words(RTE_PKTMBUF_HEADROOM, 1, len, len, mark),
		.mask = gen_words(UINT16_MAX, UINT16_MAX, fixed ? UINT32_MAX : 0,
				  fixed ? UINT16_MAX : 0, UINT32_MAX),
	};
}

static inline uint64_t gen_load(const struct rte_mbuf *m, size_t at)
{
	uint64_t w;

	memcpy(&w, (const uint8_t *)m + at, sizeof(w));
	return w;
}

/* Returns whether the buffer carries the mark, and its mbuf looks as gen_stamp() has left it. */
static __rte_always_inline bool gen_holds(const struct rte_mbuf *m, const struct gen_look *l)
{
	return (((gen_load(m, GEN_SHAPE_OFF) ^ l->want.shape) & l->mask.shape) |
		((gen_load(m, GEN_TYPE_OFF) ^ l->want.type) & l->mask.type) |
		((gen_load(m, GEN_MARK_OFF) ^ l->want.mark) & l->mask.mark)) == 0;
}

/* Returns whether all of m[0..n) carry the mark. One branch for each buffer, unrolled, is cheaper
 * than any way to combine the tests. */
static __rte_always_inline bool gen_marked(struct rte_mbuf *const *m, uint32_t mark, unsigned n)
{
#pragma GCC unroll 16
	for (unsigned i = 0; i < n; i++)
		if (unlikely(m[i]->hash.usr != mark))
			return false;
	return true;
}

/* Takes n buffers into m that hold the images of the group's next n frames. plain: gr->plain, a
 * literal where possible. false: there are not so many buffers, which is counted. */
static __rte_always_inline bool gen_take(struct dp_txq *q, const struct gen_grp *gr,
					 struct rte_mbuf **m, unsigned n, bool plain)
{
	if (unlikely(txq_take(q, m, n) < 0)) {
		cell_add(&q->cnt.nombuf, 1);
		return false;
	}
	if (!plain)
		gen_sort_out(q, gr, m, n);
	else if (unlikely(q->stale > 0))
		gen_clean(q, gr, m, n);
	else if (unlikely(q->written) &&
		 (q->edits != DP_EDITS_NOTHING || !gen_marked(m, gr->mark, n)))
		gen_clean(q, gr, m, n);
	return true;
}

/* Returns the time up to which frames of the group may leave: they must be due before the end of
 * the run. For a group that chases gen_chase() sees to this, by the real deadlines. */
static inline uint64_t gen_until(const struct gen_job *j, const struct gen_grp *gr, uint64_t now)
{
	return now >= j->end_tsc && !gr->chases ? j->end_tsc - 1 : now;
}

static __rte_always_inline bool gen_paced(const struct gen_grp *gr)
{
	return GEN_EXTRAS && !pace_is_max(&gr->pace);
}

/* Returns how many frames of the group may leave now, at most max: those that are due, of this
 * phase, and within the bounds of the run. *over: no more will come. */
static __rte_always_inline unsigned gen_ready(const struct gen_job *j, const struct gen_grp *gr,
					      unsigned max, uint64_t now, bool *over)
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
		n = pace_ready(&gr->pace, gr->unit, gr->step, most,
			       unlikely(now >= j->end_tsc) ? gen_until(j, gr, now) : now);
	else
		n = gen_ready_mixed(j, gr, most, now);
	if (unlikely(n == 0 && now >= j->end_tsc))
		*over |= gen_over(j, gr);
	return n;
}

/* Counts own frames i .. i + n - 1 of the group by size. */
static inline void gen_count_sizes(struct gen_state *g, const struct gen_grp *gr, uint64_t i,
				   unsigned n)
{
	struct cnt_sizes some = {0};

	if (likely(gr->len != 0)) {
		cell_add(&g->sizes.n[cnt_size_class(gr->len + GEN_FCS)], n);
		return;
	}
	frun_sizes(gr->frun, i - gr->frun_i, n, some.n);
	for (unsigned s = 0; s < CNT_NSIZES; s++)
		cell_add(&g->sizes.n[s], some.n[s]);
}

/* Counts own frames i .. i + sent - 1, which the device has accepted. For the schedule only
 * their number is kept, from which the rest follows. A stream with its own rate is counted in
 * its cell. */
static __rte_always_inline void gen_credit(struct gen_state *g, const struct gen_grp *gr,
					   uint64_t i, unsigned sent, uint64_t bytes)
{
	if (gr->stream < 0) {
		cell_add(&g->accepted, sent);
	} else {
		cell_add(&g->cell[gr->stream].packets, sent);
		cell_add(&g->cell[gr->stream].bytes, bytes);
		gen_count_sizes(g, gr, i, sent);
	}
}

/* Returns the bytes with FCS of own frames i .. i + n - 1. */
static inline uint64_t gen_bytes(const struct gen_grp *gr, uint64_t i, unsigned n)
{
	return gr->len != 0 ? (uint64_t)n * (gr->len + GEN_FCS)
			    : frun_bytes(gr->frun, i - gr->frun_i, n);
}

/* ---- gen_shape.c ---- */

/* To be called when gr->i has changed: sets the unit of the next frame and, for a group with a
 * shape, its deadline. */
void gen_place(const struct gen_job *j, struct gen_grp *gr);
/* Lets a pattern begin at t0, after unit0 units and k0 frames of all queues; then call
 * gen_place(). */
void gen_anchor(const struct gen_job *j, struct gen_grp *gr, uint64_t t0, uint64_t unit0,
		uint64_t k0);
/* Returns the deadline of own frame i, which is in the phase. The group must have a pace. */
uint64_t gen_due_at(const struct gen_job *j, const struct gen_grp *gr, uint64_t i);
/* Returns how many of `most` frames from own frame i on are due before tsc. */
uint64_t gen_due_before(const struct gen_job *j, const struct gen_grp *gr, uint64_t i,
			uint64_t most, uint64_t tsc);
/* GEN_OVERSPEED: the group is later than the job allows, or catches up already. Returns how many of
 * its next n frames may leave at `at`, and begins or ends the chase. For a group with a shape it
 * returns n: gen_ready_shaped() has bounded its speed already. */
unsigned gen_chase(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, unsigned n,
		   uint64_t at);
/* Gives all groups that chase the pace back that is asked for. */
void gen_chase_end(struct gen_own *o);
/* gen_ready() for groups with a shape. */
unsigned gen_ready_shaped(const struct gen_job *j, const struct gen_grp *gr, unsigned most,
			  uint64_t now);
/* GEN_SKIP: gives up frames that are too late. There must be no tail. true: there may be more of
 * them, and nothing is sent in this turn. */
bool gen_give_late(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* gen.c: counts the lateness of `sent` frames of the tail, own frame i and on, which left at
 * now. */
void gen_late_tail(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, unsigned sent,
		   uint64_t now);
/* Own frames i .. i + n - 1 left at now, and the first of them was late: counts how many were. */
void gen_count_late(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, uint64_t n,
		    uint64_t now);

/* Moves the group on by n frames. */
static inline void gen_advance(const struct gen_job *j, struct gen_grp *gr, unsigned n)
{
	gr->i += n;
	if (likely(gr->step != 0))
		gr->unit += n * gr->step;
	else
		gen_place(j, gr);
}

/* Returns the deadline of the group's next frame, by the rate that is asked for. */
static inline uint64_t gen_deadline(const struct gen_job *j, const struct gen_grp *gr)
{
	if (unlikely(gr->chases))
		return gen_due_at(j, gr, gr->i);
	return unlikely(gr->step == 0) && gr->arr != NULL ? gr->arr->due
							  : pace_due(&gr->pace, gr->unit);
}

/* Adds a burst to the histogram of lateness. late: of its first frame, in cycles. */
static inline void gen_note_late(struct dp_txq *q, uint64_t late)
{
	if (unlikely(q->lateness == NULL))
		return;
	hist_add(q->lateness, late, 1);
	if (likely(late >> GEN_LATE_SHAPE.top == 0))
		hist_add_sum(q->lateness, late);
}

/* ---- gen.c ---- */

/* To be called when the tail has no frames of the top group. If the group's phase is over it goes
 * on to the next one. If it has no more frames it leaves the heap, and the last group to leave ends
 * the run. Else it gets its new place in the heap. */
void gen_arrive(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* Builds and offers the next n frames of a group of any kind, in one burst. Returns frames moved,
 * as dp_kind.poll does. */
unsigned gen_burst(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
		   struct gen_grp *gr, unsigned n, uint64_t now);

/* ---- gen_groups.c ---- */

/* A turn of a task with no group or several. Returns frames moved. */
unsigned gen_poll_groups(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
			 uint64_t now);
/* Gives the tail's buffers back: its frames will be built again. */
void gen_rewind(const struct gen_job *j, struct gen_state *g);
/* Does the same in the middle of a run, for a device that edits what it refuses. false: the time of
 * the run is over, and what is left is being counted. */
bool gen_again(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* Takes the top group out of the heap. */
void gen_leave(struct gen_own *o);

/* ---- gen_probe.c ---- */

/* Puts probes into own frames i .. i + n - 1 of the group, which are built in m and are offered to
 * the device next. They count as sent. fill: the frames are not built yet and are filled in the
 * same pass (GEN_PROBES_FUSED). */
void gen_probe_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr,
		   uint64_t i, struct rte_mbuf *const *m, unsigned n, bool fill);
/* Undoes that for the newest own frames i .. i + n - 1, which the device has not accepted. */
void gen_probe_back(struct gen_state *g, const struct gen_grp *gr, uint64_t i, unsigned n);

/* ---- gen_stamp.c ---- */

/* Returns the time before which frames must be due that may be handed to the device now. */
uint64_t gen_ahead_stamped(const struct gen_job *j, struct gen_state *g, uint64_t now);
static inline uint64_t gen_ahead(const struct gen_job *j, struct gen_state *g,
				 const struct gen_grp *gr, uint64_t now)
{
	return likely(j->stamp == NULL) || pace_is_max(&gr->pace) ? now
								  : gen_ahead_stamped(j, g, now);
}
/* Writes into own frames i .. i + n - 1 of the group, which are built in m, when the device is to
 * send them. Their probes come after this. m points into the share's array. */
void gen_stamp_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr,
		   uint64_t i, struct rte_mbuf *const *m, unsigned n);
/* The tail will not be offered as it is: later frames need not come after the times in it. */
void gen_stamp_back(const struct gen_job *j, struct gen_state *g);
static inline void gen_drop_tail(const struct gen_job *j, struct gen_state *g)
{
	gen_stamp_back(j, g);
	txq_drop_tail(j->txq);
}
/* Returns when a frame leaves the device that is offered to it at tsc. */
uint64_t gen_stamp_sent(const struct gen_job *j, const struct gen_state *g,
			const struct rte_mbuf *m, uint64_t tsc);
/* Returns by how many cycles a frame due at `due` is late now. A frame that the device holds back
 * until it is due is not late. */
static inline uint64_t gen_late(const struct gen_job *j, uint64_t due, uint64_t now)
{
	return unlikely(j->stamp != NULL) && (int64_t)(now - due) < 0 ? 0 : now - due;
}

/* ---- gen_count.c ---- */

/* Cells and frun may be changed between these two calls. They count up the epoch, so that
 * control sees the change. */
void gen_unsettle(struct gen_state *g);
void gen_settle(struct gen_state *g);
/* Adds own frames 0 .. i - 1 of a frun to the cells of their streams, multiplied by `times`.
 * UINT64_MAX (-1 mod 2^64) subtracts them. */
void gen_fold(struct gen_state *g, const struct frun *f, uint64_t i, uint64_t times);
/* From here on the schedule's frames follow from frun; `accepted` of them are through already. */
void gen_publish(struct gen_state *g, const struct frun *frun, uint64_t accepted);
/* Adds all frames of the schedule to the cells: none follows from a frun any more. */
void gen_fold_all(struct gen_state *g);

/* ---- gen_rate.c ---- */

/* Returns the gen_arr of a group in the new plan's memory. NULL: it has no shape, or no pace. */
struct gen_arr *gen_arr_of(struct gen_own *o, const struct gen_grp *gr,
			   const struct gen_group *group);
/* Sets gr->step by what the group's pace counts, and then places it. */
void gen_set_units(const struct gen_job *j, struct gen_grp *gr);
/* Returns whether the group goes at the rate and with the shape that `group` has. */
bool gen_same_rate(const struct gen_grp *gr, const struct gen_group *group);
/* Sets the period of `group`, and what it counts. */
void gen_set_rate(struct gen_grp *gr, const struct gen_group *group);
/* From now on the group has the rate of its new plan. was: the group as it was until now. */
void gen_change_rate(const struct gen_job *j, const struct gen_grp *was, struct gen_grp *gr,
		     uint64_t now);

/* ---- gen_rest.c ---- */

/* To be called when the queue is behind. true: the run's time and its grace are over, and what is
 * left will not be sent. */
bool gen_overtime(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now);
/* No group has a frame that may still leave: ends the run. If the run has a time, frames that were
 * due within it and were not sent are counted first, which may take more turns. */
void gen_run_out(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);
/* Begins to count what is left, from the next gen_rest_turn() on. */
void gen_rest_begin(struct gen_own *o);
/* Counts a part of what is left. When all of it is counted the run is over. */
void gen_rest_turn(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);

/* ---- gen_adopt.c ---- */

/* dp_kind.adopt and dp_kind.drop. */
void gen_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now);
void gen_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now);
/* Sets the state that control sees, and by it whether the task is polled. */
void gen_set_state(struct gen_state *g, enum gen_state_id id);
/* Ends the run: folds its counts and tells control. */
void gen_finish(struct dp_worker *w, const struct gen_job *j, struct gen_state *g);
/* The top group has reached the end of a phase, and there is no tail: goes on to the next phase.
 * false: the group has no more frames. */
bool gen_next_phase(const struct gen_job *j, struct gen_state *g);
/* gen_count.c: passes over the group's next frame, which the driver has refused. It counts as
 * through, but not for its stream. bytes: its bytes, with FCS. */
void gen_skip(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, uint64_t bytes);
/* Returns the ol_flags of frames of a class. */
uint64_t gen_offload_flags(const struct frun_class *c);
/* Returns whether the group is the port's schedule and its only group, has one length, one class
 * and a steady rate, and its frames are taken by driver and device as they are. */
static inline bool gen_is_simple(const struct gen_job *j, const struct gen_grp *gr)
{
	return j->ngroups == 1 && gr->stream < 0 && gr->plain && gr->port_len != 0 && !j->prepare &&
	       gr->arr == NULL && j->stamp == NULL && j->txq->edits != DP_EDITS_ALL;
}
/* Moves the group's frun to the group's next frame. Bursts of fixed frames do not move it. */
static inline void gen_seek(const struct gen_grp *gr)
{
	frun_seek(gr->frun, gr->state, gr->i - gr->frun_i);
}
