/* SPDX-License-Identifier: BSD-3-Clause */
/* What the call of a record costs: the same record, each function of which is reached by way of one
 * more record. A row with it has each of these calls twice, and is compared with the plain row. */
#include <string.h>
#include "bench_flow.h"

/* volatile: the compiler must not know whom it calls */
#define THROUGH(name) \
	static const struct workload *volatile name##_behind = &wl_##name; \
	static void name##_opened(struct wl_turn *t) \
	{ \
		name##_behind->opened(t); \
	} \
	static uint32_t name##_received(struct wl_turn *t, const uint8_t *data, uint32_t n) \
	{ \
		return name##_behind->received(t, data, n); \
	} \
	static bool name##_ahead(struct wl_turn *t, uint32_t distance, const uint8_t *data, \
				 uint32_t n) \
	{ \
		return name##_behind->ahead(t, distance, data, n); \
	} \
	static void name##_may_send(struct wl_turn *t) \
	{ \
		name##_behind->may_send(t); \
	} \
	static void name##_ended(struct wl_turn *t) \
	{ \
		name##_behind->ended(t); \
	} \
	static void name##_timer(struct wl_turn *t) \
	{ \
		name##_behind->timer(t); \
	} \
	static void name##_go(struct wl_turn *t) \
	{ \
		name##_behind->go(t); \
	} \
	static void name##_drain(struct wl_turn *t) \
	{ \
		name##_behind->drain(t); \
	} \
	static void name##_closed(struct wl_turn *t, enum wl_end why) \
	{ \
		name##_behind->closed(t, why); \
	} \
	static const struct workload *name##_through(void) \
	{ \
		static struct workload made; \
		made = wl_##name; \
		made.opened = made.opened != NULL ? name##_opened : NULL; \
		made.received = made.received != NULL ? name##_received : NULL; \
		made.ahead = made.ahead != NULL ? name##_ahead : NULL; \
		made.may_send = made.may_send != NULL ? name##_may_send : NULL; \
		made.ended = made.ended != NULL ? name##_ended : NULL; \
		made.timer = made.timer != NULL ? name##_timer : NULL; \
		made.go = made.go != NULL ? name##_go : NULL; \
		made.drain = made.drain != NULL ? name##_drain : NULL; \
		made.closed = made.closed != NULL ? name##_closed : NULL; \
		return &made; \
	}

THROUGH(bytes)
THROUGH(http)

const struct workload *pair_through(const struct workload *wl)
{
	if (wl == &wl_bytes)
		return bytes_through();
	if (wl != &wl_http)
		die("a record that is reached through nothing");
	return http_through();
}
