/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of a side, and the tuples that clients have by them: each trial goes on behind the
 * last one, so that the device meets none again before it has forgotten it. Pure. */
#pragma once
#include "base.h"

/* Whose addresses these are, as texts of the settings that the user has made. Text "": not set. */
struct lb_side {
	unsigned port;
	struct sbuf stack[2]; /* with udp, with tcp */
	struct sbuf src, dst, sport, dport;
	bool nested; /* the order in which tuples come is set */
};
void lb_side_free(struct lb_side *s);

/* How many tuples a client has by these settings; those it can have are counted. */
uint64_t lb_tuples(const struct lb_side *client);
/* How many values a field has; 1 where that is not plain to see. */
uint64_t lb_values(const char *text);
/* The i-th of them, from 0, without a weight. false: there are fewer, or it is not plain to see. */
bool lb_nth_value(const char *text, unsigned i, struct sbuf *out);
/* The first of the values of a field, as text: "10.0.0.1" of "10.0.0.1..10.0.0.9". */
void lb_first_value(const char *text, struct sbuf *out);

/* The source ports of a client as a ring. Tuples come by source ports, the slowest field: `per` of
 * them have the same one. Places grow without end; place p is port lo + p mod n. */
#define LB_RING_USED 64
struct lb_ring {
	bool turns; /* else there is one place, which is all tuples */
	uint64_t lo, n, per;
	uint64_t taken, free; /* places up to `taken` were given, and up to `free` forgotten */
	uint64_t given;       /* to the last one who took some */
	unsigned nused;
	struct lb_ring_used {
		uint64_t end;      /* behind its last place */
		uint64_t ended_ns; /* when they were used last; UINT64_MAX: they are in use */
	} used[LB_RING_USED];
};
void lb_ring_begin(struct lb_ring *r, const struct lb_side *client);
/* Takes places for so many tuples, all at most: the first port is *from. false: the device, which
 * knows what it has met for timeout_ns, still knows some of them. */
bool lb_ring_take(struct lb_ring *r, double tuples, uint64_t now_ns, uint64_t timeout_ns,
		  uint64_t *from);
/* So many of the last that were taken have been used, up to now; the others go back. */
void lb_ring_took(struct lb_ring *r, double tuples, uint64_t now_ns);
/* Somebody has used all of them. */
void lb_ring_all(struct lb_ring *r, uint64_t now_ns);
/* How many tuples the last ones that were taken have. */
double lb_ring_room(const struct lb_ring *r);
