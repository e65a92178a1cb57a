/* SPDX-License-Identifier: BSD-3-Clause */
/* This is the worker built once more, without taps and sorts: nothing in it looks whether any work
 * asks for received frames. */
#include "bench.h"

#define DP_ASKS(duty) false
#define dp_turns off_turns
#define dp_turn off_turn
#define dp_worker_main off_main
#define dp_event_post off_event_post
bool off_turn(struct dp_worker *w);
int off_main(void *arg);
void off_event_post(struct dp_worker *w, uint16_t kind, uint16_t port, uint16_t queue,
		    uint64_t value);
#include "worker.c"
