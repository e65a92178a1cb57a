/* SPDX-License-Identifier: BSD-3-Clause */
/* An end of a wire that receives as a NIC with RSS does: a hash of each frame says into which of
 * its rings it goes. Otherwise the sender's Tx queue says it, and nothing of this runs. Control
 * thread. */
#pragma once
#include "port_spec.h"
#include "rss.h"

struct wire_rss;

/* For an end that receives from these rings; they must outlive it. */
struct wire_rss *wire_rss_new(struct rte_ring *const *ring, unsigned n);
/* No worker may send to the end any more. */
void wire_rss_free(struct wire_rss *);
/* What it does now. */
const struct rss_setup *wire_rss_now(const struct wire_rss *);
/* Works by another setup from the next burst on. dev: the device that sends to this end, with ntxq
 * queues. Workers may be sending. */
void wire_rss_set(struct wire_rss *, const struct rss_setup *to, uint16_t dev, unsigned ntxq);
/* The device that sends has been started, and sends into rings by its own function until this is
 * called. */
void wire_rss_started(struct wire_rss *, uint16_t dev, unsigned ntxq);
/* What such an end can do. */
void wire_rss_caps(struct rss_caps *out);
