/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench measures the hot path against bare loops, in one process. In each round all variants
 * run a short slice, in random order. The ratio of a variant is the cycles per frame of its base,
 * divided by its own in the same round. Of cycles and ratios the median over the rounds is printed,
 * as one line of JSON. One process is one sample of memory layout; bench.py takes the median over
 * several.
 *
 * Arguments: the lcore (default 0); "huge" to use hugepages; --isa NAME for at most that
 * instruction set; --only PATTERN ("probes*") for some of our rows and the bare loops; --slower
 * PERCENT to report so much more time for our rows, which shows whether a comparison finds it. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eth_ring.h>

#include "bench.h"
#include "clock.h"
#include "wheel.h"

#define SLICE 64000
#define FRAME_LEN 60
#define MAX_VARIANTS 64
#define POOL 4095
#define HOLD 1024

static const char *isa;  /* NULL: the best there is */
static const char *only; /* NULL: all rows */
static double slower;    /* share of its time that is added to each of our rows */

/* ---- a NIC in software ---- */

/* The NIC writes descriptors and keeps HOLD frames in flight. In each burst it gives the oldest
 * frames back to their pool, all at once, as NICs with fast free do. */

struct desc {
	uint64_t addr;
	uint32_t len, flags;
};
struct hold {
	struct desc desc[HOLD];
	struct rte_mbuf *m[HOLD];
	unsigned head;
	volatile unsigned tail; /* doorbell */
};

static uint16_t hold_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	struct hold *h = q;
	unsigned at = h->head % HOLD; /* HOLD is a multiple of bursts, so no burst wraps */

	if (h->m[at] != NULL)
		rte_mempool_put_bulk(h->m[at]->pool, (void **)&h->m[at], n);
	for (unsigned i = 0; i < n; i++) {
		h->m[at + i] = m[i];
		h->desc[at + i] = (struct desc){.addr = rte_mbuf_data_iova(m[i]),
						.len = m[i]->data_len,
						.flags = 0x80000000};
	}
	h->head += n;
	h->tail = h->head;
	return n;
}

/* Returns the number of a device that is made of functions of ours. */
static uint16_t soft_dev(void)
{
	static uint16_t dev = RTE_MAX_ETHPORTS;

	return --dev;
}

static uint16_t hold_dev(void)
{
	uint16_t dev = soft_dev();
	struct hold **slot = zeroed(sizeof(*slot));

	*slot = zeroed(sizeof(struct hold));
	rte_eth_fp_ops[dev].tx_pkt_burst = hold_tx;
	rte_eth_fp_ops[dev].txq.data = (void **)slot;
	rte_eth_fp_ops[dev].txq.clbk = zeroed(sizeof(void *));
	return dev;
}

static void start_dev(uint16_t dev, const char *name, struct rte_mempool *mp)
{
	struct rte_eth_conf conf = {0};

	if (rte_eth_dev_configure(dev, 1, 1, &conf) < 0 ||
	    rte_eth_rx_queue_setup(dev, 0, 1024, 0, NULL, mp) < 0 ||
	    rte_eth_tx_queue_setup(dev, 0, 1024, 0, NULL) < 0 || rte_eth_dev_start(dev) < 0)
		die(name);
}

static uint16_t null_dev(const char *name, const char *args, struct rte_mempool *mp)
{
	uint16_t dev;

	if (rte_eal_hotplug_add("vdev", name, args) < 0 ||
	    rte_eth_dev_get_port_by_name(name, &dev) < 0)
		die(name);
	start_dev(dev, name, mp);
	return dev;
}

uint16_t loop_dev(const char *name, struct rte_mempool *mp)
{
	struct rte_ring *r =
		rte_ring_create(name, 1024, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	int dev = r != NULL ? rte_eth_from_ring(r) : -1;

	if (dev < 0)
		die(name);
	start_dev((uint16_t)dev, name, mp);
	return (uint16_t)dev;
}

/* Makes a pool as control does. With small pages DPDK would otherwise give each object a page of
 * its own, and all mbufs would lie on the same few cache sets. */
struct rte_mempool *new_pool(void)
{
	struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size = RTE_MBUF_DEFAULT_BUF_SIZE};
	unsigned flags = rte_eal_iova_mode() != RTE_IOVA_VA ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	static unsigned n;
	char name[32];

	snprintf(name, sizeof(name), "pool%u", n++);
	struct rte_mempool *mp =
		rte_mempool_create_empty(name, POOL,
					 (unsigned)sizeof(struct rte_mbuf) +
						 RTE_MBUF_DEFAULT_BUF_SIZE,
					 DP_POOL_CACHE, sizeof(priv), SOCKET_ID_ANY, flags);
	if (mp == NULL || rte_mempool_set_ops_byname(mp, rte_mbuf_best_mempool_ops(), NULL) < 0)
		die("pool");
	rte_pktmbuf_pool_init(mp, &priv);
	if (rte_mempool_populate_default(mp) < 0)
		die("pool");
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}

