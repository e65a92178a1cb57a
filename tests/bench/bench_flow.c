/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench of lib/flow, in a process of its own: its tables would lie in the way of other rows.
 * Both ends of each row run on one worker. In each round all rows and a bare loop run a short
 * slice, in random order; the cycles of a row for each frame received or sent are divided by those
 * of the bare loop in the same round. At the end each row's connections are ended, and what became
 * of them must add up. One line of JSON is printed; bench.py takes the median over several
 * processes.
 *
 * Arguments: the lcore (default 0); --only PATTERN for some rows; --live N for so many live
 * connections in place of 4,000,000. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_version.h>

#include "bench_flow.h"
#include "clock.h"

/* Frames received and sent. It is short, because a busy machine takes the CPU away from long
 * ones. */
#define SLICE 16384
#define FRAME_LEN 60
#define ROUNDS 101
#define FLIGHT 256
#define POOL 16383
#define MANY 4000000u
#define IDLE 1000000u
#define IDLE_MS 5000u
#define STEPS 40

static const char *only; /* NULL: all rows */
static uint32_t many = MANY;
static struct rte_mempool *pools[FLOW_ROOMS];

struct flow_row {
	const char *name, *touched;
	struct pair_conf conf;
	struct pair *p;
	/* of each round: cycles for each frame, as multiples of the bare loop's, cycles for each
	 * connection or transaction that was done, bits received for each cycle */
	double cycles[ROUNDS], times[ROUNDS], each[ROUNDS], bits[ROUNDS];
};

static struct flow_row rows[] = {
	{.name = "flow_cps",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT}},
	{.name = "flow_cps_timed",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .timings = true}},
	{.name = "flow_cps_sums",
	 .touched = "written, read, summed",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .sums = true}},
	{.name = "flow_cps_vxlan",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .frame = PAIR_VXLAN}},
	{.name = "flow_cps_ip6",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .frame = PAIR_IP6}},
	{.name = "flow_cps_servers",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .servers = 16}},
	{.name = "flow_cps_by_dst",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .servers = 16, .by_dst = true}},
	/* As bench_flow_hand.c says: one thread is both workers in turn. */
	{.name = "flow_cps_handed",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .handed = true}},
	{.name = "flow_cps_record",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .through = true}},
	{.name = "flow_1000_live",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .live = 1000, .mixed = true}},
	{.name = "flow_many_live",
	 .touched = "written, read",
	 .conf = {.work = PAIR_GET, .flight = FLIGHT, .live = MANY, .mixed = true}},
	{.name = "flow_tps",
	 .touched = "written, counted",
	 .conf = {.work = PAIR_BYTES, .flight = FLIGHT}},
	{.name = "flow_tps_record",
	 .touched = "written, counted",
	 .conf = {.work = PAIR_BYTES, .flight = FLIGHT, .through = true}},
	{.name = "flow_http",
	 .touched = "written, read",
	 .conf = {.work = PAIR_HTTP, .flight = FLIGHT}},
	{.name = "flow_bulk",
	 .touched = "filled before, summed",
	 .conf = {.work = PAIR_STREAM, .flight = 16, .sums = true}},
};

static bool wanted(const char *name)
{
	return only == NULL || fnmatch(only, name, 0) == 0;
}

/* ---- the bare loop ---- */

static uint16_t bare_dev[2];
static uint64_t bare_sent[2], bare_got[2];

/* Takes a burst, and sends it. */
static void bare_send(unsigned i)
{
	struct rte_mbuf *m[PAIR_BURST];

	if (rte_mempool_get_bulk(pools[FLOW_PLAIN], (void **)m, PAIR_BURST) < 0)
		die("bare loop: pool empty");
	for (unsigned k = 0; k < PAIR_BURST; k++) {
		m[k]->data_off = RTE_PKTMBUF_HEADROOM;
		m[k]->data_len = FRAME_LEN;
		m[k]->pkt_len = FRAME_LEN;
		m[k]->ol_flags = 0;
	}
	if (rte_eth_tx_burst(bare_dev[i], 0, m, PAIR_BURST) != PAIR_BURST)
		die("bare loop: stuck");
	bare_sent[i] += (uint64_t)PAIR_BURST * FRAME_LEN;
}

/* Receives a burst, and gives it back. */
static void bare_receive(unsigned i)
{
	struct rte_mbuf *m[PAIR_BURST];
	uint16_t n = rte_eth_rx_burst(bare_dev[i], 0, m, PAIR_BURST);

	for (uint16_t k = 0; k < n; k++)
		bare_got[i] += m[k]->pkt_len;
	rte_pktmbuf_free_bulk(m, n);
}

