/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes schedules (schedule.h). A pass is one run through all rounds of the loop given there. A
 * stream that has at least as many frames left as its weight takes part in a pass whole. Passes in
 * which the same streams take part whole make one phase. A pass in which some stream has fewer
 * frames left is a phase by itself. */
#include "schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A schedule that is being made. */
struct make {
	const struct sched_in *in;
	unsigned n, port;
	uint64_t limit;
	uint64_t k, pass;        /* the frame and the pass with which the next phase begins */
	uint64_t *o;             /* of each stream: its frames before that phase */
	uint32_t *weight;        /* of each stream, as used: all 1 if all are equal */
	uint16_t *active;        /* streams of the phase that is being made */
	uint32_t *turns;         /* of each of these: its frames in one pass */
	uint16_t *alive;         /* for one_pass() */
	unsigned nactive, slots; /* slots: of all phases so far */
	struct sched *out;
};

/* Returns in how many passes stream s takes part whole; UINT64_MAX: in all. */
static uint64_t passes_of(const struct make *m, unsigned s)
{
	return m->in[s].count == 0 ? UINT64_MAX : m->in[s].count / m->weight[s];
}

static void equal_weights_are_one(uint32_t *w, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (w[i] != w[0])
			return;
	for (unsigned i = 0; i < n; i++)
		w[i] = 1;
}

/* Finds the streams of the next phase and the turns that each has in a pass. Returns in how many
 * passes all of them take part whole; 0: the phase is one pass, in which some stream has only the
 * rest of its count left. */
static uint64_t find_active(struct make *m)
{
	uint64_t whole = UINT64_MAX;

	m->nactive = 0;
	for (unsigned s = 0; s < m->n; s++) {
		uint64_t passes = passes_of(m, s);
		if (m->in[s].count != 0 && m->o[s] >= m->in[s].count)
			continue;
		m->active[m->nactive] = (uint16_t)s;
		m->turns[m->nactive++] = m->weight[s];
		if (passes != UINT64_MAX && passes - m->pass < whole)
			whole = passes - m->pass;
	}
	for (unsigned a = 0; a < m->nactive && whole == 0; a++) {
		unsigned s = m->active[a];
		uint64_t left = m->in[s].count - m->o[s];
		if (m->in[s].count != 0 && left < m->turns[a])
			m->turns[a] = (uint32_t)left;
	}
	return whole;
}

static uint64_t turns_of_pass(const struct make *m)
{
	uint64_t sum = 0;

	for (unsigned a = 0; a < m->nactive; a++)
		sum += m->turns[a];
	return sum;
}

static int too_many_turns(const struct make *m, uint64_t turns, struct err *e)
{
	unsigned most = 0;

	for (unsigned a = 1; a < m->nactive; a++)
		if (m->turns[a] > m->turns[most])
			most = a;
	return err_set(
		e, EINVAL,
		"port %u: the weights of its %u streams add up to %llu frames, and the order must repeat within "
		"%u: smaller weights "
		"in the same proportion help, as in `set %u/%u weight %llu`",
		m->port, m->nactive, (unsigned long long)turns, SCHED_MAX_CYCLE, m->port,
		m->in[m->active[most]].id,
		(unsigned long long)((uint64_t)m->turns[most] * (SCHED_MAX_CYCLE / 2) / turns + 1));
}

/* The error that streams and sizes repeat together only after so many frames (UINT64_MAX: many). */
static int too_long(const struct make *m, uint64_t frames, const uint16_t *worst, struct err *e)
{
	const struct sched_in *a = &m->in[worst[0]], *b = &m->in[worst[1]];
	char many[32];

	if (frames == UINT64_MAX)
		snprintf(many, sizeof(many), "too many");
	else
		snprintf(many, sizeof(many), "%llu", (unsigned long long)frames);
	if (worst[0] == worst[1])
		return err_set(
			e, EINVAL,
			"port %u: the %u sizes of stream %u/%u take their turns with %u streams, and all that repeats "
			"only after %s frames "
			"(at most %u): fewer sizes help, or `set %u/%u rate ...` gives the stream a rate of its own",
			m->port, a->nsizes, m->port, a->id, m->nactive, many, SCHED_MAX_CYCLE,
			m->port, a->id);
	return err_set(
		e, EINVAL,
		"port %u: the %u sizes of stream %u/%u and the %u of stream %u/%u come together again only "
		"after %s frames (at most %u): "
		"numbers of sizes that divide each other help, or `set %u/%u rate ...` gives the stream a rate "
		"of its own",
		m->port, a->nsizes, m->port, a->id, b->nsizes, m->port, b->id, many,
		SCHED_MAX_CYCLE, m->port, a->id);
}

