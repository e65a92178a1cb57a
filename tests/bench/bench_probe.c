/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the rows of receivers. Frames with probes are put into a ring, which is not timed, and
 * then they are received, which is. They come from this core, in whose caches they lie, or from
 * another core, as on wire ports. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "capture_ctl.h"
#include "clock.h"
#include "filter_load.h"
#include "prx.h"
#include "recorder_run.h"

#define WAITING 512 /* frames that wait in the ring each time */
#define TIMES 64
#define WARM 16 /* times before those, which are not counted, since other rows had the caches */
#define BURST 32
#define LEN 60
#define AT 42
#define HUGE (2u << 20)

struct probes {
	struct rte_mempool *pool;
	uint16_t dev;
	unsigned nstreams;
	uint64_t n; /* frames so far */
	uint8_t frame[LEN];
	/* The thread on another core that fills the ring, if there is one, with how often it was
	 * asked and how often it has filled the ring. */
	pthread_t thread;
	uint64_t asked, filled;
	struct capture_source *captured; /* NULL: nothing is captured */
};

static void put(const struct probes *s, uint8_t *p, uint64_t sent)
{
	uint64_t delay = s->n * 37 % 4096,
		 lo = probe_lo((unsigned)(s->n % s->nstreams), delay, sent);
	uint64_t hi = probe_hi((uint32_t)(s->n / s->nstreams), 0, 0, delay, lo);

	memcpy(p, s->frame, LEN);
	hi = rte_cpu_to_be_64(hi);
	lo = rte_cpu_to_be_64(lo);
	memcpy(p + AT, &hi, 8);
	memcpy(p + AT + 8, &lo, 8);
}

/* Puts frames with probes into the ring. */
static void fill(struct probes *s)
{
	struct rte_mbuf *m[BURST];

	for (unsigned i = 0; i < WAITING; i += BURST) {
		uint64_t now = clock_tsc();
		if (rte_pktmbuf_alloc_bulk(s->pool, m, BURST) < 0)
			die("pool");
		for (unsigned k = 0; k < BURST; k++, s->n++) {
			m[k]->pkt_len = m[k]->data_len = LEN;
			m[k]->packet_type = DP_DST_KNOWN; /* our senders leave it so */
			put(s, rte_pktmbuf_mtod(m[k], uint8_t *), now);
		}
		if (rte_eth_tx_burst(s->dev, 0, m, BURST) != BURST)
			die("ring");
	}
}

