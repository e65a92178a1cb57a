/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of captures: from the command to the sources and tasks of workers, and to the end
 * with all files complete. */
#include "capture_ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "clock.h"
#include "log.h"

#define PIECES_LEAST 8
#define MB 1000000ull
/* A capture of no limit to the length of frames. */
#define SNAP_ALL 262144u
/* At the end of the program: the thread is given up when it has written nothing for so long. */
#define HANG_NS 3000000000ull
#define LOOK_NS 2000000ull

static const struct capture_cfg *capture_cfg_of(const struct ctl_port *cp)
{
	return work_cfg(&cp->cfg, &work_capture);
}

static void capture_cfg_init(void *cfg)
{
	((struct capture_cfg *)cfg)->memory = CAPTURE_DFLT_MEMORY;
}

static bool capture_over(const struct capture *k)
{
	return k->stage == CAPTURE_ENDED;
}

/* ---- making and freeing ---- */

static void capture_free_sources(struct capture *k)
{
	for (unsigned i = 0; i < k->nsources; i++)
		capture_source_free(k->source[i]);
	for (unsigned i = 0; i < k->nifaces * k->nworkers && k->state != NULL; i++)
		rte_free(k->state[i]);
	free(k->source);
	free(k->iface);
	free(k->state);
	k->source = NULL;
	k->iface = NULL;
	k->state = NULL;
	k->nsources = 0;
	filter_unload(k->filter);
	k->filter = NULL;
}

static void capture_free(struct capture *k)
{
	if (k == NULL)
		return;
	capture_free_sources(k);
	capture_merge_free(k->merge);
	capture_out_free(k->out);
	free(k->kept);
	free((char *)k->spec.path);
	free((char *)k->spec.filter);
	free(k);
}

/* Frees captures that are over and that no port shows any more. */
static void captures_sweep(struct ctl *c)
{
	struct capture **at = &captures_of(c)->first, *k;

	while ((k = *at) != NULL) {
		bool shown = !capture_over(k) || k->refs > 0;
		for (unsigned i = 0; i < c->nports; i++)
			shown |= capture_of_port(c->port[i])->now == k;
		if (shown) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		capture_free(k);
	}
}

/* Adds the source of one queue. */
static int add_source(struct ctl *c, struct capture *k, const struct ctl_port *cp, bool tx,
		      unsigned q, unsigned npieces, struct err *e)
{
	int worker = tx ? cp->tx_worker[q] : cp->rx_worker[q];
	struct capture_source *s = capture_source_new(npieces, c->worker[worker].node);
	struct capture_state **state = &k->state[(k->nifaces - 1) * k->nworkers + (unsigned)worker];

	if (s != NULL && *state == NULL)
		*state = state_new(sizeof(**state), c->worker[worker].node);
	if (s == NULL || *state == NULL) {
		capture_source_free(s);
		return err_set(
			e, ENOMEM,
			"no memory for the capture of port %u; `set %u capture.memory 16` takes less than %u MB",
			cp->p.id, cp->p.id, (unsigned)capture_cfg_of(cp)->memory);
	}
	s->snap = k->spec.snap > 0 ? k->spec.snap : SNAP_ALL;
	s->port = (uint16_t)cp->p.id;
	s->queue = (uint16_t)q;
	s->tx = tx;
	s->tap = (struct dp_tx_tap){.offered = capture_offered, .taken = capture_taken, .state = s};
	pcapio_epb_init(&s->epb, k->nifaces - 1, tx ? PCAPIO_OUTBOUND : PCAPIO_INBOUND, q);
	k->source = xrealloc(k->source, (k->nsources + 1) * sizeof(*k->source));
	k->iface = xrealloc(k->iface, (k->nsources + 1) * sizeof(*k->iface));
	k->source[k->nsources] = s;
	k->iface[k->nsources++] = k->nifaces - 1;
	k->memory_bytes += capture_source_bytes(npieces);
	return 0;
}

