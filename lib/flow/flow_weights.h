/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of control's half of lib/flow: sets of tuples whose servers have weights. */
#pragma once
#include "flow.h"
#include "flow_servers.h"

/* conf has turns for both destinations, and sources for a round. */
struct flow_weights *flow_weights_new(const struct flow_tuples_conf *conf);
void flow_weights_free(struct flow_weights *w); /* NULL is allowed */
/* The values of tuple number i. */
void flow_weights_at(const struct flow_tuples *t, uint64_t i, uint32_t value[4]);