static int too_many_phases(const struct make *m, struct err *e)
{
	unsigned with = 0;

	for (unsigned s = 0; s < m->n; s++)
		with += m->in[s].count != 0;
	return err_set(
		e, EINVAL,
		"port %u: %u streams end at different times, which makes too many different orders (%u slots, "
		"at most %u): counts in "
		"proportion to the weights help, or a rate of its own for each, `set %u/... rate ...`",
		m->port, with, m->slots, SCHED_MAX_SLOTS, m->port);
}

/* Returns after how many passes the sizes of all streams are where they were; a huge number: after
 * too many. worst: the two streams that make it long, or one twice. */
static uint64_t passes_to_repeat(const struct make *m, uint16_t worst[2])
{
	uint64_t lcm = 1, longest = 0, clash = 0;

	worst[0] = worst[1] = m->active[0];
	for (unsigned a = 0; a < m->nactive; a++) {
		uint64_t n = m->in[m->active[a]].nsizes, p = n / gcd(n, m->turns[a]);
		if (p > longest) {
			longest = p;
			worst[0] = m->active[a];
		}
		uint64_t grow = p / gcd(p, lcm);
		lcm = lcm > UINT64_MAX / grow ? UINT64_MAX / grow : lcm * grow;
	}
	for (unsigned a = 0; a < m->nactive; a++) {
		uint64_t n = m->in[m->active[a]].nsizes, p = n / gcd(n, m->turns[a]),
			 both = p / gcd(p, longest);
		if (both > clash) {
			clash = both;
			worst[1] = both > 1 ? m->active[a] : worst[0];
		}
	}
	return lcm;
}

/* Fills slot[].stream for one pass, at most max slots: round r has every stream with more than r
 * turns. Returns how many it has filled. */
static unsigned one_pass(struct make *m, struct sched_slot *slot, unsigned max)
{
	unsigned n = m->nactive, at = 0;

	for (unsigned a = 0; a < n; a++)
		m->alive[a] = (uint16_t)a;
	for (uint32_t r = 0; n > 0 && at < max; r++) {
		unsigned kept = 0;
		for (unsigned i = 0; i < n; i++)
			if (m->turns[m->alive[i]] > r)
				m->alive[kept++] = m->alive[i];
		n = kept;
		for (unsigned i = 0; i < n && at < max; i++)
			slot[at++].stream = m->alive[i];
	}
	return at;
}

static struct sched_phase *add_phase(struct make *m, unsigned ncycle, uint64_t frames)
{
	struct sched *s = m->out;

	if ((s->nphases & (s->nphases - 1)) == 0)
		s->phase =
			xrealloc(s->phase, (s->nphases ? 2 * s->nphases : 1) * sizeof(*s->phase));
	struct sched_phase *p = &s->phase[s->nphases++];
	*p = (struct sched_phase){.k0 = m->k,
				  .end = frames > UINT64_MAX - m->k ? UINT64_MAX : m->k + frames,
				  .ncycle = ncycle,
				  .nstreams = m->nactive};
	p->slot = xcalloc(ncycle, sizeof(*p->slot));
	p->stream = xcalloc(m->nactive, sizeof(*p->stream));
	p->o0 = xcalloc(m->nactive, sizeof(*p->o0));
	for (unsigned a = 0; a < m->nactive; a++) {
		p->stream[a] = m->active[a];
		p->o0[a] = m->o[m->active[a]];
	}
	return p;
}

/* Fills the whole cycle: the streams of one pass repeat, the sizes of each stream take turns. */
static void fill_cycle(struct make *m, struct sched_phase *p)
{
	unsigned pass = one_pass(m, p->slot, p->ncycle);
	uint32_t *item = xcalloc(m->nactive, sizeof(*item));

	for (unsigned a = 0; a < m->nactive; a++)
		item[a] = (uint32_t)(p->o0[a] % m->in[m->active[a]].nsizes);
	for (unsigned i = 0; i < p->ncycle; i++) {
		unsigned a = p->slot[i % pass].stream;
		p->slot[i] = (struct sched_slot){.stream = (uint16_t)a, .item = (uint16_t)item[a]};
		if (++item[a] == m->in[m->active[a]].nsizes)
			item[a] = 0;
	}
	free(item);
}

/* a * b, at most UINT64_MAX. */
static uint64_t schedule_times(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return p > UINT64_MAX ? UINT64_MAX : (uint64_t)p;
}