static int add_port(struct ctl *c, struct capture *k, const struct ctl_port *cp, struct err *e)
{
	unsigned nrx = k->spec.rx ? cp->p.nrxq : 0, ntx = k->spec.tx ? cp->p.ntxq : 0;
	int rc = 0;

	if (nrx + ntx == 0)
		return err_set(e, EINVAL, "port %u has no %s queue, so there is nothing to capture",
			       cp->p.id,
			       !k->spec.tx   ? "Rx"
			       : !k->spec.rx ? "Tx"
					     : "used");
	uint64_t n = capture_cfg_of(cp)->memory * MB / CAPTURE_PIECE_BYTES / (nrx + ntx);
	unsigned npieces = (unsigned)RTE_MAX(n, (uint64_t)PIECES_LEAST);
	size_t was = k->nifaces * k->nworkers;
	k->nifaces++;
	k->state = xrealloc(k->state, k->nifaces * k->nworkers * sizeof(*k->state));
	memset(k->state + was, 0, k->nworkers * sizeof(*k->state));
	for (unsigned q = 0; q < nrx && rc == 0; q++)
		rc = add_source(c, k, cp, false, q, npieces, e);
	for (unsigned q = 0; q < ntx && rc == 0; q++)
		rc = add_source(c, k, cp, true, q, npieces, e);
	return rc;
}

/* ---- files ---- */

static void describe_port(const struct ctl_port *cp, struct capture_iface *out)
{
	out->port = cp->p.id;
	snprintf(out->name, sizeof(out->name), "%s", cp->p.name);
	snprintf(out->description, sizeof(out->description), "port %u, -p %.100s", cp->p.id,
		 cp->p.spec_text);
	memcpy(out->mac, cp->p.mac.addr_bytes, sizeof(out->mac));
	out->has_mac = true;
	out->speed_bps = cp->p.link_mbps * MB;
}

/* The numbers of one interface for its statistics; on the thread. */
static void capture_stats(void *arg, unsigned iface, struct pcapio_stats *out)
{
	const struct capture *k = arg;
	struct capture_count n;

	capture_count_of(k, (int)iface, &n);
	out->ns = clock_wall_ns();
	pcapio_stats_set(out, PCAPIO_END, out->ns);
	pcapio_stats_set(out, PCAPIO_RECEIVED, n.seen);
	pcapio_stats_set(out, PCAPIO_DROPPED, n.no_block);
	pcapio_stats_set(out, PCAPIO_ACCEPTED, n.accepted);
	pcapio_stats_set(out, PCAPIO_OS_DROPPED, n.write_failed + n.beyond_limit);
}

/* Does another capture write one of the files? */
static int files_taken(const struct ctl *c, const struct capture_spec *spec, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < RTE_MAX(spec->rotate, 1u) && spec->fd < 0 && rc == 0; i++) {
		struct sbuf name = {0};
		struct stat st;
		capture_out_name(spec->path, spec->rotate, i, &name);
		bool there = stat(sbuf_str(&name), &st) == 0;
		for (const struct capture *k = captures_of(c)->first; there && k != NULL;
		     k = k->next)
			if (!capture_over(k) && capture_out_is(k->out, st.st_dev, st.st_ino))
				rc = err_set(
					e, EBUSY,
					"'%.400s' is being written by the capture to '%.400s'; give another name, or end that one first",
					sbuf_str(&name), k->spec.path);
		sbuf_free(&name);
	}
	return rc;
}

static int open_out(struct ctl *c, struct capture *k, struct err *e)
{
	struct capture_to to = {.path = xstrdup(k->spec.path),
				.text = k->spec.fd >= 0,
				.filter = k->spec.filter != NULL ? xstrdup(k->spec.filter) : NULL,
				.program = k->spec.program,
				.snap = k->spec.snap,
				.begin_ns = k->begin_ns,
				.frames = k->spec.frames,
				.size_bytes = k->spec.size_bytes,
				.rotate = k->spec.rotate,
				.every_ns = k->spec.every_ns,
				.nifaces = k->nifaces};
	unsigned n = 0;

	to.iface = xcalloc(k->nifaces, sizeof(*to.iface));
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(&k->spec.ports, i))
			describe_port(c->port[i], &to.iface[n++]);
	k->out = capture_out_open(&to, k->spec.fd, capture_stats, k, e);
	if (k->out != NULL)
		return 0;
	free(to.path);
	free(to.filter);
	free(to.iface);
	return -EINVAL;
}

/* ---- begin and end ---- */

static void capture_replan(struct ctl *c, const struct capture *k)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (worker_serves(c, w, &k->spec.ports, &k->spec.ports))
			ctl_replan(c, w);
}