/* ---- wirerate: a real worker, turned by hand ---- */

struct dp_worker *new_worker(const char *name)
{
	struct dp_worker *w = aligned_alloc(CACHE_LINE, sizeof(*w));
	struct err e;

	memset(w, 0, sizeof(*w));
	if (mbox_open(&w->mbox, name, SOCKET_ID_ANY, &e) < 0)
		die(e.text);
	return w;
}

struct dp_plan *new_plan(unsigned ntasks, unsigned nrx)
{
	static uint64_t seq;
	struct dp_plan *p = zeroed(sizeof(*p));

	p->seq = ++seq;
	p->task = zeroed(ntasks * sizeof(*p->task) + 1);
	p->rx = zeroed(nrx * sizeof(*p->rx) + 1);
	p->ntasks = (uint16_t)ntasks;
	p->nrx = (uint16_t)nrx;
	return p;
}

void add_sink(struct variant *v, struct dp_plan *p, uint16_t at, uint16_t dev, unsigned burst)
{
	struct count_state *s = zeroed(sizeof(*s));

	v->rxq = zeroed(sizeof(*v->rxq));
	v->rxq->dev = dev;
	p->rx[0] = (struct dp_duty){.q = v->rxq, .burst = (uint16_t)burst, .owner = at};
	p->task[at] = (struct dp_task){.kind = &dp_kind_sink, .state = &s->base};
}

/* Makes a share of the bare loop's queue, with marks of its own. */
static struct dp_txq *new_share(const struct variant *bare)
{
	static uint32_t opened;
	struct dp_txq *q = zeroed(sizeof(*q));

	q->dev = bare->dev;
	q->pool = bare->pool;
	q->pool_size = q->pool->size;
	q->mark = ++opened << 8;
	q->lateness = zeroed(hist_size(GEN_LATE_SHAPE));
	hist_init(q->lateness, GEN_LATE_SHAPE);
	return q;
}

/* Gives all rows that look at marks the same marks: each finds its image in buffers that another
 * row has filled. */
static void share_marks(const struct gen_job *j)
{
	static const struct gen_job *first;

	if (first == NULL) {
		first = j;
		return;
	}
	if (first->txq->stale != 0)
		die("the first row that looks at marks did not fill all buffers");
	j->txq->image = first->txq->image;
	j->txq->mark = first->txq->mark;
	((struct gen_phase *)(uintptr_t)j->group->phase)->mark = first->group->phase->mark;
}

/* WRITTEN: somebody writes into buffers, so senders look at marks. WITH_SINK: the same worker
 * counts what comes back. WITHOUT_EXTRAS: the code of bench_off_tx.c sends. WITH_WHEEL: the worker
 * has timers. */
enum { WRITTEN = 1, WITH_SINK = 2, WITHOUT_EXTRAS = 4, WITH_WHEEL = 8 };

/* Makes the task that sends the row through that share. If pps is 0 it sends as fast as possible,
 * else so many frames/s; these are more than can be reached, so that every turn computes and
 * compares deadlines. The task has no job if this build lacks the row's protocols. */
static struct dp_task sender(struct variant *v, const struct row *row, struct dp_txq *q, double pps,
			     unsigned flags)
{
	struct gen_state *g = zeroed(sizeof(*g));
	struct gen_job *j = row_job(row, q, v->burst, isa, &v->engine);

	g->cell = zeroed(GEN_MAX_STREAMS * sizeof(*g->cell));
	g->probes = zeroed(sizeof(*g->probes));
	if (j != NULL) {
		j->late_cycles = (uint64_t)(clock_hz() / 1000);
		j->rx_written = flags & WRITTEN;
		if (pps > 0)
			((struct gen_group *)(uintptr_t)j->group)->period =
				pace_period(clock_hz(), pps);
		if (flags & WRITTEN)
			share_marks(j);
	}
	return (struct dp_task){.kind = flags & WITHOUT_EXTRAS ? &off_kind_gen : &dp_kind_gen,
				.state = &g->base,
				.job = j};
}