/* Returns 1 if a phase was added, 0 if all streams have ended, else -errno. */
static int next_phase(struct make *m, struct err *e)
{
	uint64_t whole = find_active(m), passes = whole > 0 ? whole : 1, turns, frames, wanted,
		 cycle;
	uint16_t worst[2] = {0, 0};

	if (m->nactive == 0)
		return 0;
	if (whole > 0) {
		uint32_t w = m->turns[0];
		equal_weights_are_one(m->turns, m->nactive);
		passes = schedule_times(passes, w / m->turns[0]);
	}
	turns = turns_of_pass(m);
	frames = schedule_times(turns, passes);
	wanted = frames < m->limit - m->k ? frames : m->limit - m->k; /* that will be sent */
	cycle = whole > 0 ? schedule_times(turns, passes_to_repeat(m, worst)) : turns;
	if (cycle > wanted)
		cycle = wanted;
	if (cycle > SCHED_MAX_CYCLE)
		return turns > SCHED_MAX_CYCLE
			       ? too_many_turns(m, turns, e)
			       : too_long(m, cycle == wanted ? UINT64_MAX : cycle, worst, e);
	m->slots += (unsigned)cycle;
	if (m->slots > SCHED_MAX_SLOTS)
		return too_many_phases(m, e);
	struct sched_phase *p = add_phase(m, (unsigned)cycle, frames);
	fill_cycle(m, p);
	for (unsigned a = 0; a < m->nactive; a++)
		m->o[m->active[a]] += schedule_times(m->turns[a], passes);
	m->k = p->end;
	m->pass += whole > 0 ? whole : 1;
	return 1;
}

int sched_make(const struct sched_in *in, unsigned n, uint64_t limit, unsigned port,
	       struct sched *out, struct err *e)
{
	struct make m = {.in = in, .n = n, .port = port, .limit = limit, .out = out};
	int rc;

	*out = (struct sched){0};
	m.o = xcalloc(n, sizeof(*m.o));
	m.weight = xcalloc(n, sizeof(*m.weight));
	m.active = xcalloc(n, sizeof(*m.active));
	m.turns = xcalloc(n, sizeof(*m.turns));
	m.alive = xcalloc(n, sizeof(*m.alive));
	for (unsigned s = 0; s < n; s++)
		m.weight[s] = in[s].weight;
	equal_weights_are_one(m.weight, n);
	do
		rc = next_phase(&m, e);
	while (rc == 1 && m.k < limit);
	out->total = m.k < limit ? m.k : limit;
	if (rc >= 0 && out->nphases > 0)
		out->phase[out->nphases - 1].end = UINT64_MAX;
	if (rc < 0)
		sched_free(out);
	free(m.o);
	free(m.weight);
	free(m.active);
	free(m.turns);
	free(m.alive);
	return rc < 0 ? rc : 0;
}

void sched_free(struct sched *s)
{
	for (unsigned i = 0; i < s->nphases; i++) {
		free(s->phase[i].slot);
		free(s->phase[i].stream);
		free(s->phase[i].o0);
	}
	free(s->phase);
	*s = (struct sched){0};
}

static void *copy_of(const void *p, size_t bytes)
{
	void *to = xcalloc(1, bytes);

	memcpy(to, p, bytes);
	return to;
}

void sched_copy(struct sched *dst, const struct sched *src)
{
	*dst = *src;
	dst->phase = copy_of(src->phase, src->nphases * sizeof(*src->phase));
	for (unsigned i = 0; i < src->nphases; i++) {
		struct sched_phase *p = &dst->phase[i];
		p->slot = copy_of(p->slot, p->ncycle * sizeof(*p->slot));
		p->stream = copy_of(p->stream, p->nstreams * sizeof(*p->stream));
		p->o0 = copy_of(p->o0, p->nstreams * sizeof(*p->o0));
	}
}

bool sched_equal(const struct sched *a, const struct sched_in *ain, const struct sched *b,
		 const struct sched_in *bin)
{
	if (a->nphases != b->nphases || a->total != b->total)
		return false;
	for (unsigned i = 0; i < a->nphases; i++) {
		const struct sched_phase *p = &a->phase[i], *q = &b->phase[i];
		if (p->k0 != q->k0 || p->end != q->end || p->ncycle != q->ncycle ||
		    p->nstreams != q->nstreams ||
		    memcmp(p->slot, q->slot, p->ncycle * sizeof(*p->slot)) != 0 ||
		    memcmp(p->o0, q->o0, p->nstreams * sizeof(*p->o0)) != 0)
			return false;
		for (unsigned s = 0; s < p->nstreams; s++)
			if (ain[p->stream[s]].key != bin[q->stream[s]].key)
				return false;
	}
	return true;
}