int capture_may_start(const struct ctl *c, const struct portset *ports, struct err *e)
{
	for (unsigned i = 0; i < c->nports; i++) {
		const struct capture *k = capture_of_port(c->port[i])->now;
		if (portset_has(ports, i) && k != NULL && !capture_over(k))
			return err_set(
				e, EBUSY,
				"port %u is being captured to '%.400s' already; `capture %u stop` ends that",
				i, k->spec.path, i);
	}
	return 0;
}

/* The capture begins now. */
static void capture_clock(struct capture *k)
{
	clock_wall_at(&k->begin_tsc, &k->begin_ns);
	k->end_tsc = k->spec.for_ns > 0 ? k->begin_tsc + clock_cycles(k->spec.for_ns) : UINT64_MAX;
	for (unsigned i = 0; i < k->nsources; i++) {
		struct capture_source *s = k->source[i];
		s->filter = k->filter;
		s->tsc_at = k->begin_tsc;
		s->ns_at = k->begin_ns;
		s->mult = (uint64_t)llround(1e9 / clock_hz() * (double)(1ull << DP_CLOCK_SHIFT));
		s->end_tsc = k->end_tsc;
	}
}

static int capture_make(struct ctl *c, struct capture *k, struct err *e)
{
	struct captures *all = captures_of(c);
	int rc = files_taken(c, &k->spec, e);

	for (unsigned i = 0; i < c->nports && rc == 0; i++)
		if (portset_has(&k->spec.ports, i))
			rc = add_port(c, k, c->port[i], e);
	if (rc == 0) {
		all->thread = ctl_writer(c, e);
		rc = all->thread == NULL ? -ENODEV : 0;
	}
	if (rc < 0)
		return rc;
	capture_clock(k); /* now: to make memory ready may have taken a while */
	return open_out(c, k, e);
}

int capture_start(struct ctl *c, const struct capture_spec *spec, const struct filter_prog *prog,
		  struct err *e)
{
	struct captures *all = captures_of(c);
	int rc = capture_may_start(c, &spec->ports, e);

	if (rc < 0)
		return rc;
	struct capture *k = xcalloc(1, sizeof(*k));
	k->spec = *spec;
	k->spec.path = xstrdup(spec->path);
	k->spec.filter = spec->filter != NULL ? xstrdup(spec->filter) : NULL;
	k->nworkers = c->nworkers;
	if (prog != NULL)
		rc = filter_load(prog, &k->filter, e);
	if (rc == 0)
		rc = capture_make(c, k, e);
	if (rc < 0) {
		capture_free(k);
		return rc;
	}
	k->merge = capture_merge_new(k->out, k->source, k->iface, k->nsources);
	k->merge->thread = all->thread;
	k->next = all->first;
	all->first = k;
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(&spec->ports, i))
			capture_of_port(c->port[i])->now = k;
	captures_sweep(c);
	capture_replan(c, k);
	writer_add(all->thread, &k->merge->client);
	return 0;
}

static void capture_finish(struct ctl *c, struct capture *k, enum capture_why why)
{
	if (k->stage != CAPTURE_ARMED)
		return;
	k->stage = CAPTURE_ENDING;
	k->why = why;
	k->ended_tsc = clock_tsc();
	capture_replan(c, k);
}

void capture_stop(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(ports, i) && capture_of_port(c->port[i])->now != NULL)
			capture_finish(c, capture_of_port(c->port[i])->now, CAPTURE_BY_STOP);
}

bool capture_goes_on(const struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		const struct capture *k = capture_of_port(c->port[i])->now;
		if (portset_has(ports, i) && k != NULL && !capture_over(k))
			return true;
	}
	return false;
}

bool capture_endless(const struct ctl *c, const struct portset *ports, unsigned *port)
{
	for (*port = 0; *port < c->nports; ++*port) {
		const struct capture *k = capture_of_port(c->port[*port])->now;
		if (portset_has(ports, *port) && k != NULL && k->stage == CAPTURE_ARMED &&
		    !capture_bounded(&k->spec))
			return true;
	}
	return false;
}

bool capture_failed(const struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		const struct capture *k = capture_of_port(c->port[i])->now;
		if (portset_has(ports, i) && k != NULL && capture_out_why(k->out) == CAPTURE_FAILED)
			return true;
	}
	return false;
}

/* ---- plans ---- */

static void release_capture(struct ctl *c, void *capture)
{
	(void)c;
	((struct capture *)capture)->refs--;
}

