/* SPDX-License-Identifier: BSD-3-Clause */
/* What `knee` measured, as a document, as tables, as a chart in text and as a page. */
#pragma once
#include "knee.h"
#include "out.h"

/* What belongs to the document and is not measured. */
struct knee_about {
	enum trial_of of;
	const struct portset *ports;
	uint64_t duration_ns;
	bool complete; /* all loads are measured */
};

/* A new reference: {"knee": {...}}, as app/schema.json says. */
json_t *knee_json(const struct knee *k, const struct knee_about *about);
/* One line for each load, for spreadsheets. */
const struct out_view *knee_csv(const json_t *doc);
/* Appends all that is told in text: tables, a chart, and sentences. */
void knee_text(const json_t *doc, struct sbuf *out);
/* Appends the page. */
void knee_html(const json_t *doc, struct sbuf *out);

/* ---- knee_chart.c ---- */

/* Both draw the percentiles of one time ("since_due") over the load. Appended as lines of at most
 * 100 columns, and as an SVG drawing. */
void knee_chart(const json_t *doc, const char *time, struct sbuf *out);
void knee_svg(const json_t *doc, const char *time, struct sbuf *out);
/* Whether some load has a number of that time. */
bool knee_has(const json_t *doc, const char *time);
