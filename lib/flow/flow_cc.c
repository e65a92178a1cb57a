/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion windows: NewReno (RFC 5681), CUBIC (RFC 9438); round trip times (RFC 6298). */
#include "flow_int.h"

#define CC_MOST 60000 /* segments */

/* A cube root by Newton's method; x >= 0. */
static float cc_cube_root(float x)
{
	union {
		float f;
		uint32_t i;
	} guess = {.f = x};

	if (x <= 0)
		return 0;
	guess.i = guess.i / 3 + 0x2a514067; /* a third of the exponent */
	for (unsigned i = 0; i < 4; i++)
		guess.f = (2 * guess.f + x / (guess.f * guess.f)) / 3;
	return guess.f;
}

/* RFC 9438 4.1: beta and C. */
#define CUBIC_BETA 0.7f
#define CUBIC_C 0.4f
/* RFC 9438 4.3: what Reno would grow by, with this beta */
#define CUBIC_ALPHA (3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA))

static void cc_cubic_begin(const struct flow_machine *m, const struct flow_conn *c,
			   struct flow_side *s)
{
	s->epoch = m->now_us != 0 ? m->now_us : UINT32_MAX; /* 0: none; never later than now */
	s->w_est = c->cwnd;
	if (s->w_max < c->cwnd) {
		s->w_max = c->cwnd;
		s->k = 0;
	} else {
		s->k = cc_cube_root((s->w_max - c->cwnd) / CUBIC_C);
	}
}

/* The window at which CUBIC aims (RFC 9438 4.2 to 4.5), in segments. */
static float cc_cubic_target(const struct flow_machine *m, const struct flow_conn *c,
			     struct flow_side *s, uint32_t segments)
{
	float now = (float)(m->now_us - s->epoch) * 1.024e-6f + (float)s->srtt * 1.024e-6f;
	float t = now - s->k, target = CUBIC_C * t * t * t + s->w_max;

	s->w_est += (s->w_est >= s->w_max ? 1.0f : CUBIC_ALPHA) * (float)segments / c->cwnd;
	if (target < s->w_est)
		target = s->w_est;
	if (target > 1.5f * c->cwnd)
		target = 1.5f * c->cwnd;
	return target;
}

static void cc_avoid(const struct flow_machine *m, const struct flow_ver *f, struct flow_conn *c,
		     struct flow_side *s, uint32_t segments)
{
	uint32_t need = c->cwnd; /* segments per step of one */

	if (f->spec->congestion == FLOW_CUBIC) {
		float target;

		if (s->epoch == 0)
			cc_cubic_begin(m, c, s);
		target = cc_cubic_target(m, c, s, segments);
		if (target > c->cwnd)
			need = (uint32_t)((float)c->cwnd / (target - c->cwnd));
		else
			need = 100u * c->cwnd;
		if (need == 0)
			need = 1;
	}
	segments += s->acked;
	while (segments >= need && c->cwnd < CC_MOST) {
		segments -= need;
		c->cwnd++;
	}
	s->acked = segments > UINT16_MAX ? UINT16_MAX : (uint16_t)segments;
}

void flow_cc_acked(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		   struct flow_side *s, uint32_t bytes)
{
	/* RFC 3465 2.1, without its limit: acknowledgements come once per turn. A segment counts
	 * when all of it has been acknowledged; una has moved on by these bytes. */
	uint32_t segments = ((c->una - bytes) % c->mss + bytes) / c->mss, grown;

	if (segments == 0)
		return;
	if (s != NULL && c->cwnd >= s->ssthresh) {
		cc_avoid(m, f, c, s, segments);
		return;
	}
	grown = c->cwnd + segments;
	if (s != NULL && s->ssthresh != SIDE_NO_SSTHRESH && grown > s->ssthresh)
		grown = s->ssthresh;
	c->cwnd = (uint16_t)(grown > CC_MOST ? CC_MOST : grown);
}

/* RFC 5681 4.1: behind a pause the window is at most the initial one. Whether the pause was longer
 * than a time-out, `stamp` says, in ticks since all was acknowledged. */
void flow_cc_restart(const struct flow_machine *m, const struct flow_ver *f, struct flow_conn *c)
{
	struct flow_side *s = conn_side(m, c);

	if (conn_stamp_age(c, m->now_tick) <= conn_rto_ticks(m, f, c))
		return;
	c->cwnd = f->iw;
	if (s != NULL)
		s->epoch = s->acked = 0;
}