/* The sources of this port that the worker serves become a task and its taps. */
static void capture_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	struct capture *k = capture_of_port(cp)->now;
	unsigned worker = plan_worker(p), iface = 0;

	(void)c;
	if (k == NULL || k->stage != CAPTURE_ARMED)
		return;
	struct capture_job *j =
		plan_carve(p, sizeof(*j) + k->nsources * sizeof(struct capture_job_source));
	j->look_cycles = clock_cycles(CAPTURE_LOOK_NS);
	j->age_ns = CAPTURE_AGE_NS;
	for (unsigned i = 0; i < k->nsources; i++) {
		struct capture_source *s = k->source[i];
		int of = s->tx ? cp->tx_worker[s->queue] : cp->rx_worker[s->queue];
		if (s->port != cp->p.id || of != (int)worker)
			continue;
		iface = k->iface[i];
		j->source[j->nsources++] =
			(struct capture_job_source){.source = s,
						    .nshares = s->tx ? cp->p.tx[s->queue].n : 0,
						    .share = s->tx ? cp->p.tx[s->queue].share
								   : NULL};
		struct dp_duty *duty = s->tx ? NULL : plan_duty(p, cp, s->queue);
		if (duty != NULL)
			plan_tap(duty, &(struct dp_tap){.rx = capture_rx, .state = s});
	}
	if (j->nsources == 0)
		return;
	plan_task(p,
		  &(struct dp_task){.kind = &dp_kind_capture,
				    .state = &k->state[iface * k->nworkers + worker]->base,
				    .job = j},
		  NULL);
	k->refs++;
	plan_keep(p, k, release_capture);
}

/* A worker that sleeps takes frames late, and would give them that time. */
static bool capture_awake(const struct ctl *c)
{
	for (const struct capture *k = captures_of(c)->first; k != NULL; k = k->next)
		if (k->stage == CAPTURE_ARMED)
			return true;
	return false;
}

/* ---- turns ---- */

/* Says how it ended, and what is missing. */
static void capture_tell(struct ctl *c, const struct capture *k)
{
	struct capture_count n;
	struct sbuf out = {0}, names = {0}, ports = {0};
	const char *before = "";
	unsigned port = 0;

	for (unsigned i = c->nports; i-- > 0;)
		port = portset_has(&k->spec.ports, i) ? i : port;
	for (unsigned i = port; i < c->nports; i++)
		if (portset_has(&k->spec.ports, i))
			sbuf_addf(&ports, "%s%u", ports.len > 0 ? ", " : "", i);
	capture_count_of(k, -1, &n);
	capture_why_text(k, &out);
	if (k->spec.rotate == 0)
		sbuf_addf(&names, "'%s'", k->spec.path);
	else
		sbuf_addf(&names, "%" PRIu64 " files of the ring of %s",
			  RTE_MIN(capture_out_files(k->out), (uint64_t)k->spec.rotate),
			  k->spec.path);
	sbuf_addf(&out, ": %" PRIu64 " frame%s in %s", n.frames, n.frames == 1 ? "" : "s",
		  sbuf_str(&names));
	const struct {
		uint64_t n;
		const char *text;
	} missing[] = {
		{n.no_block, "because the memory was full (no_block)"},
		{n.write_failed, "because they could not be written (write_failed)"},
		{n.beyond_limit, "beyond its limit (beyond_limit)"},
		{n.rotated_out, "in files that were written over (rotated_out)"},
	};
	if (n.dropped > 0)
		sbuf_addf(&out, "; missing of %" PRIu64 ": ", n.accepted);
	for (unsigned i = 0; i < ARRAY_SIZE(missing); i++) {
		if (missing[i].n == 0)
			continue;
		sbuf_addf(&out, "%s%" PRIu64 " %s", before, missing[i].n, missing[i].text);
		before = ", ";
	}
	capture_out_moved(k->out, &out);
	/* At the end of the program nobody takes notes any more. */
	if (captures_of(c)->closing)
		log_msg(LOG_LVL_WARN, "capture of port%s %s: %s", k->nifaces == 1 ? "" : "s",
			sbuf_str(&ports), sbuf_str(&out));
	else
		ctl_note(c, port, "capture of port%s %s: %s", k->nifaces == 1 ? "" : "s",
			 sbuf_str(&ports), sbuf_str(&out));
	sbuf_free(&out);
	sbuf_free(&names);
	sbuf_free(&ports);
}

