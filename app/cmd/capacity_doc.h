/* SPDX-License-Identifier: BSD-3-Clause */
/* What `capacity` measured, as a document, a table, a chart in text and a chart as SVG. */
#pragma once
#include "capacity.h"
#include "out.h"

/* A new reference: {"capacity": {...}}, as app/schema.json says. name: of the port. */
json_t *capacity_json(const struct capacity *k, const char *name, uint64_t duration_ns);
/* The table of the points, and that of the queues of each point. */
extern const struct out_view capacity_view, capacity_queues_view;
/* Appends the sentences below the table: what limits each point, and what the link would need. */
void capacity_words(const json_t *doc, struct sbuf *out);
/* Both draw bits/s on the wire of each point as bars: appended as lines of at most 100 columns, and
 * as a whole SVG document. */
void capacity_chart(const json_t *doc, struct sbuf *out);
void capacity_svg(const json_t *doc, struct sbuf *out);