/* Is the other core's thread, and fills the ring whenever it is asked. */
static void *far(void *arg)
{
	struct probes *s = arg;

	if (rte_thread_register() < 0)
		die("thread");
	for (;;) {
		uint64_t asked = __atomic_load_n(&s->asked, __ATOMIC_ACQUIRE);
		if (asked == s->filled) {
			sched_yield();
			continue;
		}
		fill(s);
		__atomic_store_n(&s->filled, asked, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void have_filled(struct probes *s)
{
	if (s->thread == 0) {
		fill(s);
		return;
	}
	__atomic_store_n(&s->asked, s->asked + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&s->filled, __ATOMIC_ACQUIRE) != s->asked)
		sched_yield();
}

static double bare_slice(struct variant *v)
{
	struct rte_mbuf *m[BURST];
	uint64_t cycles = 0, bytes = 0;

	for (unsigned t = 0; t < WARM + TIMES; t++) {
		have_filled(v->own);
		uint64_t t0 = clock_tsc();
		for (unsigned got = 0; got < WAITING;) {
			uint16_t n = rte_eth_rx_burst(v->dev, 0, m, BURST);
			for (uint16_t i = 0; i < n; i++)
				bytes += m[i]->pkt_len;
			got += n;
			rte_pktmbuf_free_bulk(m, n);
		}
		cycles += t >= WARM ? clock_tsc() - t0 : 0;
	}
	__asm__ volatile("" : : "r"(bytes)); /* counted for its cost */
	return (double)cycles / (TIMES * WAITING);
}

/* Gives the pieces back that were filled in earlier slices, as the thread that writes does. */
static void give_back(struct capture_source *s)
{
	void *piece;

	while (s != NULL && rte_ring_sc_dequeue(s->full, &piece) == 0)
		rte_ring_sp_enqueue(s->empty, piece);
}

static double our_slice(struct variant *v)
{
	uint64_t cycles = 0, before = v->rxq->cnt.packets;

	give_back(((struct probes *)v->own)->captured);
	for (unsigned t = 0; t < WARM + TIMES; t++) {
		have_filled(v->own);
		uint64_t t0 = clock_tsc();
		if (v->without_taps)
			off_turns(v->w, WAITING / BURST);
		else
			dp_turns(v->w, WAITING / BURST);
		cycles += t >= WARM ? clock_tsc() - t0 : 0;
	}
	if (v->rxq->cnt.packets - before != (WARM + TIMES) * WAITING)
		die("frames are missing");
	return (double)cycles / (TIMES * WAITING);
}

/* Memory on large pages where there are some, as control asks for. */
static void *large(size_t bytes)
{
	size_t n = RTE_ALIGN_CEIL(bytes, HUGE);
	void *mem = aligned_alloc(HUGE, n);

	madvise(mem, n, MADV_HUGEPAGE);
	memset(mem, 0, n);
	return mem;
}

static struct prx *new_prx(unsigned nstreams, bool verify)
{
	struct prx_spec spec = {
		.nports = 1,
		.of = {{(uint16_t)nstreams, 1}},
		.window_blocks = 16,
		.holes = 16,
		.hz = (uint64_t)clock_hz(),
		.verify = verify,
		.ns_mult = (uint64_t)(1e9 / clock_hz() * 4294967296.0),
		.target_gap_cycles = 100,
	};
	void *mem = large(prx_size(&spec));

	prx_init(mem, &spec);
	return mem;
}

/* A recorder of one Rx queue as control makes it, with its usual size, which watches x. No fault
 * comes, so it never hands its ring over. */
static struct recorder_queue *new_recorder(struct prx *x)
{
	const uint32_t frames = 4096, snap = 128;
	struct recorder_ring *r = zeroed(sizeof(*r));
	struct recorder_queue *q = zeroed(sizeof(*q));

	r->frames = frames;
	r->snap = r->stride = snap;
	r->data = large(frames * (snap + sizeof(*r->run)));
	r->run = (struct recorder_run *)(r->data + (size_t)frames * snap);
	q->ring = r;
	q->group = zeroed(sizeof(*q->group));
	q->group->kinds = (1u << DP_FAULTS) - 1;
	q->watcher = (struct dp_watcher){q->group->kinds, clock_cycles(1000000), recorder_fault, q};
	prx_set_watcher(x, &q->watcher);
	return q;
}

/* Makes a frame with right checksums, so that a receiver that verifies them has the full cost. They
 * stay right with any probe, because all probes add up to the same sum. */
static void make_frame(uint8_t *p)
{
	static const uint8_t head[42] = {2,  0,  0,    0,    0,    1, 2,  0, 0,  0, 0,
					 2,  8,  0,    0x45, 0,    0, 46, 0, 0,  0, 0,
					 64, 17, 0x66, 0xbd, 10,   0, 0,  1, 10, 0, 0,
					 2,  4,  0xd2, 0x16, 0x2e, 0, 26, 0, 0};
	uint32_t sum = 17 + 26 + (10 << 8) * 2 + 1 + 2 + 0x04d2 + 0x162e + 26 + PROBE_SUM;

	memcpy(p, head, sizeof(head));
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	p[40] = (uint8_t)(sum >> 8);
	p[41] = (uint8_t)sum;
}

/* Adds a row that receives probes of so many streams. base NULL: the row is the bare loop. cpu says
 * where the probes come from; UINT32_MAX means this core. ntaps 0: the worker only counts
 * frames. */
static struct variant *row(const char *name, const char *base, unsigned nstreams, unsigned cpu,
			   const struct dp_tap *taps, unsigned ntaps)
{
	struct variant *v = add(name, base, base != NULL ? our_slice : bare_slice);
	struct probes *s = zeroed(sizeof(*s));
	cpu_set_t set;

	s->pool = new_pool();
	s->dev = v->dev = loop_dev(name, s->pool);
	s->nstreams = nstreams;
	make_frame(s->frame);
	v->own = s;
	if (cpu != UINT32_MAX) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (pthread_create(&s->thread, NULL, far, s) != 0 ||
		    pthread_setaffinity_np(s->thread, sizeof(set), &set) != 0)
			die("thread");
	}
	if (base == NULL)
		return v;
	struct dp_plan *p = new_plan(1, 1);
	v->w = new_worker(name);
	add_sink(v, p, 0, s->dev, BURST);
	p->rx[0].ntaps = (uint8_t)ntaps;
	for (unsigned i = 0; i < ntaps; i++)
		p->rx[0].tap[i] = taps[i];
	mbox_post(&v->w->mbox, p);
	v->burst = BURST;
	return v;
}

/* Adds a row with a receiver of probes. It also checks that the receiver finds them all, because a
 * bench of frames that it rejects would show nothing. */
static void prx_row(const char *name, const char *base, unsigned nstreams, unsigned cpu,
		    bool verify, bool records)
{
	if (!wanted(name))
		return;
	struct prx *x = new_prx(nstreams, verify);
	struct recorder_queue *q = records ? new_recorder(x) : NULL;
	/* The recorder looks first: it must have a frame when its fault is told. */
	const struct dp_tap taps[] = {{recorder_rx, q, NULL}, {prx_rx, x, prx_flush}};
	struct variant *v =
		row(name, base, nstreams, cpu, records ? taps : taps + 1, records ? 2 : 1);

	our_slice(v);
	if (prx_port(x)->probes != (WARM + TIMES) * WAITING ||
	    prx_flow(x, 0, 0, 0)->received != (WARM + TIMES) * WAITING / nstreams)
		die("probes are not found");
	if (q != NULL && q->seen_frames != (WARM + TIMES) * WAITING)
		die("frames are not recorded");
}

#define PIECES 64

/* Whether a frame is UDP on IPv4, as libpcap compiles it. */
static const struct filter_insn is_udp[] = {
	{0x28, 0, 0, 12}, {0x15, 0, 3, 0x0800}, {0x30, 0, 0, 23},
	{0x15, 0, 1, 17}, {0x6, 0, 0, 262144},  {0x6, 0, 0, 0},
};

/* Adds a row whose frames are captured. snap: bytes of each frame. It checks that all of them
 * are. */
static void capture_row(const char *name, uint32_t snap, bool filter)
{
	const struct filter_prog prog = {.insns = (struct filter_insn *)(uintptr_t)is_udp,
					 .n = ARRAY_SIZE(is_udp)};
	struct filter_exec *x = NULL;
	struct err e;

	if (!wanted(name))
		return;
	if (filter && filter_load(&prog, &x, &e) < 0)
		die(e.text);
	struct capture_source *s = capture_source_new(PIECES, -1);
	if (s == NULL)
		die("pieces");
	s->mult = (uint64_t)(1e9 / clock_hz() * (double)(1ull << DP_CLOCK_SHIFT));
	s->snap = snap;
	s->filter = x;
	pcapio_epb_init(&s->epb, 0, PCAPIO_INBOUND, 0);
	struct variant *v = row(name, "bare_waiting", 1, UINT32_MAX,
				&(struct dp_tap){.rx = capture_rx, .state = s}, 1);
	((struct probes *)v->own)->captured = s;
	our_slice(v);
	if (s->accepted != (WARM + TIMES) * WAITING || s->no_block != 0)
		die("frames are not captured");
}

/* Returns another CPU than this thread's, or UINT32_MAX if there is none. All CPUs of the machine
 * are considered, because the thread that measures may itself run on only one. */
static unsigned other_cpu(void)
{
	unsigned own = (unsigned)sched_getcpu();

	for (unsigned i = 0; i < (unsigned)sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (i != own)
			return i;
	return UINT32_MAX;
}

void add_probe_rows(void)
{
	unsigned cpu = other_cpu();

	row("bare_waiting", NULL, 1, UINT32_MAX, NULL, 0);
	if (wanted("sink_waiting"))
		row("sink_waiting", "bare_waiting", 1, UINT32_MAX, NULL, 0);
	if (wanted("off_waiting")) { /* the cost of looking for taps */
		struct variant *without = row("no_taps", "bare_waiting", 1, UINT32_MAX, NULL, 0);
		without->without_taps = without->reference = true;
		row("off_waiting", "no_taps", 1, UINT32_MAX, NULL, 0);
	}
	prx_row("probes", "bare_waiting", 1, UINT32_MAX, false, false);
	prx_row("probes_16", "bare_waiting", 16, UINT32_MAX, false, false);
	prx_row("probes_4096", "bare_waiting", 4096, UINT32_MAX, false, false);
	prx_row("probes_verify", "bare_waiting", 1, UINT32_MAX, true, false);
	prx_row("probes_recorded", "probes", 1, UINT32_MAX, false, true);
	capture_row("capture", 262144, false);
	capture_row("capture_snap", 32, false);
	capture_row("capture_filter", 262144, true);
	if (cpu == UINT32_MAX ||
	    (!wanted("sink_far") && !wanted("probes_far") && !wanted("probes_far_recorded")))
		return;
	row("bare_far", NULL, 1, cpu, NULL, 0);
	if (wanted("sink_far"))
		row("sink_far", "bare_far", 1, cpu, NULL, 0);
	prx_row("probes_far", "bare_far", 1, cpu, false, false);
	prx_row("probes_far_recorded", "probes_far", 1, cpu, false, true);
}