static unsigned never(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
		      uint64_t now)
{
	(void)w, (void)t, (void)tm, (void)now;
	die("a timer fired");
}

static struct dp_task wheel(struct dp_worker *w)
{
	w->wheel = zeroed(sizeof(*w->wheel));
	return (struct dp_task){.kind = &dp_kind_wheel, .state = &w->wheel->base};
}

/* Fills in a variant that sends the row. The variant has the device and the buffers of its bare
 * loop, since two pools differ by some percent, depending on where their buffers lie. With a wheel
 * there is one timer, which is due in some days. Returns false if this build lacks the row's
 * protocols. */
static bool gen_open(struct variant *v, const struct row *row, const struct variant *bare,
		     double pps, unsigned flags)
{
	bool sink = flags & WITH_SINK;
	struct dp_plan *p = new_plan(2u + sink, sink);

	v->burst = row->burst != 0 ? row->burst : bare->burst;
	v->w = new_worker(v->name);
	v->txq = new_share(bare);
	p->ntasks = 0;
	if (flags & WITH_WHEEL)
		p->task[p->ntasks++] = wheel(v->w);
	struct dp_task *t = &p->task[p->ntasks++];
	*t = sender(v, row, v->txq, pps, flags);
	if (t->job == NULL)
		return false;
	if (sink)
		add_sink(v, p, p->ntasks++, bare->dev, v->burst);
	mbox_post(&v->w->mbox, p);
	dp_turn(v->w);
	if (flags & WITH_WHEEL) {
		struct dp_timer *tm = zeroed(sizeof(*tm));
		tm->fn = never;
		dp_timer_start(v->w, tm, clock_tsc() + (1ull << 50));
	}
	for (int i = 0; i < 4000; i++) /* afterwards all buffers hold the image */
		dp_turn(v->w);
	if (!(flags & WRITTEN) && v->txq->stale != 0)
		die("buffers did not become clean");
	return true;
}

/* Adds a second sender of the same frames to the same queue, with a share of its own. */
static void join(struct variant *v, const struct row *row, const struct variant *bare)
{
	struct dp_plan *p = new_plan(2, 0);

	v->beside = new_share(bare);
	p->task[0] = v->w->plan->task[0];
	p->task[1] = sender(v, row, v->beside, 0, WRITTEN);
	mbox_post(&v->w->mbox, p);
	for (int i = 0; i < 100; i++)
		dp_turn(v->w);
}

static uint64_t sent(const struct variant *v)
{
	return v->txq->cnt.packets + (v->beside != NULL ? v->beside->cnt.packets : 0);
}

/* Runs a slice. It is short, because a busy machine takes the CPU away from long ones. */
static double gen_slice(struct variant *v)
{
	unsigned turns = SLICE / (v->burst < 16 ? 16 : v->burst);

	if (v->beside != NULL)
		turns /= 2;
	/* With bursts of one frame each frame may be of another stream. These turns fill the caches
	 * as in a long run. */
	if (v->burst == 1)
		dp_turns(v->w, 2 * turns);
	uint64_t before = sent(v), t0 = clock_tsc();
	dp_turns(v->w, turns);
	return (double)(clock_tsc() - t0) / (double)(sent(v) - before);
}

/* A sort that looks at the first byte of the destination of each frame, and claims none of ours. */
static void claim_none(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m,
		       unsigned n, uint8_t *owner, uint8_t mine)
{
	(void)arg, (void)b;
	for (unsigned i = 0; i < n; i++)
		if (owner[i] == 0 && *rte_pktmbuf_mtod(m[i], const uint8_t *) == 0xff)
			owner[i] = mine;
}

static void sink_open(struct variant *v, uint16_t dev, unsigned burst, bool sorted)
{
	struct dp_plan *p = new_plan(1, 1);

	v->w = new_worker(v->name);
	add_sink(v, p, 0, dev, burst);
	if (sorted)
		p->rx[0].sort[p->rx[0].nsorts++] = (struct dp_sort){.fn = claim_none};
	mbox_post(&v->w->mbox, p);
	v->burst = burst;
}

static double sink_slice(struct variant *v)
{
	uint64_t before = v->rxq->cnt.packets, t0 = clock_tsc();

	dp_turns(v->w, SLICE / v->burst);
	return (double)(clock_tsc() - t0) / (double)(v->rxq->cnt.packets - before);
}

/* ---- bare loops ---- */