/* As many frames are on their way as in the rows. */
static void bare_open(void)
{
	pair_devices(bare_dev, pools[FLOW_PLAIN]);
	for (unsigned i = 0; i < FLIGHT / PAIR_BURST; i++)
		bare_send(i & 1);
}

static double bare_slice(void)
{
	uint64_t t0 = clock_tsc();

	for (unsigned i = 0; i < SLICE / PAIR_BURST / 2; i++) {
		bare_receive(i & 1);
		bare_send(i & 1);
	}
	return (double)(clock_tsc() - t0) / SLICE;
}

/* What was sent has come, with its length. */
static void bare_check(void)
{
	for (unsigned i = 0; i < FLIGHT / PAIR_BURST; i++)
		bare_receive(i & 1);
	for (unsigned i = 0; i < 2; i++)
		if (bare_sent[i] != bare_got[!i])
			die("bare loop: not all frames came");
}

/* ---- rows ---- */

static void row_slice(struct flow_row *r, int round, double bare)
{
	struct pair *p = r->p;
	struct pair_end *c = &p->end[0], *s = &p->end[1];
	uint64_t before, done, bytes, t0, cycles, events;

	/* what others have put into the caches goes */
	pair_begin(p);
	for (before = pair_events(p); pair_events(p) - before < SLICE / 2;)
		pair_turn(p);
	before = pair_events(p);
	done = c->transactions.done;
	bytes = s->counts.rx_bytes;
	t0 = clock_tsc();
	while (pair_events(p) - before < SLICE)
		pair_turn(p);
	cycles = clock_tsc() - t0;
	events = pair_events(p) - before;
	if (round < 0)
		return;
	r->cycles[round] = (double)cycles / (double)events;
	r->times[round] = r->cycles[round] / bare;
	done = c->transactions.done - done;
	r->each[round] = done == 0 ? 0 : (double)cycles / (double)done;
	r->bits[round] = 8.0 * (double)(s->counts.rx_bytes - bytes) / (double)cycles;
}

static void run_rounds(double *bare)
{
	for (int r = -2; r < ROUNDS; r++) { /* two to warm up */
		unsigned order[ARRAY_SIZE(rows)];
		double cycles;

		for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
			order[i] = i;
		for (unsigned i = ARRAY_SIZE(rows) - 1; i > 0; i--) {
			unsigned k = (unsigned)rand() % (i + 1), t = order[i];

			order[i] = order[k];
			order[k] = t;
		}
		bare_slice();
		cycles = bare_slice();
		if (r >= 0)
			bare[r] = cycles;
		for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
			if (rows[order[i]].p != NULL)
				row_slice(&rows[order[i]], r, cycles);
	}
}

/* ---- what is measured once ---- */

struct opened {
	double cycles, times, bytes; /* of a connection and end */
	uint32_t n;
};
static struct opened opened, opened6; /* over IPv4 and IPv6 */
static double idle_share;
static struct stray_cycles strays;

/* The time that this thread has had on a CPU: what takes long is measured by it. */
static double cpu_cycles(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec) * clock_hz();
}

static uint64_t resident(void)
{
	unsigned long pages = 0, all;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%lu %lu", &all, &pages) != 2)
		die("/proc/self/statm");
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Opens very many on new machines, whose pages the system gives meanwhile. A bare slice after each
 * step is what it is divided by. */
static void measure_open(enum pair_frame frame, const char *name, struct opened *o)
{
	const struct pair_conf conf = {.work = PAIR_GET,
				       .frame = frame,
				       .flight = FLIGHT,
				       .live = many};
	uint64_t before = resident();
	struct pair *p = pair_new(&conf, pools);
	double bare[STEPS], cycles = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		double began = cpu_cycles();

		pair_begin(p);
		pair_open(p, many / STEPS);
		cycles += cpu_cycles() - began;
		bare_slice();
		bare[i] = bare_slice();
	}
	o->n = many / STEPS * STEPS;
	o->cycles = cycles / (2.0 * o->n);
	o->times = o->cycles / median(bare, STEPS);
	o->bytes = (double)(resident() - before) / (2.0 * o->n);
	pair_finish(p, name);
	pair_free(p);
}

/* What connections cost that do nothing, in the first seconds of their lives, when the timers of
 * their handshakes are still in the wheel: their worker looks each millisecond. */
