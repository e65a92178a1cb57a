/* SPDX-License-Identifier: BSD-3-Clause */
/* This is kind gen built once more, for plans that send one fixed frame as fast as the device takes
 * it. Nothing in its bursts looks for a rate, for probes, for values that vary or for other groups.
 * It adopts plans with the library's own functions. */
#include "bench.h"

#define GEN_EXTRAS false
#define dp_kind_gen off_kind_gen
#define gen_arrive off_gen_arrive
#define gen_burst off_gen_burst
#define gen_clean off_gen_clean
#define gen_late_tail off_gen_late_tail
#define gen_ready_mixed off_gen_ready_mixed
#define gen_sort_out off_gen_sort_out
extern const struct dp_kind off_kind_gen;
#include "gen.c"