/* A loss: the threshold follows what was on its way (RFC 5681 equation 4, RFC 9438 4.6), and so
 * does the window; time-outs and NewReno set that one anew. */
void flow_cc_loss(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c,
		  struct flow_side *s)
{
	uint32_t flight = (c->nxt - c->una) / c->mss, half;

	(void)m;
	if (f->spec->congestion == FLOW_CUBIC) {
		float was = c->cwnd;

		/* RFC 9438 4.7: room for others */
		s->w_max = was < s->w_max ? was * (1 + CUBIC_BETA) / 2 : was;
		half = (uint32_t)((flight < c->cwnd ? (float)flight : was) * CUBIC_BETA);
	} else {
		half = flight / 2;
	}
	s->epoch = 0;
	s->acked = 0;
	if (half < 2)
		half = 2;
	s->ssthresh = (uint16_t)(half > CC_MOST ? CC_MOST : half);
	if (c->cwnd > s->ssthresh)
		c->cwnd = s->ssthresh;
}

/* ---- round trip times ---- */

static void cc_estimate(uint32_t *srtt, uint32_t *var, uint32_t r)
{
	uint32_t diff;

	if (*srtt == 0) {
		*srtt = r == 0 ? 1 : r;
		*var = r / 2;
		return;
	}
	diff = *srtt > r ? *srtt - r : r - *srtt;
	*var += (uint32_t)(((int64_t)diff - *var) / 4);
	*srtt += (uint32_t)(((int64_t)r - *srtt) / 8);
	if (*srtt == 0)
		*srtt = 1;
}

#define RTO_MOST_TICKS (uint32_t)(60000000000 >> WHEEL_TICK_SHIFT)

/* What a time-out is at most, however often it was doubled: RFC 6298 2.5 allows a limit of at least
 * 60 s, and a floor above that is the limit too. */
uint32_t flow_backoff(const struct flow_ver *f, uint32_t ticks, unsigned retry)
{
	uint32_t most = f->rto_floor_ticks > RTO_MOST_TICKS ? f->rto_floor_ticks : RTO_MOST_TICKS;
	uint64_t t = (uint64_t)ticks << retry;

	return t > most ? most : (uint32_t)t;
}

/* The time-out of a connection that has a side cell, or has sent again. */
uint32_t flow_own_rto_ticks(const struct flow_machine *m, const struct flow_ver *f,
			    const struct flow_conn *c)
{
	const struct flow_side *s = conn_side(m, c);
	uint32_t t = f->rto_ticks;

	if (s != NULL && s->srtt != 0) {
		t = flow_ticks(((uint64_t)s->srtt + 4 * (uint64_t)s->rttvar) << 10);
		if (t < f->rto_floor_ticks)
			t = f->rto_floor_ticks;
	}
	return flow_backoff(f, t, c->retry);
}

/* A measured round trip, in units of 1024 ns. Connections share their flow's estimate (RFC 9040
 * 2.2), whose variance has the difference between peers in it too; one that is far from it, or too
 * long for its 32 bits of ns, or has a side cell anyway, gets its own. */
void flow_rtt_sample(struct flow_machine *m, struct flow_ver *f, struct flow_conn *c, uint32_t us)
{
	struct flow_side *s = conn_side(m, c);
	bool is_long = us >= UINT32_MAX >> 10;
	uint32_t ns = is_long ? UINT32_MAX & ~1023u : us << 10;

	if (FLOW_UNLIKELY(s == NULL && (is_long || (flow_ticks(ns) > f->rto_floor_ticks / 2 &&
						    ns / 2 > f->srtt && f->srtt != 0))))
		s = flow_side(m, c);
	if (FLOW_UNLIKELY(s != NULL)) {
		cc_estimate(&s->srtt, &s->rttvar, us);
		if (s->min_rtt == 0 || us < s->min_rtt)
			s->min_rtt = us == 0 ? 1 : us;
		if (f->srtt != 0)
			return;
	}
	cc_estimate(&f->srtt, &f->rttvar, ns);
	f->rto_ticks = flow_ticks((uint64_t)f->srtt + 4 * (uint64_t)f->rttvar);
	if (f->rto_ticks < f->rto_floor_ticks)
		f->rto_ticks = f->rto_floor_ticks;
}