static void measure_idle(void)
{
	const struct pair_conf conf = {.work = PAIR_GET, .flight = FLIGHT, .live = IDLE};
	struct pair *p = pair_new(&conf, pools);
	double began;

	pair_begin(p);
	pair_open(p, IDLE);
	p->stopped = true;
	began = cpu_cycles();
	for (unsigned i = 0; i < IDLE_MS; i++) {
		pair_turn_at(p, p->now_ns + 1000000);
		pair_next_ns(p);
	}
	idle_share = (cpu_cycles() - began) / (IDLE_MS * 1e-3 * clock_hz());
	if (p->end[0].counts.open != IDLE || p->end[1].counts.open != IDLE)
		die("flow_idle: they are not open any more");
	pair_finish(p, "flow_idle");
	pair_free(p);
}

/* ---- the process ---- */

static double bare[ROUNDS];

/* As the prototype had them, by whose bare loop the targets are told: on small pages DPDK gives
 * each buffer a page of its own, so all lie on the same few sets of the caches, and that costs bare
 * loop and rows alike. */
static struct rte_mempool *flow_pool(const char *name)
{
	struct rte_mempool *mp =
		rte_pktmbuf_pool_create(name, POOL, 512, 0, 2048 + 128, (int)rte_socket_id());

	if (mp == NULL)
		die(name);
	return mp;
}

static void fill_x(struct rte_mempool *mp, void *arg, void *obj, unsigned i)
{
	struct rte_mbuf *m = obj;

	(void)mp, (void)arg, (void)i;
	memset(m->buf_addr, WL_X, m->buf_len);
}

static void measure(void)
{
	pools[FLOW_PLAIN] = flow_pool("plain");
	pools[FLOW_FILLED] = flow_pool("filled");
	rte_mempool_obj_iter(pools[FLOW_FILLED], fill_x, NULL);
	/* what is handed over comes back in another order, which would cost the other rows, too */
	struct rte_mempool *handed = wanted("flow_cps_handed") ? flow_pool("handed") : NULL;
	struct rte_mempool *const handed_pools[FLOW_ROOMS] = {
		[FLOW_PLAIN] = handed, [FLOW_FILLED] = pools[FLOW_FILLED]};
	bare_open();
	if (wanted("flow_open"))
		measure_open(PAIR_IP4, "flow_open", &opened);
	if (wanted("flow_open_ip6"))
		measure_open(PAIR_IP6, "flow_open_ip6", &opened6);
	if (wanted("flow_idle"))
		measure_idle();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!wanted(rows[i].name))
			continue;
		if (rows[i].conf.live == MANY)
			rows[i].conf.live = many;
		rows[i].p = pair_new(&rows[i].conf, rows[i].conf.handed ? handed_pools : pools);
		pair_settle(rows[i].p);
	}
	srand((unsigned)clock_raw_ns());
	run_rounds(bare);
	bare_check();
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].p != NULL)
			pair_finish(rows[i].p, rows[i].name);
	if (wanted("flow_stray"))
		stray_measure(pools[FLOW_PLAIN], &strays);
}

static void print_opened(const char *name, const struct opened *o)
{
	if (o->n != 0)
		printf(",\"%s\":{\"cycles\":%.1f,\"times\":%.2f,\"bytes\":%.1f,\"live\":%u}", name,
		       o->cycles, o->times, o->bytes, o->n);
}

static void print(void)
{
	printf("{\"dpdk\":\"%s\",\"hz\":%.0f", rte_version() + 5, clock_hz());
	printf(",\"flow_bare\":{\"cycles\":%.2f}", median(bare, ROUNDS));
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_row *r = &rows[i];

		if (r->p == NULL)
			continue;
		printf(",\"%s\":{\"cycles\":%.2f,\"times\":%.3f,\"each\":%.1f,\"bits\":%.2f,"
		       "\"live\":%u,\"payload\":\"%s\"}",
		       r->name, median(r->cycles, ROUNDS), median(r->times, ROUNDS),
		       median(r->each, ROUNDS), median(r->bits, ROUNDS), r->conf.live, r->touched);
	}
	print_opened("flow_open", &opened);
	print_opened("flow_open_ip6", &opened6);
	if (wanted("flow_idle"))
		printf(",\"flow_idle\":{\"share\":%.4f,\"live\":%u}", idle_share, IDLE);
	if (wanted("flow_stray"))
		printf(",\"flow_stray\":{\"taken\":%.2f,\"stray\":%.2f,\"other\":%.2f}",
		       strays.taken, strays.stray, strays.other);
	printf("}\n");
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			only = argv[++i];
		else if (strcmp(argv[i], "--live") == 0 && i + 1 < argc)
			many = (uint32_t)strtoul(argv[++i], NULL, 10);
	}
	start_eal(argv[0], argc > 1 ? argv[1] : "0", false);
	on_own_thread(measure);
	print();
	return 0;
}
