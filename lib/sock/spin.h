/* SPDX-License-Identifier: BSD-3-Clause */
/* How a thread waits that receives. Falling asleep and being woken costs both ends: over loopback
 * the sender has to wake the receiver, and in a virtual machine that costs it more than sending. So
 * where a sleep ended within SOCK_SPIN_NS, the next time the thread looks again and again for as
 * long. If that was in vain, as where both ends share a CPU, it does not for some waits, twice as
 * many each time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define SOCK_SPIN_NS 20000
#define SOCK_SPIN_REST_MOST 4096
struct sock_spin {
	uint64_t since_ns; /* nothing has come; 0: something has */
	bool on;
	unsigned vain, rest; /* waits without */
};

/* Nothing has come. true: to be looked again at once; false: to sleep, and then
 * sock_spin_slept(). */
static inline bool sock_spin_looks(struct sock_spin *s, uint64_t now_ns)
{
	if (!s->on)
		return false;
	if (s->since_ns == 0)
		s->since_ns = now_ns;
	if (now_ns - s->since_ns < SOCK_SPIN_NS)
		return true;
	s->vain = s->vain == 0 ? 1 : s->vain < SOCK_SPIN_REST_MOST ? 2 * s->vain : s->vain;
	s->rest = s->vain;
	return false;
}

static inline void sock_spin_slept(struct sock_spin *s, uint64_t ns)
{
	s->since_ns = 0;
	if (s->rest > 0)
		s->rest--;
	s->on = s->rest == 0 && ns < SOCK_SPIN_NS;
}

/* Something has come without a sleep. */
static inline void sock_spin_came(struct sock_spin *s)
{
	if (s->since_ns == 0)
		return;
	s->since_ns = 0;
	s->vain /= 2;
}
