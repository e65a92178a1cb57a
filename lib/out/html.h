/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes results as one HTML page that needs nothing else: no network, no script, no other file.
 * Drawings (svg.h) stand between its parts as they are. */
#pragma once
#include "out.h"

void html_open(const char *title, struct sbuf *out); /* with the title as the heading */
void html_close(struct sbuf *out);
void html_heading(const char *text, struct sbuf *out);
void html_paragraph(const char *text, struct sbuf *out);
/* The table of a view, with cells as in text. A view that is transposed has a line for each
 * column here, too. */
void html_table(const json_t *doc, const struct out_view *view, struct sbuf *out);
