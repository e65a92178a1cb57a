/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of two ways to the kernel carries more, found by trying: the other one has a window of time
 * now and then, and is kept where more went in it. No device knows what the receivers behind it do
 * with what comes. Of one Tx queue, and its worker's alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WAY_FIRST 3  /* windows before the first trial: as many as an opening window needs */
#define WAY_EVERY 32 /* and between two */

struct tun_way {
	uint64_t window; /* in cycles */
	uint64_t since;  /* when this window began; 0: none has */
	uint64_t bytes;  /* that went in it */
	uint64_t most;   /* most bytes in a window since the last trial, if it has that length */
	unsigned left;   /* windows before the next trial */
	bool second;     /* the way of now: the second one */
	bool trial;      /* of this window alone, so far */
};

static inline void way_init(struct tun_way *w, uint64_t window)
{
	*w = (struct tun_way){.window = window, .left = WAY_FIRST};
}

static inline void way_window_over(struct tun_way *w, uint64_t passed)
{
	uint64_t bytes = (uint64_t)((double)w->bytes * (double)w->window / (double)passed);

	if (w->trial) {
		/* a hair more may be chance */
		if (bytes < w->most + w->most / 8)
			w->second = !w->second;
		w->trial = false;
		w->left = WAY_EVERY;
		w->most = 0;
		return;
	}
	w->most = bytes > w->most ? bytes : w->most;
	if (--w->left == 0) {
		w->second = !w->second;
		w->trial = true;
	}
}

/* The way of what is sent now: true is the second one. */
static inline bool way_now(struct tun_way *w, uint64_t now)
{
	uint64_t passed = now - w->since;

	if (passed >= w->window) {
		/* a window in which mostly nothing was to be sent tells nothing */
		if (w->since != 0 && passed < 2 * w->window)
			way_window_over(w, passed);
		w->since = now;
		w->bytes = 0;
	}
	return w->second;
}

static inline void way_sent(struct tun_way *w, uint64_t bytes)
{
	w->bytes += bytes;
}