static double bare_tx(struct variant *v)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	uint64_t sent = 0, t0 = clock_tsc();

	while (sent < SLICE) {
		if (rte_mempool_get_bulk(v->pool, (void **)m, v->burst) < 0)
			die("bare loop: pool empty");
		sent += rte_eth_tx_burst(v->dev, 0, m, (uint16_t)v->burst);
	}
	return (double)(clock_tsc() - t0) / (double)sent;
}

static double bare_rx(struct variant *v)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	uint64_t got = 0, t0 = clock_tsc();
	uint64_t bytes = 0;

	while (got < SLICE) {
		uint16_t n = rte_eth_rx_burst(v->dev, 0, m, (uint16_t)v->burst);
		for (uint16_t i = 0; i < n; i++)
			bytes += m[i]->pkt_len;
		got += n;
		rte_pktmbuf_free_bulk(m, n);
	}
	__asm__ volatile("" : : "r"(bytes)); /* counted for its cost */
	return (double)(clock_tsc() - t0) / (double)got;
}

static double bare_loop(struct variant *v)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	uint64_t got = 0, bytes = 0, t0 = clock_tsc();

	while (got < SLICE) {
		if (rte_mempool_get_bulk(v->pool, (void **)m, v->burst) < 0 ||
		    rte_eth_tx_burst(v->dev, 0, m, (uint16_t)v->burst) < v->burst)
			die("bare loop: stuck");
		uint16_t n = rte_eth_rx_burst(v->dev, 0, m, (uint16_t)v->burst);
		for (uint16_t i = 0; i < n; i++)
			bytes += m[i]->pkt_len;
		got += n;
		rte_pktmbuf_free_bulk(m, n);
	}
	__asm__ volatile("" : : "r"(bytes)); /* counted for its cost */
	return (double)(clock_tsc() - t0) / (double)got;
}

static void set_lengths(struct rte_mempool *mp, void *arg, void *obj, unsigned i)
{
	struct rte_mbuf *m = obj;

	(void)mp, (void)arg, (void)i;
	m->data_len = FRAME_LEN;
	m->pkt_len = FRAME_LEN;
	memset(rte_pktmbuf_mtod(m, void *), 0, FRAME_LEN);
}

static void bare_tx_open(struct variant *v, uint16_t dev, unsigned burst)
{
	v->dev = dev;
	v->burst = burst;
	v->pool = new_pool();
	rte_mempool_obj_iter(v->pool, set_lengths, NULL);
}

static struct variant variant[MAX_VARIANTS];
static int nvariants;

struct variant *add(const char *name, const char *base, double (*slice)(struct variant *v))
{
	struct variant *v = &variant[nvariants++];

	if (nvariants > MAX_VARIANTS)
		die("too many rows");
	*v = (struct variant){.name = name, .base = base, .slice = slice};
	return v;
}

static const struct variant *find(const char *name)
{
	for (int i = 0; i < nvariants; i++)
		if (strcmp(variant[i].name, name) == 0)
			return &variant[i];
	die(name);
}

bool wanted(const char *name)
{
	return only == NULL || fnmatch(only, name, 0) == 0;
}

static void add_gen(const char *name, const struct row *row, const char *base, double pps,
		    unsigned flags)
{
	if (!wanted(name))
		return;
	struct variant *v = add(name, base, gen_slice);
	if (!gen_open(v, row, find(base), pps, flags))
		nvariants--;
}

static void run_rounds(void)
{
	for (int r = -2; r < ROUNDS; r++) { /* two to warm up */
		int order[MAX_VARIANTS];
		for (int i = 0; i < nvariants; i++)
			order[i] = i;
		for (int i = nvariants - 1; i > 0; i--) {
			int k = rand() % (i + 1), t = order[i];
			order[i] = order[k];
			order[k] = t;
		}
		for (int i = 0; i < nvariants; i++) {
			struct variant *v = &variant[order[i]];
			bool ours = v->base != NULL && !v->reference;
			double c = v->slice(v) * (ours ? 1 + slower : 1);
			if (r >= 0)
				v->cyc[r] = c;
		}
	}
	for (int i = 0; i < nvariants; i++)
		for (int b = 0; b < nvariants && variant[i].base != NULL; b++)
			if (strcmp(variant[b].name, variant[i].base) == 0)
				for (int r = 0; r < ROUNDS; r++)
					variant[i].ratio[r] = variant[b].cyc[r] / variant[i].cyc[r];
}