/* The sources go with their memory, but what they have counted stays. */
static void capture_end(struct ctl *c, struct capture *k)
{
	k->stage = CAPTURE_ENDED;
	capture_tell(c, k);
	capture_count_keep(k);
	capture_merge_free(k->merge);
	k->merge = NULL;
	capture_free_sources(k);
}

static void capture_step_one(struct ctl *c, struct capture *k)
{
	if (k->stage == CAPTURE_ARMED && capture_out_why(k->out) != CAPTURE_GOES_ON)
		capture_finish(c, k, CAPTURE_BY_OUT);
	if (k->stage == CAPTURE_ARMED && clock_tsc() >= k->end_tsc)
		capture_finish(c, k, CAPTURE_BY_TIME);
	if (k->stage == CAPTURE_ENDING && k->refs == 0) {
		k->stage = CAPTURE_WRITING;
		capture_merge_close(k->merge);
		writer_kick(captures_of(c)->thread);
	}
	if (k->stage == CAPTURE_WRITING && writer_over(&k->merge->client))
		capture_end(c, k);
}

static bool captures_busy(const struct ctl *c)
{
	for (const struct capture *k = captures_of(c)->first; k != NULL; k = k->next)
		if (!capture_over(k))
			return true;
	return false;
}

static void captures_turn(struct ctl *c)
{
	struct captures *all = captures_of(c);

	for (struct capture *k = all->first; k != NULL; k = k->next)
		capture_step_one(c, k);
	captures_sweep(c);
}

static uint64_t captures_next_ns(const struct ctl *c)
{
	uint64_t next = UINT64_MAX, now = clock_tsc();

	for (const struct capture *k = captures_of(c)->first; k != NULL; k = k->next) {
		if (k->stage == CAPTURE_ARMED && k->end_tsc != UINT64_MAX)
			next = RTE_MIN(next, k->end_tsc > now ? clock_ns(k->end_tsc - now) : 0);
		else if (k->stage == CAPTURE_ENDING)
			next = RTE_MIN(next, LOOK_NS);
	}
	return next;
}

/* ---- the end of the program ---- */

/* The bytes of all captures: while they grow, the thread does not hang. */
static uint64_t captures_bytes(const struct ctl *c)
{
	uint64_t sum = 0;

	for (const struct capture *k = captures_of(c)->first; k != NULL; k = k->next)
		sum += capture_out_bytes(k->out) + capture_over(k);
	return sum;
}

/* No worker runs any more: all that was captured is with the thread. */
static void captures_close(struct ctl *c)
{
	struct captures *all = captures_of(c);
	struct clock_wait wait = {0};
	uint64_t last = 0;

	all->closing = true;
	for (struct capture *k = all->first; k != NULL; k = k->next) {
		if (k->stage == CAPTURE_ARMED)
			k->why = CAPTURE_BY_QUIT;
		if (k->stage > CAPTURE_ENDING)
			continue;
		k->stage = CAPTURE_WRITING;
		k->ended_tsc = clock_tsc();
		capture_merge_close(k->merge);
	}
	while (all->thread != NULL && captures_busy(c)) {
		writer_kick(all->thread);
		for (struct capture *k = all->first; k != NULL; k = k->next)
			if (k->stage == CAPTURE_WRITING && writer_over(&k->merge->client))
				capture_end(c, k);
		uint64_t bytes = captures_bytes(c);
		if (bytes != last)
			wait = (struct clock_wait){0};
		last = bytes;
		if (clock_waited(&wait, clock_raw_ns()) > HANG_NS)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static void captures_end(struct ctl *c)
{
	struct captures *all = captures_of(c);

	while (all->first != NULL) {
		struct capture *k = all->first;
		all->first = k->next;
		capture_free(k);
	}
}

const struct work work_capture = {
	.name = "capture",
	.port_bytes = sizeof(struct capture_port),
	.ctl_bytes = sizeof(struct captures),
	.cfg_bytes = sizeof(struct capture_cfg),
	.cfg_init = capture_cfg_init,
	.ctl_close = captures_close,
	.ctl_end = captures_end,
	.fill = capture_fill,
	.awake = capture_awake,
	.turn = captures_turn,
	.next_ns = captures_next_ns,
};