/* Measures all variants. */
static void measure(void)
{
	struct rte_mempool *mp = new_pool(), *rx1 = new_pool(), *rx2 = new_pool();
	uint16_t null = null_dev("net_null0", "no-rx=1", mp);

	bare_tx_open(add("bare_tx_32", NULL, bare_tx), null, 32);
	bare_tx_open(add("bare_tx_64", NULL, bare_tx), null, 64);
	bare_tx_open(add("bare_tx_flight", NULL, bare_tx), hold_dev(), 32);
	for (unsigned i = 0; i < nrows; i++)
		add_gen(rows[i].name, &rows[i], rows[i].base, 0, 0);
	if (wanted("off_tx")) { /* the cost of looking for rates, probes and the like */
		const struct variant *bare = find("bare_tx_32");
		struct variant *without = add("no_extras", bare->name, gen_slice);
		without->reference = true;
		gen_open(without, &rows[0], bare, 0, WITHOUT_EXTRAS);
		gen_open(add("off_tx", "no_extras", gen_slice), &rows[0], bare, 0, 0);
	}
	add_gen("gen_32_paced", &rows[0], "bare_tx_32", 1e10, 0);
	add_gen("probe_paced", row_named("probe"), "bare_tx_32", 1e10, 0);
	add_gen("wheel_idle", &rows[0], "bare_tx_32", 0, WITH_WHEEL);
	add_gen("gen_32_marks", &rows[0], "bare_tx_32", 0, WRITTEN);
	if (wanted("shared_32")) { /* two shares of a queue, as tasks of several works have them */
		const struct variant *bare = find("bare_tx_32");
		struct variant *both = add("shared_32", bare->name, gen_slice);
		gen_open(both, &rows[0], bare, 0, WRITTEN);
		join(both, &rows[0], bare);
	}
	if (wanted("gen_answer_32")) { /* a ping in each turn, unanswered and answered */
		const struct variant *bare = find("bare_tx_32");
		struct variant *hears = add("gen_hear_32", bare->name, gen_slice);
		gen_open(hears, &rows[0], bare, 0, WRITTEN);
		add_questions(hears, soft_dev(), NULL);
		struct variant *answers = add("gen_answer_32", hears->name, gen_slice);
		gen_open(answers, &rows[0], bare, 0, WRITTEN);
		add_questions(answers, soft_dev(), new_share(bare));
	}
	struct variant *v = add("bare_rx_32", NULL, bare_rx);
	v->dev = null_dev("net_null1", "size=60", rx1);
	v->burst = 32;
	if (wanted("sink_32"))
		sink_open(add("sink_32", "bare_rx_32", sink_slice),
			  null_dev("net_null2", "size=60", rx2), 32, false);
	if (wanted("sorted_32"))
		sink_open(add("sorted_32", "bare_rx_32", sink_slice),
			  null_dev("net_null3", "size=60", rx2), 32, true);
	add_probe_rows();
	bare_tx_open(add("bare_loop_32", NULL, bare_loop), loop_dev("loop", rx1), 32);
	add_gen("gen_sink_32", &rows[0], "bare_loop_32", 0, WITH_SINK);
	srand((unsigned)clock_raw_ns());
	run_rounds();
}

int main(int argc, char **argv)
{
	bool huge = false;

	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--isa") == 0 && i + 1 < argc)
			isa = argv[++i];
		else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			only = argv[++i];
		else if (strcmp(argv[i], "--slower") == 0 && i + 1 < argc)
			slower = strtod(argv[++i], NULL) / 100;
		huge |= strcmp(argv[i], "huge") == 0;
	}
	start_eal(argv[0], argc > 1 ? argv[1] : "0", huge);
	on_own_thread(measure);
	printf("{\"dpdk\":\"%s\",\"hz\":%.0f", rte_version() + 5, clock_hz());
	for (int i = 0; i < nvariants; i++) {
		double ratio = variant[i].base != NULL ? median(variant[i].ratio, ROUNDS) : 1,
		       cyc = median(variant[i].cyc, ROUNDS);
		printf(",\"%s\":{\"cycles\":%.2f,\"mpps\":%.2f,\"ratio\":%.4f", variant[i].name,
		       cyc, clock_hz() / cyc / 1e6, ratio);
		if (variant[i].base != NULL)
			printf(",\"base\":\"%s\"", variant[i].base);
		if (variant[i].reference)
			printf(",\"reference\":true");
		if (variant[i].engine != NULL)
			printf(",\"engine\":\"%s\"", variant[i].engine);
		printf("}");
	}
	printf("}\n");
	return 0;
}
